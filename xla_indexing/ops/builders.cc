#include "xla_indexing/ops/builders.h"

#include <cstdint>
#include <string>
#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"

namespace xla_indexing {
namespace {

using ::mlir::AffineExpr;

// Every element of `to` for every element of `from`.
OperandIndexing EveryElement(const Shape& from, const Shape& to, ExactnessLabel label,
                             mlir::MLIRContext* context) {
  MapBuilder builder(from, to, context);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (const int64_t size : to.dimensions()) indices.push_back(builder.AddRangeOverAxis(size));
  return builder.Build(indices, std::move(label));
}

}  // namespace

MapBuilder BuildContext::FromOutput(int64_t operand, int64_t output_leaf) const {
  return MapBuilder(instruction.shape().Leaf(output_leaf), Operand(operand), mlir_context);
}

MapBuilder BuildContext::ToOutput(int64_t operand, int64_t output_leaf) const {
  return MapBuilder(Operand(operand), instruction.shape().Leaf(output_leaf), mlir_context);
}

void BuildContext::Add(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                       OperandIndexingSet maps) {
  if (maps.empty()) return;
  entries.push_back({output_leaf, operand, operand_leaf, std::move(maps)});
}

void BuildContext::Add(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                       OperandIndexing map) {
  OperandIndexingSet maps;
  AddUnlessEmpty(std::move(map), &maps);
  Add(output_leaf, operand, operand_leaf, std::move(maps));
}

namespace {

InstructionIndexing TakeEntries(absl::StatusOr<InstructionIndexing> entries, absl::Status* status) {
  if (entries.ok()) return *std::move(entries);
  status->Update(entries.status());
  return {};
}

}  // namespace

InstructionIndexing BuildContext::ReadOf(const CalledComputation& called, int64_t output_leaf) {
  return TakeEntries(options.computations->OutputToInput(called, output_leaf), &status);
}

InstructionIndexing BuildContext::ReachOf(const CalledComputation& called,
                                          OperandLeaf parameter_leaf) {
  return TakeEntries(options.computations->InputToOutput(called, parameter_leaf), &status);
}

void BuildContext::AddWholeRead(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                                ExactnessLabel label) {
  Add(output_leaf, operand, operand_leaf,
      EveryElement(instruction.shape().Leaf(output_leaf),
                   instruction.operand(operand)->shape().Leaf(operand_leaf), std::move(label),
                   mlir_context));
}

void BuildContext::AddWholeReach(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                                 ExactnessLabel label) {
  Add(output_leaf, operand, operand_leaf,
      EveryElement(instruction.operand(operand)->shape().Leaf(operand_leaf),
                   instruction.shape().Leaf(output_leaf), std::move(label), mlir_context));
}

void AddUnlessEmpty(OperandIndexing map, OperandIndexingSet* set) {
  if (!map.map().constraints().empty() || map.replica_map() != nullptr) {
    OperandIndexing simplified = map;
    simplified.Simplify();
    if (simplified.IsKnownEmpty()) return;
  }
  set->Add(std::move(map));
}

OperandIndexing WholeTensorIndexing(const Shape& from, const Shape& to, std::string reason,
                                    mlir::MLIRContext* context) {
  return EveryElement(from, to, ExactnessLabel::OverApproximate(std::move(reason)), context);
}

OperandIndexing IdentityIndexing(const Shape& shape, mlir::MLIRContext* context) {
  MapBuilder builder(shape, shape, context);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (int64_t i = 0; i < shape.rank(); ++i) indices.push_back(builder.Dim(i));
  return builder.Build(indices);
}

}  // namespace xla_indexing

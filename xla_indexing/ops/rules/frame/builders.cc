#include "xla_indexing/ops/rules/frame/builders.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/expr/expr_program.h"

namespace xla_indexing::internal {

MapBuilder BuildContext::FromOutput(int64_t operand, int64_t output_leaf) const {
  return MapBuilder(instruction.shape().Leaf(output_leaf), Operand(operand), mlir_context,
                    one_valued);
}

MapBuilder BuildContext::ToOutput(int64_t operand, int64_t output_leaf) const {
  return MapBuilder(Operand(operand), instruction.shape().Leaf(output_leaf), mlir_context,
                    one_valued);
}

void BuildContext::Add(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                       OperandIndexingSet maps) {
  if (maps.empty()) return;
  entries.push_back({output_leaf, operand, operand_leaf, std::move(maps)});
}

void BuildContext::Add(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                       OperandIndexing map) {
  AddEntry(output_leaf, operand, operand_leaf,
           [&](OperandIndexingSet* maps) { AddUnlessEmpty(std::move(map), maps); });
}

void BuildContext::AddEntry(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                            llvm::function_ref<void(OperandIndexingSet* maps)> add) {
  IndexingEntry& entry = entries.emplace_back();
  entry.output_leaf = output_leaf;
  entry.operand = operand;
  entry.operand_leaf = operand_leaf;
  add(&entry.indexing);
  if (entry.indexing.empty()) entries.pop_back();
}

void BuildContext::AddWithPoints(int64_t operand, OperandIndexing map) {
  AddEntry(0, operand, 0, [&](OperandIndexingSet* maps) { maps->Add(std::move(map)); });
}

namespace {

template <typename Answer>
Answer TakeAnswer(absl::StatusOr<Answer> answer, absl::Status* status) {
  if (answer.ok()) return *std::move(answer);
  status->Update(answer.status());
  return {};
}

}  // namespace

InstructionIndexing BuildContext::ReadOf(const CalledComputation& called, int64_t output_leaf) {
  return TakeAnswer(options.computations->OutputToInput(called, output_leaf), &status);
}

InstructionIndexing BuildContext::ReachOf(const CalledComputation& called,
                                          OperandLeaf parameter_leaf) {
  return TakeAnswer(options.computations->InputToOutput(called, parameter_leaf), &status);
}

std::vector<OperandLeaf> BuildContext::LeavesReadWholly(
    const HloComputation& computation, absl::Span<const int64_t> output_leaves,
    llvm::function_ref<bool(OperandLeaf)> is_wanted) {
  return TakeAnswer(options.computations->LeavesReadWholly(computation, output_leaves, is_wanted),
                    &status);
}

OperandIndexing BuildContext::Identity(const Shape& shape) {
  if (!identity || identity->shape->dimensions() != shape.dimensions()) {
    identity = {&shape, IdentityIndexing(shape, mlir_context, one_valued)};
  }
  return identity->map;
}

void BuildContext::AddWhole(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                            const Shape& from, const Shape& to, ExactnessLabel label) {
  if (HasNoElements(from) || HasNoElements(to)) return;
  if (!whole || whole->from->dimensions() != from.dimensions() ||
      whole->to->dimensions() != to.dimensions() || whole->map.label() != label) {
    whole = {&from, &to, EveryElement(from, to, std::move(label), mlir_context)};
  }
  AddEntry(output_leaf, operand, operand_leaf,
           [&](OperandIndexingSet* maps) { maps->Add(whole->map); });
}

void BuildContext::AddWholeRead(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                                ExactnessLabel label) {
  AddWhole(output_leaf, operand, operand_leaf, instruction.shape().Leaf(output_leaf),
           instruction.operand(operand)->shape().Leaf(operand_leaf), std::move(label));
}

void BuildContext::AddWholeReach(int64_t output_leaf, int64_t operand, int64_t operand_leaf,
                                 ExactnessLabel label) {
  AddWhole(output_leaf, operand, operand_leaf,
           instruction.operand(operand)->shape().Leaf(operand_leaf),
           instruction.shape().Leaf(output_leaf), std::move(label));
}

namespace {

// Whether one of four points is in the domain: dimensions, and the reader, at the low or the high ends
// of their intervals, and symbols likewise.
bool HasCorner(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  const ReplicaMap* replica_map = indexing.replica_map();
  llvm::SmallVector<int64_t, 4> dims[2];
  llvm::SmallVector<int64_t, 4> symbols[2];
  const auto add = [](const Interval& bounds, llvm::SmallVector<int64_t, 4>* ends) {
    if (!bounds.IsFinite() || bounds.IsEmpty()) return false;
    ends[0].push_back(bounds.lower());
    ends[1].push_back(bounds.upper());
    return true;
  };
  for (const Variable& dim : map.dims()) {
    if (!add(dim.bounds, dims)) return false;
  }
  if (replica_map != nullptr && !add(replica_map->readers, dims)) return false;
  for (const Variable& range : map.ranges()) {
    if (!add(range.bounds, symbols)) return false;
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    const Interval values = indexing.bindings()[i].ValueRange();
    if (!add(map.runtimes()[i].bounds.Intersect(values), symbols)) return false;
  }
  for (const auto& at_dims : dims) {
    for (const auto& at_symbols : symbols) {
      const auto holds = [&](const Constraint& constraint) {
        const std::optional<int64_t> value = ValueAt(constraint.expr, at_dims, at_symbols);
        return value && constraint.interval.Contains(*value);
      };
      if (llvm::all_of(map.constraints(), holds) &&
          (replica_map == nullptr || llvm::all_of(replica_map->constraints, holds))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

bool HasNoElements(const Shape& array) { return absl::c_linear_search(array.dimensions(), 0); }

void AddUnlessEmpty(OperandIndexing map, OperandIndexingSet* set) {
  // Without constraints a domain is empty where an interval is.
  const bool has_constraints =
      !map.map().constraints().empty() ||
      (map.replica_map() != nullptr && !map.replica_map()->constraints.empty());
  if (has_constraints && !HasCorner(map)) {
    OperandIndexing simplified = map;
    simplified.Simplify();
    if (simplified.IsKnownEmpty()) return;
  }
  set->Add(std::move(map));
}

}  // namespace xla_indexing::internal

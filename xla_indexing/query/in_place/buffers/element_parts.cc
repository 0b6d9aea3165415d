#include "xla_indexing/query/in_place/buffers/element_parts.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/query/in_place/buffers/buffer_places.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

std::optional<ElementType> TypeOfWidth(int64_t bits) {
  for (const ElementType type :
       {ElementType::kU1, ElementType::kU2, ElementType::kU4, ElementType::kU8, ElementType::kU16,
        ElementType::kU32, ElementType::kU64}) {
    if (BitsOfElement(Shape::Array(type, {})) == bits) return type;
  }
  return std::nullopt;
}

}  // namespace

ElementParts::ElementParts(const HloComputation& computation, const Shape& output,
                           const Shape& operand) {
  int64_t least = 0;
  const auto add = [&](const Shape& a, const Shape& b) {
    const int64_t width_of_a = BitsOfElement(a);
    const int64_t width_of_b = BitsOfElement(b);
    if (width_of_a == width_of_b) return;
    const int64_t width = std::min(width_of_a, width_of_b);
    least = least == 0 ? width : std::min(least, width);
  };
  add(output, operand);
  for (const HloInstruction* i : computation.instructions()) {
    if ((i->opcode() != HloOpcode::kBitcast && i->opcode() != HloOpcode::kBitcastConvert) ||
        !i->shape().IsArray() || !i->operand(0)->shape().IsArray()) {
      continue;
    }
    add(i->shape(), i->operand(0)->shape());
  }
  unit_ = least;
  if (unit_ != 0 && (!PartsOf(output) || !PartsOf(operand))) unit_ = 0;
}

std::optional<Shape> ElementParts::PartsOf(const Shape& array) const {
  const std::optional<ElementType> type = TypeOfWidth(unit_);
  const int64_t width = BitsOfElement(array);
  if (!type || width % unit_ != 0 || !array.IsStatic()) return std::nullopt;
  Layout layout = array.LayoutOrRowMajor();
  layout.element_size_in_bits = 0;
  if (!layout.IsPlain()) return std::nullopt;
  layout.minor_to_major.insert(layout.minor_to_major.begin(), array.rank());
  Shape parts = Shape::Array(*type, array.dimensions());
  parts.AddDimension(width / unit_);
  parts.SetLayout(std::move(layout));
  return parts;
}

OperandIndexing ElementParts::OfParts(const OperandIndexing& of_elements,
                                      const Shape& array) const {
  if (AreElements()) return of_elements;
  return WithMoreDims(of_elements, {{Interval::OfSize(BitsOfElement(array) / unit_), {}}});
}

std::optional<OperandIndexing> ElementParts::Reinterpreted(const HloInstruction& instruction,
                                                           mlir::MLIRContext* context) const {
  std::optional<Shape> from = PartsOf(instruction.shape());
  std::optional<Shape> to = PartsOf(instruction.operand(0)->shape());
  if (!from || !to) return std::nullopt;
  if (instruction.opcode() == HloOpcode::kBitcastConvert) {
    from->ClearLayout();
    to->ClearLayout();
  }
  absl::StatusOr<OperandIndexing> parts = PlacesIn(*from, *to, context);
  if (!parts.ok() || !parts->IsExact()) return std::nullopt;
  return *std::move(parts);
}

OperandIndexing ElementParts::ElementsOf(const OperandIndexing& parts) const {
  if (AreElements()) return parts;
  const IndexingMap& map = parts.map();
  const int rank = map.num_dims() - 1;
  llvm::SmallVector<AffineExpr, 4> results;
  for (int i = 0; i < rank; ++i) results.push_back(mlir::getAffineDimExpr(i, map.context()));
  results.push_back(mlir::getAffineSymbolExpr(0, map.context()));
  Variables dims(map.dims());
  Variables part = {dims.back()};
  dims.pop_back();
  OperandIndexing some_part(
      kPartsFit, IndexingMap(kPartsFit, mlir::AffineMap::get(rank, 1, results, map.context()),
                             std::move(dims), std::move(part), {}));
  const absl::StatusOr<OperandIndexing> of_some = ComposeOperandIndexing(some_part, parts);
  if (!of_some.ok()) return some_part;
  return WithResults(*of_some, of_some->map().results().drop_back());
}

OperandIndexing WithMoreDims(const OperandIndexing& indexing, llvm::ArrayRef<Variable> more) {
  const IndexingMap& map = indexing.map();
  Variables dims(map.dims());
  llvm::SmallVector<AffineExpr, 8> results(map.results());
  for (const Variable& variable : more) {
    results.push_back(mlir::getAffineDimExpr(dims.size(), map.context()));
    dims.push_back(variable);
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(dims.size(), map.num_symbols(), results, map.context());
  return OperandIndexing(
      kPartsFit,
      IndexingMap(kPartsFit, affine_map, std::move(dims), Variables(map.ranges()),
                  Variables(map.runtimes()), Constraints(map.constraints())),
      RuntimeVarIndexings(indexing.bindings().begin(), indexing.bindings().end()),
      indexing.label());
}

}  // namespace xla_indexing::internal

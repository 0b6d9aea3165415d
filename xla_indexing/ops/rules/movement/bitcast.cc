// Bitcast: the memory of the operand, read as an array of another shape. An element of the result
// is the element of the operand that begins at the same bit (hlo/memory/physical_layout.h):
//
//   position in the result * its width = position in the operand * its width
//
// Where the widths differ, an element that is k times as wide stands where k narrow ones stand,
// which makes k a further, most minor axis of the array of wide elements. A place that is padding
// in the operand has no element: what stands there in the result reads nothing.
//
// Example, f32[8,128]{1,0:T(8,128)} to f32[1024]{0:T(1024)}: each is one tile, without padding, and
// the map is that of the reshape, (d0) -> (d0 floordiv 128, d0 mod 128).
//
// Bitcast-convert: the same on the logical indices, where the further dimension is the last one of
// the shape with the narrow elements.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/movement/reshape_indices.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using Indices = llvm::SmallVector<AffineExpr, 4>;

// What hlo/memory/physical_layout.h computes with: expressions over the variables of a map, whose
// domain is restricted to the elements that there are.
class ExprAlgebra {
 public:
  explicit ExprAlgebra(MapBuilder* builder) : builder_(builder) {}

  PhysicalIndices<AffineExpr> Reshape(absl::Span<const AffineExpr> indices,
                                      absl::Span<const int64_t> from,
                                      absl::Span<const int64_t> to) const {
    const Indices reshaped = ReshapeIndices(llvm::ArrayRef(indices.data(), indices.size()),
                                            llvm::ArrayRef(from.data(), from.size()),
                                            llvm::ArrayRef(to.data(), to.size()), *builder_);
    return {reshaped.begin(), reshaped.end()};
  }
  AffineExpr Pad(AffineExpr index, int64_t /*from*/, int64_t /*to*/) const { return index; }
  AffineExpr Unpad(AffineExpr index, int64_t /*from*/, int64_t to) const {
    builder_->Constrain(index, IndicesOfAxis(to));
    return index;
  }
  AffineExpr Any(int64_t size) const { return builder_->AddRangeOverAxis(size); }

 private:
  MapBuilder* builder_;
};

OperandIndexing BitcastMap(const Shape& from, const Shape& to, mlir::MLIRContext* context) {
  if (HaveSamePlaces(from, to)) return IdentityIndexing(from, context);
  const auto whole = [&](const absl::Status& why) {
    return WholeTensorIndexing(from, to, absl::StrCat("whole tensor: a bitcast of ", why.message()),
                               context);
  };
  const absl::StatusOr<PhysicalLayout> from_layout = PhysicalLayoutOf(from);
  if (!from_layout.ok()) return whole(from_layout.status());
  const absl::StatusOr<PhysicalLayout> to_layout = PhysicalLayoutOf(to);
  if (!to_layout.ok()) return whole(to_layout.status());
  MapBuilder builder(from, to, context);
  if (from_layout->positions == 0 || to_layout->positions == 0) {
    // There is nothing, or nothing to read.
    const Indices none(to.rank(), builder.Value(0));
    builder.Constrain(builder.Value(to_layout->positions == 0 ? 1 : 0), Interval::Point(0));
    return builder.Build(none);
  }
  const absl::StatusOr<WidthRatio> ratio = WidthRatioOf(*from_layout, *to_layout);
  if (!ratio.ok()) return whole(ratio.status());
  Indices logical;
  for (int64_t i = 0; i < from.rank(); ++i) logical.push_back(builder.Dim(i));
  ExprAlgebra algebra(&builder);
  const PhysicalIndices<AffineExpr> indices =
      AtSamePlace(*from_layout, *to_layout, *ratio,
                  absl::MakeConstSpan(logical.data(), logical.size()), algebra);
  return builder.Build(llvm::ArrayRef(indices.data(), indices.size()));
}

OperandIndexing BitcastConvertMap(const Shape& from, const Shape& to, mlir::MLIRContext* context) {
  MapBuilder builder(from, to, context);
  Indices indices;
  for (int64_t i = 0; i < to.rank(); ++i) {
    indices.push_back(i < from.rank() ? builder.Dim(i) : builder.AddRangeOverAxis(to.dimension(i)));
  }
  return builder.Build(indices);
}

}  // namespace

void BitcastOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  build.Add(0, BitcastMap(build.Output(), build.Operand(0), build.mlir_context));
}

void BitcastInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  build.Add(operand, BitcastMap(build.Operand(operand), build.Output(), build.mlir_context));
}

void BitcastConvertOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  build.Add(0, BitcastConvertMap(build.Output(), build.Operand(0), build.mlir_context));
}

void BitcastConvertInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  build.Add(operand, BitcastConvertMap(build.Operand(operand), build.Output(), build.mlir_context));
}

}  // namespace xla_indexing::internal

// Reshape: elements keep their places in the row-major order,
//
//   r[d] = a[i]  with  sum_k d_k * (product of the sizes after k) the same for i in the operand.
//
// The first size, behind dimensions of one element, is in none of the products that matter: f32[?,4] to f32[1,?,2,2]
// is as exact as f32[5,4] to f32[1,5,2,2].

#include <cstdint>
#include <numeric>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/movement/reshape_indices.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

using Sizes = llvm::SmallVector<int64_t, 4>;

constexpr int64_t kMostAfterFirst = int64_t{1} << 30;

// The first dimension that is not of one element; the last of others.
int64_t FirstOf(const Shape& shape) {
  int64_t first = 0;
  while (first + 1 < shape.rank() && shape.dimension(first) == 1) ++first;
  return first;
}

// The product of the sizes after the first; 0 where these are not known, are none, or are many.
int64_t CountAfterFirst(const Shape& shape) {
  int64_t count = shape.rank() == 0 ? 0 : 1;
  for (int64_t i = FirstOf(shape) + 1; i < shape.rank() && count > 0; ++i) {
    const bool is_known = !shape.IsDynamicDimension(i) && shape.dimension(i) > 0;
    count =
        is_known && shape.dimension(i) <= kMostAfterFirst / count ? count * shape.dimension(i) : 0;
  }
  return count;
}

// Lets the first sizes be some with which both arrays have as many elements, where all others are known and `to` is
// as long as it has to be. They are not 1, of which the index would be known. False where that is not so.
bool ChooseFirstSizes(const Shape& from, const Shape& to, Sizes* from_sizes, Sizes* to_sizes) {
  const int64_t after_from = CountAfterFirst(from), after_to = CountAfterFirst(to);
  if (after_from == 0 || after_to == 0 || !to.IsUnboundedDimension(FirstOf(to))) return false;
  const int64_t common = std::gcd(after_from, after_to);
  (*from_sizes)[static_cast<size_t>(FirstOf(from))] = 2 * (after_to / common);
  (*to_sizes)[static_cast<size_t>(FirstOf(to))] = 2 * (after_from / common);
  return true;
}

OperandIndexing ReshapeMap(const Shape& from, const Shape& to, mlir::MLIRContext* context,
                           OneValued one_valued) {
  Sizes from_sizes(from.dimensions().begin(), from.dimensions().end());
  Sizes to_sizes(to.dimensions().begin(), to.dimensions().end());
  const auto from_count = from.ElementCount();
  const auto to_count = to.ElementCount();
  if ((!from_count.ok() || !to_count.ok() || *from_count != *to_count) &&
      !ChooseFirstSizes(from, to, &from_sizes, &to_sizes)) {
    return WholeTensorIndexing(from, to, "whole tensor: a reshape of sizes that have no bound",
                               context);
  }
  MapBuilder builder(from, to, context, one_valued);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (int64_t i = 0; i < from.rank(); ++i) indices.push_back(builder.Dim(i));
  if (from_count.ok() && *from_count == 0) {  // The domain is empty, whatever the results are.
    indices.assign(to.rank(), builder.Value(0));
    return builder.Build(indices);
  }
  return builder.Build(ReshapeIndices(indices, from_sizes, to_sizes, builder));
}

}  // namespace

void ReshapeOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  build.Add(0, ReshapeMap(build.Output(), build.Operand(0), build.mlir_context, build.one_valued));
}

void ReshapeInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  build.Add(operand, ReshapeMap(build.Operand(operand), build.Output(), build.mlir_context,
                                build.one_valued));
}

}  // namespace xla_indexing::internal

#include "xla_indexing/ops/rules/movement/reshape_indices.h"

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using Indices = llvm::SmallVector<AffineExpr, 4>;

// The row-major position of an index. A dimension of one element has the index 0.
AffineExpr Linearize(llvm::ArrayRef<AffineExpr> indices, llvm::ArrayRef<int64_t> sizes,
                     const MapBuilder& builder) {
  llvm::SmallVector<Summand, 4> summands;
  int64_t stride = 1;
  for (size_t i = indices.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    summands.push_back({indices[i], stride});
    stride *= sizes[i];
  }
  return summands.empty() ? builder.Value(0) : LinearCombination(summands);
}

// The index at a row-major position, which is inside the array.
Indices Delinearize(AffineExpr position, llvm::ArrayRef<int64_t> sizes) {
  Indices indices(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    const AffineExpr high = FloorDiv(position, stride);
    indices[i] = i == 0 ? high : Mod(high, sizes[i]);
    stride *= sizes[i];
  }
  return indices;
}

// How many dimensions, from the first on, the smallest group takes of either list.
struct GroupEnd {
  size_t from = 1;
  size_t to = 1;
};

GroupEnd FirstGroup(llvm::ArrayRef<int64_t> from_sizes, llvm::ArrayRef<int64_t> to_sizes) {
  GroupEnd group;
  int64_t from_count = from_sizes[0];
  int64_t to_count = to_sizes[0];
  while (from_count != to_count) {
    if (from_count < to_count) {
      from_count *= from_sizes[group.from++];
    } else {
      to_count *= to_sizes[group.to++];
    }
  }
  return group;
}

}  // namespace

llvm::SmallVector<AffineExpr, 4> ReshapeIndices(llvm::ArrayRef<AffineExpr> indices,
                                                llvm::ArrayRef<int64_t> from_sizes,
                                                llvm::ArrayRef<int64_t> to_sizes,
                                                const MapBuilder& builder) {
  Indices result;
  while (!from_sizes.empty() && !to_sizes.empty()) {
    // A dimension of one element says nothing, unless there is one like it on the other side.
    if (from_sizes[0] == 1 && to_sizes[0] != 1) {
      indices = indices.drop_front();
      from_sizes = from_sizes.drop_front();
      continue;
    }
    if (to_sizes[0] == 1 && from_sizes[0] != 1) {
      result.push_back(builder.Value(0));
      to_sizes = to_sizes.drop_front();
      continue;
    }
    const GroupEnd group = FirstGroup(from_sizes, to_sizes);
    if (group.from == 1 && group.to == 1) {
      result.push_back(indices[0]);
    } else {
      const llvm::ArrayRef<AffineExpr> taken = indices.take_front(group.from);
      const AffineExpr position = Linearize(taken, from_sizes.take_front(group.from), builder);
      Indices part = Delinearize(position, to_sizes.take_front(group.to));
      // A sum of multiples of variables, or the digits of one, is in normal form as it is.
      const bool is_normal =
          (group.from == 1 || group.to == 1) &&
          llvm::all_of(llvm::zip(taken, from_sizes), [](const auto& index_and_size) {
            return std::get<1>(index_and_size) == 1 || IsVariable(std::get<0>(index_and_size));
          });
      if (!is_normal) builder.Simplify(part);
      result.append(part);
    }
    indices = indices.drop_front(group.from);
    from_sizes = from_sizes.drop_front(group.from);
    to_sizes = to_sizes.drop_front(group.to);
  }
  // The rest of either list are dimensions of one element.
  result.append(to_sizes.size(), builder.Value(0));
  return result;
}

}  // namespace xla_indexing::internal

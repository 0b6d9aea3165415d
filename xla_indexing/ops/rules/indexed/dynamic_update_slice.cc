// Dynamic-update-slice: with rt_k = clamp(start_k, 0, n_k - size_k),
//
//   r[d] = update[d - rt]  where  0 <= d_k - rt_k < size_k in every dimension k,
//          a[d]            everywhere else.
//
// One map cannot say "everywhere else": the operand is the identity in disjoint pieces, for each
// dimension k those d that are inside the update in the dimensions before k and below it, or above
// it, in dimension k. Where these are not few, it is by default the identity, over-approximate.

#include <cstdint>
#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/indexed/start_indices.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr int64_t kFirstStart = 2;

// Starts are read by the same operands in both directions.
llvm::SmallVector<AffineExpr, 4> Starts(const BuildContext& build, MapBuilder* builder) {
  return AddStarts(build, kFirstStart, build.Operand(0), build.Operand(1), builder);
}

// The identity on the elements whose distance d_k - rt_k from the start is in `place` in dimension
// `dim` and inside the update in the dimensions before.
OperandIndexing OperandPiece(const BuildContext& build, int64_t dim, const Interval& distances) {
  MapBuilder builder = build.FromOutput(0);
  const llvm::SmallVector<AffineExpr, 4> starts = Starts(build, &builder);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (int64_t k = 0; k < build.Output().rank(); ++k) {
    indices.push_back(builder.Dim(k));
    if (k > dim) continue;
    builder.Constrain(Sub(builder.Dim(k), starts[k]),
                      k == dim ? distances : IndicesOfAxis(build.Operand(1).dimension(k)));
  }
  return builder.Build(indices);
}

// What the update leaves of the operand; its own converse.
void AddUpdatedOperand(BuildContext& build) {
  const Shape& update = build.Operand(1);
  const bool is_bounded =
      !update.HasUnboundedDimension() && !build.Output().HasUnboundedDimension();
  // An update that is as large as the operand leaves nothing.
  if (is_bounded && update.dimensions() == build.Output().dimensions()) return;
  if (is_bounded && HasNoElements(update)) {
    build.Add(0, build.Identity(build.Output()));
    return;
  }
  // On both sides of the update there are elements in the dimensions in which it can
  // begin at several places, and in no others.
  llvm::SmallVector<int64_t, 4> movable;
  for (int64_t k = 0; k < build.Output().rank() && is_bounded; ++k) {
    if (update.dimension(k) < build.Output().dimension(k)) movable.push_back(k);
  }
  if (is_bounded && build.TakesPieces(2 * movable.size())) {
    OperandIndexingSet pieces;
    for (const int64_t k : movable) {
      pieces.Add(OperandPiece(build, k, Interval::AtMost(-1)));
      pieces.Add(OperandPiece(build, k, Interval::AtLeast(update.dimension(k))));
    }
    build.Add(0, 0, 0, std::move(pieces));
    return;
  }
  OperandIndexing identity = build.Identity(build.Output());
  identity.Weaken(
      ExactnessLabel::OverApproximate("elements that the update overwrites are not read"));
  build.Add(0, std::move(identity));
}

}  // namespace

void DynamicUpdateSliceOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  AddUpdatedOperand(build);
  if (!HasNoElements(build.Operand(1))) {
    MapBuilder builder = build.FromOutput(1);
    llvm::SmallVector<AffineExpr, 4> indices = Starts(build, &builder);
    for (int64_t k = 0; k < build.Output().rank(); ++k) {
      indices[k] =
          builder.ExactQuotient(Sub(builder.Dim(k), indices[k]), 1, build.Operand(1).dimension(k));
    }
    build.AddWithPoints(1, builder.Build(indices));
  }
  AddStartReads(build, kFirstStart);
}

void DynamicUpdateSliceInputToOutput(BuildContext& build, int64_t operand,
                                     int64_t /*operand_leaf*/) {
  if (operand == 0) {
    AddUpdatedOperand(build);
    return;
  }
  if (operand >= kFirstStart) {
    build.AddWholeReach(operand);
    return;
  }
  MapBuilder builder = build.ToOutput(1);
  llvm::SmallVector<AffineExpr, 4> indices = Starts(build, &builder);
  for (int64_t k = 0; k < build.Output().rank(); ++k) {
    indices[k] = Add(builder.Dim(k), indices[k]);
  }
  build.Add(1, builder.Build(indices));
}

}  // namespace xla_indexing::internal

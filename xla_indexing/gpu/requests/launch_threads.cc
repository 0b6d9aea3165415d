#include "xla_indexing/gpu/requests/launch_threads.h"

#include <algorithm>
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

bool DividesWarpsOfBlock(const ThreadMapping& mapping, int64_t warp_size) {
  bool divides = false;
  for (const AffineExpr result : mapping.map.results()) {
    result.walk([&](AffineExpr e) {
      if (e.getKind() != mlir::AffineExprKind::FloorDiv &&
          e.getKind() != mlir::AffineExprKind::Mod) {
        return;
      }
      const auto divisor =
          llvm::cast<mlir::AffineConstantExpr>(llvm::cast<mlir::AffineBinaryOpExpr>(e).getRHS());
      const auto has = [&](llvm::ArrayRef<int> dims) {
        return llvm::any_of(dims, [&](int dim) { return e.isFunctionOfDim(dim); });
      };
      divides |= warp_size % divisor.getValue() != 0 && has(mapping.thread_dims) &&
                 !has(mapping.block_dims);
    });
  }
  return divides;
}

}  // namespace

ValueRange Clamped(const Interval& interval) {
  return {interval.has_lower() ? std::max(interval.lower(), -AccessProgram::kLimit)
                               : -AccessProgram::kLimit,
          interval.has_upper() ? std::min(interval.upper(), AccessProgram::kLimit)
                               : AccessProgram::kLimit};
}

LaunchThreads::LaunchThreads(const ThreadMapping& mapping, int64_t size)
    : warp_size(size),
      num_threads(mapping.ThreadsPerBlock()),
      warps_of_block(CeilDiv(num_threads, size)),
      num_warps(CheckedMul(warps_of_block, mapping.NumBlocks()).value_or(0)) {
  if (num_warps == 0 || mapping.map.IsKnownEmpty()) return;
  divides_warps_of_block = DividesWarpsOfBlock(mapping, warp_size);
  MakeExprs(mapping);
}

void LaunchThreads::MakeExprs(const ThreadMapping& mapping) {
  mlir::MLIRContext* const context = mapping.map.context();
  const AffineExpr lane = mlir::getAffineDimExpr(0, context);
  const AffineExpr warp = mlir::getAffineDimExpr(1, context);
  AffineExpr thread = lane;
  AffineExpr block = warp;
  if (warps_of_block > 1) {
    thread = Add(lane, Scale(Mod(warp, warps_of_block), warp_size));
    block = FloorDiv(warp, warps_of_block);
    if (num_threads % warp_size != 0) constraints.push_back({thread, {0, num_threads - 1}});
  }
  llvm::SmallVector<AffineExpr, 4> dims(mapping.map.num_dims());
  const auto delinearize = [&](AffineExpr id, llvm::ArrayRef<int> coordinates,
                               llvm::ArrayRef<int64_t> sizes) {
    for (size_t i = 0; i < coordinates.size(); ++i) {
      const bool is_last = i + 1 == coordinates.size();
      dims[coordinates[i]] = is_last ? id : Mod(id, sizes[i]);
      if (!is_last) id = FloorDiv(id, sizes[i]);
      const Interval& bounds = mapping.map.dims()[coordinates[i]].bounds;
      if (bounds != Interval::OfSize(sizes[i])) {
        constraints.push_back({dims[coordinates[i]], Clamped(bounds)});
      }
    }
  };
  delinearize(thread, mapping.thread_dims, mapping.thread_sizes);
  delinearize(block, mapping.block_dims, mapping.block_sizes);
  llvm::SmallVector<Interval, 8> intervals = {Interval::OfSize(NumLanes()),
                                              Interval::OfSize(num_warps)};
  llvm::SmallVector<AffineExpr, 4> loops;
  for (const Variable& range : mapping.map.ranges()) {
    loops.push_back(mlir::getAffineDimExpr(intervals.size(), context));
    intervals.push_back(range.bounds);
  }
  for (const AffineExpr result : mapping.map.results()) {
    elements.push_back(Substitute(result, dims, loops));
  }
  for (const Constraint& constraint : mapping.map.constraints()) {
    constraints.push_back({Substitute(constraint.expr, dims, loops), Clamped(constraint.interval)});
  }
  ExprSimplifier simplifier(context, intervals, {});
  for (AffineExpr& element : elements) {
    if (element) element = simplifier.Simplify(element);
  }
  for (auto& [expr, interval] : constraints) {
    if (expr) expr = simplifier.Simplify(expr);
  }
}

}  // namespace xla_indexing::internal

#include "xla_indexing/gpu/requests/launch_threads.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

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
  MakeExprs(mapping);
}

void LaunchThreads::MakeExprs(const ThreadMapping& mapping) {
  mlir::MLIRContext* const context = mapping.map.context();
  const AffineExpr lane = mlir::getAffineDimExpr(0, context);
  const AffineExpr warp = mlir::getAffineDimExpr(1, context);
  AffineExpr thread = lane;
  AffineExpr block = warp;
  // The block is a variable of its own until the end: it cancels where the threads of the launch are
  // counted, as in thread + 128 * block = lane + 32 * warp.
  if (warps_of_block > 1) {
    block = mlir::getAffineSymbolExpr(0, context);
    const AffineExpr thread_of_launch = LinearCombination({{lane}, {warp, warp_size}});
    thread = Sub(thread_of_launch, Scale(Scale(block, warps_of_block), warp_size));
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
  std::optional<ExprSimplifier> simplifier;
  const auto write_block = [&](AffineExpr& expr) {
    if (!expr || !expr.isFunctionOfSymbol(0)) return;
    has_blocks = true;
    if (!simplifier) simplifier.emplace(context, intervals, llvm::ArrayRef<Interval>());
    expr = Substitute(expr, {}, {FloorDiv(warp, warps_of_block)});
    if (expr) expr = simplifier->Simplify(expr);
  };
  for (AffineExpr& element : elements) write_block(element);
  for (auto& [expr, interval] : constraints) write_block(expr);
}

}  // namespace xla_indexing::internal

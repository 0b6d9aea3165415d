// How long an expression is.
//
// The shorter of two expressions is the one with fewer floordivs and mods; then the one with fewer
// nodes, which are its variables, constants and operators as often as they occur; then the one whose
// greatest constant is smaller, signs left out. `-d0` is d0 * -1 and has three nodes.
//
//   SizeOf((d0 + d1 * 128) floordiv 36)                  // {1, 7, 128}
//   SizeOf(d1 * 3 + (d0 + d1 * 20) floordiv 36)          // {1, 11, 36}: the longer one
#ifndef XLA_INDEXING_AFFINE_EXPR_EXPR_SIZE_H_
#define XLA_INDEXING_AFFINE_EXPR_EXPR_SIZE_H_

#include <compare>
#include <cstdint>

#include "mlir/IR/AffineExpr.h"

namespace xla_indexing::internal {

// A number without its sign.
inline uint64_t MagnitudeOf(int64_t value) {
  return value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

struct ExprSize {
  int64_t divisions = 0;
  int64_t nodes = 0;
  uint64_t greatest = 0;

  friend auto operator<=>(const ExprSize&, const ExprSize&) = default;
};

// An expression may share so much with itself that it has more than kMostNodes nodes. Its size is
// unknown then, and greater than any other.
inline constexpr int64_t kMostNodes = 1 << 16;
ExprSize SizeOf(mlir::AffineExpr e);

// Whether `a` is shorter than `b`, or as short and before it in dictionary order.
bool ComesBefore(mlir::AffineExpr a, mlir::AffineExpr b);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_EXPR_EXPR_SIZE_H_

// What is known of an integer x modulo m, as an expression.
//
// Mathematics. An equation says of one of its summands what its residue is, modulo what divides all
// others; residues combine; and of few values the residue tells which it is:
//
//   c*x + g*y = v, h = gcd(c, g)         x = (c/h)^-1 * v/h                            (mod g/h)
//   x = v (mod m), x = w (mod n)         x = v + m * (((w - v)/h * (m/h)^-1) mod n/h)  (mod lcm)
//     with h = gcd(m, n)
//   x = v (mod m), x in [l, l + m - 1]   x = l + (v - l) mod m
//
// the second of which is the Chinese remainder theorem. Quotients are exact wherever the equations
// hold; elsewhere the expressions mean nothing.
//
//   ResidueValue x;                       // nothing is known
//   x.Know(3, 7, d0);                     // 3*x + 7*y = d0
//   x.In(Interval::Closed(0, 6))          // (d0 * 5) mod 7
//   ResidueValue y;
//   y.Know(1, 2, d0);
//   y.Know(1, 3, d1);
//   y.In(Interval::Closed(0, 5))          // (d0 mod 2 + (((d1 - d0 mod 2) * 2) mod 3) * 2) mod 6
//   x.Modulo(7)                           // (d0 * 5) mod 7
//
// What would pass the bounds of int64 or of affine/internal/build.h is not known.
#ifndef XLA_INDEXING_MAP_INTERNAL_RESIDUE_VALUE_H_
#define XLA_INDEXING_MAP_INTERNAL_RESIDUE_VALUE_H_

#include <cstdint>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing::internal {

class ResidueValue {
 public:
  // That c*x + g*y = value for some integer y; c is not 0, g is positive.
  void Know(int64_t c, int64_t g, mlir::AffineExpr value);

  // x, where of the interval's integers, two or more, only one may be it; null otherwise.
  mlir::AffineExpr In(const Interval& interval) const;

  // x mod m, m > 1; null where it is not known.
  mlir::AffineExpr Modulo(int64_t m) const;

 private:
  // x = factor^-1 * value/divisor (mod modulus); modulus > 1.
  struct Residue {
    int64_t factor;
    int64_t modulus;
    mlir::AffineExpr value;
    int64_t divisor;
  };
  // x, modulo a number that suffices; null where no number that is known does.
  struct Combined {
    mlir::AffineExpr value;
    int64_t modulus = 1;
  };
  Combined Combine(llvm::function_ref<bool(int64_t)> suffices) const;

  llvm::SmallVector<Residue, 2> residues_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_INTERNAL_RESIDUE_VALUE_H_

// Solving  f(known, unknown) = r  for the unknown, where the results determine it.
//
// Input is a map whose dimensions are known and whose range variables are not (no runtime
// variables). The answer speaks of the dimensions and of the results, which are written as further
// dimensions: result i is d_{num_dims + i}.
//
// Mathematics. In the mod-free form (affine/normal_form/simplifier.h) every result is an integer
// combination of variables and floors. Four steps repeat until nothing new comes out; each gives
// equations that hold at every point of the domain:
//
//   1. Linear elimination, of the floors first, the most nested ones before others:
//        r0 = u0 + T, r1 = 2*u0 + u1 - 6*T         6*r0 + r1 = 8*u0 + u1
//   2. Separation of digits. Where high is a multiple of g and low in [l, l + g - 1],
//        v = high + low                            low = l + (v - l) mod g, high = v - low
//        6*r0 + r1 = 8*u0 + u1, u1 in [0, 7]       u1 = (6*r0 + r1) mod 8, u0 = .. floordiv 8
//      It is tried on the digits of the sum's normal form, which may be floors and mods.
//   3. Residues. An equation gives the residue of an atom modulo what divides the other summands,
//   and several equations give it modulo more (ResidueValue):
//        r0 = 3*u0 - 7*T                           u0 = 5*r0 (mod 7)
//   4. What is known moves to the other side, with the floors and mods that it determines.
//
// Constraints that make an unknown a quotient are equations too: c*u + e in [a, b], where b - a < c, is
// u = floor((b - e)/c). Where all that leaves some unknown, the same is done with others, in terms of which
// there is nothing to say of residues and equalities (map/sets/change_of_variables.h):
//
//   r0 = u0 floordiv 3, u0 = 2 (mod 3)           u0 = 3*t + 2, r0 = t
//
// Each value is therefore right wherever the results are those of some point of the domain;
// elsewhere it has no meaning.
//
// Example: (d0)[s0, s1] -> (s0 * 4 + s1 + d0), s0 in [0, 2], s1 in [0, 3], with d1 for the result:
//   s0 = (d1 - d0) floordiv 4, s1 = (d1 - d0) mod 4.
//
// Bounds. At most kMaxSolverEquations equations and kMaxSolverRounds rounds are tried; an equation
// is dropped where its numbers do not fit int64. What is not determined then is null.
#ifndef XLA_INDEXING_MAP_SETS_SOLVE_H_
#define XLA_INDEXING_MAP_SETS_SOLVE_H_

#include <cstdint>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

inline constexpr int kMaxSolverEquations = 96;
inline constexpr int kMaxSolverRounds = 8;

// For each range variable, its value over d_0 .. d_{num_dims + num_results - 1}, or null if the
// results were not shown to determine it. `map` is simplified, not known empty, and has no runtime
// variables.
llvm::SmallVector<mlir::AffineExpr, 4> SolveForRanges(const IndexingMap& map);

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
// What would pass the bounds of int64 or of affine/expr/build.h is not known.
class ResidueValue {
 public:
  // Takes note that c*x + g*y = value for some integer y; c is not 0, g is positive.
  void Know(int64_t c, int64_t g, mlir::AffineExpr value);

  // x, where of the interval's integers, two or more, only one may be it; null otherwise.
  mlir::AffineExpr In(const Interval& interval) const;

  // x mod m, m > 1; null if it is not known.
  mlir::AffineExpr Modulo(int64_t m) const;

 private:
  // x = factor^-1 * value/divisor (mod modulus); modulus > 1.
  struct Residue {
    int64_t factor;
    int64_t modulus;
    mlir::AffineExpr value;
    int64_t divisor;
  };
  // x, modulo a number that suffices; null if no number that is known does.
  struct Combined {
    mlir::AffineExpr value;
    int64_t modulus = 1;
  };
  Combined Combine(llvm::function_ref<bool(int64_t)> suffices) const;

  llvm::SmallVector<Residue, 2> residues_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SETS_SOLVE_H_

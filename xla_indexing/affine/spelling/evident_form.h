// Expressions that are their own normal form at first sight.
//
// Mathematics. Let every variable occur once, and summands stand in their order
// (affine/expr/linear_sum.h). Over a box, which no constraints cut, these are as short as they can
// be and are left as they are:
//
//   sum_i k_i*v_i + c                  no v_i has a single value
//   .. + sum_j k_j*D_j                 k_j > 0, D_j a digit v floordiv a, v mod a or (v floordiv a) mod n
//                                      of a variable v >= 0; v takes three values or more, and so does
//                                      the dividend of the mod, and D_j is not v or a number
//   (sum_i a_i*v_i + c) floordiv m     a_i > 0; m divides no a_i and not c, unless that is 0, and no a_i
//                                      is m + 1; and no split (affine/normal_form/division.h): where g > 1
//                                      divides m and some a_i, g*H + L has an L of g + 1 values or more
//   (sum_i a_i*v_i + c) mod m          0 < a_i < m, a_i not m - 1, 0 <= c < m, and no split
//
// In the third, what leaves the dividend costs at least as much in the sum, and another sign costs two
// nodes; in the fourth, residues are what they are. Numbers in both are up to 2^40.
//
//   IsEvidentForm((d0 * 128 + d1) floordiv 36, range_of)   // true for d0 in [0, 63], d1 in [0, 127]
#ifndef XLA_INDEXING_AFFINE_SPELLING_EVIDENT_FORM_H_
#define XLA_INDEXING_AFFINE_SPELLING_EVIDENT_FORM_H_

#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

// Whether the simplifier of the box gives the expression back. range_of(v) is the interval of a
// variable; none where there is no such variable. May say no of others that stay, too.
bool IsEvidentForm(mlir::AffineExpr expr,
                   llvm::function_ref<const Interval*(mlir::AffineExpr)> range_of);

// The evident form that the simplifier gives, where these rules lead to one; null where they do not,
// where a number would not fit int64, and where one is so near its ends that one of the simplifier's may
// not fit. Each is a rule of the simplifier that shows in what is written:
//
//   v = c                                               v has the single value c; in a sum of variables
//   floor(v/n) = q, v mod n = v - q*n                   v in [q*n, q*n + n - 1]
//   k*(E mod n) + k*n*floor(E/n) = k*E                  also in the dividend of a lone division
//   k*v - k*n*floor(v/n) = k*(v mod n)
//   k*v - k*(v mod n) = k*n*floor(v/n)
//   floor(floor(E/a)/b) = floor(E/(a*b))                floor(E/a) has three values or more
//   floor((g*H + L)/(g*n)) = floor((H + q)/n)           L in [g*q, g*q + g - 1]
//   (a*v + ..) mod m = ((a mod m)*v + ..) mod m
//
//   EvidentFormOf((d0 floordiv 8) * 8 + d0 mod 8, range_of)   // d0
mlir::AffineExpr EvidentFormOf(mlir::AffineExpr expr,
                               llvm::function_ref<const Interval*(mlir::AffineExpr)> range_of);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_SPELLING_EVIDENT_FORM_H_

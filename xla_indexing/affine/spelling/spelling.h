// The one way in which a sum of floors and mods is written.
//
// Mathematics. A floor or a mod can be spelled with any dividend that differs by multiples of its
// divisor, and with either sign. With Z any integer combination of variables and 1,
//
//   floor(Y / m) = floor((Y + m*Z) / m) - Z                 Y mod m = (Y + m*Z) mod m
//   floor(Y / m) = -floor((-Y - 1) / m) - 1                 Y mod m = m - 1 - (-Y - 1) mod m
//
// Y comes with its coefficients as the normal form has them (affine/normal_form/division.h), and is
// spelled with a constant in [0, m - 1], or without one where Y = r (mod g), g divides m, and the constant
// moves Y by less than g. Then each division, in summand order,
//
//   - takes into its dividend, where it is a floor, what stands next to it of the dividend's variables; but a
//     digit v floordiv m not the v of v + k*floor(v / m). The dividend of a quotient without remainder has
//     coefficients in (-m/2, m/2] instead;
//   - takes a factor above 1 in, where it is a mod and no coefficient in the dividend is 1 or -1:
//     k*(Y mod m) = (k*Y) mod (k*m);
//   - has the sign with which there are fewer nodes (affine/expr/expr_size.h); then that of a digit; then
//     fewer minus signs; then no constant in the dividend; then a leading coefficient above 0.
//
// In the end the first floor with a constant in its dividend takes the constant of the sum, if it can.
//
// In a mod, a negated dividend has coefficients in [0, m - 1], unless all are -1.
//
//   d1*3 + floor((d0 + d1*20) / 36)      is written     (d0 + d1 * 128) floordiv 36
//   floor((d0 + 63) / 5) - 12                           (d0 + 3) floordiv 5
//   -(d0 mod 6) + 5                                     -(d0 mod 6) + 5
//   -((d0 + 3) mod 4) + 3                               (-d0) mod 4
#ifndef XLA_INDEXING_AFFINE_SPELLING_SPELLING_H_
#define XLA_INDEXING_AFFINE_SPELLING_SPELLING_H_

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/normal_form/assumptions.h"

namespace xla_indexing::internal {

// Whether the sum is spelled with the dividends of its atoms as they are, at first sight.
bool IsSpelledAsIs(const QuasiAffineSum& sum);

// The spelling of a sum, which is in summand order. Null if numbers do not fit int64, or if MLIR
// makes something else of a division.
mlir::AffineExpr Spell(const QuasiAffineSum& sorted, const Assumptions& known,
                       mlir::MLIRContext* context);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_SPELLING_SPELLING_H_

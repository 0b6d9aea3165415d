// The shortest way to write a sum of floors and mods.
//
// Mathematics. A floor or a mod can be spelled with any dividend that differs by multiples of its
// divisor, and with either sign. For all integers z_i and c, and with sums a_i of variables,
//
//   floor(Y / m) = floor((Y + m*Z) / m) - Z            Z = c + z_1*a_1 + z_2*a_2 + ..
//   floor(Y / m) = Z - 1 - floor((m*Z - Y - 1) / m)
//   k*p*(Y mod m) + k*c = k*((p*Y + c + p*m*Z) mod (p*m))                       c in [0, p - 1]
//   Y mod m      = m - 1 - (m*Z - Y - 1) mod m
//
// and where Y = r (mod g) and g divides m, floor(Y / m) = floor((Y + j) / m) for j in [-r, g - 1 - r].
// What leaves a dividend joins the sum that the floor stands in; in the dividend of a mod the residues
// of coefficients count. The spellings of a sum are what comes from choosing Z and the sign of each
// division in it. Once the signs are chosen, the size of a spelling (affine/expr/expr_size.h) is a
// sum over the variables and the constant, so that each of them is decided by itself:
//
//   in a dividend    residues in [0, m - 1] and [-m, -1]; of a constant, some more to each side
//   in the sum       what its dividends leave, or, by one floor that takes the rest, 0 or 1
//
//   d1*3 + floor((d0 + d1*20) / 36)      is written     (d0 + d1 * 128) floordiv 36
//   floor((d0 + 63) / 5) - 12                           (d0 + 3) floordiv 5
//   -((d0 + 5) mod 6) + 5                               (d0 * 5) mod 6
#ifndef XLA_INDEXING_AFFINE_SPELLING_SPELLING_H_
#define XLA_INDEXING_AFFINE_SPELLING_SPELLING_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/normal_form/assumptions.h"

namespace xla_indexing::internal {

// Whether the spelling of the sum with its atoms as they are is the shortest one at first sight: no
// variable stands in two places, and nothing would become shorter with another sign.
bool IsSpelledShortest(const QuasiAffineSum& sum);

// The shortest spelling of equal sums, and of those that are equally short the one that is first in
// dictionary order. Null where that is the first sum as it is, where there are too many divisions to
// choose from, and where numbers do not fit int64.
mlir::AffineExpr ShortestSpelling(llvm::ArrayRef<QuasiAffineSum> forms, const Assumptions& known,
                                  mlir::MLIRContext* context);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_SPELLING_SPELLING_H_

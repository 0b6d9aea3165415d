// Functions of one sum of variables, told by their values.
//
// Mathematics. Where every division in a sum f depends on one sum of variables L alone, but for
// multiples of its divisor, with sums of multiples of variables L and Z and a period p >= 1
//
//   f(x) = Z(x) + phi(L(x))        phi(t + p) = phi(t) + drift        for all integers x and t
//
// since floor((Y + m*Z)/m) = floor(Y/m) + Z and (Y + m*Z) mod m = Y mod m. Then p, the drift and
// phi(0), .., phi(p - 1) tell phi, whatever divisions f is made of:
//
//   (d0 mod 3 + 1) floordiv 3                         L = d0, drift 0, values 0, 0, 1
//   d1 + ((d0 + 2) mod 3) mod 2                       the same, Z = d1
//   (d1 + (d0 * 2 + d1) floordiv 3) mod 2             L = d0 + d1 * 5 or d0 + d1 * 2, drift 0
#ifndef XLA_INDEXING_AFFINE_NORMAL_FORM_VALUES_IN_TURN_H_
#define XLA_INDEXING_AFFINE_NORMAL_FORM_VALUES_IN_TURN_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"

namespace xla_indexing::internal {

// phi: its values at 0, 1, .., p - 1, and what a period adds.
struct ValuesInTurn {
  llvm::SmallVector<int64_t, 16> values = {0};
  int64_t drift = 0;

  int64_t Period() const { return static_cast<int64_t>(values.size()); }
  int64_t At(int64_t t) const;
};

struct FunctionOfOneSum {
  QuasiAffineSum one_sum;  // L
  QuasiAffineSum beside;   // Z
  ValuesInTurn values;     // with the least period
};

// The sum as such a function. None where it is none, where a number in it is above 2^20, where it has
// more than 16 divisions or four variables in them, and where a period, also one of a part of the
// sum, is above 24.
std::optional<FunctionOfOneSum> AsFunctionOfOneSum(const QuasiAffineSum& sum);

// A sum in which every dividend depends on one sum of variables L alone, but for multiples of its divisor,
// and the values of L are few: f = Z + phi(L), for every integer between the least and the greatest.
struct FunctionOnInterval {
  QuasiAffineSum one_sum;                 // L
  QuasiAffineSum beside;                  // Z
  int64_t first;                          // the least value of L
  llvm::SmallVector<int64_t, 32> values;  // phi there, at the next one, ..
};

// The sum as such a function, with the L of one of its dividends, in which a variable stands once. None
// where L has no least and greatest value or more values than this, where a number in the sum is above
// 2^20, and where it has more than 16 divisions or four variables in them.
inline constexpr int64_t kMostValuesOnInterval = 64;
std::optional<FunctionOnInterval> AsFunctionOnInterval(const QuasiAffineSum& sum);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_NORMAL_FORM_VALUES_IN_TURN_H_

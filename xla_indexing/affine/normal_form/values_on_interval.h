// The values of sums that depend on few values of one sum of variables.
#ifndef XLA_INDEXING_AFFINE_NORMAL_FORM_VALUES_ON_INTERVAL_H_
#define XLA_INDEXING_AFFINE_NORMAL_FORM_VALUES_ON_INTERVAL_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"

namespace xla_indexing::internal {

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

#endif  // XLA_INDEXING_AFFINE_NORMAL_FORM_VALUES_ON_INTERVAL_H_

// Sums and products of counts that end at the greatest int64: estimates and weights, which have no bounds.
#ifndef XLA_INDEXING_REPORT_SATURATED_H_
#define XLA_INDEXING_REPORT_SATURATED_H_

#include <cstdint>

#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

// The least of a count; 0 where that is not known.
inline int64_t LeastOf(const Interval& count) { return count.has_lower() ? count.lower() : 0; }

// Sums and products of numbers that are not negative; the greatest int64 where they do not fit.
inline int64_t SaturatedSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
inline int64_t SaturatedProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_SATURATED_H_

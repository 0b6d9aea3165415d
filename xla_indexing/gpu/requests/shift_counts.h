// How often the lanes of a warp are moved by each number of bits, up to whole periods of a meter.
//
// Mathematics. Outer variables that are only added to an address, k_i * x_i for x_i in [a_i, a_i +
// n_i - 1], move all lanes alike, and only by how much modulo M counts. The count at r is the
// number of (x_1, x_2, ..) with  sum_i k_i * (x_i - a_i) = r (mod M),  times a factor. With g the
// greatest common divisor of M and all k_i, only multiples of g come up; they are numbered r / g.
// Variable after variable, a count is the sum of n_i earlier ones, k_i apart; these go around a
// cycle of M / gcd(M, k_i), so that whole turns and prefix sums of the cycle give all of them in M
// / g steps.
//
// Counts are kept at most 2^100, a number that stands for "too many".
//
// Example: 4*x for x in [0, 1023], modulus 128: 32 shifts (granularity 4), each 32 times.
#ifndef XLA_INDEXING_GPU_REQUESTS_SHIFT_COUNTS_H_
#define XLA_INDEXING_GPU_REQUESTS_SHIFT_COUNTS_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/gpu/requests/access_program.h"

namespace xla_indexing::internal {

inline constexpr Int128 kMaxCount = Int128{1} << 100;

// Sums and products of numbers that are at least 0 and at most kMaxCount.
constexpr Int128 PlusCount(Int128 a, Int128 b) { return a + b > kMaxCount ? kMaxCount : a + b; }
constexpr Int128 TimesCount(Int128 a, Int128 b) {
  if ((a | b) >> 50 == 0) return a * b;
  if (a == 0 || b == 0) return 0;
  return a > kMaxCount / b ? kMaxCount : a * b;
}

// coefficient * variable, for the variable's values.
struct MovingTerm {
  int variable = 0;
  int64_t coefficient = 0;
  ValueRange values;
};

class ShiftCounts {
 public:
  // No shift, once.
  ShiftCounts() = default;
  ShiftCounts(llvm::ArrayRef<MovingTerm> terms, int64_t modulus, Int128 factor = 1);

  // The number of shifts whose counts are known: i * granularity() for i from 0 on.
  int64_t size() const { return counts_.empty() ? 1 : static_cast<int64_t>(counts_.size()); }
  int64_t granularity() const { return granularity_; }
  Int128 CountAt(int64_t i) const { return counts_.empty() ? total_ : counts_[i]; }
  Int128 Total() const { return total_; }

  // Values of the variables, by their numbers, that give shift i, whose count is not 0.
  void FindValues(int64_t i, llvm::SmallVectorImpl<int64_t>* values) const;

 private:
  int64_t granularity_ = 1;
  Int128 total_ = 1;
  Int128 factor_ = 1;
  llvm::SmallVector<MovingTerm, 4> terms_;  // those that move the lanes
  llvm::SmallVector<Int128, 0> counts_;     // empty: all of them are at 0
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_SHIFT_COUNTS_H_

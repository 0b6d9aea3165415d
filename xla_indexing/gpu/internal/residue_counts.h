// How often each residue of a sum of independent variables comes up.
//
// Mathematics. For x_i in [a_i, a_i + n_i - 1] and a modulus M, the count at r is the number of
// (x_1, x_2, ..) with  sum_i k_i * (x_i - a_i) = r (mod M),  times a factor. With g the greatest
// common divisor of M and all k_i, only multiples of g come up; they are numbered r / g. One
// variable after the other: values of x that are o = M / gcd(M, k) apart come to the same residue,
// so that n of them go n floordiv o times around the residues that they reach, and n mod o steps
// on. That takes M / g steps a variable.
//
// Counts are kept at most 2^100, a number that stands for "too many".
//
// Example: 4*x for x in [0, 1023], modulus 128: 32 residues (granularity 4), each 32 times.
#ifndef XLA_INDEXING_GPU_INTERNAL_RESIDUE_COUNTS_H_
#define XLA_INDEXING_GPU_INTERNAL_RESIDUE_COUNTS_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/gpu/internal/access_forms.h"

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

class ResidueCounts {
 public:
  // The residue 0, with the count 1.
  ResidueCounts() = default;
  ResidueCounts(llvm::ArrayRef<MovingTerm> terms, int64_t modulus, Int128 factor = 1);
  // The counts of the sum with another number, which has the residue i * (modulus / start.size())
  // start[i] times.
  ResidueCounts(llvm::ArrayRef<Int128> start, llvm::ArrayRef<MovingTerm> terms, int64_t modulus,
                Int128 factor = 1);

  int64_t granularity() const { return granularity_; }
  // The count of the residue i * granularity(), for i in [0, modulus / granularity() - 1].
  Int128 CountAt(int64_t i) const { return counts_.empty() ? (i == 0 ? total_ : 0) : counts_[i]; }
  // The number of residues whose count is not 0.
  int64_t NumResidues() const;
  Int128 Total() const { return total_; }

  // Values of the variables, by their numbers, that give residue i, whose count is not 0. Only for
  // counts without another number.
  void FindValues(int64_t i, llvm::SmallVectorImpl<int64_t>* values) const;

 private:
  int64_t granularity_ = 1;
  Int128 total_ = 1;
  llvm::SmallVector<MovingTerm, 4> terms_;                     // those that move the residue
  llvm::SmallVector<Int128, 0> counts_;                        // empty: all of them are at 0
  llvm::SmallVector<llvm::SmallVector<Int128, 0>, 2> before_;  // the counts without term i and on
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_INTERNAL_RESIDUE_COUNTS_H_

// Where a linear function has residues in an interval.
//
// Mathematics. The integers x with (factor*x + offset) mod modulus in [lower, upper] repeat with
// the period modulus / gcd(factor, modulus). The first of them at or after a point is found as the
// greatest common divisor is, in about log(modulus) steps: with a = factor mod modulus, either a
// multiple of a lies in [lower, upper], or x counts how often the modulus is passed, which is the
// same question modulo a.
//
// Example: 5*x mod 12 in [3, 4] holds of x = 8 (40 mod 12 = 4) and x = 3 (15 mod 12 = 3), so that
// TightenToResidues([4, 20], {5, 0, 12, 3, 4}) is [8, 20].
#ifndef XLA_INDEXING_BASE_NUMBERS_RESIDUE_SEARCH_H_
#define XLA_INDEXING_BASE_NUMBERS_RESIDUE_SEARCH_H_

#include <cstdint>

#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

// {x : (factor*x + offset) mod modulus in [lower, upper]} with modulus >= 1 and
// 0 <= lower <= upper < modulus.
struct LinearResidues {
  int64_t factor = 1;
  int64_t offset = 0;
  int64_t modulus = 1;
  int64_t lower = 0;
  int64_t upper = 0;
};

// The least interval that contains all of them that are in `interval`; an infinite end stays.
Interval TightenToResidues(const Interval& interval, const LinearResidues& residues);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_NUMBERS_RESIDUE_SEARCH_H_

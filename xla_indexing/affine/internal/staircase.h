// Functions of one integer as sums of floors, from their values.
//
// Mathematics. A *staircase* is a function f of integers x that is known at x = first, .., first +
// N - 1 and matters nowhere else, or everywhere, with f(x + N - 1) = f(x) + f(first + N - 1) -
// f(first) for all x (periodic). A floor climbs by 0 or 1 from one x to the next:
//
//   k * floor((p*x + q) / m),  0 < p < m:  its steps  floor((p*(x+1) + q)/m) - floor((p*x + q)/m)
//
// are a *word* of zeros and ones. Words of this kind are the mechanical ones: with g the number of
// ones before x, p/m is a slope of one if and only if all m*g - p*x differ by less than m, and q is
// the greatest of them. So the steps f(x+1) - f(x) of
//
//   f(x) = slope*x + constant + k1*floor((p1*x + q1)/m1) + k2*floor((p2*x + q2)/m2)
//
// take at most the values slope, slope + k1, slope + k2 and slope + k1 + k2, and which values they
// take, and where, tells the two words. Only where k1 = k2 must they be searched for.
//
// What comes back depends on the values alone: equal functions have one form. It has the fewest
// floors possible. Of several forms with two floors the one is taken whose divisors divide each
// other (they are digits of one number), then the one with the least divisors, then with the least
// factors. Where only one step of a floor is seen, it is made a digit of the others, or has no
// constant, or the least divisor.
//
// Example: floor(x/4) + floor((x + 2)/4) at all x, that is 0, 0, 1, 1, 2 at x = 0, .., 4 and
// periodic, is floor(x/2), Hermite's identity. 0, 0, 0, 1 at x = 0, .., 3 alone is floor(x/3).
//
// Bounds. At most kMaxStaircase steps, which with `first` are at most kMaxStaircaseStep in
// magnitude, so that nothing overflows. Telling a word takes at most twice the square of their
// number in steps of a nanosecond, the search at most kMaxStaircaseWork; what takes more has no
// form.
#ifndef XLA_INDEXING_AFFINE_INTERNAL_STAIRCASE_H_
#define XLA_INDEXING_AFFINE_INTERNAL_STAIRCASE_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"

namespace xla_indexing::internal {

inline constexpr int64_t kMaxStaircase = 160;
inline constexpr int64_t kMaxStaircaseStep = int64_t{1} << 28;
inline constexpr int64_t kMaxStaircaseWork = 50000;

struct Staircase {
  int64_t first = 0;
  bool periodic = false;
  llvm::SmallVector<int64_t, 32> values;  // at least one
};

// factor * floor((p*x + q) / m)
struct StaircaseFloor {
  int64_t factor;
  int64_t p;
  int64_t q;
  int64_t m;
};

struct StaircaseForm {
  int64_t slope = 0;
  int64_t constant = 0;
  llvm::SmallVector<StaircaseFloor, 2> floors;
};

// The form with up to two floors; none where there is no such form, or past the bounds.
std::optional<StaircaseForm> FewestFloors(const Staircase& f);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_INTERNAL_STAIRCASE_H_

// Residue classes of integers.
//
// A Congruence is a set {x : x = residue (mod modulus)} of mathematical integers: all integers for
// the modulus 1, a single one for the modulus 0. The empty set is an ordinary value. Every set has
// one representation (the residue in [0, modulus - 1] where the modulus is not 0), so == is
// equality of sets.
//
// Arithmetic gives the least residue class that contains the results:
//   a.Add(b) contains {x + y : x in a, y in b},
//   a.FloorDiv(c) contains {floor(x / c) : x in a}, ...
// Where its numbers do not fit int64, the result is a larger class that contains it. Any operation
// on the empty set gives the empty set.
//
// An interval says how large a value is; a congruence says on which lattice it lies:
// Tighten() moves the ends of an interval to the class.
//
// Example: Congruence::Of(3, 6).Add(Congruence::Of(0, 4)) == Congruence::Of(1, 2);
//          Congruence::Of(0, 2).Intersect(Congruence::Of(2, 3)) == Congruence::Of(2, 6);
//          Congruence::Of(1, 4).Tighten(Interval::Closed(2, 12)) == Interval::Closed(5, 9).

#ifndef XLA_INDEXING_BASE_NUMBERS_CONGRUENCE_H_
#define XLA_INDEXING_BASE_NUMBERS_CONGRUENCE_H_

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

class Congruence {
 public:
  // The empty set.
  constexpr Congruence() = default;

  static constexpr Congruence Empty() { return Congruence(); }
  static constexpr Congruence All() { return Congruence(1, 0); }
  static constexpr Congruence Point(int64_t value) { return Congruence(0, value); }
  // {x : x = residue (mod modulus)}, modulus >= 1, any residue.
  static Congruence Of(int64_t residue, int64_t modulus);

  constexpr bool IsEmpty() const { return modulus_ < 0; }
  constexpr bool IsAll() const { return modulus_ == 1; }
  constexpr bool IsPoint() const { return modulus_ == 0; }
  // 0 for a single value. Neither has a meaning for the empty set.
  constexpr int64_t modulus() const { return modulus_; }
  constexpr int64_t residue() const { return residue_; }

  bool Contains(int64_t value) const;
  bool IsSubsetOf(const Congruence& other) const;
  // x mod n where it is the same for every x of the class; n >= 1. None for the empty set.
  std::optional<int64_t> ResidueModulo(int64_t n) const;

  // Both as sets: the elements of both, and the least class with the elements of either.
  Congruence Intersect(const Congruence& other) const;
  Congruence Union(const Congruence& other) const;

  Congruence Add(const Congruence& other) const;
  Congruence Add(int64_t constant) const { return Add(Point(constant)); }
  Congruence Mul(int64_t factor) const;
  // Rounded down, and the remainder in [0, n - 1]; both for divisors of at least 1.
  Congruence FloorDiv(int64_t divisor) const;
  Congruence Mod(int64_t n) const;

  // The least interval with all elements of the class in `interval`.
  Interval Tighten(const Interval& interval) const;

  // `1 mod 4`, `7` for a single value, `[]` for the empty set.
  std::string ToString() const;

  friend constexpr bool operator==(const Congruence& a, const Congruence& b) = default;

 private:
  constexpr Congruence(int64_t modulus, int64_t residue) : modulus_(modulus), residue_(residue) {}

  int64_t modulus_ = -1;
  int64_t residue_ = 0;
};

// For GoogleTest's messages.
void PrintTo(const Congruence& congruence, std::ostream* os);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_NUMBERS_CONGRUENCE_H_

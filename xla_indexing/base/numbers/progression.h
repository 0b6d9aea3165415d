// Arithmetic progressions: what an interval has of a residue class,
//
//   { x in [l, u] : x = r mod m }.
//
// Two progressions are one, their hull (the hull of the intervals, the least residue class with
// both), where the hull has as many elements as both have together: |hull| = |A| + |B| - |A and B|.
//
// Of() writes each finite progression in one way: the ends of the interval are elements, and the class is
// a point or empty where the interval is. So == is equality of sets.
//
// Example: {0, 2, 4} and {1, 3, 5} are [0, 5].
#ifndef XLA_INDEXING_BASE_NUMBERS_PROGRESSION_H_
#define XLA_INDEXING_BASE_NUMBERS_PROGRESSION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

struct Progression {
  Interval interval = Interval::All();
  Congruence residues = Congruence::All();

  static Progression Of(const Interval& interval, const Congruence& residues) {
    const Interval tight = residues.Tighten(interval);
    if (tight.IsEmpty()) return Empty();
    return {tight, tight.IsPoint() ? Congruence::Point(tight.lower()) : residues};
  }
  static Progression Point(int64_t value) {
    return {Interval::Point(value), Congruence::Point(value)};
  }
  // {first + i * stride : i < count}, count and stride at least 1; nullopt if that is not within int64.
  static std::optional<Progression> FromSteps(Int128 first, Int128 count, Int128 stride);
  static Progression Empty() { return {Interval::Empty(), Congruence::Empty()}; }

  bool IsEmpty() const { return interval.IsEmpty(); }
  // first(), first() + stride(), .., last(), where it is finite and not empty; a stride of 0 for one value.
  int64_t first() const { return interval.lower(); }
  int64_t last() const { return interval.upper(); }
  int64_t stride() const { return residues.modulus(); }
  // The stride; 1 for one value, which has no next one.
  int64_t step() const { return stride() == 0 ? 1 : stride(); }
  // Nullopt if it is infinite.
  std::optional<Int128> Count() const {
    if (interval.IsEmpty()) return 0;
    if (!interval.IsFinite()) return std::nullopt;
    if (interval.IsPoint()) return 1;
    return (Int128{last()} - first()) / step() + 1;
  }
  // What both have; where its numbers do not fit, something more of this one.
  Progression Intersect(const Progression& other) const {
    const Congruence both = residues.Intersect(other.residues);
    return Of(interval.Intersect(other.interval), both.IsSubsetOf(residues) ? both : residues);
  }
  bool Contains(int64_t value) const {
    return interval.Contains(value) && residues.Contains(value);
  }
  bool Contains(const Progression& other) const {
    return other.IsEmpty() ||
           (other.interval.IsSubsetOf(interval) && other.residues.IsSubsetOf(residues));
  }
  // The least progressions with all elements of both, all sums, products and differences; larger ones
  // where their numbers do not fit.
  Progression Hull(const Progression& other) const {
    return Of(interval.Union(other.interval), residues.Union(other.residues));
  }
  Progression Add(const Progression& other) const {
    return Of(interval.Add(other.interval), residues.Add(other.residues));
  }
  Progression Mul(int64_t factor) const { return Of(interval.Mul(factor), residues.Mul(factor)); }
  Progression Sub(const Progression& other) const { return Add(other.Mul(-1)); }
  // A progression with all x of which factor * x is in this one.
  Progression PreimageOfMul(int64_t factor) const {
    const bool is_unit = factor == 1 || factor == -1;
    return Of(interval.PreimageOfMul(factor), is_unit ? residues.Mul(factor) : Congruence::All());
  }

  friend bool operator==(const Progression& a, const Progression& b) = default;
};

// {i * stride : i < count}, count and stride at least 1.
struct EquallySpaced {
  Int128 count = 1;
  int64_t stride = 1;
};

// The sums of one element of each, where they are equally spaced; nullopt if not. They are if and only if, in
// the order of the strides g_1 <= g_2 <= .. of those with n_i > 1 elements, g_1 divides each g_i, and
// g_i <= g_1 + sum_{j < i} g_j * (n_j - 1): the sums of those before leave no gap below g_i. Also nullopt
// for more than 2^64 sums.
std::optional<EquallySpaced> SumOf(std::vector<EquallySpaced> parts);

// The products of the elements with a factor, which is not 0, and the sums of one element of each of
// several progressions and a constant, where they are a progression. Nothing is infinite or empty. nullopt
// if they are no progression, or not within int64.
std::optional<Progression> ExactMul(const Progression& values, int64_t factor);
std::optional<Progression> ExactSum(int64_t constant, const std::vector<Progression>& terms);

// The least progression with all of them.
Progression HullOfAll(const std::vector<Progression>& parts);

// The union of both, where it is a progression.
std::optional<Progression> Union(const Progression& a, const Progression& b);

// Few progressions with the same union, where all are finite; none of them is empty.
std::vector<Progression> Unite(std::vector<Progression> parts);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_NUMBERS_PROGRESSION_H_

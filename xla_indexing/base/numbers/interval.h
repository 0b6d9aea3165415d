// Closed intervals of integers, with infinite ends.
//
// An Interval is a set {x : lower <= x <= upper} of mathematical integers. Each end is an int64 or
// infinite; infinity is a flag and never stands for an int64 value. The empty set is an ordinary
// value with one representation, so == is equality of sets.
//
// Arithmetic gives the hull (the least interval that contains it) of the set of results:
//   a.Add(b) = hull {x + y : x in a, y in b},   a.FloorDiv(c) = hull {floor(x / c) : x in a}, ...
// An end of the hull that does not fit int64 becomes infinite where it lies outward (a lower end
// below the least int64, an upper end above the greatest), and the nearest int64 where it lies
// inward. The result then contains the hull and perhaps more: right for ranges, and wrong for
// constraints, whose sets must stay what they are. Any operation on the empty set gives the empty
// set.
//
// Example: Interval::Closed(-3, 5).FloorDiv(2) == Interval::Closed(-2, 2);
//          Interval::AtLeast(7).Mod(4) == Interval::Closed(0, 3);
//          Interval::Closed(8, -1).IsEmpty().

#ifndef XLA_INDEXING_BASE_NUMBERS_INTERVAL_H_
#define XLA_INDEXING_BASE_NUMBERS_INTERVAL_H_

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>

#include "xla_indexing/base/check.h"

namespace xla_indexing {

class Interval {
 public:
  // The empty interval.
  constexpr Interval() = default;

  static constexpr Interval Empty() { return Interval(); }
  static constexpr Interval All() { return Interval(Kind::kNonEmpty, false, 0, false, 0); }
  static constexpr Interval Point(int64_t value) { return Closed(value, value); }
  static constexpr Interval AtLeast(int64_t lower) {
    return Interval(Kind::kNonEmpty, true, lower, false, 0);
  }
  static constexpr Interval AtMost(int64_t upper) {
    return Interval(Kind::kNonEmpty, false, 0, true, upper);
  }
  // {x : lower <= x <= upper}: empty when lower > upper.
  static constexpr Interval Closed(int64_t lower, int64_t upper) {
    if (lower > upper) return Empty();
    return Interval(Kind::kNonEmpty, true, lower, true, upper);
  }
  // The indices of an axis of `size` elements, [0, size - 1]: empty when size <= 0.
  static constexpr Interval OfSize(int64_t size) {
    return size <= 0 ? Empty() : Closed(0, size - 1);
  }

  constexpr bool IsEmpty() const { return kind_ == Kind::kEmpty; }
  constexpr bool IsAll() const { return !IsEmpty() && !has_lower_ && !has_upper_; }
  constexpr bool IsFinite() const { return IsEmpty() || (has_lower_ && has_upper_); }
  constexpr bool IsPoint() const { return has_lower_ && has_upper_ && lower_ == upper_; }

  // Whether the interval is not empty and its lower (upper) end is finite.
  constexpr bool has_lower() const { return has_lower_; }
  constexpr bool has_upper() const { return has_upper_; }
  // The finite ends. Asking for an end that is infinite, where has_lower() (has_upper()) is false,
  // is an error of the program and ends it (base/check.h).
  constexpr int64_t lower() const {
    Check(has_lower_, "Interval::lower() of an interval without a finite lower end");
    return lower_;
  }
  constexpr int64_t upper() const {
    Check(has_upper_, "Interval::upper() of an interval without a finite upper end");
    return upper_;
  }

  // The number of elements; none when it is infinite or does not fit int64.
  std::optional<int64_t> Size() const;

  constexpr bool Contains(int64_t value) const {
    return !IsEmpty() && (!has_lower_ || lower_ <= value) && (!has_upper_ || value <= upper_);
  }
  bool IsSubsetOf(const Interval& other) const;

  // Intersection, and the hull of the union.
  Interval Intersect(const Interval& other) const {
    if (AreFinite(*this, other)) {
      return Closed(lower_ > other.lower_ ? lower_ : other.lower_,
                    upper_ < other.upper_ ? upper_ : other.upper_);
    }
    return IntersectAny(other);
  }
  Interval Union(const Interval& other) const;
  // Whether that hull has no elements but those of the two intervals; false where one of these is
  // empty.
  bool TouchesOrOverlaps(const Interval& other) const;

  Interval Neg() const;
  Interval Add(const Interval& other) const {
    if (int64_t lower = 0, upper = 0; AreFinite(*this, other) &&
                                      !__builtin_add_overflow(lower_, other.lower_, &lower) &&
                                      !__builtin_add_overflow(upper_, other.upper_, &upper)) {
      return Closed(lower, upper);
    }
    return AddAny(other);
  }
  Interval Add(int64_t constant) const { return Add(Point(constant)); }
  Interval Sub(const Interval& other) const { return Add(other.Neg()); }
  Interval Sub(int64_t constant) const { return Sub(Point(constant)); }
  Interval Mul(const Interval& other) const;
  Interval Mul(int64_t constant) const {
    if (int64_t first = 0, last = 0; has_lower_ && has_upper_ &&
                                     !__builtin_mul_overflow(lower_, constant, &first) &&
                                     !__builtin_mul_overflow(upper_, constant, &last)) {
      return constant < 0 ? Closed(last, first) : Closed(first, last);
    }
    return Mul(Point(constant));
  }

  // The quotients as rational numbers, rounded down (up); `divisor` may be negative. All() for a
  // divisor of 0.
  Interval FloorDiv(int64_t divisor) const;
  Interval CeilDiv(int64_t divisor) const;
  // The remainder in [0, modulus - 1], modulus >= 1. Any other modulus gives All().
  Interval Mod(int64_t modulus) const;

  // The other direction: what `x` can be when an operation on it has a result in this interval,
  // rounded as above. {x : x * factor in *this}, for every factor, 0 included.
  Interval PreimageOfMul(int64_t factor) const;
  // {x : floor(x / divisor) in *this}, `divisor` of either sign; All() for a divisor of 0.
  Interval PreimageOfFloorDiv(int64_t divisor) const;

  // `[0, 9]`, `[-inf, 5]`, `[0, inf]`; `[]` for the empty interval.
  std::string ToString() const;
  void AppendTo(std::string* out) const;

  friend constexpr bool operator==(const Interval& a, const Interval& b) {
    return a.kind_ == b.kind_ && a.has_lower_ == b.has_lower_ && a.has_upper_ == b.has_upper_ &&
           a.lower_ == b.lower_ && a.upper_ == b.upper_;
  }

  template <typename H>
  friend H AbslHashValue(H h, const Interval& interval) {
    return H::combine(std::move(h), interval.kind_, interval.has_lower_, interval.has_upper_,
                      interval.lower_, interval.upper_);
  }

 private:
  // The common case, done in place where the results fit.
  static constexpr bool AreFinite(const Interval& a, const Interval& b) {
    return a.has_lower_ && a.has_upper_ && b.has_lower_ && b.has_upper_;
  }
  Interval IntersectAny(const Interval& other) const;
  Interval AddAny(const Interval& other) const;

  enum class Kind : uint8_t { kEmpty, kNonEmpty };

  constexpr Interval(Kind kind, bool has_lower, int64_t lower, bool has_upper, int64_t upper)
      : lower_(lower), upper_(upper), kind_(kind), has_lower_(has_lower), has_upper_(has_upper) {}

  // An end that is infinite is stored as 0, and so are both ends of the empty interval: every set
  // has one representation.
  int64_t lower_ = 0;
  int64_t upper_ = 0;
  Kind kind_ = Kind::kEmpty;
  bool has_lower_ = false;
  bool has_upper_ = false;
};

static_assert(sizeof(Interval) <= 24, "intervals are passed and copied everywhere");

// For GoogleTest's messages.
void PrintTo(const Interval& interval, std::ostream* os);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_BASE_NUMBERS_INTERVAL_H_

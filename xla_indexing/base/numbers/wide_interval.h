// Closed intervals of integers in 128 bits, for sets that must not become larger on the way.
//
// The arithmetic of Interval rounds outward what does not fit int64: its results contain what they
// should, and perhaps more. That is right for ranges and wrong for constraints: a constraint that
// becomes wider is lost. These intervals hold every sum, product and preimage of int64 numbers as
// it is, so that a constraint is moved, scaled and met with what is known first, and only then
// becomes an Interval, where it is one:
//
//   d0 * 2 - 9223372036854775807 in [7, 7], d0 in [2^62, 2^62 + 9]
//   WideInterval(Interval::Point(7)).Sub(-kInt64Max)      [2^63 + 6, 2^63 + 6]
//       .PreimageOfMul(2)                                 [2^62 + 3, 2^62 + 3]
//       .Narrow()                                         d0 in [4611686018427387907, ..907]
//
// Ends past 128 bits, as only sums of very many products have, are rounded outward like those of
// Interval. Any operation on the empty set gives the empty set.
#ifndef XLA_INDEXING_BASE_NUMBERS_WIDE_INTERVAL_H_
#define XLA_INDEXING_BASE_NUMBERS_WIDE_INTERVAL_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

class WideInterval {
 public:
  // The values of ends that stand for infinity.
  static constexpr Int128 kInfinity = (((Int128{1} << 126) - 1) << 1) + 1;
  static constexpr Int128 kMinusInfinity = -kInfinity - 1;

  // All integers.
  constexpr WideInterval() = default;
  // {x : lower <= x <= upper}.
  constexpr WideInterval(Int128 lower, Int128 upper) : lower_(lower), upper_(upper) {}
  // The set that `interval` is.
  explicit constexpr WideInterval(const Interval& interval)
      : lower_(interval.IsEmpty()     ? 1
               : interval.has_lower() ? Int128{interval.lower()}
                                      : kMinusInfinity),
        upper_(interval.IsEmpty()     ? 0
               : interval.has_upper() ? Int128{interval.upper()}
                                      : kInfinity) {}

  static constexpr WideInterval Point(Int128 value) { return {value, value}; }

  constexpr bool IsEmpty() const { return lower_ > upper_; }
  constexpr bool has_lower() const { return !IsEmpty() && lower_ != kMinusInfinity; }
  constexpr bool has_upper() const { return !IsEmpty() && upper_ != kInfinity; }
  constexpr bool IsFinite() const { return IsEmpty() || (has_lower() && has_upper()); }
  // The finite ends; only where has_lower() (has_upper()).
  constexpr Int128 lower() const { return lower_; }
  constexpr Int128 upper() const { return upper_; }

  constexpr bool Contains(Int128 value) const { return lower_ <= value && value <= upper_; }
  constexpr bool IsSubsetOf(const WideInterval& other) const {
    return IsEmpty() || (other.lower_ <= lower_ && upper_ <= other.upper_);
  }
  constexpr WideInterval Intersect(const WideInterval& other) const {
    return {std::max(lower_, other.lower_), std::min(upper_, other.upper_)};
  }

  WideInterval Add(const WideInterval& other) const {
    if (IsEmpty() || other.IsEmpty()) return {1, 0};
    return {AddEnds(lower_, other.lower_, kMinusInfinity),
            AddEnds(upper_, other.upper_, kInfinity)};
  }
  WideInterval Sub(Int128 constant) const { return Add(Point(-constant)); }
  WideInterval Neg() const {
    if (IsEmpty()) return *this;
    return {upper_ == kInfinity ? kMinusInfinity : -upper_,
            lower_ == kMinusInfinity ? kInfinity : -lower_};
  }
  // The hulls of all products, and of all quotients by a divisor other than 0, rounded down.
  WideInterval Mul(int64_t factor) const;
  WideInterval FloorDiv(int64_t divisor) const;

  // {x : x * factor in *this}, for a factor other than 0.
  WideInterval PreimageOfMul(Int128 factor) const;
  // {x : floor(x / divisor) in *this}, for a divisor of either sign other than 0.
  WideInterval PreimageOfFloorDiv(int64_t divisor) const;

  // The set as an Interval, where its finite ends fit int64.
  std::optional<Interval> Narrow() const;
  // The least Interval that contains the set.
  Interval Hull() const;

 private:
  // Where either is infinite or the sum is past 128 bits on that side, `infinity`.
  static Int128 AddEnds(Int128 a, Int128 b, Int128 infinity);

  Int128 lower_ = kMinusInfinity;
  Int128 upper_ = kInfinity;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_NUMBERS_WIDE_INTERVAL_H_

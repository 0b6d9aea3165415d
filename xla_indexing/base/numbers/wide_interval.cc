#include "xla_indexing/base/numbers/wide_interval.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>

#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

Int128 WideFloorDiv(Int128 a, Int128 divisor) {
  assert(divisor != 0);
  const bool is_negative = (a < 0) != (divisor < 0);
  return a / divisor - (a % divisor != 0 && is_negative ? 1 : 0);
}

Int128 WideCeilDiv(Int128 a, Int128 divisor) { return -WideFloorDiv(-a, divisor); }

}  // namespace

Int128 WideInterval::AddEnds(Int128 a, Int128 b, Int128 infinity) {
  if (a == infinity || b == infinity) return infinity;
  Int128 sum = 0;
  if (!__builtin_add_overflow(a, b, &sum) && sum != kInfinity && sum != kMinusInfinity) return sum;
  // A sum past the other side is rounded outward to the last finite end there.
  if ((a > 0) == (infinity > 0)) return infinity;
  return a > 0 ? kInfinity - 1 : kMinusInfinity + 1;
}

WideInterval WideInterval::Mul(int64_t factor) const {
  if (IsEmpty()) return *this;
  if (factor == 0) return Point(0);
  const auto times = [factor](Int128 end, Int128 outward) {
    Int128 product = 0;
    const bool is_infinite = end == kInfinity || end == kMinusInfinity;
    if (!is_infinite && !__builtin_mul_overflow(end, Int128{factor}, &product) &&
        product != kInfinity && product != kMinusInfinity) {
      return product;
    }
    if (is_infinite || ((end > 0) == (factor > 0)) == (outward > 0)) return outward;
    return outward > 0 ? kMinusInfinity + 1 : kInfinity - 1;
  };
  return factor > 0 ? WideInterval(times(lower_, kMinusInfinity), times(upper_, kInfinity))
                    : WideInterval(times(upper_, kMinusInfinity), times(lower_, kInfinity));
}

WideInterval WideInterval::FloorDiv(int64_t divisor) const {
  if (IsEmpty()) return *this;
  const auto divide = [divisor](bool is_finite, Int128 end, Int128 infinity) {
    return is_finite ? WideFloorDiv(end, divisor) : infinity;
  };
  return divisor > 0 ? WideInterval(divide(has_lower(), lower_, kMinusInfinity),
                                    divide(has_upper(), upper_, kInfinity))
                     : WideInterval(divide(has_upper(), upper_, kMinusInfinity),
                                    divide(has_lower(), lower_, kInfinity));
}

WideInterval WideInterval::PreimageOfMul(Int128 factor) const {
  if (IsEmpty() || factor == 1) return *this;
  // lower <= x * factor <= upper, divided by the factor; a negative one exchanges the ends.
  const bool is_up = factor > 0;
  const bool has_first = is_up ? has_lower() : has_upper();
  const bool has_last = is_up ? has_upper() : has_lower();
  return {has_first ? WideCeilDiv(is_up ? lower_ : upper_, factor) : kMinusInfinity,
          has_last ? WideFloorDiv(is_up ? upper_ : lower_, factor) : kInfinity};
}

WideInterval WideInterval::PreimageOfFloorDiv(int64_t divisor) const {
  if (IsEmpty()) return *this;
  // floor(x / c) >= lower  <=>  x / c >= lower, and  floor(x / c) <= upper  <=>  x / c < upper + 1.
  const Int128 c = divisor < 0 ? -Int128{divisor} : Int128{divisor};
  const WideInterval floors{lower_, has_upper() ? upper_ + 1 : kInfinity};
  const auto times = [c](Int128 end) {
    Int128 product = 0;
    if (end == kInfinity || end == kMinusInfinity) return end;
    return __builtin_mul_overflow(end, c, &product) ? (end > 0 ? kInfinity : kMinusInfinity)
                                                    : product;
  };
  const WideInterval multiples{times(floors.lower_), times(floors.upper_)};
  const WideInterval up{multiples.lower_, multiples.has_upper() ? multiples.upper_ - 1 : kInfinity};
  return divisor > 0 ? up : up.Neg();
}

std::optional<Interval> WideInterval::Narrow() const {
  if (IsEmpty()) return Interval::Empty();
  const auto fits = [](Int128 end) { return NarrowToInt64(end).has_value(); };
  if ((has_lower() && !fits(lower_)) || (has_upper() && !fits(upper_))) return std::nullopt;
  return Hull();
}

Interval WideInterval::Hull() const {
  if (IsEmpty()) return Interval::Empty();
  // An end that lies inward of what int64 has is the nearest that it has.
  const auto low = static_cast<int64_t>(std::clamp<Int128>(lower_, kInt64Min, kInt64Max));
  const auto high = static_cast<int64_t>(std::clamp<Int128>(upper_, kInt64Min, kInt64Max));
  if (lower_ >= kInt64Min && upper_ <= kInt64Max) return Interval::Closed(low, high);
  if (lower_ >= kInt64Min) return Interval::AtLeast(low);
  if (upper_ <= kInt64Max) return Interval::AtMost(high);
  return Interval::All();
}

}  // namespace xla_indexing::internal

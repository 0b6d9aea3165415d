#include "xla_indexing/base/interval.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "xla_indexing/base/checked.h"

namespace xla_indexing {
namespace {

// An end before it is rounded to what an Interval can store. The magnitudes that occur here, at
// most (2^63 + 1) * 2^63 + 1, fit Int128.
struct WideEnd {
  bool finite = false;
  Int128 value = 0;
};

WideEnd LowerOf(const Interval& interval) {
  return interval.has_lower() ? WideEnd{true, interval.lower()} : WideEnd{};
}

WideEnd UpperOf(const Interval& interval) {
  return interval.has_upper() ? WideEnd{true, interval.upper()} : WideEnd{};
}

// {x : lower <= x <= upper}, rounded outward to the ends that an Interval can store.
Interval FromWide(WideEnd lower, WideEnd upper) {
  if (lower.finite && upper.finite && lower.value > upper.value) return Interval::Empty();
  const bool has_lower = lower.finite && lower.value >= kInt64Min;
  const bool has_upper = upper.finite && upper.value <= kInt64Max;
  const int64_t low =
      has_lower ? static_cast<int64_t>(std::min<Int128>(lower.value, kInt64Max)) : 0;
  const int64_t high =
      has_upper ? static_cast<int64_t>(std::max<Int128>(upper.value, kInt64Min)) : 0;
  if (has_lower && has_upper) return Interval::Closed(low, high);
  if (has_lower) return Interval::AtLeast(low);
  if (has_upper) return Interval::AtMost(high);
  return Interval::All();
}

WideEnd FloorDivEnd(WideEnd end, Int128 divisor) {
  if (!end.finite) return end;
  const Int128 quotient = end.value / divisor;
  const bool inexact = end.value % divisor != 0;
  const bool negative = (end.value < 0) != (divisor < 0);
  return {true, quotient - (inexact && negative ? 1 : 0)};
}

WideEnd CeilDivEnd(WideEnd end, Int128 divisor) {
  if (!end.finite) return end;
  const WideEnd negated = FloorDivEnd({true, -end.value}, divisor);
  return {true, -negated.value};
}

}  // namespace

std::optional<int64_t> Interval::Size() const {
  if (IsEmpty()) return 0;
  if (!IsFinite()) return std::nullopt;
  return NarrowToInt64(Int128{upper_} - lower_ + 1);
}

bool Interval::IsSubsetOf(const Interval& other) const {
  if (IsEmpty()) return true;
  if (other.IsEmpty()) return false;
  const bool lower_inside = !other.has_lower_ || (has_lower_ && lower_ >= other.lower_);
  const bool upper_inside = !other.has_upper_ || (has_upper_ && upper_ <= other.upper_);
  return lower_inside && upper_inside;
}

Interval Interval::IntersectAny(const Interval& other) const {
  if (IsEmpty() || other.IsEmpty()) return Empty();
  WideEnd lower = LowerOf(*this);
  if (other.has_lower_ && (!lower.finite || other.lower_ > lower.value)) lower = LowerOf(other);
  WideEnd upper = UpperOf(*this);
  if (other.has_upper_ && (!upper.finite || other.upper_ < upper.value)) upper = UpperOf(other);
  return FromWide(lower, upper);
}

Interval Interval::Union(const Interval& other) const {
  if (IsEmpty()) return other;
  if (other.IsEmpty()) return *this;
  WideEnd lower;
  if (has_lower_ && other.has_lower_) lower = {true, std::min(lower_, other.lower_)};
  WideEnd upper;
  if (has_upper_ && other.has_upper_) upper = {true, std::max(upper_, other.upper_)};
  return FromWide(lower, upper);
}

bool Interval::TouchesOrOverlaps(const Interval& other) const {
  if (IsEmpty() || other.IsEmpty()) return false;
  const auto reaches = [](const Interval& low, const Interval& high) {
    if (!low.has_upper_ || !high.has_lower_) return true;
    return low.upper_ >= high.lower_ || low.upper_ + 1 == high.lower_;
  };
  return reaches(*this, other) && reaches(other, *this);
}

Interval Interval::Neg() const {
  if (IsEmpty()) return Empty();
  const WideEnd lower = LowerOf(*this);
  const WideEnd upper = UpperOf(*this);
  return FromWide({upper.finite, -upper.value}, {lower.finite, -lower.value});
}

Interval Interval::AddAny(const Interval& other) const {
  if (IsEmpty() || other.IsEmpty()) return Empty();
  WideEnd lower;
  if (has_lower_ && other.has_lower_) lower = {true, Int128{lower_} + other.lower_};
  WideEnd upper;
  if (has_upper_ && other.has_upper_) upper = {true, Int128{upper_} + other.upper_};
  return FromWide(lower, upper);
}

Interval Interval::Mul(const Interval& other) const {
  if (IsEmpty() || other.IsEmpty()) return Empty();
  // A product of intervals has its extremes at products of ends, where infinity times 0 is 0: the
  // end 0 makes every product 0, however large the other factor.
  const auto sign_of_end = [](const Interval& interval, bool upper) {
    const bool finite = upper ? interval.has_upper_ : interval.has_lower_;
    if (!finite) return upper ? 1 : -1;
    const int64_t value = upper ? interval.upper_ : interval.lower_;
    return value < 0 ? -1 : (value > 0 ? 1 : 0);
  };
  bool lower_infinite = false;
  bool upper_infinite = false;
  bool have_finite = false;
  Int128 least = 0;
  Int128 greatest = 0;
  for (const bool a_upper : {false, true}) {
    for (const bool b_upper : {false, true}) {
      const int sign = sign_of_end(*this, a_upper) * sign_of_end(other, b_upper);
      const bool a_finite = a_upper ? has_upper_ : has_lower_;
      const bool b_finite = b_upper ? other.has_upper_ : other.has_lower_;
      Int128 product = 0;
      if (a_finite && b_finite) {
        product = Int128{a_upper ? upper_ : lower_} * (b_upper ? other.upper_ : other.lower_);
      } else if (sign < 0) {
        lower_infinite = true;
        continue;
      } else if (sign > 0) {
        upper_infinite = true;
        continue;
      }
      least = have_finite ? std::min(least, product) : product;
      greatest = have_finite ? std::max(greatest, product) : product;
      have_finite = true;
    }
  }
  return FromWide({!lower_infinite, least}, {!upper_infinite, greatest});
}

Interval Interval::FloorDiv(int64_t divisor) const {
  if (IsEmpty()) return Empty();
  if (divisor == 0) return All();
  if (divisor > 0 && has_lower_ && has_upper_) {
    return Closed(::xla_indexing::FloorDiv(lower_, divisor),
                  ::xla_indexing::FloorDiv(upper_, divisor));
  }
  const WideEnd at_lower = FloorDivEnd(LowerOf(*this), divisor);
  const WideEnd at_upper = FloorDivEnd(UpperOf(*this), divisor);
  return divisor > 0 ? FromWide(at_lower, at_upper) : FromWide(at_upper, at_lower);
}

Interval Interval::CeilDiv(int64_t divisor) const {
  if (IsEmpty()) return Empty();
  if (divisor == 0) return All();
  const WideEnd at_lower = CeilDivEnd(LowerOf(*this), divisor);
  const WideEnd at_upper = CeilDivEnd(UpperOf(*this), divisor);
  return divisor > 0 ? FromWide(at_lower, at_upper) : FromWide(at_upper, at_lower);
}

Interval Interval::Mod(int64_t modulus) const {
  if (IsEmpty()) return Empty();
  if (modulus < 1) return All();
  const Interval residues = Closed(0, modulus - 1);
  // An infinite interval, and any run of `modulus` integers, has every residue.
  if (!has_lower_ || !has_upper_ || Int128{upper_} - lower_ >= modulus - 1) return residues;
  const int64_t first = FloorMod(lower_, modulus);
  const int64_t last = FloorMod(upper_, modulus);
  // A shorter run either stays within one period or passes from modulus - 1 to 0.
  return first <= last ? Closed(first, last) : residues;
}

Interval Interval::PreimageOfMul(int64_t factor) const {
  if (IsEmpty()) return Empty();
  if (factor == 0) return Contains(0) ? All() : Empty();
  if (factor == 1) return *this;
  // lower <= x * factor <= upper, divided by the factor; a negative one exchanges the ends.
  const WideEnd first = factor > 0 ? LowerOf(*this) : UpperOf(*this);
  const WideEnd last = factor > 0 ? UpperOf(*this) : LowerOf(*this);
  return FromWide(CeilDivEnd(first, factor), FloorDivEnd(last, factor));
}

Interval Interval::PreimageOfFloorDiv(int64_t divisor) const {
  if (IsEmpty()) return Empty();
  if (divisor == 0) return All();
  // floor(x / c) >= lower  <=>  x / c >= lower, and  floor(x / c) <= upper  <=>  x / c < upper + 1.
  const WideEnd lower = LowerOf(*this);
  const WideEnd upper = UpperOf(*this);
  const WideEnd at_lower = {lower.finite, lower.value * divisor};
  const WideEnd past_upper = {upper.finite, (upper.value + 1) * divisor};
  if (divisor > 0) return FromWide(at_lower, {past_upper.finite, past_upper.value - 1});
  return FromWide({past_upper.finite, past_upper.value + 1}, at_lower);
}

void Interval::AppendTo(std::string* out) const {
  if (IsEmpty()) {
    out->append("[]");
    return;
  }
  out->push_back('[');
  if (has_lower_) {
    absl::StrAppend(out, lower_);
  } else {
    out->append("-inf");
  }
  out->append(", ");
  if (has_upper_) {
    absl::StrAppend(out, upper_);
  } else {
    out->append("inf");
  }
  out->push_back(']');
}

std::string Interval::ToString() const {
  std::string out;
  AppendTo(&out);
  return out;
}

void PrintTo(const Interval& interval, std::ostream* os) { *os << interval.ToString(); }

}  // namespace xla_indexing

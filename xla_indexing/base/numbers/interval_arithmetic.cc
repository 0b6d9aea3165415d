// The bodies of Interval that need wider arithmetic, which is made of intervals itself.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/wide_interval.h"

namespace xla_indexing {

using internal::FloorMod;
using internal::Int128;
using internal::NarrowToInt64;
using internal::WideInterval;

namespace {

// The product of an end of one interval of 64-bit numbers and an end of another. Infinity times 0 is
// 0: an end that is 0 makes every product 0, however large the other factor is.
Int128 ProductOfEnds(Int128 a, Int128 b) {
  const auto is_infinite = [](Int128 end) {
    return end == WideInterval::kInfinity || end == WideInterval::kMinusInfinity;
  };
  if (a == 0 || b == 0) return 0;
  if (!is_infinite(a) && !is_infinite(b)) return a * b;
  return (a > 0) == (b > 0) ? WideInterval::kInfinity : WideInterval::kMinusInfinity;
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
  return WideInterval(*this).Intersect(WideInterval(other)).Hull();
}

Interval Interval::Union(const Interval& other) const {
  if (IsEmpty()) return other;
  if (other.IsEmpty()) return *this;
  const WideInterval a(*this);
  const WideInterval b(other);
  return WideInterval(std::min(a.lower(), b.lower()), std::max(a.upper(), b.upper())).Hull();
}

bool Interval::TouchesOrOverlaps(const Interval& other) const {
  if (IsEmpty() || other.IsEmpty()) return false;
  const auto reaches = [](const Interval& low, const Interval& high) {
    if (!low.has_upper_ || !high.has_lower_) return true;
    return low.upper_ >= high.lower_ || low.upper_ + 1 == high.lower_;
  };
  return reaches(*this, other) && reaches(other, *this);
}

Interval Interval::Neg() const { return WideInterval(*this).Neg().Hull(); }

Interval Interval::AddAny(const Interval& other) const {
  return WideInterval(*this).Add(WideInterval(other)).Hull();
}

Interval Interval::Mul(const Interval& other) const {
  if (IsEmpty() || other.IsEmpty()) return Empty();
  // The extremes of a product of intervals are products of their ends.
  const WideInterval a(*this);
  const WideInterval b(other);
  const auto [least, greatest] =
      std::minmax({ProductOfEnds(a.lower(), b.lower()), ProductOfEnds(a.lower(), b.upper()),
                   ProductOfEnds(a.upper(), b.lower()), ProductOfEnds(a.upper(), b.upper())});
  return WideInterval(least, greatest).Hull();
}

Interval Interval::FloorDiv(int64_t divisor) const {
  if (IsEmpty()) return Empty();
  if (divisor == 0) return All();
  if (divisor > 0 && has_lower_ && has_upper_) {
    return Closed(internal::FloorDiv(lower_, divisor), internal::FloorDiv(upper_, divisor));
  }
  return WideInterval(*this).FloorDiv(divisor).Hull();
}

Interval Interval::CeilDiv(int64_t divisor) const {
  if (IsEmpty()) return Empty();
  if (divisor == 0) return All();
  return WideInterval(*this).Neg().FloorDiv(divisor).Neg().Hull();
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
  return WideInterval(*this).PreimageOfMul(factor).Hull();
}

Interval Interval::PreimageOfFloorDiv(int64_t divisor) const {
  if (IsEmpty()) return Empty();
  if (divisor == 0) return All();
  return WideInterval(*this).PreimageOfFloorDiv(divisor).Hull();
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

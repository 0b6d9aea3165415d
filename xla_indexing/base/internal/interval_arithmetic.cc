// The bodies of Interval that need wider arithmetic, which is made of intervals itself.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/internal/wide_interval.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing {

using internal::FloorMod;
using internal::Int128;
using internal::NarrowToInt64;
using internal::WideInterval;

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
  return WideInterval(lower_infinite ? WideInterval::kMinusInfinity : least,
                      upper_infinite ? WideInterval::kInfinity : greatest)
      .Hull();
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

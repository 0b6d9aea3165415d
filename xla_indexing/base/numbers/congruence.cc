#include "xla_indexing/base/numbers/congruence.h"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

Int128 WideMod(Int128 value, int64_t modulus) {
  const Int128 remainder = value % modulus;
  return remainder < 0 ? remainder + modulus : remainder;
}

}  // namespace

Congruence Congruence::Of(int64_t residue, int64_t modulus) {
  return Congruence(modulus, FloorMod(residue, modulus));
}

bool Congruence::Contains(int64_t value) const {
  if (IsEmpty()) return false;
  return IsPoint() ? value == residue_ : FloorMod(value, modulus_) == residue_;
}

std::optional<int64_t> Congruence::ResidueModulo(int64_t n) const {
  if (IsEmpty() || modulus_ % n != 0) return std::nullopt;
  return FloorMod(residue_, n);
}

bool Congruence::IsSubsetOf(const Congruence& other) const {
  if (IsEmpty()) return true;
  if (other.IsEmpty() || other.IsPoint()) return *this == other;
  return modulus_ % other.modulus_ == 0 && other.Contains(residue_);
}

// x = r1 (mod m1) and x = r2 (mod m2) have a common solution iff g = gcd(m1, m2) divides r2 - r1,
// and then x = r1 + m1 * ((r2 - r1)/g * (m1/g)^-1 mod m2/g) (mod lcm(m1, m2)).
Congruence Congruence::Intersect(const Congruence& other) const {
  if (IsAll()) return other;
  if (other.IsAll()) return *this;
  if (IsEmpty() || other.IsEmpty()) return Empty();
  if (IsPoint()) return other.Contains(residue_) ? *this : Empty();
  if (other.IsPoint()) return other.Intersect(*this);
  const int64_t g = Gcd(modulus_, other.modulus_);
  const Int128 difference = Int128{other.residue_} - residue_;
  if (difference % g != 0) return Empty();
  const int64_t step = other.modulus_ / g;
  const std::optional<int64_t> lcm = CheckedMul(modulus_, step);
  if (!lcm) return modulus_ >= other.modulus_ ? *this : other;
  const Int128 multiple =
      WideMod(WideMod(difference / g, step) * InverseModulo(modulus_ / g, step), step);
  return Of(static_cast<int64_t>(WideMod(residue_ + Int128{modulus_} * multiple, *lcm)), *lcm);
}

// Both are r1 modulo every common divisor of m1, m2 and r2 - r1.
Congruence Congruence::Union(const Congruence& other) const {
  if (IsEmpty()) return other;
  if (other.IsEmpty() || *this == other) return *this;
  const Int128 difference = Int128{other.residue_} - residue_;
  const int64_t g = Gcd(modulus_, other.modulus_);
  if (g > 0) return Of(residue_, Gcd(g, static_cast<int64_t>(WideMod(difference, g))));
  // Two points.
  const std::optional<int64_t> distance = NarrowToInt64(difference);
  return distance ? Of(residue_, Gcd(0, *distance)) : All();
}

Congruence Congruence::Add(const Congruence& other) const {
  if (IsEmpty() || other.IsEmpty()) return Empty();
  const Int128 sum = Int128{residue_} + other.residue_;
  const int64_t g = Gcd(modulus_, other.modulus_);
  if (g > 0) return Congruence(g, static_cast<int64_t>(WideMod(sum, g)));
  const std::optional<int64_t> point = NarrowToInt64(sum);
  return point ? Point(*point) : All();
}

Congruence Congruence::Mul(int64_t factor) const {
  if (IsEmpty()) return Empty();
  if (factor == 0) return Point(0);
  const Int128 magnitude = factor < 0 ? -Int128{factor} : Int128{factor};
  const std::optional<int64_t> modulus = NarrowToInt64(magnitude * modulus_);
  const Int128 product = Int128{residue_} * factor;
  if (modulus && *modulus > 0) {
    return Congruence(*modulus, static_cast<int64_t>(WideMod(product, *modulus)));
  }
  if (modulus) {
    if (const std::optional<int64_t> point = NarrowToInt64(product)) return Point(*point);
  }
  // Whatever the numbers are, products are multiples of the factor.
  const std::optional<int64_t> multiples = NarrowToInt64(magnitude);
  return multiples ? Congruence(*multiples, 0) : All();
}

// floor((r + m*t) / c) = floor(r / c) + (m/c) * t where c divides m. Otherwise some neighbouring
// quotients differ by floor(m/c) and some by one more, so that all integers are the least class.
Congruence Congruence::FloorDiv(int64_t divisor) const {
  if (IsEmpty()) return Empty();
  if (IsPoint()) return Point(internal::FloorDiv(residue_, divisor));
  if (modulus_ % divisor != 0) return All();
  return Of(internal::FloorDiv(residue_, divisor), modulus_ / divisor);
}

Congruence Congruence::Mod(int64_t n) const {
  if (IsEmpty()) return Empty();
  if (const std::optional<int64_t> residue = ResidueModulo(n)) return Point(*residue);
  return Of(residue_, Gcd(modulus_, n));
}

Interval Congruence::Tighten(const Interval& interval) const {
  if (IsAll()) return interval;
  if (IsEmpty()) return Interval::Empty();
  if (IsPoint()) return interval.Intersect(Interval::Point(residue_));
  Interval result = interval;
  if (result.has_lower()) {
    const Int128 up = WideMod(Int128{residue_} - interval.lower(), modulus_);
    const std::optional<int64_t> lower = NarrowToInt64(interval.lower() + up);
    if (!lower) return interval.has_upper() ? Interval::Empty() : interval;
    result = result.Intersect(Interval::AtLeast(*lower));
  }
  if (interval.has_upper()) {
    const Int128 down = WideMod(Int128{interval.upper()} - residue_, modulus_);
    const std::optional<int64_t> upper = NarrowToInt64(interval.upper() - down);
    if (!upper) return interval.has_lower() ? Interval::Empty() : interval;
    result = result.Intersect(Interval::AtMost(*upper));
  }
  return result;
}

std::string Congruence::ToString() const {
  if (IsEmpty()) return "[]";
  return IsPoint() ? absl::StrCat(residue_) : absl::StrCat(residue_, " mod ", modulus_);
}

void PrintTo(const Congruence& congruence, std::ostream* os) { *os << congruence.ToString(); }

}  // namespace xla_indexing::internal

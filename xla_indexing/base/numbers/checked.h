// Integer arithmetic that never overflows silently.
//
// Every number that a user's module can make large (sizes, strides, offsets, coefficients) goes
// through these functions. The Checked functions return no value where the mathematical result does
// not fit int64; the others are total on the arguments that their comments allow.
//
// Division is that of affine expressions: for a divisor m > 0,
//   a = FloorDiv(a, m) * m + FloorMod(a, m)  with  0 <= FloorMod(a, m) < m,
//   CeilDiv(a, m) = -FloorDiv(-a, m).
//
// Example: FloorDiv(-7, 2) == -4, CeilDiv(-7, 2) == -3, FloorMod(-7, 2) == 1.

#ifndef XLA_INDEXING_BASE_NUMBERS_CHECKED_H_
#define XLA_INDEXING_BASE_NUMBERS_CHECKED_H_

#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace xla_indexing::internal {

inline constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

// The sum, difference, product and negation of int64 values, each of magnitude at most 2^63, cannot
// overflow in this type.
__extension__ typedef __int128 Int128;

// The value as int64 if it fits.
constexpr std::optional<int64_t> NarrowToInt64(Int128 value) {
  if (value < kInt64Min || value > kInt64Max) return std::nullopt;
  return static_cast<int64_t>(value);
}

constexpr std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

constexpr std::optional<int64_t> CheckedSub(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}

constexpr std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

constexpr std::optional<int64_t> CheckedNeg(int64_t a) { return CheckedSub(0, a); }

// Division rounding down, for divisor > 0. The result always fits.
constexpr int64_t FloorDiv(int64_t a, int64_t divisor) {
  assert(divisor > 0);
  if (a >= 0 && a < divisor) return 0;  // a division takes ten times as long as everything else
  return a / divisor - (a % divisor < 0 ? 1 : 0);
}

// Division rounding up, for divisor > 0. The result always fits.
constexpr int64_t CeilDiv(int64_t a, int64_t divisor) {
  assert(divisor > 0);
  return a / divisor + (a % divisor > 0 ? 1 : 0);
}

// a / b where b divides a and the quotient fits; 0 divides nothing.
constexpr std::optional<int64_t> ExactQuotient(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return CheckedNeg(a);
  if (a % b != 0) return std::nullopt;
  return a / b;
}

// The remainder in [0, divisor - 1], for divisor > 0.
constexpr int64_t FloorMod(int64_t a, int64_t divisor) {
  assert(divisor > 0);
  if (a >= 0 && a < divisor) return a;
  const int64_t remainder = a % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

// The greatest common divisor that fits int64; never negative. Gcd(0, a) = |a|. The one pair of
// operands whose greatest common divisor is 2^63 (each of them 0 or the least int64, not both 0)
// gives 2^62, the greatest of their common divisors that fits.
constexpr int64_t Gcd(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  uint64_t y = b < 0 ? uint64_t{0} - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  if (x == 0 || y == 0) {
    x |= y;
  } else {
    // Without divisions: of two odd numbers the difference is even and has the same divisors.
    const int twos = std::countr_zero(x | y);
    x >>= std::countr_zero(x);
    while (y != 0) {
      y >>= std::countr_zero(y);
      if (x > y) {
        const uint64_t less = y;
        y = x;
        x = less;
      }
      if (x == 1) break;
      y -= x;
    }
    x <<= twos;
  }
  if (x > static_cast<uint64_t>(kInt64Max)) x /= 2;
  return static_cast<int64_t>(x);
}

// The x in [0, m - 1] with a*x = 1 (mod m), for m > 0 and an a without a common divisor with m.
constexpr int64_t InverseModulo(int64_t a, int64_t m) {
  assert(Gcd(a, m) == 1);
  // Euclid's algorithm; r0 = t0*a and r1 = t1*a (mod m) throughout.
  int64_t r0 = m;
  int64_t r1 = FloorMod(a, m);
  Int128 t0 = 0;
  Int128 t1 = 1;
  while (r1 != 0) {
    const int64_t quotient = r0 / r1;
    r0 = std::exchange(r1, r0 % r1);
    t0 = std::exchange(t1, t0 - quotient * t1);
  }
  return static_cast<int64_t>(t0 < 0 ? t0 + m : t0 % m);
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_NUMBERS_CHECKED_H_

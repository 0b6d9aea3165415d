// Digits of linear sources k*N + c. Each is made as if its offset were the least that gives it.
//
//   floor(L / f) mod e = v                                         every L says so
//   floor((L + f*e*t) / f) mod e = floor(L / f) mod e              the least L is in [0, f*e - 1]
//   floor((g*k*N + c) / (g*f)) = floor((k*N + floor(c/g)) / f)     g > 1
//   (g*k*N + c) mod (g*e) = c mod g + g*((k*N + floor(c/g)) mod e) g > 1
//   floor(N / f) mod e, a digit of the number                      its extents allow for it
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/nested.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/number_rules.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// The source less what the digit does not depend on: a multiple of its end.
bool TakeMultiples(NumberSource& linear, int64_t end) {
  const int64_t shift = FloorDiv(linear.least, end) * end;
  const std::optional<int64_t> offset = CheckedSub(linear.offset, shift);
  if (!offset) return false;
  linear.offset = *offset;
  linear.modulus = Gcd(linear.modulus, shift);
  linear.least -= shift;
  linear.greatest -= shift;
  return true;
}

// floor((g*k*N + c) / (g*f)) = floor((k*N + floor(c/g)) / f)
NumberSource DividedBy(NumberSource linear, int64_t g) {
  linear.factor /= g;
  linear.offset = FloorDiv(linear.offset, g);
  linear.least = FloorDiv(linear.least, g);
  linear.greatest = FloorDiv(linear.greatest, g);
  linear.modulus = linear.modulus % g == 0 ? linear.modulus / g : 1;
  return linear;
}

// Whether the number can be cut at `end`, if need be with more room in its most significant digit.
bool EndsAt(const PositionalState& state, Number& number, int64_t end) {
  const int64_t size = SizeOf(number);
  // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all digits have values
  return size % end == 0 || state.sources.Resize(number, end);
}

}  // namespace

std::optional<Number> LinearDigit(PositionalState& state, NumberSource linear, int64_t lower_factor,
                                  int64_t extent) {
  const std::optional<int64_t> end = CheckedMul(lower_factor, extent);
  if (!end) return std::nullopt;
  const int64_t quotient = FloorDiv(linear.least, lower_factor);
  if (extent == 1 || quotient == FloorDiv(linear.greatest, lower_factor)) {
    if (extent == 1) return Number();
    return Number{Digit::Constant(FloorMod(quotient, extent), extent)};
  }
  if (!TakeMultiples(linear, *end)) return std::nullopt;
  if (const int64_t g = Gcd(linear.factor, lower_factor); g > 1) {
    return LinearDigit(state, DividedBy(std::move(linear), g), lower_factor / g, extent);
  }
  if (const int64_t g = Gcd(linear.factor, extent); lower_factor == 1 && g > 1) {
    Number number;
    const int64_t residue = FloorMod(linear.offset, g);
    const std::optional<Number> high = LinearDigit(state, std::move(linear), g, extent / g);
    if (!AppendDigit(state, number, Digit::Constant(residue, g)) || !high ||
        !Append(state, number, *high)) {
      return std::nullopt;
    }
    return number;
  }
  if (linear.factor == 1 && linear.offset == 0) {
    Number inner = linear.number;
    const bool narrows = SizeOf(inner) > *end && linear.greatest < *end;
    if (!narrows && EndsAt(state, inner, *end)) {
      const std::optional<NumberParts> below = Cut(state, inner, *end);
      std::optional<NumberParts> parts =
          below ? Cut(state, below->low, lower_factor) : std::nullopt;
      if (!parts) return std::nullopt;
      return std::move(parts->high);
    }
  }
  return Number{Digit{lower_factor, extent, state.sources.Intern(std::move(linear)), false}};
}

}  // namespace xla_indexing::internal

// Digits of fused sources: of the least number that they depend on, and cut at its cut points.
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/nested.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/number_rules.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
Number FusedNumberOf(const PositionalState& state, const Digit& digit) {
  Number fused = state.sources[digit.source].number;
  if (digit.flipped) Reverse(fused);
  return fused;
}

namespace {

// The number with the digits of the fused source that its lowest or highest digit is of, in which
// `lower_factor` is where it was; nullopt if there is no such digit.
std::optional<Number> Flatten(PositionalState& state, const Number& number, int64_t& lower_factor) {
  const auto fused_number_of = [&](const Digit& digit) -> const Number* {
    if (digit.IsConstant()) return nullptr;
    const NumberSource& from = state.sources[digit.source];
    return from.kind == NumberSource::Kind::kFused ? &from.number : nullptr;
  };
  const Digit first = number.front();
  const Digit last = number.back();
  // floor(Y/a) + (s/a)*H = floor((Y + s*H) / a) where s is the size of Y: a digit that ends its source
  // goes on in what stands above.
  if (const Number* inner = fused_number_of(first);
      inner && first.lower_factor * first.extent == SizeOf(*inner) &&
      CheckedMul(SizeOf(number), first.lower_factor)) {
    Number flat = FusedNumberOf(state, first);
    if (!Append(state, flat, Number(number.begin() + 1, number.end()))) return std::nullopt;
    lower_factor *= first.lower_factor;
    return flat;
  }
  // The digits above a number's lowest one do not matter for values below its size.
  if (const Number* inner = fused_number_of(last);
      inner && last.lower_factor == 1 && CheckedMul(SizeOf(number) / last.extent, SizeOf(*inner))) {
    Number flat(number.begin(), number.end() - 1);
    if (!Append(state, flat, FusedNumberOf(state, last))) return std::nullopt;
    return flat;
  }
  return std::nullopt;
}

// A cut point of the number inside the digit: the least, or, for the lowest digit, the greatest. The
// lower factor itself where there is none.
int64_t CutPointInside(const Number& number, int64_t lower_factor, int64_t extent) {
  const int64_t end = lower_factor * extent;
  int64_t inside = lower_factor;
  int64_t point = 1;
  for (const Digit& digit : number) {
    if (end % point != 0 || inside > lower_factor) break;
    const int64_t common = Gcd(digit.extent, end / point);
    const int64_t step = lower_factor == 1 ? common : lower_factor / Gcd(lower_factor, point);
    const int64_t candidate = point * step;
    if (common % step == 0 && candidate > lower_factor && candidate < end) inside = candidate;
    point *= digit.extent;
  }
  return inside;
}

}  // namespace

std::optional<Number> FusedDigit(PositionalState& state, const Number& fused, int64_t lower_factor,
                                 int64_t extent) {
  if (extent == 1) return Number();
  if (!state.MayNest()) return std::nullopt;
  const Nested nested(&state.depth);
  const int64_t end = lower_factor * extent;
  const int64_t above = CutPointAbove(fused, end);
  Number least = fused;
  if (above != SizeOf(fused)) {
    std::optional<NumberParts> outer = CutAtPoint(state, fused, above);
    if (!outer) return std::nullopt;
    least = std::move(outer->low);
  }
  const int64_t below = CutPointBelow(least, lower_factor);
  if (below > 1) {
    std::optional<NumberParts> inner = CutAtPoint(state, least, below);
    if (!inner) return std::nullopt;
    least = std::move(inner->high);
  }
  lower_factor /= below;
  if (lower_factor == 1 && extent == above / below) return least;
  if (std::optional<Number> flat = Flatten(state, least, lower_factor))
    return FusedDigit(state, *flat, lower_factor, extent);
  const int64_t inside = CutPointInside(least, lower_factor, extent);
  if (inside > lower_factor) {
    std::optional<Number> low = FusedDigit(state, least, lower_factor, inside / lower_factor);
    const std::optional<Number> high =
        FusedDigit(state, least, inside, lower_factor * extent / inside);
    if (!low || !high || !Append(state, *low, *high)) return std::nullopt;
    return low;
  }
  Digit digit{lower_factor, extent, 0, IsFlipped(least)};
  if (digit.flipped) Reverse(least);
  NumberSource source;
  source.kind = NumberSource::Kind::kFused;
  source.greatest = above / below - 1;
  source.number = std::move(least);
  digit.source = state.sources.Intern(std::move(source));
  return Number{digit};
}

}  // namespace xla_indexing::internal

// Numbers cut in two.
//
//   at a cut point r         the digit there is cut in two
//   otherwise                with q the greatest cut point that divides r and p the least one that r
//                            divides, the digits from q to p are a fused source Y, whose digits are
//                            Y mod (r/q) and floor(Y / (r/q))
#include <cstdint>
#include <optional>
#include <utility>

#include "xla_indexing/affine/expr/nested.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/number_rules.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// A digit of a fused or linear source, not flipped, cut in two.
std::optional<NumberParts> CutUpright(PositionalState& state, const Digit& digit, int64_t radix) {
  const std::pair<Digit, int64_t> key(digit, radix);
  if (const auto known = state.cuts.find(key); known != state.cuts.end()) return known->second;
  if (!state.MayWork()) return std::nullopt;
  const NumberSource& from = state.sources[digit.source];
  const auto part = [&](int64_t lower_factor, int64_t extent) {
    return from.kind == NumberSource::Kind::kFused
               ? FusedDigit(state, from.number, lower_factor, extent)
               : LinearDigit(state, from, lower_factor, extent);
  };
  std::optional<Number> low = part(digit.lower_factor, radix);
  std::optional<Number> high = part(digit.lower_factor * radix, digit.extent / radix);
  if (!low || !high) return std::nullopt;
  NumberParts parts{*std::move(low), *std::move(high)};
  state.cuts.try_emplace(key, parts);
  return parts;
}

// The digit cut in two; `radix` divides its extent.
std::optional<NumberParts> CutDigit(PositionalState& state, const Digit& digit, int64_t radix) {
  const int64_t above = digit.extent / radix;
  if (digit.IsConstant()) {
    return NumberParts{{Digit::Constant(digit.value() % radix, radix)},
                       {Digit::Constant(digit.value() / radix, above)}};
  }
  const NumberSource& from = state.sources[digit.source];
  if (from.kind == NumberSource::Kind::kVariable) {
    if (state.sources.GreatestOf(digit) < radix) {
      return NumberParts{{{digit.lower_factor, radix, digit.source, digit.flipped}},
                         {Digit::Constant(digit.flipped ? above - 1 : 0, above)}};
    }
    return NumberParts{{{digit.lower_factor, radix, digit.source, digit.flipped}},
                       {{digit.lower_factor * radix, above, digit.source, digit.flipped}}};
  }
  std::optional<NumberParts> parts =
      CutUpright(state, {digit.lower_factor, digit.extent, digit.source, false}, radix);
  if (!parts) return std::nullopt;
  if (digit.flipped) {
    Reverse(parts->low);
    Reverse(parts->high);
  }
  return parts;
}

}  // namespace

// Digits of a number have been joined where they can be: only those that a
// digit is cut into may be joined with their neighbours.
std::optional<NumberParts> CutAtPoint(PositionalState& state, const Number& number, int64_t r) {
  const Digit* digit = number.begin();
  int64_t point = 1;
  while (digit != number.end() && point * digit->extent <= r) point *= (digit++)->extent;
  if (point == r) return NumberParts{Number(number.begin(), digit), Number(digit, number.end())};
  if (digit == number.end() || r % point != 0 || digit->extent % (r / point) != 0) {
    return std::nullopt;
  }
  std::optional<NumberParts> cut = CutDigit(state, *digit, r / point);
  if (!cut) return std::nullopt;
  NumberParts parts{Number(number.begin(), digit), std::move(cut->high)};
  if (!Append(state, parts.low, cut->low) ||
      !Append(state, parts.high, Number(digit + 1, number.end()))) {
    return std::nullopt;
  }
  return parts;
}

std::optional<NumberParts> Cut(PositionalState& state, const Number& number, int64_t r) {
  if (r == 1) return NumberParts{{}, number};
  if (CutPointBelow(number, r) == r) return CutAtPoint(state, number, r);
  if (SizeOf(number) % r != 0 || !state.MayNest()) return std::nullopt;
  const Nested nested(&state.depth);
  const int64_t above = CutPointAbove(number, r);
  std::optional<NumberParts> outer = CutAtPoint(state, number, above);
  if (!outer) return std::nullopt;
  // A digit that was cut may have other cut points now.
  const int64_t below = CutPointBelow(outer->low, r);
  std::optional<NumberParts> inner = CutAtPoint(state, outer->low, below);
  if (!inner) return std::nullopt;
  if (below == r) {
    if (!Append(state, inner->high, outer->high)) return std::nullopt;
    return inner;
  }
  const Number fused = std::move(inner->high);
  const std::optional<Number> low = FusedDigit(state, fused, 1, r / below);
  const std::optional<Number> high = FusedDigit(state, fused, r / below, above / r);
  NumberParts parts{std::move(inner->low), {}};
  if (!low || !high || !Append(state, parts.low, *low) || !Append(state, parts.high, *high) ||
      !Append(state, parts.high, outer->high)) {
    return std::nullopt;
  }
  return parts;
}

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

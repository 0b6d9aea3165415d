// Digits on top of numbers: they are joined where they can be.
//
//   digit(x, f, e) + e*digit(x, f*e, e') = digit(x, f, e*e')       x is a variable
//   floor(Y/f) mod e + e*(floor(Z/f') mod e')                      Y and Z are pieces of one number
//   D + e*c = D + offset                                           c is a constant
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

// A constant above a digit is an offset of it.
bool AppendConstant(PositionalState& state, Number& number, const Digit& constant) {
  Digit& last = number.back();
  if (state.sources.KindOf(last) != NumberSource::Kind::kFused && state.sources.HasRoom(last) &&
      constant.value() == (last.flipped ? constant.extent - 1 : 0)) {
    last.extent *= constant.extent;
    return true;
  }
  const std::optional<int64_t> size = CheckedMul(last.extent, constant.extent);
  if (!size || !state.MayNest()) return false;
  const Nested nested(&state.depth);
  const std::optional<Number> moved =
      AffineImage(state, Number{last}, 1, constant.value() * last.extent, 1, *size);
  if (!moved || moved->size() != 1) {
    number.push_back(constant);
    return true;
  }
  number.pop_back();
  return AppendDigit(state, number, moved->front());
}

// The number that the digit's source is fused from, flipped as the digit is.
Number FusedNumberOf(const PositionalState& state, const Digit& digit) {
  Number fused = state.sources[digit.source].number;
  if (digit.flipped) Reverse(fused);
  return fused;
}

// The digits as one digit of the fused source that both are pieces of, where there is one; `shift` is
// where one begins in the other's number.
std::optional<Number> JoinFused(PositionalState& state, const Digit& low, const Digit& high,
                                bool is_low_cut, int64_t shift) {
  Number first = FusedNumberOf(state, low);
  Number second = FusedNumberOf(state, high);
  Number& lower = is_low_cut ? first : second;
  if (shift >= SizeOf(lower)) return std::nullopt;
  std::optional<NumberParts> cut = CutAtPoint(state, lower, shift);
  if (!cut) return std::nullopt;
  Number all = std::move(cut->low);  // what lies below both
  lower = std::move(cut->high);
  const int64_t lower_factor = is_low_cut ? low.lower_factor : low.lower_factor * shift;
  Number& longer = SizeOf(first) >= SizeOf(second) ? first : second;
  const Number& shorter = SizeOf(first) >= SizeOf(second) ? second : first;
  if (SizeOf(longer) % SizeOf(shorter) != 0) return std::nullopt;
  const std::optional<NumberParts> parts = CutAtPoint(state, longer, SizeOf(shorter));
  if (!parts || parts->low != shorter) return std::nullopt;
  if (!CheckedMul(SizeOf(all), SizeOf(longer)) || !Append(state, all, longer)) return std::nullopt;
  // Where there is a cut point between them they stay apart.
  const int64_t boundary = lower_factor * low.extent;
  if (CutPointBelow(all, boundary) == boundary) return std::nullopt;
  return FusedDigit(state, all, lower_factor, low.extent * high.extent);
}

// Two fused sources that are pieces of one: the digit above begins where the one below ends, so that
// one of its lower factor and that end divides the other, and is, in the other's units, a cut point
// of its number.
std::optional<Number> JoinedFused(PositionalState& state, const Digit& low, const Digit& high) {
  const int64_t end = low.lower_factor * low.extent;
  const bool is_low_cut = end % high.lower_factor == 0;
  if (!is_low_cut && high.lower_factor % end != 0) return std::nullopt;
  const Number& fused = state.sources[is_low_cut ? low.source : high.source].number;
  const int64_t shift = is_low_cut ? end / high.lower_factor : high.lower_factor / end;
  if (CutPointBelow(fused, shift) != shift) return std::nullopt;
  const std::pair<Digit, Digit> pair(low, high);
  if (const auto known = state.joins.find(pair); known != state.joins.end()) return known->second;
  if (!state.MayWork()) return std::nullopt;
  std::optional<Number> joined = JoinFused(state, low, high, is_low_cut, shift);
  state.joins.try_emplace(pair, joined);
  return joined;
}

// The digits on top of the number that are those of the linear source below this one.
bool JoinLinear(PositionalState& state, Number& number, const Digit& digit) {
  const NumberSource linear = state.sources[digit.source];
  const auto oriented = [&](int64_t lower_factor, int64_t extent) {
    std::optional<Number> result = LinearDigit(state, linear, lower_factor, extent);
    if (result && digit.flipped) Reverse(*result);
    return result;
  };
  int64_t radix = 1;
  for (size_t i = number.size(); i-- > 0;) {
    const std::optional<int64_t> product = CheckedMul(radix, number[i].extent);
    if (!product || digit.lower_factor % *product != 0) return false;
    radix = *product;
    const Number top(number.begin() + i, number.end());
    if (oriented(digit.lower_factor / radix, radix) != top) continue;
    const std::optional<Number> joined = oriented(digit.lower_factor / radix, radix * digit.extent);
    if (!joined || joined->size() > top.size()) return false;
    number.truncate(i);
    return Append(state, number, *joined);
  }
  return false;
}

}  // namespace

bool Append(PositionalState& state, Number& number, const Number& more) {
  for (const Digit& digit : more) {
    if (!AppendDigit(state, number, digit)) return false;
  }
  return true;
}

bool AppendDigit(PositionalState& state, Number& number, const Digit& digit) {
  if (digit.extent == 1) return true;
  if (number.empty()) {
    number.push_back(digit);
    return true;
  }
  Digit& last = number.back();
  if (last.IsConstant() && digit.IsConstant()) {
    last.lower_factor += digit.value() * last.extent;
    last.extent *= digit.extent;
    return true;
  }
  if (last.IsConstant()) {
    number.push_back(digit);
    return true;
  }
  if (digit.IsConstant()) return AppendConstant(state, number, digit);
  if (last.source == digit.source && last.flipped == digit.flipped &&
      Int128{last.lower_factor} * last.extent == digit.lower_factor &&
      state.sources.KindOf(last) == NumberSource::Kind::kVariable) {
    last.extent *= digit.extent;
    return true;
  }
  if (!state.MayNest()) return false;
  const Nested nested(&state.depth);
  switch (state.sources.KindOf(digit)) {
    case NumberSource::Kind::kVariable:
      break;
    case NumberSource::Kind::kFused:
      if (state.sources.KindOf(last) != NumberSource::Kind::kFused) break;
      if (const std::optional<Number> joined = JoinedFused(state, last, digit)) {
        number.pop_back();
        return Append(state, number, *joined);
      }
      break;
    case NumberSource::Kind::kLinear:
      if (JoinLinear(state, number, digit)) return true;
      break;
  }
  number.push_back(digit);
  return true;
}

}  // namespace xla_indexing::internal

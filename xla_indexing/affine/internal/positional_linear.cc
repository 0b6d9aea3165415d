// Numbers moved and scaled: linear sources.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "xla_indexing/affine/internal/number.h"
#include "xla_indexing/affine/internal/positional.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing::internal {

// Replaces a linear source of a linear source by one linear source of the inner one's number.
bool PositionalAlgebra::Unwrap(Source& linear) const {
  while (linear.number.size() == 1) {
    const Digit& digit = linear.number.front();
    if (digit.IsConstant() || digit.flipped || digit.place != 1) break;
    const Source& from = source(digit.source);
    if (from.kind != Source::Kind::kLinear || from.greatest >= digit.size) break;
    const std::optional<int64_t> offset =
        NarrowToInt64(linear.offset + Int128{linear.factor} * from.offset);
    const std::optional<int64_t> factor = CheckedMul(linear.factor, from.factor);
    if (!offset || !factor) return false;
    linear.offset = *offset;
    linear.factor = *factor;
    linear.number = Number(from.number);
  }
  ShrinkToFit(linear.number);
  return true;
}

void PositionalAlgebra::ShrinkToFit(Number& number) const {
  if (number.empty() || number.back().IsConstant() || number.back().flipped ||
      source(number.back().source).kind != Source::Kind::kVariable) {
    return;
  }
  number.back().size = std::min(number.back().size, GreatestOf(number.back()) + 1);
}

// The number less the offsets of its linear digits, which are given back, with a most significant
// digit that has room for no more than it needs.
std::optional<int64_t> PositionalAlgebra::MoveOffsetsOut(Number& number) {
  Int128 offset = 0;
  int64_t stride = 1;
  Number without;
  for (const Digit& digit : number) {
    Number same{digit};
    const bool is_top = &digit == &number.back();
    if (!digit.IsConstant() && digit.place == 1) {
      const Source& from = source(digit.source);
      const bool is_whole = from.kind == Source::Kind::kLinear && from.greatest < digit.size;
      if (is_whole && is_top && !digit.flipped && from.factor == 1 &&
          CheckedMul(stride, SizeOf(from.number))) {
        // What is most significant needs no room.
        offset += Int128{stride} * from.offset;
        same = Number(from.number);
      } else if (is_whole && from.offset > 0) {
        offset += Int128{digit.flipped ? -1 : 1} * stride * from.offset;
        // What is left are multiples k*N of N >= 0.
        Source linear = from;
        linear.offset = 0;
        linear.modulus = Gcd(linear.modulus, from.offset);
        linear.least = std::max<int64_t>(linear.least - from.offset, 0);
        linear.greatest -= from.offset;
        std::optional<Number> moved = LinearDigit(std::move(linear), 1, digit.size);
        if (!moved) return std::nullopt;
        if (digit.flipped) Reverse(*moved);
        same = *std::move(moved);
      }
    }
    if (!Append(without, same)) return std::nullopt;
    stride *= digit.size;
  }
  number = std::move(without);
  ShrinkToFit(number);
  return NarrowToInt64(offset);
}

// What an affine step was made of, where this one undoes it.
std::optional<Number> PositionalAlgebra::Undo(const Number& number, int64_t factor, int64_t offset,
                                              int64_t divisor, int64_t size) const {
  const size_t hash = HashOf(number);
  // What is known of the values of a step may have been that of another chain.
  const auto has_values_of = [&](const MovedNumber& known) {
    return RangeOf(number)
        .Mul(factor)
        .Add(offset)
        .PreimageOfMul(divisor)
        .Intersect(Interval::OfSize(size))
        .IsSubsetOf(RangeOf(known.from));
  };
  // The first recorded step that this one undoes.
  const MovedNumber* undone = nullptr;
  bool is_reversed = false;
  for (const MovedNumber* known = memory_->moved_table.First(hash); known != nullptr;
       known = known->next) {
    if (known->hash != hash || known->to != number || SizeOf(known->from) != size) continue;
    if (undone != nullptr && undone->order < known->order) continue;
    if (!has_values_of(*known)) continue;
    // ((x*f + o)/d * factor + offset) / divisor is x, or size - 1 - x.
    const std::optional<int64_t> scale = CheckedMul(known->divisor, divisor);
    const std::optional<int64_t> slope = CheckedMul(known->factor, factor);
    const Int128 constant = Int128{known->offset} * factor + Int128{offset} * known->divisor;
    if (!scale || !slope) continue;
    const bool is_same = *slope == *scale && constant == 0;
    const bool is_reverse = -Int128{*slope} == *scale && constant == Int128{*scale} * (size - 1);
    if (!is_same && !is_reverse) continue;
    undone = known;
    is_reversed = !is_same;
  }
  if (undone == nullptr) return std::nullopt;
  Number from = undone->from;
  if (is_reversed) Reverse(from);
  return from;
}

std::optional<Number> PositionalAlgebra::Affine(const Number& number, int64_t factor,
                                                int64_t offset, int64_t divisor, int64_t size) {
  if (std::optional<Number> undone = Undo(number, factor, offset, divisor, size)) return undone;
  Number reversed = number;
  Reverse(reversed);
  const std::optional<int64_t> shifted =
      NarrowToInt64(offset + Int128{factor} * (SizeOf(number) - 1));
  if (shifted && factor != kInt64Min) {
    if (std::optional<Number> undone = Undo(reversed, -factor, *shifted, divisor, size)) {
      return undone;
    }
  }
  const bool before = std::exchange(lost_source_, false);
  std::optional<Number> result = ComputeAffine(number, factor, offset, divisor, size);
  // Within joins numbers are moved that are no one's index. A step that only some values take part
  // in says nothing of its result elsewhere, and other chains come to that result with other
  // values; so they do where what is left is constant for the values of this chain only.
  const bool is_of_all = divisor == 1 && !lost_source_ &&
                         RangeOf(number).Mul(factor).Add(offset).IsSubsetOf(Interval::OfSize(size));
  lost_source_ = lost_source_ || before;
  if (result && depth_ == 0 && is_of_all) {
    MovedNumber* moved = memory_->moved.New();
    moved->from = number;
    moved->to = *result;
    moved->factor = factor;
    moved->offset = offset;
    moved->divisor = divisor;
    moved->order = memory_->moved.size();
    memory_->moved_table.Insert(HashOf(*result), moved);
  }
  return result;
}

std::optional<Number> PositionalAlgebra::ComputeAffine(const Number& number, int64_t factor,
                                                       int64_t offset, int64_t divisor,
                                                       int64_t size) {
  const Interval values = Interval::OfSize(size);
  const Interval image = RangeOf(number).Mul(factor).Add(offset);
  if (values.Intersect(image.PreimageOfMul(divisor)).IsEmpty()) return std::nullopt;
  Number inner = number;
  Int128 k = factor, c = offset, m = divisor;
  const auto fits = [&] { return NarrowToInt64(k) && NarrowToInt64(c) && NarrowToInt64(m); };
  while (true) {
    // Takes constant digits at either end into the factor and the offset.
    while (!inner.empty() && inner.front().IsConstant()) {
      c += k * inner.front().place;
      k *= inner.front().size;
      inner.erase(inner.begin());
      if (!fits()) return std::nullopt;
    }
    if (!inner.empty() && inner.back().IsConstant()) {
      const Digit top = inner.pop_back_val();
      c += k * top.place * SizeOf(inner);
      if (!fits()) return std::nullopt;
    }
    if (inner.size() > 1) {
      // What the values leave of the most significant digit is one of its values.
      const Interval left = RangeOf(inner).Intersect(values.Mul(static_cast<int64_t>(m))
                                                         .Sub(static_cast<int64_t>(c))
                                                         .PreimageOfMul(static_cast<int64_t>(k)));
      if (left.IsEmpty()) return std::nullopt;
      const int64_t place = SizeOf(inner) / inner.back().size;
      const int64_t high = FloorDiv(left.lower(), place);
      if (high != FloorDiv(left.upper(), place)) break;
      lost_source_ = true;
      inner.pop_back();
      c += k * high * place;
      if (!fits()) return std::nullopt;
      continue;
    }
    if (inner.empty()) break;
    const Digit digit = inner.front();
    const Source& from = source(digit.source);
    if (from.kind != Source::Kind::kLinear || from.modulus % digit.place != 0 ||
        from.greatest / digit.place >= digit.size) {
      break;
    }
    // The number is L / place, or size - 1 less that, with L = factor * number + offset.
    if (digit.flipped) {
      c += k * (digit.size - 1);
      k = -k;
      if (!fits()) return std::nullopt;
    }
    c = k * from.offset + c * digit.place;
    k *= from.factor;
    m *= digit.place;
    if (!fits()) return std::nullopt;
    inner = Number(from.number);
  }
  if (inner.empty()) {
    if (c % m != 0 || c < 0 || c / m >= size) return std::nullopt;
    Number constant;
    if (size > 1) constant.push_back(Digit::Constant(static_cast<int64_t>(c / m), size));
    return constant;
  }
  if (IsFlipped(inner)) {
    Reverse(inner);
    c += k * (SizeOf(inner) - 1);
    k = -k;
  }
  const std::optional<int64_t> within = MoveOffsetsOut(inner);
  if (!within) return std::nullopt;
  c += k * *within;
  if (!fits()) return std::nullopt;
  const bool flipped = k < 0;
  if (flipped) {  // size - 1 - (k*N + c)/m
    k = -k;
    c = m * (size - 1) - c;
  }
  if (!fits()) return std::nullopt;
  if (const int64_t common =
          Gcd(Gcd(static_cast<int64_t>(k), static_cast<int64_t>(c)), static_cast<int64_t>(m));
      common > 1) {
    k /= common;
    c /= common;
    m /= common;
  }
  // What is known of the result does not depend on the steps that have led to the inner number.
  const Interval range = RangeOf(inner);
  const Int128 least = std::max<Int128>(c + k * range.lower(), 0);
  const Int128 greatest = std::min<Int128>(c + k * range.upper(), m * (size - 1));
  if (least > greatest || !NarrowToInt64(greatest)) return std::nullopt;
  if (Gcd(static_cast<int64_t>(k), static_cast<int64_t>(m)) != 1) return std::nullopt;  // no value
  if (k == 1 && m == 1 && c == 0 && (SizeOf(inner) == size || Resize(inner, size))) {
    if (flipped) Reverse(inner);
    return inner;
  }
  Source linear;
  linear.kind = Source::Kind::kLinear;
  linear.number = std::move(inner);
  linear.factor = static_cast<int64_t>(k);
  linear.offset = static_cast<int64_t>(c);
  linear.modulus = static_cast<int64_t>(m);
  linear.least = static_cast<int64_t>(least);
  linear.greatest = static_cast<int64_t>(greatest);
  std::optional<Number> result = LinearDigit(std::move(linear), static_cast<int64_t>(m), size);
  if (result && flipped) Reverse(*result);
  return result;
}

std::optional<PositionalAlgebra::AffineForm> PositionalAlgebra::AsAffine(const Number& number) {
  if (number.empty()) return std::nullopt;
  if (const Digit& low = number.front(); low.IsConstant()) {
    return AffineForm{Number(number.begin() + 1, number.end()), low.size, low.place};
  }
  if (const Digit& high = number.back(); high.IsConstant()) {
    const Number low(number.begin(), number.end() - 1);
    return AffineForm{low, 1, high.place * SizeOf(low)};
  }
  if (IsFlipped(number)) {
    Number reversed = number;
    Reverse(reversed);
    return AffineForm{std::move(reversed), -1, SizeOf(number) - 1};
  }
  if (number.size() > 1) {
    Number without = number;
    const std::optional<int64_t> offset = MoveOffsetsOut(without);
    if (!offset || without == number) return std::nullopt;
    return AffineForm{std::move(without), 1, *offset};
  }
  const Digit& digit = number.front();
  const Source& from = source(digit.source);
  if (from.kind != Source::Kind::kLinear || from.modulus % digit.place != 0 ||
      GreatestOf(digit) >= digit.size) {
    return std::nullopt;
  }
  return AffineForm{from.number, from.factor, from.offset, digit.place};
}

// The digit of k*N + c, with the least offset that gives it.
std::optional<Number> PositionalAlgebra::LinearDigit(Source linear, int64_t place, int64_t size) {
  const std::optional<int64_t> end = CheckedMul(place, size);
  if (!end) return std::nullopt;
  // A digit of one value.
  if (size == 1 || FloorDiv(linear.least, place) == FloorDiv(linear.greatest, place)) {
    lost_source_ = true;
    if (size == 1) return Number();
    return Number{Digit::Constant(FloorMod(FloorDiv(linear.least, place), size), size)};
  }
  // Multiples of the place above do not change the digit.
  const int64_t shift = FloorDiv(linear.least, *end) * *end;
  const std::optional<int64_t> offset = CheckedSub(linear.offset, shift);
  if (!offset) return std::nullopt;
  linear.offset = *offset;
  linear.modulus = Gcd(linear.modulus, shift);
  linear.least -= shift;
  linear.greatest -= shift;
  // floor((g*k'*N + c) / (g*a)) = floor((k'*N + floor(c/g)) / a)
  if (const int64_t common = Gcd(linear.factor, place); common > 1) {
    linear.factor /= common;
    linear.offset = FloorDiv(linear.offset, common);
    linear.least = FloorDiv(linear.least, common);
    linear.greatest = FloorDiv(linear.greatest, common);
    linear.modulus = linear.modulus % common == 0 ? linear.modulus / common : 1;
    return LinearDigit(std::move(linear), place / common, size);
  }
  if (const int64_t common = Gcd(linear.factor, size); place == 1 && common > 1) {
    Number number;
    const int64_t residue = FloorMod(linear.offset, common);
    const std::optional<Number> high = LinearDigit(std::move(linear), common, size / common);
    if (!AppendDigit(number, Digit::Constant(residue, common)) || !high || !Append(number, *high)) {
      return std::nullopt;
    }
    return number;
  }
  if (linear.factor == 1 && linear.offset == 0) {
    // A digit of the number itself, where its sizes allow for it.
    Number inner = linear.number;
    const bool narrows = SizeOf(inner) > *end && linear.greatest < *end;
    if (!narrows && (SizeOf(inner) % *end == 0 || Resize(inner, *end))) {
      const std::optional<Parts> below = Cut(inner, *end);
      std::optional<Parts> parts = below ? Cut(below->low, place) : std::nullopt;
      if (!parts) return std::nullopt;
      return std::move(parts->high);
    }
  }
  // A least digit that does not carry: D + b*N + c = (D + c mod b) + b*(N + floor(c/b)).
  if (linear.factor == 1 && linear.modulus == 1 && linear.number.size() > 1) {
    const Digit least = linear.number.front();
    const int64_t b = least.size;
    const int64_t carry_free = FloorMod(linear.offset, b);
    const Interval range = RangeOf(Number{least});
    if (range.upper() < b - carry_free && (place % b == 0 || (place == 1 && size % b == 0))) {
      Number result;
      if (place == 1) {
        const std::optional<Number> low = Affine(Number{least}, 1, carry_free, 1, b);
        if (!low || !Append(result, *low)) return std::nullopt;
      }
      Source above = linear;
      above.number.erase(above.number.begin());
      above.offset = FloorDiv(linear.offset, b);
      above.least = FloorDiv(linear.least, b);
      above.greatest = FloorDiv(linear.greatest, b);
      if (!Unwrap(above)) return std::nullopt;
      const std::optional<Number> high =
          LinearDigit(std::move(above), place == 1 ? 1 : place / b, place == 1 ? size / b : size);
      if (!high || !Append(result, *high)) return std::nullopt;
      return result;
    }
  }
  const uint32_t id = Intern(std::move(linear));
  return Number{Digit{place, size, id, false}};
}

// D + b*(N + c) = (D + b*N) + b*c, where D and N join.
std::optional<Number> PositionalAlgebra::JoinBelowOffset(const Digit& low, const Digit& high) {
  const Source linear = source(high.source);
  if (low.IsConstant() || high.place != 1 || linear.factor != 1 || linear.greatest >= high.size) {
    return std::nullopt;
  }
  Number apart{low};
  if (high.flipped) Reverse(apart);
  const std::optional<int64_t> offset = CheckedMul(low.size, linear.offset);
  const std::optional<int64_t> size = CheckedMul(low.size, high.size);
  if (!offset || !size || !CheckedMul(low.size, SizeOf(linear.number))) return std::nullopt;
  Number joined = apart;
  if (!Append(joined, linear.number)) return std::nullopt;
  apart.append(linear.number.begin(), linear.number.end());
  if (joined == apart) return std::nullopt;
  std::optional<Number> moved = Affine(joined, 1, *offset, 1, *size);
  if (moved && high.flipped) Reverse(*moved);
  return moved;
}

// The digits on top of the number that are those of the linear source below this one.
bool PositionalAlgebra::JoinLinear(Number& number, const Digit& digit) {
  if (const std::optional<Number> joined = JoinBelowOffset(number.back(), digit)) {
    number.pop_back();
    return Append(number, *joined);
  }
  const Source linear = source(digit.source);
  const auto oriented = [&](int64_t place, int64_t size) {
    std::optional<Number> result = LinearDigit(linear, place, size);
    if (result && digit.flipped) Reverse(*result);
    return result;
  };
  int64_t radix = 1;
  for (size_t i = number.size(); i-- > 0;) {
    const std::optional<int64_t> product = CheckedMul(radix, number[i].size);
    if (!product || digit.place % *product != 0) return false;
    radix = *product;
    const Number top(number.begin() + i, number.end());
    if (oriented(digit.place / radix, radix) != top) continue;
    const std::optional<Number> joined = oriented(digit.place / radix, radix * digit.size);
    if (!joined || joined->size() > top.size()) return false;
    number.truncate(i);
    return Append(number, *joined);
  }
  return false;
}

}  // namespace xla_indexing::internal

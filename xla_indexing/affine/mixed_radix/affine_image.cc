// Numbers moved and scaled: (k*N + c) / m, with what is known of N's values taken out of it.
//
//   N = c' + e*N'                 k*N + c = k*e*N' + (k*c' + c)    the least digit is a constant
//   N = D + b*v                   k*N + c = k*D + (k*b*v + c)      v is all that the values leave
//   N = (k'*N' + c') / f          (k*N + c) / m = (k*k'*N' + k*c' + c*f) / (m*f)
//   N = b - 1 - N'                k*N + c = -k*N' + (k*(b - 1) + c)
//
// What cannot be taken out is a linear source.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/number_rules.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

std::optional<int64_t> MoveOffsetsOut(PositionalState& state, Number& number) {
  Int128 offset = 0;
  int64_t stride = 1;
  Number without;
  for (const Digit& digit : number) {
    Number same{digit};
    const bool is_top = &digit == &number.back();
    if (!digit.IsConstant() && digit.lower_factor == 1) {
      const NumberSource& from = state.sources[digit.source];
      const bool is_whole =
          from.kind == NumberSource::Kind::kLinear && from.greatest < digit.extent;
      if (is_whole && is_top && !digit.flipped && from.factor == 1 &&
          CheckedMul(stride, SizeOf(from.number))) {
        // The most significant digit needs no room above it.
        offset += Int128{stride} * from.offset;
        same = Number(from.number);
      } else if (is_whole && from.offset > 0) {
        offset += Int128{digit.flipped ? -1 : 1} * stride * from.offset;
        // The rest are multiples k*N of N >= 0.
        NumberSource linear = from;
        linear.offset = 0;
        linear.modulus = Gcd(linear.modulus, from.offset);
        linear.least = std::max<int64_t>(linear.least - from.offset, 0);
        linear.greatest -= from.offset;
        std::optional<Number> moved = LinearDigit(state, std::move(linear), 1, digit.extent);
        if (!moved) return std::nullopt;
        if (digit.flipped) Reverse(*moved);
        same = *std::move(moved);
      }
    }
    if (!Append(state, without, same)) return std::nullopt;
    stride *= digit.extent;
  }
  number = std::move(without);
  state.sources.ShrinkToFit(number);
  return NarrowToInt64(offset);
}

namespace {

// (k * inner + c) / m
struct Image {
  Number inner;
  Int128 k;
  Int128 c;
  Int128 m;

  bool Fits() const { return NarrowToInt64(k) && NarrowToInt64(c) && NarrowToInt64(m); }
};

enum class TakeResult : uint8_t { kNone, kSome, kNoResult };

// Takes constant digits at either end of the number out. Returns whether the numbers fit.
bool TakeConstants(Image& image) {
  Number& inner = image.inner;
  while (!inner.empty() && inner.front().IsConstant()) {
    image.c += image.k * inner.front().value();
    image.k *= inner.front().extent;
    inner.erase(inner.begin());
    if (!image.Fits()) return false;
  }
  if (!inner.empty() && inner.back().IsConstant()) {
    const Digit top = inner.pop_back_val();
    image.c += image.k * top.value() * SizeOf(inner);
  }
  return image.Fits();
}

// Takes the most significant digit out where `values` of the result leave one of its values.
TakeResult TakeTopDigit(PositionalState& state, const Interval& values, Image& image) {
  Number& inner = image.inner;
  const Interval left =
      state.sources.RangeOf(inner).Intersect(values.Mul(static_cast<int64_t>(image.m))
                                                 .Sub(static_cast<int64_t>(image.c))
                                                 .PreimageOfMul(static_cast<int64_t>(image.k)));
  if (left.IsEmpty()) return TakeResult::kNoResult;
  const int64_t stride = SizeOf(inner) / inner.back().extent;
  const int64_t high = FloorDiv(left.lower(), stride);
  if (high != FloorDiv(left.upper(), stride)) return TakeResult::kNone;
  inner.pop_back();
  image.c += image.k * high * stride;
  return image.Fits() ? TakeResult::kSome : TakeResult::kNoResult;
}

// Replaces L / lower_factor, or its reverse, by the number of the linear source L.
TakeResult TakeLinearSource(const PositionalState& state, Image& image) {
  const Digit digit = image.inner.front();
  const NumberSource& from = state.sources[digit.source];
  if (from.kind != NumberSource::Kind::kLinear || from.modulus % digit.lower_factor != 0 ||
      !state.sources.HasRoom(digit)) {
    return TakeResult::kNone;
  }
  if (digit.flipped) {
    image.c += image.k * (digit.extent - 1);
    image.k = -image.k;
    if (!image.Fits()) return TakeResult::kNoResult;
  }
  image.c = image.k * from.offset + image.c * digit.lower_factor;
  image.k *= from.factor;
  image.m *= digit.lower_factor;
  image.inner = from.number;
  return image.Fits() ? TakeResult::kSome : TakeResult::kNoResult;
}

// Takes out of the number what can be. Returns whether there may be a result.
bool TakeAll(PositionalState& state, const Interval& values, Image& image) {
  TakeResult progress = TakeResult::kSome;
  while (progress == TakeResult::kSome) {
    if (!TakeConstants(image)) return false;
    if (image.inner.empty()) return true;
    progress = image.inner.size() > 1 ? TakeTopDigit(state, values, image)
                                      : TakeLinearSource(state, image);
  }
  return progress == TakeResult::kNone;
}

void DivideByCommonFactor(Image& image) {
  const int64_t common = Gcd(Gcd(static_cast<int64_t>(image.k), static_cast<int64_t>(image.c)),
                             static_cast<int64_t>(image.m));
  if (common <= 1) return;
  image.k /= common;
  image.c /= common;
  image.m /= common;
}

// The image as a digit of a linear source, or as the number itself. Here k > 0.
std::optional<Number> DigitOf(PositionalState& state, Image image, int64_t size) {
  // The facts about the result do not depend on the steps that have led to the inner number.
  const Interval range = state.sources.RangeOf(image.inner);
  const Int128 least = std::max<Int128>(image.c + image.k * range.lower(), 0);
  const Int128 greatest = std::min<Int128>(image.c + image.k * range.upper(), image.m * (size - 1));
  if (least > greatest || !NarrowToInt64(greatest)) return std::nullopt;
  NumberSource linear;
  linear.kind = NumberSource::Kind::kLinear;
  linear.factor = static_cast<int64_t>(image.k);
  linear.offset = static_cast<int64_t>(image.c);
  linear.modulus = static_cast<int64_t>(image.m);
  linear.least = static_cast<int64_t>(least);
  linear.greatest = static_cast<int64_t>(greatest);
  if (Gcd(linear.factor, linear.modulus) != 1) return std::nullopt;  // there is no value
  if (linear.factor == 1 && linear.modulus == 1 && linear.offset == 0 &&
      (SizeOf(image.inner) == size || state.sources.Resize(image.inner, size))) {
    return image.inner;
  }
  linear.number = std::move(image.inner);
  const int64_t lower_factor = linear.modulus;
  return LinearDigit(state, std::move(linear), lower_factor, size);
}

}  // namespace

std::optional<Number> AffineImage(PositionalState& state, const Number& number, int64_t factor,
                                  int64_t offset, int64_t divisor, int64_t size) {
  const Interval values = Interval::OfSize(size);
  const Interval moved = state.sources.RangeOf(number).Mul(factor).Add(offset);
  if (values.Intersect(moved.PreimageOfMul(divisor)).IsEmpty()) return std::nullopt;
  Image image{number, factor, offset, divisor};
  if (!TakeAll(state, values, image)) return std::nullopt;
  if (image.inner.empty()) {
    if (image.c % image.m != 0 || image.c < 0 || image.c / image.m >= size) return std::nullopt;
    if (size == 1) return Number();
    return Number{Digit::Constant(static_cast<int64_t>(image.c / image.m), size)};
  }
  if (IsFlipped(image.inner)) {
    Reverse(image.inner);
    image.c += image.k * (SizeOf(image.inner) - 1);
    image.k = -image.k;
  }
  const std::optional<int64_t> within = MoveOffsetsOut(state, image.inner);
  if (!within) return std::nullopt;
  image.c += image.k * *within;
  if (!image.Fits()) return std::nullopt;
  const bool flipped = image.k < 0;
  if (flipped) {  // size - 1 - (k*N + c)/m
    image.k = -image.k;
    image.c = image.m * (size - 1) - image.c;
  }
  if (!image.Fits()) return std::nullopt;
  DivideByCommonFactor(image);
  std::optional<Number> result = DigitOf(state, std::move(image), size);
  if (result && flipped) Reverse(*result);
  return result;
}

}  // namespace xla_indexing::internal

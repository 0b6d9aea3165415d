#include "xla_indexing/hlo/text/parts/float_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace xla_indexing::internal {
namespace {

// What the bit patterns beyond the finite numbers are.
enum class NonFinite {
  kIeee,            // The highest exponent is infinity (mantissa 0) or NaN.
  kNanAllOnes,      // No infinity; all ones but for the sign is NaN (the FN formats).
  kNanIsMinusZero,  // No infinity, no minus zero; its pattern is the only NaN (the FNUZ formats).
  kNone,            // Every pattern is a number.
};

struct Format {
  bool has_sign;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  NonFinite non_finite;

  int SignShift() const { return exponent_bits + mantissa_bits; }
  uint64_t MantissaMask() const { return (uint64_t{1} << mantissa_bits) - 1; }
  uint64_t MaxExponent() const { return (uint64_t{1} << exponent_bits) - 1; }
  uint64_t MagnitudeMask() const { return (uint64_t{1} << SignShift()) - 1; }
  // The pattern of the largest finite number without its sign.
  uint64_t LargestFinite() const {
    switch (non_finite) {
      case NonFinite::kIeee:
        return (MaxExponent() << mantissa_bits) - 1;
      case NonFinite::kNanAllOnes:
        return MagnitudeMask() - 1;
      case NonFinite::kNanIsMinusZero:
      case NonFinite::kNone:
        return MagnitudeMask();
    }
    return 0;
  }
};

Format FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kF4E2M1FN:
      return {true, 2, 1, 1, NonFinite::kNone};
    case ElementType::kF8E3M4:
      return {true, 3, 4, 3, NonFinite::kIeee};
    case ElementType::kF8E4M3:
      return {true, 4, 3, 7, NonFinite::kIeee};
    case ElementType::kF8E4M3B11FNUZ:
      return {true, 4, 3, 11, NonFinite::kNanIsMinusZero};
    case ElementType::kF8E4M3FN:
      return {true, 4, 3, 7, NonFinite::kNanAllOnes};
    case ElementType::kF8E4M3FNUZ:
      return {true, 4, 3, 8, NonFinite::kNanIsMinusZero};
    case ElementType::kF8E5M2:
      return {true, 5, 2, 15, NonFinite::kIeee};
    case ElementType::kF8E5M2FNUZ:
      return {true, 5, 2, 16, NonFinite::kNanIsMinusZero};
    case ElementType::kF8E8M0FNU:
      return {false, 8, 0, 127, NonFinite::kNanAllOnes};
    case ElementType::kF16:
      return {true, 5, 10, 15, NonFinite::kIeee};
    case ElementType::kBF16:
      return {true, 8, 7, 127, NonFinite::kIeee};
    case ElementType::kF32:
      return {true, 8, 23, 127, NonFinite::kIeee};
    default:
      return {true, 11, 52, 1023, NonFinite::kIeee};
  }
}

// E8M0 has no zero and no subnormal numbers: its exponent field 0 stands for 2^-127.
bool HasSubnormals(const Format& format) { return format.mantissa_bits > 0; }

uint64_t SignBit(const Format& format, bool negative) {
  return negative ? uint64_t{1} << format.SignShift() : 0;
}

// The pattern of the value nearest to the positive number `magnitude`, as if the exponent had no
// end.
uint64_t RoundMagnitude(const Format& format, double magnitude) {
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = f * 2^exponent with f in [0.5, 1).
  const int least = HasSubnormals(format) ? 1 - format.bias : -format.bias;
  // The number is 2^(exponent - 1) * 1.xxx; below the least exponent the significand loses bits.
  const int scale = std::max(exponent - 1, least);
  // Rounds to nearest, ties to even, which is the rounding mode that programs start with.
  const auto significand =
      static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - scale)));
  // A significand of 2^mantissa_bits or more has its leading one counted by the exponent field; one
  // that was rounded up to the next power of two carries into it.
  const auto field = static_cast<uint64_t>(int64_t{scale} + format.bias);
  if (!HasSubnormals(format)) return significand == 2 ? field + 1 : field;
  return ((field - 1) << format.mantissa_bits) + significand;
}

}  // namespace

std::optional<uint64_t> EncodeFloat(ElementType type, double value) {
  if (type == ElementType::kF64) return std::bit_cast<uint64_t>(value);
  const Format format = FormatOf(type);
  const bool negative = std::signbit(value);
  const double magnitude = std::fabs(value);
  if (!format.has_sign && (negative || magnitude == 0)) return std::nullopt;
  const uint64_t pattern = magnitude == 0 ? 0 : RoundMagnitude(format, magnitude);
  if (pattern > format.LargestFinite()) return std::nullopt;
  // What would be minus zero is zero where there is no minus zero.
  if (pattern == 0 && format.non_finite == NonFinite::kNanIsMinusZero) return 0;
  return pattern | SignBit(format, negative);
}

double DecodeFloat(ElementType type, uint64_t bits) {
  if (type == ElementType::kF64) return std::bit_cast<double>(bits);
  const Format format = FormatOf(type);
  const bool negative = IsNegative(type, bits);
  const uint64_t magnitude_bits = bits & format.MagnitudeMask();
  double magnitude = 0;
  if (format.non_finite == NonFinite::kNanIsMinusZero && negative && magnitude_bits == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (magnitude_bits > format.LargestFinite()) {
    const bool infinite =
        format.non_finite == NonFinite::kIeee && (bits & format.MantissaMask()) == 0;
    magnitude = infinite ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  } else {
    const uint64_t field = magnitude_bits >> format.mantissa_bits;
    const uint64_t mantissa = bits & format.MantissaMask();
    const bool subnormal = field == 0 && HasSubnormals(format);
    const uint64_t significand =
        subnormal ? mantissa : mantissa | (uint64_t{1} << format.mantissa_bits);
    const int exponent = (subnormal ? 1 : static_cast<int>(field)) - format.bias;
    magnitude = std::ldexp(static_cast<double>(significand), exponent - format.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

std::optional<uint64_t> EncodeInfinity(ElementType type, bool negative) {
  const Format format = FormatOf(type);
  if (format.non_finite != NonFinite::kIeee) return std::nullopt;
  return (format.MaxExponent() << format.mantissa_bits) | SignBit(format, negative);
}

std::optional<uint64_t> EncodeNan(ElementType type, bool negative) {
  const Format format = FormatOf(type);
  switch (format.non_finite) {
    case NonFinite::kIeee: {
      const uint64_t quiet = uint64_t{1} << (format.mantissa_bits - 1);
      return (format.MaxExponent() << format.mantissa_bits) | quiet | SignBit(format, negative);
    }
    case NonFinite::kNanAllOnes:
      if (negative && !format.has_sign) return std::nullopt;
      return format.MagnitudeMask() | SignBit(format, negative);
    case NonFinite::kNanIsMinusZero:
      return SignBit(format, true);
    case NonFinite::kNone:
      break;
  }
  return std::nullopt;
}

std::optional<uint64_t> EncodeNanWithPayload(ElementType type, bool negative, uint64_t payload) {
  const Format format = FormatOf(type);
  if (format.non_finite != NonFinite::kIeee) {
    // There is one pattern, and its mantissa is the payload.
    const std::optional<uint64_t> only = EncodeNan(type, negative);
    if (!only.has_value() || (*only & format.MantissaMask()) != payload) return std::nullopt;
    return only;
  }
  if (payload == 0 || payload > format.MantissaMask()) return std::nullopt;
  return (format.MaxExponent() << format.mantissa_bits) | payload | SignBit(format, negative);
}

uint64_t MantissaOf(ElementType type, uint64_t bits) {
  return bits & FormatOf(type).MantissaMask();
}

bool IsNegative(ElementType type, uint64_t bits) {
  const Format format = FormatOf(type);
  return format.has_sign && ((bits >> format.SignShift()) & 1) != 0;
}

}  // namespace xla_indexing::internal

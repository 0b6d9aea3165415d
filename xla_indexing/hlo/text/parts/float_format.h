// Conversion between the floating point formats of HLO and double.
//
// Every value of every format up to f64 is a double. A number that is in no format is rounded to
// the nearest value, ties to the even significand. The formats (sign, exponent and mantissa bits,
// bias, and what stands for infinity and NaN) are those of IEEE 754, the OCP specifications OFP8
// and MX, and for the FNUZ formats of the definition by AMD, Graphcore and Qualcomm
// (arXiv:2206.02915).
//
// Example: `EncodeFloat(ElementType::kBF16, 1.0)` is 0x3f80.

#ifndef XLA_INDEXING_HLO_TEXT_PARTS_FLOAT_FORMAT_H_
#define XLA_INDEXING_HLO_TEXT_PARTS_FLOAT_FORMAT_H_

#include <cstdint>
#include <optional>

#include "xla_indexing/hlo/types/element_type.h"

namespace xla_indexing::internal {

// The bits of the value of `type` (a floating point type) nearest to the finite number `value`.
// Empty where the number is out of the format's range.
std::optional<uint64_t> EncodeFloat(ElementType type, double value);

// The number that `bits` stand for; infinity and NaN as the like.
double DecodeFloat(ElementType type, uint64_t bits);

// The bits of infinity, empty where the format has none.
std::optional<uint64_t> EncodeInfinity(ElementType type, bool negative);

// The bits of the NaN that the text `nan` or `-nan` stands for; empty where the format has no NaN,
// or none with a sign bit of its own.
std::optional<uint64_t> EncodeNan(ElementType type, bool negative);

// The bits of a NaN with the given payload (its mantissa); empty if there is no such NaN.
std::optional<uint64_t> EncodeNanWithPayload(ElementType type, bool negative, uint64_t payload);

// The mantissa bits of a value, the payload if it is a NaN.
uint64_t MantissaOf(ElementType type, uint64_t bits);
bool IsNegative(ElementType type, uint64_t bits);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TEXT_PARTS_FLOAT_FORMAT_H_

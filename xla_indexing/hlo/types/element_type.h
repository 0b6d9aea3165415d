// The element types of HLO: what a value of an array is, how many bits it takes and how its name is
// spelt in HLO text (`f32`, `s4`, `f8e4m3b11fnuz`). The types of values that are no arrays (tuple,
// token, opaque, buffer) are members of the same enumeration, as in XLA.
//
// Example: `BitWidth(ElementType::kS4)` is 4, `StorageBitWidth(ElementType::kPred)` is 8.

#ifndef XLA_INDEXING_HLO_TYPES_ELEMENT_TYPE_H_
#define XLA_INDEXING_HLO_TYPES_ELEMENT_TYPE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

// V(enumerator, name in text, bits of a value, class). The classes: Pred, Signed, Unsigned, Float,
// Complex and Other (not an array element).
#define XLA_INDEXING_ELEMENT_TYPES(V)           \
  V(kPred, "pred", 1, kPred)                    \
  V(kS1, "s1", 1, kSigned)                      \
  V(kS2, "s2", 2, kSigned)                      \
  V(kS4, "s4", 4, kSigned)                      \
  V(kS8, "s8", 8, kSigned)                      \
  V(kS16, "s16", 16, kSigned)                   \
  V(kS32, "s32", 32, kSigned)                   \
  V(kS64, "s64", 64, kSigned)                   \
  V(kU1, "u1", 1, kUnsigned)                    \
  V(kU2, "u2", 2, kUnsigned)                    \
  V(kU4, "u4", 4, kUnsigned)                    \
  V(kU8, "u8", 8, kUnsigned)                    \
  V(kU16, "u16", 16, kUnsigned)                 \
  V(kU32, "u32", 32, kUnsigned)                 \
  V(kU64, "u64", 64, kUnsigned)                 \
  V(kF4E2M1FN, "f4e2m1fn", 4, kFloat)           \
  V(kF8E3M4, "f8e3m4", 8, kFloat)               \
  V(kF8E4M3, "f8e4m3", 8, kFloat)               \
  V(kF8E4M3B11FNUZ, "f8e4m3b11fnuz", 8, kFloat) \
  V(kF8E4M3FN, "f8e4m3fn", 8, kFloat)           \
  V(kF8E4M3FNUZ, "f8e4m3fnuz", 8, kFloat)       \
  V(kF8E5M2, "f8e5m2", 8, kFloat)               \
  V(kF8E5M2FNUZ, "f8e5m2fnuz", 8, kFloat)       \
  V(kF8E8M0FNU, "f8e8m0fnu", 8, kFloat)         \
  V(kF16, "f16", 16, kFloat)                    \
  V(kBF16, "bf16", 16, kFloat)                  \
  V(kF32, "f32", 32, kFloat)                    \
  V(kF64, "f64", 64, kFloat)                    \
  V(kC64, "c64", 64, kComplex)                  \
  V(kC128, "c128", 128, kComplex)               \
  V(kTuple, "tuple", 0, kOther)                 \
  V(kToken, "token", 0, kOther)                 \
  V(kOpaque, "opaque", 0, kOther)               \
  V(kBuffer, "b", 0, kOther)

enum class ElementType : uint8_t {
#define XLA_INDEXING_DECLARE(enumerator, name, bits, class_name) enumerator,
  XLA_INDEXING_ELEMENT_TYPES(XLA_INDEXING_DECLARE)
#undef XLA_INDEXING_DECLARE
};

// The spelling of a type in HLO text.
absl::string_view ElementTypeName(ElementType type);

// The type spelt `name`, if there is one that can stand before `[` (so not `tuple` and not `b`).
std::optional<ElementType> ElementTypeFromName(absl::string_view name);

// Bits of information in one element: 1 for pred, 4 for s4, 64 for c64; 0 for non-arrays.
int BitWidth(ElementType type);

// Bits that one element takes in memory where its layout does not say otherwise: as `BitWidth`, but
// a pred takes a byte. Types of 1, 2 and 4 bits count with their own width (they are packed).
int StorageBitWidth(ElementType type);

// Exactly one of these holds for a type of an array's elements. Pred is not an integral type.
bool IsPred(ElementType type);
bool IsSignedIntegral(ElementType type);
bool IsUnsignedIntegral(ElementType type);
bool IsFloatingPoint(ElementType type);
bool IsComplex(ElementType type);

bool IsIntegral(ElementType type);   // Signed or unsigned.
bool IsArrayType(ElementType type);  // Neither tuple, token, opaque nor buffer.

// The type of the parts of a complex type: f32 for c64, f64 for c128. Any other type is its own.
ElementType ComplexComponentType(ElementType type);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TYPES_ELEMENT_TYPE_H_

// The element types of messages: PrimitiveType of xla_data.proto.

#ifndef XLA_INDEXING_HLO_PROTO_PRIMITIVE_TYPES_H_
#define XLA_INDEXING_HLO_PROTO_PRIMITIVE_TYPES_H_

#include <cstdint>

#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/types/element_type.h"

namespace xla_indexing::internal {

// How a LiteralProto has elements: a varint each, four or eight bytes for each part, or all of them in
// one string.
enum class ElementCoding : uint8_t { kNone, kVarint, kFixed32, kFixed64, kString };

struct PrimitiveType {
  uint32_t number;
  ElementType type;
  // Where a LiteralProto has elements of the type, and how.
  ElementCoding coding = ElementCoding::kNone;
  ProtoField elements = {};
};

inline constexpr PrimitiveType kPrimitiveTypes[] = {
    {1, ElementType::kPred, ElementCoding::kVarint, {2, "preds"}},
    {2, ElementType::kS8, ElementCoding::kString, {15, "s8s"}},
    {3, ElementType::kS16, ElementCoding::kString, {17, "s16s"}},
    {4, ElementType::kS32, ElementCoding::kVarint, {4, "s32s"}},
    {5, ElementType::kS64, ElementCoding::kVarint, {5, "s64s"}},
    {6, ElementType::kU8, ElementCoding::kString, {3, "u8s"}},
    {7, ElementType::kU16, ElementCoding::kString, {16, "u16s"}},
    {8, ElementType::kU32, ElementCoding::kVarint, {6, "u32s"}},
    {9, ElementType::kU64, ElementCoding::kVarint, {7, "u64s"}},
    {10, ElementType::kF16, ElementCoding::kString, {11, "f16s"}},
    {11, ElementType::kF32, ElementCoding::kFixed32, {8, "f32s"}},
    {12, ElementType::kF64, ElementCoding::kFixed64, {9, "f64s"}},
    {13, ElementType::kTuple},
    {14, ElementType::kOpaque},
    {15, ElementType::kC64, ElementCoding::kFixed32, {12, "c64s"}},
    {16, ElementType::kBF16, ElementCoding::kString, {13, "bf16s"}},
    {17, ElementType::kToken},
    {18, ElementType::kC128, ElementCoding::kFixed64, {18, "c128s"}},
    {19, ElementType::kF8E5M2, ElementCoding::kString, {19, "f8e5m2s"}},
    {20, ElementType::kF8E4M3FN, ElementCoding::kString, {20, "f8e4m3fns"}},
    {21, ElementType::kS4, ElementCoding::kString, {21, "s4s"}},
    {22, ElementType::kU4, ElementCoding::kString, {22, "u4s"}},
    {23, ElementType::kF8E4M3B11FNUZ, ElementCoding::kString, {23, "f8e4m3b11fnuzs"}},
    {24, ElementType::kF8E5M2FNUZ, ElementCoding::kString, {24, "f8e5m2fnuzs"}},
    {25, ElementType::kF8E4M3FNUZ, ElementCoding::kString, {25, "f8e4m3fnuzs"}},
    {26, ElementType::kS2, ElementCoding::kString, {26, "s2s"}},
    {27, ElementType::kU2, ElementCoding::kString, {27, "u2s"}},
    {28, ElementType::kF8E4M3, ElementCoding::kString, {28, "f8e4m3s"}},
    {29, ElementType::kF8E3M4, ElementCoding::kString, {29, "f8e3m4s"}},
    {30, ElementType::kS1, ElementCoding::kString, {30, "s1s"}},
    {31, ElementType::kU1, ElementCoding::kString, {31, "u1s"}},
    {32, ElementType::kF4E2M1FN, ElementCoding::kString, {32, "f4e2m1fns"}},
    {33, ElementType::kF8E8M0FNU, ElementCoding::kString, {33, "f8e8m0fnus"}},
    {34, ElementType::kBuffer},
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_PROTO_PRIMITIVE_TYPES_H_

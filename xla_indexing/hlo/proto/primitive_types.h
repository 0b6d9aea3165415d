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
  int64_t number;
  ElementType type;
  // Where a LiteralProto has elements of the type.
  ProtoField elements = {};
  ElementCoding coding = ElementCoding::kNone;
};

inline constexpr PrimitiveType kPrimitiveTypes[] = {
    {1, ElementType::kPred, {2, "preds"}, ElementCoding::kVarint},
    {2, ElementType::kS8, {15, "s8s"}, ElementCoding::kString},
    {3, ElementType::kS16, {17, "s16s"}, ElementCoding::kString},
    {4, ElementType::kS32, {4, "s32s"}, ElementCoding::kVarint},
    {5, ElementType::kS64, {5, "s64s"}, ElementCoding::kVarint},
    {6, ElementType::kU8, {3, "u8s"}, ElementCoding::kString},
    {7, ElementType::kU16, {16, "u16s"}, ElementCoding::kString},
    {8, ElementType::kU32, {6, "u32s"}, ElementCoding::kVarint},
    {9, ElementType::kU64, {7, "u64s"}, ElementCoding::kVarint},
    {10, ElementType::kF16, {11, "f16s"}, ElementCoding::kString},
    {11, ElementType::kF32, {8, "f32s"}, ElementCoding::kFixed32},
    {12, ElementType::kF64, {9, "f64s"}, ElementCoding::kFixed64},
    {13, ElementType::kTuple},
    {14, ElementType::kOpaque},
    {15, ElementType::kC64, {12, "c64s"}, ElementCoding::kFixed32},
    {16, ElementType::kBF16, {13, "bf16s"}, ElementCoding::kString},
    {17, ElementType::kToken},
    {18, ElementType::kC128, {18, "c128s"}, ElementCoding::kFixed64},
    {19, ElementType::kF8E5M2, {19, "f8e5m2s"}, ElementCoding::kString},
    {20, ElementType::kF8E4M3FN, {20, "f8e4m3fns"}, ElementCoding::kString},
    {21, ElementType::kS4, {21, "s4s"}, ElementCoding::kString},
    {22, ElementType::kU4, {22, "u4s"}, ElementCoding::kString},
    {23, ElementType::kF8E4M3B11FNUZ, {23, "f8e4m3b11fnuzs"}, ElementCoding::kString},
    {24, ElementType::kF8E5M2FNUZ, {24, "f8e5m2fnuzs"}, ElementCoding::kString},
    {25, ElementType::kF8E4M3FNUZ, {25, "f8e4m3fnuzs"}, ElementCoding::kString},
    {26, ElementType::kS2, {26, "s2s"}, ElementCoding::kString},
    {27, ElementType::kU2, {27, "u2s"}, ElementCoding::kString},
    {28, ElementType::kF8E4M3, {28, "f8e4m3s"}, ElementCoding::kString},
    {29, ElementType::kF8E3M4, {29, "f8e3m4s"}, ElementCoding::kString},
    {30, ElementType::kS1, {30, "s1s"}, ElementCoding::kString},
    {31, ElementType::kU1, {31, "u1s"}, ElementCoding::kString},
    {32, ElementType::kF4E2M1FN, {32, "f4e2m1fns"}, ElementCoding::kString},
    {33, ElementType::kF8E8M0FNU, {33, "f8e8m0fnus"}, ElementCoding::kString},
    {34, ElementType::kBuffer},
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_PROTO_PRIMITIVE_TYPES_H_

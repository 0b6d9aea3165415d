// The numbers of the fields of XLA's messages about shapes and literals,
// of those fields that are read: `Shape::kTupleShapes` is field tuple_shapes of the
// message ShapeProto.
//
// Source: xla/service/hlo.proto and xla/xla_data.proto of jaxlib 0.10.2, as its library describes
// them to itself. Numbers of fields never change.

#ifndef XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_SHAPE_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_SHAPE_H_

#include <cstdint>

namespace xla_indexing::internal::proto {

struct Tile {
  enum Field : uint32_t {
    kDimensions = 1,
  };
};

struct SplitConfig {
  enum Field : uint32_t {
    kDimension = 1,
    kSplitIndices = 2,
  };
};

struct Layout {
  enum Field : uint32_t {
    kMinorToMajor = 1,
    kTiles = 6,
    kElementSizeInBits = 7,
    kMemorySpace = 8,
    kDimLevelTypes = 9,
    kPhysicalShape = 10,
    kIndexPrimitiveType = 11,
    kPointerPrimitiveType = 12,
    kDimUnique = 13,
    kDimOrdered = 14,
    kDynamicShapeMetadataPrefixBytes = 15,
    kTailPaddingAlignmentInElements = 16,
    kSplitConfigs = 17,
  };
};

struct Shape {
  enum Field : uint32_t {
    kElementType = 2,
    kDimensions = 3,
    kTupleShapes = 4,
    kLayout = 5,
    kIsDynamicDimension = 6,
  };
};

struct Literal {
  enum Field : uint32_t {
    kShape = 1,
    kPreds = 2,
    kU8s = 3,
    kS32s = 4,
    kS64s = 5,
    kU32s = 6,
    kU64s = 7,
    kF32s = 8,
    kF64s = 9,
    kTupleLiterals = 10,
    kF16s = 11,
    kC64s = 12,
    kBf16s = 13,
    kS8s = 15,
    kU16s = 16,
    kS16s = 17,
    kC128s = 18,
    kF8e5m2s = 19,
    kF8e4m3fns = 20,
    kS4s = 21,
    kU4s = 22,
    kF8e4m3b11fnuzs = 23,
    kF8e5m2fnuzs = 24,
    kF8e4m3fnuzs = 25,
    kS2s = 26,
    kU2s = 27,
    kF8e4m3s = 28,
    kF8e3m4s = 29,
    kS1s = 30,
    kU1s = 31,
    kF4e2m1fns = 32,
    kF8e8m0fnus = 33,
  };
};

}  // namespace xla_indexing::internal::proto

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_SHAPE_H_

#include "xla_indexing/hlo/proto/proto_shape.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/hlo/proto/proto_fields_shape.h"
#include "xla_indexing/hlo/text/parts/parse_shape.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"

namespace xla_indexing::internal {
namespace {

// The number that PrimitiveType has for an element type.
struct NumberedType {
  int64_t number;
  ElementType type;
};

constexpr NumberedType kNumberedTypes[] = {
    {1, ElementType::kPred},
    {2, ElementType::kS8},
    {3, ElementType::kS16},
    {4, ElementType::kS32},
    {5, ElementType::kS64},
    {6, ElementType::kU8},
    {7, ElementType::kU16},
    {8, ElementType::kU32},
    {9, ElementType::kU64},
    {10, ElementType::kF16},
    {11, ElementType::kF32},
    {12, ElementType::kF64},
    {13, ElementType::kTuple},
    {14, ElementType::kOpaque},
    {15, ElementType::kC64},
    {16, ElementType::kBF16},
    {17, ElementType::kToken},
    {18, ElementType::kC128},
    {19, ElementType::kF8E5M2},
    {20, ElementType::kF8E4M3FN},
    {21, ElementType::kS4},
    {22, ElementType::kU4},
    {23, ElementType::kF8E4M3B11FNUZ},
    {24, ElementType::kF8E5M2FNUZ},
    {25, ElementType::kF8E4M3FNUZ},
    {26, ElementType::kS2},
    {27, ElementType::kU2},
    {28, ElementType::kF8E4M3},
    {29, ElementType::kF8E3M4},
    {30, ElementType::kS1},
    {31, ElementType::kU1},
    {32, ElementType::kF4E2M1FN},
    {33, ElementType::kF8E8M0FNU},
    {34, ElementType::kBuffer},
};

std::optional<ElementType> TypeOfNumber(int64_t number) {
  for (const NumberedType& numbered : kNumberedTypes) {
    if (numbered.number == number) return numbered.type;
  }
  return std::nullopt;
}

// The type in a field that is absent where there is none.
ElementType OptionalType(const WireMessage& message, uint32_t number) {
  const int64_t value = message.Integer(number);
  if (value == 0) return ElementType::kTuple;
  const std::optional<ElementType> type = TypeOfNumber(value);
  if (!type.has_value() || !IsArrayType(*type)) {
    message.source().Fail(absl::StrCat("no type of integers has the number ", value));
    return ElementType::kTuple;
  }
  return *type;
}

// `C+~`: the levels of a sparse layout; empty where all are dense.
std::string DimLevels(const WireMessage& message) {
  absl::InlinedVector<int64_t, 6> types, unique, ordered;
  message.Integers(proto::Layout::kDimLevelTypes, &types);
  message.Integers(proto::Layout::kDimUnique, &unique);
  message.Integers(proto::Layout::kDimOrdered, &ordered);
  constexpr char kLevels[] = {'D', 'C', 'S', 'H'};
  std::string text;
  bool is_dense = true;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] < 0 || types[i] > 3) {
      message.source().Fail(absl::StrCat("no level of a dimension has the number ", types[i]));
      return "";
    }
    if (i > 0) text += ',';
    text += kLevels[types[i]];
    is_dense &= types[i] == 0;
    if (i < unique.size() && unique[i] == 0) text += '+';
    if (i < ordered.size() && ordered[i] == 0) text += '~';
  }
  return is_dense ? "" : text;
}

Layout ReadLayoutProto(const WireMessage& message) {
  Layout layout;
  message.Integers(proto::Layout::kMinorToMajor, &layout.minor_to_major);
  layout.dim_levels = DimLevels(message);
  message.Messages(proto::Layout::kTiles, "tiles", [&](const WireMessage& tile, int64_t) {
    Tile& read = layout.tiles.emplace_back();
    tile.Integers(proto::Tile::kDimensions, &read.dimensions);
    for (const int64_t size : read.dimensions) {
      if (size < 0 && size != Tile::kCombineDimension) {
        tile.source().Fail(absl::StrCat("the size of a tile is ", size));
      }
    }
  });
  if (const int64_t alignment = message.Integer(proto::Layout::kTailPaddingAlignmentInElements);
      alignment != 0) {
    layout.tail_padding_alignment = alignment;
  }
  layout.index_type = OptionalType(message, proto::Layout::kIndexPrimitiveType);
  layout.pointer_type = OptionalType(message, proto::Layout::kPointerPrimitiveType);
  layout.element_size_in_bits = message.Integer(proto::Layout::kElementSizeInBits);
  layout.memory_space = message.Integer(proto::Layout::kMemorySpace);
  message.Messages(proto::Layout::kSplitConfigs, "split_configs",
                   [&](const WireMessage& split, int64_t) {
                     SplitConfig& read = layout.split_configs.emplace_back();
                     read.dimension = split.Integer(proto::SplitConfig::kDimension);
                     split.Integers(proto::SplitConfig::kSplitIndices, &read.split_indices);
                     if (read.split_indices.empty()) split.source().Fail("there are no indices");
                   });
  message.Message(proto::Layout::kPhysicalShape, "physical_shape", [&](const WireMessage& shape) {
    layout.physical_shape = std::make_shared<const Shape>(ReadShapeProto(shape));
  });
  layout.dynamic_shape_metadata_prefix_bytes =
      message.Integer(proto::Layout::kDynamicShapeMetadataPrefixBytes);
  return layout;
}

void ReadDimensionsProto(const WireMessage& message, Shape* shape) {
  absl::InlinedVector<int64_t, 6> sizes, dynamic;
  message.Integers(proto::Shape::kDimensions, &sizes);
  message.Integers(proto::Shape::kIsDynamicDimension, &dynamic);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool is_dynamic = i < dynamic.size() && dynamic[i] != 0;
    if (sizes[i] < 0 && !(is_dynamic && sizes[i] == Shape::kUnboundedSize)) {
      message.source().Fail(absl::StrCat("the size of a dimension is ", sizes[i]));
      return;
    }
    shape->AddDimension(sizes[i], is_dynamic);
  }
}

}  // namespace

Shape ReadShapeProto(const WireMessage& message) {
  ProtoSource& source = message.source();
  const int64_t number = message.Integer(proto::Shape::kElementType);
  const std::optional<ElementType> type = TypeOfNumber(number);
  if (!type.has_value()) {
    source.Fail(absl::StrCat("no element type has the number ", number));
    return Shape();
  }
  if (*type == ElementType::kTuple || *type == ElementType::kBuffer) {
    std::vector<Shape> elements;
    message.Messages(
        proto::Shape::kTupleShapes, "tuple_shapes",
        [&](const WireMessage& element, int64_t) { elements.push_back(ReadShapeProto(element)); });
    if (source.failed()) return Shape();
    if (*type == ElementType::kTuple) return Shape::Tuple(std::move(elements));
    if (elements.size() == 1 && elements[0].IsArray()) return Shape::Buffer(std::move(elements[0]));
    source.Fail("a buffer holds one array");
    return Shape();
  }
  if (*type == ElementType::kToken) return Shape::Token();
  if (*type == ElementType::kOpaque) return Shape::Opaque();
  Shape shape = Shape::Array(*type, {});
  ReadDimensionsProto(message, &shape);
  if (source.failed()) return Shape();
  if (!shape.HasUnboundedDimension()) {
    if (const absl::StatusOr<int64_t> count = shape.ElementCount(); !count.ok()) {
      source.Fail(count.status().message());
      return Shape();
    }
  }
  message.Message(proto::Shape::kLayout, "layout", [&](const WireMessage& of_layout) {
    Layout layout = ReadLayoutProto(of_layout);
    if (!IsPermutation(layout.minor_to_major, shape.rank())) {
      source.Fail(absl::StrCat("this layout is no permutation of the ", shape.rank(),
                               " dimensions of ", shape.ToString()));
      return;
    }
    if (shape.rank() > 0 || !layout.IsPlain()) shape.SetLayout(std::move(layout));
  });
  return source.failed() ? Shape() : shape;
}

}  // namespace xla_indexing::internal

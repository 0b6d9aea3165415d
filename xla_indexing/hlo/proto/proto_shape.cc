#include "xla_indexing/hlo/proto/proto_shape.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "xla_indexing/hlo/proto/primitive_types.h"
#include "xla_indexing/hlo/text/parts/parse_shape.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"

namespace xla_indexing::internal {
namespace {

std::optional<ElementType> TypeOfNumber(int64_t number) {
  for (const PrimitiveType& primitive : kPrimitiveTypes) {
    if (primitive.number == number) return primitive.type;
  }
  return std::nullopt;
}

// The type in a field that is absent where there is none.
ElementType OptionalType(const WireMessage& message, ProtoField field) {
  const int64_t value = message.Integer(field);
  if (value == 0) return ElementType::kTuple;
  const std::optional<ElementType> type = TypeOfNumber(value);
  if (!type.has_value() || !IsArrayType(*type)) {
    message.Fail("no type of integers has the number ", value);
    return ElementType::kTuple;
  }
  return *type;
}

// `C+~`: the levels of a sparse layout; empty where all are dense.
std::string DimLevels(const WireMessage& message) {
  absl::InlinedVector<int64_t, 6> types, unique, ordered;
  message.Integers({9, "dim_level_types"}, &types);
  message.Integers({13, "dim_unique"}, &unique);
  message.Integers({14, "dim_ordered"}, &ordered);
  constexpr char kLevels[] = {'D', 'C', 'S', 'H'};
  std::string text;
  bool is_dense = true;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] < 0 || types[i] > 3) {
      return message.Fail<std::string>("no level of a dimension has the number ", types[i]);
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
  message.Integers({1, "minor_to_major"}, &layout.minor_to_major);
  layout.dim_levels = DimLevels(message);
  message.Messages({6, "tiles"}, [&](const WireMessage& tile, int64_t) {
    Tile& read = layout.tiles.emplace_back();
    tile.Integers({1, "dimensions"}, &read.dimensions);
    for (const int64_t size : read.dimensions) {
      if (size < 0 && size != Tile::kCombineDimension) {
        tile.Fail("the size of a tile is ", size);
      }
    }
  });
  if (const int64_t alignment = message.Integer({16, "tail_padding_alignment_in_elements"});
      alignment != 0) {
    layout.tail_padding_alignment = alignment;
  }
  layout.index_type = OptionalType(message, {11, "index_primitive_type"});
  layout.pointer_type = OptionalType(message, {12, "pointer_primitive_type"});
  layout.element_size_in_bits = message.Integer({7, "element_size_in_bits"});
  layout.memory_space = message.Integer({8, "memory_space"});
  message.Messages({17, "split_configs"}, [&](const WireMessage& split, int64_t) {
    SplitConfig& read = layout.split_configs.emplace_back();
    read.dimension = split.Integer({1, "dimension"});
    split.Integers({2, "split_indices"}, &read.split_indices);
    if (read.split_indices.empty()) split.Fail("there are no indices");
  });
  message.Message({10, "physical_shape"}, [&](const WireMessage& shape) {
    layout.physical_shape = std::make_shared<const Shape>(ReadShapeProto(shape));
  });
  layout.dynamic_shape_metadata_prefix_bytes =
      message.Integer({15, "dynamic_shape_metadata_prefix_bytes"});
  return layout;
}

void ReadDimensionsProto(const WireMessage& message, Shape* shape) {
  absl::InlinedVector<int64_t, 6> sizes, dynamic;
  message.Integers({3, "dimensions"}, &sizes);
  message.Integers({6, "is_dynamic_dimension"}, &dynamic);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool is_dynamic = i < dynamic.size() && dynamic[i] != 0;
    if (sizes[i] < 0 && !(is_dynamic && sizes[i] == Shape::kUnboundedSize)) {
      message.Fail("the size of a dimension is ", sizes[i]);
      return;
    }
    shape->AddDimension(sizes[i], is_dynamic);
  }
}

}  // namespace

Shape ReadShapeProto(const WireMessage& message) {
  ProtoSource& source = message.source();
  const int64_t number = message.Integer({2, "element_type"});
  const std::optional<ElementType> type = TypeOfNumber(number);
  if (!type.has_value()) {
    return message.Fail<Shape>("no element type has the number ", number);
  }
  if (*type == ElementType::kTuple || *type == ElementType::kBuffer) {
    std::vector<Shape> elements;
    message.Messages({4, "tuple_shapes"}, [&](const WireMessage& element, int64_t) {
      elements.push_back(ReadShapeProto(element));
    });
    if (source.failed()) return Shape();
    if (*type == ElementType::kTuple) return Shape::Tuple(std::move(elements));
    if (elements.size() == 1 && elements[0].IsArray()) return Shape::Buffer(std::move(elements[0]));
    return message.Fail<Shape>("a buffer holds one array");
  }
  if (*type == ElementType::kToken) return Shape::Token();
  if (*type == ElementType::kOpaque) return Shape::Opaque();
  Shape shape = Shape::Array(*type, {});
  ReadDimensionsProto(message, &shape);
  if (source.failed()) return Shape();
  if (!shape.HasUnboundedDimension()) {
    if (const absl::StatusOr<int64_t> count = shape.ElementCount(); !count.ok()) {
      return message.Fail<Shape>(count.status().message());
    }
  }
  message.Message({5, "layout"}, [&](const WireMessage& of_layout) {
    Layout layout = ReadLayoutProto(of_layout);
    if (!IsPermutation(layout.minor_to_major, shape.rank())) {
      message.Fail("this layout is no permutation of the ", shape.rank(), " dimensions of ",
                   shape.ToString());
      return;
    }
    if (shape.rank() > 0 || !layout.IsPlain()) shape.SetLayout(std::move(layout));
  });
  return source.failed() ? Shape() : shape;
}

}  // namespace xla_indexing::internal

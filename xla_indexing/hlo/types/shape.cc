#include "xla_indexing/hlo/types/shape.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/layout.h"

namespace xla_indexing {
namespace {

void AppendShape(const Shape& shape, bool with_layout, std::string* text) {
  if (shape.IsTuple() || shape.IsBuffer()) {
    absl::StrAppend(text, shape.IsBuffer() ? "b(" : "(");
    for (size_t i = 0; i < shape.tuple_elements().size(); ++i) {
      if (i > 0) absl::StrAppend(text, ", ");
      AppendShape(shape.tuple_elements()[i], with_layout, text);
    }
    absl::StrAppend(text, ")");
    return;
  }
  absl::StrAppend(text, ElementTypeName(shape.element_type()), "[");
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i > 0) absl::StrAppend(text, ",");
    if (shape.IsUnboundedDimension(i)) {
      absl::StrAppend(text, "?");
    } else {
      absl::StrAppend(text, shape.IsDynamicDimension(i) ? "<=" : "", shape.dimension(i));
    }
  }
  absl::StrAppend(text, "]");
  if (with_layout && shape.has_layout()) absl::StrAppend(text, shape.layout()->ToString());
}

void AppendLeaves(const Shape& shape, std::vector<const Shape*>* leaves) {
  if (shape.IsArray()) leaves->push_back(&shape);
  for (const Shape& element : shape.tuple_elements()) AppendLeaves(element, leaves);
}

bool EqualNodes(const Shape& a, const Shape& b) {
  if (a.element_type() != b.element_type() || a.dimensions() != b.dimensions()) return false;
  for (int64_t i = 0; i < a.rank(); ++i) {
    if (a.IsDynamicDimension(i) != b.IsDynamicDimension(i)) return false;
  }
  return true;
}

}  // namespace

bool Layout::IsPlain() const {
  return dim_levels.empty() && tiles.empty() && tail_padding_alignment == 1 &&
         index_type == ElementType::kTuple && pointer_type == ElementType::kTuple &&
         element_size_in_bits == 0 && memory_space == 0 && split_configs.empty() &&
         physical_shape == nullptr && dynamic_shape_metadata_prefix_bytes == 0;
}

std::string Layout::ToString() const {
  std::string text = absl::StrCat("{", absl::StrJoin(minor_to_major, ","));
  if (!IsPlain()) absl::StrAppend(&text, ":");
  if (!dim_levels.empty()) absl::StrAppend(&text, "D(", dim_levels, ")");
  if (!tiles.empty()) absl::StrAppend(&text, "T");
  for (const Tile& tile : tiles) {
    absl::StrAppend(
        &text, "(",
        absl::StrJoin(tile.dimensions, ",",
                      [](std::string* out, int64_t size) {
                        out->append(size == Tile::kCombineDimension ? "*" : absl::StrCat(size));
                      }),
        ")");
  }
  if (tail_padding_alignment != 1) absl::StrAppend(&text, "L(", tail_padding_alignment, ")");
  if (index_type != ElementType::kTuple) {
    absl::StrAppend(&text, "#(", ElementTypeName(index_type), ")");
  }
  if (pointer_type != ElementType::kTuple) {
    absl::StrAppend(&text, "*(", ElementTypeName(pointer_type), ")");
  }
  if (element_size_in_bits != 0) absl::StrAppend(&text, "E(", element_size_in_bits, ")");
  if (memory_space != 0) absl::StrAppend(&text, "S(", memory_space, ")");
  if (!split_configs.empty()) absl::StrAppend(&text, "SC");
  for (const SplitConfig& split : split_configs) {
    absl::StrAppend(&text, "(", split.dimension, ":", absl::StrJoin(split.split_indices, ","), ")");
  }
  if (physical_shape != nullptr) absl::StrAppend(&text, "P(", physical_shape->ToString(), ")");
  if (dynamic_shape_metadata_prefix_bytes != 0) {
    absl::StrAppend(&text, "M(", dynamic_shape_metadata_prefix_bytes, ")");
  }
  return absl::StrCat(text, "}");
}

Layout RowMajorLayout(int64_t rank) {
  Layout layout;
  layout.minor_to_major.reserve(rank);
  for (int64_t dimension = rank - 1; dimension >= 0; --dimension) {
    layout.minor_to_major.push_back(dimension);
  }
  return layout;
}

bool operator==(const Layout& a, const Layout& b) {
  if (a.minor_to_major != b.minor_to_major) return false;
  if (a.IsPlain() && b.IsPlain()) return true;
  if ((a.physical_shape == nullptr) != (b.physical_shape == nullptr)) return false;
  if (a.physical_shape != nullptr && *a.physical_shape != *b.physical_shape) return false;
  return a.dim_levels == b.dim_levels && a.tiles == b.tiles &&
         a.tail_padding_alignment == b.tail_padding_alignment && a.index_type == b.index_type &&
         a.pointer_type == b.pointer_type && a.element_size_in_bits == b.element_size_in_bits &&
         a.memory_space == b.memory_space && a.split_configs == b.split_configs &&
         a.dynamic_shape_metadata_prefix_bytes == b.dynamic_shape_metadata_prefix_bytes;
}

Shape Shape::Array(ElementType element_type, absl::Span<const int64_t> dimensions) {
  Shape shape(element_type);
  shape.dimensions_.assign(dimensions.begin(), dimensions.end());
  return shape;
}

Shape Shape::Tuple(std::vector<Shape> elements) {
  Shape shape(ElementType::kTuple);
  shape.elements_ = std::move(elements);
  shape.is_flat_ = true;
  for (const Shape& element : shape.elements_) {
    shape.leaf_count_ += element.LeafCount();
    shape.is_flat_ = shape.is_flat_ && element.IsArray();
  }
  return shape;
}

Shape Shape::Buffer(Shape array) {
  Shape shape(ElementType::kBuffer);
  shape.leaf_count_ = array.LeafCount();
  shape.elements_.push_back(std::move(array));
  return shape;
}

bool Shape::IsStatic() const {
  return absl::c_none_of(dynamic_, [](bool dynamic) { return dynamic; }) &&
         absl::c_all_of(elements_, [](const Shape& element) { return element.IsStatic(); });
}

bool Shape::HasUnboundedDimension() const {
  return absl::c_linear_search(dimensions_, kUnboundedSize) ||
         absl::c_any_of(elements_,
                        [](const Shape& element) { return element.HasUnboundedDimension(); });
}

void Shape::AddDimension(int64_t size, bool is_dynamic) {
  dimensions_.push_back(size);
  if (is_dynamic || !dynamic_.empty()) {
    dynamic_.resize(dimensions_.size(), false);
    dynamic_.back() = is_dynamic;
  }
}

void Shape::SetDimension(int64_t i, int64_t size, bool is_dynamic) {
  dimensions_[i] = size;
  if (is_dynamic || !dynamic_.empty()) {
    dynamic_.resize(dimensions_.size(), false);
    dynamic_[i] = is_dynamic;
  }
}

Layout Shape::LayoutOrRowMajor() const { return layout_ ? *layout_ : RowMajorLayout(rank()); }

void Shape::ClearLayout() {
  layout_.reset();
  for (Shape& element : elements_) element.ClearLayout();
}

std::vector<const Shape*> Shape::Leaves() const {
  std::vector<const Shape*> leaves;
  AppendLeaves(*this, &leaves);
  return leaves;
}

const Shape& Shape::Leaf(int64_t leaf) const {
  const Shape* shape = this;
  while (!shape->IsArray()) {
    if (shape->is_flat_) return shape->elements_[leaf];
    size_t i = 0;
    for (int64_t count = shape->elements_[i].LeafCount(); leaf >= count;
         count = shape->elements_[i].LeafCount()) {
      leaf -= count;
      ++i;
    }
    shape = &shape->elements_[i];
  }
  return *shape;
}

int64_t Shape::FirstLeafOfElement(int64_t i) const {
  if (is_flat_) return i;
  int64_t count = 0;
  for (int64_t before = 0; before < i; ++before) count += elements_[before].LeafCount();
  return count;
}

absl::StatusOr<int64_t> Shape::ElementCount() const {
  if (!IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat(ToString(), " is not an array"));
  }
  int64_t product = 1;
  bool has_zero = false;
  for (int64_t size : dimensions_) {
    if (size == kUnboundedSize) {
      return absl::InvalidArgumentError(absl::StrCat(ToString(), " has an unbounded dimension"));
    }
    if (size == 0) {
      has_zero = true;
    } else if (__builtin_mul_overflow(product, size, &product)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the number of elements of ", ToString(), " does not fit 64 bits"));
    }
  }
  return has_zero ? 0 : product;
}

bool Shape::HasElements() const {
  if (!IsArray()) return false;
  const absl::StatusOr<int64_t> count = ElementCount();
  return count.ok() && *count > 0;
}

std::string Shape::ToString() const {
  std::string text;
  AppendTo(&text);
  return text;
}

void Shape::AppendTo(std::string* text) const { AppendShape(*this, /*with_layout=*/true, text); }

std::string Shape::ToStringWithoutLayout() const {
  std::string text;
  AppendShape(*this, /*with_layout=*/false, &text);
  return text;
}

bool operator==(const Shape& a, const Shape& b) {
  return EqualNodes(a, b) && a.layout() == b.layout() && a.tuple_elements() == b.tuple_elements();
}

bool EqualIgnoringLayout(const Shape& a, const Shape& b) {
  return EqualNodes(a, b) &&
         absl::c_equal(a.tuple_elements(), b.tuple_elements(), EqualIgnoringLayout);
}

bool EqualIgnoringLayoutAndBounds(const Shape& a, const Shape& b) {
  return a.element_type() == b.element_type() && a.dimensions() == b.dimensions() &&
         absl::c_equal(a.tuple_elements(), b.tuple_elements(), EqualIgnoringLayoutAndBounds);
}

bool SameDimensions(const Shape& a, const Shape& b) {
  return a.IsArray() && b.IsArray() && a.dimensions() == b.dimensions();
}

}  // namespace xla_indexing

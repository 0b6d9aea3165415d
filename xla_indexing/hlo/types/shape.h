// Shapes of HLO values: arrays (`f32[2,3]{1,0}`), tuples (`(f32[2], s32[])`), tokens (`token[]`),
// opaque values (`opaque[]`) and buffers (`b(f32[4,16])`).
//
// A dimension is static (`3`), bounded (`<=10`: its size at run time is at most 10; the array is
// stored padded to the bound) or unbounded (`?`). Leaves: the arrays of a tuple shape numbered
// depth first; an array (and the array of a buffer) is its own leaf 0; tokens and opaque values
// hold no leaf. For `(f32[2], (s32[], token[], pred[]))` leaf 0 is `f32[2]`, leaf 1 `s32[]`, leaf 2
// `pred[]`.
//
// Shapes are values. Equality takes layouts and dynamic flags into account; `SameDimensions` and
// `EqualIgnoringLayout` compare less.

#ifndef XLA_INDEXING_HLO_TYPES_SHAPE_H_
#define XLA_INDEXING_HLO_TYPES_SHAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"

namespace xla_indexing {

using DimensionVector = absl::InlinedVector<int64_t, 6>;

class Shape {
 public:
  // The "size" of a dimension that has no bound.
  static constexpr int64_t kUnboundedSize = INT64_MIN;

  Shape() = default;  // The empty tuple.

  // An array with static dimensions and no layout.
  static Shape Array(ElementType element_type, absl::Span<const int64_t> dimensions);
  static Shape Array(ElementType element_type, std::initializer_list<int64_t> dimensions) {
    return Array(element_type, absl::MakeConstSpan(dimensions.begin(), dimensions.size()));
  }
  static Shape Scalar(ElementType element_type) { return Array(element_type, {}); }
  static Shape Tuple(std::vector<Shape> elements);
  static Shape Token() { return Shape(ElementType::kToken); }
  static Shape Opaque() { return Shape(ElementType::kOpaque); }
  static Shape Buffer(Shape array);

  ElementType element_type() const { return element_type_; }
  bool IsArray() const { return IsArrayType(element_type_); }
  bool IsTuple() const { return element_type_ == ElementType::kTuple; }
  bool IsToken() const { return element_type_ == ElementType::kToken; }
  bool IsOpaque() const { return element_type_ == ElementType::kOpaque; }
  bool IsBuffer() const { return element_type_ == ElementType::kBuffer; }
  bool IsScalar() const { return IsArray() && dimensions_.empty(); }

  // Members of arrays. The size of a bounded dimension is its bound, that of an unbounded one
  // `kUnboundedSize`.
  int64_t rank() const { return static_cast<int64_t>(dimensions_.size()); }
  absl::Span<const int64_t> dimensions() const { return dimensions_; }
  int64_t dimension(int64_t i) const { return dimensions_[i]; }
  bool IsDynamicDimension(int64_t i) const { return !dynamic_.empty() && dynamic_[i]; }
  bool IsUnboundedDimension(int64_t i) const { return dimensions_[i] == kUnboundedSize; }
  bool IsStatic() const;  // No dynamic dimension, in any leaf.
  bool HasUnboundedDimension() const;

  void AddDimension(int64_t size, bool is_dynamic = false);
  void SetDimension(int64_t i, int64_t size, bool is_dynamic = false);
  void SetElementType(ElementType type) { element_type_ = type; }

  bool has_layout() const { return layout_.has_value(); }
  // The layout, if one was given.
  const std::optional<Layout>& layout() const { return layout_; }
  // The layout, row-major if none was given.
  Layout LayoutOrRowMajor() const;
  void SetLayout(Layout layout) { layout_ = std::move(layout); }
  void ClearLayout();  // In tuples: of every leaf.

  // Members of tuples, and of buffers: the array that a buffer holds counts as its only element.
  absl::Span<const Shape> tuple_elements() const { return elements_; }
  const Shape& tuple_element(int64_t i) const { return elements_[i]; }

  int64_t LeafCount() const { return IsArray() ? 1 : leaf_count_; }
  // The leaves in order; pointers into this shape.
  std::vector<const Shape*> Leaves() const;
  // Leaf `leaf`, which must be in [0, LeafCount()).
  const Shape& Leaf(int64_t leaf) const;
  // The number of leaves before tuple element `i`: leaf `l` of that element is leaf
  // `FirstLeafOfElement(i) + l` of this tuple.
  int64_t FirstLeafOfElement(int64_t i) const;

  // The number of elements of an array: the product of its sizes (bounds where bounded), 0 where
  // one of them is 0. An error for non-arrays, for unbounded dimensions, and where the product of
  // the sizes other than 0 does not fit 64 bits.
  absl::StatusOr<int64_t> ElementCount() const;
  // Whether it is an array with elements, and so many of them that int64 counts them.
  bool HasElements() const;

  // `f32[2,<=3]{1,0}`, `(f32[2], s32[])`. Parses back to an equal shape.
  std::string ToString() const;
  void AppendTo(std::string* text) const;
  std::string ToStringWithoutLayout() const;

 private:
  explicit Shape(ElementType element_type) : element_type_(element_type) {}

  ElementType element_type_ = ElementType::kTuple;
  DimensionVector dimensions_;
  absl::InlinedVector<bool, 8> dynamic_;  // Empty: every dimension is static.
  std::optional<Layout> layout_;
  std::vector<Shape> elements_;
  int64_t leaf_count_ = 0;  // The leaves of all elements.
  bool is_flat_ = false;    // A tuple of arrays: element i is leaf i.
};

// Whether everything is equal. A missing layout differs from a layout that is given.
bool operator==(const Shape& a, const Shape& b);
inline bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

// Whether the shapes are equal but for layouts; dynamic flags count.
bool EqualIgnoringLayout(const Shape& a, const Shape& b);
// Does not look either at whether sizes are bounds, `f32[<=3]` and `f32[3]`.
bool EqualIgnoringLayoutAndBounds(const Shape& a, const Shape& b);
// Whether both are arrays of equal sizes; element types, layouts and dynamic flags do not count.
bool SameDimensions(const Shape& a, const Shape& b);

template <typename H>
H AbslHashValue(H h, const Shape& shape) {
  h = H::combine(std::move(h), shape.element_type(), shape.dimensions(), shape.has_layout());
  if (shape.has_layout()) h = H::combine(std::move(h), *shape.layout());
  return H::combine(std::move(h), shape.tuple_elements());
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TYPES_SHAPE_H_

// Constant values: arrays of integers, predicates, floating point and complex numbers, and tuples
// of such.
//
// Elements are addressed by their position in row-major order of the logical dimensions, whatever
// the layout of the shape. They are stored as bits, one to eight bytes each (sixteen for c128); a
// float of any format is kept exactly. A literal may be elided (`{...}` in text): its shape is
// known, its elements are not.
//
// Example: `Literal::Integers(ElementType::kS32, {2, 2}, {1, 2, 3, 4}).IntegerAt(2)` is 3.

#ifndef XLA_INDEXING_HLO_TYPES_LITERAL_H_
#define XLA_INDEXING_HLO_TYPES_LITERAL_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

class Literal {
 public:
  Literal() = default;  // The empty tuple.

  // An array of zeros (false) with this shape. An error if the shape is no array, has dynamic
  // dimensions without bound, or needs more than 2^40 bytes.
  static absl::StatusOr<Literal> Zeros(const Shape& shape);
  // A literal of which only the shape is known.
  static Literal Elided(Shape shape);
  // An array all of whose elements are equal, stored once; zero at first. Errors as for Zeros, but
  // for the size.
  static absl::StatusOr<Literal> Splat(const Shape& shape);
  static Literal Tuple(std::vector<Literal> elements);
  // An array of integers or predicates, its elements in row-major order, each taken modulo 2^width.
  // `values` must have as many elements as the dimensions say. The empty tuple if Zeros gives an
  // error.
  static Literal Integers(ElementType type, absl::Span<const int64_t> dimensions,
                          absl::Span<const int64_t> values);
  static Literal Integers(ElementType type, std::initializer_list<int64_t> dimensions,
                          std::initializer_list<int64_t> values) {
    return Integers(type, absl::MakeConstSpan(dimensions.begin(), dimensions.size()),
                    absl::MakeConstSpan(values.begin(), values.size()));
  }
  static Literal IntegerScalar(ElementType type, int64_t value) {
    return Integers(type, {}, {value});
  }

  const Shape& shape() const { return shape_; }
  bool IsElided() const { return elided_; }
  bool IsSplat() const { return splat_; }
  // The number of elements of an array; 0 for tuples and elided literals.
  int64_t ElementCount() const { return element_count_; }
  absl::Span<const Literal> tuple_elements() const { return elements_; }

  // The value of an integer (sign- or zero-extended) or predicate (0 or 1) element. Empty where the
  // literal is elided, the type is another one, `position` is outside the array, or an unsigned
  // value exceeds INT64_MAX.
  std::optional<int64_t> IntegerAt(int64_t position) const;
  // The value at an index, with one number for each dimension.
  std::optional<int64_t> IntegerAt(absl::Span<const int64_t> index) const;

  // The bits of an element; for a complex number, those of its real part (part 0) or imaginary part
  // (part 1). `position` must be in [0, ElementCount()).
  uint64_t BitsAt(int64_t position, int part = 0) const;
  // Sets the bits of an element; in a splat, those of all elements.
  void SetBits(int64_t position, uint64_t bits, int part = 0);

  // Literals are equal where shapes (dynamic flags and layouts included) and bits are equal and
  // stored in the same way.
  friend bool operator==(const Literal& a, const Literal& b) {
    return a.elided_ == b.elided_ && a.splat_ == b.splat_ && a.shape_ == b.shape_ &&
           a.bytes_ == b.bytes_ && a.elements_ == b.elements_;
  }
  friend bool operator!=(const Literal& a, const Literal& b) { return !(a == b); }

 private:
  Shape shape_;
  bool elided_ = false;
  bool splat_ = false;
  int part_bytes_ = 0;     // The size of an element, or of one part of a complex one.
  int element_bytes_ = 0;  // `part_bytes_` times the number of parts.
  int64_t element_count_ = 0;
  std::vector<uint8_t> bytes_;
  std::vector<Literal> elements_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TYPES_LITERAL_H_

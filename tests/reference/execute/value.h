// Arrays whose elements know where they come from.
//
// The reference executes HLO operations on arrays of elements that carry, instead of (or beside) a
// number, the set of source elements that they were computed from. After execution the sources of
// an output element are, by construction, the elements that it depends on.
//
// Sources are numbered from 0; who makes the arrays that execution begins with says what a number
// means (dependence.h). Elements of integers and predicates have a concrete value too, since slices
// and gathers read where such values point to.
//
// Example: adding an element with sources {1} and value 3 to one with sources {5, 7} and value 4
// gives an element with sources {1, 5, 7} and value 7.

#ifndef XLA_INDEXING_TESTS_REFERENCE_EXECUTE_VALUE_H_
#define XLA_INDEXING_TESTS_REFERENCE_EXECUTE_VALUE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {

// A set of source numbers, as bits.
class SourceSet {
 public:
  void Add(int64_t source) {
    const size_t word = static_cast<size_t>(source) / 64;
    if (word >= words_.size()) words_.resize(word + 1, 0);
    words_[word] |= uint64_t{1} << (source % 64);
  }

  void AddAll(const SourceSet& other) {
    if (other.words_.size() > words_.size()) words_.resize(other.words_.size(), 0);
    for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }

  void Clear() { words_.clear(); }

  // In increasing order.
  void ForEach(absl::FunctionRef<void(int64_t source)> visit) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(static_cast<int64_t>(i) * 64 + std::countr_zero(word));
      }
    }
  }

 private:
  absl::InlinedVector<uint64_t, 4> words_;
};

// 128 bits hold every value of every integer type, and their sums and differences.
using Integer = absl::int128;

struct Element {
  SourceSet sources;
  std::optional<Integer>
      value;  // Set for integers (sign- or zero-extended) and predicates (0 or 1).
  // Whether no definition gives the value.
  bool is_arbitrary = false;
  // Whether the module and scalars of integers fix the value (ExecutionOptions::decides).
  bool is_fixed = false;
  // Whether all elements that the instruction's operands have are of constants and iotas alone.
  bool is_of_module = false;
  // Whether it is such a scalar of data itself, or computed of it by more than comparisons: what it
  // decides by being 0 depends on the run.
  bool is_scalar = false;
};

// One index a dimension, or the sizes of the dimensions.
using Index = absl::InlinedVector<int64_t, 6>;

// Calls `visit` for every index of an array of these sizes, in row-major order: once for rank 0,
// never where a size is 0 (or less).
void ForEachIndex(absl::Span<const int64_t> sizes, absl::FunctionRef<void(const Index&)> visit);

// Whether every coordinate of `index` is in [0, size).
bool IsInside(absl::Span<const int64_t> sizes, const Index& index);

// The row-major position of an index and back.
int64_t PositionOf(absl::Span<const int64_t> sizes, const Index& index);
Index IndexAt(absl::Span<const int64_t> sizes, int64_t position);

// An array, its elements in row-major order of the logical dimensions.
class Array {
 public:
  // Elements without sources and values. The shape must be an array of a few elements.
  explicit Array(const Shape& shape);

  const Shape& shape() const { return shape_; }
  // Another layout for the same sizes.
  void SetShape(const Shape& shape) { shape_ = shape; }
  absl::Span<const int64_t> sizes() const { return shape_.dimensions(); }
  int64_t rank() const { return shape_.rank(); }
  int64_t size(int64_t dimension) const { return shape_.dimension(dimension); }

  Element& at(const Index& index) { return elements_[PositionOf(sizes(), index)]; }
  const Element& at(const Index& index) const { return elements_[PositionOf(sizes(), index)]; }

  std::vector<Element>& elements() { return elements_; }
  const std::vector<Element>& elements() const { return elements_; }

 private:
  Shape shape_;
  std::vector<Element> elements_;
};

// The value of an instruction: the arrays of its shape, depth first; one for an array.
using Value = std::vector<Array>;

// A value of this shape, without sources and values.
Value MakeValue(const Shape& shape);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_EXECUTE_VALUE_H_

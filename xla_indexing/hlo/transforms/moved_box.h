// Which elements of one array the elements of another are, box by box: the form in which gathers and
// scatters with known indices become operations that move elements by their attributes
// (replace_indexed.h).
//
// A *box* says which elements of an operand a part of the result is made of. With d_i counted from the
// beginning of the part, coordinate k of the element is
//
//   c_k + a_k * d_i + runtime value
//
// for one dimension i that no other coordinate has, or for none.
//
// Example: a gather of f32[10] with the indices {7, 5, 3, 1} is one box of 4, with one coordinate, c = 7
// and a = -2.
#ifndef XLA_INDEXING_HLO_TRANSFORMS_MOVED_BOX_H_
#define XLA_INDEXING_HLO_TRANSFORMS_MOVED_BOX_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing {

// The element at these constant indices of an array of integers, perhaps clamped to [lower, upper],
// which are numbers of its type.
struct RuntimeStart {
  const HloInstruction* source = nullptr;  // in the computation of what is replaced, before it
  std::vector<int64_t> element;
  bool is_clamped = false;
  int64_t lower = 0;
  int64_t upper = 0;
};

// A range of indices of one dimension of the result (of the updates of a scatter).
struct MovedDim {
  int64_t offset = 0;
  int64_t size = 0;

  friend bool operator==(const MovedDim& a, const MovedDim& b) = default;
};

// One coordinate.
struct MovedAxis {
  int64_t start = 0;
  std::optional<int64_t> dim;  // of a size over 1; none: it is the same for all elements
  int64_t stride = 1;          // not 0
  std::optional<RuntimeStart> runtime;
};

struct MovedBox {
  std::vector<MovedDim> dims;
  std::vector<MovedAxis> axes;  // for each dimension of the operand

  // How many values a coordinate has.
  int64_t CountOf(const MovedAxis& axis) const { return axis.dim ? dims[*axis.dim].size : 1; }
  bool HasRuntimeStart() const;
};

// The coordinates from the least to the greatest, without the runtime value.
struct AxisSpan {
  int64_t start = 0;
  int64_t size = 1;
};
// Nullopt if the numbers do not fit.
std::optional<AxisSpan> SpanOf(const MovedAxis& axis, const MovedBox& box);

// A scatter: where its updates go, box by box, for each of which CanPlace() holds.
struct PlacedUpdates {
  std::vector<MovedBox> boxes;
  // The operand is an array of one value everywhere, and there is one box without runtime starts.
  bool is_pad = false;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TRANSFORMS_MOVED_BOX_H_

// Which elements of one array the elements of another are, where loops tell: the form in which
// gathers and scatters with known indices become operations that move elements by their attributes
// (replace_indexed.h).
//
// A *box* says which elements of an operand a part of the result is made of. With loops l_0, l_1, ..
// over counts n_0, n_1, .., coordinate k of the element is
//
//   c_k + sum_j a_kj * l_j + runtime value,
//
// and the loops, in row-major order, are the indices of the part, or digits of them where the part
// is a reshape.
//
// Example: a gather of f32[10] with the indices {7, 5, 3, 1} is one box with one loop, n = 4, and one
// coordinate, c = 7 and a = -2.
#ifndef XLA_INDEXING_HLO_TRANSFORMS_MOVED_BOX_H_
#define XLA_INDEXING_HLO_TRANSFORMS_MOVED_BOX_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing {

struct MovedTerm {
  int64_t loop = 0;
  int64_t stride = 1;  // not 0

  friend bool operator==(const MovedTerm& a, const MovedTerm& b) = default;
};

// The element at these constant indices of an array of integers, perhaps clamped to [lower, upper],
// which are numbers of its type.
struct RuntimeStart {
  const HloInstruction* source = nullptr;  // in the computation of what is replaced, before it
  std::vector<int64_t> element;
  bool is_clamped = false;
  int64_t lower = 0;
  int64_t upper = 0;
};

// One coordinate.
struct MovedAxis {
  int64_t start = 0;
  std::vector<MovedTerm> terms;  // of distinct loops of a count over 1
  std::optional<RuntimeStart> runtime;
};

// A range of indices of one dimension of the result (of the updates of a scatter), as digits: index
// `offset` + i is number `skipped` + i in the row-major order of loops of these counts.
struct MovedDim {
  int64_t offset = 0;
  int64_t size = 0;
  int64_t skipped = 0;
  std::vector<int64_t> counts;
};

struct MovedBox {
  std::vector<MovedDim> dims;   // loops are numbered through, dimension by dimension
  std::vector<MovedAxis> axes;  // for each dimension of the operand

  std::vector<int64_t> LoopCounts() const;
};

// The elements that a coordinate names without its runtime value, of which `start` is the least.
struct AxisSpan {
  int64_t start = 0;
  int64_t size = 1;
};
// None where the numbers do not fit.
std::optional<AxisSpan> SpanOf(const MovedAxis& axis, const std::vector<int64_t>& counts);

// A gather: disjoint boxes in its result. They cover it, unless there is a fill.
struct MovedPieces {
  std::vector<MovedBox> boxes;
  // The sizes of the array that the boxes make up, which is reshaped to the result.
  std::vector<int64_t> sizes;
  // For a select between a gather and a fill: the gather's operand, and an array of one value.
  // Coordinates of boxes may lie outside the operand then.
  const HloInstruction* operand = nullptr;
  const HloInstruction* fill = nullptr;
};

// A scatter: where its updates go, box by box. Each box is one to one: no dimension of the updates
// has skipped digits, and CanPlace() holds.
struct PlacedUpdates {
  std::vector<MovedBox> boxes;
  // The operand is an array of this one value everywhere, and there is one box, with a loop or none
  // for each coordinate.
  bool is_pad = false;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TRANSFORMS_MOVED_BOX_H_

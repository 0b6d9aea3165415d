// Gathers and scatters whose indices are known, written as the operations that move elements by
// their attributes.
//
// A *box* (moved_box.h) gives coordinate k of the element that a part of the result is made of as
// c_k + sum_j a_kj * l_j + runtime value, with loops l_j over counts n_j. Every box can be written,
// whatever its numbers:
//
//   runtime values     dynamic-slice of all that the other terms span
//   coordinates outside the operand (gathers with a fill)    pad by the fill
//   coordinates that share a loop (a diagonal)   transpose and reshape them into one, with the sum
//                      of their coefficients times the sizes behind
//   one loop           slice with its step, reverse for a negative one
//   several loops of one coordinate, each step the next one's times its count     slice, reshape
//   several others (windows)   for one loop (b, J) after the other: broadcast [n] to [J, n], pad
//                      the J * n elements to J * (n + b), reshape to [J, n + b]: row j is now the
//                      array from b * j on
//   at the end         reshape without dimensions of one index, transpose, broadcast along loops of
//                      no coordinate, reshape the digits into dimensions
//
// Parts that follow one another are put together by concatenates; what no part covers is the fill,
// by pad or broadcast.
//
// A scatter of updates, no two of which go to one element, becomes, part by part,
//
//   updates -> slice, reverse, transpose, reshape -> combined with what is there -> dynamic-update-slice
//
// into the operand, of which coordinates that share a loop are one, and a dimension with steps a > 1
// two, [n / a, a] after a pad to a multiple of a; these are undone afterwards. Into an operand that
// has one value everywhere it is a pad of the updates by that value.
//
// Who asks for it says which elements are read (query/index_structure/index_structure.h finds them). Attributes that
// promise something of the indices can be added to those that stay.
//
// Example: gather of f32[10] with the indices {7, 5, 3, 1} is c = 7, a = -2, n = 4, and becomes slice
// {[1:8:2]} and reverse.
#ifndef XLA_INDEXING_HLO_TRANSFORMS_REPLACE_INDEXED_H_
#define XLA_INDEXING_HLO_TRANSFORMS_REPLACE_INDEXED_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/transforms/moved_box.h"

namespace xla_indexing {

// Whether the boxes, disjoint ones in an array of these sizes, can be put together by concatenates:
// there is a cut between them along some dimension, and one in each of the two parts, and so on.
bool CanAssemble(const std::vector<MovedBox>& boxes, const std::vector<int64_t>& sizes,
                 bool has_fill);

// Whether the updates of a box can be written by one dynamic-update-slice in the way above.
bool CanPlace(const MovedBox& box, const std::vector<int64_t>& operand_sizes);

struct IndexedReplacement {
  std::optional<MovedPieces> gather;
  std::optional<PlacedUpdates> scatter;
  // Attributes to add, where the instruction stays.
  bool is_sorted = false;
  bool is_unique = false;
};

using IndexedReplacements = std::unordered_map<const HloInstruction*, IndexedReplacement>;

// A copy of the module, which verifies, with these replacements. InvalidArgument where the copy does
// not verify.
absl::StatusOr<std::unique_ptr<HloModule>> ReplaceIndexed(const HloModule& module,
                                                          const IndexedReplacements& replacements);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TRANSFORMS_REPLACE_INDEXED_H_

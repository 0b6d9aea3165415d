// Gathers and scatters whose indices are known, written as the operations that move elements by
// their attributes.
//
// A *box* (moved_box.h) gives coordinate k of the element that a part of the result is made of as
// c_k + a_k * d_i + runtime value. It is written as
//
//   runtime values    dynamic-slice of all that the rest spans
//   the others        slice with steps |a_k|, reverse where a_k < 0, reshape without dimensions of one index,
//                     transpose, broadcast along dimensions of no coordinate
//
// Parts that follow one another are put together by concatenates.
//
// A scatter of updates, no two of which go to one element, becomes, part by part,
//
//   updates -> slice, reverse, transpose, reshape -> combined with what is there -> dynamic-update-slice
//
// into the operand, of which a dimension with steps a > 1 is two, [n / a, a], after a pad to a multiple
// of a; these are undone afterwards. Into an operand that has one value everywhere it is a pad of the
// updates by that value.
//
// Who asks for it says which elements are read (query/index_structure/index_structure.h finds them). Attributes that
// promise something of the indices can be added to those that stay.
//
// Example: gather of f32[10] with the indices {7, 5, 3, 1} is c = 7, a = -2, and becomes slice {[1:8:2]}
// and reverse.
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

// Whether the boxes, disjoint ones in an array of these sizes, cover it and can be put together by
// concatenates: there is a cut between them along some dimension, and one in each of the two parts, and so
// on.
bool CanAssemble(const std::vector<MovedBox>& boxes, const std::vector<int64_t>& sizes);

// Whether the updates of a box can be written by one dynamic-update-slice in the way above.
bool CanPlace(const MovedBox& box, const std::vector<int64_t>& operand_sizes);

// Whether all elements of an array are one scalar of the program.
bool HasOneValue(const HloInstruction& array);

// Whether a scatter of one array puts its updates in place of what is there.
bool ReplacesElements(const HloInstruction& scatter);

struct IndexedReplacement {
  // Disjoint boxes of the result of a gather, for which CanAssemble() holds.
  std::optional<std::vector<MovedBox>> gather;
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

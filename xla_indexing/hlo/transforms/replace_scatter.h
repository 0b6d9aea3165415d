// A scatter whose indices are known, as dynamic-update-slices or a pad
// (transforms/replace_indexed.h says how).
#ifndef XLA_INDEXING_HLO_TRANSFORMS_REPLACE_SCATTER_H_
#define XLA_INDEXING_HLO_TRANSFORMS_REPLACE_SCATTER_H_

#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replacement_steps.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"

namespace xla_indexing::internal {

// Whether the updates of a box can be written by one dynamic-update-slice.
bool CanPlaceBox(const MovedBox& box, const Sizes& operand_sizes);

// Replaces the rewriter's instruction. Nothing where a size does not fit.
void ReplaceScatter(const PlacedUpdates& placed, InstructionRewriter* rewriter);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TRANSFORMS_REPLACE_SCATTER_H_

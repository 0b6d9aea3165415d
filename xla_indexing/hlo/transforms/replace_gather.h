// A gather whose indices are known, as slices, reshapes, transposes and concatenates
// (transforms/replace_indexed.h says how).
#ifndef XLA_INDEXING_HLO_TRANSFORMS_REPLACE_GATHER_H_
#define XLA_INDEXING_HLO_TRANSFORMS_REPLACE_GATHER_H_

#include <vector>

#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replacement_steps.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"

namespace xla_indexing::internal {

// Whether boxes of an array of these sizes can be put together by concatenates.
bool CanAssembleBoxes(const std::vector<MovedBox>& boxes, const Sizes& sizes, bool has_fill);

// Replaces the rewriter's instruction. Nothing where a size does not fit.
void ReplaceGather(const MovedPieces& pieces, InstructionRewriter* rewriter);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TRANSFORMS_REPLACE_GATHER_H_

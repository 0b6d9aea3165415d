// Instructions that only rename the elements of one array: every element of the result is one
// element of the operand and every element of the operand is one of the result's.
//
//   reshape      the same place in the row-major order
//   bitcast      the same place in memory: transpose to the physical order, reshape, transpose back
//   transpose    dimension i of the result is dimension dimensions[i] of the operand
//   reverse      index i becomes n - 1 - i
//
// They are applied to index sums (affine/index_algebra.h), where a chain of them cancels against
// its inverse.
#ifndef XLA_INDEXING_FUSION_REINDEXING_H_
#define XLA_INDEXING_FUSION_REINDEXING_H_

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/index_algebra.h"
#include "xla_indexing/hlo/instruction.h"

namespace xla_indexing {

using Indices = llvm::SmallVector<LinearSum, 4>;

enum class Direction { kOutputToInput, kInputToOutput };

// Whether it is one of these operations between arrays that have elements. Bitcasts between tiled
// layouts or widths may still be refused below.
bool IsReindexing(const HloInstruction& instruction);

// Replaces `indices` of an element on one side of the instruction by those of the element on the
// other side. False, with `indices` as they were, where the instruction is not a reindexing (or has
// no elements, tiles or dimensions without bound).
bool ApplyReindexing(const HloInstruction& instruction, Direction direction, IndexAlgebra& algebra,
                     Indices& indices);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_REINDEXING_H_

// Instructions that only move the elements of an array: an element of the result is at most one
// element of the operand, at an index that is a positional number (affine/internal/positional.h)
// over the digits of the result's index.
//
//   elementwise    the same index
//   reshape        the same place in the row-major order
//   bitcast        the same place in memory (hlo/internal/physical_layout.h), padding left out
//   transpose      dimension i of the result is dimension dimensions[i] of the operand
//   reverse        index i becomes n - 1 - i
//   broadcast      some of the result's indices; the others are free
//   slice          start + i * stride
//   pad            (i - low) / (interior + 1), where that is an index of the operand
//   concatenate    i - offset, where that is an index of the operand
//
// They are applied to positions, where a chain of them cancels against its inverse.
#ifndef XLA_INDEXING_FUSION_INTERNAL_REINDEXING_H_
#define XLA_INDEXING_FUSION_INTERNAL_REINDEXING_H_

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/internal/positional.h"
#include "xla_indexing/fusion/internal/restrictions.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/ops/direction.h"

namespace xla_indexing::internal {

// The indices of an element, one for each dimension.
using Indices = llvm::SmallVector<Number, 4>;

// The position that a chain has led to, over the variables of its algebra.
struct Position {
  Indices indices;
  Restrictions restrictions;

  friend bool operator==(const Position& a, const Position& b) {
    return a.indices == b.indices && a.restrictions == b.restrictions;
  }
};

// Whether the instruction is one of these operations with respect to this operand, between arrays
// that have elements. Moving a position through it may still be refused.
bool IsReindexing(const HloInstruction& instruction, int64_t operand);

enum class Reindexed {
  kMoved,
  // No element is on the other side.
  kNowhere,
  // The instruction is not a reindexing of that operand, or has no elements or dimensions without
  // bound, or the position cannot be said.
  kRefused,
};

// Replaces the position of an element on one side of the instruction by that of the element on the
// other side; leaves it in no particular state where that is not done.
Reindexed ApplyReindexing(const HloInstruction& instruction, int64_t operand, Direction direction,
                          PositionalAlgebra& algebra, Position& position);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_INTERNAL_REINDEXING_H_

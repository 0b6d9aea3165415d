// Instructions that only move the elements of an array: the elements of the operand that an element
// of the result is computed from are at indices that are positional numbers
// (affine/mixed_radix/positional.h) over the digits of the result's index and free variables.
//
//   elementwise    the same index
//   reshape        the same place in the row-major order
//   bitcast        the same place in memory (hlo/memory/physical_layout.h), padding left out
//   transpose      dimension i of the result is dimension dimensions[i] of the operand
//   reverse        index i becomes n - 1 - i
//   broadcast      some of the result's indices; the others are free
//   reduce         of one array: the result's indices; those of the reduced dimensions are free, and
//                  of the initial value all are
//   slice          start + i * stride
//   pad            (i - low) / (interior + 1), where that is an index of the operand
//   concatenate    i - offset, where that is an index of the operand
//
// They are applied to positions, where a chain of them cancels against its inverse. A free variable
// that a position does not use any more, as its index is gone, is used again for the next free
// index, so that paths that have lost different ones are equal.
#ifndef XLA_INDEXING_FUSION_CHAIN_REINDEXING_H_
#define XLA_INDEXING_FUSION_CHAIN_REINDEXING_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/mixed_radix/positional.h"
#include "xla_indexing/fusion/chain/restrictions.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::internal {

// The indices of an element, one for each dimension.
using Indices = llvm::SmallVector<Number, 4>;

// The position that a chain has led to, over the variables of its algebra. It is that for all values
// of its free variables.
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
// other side; leaves it in no particular state where that is not done. The algebra's variables from
// `num_dims` on are free.
Reindexed ApplyReindexing(const HloInstruction& instruction, int64_t operand, Direction direction,
                          int num_dims, PositionalAlgebra& algebra, Position& position);

// The positions of the variables that the indices depend on, then of the others that restrictions
// depend on, each once; those of indices that are variables come in the order of the indices.
llvm::SmallVector<int, 8> VariablesOf(llvm::ArrayRef<Number> indices,
                                      llvm::ArrayRef<Restriction> restrictions,
                                      const PositionalAlgebra& algebra);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CHAIN_REINDEXING_H_

// The dimensions of the operands of dot, scaled-dot and ragged-dot in their result.

#ifndef XLA_INDEXING_OPS_RULES_ARITHMETIC_DOT_MATCH_H_
#define XLA_INDEXING_OPS_RULES_ARITHMETIC_DOT_MATCH_H_

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::internal {

// The dimension of the result that each dimension of operand 0 or 1 is, kWholeAxis (loop_nest.h)
// for contracting dimensions and those in rhs_group_dims. From dimension `first` on the result has
// the batch dimensions in the order of the attribute, then the free ones of lhs, then those of rhs.
llvm::SmallVector<int64_t, 4> DotMatch(const HloInstruction& dot, int64_t operand,
                                       int64_t first = 0);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_ARITHMETIC_DOT_MATCH_H_

// Operations that combine many elements into one, step by step: their loops, and what one step
// reads.
//
// Mathematics. A contraction computes each element of its result by going over the steps of loops
// k_0, k_1, .. and combining what it reads at each:
//
//   dot, scaled-dot, ragged-dot   a loop for each pair of contracting dimensions
//   convolution                   the input features of a group, then the window of each dimension
//   reduce                        the reduced dimensions, in the order of the operand's
//   reduce-window                 the window of each dimension
//   scan                          the steps, where each reads one element of the scanned dimension
//
// Its *step space* has the result's dimensions and, after them, one for each loop. The map from
// there to an operand says what one step reads; going over all steps gives what the result reads.
// All operands share the loops, so that a step is the same for each of them.
//
// Example, r = f32[4,8] dot(a, b), a: f32[4,16], b: f32[16,8]: one loop of 16 steps, and
//
//   step to a   (d0, d1, d2) -> (d0, d2)
//   step to b   (d0, d1, d2) -> (d2, d1)
//
// Instructions whose loops have no end (sizes without bound) have none here.
#ifndef XLA_INDEXING_OPS_RULES_ARITHMETIC_CONTRACTION_H_
#define XLA_INDEXING_OPS_RULES_ARITHMETIC_CONTRACTION_H_

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"

namespace xla_indexing::internal {

// The sizes of the loops; empty for what is no contraction.
llvm::SmallVector<int64_t, 2> ContractionLoops(const HloInstruction& instruction);

// The maps from the step space of a contraction to its operands, simplified, with the options that
// its maps from output to input, `entries`, were made with.
InstructionIndexing ContractionSteps(const HloInstruction& instruction,
                                     const InstructionIndexing& entries, mlir::MLIRContext* context,
                                     const IndexingOptions& options = {});

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_ARITHMETIC_CONTRACTION_H_

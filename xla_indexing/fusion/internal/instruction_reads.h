// The indexing maps from the result of a computation to all of its instructions.
//
//   instruction reads   from an element of a leaf of the root to the elements of a leaf of an
//                       instruction, of the computation itself, that it is computed from
//
// The root has the identity, and parameters have what HloIndexer gives. In between, the maps of
// operands are composed as in fusion/hlo_indexer.h: paths that come to the same map count once, and
// more than `max_maps` maps are widened, labelled so.
//
// Example: in reduce(exp(p0)) over dimension 1, exp and p0 are read through (d0)[s0] -> (d0, s0).
//
// Errors. InvalidArgument where the root has no such leaf; ResourceExhausted where composing takes
// more than `max_steps` steps.
#ifndef XLA_INDEXING_FUSION_INTERNAL_INSTRUCTION_READS_H_
#define XLA_INDEXING_FUSION_INTERNAL_INSTRUCTION_READS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/fusion_options.h"
#include "xla_indexing/fusion/internal/traversal_source.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing::internal {

// The reads of those instructions that the leaf, an array, depends on: the root first, and each
// instruction after all of its users.
absl::StatusOr<std::vector<InstructionReads>> ComputeInstructionReads(
    const HloComputation& computation, int64_t output_leaf, mlir::MLIRContext* context,
    const FusionOptions& options = {});

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_INTERNAL_INSTRUCTION_READS_H_

// The entries of a computation, a walk for each leaf that is asked for.
#ifndef XLA_INDEXING_FUSION_INTERNAL_INDEX_COMPUTATION_H_
#define XLA_INDEXING_FUSION_INTERNAL_INDEX_COMPUTATION_H_

#include <optional>

#include "absl/status/statusor.h"
#include "xla_indexing/fusion/internal/called_computations.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/ops/direction.h"
#include "xla_indexing/ops/indexing_entry.h"

namespace xla_indexing::internal {

// What HloIndexer::Index gives for a computation.
absl::StatusOr<InstructionIndexing> IndexComputation(const HloComputation& computation,
                                                     Direction direction,
                                                     std::optional<OperandLeaf> from,
                                                     CalledComputations* called);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_INTERNAL_INDEX_COMPUTATION_H_

// The entries of a computation, a walk for each leaf that is asked for.
#ifndef XLA_INDEXING_FUSION_CACHE_INDEX_COMPUTATION_H_
#define XLA_INDEXING_FUSION_CACHE_INDEX_COMPUTATION_H_

#include <optional>

#include "absl/status/statusor.h"
#include "xla_indexing/fusion/cache/called_computations.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::internal {

// What HloIndexer::Index gives for a computation.
absl::StatusOr<InstructionIndexing> IndexComputation(const HloComputation& computation,
                                                     Direction direction,
                                                     std::optional<OperandLeaf> from,
                                                     CalledComputations* called);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CACHE_INDEX_COMPUTATION_H_

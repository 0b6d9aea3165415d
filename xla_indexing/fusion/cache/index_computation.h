// The entries of a computation, a walk for each leaf that is asked for.
#ifndef XLA_INDEXING_FUSION_CACHE_INDEX_COMPUTATION_H_
#define XLA_INDEXING_FUSION_CACHE_INDEX_COMPUTATION_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/fusion/cache/called_computations.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::internal {

// What HloIndexer::Index gives for a computation.
absl::StatusOr<InstructionIndexing> IndexComputation(const HloComputation& computation,
                                                     Direction direction,
                                                     std::optional<OperandLeaf> from,
                                                     CalledComputations* called);

// InvalidArgument if the instruction, `what` of a computation, has no such leaf.
absl::Status CheckLeaf(absl::string_view what, const HloInstruction& instruction, int64_t leaf);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CACHE_INDEX_COMPUTATION_H_

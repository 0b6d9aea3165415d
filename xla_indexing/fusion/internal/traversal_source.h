// What a walk over a computation needs from whoever starts it.
#ifndef XLA_INDEXING_FUSION_INTERNAL_TRAVERSAL_SOURCE_H_
#define XLA_INDEXING_FUSION_INTERNAL_TRAVERSAL_SOURCE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/fusion/internal/reachability.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/ops/direction.h"
#include "xla_indexing/ops/indexing_entry.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing::internal {

class TraversalSource {
 public:
  virtual ~TraversalSource() = default;

  // The entries of one leaf of the result, or of one leaf of an operand, of an instruction that is
  // met at this depth of calls.
  virtual absl::StatusOr<InstructionIndexing> EntriesOf(const HloInstruction& instruction,
                                                        Direction direction, OperandLeaf from,
                                                        int depth) = 0;
  // What all elements of a leaf of the result read together, as maps from a scalar; entries of other
  // leaves are of no meaning.
  virtual absl::StatusOr<SharedIndexing> ReadByAllOf(const HloInstruction& instruction,
                                                     int64_t leaf, int depth) = 0;
  // Whether a walk steps through the computation where it is called instead of taking its maps.
  virtual bool IsTraversedWhereCalled(const HloComputation& computation) = 0;
  // The devices that operations across replicas in the computation, or called there, lead to; none
  // where it stays on its device.
  virtual Interval DevicesOf(const HloComputation& computation) = 0;
  virtual const Reachability& ReachabilityOf(const HloComputation& computation,
                                             Direction direction) = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_INTERNAL_TRAVERSAL_SOURCE_H_

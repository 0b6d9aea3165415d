// What a walk over a computation needs from whoever starts it.
#ifndef XLA_INDEXING_FUSION_WALK_TRAVERSAL_SOURCE_H_
#define XLA_INDEXING_FUSION_WALK_TRAVERSAL_SOURCE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/fusion/walk/reachability.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/decisions/value_origins.h"
#include "xla_indexing/ops/values/element_value.h"

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
  // Facts about the values that decide reads; null if these are not asked for
  // (IndexingOptions::dependence).
  virtual ValueOrigins* Origins() = 0;
  // What is known of loops.
  virtual const ValueEnvironment& Loops() = 0;
  // Whether values decide which elements an instruction reads, so that its maps say it and not what kind
  // of operation it is.
  virtual bool MayDecideReads(const HloInstruction& instruction) = 0;
  // The devices that operations across replicas in the computation, or called there, lead to; none
  // where it stays on its device.
  virtual Interval DevicesOf(const HloComputation& computation) = 0;
  virtual const Reachability& ReachabilityOf(const HloComputation& computation,
                                             Direction direction) = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_WALK_TRAVERSAL_SOURCE_H_

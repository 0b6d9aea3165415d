// The walk over a computation that composes the maps of its instructions; see
// computation_indexing.h.
#ifndef XLA_INDEXING_FUSION_WALKER_H_
#define XLA_INDEXING_FUSION_WALKER_H_

#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/called_computations.h"
#include "xla_indexing/fusion/computation_indexing.h"
#include "xla_indexing/fusion/path.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {

// One computation on the way into called ones: the instruction that calls it, in the frame before.
struct Frame {
  const Frame* caller_frame = nullptr;
  const HloInstruction* caller = nullptr;  // null in the analysed computation
  int depth = 0;
};

class Walker {
 public:
  // For walks that start from an array of shape `start`. Keeps references to all of them.
  Walker(mlir::MLIRContext* context, const FusionOptions& options, Direction direction,
         const Shape& start, CalledComputations* called);

  // Paths by leaf of an instruction.
  using LeafPaths = std::map<int64_t, PathSet>;

  // Output to input: from leaves of the root to leaves of the parameters, by parameter number.
  // Input to output: from leaves of the parameters to leaves of the root, under number 0.
  absl::Status WalkComputation(const HloComputation& computation, const Frame& frame,
                               const std::map<int64_t, LeafPaths>& start,
                               std::map<int64_t, LeafPaths>* end);

  // Takes the paths at the result of an instruction to its operands, by operand number.
  absl::Status StepToOperands(const HloInstruction& instruction, const Frame& frame,
                              LeafPaths& paths, std::map<int64_t, LeafPaths>* end);
  // Takes the paths at one operand of an instruction to its result.
  absl::Status StepToResult(const HloInstruction& instruction, const Frame& frame, int64_t operand,
                            LeafPaths& paths, LeafPaths* end);

 private:
  bool LooksInto(const HloInstruction& instruction, const Frame& frame) const;
  // Takes every path on through the maps of one entry.
  void Apply(const IndexingEntry& entry, const Shape& from, const Shape& to, const Frame& frame,
             const PathSet& paths, PathSet* end);
  // What a map inside a called computation is bound to, as seen from the analysed computation.
  OperandIndexingSet SeenFromOutside(const OperandIndexingSet& set, const Frame& frame) const;
  // Merges or widens a set that has grown.
  void Bound(const HloInstruction& instruction, int64_t leaf, PathSet& paths) const;
  // The options for one instruction that is met in this frame.
  IndexingOptions OptionsIn(const Frame& frame) const;

  mlir::MLIRContext* context_;
  const FusionOptions& options_;
  Direction direction_;
  // The shape of the leaf that the walk started from, for widening.
  const Shape& start_shape_;
  CalledComputations& called_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_WALKER_H_

// Copies of instructions and computations in another module.
//
// Example, a copy of a reduce and of its combiner:
//
//   ComputationCopier copier(&module);
//   copier.CopyCalled({reduce});
//   HloComputation* computation = module.AddComputation("view");
//   ..
//   HloInstruction* copy = copier.CopyInstruction(*reduce, "r", {p, init}, computation);
//   copier.RedirectComputations(copy);

#ifndef XLA_INDEXING_HLO_TRANSFORMS_COMPUTATION_COPIER_H_
#define XLA_INDEXING_HLO_TRANSFORMS_COMPUTATION_COPIER_H_

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::internal {

// Adds an instruction with other operands and perhaps another name to a computation. The attributes
// still name the computations of the original. Control predecessors are those of the original, or
// left out.
enum class ControlPredecessors { kAsTheyAre, kLeftOut };
HloInstruction* CopyInstruction(const HloInstruction& original, absl::string_view name,
                                absl::Span<const HloInstruction* const> operands,
                                ControlPredecessors control, HloComputation* computation);

class ComputationCopier {
 public:
  explicit ComputationCopier(HloModule* module) : module_(module) {}

  // Adds the copy of an instruction, of which these are the operands, to the end of `copy`.
  using AddCopy = absl::FunctionRef<absl::StatusOr<HloInstruction*>(
      const HloInstruction& original, absl::Span<const HloInstruction* const> operands,
      HloComputation* copy)>;

  // Adds a copy of a computation that calls only computations that are copied already. Errors are
  // those of `add_copy`.
  absl::StatusOr<HloComputation*> Copy(const HloComputation& computation, AddCopy add_copy);
  // As it is.
  HloComputation* Copy(const HloComputation& computation);
  // Adds copies of the computations that the instructions call, and of those that these call, in
  // the order of their module.
  void CopyCalled(absl::Span<const HloInstruction* const> instructions);

  // Makes the computations that an instruction names those of the copy.
  void RedirectComputations(HloInstruction* instruction) const;

  // Takes a computation that somebody else wrote for the copy.
  void SetCopy(const HloComputation& computation, HloComputation* copy) {
    copies_[&computation] = copy;
  }
  HloComputation* CopyOf(const HloComputation* computation) const {
    return copies_.at(computation);
  }

 private:
  HloModule* module_;
  absl::flat_hash_map<const HloComputation*, HloComputation*> copies_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TRANSFORMS_COMPUTATION_COPIER_H_

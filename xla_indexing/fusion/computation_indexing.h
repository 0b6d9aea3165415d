// The indexing maps of whole computations and fusions.
//
//   output to input   from an element of a leaf of the root to the elements of the parameters that
//   it
//                     is computed from
//   input to output   from an element of a leaf of a parameter to the elements of the root that it
//   is
//                     used for
//
// The maps of the instructions on every path between root and parameter are composed and
// simplified; paths that come to the same map count once, so that a parameter has as many maps as
// there are ways in which it is read.
//
// Method. One walk over the instructions, from the root in reverse topological order (or from the
// parameters in topological order), that carries for every instruction leaf the set of maps from
// the start to it. Instructions that only move elements (reshape, transpose, reverse, bitcast) or
// keep them in place (elementwise) extend a *chain* of reindexings (affine/positional.h), in
// which a step and its inverse cancel; other instructions compose. The cost is linear in
// instructions times maps.
//
// Bound. The number of maps can grow exponentially in hostile graphs. Past `max_maps` for an
// instruction leaf they are widened to the whole leaf, over-approximate, with the bound in the
// reason. The steps of a walk, maps taken through an instruction, are bounded by a share of
// `max_steps`; what a walk that is stopped has not come to yet it answers by reachability
// (fusion/reachability.h): whole leaves, over-approximate.
//
// Example (the document's p0 + transpose(p0)): parameter 0 is read through
//   (d0, d1) -> (d0, d1) and (d0, d1) -> (d1, d0).
//
// Source: the indexing analysis of XLA, "Indexing Maps for Fusion".
#ifndef XLA_INDEXING_FUSION_COMPUTATION_INDEXING_H_
#define XLA_INDEXING_FUSION_COMPUTATION_INDEXING_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {

struct FusionOptions {
  // As for single instructions; `computations` is ignored, called computations are looked into.
  IndexingOptions indexing;
  // The most maps from the start to one leaf of one instruction.
  int max_maps = 256;
  // How many maps one call of the functions below takes through instructions. The leaves that it
  // asks for share them equally, and what some leave over; a computation that is walked on its own
  // (the body of a loop, a branch) has an eighth as many for all its leaves.
  int64_t max_steps = 2500000;
  // How deep called computations may nest; deeper ones are read whole, over-approximate.
  int max_call_depth = 64;
  // A walk steps through a computation that is called where it has no more instructions than this,
  // with those of the computations it calls, each counting as often as it is called. Larger ones
  // are walked on their own, once, and their maps taken wherever they are called.
  int64_t max_called_instructions = 20000;
};

// Entries between the leaves of the root (output_leaf) and the leaves of the parameters (operand:
// the parameter's number), simplified, sorted as in InstructionIndexing. All of them, or those of
// one leaf of the root or one leaf of one parameter; InvalidArgument where there is no such leaf.
absl::StatusOr<InstructionIndexing> ComputeOutputToInputIndexing(
    const HloComputation& computation, mlir::MLIRContext* context,
    const FusionOptions& options = {}, std::optional<int64_t> output_leaf = std::nullopt);
absl::StatusOr<InstructionIndexing> ComputeInputToOutputIndexing(
    const HloComputation& computation, mlir::MLIRContext* context,
    const FusionOptions& options = {}, std::optional<OperandLeaf> parameter_leaf = std::nullopt);

// The indexing of one instruction that looks into the computations it calls; otherwise as the
// functions of ops/instruction_indexing.h.
absl::StatusOr<InstructionIndexing> ComputeOutputToInputIndexingThroughCalls(
    const HloInstruction& instruction, mlir::MLIRContext* context,
    const FusionOptions& options = {});
absl::StatusOr<InstructionIndexing> ComputeInputToOutputIndexingThroughCalls(
    const HloInstruction& instruction, mlir::MLIRContext* context,
    const FusionOptions& options = {});

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_COMPUTATION_INDEXING_H_

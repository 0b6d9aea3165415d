// The indexing maps of one HLO instruction, in both directions.
//
//   output to input   for an element of a leaf of the result: the elements of the operands' leaves
//                     that it is computed from
//   input to output   for an element of a leaf of an operand: the elements of the result that it is
//                     used for; the converse relation
//
// Leaves are the arrays of a shape numbered depth first (hlo/shape.h). The answer is a sparse list:
// pairs of leaves between which there is no map are left out, so that a tuple of n operands has n
// entries.
//
// The instruction must be one that the verifier accepts (hlo/verifier.h): shapes and attributes
// agree.
//
// Example: dot = f32[4,8] dot(a, b), a: f32[4,16], b: f32[16,8]:
//
//   ComputeOutputToInputIndexing(*dot, 0, &context).value()
//     {output_leaf 0, operand 0, operand_leaf 0, {(d0, d1)[s0] -> (d0, s0), ..}}
//     {output_leaf 0, operand 1, operand_leaf 0, {(d0, d1)[s0] -> (s0, d1), ..}}
//
// Source of the definitions: XLA's operation semantics; the forms of the maps are those of XLA's
// indexing analysis. docs/operations.md has a row for each operation.

#ifndef XLA_INDEXING_OPS_INSTRUCTION_INDEXING_H_
#define XLA_INDEXING_OPS_INSTRUCTION_INDEXING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing {

class ComputationIndexer;
struct LoopMemo;
class CustomCallRegistry;

// What a scatter does with a window that is partly outside its operand.
enum class ScatterBounds {
  kWindow,   // Drops the whole window: HLO.
  kElement,  // Drops the elements that are outside: StableHLO.
};

struct IndexingOptions {
  // The tightest maps there are: where one map is larger than the set it stands for (the operand of
  // a dynamic-update-slice or of a scatter that replaces, the value of a pad), disjoint exact
  // pieces instead.
  bool exact = false;
  ScatterBounds scatter_bounds = ScatterBounds::kWindow;
  // Runtime variables whose value the module fixes are replaced by expressions
  // (ops/fold_runtime.h).
  bool fold_runtime_variables = true;
  // Gives the maps of called computations. Without it what calls one reads its whole operands,
  // over-approximate; where there is a reason why it is missing, that is said with it.
  ComputationIndexer* computations = nullptr;
  std::string why_no_computations = {};
  // The rules for custom calls (ops/custom_call_registry.h); null: the library's.
  const CustomCallRegistry* custom_calls = nullptr;
};

// The maps between one leaf of the result and one leaf of one operand. Output to input: dimensions
// are those of the output leaf, results index the operand leaf. Input to output: the reverse.
struct IndexingEntry {
  int64_t output_leaf = 0;
  int64_t operand = 0;  // For a computation: the parameter's number.
  int64_t operand_leaf = 0;
  OperandIndexingSet indexing;
};

// Sorted by output leaf, operand, operand leaf. No entry has an empty set.
using InstructionIndexing = std::vector<IndexingEntry>;

void SortEntries(InstructionIndexing* entries);

// The entries of one leaf of the result. InvalidArgument where the result has no such leaf;
// otherwise errors come from `options.computations` only.
absl::StatusOr<InstructionIndexing> ComputeOutputToInputIndexing(
    const HloInstruction& instruction, int64_t output_leaf, mlir::MLIRContext* context,
    const IndexingOptions& options = {});

// The entries of one leaf of one operand.
absl::StatusOr<InstructionIndexing> ComputeInputToOutputIndexing(
    const HloInstruction& instruction, int64_t operand, int64_t operand_leaf,
    mlir::MLIRContext* context, const IndexingOptions& options = {});

// All entries of an instruction, in time linear in the result (and the number of leaves).
absl::StatusOr<InstructionIndexing> ComputeOutputToInputIndexing(
    const HloInstruction& instruction, mlir::MLIRContext* context,
    const IndexingOptions& options = {});
absl::StatusOr<InstructionIndexing> ComputeInputToOutputIndexing(
    const HloInstruction& instruction, mlir::MLIRContext* context,
    const IndexingOptions& options = {});

// As many entries there are at most, in either direction: the leaves that are passed on, or the
// pairs of a leaf of the result and a leaf of an operand.
int64_t MostEntries(const HloInstruction& instruction);

// The leaves of these operands (of an instruction; or the parameters of a computation) that no
// entry speaks of: nothing of them is read (or they go nowhere).
struct OperandLeaf {
  int64_t operand = 0;
  int64_t operand_leaf = 0;

  friend bool operator==(const OperandLeaf& a, const OperandLeaf& b) = default;
};
std::vector<OperandLeaf> UnreadOperandLeaves(absl::Span<const HloInstruction* const> operands,
                                             const InstructionIndexing& entries);

// Every element of `to` for every element of `from`, over-approximate with this reason: what is
// said of an operation that is not analysed, and what a map that grew too large is widened to.
// Dimensions of `from` are the map's dimensions; a range variable for each dimension of `to` that
// has more than one element.
OperandIndexing WholeTensorIndexing(const Shape& from, const Shape& to, std::string reason,
                                    mlir::MLIRContext* context);

// (d0, d1, ..) -> (d0, d1, ..) over the indices of an array.
OperandIndexing IdentityIndexing(const Shape& shape, mlir::MLIRContext* context);

// A computation and how it is called: its parameter p is operand `first_operand + p` of the caller.
// Without `first_operand` parameters are no operands (the state of a loop after its first
// iteration).
struct CalledComputation {
  const HloInstruction& caller;
  const HloComputation& computation;
  std::optional<int64_t> first_operand = 0;
};

// What operations that call computations need to know of them. Implemented by fusion/, which walks
// the computation; declared here, so that the operations can be said where the others are.
//
// Entries are between the leaves of the computation's root (output_leaf) and its parameters
// (operand: the parameter's number, operand_leaf: a leaf of it), simplified, sorted as in
// InstructionIndexing. Bindings are those seen from the computation that the caller is in
// (ops/call_scope.h). The options are those that the indexer was made with.
class ComputationIndexer {
 public:
  virtual ~ComputationIndexer() = default;

  // The entries of one leaf of the root.
  virtual absl::StatusOr<InstructionIndexing> OutputToInput(const CalledComputation& called,
                                                            int64_t output_leaf) = 0;

  // The entries of one leaf of one parameter.
  virtual absl::StatusOr<InstructionIndexing> InputToOutput(const CalledComputation& called,
                                                            OperandLeaf parameter_leaf) = 0;

  // The leaves of parameters that entries of a leaf of the root can be about, and those of the root
  // that entries of a leaf of a parameter can; without making any map.
  virtual std::vector<OperandLeaf> LeavesRead(const HloComputation& computation,
                                              int64_t output_leaf) = 0;
  virtual std::vector<OperandLeaf> LeavesReached(const HloComputation& computation,
                                                 OperandLeaf parameter_leaf) = 0;

  // What is known of a loop, met where the indexer was asked for last, for its other leaves.
  virtual LoopMemo& MemoOf(const HloInstruction& loop, bool forward) = 0;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_INSTRUCTION_INDEXING_H_

// The indexing maps of one HLO instruction, in both directions.
//
//   output to input   for an element of a leaf of the result: the elements of the operands' leaves
//                     that it is computed from
//   input to output   for an element of a leaf of an operand: the elements of the result that it is
//                     used for; the converse relation
//
// Leaves are the arrays of a shape numbered depth first (hlo/types/shape.h). The answer is a sparse list:
// pairs of leaves between which there is no map are left out, so that a tuple of n operands has n
// entries.
//
// The instruction must be one that the verifier accepts (hlo/verify/verifier.h): shapes and attributes
// agree.
//
// Example: dot = f32[4,8] dot(a, b), a: f32[4,16], b: f32[16,8]:
//
//   ComputeIndexing(*dot, Direction::kOutputToInput, &context).value()
//     {output_leaf 0, operand 0, operand_leaf 0, {(d0, d1)[s0] -> (d0, s0), ..}}
//     {output_leaf 0, operand 1, operand_leaf 0, {(d0, d1)[s0] -> (s0, d1), ..}}
//
// Source of the definitions: XLA's operation semantics; the forms of the maps are those of XLA's
// indexing analysis. docs/operations.md has a row for each operation.
#ifndef XLA_INDEXING_OPS_INSTRUCTION_INDEXING_H_
#define XLA_INDEXING_OPS_INSTRUCTION_INDEXING_H_

#include <optional>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"

namespace xla_indexing::internal {

// All entries of an instruction, in time linear in the answer and the number of leaves, or those
// that start at one leaf: of an operand, or, with operand 0, of the result. Who simplifies them asks
// for values instead of dimensions of one element. InvalidArgument where there is no such leaf;
// all other errors come from `options.computations`.
absl::StatusOr<InstructionIndexing> ComputeIndexing(const HloInstruction& instruction,
                                                    Direction direction, mlir::MLIRContext* context,
                                                    const IndexingOptions& options = {},
                                                    std::optional<OperandLeaf> from = std::nullopt,
                                                    OneValued one_valued = OneValued::kVariables);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INSTRUCTION_INDEXING_H_

// What the indices of gathers and scatters say: which movement a gather or scatter is, and what it
// may promise of its indices.
//
// Mathematics. Indices that fold (iota, constants, arithmetic, clamps) leave maps without runtime
// variables, pieces with disjoint domains of
//
//   gather     element d of the result  ->  element of the operand that it is
//   scatter    element u of the updates ->  element of the operand that it goes to
//
// A piece is a *box* where each coordinate is c + a * d_i of a dimension of its own, or constant:
//
//   slice          a = 1            strided slice   |a| > 1        reverse     a < 0
//   transpose      the dimensions run in another order             broadcast   a dimension in none
//   copy           nothing of that
//
// A chain of these is named in this order. Others have a name and stay: a *diagonal* (a dimension in two
// coordinates) and a *stencil* (several dimensions in one coordinate: overlapping windows). Boxes that
// follow one another are a concatenation, where cuts between them can put them together. A box at a
// runtime start that is one value for all elements, and never leads outside, is a dynamic-slice; at one
// that is one value for each batch element, a batch of dynamic-slices.
//
// A scatter no two updates of which go to one element places boxes of its updates: it is a
// dynamic-update-slice where it replaces, or several, perhaps strided; a pad where it is into an array of
// one value; and where it combines an accumulation over disjoint windows. With one
// runtime start in each batch element, where windows are inside, it is a batch of
// dynamic-update-slices.
//
// The index vectors v(b), over the batch indices b in row-major order, and the windows there are
//
//   sorted       v(b) <= v(b') for b < b', compared in the order of the operand's dimensions
//   unique       no two updates go to one element (more than: no two vectors are equal)
//   in bounds    every window is inside: no clamp acts, nothing is dropped
//
// They are questions of emptiness about pairs (b, b') (map/sets/domain.h), also where a part is a runtime
// value: an iota plus an unknown offset is sorted. "No" says that some indices are not so; where they
// depend on runtime values, that is undecided, since it is so for some values only. There is a
// condition then where all windows are inside for an interval of each value: the greatest around
// values for which starts are sums that do not wrap. What a gather or scatter is called under a
// condition is what it is for those values.
//
// Example: gather of f32[10] at {7, 5, 3, 1} is a strided slice, reverse; not sorted; in bounds. At
// p + iota[4] it is a dynamic-slice where p in [0, 6].
//
// Errors. InvalidArgument for an instruction that HasIndexStructure() says nothing of; those of
// fusion/hlo_indexer.h and fusion/fusion_view.h.
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_STRUCTURE_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_STRUCTURE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"

namespace xla_indexing {

// A gather, or a scatter of one array.
bool HasIndexStructure(const HloInstruction& instruction);

absl::StatusOr<IndexStructure> IndexStructureOf(const HloInstruction& instruction,
                                                mlir::MLIRContext* context);
// For those who ask about one instruction after another; answers are equal. Likewise below.
absl::StatusOr<IndexStructure> IndexStructureOf(const HloInstruction& instruction,
                                                HloIndexers& indexers);

struct InstructionIndices {
  const HloInstruction* instruction;
  IndexStructure structure;
};

// Those of all instructions that have one, in the order of the computation.
absl::StatusOr<std::vector<InstructionIndices>> IndexStructuresOf(const HloComputation& computation,
                                                                  mlir::MLIRContext* context);

absl::StatusOr<std::vector<InstructionIndices>> IndexStructuresOf(const HloComputation& computation,
                                                                  HloIndexers& indexers);

// Those of a view, whose indices may be computed in the fusions and calls that it looks into, or by
// the producers that it takes in. Instructions are the originals; there is nothing to replace, since
// what holds of the view may not hold wherever the original is called.
absl::StatusOr<std::vector<InstructionIndices>> IndexStructuresOf(const FusionView& view,
                                                                  mlir::MLIRContext* context);
absl::StatusOr<std::vector<InstructionIndices>> IndexStructuresOf(const FusionView& view,
                                                                  HloIndexers& indexers);

// An instruction, such as a fusion, with all that computes integers for it.
absl::StatusOr<FusionView> ViewWithIndices(const HloInstruction& instruction);

// A copy of the module, which verifies, in which all gathers and scatters that can be replaced are,
// and the others have the attributes that hold. Its maps and its values are equal.
absl::StatusOr<std::unique_ptr<HloModule>> RewriteIndices(const HloModule& module,
                                                          mlir::MLIRContext* context);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_STRUCTURE_H_

// What the indices of gathers and scatters say: which movement a gather or scatter is, and what it
// may promise of its indices.
//
// Mathematics. Indices that fold (iota, constants, arithmetic, clamps) leave maps without runtime
// variables, pieces with disjoint domains of
//
//   gather     element d of the result  ->  element of the operand that it is
//   scatter    element u of the updates ->  element of the operand that it goes to
//
// A piece is a *box* where each coordinate is c + a * d_i, of a dimension of its own or none, over
// all d in a box:
//
//   slice          a = 1            strided slice   |a| > 1        reverse     a < 0
//   transpose      the dimensions run in another order             broadcast   a dimension in none
//   copy           nothing of that
//
// A chain of these is named in this order. Not boxes, but named, are a *diagonal* (a dimension in two
// coordinates) and a *stencil* (two dimensions in one coordinate: overlapping or neighbouring
// windows). Several pieces whose domains follow one another along a dimension are a concatenation;
// a pad at the edges is one of repeated elements. A scatter that is a box with a = 1 and replaces is a
// dynamic-update-slice; one that combines is an accumulation, over disjoint windows where no two
// updates meet. A gather whose start is one runtime value for all elements is a dynamic-slice.
//
// The index vectors v(b), over the batch indices b in row-major order, and the windows there are
//
//   sorted       v(b) <= v(b') for b < b', compared in the order of the operand's dimensions
//   unique       no two updates go to one element (more than: no two vectors are equal)
//   in bounds    every window is inside: no clamp acts, nothing is dropped
//
// They are questions of emptiness about pairs (b, b') (map/domain.h), also where a part is a runtime
// value: an iota plus an unknown offset is sorted. "No" says that some indices are not so; where they
// depend on runtime values, that is undecided, since it is so for some values only.
//
// Example: gather of f32[10] at {7, 5, 3, 1} is a strided slice, reverse; not sorted; in bounds.
//
// Errors. InvalidArgument for an instruction that is neither a gather nor a scatter of one array;
// those of fusion/hlo_indexer.h.
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/transforms/replace_indexed.h"
#include "xla_indexing/map/decision.h"

namespace xla_indexing {

enum class IndexedForm : uint8_t {
  kUnrecognised,
  kBox,  // a chain of movements, `movements`
  kDiagonal,
  kStencil,
  kConcatenation,  // of boxes
  kDynamicSlice,   // at one runtime start
  kUpdate,         // a scatter that replaces a box
  kAccumulation,   // a scatter that combines
};

struct IndexProperty {
  Answer holds = Answer::kUndecided;
  std::string reason;  // in one line
};

struct IndexStructure {
  IndexedForm form = IndexedForm::kUnrecognised;
  // `strided slice, reverse`; `concatenation of 2: slice; slice`; `unrecognised`.
  std::string name;
  std::string reason;
  IndexProperty sorted;
  IndexProperty unique;  // of a scatter
  IndexProperty in_bounds;
  // What it can be replaced by, with the attributes that hold and are not there yet.
  IndexedReplacement replacement;

  bool IsReplaceable() const {
    return replacement.gather || replacement.scatter || replacement.is_sorted ||
           replacement.is_unique;
  }
};

bool HasIndexStructure(const HloInstruction& instruction);

absl::StatusOr<IndexStructure> IndexStructureOf(const HloInstruction& instruction,
                                                mlir::MLIRContext* context);

// A copy of the module, which verifies, in which all gathers and scatters that can be replaced are,
// and the others have the attributes that hold. Its maps and its values are equal.
absl::StatusOr<std::unique_ptr<HloModule>> RewriteIndices(const HloModule& module,
                                                          mlir::MLIRContext* context);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_H_

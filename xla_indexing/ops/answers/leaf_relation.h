// Composes and rewrites relations between leaves without errors: what cannot be expressed becomes
// the whole leaf, or unknown.

#ifndef XLA_INDEXING_OPS_ANSWERS_LEAF_RELATION_H_
#define XLA_INDEXING_OPS_ANSWERS_LEAF_RELATION_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// About how many steps (base/question_budget.h) it takes to simplify what maps were composed to.
size_t StepsToSimplify(const IndexingMap& map);

// Every map of `first`, from an array of shape `from`, composed with every map of `second`, to an
// array of shape `to`; simplified. A map that passes a bound of affine/expr/build.h becomes
// every element of `to`, over-approximate.
OperandIndexingSet ComposeOrWiden(const OperandIndexingSet& first, const OperandIndexingSet& second,
                                  const Shape& from, const Shape& to, mlir::MLIRContext* context);

// `indexing`, which says something, with other results over its variables.
OperandIndexing WithResults(const OperandIndexing& indexing,
                            llvm::ArrayRef<mlir::AffineExpr> results);

// How the variables of a map are renamed.
struct Renaming {
  // The new variables; runtime variables are those of the map at these positions.
  Variables dims;
  Variables ranges;
  llvm::SmallVector<int, 4> runtimes;
  // Unless this is null, there is one more before them, with these values: how often it runs.
  const HloInstruction* iterations_of = nullptr;
  Variable iterations = {};
  // What takes the place of the dimensions, the reader of a replica map after them, and of the
  // symbols; null keeps a variable.
  llvm::SmallVector<mlir::AffineExpr, 8> for_dims;
  llvm::SmallVector<mlir::AffineExpr, 8> for_symbols;
  // Results are left out at the front, and then these added there.
  int results_dropped = 0;
  llvm::SmallVector<mlir::AffineExpr, 1> results_added;
  Constraints constraints_added;
};

// `indexing` with its variables renamed; unknown where that passes a bound of
// affine/expr/build.h.
OperandIndexing Renamed(const OperandIndexing& indexing, Renaming renaming);

// `indexing` with range variables in these intervals instead of some of its runtime variables,
// one interval or none for each of them; unknown where that passes a bound of
// affine/expr/build.h.
OperandIndexing WithRanges(const OperandIndexing& indexing,
                           const std::vector<std::optional<Interval>>& intervals);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_ANSWERS_LEAF_RELATION_H_

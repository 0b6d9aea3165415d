// What of an operation's maps is left where values decide that elements do not matter
// (IndexingOptions::dependence):
//
//   select         a value is read where the predicate chooses it, and the predicate where the values
//                  differ
//   dot, multiply  a factor is read where the other one is not 0 for certain
//   convolution    the input is read where the kernel is not 0 for certain
//   scatter        an element is read where no update takes its place, and an index vector where its window
//                  may go, as far as its components are known
//   elementwise    an operand is read where the result cannot be told without it
//                  (ops/values/cases/sure_values.h)
//
// Values are found by ops/values/element_value.h, case by case. Conditions on scalars that are not
// known, such as a position in a cache, or the number of an iteration, stay as runtime variables. So do, in a
// computation that is called, the predicate of a select and whether a factor is 0, since its callers may know
// more, until nobody does (DropPredicates). A map of which a value that the module fixes was not found is
// over-approximate.
//
// Example: select(compare(iota, 5), x, 0) of f32[10] depends on x: (d0) -> (d0), d0 in [0, 4].
#ifndef XLA_INDEXING_OPS_DECISIONS_DEPENDENCE_H_
#define XLA_INDEXING_OPS_DECISIONS_DEPENDENCE_H_

#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/decisions/value_origins.h"

namespace xla_indexing::internal {

// Restricts the entries of an instruction to what its value depends on; false if they stay as they are.
bool RestrictToDependence(const HloInstruction& instruction, Direction direction,
                          ScatterBounds scatter_bounds, ValueOrigins& origins,
                          mlir::MLIRContext* context, InstructionIndexing* entries);

// Whether values decide what an instruction reads, or were not found although they may.
bool AreReadsDecided(const HloInstruction& instruction, ScatterBounds scatter_bounds,
                     ValueOrigins& origins, mlir::MLIRContext* context);

// Whether there are predicates, of selects or of factors, that callers may decide.
bool HasPredicate(const OperandIndexingSet& set);
// Looks again at predicates, in maps that are seen from a caller. Those that are not known are dropped, but for
// what callers of its computation may know.
void DecidePredicates(ValueOrigins& origins, OperandIndexingSet* set);
// Drops all that are left, since nobody knows more, and simplifies what has changed.
void DropPredicates(ValueOrigins& origins, InstructionIndexing* entries);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_DECISIONS_DEPENDENCE_H_

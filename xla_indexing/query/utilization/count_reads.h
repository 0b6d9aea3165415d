// How many elements maps of an operand read, and how often.
//
// Mathematics. For maps f_k(d, s, rt) over X_k, with d the element of the output,
//
//   elements read   | { f_k(d, s, rt) : some k, (d, s, rt) in X_k } |
//   reads           sum over k of | { (d, f_k(d, s, rt)) : some s, (d, s, rt) in X_k } |
//
// where rt are the values that bindings read. They are not known, so that each count is an
// interval: the least and the greatest count over all contents of the tensors that bindings name.
// Where both are equal, the count does not depend on these values. The interval is found as
// follows:
//
//   - A variable that only moves the results (r = g(d, s) + c*rt, no constraint) changes neither
//     the number of elements of one map, where it has one value for all points, nor the number of
//     reads, where it has one for each d.
//   - d - rt in [a, b], where rt + [a, b] is within d's interval, is d' in [a, b] with d = d' + rt.
//     Here rt may depend on other dimensions, but not on this one.
//   - Variables that have one value for all points, and few values together, take each of these.
//   - Otherwise the interval reaches from what is read at least, whatever the values, to the least
//     of: what is read where they are free for every point; the values of variables that determine
//     the others (query/utilization/determined_variables.h); the elements of the output, where each
//     reads through one map.
//
// Values are in intervals where what computes them says so (ops/values/element_value.h): an update
// whose index is clamped is not dropped.
//
// A map that is over-approximate counts for the most and not for the least.
//
// In programs of several devices an element is one of the operand's indices: it is read where some
// device reads it on some device.
#ifndef XLA_INDEXING_QUERY_UTILIZATION_COUNT_READS_H_
#define XLA_INDEXING_QUERY_UTILIZATION_COUNT_READS_H_

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// The number of elements of an array; [0, inf] where it has no bound.
Interval CountElements(const Shape& array);

// Maps have to fit the arrays that they are counted in (ops/answers/fits_shapes.h).

// The elements of `operand` that the union of the maps, of one or several output leaves, reads.
Interval CountElementsRead(llvm::ArrayRef<const OperandIndexing*> maps, const Shape& operand,
                           StepBudget* budget);

// The reads of all maps together from the elements of `output`.
Interval CountReads(llvm::ArrayRef<const OperandIndexing*> maps, const Shape& output,
                    const Shape& operand, StepBudget* budget);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_UTILIZATION_COUNT_READS_H_

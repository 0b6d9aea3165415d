// Unions of maps, written with few maps: those that say the same in several steps, as the closures of
// loops do (ops/loops/closure/loop_closure.h). Each map is written with few ranges first (few_ranges.h).
//
//   a, where b has a choice of its ranges with   dropped: b covers a
//     the results of a, in the domain of a, and
//     reads no runtime variables but those of a
//   a, which is b with an interval that is       the interval of b is longer by one, or by k where
//     longer by one, in what that adds             (d + c) mod k = 0 leaves every k-th value only
//   two maps of one row each, beside one         one map of both rows
//     another, with results that differ by
//     constants
//
// Two more are for answers, and for unions that no law about loops knows otherwise, since such laws
// look for what maps add to dimensions:
//
//   a, which is b beyond an end of an interval,  one map (ops/unions/range_choices.h)
//     of a runtime variable too
//   maps that are one zone together              one map (ops/unions/zones.h)
//
// Every rule leaves the union equal. Example: (d0) -> (d0, 0) and (d0)[s0] -> (d0, s0), s0 in [1, 9],
// are (d0)[s0] -> (d0, s0), s0 in [0, 9].
#ifndef XLA_INDEXING_OPS_UNIONS_FEW_MAPS_H_
#define XLA_INDEXING_OPS_UNIONS_FEW_MAPS_H_

#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// The first table, the first rule of the second, and all of both, as long as the question's budget
// lasts.
void WriteWithFewMaps(OperandIndexingSet* set);
void JoinBeyondEnds(OperandIndexingSet* set);
void WriteAnswer(OperandIndexingSet* set);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_UNIONS_FEW_MAPS_H_

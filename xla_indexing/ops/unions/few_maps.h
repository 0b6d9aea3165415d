// Unions of maps, written with few maps: those that say the same in several steps, as the closures of
// loops do (ops/loops/closure/loop_closure.h). Each map is written with few ranges first (few_ranges.h).
//
//   a, all of whose pairs b has                  dropped
//   two maps that are one                        one map (ops/answers/coalesce.h)
//
// Every rule leaves the union equal. Example: (d0) -> (d0, 0) and (d0)[s0] -> (d0, s0), s0 in [1, 9],
// are (d0)[s0] -> (d0, s0), s0 in [0, 9].
#ifndef XLA_INDEXING_OPS_UNIONS_FEW_MAPS_H_
#define XLA_INDEXING_OPS_UNIONS_FEW_MAPS_H_

#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// The second rule alone.
void CoalesceMaps(OperandIndexingSet* set);

// Fewer of those maps that are exact, without bindings and the same on all devices
// (map/union/unite_graphs.h).
void UniteGraphs(OperandIndexingSet* set);

// Both, as long as the question's budget lasts.
void WriteWithFewMaps(OperandIndexingSet* set);
// As WriteWithFewMaps(); then results that a constraint bounds are range variables. For answers, since
// laws about loops look for what maps add to dimensions.
void WriteAnswer(OperandIndexingSet* set);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_UNIONS_FEW_MAPS_H_

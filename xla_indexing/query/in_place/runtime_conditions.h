// Conditions on runtime variables under which an order of loops is safe.
//
// Law. Let F be a runtime variable, or the difference of two, each one value for all elements. If every
// conflict of an order has F, and U is an interval that contains the values of F in all of them, the
// order is safe wherever F is outside of U. U is the least such interval.
//
// Several conditions may hold, each enough by itself: an update that moves along two dimensions leaves
// what is read where it has moved far enough along either. One that implies another is left out.
//
// Example, p[10:20] becomes the elements of p from `start` on, of f32[100]: a conflict has start in
// [1, 19] but 10, so that any order is safe where start >= 20 or start <= 0; the loop upwards has none
// where start <= 10.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_RUNTIME_CONDITIONS_H_
#define XLA_INDEXING_QUERY_IN_PLACE_RUNTIME_CONDITIONS_H_

#include <vector>

#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/query/in_place/in_place_answer.h"
#include "xla_indexing/query/in_place/order/loop_order.h"
#include "xla_indexing/query/in_place/order/order_conflicts.h"

namespace xla_indexing::internal {

// Those that some values of runtime variables of `analysed` fulfil, variables before differences.
std::vector<RuntimeCondition> ConditionsOf(const OrderConflicts& conflicts, const LoopOrder& order,
                                           const HloComputation* analysed, StepBudget* budget);

// What yields a runtime variable, and the element where that has dimensions: `indices{2,0}`.
std::string NameOfValue(const RuntimeVarIndexing& binding, llvm::ArrayRef<int64_t> element,
                        const HloComputation* analysed);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_RUNTIME_CONDITIONS_H_

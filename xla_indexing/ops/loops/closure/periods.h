// The law of periods: a relation of which some power has a closed form.
//
//   P+ = the union of P^r, (P^k)+, and (P^k)+ ; P^r, for r = 1, .., k - 1
#ifndef XLA_INDEXING_OPS_LOOPS_CLOSURE_PERIODS_H_
#define XLA_INDEXING_OPS_LOOPS_CLOSURE_PERIODS_H_

#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// All powers but none of a union of timed maps from a leaf to itself, where `close` gives all powers
// but none of one of the first six powers; nothing where it does not, or these are too many maps.
std::optional<OperandIndexingSet> CloseByPeriod(
    const OperandIndexingSet& pieces,
    llvm::function_ref<std::optional<OperandIndexingSet>(const OperandIndexingSet& power)> close);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_CLOSURE_PERIODS_H_

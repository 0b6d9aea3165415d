// Arrays whose elements a computation compares: sorts, and reductions that choose one element, as argmax does.
//
// The computation is one on scalars, of constants and elementwise operations. Results are those that
// every implementation gives: what a sort that is not stable may exchange, and a choice that depends on the
// order of a reduction, is not known.
//
// Example: sort of s32[4] {3, 1, 3, 0} with iota, by the first, stable, is {0, 1, 3, 3} and {3, 1, 0, 2}. If it
// is not stable, the first is the same, and the second is not known.
#ifndef XLA_INDEXING_OPS_VALUES_ORDERED_ARRAYS_H_
#define XLA_INDEXING_OPS_VALUES_ORDERED_ARRAYS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/values/known_leaves.h"

namespace xla_indexing::internal {

// The leaves of a sort. Operands that it does not compare need not be known; their leaves are not known then.
KnownLeaves SortArrays(const HloInstruction& sort, absl::Span<const KnownLeaves> operands,
                       StepBudget* budget);

// The leaves of a reduction that chooses one of its elements, or what it begins with, in whatever order;
// `elements` are the positions of those that each element of the result is reduced from.
KnownLeaves ChooseFromArrays(const HloInstruction& reduce, absl::Span<const KnownLeaves> operands,
                             absl::Span<const std::vector<int64_t>> elements, StepBudget* budget);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_ORDERED_ARRAYS_H_

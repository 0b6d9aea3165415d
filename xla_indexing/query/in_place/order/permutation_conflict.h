// Conflicts of elements that change places.
//
// Mathematics. Each element f of an array reads one element, in the place of element w(f) of the
// array, and w is a permutation. Where w(f) != f for some f, the elements f, w(f), w(w(f)), .. form a
// cycle of more than one. Each of them has to be read before it is written, and so each written
// before the one that it reads: no order is safe. In an order that is given, some element of every
// cycle is written before the one comes that reads it. So the array may be overwritten exactly where
// w is the identity.
//
// This needs values of w, and no search for points of a domain. It is asked about maps with names
// (map/simplify/named_ranges.h), as those of long chains of reshapes and transposes, for which the
// search has too many points.
//
// Example: w(i, j) = (j, i) on [0, 3] x [0, 3], upwards: (0, 1) is written before (1, 0) reads it.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_ORDER_PERMUTATION_CONFLICT_H_
#define XLA_INDEXING_QUERY_IN_PLACE_ORDER_PERMUTATION_CONFLICT_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/query/in_place/order/loop_order.h"

namespace xla_indexing::internal {

struct PermutationConflict {
  // Yes with elements of a conflict; no where the permutation is the identity. Undecided where all
  // elements that were looked at stay in place, where there are too many, and within the budget.
  Answer has = Answer::kUndecided;
  llvm::SmallVector<int64_t, 4> reader = {};
  llvm::SmallVector<int64_t, 4> operand = {};  // what it reads
  llvm::SmallVector<int64_t, 4> writer = {};   // what has that place
};

// `reads` is from the elements of an array of these sizes to those of the operand, `place` from these
// to the elements of the array at their places; both are one-to-one, range variables are names.
// Elements are computed in this order; loops that are not in it run in any order.
PermutationConflict FindPermutationConflict(const IndexingMap& reads, const IndexingMap& place,
                                            llvm::ArrayRef<int64_t> sizes, const LoopOrder& order,
                                            StepBudget* budget);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_ORDER_PERMUTATION_CONFLICT_H_

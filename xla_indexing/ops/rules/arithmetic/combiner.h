// What the results of a combiner depend on: the computation on scalars by which a scatter puts an
// update into an element, (operand values.., update values..) -> (values..).
//
// Dependence is structural: an operation depends on all its operands, whatever their values; tuples
// are followed element by element.
//
// Many updates may reach one element, in any order. The results of the first are operand values of
// the next, so that after n updates value i depends on
//
//   operand value j            where O^n has (i, j),
//   value j of some update     where (1 + O + .. + O^(n-1)) U has (i, j),
//
// for the relations O and U of one application (the update may be any of the n, from the last to
// the first). Where O O = O and O U is part of U, that is O and U however many there are. It is so
// of every combiner of one value, and of those that combine values one by one or all with all.

#ifndef XLA_INDEXING_OPS_RULES_ARITHMETIC_COMBINER_H_
#define XLA_INDEXING_OPS_RULES_ARITHMETIC_COMBINER_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/BitVector.h"
#include "xla_indexing/hlo/model/computation.h"

namespace xla_indexing::internal {

// The dependence after one update or more.
struct CombinerReads {
  // Row i: the operand values, and the update values, that value i depends on.
  std::vector<llvm::BitVector> operands;
  std::vector<llvm::BitVector> updates;
  // False where the dependence differs with the number of updates; the rows are then the union over
  // all numbers of updates.
  bool is_exact = true;
};

// The dependence for a combiner of `count` values, which has 2 * count parameters.
CombinerReads ReadsOfCombiner(const HloComputation& combiner, int64_t count);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_ARITHMETIC_COMBINER_H_

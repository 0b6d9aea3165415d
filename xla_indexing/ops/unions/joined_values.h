// Maps that differ in what they ask of runtime variables, written as one where together they ask for
// nothing.
//
//   a, and maps that cover, piece by piece, what a      a without that condition
//     is without one of its conditions on values
//
// The union stays equal. Example: (d0){rt0} -> (d0) with d0 - rt0 in [-9, -1], in [0, 0] and in
// [1, 9], d0 and rt0 in [0, 9], are (d0) -> (d0): what a row that is written at rt0, and reads what
// was there, leaves of an array.
#ifndef XLA_INDEXING_OPS_UNIONS_JOINED_VALUES_H_
#define XLA_INDEXING_OPS_UNIONS_JOINED_VALUES_H_

#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

void JoinOverValues(OperandIndexingSet* set);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_UNIONS_JOINED_VALUES_H_

// A map in runs of dimensions in each of which it is affine.
//
// Mathematics. Where each quotient and remainder in the results is of one dimension alone, result k is
// e_k + f_k(d) for one of them, d, and e_k of the other dimensions, which are cut likewise. A run is an interval of d in which every
// f_k(d + 1) - f_k(d) is one number; from its beginning on, each is as long as it can be.
//
// Example: (d0) -> ((d0 * 4) floordiv 5), d0 in [0, 4], which is 0, 0, 1, 2, 3, are (d0) -> (0), d0 in
// [0, 1], and (d0) -> (d0 - 1), d0 in [2, 4].
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_AFFINE_RUNS_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_AFFINE_RUNS_H_

#include <vector>

#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// The map itself where it has symbols or constraints, where a division is of several dimensions together or
// of one of more than 4096 indices, or where there are more than 8 runs of one dimension, or 64.
std::vector<OperandIndexing> InAffineRuns(const OperandIndexing& indexing);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_AFFINE_RUNS_H_

// Whether two sets of maps between the same arrays, of two computations, are the same relation.
//
// The answer, the difference and the reason of `comparison` are filled in; equivalence.h says how
// they are found.
#ifndef XLA_INDEXING_QUERY_EQUIVALENCE_COMPARE_RELATIONS_H_
#define XLA_INDEXING_QUERY_EQUIVALENCE_COMPARE_RELATIONS_H_

#include <cstdint>

#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/query/equivalence/leaf_comparison.h"
#include "xla_indexing/query/equivalence/same_values.h"

namespace xla_indexing::internal {

// `output` is what the maps start from; `numbers` are those of the two computations.
void CompareRelations(const OperandIndexingSet& a, const OperandIndexingSet& b, const Shape& output,
                      ValueNumbers& numbers, int64_t max_steps, LeafComparison* comparison);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_EQUIVALENCE_COMPARE_RELATIONS_H_

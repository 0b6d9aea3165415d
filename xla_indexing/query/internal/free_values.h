// Whether the values of the runtime variables of a map can be whatever its domain says.
//
// A parameter of the program has any contents, and an element of one says nothing of another. So all
// values occur together where each variable is of an element of a parameter, perhaps moved (slices,
// transposes, ..), and no two are of one element. Values that are computed may be bound to each other.
//
// Example: the start s32[] of an update that is a parameter is free; one that is p + q is not, nor are
// two starts that are both p.
#ifndef XLA_INDEXING_QUERY_INTERNAL_FREE_VALUES_H_
#define XLA_INDEXING_QUERY_INTERNAL_FREE_VALUES_H_

#include <string>

#include "xla_indexing/ops/operand_indexing.h"

namespace xla_indexing::internal {

// Why some values of the runtime variables may not occur together; empty where all do.
std::string WhyNotFree(const OperandIndexing& indexing);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INTERNAL_FREE_VALUES_H_

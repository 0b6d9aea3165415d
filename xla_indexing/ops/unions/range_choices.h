// Pairs of maps that are compared by choosing the range variables of one of them.
//
// Where the results of a, with its range variables chosen as expressions of the variables of b, are
// those of b, every pair of b is one of a if a's intervals and constraints hold for what was chosen.
// Where they do not hold, a can be made larger by b:
//
//   a with all intervals as long as b needs them,  a and b, if this is in a where that interval is as
//     one of them longer at one end                  it was, and in b where it is what was added
//
// Example: (d0) -> (d0), d0 in [0, 4], and (d0)[s0] -> (s0), d0 in [1, 4], d0 - s0 in [1, 4], are
// (d0)[s0] -> (s0), d0 in [0, 4], d0 - s0 in [0, 4]: that d0 is not 0 in the second map follows from
// the rest of it.
#ifndef XLA_INDEXING_OPS_UNIONS_RANGE_CHOICES_H_
#define XLA_INDEXING_OPS_UNIONS_RANGE_CHOICES_H_

#include <cstdint>
#include <optional>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// Whether every pair of `b`, between the same arrays, is one of `a`, whatever values runtime variables
// have, as far as choices of a's range variables show. What a asks for has to hold for them, and its
// runtime variables are some of those of b.
bool Covers(const OperandIndexing& a, const OperandIndexing& b);

// Whether `expr`, of the variables of `a`, can have this value where the results of a are those of `b`,
// as far as choices of a's range variables show: no where there is no choice, or another value.
bool MayHaveValue(const IndexingMap& a, mlir::AffineExpr expr, int64_t value, const IndexingMap& b);

// `a` and `b` as one map by the rule above, where it applies. Runtime variables are restricted as
// dimensions are; both maps read them from the same elements, wherever they are asked about.
std::optional<OperandIndexing> JoinedAlongOne(const OperandIndexing& a, const OperandIndexing& b);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_UNIONS_RANGE_CHOICES_H_

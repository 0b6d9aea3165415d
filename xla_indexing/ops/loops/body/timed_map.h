// Timed maps (ops/loops/body/loop_body.h), of which every law about loops is made: their first
// dimension and their first result are the time.

#ifndef XLA_INDEXING_OPS_LOOPS_BODY_TIMED_MAP_H_
#define XLA_INDEXING_OPS_LOOPS_BODY_TIMED_MAP_H_

#include <optional>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// `map` with a first dimension more, in `times`, and, unless that is null, a first result.
OperandIndexing AddTime(const OperandIndexing& map, const Interval& times, mlir::AffineExpr result);
// `timed` without its first dimension, which has any value in `times`, and so many first results;
// `*depends_on_time` is set where the dimension makes a difference.
OperandIndexing DropTime(const OperandIndexing& timed, const Interval& times, int results_dropped,
                         bool* depends_on_time);

// first ; second, simplified; nullopt if that passes a bound, or one of them is unknown.
std::optional<OperandIndexing> ComposeTimed(const OperandIndexing& first,
                                            const OperandIndexing& second);
// Adds all of first ; second to a set; false where one of them is nothing.
bool AddComposed(const OperandIndexingSet& first, const OperandIndexingSet& second,
                 OperandIndexingSet* to);

// Which dimensions of a map from an array of shape `from`, but for the time, make a difference to
// it: those that it mentions or restricts.
std::vector<bool> DimensionsThatMatter(const OperandIndexing& map, const Shape& from);

// `map` with results after the first one replaced by 0 where they do not matter; simplified. What
// it is composed to with maps of which the others matter is the same, and often several maps have
// become one: those that lead to an array at a time, if that is all that is asked.
OperandIndexing WithResultsThatMatter(const OperandIndexing& map, const std::vector<bool>& matter);

// Whether an expression has no variables but the first, .., last - 1, dimensions before symbols.
bool MentionsOnly(mlir::AffineExpr expr, int num_dims, int first, int last);

// Whether what runtime variables are read from is the same in all iterations.
bool HasFixedValues(const OperandIndexing& map);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_BODY_TIMED_MAP_H_

// How many points a domain has.
//
// Mathematics. The domain is the product of those of its components (map/expr/components.h). Of
// one component,
//
//   - without constraints, the points are the product of the sizes of its intervals;
//   - otherwise all variables but one, x, take all their values, and for each of these points the x
//     that are left are counted in closed form: constraints c*x + K in [a, b] and
//     floor((c*x + B) / m) + K in [a, b] leave an interval, (c*x + B) mod m + K in [a, b] residue
//     classes. x is the variable with the most values of those whose constraints are of these
//     forms.
//
// Where many steps would be needed and the other variables of a component fall apart once some
// variable has a value, that one takes its values first: of a <= b <= c <= d, say, b.
//
// Steps. A point of the other variables is a step, and so is each residue class (map/sets/decision.h).
//
// Counts. A count is an interval, so that a count that was not found within the steps still has
// bounds: from 0 (1 where there surely is a point) to the product of the sizes. A count that does
// not fit int64 is [2^63 - 1, inf].
//
// Example: d0 in [0, 999], d1 in [0, 2], d0 + d1 in [1, 1000], d0 mod 2 in [0, 0] has 1499 points,
// found in 3 steps.
#ifndef XLA_INDEXING_MAP_COUNT_COUNT_POINTS_H_
#define XLA_INDEXING_MAP_COUNT_COUNT_POINTS_H_

#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing::internal {

// The number of points (d, s, rt) of the domain of a map that verifies.
Interval CountPoints(const IndexingMap& map, StepBudget* budget);

// An exact count as an interval.
Interval CountOf(Int128 count);
// The number of elements of an interval, which may be infinite.
Interval CountOf(const Interval& values);
// An interval from the lower end of one count to the upper end of the other.
Interval CountBetween(const Interval& least, const Interval& most);
inline Interval CountUpTo(const Interval& most) { return CountBetween(Interval::Point(0), most); }

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_COUNT_COUNT_POINTS_H_

// Questions about domains of maps as sets of points, each against a budget of steps
// (map/sets/decision.h).
//
// A domain here is that of an IndexingMap; its results do not count. Two domains are compared point
// by point, over the same variables: (d, s, rt) of one and (d, s, rt) of the other, where intervals
// are constraints like any other.
//
// Mathematics. X is contained in Y exactly if for no constraint  g in [lo, hi]  of Y the domain X
// with  g in [-inf, lo - 1],  or with  g in [hi + 1, inf],  has a point. Two functions agree on X
// exactly if X has no point with  f - g >= 1,  and none with  f - g <= -1. So everything reduces to
// emptiness: the normal form first, then HasIntegerPoint, then all points, where the budget allows.
//
// An answer is kUndecided where the budget ends or a number does not fit int64.
//
// Example. For x: d0 in [0, 9], d0 mod 2 in [0, 0] and y: d0 in [0, 8], DomainWithin(x, y) is yes
// and DomainWithin(y, x) no.
#ifndef XLA_INDEXING_MAP_SETS_DOMAIN_H_
#define XLA_INDEXING_MAP_SETS_DOMAIN_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing {

// The domain without results.
IndexingMap DomainOf(const IndexingMap& map);

// Whether the domain has a point.
Answer DomainHasIntegerPoint(const IndexingMap& map, StepBudget* budget);

// Whether it has a point with expr in interval.
Answer HasIntegerPointWith(const IndexingMap& map, mlir::AffineExpr expr, Interval interval,
                           StepBudget* budget);

// Whether every point of the domain has expr in interval. A null expression: kUndecided.
Answer HoldsEverywhere(const IndexingMap& map, mlir::AffineExpr expr, Interval interval,
                       StepBudget* budget);

// Whether every point of the first domain is in the second. The maps have the same numbers of
// dimensions and of symbols.
Answer DomainWithin(const IndexingMap& inner, const IndexingMap& outer, StepBudget* budget);

// Whether the two maps have equal results at every point of the domain of the first. The same
// numbers of dimensions, symbols and results.
Answer SameResultsOn(const IndexingMap& domain, const IndexingMap& other, StepBudget* budget);

// Drops constraints that follow from the intervals and the other constraints, as far as that is
// decided. The domain stays equal.
void DropImpliedConstraints(IndexingMap* map, StepBudget* budget);

// The least interval that contains every value of `expr` in the domain, empty where there are none;
// `range` is one that contains them, Interval::All() where none is known. An end that the intervals of
// the variables leave infinite stays as in `range`, as does one that the budget does not suffice for, or
// it is what the intervals say. The ends are found by bisection, with at most 128 questions each.
Interval HullOver(const IndexingMap& map, mlir::AffineExpr expr, Interval range,
                  StepBudget* budget);

// The number of points in the box of the variables' intervals; nullopt if it is infinite or does
// not fit int64.
std::optional<int64_t> NumCandidates(const IndexingMap& map);

// The points of the intervals at which the map is sampled, always the same ones: the two ends and
// the middle of all intervals, then `count` points with coordinates next to the ends, in the middle
// and between. Points need not be in the domain. Each is a list of dims, then symbols.
llvm::SmallVector<llvm::SmallVector<int64_t, 8>, 0> SamplePoints(const IndexingMap& map, int count);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_SETS_DOMAIN_H_

// Whether two maps mean the same, and whether a map's domain is empty: yes, no, or not decided
// within a number of steps (map/sets/decision.h).
//
// IndexingMap's == compares how maps are written. These functions compare what maps mean, so that
// maps in different forms, from different programs, can be told equal.
//
// Mathematics. A map is f(d, s, rt) over a domain, and can be read in two ways:
//
//   as a function    every point (d, s, rt) of the domain has the result f(d, s, rt)
//   as a relation    for each rt: { d -> f(d, s, rt) : some s, (d, s, rt) in the domain }
//
// Maps that are the same function have the same domains, point for point, and the same results
// there. Maps that are the same relation may differ in number, order, intervals and meaning of
// their range variables. Variables correspond by position, runtime variables too: the i-th of one
// map is the i-th of the other. Values are mathematical integers.
//
// How. The first of these that decides:
//   1. the normal form: both maps simplified are written the same;
//   2. samples of each domain, evaluated in the other map: a counterexample;
//   3. functions: the difference of results in normal form, and emptiness of the domains on which
//   they would differ; relations: the projection onto (d, rt, r) without range variables,
//   where there is one, and emptiness again (map/sets/domain.h);
//   4. all points, where the budget suffices.
//
// Errors. InvalidArgument for a map that does not Verify(), and for two maps whose numbers of
// dimensions, results, runtime variables, or (as functions) range variables differ. A number past
// int64 on the way leaves the question undecided.
//
// Example. A row-major position, cut two ways; strides read as one range or as two:
//   a: (d0) -> ((d0 floordiv 4) * 4 + d0 mod 4), domain: d0 in [0, 99]
//   b: (d0) -> (d0), domain: d0 in [0, 99]                                 SameFunction(a, b): yes
//   c: (d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 7]
//   d: (d0)[s0, s1] -> (d0, s0 + s1 * 2), .., s0 in [0, 1], s1 in [0, 3]   SameRelation(c, d): yes
#ifndef XLA_INDEXING_MAP_SETS_DECIDE_H_
#define XLA_INDEXING_MAP_SETS_DECIDE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing {

// Whether the domain has no point.
absl::StatusOr<Decision> IsEmptyDomain(const IndexingMap& map, int64_t max_steps = kDefaultSteps);

absl::StatusOr<Decision> SameFunction(const IndexingMap& a, const IndexingMap& b,
                                      int64_t max_steps = kDefaultSteps);

absl::StatusOr<Decision> SameRelation(const IndexingMap& a, const IndexingMap& b,
                                      int64_t max_steps = kDefaultSteps);

// Whether, for each value of the runtime variables, every pair d -> r of `a` is one of `b`.
absl::StatusOr<Decision> IsSubrelation(const IndexingMap& a, const IndexingMap& b,
                                       int64_t max_steps = kDefaultSteps);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_SETS_DECIDE_H_

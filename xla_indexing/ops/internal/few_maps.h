// Unions of maps, written with few maps: those that say the same in several steps, as the closures of
// loops do (ops/internal/loop_closure.h).
//
//   ranges s and t that occur as s + t only,     one range, of every number that s + t, or s - t,
//     or as s - t only                             can be
//   a range in no result that every restriction  is as small, or as large, as it can be
//     wants to be small, or large
//   s and t that occur as s + t in results, but  s + t is one range, and s as above
//     not in restrictions
//   a range s in nothing but e + k * s = c       (c - e) mod k = 0, and e as far as s goes
//   a range s in no result and in a <= c + s     each two of these intervals of s have a number in
//     <= b, or c - s, and one such restriction     common, of its own and these: so have all
//     more
//   a result c + s or c - s                      becomes s
//   a, where b has a choice of its ranges with   dropped: b covers a
//     the results of a, in the domain of a, and
//     reads no runtime variables but those of a
//   a, which is b with an interval that is       the interval of b is longer by one, or by k where
//     longer by one, in what that adds             (d + c) mod k = 0 leaves every k-th value only
//   two maps of one row each, beside one         one map of both rows
//     another, with results that differ by
//     constants
//
// Three more are for answers, and for unions that no law about loops knows otherwise, since such laws
// look for what maps add to dimensions:
//
//   a, which is b beyond an end of an interval,  one map (ops/internal/range_choices.h)
//     of a runtime variable too
//   a result e + s or e - s in an interval,      becomes s, in that interval
//     where s is in nothing else
//   maps that are one zone together                one map (ops/internal/zones.h)
//
// Every rule leaves the union equal. Example: (d0) -> (d0, 0) and (d0)[s0] -> (d0, s0), s0 in [1, 9],
// are (d0)[s0] -> (d0, s0), s0 in [0, 9].
#ifndef XLA_INDEXING_OPS_INTERNAL_FEW_MAPS_H_
#define XLA_INDEXING_OPS_INTERNAL_FEW_MAPS_H_

#include "xla_indexing/ops/operand_indexing.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing::internal {

// The first five rules.
OperandIndexing WithSumsJoined(OperandIndexing indexing);

// All of the first table, the first rule of the second, and all of both, as long as the question's
// budget lasts.
void WriteWithFewMaps(OperandIndexingSet* set);
void JoinBeyondEnds(OperandIndexingSet* set);
void WriteAnswer(OperandIndexingSet* set);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_FEW_MAPS_H_

// Maps that are one zone together.
//
// Mathematics. A *zone* is a set of points of integers given by bounds of coordinates and of differences
// of two of them,
//
//   { x : x_i - x_j <= b_ij for all i, j }, x_0 = 0
//
// where b_ij <= b_ik + b_kj for all k once they are as small as can be. Bounds of the coordinates without
// some of them are then those of the zone without these, and the greatest bounds of two zones are those
// of the least zone with both. A map whose results and constraints are variables and differences of two
// is a zone in dimensions, runtime variables and results, from which its range variables were dropped.
//
//   zones A, B, ..            A and B become the least zone with both, where that has no points but
//                             those of A, B, ..; what is in it is dropped
//
// Of a step of a loop it matters what it adds to dimensions, and where. So A and B become one only where
// the same dimensions and runtime variables differ by the same numbers, and no result differs from one of
// them by one number in A and another in B; and only zones like A are taken for what covers both.
//
// A zone of which several numbers can be the difference of two dimensions or runtime variables is divided
// where others have one of them, if there are fewer zones then.
//
// Whether it has such points is found by taking zones away one after another: of what is left, the parts
// beyond each bound of the next zone.
//
// Example: (d0) -> (0), (d0)[s0] -> (s0), s0 in [1, 9], d0 - s0 in [1, 9], and (d0) -> (d0), d0 in [0, 9],
// are (d0)[s0] -> (s0), d0 - s0 in [0, 9].
//
// Source: Mine, A New Numerical Abstract Domain Based on Difference-Bound Matrices.
#ifndef XLA_INDEXING_OPS_UNIONS_ZONES_H_
#define XLA_INDEXING_OPS_UNIONS_ZONES_H_

#include <vector>

#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// Writes those of the maps that are zones with fewer maps, where they are: as long as the question's
// budget lasts. The union stays the same.
void JoinZones(std::vector<OperandIndexing>* maps);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_UNIONS_ZONES_H_

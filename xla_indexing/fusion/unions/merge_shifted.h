// Maps that agree in all but one result or one dimension, as fewer maps.
//
// Mathematics. Three laws, each an equality of unions, in this order:
//   Values     { d in D1, P } and { d in D2, P } are { d in D1 or D2, P }, where D1 or D2 is a
//              progression (base/numbers/progression.h).
//   Bands      Bands of one factor that differ in D, T and C alone are one where their hull has no
//              more (fusion/unions/map_as_band.h).
//   Columns    Maps that differ in what result i is over dimension j, whatever their formulas, are one
//              band where, beside each value of d_j, what they lead to together is what the band has.
//              Takes longer and finds more, so that it is tried on maps that bands do not make one,
//              and for few values of d_j.
// A range variable that is in other results alone is taken as a dimension, since a union over its
// values commutes with a union of maps. A band that another contains is left out.
//
// Examples. Rotations of f32[8] by 1, 2 and 3 have the maps d0 + 1 on [0, 6], d0 + 2 on [0, 5] and
// d0 + 3 on [0, 4]. Together they are (d0)[s0] -> (s0) with s0 - d0 in [1, 3], s0 in [1, 7].
// Rotations by 0, 2, .., 6 are (d0)[s0] -> (d0 + s0 * 2) with d0 + s0 * 2 in [0, 7]. The map
// (d0)[s0] -> (s0) with d0 - s0 in [0, 7] over even d0 of [0, 7] and that over odd ones are that
// over all. The points (0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2) are the triangle (d0)[s0] -> (s0)
// with d0 - s0 in [0, 2], whichever lines and rectangles they are given as.
#ifndef XLA_INDEXING_FUSION_UNIONS_MERGE_SHIFTED_H_
#define XLA_INDEXING_FUSION_UNIONS_MERGE_SHIFTED_H_

#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// The first law alone, which makes one map of those that differ in residue classes of a dimension.
void UniteValues(OperandIndexingSet* maps);

// Replaces exact maps, simplified and to arrays of one rank, by fewer with the same union, along one
// dimension and then one result after another. Others stay as they are.
void MergeShifted(OperandIndexingSet* maps);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_UNIONS_MERGE_SHIFTED_H_

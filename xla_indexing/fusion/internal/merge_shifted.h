// Maps of one formula but for a constant, as one map.
//
// Mathematics. A map whose result i lies between lines over dimension j is a band along them
// (fusion/internal/map_as_band.h). Bands that differ in D, T and C alone are one where
// fusion/internal/bands.h unites them, which is an equality. A band that the other contains is left
// out. Rectangles are bands of any factor: they are tried with the factors of the lines through
// their corners.
//
// Examples. Rotations of f32[8] by 1, 2 and 3 have the maps d0 + 1 on [0, 6], d0 + 2 on [0, 5] and
// d0 + 3 on [0, 4]. Together they are (d0)[s0] -> (s0) with s0 - d0 in [1, 3], s0 in [1, 7].
// Rotations by 0, 2, .., 6 are (d0)[s0] -> (d0 + s0 * 2) with d0 + s0 * 2 in [0, 7]. The map
// (d0)[s0] -> (s0) with d0 - s0 in [0, 7] over even d0 of [0, 7] and that over odd ones are that
// over all.
#ifndef XLA_INDEXING_FUSION_INTERNAL_MERGE_SHIFTED_H_
#define XLA_INDEXING_FUSION_INTERNAL_MERGE_SHIFTED_H_

#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing::internal {

// Replaces exact maps, simplified and to arrays of one rank, by fewer with the same union, along one
// result after another. Others stay as they are.
void MergeShifted(OperandIndexingSet* maps);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_INTERNAL_MERGE_SHIFTED_H_

// How far apart in memory the lanes of a request are.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_LANE_DISTANCE_H_
#define XLA_INDEXING_REPORT_ANALYSIS_LANE_DISTANCE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing::internal {

// The distance that most neighbouring lanes have, where that is more than half of them; `lanes` are
// those of a request (CoalescingAnalysis::AddressesOf). Where lanes have vectors, and a lane begins
// where the vector before it would go on, that of the elements of a vector. The dimension of `array`
// is the one with the longest stride that divides the distance; none for 0 and in tiled layouts.
//
// Example: lanes at bytes 0, 4096, 8192, .. of f32[1024,1024]: dimension 0, step 1.
std::optional<LaneDistance> FindLaneDistance(const std::vector<LaneAddress>& lanes,
                                             const Shape& array);

// Whether the maps together may map to elements of `dimension` whose indices differ by no multiple of
// `step`. Where they do not, a copy of what they map to has neighbours where the lanes of a request
// are `step` elements apart.
//
// Example: the slice d0 * 4 maps to multiples of 4 alone; a window d0 * 4 + s0, s0 in [0, 2], and two
// slices d0 * 4 and d0 * 4 + 1 do not.
bool LeadBetween(const OperandIndexingSet& maps, int64_t dimension, int64_t step);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ANALYSIS_LANE_DISTANCE_H_

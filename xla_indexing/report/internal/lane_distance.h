// How far apart in memory the lanes of a request are.
#ifndef XLA_INDEXING_REPORT_INTERNAL_LANE_DISTANCE_H_
#define XLA_INDEXING_REPORT_INTERNAL_LANE_DISTANCE_H_

#include <optional>
#include <vector>

#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/hlo/shape.h"
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

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_INTERNAL_LANE_DISTANCE_H_

// The results of a map as a box with strides, where they are one.
//
// Mathematics. A strided range is { offset + i * stride : 0 <= i < count }, a box the product of
// one for each result. The image of a map, all f(d, s, rt) over its domain (runtime variables take
// all their values), is a box or is none; where it is one there is just one way to write it with
//
//   stride = 1 for count <= 1,  offset = 0 for count = 0  (then every count is 0),
//
// and that is the answer. Results that depend on one another form no box, unless they have a single
// value: the image of (d0, d0) is a diagonal. An infinite image is no box.
//
// How. The image is a product of parts, each of which has to be a box.
// Offset, next value and last value of a result come from the part where that is a progression, else
// from bisection over emptiness (map/sets/domain.h); that a part has all of its box, from its count.
//
//   (d0) -> (d0 * 2 + 3), d0 in [0, 4]                       {3 + 2i : i < 5}
//   (d0, d1) -> (d0 * 4 + d1), d0 in [0, 9], d1 in [0, 3]    {i : i < 40}
//   (d0, d1) -> (d0 * 4 + d1), d0 in [0, 9], d1 in [0, 2]    no box: 3 is missing
//   (d0, d1) -> (d1 * 8, -d0), d0 in [0, 9], d1 in [0, 2]    {8i : i < 3} x {-9 + i : i < 10}
//
// Errors. InvalidArgument for a map that does not Verify().
#ifndef XLA_INDEXING_MAP_COUNT_IMAGE_H_
#define XLA_INDEXING_MAP_COUNT_IMAGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing {

struct StridedRange {
  int64_t offset = 0;
  int64_t count = 0;
  int64_t stride = 1;

  friend bool operator==(const StridedRange& a, const StridedRange& b) = default;
};

struct ImageBox {
  Decision is_box;
  llvm::SmallVector<StridedRange, 4> ranges;  // one for each result where is_box is yes, or none
};

absl::StatusOr<ImageBox> ImageAsBox(const IndexingMap& map, int64_t max_steps = kDefaultSteps);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_COUNT_IMAGE_H_

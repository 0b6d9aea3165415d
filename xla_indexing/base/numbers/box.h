// The integer points of a box, one after the other in lexicographic order: the last coordinate
// moves first.
//
// Example:
//   std::vector<int64_t> point;
//   if (!FirstPoint(box, &point)) return;  // the box is empty or infinite
//   do Visit(point); while (NextPoint(box, absl::MakeSpan(point)));
#ifndef XLA_INDEXING_BASE_NUMBERS_BOX_H_
#define XLA_INDEXING_BASE_NUMBERS_BOX_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

// The number of points: 0 where an interval is empty, 1 for a box of no dimensions. Nullopt if it
// is infinite or does not fit int64.
inline std::optional<int64_t> NumPoints(absl::Span<const Interval> box) {
  std::optional<int64_t> count = 1;
  for (const Interval& interval : box) {
    if (interval.IsEmpty()) return 0;
    const std::optional<int64_t> size = interval.Size();
    count = count && size ? CheckedMul(*count, *size) : std::nullopt;
  }
  return count;
}

// Sets `*point`, a container of int64_t, to the first point. False where there is none or an
// interval is infinite.
template <typename Point>
bool FirstPoint(absl::Span<const Interval> box, Point* point) {
  point->clear();
  for (const Interval& interval : box) {
    if (interval.IsEmpty() || !interval.IsFinite()) return false;
    point->push_back(interval.lower());
  }
  return true;
}

// Moves on to the next point. After the last one false, and `point` is the first again.
inline bool NextPoint(absl::Span<const Interval> box, absl::Span<int64_t> point) {
  for (size_t i = box.size(); i-- > 0;) {
    if (point[i] < box[i].upper()) {
      ++point[i];
      return true;
    }
    point[i] = box[i].lower();
  }
  return false;
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_NUMBERS_BOX_H_

// Sets of points, as the enumeration of a domain gives them.
//
// Enumerate() visits every point of a map's domain and keeps what is asked of it:
//
//   // All pairs (d, r) of a map.
//   std::optional<Points> pairs = Enumerate(map, &budget, [](auto dims, auto, auto results) {
//     return Joined(dims, results);
//   });
//
// One step of the budget is taken for each point of the variables' intervals, before the first is
// visited.
#ifndef XLA_INDEXING_MAP_SETS_POINTS_H_
#define XLA_INDEXING_MAP_SETS_POINTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/sets/domain.h"

namespace xla_indexing::internal {

using Point = std::vector<int64_t>;

struct Points {
  absl::flat_hash_set<Point> set;
  int64_t num_visited = 0;  // points of the domain; more than the set has where some were equal
};

// The numbers of several lists, one after the other.
template <typename... Lists>
Point Joined(const Lists&... lists) {
  Point point;
  (point.insert(point.end(), lists.begin(), lists.end()), ...);
  return point;
}

// What `point_of(dims, symbols, results)` makes of every point of the domain; nullopt if the budget
// or int64 does not reach.
template <typename PointOf>
std::optional<Points> Enumerate(const IndexingMap& map, StepBudget* budget, PointOf point_of) {
  const std::optional<int64_t> candidates = NumCandidates(map);
  if (!candidates || !budget->Take(*candidates)) return std::nullopt;
  Points points;
  const absl::Status status = map.ForEachPoint(
      *candidates, [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                       llvm::ArrayRef<int64_t> results) {
        points.set.insert(point_of(dims, symbols, results));
        ++points.num_visited;
      });
  if (!status.ok()) return std::nullopt;
  return points;
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SETS_POINTS_H_

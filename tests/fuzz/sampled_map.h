// A map that is looked at, with points at which it is compared with what is said of it
// (map_fuzz.cc).
#ifndef TESTS_FUZZ_SAMPLED_MAP_H_
#define TESTS_FUZZ_SAMPLED_MAP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fuzz/exact_map.h"
#include "tests/testing/random.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing::fuzz {

inline constexpr int64_t kStepsOfQuestion = 1 << 12;
inline constexpr size_t kMostPoints = 2048;  // that are taken one by one
inline constexpr size_t kSampledPoints = 48;

inline std::string TextOf(const IndexingMap& map) { return map.ToString(); }

template <typename T>
bool IsOk(const absl::StatusOr<T>& answer) {
  if (answer.ok()) return true;
  if (answer.status().message().empty()) Contradiction("an error has a message", "");
  return false;
}

// A map with points that are looked at.
struct SampledMap {
  explicit SampledMap(IndexingMap subject, Random& random)
      : map(std::move(subject)), all(AllPoints(map, kMostPoints)) {
    if (all) points = *all;
    for (const Point& point : SomePoints(map, kSampledPoints, random)) {
      candidates.push_back(point);
      if (!all && IsInDomain(map, point) == true) points.push_back(point);
    }
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
  }

  Point DimsOf(const Point& point) const { return {point.begin(), point.begin() + map.num_dims()}; }
  Point RuntimesOf(const Point& point) const {
    return {point.end() - map.num_runtimes(), point.end()};
  }

  IndexingMap map;
  std::optional<std::vector<Point>> all;  // of the domain, where they are few
  std::vector<Point> points;              // of the domain, all or some
  std::vector<Point> candidates;          // in the domain or near it
};

Point Concat(std::initializer_list<llvm::ArrayRef<int64_t>> parts);

// Checks that the map is read back from its text.
void CheckText(const IndexingMap& map, mlir::MLIRContext* context);

// For each (d, rt) the results for some s; of a map whose points are all known.
using PairsOfMap = std::map<std::pair<Point, Point>, std::set<Point>>;
std::optional<PairsOfMap> PairsOf(const SampledMap& subject);

// An answer against one that is known, or only known not to be the opposite.
void CheckAnswer(absl::string_view question, const absl::StatusOr<Decision>& decision,
                 std::optional<bool> truth, const IndexingMap& map, absl::string_view other = "");

}  // namespace xla_indexing::fuzz

#endif  // TESTS_FUZZ_SAMPLED_MAP_H_

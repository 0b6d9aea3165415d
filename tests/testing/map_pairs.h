// Maps as sets of pairs, which tests compare and close by brute force.
#ifndef XLA_INDEXING_TESTS_TESTING_MAP_PAIRS_H_
#define XLA_INDEXING_TESTS_TESTING_MAP_PAIRS_H_

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing {

using PointOfMap = std::vector<int64_t>;
// Values of the dimensions, and the results there for some values of the symbols.
using MapPairs = std::set<std::pair<PointOfMap, PointOfMap>>;

inline void AddMapPairs(const IndexingMap& map, MapPairs* pairs) {
  const absl::Status status = map.ForEachPoint(
      1'000'000, [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> /*symbols*/,
                     llvm::ArrayRef<int64_t> results) {
        pairs->emplace(PointOfMap(dims.begin(), dims.end()),
                       PointOfMap(results.begin(), results.end()));
      });
  EXPECT_TRUE(status.ok()) << status;
}

inline MapPairs MapPairsOf(const OperandIndexing& indexing) {
  MapPairs pairs;
  AddMapPairs(indexing.map(), &pairs);
  return pairs;
}

inline MapPairs MapPairsOf(const OperandIndexingSet& set) {
  MapPairs pairs;
  for (const OperandIndexing& indexing : set) AddMapPairs(indexing.map(), &pairs);
  return pairs;
}

// A test of maps that it writes as text.
class MapPairsTest : public ::testing::Test {
 protected:
  OperandIndexing Map(absl::string_view text) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status() << text;
    OperandIndexing indexing(kPartsFit, *map);
    indexing.Simplify();
    return indexing;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

// All powers, one step after another.
inline MapPairs ClosureOf(const MapPairs& steps) {
  MapPairs closure = steps;
  std::vector<std::pair<PointOfMap, PointOfMap>> pending(steps.begin(), steps.end());
  while (!pending.empty()) {
    const auto [from, to] = pending.back();
    pending.pop_back();
    for (auto it = steps.lower_bound({to, {}}); it != steps.end() && it->first == to; ++it) {
      if (closure.emplace(from, it->second).second) pending.push_back({from, it->second});
    }
  }
  return closure;
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_MAP_PAIRS_H_

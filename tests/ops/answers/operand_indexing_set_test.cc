#include "xla_indexing/ops/answers/operand_indexing_set.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/exactness.h"

namespace xla_indexing {
namespace {

// In the order in which a set has them: by the number of range variables, by results as sums, and by
// intervals as numbers, not as texts.
constexpr absl::string_view kMaps[] = {
    "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1) -> (d0, d1 * 2), domain: d0 in [0, 9], d1 in [0, 9]",
    "(i, d1) -> (i, d1 * 3), domain: i in [0, 9], d1 in [0, 9]",
    "(d0, d1) -> (d0, 5), domain: d0 in [2, 4], d1 in [0, 9]",
    "(d0, d1) -> (d0, 5), domain: d0 in [10, 14], d1 in [0, 9]",
    "(d0, d1) -> (d0, 5), domain: d0 in [20, 40], d1 in [0, 9]",
    "(d0, d1) -> (d0, 10), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1) -> (d0 + 2, d1), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1) -> (d0 + 10, d1), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1) -> (d0 mod 3, d1), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1) -> ((d0 + d1) mod 3, d1), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 4]",
    "(d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 2], s1 in [0, 3]",
};

// Whatever the order in which they are added.
TEST(OrderOfMapsTest, IsThatOfWhatMapsSay) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<OperandIndexing> maps;
  for (const absl::string_view text : kMaps) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context);
    ASSERT_TRUE(map.ok()) << map.status();
    maps.emplace_back(kPartsFit, *map);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::vector<size_t> chosen(maps.size());
    std::iota(chosen.begin(), chosen.end(), 0);
    std::shuffle(chosen.begin(), chosen.end(), random);
    chosen.resize(2 + i % (maps.size() - 1));
    OperandIndexingSet set;
    for (const size_t map : chosen) set.Add(maps[map]);
    set.Simplify();
    std::sort(chosen.begin(), chosen.end());
    ASSERT_EQ(set.size(), chosen.size());
    for (size_t k = 0; k < chosen.size(); ++k)
      EXPECT_EQ(set.maps()[k].map(), maps[chosen[k]].map());
  }
}

// A map has one reason, so maps that are one need not share it.
TEST(ReasonsTest, MapsThatDifferInTheReasonAloneBecomeOne) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  OperandIndexingSet set;
  for (const auto& [text, reason] :
       {std::pair("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3]", "one"),
        std::pair("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [4, 7]", "another")}) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context);
    ASSERT_TRUE(map.ok()) << map.status();
    OperandIndexing indexing(kPartsFit, *map);
    indexing.Weaken(ExactnessLabel::OverApproximate(reason));
    set.Add(indexing);
  }
  set.Simplify();
  ASSERT_EQ(set.size(), 1);
  EXPECT_EQ(set.maps()[0].map().ToString(), "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 7]");
  EXPECT_EQ(set.label().exactness, Exactness::kOverApproximate);
}

}  // namespace
}  // namespace xla_indexing

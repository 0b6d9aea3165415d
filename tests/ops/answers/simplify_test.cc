// OperandIndexing::Simplify and IndexingMap::Simplify are one normal form.
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/random_map.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/answers/parts/replica_map.h"

namespace xla_indexing {
namespace {

// What a map without runtime variables becomes in an answer, by itself and beside a replica map
// that names the reader, is what it becomes as a relation.
void ExpectOneForm(const IndexingMap& map) {
  IndexingMap form = map;
  form.Simplify();

  absl::StatusOr<OperandIndexing> alone = OperandIndexing::Create(map);
  ASSERT_TRUE(alone.ok()) << alone.status() << ' ' << map.ToString();
  ReplicaMap same_device;
  same_device.readers = Interval::OfSize(8);
  same_device.device = alone->Reader();
  absl::StatusOr<OperandIndexing> beside =
      OperandIndexing::Create(map, {}, ExactnessLabel::Exact(), same_device);
  ASSERT_TRUE(beside.ok()) << beside.status() << ' ' << map.ToString();

  alone->Simplify();
  EXPECT_EQ(alone->map(), form) << map.ToString();
  EXPECT_EQ(alone->map().num_ranges(), form.num_ranges()) << map.ToString();
  beside->Simplify();
  EXPECT_EQ(beside->map(), form) << map.ToString();
  if (!form.IsKnownEmpty()) {
    EXPECT_EQ(*beside->replica_map(), same_device) << map.ToString();
  }
}

TEST(SimplifyTest, AMapWithoutBindingsHasItsFormAsARelation) {
  int with_ranges = 0;
  for (int seed = 0; seed < Cases(4000) && !::testing::Test::HasFailure(); ++seed) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    SmallMaps small(static_cast<uint32_t>(seed), &context);
    const NumVariables count{small.Int(0, 2), small.Int(0, 3), 0};
    ExpectOneForm(small.Map(count, small.Int(0, 2)));
    with_ranges += count.ranges > 0;
    const IndexingMap map = RandomMaps(static_cast<uint32_t>(seed), &context).Map();
    if (map.num_runtimes() == 0) ExpectOneForm(map);
  }
  EXPECT_GT(with_ranges, Cases(1000));
}

TEST(SimplifyTest, AMapWithoutRangeVariablesHasItsFormAsAFunction) {
  for (int seed = 0; seed < Cases(4000) && !::testing::Test::HasFailure(); ++seed) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    SmallMaps small(static_cast<uint32_t>(seed), &context);
    const NumVariables count{small.Int(0, 3), 0, 0};
    IndexingMap map = small.Map(count, small.Int(0, 2));
    OperandIndexing indexing(kPartsFit, map);
    indexing.Simplify();
    map.Simplify();
    EXPECT_EQ(indexing.map(), map);
  }
}

}  // namespace
}  // namespace xla_indexing

#include "xla_indexing/ops/unions/whole_sets.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

class WholeSetsTest : public ::testing::Test {
 protected:
  OperandIndexingSet Set(const std::vector<std::string>& texts) {
    OperandIndexingSet set;
    for (const std::string& text : texts) {
      const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
      EXPECT_TRUE(map.ok()) << map.status() << text;
      set.Add(OperandIndexing(kPartsFit, *map));
    }
    return set;
  }

  bool IsWhole(const std::vector<std::string>& texts, const std::vector<int64_t>& dimensions) {
    const Shape shape = Shape::Array(ElementType::kF32, dimensions);
    const bool first = sets_.IsWhole(Set(texts), shape);
    EXPECT_EQ(sets_.IsWhole(Set(texts), shape), first) << "asked a second time";
    return first;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  WholeSets sets_{&context_};
};

TEST_F(WholeSetsTest, OneMapToEveryElement) {
  EXPECT_TRUE(IsWhole({"()[s0, s1] -> (s0, s1), domain: s0 in [0, 3], s1 in [0, 4]"}, {4, 5}));
  EXPECT_TRUE(IsWhole({"()[s0, s1] -> (s1, s0), domain: s0 in [0, 4], s1 in [0, 3]"}, {4, 5}));
  EXPECT_TRUE(IsWhole({"()[s0] -> (s0, 0), domain: s0 in [0, 3]"}, {4, 1}));
  EXPECT_TRUE(IsWhole({"() -> ()"}, {}));
}

TEST_F(WholeSetsTest, NotPartOfAnArray) {
  EXPECT_FALSE(IsWhole({"()[s0, s1] -> (s0, s1), domain: s0 in [0, 3], s1 in [0, 3]"}, {4, 5}));
  EXPECT_FALSE(IsWhole({"()[s0] -> (s0, s0), domain: s0 in [0, 3]"}, {4, 4}));
  EXPECT_FALSE(IsWhole({"()[s0] -> (s0, 0), domain: s0 in [0, 3]"}, {4, 2}));
  EXPECT_FALSE(IsWhole({}, {4}));
}

// A map that holds of nothing, as a variable that its results do not name has no value.
TEST_F(WholeSetsTest, NotAMapOfNothing) {
  EXPECT_FALSE(IsWhole({"()[s0, s1] -> (s0), domain: s0 in [0, 3], s1 in [0, -1]"}, {4}));
}

TEST_F(WholeSetsTest, PartsThatAreAllOfItTogether) {
  const std::string low = "()[s0] -> (s0), domain: s0 in [0, 3]";
  const std::string high = "()[s0] -> (s0 + 4), domain: s0 in [0, 3]";
  EXPECT_TRUE(IsWhole({low, high}, {8}));
  EXPECT_FALSE(IsWhole({low, high}, {9}));
  EXPECT_FALSE(IsWhole({low}, {8}));
}

TEST_F(WholeSetsTest, NotWhatIsSaidOverApproximately) {
  OperandIndexing map = Set({"()[s0] -> (s0), domain: s0 in [0, 3]"}).maps().front();
  map.Weaken(ExactnessLabel::OverApproximate("for a test"));
  const Shape shape = Shape::Array(ElementType::kF32, {4});
  EXPECT_FALSE(sets_.IsWhole(OperandIndexingSet(map), shape));
}

}  // namespace
}  // namespace xla_indexing::internal

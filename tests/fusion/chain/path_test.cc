#include "xla_indexing/fusion/chain/path.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;

class PathTest : public ::testing::Test {
 protected:
  // The path to f32[8] that is the normal form of the map.
  Path OfNormalForm(absl::string_view text) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status();
    return Path::OfNormalForm(OperandIndexing(kPartsFit, *map),
                              Shape::Array(ElementType::kF32, {8}));
  }

  static std::vector<std::string> Maps(const PathSet& set) {
    std::vector<std::string> maps;
    for (const Path& path : set.paths()) {
      maps.push_back(path.Map(Shape::Array(ElementType::kF32, {8})).MapToString());
    }
    return maps;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(PathTest, ANormalFormIsMadeWhenItIsAskedFor) {
  PathSet set;
  set.Add(OfNormalForm("(d0)[s0] -> (d0 + 0 * s0), domain: d0 in [0, 7], s0 in [0, 2]"));
  EXPECT_THAT(Maps(set), ElementsAre("(d0) -> (d0), domain: d0 in [0, 7]"));
}

TEST_F(PathTest, ACopyOfASetChangesByItself) {
  PathSet set;
  set.Add(OfNormalForm("(d0) -> (d0), domain: d0 in [0, 7]"));
  PathSet copy;
  copy.Add(set);
  copy.Add(OfNormalForm("(d0)[s0] -> (s0), domain: d0 in [0, 7], s0 in [0, 7]"));
  EXPECT_EQ(copy.size(), 2U);
  EXPECT_EQ(set.size(), 1U);
  set.Add(copy);
  EXPECT_EQ(set.size(), 2U);
  copy.Add(set);
  EXPECT_EQ(copy.size(), 2U);
  set.Add(set);
  EXPECT_EQ(set.size(), 2U);
}

TEST_F(PathTest, MapsOfOneNormalFormAreOnePath) {
  PathSet set;
  set.Add(OfNormalForm("(d0)[s0] -> (s0), domain: d0 in [0, 7], s0 in [0, 7], s0 * 2 in [0, 7]"));
  set.Add(OfNormalForm("(d0)[s0] -> (s0), domain: d0 in [0, 7], s0 in [0, 3]"));
  EXPECT_THAT(Maps(set), ElementsAre("(d0)[s0] -> (s0), domain: d0 in [0, 7], s0 in [0, 3]"));
}

TEST_F(PathTest, PathsThatLeadNowhereAreLeftOutWhereThereAreOthers) {
  const absl::string_view nowhere =
      "(d0)[s0] -> (s0), domain: d0 in [0, 7], s0 in [0, 7], d0 + s0 in [15, 20]";
  PathSet first;
  first.Add(OfNormalForm(nowhere));
  first.Add(OfNormalForm("(d0) -> (d0), domain: d0 in [0, 7]"));
  EXPECT_THAT(Maps(first), ElementsAre("(d0) -> (d0), domain: d0 in [0, 7]"));
  PathSet second;
  second.Add(OfNormalForm("(d0) -> (d0), domain: d0 in [0, 7]"));
  second.Add(OfNormalForm(nowhere));
  EXPECT_THAT(Maps(second), ElementsAre("(d0) -> (d0), domain: d0 in [0, 7]"));
}

// An identity is made when it is asked for, and is the path of its map also before that.
TEST_F(PathTest, AnIdentityIsOnePathWithItsMap) {
  const Shape shape = Shape::Array(ElementType::kF32, {8});
  const absl::string_view identity = "(d0) -> (d0), domain: d0 in [0, 7]";
  PathSet first;
  first.Add(Path(shape, &context_));
  first.Add(OfNormalForm(identity));
  EXPECT_THAT(Maps(first), ElementsAre(identity));
  PathSet second;
  second.Add(OfNormalForm(identity));
  second.Add(Path(shape, &context_));
  EXPECT_THAT(Maps(second), ElementsAre(identity));
  PathSet third;
  third.Add(OfNormalForm("(d0) -> (d0), domain: d0 in [0, 6]"));
  third.Add(Path(shape, &context_));
  EXPECT_EQ(third.size(), 2U);
  EXPECT_TRUE(Path(shape, &context_).IsFunction());
}

TEST_F(PathTest, TheIdentityOfNoElementsLeadsNowhere) {
  PathSet set;
  set.Add(Path(Shape::Array(ElementType::kF32, {8, 0}), &context_));
  set.Add(OfNormalForm("(d0) -> (d0), domain: d0 in [0, 7]"));
  EXPECT_THAT(Maps(set), ElementsAre("(d0) -> (d0), domain: d0 in [0, 7]"));
}

}  // namespace
}  // namespace xla_indexing::internal

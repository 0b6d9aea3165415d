#include "xla_indexing/map/expr/components.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/map/sets/small_maps.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using ComponentsTest = MapTextFixture;

TEST_F(ComponentsTest, ExpressionsThatShareAVariableBelongTogether) {
  const IndexingMap map = Parse(
      "(d0, d1)[s0] -> (d0 + s0, d1), domain: d0 in [0, 5], d1 in [0, 5], s0 in [0, 9], "
      "d0 + s0 in [0, 9]");
  const std::vector<Component> components = ComponentsOf(map);
  ASSERT_EQ(components.size(), 2);
  EXPECT_THAT(components[0].variables, ElementsAre(0, 2));
  EXPECT_THAT(components[0].results, ElementsAre(0));
  EXPECT_THAT(components[0].constraints, ElementsAre(0));
  EXPECT_THAT(components[1].variables, ElementsAre(1));
  EXPECT_THAT(components[1].results, ElementsAre(1));
  EXPECT_THAT(components[1].constraints, IsEmpty());
  EXPECT_EQ(*MapOfComponent(map, components[0]),
            Parse("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 5], s0 in [0, 9], d0 + s0 in [0, 9]"));
}

TEST_F(ComponentsTest, AVariableOfOneValueIsAConstant) {
  const IndexingMap map =
      Parse("(d0, d1, d2) -> (d0 + d1, d1 + d2), domain: d0 in [0, 5], d1 in [3, 3], d2 in [0, 5]");
  const std::vector<Component> components = ComponentsOf(map);
  ASSERT_EQ(components.size(), 3);
  EXPECT_THAT(components[0].results, ElementsAre(0));
  EXPECT_THAT(components[1].results, IsEmpty());
  EXPECT_THAT(components[2].results, ElementsAre(1));
  EXPECT_EQ(*MapOfComponent(map, components[2]), Parse("(d0) -> (d0 + 3), domain: d0 in [0, 5]"));
}

TEST_F(ComponentsTest, ConstantsStandAlone) {
  const std::vector<Component> components =
      ComponentsOf(Parse("(d0) -> (7, d0, 8), domain: d0 in [0, 5]"));
  ASSERT_EQ(components.size(), 3);
  EXPECT_THAT(components[0].results, ElementsAre(1));
  EXPECT_THAT(components[1].variables, IsEmpty());
  EXPECT_THAT(components[1].results, ElementsAre(0));
}

}  // namespace
}  // namespace xla_indexing::internal

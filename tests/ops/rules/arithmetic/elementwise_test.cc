// What elementwise operations read, at sizes that need care: scalars, no elements, bounded,
// unbounded and huge dimensions. Expected maps are worked out by hand from the definitions.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ElementwiseTest : public IndexingTest {};

TEST_F(ElementwiseTest, ScalarPredicateOfSelectIsReadByEveryElement) {
  const HloInstruction* select = Entry(R"(
    p = pred[] parameter(0)
    a = f32[4,1] parameter(1)
    b = f32[4,1] parameter(2)
    ROOT r = f32[4,1] select(p, a, b))");
  const std::string identity = "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 0]";
  EXPECT_THAT(OutputToInput(select),
              ElementsAre("0.0.0 (d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 0]",
                          "0.1.0 " + identity, "0.2.0 " + identity));
  EXPECT_THAT(InputToOutput(select), ElementsAre("0.0.0 ()[s0] -> (s0, 0), domain: s0 in [0, 3]",
                                                 "0.1.0 " + identity, "0.2.0 " + identity));
}

TEST_F(ElementwiseTest, ScalarBoundsOfClampAreReadByEveryElement) {
  const HloInstruction* clamp = Entry(R"(
    lo = f32[] parameter(0)
    a = f32[4] parameter(1)
    hi = f32[4] parameter(2)
    ROOT r = f32[4] clamp(lo, a, hi))");
  EXPECT_THAT(OutputToInput(clamp), ElementsAre("0.0.0 (d0) -> (), domain: d0 in [0, 3]",
                                                "0.1.0 (d0) -> (d0), domain: d0 in [0, 3]",
                                                "0.2.0 (d0) -> (d0), domain: d0 in [0, 3]"));
  EXPECT_THAT(InputToOutput(clamp), ElementsAre("0.0.0 ()[s0] -> (s0), domain: s0 in [0, 3]",
                                                "0.1.0 (d0) -> (d0), domain: d0 in [0, 3]",
                                                "0.2.0 (d0) -> (d0), domain: d0 in [0, 3]"));
}

TEST_F(ElementwiseTest, OperandsOfTheSameSizesShareTheirMap) {
  const HloInstruction* add = Entry(R"(
    a = f32[4,2] parameter(0)
    b = f32[4,2] parameter(1)
    ROOT r = f32[4,2] add(a, b))");
  const HloInstruction* call = Entry(R"(
    a = f32[4] parameter(0)
    b = f32[4] parameter(1)
    c = f32[4,0] parameter(2)
    ROOT r = f32[3] custom-call(a, b, c), custom_call_target="unknown")");
  for (const HloInstruction* instruction : {add, call}) {
    for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
      const auto entries = ComputeIndexing(*instruction, direction, &context_, {});
      ASSERT_TRUE(entries.ok()) << entries.status();
      ASSERT_EQ(entries->size(), 2);
      EXPECT_TRUE(OperandIndexing::AreCopies(*entries->front().indexing.begin(),
                                             *entries->back().indexing.begin()));
    }
  }
}

TEST_F(ElementwiseTest, ScalarsHaveNoVariables) {
  const HloInstruction* add = Entry(R"(
    a = f32[] parameter(0)
    ROOT r = f32[] add(a, a))");
  EXPECT_THAT(OutputToInput(add), ElementsAre("0.0.0 () -> ()", "0.1.0 () -> ()"));
}

TEST_F(ElementwiseTest, NothingIsReadForNoElements) {
  const HloInstruction* add = Entry(R"(
    a = f32[0,4] parameter(0)
    ROOT r = f32[0,4] add(a, a))");
  EXPECT_THAT(OutputToInput(add), IsEmpty());
  EXPECT_THAT(InputToOutput(add), IsEmpty());
}

TEST_F(ElementwiseTest, BoundedDimensionsAreIndexedAtTheirBound) {
  const HloInstruction* negate = Entry(R"(
    a = f32[<=7] parameter(0)
    ROOT r = f32[<=7] negate(a))");
  EXPECT_THAT(OutputToInput(negate), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 6]"));
}

TEST_F(ElementwiseTest, UnboundedDimensionsAreIndexedWithoutEnd) {
  const HloInstruction* negate = Entry(R"(
    a = f32[?,2] parameter(0)
    ROOT r = f32[?,2] negate(a))");
  EXPECT_THAT(OutputToInput(negate),
              ElementsAre("0.0.0 (d0, d1) -> (d0, d1), domain: d0 in [0, inf], d1 in [0, 1]"));
}

TEST_F(ElementwiseTest, HugeDimensionsAreExact) {
  const HloInstruction* reverse = Entry(R"(
    a = pred[9223372036854775807] parameter(0)
    ROOT r = pred[9223372036854775807] reverse(a), dimensions={0})");
  EXPECT_THAT(OutputToInput(reverse),
              ElementsAre("0.0.0 (d0) -> (-d0 + 9223372036854775806), domain: "
                          "d0 in [0, 9223372036854775806]"));
}

}  // namespace
}  // namespace xla_indexing::internal

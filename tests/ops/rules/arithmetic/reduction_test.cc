// Sums over dimensions and windows: dot, reduce and reduce-window. Expected maps are worked out by
// hand from the definitions.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;

class ReductionTest : public IndexingTest {};

TEST_F(ReductionTest, DotPlacesDimensionsByTheirNumbers) {
  const HloInstruction* dot = Entry(R"(
    a = f32[2,3,4,5,6] parameter(0)
    b = f32[6,7,4,2] parameter(1)
    ROOT r = f32[4,2,3,5,7] dot(a, b), lhs_batch_dims={2,0}, rhs_batch_dims={2,3},
      lhs_contracting_dims={4}, rhs_contracting_dims={0})");
  const std::string dims = "d0 in [0, 3], d1 in [0, 1], d2 in [0, 2], d3 in [0, 4], d4 in [0, 6]";
  EXPECT_THAT(OutputToInput(dot),
              ElementsAre("0.0.0 (d0, d1, d2, d3, d4)[s0] -> (d1, d2, d0, d3, s0), domain: " +
                              dims + ", s0 in [0, 5]",
                          "0.1.0 (d0, d1, d2, d3, d4)[s0] -> (s0, d4, d0, d1), domain: " + dims +
                              ", s0 in [0, 5]"));
  EXPECT_THAT(InputToOutput(dot),
              ElementsAre("0.0.0 (d0, d1, d2, d3, d4)[s0] -> (d2, d0, d1, d3, s0), domain: "
                          "d0 in [0, 1], d1 in [0, 2], d2 in [0, 3], d3 in [0, 4], d4 in [0, 5], "
                          "s0 in [0, 6]",
                          "0.1.0 (d0, d1, d2, d3)[s0, s1] -> (d2, d3, s0, s1, d1), domain: "
                          "d0 in [0, 5], d1 in [0, 6], d2 in [0, 3], d3 in [0, 1], s0 in [0, 2], "
                          "s1 in [0, 4]"));
}

TEST_F(ReductionTest, ReduceOfOneElementMakesNoRangeVariable) {
  const HloInstruction* reduce = Root(R"(
    add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
    ENTRY e {
      p = f32[1,4,0] parameter(0)
      q = f32[1,4] parameter(1)
      i = f32[] constant(0)
      a = f32[4] reduce(p, i), dimensions={0,2}, to_apply=add
      b = f32[4] reduce(q, i), dimensions={0}, to_apply=add
      ROOT r = (f32[4], f32[4]) tuple(a, b)
    })");
  // Nothing is reduced, and only the initial value read.
  EXPECT_THAT(OutputToInput(reduce->operand(0)),
              ElementsAre("0.1.0 (d0) -> (), domain: d0 in [0, 3]"));
  EXPECT_THAT(OutputToInput(reduce->operand(1)),
              ElementsAre("0.0.0 (d0) -> (0, d0), domain: d0 in [0, 3]",
                          "0.1.0 (d0) -> (), domain: d0 in [0, 3]"));
}

TEST_F(ReductionTest, ReduceWindowMeetsOnlyElementsOfTheOperand) {
  const HloInstruction* reduce_window = Root(R"(
    add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
    ENTRY e {
      p = f32[10] parameter(0)
      i = f32[] constant(0)
      ROOT r = f32[6] reduce-window(p, i), window={size=3 stride=2 pad=2_1}, to_apply=add
    })");
  EXPECT_THAT(OutputToInput(reduce_window),
              ElementsAre("0.0.0 (d0)[s0] -> (d0 * 2 + s0 - 2), domain: d0 in [0, 5], "
                          "s0 in [0, 2], d0 * 2 + s0 - 2 in [0, 9]",
                          "0.1.0 (d0) -> (), domain: d0 in [0, 5]"));
  EXPECT_THAT(InputToOutput(reduce_window),
              ElementsAre("0.0.0 (d0)[s0] -> ((d0 - s0) floordiv 2 + 1), domain: d0 in [0, 9], "
                          "s0 in [0, 2], d0 - s0 + 2 in [0, 10], (d0 - s0) mod 2 in [0, 0]",
                          "0.1.0 ()[s0] -> (s0), domain: s0 in [0, 5]"));
}

TEST_F(ReductionTest, ReduceWindowWithBothDilations) {
  const HloInstruction* reduce_window = Root(R"(
    add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
    ENTRY e {
      p = f32[4] parameter(0)
      i = f32[] constant(0)
      ROOT r = f32[8] reduce-window(p, i), window={size=2 lhs_dilate=3 rhs_dilate=2},
        to_apply=add
    })");
  // The dilated operand has ten elements; a window covers three of them.
  EXPECT_THAT(OutputToInput(reduce_window),
              ElementsAre("0.0.0 (d0)[s0] -> ((d0 + s0 * 2) floordiv 3), domain: d0 in [0, 7], "
                          "s0 in [0, 1], (d0 + s0 * 2) mod 3 in [0, 0]",
                          "0.1.0 (d0) -> (), domain: d0 in [0, 7]"));
  EXPECT_THAT(InputToOutput(reduce_window),
              ElementsAre("0.0.0 (d0)[s0] -> (d0 * 3 - s0 * 2), domain: d0 in [0, 3], "
                          "s0 in [0, 1], d0 * 3 - s0 * 2 in [0, 7]",
                          "0.1.0 ()[s0] -> (s0), domain: s0 in [0, 7]"));
}

}  // namespace
}  // namespace xla_indexing::internal

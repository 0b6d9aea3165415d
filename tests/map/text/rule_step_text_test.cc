#include "xla_indexing/map/text/rule_step_text.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/map/sets/small_maps.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RuleStepTextTest : public MapTextFixture {
 protected:
  std::vector<std::string> Steps(absl::string_view text) {
    IndexingMap map = Parse(text);
    RuleTrace trace;
    map.Simplify({.keep_variables = true, .trace = &trace});
    std::vector<std::string> steps;
    for (const RuleStep& step : trace) steps.push_back(ToString(step, map));
    return steps;
  }
};

TEST_F(RuleStepTextTest, NormalFormsTakeNoSteps) {
  EXPECT_THAT(Steps("(d0) -> (d0 mod 4, d0 floordiv 3), domain: d0 in [0, 99]"), IsEmpty());
}

// 2 * d1 + 1 has the low digit 1, which carries nothing: what is left is (d0 * 8 + d1) / 4.
TEST_F(RuleStepTextTest, DivisionsNameTheirRule) {
  EXPECT_THAT(
      Steps("(d0, d1) -> ((d0 * 16 + d1 * 2 + 1) floordiv 8), domain: d0 in [0, 9], d1 in [0, 7]"),
      ElementsAre("(d0 * 16 + d1 * 2 + 1) floordiv 8 -> d0 * 2 + d1 floordiv 4  [floor((g*H + L) / "
                  "m) = floor((H + t) / (m/g))]"));
}

TEST_F(RuleStepTextTest, DigitsThatMeetAreJoined) {
  EXPECT_THAT(Steps("(x) -> (x mod 4 + (x floordiv 4) * 4), domain: x in [0, 99]"),
              ElementsAre("(x floordiv 4) * 4 + x mod 4 -> x  [digits that meet: X mod n + n * "
                          "floor(X / n) = X]"));
}

TEST_F(RuleStepTextTest, ConstraintsAndIntervalsAreSteps) {
  EXPECT_THAT(Steps("(d0) -> (d0), domain: d0 in [0, 9], d0 * 2 + 1 in [3, 8]"),
              ElementsAre("d0 in [0, 9] -> d0 in [1, 3]  [a constraint narrows]",
                          "d0 * 2 + 1 in [3, 8] -> d0 in [1, 3]  [intervals say all of the "
                          "constraint]"));
}

// d0 + 63 is in [3, 162], and its quotient in [0, 32], whichever way it is written.
TEST_F(RuleStepTextTest, ConstraintsThatHoldEverywhereNeedNoForm) {
  EXPECT_THAT(
      Steps("(d0) -> (d0), domain: d0 in [-60, 99], (d0 + 63) floordiv 5 - 12 in [-12, 20]"),
      ElementsAre("(d0 + 63) floordiv 5 - 12 in [-12, 20] -> (d0 + 63) floordiv 5 - 12 in "
                  "[-12, 20]  [intervals say all of the constraint]"));
}

}  // namespace
}  // namespace xla_indexing

// The powers of steps within a box, and of what leads out of it and stays there, against ways that are
// followed step by step.

#include "xla_indexing/ops/loops/closure/spreading.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tests/ops/loops/closure/isl_closures.h"
#include "tests/testing/effort.h"
#include "tests/testing/map_pairs.h"
#include "tests/testing/random.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/loops/closure/powers.h"

namespace xla_indexing::internal {
namespace {

using Point = PointOfMap;  // the time, and an element

class SpreadingTest : public MapPairsTest {
 protected:
  // The step `step` from the points of a box to others of it, at times that count up or down.
  std::string StepText(const Point& step, absl::Span<const Interval> from,
                       absl::Span<const Interval> to, int64_t count, bool is_forward) {
    std::string results = absl::StrCat("d0 ", is_forward ? "+ 1" : "- 1");
    std::string domain =
        absl::StrCat("d0 in [", is_forward ? 0 : 1, ", ", is_forward ? count - 1 : count, "]");
    std::string dims = "d0";
    for (size_t j = 0; j < step.size(); ++j) {
      absl::StrAppend(&dims, ", d", j + 1);
      absl::StrAppend(&results, ", d", j + 1, " + ", step[j]);
      absl::StrAppend(&domain, ", d", j + 1, " in ",
                      from[j].Intersect(to[j].Sub(step[j])).ToString());
    }
    return absl::StrCat("(", dims, ") -> (", results, "), domain: ", domain);
  }

  // Compares the law with the closure of these pieces; false where it does not apply.
  bool Check(const std::vector<std::string>& texts) {
    std::vector<OperandIndexing> pieces;
    OperandIndexingSet all;
    for (const std::string& text : texts) {
      OperandIndexing piece = Map(text);
      if (piece.IsKnownEmpty()) continue;
      all.Add(piece);
      pieces.push_back(std::move(piece));
    }
    const std::optional<Spread> spread = SpreadWithinBox(pieces);
    if (!spread) return false;
    const MapPairs steps = MapPairsOf(all);
    const MapPairs closure = ClosureOf(steps);
    // What is left of the pieces is disjoint of what has spread, and the two are all.
    MapPairs together = MapPairsOf(spread->powers);
    for (const OperandIndexing& other : spread->others) AddMapPairs(other.map(), &together);
    EXPECT_EQ(ClosureOf(together), closure) << absl::StrJoin(texts, "\n");
    const std::optional<OperandIndexingSet> closed = AllPowersOf(all);
    if (closed) {
      ++closed_;
      EXPECT_EQ(MapPairsOf(*closed), closure) << absl::StrJoin(texts, "\n");
      isl_.Compare(all, *closed, absl::StrJoin(texts, "\n"));
    }
    return true;
  }

  int closed_ = 0;
  IslClosures isl_{4};
};

// Every set of steps of at most two elements, in every small array: stencils, and those steps that
// together are rolls.
TEST_F(SpreadingTest, StepsOfOneDimensionSpreadAsTheyDoOneByOne) {
  int spread = 0;
  CasesInTurn cases;
  for (int64_t size = 1; size <= 5; ++size) {
    const std::vector<Interval> box = {Interval::OfSize(size)};
    for (int steps = 0; steps < 1 << 9; ++steps) {
      if (!cases.IsNextTried()) continue;
      std::vector<std::string> texts;
      for (int64_t c = -4; c <= 4; ++c) {
        if (((steps >> (c + 4)) & 1) == 0 || std::abs(c) >= size) continue;
        texts.push_back(StepText({c}, box, box, 4, steps % 2 == 0));
      }
      if (texts.size() > 4) continue;
      spread += Check(texts) ? 1 : 0;
      if (HasFailure()) return;
    }
  }
  std::cout << spread << " sets of steps spread, " << closed_ << " closed, " << isl_.compared()
            << " compared with isl's\n";
  EXPECT_GT(spread, Cases(100));
#ifdef XLA_INDEXING_HAS_ISL
  EXPECT_GT(isl_.compared(), Cases(100));
#endif
}

// The elements in the middle are computed from their neighbours, the others stay; and the other way
// round.
TEST_F(SpreadingTest, WhatIsOnTheBorderStays) {
  for (const bool is_forward : {true, false}) {
    for (int64_t size = 4; size <= 7; ++size) {
      const std::vector<Interval> box = {Interval::OfSize(size)};
      const std::vector<Interval> middle = {Interval::Closed(1, size - 2)};
      const std::vector<Interval> low = {Interval::Point(0)};
      const std::vector<Interval> high = {Interval::Point(size - 1)};
      const auto& from = is_forward ? box : middle;
      const auto& to = is_forward ? middle : box;
      EXPECT_TRUE(
          Check({StepText({-1}, from, to, 5, is_forward), StepText({0}, from, to, 5, is_forward),
                 StepText({1}, from, to, 5, is_forward), StepText({0}, low, low, 5, is_forward),
                 StepText({0}, high, high, 5, is_forward)}));
    }
  }
  EXPECT_EQ(closed_, 8);
}

// Random sets of steps in two dimensions: of all that there are, of a product, of a cross.
TEST_F(SpreadingTest, StepsOfTwoDimensionsSpreadAsTheyDoOneByOne) {
  int spread = 0;
  for (int seed = 0; seed < Cases(400); ++seed) {
    Random random(seed);
    const std::vector<Interval> box = {Interval::OfSize(random.Between(1, 4)),
                                       Interval::OfSize(random.Between(1, 4))};
    std::vector<Point> steps;
    const int64_t kind = random.Between(0, 2);
    const int64_t least[] = {random.Between(-2, 0), random.Between(-2, 0)};
    const int64_t most[] = {random.Between(0, 2), random.Between(0, 2)};
    for (int64_t a = least[0]; a <= most[0]; ++a) {
      for (int64_t b = least[1]; b <= most[1]; ++b) {
        if (kind == 0 && random.OneIn(2)) continue;
        if (kind == 1 && a != 0 && b != 0) continue;
        if (std::abs(a) >= *box[0].Size() || std::abs(b) >= *box[1].Size()) continue;
        steps.push_back({a, b});
      }
    }
    std::vector<std::string> texts;
    texts.reserve(steps.size());
    for (const Point& step : steps) texts.push_back(StepText(step, box, box, 3, seed % 2 == 0));
    spread += Check(texts) ? 1 : 0;
    if (HasFailure()) return;
  }
  std::cout << spread << " sets of steps spread, " << closed_ << " closed, " << isl_.compared()
            << " compared with isl's\n";
  EXPECT_GT(spread, Cases(150));
}

// Windows of more steps than are taken one by one: intervals of distances, of some stride, that end
// at the border; with what stays beside them, and with what the window adds in two iterations.
TEST_F(SpreadingTest, LongWindowsSpreadAsTheirStepsDoOneByOne) {
  const int windows = std::max(1, Cases(32));
  int spread = 0;
  for (int seed = 0; seed < windows; ++seed) {
    Random random(seed);
    const bool is_forward = random.OneIn(2);
    const int64_t size = random.Between(68, 80);
    const int64_t stride = random.OneIn(3) ? 2 : 1;
    const int64_t steps = random.Between(65, 75);
    const int64_t least = -random.Between(0, (steps - 1) * stride);
    const std::string time = absl::StrCat(is_forward ? "d0 + 1" : "d0 - 1", ", ");
    const std::string times = is_forward ? "d0 in [0, 2]" : "d0 in [1, 3]";
    const std::string dims = absl::StrCat(times, ", d1 in [0, ", size - 1, "]");
    // The distance is a range variable, or the index is.
    std::vector<std::string> texts = {
        stride == 2 || random.OneIn(2)
            ? absl::StrCat("(d0, d1)[s0] -> (", time, "d1 + s0 * ", stride, " + ", least,
                           "), domain: ", dims, ", s0 in [0, ", steps - 1, "], d1 + s0 * ", stride,
                           " in [", -least, ", ", size - 1 - least, "]")
            : absl::StrCat("(d0, d1)[s0] -> (", time, "s0), domain: ", dims, ", s0 in [0, ",
                           size - 1, "], s0 - d1 in [", least, ", ", least + steps - 1, "]")};
    if (random.OneIn(3)) {
      texts.push_back(absl::StrCat("(d0, d1) -> (", time, "d1), domain: ", dims));
    }
    if (random.OneIn(3)) {
      texts.push_back(absl::StrCat("(d0, d1) -> (d0 ", is_forward ? "+" : "-", " 2, d1), domain: ",
                                   is_forward ? "d0 in [0, 1]" : "d0 in [2, 3]", ", d1 in [0, ",
                                   size - 1, "]"));
    }
    spread += Check(texts) ? 1 : 0;
    if (HasFailure()) return;
  }
  std::cout << spread << " of " << windows << " windows spread\n";
  EXPECT_GE(spread, windows / 2);
}

// A window that ends before the border does, or leads from a part of the array only, stops.
TEST_F(SpreadingTest, LongWindowsThatSomethingStopsDoNotSpread) {
  const std::string window = absl::StrCat("(d0, d1)[s0] -> (d0 + 1, s0), domain: d0 in [0, ",
                                          IsFullEffort() ? 2 : 1, "], ");
  EXPECT_TRUE(Check({window + "d1 in [0, 89], s0 in [0, 89], s0 - d1 in [-40, 40]"}));
  EXPECT_FALSE(Check({window + "d1 in [0, 89], s0 in [0, 49], s0 - d1 in [-40, 40]"}));
  EXPECT_FALSE(Check({window + "d1 in [0, 49], s0 in [0, 89], s0 - d1 in [-40, 40]"}));
}

// A step that leads from a part of the box only is none of a stencil.
TEST_F(SpreadingTest, StepsThatSomethingStopsDoNotSpread) {
  const std::vector<Interval> box = {Interval::OfSize(6)};
  const std::vector<Interval> part = {Interval::Closed(0, 2)};
  EXPECT_FALSE(Check({StepText({-1}, box, box, 4, true), StepText({1}, part, box, 4, true),
                      StepText({0}, box, box, 4, true)}));
  EXPECT_FALSE(Check({StepText({-1}, box, box, 4, true), StepText({1}, box, box, 4, true),
                      StepText({0}, part, box, 4, true)}));
}

TEST_F(SpreadingTest, AStencilIsATriangle) {
  const std::vector<Interval> box = {Interval::OfSize(10)};
  const std::optional<Spread> spread = SpreadWithinBox({Map(StepText({-1}, box, box, 20, true)),
                                                        Map(StepText({0}, box, box, 20, true)),
                                                        Map(StepText({1}, box, box, 20, true))});
  ASSERT_TRUE(spread.has_value());
  EXPECT_TRUE(spread->others.empty());
  EXPECT_EQ(spread->powers.size(), 1);
}

}  // namespace
}  // namespace xla_indexing::internal

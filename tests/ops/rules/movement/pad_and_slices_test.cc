// Pads, slices and updates, whose maps are pieces of an array. Expected maps are worked out by hand
// from the definitions.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;

class PadAndSlicesTest : public IndexingTest {};

TEST_F(PadAndSlicesTest, PadValueInDisjointPieces) {
  const HloInstruction* pad = Entry(R"(
    a = f32[4,4] parameter(0)
    v = f32[] parameter(1)
    ROOT r = f32[12,16] pad(a, v), padding=1_4_1x4_8_0)");
  EXPECT_THAT(OutputToInput(pad, Exact()),
              ElementsAre("0.0.0 (d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], "
                          "d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]",
                          "0.1.0 (d0, d1) -> (), domain: d0 in [0, 0], d1 in [0, 15]",
                          "0.1.0 (d0, d1) -> (), domain: d0 in [8, 11], d1 in [0, 15]",
                          "0.1.0 (d0, d1) -> (), domain: d0 in [1, 7], d1 in [0, 15], "
                          "(d0 - 1) mod 2 in [1, 1]",
                          "0.1.0 (d0, d1) -> (), domain: d0 in [1, 7], d1 in [0, 3], "
                          "(d0 - 1) mod 2 in [0, 0]",
                          "0.1.0 (d0, d1) -> (), domain: d0 in [1, 7], d1 in [8, 15], "
                          "(d0 - 1) mod 2 in [0, 0]"));
  EXPECT_THAT(InputToOutput(pad, Exact()),
              ElementsAre("0.0.0 (d0, d1) -> (d0 * 2 + 1, d1 + 4), domain: d0 in [0, 3], "
                          "d1 in [0, 3]",
                          "0.1.0 ()[s0] -> (0, s0), domain: s0 in [0, 15]",
                          "0.1.0 ()[s0, s1] -> (s0, s1), domain: s0 in [8, 11], s1 in [0, 15]",
                          "0.1.0 ()[s0, s1] -> (s0, s1), domain: s0 in [1, 7], s1 in [0, 15], "
                          "(s0 - 1) mod 2 in [1, 1]",
                          "0.1.0 ()[s0, s1] -> (s0, s1), domain: s0 in [1, 7], s1 in [0, 3], "
                          "(s0 - 1) mod 2 in [0, 0]",
                          "0.1.0 ()[s0, s1] -> (s0, s1), domain: s0 in [1, 7], s1 in [8, 15], "
                          "(s0 - 1) mod 2 in [0, 0]"));
}

TEST_F(PadAndSlicesTest, NegativePaddingTakesElementsAway) {
  const HloInstruction* pad = Entry(R"(
    a = f32[10] parameter(0)
    v = f32[] parameter(1)
    ROOT r = f32[5] pad(a, v), padding=-2_-3)");
  // Nothing is padded, so that nothing reads the value.
  EXPECT_THAT(OutputToInput(pad), ElementsAre("0.0.0 (d0) -> (d0 + 2), domain: d0 in [0, 4]"));
  EXPECT_THAT(InputToOutput(pad), ElementsAre("0.0.0 (d0) -> (d0 - 2), domain: d0 in [2, 6]"));
}

TEST_F(PadAndSlicesTest, NegativeAndInteriorPadding) {
  const HloInstruction* pad = Entry(R"(
    a = f32[4] parameter(0)
    v = f32[] parameter(1)
    ROOT r = f32[5] pad(a, v), padding=-2_-3_2)");
  // Elements at -2, 1, 4 and 7 of the result, of which the second and third are in it.
  EXPECT_THAT(OutputToInput(pad, Exact()),
              ElementsAre("0.0.0 (d0) -> ((d0 + 2) floordiv 3), domain: d0 in [0, 4], "
                          "(d0 + 2) mod 3 in [0, 0]",
                          "0.1.0 (d0) -> (), domain: d0 in [0, 4], (d0 + 2) mod 3 in [1, 2]"));
  EXPECT_THAT(InputToOutput(pad).at(0), "0.0.0 (d0) -> (d0 * 3 - 2), domain: d0 in [1, 2]");
}

TEST_F(PadAndSlicesTest, PaddingThatTakesAllElementsAwayIsTheValueEverywhere) {
  // In the second, elements stand at -1 and 5.
  for (const char* text : {"p = f32[3] parameter(0) v = f32[] parameter(1) "
                           "ROOT r = f32[5] pad(p, v), padding=-3_5",
                           "p = f32[2] parameter(0) v = f32[] parameter(1) "
                           "ROOT r = f32[5] pad(p, v), padding=-1_-1_5"}) {
    const HloInstruction* pad = Root(absl::StrCat("ENTRY e { ", text, " }"));
    EXPECT_THAT(OutputToInput(pad), ElementsAre("0.1.0 (d0) -> (), domain: d0 in [0, 4]"));
    EXPECT_THAT(InputToOutput(pad), ElementsAre("0.1.0 ()[s0] -> (s0), domain: s0 in [0, 4]"));
  }
}

TEST_F(PadAndSlicesTest, PaddingOfNothingIsTheValueEverywhere) {
  const HloInstruction* pad = Entry(R"(
    a = f32[0] parameter(0)
    v = f32[] parameter(1)
    ROOT r = f32[5] pad(a, v), padding=2_3)");
  EXPECT_THAT(OutputToInput(pad), ElementsAre("0.1.0 (d0) -> (), domain: d0 in [0, 4]"));
  EXPECT_THAT(OutputToInput(pad, Exact()), ElementsAre("0.1.0 (d0) -> (), domain: d0 in [0, 4]"));
}

// The one element stands at 2; the step to the next, which there is not, would be 2^63.
TEST_F(PadAndSlicesTest, PaddingBetweenElementsOfWhichThereIsOne) {
  const HloInstruction* pad = Entry(R"(
    a = f32[1] parameter(0)
    v = f32[] parameter(1)
    ROOT r = f32[5] pad(a, v), padding=2_2_9223372036854775807)");
  EXPECT_THAT(OutputToInput(pad, Exact()),
              ElementsAre("0.0.0 (d0) -> ((d0 - 2) floordiv 9223372036854775807), domain: d0 in "
                          "[2, 2], (d0 - 2) mod 9223372036854775807 in [0, 0]",
                          "0.1.0 (d0) -> (), domain: d0 in [0, 1]",
                          "0.1.0 (d0) -> (), domain: d0 in [3, 4]"));
}

TEST_F(PadAndSlicesTest, StartsOfDynamicSliceInOneVector) {
  const HloInstruction* slice = Entry(R"(
    a = f32[8,9] parameter(0)
    starts = s32[2] parameter(1)
    ROOT r = f32[2,3] dynamic-slice(a, starts), dynamic_slice_sizes={2,3})");
  EXPECT_THAT(OutputToInput(slice),
              ElementsAre("0.0.0 (d0, d1){rt0, rt1} -> (d0 + rt0, d1 + rt1), domain: d0 in [0, 1], "
                          "d1 in [0, 2], rt0 in [0, 6], rt1 in [0, 6]\n"
                          "  rt0: starts, clamp [0, 6]; (d0, d1) -> (0), domain: d0 in [0, 1], "
                          "d1 in [0, 2]\n"
                          "  rt1: starts, clamp [0, 6]; (d0, d1) -> (1), domain: d0 in [0, 1], "
                          "d1 in [0, 2]",
                          "0.1.0 (d0, d1)[s0] -> (s0), domain: d0 in [0, 1], d1 in [0, 2], "
                          "s0 in [0, 1]"));
}

TEST_F(PadAndSlicesTest, OperandOfDynamicUpdateSliceInDisjointPieces) {
  const HloInstruction* update = Entry(R"(
    a = f32[8,9] parameter(0)
    u = f32[2,9] parameter(1)
    i = s32[] parameter(2)
    j = s32[] parameter(3)
    ROOT r = f32[8,9] dynamic-update-slice(a, u, i, j))");
  const std::vector<std::string> lines = OutputToInput(update, Exact());
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[0], ::testing::StartsWith(
                            "0.0.0 (d0, d1){rt0, rt1} -> (d0, d1), domain: d0 in [0, 7], "
                            "d1 in [0, 8], rt0 in [0, 6], rt1 in [0, 0], d0 - rt0 in [-inf, -1]"));
  EXPECT_THAT(lines[1], ::testing::StartsWith(
                            "0.0.0 (d0, d1){rt0, rt1} -> (d0, d1), domain: d0 in [0, 7], "
                            "d1 in [0, 8], rt0 in [0, 6], rt1 in [0, 0], d0 - rt0 in [2, inf]"));
  const std::vector<std::string> reached = InputToOutput(update, Exact());
  ASSERT_EQ(reached.size(), 5u);
  EXPECT_EQ(reached[0], lines[0]);
  EXPECT_EQ(reached[1], lines[1]);
}

TEST_F(PadAndSlicesTest, AnUpdateOfEverythingLeavesNothingOfTheOperand) {
  const HloInstruction* update = Entry(R"(
    a = f32[8] parameter(0)
    u = f32[8] parameter(1)
    i = s32[] parameter(2)
    ROOT r = f32[8] dynamic-update-slice(a, u, i))");
  EXPECT_EQ(OutputToInput(update).size(), 2u);
  EXPECT_EQ(OutputToInput(update).at(0).substr(0, 5), "0.1.0");
}

// Few pieces are the default, and one map where there would be more; `few_pieces` says how many.
TEST_F(PadAndSlicesTest, WhatIsLeftOfAnArrayIsFewPiecesOrOneLargerMap) {
  const auto lines = [&](absl::string_view text, int few_pieces, bool exact) {
    IndexingOptions options;
    options.few_pieces = few_pieces;
    options.exact = exact;
    const absl::string_view operand = absl::StrContains(text, "pad(") ? "0.1.0" : "0.0.0";
    std::vector<std::string> of_operand;
    for (const std::string& line : OutputToInput(Entry(text), options)) {
      if (absl::StartsWith(line, operand)) of_operand.push_back(line);
    }
    return of_operand;
  };
  const struct {
    const char* text;
    int pieces;
  } cases[] = {
      {"a = f32[9] parameter(0) v = f32[] parameter(1) ROOT r = f32[12] pad(a, v), padding=0_3", 1},
      {"a = f32[9] parameter(0) v = f32[] parameter(1) ROOT r = f32[12] pad(a, v), padding=1_2", 2},
      {"a = f32[3] parameter(0) v = f32[] parameter(1) ROOT r = f32[8] pad(a, v), padding=1_2_1",
       3},
      {"a = f32[3,3] parameter(0) v = f32[] parameter(1) ROOT r = f32[5,5] pad(a, v), "
       "padding=1_1x1_1",
       4},
      {"a = f32[9,3] parameter(0) u = f32[2,3] parameter(1) i = s32[] parameter(2) ROOT r = "
       "f32[9,3] dynamic-update-slice(a, u, i, i)",
       2},
      {"a = f32[9,4] parameter(0) u = f32[2,3] parameter(1) i = s32[] parameter(2) ROOT r = "
       "f32[9,4] dynamic-update-slice(a, u, i, i)",
       4}};
  for (const auto& [text, pieces] : cases) {
    for (const int few : {0, 1, 2, 3, 4}) {
      const std::vector<std::string> usual = lines(text, few, /*exact=*/false);
      const std::vector<std::string> exact = lines(text, few, /*exact=*/true);
      EXPECT_EQ(exact.size(), pieces) << text;
      EXPECT_EQ(usual.size(), pieces <= few ? pieces : 1) << text;
      EXPECT_EQ(usual == exact, pieces <= few) << text;
      EXPECT_EQ(absl::StrContains(usual[0], "over-approximate"), pieces > few) << usual[0];
    }
  }
}

TEST_F(PadAndSlicesTest, AnUpdateOfNothingLeavesTheOperand) {
  const HloInstruction* update = Entry(R"(
    a = f32[8] parameter(0)
    u = f32[0] parameter(1)
    i = s32[] parameter(2)
    ROOT r = f32[8] dynamic-update-slice(a, u, i))");
  EXPECT_EQ(OutputToInput(update).at(0), "0.0.0 (d0) -> (d0), domain: d0 in [0, 7]");
}

// The usual form names the operand where there are exact pieces of it, over all small sizes.
TEST_F(PadAndSlicesTest, AnUpdateLeavesTheOperandWhereItLeavesAPiece) {
  int left = 0;
  for (int n0 = 0; n0 <= 3; ++n0) {
    for (int n1 = 0; n1 <= 3; ++n1) {
      for (int u0 = 0; u0 <= n0; ++u0) {
        for (int u1 = 0; u1 <= n1; ++u1) {
          const std::string array = absl::StrCat("f32[", n0, ",", n1, "]");
          const HloInstruction* update = Entry(
              absl::StrCat("a = ", array, " parameter(0) u = f32[", u0, ",", u1, "] parameter(1) ",
                           "i = s32[] parameter(2) j = s32[] parameter(3) ROOT r = ", array,
                           " dynamic-update-slice(a, u, i, j)"));
          const auto names_operand = [](const std::vector<std::string>& lines) {
            return !lines.empty() && absl::StartsWith(lines.front(), "0.0.0");
          };
          const bool has_piece = names_operand(OutputToInput(update, Exact()));
          EXPECT_EQ(names_operand(OutputToInput(update)), has_piece) << update->ToString();
          EXPECT_EQ(names_operand(InputToOutput(update)), has_piece) << update->ToString();
          left += has_piece ? 1 : 0;
        }
      }
    }
  }
  // In 72 of 100 pairs of sizes the operand has elements and the update is not as large.
  EXPECT_EQ(left, 72);
}

// The builders of these operations say themselves whether a map has points. Over all small
// parameters, no map is empty, and there is one where the definition of the operation has an element.
class MapsWithPoints : public PadAndSlicesTest {
 protected:
  // How many maps there are to or from an operand, of which none is empty.
  int CountMaps(const HloInstruction* instruction, Direction direction, int64_t operand) {
    int count = 0;
    const auto entries = ComputeIndexing(*instruction, direction, &context_, Exact());
    EXPECT_TRUE(entries.ok()) << entries.status();
    if (!entries.ok()) return 0;
    for (const IndexingEntry& entry : *entries) {
      if (entry.operand != operand) continue;
      for (OperandIndexing indexing : entry.indexing) {
        const std::string text = indexing.ToString();
        indexing.Simplify();
        EXPECT_FALSE(indexing.IsKnownEmpty()) << instruction->ToString() << "\n" << text;
        ++count;
      }
    }
    return count;
  }
};

TEST_F(MapsWithPoints, PadsInOneDimension) {
  for (int size = 0; size <= 3; ++size) {
    for (int low = -3; low <= 2; ++low) {
      for (int high = -3; high <= 2; ++high) {
        for (int interior = 0; interior <= 2; ++interior) {
          const int step = interior + 1;
          const int spread = size == 0 ? 0 : (size - 1) * step + 1;
          const int padded = low + spread + high;
          if (padded < 0) continue;
          // Where the result is padding: before the operand's elements, after them, between them.
          bool is_inside = false;
          bool is_before = false;
          bool is_after = false;
          bool is_between = false;
          for (int d = 0; d < padded; ++d) {
            const int at = d - low;
            const bool has_element = at >= 0 && at < spread && at % step == 0;
            is_inside = is_inside || has_element;
            is_before = is_before || at < 0;
            is_after = is_after || at >= spread;
            is_between = is_between || (at >= 0 && at < spread && !has_element);
          }
          const int pieces = is_inside ? is_before + is_after + is_between : padded == 0 ? 0 : 1;
          const HloInstruction* pad = Entry(absl::StrCat(
              "a = f32[", size, "] parameter(0) v = f32[] parameter(1) ROOT r = ", "f32[", padded,
              "] pad(a, v), padding=", low, "_", high, "_", interior));
          for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
            EXPECT_EQ(CountMaps(pad, direction, 0), is_inside) << pad->ToString();
            EXPECT_EQ(CountMaps(pad, direction, 1), pieces) << pad->ToString();
          }
        }
      }
    }
  }
}

TEST_F(MapsWithPoints, SlicesAndUpdates) {
  for (int n = 0; n <= 4; ++n) {
    for (int size = 0; size <= n; ++size) {
      const HloInstruction* slice = Entry(
          absl::StrCat("a = f32[3,", n, "] parameter(0) i = s32[] parameter(1) ROOT r = f32[2,",
                       size, "] dynamic-slice(a, i, i), dynamic_slice_sizes={2,", size, "}"));
      const HloInstruction* update = Entry(absl::StrCat(
          "a = f32[3,", n, "] parameter(0) u = f32[2,", size, "] parameter(1) ",
          "i = s32[] parameter(2) ROOT r = f32[3,", n, "] dynamic-update-slice(a, u, i, i)"));
      // An update of nothing leaves the operand as it is, and one that can move leaves what is on
      // both sides of it.
      const int left = n == 0 ? 0 : size == 0 ? 1 : size == n ? 2 : 4;
      for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
        EXPECT_EQ(CountMaps(slice, direction, 0), size > 0) << slice->ToString();
        EXPECT_EQ(CountMaps(update, direction, 0), left) << update->ToString();
        EXPECT_EQ(CountMaps(update, direction, 1), size > 0) << update->ToString();
      }
      for (int stride = 1; stride <= 3; ++stride) {
        const int count = (size + stride - 1) / stride;
        const HloInstruction* strided =
            Entry(absl::StrCat("a = f32[", n, "] parameter(0) ROOT r = f32[", count,
                               "] slice(a), slice={[", n - size, ":", n, ":", stride, "]}"));
        for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
          EXPECT_EQ(CountMaps(strided, direction, 0), size > 0) << strided->ToString();
        }
      }
    }
  }
}

}  // namespace
}  // namespace xla_indexing::internal

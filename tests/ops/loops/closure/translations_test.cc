// All powers of one timed map in closed form, against ways that are followed step by step, and against
// isl's transitive closure, which is code of its own (tests/map/isl_judge.h). The reference executes
// loops of several (tests/reference/).

#include "xla_indexing/ops/loops/closure/translations.h"

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineMap.h"
#include "tests/ops/loops/closure/isl_closures.h"
#include "tests/testing/effort.h"
#include "tests/testing/map_pairs.h"
#include "tests/testing/random.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {
namespace {

class TranslationsTest : public MapPairsTest {};

// Elements stay as long as row d0, which is written at time d0, is not theirs.
TEST_F(TranslationsTest, ElementsStayUntilTheyAreWritten) {
  const auto powers = CloseTranslation(
      Map("(d0, d1) -> (d0 + 1, d1), domain: d0 in [0, 9], d1 in [0, 9], d1 - d0 in [1, 9]"));
  ASSERT_TRUE(powers.has_value());
  // d0 + s0 - 1 is the last time at which the element stays.
  const OperandIndexing expected =
      Map("(d0, d1)[s0] -> (d0 + s0, d1), domain: d0 in [0, 8], d1 in [1, 9], s0 in [1, 9], "
          "d0 + s0 - d1 in [-8, 0]");
  EXPECT_EQ(powers->map().affine_map(), expected.map().affine_map());
}

// Where a remainder goes round and the element moves on none the less, or may do so.
TEST_F(TranslationsTest, WhatIsNotMonotonousIsNotClosed) {
  for (const char* constraint : {"(d0 * 2 + d1) mod 7 in [0, 5]", "(d0 * 3 + d1) mod 17 in [1, 15]",
                                 "(d0 + d1) mod 7 + d1 in [1, 9]"}) {
    EXPECT_FALSE(
        CloseTranslation(Map(absl::StrCat("(d0, d1) -> (d0 + 1, d1), domain: d0 in [0, 30], "
                                          "d1 in [0, 9], ",
                                          constraint)))
            .has_value())
        << constraint;
  }
}

// Steps in which one of `size` rows of a ring is written at each time, or several of them, in any order
// and direction; with and without other bounds.
std::vector<std::string> StepsInRings(int64_t size) {
  std::vector<std::string> intervals;
  for (int64_t least = 0; least < size; ++least) {
    for (int64_t most = least; most < size; ++most) {
      intervals.push_back(absl::StrCat("[", least, ", ", most, "]"));
    }
  }
  std::vector<std::string> rows;
  for (const int64_t factor : {-2, -1, 1, 2}) {
    for (const char* element : {"d1", "-d1", "0"}) {
      rows.push_back(absl::StrCat("(d0 * ", factor, " + ", element, ") mod ", size));
    }
  }
  std::vector<std::string> steps;
  for (const char* next : {"d0 + 1", "d0 - 1"}) {
    for (const std::string& row : rows) {
      for (const std::string& interval : intervals) {
        const std::string step =
            absl::StrCat("(d0, d1) -> (", next, ", d1), domain: d0 in [0, 20], d1 in [0, ",
                         size - 1, "], ", row, " in ", interval);
        steps.push_back(step);
        steps.push_back(step + ", d0 - d1 in [-5, 12]");
      }
    }
  }
  return steps;
}

TEST_F(TranslationsTest, ElementsStayInARingUntilTheyAreWritten) {
  int closed = 0;
  int all = 0;
  CasesInTurn cases;
  for (const int64_t size : {2, 3, 7, 8}) {
    for (const std::string& text : StepsInRings(size)) {
      if (!cases.IsNextTried()) continue;
      const OperandIndexing step = Map(text);
      if (step.IsKnownEmpty()) continue;
      ++all;
      const std::optional<OperandIndexing> powers = CloseTranslation(step);
      if (!powers) continue;
      ++closed;
      ASSERT_EQ(MapPairsOf(*powers), ClosureOf(MapPairsOf(step))) << step.ToString();
    }
  }
  std::cout << closed << " of " << all << " rings closed\n";
  EXPECT_GT(10 * closed, 7 * all);
}

// As a program writes row t mod n: what stays is above that row, or below it.
TEST_F(TranslationsTest, ElementsStayAboveAndBelowTheRowThatIsWritten) {
  for (const int64_t size : {3, 8, 11}) {
    for (const bool is_forward : {true, false}) {
      for (const bool is_above : {true, false}) {
        const OperandIndexing step = Map(absl::StrCat(
            "(d0, d1) -> (d0 ", is_forward ? "+ 1" : "- 1",
            ", d1), domain: d0 in [0, 40], d1 in [0, ", size - 1, "], d0 mod ", size, " - d1 in [",
            is_above ? 1 - size : 1, ", ", is_above ? -1 : size - 1, "]"));
        const std::optional<OperandIndexing> powers = CloseTranslation(step);
        ASSERT_TRUE(powers.has_value()) << step.ToString();
        EXPECT_EQ(MapPairsOf(*powers), ClosureOf(MapPairsOf(step))) << step.ToString();
      }
    }
  }
}

// What is read does not depend on the element, but on the time, on an element that moves, or on any
// element: only the last step says what it is.
TEST_F(TranslationsTest, OnlyTheLastStepSaysWhichRowIsRead) {
  for (const char* text :
       {"(d0, d1) -> (d0 - 1, d0 - 1), domain: d0 in [1, 9], d1 in [0, 8]",
        "(d0, d1) -> (d0 + 1, d0 floordiv 2), domain: d0 in [0, 9], d1 in [0, 6]",
        "(d0, d1) -> (d0 + 1, d0 * 3 mod 7), domain: d0 in [0, 9], d1 in [0, 6]",
        "(d0, d1)[s0] -> (d0 + 1, d0 + s0), domain: d0 in [0, 5], d1 in [0, 7], s0 in [0, 2]",
        "(d0, d1, d2) -> (d0 + 1, d1 + 1, d1), domain: d0 in [0, 6], d1 in [0, 4], d2 in [0, 4]",
        ("(d0, d1, d2) -> (d0 + 1, d1 - 1, d0 + d1), domain: d0 in [0, 6], d1 in [0, 4], "
         "d2 in [0, 12], d0 - d1 in [-3, 3]")}) {
    const OperandIndexing step = Map(text);
    const std::optional<OperandIndexing> powers = CloseTranslation(step);
    ASSERT_TRUE(powers.has_value()) << text;
    EXPECT_EQ(MapPairsOf(*powers), ClosureOf(MapPairsOf(step))) << text;
  }
}

// Where the row that is read is beyond the array at times, or some elements read nothing, the next
// step depends on it.
TEST_F(TranslationsTest, RowsThatMayBeBeyondTheDomainAreNotClosed) {
  for (const char* text :
       {"(d0, d1) -> (d0 + 1, d0), domain: d0 in [0, 9], d1 in [0, 6]",
        "(d0, d1) -> (d0 + 1, d0), domain: d0 in [0, 6], d1 in [0, 6], d0 - d1 in [-3, 2]"}) {
    EXPECT_FALSE(CloseTranslation(Map(text)).has_value()) << text;
  }
}

#ifdef XLA_INDEXING_HAS_ISL

// A random piece: the time goes on by one, elements move, stay, are turned round, or come from
// anywhere, in a random part of a random array.
std::string RandomPiece(Random* random) {
  const int64_t size = random->Between(1, 7);
  const int64_t count = random->Between(1, 9);
  const bool is_forward = random->OneIn(2);
  std::string element;
  std::string ranges;
  std::string range_domain;
  switch (random->Between(0, 5)) {
    case 5:
      element = absl::StrCat("d0 + ", random->Between(-1, 1));
      break;
    case 0:
      element = "d1";
      break;
    case 1:
      element = absl::StrCat(size - 1, " - d1");
      break;
    case 2:
      element = "s0";
      ranges = "[s0]";
      range_domain = absl::StrCat(", s0 in [0, ", size - 1, "]");
      break;
    default:
      element = absl::StrCat("d1 + ", random->Between(-2, 2));
  }
  std::string domain = absl::StrCat(
      "d0 in [", is_forward ? 0 : 1, ", ", is_forward ? count - 1 : count, "], d1 in [",
      random->OneIn(3) ? random->Between(0, size - 1) : 0, ", ", size - 1, "]", range_domain);
  for (int64_t guards = random->Between(0, 2); guards > 0; --guards) {
    const int64_t factor = random->Between(-2, 2);
    const int64_t least = random->Between(-6, 4);
    absl::StrAppend(&domain, ", d1 + d0 * ", factor, " in [", least, ", ",
                    least + random->Between(0, 12), "]");
  }
  if (random->OneIn(6)) absl::StrAppend(&domain, ", d1 floordiv 2 - d0 in [-4, 1]");
  return absl::StrCat("(d0, d1)", ranges, " -> (d0 ", is_forward ? "+" : "-", " 1, ", element,
                      "), domain: ", domain);
}

TEST_F(TranslationsTest, RandomPiecesHaveTheClosuresThatIslFinds) {
  int closed = 0;
  IslClosures isl(1);
  const int pieces = Cases(600);
  for (int seed = 0; seed < pieces; ++seed) {
    Random random(seed);
    const std::string text = RandomPiece(&random);
    const OperandIndexing piece = Map(text);
    if (piece.IsKnownEmpty()) continue;
    const std::optional<OperandIndexing> powers = CloseTranslation(piece);
    if (!powers) continue;
    ++closed;
    OperandIndexingSet step;
    step.Add(piece);
    isl.Compare(step, OperandIndexingSet(*powers), text);
    if (HasFailure()) return;
  }
  std::cout << closed << " of " << pieces << " closed, " << isl.compared()
            << " compared with isl's\n";
  EXPECT_GT(isl.compared(), pieces / 4);
}

#endif  // XLA_INDEXING_HAS_ISL

}  // namespace
}  // namespace xla_indexing::internal

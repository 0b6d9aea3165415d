// All powers of maps that add constants beside one that turns round, against ways that are followed
// step by step, and against isl's transitive closure, which is code of its own
// (tests/map/isl_judge.h).

#include "xla_indexing/ops/loops/closure/reflections.h"

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tests/ops/loops/closure/isl_closures.h"
#include "tests/testing/effort.h"
#include "tests/testing/map_pairs.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {
namespace {

// An index in [0, size - 1] that a step leads to: that of dimension `of`, turned round or not, and
// `added`; past an end it goes round, or it leads nowhere.
struct SteppedIndex {
  int of = 0;
  bool is_turned = false;
  int64_t added = 0;
  bool goes_round = false;
};

class ReflectionsTest : public MapPairsTest {
 protected:
  // Adds a step as maps without remainders, one for each way of going round.
  void AddStep(const std::vector<SteppedIndex>& step, absl::Span<const int64_t> sizes,
               int64_t count, bool is_forward, OperandIndexingSet* pieces) {
    for (int rounds = 0; rounds < 1 << (2 * step.size()); ++rounds) {
      std::string dims = "d0";
      std::string results = is_forward ? "d0 + 1" : "d0 - 1";
      std::string domain =
          absl::StrCat("d0 in [", is_forward ? 0 : 1, ", ", is_forward ? count - 1 : count, "]");
      std::string constraints;
      bool is_there = true;
      for (size_t j = 0; j < step.size(); ++j) {
        // Round not at all, up or down.
        const int64_t round = ((rounds >> (2 * j)) & 3) - 1;
        if (round > 1 || (round != 0 && !step[j].goes_round)) is_there = false;
        const std::string index =
            absl::StrCat(step[j].is_turned ? absl::StrCat(sizes[j] - 1, " - ") : "", "d",
                         step[j].of + 1, " + ", step[j].added + round * sizes[j]);
        absl::StrAppend(&dims, ", d", j + 1);
        absl::StrAppend(&results, ", ", index);
        absl::StrAppend(&domain, ", d", j + 1, " in [0, ", sizes[j] - 1, "]");
        absl::StrAppend(&constraints, ", ", index, " in [0, ", sizes[j] - 1, "]");
      }
      if (!is_there) continue;
      pieces->Add(
          Map(absl::StrCat("(", dims, ") -> (", results, "), domain: ", domain, constraints)));
    }
  }

  // Whether the law applies; it then gives the closure.
  bool Check(const OperandIndexingSet& pieces) {
    const std::optional<OperandIndexingSet> powers = CloseReflected(pieces);
    if (!powers) return false;
    EXPECT_EQ(MapPairsOf(*powers), ClosureOf(MapPairsOf(pieces))) << Text(pieces);
    isl_.Compare(pieces, *powers, Text(pieces));
    return true;
  }

  static std::string Text(const OperandIndexingSet& set) {
    std::string text;
    for (const OperandIndexing& map : set) absl::StrAppend(&text, map.ToString(), "\n");
    return text;
  }

  IslClosures isl_{8};
};

// Every set of steps of up to two elements beside every reflection, with and without going round.
TEST_F(ReflectionsTest, StepsAndAReflectionOfOneDimension) {
  int closed = 0;
  int all = 0;
  int with_borders = 0;
  CasesInTurn cases;
  const auto check = [&](int64_t size, int steps, int64_t center, bool moves_round,
                         bool turns_round) {
    if (!cases.IsNextTried()) return;
    OperandIndexingSet pieces;
    for (int64_t c = -2; c <= 2; ++c) {
      if (((steps >> (c + 2)) & 1) == 0) continue;
      AddStep({{0, false, c, moves_round}}, {size}, 7, steps % 2 == 0, &pieces);
    }
    AddStep({{0, true, -center, turns_round}}, {size}, 7, steps % 2 == 0, &pieces);
    ++all;
    const bool is_closed = Check(pieces);
    closed += is_closed ? 1 : 0;
    with_borders += is_closed && !moves_round ? 1 : 0;
  };
  for (int64_t size = 1; size <= 6; ++size) {
    for (int steps = 1; steps < 1 << 5 && !HasFailure(); ++steps) {
      for (int64_t center = 0; center < size; ++center) {
        for (const int round : {0, 1, 2, 3}) check(size, steps, center, round >= 2, round % 2 == 1);
      }
    }
  }
  std::cout << closed << " of " << all << " closed, " << with_borders << " of them with borders, "
            << isl_.compared() << " compared with isl's\n";
  EXPECT_GT(closed, Cases(400));
  EXPECT_GT(with_borders, Cases(100));
}

// The steps of a set in two dimensions, of which a reflection turns one, both, or changes them.
TEST_F(ReflectionsTest, StepsAndAReflectionOfTwoDimensions) {
  int closed = 0;
  int all = 0;
  CasesInTurn cases;
  for (const auto& [height, width] : std::vector<std::pair<int64_t, int64_t>>{{3, 3}, {2, 4}}) {
    for (int steps = 1; steps < 1 << 9; ++steps) {
      if (__builtin_popcount(steps) > 4) continue;
      for (int kind = 0; kind < 8; ++kind) {
        const bool goes_round = kind >= 4;
        if (kind % 4 == 3 && height != width) continue;
        if (!cases.IsNextTried()) continue;
        OperandIndexingSet pieces;
        for (int k = 0; k < 9; ++k) {
          if (((steps >> k) & 1) == 0) continue;
          AddStep({{0, false, k / 3 - 1, goes_round}, {1, false, k % 3 - 1, goes_round}},
                  {height, width}, 4, kind % 2 == 0, &pieces);
        }
        if (kind % 4 == 3) {
          AddStep({{1}, {0}}, {height, width}, 4, kind % 2 == 0, &pieces);
        } else {
          AddStep({{0, kind % 4 != 1}, {1, kind % 4 != 0}}, {height, width}, 4, kind % 2 == 0,
                  &pieces);
        }
        ++all;
        closed += Check(pieces) ? 1 : 0;
        if (HasFailure()) return;
      }
    }
  }
  std::cout << closed << " of " << all << " closed, " << isl_.compared()
            << " compared with isl's\n";
  EXPECT_GT(closed, Cases(100));
}

// A map that turns one dimension round and moves another on does not undo itself: twice, it moves that
// dimension by two. The law does not apply to it, unless going by two is going nowhere.
TEST_F(ReflectionsTest, AGlideIsNoReflection) {
  int closed = 0;
  for (int64_t width = 1; width <= 5; ++width) {
    for (int steps = 1; steps < 1 << 9; ++steps) {
      if (__builtin_popcount(steps) > 2) continue;
      for (const bool goes_round : {false, true}) {
        OperandIndexingSet pieces;
        for (int k = 0; k < 9; ++k) {
          if (((steps >> k) & 1) == 0) continue;
          AddStep({{0, false, k / 3 - 1, goes_round}, {1, false, k % 3 - 1, goes_round}},
                  {3, width}, 5, steps % 2 == 0, &pieces);
        }
        AddStep({{0, true}, {1, false, 1, true}}, {3, width}, 5, steps % 2 == 0, &pieces);
        closed += Check(pieces) ? 1 : 0;
        if (HasFailure()) return;
      }
    }
  }
  std::cout << closed << " closed\n";
  EXPECT_GT(closed, 10);
}

}  // namespace
}  // namespace xla_indexing::internal

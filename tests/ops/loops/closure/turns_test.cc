// All powers of maps that permute dimensions, turn them round and add constants, going round or not,
// against ways that are followed step by step, and against isl's transitive closure, which is code of
// its own (tests/map/isl_judge.h).

#include "xla_indexing/ops/loops/closure/turns.h"

#include <cstdint>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/ops/loops/closure/isl_closures.h"
#include "tests/testing/effort.h"
#include "tests/testing/map_pairs.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {
namespace {

// A dimension of the element that a step leads to: dimension `of`, turned round or not, and `moved`
// on; past the end it goes round, or it leads nowhere.
struct Turned {
  int of = 0;
  bool is_turned = false;
  int64_t moved = 0;
  bool goes_round = false;
};

class TurnsTest : public MapPairsTest {
 protected:
  // The step as maps without remainders, one for each way of going round.
  OperandIndexingSet Step(const std::vector<Turned>& turned, int64_t size, int64_t count) {
    OperandIndexingSet pieces;
    for (int64_t rounds = 0; rounds < int64_t{1} << turned.size(); ++rounds) {
      std::string dims = "d0";
      std::string results = "d0 + 1";
      std::string domain = absl::StrCat("d0 in [0, ", count - 1, "]");
      std::string constraints;
      bool is_there = true;
      for (size_t j = 0; j < turned.size(); ++j) {
        const Turned& t = turned[j];
        const bool is_round = ((rounds >> j) & 1) != 0;
        if (is_round && (!t.goes_round || t.moved == 0)) is_there = false;
        const std::string index =
            absl::StrCat(t.is_turned ? absl::StrCat(size - 1, " - ") : "", "d", t.of + 1, " + ",
                         t.moved, is_round ? " - " : " + ", is_round ? size : 0);
        absl::StrAppend(&dims, ", d", j + 1);
        absl::StrAppend(&results, ", ", index);
        absl::StrAppend(&domain, ", d", j + 1, " in [0, ", size - 1, "]");
        absl::StrAppend(&constraints, ", ", index, " in [0, ", size - 1, "]");
      }
      if (!is_there) continue;
      pieces.Add(
          Map(absl::StrCat("(", dims, ") -> (", results, "), domain: ", domain, constraints)));
    }
    return pieces;
  }

  // Whether the law applies; it then gives the closure.
  bool Check(const std::vector<Turned>& turned, int64_t size, int64_t count) {
    const OperandIndexingSet pieces = Step(turned, size, count);
    const std::optional<OperandIndexingSet> powers = CloseTurning(pieces);
    if (!powers) return false;
    EXPECT_EQ(MapPairsOf(*powers), ClosureOf(MapPairsOf(pieces))) << size << " " << count;
    isl_.Compare(pieces, *powers, absl::StrCat(size, " ", count));
    return true;
  }

  IslClosures isl_{2};
};

// Every permutation of two dimensions with every choice of signs, moved by up to one, in small arrays.
TEST_F(TurnsTest, StepsOfTwoDimensionsTurnAsTheyDoOneByOne) {
  int closed = 0;
  int all = 0;
  CasesInTurn cases;
  for (const int64_t size : {2, 3, 5}) {
    for (int bits = 0; bits < 1 << 7; ++bits) {
      const bool is_swapped = (bits & 1) != 0;
      Turned first = {is_swapped ? 1 : 0, (bits & 2) != 0, (bits >> 2) & 1, (bits & 8) != 0};
      Turned second = {is_swapped ? 0 : 1, (bits & 16) != 0, (bits >> 5) & 1, (bits & 64) != 0};
      // Nothing turns.
      if (!is_swapped && !first.is_turned && !second.is_turned) continue;
      if (!cases.IsNextTried()) continue;
      ++all;
      closed += Check({first, second}, size, /*count=*/9) ? 1 : 0;
      if (HasFailure()) return;
    }
  }
  std::cout << closed << " of " << all << " steps closed, " << isl_.compared()
            << " compared with isl's\n";
  EXPECT_GT(10 * closed, 8 * all);
}

// Three dimensions that change places, the first of which goes round: its powers come again after
// three times as many steps as it has elements.
TEST_F(TurnsTest, DimensionsThatChangePlacesGoRound) {
  for (const int64_t size : {2, 3, 4}) {
    EXPECT_TRUE(Check({{1}, {2}, {0, false, 1, true}}, size, /*count=*/14));
  }
}

}  // namespace
}  // namespace xla_indexing::internal

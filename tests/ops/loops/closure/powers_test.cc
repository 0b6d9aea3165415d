// All powers of several timed maps from a leaf to itself, against ways that are followed step by step,
// and against isl's transitive closure, which is code of its own (tests/map/isl_judge.h).

#include "xla_indexing/ops/loops/closure/powers.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/ops/loops/closure/isl_closures.h"
#include "tests/testing/effort.h"
#include "tests/testing/map_pairs.h"
#include "tests/testing/random.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {
namespace {

class PowersTest : public MapPairsTest {
 protected:
  std::vector<OperandIndexing> Pieces(const std::vector<std::string>& texts) {
    std::vector<OperandIndexing> pieces;
    for (const std::string& text : texts) {
      OperandIndexing piece = Map(text);
      if (!piece.IsKnownEmpty()) pieces.push_back(std::move(piece));
    }
    return pieces;
  }

  // Whether a law applies; it then gives the closure.
  bool Check(const std::vector<std::string>& texts) {
    const std::vector<OperandIndexing> pieces = Pieces(texts);
    if (pieces.empty()) return false;
    OperandIndexingSet step;
    for (const OperandIndexing& piece : pieces) step.Add(piece);
    const std::optional<OperandIndexingSet> powers = AllPowersOf(step);
    if (!powers) return false;
    std::string text;
    for (const OperandIndexing& piece : pieces) absl::StrAppend(&text, piece.ToString(), "\n");
    EXPECT_EQ(MapPairsOf(*powers), ClosureOf(MapPairsOf(step))) << text;
    isl_.Compare(step, *powers, text);
    return true;
  }

  IslClosures isl_{1};
};

// x[j] = f(x[j], x[i]) in iteration i: whichever row is read last says all that rows read before say,
// so that only so many ways differ, whatever the number of iterations.
TEST_F(PowersTest, EveryElementReadsTheRowOfTheIteration) {
  for (const int64_t count : {1, 2, 5, 18}) {
    const std::string dims =
        absl::StrCat(", domain: d0 in [1, ", count, "], d1 in [0, ", count - 1, "]");
    EXPECT_TRUE(Check({absl::StrCat("(d0, d1) -> (d0 - 1, d1)", dims),
                       absl::StrCat("(d0, d1) -> (d0 - 1, d0 - 1)", dims)}))
        << count;
    const std::string back =
        absl::StrCat(", domain: d0 in [0, ", count - 1, "], d1 in [0, ", count - 1, "]");
    EXPECT_TRUE(Check({absl::StrCat("(d0, d1) -> (d0 + 1, d1)", back),
                       absl::StrCat("(d0, d1)[s0] -> (d0 + 1, s0)", back, ", s0 in [0, ", count - 1,
                                    "], d1 - d0 in [0, 0]")}))
        << count;
  }
}

// Rows stay until they are written, from something that is computed of all rows some iterations
// before: no law closes the map to these by itself, and ways through it are within it.
TEST_F(PowersTest, RowsAreWrittenFromAllRowsOfEarlierIterations) {
  for (const int64_t count : {3, 8, 20}) {
    EXPECT_TRUE(
        Check({absl::StrCat("(d0, d1) -> (d0 - 1, d1), domain: d0 in [2, ", count, "], d1 in [0, ",
                            count, "], d0 - d1 in [2, ", count, "]"),
               absl::StrCat("(d0, d1)[s0, s1] -> (d0 - s0, s1), domain: d0 in [2, ", count,
                            "], d1 in [0, ", count, "], s0 in [2, ", count, "], s1 in [0, ", count,
                            "], d0 - d1 in [1, 1], d0 - s0 - s1 in [1, ", count, "]")}))
        << count;
  }
}

// A step to indices in another order, some of them counted from the other end (`signs`), and some moved
// by one (`moved`), within a cube; from `guard` on before the row of the iteration, if it is no more than 4.
std::string SignedPermutation(const std::vector<int>& order, int signs, int moved, int64_t size,
                              int64_t guard) {
  std::string dims = "d0";
  std::string results = "d0 - 1";
  std::string domain = "d0 in [1, 8]";
  std::string within;
  for (size_t i = 0; i < order.size(); ++i) {
    absl::StrAppend(&dims, ", d", i + 1);
    absl::StrAppend(&domain, ", d", i + 1, " in [0, ", size - 1, "]");
    const int64_t shift = (moved >> i) & 1;
    const std::string next = ((signs >> i) & 1) != 0
                                 ? absl::StrCat("-d", order[i], " + ", size - 1 + shift)
                                 : absl::StrCat("d", order[i], " + ", shift);
    absl::StrAppend(&results, ", ", next);
    absl::StrAppend(&within, ", ", next, " in [0, ", size - 1, "]");
  }
  const std::string guarded =
      guard <= 4 ? absl::StrCat(", d0 - d", order.size(), " in [", guard, ", 8]") : "";
  return absl::StrCat("(", dims, ") -> (", results, "), domain: ", domain, within, guarded);
}

std::vector<std::string> SignedPermutations(int rank) {
  std::vector<std::string> texts;
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 1);
  do {
    for (int bits = 0; bits < 1 << (2 * rank); ++bits) {
      for (int64_t size = 1; size <= 5; ++size) {
        for (const int64_t guard : {5, 0, 1, 3}) {
          texts.push_back(
              SignedPermutation(order, bits & ((1 << rank) - 1), bits >> rank, size, guard));
        }
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return texts;
}

// Indices of a small cube, where a guard holds or at all times.
TEST_F(PowersTest, SignedPermutationsAreClosed) {
  int closed = 0;
  int all = 0;
  CasesInTurn cases;
  for (int rank = 1; rank <= 3; ++rank) {
    for (const std::string& text : SignedPermutations(rank)) {
      if (!cases.IsNextTried()) continue;
      ++all;
      closed += Check({text}) ? 1 : 0;
      if (HasFailure()) return;
    }
  }
  std::cout << closed << " of " << all << " signed permutations closed\n";
  EXPECT_GT(10 * closed, 5 * all);
}

// A random step of random rows: it keeps them, moves them, takes the row of the iteration, or any.
std::string RandomPieceOfSeveral(Random* random, int64_t size, int64_t count, bool is_forward) {
  const std::string time = is_forward ? "d0" : absl::StrCat(count, " - d0");
  std::string element = "d1";
  std::string ranges;
  std::string domain = absl::StrCat("d0 in [", is_forward ? 0 : 1, ", ",
                                    is_forward ? count - 1 : count, "], d1 in [0, ", size - 1, "]");
  switch (random->Between(0, 4)) {
    case 0:
      element = absl::StrCat(time, " + ", random->Between(-1, 1));
      absl::StrAppend(&domain, ", ", element, " in [0, ", size - 1, "]");
      break;
    case 1:
      element = "s0";
      ranges = "[s0]";
      absl::StrAppend(&domain, ", s0 in [0, ", size - 1, "]");
      if (random->OneIn(2)) absl::StrAppend(&domain, ", s0 - ", time, " in [1, ", size, "]");
      break;
    case 2:
      element = absl::StrCat("d1 + ", random->Between(-1, 1));
      absl::StrAppend(&domain, ", ", element, " in [0, ", size - 1, "]");
      break;
    default:
      break;
  }
  switch (random->Between(0, 4)) {
    case 0:
      absl::StrAppend(&domain, ", d1 - ", time, " in [0, 0]");
      break;
    case 1:
      absl::StrAppend(&domain, ", d1 - ", time, " in [1, ", size, "]");
      break;
    case 2:
      absl::StrAppend(&domain, ", d1 - ", time, " in [", -count, ", -1]");
      break;
    default:
      break;
  }
  return absl::StrCat("(d0, d1)", ranges, " -> (d0 ", is_forward ? "+ 1, " : "- 1, ", element,
                      "), domain: ", domain);
}

TEST_F(PowersTest, RandomStepsAreClosedAsTheyAreOneByOne) {
  int closed = 0;
  const int kSteps = Cases(400);
  for (int seed = 0; seed < kSteps; ++seed) {
    Random random(seed);
    const int64_t size = random.Between(1, 7);
    const int64_t count = random.Between(1, 9);
    const bool is_forward = random.OneIn(2);
    std::vector<std::string> texts;
    for (int64_t n = random.Between(2, 3); n > 0; --n) {
      texts.push_back(RandomPieceOfSeveral(&random, size, count, is_forward));
    }
    closed += Check(texts) ? 1 : 0;
    if (HasFailure()) return;
  }
  std::cout << closed << " of " << kSteps << " steps closed, " << isl_.compared()
            << " compared with isl's\n";
  EXPECT_GT(closed, kSteps / 2);
}

}  // namespace
}  // namespace xla_indexing::internal

// Maps that are one zone together: every pair of small zones, point by point, and random ones of more
// dimensions.

#include "xla_indexing/ops/unions/zones.h"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/effort.h"
#include "tests/testing/map_pairs.h"
#include "tests/testing/random.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

class ZonesTest : public MapPairsTest {
 protected:
  static MapPairs PointsOf(const std::vector<OperandIndexing>& maps) {
    MapPairs points;
    for (const OperandIndexing& map : maps) AddMapPairs(map.map(), &points);
    return points;
  }

  // Joins maps and compares what they say; returns how many there are then.
  size_t Join(const std::vector<OperandIndexing>& maps) {
    std::vector<OperandIndexing> joined = maps;
    JoinZones(&joined);
    EXPECT_LE(joined.size(), maps.size());
    std::string text;
    for (const OperandIndexing& map : maps) absl::StrAppend(&text, map.ToString(), "\n");
    absl::StrAppend(&text, "are\n");
    for (const OperandIndexing& map : joined) absl::StrAppend(&text, map.ToString(), "\n");
    EXPECT_EQ(PointsOf(joined), PointsOf(maps)) << text;
    return joined.size();
  }
  size_t JoinTexts(const std::vector<std::string>& texts) {
    std::vector<OperandIndexing> maps;
    maps.reserve(texts.size());
    for (const std::string& text : texts) maps.push_back(Map(text));
    return Join(maps);
  }
};

std::vector<Interval> IntervalsIn(int64_t least, int64_t most) {
  std::vector<Interval> intervals;
  for (int64_t low = least; low <= most; ++low) {
    for (int64_t high = low; high <= most; ++high) intervals.push_back(Interval::Closed(low, high));
  }
  return intervals;
}

// All zones of a dimension and a result among so many numbers, each once.
std::vector<std::string> SmallZones(int64_t numbers) {
  std::vector<std::string> texts;
  std::set<std::set<std::pair<int64_t, int64_t>>> known;
  const auto add = [&](const Interval& dims, const Interval& results, const Interval& apart) {
    std::set<std::pair<int64_t, int64_t>> points;
    for (int64_t d = dims.lower(); d <= dims.upper(); ++d) {
      for (int64_t s = results.lower(); s <= results.upper(); ++s) {
        if (apart.Contains(d - s)) points.emplace(d, s);
      }
    }
    if (points.empty() || !known.insert(points).second) return;
    texts.push_back(absl::StrCat("(d0)[s0] -> (s0), domain: d0 in ", dims.ToString(), ", s0 in ",
                                 results.ToString(), ", d0 - s0 in ", apart.ToString()));
  };
  const std::vector<Interval> places = IntervalsIn(0, numbers - 1);
  for (const Interval& dims : places) {
    for (const Interval& results : places) {
      for (const Interval& apart : IntervalsIn(1 - numbers, numbers - 1)) add(dims, results, apart);
    }
  }
  return texts;
}

TEST_F(ZonesTest, PairsOfSmallZonesSayTheSame) {
  std::vector<OperandIndexing> zones;
  for (const std::string& text : SmallZones(3)) zones.push_back(Map(text));
  int joined = 0;
  CasesInTurn cases;
  for (const OperandIndexing& a : zones) {
    for (const OperandIndexing& b : zones) {
      if (!cases.IsNextTried()) continue;
      joined += Join({a, b}) == 1 ? 1 : 0;
      if (HasFailure()) return;
    }
  }
  std::cout << zones.size() << " zones, " << joined << " pairs joined\n";
  EXPECT_GT(joined, Cases(1000));
}

TEST_F(ZonesTest, SeveralRandomZonesSayTheSame) {
  Random random(1);
  int joined = 0;
  for (int round = 0; round < Cases(3000); ++round) {
    std::vector<std::string> texts;
    const int64_t count = random.Between(2, 5);
    const bool is_flat = random.Between(0, 1) == 0;
    const auto interval = [&](int64_t low, int64_t high) {
      const int64_t first = random.Between(low, high);
      return absl::StrCat(" in [", first, ", ", random.Between(first, high), "]");
    };
    for (int64_t i = 0; i < count; ++i) {
      std::string text = is_flat ? "(d0, d1)[s0] -> (d0 + 1, s0), domain: "
                                 : "(d0, d1)[s0, s1] -> (s0, s1), domain: ";
      absl::StrAppend(&text, "d0", interval(0, 3), ", d1", interval(0, 3), ", s0", interval(0, 3));
      if (!is_flat) absl::StrAppend(&text, ", s1 in [0, 3]");
      if (random.Between(0, 1) == 0) absl::StrAppend(&text, ", d1 - s0", interval(-2, 2));
      if (random.Between(0, 2) == 0) absl::StrAppend(&text, ", d0 - d1", interval(-2, 2));
      if (!is_flat && random.Between(0, 1) == 0)
        absl::StrAppend(&text, ", s1 - d0", interval(-2, 2));
      if (!is_flat && random.Between(0, 2) == 0)
        absl::StrAppend(&text, ", s0 - s1", interval(-2, 2));
      texts.push_back(text);
    }
    joined += JoinTexts(texts) < texts.size() ? 1 : 0;
    if (HasFailure()) return;
  }
  std::cout << joined << " joined\n";
  EXPECT_GT(joined, Cases(100));
}

TEST_F(ZonesTest, TrianglesAndTheirBordersAreOneMap) {
  EXPECT_EQ(JoinTexts({"(d0) -> (0), domain: d0 in [1, 9]",
                       "(d0)[s0] -> (s0), domain: d0 in [1, 9], s0 in [1, 9], d0 - s0 in [1, 9]",
                       "(d0) -> (d0), domain: d0 in [0, 9]"}),
            1);
  // Without the border there is a gap.
  EXPECT_EQ(JoinTexts({"(d0) -> (0), domain: d0 in [0, 9]",
                       "(d0)[s0] -> (s0), domain: d0 in [2, 9], s0 in [2, 9], d0 - s0 in [0, 9]"}),
            2);
}

// The first map says something of both differences, each of which has a map beside it.
TEST_F(ZonesTest, MapsAreDividedWhereTheirPartsBelongToOthers) {
  const std::string both =
      "(d0, d1)[s0] -> (s0), domain: d0 in [0, 4], d1 in [0, 4], s0 in [1, 5], d0 - d1 in [0, 1]";
  const std::string equal =
      "(d0, d1) -> (0), domain: d0 in [0, 4], d1 in [0, 4], d0 - d1 in [0, 0]";
  const std::string next = "(d0, d1) -> (0), domain: d0 in [0, 4], d1 in [0, 4], d0 - d1 in [1, 1]";
  EXPECT_EQ(JoinTexts({both, equal, next}), 2);
  // There would be as many.
  EXPECT_EQ(JoinTexts({both, equal}), 2);
  // What is beside them and would fall into more parts stays whole.
  const std::string others =
      "(d0, d1) -> (d0), domain: d0 in [0, 4], d1 in [0, 4], d0 - d1 in [-3, 0]";
  EXPECT_EQ(JoinTexts({both, equal, next, others}), 3);
}

// What adds different numbers to a dimension stays apart, as laws about loops need it.
TEST_F(ZonesTest, StepsOfDifferentLengthStayApart) {
  EXPECT_EQ(
      JoinTexts({"(d0) -> (d0), domain: d0 in [1, 9]", "(d0) -> (d0 - 1), domain: d0 in [1, 9]"}),
      2);
}

// What is no zone stays as it is, and so do numbers whose sums might not fit.
TEST_F(ZonesTest, OtherMapsStayAsTheyAre) {
  EXPECT_EQ(JoinTexts({"(d0) -> (d0 floordiv 2), domain: d0 in [0, 4]",
                       "(d0) -> (d0 floordiv 2), domain: d0 in [5, 9]"}),
            2);
  std::vector<OperandIndexing> large = {
      Map("(d0) -> (d0), domain: d0 in [0, 4611686018427387904]"),
      Map("(d0) -> (d0), domain: d0 in [4611686018427387905, 4611686018427387906]")};
  JoinZones(&large);
  EXPECT_EQ(large.size(), 2);
}

}  // namespace
}  // namespace xla_indexing::internal

// Maps that ask something of runtime variables, and what they are together, for all contents of the
// arrays that these read.

#include "xla_indexing/ops/unions/joined_values.h"

#include <cstdint>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/ops/loops/closure/valued_maps.h"
#include "tests/testing/effort.h"
#include "tests/testing/map_pairs.h"
#include "tests/testing/random.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {
namespace {

class JoinedValuesTest : public ::testing::Test {
 protected:
  // Joins the maps, which has to leave all pairs as they are.
  OperandIndexingSet Joined(const OperandIndexingSet& set) {
    OperandIndexingSet joined = set;
    JoinOverValues(&joined);
    maps_.ForAllContents([&] {
      if (HasFailure()) return;
      std::string text;
      for (const OperandIndexing& map : set) absl::StrAppend(&text, map.ToString(), "\n");
      for (const OperandIndexing& map : joined) absl::StrAppend(&text, "\n", map.ToString());
      EXPECT_EQ(maps_.PairsOf(joined), maps_.PairsOf(set)) << text;
    });
    return joined;
  }

  OperandIndexing WhereDifference(const std::string& values, const std::string& dims = "[0, 2]",
                                  size_t array = 0, const std::string& element = "0") {
    return maps_.Map(absl::StrCat("(d0){rt0} -> (d0), domain: d0 in ", dims,
                                  ", rt0 in [0, 2], d0 - rt0 in ", values),
                     {{array, element}});
  }

  ValuedMaps maps_;
};

TEST_F(JoinedValuesTest, WhatIsBeforeAtAndBehindARowIsAll) {
  OperandIndexingSet set;
  set.Add(WhereDifference("[-2, -1]"));
  set.Add(WhereDifference("[0, 0]"));
  set.Add(WhereDifference("[1, 2]"));
  const OperandIndexingSet joined = Joined(set);
  ASSERT_EQ(joined.size(), 1);
  EXPECT_EQ(joined.maps()[0], maps_.Map("(d0) -> (d0), domain: d0 in [0, 2]"));
}

TEST_F(JoinedValuesTest, WhatIsNotAllStays) {
  // The row is missing; one map has fewer elements; rows that differ.
  for (int kind = 0; kind < 4; ++kind) {
    OperandIndexingSet set;
    set.Add(WhereDifference("[-2, -1]"));
    if (kind > 0) set.Add(WhereDifference("[0, 0]", kind == 1 ? "[0, 1]" : "[0, 2]"));
    set.Add(WhereDifference("[1, 2]", "[0, 2]", kind == 2 ? 1 : 0, kind == 3 ? "1" : "0"));
    EXPECT_GT(Joined(set).size(), 1) << kind;
  }
}

TEST_F(JoinedValuesTest, RandomMapsSayTheSame) {
  int joined = 0;
  for (int seed = 0; seed < Cases(1000); ++seed) {
    Random random(seed);
    OperandIndexingSet set;
    for (int64_t k = random.Between(2, 5); k > 0; --k) {
      const int64_t least = random.Between(-2, 2);
      const int64_t most = random.Between(least, 2);
      const int64_t first = random.OneIn(4) ? random.Between(0, 2) : 0;
      const std::string dims = absl::StrCat("d0 in [0, ", random.OneIn(4) ? 1 : 2,
                                            "], s0 in [0, 1], rt0 in [", first, ", 2]");
      const std::string condition =
          random.OneIn(6) ? "" : absl::StrCat(", d0 - rt0 in [", least, ", ", most, "]");
      set.Add(maps_.Map(absl::StrCat("(d0)[s0]{rt0} -> (d0, ", random.OneIn(8) ? "rt0" : "s0",
                                     "), domain: ", dims, condition),
                        {{random.OneIn(8) ? size_t{1} : size_t{0}, random.OneIn(8) ? "s0" : "0"}}));
    }
    set.Simplify();
    joined += Joined(set).size() < set.size() ? 1 : 0;
    ASSERT_FALSE(HasFailure()) << seed;
  }
  std::cout << joined << " sets joined\n";
  EXPECT_GT(joined, Cases(100));
}

}  // namespace
}  // namespace xla_indexing::internal

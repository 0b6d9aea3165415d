// Range variables that are one number, against the relation of the map before.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/map/simplify/existential.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::internal {
namespace {

class JoinRangesTest : public ::testing::Test {
 protected:
  IndexingMap Parse(const std::string& text) {
    auto map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << text << ": " << map.status();
    return map.ok() ? *std::move(map) : IndexingMap(&context_);
  }
  std::string Joined(const std::string& text) {
    IndexingMap map = Parse(text);
    if (JoinRangeVariables(&map)) map.Simplify({.keep_variables = true});
    map.RemoveUnusedSymbols();
    return map.ToString();
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(JoinRangesTest, VariablesThatAreDigitsOfOneNumberAreThatNumber) {
  EXPECT_EQ(Joined("(d0)[s0, s1] -> (d0, s0 * 4 + s1), domain: d0 in [0, 9], s0 in [0, 7], s1 in "
                   "[0, 3]"),
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 31]");
  EXPECT_EQ(Joined("()[s0, s1, s2] -> (s1 + s2 * 5 + s0 * 10), domain: s0 in [0, 2], s1 in [0, 4], "
                   "s2 in [0, 1]"),
            "()[s0] -> (s0), domain: s0 in [0, 29]");
}

TEST_F(JoinRangesTest, AConstraintOnTheNumberBecomesItsInterval) {
  EXPECT_EQ(Joined("()[s0, s1] -> (s0 * 4 + s1 - 2), domain: s0 in [0, 2], s1 in [0, 3], "
                   "s0 * 4 + s1 in [2, 9]"),
            "()[s0] -> (s0 - 2), domain: s0 in [2, 9]");
}

TEST_F(JoinRangesTest, VariablesThatOccurApartStay) {
  for (const char* text :
       {"()[s0, s1] -> (s0 * 4 + s1, s1), domain: s0 in [0, 7], s1 in [0, 3]",
        "()[s0, s1] -> (s0 * 5 + s1), domain: s0 in [0, 7], s1 in [0, 3]",
        "()[s0, s1] -> (s0 * 4 + s1), domain: s0 in [0, 7], s1 in [0, 3], s0 - s1 in [0, 2]"}) {
    EXPECT_EQ(Joined(text), Parse(text).ToString());
  }
}

// The results of all points.
std::set<std::vector<int64_t>> Image(const IndexingMap& map) {
  std::set<std::vector<int64_t>> image;
  EXPECT_TRUE(map.ForEachPoint(100000,
                               [&](auto dims, auto, auto results) {
                                 std::vector<int64_t> pair(dims.begin(), dims.end());
                                 pair.insert(pair.end(), results.begin(), results.end());
                                 image.insert(std::move(pair));
                               })
                  .ok());
  return image;
}

TEST_F(JoinRangesTest, TheRelationStaysTheSame) {
  int joined = 0;
  for (int seed = 0; seed < Cases(3000); ++seed) {
    Random random(seed);
    const int64_t n = random.Between(1, 4), c = random.Between(-2, 3);
    const int64_t low = random.Between(-2, 2), first = random.Between(-2, 2);
    const int64_t factor = random.OneIn(5) ? random.Between(-3, 5) : n;
    const std::string number = absl::StrCat("s0 * ", factor, " + s1");
    const std::string text = absl::StrCat(
        "(d0)[s0, s1] -> ((", number, " + d0) floordiv ", random.Between(1, 4), ", (",
        random.OneIn(6) ? "s1" : number, ") * ", c, "), domain: d0 in [0, 3], s0 in [", first, ", ",
        first + random.Between(0, 3), "], s1 in [", low, ", ", low + n - 1, "]",
        random.OneIn(3)   ? absl::StrCat(", d0 + ", number, " in [0, 5]")
        : random.OneIn(3) ? absl::StrCat(", ", number, " in [", random.Between(-2, 4), ", 6]")
                          : "");
    const IndexingMap before = Parse(text);
    IndexingMap map = before;
    if (JoinRangeVariables(&map)) ++joined;
    ASSERT_EQ(Image(map), Image(before)) << text << " became " << map.ToString();
  }
  EXPECT_GT(joined, Cases(1000));
}

}  // namespace
}  // namespace xla_indexing::internal

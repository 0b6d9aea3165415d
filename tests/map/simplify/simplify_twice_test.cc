// What simplifying is but right: a map that was simplified stays as it is, and a trace changes
// nothing.
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/random_map.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

class SimplifyTwiceTest : public MapTextFixture {
 protected:
  // Expects that simplifying a map a second time changes nothing, traced or not.
  static void ExpectStays(const IndexingMap& map) {
    IndexingMap once = map;
    once.Simplify({.keep_variables = true});
    IndexingMap twice = once;
    EXPECT_FALSE(twice.Simplify({.keep_variables = true})) << map.ToString();
    EXPECT_EQ(twice, once) << map.ToString();
    IndexingMap traced = map;
    RuleTrace trace;
    traced.Simplify({.keep_variables = true, .trace = &trace});
    EXPECT_EQ(traced, once) << map.ToString();
  }

  // The maps that make(seed, context) gives for `count` seeds.
  void ExpectAllStay(int count,
                     llvm::function_ref<IndexingMap(uint32_t, mlir::MLIRContext*)> make) {
    for (int seed = 0; seed < Cases(count); ++seed) {
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      ExpectStays(make(static_cast<uint32_t>(seed), &context));
    }
  }
};

TEST_F(SimplifyTwiceTest, ConstraintsThatNarrowALittleAtATime) {
  const auto simplified = [this](absl::string_view text) {
    IndexingMap map = Parse(text);
    ExpectStays(map);
    map.Simplify({.keep_variables = true});
    return map.ToString();
  };
  // x - floor((x + 2)/3) grows by 0 or 1: it is 4 at 7, 5 at 8 and 6 at 9.
  EXPECT_EQ(simplified("(d0) -> (d0), domain: d0 in [0, 1000000], "
                       "d0 - (d0 + 2) floordiv 3 in [0, 5]"),
            "(d0) -> (d0), domain: d0 in [0, 8]");
  // With x = 2*q + r, r in [0, 1], x*2 - floor(x/2)*3 is q + 2*r, which is 8 at x = 13 and x = 16.
  EXPECT_EQ(simplified("(d0) -> (0), domain: d0 in [0, 1000000], "
                       "d0 * 2 - (d0 floordiv 2) * 3 in [8, 8]"),
            "(d0) -> (0), domain: d0 in [13, 16], d0 * 2 - (d0 floordiv 2) * 3 in [8, 8]");
}

TEST_F(SimplifyTwiceTest, FormsThatOneLookDoesNotFind) {
  for (
      const absl::string_view text : {
          "(d0) -> (((d0 mod 6) * -3) floordiv 6), domain: d0 in [-7, 19], d0 * -4 + 4 in [-3, 8]",
          "(d0) -> ((d0 - 2) floordiv 5), domain: d0 in [0, 181662], d0 * 2 in [0, 6], "
          "(d0 * 2) mod 4 in [1, 10]",
          "(d0, d1, d2) -> ((d0 + (d1 - d2 * 9 + 8) mod 3 + 8) floordiv 6), domain: "
          "d0 in [-inf, inf], d1 in [3, 4], d2 in [-inf, inf]",
          // With its value in its place d0 adds as much as before, but the constant is greater.
          "(d0, d1) -> (d0 + (d1 * 3) floordiv 2), domain: d0 in [8, 8], d1 in [0, 2]",
          // Residues of two sums that share a variable say more about a third sum.
          "(d0, d1) -> (d0 * 3 + 1), domain: d0 in [0, 12], d1 in [0, 2], (d0 * 3) mod 2 in [0, "
          "0], "
          "(d0 + d1) mod 6 in [0, 0], (d0 + d1 * 2) floordiv 3 in [3, 6]",
          "(d0, d1) -> ((d0 * 2 + d1 * 3) floordiv 5), domain: d0 in [0, 5], d1 in [0, 5], "
          "(d0 - d1 + 3) mod 2 in [0, 0], d0 * 3 - d1 * 2 + 1 in [0, 1], (d0 * 3 + d1 * 2) mod 2 "
          "in "
          "[0, 0]",
          // Two constraints on one sum leave it 28 and 29, which no sum of multiples of 10 and 15 is
          // without d0.
          "(d0, d1, d2) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], "
          "d0 * 6 + d1 * 10 + d2 * 15 in [0, 29], d0 * 12 + d1 * 20 + d2 * 30 in [56, 800]",
      }) {
    ExpectStays(Parse(text));
  }
}

// Near the ends of int64 a sum that does not fit is left in parts, and what is put together before
// it is not always what is put together after it.
TEST_F(SimplifyTwiceTest, NearlyAllMapsOfAnyNumbers) {
  const int count = Cases(8000);
  int changed = 0;
  for (int seed = 0; seed < count; ++seed) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    IndexingMap once = RandomMaps(static_cast<uint32_t>(seed), &context).Map();
    once.Simplify({.keep_variables = true});
    IndexingMap twice = once;
    twice.Simplify({.keep_variables = true});
    changed += twice != once;
  }
  EXPECT_LE(changed, count / 400);
}

TEST_F(SimplifyTwiceTest, SmallMaps) {
  ExpectAllStay(8000, [](uint32_t seed, mlir::MLIRContext* context) {
    return SmallMaps(seed, context).Map();
  });
}

TEST_F(SimplifyTwiceTest, MapsOfLongIntervals) {
  ExpectAllStay(8000, [](uint32_t seed, mlir::MLIRContext* context) {
    return SmallMaps(seed, context, 100000).Map();
  });
}

TEST_F(SimplifyTwiceTest, MapsOfOneVariable) {
  ExpectAllStay(8000, [](uint32_t seed, mlir::MLIRContext* context) {
    return SmallMaps(seed, context, 1000000).Map({1, 0, 0}, 1);
  });
}

// Two to four constraints on sums that share variables, some of them equalities and some on
// residues: what one says the others can use.
TEST_F(SimplifyTwiceTest, MapsOfSeveralConstraints) {
  int changed = 0;
  const int count = Cases(100000);
  for (int seed = 0; seed < count;) {
    // Contexts keep all expressions, so each is used for some maps only.
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    for (int last = std::min(seed + 500, count); seed < last; ++seed) {
      SmallMaps maps(static_cast<uint32_t>(seed), &context);
      const IndexingMap map = maps.MapOfSeveralConstraints();
      IndexingMap once = map;
      once.Simplify({.keep_variables = seed % 2 == 0});
      IndexingMap twice = once;
      twice.Simplify({.keep_variables = seed % 2 == 0});
      if (twice == once) continue;
      ADD_FAILURE() << map.ToString() << "\n" << once.ToString() << "\n" << twice.ToString();
      if (++changed > 5) return;
    }
  }
}

}  // namespace
}  // namespace xla_indexing

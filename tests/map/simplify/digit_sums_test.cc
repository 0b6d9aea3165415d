#include "xla_indexing/map/simplify/digit_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

class DigitSumsTest : public MapTextFixture {
 protected:
  std::string Simplified(absl::string_view text) {
    IndexingMap map = Parse(text);
    map.Simplify();
    return map.ToString();
  }
};

// A row that is split, transposed and joined again is read as a whole.
TEST_F(DigitSumsTest, DigitsInAnotherOrderAreTheVariable) {
  EXPECT_EQ(Simplified("(d0)[s0] -> (d0, s0 * 4 - (s0 floordiv 6) * 23), domain: d0 in [0, 4], "
                       "s0 in [0, 23]"),
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 4], s0 in [0, 23]");
  // Its other half; every third element of something; one in a sum and in a constraint.
  EXPECT_EQ(
      Simplified("(d0)[s0] -> (d0, s0 * 4 - (s0 floordiv 6) * 23), domain: d0 in [0, 4], "
                 "s0 in [12, 23]"),
      "(d0)[s0] -> (d0, s0 * 4 - (s0 floordiv 6) * 23), domain: d0 in [0, 4], s0 in [12, 23]");
  EXPECT_EQ(Simplified("(d0)[s0] -> (d0, (s0 mod 6) * 12 + (s0 floordiv 6) * 3 + 1), domain: "
                       "d0 in [0, 4], s0 in [0, 23]"),
            "(d0)[s0] -> (d0, s0 * 3 + 1), domain: d0 in [0, 4], s0 in [0, 23]");
  EXPECT_EQ(Simplified("(d0)[s0] -> (d0 + (s0 mod 2) * 3 - s0 floordiv 2), domain: d0 in [0, 9], "
                       "s0 in [0, 5], d0 * 2 + (s0 mod 2) * 3 - s0 floordiv 2 in [0, 15]"),
            "(d0)[s0] -> (d0 + s0 - 2), domain: d0 in [0, 8], s0 in [0, 5], "
            "d0 * 2 + s0 in [2, 17]");
}

TEST_F(DigitSumsTest, AReversedRowIsReadAsAWhole) {
  EXPECT_EQ(Simplified("(d0)[s0] -> (d0, -s0 + 23), domain: d0 in [0, 4], s0 in [0, 23]"),
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 4], s0 in [0, 23]");
  EXPECT_EQ(Simplified("(d0)[s0] -> (-s0 * 2, -s0 + 5), domain: d0 in [0, 4], s0 in [1, 5]"),
            "(d0)[s0] -> (s0 * 2 - 10, s0), domain: d0 in [0, 4], s0 in [0, 4]");
  // A window stays as it is, and a diagonal.
  for (const char* text :
       {"(d0)[s0] -> (d0 - s0), domain: d0 in [0, 9], s0 in [0, 2], d0 - s0 in [0, 7]",
        "(d0)[s0] -> (s0, -s0 + 5), domain: d0 in [0, 4], s0 in [1, 5]"}) {
    EXPECT_EQ(Simplified(text), text);
  }
}

TEST_F(DigitSumsTest, SumsWithGapsAndOthersStay) {
  for (const char* text :
       {// 0, 1, .., 3, 5, ..
        "(d0)[s0] -> (d0 + (s0 mod 6) * 5 + s0 floordiv 6), domain: d0 in [0, 3], s0 in [0, 23]",
        // Two sums, and one in which another variable is.
        "(d0)[s0] -> ((s0 mod 6) * 4 + s0 floordiv 6, s0), domain: d0 in [0, 3], s0 in [0, 23]",
        "(d0)[s0] -> ((s0 mod 6) * 4 + (s0 + d0) floordiv 6), domain: d0 in [0, 3], s0 in [0, 23]",
        // No last digit of three values, no digit of a digit.
        "(d0)[s0] -> ((s0 mod 6) * 4 + s0 floordiv 6), domain: d0 in [0, 3], s0 in [0, 20]",
        "(d0)[s0] -> ((s0 floordiv 4) * 4 + s0 floordiv 6), domain: d0 in [0, 3], s0 in [0, 23]",
        "(d0)[s0] -> ((s0 mod 6) * 4 + s0 floordiv 6), domain: d0 in [0, 3], s0 in [0, 23], "
        "s0 - d0 in [0, 9]"}) {
    IndexingMap map = Parse(text);
    EXPECT_FALSE(internal::CountDigitSums(&map)) << text << " became " << map.ToString();
  }
}

// Digits of s from the least one on, each beside what one of its values counts in another order; some
// backwards.
struct Permutation {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  std::vector<bool> is_reversed;

  int64_t Size() const {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  }
  // All of them as they are, and backwards.
  bool IsBackwards() const {
    return std::is_sorted(strides.begin(), strides.end()) &&
           std::find(is_reversed.begin(), is_reversed.end(), false) == is_reversed.end();
  }
};

mlir::AffineExpr SumOfDigits(const Permutation& permutation, mlir::AffineExpr s) {
  mlir::AffineExpr sum = internal::Constant(0, s.getContext());
  int64_t unit = 1;
  for (size_t i = 0; i < permutation.sizes.size(); ++i) {
    const int64_t size = permutation.sizes[i];
    mlir::AffineExpr digit = internal::Mod(internal::FloorDiv(s, unit), size);
    if (permutation.is_reversed[i]) {
      digit = internal::Sub(internal::Constant(size - 1, s.getContext()), digit);
    }
    sum = internal::Add(sum, internal::Scale(digit, permutation.strides[i]));
    unit *= size;
  }
  return sum;
}

// Calls visit(permutation) for all orders of digits of these sizes.
template <typename Visit>
void ForAllOrders(const std::vector<int64_t>& sizes, Visit visit) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  do {
    for (int64_t reversed = 0; reversed < (int64_t{1} << sizes.size()); ++reversed) {
      Permutation permutation{sizes, std::vector<int64_t>(sizes.size()), {}};
      int64_t stride = 1;
      for (const size_t digit : order) {
        permutation.strides[digit] = stride;
        stride *= sizes[digit];
      }
      for (size_t i = 0; i < sizes.size(); ++i) {
        permutation.is_reversed.push_back(((reversed >> i) & 1) != 0);
      }
      visit(permutation);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(DigitSumsTest, AllOrdersOfUpToFourDigitsAreTheVariable) {
  std::vector<std::vector<int64_t>> all;
  for (const int64_t a : {2, 3, 4, 5}) {
    for (const int64_t b : {2, 3, 4, 6}) {
      all.push_back({a, b});
      for (const int64_t c : {2, 3, 5}) {
        all.push_back({a, b, c});
        for (const int64_t d : {2, 3, 4}) all.push_back({a, b, c, d});
      }
    }
  }
  CasesInTurn cases;
  int64_t tried = 0;
  const mlir::AffineExpr s = mlir::getAffineSymbolExpr(0, &context_);
  const mlir::AffineExpr d = mlir::getAffineDimExpr(0, &context_);
  for (const std::vector<int64_t>& sizes : all) {
    ForAllOrders(sizes, [&](const Permutation& permutation) {
      if (!cases.IsNextTried() || HasFatalFailure()) return;
      ++tried;
      const int64_t size = permutation.Size();
      const mlir::AffineExpr sum = SumOfDigits(permutation, s);
      const mlir::AffineExpr position = internal::Add(internal::Scale(d, size), s);
      // By itself, and as the digit of another position, of which a window backwards is one as well.
      for (const mlir::AffineExpr place : {s, position}) {
        if (place == position && permutation.IsBackwards()) continue;
        const mlir::AffineExpr joined = internal::Add(internal::Sub(place, s), sum);
        IndexingMap map = *IndexingMap::FromTensorSizes(
            mlir::AffineMap::get(1, 1, {joined, d}, &context_), {3}, {size});
        const IndexingMap expected = *IndexingMap::FromTensorSizes(
            mlir::AffineMap::get(1, 1, {place, d}, &context_), {3}, {size});
        map.Simplify();
        ASSERT_EQ(map, expected) << map.ToString();
      }
    });
  }
  EXPECT_GT(tried, 100);
}

// Random sums of digits, most of which have gaps.
TEST_F(DigitSumsTest, TheRelationStaysTheSame) {
  int counted = 0;
  int with_constraints = 0;
  for (int seed = 0; seed < Cases(100000); ++seed) {
    Random random(seed);
    const int64_t a = random.Between(1, 4);
    const int64_t b = random.Between(2, 4);
    const std::string sum = absl::StrCat(
        "s0 * ", random.Between(-3, 5), " + (s0 floordiv ", a, ") * ", random.Between(-6, 6),
        " + ((s0 floordiv ", random.OneIn(3) ? 1 : a, ") mod ", b, ") * ", random.Between(-3, 4));
    const auto occurrence = [&] {
      const int64_t factor = random.OneIn(3) ? random.Between(-2, 2) : 1;
      return absl::StrCat("(", random.OneIn(12) ? "s0" : sum, ") * ", factor, " + d0 * ",
                          random.Between(-1, 2), " + s1 * ", random.Between(0, 2));
    };
    const int64_t unit = random.OneIn(4) ? random.Between(1, 6) : a * b;
    const int64_t first = unit * random.Between(-1, 1);
    std::string text =
        absl::StrCat("(d0)[s0, s1] -> (", occurrence(), ", ", random.OneIn(2) ? "d0" : occurrence(),
                     "), domain: d0 in [0, 2], s0 in [", first, ", ",
                     first + unit * random.Between(1, 3) - 1, "], s1 in [0, 1]");
    const bool has_constraint = random.OneIn(3);
    if (has_constraint) {
      const int64_t lower = random.Between(-4, 4);
      absl::StrAppend(&text, ", ", occurrence(), " in [", lower, ", ", lower + random.Between(0, 9),
                      "]");
    }
    const IndexingMap map = Parse(text);
    IndexingMap changed = map;
    if (!internal::CountDigitSums(&changed)) continue;
    ++counted;
    with_constraints += has_constraint ? 1 : 0;
    ASSERT_EQ(RelationPoints(changed), RelationPoints(map))
        << text << " became " << changed.ToString();
    IndexingMap simplified = map;
    simplified.Simplify();
    ASSERT_EQ(RelationPoints(simplified), RelationPoints(map))
        << text << " became " << simplified.ToString();
  }
  EXPECT_GT(counted, Cases(5000));
  EXPECT_GT(with_constraints, Cases(500));
}

TEST_F(DigitSumsTest, NumbersAtTheEndsOfInt64StayInRange) {
  for (const char* text :
       {"(d0)[s0] -> (s0 * 9223372036854775807 + s0 floordiv 2), domain: d0 in [0, 1], s0 in [0, "
        "3]",
        "(d0)[s0] -> (s0 * -9223372036854775808 + s0 floordiv 2), domain: d0 in [0, 1], "
        "s0 in [0, 3]",
        "(d0)[s0] -> (s0 + (s0 floordiv 4611686018427387904) * 4611686018427387904), "
        "domain: d0 in [0, 1], s0 in [0, 9223372036854775807]",
        "(d0)[s0] -> ((s0 floordiv 4611686018427387904) floordiv 4 + s0), "
        "domain: d0 in [0, 1], s0 in [-9223372036854775808, 9223372036854775807]",
        "(d0)[s0] -> (s0 * 2 - s0 floordiv 4611686018427387904 + d0), "
        "domain: d0 in [0, 1], s0 in [-9223372036854775808, 9223372036854775807]"}) {
    IndexingMap map = Parse(text);
    internal::CountDigitSums(&map);
    EXPECT_TRUE(map.Verify().ok());
    map.Simplify();
    EXPECT_TRUE(map.Verify().ok());
  }
}

}  // namespace
}  // namespace xla_indexing

// min and max in the text of a map, against their definition.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::internal {
namespace {

using ::testing::HasSubstr;

// An expression as text and as what it means.
struct MeantExpr {
  std::string text;
  std::function<int64_t(int64_t d0, int64_t d1)> value;
};

MeantExpr RandomExpr(Random* random, int depth) {
  if (depth == 0 || random->OneIn(5)) {
    switch (random->Between(0, 2)) {
      case 0:
        return {"d0", [](int64_t d0, int64_t) { return d0; }};
      case 1:
        return {"d1", [](int64_t, int64_t d1) { return d1; }};
      default: {
        const int64_t number = random->Between(-4, 4);
        return {absl::StrCat("(", number, ")"), [number](int64_t, int64_t) { return number; }};
      }
    }
  }
  const MeantExpr a = RandomExpr(random, depth - 1);
  const auto f = a.value;
  const int64_t choice = random->Between(0, 6);
  if (choice >= 4) {
    // By a divisor of either sign: the quotient of the rational numbers, rounded.
    int64_t m = random->Between(1, 4);
    if (random->OneIn(2)) m = -m;
    const auto floor_of = [](int64_t x, int64_t c) {
      return c > 0 ? FloorDiv(x, c) : FloorDiv(-x, -c);
    };
    if (choice == 4) {
      return {absl::StrCat("(", a.text, " / ", m, ")"),
              [=](int64_t d0, int64_t d1) { return floor_of(f(d0, d1), m); }};
    }
    if (choice == 5) {
      return {absl::StrCat("(", a.text, " ceilDiv ", m, ")"),
              [=](int64_t d0, int64_t d1) { return -floor_of(-f(d0, d1), m); }};
    }
    return {absl::StrCat("(", a.text, " mod ", m, ")"),
            [=](int64_t d0, int64_t d1) { return f(d0, d1) - m * floor_of(f(d0, d1), m); }};
  }
  const MeantExpr b = RandomExpr(random, depth - 1);
  const auto g = b.value;
  switch (choice) {
    case 0:
      return {absl::StrCat("min(", a.text, ", ", b.text, ")"),
              [=](int64_t d0, int64_t d1) { return std::min(f(d0, d1), g(d0, d1)); }};
    case 1:
      return {absl::StrCat("max(", a.text, ", ", b.text, ")"),
              [=](int64_t d0, int64_t d1) { return std::max(f(d0, d1), g(d0, d1)); }};
    case 2:
      return {absl::StrCat("(", a.text, " - ", b.text, ")"),
              [=](int64_t d0, int64_t d1) { return f(d0, d1) - g(d0, d1); }};
    default:
      return {absl::StrCat("(", a.text, " + ", b.text, " * 3)"),
              [=](int64_t d0, int64_t d1) { return f(d0, d1) + g(d0, d1) * 3; }};
  }
}

class MapPiecesTest : public MapTextFixture {
 protected:
  std::vector<std::string> Pieces(absl::string_view text) {
    const absl::StatusOr<std::vector<IndexingMap>> pieces = ParseIndexingMapPieces(text, &context_);
    EXPECT_TRUE(pieces.ok()) << pieces.status();
    std::vector<std::string> texts;
    if (!pieces.ok()) return texts;
    for (const IndexingMap& piece : *pieces) texts.push_back(piece.ToString());
    return texts;
  }
};

TEST_F(MapPiecesTest, EveryPointIsInOnePieceWithTheValueThatTheTextSays) {
  int num_of_several = 0;
  for (int seed = 0; seed < Cases(3000); ++seed) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    Random random(static_cast<uint64_t>(seed));
    const MeantExpr result = RandomExpr(&random, 3);
    const MeantExpr constrained = RandomExpr(&random, 2);
    const std::string text =
        absl::StrCat("(d0, d1) -> (", result.text, "), domain: d0 in [-5, 5], d1 in [-4, 6], ",
                     constrained.text, " in [-3, 2]");
    SCOPED_TRACE(text);
    absl::StatusOr<std::vector<IndexingMap>> pieces = ParseIndexingMapPieces(text, &context);
    if (!pieces.ok()) {
      ASSERT_THAT(pieces.status().message(), HasSubstr("expected at most 64 pieces"));
      continue;
    }
    num_of_several += pieces->size() > 1;
    for (int64_t d0 = -5; d0 <= 5; ++d0) {
      for (int64_t d1 = -4; d1 <= 6; ++d1) {
        const int64_t of_constraint = constrained.value(d0, d1);
        int num_pieces = 0;
        for (const IndexingMap& piece : *pieces) {
          if (!piece.Contains({d0, d1}, {}).value()) continue;
          ++num_pieces;
          ASSERT_EQ(piece.Evaluate({d0, d1}, {}).value()[0], result.value(d0, d1))
              << piece.ToString() << " at " << d0 << ", " << d1;
        }
        ASSERT_EQ(num_pieces, -3 <= of_constraint && of_constraint <= 2 ? 1 : 0)
            << d0 << ", " << d1;
      }
    }
  }
  EXPECT_GT(num_of_several, Cases(1000));
}

TEST_F(MapPiecesTest, EqualDifferencesAreOneChoice) {
  EXPECT_THAT(Pieces("(d0, d1) -> (min(d0, d1), max(d0, d1)), domain: d0 in [0, 9], d1 in [0, 9]"),
              ::testing::ElementsAre("(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], "
                                     "-d0 + d1 in [0, inf]",
                                     "(d0, d1) -> (d1, d0), domain: d0 in [0, 9], d1 in [0, 9], "
                                     "-d0 + d1 in [-inf, -1]"));
}

TEST_F(MapPiecesTest, NumbersSplitNothing) {
  EXPECT_THAT(Pieces("(d0) -> (d0 * min(3, 5) + max(d0, d0 - 1)), domain: d0 in [0, 9]"),
              ::testing::ElementsAre("(d0) -> (d0 * 4), domain: d0 in [0, 9]"));
}

TEST_F(MapPiecesTest, MinAndMaxAreNamesWhereNothingIsInParenthesesBehindThem) {
  EXPECT_THAT(Pieces("(min)[max] -> (min + max), domain: min in [0, 9], max in [0, 3]"),
              ::testing::ElementsAre("(min)[max] -> (min + max), domain: min in [0, 9], "
                                     "max in [0, 3]"));
}

TEST_F(MapPiecesTest, SixtyFourPiecesAreTheMost) {
  const auto sum_of = [](int n) {
    std::string sum = "d0";
    for (int i = 1; i <= n; ++i) absl::StrAppend(&sum, " + min(d0, ", i, ")");
    return absl::StrCat("(d0) -> (", sum, "), domain: d0 in [0, 9]");
  };
  EXPECT_EQ(Pieces(sum_of(6)).size(), 64U);
  MapParseError error;
  const auto too_many = ParseIndexingMapPieces(sum_of(7), &context_, &error);
  EXPECT_FALSE(too_many.ok());
  EXPECT_EQ(error.message, "expected at most 64 pieces, min and max split the map into more");
}

TEST_F(MapPiecesTest, OnePieceIsAskedForWhereOneMapIs) {
  const auto map = ParseIndexingMap("(d0) -> (min(d0, 3)), domain: d0 in [0, 9]", &context_);
  EXPECT_EQ(map.status().message(), "1:1: expected one map, min and max split it into 2 pieces");
}

TEST_F(MapPiecesTest, ErrorsNameTheirPosition) {
  MapParseError error;
  EXPECT_FALSE(
      ParseIndexingMapPieces("(d0) -> (min(d0)), domain: d0 in [0, 9]", &context_, &error).ok());
  EXPECT_EQ(error.offset, 15U);
  EXPECT_EQ(error.message, "expected ',' or an operator, found ')'");
  EXPECT_FALSE(
      ParseIndexingMapPieces("(d0) -> (min(d0, 1, 2)), domain: d0 in [0, 9]", &context_, &error)
          .ok());
  EXPECT_EQ(error.message, "expected ')' or an operator, found ','");
}

}  // namespace
}  // namespace xla_indexing::internal

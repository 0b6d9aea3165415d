#include "xla_indexing/map/text/text.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/random_map.h"
#include "tests/testing/effort.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

class MapTextTest : public ::testing::Test {
 protected:
  // The text of the map that `text` is; its error where it is none.
  std::string Reprint(absl::string_view text) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
    if (!map.ok()) return std::string(map.status().message());
    EXPECT_TRUE(map->Verify().ok()) << map->Verify();
    return map->ToString();
  }

  // The results of `(d0, d1)[s0] -> (<expr>)`, over unbounded variables.
  std::string ReprintExpr(absl::string_view expr) {
    const std::string domain = ", domain: d0 in [-inf, inf], d1 in [-inf, inf], s0 in [-inf, inf]";
    const absl::StatusOr<IndexingMap> map =
        ParseIndexingMap(absl::StrCat("(d0, d1)[s0] -> (", expr, ")", domain), &context_);
    if (!map.ok()) return std::string(map.status().message());
    const std::string printed = map->ToString();
    constexpr absl::string_view kBegin = "(d0, d1)[s0] -> (";
    return printed.substr(kBegin.size(), printed.size() - kBegin.size() - domain.size() - 1);
  }

  // Requires the text to be refused at that place.
  void ExpectError(absl::string_view text, absl::string_view message) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
    ASSERT_FALSE(map.ok()) << text << "\nis read as\n" << map->ToString();
    EXPECT_EQ(map.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(map.status().message(), message) << text;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(MapTextTest, ReadsAndWritesEveryPart) {
  for (const absl::string_view text : {
           "() -> ()",
           "() -> (5)",
           "(d0) -> (), domain: d0 in [0, 9]",
           "(d0, d1)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 9], d1 in [2, 3], s0 in [0, 0], "
           "rt0 in [0, 15]",
           "()[s0] -> (s0), domain: s0 in [0, 4]",
           "(){rt0, rt1} -> (rt0 + rt1), domain: rt0 in [0, 4], rt1 in [-3, 4]",
           "(d0){rt0} -> (d0 - rt0), domain: d0 in [0, 19], rt0 in [0, 15], d0 - rt0 in [0, 4]",
           "(d0) -> (d0), domain: d0 in [0, inf]",
           "(d0, d1) -> (d0), domain: d0 in [-inf, 5], d1 in [-inf, inf], d0 + d1 in [-3, inf]",
           "(d0) -> (d0), domain: d0 in [-9223372036854775808, 9223372036854775807]",
       }) {
    EXPECT_EQ(Reprint(text), text);
  }
}

TEST_F(MapTextTest, PartsLandWhereTheyBelong) {
  const absl::StatusOr<IndexingMap> map = ParseIndexingMap(
      "(d0, d1)[s0]{rt0} -> (d0 + rt0, s0, 7), domain: d0 in [0, 9], d1 in [1, 2], s0 in [3, 4], "
      "rt0 in [5, 6], d0 mod 2 in [0, 0]",
      &context_);
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(map->num_dims(), 2);
  EXPECT_EQ(map->num_ranges(), 1);
  EXPECT_EQ(map->num_runtimes(), 1);
  EXPECT_EQ(map->dims()[0].bounds, Interval::Closed(0, 9));
  EXPECT_EQ(map->dims()[1].bounds, Interval::Closed(1, 2));
  EXPECT_EQ(map->ranges()[0].bounds, Interval::Closed(3, 4));
  EXPECT_EQ(map->runtimes()[0].bounds, Interval::Closed(5, 6));
  EXPECT_FALSE(map->dims()[0].name);
  // The runtime variable is the symbol after the range variable.
  mlir::AffineExpr d0 = mlir::getAffineDimExpr(0, &context_);
  mlir::AffineExpr s0 = mlir::getAffineSymbolExpr(0, &context_);
  mlir::AffineExpr s1 = mlir::getAffineSymbolExpr(1, &context_);
  ASSERT_EQ(map->num_results(), 3);
  EXPECT_EQ(map->results()[0], d0 + s1);
  EXPECT_EQ(map->results()[1], s0);
  EXPECT_EQ(map->results()[2], mlir::getAffineConstantExpr(7, &context_));
  ASSERT_EQ(map->constraints().size(), 1u);
  EXPECT_EQ(map->constraints()[0].expr, d0 % 2);
  EXPECT_EQ(map->constraints()[0].interval, Interval::Point(0));
}

TEST_F(MapTextTest, WhiteSpaceAndLineEndsMayStandAnywhere) {
  EXPECT_EQ(Reprint("\n ( d0 ,d1 )\t[ s0 ] { } ->\r\n(d0+d1 ,-s0)\n,domain\n:\nd0 in[0,9],\n"
                    "d1\nin [ - 3 , inf ],\n\n s0 in [0, 1] , d0+s0 in [0,4]  \n"),
            "(d0, d1)[s0] -> (d0 + d1, -s0), domain: d0 in [0, 9], d1 in [-3, inf], s0 in [0, 1], "
            "d0 + s0 in [0, 4]");
}

TEST_F(MapTextTest, CustomNamesAreKept) {
  EXPECT_EQ(
      Reprint("(row, _c.1$)[k]{offset} -> (row + offset, _c.1$ * 2, k), domain: row in [0, 9], "
              "_c.1$ in [0, 3], k in [0, 1], offset in [0, 5], row - k in [0, 3]"),
      "(row, _c.1$)[k]{offset} -> (row + offset, _c.1$ * 2, k), domain: row in [0, 9], "
      "_c.1$ in [0, 3], k in [0, 1], offset in [0, 5], row - k in [0, 3]");
}

TEST_F(MapTextTest, DefaultNamesOutOfPlaceAreCustomNames) {
  const absl::string_view text =
      "(d1, d0)[x] -> (d1, x), domain: d1 in [0, 9], d0 in [0, 8], x in [0, 1]";
  EXPECT_EQ(Reprint(text), text);
  const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->results()[0], mlir::getAffineDimExpr(0, &context_));
}

TEST_F(MapTextTest, ReadsExpressionsByPrecedence) {
  EXPECT_EQ(ReprintExpr("d0 + d1 * 2"), "d0 + d1 * 2");
  EXPECT_EQ(ReprintExpr("(d0 + d1) * 2"), "d0 * 2 + d1 * 2");
  EXPECT_EQ(ReprintExpr("2 * d0"), "d0 * 2");
  EXPECT_EQ(ReprintExpr("d0 - d1 - 3"), "d0 - d1 - 3");
  EXPECT_EQ(ReprintExpr("d0 - (d1 - 3)"), "d0 - d1 + 3");
  EXPECT_EQ(ReprintExpr("d0 floordiv 2 mod 3"), "(d0 floordiv 2) mod 3");
  EXPECT_EQ(ReprintExpr("d0 * 3 floordiv 2"), "(d0 * 3) floordiv 2");
  EXPECT_EQ(ReprintExpr("d0 - d1 * 3 floordiv 2"), "d0 - (d1 * 3) floordiv 2");
  EXPECT_EQ(ReprintExpr("d0 + d1 mod 2"), "d0 + d1 mod 2");
  EXPECT_EQ(ReprintExpr("3 * (2 + 4)"), "18");
  EXPECT_EQ(ReprintExpr("7 floordiv 2"), "3");
  EXPECT_EQ(ReprintExpr("d0 * (5 - 5)"), "0");
}

TEST_F(MapTextTest, AUnaryMinusBindsTightest) {
  EXPECT_EQ(ReprintExpr("-d0 + 16"), "-d0 + 16");
  EXPECT_EQ(ReprintExpr("-d0 floordiv 2"), "(-d0) floordiv 2");
  EXPECT_EQ(ReprintExpr("-(d0 floordiv 2)"), "-(d0 floordiv 2)");
  EXPECT_EQ(ReprintExpr("-d0 * 11 - d1 + 109"), "d0 * -11 - d1 + 109");
  EXPECT_EQ(ReprintExpr("--d0"), "d0");
  EXPECT_EQ(ReprintExpr("d0 - -d1"), "d0 + d1");
  EXPECT_EQ(ReprintExpr("-7 mod 4"), "1");
  EXPECT_EQ(ReprintExpr("d0 * -3"), "d0 * -3");
}

TEST_F(MapTextTest, CeilDivIsAFloorDiv) {
  EXPECT_EQ(ReprintExpr("d0 ceildiv 4"), "-((-d0) floordiv 4)");
  EXPECT_EQ(ReprintExpr("7 ceildiv 2"), "4");
}

TEST_F(MapTextTest, NumbersReachBothEndsOfInt64) {
  EXPECT_EQ(ReprintExpr("d0 + 9223372036854775807"), "d0 + 9223372036854775807");
  EXPECT_EQ(ReprintExpr("d0 - 9223372036854775808"), "d0 - 9223372036854775808");
  EXPECT_EQ(ReprintExpr("d0 - d1 * 9223372036854775808"), "d0 - d1 * 9223372036854775808");
  EXPECT_EQ(ReprintExpr("d1 * -9223372036854775808"), "d1 * -9223372036854775808");
  EXPECT_EQ(ReprintExpr("d0 - (d1 mod 3) * 9223372036854775808"),
            "d0 - (d1 mod 3) * 9223372036854775808");
  EXPECT_EQ(ReprintExpr("d0 floordiv 9223372036854775807"), "d0 floordiv 9223372036854775807");
  EXPECT_EQ(ReprintExpr("-9223372036854775808"), "-9223372036854775808");
}

TEST_F(MapTextTest, SumsArePutInOrder) {
  EXPECT_EQ(ReprintExpr("5 + s0 + d1 + d0"), "d0 + d1 + s0 + 5");
  EXPECT_EQ(ReprintExpr("d0 mod 2 + d1 floordiv 3 + d1"), "d1 + d1 floordiv 3 + d0 mod 2");
  EXPECT_EQ(ReprintExpr("d0 + d1 - d0"), "d1");
}

TEST_F(MapTextTest, ConstraintsAreSortedAndMerged) {
  EXPECT_EQ(Reprint("(d0, d1)[s0] -> (), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 9], "
                    "s0 mod 2 in [0, 0], d0 mod 4 in [0, 2], d0 + d1 in [0, 5], "
                    "d1 + d0 in [3, 8]"),
            "(d0, d1)[s0] -> (), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 9], "
            "d0 + d1 in [3, 5], d0 mod 4 in [0, 2], s0 mod 2 in [0, 0]");
}

TEST_F(MapTextTest, ConstraintsOnVariablesAndConstantsAreNotKept) {
  EXPECT_EQ(Reprint("(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 9], d0 in [4, 20], "
                    "rt0 in [-inf, 3], 5 in [0, 9], d0 + rt0 in [-inf, inf]"),
            "(d0){rt0} -> (d0), domain: d0 in [4, 9], rt0 in [0, 3]");
  EXPECT_EQ(Reprint("(d0) -> (d0), domain: d0 in [0, 9], 5 in [6, 9]"),
            "KNOWN EMPTY (d0) -> 1 results");
}

TEST_F(MapTextTest, EmptyMapsAreWrittenAsKnownEmpty) {
  EXPECT_EQ(Reprint("(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 9], "
                    "d0 in [20, 30]"),
            "KNOWN EMPTY (d0, d1)[s0] -> 2 results");
  EXPECT_EQ(Reprint("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 3], "
                    "d0 + d1 in [4, 5]"),
            "KNOWN EMPTY (d0, d1) -> 1 results");
}

TEST_F(MapTextTest, KnownEmptyMapsAreRead) {
  for (const absl::string_view text :
       {"KNOWN EMPTY (d0, d1)[s0] -> 2 results", "KNOWN EMPTY () -> 0 results",
        "KNOWN EMPTY (x)[k]{rt0} -> 1 results", "KNOWN EMPTY (){rt0} -> 0 results"}) {
    EXPECT_EQ(Reprint(text), text);
  }
  const absl::StatusOr<IndexingMap> map =
      ParseIndexingMap("KNOWN\nEMPTY (d0)->2 results", &context_);
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_TRUE(map->IsKnownEmpty());
  EXPECT_EQ(*map, IndexingMap::MakeEmpty(&context_, 1, 0, 0, 2));
}

TEST_F(MapTextTest, ErrorsSayWhereAndWhatWasExpected) {
  ExpectError("", "1:1: expected '(', found the end of the text");
  ExpectError("d0 -> (d0)", "1:1: expected '(', found 'd0'");
  ExpectError("(d0", "1:4: expected ',' or ')', found the end of the text");
  ExpectError("(d0) (d0)", "1:6: expected '->', found '('");
  ExpectError("(d0,) -> ()", "1:5: expected the name of a variable, found ')'");
  ExpectError("(4) -> ()", "1:2: expected the name of a variable, found '4'");
  ExpectError("(mod) -> ()", "1:2: expected the name of a variable, found 'mod'");
  ExpectError("(d0) -> d0", "1:9: expected '(', found 'd0'");
  ExpectError("(d0) -> (d0, )", "1:14: expected a variable, a number or '(', found ')'");
  ExpectError("(d0) -> (d0 +)", "1:14: expected a variable, a number or '(', found ')'");
  ExpectError("(d0) -> (mod)", "1:10: expected a variable, a number or '(', found 'mod'");
  ExpectError("(d0) -> (d0 ? 1)", "1:13: expected ',' or ')', found '?'");
  ExpectError(absl::string_view("(d0) -> (\0)", 11),
              "1:10: expected a variable, a number or '(', found the byte 0x0");
  ExpectError("(d0) -> (100d0)", "1:13: expected ',' or ')', found 'd0'");
}

TEST_F(MapTextTest, ErrorsCountLines) {
  ExpectError("(d0)\n-> (d0),\n  domain: d0 on [0, 9]", "3:14: expected 'in', found 'on'");
  MapParseError error;
  EXPECT_FALSE(ParseIndexingMap("(d0)\n-> (d9)", &context_, &error).ok());
  EXPECT_EQ(error.offset, 9u);
  EXPECT_EQ(error.message, "expected a declared variable, found 'd9'");
}

TEST_F(MapTextTest, RefusesUndeclaredAndDuplicateVariables) {
  ExpectError("(d0) -> (d1), domain: d0 in [0, 9]",
              "1:10: expected a declared variable, found 'd1'");
  ExpectError("(d0) -> (d0), domain: d0 in [0, 9], s0 + d0 in [0, 1]",
              "1:37: expected a declared variable, found 's0'");
  ExpectError("(d0, d0) -> (d0)", "1:6: expected a new name, 'd0' is declared twice");
  ExpectError("(d0)[d0] -> (d0)", "1:6: expected a new name, 'd0' is declared twice");
  ExpectError("(d0)[s0]{s0} -> (d0)", "1:10: expected a new name, 's0' is declared twice");
}

TEST_F(MapTextTest, RefusesUnbalancedLists) {
  ExpectError("(d0] -> (d0)", "1:4: expected ',' or ')', found ']'");
  ExpectError("(d0)[s0) -> (d0)", "1:8: expected ',' or ']', found ')'");
  ExpectError("(d0){rt0 -> (d0)", "1:10: expected ',' or '}', found '->'");
  ExpectError("(d0) -> ((d0), domain: d0 in [0, 9]",
              "1:16: expected a variable, a number or '(', found 'domain'");
  ExpectError("(d0) -> ((d0 + 1, d0)", "1:17: expected ')' or an operator, found ','");
  ExpectError("(d0) -> (d0)), domain: d0 in [0, 9]",
              "1:13: expected ', domain:' and the interval of 'd0', found ')'");
  ExpectError("(d0) -> (d0), domain: d0 in [0, 9", "1:34: expected ']', found the end of the text");
}

TEST_F(MapTextTest, RefusesTrailingText) {
  ExpectError("() -> () x", "1:10: expected the end of the text, found 'x'");
  ExpectError("() -> (), domain: ", "1:9: expected the end of the text, found ','");
  ExpectError("(d0) -> (d0), domain: d0 in [0, 9] x",
              "1:36: expected ',' or the end of the text, found 'x'");
  ExpectError("(d0) -> (d0), domain: d0 in [0, 9],",
              "1:36: expected a variable, a number or '(', found the end of the text");
  ExpectError("KNOWN EMPTY (d0) -> 2 results x", "1:31: expected the end of the text, found 'x'");
}

TEST_F(MapTextTest, RefusesMissingAndMisplacedDomainEntries) {
  ExpectError("(d0) -> (d0)",
              "1:13: expected ', domain:' and the interval of 'd0', found the end of the text");
  ExpectError("(d0) -> (d0), d0 in [0, 9]", "1:15: expected 'domain', found 'd0'");
  ExpectError("(d0) -> (d0), domain d0 in [0, 9]", "1:22: expected ':', found 'd0'");
  ExpectError("(d0, d1) -> (d0), domain: d0 in [0, 9]",
              "1:39: expected ',' and the interval of 'd1', found the end of the text");
  ExpectError("(d0, d1) -> (d0), domain: d1 in [0, 9], d0 in [0, 9]",
              "1:27: expected the interval of 'd0', found 'd1'");
  ExpectError("(d0)[s0] -> (d0), domain: d0 in [0, 9], d0 + s0 in [0, 9]",
              "1:41: expected the interval of 's0', found 'd0'");
  ExpectError("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2",
              "1:45: expected 'in' or an operator, found the end of the text");
}

TEST_F(MapTextTest, RefusesBadIntervals) {
  ExpectError("(d0) -> (d0), domain: d0 in [inf, 4]",
              "1:30: expected an integer or '-inf', found 'inf'");
  ExpectError("(d0) -> (d0), domain: d0 in [0, -inf]",
              "1:34: expected an integer or 'inf', found 'inf'");
  ExpectError("(d0) -> (d0), domain: d0 in []", "1:30: expected an integer or '-inf', found ']'");
  ExpectError("(d0) -> (d0), domain: d0 in [0]", "1:31: expected ',', found ']'");
  ExpectError("(d0) -> (d0), domain: d0 in (0, 1)", "1:29: expected '[', found '('");
  ExpectError("(d0) -> (d0), domain: d0 in [d0, 1]",
              "1:30: expected an integer or '-inf', found 'd0'");
}

TEST_F(MapTextTest, RefusesDivisorsThatAreZeroOrNotConstant) {
  const std::string domain = ", domain: d0 in [0, 9], d1 in [0, 9]";
  ExpectError("(d0, d1) -> (d0 floordiv 0)" + domain,
              "1:26: expected a divisor other than 0 for floordiv");
  ExpectError("(d0, d1) -> (d0 ceildiv d1)" + domain,
              "1:25: expected a constant divisor for ceildiv, found one with variables");
  ExpectError("(d0, d1) -> (d0 / d1)" + domain,
              "1:19: expected a constant divisor for floordiv, found one with variables");
  ExpectError("(d0, d1) -> (5 mod d1)" + domain,
              "1:20: expected a constant divisor for mod, found one with variables");
  ExpectError("(d0, d1) -> (d0 floordiv (3 - 3))" + domain,
              "1:26: expected a divisor other than 0 for floordiv");
}

TEST_F(MapTextTest, ReadsOtherWordsForDivisions) {
  EXPECT_EQ(ReprintExpr("d0 / 4"), "d0 floordiv 4");
  EXPECT_EQ(ReprintExpr("d0 floorDiv 4"), "d0 floordiv 4");
  EXPECT_EQ(ReprintExpr("d0 ceilDiv 4"), "-((-d0) floordiv 4)");
}

TEST_F(MapTextTest, ReadsNegativeDivisors) {
  EXPECT_EQ(ReprintExpr("d0 floordiv -4"), "(-d0) floordiv 4");
  EXPECT_EQ(ReprintExpr("d0 / (1 - 5)"), "(-d0) floordiv 4");
  EXPECT_EQ(ReprintExpr("d0 ceildiv -4"), "-(d0 floordiv 4)");
  EXPECT_EQ(ReprintExpr("d0 mod -4"), "-((-d0) mod 4)");
  // floor(7 / -2) = -4, ceil(7 / -2) = -3, 7 - -2 * -4 = -1.
  EXPECT_EQ(ReprintExpr("7 floordiv -2"), "-4");
  EXPECT_EQ(ReprintExpr("7 ceildiv -2"), "-3");
  EXPECT_EQ(ReprintExpr("7 mod -2"), "-1");
}

TEST_F(MapTextTest, ReadsIntervalsThatAreEmpty) {
  for (const char* const interval : {"[0, -1]", "[10, 0]"}) {
    const auto map =
        ParseIndexingMap(absl::StrCat("(d0) -> (d0), domain: d0 in ", interval), &context_);
    ASSERT_TRUE(map.ok()) << map.status();
    EXPECT_TRUE(map->IsKnownEmpty()) << interval;
  }
}

TEST_F(MapTextTest, RefusesProductsOfTwoVariables) {
  ExpectError("(d0, d1) -> (d0 * d1)",
              "1:17: expected a product with a constant, found one of two variables");
  ExpectError("(d0) -> (d0 * (d0 mod 2))",
              "1:13: expected a product with a constant, found one of two variables");
}

TEST_F(MapTextTest, RefusesNumbersThatDoNotFitInt64) {
  const std::string domain = ", domain: d0 in [0, 9]";
  ExpectError("(d0) -> (d0 + 9223372036854775809)" + domain,
              "1:15: the number '9223372036854775809' does not fit int64");
  ExpectError("(d0) -> (d0 * 99999999999999999999999999999999999999999999999999)" + domain,
              "1:15: the number '9999999999999999999999999999999999999999...' does not fit int64");
  ExpectError("(d0) -> (d0 + 9223372036854775808)" + domain,
              "1:15: a number in the expression does not fit int64");
  ExpectError("(d0) -> (d0 * 9223372036854775808)" + domain,
              "1:10: a number in the expression does not fit int64");
  ExpectError("(d0) -> (d0 * 4294967296 * 4294967296)" + domain,
              "1:26: a number in the expression does not fit int64");
  ExpectError("(d0) -> ((d0 * 4 + 5) * 4611686018427387904)" + domain,
              "1:10: a number in the expression does not fit int64");
  ExpectError("(d0) -> (9223372036854775807 + d0 + 1)" + domain,
              "1:37: a number in the expression does not fit int64");
  ExpectError("(d0) -> (d0 floordiv 9223372036854775808)" + domain,
              "1:22: a number in the expression does not fit int64");
  ExpectError("(d0) -> ((d0 - 9223372036854775808) ceildiv 2)" + domain,
              "1:10: a number in the expression does not fit int64");
  ExpectError("(d0) -> (d0), domain: d0 in [0, 9223372036854775808]",
              "1:33: the number '9223372036854775808' does not fit int64");
  ExpectError("(d0) -> (d0), domain: d0 in [-9223372036854775809, 0]",
              "1:30: the number -'9223372036854775809' does not fit int64");
}

std::string Repeat(absl::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) absl::StrAppend(&result, text);
  return result;
}

TEST_F(MapTextTest, NestingIsBoundedAt256) {
  EXPECT_EQ(ReprintExpr(Repeat("(", 256) + "d0" + Repeat(")", 256)), "d0");
  EXPECT_EQ(ReprintExpr(Repeat("(", 257) + "d0" + Repeat(")", 257)),
            "1:18: expected a nesting of at most 256");
  // Far past the bound the text is not even read to its end.
  EXPECT_EQ(ReprintExpr(Repeat("(", 1000000)), "1:531: expected a nesting of at most 256");
  EXPECT_EQ(ReprintExpr("d0" + Repeat(" floordiv 3", 257)),
            "1:18: expected a nesting of at most 256");
}

TEST_F(MapTextTest, TheDeepestExpressionsAreReadBack) {
  // Each level is a sum of a multiple of the level below: two pairs of parentheses a level.
  std::string expr = "(d0 * 3 + d1) mod 7";
  for (int i = 1; i < 256; ++i) expr = absl::StrCat("((", expr, ") * 3 + d1) mod 7");
  const std::string printed = ReprintExpr(expr);
  EXPECT_GT(printed.size(), 256u * 10);
  EXPECT_EQ(ReprintExpr(printed), printed);
}

TEST_F(MapTextTest, TermsAreBoundedAt4096) {
  const std::string most = "d0 * 2" + Repeat(" + d1", 4095);
  EXPECT_EQ(ReprintExpr(most), "d0 * 2 + d1 * 4095");
  EXPECT_EQ(
      ReprintExpr(most + " + s0"),
      absl::StrCat("1:", 18 + most.size() + 3, ": expected at most 4096 terms in an expression"));
  EXPECT_EQ(ReprintExpr("1" + Repeat(" + 1", 4095)), "4096");
  EXPECT_EQ(
      ReprintExpr("1" + Repeat(" + 1", 4096)),
      absl::StrCat("1:", 18 + 1 + 4096 * 4 - 1, ": expected at most 4096 terms in an expression"));
  // Terms count at all levels of nesting together.
  const std::string nested = "(d0" + Repeat(" + d1", 4000) + ") mod 5" + Repeat(" + d1", 96);
  EXPECT_EQ(ReprintExpr(nested), absl::StrCat("1:", 18 + nested.size() - 2,
                                              ": expected at most 4096 terms in an expression"));
}

TEST_F(MapTextTest, RefusesAbsurdNumbersOfResults) {
  ExpectError("KNOWN EMPTY () -> 99999999999999 results", "1:19: expected at most 65536 results");
  ExpectError("KNOWN EMPTY () -> 99999999999999999999999 results",
              "1:19: expected at most 65536 results");
  ExpectError("KNOWN EMPTY () -> x results", "1:19: expected the number of results, found 'x'");
  ExpectError("KNOWN EMPTY () -> 2", "1:20: expected 'results', found the end of the text");
  ExpectError("KNOWN (d0) -> 2 results", "1:7: expected 'EMPTY', found '('");
  std::string text = "(";
  for (int i = 0; i <= 65536; ++i) absl::StrAppend(&text, "d", i, ",");
  const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
  EXPECT_NE(map.status().message().find("expected at most 65536 in a list"), std::string::npos)
      << map.status();
}

TEST_F(MapTextTest, EveryCutOfATextIsRefused) {
  const std::string text =
      "(d0, x)[s0]{rt0} -> (d0 * 2 + rt0, (s0 - 1) mod 4), domain: d0 in [0, 9], x in [-inf, 3], "
      "s0 in [0, 4], rt0 in [-2, inf], d0 + s0 in [0, 12]";
  ASSERT_EQ(Reprint(text), text);
  const size_t constraint = text.rfind(", d0");
  for (size_t length = 0; length < text.size(); ++length) {
    const bool complete = length == constraint;
    EXPECT_EQ(ParseIndexingMap(text.substr(0, length), &context_).ok(), complete) << length;
  }
}

TEST_F(MapTextTest, PrintedMapsReadBackEqual) {
  RandomMaps random(7, &context_);
  for (int i = 0; i < Cases(20000); ++i) {
    const IndexingMap map = random.Map();
    ASSERT_TRUE(map.Verify().ok()) << map.Verify();
    const std::string text = map.ToString();
    const absl::StatusOr<IndexingMap> again = ParseIndexingMap(text, &context_);
    ASSERT_TRUE(again.ok()) << text << "\n" << again.status();
    ASSERT_EQ(*again, map) << text;
    ASSERT_EQ(again->ToString(), text);
  }
}

TEST_F(MapTextTest, PartsAreWhatTheTextIsPutTogetherFrom) {
  const absl::StatusOr<IndexingMap> map = ParseIndexingMap(
      "(row, d1)[k]{rt0} -> (k + rt0, row floordiv 2), domain: row in [0, 3], d1 in [0, 3], "
      "k in [0, 3], rt0 in [0, 9], row + d1 in [0, 4], k mod 2 in [0, 0]",
      &context_);
  ASSERT_TRUE(map.ok()) << map.status();
  const MapTextParts parts = TextPartsOf(*map);
  EXPECT_EQ(parts.dims, std::vector<std::string>({"row", "d1"}));
  EXPECT_EQ(parts.ranges, std::vector<std::string>({"k"}));
  EXPECT_EQ(parts.runtimes, std::vector<std::string>({"rt0"}));
  EXPECT_EQ(parts.results, std::vector<std::string>({"k + rt0", "row floordiv 2"}));
  ASSERT_EQ(parts.constraints.size(), map->constraints().size());
  for (const std::string& constraint : parts.constraints) {
    EXPECT_NE(map->ToString().find(", " + constraint + " in ["), std::string::npos) << constraint;
  }
}

}  // namespace
}  // namespace xla_indexing

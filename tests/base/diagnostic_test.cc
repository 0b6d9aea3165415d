#include "xla_indexing/base/diagnostic.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace xla_indexing {
namespace {

SourcePosition At(int64_t line, int64_t column) { return {line, column}; }

TEST(DiagnosticTest, PositionsCountLinesAndBytesFromOne) {
  const absl::string_view text = "ab\n\ncd\xc3\xa9x";
  EXPECT_EQ(PositionAt(text, 0), At(1, 1));
  EXPECT_EQ(PositionAt(text, 2), At(1, 3));  // The newline belongs to its line.
  EXPECT_EQ(PositionAt(text, 3), At(2, 1));
  EXPECT_EQ(PositionAt(text, 4), At(3, 1));
  EXPECT_EQ(PositionAt(text, 8), At(3, 5));  // A two-byte character counts twice.
}

TEST(DiagnosticTest, OffsetsPastTheEndAreTheEnd) {
  EXPECT_EQ(PositionAt("ab", 2), At(1, 3));
  EXPECT_EQ(PositionAt("ab", 100), At(1, 3));
  EXPECT_EQ(PositionAt("ab\n", 100), At(2, 1));
  EXPECT_EQ(PositionAt("", 5), At(1, 1));
}

TEST(DiagnosticTest, ShowsPlaceMessageLineAndCaret) {
  EXPECT_EQ(FormatDiagnostic("a.hlo", "first\nx = f32[\nlast", 14, "expected a dimension"),
            "a.hlo:2:9: error: expected a dimension\n"
            "x = f32[\n"
            "        ^");
  EXPECT_EQ(FormatDiagnostic("a.hlo", "first\nx = f32[\nlast", 6, "m"),
            "a.hlo:2:1: error: m\n"
            "x = f32[\n"
            "^");
}

TEST(DiagnosticTest, WorksAtTheEndOfTheTextAndInEmptyText) {
  EXPECT_EQ(FormatDiagnostic("f", "", 0, "m"), "f:1:1: error: m\n\n^");
  EXPECT_EQ(FormatDiagnostic("f", "ab", 2, "m"), "f:1:3: error: m\nab\n  ^");
  EXPECT_EQ(FormatDiagnostic("f", "ab\n", 3, "m"), "f:2:1: error: m\n\n^");
}

TEST(DiagnosticTest, TakesAKnownPosition) {
  const absl::string_view text = "one\ntwo\nthree";
  EXPECT_EQ(FormatDiagnostic("f", text, 10, PositionAt(text, 10), "m"),
            FormatDiagnostic("f", text, 10, "m"));
  // Positions that do not belong to the text are shown as given and read nothing outside it.
  EXPECT_EQ(FormatDiagnostic("f", "ab", 1, SourcePosition{7, 50}, "m"), "f:7:50: error: m\nab\n ^");
}

TEST(DiagnosticTest, EveryByteIsOneHarmlessCharacter) {
  // A tab, an escape, a character of two bytes and a null byte before the place.
  const std::string text = {'\t', 'a', '\x1b', '\xc3', '\xa9', '\0', 'b', '\n', 'c'};
  EXPECT_EQ(FormatDiagnostic("f", text, 6, "m\n\x1b"),
            "f:1:7: error: m??\n"
            " a????b\n"
            "      ^");
}

TEST(DiagnosticTest, CarriageReturnsBeforeNewlinesAreNotShown) {
  EXPECT_EQ(FormatDiagnostic("f", "ab\r\ncd", 0, "m"), "f:1:1: error: m\nab\n^");
}

TEST(DiagnosticTest, LongLinesAreCutAroundThePlace) {
  const std::string line = absl::StrCat(std::string(1000, 'a'), "X", std::string(1000, 'b'));
  EXPECT_EQ(FormatDiagnostic("f", line, 1000, "m"),
            absl::StrCat("f:1:1001: error: m\n...", std::string(80, 'a'), "X", std::string(59, 'b'),
                         "...\n", std::string(83, ' '), "^"));
}

}  // namespace
}  // namespace xla_indexing

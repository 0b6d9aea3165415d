// Bad input: whatever the text, the parser ends in a module or in an error with its place.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"
#include "tests/testing/seed.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::string_view kModule =
    R"(HloModule m, entry_computation_layout={(f32[2,3]{1,0})->f32[2]{0}}

%add (a: f32[], b: f32[]) -> f32[] {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b), metadata={op_name="x\"y"}
}

ENTRY %e (p: f32[2,3]) -> f32[2] {
  %p = f32[2,3]{1,0} parameter(0)  /* comment */
  %c = f32[] constant(-1.5e-3)
  %k = (s32[2], pred[]) constant(({1, -2}, true))
  ROOT %r = f32[2]{0} reduce(%p, %c), dimensions={1}, to_apply=%add
} // end
)";

TEST(Feature36Errors, ShowLineColumnSourceLineAndCaret) {
  EXPECT_EQ(ErrorOf("HloModule m\n\nENTRY e {\n  p = f32[2} parameter(0)\n}\n"),
            "f.hlo:4:12: error: expected ']', found '}'\n"
            "  p = f32[2} parameter(0)\n"
            "           ^");
}

// The mark takes no column.
TEST(Feature36Errors, AByteOrderMarkIsSkipped) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(ErrorOf(mark + Entry("p = f32[2] parameter(0)")), "");
  EXPECT_EQ(ErrorOf(mark + "HloModule m, m"), ErrorOf("HloModule m, m"));
  EXPECT_THAT(ErrorOf(mark), HasSubstr("expected one module, found 0"));
  EXPECT_THAT(ErrorOf(mark + mark), HasSubstr("f.hlo:1:1: error: "));
}

TEST(Feature36Errors, SayWhatWasExpected) {
  EXPECT_THAT(ErrorOf("HloModule m"), HasSubstr("expected a computation, found the end"));
  EXPECT_THAT(ErrorOf("HloModule m\nENTRY e { }"),
              HasSubstr("expected an instruction; a computation has at least one"));
  EXPECT_THAT(ErrorOf(Entry("p = f32[] foo")), HasSubstr("expected an opcode, found 'foo'"));
  EXPECT_THAT(
      ErrorOf(Entry("p = foo()")),
      HasSubstr("expected an opcode, found 'foo'; the result of an opcode that is not known "
                "needs its shape before it"));
  EXPECT_THAT(ErrorOf(Entry("p = f32[] constant-start(0)")), HasSubstr("expected an operand"));
  EXPECT_THAT(ErrorOf(Entry("p = f32[] add(a b)")), HasSubstr("'a' is not defined"));
  EXPECT_THAT(ErrorOf(Entry("p = f32[] parameter(0)\nc = f32[] call(p), "
                            "called_computations={ { x = f32[] parameter(0) }, %y }")),
              HasSubstr("f.hlo:5:70: error: computation 'y' is not defined before this place"));
  EXPECT_THAT(ErrorOf(Entry("p = f32[] parameter(0)\nx = f32[] add(p p)")),
              HasSubstr("f.hlo:5:17: error: expected ')', found 'p'"));
  EXPECT_THAT(ErrorOf(Entry("p = f32[] parameter(0)\nx = f32[] add(p,)")),
              HasSubstr("expected an operand, found ')'"));
  EXPECT_THAT(ErrorOf(Entry("ROOT p = f32[] parameter(0)\nROOT x = f32[] negate(p)")),
              HasSubstr("second instruction marked ROOT"));
  EXPECT_THAT(ErrorOf("HloModule m\nENTRY a { p = f32[] parameter(0) }\nENTRY b { p = f32[] "
                      "parameter(0) }"),
              HasSubstr("second computation marked ENTRY"));
  EXPECT_THAT(ErrorOf("!"), HasSubstr("expected 'HloModule', a computation or an instruction"));
  EXPECT_THAT(ErrorOf("\x01"), HasSubstr("no printable character"));
  EXPECT_THAT(ErrorOf("HloModule m, is_scheduled=true, is_scheduled=true\nENTRY e { p = f32[] "
                      "parameter(0) }"),
              HasSubstr("attribute 'is_scheduled' is given twice"));
  EXPECT_THAT(ErrorOf("HloModule m, entry_computation_layout={(f32[2]->f32[]}\nENTRY e { p = f32[] "
                      "parameter(0) }"),
              HasSubstr("expected ')'"));
}

TEST(Feature36Errors, TextProtocolBuffersAreRefusedPolitely) {
  for (const char* text : {"hlo_module {\n  name: \"foo\"\n}", "name: \"foo\"\n",
                           "# proto\nname: \"foo\"", "hlo_module: { name: \"x\" }"}) {
    if (text[0] == '#') {
      EXPECT_THAT(ErrorOf(text), HasSubstr("expected 'HloModule'"));
    } else {
      EXPECT_THAT(ErrorOf(text), StartsWith("f.hlo:1:1: error: this is a text protocol buffer"));
    }
  }
}

TEST(Feature36Errors, ComputationsWithoutTheirModuleAreRefused) {
  EXPECT_THAT(ErrorOf("\n%f (a: f32[]) -> f32[] {\n a = f32[] parameter(0) }"),
              StartsWith("f.hlo:2:1: error: this computation is cut off from its module"));
  EXPECT_EQ(ErrorOf("%f (a: f32[]) -> f32[] {\n a = f32[] parameter(0) }\n"
                    "ENTRY g { p = f32[] parameter(0) }"),
            "");
}

TEST(Feature36Errors, AbsurdDimensions) {
  EXPECT_EQ(ErrorOf(Entry("p = f32[0,4611686018427387904] parameter(0)")), "");
  EXPECT_EQ(ErrorOf(Entry("p = f32[4611686018427387904] parameter(0)")), "");
  EXPECT_THAT(ErrorOf(Entry("p = f32[4611686018427387904,4] parameter(0)")),
              StartsWith("f.hlo:4:5: error: the number of elements of "
                         "f32[4611686018427387904,4] does not fit 64 bits"));
  EXPECT_THAT(ErrorOf(Entry("p = f32[99999999999999999999] parameter(0)")),
              HasSubstr("the size of a dimension does not fit 64 bits"));
  EXPECT_THAT(ErrorOf(Entry("p = f32[] parameter(9223372036854775807)")),
              HasSubstr("no parameter can have the number 9223372036854775807"));
}

TEST(Feature36Errors, DeepNesting) {
  const auto nested_operand = [](int depth) {
    std::string text = "p";
    for (int i = 0; i < depth; ++i) text = "f32[] negate(" + text + ")";
    return Entry("p = f32[] parameter(0)\n ROOT r = " + text);
  };
  EXPECT_EQ(ErrorOf(nested_operand(256)), "");
  EXPECT_THAT(ErrorOf(nested_operand(300)), HasSubstr("operands are nested more than 256 deep"));
  EXPECT_THAT(ErrorOf(nested_operand(20000)), HasSubstr("operands are nested more than 256 deep"));
  std::string inline_computation = "p = f32[] parameter(0)";
  for (int i = 0; i < 300; ++i) {
    inline_computation =
        "p = f32[] parameter(0) c = f32[] call(p), to_apply={ " + inline_computation + " }";
  }
  EXPECT_THAT(ErrorOf(Entry(inline_computation)),
              HasSubstr("computations are nested more than 256 deep"));
  EXPECT_NE(ErrorOf(std::string(100000, '(')), "");
  EXPECT_NE(ErrorOf(std::string(100000, '{')), "");
  EXPECT_NE(ErrorOf(Entry("p = f32[] parameter(0), a=" + std::string(100000, '{'))), "");
}

TEST(Feature36Errors, OmittedShapesOfExponentialSizeAreRefused) {
  std::string lines = "t0 = f32[] parameter(0)\n";
  for (int i = 1; i <= 60; ++i) {
    absl::StrAppend(&lines, "t", i, " = tuple(t", i - 1, ", t", i - 1, ")\n");
  }
  EXPECT_THAT(ErrorOf(Entry(lines)), HasSubstr("= tuple(t15, t15)\n^"));
  lines = "t0 = f32[] parameter(0)\n";
  for (int i = 1; i <= 1000; ++i) absl::StrAppend(&lines, "t", i, " = tuple(t", i - 1, ")\n");
  EXPECT_THAT(ErrorOf(Entry(lines)), HasSubstr("= tuple(t255)\n^"));
}

TEST(Feature36Errors, OmittedShapesThatAreTooLargeTogetherAreRefused) {
  std::string shape = "(f32[]";
  for (int i = 1; i < 50000; ++i) shape += ",f32[]";
  std::string lines = "p = " + shape + ") parameter(0)\n";
  for (int i = 1; i <= 100; ++i) {
    absl::StrAppend(&lines, "t", i, " = tuple(", i == 1 ? "p" : absl::StrCat("t", i - 1), ")\n");
  }
  EXPECT_THAT(ErrorOf(Entry(lines)), HasSubstr("too large; they must be given"));
}

TEST(Feature36Errors, AModuleCutOffAtAnyByteIsAModuleOrAnError) {
  ASSERT_NE(RoundTrip(kModule), nullptr);
  for (size_t size = 0; size < kModule.size(); ++size) {
    const std::string text(kModule.substr(0, size));
    // A text that ends with a computation is whole; it only has another entry.
    const absl::string_view last = absl::StripAsciiWhitespace(text);
    const bool is_whole = absl::EndsWith(last, "\n}") || absl::StrContains(last, "} //");
    for (const auto& module : ParseModules({"f.hlo", text})) {
      EXPECT_EQ(module.ok(), is_whole) << text;
      if (!module.ok()) {
        EXPECT_THAT(std::string(module.status().message()), StartsWith("f.hlo:"));
      }
    }
  }
}

TEST(Feature36Errors, AnyByteReplacedIsAModuleOrAnError) {
  std::mt19937 random(Seeded(20240607));
  constexpr absl::string_view kBytes = "{}()[]<=%,:\"'/*#x0 \n\\-.~\x01\xff";
  for (int i = 0; i < 20000; ++i) {
    std::string text(kModule);
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
      text[random() % text.size()] = kBytes[random() % kBytes.size()];
    }
    for (const auto& module : ParseModules({"f.hlo", text})) {
      if (module.ok()) {
        const auto again = ParseModule((*module)->ToString());
        ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << text;
        ASSERT_TRUE(ModulesEqual(**module, **again)) << text;
      }
    }
  }
}

TEST(ParseModules, CommentsAndBlanksOnlyAreNoModuleAndNoError) {
  EXPECT_TRUE(ParseModules({"f", ""}).empty());
  EXPECT_TRUE(ParseModules({"f", " \n\t// a\n/* b */\n// -----\n\n// -----"}).empty());
  EXPECT_THAT(ErrorOf("// nothing"), HasSubstr("expected one module, found 0"));
  EXPECT_EQ(ParseModules({"f", "/* open"}).size(), 1u);
}

TEST(ParseModules, ManyErrorsTakeLinearTime) {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "x\n// -----\n";
  const auto modules = ParseModules({"f.hlo", text});
  ASSERT_EQ(modules.size(), 50000u);
  EXPECT_THAT(std::string(modules.back().status().message()), StartsWith("f.hlo:99999:1: error: "));
}

}  // namespace
}  // namespace xla_indexing

#include "xla_indexing/ops/answers/operand_indexing.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/remembered_maps.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OperandIndexingTest : public IndexingTest {
 protected:
  OperandIndexingTest() {
    const HloInstruction* root = Entry(R"(
      a = s32[] parameter(0)
      b = s32[] parameter(1)
      t = s32[100] parameter(2)
      ROOT r = (s32[], s32[], s32[100]) tuple(a, b, t))");
    a_ = root->operand(0);
    b_ = root->operand(1);
    t_ = root->operand(2);
  }

  RuntimeVarIndexing Scalar(const HloInstruction* instruction, int64_t hi) {
    RuntimeVarIndexing binding;
    binding.instruction = instruction;
    binding.value = ValueFunction::Clamp(0, hi);
    return binding;
  }
  RuntimeVarIndexing Element(const HloInstruction* instruction, mlir::AffineExpr index,
                             int64_t hi) {
    RuntimeVarIndexing binding = Scalar(instruction, hi);
    binding.element.push_back(index);
    return binding;
  }
  mlir::AffineExpr Symbol(unsigned i) { return mlir::getAffineSymbolExpr(i, &context_); }
  mlir::AffineExpr Dim(unsigned i) { return mlir::getAffineDimExpr(i, &context_); }
  mlir::AffineExpr Value(int64_t value) { return Constant(value, &context_); }

  OperandIndexing Make(absl::string_view map, RuntimeVarIndexings bindings = {},
                       ExactnessLabel label = ExactnessLabel::Exact()) {
    return OperandIndexing(kPartsFit, Map(map), std::move(bindings), std::move(label));
  }
  OperandIndexing Simplified(absl::string_view map, RuntimeVarIndexings bindings = {},
                             ExactnessLabel label = ExactnessLabel::Exact()) {
    OperandIndexing indexing = Make(map, std::move(bindings), std::move(label));
    indexing.Simplify();
    return indexing;
  }
  OperandIndexing Compose(const OperandIndexing& first, const OperandIndexing& second) {
    absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(first, second);
    EXPECT_TRUE(composed.ok()) << composed.status();
    return composed.ok() ? *std::move(composed)
                         : OperandIndexing(kPartsFit, IndexingMap(&context_));
  }

  const HloInstruction* a_;
  const HloInstruction* b_;
  const HloInstruction* t_;
};

TEST_F(OperandIndexingTest, PrintsMapLabelAndBindings) {
  const OperandIndexing indexing =
      Make("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]", {Scalar(a_, 6)},
           ExactnessLabel::OverApproximate("a test"));
  EXPECT_EQ(indexing.ToString(a_->parent()),
            "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]"
            "  (over-approximate: a test)\n"
            "  rt0: a, clamp [0, 6]; (d0) -> (), domain: d0 in [0, 3]");
  EXPECT_EQ(OperandIndexing::Unknown(&context_, "no idea").ToString(), "unknown: no idea");
}

TEST_F(OperandIndexingTest, ElementMapsKeepTheNamesOfTheOwnersVariables) {
  const OperandIndexing indexing = Make(
      "(d0)[s0, s1]{rt0, rt1} -> (s0 + rt0 + rt1), domain: d0 in [0, 3], s0 in [0, 1], "
      "s1 in [0, 2], rt0 in [0, 6], rt1 in [0, 7], d0 + s1 in [0, 4], s0 + rt1 in [0, 7]",
      {Element(t_, Symbol(1), 6), Element(t_, Symbol(2), 7)});
  EXPECT_EQ(indexing.BindingToString(0),
            "rt0: t, clamp [0, 6]; (d0)[s1] -> (s1), domain: d0 in [0, 3], s1 in [0, 2], "
            "d0 + s1 in [0, 4]");
  EXPECT_EQ(indexing.BindingToString(1),
            "rt1: t, clamp [0, 7]; (d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 6]");
}

TEST_F(OperandIndexingTest, SimplifiesResultsAndElementsTogether) {
  const OperandIndexing indexing = Simplified(
      "(d0)[s0]{rt0} -> ((d0 * 4 + s0) floordiv 4 + rt0), domain: d0 in [0, 3], "
      "s0 in [0, 3], rt0 in [0, 6]",
      {Element(t_, Dim(0), 6)});
  EXPECT_EQ(indexing.MapToString(), "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]");
  EXPECT_EQ(indexing.bindings()[0].element[0], Dim(0));
}

TEST_F(OperandIndexingTest, ReplacesVariablesOfOneValueInElementsToo) {
  const OperandIndexing indexing =
      Simplified("(d0)[s0]{rt0} -> (d0 + rt0), domain: d0 in [2, 2], s0 in [0, 3], rt0 in [0, 6]",
                 {Element(t_, Dim(0), 6)});
  EXPECT_EQ(indexing.MapToString(), "(d0){rt0} -> (rt0 + 2), domain: d0 in [2, 2], rt0 in [0, 6]");
  EXPECT_EQ(indexing.bindings()[0].element[0], mlir::getAffineConstantExpr(2, &context_));
}

TEST_F(OperandIndexingTest, ReplacesRangeVariablesThatAConstraintDetermines) {
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 9], s0 in [2, 12], "
                       "s1 in [0, 3], d0 - s0 in [0, 0]")
                .MapToString(),
            "(d0)[s0] -> (d0, s0), domain: d0 in [2, 9], s0 in [0, 3]");
  EXPECT_EQ(Simplified("(d0)[s0] -> (s0 * 2), domain: d0 in [0, 9], s0 in [0, 9], "
                       "d0 + s0 in [9, 9]")
                .MapToString(),
            "(d0) -> (d0 * -2 + 18), domain: d0 in [0, 9]");
  // Twice the variable is an even number only.
  EXPECT_EQ(
      Simplified("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3], d0 - s0 * 2 in [0, 0]")
          .MapToString(),
      "(d0) -> (d0 floordiv 2), domain: d0 in [0, 6], d0 mod 2 in [0, 0]");
  // In elements as well, and one after another.
  const OperandIndexing indexing = Simplified(
      "(d0)[s0, s1]{rt0} -> (rt0), domain: d0 in [0, 3], s0 in [0, 9], s1 in [0, 9], "
      "rt0 in [0, 6], s0 - s1 in [2, 2], d0 - s1 in [0, 0]",
      {Element(t_, Symbol(0), 6)});
  EXPECT_EQ(indexing.ToString(a_->parent()),
            "(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 6]\n"
            "  rt0: t, clamp [0, 6]; (d0) -> (d0 + 2), domain: d0 in [0, 3]");
}

TEST_F(OperandIndexingTest, KeepsRangeVariablesThatAreNotDetermined) {
  for (const absl::string_view map :
       {// Two values now and then: d0 = 2 is 2*s0 for s0 = 1, and 2*s0 + 2 for s0 = 0.
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3], d0 - s0 * 2 in [0, 2]",
        // It occurs once more.
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9], d0 - s0 - s0 floordiv 3 in [0, 0]",
        // Two values.
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9], d0 - s0 in [0, 1]"}) {
    EXPECT_THAT(Simplified(map).MapToString(), ::testing::HasSubstr("-> (s0)")) << map;
  }
  // The element that decides would be read at itself.
  EXPECT_THAT(Simplified("(d0)[s0]{rt0} -> (s0), domain: d0 in [0, 9], s0 in [0, 9], "
                         "rt0 in [0, 9], s0 - rt0 in [0, 0]",
                         {Element(t_, Symbol(0), 9)})
                  .MapToString(),
              ::testing::HasSubstr("-> (s0)"));
}

// An update of one row at b, of a row that an element of t names: the row of the result is b.
TEST_F(OperandIndexingTest, EqualitiesWithRuntimeVariablesShortenWhatHasTheseVariables) {
  EXPECT_EQ(Simplified("(d0){rt0, rt1} -> (d0 + rt0 - rt1), domain: d0 in [0, 9], rt0 in [0, 99], "
                       "rt1 in [0, 9], d0 - rt1 in [0, 0]",
                       {Scalar(a_, 99), Scalar(b_, 9)})
                .MapToString(),
            "(d0){rt0, rt1} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 99], rt1 in [0, 9], "
            "d0 - rt1 in [0, 0]");
  // A range variable is in nothing else then; all values of b have one.
  EXPECT_EQ(Simplified("(d0)[s0]{rt0, rt1} -> (d0, s0 + rt0 - rt1), domain: d0 in [0, 3], "
                       "s0 in [0, 9], rt0 in [0, 99], rt1 in [0, 9], s0 - rt1 in [0, 0]",
                       {Scalar(a_, 99), Scalar(b_, 9)})
                .MapToString(),
            "(d0){rt0} -> (d0, rt0), domain: d0 in [0, 3], rt0 in [0, 99]");
  // In elements too.
  EXPECT_EQ(Simplified("(d0){rt0, rt1} -> (rt1), domain: d0 in [0, 9], rt0 in [0, 9], "
                       "rt1 in [0, 6], d0 - rt0 in [0, 0]",
                       {Scalar(b_, 9), Element(t_, Dim(0) - Symbol(0) + 3, 6)})
                .ToString(a_->parent()),
            "(d0){rt0, rt1} -> (rt1), domain: d0 in [0, 9], rt0 in [0, 9], rt1 in [0, 6], "
            "d0 - rt0 in [0, 0]\n"
            "  rt0: b, clamp [0, 9]; (d0) -> (), domain: d0 in [0, 9]\n"
            "  rt1: t, clamp [0, 6]; (d0) -> (3), domain: d0 in [0, 9]");
  // What has no such variable does not come to depend on one, even where that is shorter.
  const OperandIndexing longer = Simplified(
      "(d0, d1){rt0} -> (d0 + d1 * 2), domain: d0 in [0, 9], d1 in [0, 9], rt0 in [0, 27], "
      "d0 + d1 * 2 - rt0 in [0, 0]",
      {Scalar(a_, 27)});
  EXPECT_THAT(longer.MapToString(), ::testing::HasSubstr("-> (d0 + d1 * 2)"));
}

TEST_F(OperandIndexingTest, KeepsARangeVariableThatOnlyABindingUses) {
  const OperandIndexing indexing = Simplified(
      "(d0)[s0, s1]{rt0} -> (rt0), domain: d0 in [0, 3], s0 in [0, 3], s1 in [0, 5], "
      "rt0 in [0, 6]",
      {Element(t_, Symbol(1), 6)});
  EXPECT_EQ(indexing.MapToString(),
            "(d0)[s0]{rt0} -> (rt0), domain: d0 in [0, 3], s0 in [0, 5], rt0 in [0, 6]");
  EXPECT_EQ(indexing.bindings()[0].element[0], Symbol(0));
}

TEST_F(OperandIndexingTest, DropsAnUnusedRuntimeVariableWithItsBinding) {
  const OperandIndexing indexing =
      Simplified("(d0){rt0, rt1} -> (d0 + rt1), domain: d0 in [0, 3], rt0 in [0, 6], rt1 in [0, 5]",
                 {Scalar(a_, 6), Scalar(b_, 5)});
  EXPECT_EQ(indexing.MapToString(), "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 5]");
  ASSERT_EQ(indexing.bindings().size(), 1u);
  EXPECT_EQ(indexing.bindings()[0].instruction, b_);
}

TEST_F(OperandIndexingTest, KeepsAnUnusedRuntimeVariableThatRestrictsTheDomain) {
  const OperandIndexing indexing =
      Simplified("(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [2, 6]", {Scalar(a_, 6)});
  EXPECT_EQ(indexing.MapToString(), "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [2, 6]");
}

TEST_F(OperandIndexingTest, KeepsAVariableThatAnotherOnesElementReads) {
  const OperandIndexing indexing =
      Simplified("(d0){rt0, rt1} -> (d0 + rt1), domain: d0 in [0, 3], rt0 in [0, 6], rt1 in [0, 5]",
                 {Scalar(a_, 6), Element(t_, Symbol(0), 5)});
  EXPECT_EQ(indexing.map().num_runtimes(), 2);
  EXPECT_EQ(indexing.bindings()[1].element[0], Symbol(0));
}

TEST_F(OperandIndexingTest, MergesVariablesOfOneBinding) {
  const OperandIndexing indexing = Simplified(
      "(d0){rt0, rt1} -> (d0 + rt0, rt1), domain: d0 in [0, 3], rt0 in [0, 4], rt1 in [2, 6]",
      {Scalar(a_, 6), Scalar(a_, 6)});
  EXPECT_EQ(indexing.MapToString(),
            "(d0){rt0} -> (d0 + rt0, rt0), domain: d0 in [0, 3], rt0 in [2, 4]");
}

TEST_F(OperandIndexingTest, KeepsVariablesOfDifferentValueFunctionsApart) {
  const OperandIndexing indexing = Simplified(
      "(d0){rt0, rt1} -> (d0 + rt0, rt1), domain: d0 in [0, 3], rt0 in [0, 4], rt1 in [0, 6]",
      {Scalar(a_, 4), Scalar(a_, 6)});
  EXPECT_EQ(indexing.map().num_runtimes(), 2);
}

TEST_F(OperandIndexingTest, RememberedFormsAndCompositionsAreWhatIsMadeAnew) {
  const std::vector<OperandIndexing> maps = {
      Make("(d0) -> (d0 + 1), domain: d0 in [0, 3]"),
      Make("(d0)[s0] -> (s0 * 2 + d0 mod 2), domain: d0 in [0, 3], s0 in [0, 1]"),
      Make("(d0) -> (d0 + 1), domain: d0 in [0, 3]", {}, ExactnessLabel::OverApproximate("a test")),
      Make("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 1]", {Scalar(a_, 1)}),
      Make("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 1]", {Scalar(b_, 1)}),
      Make("(d0) -> (d0), domain: d0 in [5, 4]")};
  const auto all = [&] {
    std::vector<std::string> made;
    for (const OperandIndexing& first : maps) {
      OperandIndexing simplified = first;
      simplified.Simplify();
      made.push_back(simplified.ToString(a_->parent()));
      for (const OperandIndexing& second : maps) {
        OperandIndexing composed = Compose(first, second);
        made.push_back(composed.ToString(a_->parent()));
        composed.Simplify();
        made.push_back(composed.ToString(a_->parent()));
      }
    }
    return made;
  };
  const std::vector<std::string> anew = all();
  const QuestionBudget budget;
  RememberedForms::Table forms;
  RememberedCompositions::Table compositions;
  const RememberedForms::Open open_forms(&forms);
  const RememberedCompositions::Open open_compositions(&compositions);
  EXPECT_EQ(all(), anew);
  EXPECT_EQ(all(), anew);
  EXPECT_EQ(compositions.size(), maps.size() * maps.size());
}

TEST_F(OperandIndexingTest, MapsWithNamesKeepThemWhateverIsRemembered) {
  const QuestionBudget budget;
  RememberedForms::Table forms;
  RememberedCompositions::Table compositions;
  const RememberedForms::Open open_forms(&forms);
  const RememberedCompositions::Open open_compositions(&compositions);
  const OperandIndexing step = Make("(d0) -> (d0 + 1), domain: d0 in [0, 3]");
  for (const absl::string_view name : {"d0", "x", "y"}) {
    const std::string map =
        absl::StrCat("(", name, ") -> (", name, " + 0), domain: ", name, " in [0, 2]");
    EXPECT_THAT(Simplified(map).MapToString(), HasSubstr(absl::StrCat("(", name, ") -> ")));
    EXPECT_THAT(Compose(Make(map), step).MapToString(),
                HasSubstr(absl::StrCat("(", name, ") -> ")));
  }
}

TEST_F(OperandIndexingTest, OrdersRuntimeVariablesByPositionAndDependence) {
  // rt1 is read from a, which comes before b; rt2 reads rt1's value.
  OperandIndexing indexing = Make(
      "(d0){rt0, rt1, rt2} -> (d0 + rt0, rt1, rt2), domain: d0 in [0, 3], rt0 in [0, 4], "
      "rt1 in [0, 6], rt2 in [0, 7]",
      {Scalar(b_, 4), Scalar(a_, 6), Element(t_, Symbol(1), 7)});
  indexing.Simplify();
  EXPECT_EQ(indexing.MapToString(),
            "(d0){rt0, rt1, rt2} -> (d0 + rt1, rt0, rt2), domain: d0 in [0, 3], rt0 in [0, 6], "
            "rt1 in [0, 4], rt2 in [0, 7]");
  EXPECT_EQ(indexing.bindings()[0].instruction, a_);
  EXPECT_EQ(indexing.bindings()[1].instruction, b_);
  EXPECT_EQ(indexing.bindings()[2].element[0], Symbol(0));
}

TEST_F(OperandIndexingTest, NumbersRangeVariablesInTheOrderOfTheirUse) {
  const OperandIndexing one =
      Simplified("(d0)[s0, s1] -> (s1, d0, s0), domain: d0 in [0, 3], s0 in [0, 4], s1 in [0, 5]");
  const OperandIndexing other =
      Simplified("(d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 3], s0 in [0, 5], s1 in [0, 4]");
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.MapToString(),
            "(d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 3], s0 in [0, 5], s1 in [0, 4]");
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (d0 + s0 + s1 * 2), domain: d0 in [0, 3], s0 in [0, 4], "
                       "s1 in [0, 5]"),
            Simplified("(d0)[s0, s1] -> (d0 + s0 * 2 + s1), domain: d0 in [0, 3], s0 in [0, 5], "
                       "s1 in [0, 4]"));
}

TEST_F(OperandIndexingTest, EmptyMapsAreExactWhateverTheyWere) {
  const OperandIndexing indexing = Simplified(
      "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6], d0 + rt0 in [20, 30]",
      {Scalar(a_, 6)}, ExactnessLabel::OverApproximate("a test"));
  EXPECT_TRUE(indexing.IsKnownEmpty());
  EXPECT_TRUE(indexing.IsExact());
  EXPECT_TRUE(indexing.bindings().empty());
}

TEST_F(OperandIndexingTest, ValuesOutsideTheElementTypeAreOutsideTheDomain) {
  const HloInstruction* root = Entry("p = u8[] parameter(0)  ROOT n = u8[] not(p)");
  const OperandIndexing indexing =
      Simplified("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 600]",
                 {Scalar(root->operand(0), 600)});
  EXPECT_EQ(indexing.MapToString(),
            "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 255]");
}

TEST_F(OperandIndexingTest, ComposesMapsAndBindings) {
  // A dynamic-slice at b of a dynamic-slice at t[s].
  const OperandIndexing first = Make(
      "(d0)[s0]{rt0} -> (d0 + rt0), domain: d0 in [0, 3], "
      "s0 in [0, 9], rt0 in [0, 6]",
      {Element(t_, Symbol(0), 6)});
  const OperandIndexing second =
      Make("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 20]", {Scalar(b_, 20)});
  EXPECT_EQ(Compose(first, second).ToString(),
            "(d0)[s0]{rt0, rt1} -> (d0 + rt0 + rt1), domain: d0 in [0, 3], s0 in [0, 9], "
            "rt0 in [0, 20], rt1 in [0, 6], d0 + rt1 in [0, 9]"
            "\n  rt0: b, clamp [0, 20]; (d0) -> (), domain: d0 in [0, 3]"
            "\n  rt1: t, clamp [0, 6]; (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 9]");
}

TEST_F(OperandIndexingTest, ComposedElementsReadTheVariablesOfTheFirstMap) {
  // The second map's variable is read at the place that the first one's says.
  const OperandIndexing first =
      Make("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]", {Scalar(b_, 6)});
  const OperandIndexing second =
      Make("(d0){rt0} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 20]", {Element(t_, Dim(0), 20)});
  EXPECT_EQ(Compose(first, second).ToString(),
            "(d0){rt0, rt1} -> (rt1), domain: d0 in [0, 3], rt0 in [0, 6], rt1 in [0, 20], "
            "d0 + rt0 in [0, 9]"
            "\n  rt0: b, clamp [0, 6]; (d0) -> (), domain: d0 in [0, 3]"
            "\n  rt1: t, clamp [0, 20]; (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], "
            "rt0 in [0, 6], d0 + rt0 in [0, 9]");
}

TEST_F(OperandIndexingTest, ComposedVariablesOfOneBindingAreOne) {
  const OperandIndexing slice =
      Make("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 6]", {Scalar(a_, 6)});
  EXPECT_EQ(Compose(slice, slice).MapToString(),
            "(d0){rt0} -> (d0 + rt0 * 2), domain: d0 in [0, 9], rt0 in [0, 6], "
            "d0 + rt0 in [0, 9]");
}

TEST_F(OperandIndexingTest, TheWeakestLabelSurvivesComposition) {
  const std::string map = "(d0) -> (d0), domain: d0 in [0, 9]";
  const OperandIndexing exact = Make(map);
  const OperandIndexing over = Make(map, {}, ExactnessLabel::OverApproximate("over"));
  const OperandIndexing unknown = OperandIndexing::Unknown(&context_, "unknown");
  EXPECT_EQ(Compose(exact, exact).label(), ExactnessLabel::Exact());
  EXPECT_EQ(Compose(over, exact).label(), ExactnessLabel::OverApproximate("over"));
  EXPECT_EQ(Compose(exact, over).label(), ExactnessLabel::OverApproximate("over"));
  EXPECT_EQ(Compose(over, unknown).label(), ExactnessLabel::Unknown("unknown"));
  EXPECT_EQ(Compose(unknown, exact).label(), ExactnessLabel::Unknown("unknown"));
}

TEST_F(OperandIndexingTest, NothingIsReadAfterNothing) {
  const OperandIndexingSet unknown(OperandIndexing::Unknown(&context_, "unknown"));
  for (const auto& [first, second] : std::vector<std::pair<OperandIndexingSet, OperandIndexingSet>>{
           {OperandIndexingSet(), unknown}, {unknown, OperandIndexingSet()}}) {
    const absl::StatusOr<OperandIndexingSet> composed = ComposeOperandIndexingSets(first, second);
    ASSERT_TRUE(composed.ok());
    EXPECT_TRUE(composed->empty());
    EXPECT_TRUE(composed->label().IsExact());
  }
}

TEST_F(OperandIndexingTest, ComposingMapsOfDifferentRanksIsAnError) {
  const OperandIndexing first = Make("(d0) -> (d0, d0), domain: d0 in [0, 9]");
  EXPECT_FALSE(ComposeOperandIndexing(first, first).ok());
}

TEST_F(OperandIndexingTest, CopiesStayAsTheyAreWhereOneIsChanged) {
  const std::string text = "(d0) -> (d0 mod 4), domain: d0 in [0, 3]";
  const OperandIndexing copy = Make(text);
  OperandIndexing simplified = copy;
  simplified.Simplify();
  EXPECT_EQ(simplified.MapToString(), "(d0) -> (d0), domain: d0 in [0, 3]");
  OperandIndexing narrow = copy;
  narrow.SetDimBounds(0, Interval::Closed(1, 2));
  OperandIndexing weak = copy;
  weak.Weaken(ExactnessLabel::OverApproximate("it is a test"));
  EXPECT_FALSE(weak.IsExact());
  EXPECT_TRUE(copy.IsExact());
  EXPECT_FALSE(copy.IsSimplified());
  EXPECT_EQ(copy.MapToString(), text);
  EXPECT_NE(copy, narrow);
}

class OperandIndexingSetTest : public OperandIndexingTest {
 protected:
  std::vector<std::string> Simplified(const std::vector<OperandIndexing>& maps) {
    OperandIndexingSet set;
    for (const OperandIndexing& map : maps) set.Add(map);
    set.Simplify();
    std::vector<std::string> lines;
    for (const OperandIndexing& map : set) lines.push_back(map.MapToString());
    return lines;
  }
};

TEST_F(OperandIndexingSetTest, HoldsNoEmptyMapsAndNoDuplicates) {
  OperandIndexingSet set;
  EXPECT_TRUE(set.empty());
  set.Add(Make("(d0) -> (d0), domain: d0 in [0, 9]"));
  set.Add(Make("(d0) -> (d0), domain: d0 in [0, 9]"));
  set.Add(OperandIndexing(kPartsFit, IndexingMap::MakeEmpty(&context_, 1, 0, 0, 1)));
  EXPECT_EQ(set.size(), 1u);
  EXPECT_TRUE(set.label().IsExact());
}

TEST_F(OperandIndexingSetTest, KeepsTheStrongerOfTwoLabels) {
  const std::string map = "(d0) -> (d0), domain: d0 in [0, 9]";
  OperandIndexingSet set;
  set.Add(Make(map, {}, ExactnessLabel::OverApproximate("over")));
  EXPECT_EQ(set.label(), ExactnessLabel::OverApproximate("over"));
  set.Add(Make(map));
  EXPECT_EQ(set.size(), 1u);
  EXPECT_TRUE(set.label().IsExact());
}

TEST_F(OperandIndexingSetTest, MergesNeighbouringDomainsOfOneFormula) {
  EXPECT_THAT(Simplified({Make("(d0) -> (d0 + 1), domain: d0 in [5, 9]"),
                          Make("(d0) -> (d0 + 1), domain: d0 in [0, 1]"),
                          Make("(d0) -> (d0 + 1), domain: d0 in [2, 4]")}),
              ElementsAre("(d0) -> (d0 + 1), domain: d0 in [0, 9]"));
  EXPECT_THAT(Simplified({Make("(d0) -> (d0 + 1), domain: d0 in [6, 9]"),
                          Make("(d0) -> (d0 + 1), domain: d0 in [0, 4]")}),
              ElementsAre("(d0) -> (d0 + 1), domain: d0 in [0, 4]",
                          "(d0) -> (d0 + 1), domain: d0 in [6, 9]"));
}

TEST_F(OperandIndexingSetTest, MergesADomainOfOnePoint) {
  // Simplified, the first map is (d0) -> (3).
  EXPECT_THAT(Simplified({Make("(d0) -> (d0 + 1), domain: d0 in [2, 2]"),
                          Make("(d0) -> (d0 + 1), domain: d0 in [3, 9]")}),
              ElementsAre("(d0) -> (d0 + 1), domain: d0 in [2, 9]"));
}

TEST_F(OperandIndexingSetTest, MergesRangesAndConstraintsOfOneFormula) {
  EXPECT_THAT(Simplified({Make("(d0)[s0] -> (d0, s0), domain: d0 in [0, 4], s0 in [0, 3]"),
                          Make("(d0)[s0] -> (d0, s0), domain: d0 in [0, 4], s0 in [4, 8]")}),
              ElementsAre("(d0)[s0] -> (d0, s0), domain: d0 in [0, 4], s0 in [0, 8]"));
  const std::string map =
      "(d0, d1, d2) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], d0 + d1 + d2 in ";
  EXPECT_THAT(Simplified({Make(map + "[9, 12]"), Make(map + "[13, 18]")}),
              ElementsAre(map + "[9, 18]"));
}

TEST_F(OperandIndexingSetTest, DoesNotMergeDifferentFormulasOrLabels) {
  EXPECT_EQ(Simplified({Make("(d0) -> (d0), domain: d0 in [0, 4]"),
                        Make("(d0) -> (d0 + 1), domain: d0 in [5, 9]")})
                .size(),
            2u);
  EXPECT_EQ(Simplified({Make("(d0) -> (d0), domain: d0 in [0, 4]"),
                        Make("(d0) -> (d0), domain: d0 in [5, 9]", {},
                             ExactnessLabel::OverApproximate("over"))})
                .size(),
            2u);
}

TEST_F(OperandIndexingSetTest, DoesNotMergeBoxesThatDifferInTwoDimensions) {
  EXPECT_EQ(Simplified({Make("(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 4]"),
                        Make("(d0, d1) -> (d0, d1), domain: d0 in [5, 9], d1 in [0, 5]")})
                .size(),
            2u);
}

TEST_F(OperandIndexingSetTest, EqualityDoesNotDependOnTheOrderOfAddition) {
  const OperandIndexing one = Make("(d0) -> (d0), domain: d0 in [0, 4]");
  const OperandIndexing other = Make("(d0) -> (d0 + 1), domain: d0 in [0, 4]");
  OperandIndexingSet ab(one);
  ab.Add(other);
  OperandIndexingSet ba(other);
  ba.Add(one);
  ab.Simplify();
  ba.Simplify();
  EXPECT_EQ(ab, ba);
  EXPECT_EQ(absl::HashOf(ab), absl::HashOf(ba));
}

// --- Replica maps ---

// `map` on the device that `device` is of the reader, the dimension after those of the map.
OperandIndexing OnDevice(OperandIndexing map, const Interval& readers, mlir::AffineExpr device,
                         Constraints constraints = {}) {
  map.SetReplicaMap(kPartsFit, {readers, device, std::move(constraints)});
  return map;
}

TEST_F(OperandIndexingTest, ReplicaMapsTakePartInComparisons) {
  const OperandIndexing local = Make("(d0) -> (d0), domain: d0 in [0, 3]");
  const OperandIndexing next = OnDevice(local, Interval::OfSize(4), Mod(Add(Dim(1), Value(1)), 4));
  const OperandIndexing same = OnDevice(local, Interval::OfSize(4), Mod(Add(Dim(1), Value(1)), 4));
  const OperandIndexing fewer = OnDevice(local, Interval::OfSize(3), Mod(Add(Dim(1), Value(1)), 4));
  const OperandIndexing before =
      OnDevice(local, Interval::OfSize(4), Mod(Add(Dim(1), Value(3)), 4));
  const OperandIndexing some = OnDevice(local, Interval::OfSize(4), Mod(Add(Dim(1), Value(1)), 4),
                                        {{Sub(Dim(0), Dim(1)), Interval::Point(0)}});
  EXPECT_EQ(next, same);
  EXPECT_EQ(absl::HashOf(next), absl::HashOf(same));
  for (const OperandIndexing& other : {local, fewer, before, some}) {
    EXPECT_NE(next, other) << other.ToString();
    EXPECT_NE(absl::HashOf(next), absl::HashOf(other)) << other.ToString();
  }
  EXPECT_TRUE(OnDevice(local, Interval::Empty(), Dim(1)).IsKnownEmpty());
}

TEST_F(OperandIndexingTest, ReplicaMapsAreSimplifiedWithTheMap) {
  // The reader is in [0, 3], so that the device is 5; s0 is not used. The index does not depend on
  // the reader, which s1 is.
  OperandIndexing indexing =
      OnDevice(Make("(d0)[s0, s1] -> (d0 + s1), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 3]"),
               Interval::OfSize(8), Add(FloorDiv(Dim(1), 4), Value(5)),
               {{Dim(1), Interval::Closed(0, 3)}, {Sub(Dim(1), Symbol(1)), Interval::Point(0)}});
  const OperandIndexing before = indexing;
  indexing.Simplify();
  EXPECT_NE(indexing, before);
  EXPECT_EQ(
      indexing.ToString(),
      "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 3]\n"
      "  replica: (d0, d1)[s0] -> (5), domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 3], d1 - "
      "s0 in [0, 0]");
  OperandIndexing nobody = OnDevice(Make("(d0) -> (d0), domain: d0 in [0, 3]"), Interval::OfSize(2),
                                    Dim(1), {{Add(Dim(0), Dim(1)), Interval::AtLeast(9)}});
  nobody.Simplify();
  EXPECT_TRUE(nobody.IsKnownEmpty());
  EXPECT_EQ(nobody.replica_map(), nullptr);
}

TEST_F(OperandIndexingTest, DevicesCompose) {
  const OperandIndexing local = Make("(d0) -> (d0 + 1), domain: d0 in [0, 2]");
  const OperandIndexing next = OnDevice(Make("(d0) -> (d0), domain: d0 in [0, 3]"),
                                        Interval::Closed(0, 6), Add(Dim(1), Value(1)));
  OperandIndexing before = Compose(local, next);
  before.Simplify();
  EXPECT_EQ(before.ToString(),
            "(d0) -> (d0 + 1), domain: d0 in [0, 2]\n"
            "  replica: (d0, d1) -> (d1 + 1), domain: d0 in [0, 2], d1 in [0, 6]");
  OperandIndexing after = Compose(Make("(d0) -> (d0), domain: d0 in [0, 3]"), next);
  after = Compose(after, Make("(d0) -> (d0 * 2), domain: d0 in [0, 3]"));
  after.Simplify();
  EXPECT_EQ(after.ToString(),
            "(d0) -> (d0 * 2), domain: d0 in [0, 3]\n"
            "  replica: (d0, d1) -> (d1 + 1), domain: d0 in [0, 3], d1 in [0, 6]");
  OperandIndexing twice = Compose(next, next);
  twice.Simplify();
  EXPECT_EQ(twice.ToString(),
            "(d0) -> (d0), domain: d0 in [0, 3]\n"
            "  replica: (d0, d1) -> (d1 + 2), domain: d0 in [0, 3], d1 in [0, 5]");
}

// Two bindings that differ in their device only are both kept; of two equal bindings on one device,
// one is dropped.
TEST_F(OperandIndexingTest, BindingsKeepTheirDevice) {
  const OperandIndexing slice =
      Make("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 4]", {Scalar(a_, 4)});
  const OperandIndexing next = OnDevice(Make("(d0) -> (d0), domain: d0 in [0, 7]"),
                                        Interval::OfSize(4), Mod(Add(Dim(1), Value(1)), 4));
  OperandIndexing both = Compose(Compose(slice, next), slice);
  EXPECT_EQ(both.map().num_runtimes(), 2);
  EXPECT_FALSE(both.bindings()[0].device);
  EXPECT_TRUE(both.bindings()[1].device);
  EXPECT_EQ(Compose(Compose(next, slice), slice).map().num_runtimes(), 1);
}

TEST_F(OperandIndexingTest, ReadersThatTouchAreOneMap) {
  const OperandIndexing local = Make("(d0) -> (d0), domain: d0 in [0, 3]");
  OperandIndexingSet set(OnDevice(local, Interval::Closed(0, 3), Add(Dim(1), Value(1))));
  set.Add(OnDevice(local, Interval::Closed(4, 6), Add(Dim(1), Value(1))));
  set.Simplify();
  ASSERT_EQ(set.size(), 1u);
  EXPECT_EQ(set.maps()[0], OnDevice(local, Interval::Closed(0, 6), Add(Dim(1), Value(1))));
  set.Add(local);
  set.Simplify();
  EXPECT_EQ(set.size(), 2u);
}

}  // namespace
}  // namespace xla_indexing::internal

#include "xla_indexing/ops/values/fold_runtime.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

class FoldRuntimeTest : public IndexingTest {
 protected:
  // The maps of operand 0, from output to input, of the instruction `ROOT r` that the text ends in.
  std::vector<std::string> Folded(absl::string_view text) {
    const HloInstruction* root = Root(absl::StrCat(
        "largest { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] maximum(a, b) }\n"
        "difference { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] subtract(a, b) "
        "}\nsum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }\n"
        "less { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = pred[] compare(a, b), "
        "direction=LT }\nENTRY e {\n",
        text, "\n}\n"));
    const absl::StatusOr<InstructionIndexing> entries =
        ComputeIndexing(*root, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 0});
    std::vector<std::string> lines;
    EXPECT_TRUE(entries.ok()) << entries.status();
    if (!entries.ok()) return lines;
    for (const IndexingEntry& entry : *entries) {
      if (entry.operand != 0) continue;
      for (const OperandIndexing& indexing : entry.indexing) lines.push_back(indexing.ToString());
    }
    return lines;
  }

  // The folded maps of a dynamic-slice of p = f32[100] at a scalar `start`, which `text` defines;
  // it takes 10 elements, clamp [0, 90].
  std::vector<std::string> Slice(absl::string_view text) {
    return Folded(absl::StrCat("p = f32[100] parameter(0)\n", text,
                               "\nROOT r = f32[10] dynamic-slice(p, start), "
                               "dynamic_slice_sizes={10}"));
  }

  // Does this for the rows of a gather of p = f32[100] at the indices s32[n,1] `start`; clamp [0,
  // 99].
  std::vector<std::string> Gather(int n, absl::string_view text) {
    return Folded(absl::StrCat(
        "p = f32[100] parameter(0)\n", text, "\nROOT r = f32[", n,
        "] gather(p, start), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1}"));
  }
};

TEST_F(FoldRuntimeTest, ConstantsAreValues) {
  EXPECT_THAT(Slice("start = s32[] constant(7)"),
              ElementsAre("(d0) -> (d0 + 7), domain: d0 in [0, 9]"));
}

TEST_F(FoldRuntimeTest, ConstantsAreClamped) {
  EXPECT_THAT(Slice("start = s32[] constant(95)"),
              ElementsAre("(d0) -> (d0 + 90), domain: d0 in [0, 9]"));
  EXPECT_THAT(Slice("start = s32[] constant(-3)"),
              ElementsAre("(d0) -> (d0), domain: d0 in [0, 9]"));
}

TEST_F(FoldRuntimeTest, UnsignedValuesAreZeroExtended) {
  EXPECT_THAT(Slice("start = u8[] constant(255)"),
              ElementsAre("(d0) -> (d0 + 90), domain: d0 in [0, 9]"));
}

TEST_F(FoldRuntimeTest, NothingIsFoldedWhereNothingIsAsked) {
  const HloInstruction* root = Entry(R"(
    p = f32[100] parameter(0)
    start = s32[] constant(7)
    ROOT r = f32[10] dynamic-slice(p, start), dynamic_slice_sizes={10})");
  EXPECT_EQ(OutputToInputMap(root, 0, NotFolded()).MapToString(),
            "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 90]");
}

// 2 * d0 - 2 * d1 + rt0 is not 8 where rt0 is 7.
TEST_F(FoldRuntimeTest, PiecesWithAnEmptyDomainAreKeptOnlyWhereThatIsAskedFor) {
  const HloInstruction* root = Entry(R"(
    p = f32[100,10] parameter(0)
    start = s32[] constant(7)
    zero = s32[] constant(0)
    ROOT r = f32[10,10] dynamic-slice(p, start, zero), dynamic_slice_sizes={10,10})");
  IndexingOptions options;
  options.fold_runtime_variables = false;
  const absl::StatusOr<InstructionIndexing> entries =
      ComputeIndexing(*root, Direction::kOutputToInput, &context_, options, OperandLeaf{0, 0});
  ASSERT_TRUE(entries.ok() && !entries->empty());
  OperandIndexing map = entries->front().indexing.maps().front();
  const auto d0 = mlir::getAffineDimExpr(0, &context_);
  const auto d1 = mlir::getAffineDimExpr(1, &context_);
  const auto rt0 = mlir::getAffineSymbolExpr(map.map().num_ranges(), &context_);
  ASSERT_TRUE(map.AddConstraint(d0 * 2 - d1 * 2 + rt0, Interval::Point(8)).ok());
  FoldOptions folding;
  EXPECT_TRUE(FoldRuntimeVariables(map, folding).empty());
  folding.keeps_empty = true;
  OperandIndexingSet kept = FoldRuntimeVariables(map, folding);
  EXPECT_EQ(kept.size(), 1);
  kept.Simplify();
  EXPECT_TRUE(kept.empty());
}

TEST_F(FoldRuntimeTest, ParametersStayBound) {
  EXPECT_THAT(Slice("start = s32[] parameter(1)"),
              ElementsAre("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 90]\n"
                          "  rt0: start, clamp [0, 90]; (d0) -> (), domain: d0 in [0, 9]"));
}

TEST_F(FoldRuntimeTest, ArithmeticOfConstantsIsFolded) {
  EXPECT_THAT(Slice(R"(
      a = s32[] constant(7)
      b = s32[] constant(3)
      m = s32[] multiply(a, b)
      s = s32[] subtract(m, b)
      d = s32[] divide(s, a)
      c = s64[] convert(d)
      e = s64[] constant(40)
      x = s64[] maximum(c, e)
      f = s64[] constant(1)
      g = s64[] shift-left(f, f)
      h = s64[] add(x, g)
      i = s64[] negate(h)
      start = s64[] abs(i))"),
              ElementsAre("(d0) -> (d0 + 42), domain: d0 in [0, 9]"));
}

TEST_F(FoldRuntimeTest, ArithmeticOfConstantsWraps) {
  // 100 + 100 is -56 in s8, which is clamped to 0; 3 - 5 is 2^32 - 2 in u32, clamped to 90.
  EXPECT_THAT(Slice(R"(
      a = s8[] constant(100)
      start = s8[] add(a, a))"),
              ElementsAre(StartsWith("(d0) -> (d0),")));
  EXPECT_THAT(Slice(R"(
      a = u32[] constant(3)
      b = u32[] constant(5)
      start = u32[] subtract(a, b))"),
              ElementsAre(StartsWith("(d0) -> (d0 + 90),")));
}

TEST_F(FoldRuntimeTest, DivisionRoundsTowardZeroAndSignsAreSigns) {
  for (int a = -7; a <= 7; ++a) {
    for (int b = -4; b <= 4; ++b) {
      if (b == 0) continue;
      const int sign = a < 0 ? -1 : a > 0 ? 1 : 0;
      for (const auto& [call, value] :
           {std::make_pair("divide(a, b)", a / b), std::make_pair("remainder(a, b)", a % b),
            std::make_pair("sign(a)", sign)}) {
        EXPECT_THAT(Slice(absl::StrCat("a = s32[] constant(", a, ")\nb = s32[] constant(", b,
                                       ")\nc = s32[] ", call,
                                       "\nten = s32[] constant(10)\nstart = s32[] add(c, ten)")),
                    ElementsAre(StartsWith(absl::StrCat("(d0) -> (d0 + ", 10 + value, ")"))))
            << a << " " << b << " " << call;
      }
    }
  }
}

TEST_F(FoldRuntimeTest, CasesOfOneValueAreOneCase) {
  // The floor of (i - 3) / 3 as JAX writes it: one less than the quotient toward zero where that
  // leaves a rest and the signs differ.
  EXPECT_THAT(Gather(8, R"(
      i = s32[8,1] iota(), iota_dimension=0
      t = s32[] constant(3)
      three = s32[8,1] broadcast(t), dimensions={}
      x = s32[8,1] subtract(i, three)
      q = s32[8,1] divide(x, three)
      left = s32[8,1] remainder(x, three)
      z = s32[] constant(0)
      zero = s32[8,1] broadcast(z), dimensions={}
      o = s32[] constant(1)
      one = s32[8,1] broadcast(o), dimensions={}
      s = s32[8,1] sign(x)
      st = s32[8,1] sign(three)
      differ = pred[8,1] compare(s, st), direction=NE
      rest = pred[8,1] compare(left, zero), direction=NE
      both = pred[8,1] and(differ, rest)
      less = s32[8,1] subtract(q, one)
      floor = s32[8,1] select(both, less, q)
      start = s32[8,1] add(floor, one))"),
              ElementsAre(StartsWith("(d0) -> (d0 floordiv 3), domain: d0 in [0, 7]")));
}

TEST_F(FoldRuntimeTest, ReductionsOfFewElementsAreFolded) {
  EXPECT_THAT(Slice(R"(
      a = s32[3] constant({4, 9, 2})
      zero = s32[] constant(0)
      start = s32[] reduce(a, zero), dimensions={0}, to_apply=largest)"),
              ElementsAre(StartsWith("(d0) -> (d0 + 9)")));
  // The order of a subtraction would matter.
  EXPECT_THAT(Slice(R"(
      a = s32[3] constant({4, 9, 2})
      zero = s32[] constant(20)
      start = s32[] reduce(a, zero), dimensions={0}, to_apply=difference)"),
              ElementsAre(StartsWith("(d0){rt0} -> (d0 + rt0)")));
}

// Each of n rows is repeated as often as `counts` says, as jnp.repeat computes it: marks where a row begins,
// and their running sum.
TEST_F(FoldRuntimeTest, ListsThatAreComputedAreTheirElements) {
  Random random(1);
  for (int i = 0; i < Cases(50); ++i) {
    std::vector<int64_t> rows;
    std::vector<std::string> marks;
    const int64_t groups = random.Between(1, 4);
    for (int64_t group = 0; group < groups; ++group) {
      if (group > 0) marks.push_back(absl::StrCat("{", rows.size(), "}"));
      rows.insert(rows.end(), random.Between(group == 0 ? 1 : 0, 4), group);
    }
    const auto n = static_cast<int>(rows.size());
    const std::string repeated = absl::StrReplaceAll(
        R"(zero = s32[] constant(0)
           one = s32[] constant(1)
           zeros = s32[N] broadcast(zero), dimensions={}
           ones = s32[M] broadcast(one), dimensions={}
           at = s32[M,1] constant({MARKS})
           marks = s32[N] scatter(zeros, at, ones), update_window_dims={},
             inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1,
             to_apply=sum
           sums = s32[N] reduce-window(marks, zero), window={size=N pad=BEFORE_0}, to_apply=sum
           start = s32[N,1] reshape(sums))",
        {{"N", absl::StrCat(n)},
         {"M", absl::StrCat(marks.size())},
         {"MARKS", absl::StrJoin(marks, ", ")},
         {"BEFORE", absl::StrCat(n - 1)}});
    const std::string listed =
        absl::StrCat("start = s32[", n, ",1] constant({{", absl::StrJoin(rows, "}, {"), "}})");
    EXPECT_EQ(Gather(n, repeated), Gather(n, listed)) << repeated;
    std::vector<int64_t> shuffled = rows;
    for (size_t k = shuffled.size(); k > 1; --k) {
      std::swap(shuffled[k - 1], shuffled[static_cast<size_t>(random.Between(0, k - 1))]);
    }
    EXPECT_EQ(Gather(n, absl::StrCat("list = s32[", n, "] constant({",
                                     absl::StrJoin(shuffled, ", "), "})\nsorted = s32[", n,
                                     "] sort(list), dimensions={0}, to_apply=less\nstart = s32[", n,
                                     ",1] reshape(sorted)")),
              Gather(n, listed));
  }
}

TEST_F(FoldRuntimeTest, SelectsTakeTheArmThatTheirPredicateSays) {
  EXPECT_THAT(Slice(R"(
      a = s32[] constant(-7)
      zero = s32[] constant(0)
      n = s32[] constant(50)
      is_negative = pred[] compare(a, zero), direction=LT
      wrapped = s32[] add(a, n)
      start = s32[] select(is_negative, wrapped, a))"),
              ElementsAre("(d0) -> (d0 + 43), domain: d0 in [0, 9]"));
}

TEST_F(FoldRuntimeTest, IotaIsItsIndex) {
  EXPECT_THAT(Gather(8, "start = s32[8,1] iota(), iota_dimension=0"),
              ElementsAre("(d0) -> (d0), domain: d0 in [0, 7]"));
}

TEST_F(FoldRuntimeTest, AClampThatCanActSplitsTheMap) {
  EXPECT_THAT(
      Gather(104, R"(
      i = s32[104] iota(), iota_dimension=0
      two = s32[] constant(2)
      twos = s32[104] broadcast(two), dimensions={}
      shifted = s32[104] subtract(i, twos)
      start = s32[104,1] reshape(shifted))"),
      ElementsAre("(d0) -> (0), domain: d0 in [0, 1]", "(d0) -> (d0 - 2), domain: d0 in [2, 101]",
                  "(d0) -> (99), domain: d0 in [102, 103]"));
}

TEST_F(FoldRuntimeTest, AnIotaThatWrapsIsNotItsIndex) {
  EXPECT_THAT(
      Gather(104, "start = s8[104,1] iota(), iota_dimension=0"),
      ElementsAre("(d0) -> (d0), domain: d0 in [0, 99]", "(d0) -> (99), domain: d0 in [100, 103]"));
  EXPECT_THAT(Gather(300, "start = s8[300,1] iota(), iota_dimension=0"),
              ElementsAre(StartsWith("(d0){rt0} -> (rt0)")));
}

TEST_F(FoldRuntimeTest, LiteralsThatAreAffineAreExpressions) {
  EXPECT_THAT(Gather(4, "start = s32[4,1] constant({{3}, {8}, {13}, {18}})"),
              ElementsAre("(d0) -> (d0 * 5 + 3), domain: d0 in [0, 3]"));
}

TEST_F(FoldRuntimeTest, OtherShortLiteralsAreTakenElementByElement) {
  EXPECT_THAT(Gather(3, "start = s32[3,1] constant({{3}, {8}, {4}})"),
              ElementsAre("(d0) -> (3), domain: d0 in [0, 0]", "(d0) -> (8), domain: d0 in [1, 1]",
                          "(d0) -> (4), domain: d0 in [2, 2]"));
}

TEST_F(FoldRuntimeTest, LiteralsWithAFormulaAreThatFormula) {
  // Row i / 3, as nearest neighbours of a row of 4 among 10 are numbered by a compiler that folds
  // constants.
  EXPECT_THAT(Gather(10,
                     "start = s32[10,1] constant({{0}, {0}, {0}, {1}, {1}, {1}, {2}, {2}, {2}, "
                     "{3}})"),
              ElementsAre("(d0) -> (d0 floordiv 3), domain: d0 in [0, 9]"));
  // Two lines, each longer than four values.
  std::string elements;
  for (int i = 0; i < 70; ++i) {
    absl::StrAppend(&elements, i == 0 ? "" : ", ", "{", i < 40 ? i : 99 - i, "}");
  }
  EXPECT_THAT(Gather(70, absl::StrCat("start = s32[70,1] constant({", elements, "})")),
              ElementsAre("(d0) -> (d0), domain: d0 in [0, 39]",
                          "(d0) -> (-d0 + 99), domain: d0 in [40, 69]"));
}

TEST_F(FoldRuntimeTest, ConcatenationsSplitTheMap) {
  EXPECT_THAT(
      Gather(6, R"(
      i = s32[4,1] iota(), iota_dimension=0
      c = s32[2,1] constant({{50}, {50}})
      start = s32[6,1] concatenate(i, c), dimensions={0})"),
      ElementsAre("(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (50), domain: d0 in [4, 5]"));
}

TEST_F(FoldRuntimeTest, PastTheGreatestNumberOfPiecesVariablesStayBound) {
  std::string elements;
  for (int i = 0; i < 70; ++i) {
    absl::StrAppend(&elements, i == 0 ? "" : ", ", "{", i * i % 97, "}");
  }
  EXPECT_THAT(Gather(70, absl::StrCat("start = s32[70,1] constant({", elements, "})")),
              ElementsAre(StartsWith("(d0){rt0} -> (rt0)")));
}

TEST_F(FoldRuntimeTest, ArithmeticOfUnknownsIsFoldedWhereNothingWrapsAndNoClampActs) {
  // Values of u8 plus 3 are in [3, 258], which fits s32 but not u8.
  const char* text = R"(
      p = f32[1000] parameter(0)
      q = u8[] parameter(1)
      w = s32[] convert(q)
      three = s32[] constant(3)
      start = s32[] add(w, three)
      ROOT r = f32[10] dynamic-slice(p, start), dynamic_slice_sizes={10})";
  EXPECT_THAT(Folded(text),
              ElementsAre("(d0){rt0} -> (d0 + rt0 + 3), domain: d0 in [0, 9], rt0 in [0, 255]\n"
                          "  rt0: q, as is; (d0) -> (), domain: d0 in [0, 9]"));
  EXPECT_THAT(Slice(R"(
      q = u8[] parameter(1)
      three = u8[] constant(3)
      start = u8[] add(q, three))"),
              ElementsAre(StartsWith("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], "
                                     "rt0 in [0, 90]\n  rt0: start, clamp [0, 90]")));
}

TEST_F(FoldRuntimeTest, RebindingFollowsDataMovement) {
  const HloInstruction* root = Entry(R"(
      p = f32[100] parameter(0)
      q = s32[4,5] parameter(1)
      t = s32[5,4] transpose(q), dimensions={1,0}
      s = s32[1,1] slice(t), slice={[3:4], [2:3]}
      start = s32[] reshape(s)
      ROOT r = f32[10] dynamic-slice(p, start), dynamic_slice_sizes={10})");
  const OperandIndexing built = OutputToInputMap(root, 0);
  EXPECT_EQ(built.bindings()[0].instruction->name(), "start");
  const OperandIndexingSet rebound =
      FoldRuntimeVariables(built, {.rebind_through_data_movement = true});
  ASSERT_EQ(rebound.size(), 1u);
  EXPECT_EQ(rebound.maps()[0].BindingToString(0),
            "rt0: q, clamp [0, 90]; (d0) -> (2, 3), domain: d0 in [0, 9]");
}

TEST_F(FoldRuntimeTest, FoldedStartsNarrowTheDomain) {
  const HloInstruction* root = Entry(R"(
      p = f32[20] parameter(0)
      u = f32[5] parameter(1)
      start = s32[] constant(3)
      ROOT r = f32[20] dynamic-update-slice(p, u, start))");
  EXPECT_EQ(OutputToInputMap(root, 1).ToString(), "(d0) -> (d0 - 3), domain: d0 in [3, 7]");
  EXPECT_THAT(OutputToInput(root, Exact()),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 2]",
                          "0.0.0 (d0) -> (d0), domain: d0 in [8, 19]",
                          "0.1.0 (d0) -> (d0 - 3), domain: d0 in [3, 7]",
                          "0.2.0 (d0) -> (), domain: d0 in [0, 19]"));
}

TEST_F(FoldRuntimeTest, AVariableThatAnotherOneReadsIsFoldedIntoItsElement) {
  const HloInstruction* root = Entry(R"(
      p = f32[20] parameter(0)
      q = s32[9] parameter(1)
      c = s32[] constant(4)
      ROOT r = (f32[20], s32[9], s32[]) tuple(p, q, c))");
  RuntimeVarIndexing of_constant;
  of_constant.instruction = root->operand(2);
  of_constant.value = ValueFunction::Clamp(0, 8);
  RuntimeVarIndexing of_q;
  of_q.instruction = root->operand(1);
  of_q.value = ValueFunction::Clamp(0, 15);
  of_q.element.push_back(mlir::getAffineSymbolExpr(0, &context_));
  const OperandIndexingSet folded = FoldRuntimeVariables(OperandIndexing(
      kPartsFit,
      Map("(d0){rt0, rt1} -> (d0 + rt1), domain: d0 in [0, 4], rt0 in [0, 8], rt1 in [0, 15]"),
      {of_constant, of_q}));
  ASSERT_EQ(folded.size(), 1u);
  EXPECT_EQ(folded.maps()[0].ToString(),
            "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 4], rt0 in [0, 15]\n"
            "  rt0: q, clamp [0, 15]; (d0) -> (4), domain: d0 in [0, 4]");
}

TEST_F(FoldRuntimeTest, ALongChainEndsInABoundVariable) {
  std::string text = "x0 = s32[] constant(0)\none = s32[] constant(1)\n";
  for (int i = 1; i <= 40000; ++i) {
    absl::StrAppend(&text, "x", i, " = s32[] add(x", i - 1, ", one)\n");
  }
  absl::StrAppend(&text, "start = s32[] copy(x40000)");
  EXPECT_THAT(Slice(text), ElementsAre(StartsWith("(d0){rt0} -> (d0 + rt0)")));
}

}  // namespace
}  // namespace xla_indexing::internal

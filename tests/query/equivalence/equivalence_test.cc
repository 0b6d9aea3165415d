#include "xla_indexing/query/equivalence/equivalence.h"

#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class EquivalenceTest : public ::testing::Test {
 protected:
  EquivalenceReport OfModules(const std::string& a, const std::string& b,
                              int64_t max_steps = kEquivalenceSteps) {
    const HloModule* first = Parse(a);
    const HloModule* second = Parse(b);
    if (first == nullptr || second == nullptr) return {};
    const auto report = CompareReads(*first->entry_computation(), *second->entry_computation(),
                                     &context_, {}, max_steps);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : EquivalenceReport();
  }
  EquivalenceReport OfEntries(absl::string_view a, absl::string_view b,
                              int64_t max_steps = kEquivalenceSteps) {
    return OfModules(absl::StrCat("ENTRY e {\n", a, "\n}\n"),
                     absl::StrCat("ENTRY e {\n", b, "\n}\n"), max_steps);
  }

  static std::string Example(absl::string_view name) {
    std::ifstream stream(
        absl::StrCat(XLA_INDEXING_SOURCE_DIR, "/examples/implicit_broadcast/", name, ".hlo"));
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }

 private:
  const HloModule* Parse(const std::string& text) {
    auto module = ParseAndVerifyModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return nullptr;
    modules_.push_back(*std::move(module));
    return modules_.back().get();
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::unique_ptr<HloModule>> modules_;
};

TEST_F(EquivalenceTest, BothFormsOfImplicitBroadcastingReadTheSame) {
  const EquivalenceReport same_rank =
      OfModules(Example("same_rank_pytorch_xla"), Example("same_rank_xla"));
  EXPECT_EQ(same_rank.same, Answer::kYes);
  EXPECT_EQ(same_rank.leaves.size(), 2);
  const EquivalenceReport scalar = OfModules(Example("scalar_pytorch_xla"), Example("scalar_xla"));
  EXPECT_EQ(scalar.same, Answer::kYes);
  EXPECT_EQ(scalar.leaves.size(), 2);
}

TEST_F(EquivalenceTest, AUnionOfPiecesIsTheWhole) {
  const EquivalenceReport report = OfEntries(
      R"(p = f32[1000000] parameter(0)
         ROOT n = f32[1000000] negate(p))",
      R"(p = f32[1000000] parameter(0)
         a = f32[400000] slice(p), slice={[0:400000]}
         b = f32[600000] slice(p), slice={[400000:1000000]}
         ROOT c = f32[1000000] concatenate(a, b), dimensions={0})");
  EXPECT_EQ(report.same, Answer::kYes);
}

TEST_F(EquivalenceTest, TheFirstDifferenceIsShown) {
  const EquivalenceReport report = OfEntries(
      R"(p = f32[6,4] parameter(0)
         ROOT n = f32[6,4] negate(p))",
      R"(p = f32[6,4] parameter(0)
         a = f32[3,4] slice(p), slice={[0:3], [0:4]}
         b = f32[3,4] slice(p), slice={[3:6], [0:4]}
         r = f32[3,4] reverse(b), dimensions={1}
         ROOT c = f32[6,4] concatenate(a, r), dimensions={0})");
  EXPECT_EQ(report.same, Answer::kNo);
  ASSERT_EQ(report.leaves.size(), 1);
  ASSERT_TRUE(report.leaves[0].difference.has_value());
  // Row 3 is the first that is reversed; its first element is p[3, 3] there and p[3, 0] here.
  const PairOfOne& pair = *report.leaves[0].difference;
  EXPECT_THAT(pair.output_element, ElementsAre(3, 0));
  EXPECT_THAT(pair.operand_element, ElementsAre(3, 0));
  EXPECT_TRUE(pair.is_of_first);
  EXPECT_TRUE(pair.is_least);
}

TEST_F(EquivalenceTest, ADifferenceFarFromTheFirstElementIsFoundAllTheSame) {
  const EquivalenceReport report = OfEntries(
      R"(p = f32[1000000000] parameter(0)
         ROOT n = f32[1000000000] negate(p))",
      R"(p = f32[1000000000] parameter(0)
         a = f32[999999999] slice(p), slice={[0:999999999]}
         b = f32[1] slice(p), slice={[0:1]}
         ROOT c = f32[1000000000] concatenate(a, b), dimensions={0})",
      1000);
  EXPECT_EQ(report.same, Answer::kNo);
  ASSERT_TRUE(report.leaves[0].difference.has_value());
  EXPECT_THAT(report.leaves[0].difference->output_element, ElementsAre(999999999));
  EXPECT_FALSE(report.leaves[0].difference->is_least);
}

TEST_F(EquivalenceTest, RuntimeValuesAreTheSameWhereTheyAreComputedInTheSameWay) {
  constexpr absl::string_view kSlice = R"(p = f32[10] parameter(0)
      i = s32[] parameter(1)
      j = s32[] parameter(2)
      k = s32[] %s(i, j)
      ROOT s = f32[4] dynamic-slice(p, k), dynamic_slice_sizes={4})";
  const auto with = [&](absl::string_view opcode) {
    return absl::StrReplaceAll(kSlice, {{"%s", opcode}});
  };
  EXPECT_EQ(OfEntries(with("add"), with("add")).same, Answer::kYes);
  // Sum and product may be equal, and may be not.
  const EquivalenceReport report = OfEntries(with("add"), with("multiply"));
  EXPECT_EQ(report.same, Answer::kUndecided);
  EXPECT_THAT(report.leaves[0].reason, HasSubstr("runtime values"));
}

TEST_F(EquivalenceTest, ValuesOfAParameterAreAnyValues) {
  const EquivalenceReport report = OfEntries(
      R"(p = f32[10] parameter(0)
         i = s32[] parameter(1)
         ROOT s = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4})",
      R"(p = f32[10] parameter(0)
         i = s32[] parameter(1)
         s = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}
         ROOT r = f32[4] reverse(s), dimensions={0})");
  EXPECT_EQ(report.same, Answer::kNo);
  ASSERT_TRUE(report.leaves[0].difference.has_value());
  EXPECT_THAT(report.leaves[0].difference->runtime_values, ElementsAre(Pair("i", 0)));
}

// The rows of p0 that p1 names, added up: a value is read for each value of a range variable.
std::string SumOfRows(absl::string_view rows) {
  return absl::StrCat(R"(
      add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
      ENTRY e {
        p = f32[8,3] parameter(0)
        i = s32[4,1] parameter(1)
        z = f32[] constant(0)
        )",
                      rows, R"(
        ROOT s = f32[3] reduce(g, z), dimensions={0}, to_apply=add
      })");
}
constexpr absl::string_view kRowsOfGather =
    "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
    "slice_sizes={1,3}";

TEST_F(EquivalenceTest, ValuesThatAreReadForEachValueOfARangeVariableCorrespond) {
  const std::string rows = SumOfRows(absl::StrCat("g = f32[4,3] gather(p, i), ", kRowsOfGather));
  // The same rows, from the last to the first.
  const std::string backwards = SumOfRows(absl::StrCat(
      "j = s32[4,1] reverse(i), dimensions={0} g = f32[4,3] gather(p, j), ", kRowsOfGather));
  EXPECT_EQ(OfModules(rows, backwards).same, Answer::kYes);
  // Three of the rows, and one of these twice.
  const std::string three = SumOfRows(absl::StrCat(
      R"(a = s32[3,1] slice(i), slice={[0:3], [0:1]}
         b = s32[1,1] slice(i), slice={[0:1], [0:1]}
         j = s32[4,1] concatenate(a, b), dimensions={0}
         g = f32[4,3] gather(p, j), )",
      kRowsOfGather));
  EXPECT_NE(OfModules(rows, three).same, Answer::kYes);
  // The columns in another order, which differs whatever the rows are.
  const std::string columns = SumOfRows(absl::StrCat(
      "q = f32[8,3] reverse(p), dimensions={1} g = f32[4,3] gather(q, i), ", kRowsOfGather));
  const EquivalenceReport report = OfModules(rows, columns);
  EXPECT_EQ(report.same, Answer::kNo);
  ASSERT_TRUE(report.leaves[0].difference.has_value());
  EXPECT_THAT(report.leaves[0].difference->runtime_values, ElementsAre(Pair("i", 0)));
}

TEST_F(EquivalenceTest, ACallIsWhatItComputes) {
  const EquivalenceReport report = OfModules(
      R"(part {
           x = f32[8] parameter(0)
           i = s32[] parameter(1)
           one = s32[] constant(1)
           at = s32[] add(i, one)
           ROOT d = f32[3] dynamic-slice(x, at), dynamic_slice_sizes={3}
         }
         ENTRY e {
           x = f32[8] parameter(0)
           i = s32[] parameter(1)
           ROOT c = f32[3] call(x, i), to_apply=part
         })",
      R"(ENTRY e {
           x = f32[8] parameter(0)
           i = s32[] parameter(1)
           one = s32[] constant(1)
           at = s32[] add(i, one)
           n = f32[8] negate(x)
           ROOT d = f32[3] dynamic-slice(n, at), dynamic_slice_sizes={3}
         })");
  EXPECT_EQ(report.same, Answer::kYes) << report.meets_reason;
}

TEST_F(EquivalenceTest, OverApproximateMapsAreNotTakenForEqual) {
  constexpr absl::string_view kCall = R"(p = f32[4] parameter(0)
      ROOT c = f32[4] custom-call(p), custom_call_target="f")";
  EXPECT_EQ(OfEntries(kCall, kCall).same, Answer::kUndecided);
}

// A loop whose maps are not exact, because it reads at the square of its counter, with a part of its
// body and what is done to its result.
std::string Loop(absl::string_view row, absl::string_view end = "negate(x)") {
  return absl::StrCat(R"(
      condition {
        s = (s32[], f32[8,8]) parameter(0)
        i = s32[] get-tuple-element(s), index=0
        n = s32[] constant(20)
        ROOT l = pred[] compare(i, n), direction=LT
      }
      body {
        s = (s32[], f32[8,8]) parameter(0)
        i = s32[] get-tuple-element(s), index=0
        one = s32[] constant(1)
        j = s32[] add(i, one)
        x = f32[8,8] get-tuple-element(s), index=1
        square = s32[] multiply(i, i)
        u = f32[2,2] dynamic-slice(x, square, i), dynamic_slice_sizes={2,2}
        y = f32[8,8] dynamic-update-slice(x, u, )",
                      row, R"(, i)
        ROOT t = (s32[], f32[8,8]) tuple(j, y)
      }
      ENTRY e {
        p = f32[8,8] parameter(0)
        z = s32[] constant(0)
        a = (s32[], f32[8,8]) tuple(z, p)
        w = (s32[], f32[8,8]) while(a), condition=condition, body=body
        x = f32[8,8] get-tuple-element(w), index=1
        ROOT r = f32[8,8] )",
                      end, "\n}\n");
}

TEST_F(EquivalenceTest, CallsOfEqualComputationsAreTheSameWhateverTheirMaps) {
  const EquivalenceReport report = OfModules(Loop("j"), Loop("j"));
  EXPECT_EQ(report.same, Answer::kYes);
  ASSERT_EQ(report.leaves.size(), 1);
  EXPECT_EQ(report.leaves[0].same, Answer::kYes);
}

TEST_F(EquivalenceTest, CallsOfOtherComputationsAreNot) {
  EXPECT_EQ(OfModules(Loop("j"), Loop("i")).same, Answer::kUndecided);
  EXPECT_EQ(OfModules(Loop("j"), Loop("j", "sine(x)")).same, Answer::kUndecided);
}

TEST_F(EquivalenceTest, ReadsThatRandomNumbersChooseAreNotTheSameTwice) {
  const std::string random = R"(
      b {
        x = f32[9] parameter(0)
        low = s32[] constant(0)
        high = s32[] constant(9)
        i = s32[] rng(low, high), distribution=rng_uniform
        ROOT d = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
      }
      ENTRY e { p = f32[9] parameter(0) ROOT r = f32[1] call(p), to_apply=b })";
  EXPECT_EQ(OfModules(random, random).same, Answer::kUndecided);
}

TEST_F(EquivalenceTest, ABitcastOfAnotherLayoutHasOtherValues) {
  const auto choose = [](absl::string_view layout) {
    return absl::StrCat("i = s32[4,2]", layout, R"( parameter(0)
        x = f32[9] parameter(1)
        b = s32[8] bitcast(i)
        s = s32[1] slice(b), slice={[1:2]}
        k = s32[] reshape(s)
        ROOT d = f32[1] dynamic-slice(x, k), dynamic_slice_sizes={1})");
  };
  EXPECT_EQ(OfEntries(choose("{1,0}"), choose("{1,0}")).same, Answer::kYes);
  const EquivalenceReport report = OfEntries(choose("{1,0}"), choose("{0,1}"));
  EXPECT_EQ(report.same, Answer::kNo);
  ASSERT_EQ(report.leaves.size(), 2);
  EXPECT_EQ(report.leaves[1].parameter, 1);
  EXPECT_EQ(report.leaves[1].same, Answer::kNo);
}

TEST_F(EquivalenceTest, OtherShapesAreDifferent) {
  const EquivalenceReport report =
      OfEntries("p = f32[4] parameter(0)\nROOT n = f32[4] negate(p)",
                "p = f32[2,2] parameter(0)\nROOT r = f32[4] reshape(p)");
  EXPECT_EQ(report.same, Answer::kNo);
  EXPECT_THAT(report.difference, HasSubstr("parameter 0 is f32[4]"));
  EXPECT_THAT(report.leaves, IsEmpty());
}

TEST_F(EquivalenceTest, ScalarsAndNothingAreOrdinary) {
  EXPECT_EQ(OfEntries("p = f32[] parameter(0)\nROOT n = f32[] negate(p)",
                      "p = f32[] parameter(0)\nROOT n = f32[] abs(p)")
                .same,
            Answer::kYes);
  EXPECT_EQ(OfEntries("p = f32[0,3] parameter(0)\nROOT n = f32[0,3] negate(p)",
                      "p = f32[0,3] parameter(0)\nROOT r = f32[0,3] reverse(p), dimensions={1}")
                .same,
            Answer::kYes);
}

}  // namespace
}  // namespace xla_indexing

#include "xla_indexing/query/index_structure.h"

#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/corpus.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/verifier.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class IndexStructureTest : public ::testing::Test {
 protected:
  const HloModule& Parse(const std::string& instructions) {
    auto module = ParseAndVerifyModule(
        absl::StrCat("HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = "
                     "f32[] add(a, b) }\n",
                     "put { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }\nENTRY e {\n",
                     instructions, "\n}\n"));
    EXPECT_TRUE(module.ok()) << module.status();
    modules_.push_back(*std::move(module));
    return *modules_.back();
  }
  IndexStructure Of(const std::string& instructions) {
    const auto structure =
        IndexStructureOf(*Parse(instructions).entry_computation()->root_instruction(), &context_);
    EXPECT_TRUE(structure.ok()) << structure.status();
    return *structure;
  }
  // Gathers single elements of p at these indices.
  static std::string Gather(const std::string& operand, const std::string& indices,
                            const std::string& shape, const std::string& made = "") {
    return absl::StrCat("p = ", operand, " parameter(0)\n", made, "\n indices = ", indices,
                        "\n ROOT r = f32", shape,
                        " gather(p, indices), offset_dims={}, collapsed_slice_dims={0}, "
                        "start_index_map={0}, index_vector_dim=1, slice_sizes={1}");
  }
  std::string Rewritten(const std::string& instructions) {
    const auto module = RewriteIndices(Parse(instructions), &context_);
    EXPECT_TRUE(module.ok()) << module.status();
    return (*module)->ToString();
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::unique_ptr<HloModule>> modules_;
};

TEST_F(IndexStructureTest, AConstantWithEqualStepsIsAStridedSliceAndReverse) {
  const std::string gather = Gather("f32[10]", "s32[4,1] constant({{7},{5},{3},{1}})", "[4]");
  const IndexStructure structure = Of(gather);
  EXPECT_EQ(structure.form, IndexedForm::kBox);
  EXPECT_EQ(structure.name, "strided slice, reverse");
  EXPECT_EQ(structure.sorted.holds, Answer::kNo);
  EXPECT_EQ(structure.in_bounds.holds, Answer::kYes);
  const std::string rewritten = Rewritten(gather);
  EXPECT_THAT(rewritten, HasSubstr("slice(%p), slice={[1:8:2]}"));
  EXPECT_THAT(rewritten, HasSubstr("ROOT %r = f32[4] reverse(%r.slice), dimensions={0}"));
}

TEST_F(IndexStructureTest, StartsThatAreClampedRepeatTheElementsAtTheEdges) {
  // The indices are -2 .. 9 of an array of 8.
  const std::string gather = Gather("f32[8]", "s32[12,1] subtract(i, two)", "[12]",
                                    "i = s32[12,1] iota(), iota_dimension=0 t = s32[] constant(2) "
                                    "two = s32[12,1] broadcast(t), dimensions={}");
  const IndexStructure structure = Of(gather);
  EXPECT_EQ(structure.form, IndexedForm::kConcatenation);
  EXPECT_THAT(structure.name, HasSubstr("concatenation of 3: slice, broadcast; "));
  EXPECT_EQ(structure.in_bounds.holds, Answer::kNo);
  EXPECT_EQ(structure.in_bounds.reason, "a start is clamped");
  EXPECT_EQ(structure.sorted.holds, Answer::kYes);
  EXPECT_THAT(Rewritten(gather), HasSubstr("concatenate("));
}

TEST_F(IndexStructureTest, AnIotaAndAnUnknownOffsetIsSorted) {
  const IndexStructure structure =
      Of(Gather("f32[100]", "s32[12,1] add(i, offsets)", "[12]",
                "i = s32[12,1] iota(), iota_dimension=0 o = s16[] parameter(1) "
                "w = s32[] convert(o) offsets = s32[12,1] broadcast(w), dimensions={}"));
  EXPECT_EQ(structure.sorted.holds, Answer::kYes) << structure.sorted.reason;
  EXPECT_THAT(structure.sorted.reason, HasSubstr("whatever"));
  EXPECT_EQ(structure.in_bounds.holds, Answer::kUndecided);
}

TEST_F(IndexStructureTest, IndicesFromOutsideAreNotKnown) {
  const IndexStructure structure = Of(Gather("f32[100]", "s32[12,1] parameter(1)", "[12]"));
  EXPECT_EQ(structure.form, IndexedForm::kUnrecognised);
  EXPECT_EQ(structure.sorted.holds, Answer::kUndecided);
  EXPECT_EQ(structure.sorted.reason, "it depends on indices");
  EXPECT_FALSE(structure.IsReplaceable());
}

TEST_F(IndexStructureTest, OneStartForAllElementsIsADynamicSlice) {
  const IndexStructure structure = Of(R"(p = f32[100,8] parameter(0)
      start = s32[1] parameter(1)
      ROOT r = f32[10,8] gather(p, start), offset_dims={0,1}, collapsed_slice_dims={},
        start_index_map={0}, index_vector_dim=0, slice_sizes={10,8})");
  EXPECT_EQ(structure.form, IndexedForm::kDynamicSlice);
  EXPECT_EQ(structure.sorted.holds, Answer::kYes);
}

TEST_F(IndexStructureTest, TwoDimensionsOfTheOperandMayRunAlongOneOrOneAlongTwo) {
  const IndexStructure diagonal = Of(R"(p = f32[5,5] parameter(0)
      i = s32[5,2] iota(), iota_dimension=0
      ROOT r = f32[5] gather(p, i), offset_dims={}, collapsed_slice_dims={0,1},
        start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1})");
  EXPECT_EQ(diagonal.form, IndexedForm::kDiagonal);
  const IndexStructure windows = Of(R"(p = f32[9] parameter(0)
      i = s32[7,1] iota(), iota_dimension=0
      ROOT r = f32[7,3] gather(p, i), offset_dims={1}, collapsed_slice_dims={},
        start_index_map={0}, index_vector_dim=1, slice_sizes={3})");
  EXPECT_EQ(windows.form, IndexedForm::kStencil);
  EXPECT_EQ(windows.in_bounds.holds, Answer::kYes);
}

std::string Scatter(const std::string& combiner, const std::string& indices) {
  return absl::StrCat("p = f32[8] parameter(0)\n u = f32[3] parameter(1)\n i = ", indices,
                      "\n ROOT r = f32[8] scatter(p, i, u), update_window_dims={}, "
                      "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                      "index_vector_dim=1, to_apply=",
                      combiner);
}

TEST_F(IndexStructureTest, AScatterThatReplacesABoxIsADynamicUpdateSlice) {
  const std::string scatter = Scatter("put", "s32[3,1] constant({{4},{5},{6}})");
  const IndexStructure structure = Of(scatter);
  EXPECT_EQ(structure.form, IndexedForm::kUpdate);
  EXPECT_EQ(structure.unique.holds, Answer::kYes);
  EXPECT_EQ(structure.sorted.holds, Answer::kYes);
  EXPECT_THAT(Rewritten(scatter), HasSubstr("ROOT %r = f32[8] dynamic-update-slice(%p, %u, "));
}

TEST_F(IndexStructureTest, AScatterThatCombinesKeepsItsFormWithWhatItMayPromise) {
  const std::string scatter = Scatter("add", "s32[3,1] constant({{6},{4},{2}})");
  const IndexStructure structure = Of(scatter);
  EXPECT_EQ(structure.form, IndexedForm::kAccumulation);
  const std::string rewritten = Rewritten(scatter);
  EXPECT_THAT(rewritten, HasSubstr("unique_indices=true"));
  EXPECT_THAT(rewritten, Not(HasSubstr("indices_are_sorted")));
  const IndexStructure twice = Of(Scatter("add", "s32[3,1] constant({{6},{6},{7}})"));
  EXPECT_EQ(twice.unique.holds, Answer::kNo);
  EXPECT_EQ(twice.sorted.holds, Answer::kYes);
  // What is dropped meets nothing.
  const IndexStructure dropped = Of(Scatter("add", "s32[3,1] constant({{6},{9},{9}})"));
  EXPECT_EQ(dropped.unique.holds, Answer::kYes);
  EXPECT_FALSE(dropped.replacement.is_unique);
  EXPECT_EQ(dropped.in_bounds.holds, Answer::kNo);
  EXPECT_EQ(dropped.in_bounds.reason, "a window is dropped");
}

TEST_F(IndexStructureTest, OtherInstructionsHaveNone) {
  const HloModule& module = Parse("p = f32[2] parameter(0) ROOT n = f32[2] negate(p)");
  EXPECT_FALSE(IndexStructureOf(*module.entry_computation()->root_instruction(), &context_).ok());
}

// The table of docs/queries.md.
struct StructureTally {
  std::map<std::string, int> forms[2];
  int sorted[2] = {0, 0};
  int in_bounds[2] = {0, 0};
  int unique = 0;
  int count[2] = {0, 0};
};

void CountStructures(const std::string& directory, StructureTally* tally) {
  ForEachCorpusFile(
      [&](const std::string& name, const std::string& text) {
        for (const auto& module : ParseModules({name, text})) {
          if (!module.ok() || !VerifyModule(**module).ok()) continue;
          mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
          for (const HloComputation* computation : (*module)->computations()) {
            for (const HloInstruction* instruction : computation->instructions()) {
              if (!HasIndexStructure(*instruction)) continue;
              const auto structure = IndexStructureOf(*instruction, &context);
              ASSERT_TRUE(structure.ok()) << structure.status();
              const int is_scatter = instruction->opcode() == HloOpcode::kScatter ? 1 : 0;
              ++tally->count[is_scatter];
              ++tally->forms[is_scatter][structure->name.substr(0, structure->name.find(':'))];
              tally->sorted[is_scatter] += structure->sorted.holds == Answer::kYes ? 1 : 0;
              tally->in_bounds[is_scatter] += structure->in_bounds.holds == Answer::kYes ? 1 : 0;
              tally->unique += structure->unique.holds == Answer::kYes ? 1 : 0;
            }
          }
          const auto rewritten = RewriteIndices(**module, &context);
          EXPECT_TRUE(rewritten.ok()) << name << ": " << rewritten.status();
        }
      },
      directory);
}

TEST(IndexStructureCorpusTest, EveryModuleIsRewrittenIntoOneThatVerifies) {
  XLA_INDEXING_SKIP_WITHOUT_CORPUS();
  XLA_INDEXING_SKIP_WITHOUT(XLA_INDEXING_CORPUS_JAX);
  for (const std::string directory : {XLA_INDEXING_CORPUS_JAX, XLA_INDEXING_CORPUS}) {
    StructureTally tally;
    CountStructures(directory, &tally);
    for (int is_scatter = 0; is_scatter < 2; ++is_scatter) {
      std::cout << (is_scatter == 0 ? "gathers " : "scatters ") << tally.count[is_scatter]
                << ", sorted " << tally.sorted[is_scatter] << ", in bounds "
                << tally.in_bounds[is_scatter] << ", unique "
                << (is_scatter == 0 ? 0 : tally.unique);
      for (const auto& [name, count] : tally.forms[is_scatter]) {
        std::cout << "; " << name << " " << count;
      }
      std::cout << "\n";
    }
    EXPECT_GT(tally.count[0] + tally.count[1], 0);
  }
}

}  // namespace
}  // namespace xla_indexing

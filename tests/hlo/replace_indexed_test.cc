#include "xla_indexing/hlo/transforms/replace_indexed.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/parser.h"

namespace xla_indexing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::string_view kGatherOfColumns = R"(ENTRY e {
  p = f32[4,6] parameter(0)
  i = s32[3,2] parameter(1)
  ROOT r = f32[3,4] gather(p, i), offset_dims={1}, collapsed_slice_dims={1}, start_index_map={0,1},
    index_vector_dim=1, slice_sizes={4,1}
})";

std::string Replaced(absl::string_view text, const IndexedReplacement& replacement) {
  auto module = ParseAndVerifyModule(std::string(text));
  EXPECT_TRUE(module.ok()) << module.status();
  const HloInstruction* root = (*module)->entry_computation()->root_instruction();
  const auto replaced = ReplaceIndexed(**module, {{root, replacement}});
  EXPECT_TRUE(replaced.ok()) << replaced.status();
  return replaced.ok() ? (*replaced)->ToString() : "";
}

TEST(ReplaceIndexedTest, ABoxIsAChainOfTheStepsThatDoSomething) {
  // Columns 5, 3, 1, as rows.
  const MovedBox box = {{0, 4, 1, 1}, {5, 3, -2, 0}};
  IndexedReplacement replacement;
  replacement.gather = MovedPieces{{box}, 0, {}};
  EXPECT_THAT(Replaced(kGatherOfColumns, replacement),
              AllOf(HasSubstr("%r.slice = f32[4,3] slice(%p), slice={[0:4], [1:6:2]}"),
                    HasSubstr("%r.reverse = f32[4,3] reverse(%r.slice), dimensions={1}"),
                    HasSubstr("ROOT %r = f32[3,4] transpose(%r.reverse), dimensions={1,0}")));
}

TEST(ReplaceIndexedTest, AnIndexOfOneElementLeavesItsDimensionAndWhatRepeatsIsBroadcast) {
  const MovedBox box = {{0, 4, 1, 1}, {2, 1, 1, {}}};
  IndexedReplacement replacement;
  replacement.gather = MovedPieces{{box}, 0, {}};
  EXPECT_THAT(Replaced(kGatherOfColumns, replacement),
              AllOf(HasSubstr("slice={[0:4], [2:3]}"), HasSubstr("= f32[4] reshape("),
                    HasSubstr("ROOT %r = f32[3,4] broadcast(%r.reshape), dimensions={1}")));
}

TEST(ReplaceIndexedTest, PiecesAreConcatenated) {
  const MovedBox first = {{0, 4, 1, 1}, {5, 1, 1, {}}};
  const MovedBox rest = {{0, 4, 1, 1}, {0, 2, 1, 0}};
  IndexedReplacement replacement;
  replacement.gather = MovedPieces{{first, rest}, 0, {1, 2}};
  EXPECT_THAT(
      Replaced(kGatherOfColumns, replacement),
      HasSubstr("ROOT %r = f32[3,4] concatenate(%r.reshape.1, %r.transpose), dimensions={0}"));
}

TEST(ReplaceIndexedTest, WhatIsWrongDoesNotVerify) {
  IndexedReplacement replacement;
  replacement.gather = MovedPieces{{{{0, 4, 1, 1}, {5, 4, 1, 0}}}, 0, {}};
  auto module = ParseAndVerifyModule(std::string(kGatherOfColumns));
  ASSERT_TRUE(module.ok());
  const HloInstruction* root = (*module)->entry_computation()->root_instruction();
  EXPECT_FALSE(ReplaceIndexed(**module, {{root, replacement}}).ok());
}

TEST(ReplaceIndexedTest, AttributesAreAdded) {
  IndexedReplacement replacement;
  replacement.is_sorted = true;
  EXPECT_THAT(Replaced(kGatherOfColumns, replacement),
              AllOf(HasSubstr("gather(%p, %i)"), HasSubstr("indices_are_sorted=true"),
                    Not(HasSubstr("unique_indices"))));
}

TEST(ReplaceIndexedTest, AScatterBecomesAnUpdateAtConstantStarts) {
  IndexedReplacement replacement;
  replacement.scatter = ReplacedBox{{{1, 2, 1, 1}, {3, 3, 1, 0}}};
  EXPECT_THAT(
      Replaced(R"(put { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
                          ENTRY e {
                            p = f32[4,6] parameter(0)
                            i = s32[3,2] parameter(1)
                            u = f32[3,2] parameter(2)
                            ROOT r = f32[4,6] scatter(p, i, u), update_window_dims={1},
                              inserted_window_dims={1}, scatter_dims_to_operand_dims={0,1},
                              index_vector_dim=1, to_apply=put
                          })",
               replacement),
      AllOf(HasSubstr("%r.transpose = f32[2,3] transpose(%u), dimensions={1,0}"),
            HasSubstr("%r.start = s64[] constant(1)"), HasSubstr("%r.start.1 = s64[] constant(3)"),
            HasSubstr("ROOT %r = f32[4,6] dynamic-update-slice(%p, %r.transpose, %r.start, "
                      "%r.start.1)")));
}

}  // namespace
}  // namespace xla_indexing

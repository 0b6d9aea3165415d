#include "xla_indexing/hlo/transforms/replace_indexed.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/text/parser.h"

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

// Loops over whole dimensions of an array, from `offset` on.
MovedBox Loops(const std::vector<MovedAxis>& axes, const std::vector<int64_t>& sizes,
               const std::vector<int64_t>& offsets) {
  MovedBox box;
  for (size_t i = 0; i < sizes.size(); ++i) {
    box.dims.push_back({offsets[i], sizes[i], 0, {sizes[i]}});
  }
  box.axes = axes;
  return box;
}

IndexedReplacement OfGather(std::vector<MovedBox> boxes, std::vector<int64_t> sizes) {
  IndexedReplacement replacement;
  replacement.gather = MovedPieces{std::move(boxes), std::move(sizes)};
  return replacement;
}

TEST(ReplaceIndexedTest, ABoxIsAChainOfTheStepsThatDoSomething) {
  // Columns 5, 3, 1, as rows.
  const MovedBox box = Loops({{0, {{1, 1}}, {}}, {5, {{0, -2}}, {}}}, {3, 4}, {0, 0});
  EXPECT_THAT(Replaced(kGatherOfColumns, OfGather({box}, {3, 4})),
              AllOf(HasSubstr("%r.slice = f32[4,3] slice(%p), slice={[0:4], [1:6:2]}"),
                    HasSubstr("%r.reverse = f32[4,3] reverse(%r.slice), dimensions={1}"),
                    HasSubstr("ROOT %r = f32[3,4] transpose(%r.reverse), dimensions={1,0}")));
}

TEST(ReplaceIndexedTest, AnIndexOfOneElementLeavesItsDimensionAndWhatRepeatsIsBroadcast) {
  const MovedBox box = Loops({{0, {{1, 1}}, {}}, {2, {}, {}}}, {3, 4}, {0, 0});
  EXPECT_THAT(Replaced(kGatherOfColumns, OfGather({box}, {3, 4})),
              AllOf(HasSubstr("slice={[0:4], [2:3]}"), HasSubstr("= f32[4] reshape("),
                    HasSubstr("ROOT %r = f32[3,4] broadcast(%r.reshape), dimensions={1}")));
}

TEST(ReplaceIndexedTest, PiecesAreConcatenated) {
  const MovedBox first = Loops({{0, {{1, 1}}, {}}, {5, {}, {}}}, {1, 4}, {0, 0});
  const MovedBox rest = Loops({{0, {{1, 1}}, {}}, {0, {{0, 1}}, {}}}, {2, 4}, {1, 0});
  EXPECT_THAT(
      Replaced(kGatherOfColumns, OfGather({first, rest}, {3, 4})),
      HasSubstr("ROOT %r = f32[3,4] concatenate(%r.reshape, %r.transpose), dimensions={0}"));
}

TEST(ReplaceIndexedTest, PiecesThatCannotBeCutApartCannotBeAssembled) {
  // Four bars around a square, none of which can be cut off: a pinwheel.
  const auto at = [](int64_t row, int64_t column, int64_t rows, int64_t columns) {
    return Loops({}, {rows, columns}, {row, column});
  };
  const std::vector<MovedBox> pinwheel = {at(0, 0, 1, 2), at(0, 2, 2, 1), at(2, 1, 1, 2),
                                          at(1, 0, 2, 1), at(1, 1, 1, 1)};
  EXPECT_FALSE(CanAssemble(pinwheel, {3, 3}, /*has_fill=*/false));
  EXPECT_TRUE(CanAssemble({at(0, 0, 1, 3), at(1, 0, 2, 2), at(1, 2, 2, 1)}, {3, 3}, false));
  // What is missing is filled, or is not there.
  EXPECT_TRUE(CanAssemble({at(0, 0, 1, 3)}, {3, 3}, /*has_fill=*/true));
  EXPECT_FALSE(CanAssemble({at(0, 0, 1, 3)}, {3, 3}, /*has_fill=*/false));
}

TEST(ReplaceIndexedTest, UpdatesArePlacedWhereStepsAreDigits) {
  const auto places = [](std::vector<MovedTerm> terms, std::vector<int64_t> counts, int64_t size) {
    std::vector<int64_t> offsets(counts.size(), 0);
    return CanPlace(Loops({{0, std::move(terms), {}}}, counts, offsets), {size});
  };
  EXPECT_TRUE(places({{0, 3}}, {4}, 10));
  EXPECT_TRUE(places({{0, 4}, {1, 1}}, {2, 3}, 8));
  // Windows of 3 that begin 2 apart meet.
  EXPECT_FALSE(places({{0, 2}, {1, 1}}, {2, 3}, 8));
  // All updates of loop 1 go to one element.
  EXPECT_FALSE(places({{0, 2}}, {2, 3}, 8));
}

TEST(ReplaceIndexedTest, WhatIsWrongDoesNotVerify) {
  const MovedBox box = Loops({{0, {{1, 1}}, {}}, {5, {{0, 1}}, {}}}, {3, 4}, {0, 0});
  auto module = ParseAndVerifyModule(std::string(kGatherOfColumns));
  ASSERT_TRUE(module.ok());
  const HloInstruction* root = (*module)->entry_computation()->root_instruction();
  EXPECT_FALSE(ReplaceIndexed(**module, {{root, OfGather({box}, {3, 4})}}).ok());
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
  replacement.scatter =
      PlacedUpdates{{Loops({{1, {{1, 1}}, {}}, {3, {{0, 1}}, {}}}, {3, 2}, {0, 0})}};
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

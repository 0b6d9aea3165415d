#include "xla_indexing/hlo/transforms/replace_indexed.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
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

MovedBox Box(std::vector<MovedAxis> axes, const std::vector<int64_t>& sizes,
             const std::vector<int64_t>& offsets) {
  MovedBox box;
  for (size_t i = 0; i < sizes.size(); ++i) box.dims.push_back({offsets[i], sizes[i]});
  box.axes = std::move(axes);
  return box;
}

// start + stride * (the index along a dimension).
MovedAxis Along(int64_t start, int64_t dim, int64_t stride = 1) {
  return {start, dim, stride, std::nullopt};
}
MovedAxis At(int64_t start) { return {start, std::nullopt, 1, std::nullopt}; }

IndexedReplacement OfGather(std::vector<MovedBox> boxes) {
  IndexedReplacement replacement;
  replacement.gather = std::move(boxes);
  return replacement;
}

TEST(ReplaceIndexedTest, ABoxIsAChainOfTheStepsThatDoSomething) {
  // Columns 5, 3, 1, as rows.
  const MovedBox box = Box({Along(0, 1), Along(5, 0, -2)}, {3, 4}, {0, 0});
  EXPECT_THAT(Replaced(kGatherOfColumns, OfGather({box})),
              AllOf(HasSubstr("%r.slice = f32[4,3] slice(%p), slice={[0:4], [1:6:2]}"),
                    HasSubstr("%r.reverse = f32[4,3] reverse(%r.slice), dimensions={1}"),
                    HasSubstr("ROOT %r = f32[3,4] transpose(%r.reverse), dimensions={1,0}")));
}

TEST(ReplaceIndexedTest, AnIndexOfOneElementLeavesItsDimensionAndWhatRepeatsIsBroadcast) {
  const MovedBox box = Box({Along(0, 1), At(2)}, {3, 4}, {0, 0});
  EXPECT_THAT(Replaced(kGatherOfColumns, OfGather({box})),
              AllOf(HasSubstr("slice={[0:4], [2:3]}"), HasSubstr("= f32[4] reshape("),
                    HasSubstr("ROOT %r = f32[3,4] broadcast(%r.reshape), dimensions={1}")));
}

TEST(ReplaceIndexedTest, PiecesAreConcatenated) {
  const MovedBox first = Box({Along(0, 1), At(5)}, {1, 4}, {0, 0});
  const MovedBox rest = Box({Along(0, 1), Along(0, 0)}, {2, 4}, {1, 0});
  EXPECT_THAT(
      Replaced(kGatherOfColumns, OfGather({first, rest})),
      HasSubstr("ROOT %r = f32[3,4] concatenate(%r.reshape, %r.transpose), dimensions={0}"));
}

TEST(ReplaceIndexedTest, PiecesThatCannotBeCutApartCannotBeAssembled) {
  // Four bars around a square, none of which can be cut off: a pinwheel.
  const auto at = [](int64_t row, int64_t column, int64_t rows, int64_t columns) {
    return Box({}, {rows, columns}, {row, column});
  };
  const std::vector<MovedBox> pinwheel = {at(0, 0, 1, 2), at(0, 2, 2, 1), at(2, 1, 1, 2),
                                          at(1, 0, 2, 1), at(1, 1, 1, 1)};
  EXPECT_FALSE(CanAssemble(pinwheel, {3, 3}));
  EXPECT_TRUE(CanAssemble({at(0, 0, 1, 3), at(1, 0, 2, 2), at(1, 2, 2, 1)}, {3, 3}));
  // Something is missing at the end, at the beginning, and between parts.
  EXPECT_FALSE(CanAssemble({at(0, 0, 1, 3)}, {3, 3}));
  EXPECT_FALSE(CanAssemble({at(1, 0, 1, 3), at(2, 0, 1, 3)}, {3, 3}));
  EXPECT_FALSE(CanAssemble({at(0, 0, 1, 3), at(2, 0, 1, 3)}, {3, 3}));
  EXPECT_FALSE(CanAssemble({at(0, 0, 2, 2), at(0, 2, 1, 1), at(2, 0, 1, 3)}, {3, 3}));
}

TEST(ReplaceIndexedTest, UpdatesArePlacedInStepsOfOneDimensionEach) {
  EXPECT_TRUE(CanPlace(Box({Along(0, 0, 3)}, {4}, {0}), {10}));
  EXPECT_TRUE(CanPlace(Box({Along(0, 1, -2), Along(0, 0)}, {2, 3}, {0, 0}), {8, 2}));
  // All updates along dimension 1 go to one element.
  EXPECT_FALSE(CanPlace(Box({Along(0, 0, 2)}, {2, 3}, {0, 0}), {8}));
  // The rows of a step do not fit int64.
  EXPECT_FALSE(CanPlace(Box({Along(0, 0, int64_t{1} << 62)}, {2}, {0}),
                        {std::numeric_limits<int64_t>::max()}));
}

TEST(ReplaceIndexedTest, WhatIsWrongDoesNotVerify) {
  const MovedBox box = Box({Along(0, 1), Along(5, 0)}, {3, 4}, {0, 0});
  auto module = ParseAndVerifyModule(std::string(kGatherOfColumns));
  ASSERT_TRUE(module.ok());
  const HloInstruction* root = (*module)->entry_computation()->root_instruction();
  EXPECT_FALSE(ReplaceIndexed(**module, {{root, OfGather({box})}}).ok());
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
  replacement.scatter = PlacedUpdates{{Box({Along(1, 1), Along(3, 0)}, {3, 2}, {0, 0})}};
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

// The reference against relations worked out by hand: the forms of the indexing document at small
// sizes, and the corners of the operations' definitions.

#include "tests/reference/judge/dependence.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/reference/execute/integers.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What the entry of a module reads, its parameters' integers given.
class Reading {
 public:
  // The integers of the parameters one after another, all leaves of those of integral types.
  explicit Reading(absl::string_view text, std::vector<int64_t> integers = {}) {
    auto module = ParseModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    EXPECT_TRUE(VerifyModule(*module_).ok()) << VerifyModule(*module_);
    const HloComputation& entry = *module_->entry_computation();
    arguments_ = RandomArguments(entry, 0);
    auto next = integers.begin();
    for (Value& argument : arguments_) {
      for (Array& array : argument) {
        if (!IsIntegral(array.shape().element_type())) continue;
        for (Element& element : array.elements()) {
          if (next != integers.end()) element.value = *next++;
        }
      }
    }
    auto dependence = DependenceOfComputation(entry, Pointers(arguments_), 0);
    EXPECT_TRUE(dependence.ok()) << dependence.status();
    dependence_ = *std::move(dependence);
  }

  // The elements of a parameter's leaf that an element of the result's leaf reads.
  std::vector<Index> Of(const Index& output, LeafPair leaves = {}) const {
    const auto output_leaves = module_->entry_computation()->root_instruction()->shape().Leaves();
    const int64_t position = PositionOf(output_leaves[leaves.output_leaf]->dimensions(), output);
    const Array& operand = arguments_[leaves.operand][leaves.operand_leaf];
    std::vector<Index> read;
    for (const auto& [from, to] : dependence_.at(leaves)) {
      if (from == position) read.push_back(IndexAt(operand.sizes(), to));
    }
    return read;
  }

  // The number of pairs of a parameter that is an array and a result that is one.
  size_t PairCount(int64_t parameter) const { return dependence_.at({0, parameter, 0}).size(); }

  const Dependence& dependence() const { return dependence_; }

 private:
  std::unique_ptr<HloModule> module_;
  std::vector<Value> arguments_;
  Dependence dependence_;
};

// Leaf 0 of the result and of a parameter.
LeafPair Parameter(int64_t number) { return {0, number, 0}; }

TEST(DependenceTest, ElementwiseReadsTheSameIndexOfEveryOperand) {
  const Reading reading(
      "ENTRY e { p = f32[2,3] parameter(0) q = f32[2,3] parameter(1) ROOT r = add(p, q) }");
  EXPECT_THAT(reading.Of({1, 2}, Parameter(0)), ElementsAre(Index{1, 2}));
  EXPECT_THAT(reading.Of({0, 1}, Parameter(1)), ElementsAre(Index{0, 1}));
  EXPECT_EQ(reading.PairCount(0), 6u);
}

TEST(DependenceTest, SelectReadsAllOperandsAndAScalarPredicate) {
  const Reading reading(
      "ENTRY e { p = pred[] parameter(0) a = f32[2] parameter(1) b = f32[2] parameter(2) "
      "ROOT r = select(p, a, b) }");
  EXPECT_THAT(reading.Of({1}, Parameter(0)), ElementsAre(Index{}));
  EXPECT_THAT(reading.Of({1}, Parameter(1)), ElementsAre(Index{1}));
  EXPECT_THAT(reading.Of({1}, Parameter(2)), ElementsAre(Index{1}));
}

// (d0, d1, d2) -> (d1)
TEST(DependenceTest, BroadcastForgetsNewDimensions) {
  const Reading reading(
      "ENTRY e { p = f32[2] parameter(0) ROOT r = f32[3,2,4] broadcast(p), dimensions={1} }");
  EXPECT_THAT(reading.Of({2, 1, 3}), ElementsAre(Index{1}));
  EXPECT_THAT(reading.Of({2, 0, 3}), ElementsAre(Index{0}));
  EXPECT_EQ(reading.PairCount(0), 24u);
}

constexpr absl::string_view kDynamicSlice =
    "ENTRY e { src = s32[2,2,8] parameter(3) a = s32[] parameter(0) b = s32[] parameter(1) "
    "c = s32[] parameter(2) ROOT r = dynamic-slice(src, a, b, c), dynamic_slice_sizes={1,2,3} }";

// (d0, d1, d2){rt0, rt1, rt2} -> (d0 + rt0, d1 + rt1, d2 + rt2)
TEST(DependenceTest, DynamicSliceBeginsAtTheStarts) {
  const Reading reading(kDynamicSlice, {1, 0, 4});
  EXPECT_THAT(reading.Of({0, 1, 2}, Parameter(3)), ElementsAre(Index{1, 1, 6}));
  for (int64_t start = 0; start < 3; ++start) {
    EXPECT_THAT(reading.Of({0, 0, 0}, Parameter(start)), ElementsAre(Index{}));
    EXPECT_EQ(reading.PairCount(start), 6u);
  }
}

TEST(DependenceTest, DynamicSliceClampsStartsSoThatTheSliceIsInside) {
  const Reading reading(kDynamicSlice, {5, -1, 6});
  EXPECT_THAT(reading.Of({0, 1, 2}, Parameter(3)), ElementsAre(Index{1, 1, 7}));
  EXPECT_THAT(reading.Of({0, 0, 0}, Parameter(3)), ElementsAre(Index{1, 0, 5}));
}

TEST(DependenceTest, UnsignedStartsAreNotNegative) {
  const Reading reading(
      "ENTRY e { p = f32[8] parameter(0) s = u8[] constant(255) "
      "ROOT r = dynamic-slice(p, s), dynamic_slice_sizes={2} }");
  EXPECT_THAT(reading.Of({0}), ElementsAre(Index{6}));
}

TEST(DependenceTest, ArithmeticOnStartsWraps) {
  const Reading reading(
      "ENTRY e { p = f32[8] parameter(0) s = s8[] constant(100) t = s8[] add(s, s) "
      "ROOT r = dynamic-slice(p, t), dynamic_slice_sizes={2} }");
  EXPECT_THAT(reading.Of({0}), ElementsAre(Index{0}));
}

TEST(DependenceTest, DynamicUpdateSliceReadsTheOperandOutsideTheUpdateOnly) {
  const Reading reading(
      "ENTRY e { p = f32[3,4] parameter(0) u = f32[2,2] parameter(1) i = s32[] parameter(2) "
      "j = s32[] parameter(3) ROOT r = dynamic-update-slice(p, u, i, j) }",
      {1, 7});
  // The update lies at rows 1, 2 and columns 2, 3.
  EXPECT_THAT(reading.Of({1, 2}, Parameter(0)), IsEmpty());
  EXPECT_THAT(reading.Of({1, 2}, Parameter(1)), ElementsAre(Index{0, 0}));
  EXPECT_THAT(reading.Of({2, 3}, Parameter(1)), ElementsAre(Index{1, 1}));
  EXPECT_THAT(reading.Of({2, 1}, Parameter(0)), ElementsAre(Index{2, 1}));
  EXPECT_THAT(reading.Of({2, 1}, Parameter(1)), IsEmpty());
  EXPECT_EQ(reading.PairCount(0), 8u);
  EXPECT_EQ(reading.PairCount(1), 4u);
  EXPECT_EQ(reading.PairCount(2), 12u);
}

// (d0, d1, d2, d3){rt0, rt1} -> (d1 + rt0, d2 + rt1, d3); indices (d0, ..)[s0] -> (d0, s0)
TEST(DependenceTest, GatherReadsASliceAtEveryIndexVector) {
  const Reading reading(
      "ENTRY e { o = f32[5,4,3] parameter(0) i = s32[2,2] parameter(1) "
      "ROOT r = gather(o, i), offset_dims={1,2,3}, collapsed_slice_dims={}, "
      "start_index_map={0,1}, index_vector_dim=1, slice_sizes={2,3,2} }",
      {3, 0, 9, -4});
  EXPECT_THAT(reading.Of({0, 1, 2, 1}, Parameter(0)), ElementsAre(Index{4, 2, 1}));
  EXPECT_THAT(reading.Of({1, 1, 2, 0}, Parameter(0)), ElementsAre(Index{4, 2, 0}));
  EXPECT_THAT(reading.Of({1, 0, 0, 0}, Parameter(0)), ElementsAre(Index{3, 0, 0}));
  EXPECT_THAT(reading.Of({1, 1, 2, 0}, Parameter(1)), ElementsAre(Index{1, 0}, Index{1, 1}));
}

TEST(DependenceTest, GatherWithScalarIndicesAndCollapsedDimension) {
  const Reading reading(
      "ENTRY e { o = f32[5,4] parameter(0) i = s64[3] parameter(1) "
      "ROOT r = gather(o, i), offset_dims={0}, collapsed_slice_dims={0}, "
      "start_index_map={0}, index_vector_dim=1, slice_sizes={1,2} }",
      {2, 8, 0});
  // Result f32[2,3]: (offset, batch) -> (start[batch], offset).
  EXPECT_THAT(reading.Of({1, 0}, Parameter(0)), ElementsAre(Index{2, 1}));
  EXPECT_THAT(reading.Of({0, 1}, Parameter(0)), ElementsAre(Index{4, 0}));
  EXPECT_THAT(reading.Of({0, 1}, Parameter(1)), ElementsAre(Index{1}));
}

TEST(DependenceTest, GatherWithBatchingDimensions) {
  const Reading reading(
      "ENTRY e { o = f32[2,6] parameter(0) i = s32[1,3,2] parameter(1) "
      "ROOT r = gather(o, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, "
      "operand_batching_dims={0}, start_indices_batching_dims={2}, index_vector_dim=0, "
      "slice_sizes={1,1} }",
      {0, 1, 2, 3, 4, 5});
  // Result f32[3,2]: (d0, d1) -> (d1, indices[0, d0, d1]).
  EXPECT_THAT(reading.Of({1, 0}, Parameter(0)), ElementsAre(Index{0, 2}));
  EXPECT_THAT(reading.Of({2, 1}, Parameter(0)), ElementsAre(Index{1, 5}));
  EXPECT_THAT(reading.Of({2, 1}, Parameter(1)), ElementsAre(Index{0, 2, 1}));
}

constexpr absl::string_view kAdd =
    "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) } ";

TEST(DependenceTest, ScatterReadsEveryIndexVectorThatCouldAddressAnElement) {
  // Windows of 2 by 1 at (3, 0), which is outside, and (1, 1); the dimension of size 3 has no
  // index.
  const Reading reading(absl::StrCat(kAdd,
                                     "ENTRY e { o = f32[4,2,3] parameter(0) "
                                     "i = s32[2,2] parameter(1) u = f32[2,2] parameter(2) "
                                     "ROOT r = scatter(o, i, u), update_window_dims={1}, "
                                     "inserted_window_dims={1,2}, index_vector_dim=1, "
                                     "scatter_dims_to_operand_dims={0,1}, to_apply=add }"),
                        {3, 0, 1, 1});
  EXPECT_THAT(reading.Of({2, 1, 0}, Parameter(2)), ElementsAre(Index{1, 1}));
  EXPECT_THAT(reading.Of({3, 0, 0}, Parameter(2)), IsEmpty());
  for (const Index& output : {Index{2, 1, 0}, Index{3, 0, 0}, Index{0, 0, 0}}) {
    EXPECT_THAT(reading.Of(output, Parameter(1)),
                ElementsAre(Index{0, 0}, Index{0, 1}, Index{1, 0}, Index{1, 1}));
  }
  // No window has index 1 or 2 in the last dimension.
  EXPECT_THAT(reading.Of({2, 1, 1}, Parameter(1)), IsEmpty());
  EXPECT_EQ(reading.PairCount(1), 4 * 2 * 4);
}

TEST(DependenceTest, ScatterReadsIndexVectorsOfItsBatchAsFarAsTheTypeGoes) {
  // Starts of s8 are at most 127: windows of 3 have the elements up to 129.
  const Reading reading(absl::StrCat(kAdd,
                                     "ENTRY e { o = f32[2,140] parameter(0) "
                                     "i = s8[2,1] parameter(1) u = f32[2,3] parameter(2) "
                                     "ROOT r = scatter(o, i, u), update_window_dims={1}, "
                                     "inserted_window_dims={}, index_vector_dim=1, "
                                     "input_batching_dims={0}, scatter_indices_batching_dims={0}, "
                                     "scatter_dims_to_operand_dims={1}, to_apply=add }"),
                        {0, 0});
  EXPECT_THAT(reading.Of({0, 129}, Parameter(1)), ElementsAre(Index{0, 0}));
  EXPECT_THAT(reading.Of({1, 0}, Parameter(1)), ElementsAre(Index{1, 0}));
  EXPECT_THAT(reading.Of({1, 130}, Parameter(1)), IsEmpty());
}

// (d0, d1, d2, d3) -> (d0, d3, d1, d2)
TEST(DependenceTest, TransposePermutes) {
  const Reading reading(
      "ENTRY e { p = f32[3,4,2,5] parameter(0) ROOT t = transpose(p), dimensions={0,2,3,1} }");
  EXPECT_THAT(reading.Of({2, 1, 4, 3}), ElementsAre(Index{2, 3, 1, 4}));
}

// (d0, d1) -> (d0, -d1 + 3)
TEST(DependenceTest, ReverseCountsFromTheEnd) {
  const Reading reading(
      "ENTRY e { p = f32[2,4] parameter(0) ROOT t = reverse(p), dimensions={1} }");
  EXPECT_THAT(reading.Of({1, 0}), ElementsAre(Index{1, 3}));
}

// (d0, d1) -> (d0 + 2, d1 * 3 + 1)
TEST(DependenceTest, SliceStrides) {
  const Reading reading(
      "ENTRY e { p = f32[5,9] parameter(0) ROOT t = slice(p), slice={[2:5], [1:9:3]} }");
  EXPECT_THAT(reading.Of({2, 2}), ElementsAre(Index{4, 7}));
  EXPECT_EQ(reading.PairCount(0), 9u);
}

// (d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4)
TEST(DependenceTest, ReshapeKeepsRowMajorOrder) {
  const Reading reading("ENTRY e { p = f32[4,8] parameter(0) ROOT t = f32[2,4,4] reshape(p) }");
  EXPECT_THAT(reading.Of({1, 3, 2}), ElementsAre(Index{3, 6}));
  EXPECT_THAT(reading.Of({0, 1, 3}), ElementsAre(Index{0, 7}));
}

TEST(DependenceTest, BitcastKeepsPhysicalOrder) {
  const Reading reading(
      "ENTRY e { p = f32[2,3]{0,1} parameter(0) ROOT t = f32[3,2]{1,0} bitcast(p) }");
  // Physically the operand is f32[3,2] row-major with its dimensions exchanged.
  EXPECT_THAT(reading.Of({2, 1}), ElementsAre(Index{1, 2}));
  EXPECT_THAT(reading.Of({0, 1}), ElementsAre(Index{1, 0}));
}

TEST(DependenceTest, BitcastSeesTheLayoutThatACopyGives) {
  const Reading reading(
      "ENTRY e { p = f32[2,3]{1,0} parameter(0) c = f32[2,3]{0,1} copy(p) "
      "ROOT t = f32[6]{0} bitcast(c) }");
  // Position i + 2 * j.
  EXPECT_THAT(reading.Of({3}), ElementsAre(Index{1, 1}));
}

TEST(DependenceTest, BitcastToNarrowElementsReadsTheWideOneAround) {
  const Reading reading("ENTRY e { p = s32[2]{0} parameter(0) ROOT t = s8[2,4]{1,0} bitcast(p) }");
  EXPECT_THAT(reading.Of({1, 3}), ElementsAre(Index{1}));
  EXPECT_EQ(reading.PairCount(0), 8u);
}

TEST(DependenceTest, BitcastToWideElementsReadsTheNarrowOnesInside) {
  const Reading reading(
      "ENTRY e { p = s4[2,3,2]{1,0,2} parameter(0) ROOT t = s8[6]{0} bitcast(p) }");
  // Physically s4[2,2,3] with d2 outermost, then d0, then d1: position d2 * 6 + d0 * 3 + d1.
  // Bytes hold positions 2k and 2k + 1.
  EXPECT_THAT(reading.Of({1}), ElementsAre(Index{0, 2, 0}, Index{1, 0, 0}));
  EXPECT_THAT(reading.Of({5}), ElementsAre(Index{1, 1, 1}, Index{1, 2, 1}));
}

TEST(DependenceTest, ConcatenatePutsOperandsSideBySide) {
  const Reading reading(
      "ENTRY e { p = f32[2,2] parameter(0) q = f32[2,0] parameter(1) r = f32[2,3] parameter(2) "
      "ROOT t = concatenate(p, q, r), dimensions={1} }");
  EXPECT_THAT(reading.Of({1, 1}, Parameter(0)), ElementsAre(Index{1, 1}));
  EXPECT_THAT(reading.Of({1, 1}, Parameter(2)), IsEmpty());
  EXPECT_THAT(reading.Of({1, 4}, Parameter(2)), ElementsAre(Index{1, 2}));
  EXPECT_EQ(reading.PairCount(1), 0u);
}

// (d0, d1, d2)[s0] -> (d0, d1, s0) and (d0, s0, d2)
TEST(DependenceTest, DotReadsARowAndAColumn) {
  const Reading reading(
      "ENTRY e { p = f32[2,3,2] parameter(0) q = f32[2,2,4] parameter(1) ROOT t = dot(p, q), "
      "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
      "rhs_contracting_dims={1} }");
  EXPECT_THAT(reading.Of({1, 2, 3}, Parameter(0)), ElementsAre(Index{1, 2, 0}, Index{1, 2, 1}));
  EXPECT_THAT(reading.Of({1, 2, 3}, Parameter(1)), ElementsAre(Index{1, 0, 3}, Index{1, 1, 3}));
}

// ((d0 - 1) floordiv 2, d1 - 4), d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]
TEST(DependenceTest, PadReadsTheOperandOrTheValue) {
  const Reading reading(
      "ENTRY e { p = f32[4,4] parameter(0) v = f32[] parameter(1) ROOT t = pad(p, v), "
      "padding=1_4_1x4_8_0 }");
  EXPECT_THAT(reading.Of({7, 4}, Parameter(0)), ElementsAre(Index{3, 0}));
  EXPECT_THAT(reading.Of({7, 4}, Parameter(1)), IsEmpty());
  EXPECT_THAT(reading.Of({2, 4}, Parameter(0)), IsEmpty());
  EXPECT_THAT(reading.Of({2, 4}, Parameter(1)), ElementsAre(Index{}));
  EXPECT_THAT(reading.Of({9, 4}, Parameter(0)), IsEmpty());
  EXPECT_EQ(reading.PairCount(0), 16u);
  EXPECT_EQ(reading.PairCount(1), 12u * 16u - 16u);
}

TEST(DependenceTest, NegativePaddingDropsElements) {
  const Reading reading(
      "ENTRY e { p = f32[5] parameter(0) v = f32[] parameter(1) "
      "ROOT t = pad(p, v), padding=-3_-1_1 }");
  // 0 . 1 . 2 . 3 . 4 without the first three and the last: . 2 . 3 .
  EXPECT_THAT(reading.Of({0}, Parameter(1)), ElementsAre(Index{}));
  EXPECT_THAT(reading.Of({1}, Parameter(0)), ElementsAre(Index{2}));
  EXPECT_THAT(reading.Of({3}, Parameter(0)), ElementsAre(Index{3}));
  EXPECT_EQ(reading.PairCount(0), 2u);
}

constexpr absl::string_view kMaximum =
    "m { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = maximum(a, b) } ";
constexpr absl::string_view kBoth =
    "m { a = f32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2) "
    "d = s32[] parameter(3) x = f32[] maximum(a, c) y = s32[] maximum(b, d) "
    "ROOT r = (f32[], s32[]) tuple(x, y) } ";

TEST(DependenceTest, EveryResultOfAVariadicReduceReadsEveryOperand) {
  const Reading reading(
      absl::StrCat(kBoth,
                   "ENTRY e { p = f32[2,3] parameter(0) q = s32[2,3] parameter(1) "
                   "i = f32[] parameter(2) j = s32[] parameter(3) "
                   "ROOT t = reduce(p, q, i, j), dimensions={0}, to_apply=m }"));
  for (int64_t leaf : {0, 1}) {
    for (int64_t operand : {0, 1}) {
      EXPECT_THAT(reading.Of({2}, {leaf, operand, 0}), ElementsAre(Index{0, 2}, Index{1, 2}));
    }
    for (int64_t init : {2, 3}) {
      EXPECT_THAT(reading.Of({2}, {leaf, init, 0}), ElementsAre(Index{}));
    }
  }
}

TEST(DependenceTest, ReduceOfNothingReadsTheInit) {
  const Reading reading(absl::StrCat(kMaximum,
                                     "ENTRY e { p = f32[0,2] parameter(0) i = f32[] parameter(1) "
                                     "ROOT t = reduce(p, i), dimensions={0}, to_apply=m }"));
  EXPECT_EQ(reading.PairCount(0), 0u);
  EXPECT_EQ(reading.PairCount(1), 2u);
}

// (d0, d1)[s0] -> (d0, d1 + s0)
TEST(DependenceTest, ReduceWindowReadsTheWindow) {
  const Reading reading(absl::StrCat(kMaximum,
                                     "ENTRY e { p = f32[2,5] parameter(0) i = f32[] parameter(1) "
                                     "ROOT t = reduce-window(p, i), window={size=1x3}, "
                                     "to_apply=m }"));
  EXPECT_THAT(reading.Of({1, 2}, Parameter(0)), ElementsAre(Index{1, 2}, Index{1, 3}, Index{1, 4}));
  EXPECT_EQ(reading.PairCount(1), 6u);
}

TEST(DependenceTest, ReduceWindowSkipsHolesAndPadding) {
  const Reading reading(absl::StrCat(
      kMaximum,
      "ENTRY e { p = f32[4] parameter(0) i = f32[] parameter(1) ROOT t = reduce-window(p, i), "
      "window={size=3 stride=2 pad=1_0 lhs_dilate=2 rhs_dilate=2}, to_apply=m }"));
  // Padded: - 0 . 1 . 2 . 3; windows are 5 long at 0 and 2 and read positions 0, 2, 4: padding and
  // holes for the first, holes for the second.
  EXPECT_EQ(reading.PairCount(0), 0u);
  EXPECT_EQ(reading.PairCount(1), 2u);
}

TEST(DependenceTest, ReduceWindowReadsElementsBetweenHoles) {
  const Reading reading(absl::StrCat(
      kMaximum,
      "ENTRY e { p = f32[4] parameter(0) i = f32[] parameter(1) ROOT t = reduce-window(p, i), "
      "window={size=3 stride=3 pad=-1_1 lhs_dilate=2}, to_apply=m }"));
  // 0 . 1 . 2 . 3 without the first and padded: . 1 . 2 . 3 -; windows at 0 and 3.
  EXPECT_THAT(reading.Of({0}, Parameter(0)), ElementsAre(Index{1}));
  EXPECT_THAT(reading.Of({1}, Parameter(0)), ElementsAre(Index{2}, Index{3}));
}

TEST(DependenceTest, TuplesHaveOneLeafForEachArray) {
  const Reading reading(
      "ENTRY e { t = (f32[2], (f32[3], f32[4])) parameter(0) p = f32[2] parameter(1) "
      "g = (f32[3], f32[4]) get-tuple-element(t), index=1 ROOT r = tuple(p, g, p) }");
  EXPECT_THAT(reading.Of({1}, {0, 1, 0}), ElementsAre(Index{1}));
  EXPECT_THAT(reading.Of({3}, {2, 0, 2}), ElementsAre(Index{3}));
  EXPECT_THAT(reading.Of({1}, {3, 1, 0}), ElementsAre(Index{1}));
  EXPECT_THAT(reading.dependence().at({0, 0, 0}), IsEmpty());
  EXPECT_THAT(reading.dependence().at({1, 0, 2}), IsEmpty());
}

// p0 + transpose(p0)
TEST(DependenceTest, DiamondsReadTheUnion) {
  const Reading reading(
      "ENTRY e { p = f32[3,3] parameter(0) t = transpose(p), dimensions={1,0} "
      "ROOT r = add(p, t) }");
  EXPECT_THAT(reading.Of({0, 2}), ElementsAre(Index{0, 2}, Index{2, 0}));
  EXPECT_THAT(reading.Of({1, 1}), ElementsAre(Index{1, 1}));
}

TEST(DependenceTest, OneValuePassedTwiceIsTwoOperands) {
  constexpr absl::string_view kText =
      "f { a = f32[2] parameter(0) b = f32[2] parameter(1) c = reverse(b), dimensions={0} "
      "ROOT r = add(a, c) } "
      "ENTRY e { p = f32[2] parameter(0) ROOT r = fusion(p, p), kind=kLoop, calls=f }";
  const Reading whole(kText);
  EXPECT_THAT(whole.Of({0}), ElementsAre(Index{0}, Index{1}));

  auto module = ParseModule(kText);
  ASSERT_TRUE(module.ok()) << module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  const std::vector<Value> arguments = RandomArguments(entry, 0);
  auto execution = Execute(entry, Pointers(arguments), 0);
  ASSERT_TRUE(execution.ok()) << execution.status();
  auto fusion = DependenceOfInstruction(*entry.root_instruction(), *execution);
  ASSERT_TRUE(fusion.ok()) << fusion.status();
  EXPECT_EQ(fusion->at(Parameter(0)), (Relation{{0, 0}, {1, 1}}));
  EXPECT_EQ(fusion->at(Parameter(1)), (Relation{{0, 1}, {1, 0}}));
}

TEST(DependenceTest, CallsInsideFusionsAreLookedInto) {
  const Reading reading(
      "g { a = f32[4] parameter(0) i = s32[] parameter(1) "
      "ROOT r = dynamic-slice(a, i), dynamic_slice_sizes={2} } "
      "f { a = f32[4] parameter(0) i = s32[] parameter(1) j = s32[] add(i, i) "
      "x = f32[2] call(a, i), to_apply=g y = f32[2] call(a, j), to_apply=g "
      "ROOT r = (f32[2], f32[2]) tuple(x, y) } "
      "ENTRY e { p = f32[4] parameter(0) i = s32[] parameter(1) "
      "ROOT r = (f32[2], f32[2]) fusion(p, i), kind=kLoop, calls=f }",
      {1});
  EXPECT_THAT(reading.Of({0}, {0, 0, 0}), ElementsAre(Index{1}));
  EXPECT_THAT(reading.Of({0}, {1, 0, 0}), ElementsAre(Index{2}));
  EXPECT_THAT(reading.Of({1}, {1, 1, 0}), ElementsAre(Index{}));
}

TEST(DependenceTest, IotaAndReshapedConstantsAreKnown) {
  const Reading reading(
      "ENTRY e { p = f32[9] parameter(0) c = s32[1,2] constant({{2, 3}}) d = s32[2] reshape(c) "
      "i = s32[2] iota(), iota_dimension=0 j = s32[2] multiply(d, i) k = s32[2] subtract(j, i) "
      "ROOT r = gather(p, k), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={4} }");
  // Starts {2 * 0 - 0, 3 * 1 - 1}.
  EXPECT_THAT(reading.Of({0, 3}), ElementsAre(Index{3}));
  EXPECT_THAT(reading.Of({1, 3}), ElementsAre(Index{5}));
}

TEST(DependenceTest, EmptyArraysHaveNoPairs) {
  const Reading reading(
      "ENTRY e { p = f32[0,3] parameter(0) ROOT t = transpose(p), dimensions={1,0} }");
  EXPECT_EQ(reading.PairCount(0), 0u);
}

TEST(DependenceTest, ConverseExchangesAndSorts) {
  EXPECT_EQ(Converse({{0, 2}, {0, 5}, {1, 1}}), (Relation{{1, 1}, {2, 0}, {5, 0}}));
}

TEST(DependenceTest, OperationsWithoutADefinitionAreRefused) {
  auto module =
      ParseModule("ENTRY e { p = f32[2] parameter(0) ROOT r = f32[2]{0:SC(0:1)} bitcast(p) }");
  ASSERT_TRUE(module.ok()) << module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  const std::vector<Value> arguments = RandomArguments(entry, 0);
  auto dependence = DependenceOfComputation(entry, Pointers(arguments), 0);
  EXPECT_EQ(dependence.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(dependence.status().message()),
              ::testing::HasSubstr("layouts that are more than tiled"));
}

TEST(IntegersTest, WrapToTheirType) {
  EXPECT_EQ(WrapInteger(ElementType::kS8, 200), -56);
  EXPECT_EQ(WrapInteger(ElementType::kU8, -1), 255);
  EXPECT_EQ(WrapInteger(ElementType::kS4, 8), -8);
  EXPECT_EQ(WrapInteger(ElementType::kPred, 2), 1);
  EXPECT_EQ(WrapInteger(ElementType::kU64, -1), (Integer(1) << 64) - 1);
  EXPECT_EQ(LeastInteger(ElementType::kS16), -32768);
  EXPECT_EQ(GreatestInteger(ElementType::kS16), 32767);
  EXPECT_EQ(LeastInteger(ElementType::kU16), 0);
}

}  // namespace
}  // namespace xla_indexing::reference

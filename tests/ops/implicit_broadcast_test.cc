#include "xla_indexing/ops/implicit_broadcast.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImplicitBroadcastTest : public ::testing::Test {
 protected:
  ImplicitBroadcastTest() : context_(mlir::MLIRContext::Threading::DISABLED) {}

  static std::vector<Shape> Shapes(const std::vector<std::string>& texts) {
    std::vector<Shape> shapes;
    for (const std::string& text : texts) {
      absl::StatusOr<Shape> shape = ParseShape(text);
      EXPECT_TRUE(shape.ok()) << text << ": " << shape.status();
      if (shape.ok()) shapes.push_back(*std::move(shape));
    }
    return shapes;
  }

  BroadcastIndexing Indexing(const std::vector<Shape>& operands,
                             const absl::StatusOr<ImplicitBroadcast>& broadcast) {
    EXPECT_TRUE(broadcast.ok()) << broadcast.status();
    if (!broadcast.ok()) return {};
    return ComputeBroadcastIndexing(operands, *broadcast, &context_);
  }

  // A line for each map of an operand: `> MAP` to the operand, `< MAP` back, `label > MAP`.
  std::vector<std::string> Lines(const std::vector<std::string>& operands, size_t operand) {
    const std::vector<Shape> shapes = Shapes(operands);
    return LinesOf(Indexing(shapes, BroadcastLikeNumpy(shapes)), operand);
  }

  static std::vector<std::string> LinesOf(const BroadcastIndexing& indexing, size_t operand) {
    std::vector<std::string> lines;
    for (const BroadcastCase& one : indexing.operands[operand]) {
      const std::string label = one.Label().empty() ? "" : absl::StrCat(one.Label(), " ");
      for (const OperandIndexing& map : one.result_to_operand) {
        lines.push_back(absl::StrCat(label, "> ", map.MapToString()));
      }
      for (const OperandIndexing& map : one.operand_to_result) {
        lines.push_back(absl::StrCat(label, "< ", map.MapToString()));
      }
    }
    return lines;
  }

  mlir::MLIRContext context_;
};

TEST_F(ImplicitBroadcastTest, SameRank) {
  EXPECT_THAT(Lines({"f32[10,1]", "f32[1,5]"}, 0),
              ElementsAre("> (d0, d1) -> (d0, 0), domain: d0 in [0, 9], d1 in [0, 4]",
                          "< (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 9], d1 in [0, 0], s0 in "
                          "[0, 4]"));
  EXPECT_THAT(Lines({"f32[10,1]", "f32[1,5]"}, 1),
              ElementsAre("> (d0, d1) -> (0, d1), domain: d0 in [0, 9], d1 in [0, 4]",
                          "< (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 0], d1 in [0, 4], s0 in "
                          "[0, 9]"));
}

TEST_F(ImplicitBroadcastTest, Scalar) {
  EXPECT_THAT(Lines({"f32[]", "f32[1,5]"}, 0),
              ElementsAre("> (d0, d1) -> (), domain: d0 in [0, 0], d1 in [0, 4]",
                          "< ()[s0] -> (0, s0), domain: s0 in [0, 4]"));
  // A size of 1 is index 0 also where the result has it.
  EXPECT_THAT(Lines({"f32[]", "f32[1,5]"}, 1),
              ElementsAre("> (d0, d1) -> (0, d1), domain: d0 in [0, 0], d1 in [0, 4]",
                          "< (d0, d1) -> (0, d1), domain: d0 in [0, 0], d1 in [0, 4]"));
}

TEST_F(ImplicitBroadcastTest, DifferentRanks) {
  EXPECT_THAT(
      Lines({"f32[10,1]", "f32[6,8,1,5]"}, 0),
      ElementsAre("> (d0, d1, d2, d3) -> (d2, 0), domain: d0 in [0, 5], d1 in [0, 7], d2 in [0, "
                  "9], d3 in [0, 4]",
                  "< (d0, d1)[s0, s1, s2] -> (s0, s1, d0, s2), domain: d0 in [0, 9], d1 in [0, 0], "
                  "s0 in [0, 5], s1 in [0, 7], s2 in [0, 4]"));
  EXPECT_THAT(
      Lines({"f32[10,1]", "f32[6,8,1,5]"}, 1),
      ElementsAre("> (d0, d1, d2, d3) -> (d0, d1, 0, d3), domain: d0 in [0, 5], d1 in [0, 7], d2 "
                  "in [0, 9], d3 in [0, 4]",
                  "< (d0, d1, d2, d3)[s0] -> (d0, d1, s0, d3), domain: d0 in [0, 5], d1 in [0, 7], "
                  "d2 in [0, 0], d3 in [0, 4], s0 in [0, 9]"));
}

TEST_F(ImplicitBroadcastTest, DimensionsThatXlaIsTold) {
  const std::vector<Shape> shapes = Shapes({"f32[6,1]", "f32[6,8,9]"});
  EXPECT_THAT(LinesOf(Indexing(shapes, BroadcastLikeXla(shapes, {0, 2})), 0),
              ElementsAre("> (d0, d1, d2) -> (d0, 0), domain: d0 in [0, 5], d1 in [0, 7], d2 in "
                          "[0, 8]",
                          "< (d0, d1)[s0, s1] -> (d0, s0, s1), domain: d0 in [0, 5], d1 in [0, 0], "
                          "s0 in [0, 7], s1 in [0, 8]"));
}

TEST_F(ImplicitBroadcastTest, NothingIsReadForAResultWithoutElements) {
  EXPECT_THAT(Lines({"f32[1]", "f32[0]"}, 0), ElementsAre());
  EXPECT_THAT(Lines({"f32[1]", "f32[0]"}, 1), ElementsAre());
  EXPECT_THAT(Lines({"f32[3,1]", "f32[0]"}, 0), ElementsAre());
}

TEST_F(ImplicitBroadcastTest, SizesMayBeAsLargeAsTheyGet) {
  EXPECT_THAT(
      Lines({"f32[9223372036854775807]", "f32[1]"}, 1),
      ElementsAre("> (d0) -> (0), domain: d0 in [0, 9223372036854775806]",
                  "< (d0)[s0] -> (s0), domain: d0 in [0, 0], s0 in [0, 9223372036854775806]"));
}

TEST_F(ImplicitBroadcastTest, ADynamicSizeThatMayBeOneHasTwoCases) {
  EXPECT_THAT(
      Lines({"f32[?]", "f32[4]"}, 0),
      ElementsAre("dimension 0 has size 1 > (d0) -> (0), domain: d0 in [0, 3]",
                  "dimension 0 has size 1 < (d0)[s0] -> (s0), domain: d0 in [0, 0], s0 in [0, 3]",
                  "dimension 0 has size 4 > (d0) -> (d0), domain: d0 in [0, 3]",
                  "dimension 0 has size 4 < (d0) -> (d0), domain: d0 in [0, 3]"));
  EXPECT_THAT(
      Lines({"f32[?]", "f32[?]"}, 1),
      ElementsAre("dimension 0 has size 1 > (d0) -> (0), domain: d0 in [0, inf]",
                  "dimension 0 has size 1 < (d0)[s0] -> (s0), domain: d0 in [0, 0], s0 in [0, inf]",
                  "dimension 0 has the size of the result > (d0) -> (d0), domain: d0 in [0, inf]",
                  "dimension 0 has the size of the result < (d0) -> (d0), domain: d0 in [0, inf]"));
  EXPECT_THAT(
      Lines({"f32[<=5]", "f32[<=3]"}, 0),
      ElementsAre("dimension 0 has size 1 > (d0) -> (0), domain: d0 in [0, 2]",
                  "dimension 0 has size 1 < (d0)[s0] -> (s0), domain: d0 in [0, 0], s0 in [0, 2]",
                  "dimension 0 has the size of the result > (d0) -> (d0), domain: d0 in [0, 2]",
                  "dimension 0 has the size of the result < (d0) -> (d0), domain: d0 in [0, 2]"));
}

TEST_F(ImplicitBroadcastTest, ThereAreNoCasesWhereOneSizeDecides) {
  // The size of the result is that of operand 0, whatever it is.
  EXPECT_THAT(Lines({"f32[?]", "f32[1]"}, 0),
              ElementsAre("> (d0) -> (d0), domain: d0 in [0, inf]",
                          "< (d0) -> (d0), domain: d0 in [0, inf]"));
  EXPECT_THAT(Lines({"f32[<=5]"}, 0), ElementsAre("> (d0) -> (d0), domain: d0 in [0, 4]",
                                                  "< (d0) -> (d0), domain: d0 in [0, 4]"));
  // A bound of 1 leaves index 0 only.
  EXPECT_THAT(Lines({"f32[<=1]", "f32[<=5]"}, 0),
              ElementsAre("> (d0) -> (0), domain: d0 in [0, 4]",
                          "< (d0)[s0] -> (s0), domain: d0 in [0, 0], s0 in [0, 4]"));
}

TEST_F(ImplicitBroadcastTest, EachOpenDimensionDoublesTheCases) {
  const std::vector<Shape> shapes = Shapes({"f32[?,1,?]", "f32[2,3,4]"});
  const BroadcastIndexing indexing = Indexing(shapes, BroadcastLikeNumpy(shapes));
  std::vector<std::string> labels;
  for (const BroadcastCase& one : indexing.operands[0]) labels.push_back(one.Label());
  EXPECT_THAT(labels, ElementsAre("dimension 0 has size 1, dimension 2 has size 1",
                                  "dimension 0 has size 1, dimension 2 has size 4",
                                  "dimension 0 has size 2, dimension 2 has size 1",
                                  "dimension 0 has size 2, dimension 2 has size 4"));
  EXPECT_EQ(indexing.operands[1].size(), 1u);
}

TEST_F(ImplicitBroadcastTest, TooManyOpenDimensionsAreReadWhole) {
  std::string open = "f32[?";
  std::string fixed = "f32[2";
  for (int i = 1; i < 64; ++i) {
    absl::StrAppend(&open, ",?");
    absl::StrAppend(&fixed, i < 8 ? ",2" : ",1");
  }
  const std::vector<Shape> shapes = Shapes({absl::StrCat(open, "]"), absl::StrCat(fixed, "]")});
  const BroadcastIndexing indexing = Indexing(shapes, BroadcastLikeNumpy(shapes));
  ASSERT_EQ(indexing.operands[0].size(), 64u);
  const OperandIndexing& map = indexing.operands[0].back().result_to_operand.maps()[0];
  EXPECT_THAT(map.MapToString(), HasSubstr("over-approximate: of more than 6 dimensions"));
  // Dimensions 6 and 7; the 56 after them are of the size of the result, which they alone give.
  EXPECT_EQ(map.map().num_ranges(), 2);
}

// --- Sizes at run time, by brute force

// All sizes at run time that a dimension can have, up to 3.
std::vector<int64_t> RuntimeSizes(DimensionSize size) {
  if (size.IsStatic()) return {size.size};
  std::vector<int64_t> sizes;
  for (int64_t n = 0; n <= (size.IsUnbounded() ? 3 : size.size); ++n) sizes.push_back(n);
  return sizes;
}

// What the map of a case says where sizes at run time are these: pairs of the index it starts from,
// below `from`, and one that it reaches, below `to`.
std::set<std::pair<int64_t, int64_t>> Pairs(const OperandIndexingSet& set, int64_t from,
                                            int64_t to) {
  std::set<std::pair<int64_t, int64_t>> pairs;
  for (const OperandIndexing& indexing : set) {
    IndexingMap map = indexing.map();
    // Without bound there are more points than can be visited.
    map.mutable_dim(0).bounds = map.dims()[0].bounds.Intersect(Interval::Closed(0, from - 1));
    for (int i = 0; i < map.num_ranges(); ++i) {
      map.mutable_range(i).bounds = map.ranges()[i].bounds.Intersect(Interval::Closed(0, to - 1));
    }
    if (from == 0 || to == 0) continue;
    const absl::Status status = map.ForEachPoint(
        1000, [&](auto dims, auto, auto results) { pairs.emplace(dims[0], results[0]); });
    EXPECT_TRUE(status.ok()) << status;
  }
  return pairs;
}

// Every way to pick one of each.
template <typename T>
std::vector<std::vector<T>> Choices(const std::vector<std::vector<T>>& each) {
  std::vector<std::vector<T>> choices = {{}};
  for (const std::vector<T>& options : each) {
    std::vector<std::vector<T>> longer;
    for (const std::vector<T>& choice : choices) {
      for (const T& option : options) {
        longer.push_back(choice);
        longer.back().push_back(option);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

// The size of the result at run time: sizes other than 1 are all the same and one that the result
// may have. Empty where they are not, so that the operation is undefined.
std::optional<int64_t> ResultSize(const std::vector<int64_t>& runtime, DimensionSize result) {
  std::set<int64_t> others(runtime.begin(), runtime.end());
  others.erase(1);
  if (others.size() > 1) return std::nullopt;
  const int64_t size = others.empty() ? 1 : *others.begin();
  const std::vector<int64_t> allowed = RuntimeSizes(result);
  if (std::find(allowed.begin(), allowed.end(), size) == allowed.end()) return std::nullopt;
  return size;
}

TEST_F(ImplicitBroadcastTest, CasesAreWhatIsReadWhateverTheSizesAreAtRunTime) {
  const std::vector<std::string> sizes = {"f32[?]",   "f32[0]",   "f32[1]",   "f32[2]",  "f32[3]",
                                          "f32[<=0]", "f32[<=1]", "f32[<=2]", "f32[<=3]"};
  int64_t checked = 0;
  for (const std::vector<std::string>& texts : Choices<std::string>({sizes, sizes, sizes})) {
    const std::vector<Shape> shapes = Shapes(texts);
    const auto broadcast = BroadcastLikeNumpy(shapes);
    if (!broadcast.ok()) continue;
    const BroadcastIndexing indexing = ComputeBroadcastIndexing(shapes, *broadcast, &context_);
    std::vector<std::vector<int64_t>> runtime_sizes;
    for (const Shape& shape : shapes) {
      runtime_sizes.push_back(RuntimeSizes(DimensionSize::Of(shape, 0)));
    }
    for (const std::vector<int64_t>& runtime : Choices(runtime_sizes)) {
      const auto size = ResultSize(runtime, DimensionSize::Of(broadcast->result, 0));
      if (!size.has_value()) continue;
      for (size_t i = 0; i < runtime.size(); ++i) {
        std::set<std::pair<int64_t, int64_t>> expected;
        std::set<std::pair<int64_t, int64_t>> inverse;
        for (int64_t r = 0; r < *size; ++r) {
          expected.emplace(r, runtime[i] == 1 ? 0 : r);
          inverse.emplace(runtime[i] == 1 ? 0 : r, r);
        }
        int applicable = 0;
        for (const BroadcastCase& one : indexing.operands[i]) {
          const int64_t assumed = one.sizes.empty() ? runtime[i] : one.sizes[0].is_one ? 1 : *size;
          if (runtime[i] != assumed) continue;
          ++applicable;
          EXPECT_EQ(Pairs(one.result_to_operand, *size, runtime[i]), expected)
              << ::testing::PrintToString(texts) << ::testing::PrintToString(runtime) << i;
          EXPECT_EQ(Pairs(one.operand_to_result, runtime[i], *size), inverse)
              << ::testing::PrintToString(texts) << ::testing::PrintToString(runtime) << i;
        }
        EXPECT_GE(applicable, 1);
        checked += applicable;
      }
    }
  }
  EXPECT_GT(checked, 1000);
}

}  // namespace
}  // namespace xla_indexing

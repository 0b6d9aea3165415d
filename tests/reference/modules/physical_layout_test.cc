// Addresses in memory, and bitcasts between tiled layouts, against the formulas of XLA's page.
#include "xla_indexing/hlo/memory/physical_layout.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/reference/judge/tiled_layout.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {
namespace {

using internal::PhysicalIndices;
using internal::PhysicalLayoutOf;

using Numbers = std::vector<int64_t>;

const std::vector<std::string>& TileLists() {
  static const std::vector<std::string> lists = {
      "",         "(1)",        "(2)",           "(3)",       "(4)",         "(1,2)",
      "(2,1)",    "(2,2)",      "(2,3)",         "(3,2)",     "(2)(1)",      "(4)(2)",
      "(3)(2)",   "(2,4)(2,1)", "(4,2)(1,2)",    "(2,2)(3)",  "(2,2)(2,1)",  "(4)(2)(1)",
      "(*,2)",    "(*,3)",      "(*,2)(2,1)",    "(2,*,3)",   "(*,*,2)",     "(2,2,2)",
      "(2)(*,3)", "(3,2)(*,4)", "(4,4)(2,1)(2)", "(2,1,2,2)", "(4)(2)(2,1)", "(2,2)(2,*,3)"};
  return lists;
}

// All arrays of f32 of these sizes.
void ForEachLayout(const Numbers& sizes, const std::function<void(const Shape&)>& visit) {
  Numbers order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    for (const std::string& tiles : TileLists()) {
      const std::string text =
          absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]{", absl::StrJoin(order, ","),
                       tiles.empty() ? "" : ":T", tiles, "}");
      const auto shape = ParseShape(text);
      ASSERT_TRUE(shape.ok()) << text << shape.status();
      visit(*shape);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

void ForEachElement(const Shape& shape, const std::function<void(const Numbers&)>& visit) {
  int64_t count = 1;
  for (const int64_t size : shape.dimensions()) count *= size;
  Numbers index(shape.rank(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(index);
    for (int64_t dim = shape.rank(); dim-- > 0;) {
      if (++index[dim] < shape.dimension(dim)) break;
      index[dim] = 0;
    }
  }
}

const std::vector<Numbers>& SmallSizes() {
  static const std::vector<Numbers> all = [] {
    std::vector<Numbers> sizes = {{}};
    for (int64_t a = 0; a <= 7; ++a) sizes.push_back({a});
    for (int64_t a = 1; a <= 5; ++a) {
      for (int64_t b = 1; b <= 5; ++b) sizes.push_back({a, b});
    }
    for (const Numbers& three : {Numbers{1, 2, 3}, Numbers{2, 3, 4}, Numbers{3, 3, 2},
                                 Numbers{5, 1, 4}, Numbers{0, 2, 3}}) {
      sizes.push_back(three);
    }
    sizes.push_back({2, 3, 1, 2});
    return sizes;
  }();
  return all;
}

// Numbers as indices: what is asked of them is remembered.
struct CheckedNumbers {
  bool is_there = true;

  static PhysicalIndices<int64_t> Reshape(absl::Span<const int64_t> indices,
                                          absl::Span<const int64_t> from,
                                          absl::Span<const int64_t> to) {
    EXPECT_EQ(indices.size(), from.size());
    int64_t position = 0;
    int64_t count = 1;
    for (size_t i = 0; i < indices.size(); ++i) {
      EXPECT_TRUE(0 <= indices[i] && indices[i] < from[i]);
      position = position * from[i] + indices[i];
      count *= from[i];
    }
    PhysicalIndices<int64_t> result(to.size());
    for (size_t i = to.size(); i-- > 0;) {
      result[i] = position % to[i];
      position /= to[i];
      count /= to[i];
    }
    EXPECT_EQ(count, 1);
    return result;
  }
  static int64_t Pad(int64_t index, int64_t from, int64_t to) {
    EXPECT_LE(from, to);
    return index;
  }
  int64_t Unpad(int64_t index, int64_t from, int64_t to) {
    EXPECT_GE(from, to);
    is_there = is_there && index < to;
    return std::min(index, to - 1);
  }
  static int64_t Any(int64_t /*size*/) { return 0; }
};

TEST(PhysicalLayoutTest, ElementsLieWhereTheFormulasSay) {
  int64_t elements = 0;
  for (const Numbers& sizes : SmallSizes()) {
    ForEachLayout(sizes, [&](const Shape& shape) {
      const auto layout = PhysicalLayoutOf(shape);
      ASSERT_TRUE(layout.ok()) << shape.ToString() << layout.status();
      EXPECT_EQ(layout->positions, NumPositions(shape)) << shape.ToString();
      EXPECT_EQ(static_cast<int64_t>(layout->BufferBytes()), NumPositions(shape) * 4);
      std::set<int64_t> taken;
      ForEachElement(shape, [&](const Numbers& index) {
        const int64_t position = PositionOf(shape, index);
        EXPECT_EQ(PositionOf(*layout, index), position)
            << shape.ToString() << " at " << absl::StrJoin(index, ",");
        EXPECT_TRUE(taken.insert(position).second);
        EXPECT_TRUE(0 <= position && position < layout->positions);
        ++elements;
      });
      // Every place has its element, or is padding.
      CheckedNumbers algebra;
      for (int64_t position = 0; position < layout->positions; ++position) {
        algebra.is_there = true;
        const PhysicalIndices<int64_t> index = ToLogical(
            *layout, algebra.Reshape({position}, {layout->positions}, layout->sizes), algebra);
        EXPECT_EQ(algebra.is_there, taken.contains(position)) << shape.ToString();
        if (algebra.is_there) {
          EXPECT_EQ(PositionOf(shape, {index.begin(), index.end()}), position);
        }
      }
    });
  }
  EXPECT_GT(elements, 10000);
}

// A few bitcasts one after the other, all of buffers of one size.
TEST(PhysicalLayoutTest, BitcastsBetweenTiledLayoutsAreExact) {
  std::map<int64_t, std::vector<std::string>> by_positions;
  for (const Numbers& sizes : SmallSizes()) {
    ForEachLayout(sizes, [&](const Shape& shape) {
      by_positions[NumPositions(shape)].push_back(shape.ToString());
    });
  }
  std::vector<const std::vector<std::string>*> groups;
  groups.reserve(by_positions.size());
  for (const auto& [positions, shapes] : by_positions) groups.push_back(&shapes);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (int seed = 0; seed < Cases(1200); ++seed) {
    Random random(seed);
    const std::vector<std::string>& shapes = *random.Pick(groups);
    std::string text = absl::StrCat("ENTRY e {\n  x0 = ", random.Pick(shapes), " parameter(0)\n");
    const int64_t steps = random.Between(1, 3);
    for (int64_t i = 1; i <= steps; ++i) {
      absl::StrAppend(&text, i == steps ? "  ROOT x" : "  x", i, " = ", random.Pick(shapes),
                      " bitcast(x", i - 1, ")\n");
    }
    const absl::Status status = CheckModule(text + "}\n", seed, &context);
    ASSERT_TRUE(status.ok()) << status.message();
  }
}

// Elements that are wider or narrower, and others of which the layout says how wide they are.
TEST(PhysicalLayoutTest, BitcastsToOtherWidthsAreExact) {
  const std::vector<std::string> types = {"s8", "bf16", "f32", "s4", "u8"};
  const std::vector<int64_t> sizes = {1, 2, 3, 4, 5, 8};
  std::map<int64_t, std::vector<std::string>> by_bits;
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    Numbers dims;
    Numbers order;
    for (int64_t rank = random.Between(0, 3); rank > 0; --rank) {
      order.push_back(static_cast<int64_t>(dims.size()));
      dims.push_back(random.Pick(sizes));
    }
    random.Shuffle(&order);
    const std::string& tiles = random.Pick(TileLists());
    std::string text =
        absl::StrCat(random.Pick(types), "[", absl::StrJoin(dims, ","), "]{",
                     absl::StrJoin(order, ","), ":", tiles.empty() ? "" : "T", tiles,
                     random.OneIn(4) ? "E(8)" : "", tiles.empty() ? "S(1)" : "", "}");
    const auto shape = ParseShape(text);
    ASSERT_TRUE(shape.ok()) << text << shape.status();
    by_bits[NumPositions(*shape) * WidthOf(*shape)].push_back(text);
  }
  std::vector<const std::vector<std::string>*> groups;
  for (const auto& [bits, shapes] : by_bits) {
    if (shapes.size() > 5 && bits <= 4096) groups.push_back(&shapes);
  }
  ASSERT_GT(groups.size(), 5u);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (int seed = 0; seed < Cases(600); ++seed) {
    const std::vector<std::string>& shapes = *random.Pick(groups);
    const std::string text = absl::StrCat(
        "ENTRY e {\n  p = ", random.Pick(shapes), " parameter(0)\n  m = ", random.Pick(shapes),
        " bitcast(p)\n  ROOT r = ", random.Pick(shapes), " bitcast(m)\n}\n");
    const absl::Status status = CheckModule(text, seed, &context);
    ASSERT_TRUE(status.ok()) << status.message();
  }
}

}  // namespace
}  // namespace xla_indexing::reference

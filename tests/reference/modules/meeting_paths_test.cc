// Graphs in which many paths meet that lead the same elements to different places: slices, pads and
// concatenations of what slices, pads and concatenations have made, of arrays so small that a slice
// is often one element, with reshapes, transposes, broadcasts and sums over axes between them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/testing/seed.h"

namespace xla_indexing::reference {
namespace {

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(Seeded(seed)) {}

  // `steps` operations on one parameter of `sizes`, each of the last three values.
  std::string Text(const std::vector<int64_t>& sizes, int steps) {
    lines_ = absl::StrCat("add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n",
                          " ROOT s = f32[] add(a, b)\n}\n",
                          "ENTRY e {\n c = f32[] constant(0)\n v0 = ", ShapeText(sizes),
                          " parameter(0)\n");
    values_ = {sizes};
    while (steps > 0) {
      if (AddStep()) --steps;
    }
    lines_.insert(lines_.rfind('\n', lines_.size() - 2) + 1, " ROOT");
    return lines_ + "}\n";
  }

 private:
  using Sizes = std::vector<int64_t>;

  int64_t Draw(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  size_t DrawValue() {
    const auto count = static_cast<int64_t>(values_.size());
    return static_cast<size_t>(count - Draw(1, std::min<int64_t>(count, 3)));
  }
  static std::string ShapeText(const Sizes& sizes) {
    return absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]");
  }
  static int64_t Count(const Sizes& sizes) {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    return count;
  }

  bool Append(Sizes sizes, const std::string& operation) {
    if (Count(sizes) > 12) return false;
    absl::StrAppend(&lines_, " v", values_.size(), " = ", ShapeText(sizes), " ", operation, "\n");
    values_.push_back(std::move(sizes));
    return true;
  }

  bool AddStep() {
    const size_t a = DrawValue();
    const size_t b = DrawValue();
    const Sizes sizes = values_[a];
    const auto dim = static_cast<size_t>(Draw(0, static_cast<int64_t>(sizes.size()) - 1));
    switch (Draw(0, 10)) {
      case 0:
      case 1:
        return AddSlice(a, dim);
      case 2:
        return AddPad(a, dim);
      case 3:
      case 4:
        return AddConcatenate(a, b, dim);
      case 5:
        return sizes == values_[b] && a != b &&
               Append(sizes, absl::StrCat("add(v", a, ", v", b, ")"));
      case 6:
        return Append(sizes, absl::StrCat("reverse(v", a, "), dimensions={", dim, "}"));
      case 7:
        return AddTranspose(a);
      case 8:
        return AddBroadcast(a);
      case 9:
        return Draw(0, 2) == 0 && AddReduce(a, dim);
      default:
        return AddReshape(a);
    }
  }

  bool AddTranspose(size_t value) {
    std::vector<size_t> order(values_[value].size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    Sizes sizes;
    for (const size_t dim : order) sizes.push_back(values_[value][dim]);
    return sizes.size() > 1 &&
           Append(std::move(sizes), absl::StrCat("transpose(v", value, "), dimensions={",
                                                 absl::StrJoin(order, ","), "}"));
  }

  // One more axis.
  bool AddBroadcast(size_t value) {
    Sizes sizes = values_[value];
    if (sizes.size() > 2) return false;
    const int64_t axis = Draw(0, static_cast<int64_t>(sizes.size()));
    std::vector<int64_t> places;
    for (int64_t i = 0; i <= static_cast<int64_t>(sizes.size()); ++i) {
      if (i != axis) places.push_back(i);
    }
    sizes.insert(sizes.begin() + axis, Draw(1, 3));
    return Append(std::move(sizes), absl::StrCat("broadcast(v", value, "), dimensions={",
                                                 absl::StrJoin(places, ","), "}"));
  }

  bool AddReduce(size_t value, size_t dim) {
    Sizes sizes = values_[value];
    if (sizes.size() < 2) return false;
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    return Append(std::move(sizes),
                  absl::StrCat("reduce(v", value, ", c), dimensions={", dim, "}, to_apply=add"));
  }

  bool AddSlice(size_t value, size_t dim) {
    Sizes sizes = values_[value];
    std::vector<std::string> ranges;
    for (const int64_t size : sizes) ranges.push_back(absl::StrCat("[0:", size, "]"));
    const int64_t start = Draw(0, sizes[dim] - 1);
    const int64_t limit = Draw(start + 1, sizes[dim]);
    const int64_t stride = Draw(1, 5) == 1 ? 2 : 1;
    ranges[dim] = absl::StrCat("[", start, ":", limit, ":", stride, "]");
    sizes[dim] = (limit - start + stride - 1) / stride;
    return Append(sizes,
                  absl::StrCat("slice(v", value, "), slice={", absl::StrJoin(ranges, ", "), "}"));
  }

  bool AddPad(size_t value, size_t dim) {
    Sizes sizes = values_[value];
    std::vector<std::string> paddings(sizes.size(), "0_0");
    const int64_t low = Draw(-1, 2);
    const int64_t high = Draw(-1, 2);
    const int64_t interior = Draw(1, 5) == 1 ? 1 : 0;
    sizes[dim] += low + high + (sizes[dim] - 1) * interior;
    if (sizes[dim] < 1) return false;
    paddings[dim] = absl::StrCat(low, "_", high, "_", interior);
    return Append(sizes,
                  absl::StrCat("pad(v", value, ", c), padding=", absl::StrJoin(paddings, "x")));
  }

  bool AddConcatenate(size_t a, size_t b, size_t dim) {
    Sizes sizes = values_[a];
    Sizes rest = values_[b];
    if (rest.size() != sizes.size()) return false;
    sizes[dim] += rest[dim];
    rest[dim] = sizes[dim];
    return rest == sizes &&
           Append(sizes, absl::StrCat("concatenate(v", a, ", v", b, "), dimensions={", dim, "}"));
  }

  bool AddReshape(size_t value) {
    const int64_t count = Count(values_[value]);
    const int64_t major = Draw(1, count);
    if (count % major != 0) return false;
    Sizes sizes = Draw(0, 1) == 0 ? Sizes{count} : Sizes{major, count / major};
    return Append(sizes, absl::StrCat("reshape(v", value, ")"));
  }

  std::mt19937_64 random_;
  std::string lines_;
  std::vector<Sizes> values_;
};

void CheckGraphs(uint64_t first_seed, uint64_t count) {
  std::unique_ptr<mlir::MLIRContext> context;
  for (uint64_t i = 0; i < count; ++i) {
    // A context keeps what it has interned, so it is renewed now and then.
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const uint64_t seed = first_seed + i;
    const auto size = static_cast<int64_t>(2 + seed % 6);
    const std::string text = RandomGraph(seed).Text({size}, 4 + static_cast<int>(seed % 9));
    const absl::Status status = CheckModule(text, seed, context.get());
    ASSERT_TRUE(status.ok()) << status.message();
  }
}

class MeetingPathsTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(MeetingPathsTest, AgreeWithTheReference) { CheckGraphs(GetParam() * 500, 500); }

INSTANTIATE_TEST_SUITE_P(All, MeetingPathsTest, ::testing::Range<uint64_t>(0, 8));

// Rotations by one and by two, of which elements 1 and 3 come to element 0 on different ways, both
// through a slice of one element.
TEST(MeetingPathsTest, RotationsOfRotations) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(R"(ENTRY e {
  x0 = f32[4] parameter(0)
  h0 = f32[3] slice(x0), slice={[1:4]}
  l0 = f32[1] slice(x0), slice={[0:1]}
  r0 = f32[4] concatenate(h0, l0), dimensions={0}
  x1 = f32[4] add(x0, r0)
  h1 = f32[2] slice(x1), slice={[2:4]}
  l1 = f32[2] slice(x1), slice={[0:2]}
  r1 = f32[4] concatenate(h1, l1), dimensions={0}
  ROOT x2 = f32[4] add(x1, r1)
})",
                                          /*seed=*/0, &context);
  EXPECT_TRUE(status.ok()) << status;
}

// The last two of four elements come as one row of two to where all four have come in two rows. Which
// row an element is in is known of the two alone.
TEST(MeetingPathsTest, RowsOfSomeElements) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(R"(ENTRY e {
  zero = f32[] constant(0)
  x0 = f32[4] parameter(0)
  l0 = f32[2] slice(x0), slice={[0:2]}
  h0 = f32[2] slice(x0), slice={[2:4]}
  x1 = f32[4] concatenate(h0, l0), dimensions={0}
  r1 = f32[2,2] reshape(x1)
  r2 = f32[2,2] reverse(r1), dimensions={1}
  x2 = f32[4] reshape(r2)
  s2 = f32[2] slice(x2), slice={[0:4:2]}
  x3 = f32[4] pad(s2, zero), padding=0_1_1
  ROOT r3 = f32[2,2] reshape(x3)
})",
                                          /*seed=*/0, &context);
  EXPECT_TRUE(status.ok()) << status;
}

// Two paths come to the same indices of a row, one with even elements alone, the other with all.
TEST(MeetingPathsTest, RowsOfEvenElementsAndOfAll) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(R"(ENTRY e {
  v = f32[8] parameter(0)
  zero = f32[] constant(0)
  w = f32[4] slice(v), slice={[0:8:2]}
  z = f32[2,2] reshape(w)
  xa = f32[4] reshape(z)
  pa = f32[4] pad(xa, zero), padding=-4_1_1
  row = f32[1,2] slice(z), slice={[1:2],[0:2]}
  y = f32[2] reshape(row)
  b = f32[2,2] broadcast(y), dimensions={0}
  pb = f32[4] reshape(b)
  ROOT r = f32[4] add(pa, pb)
})",
                                          /*seed=*/0, &context);
  EXPECT_TRUE(status.ok()) << status;
}

// Two paths come to the same nine elements of p, one from the last third of the result alone. Rows of
// that third are no rows of another.
TEST(MeetingPathsTest, RowsOfTheLastThirdAndOfAnother) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(R"(ENTRY e {
  p = f32[3,3] parameter(0)
  zero = f32[] constant(0)
  flat = f32[9] reshape(p)
  rows = f32[3,3] reshape(flat)
  padded = f32[28,3] pad(rows, zero), padding=23_2x0_0
  a = f32[3,2,14] reshape(padded)
  places = f32[28] pad(flat, zero), padding=13_6
  third = f32[1,2,14] reshape(places)
  b = f32[3,2,14] pad(third, zero), padding=1_1x0_0x0_0
  ROOT r = f32[3,2,14] add(a, b)
})",
                                          /*seed=*/0, &context);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace xla_indexing::reference

#include "xla_indexing/gpu/threads/thread_mapping.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

class ThreadMappingTest : public ::testing::Test {
 protected:
  ThreadMappingTest() : context_(mlir::MLIRContext::Threading::DISABLED) {}

  std::string ParseError(absl::string_view text) {
    return std::string(ParseThreadMapping(text, &context_).status().message());
  }
  // The error of verifying a mapping for an array.
  std::string FitError(absl::string_view text, const Shape& shape) {
    return std::string(ParseThreadMapping(text, &context_).value().VerifyFor(shape).message());
  }
  // Every element by exactly one thread: by going through all points, and as CoverageOf says.
  void ExpectOnce(const absl::StatusOr<ThreadMapping>& mapping, const Shape& shape) {
    ASSERT_TRUE(mapping.ok()) << mapping.status();
    ASSERT_TRUE(mapping->VerifyFor(shape).ok()) << mapping->VerifyFor(shape);
    std::set<std::vector<int64_t>> elements;
    int64_t points = 0;
    const absl::Status status = mapping->map.ForEachPoint(
        1 << 24,
        [&](llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t> results) {
          ++points;
          elements.insert(results.vec());
        });
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(points, *shape.ElementCount()) << mapping->map.ToString();
    EXPECT_EQ(elements.size(), points) << mapping->map.ToString();
    EXPECT_TRUE(CoverageOf(*mapping, shape)->IsOnce()) << mapping->map.ToString();
  }

  mlir::MLIRContext context_;
};

const Shape kBatch = Shape::Array(ElementType::kF32, {6, 40, 50});

TEST_F(ThreadMappingTest, RowMajorLoopAsText) {
  EXPECT_EQ(RowMajorLoop(Shape::Array(ElementType::kF32, {1000}), {}, &context_)->map.ToString(),
            "(th_x, bl_x) -> (th_x + bl_x * 128), domain: th_x in [0, 127], bl_x in [0, 7], "
            "th_x + bl_x * 128 in [0, 999]");
}

TEST_F(ThreadMappingTest, ACoordinateHasASizeOf64Bits) {
  EXPECT_EQ(ParseError("(d0) -> (d0), domain: d0 in [0, 9223372036854775806]"), "");
  EXPECT_THAT(ParseError("(th_x, bl_x) -> (th_x), domain: th_x in [0, 1], bl_x in [0, "
                         "9223372036854775807]"),
              HasSubstr("bl_x is in [0, 9223372036854775807], which is more than int64 counts"));
}

TEST_F(ThreadMappingTest, BuildersComputeEveryElementOnce) {
  std::vector<Shape> shapes = {
      kBatch, Shape::Array(ElementType::kF32, {64, 32}), Shape::Array(ElementType::kF32, {1, 7}),
      Shape::Array(ElementType::kF32, {3, 0}), Shape::Array(ElementType::kF32, {33, 1, 65})};
  shapes.push_back(kBatch);
  Layout layout;
  layout.minor_to_major = {1, 2, 0};
  shapes.back().SetLayout(layout);
  for (const Shape& shape : shapes) {
    for (const LoopOptions& loop :
         {LoopOptions{}, LoopOptions{96, 6, 2}, LoopOptions{64, 4, 4}, LoopOptions{1, 1, 1}}) {
      ExpectOnce(RowMajorLoop(shape, loop, &context_), shape);
    }
    for (int64_t lanes = 0; lanes < shape.rank(); ++lanes) {
      ExpectOnce(TiledTranspose(shape, {lanes, (lanes + 1) % shape.rank()}, &context_), shape);
      ExpectOnce(TiledTranspose(shape, {lanes, (lanes + 1) % shape.rank(), 16, 16}, &context_),
                 shape);
    }
    for (const int64_t length : {1, 5, 50}) {
      if (*shape.ElementCount() % length != 0) continue;
      ExpectOnce(RowReduction(shape, {length, 32, 4, 1}, &context_), shape);
      ExpectOnce(RowReduction(shape, {length, 8, 3, 2}, &context_), shape);
      ExpectOnce(ColumnReduction(shape, {length, 32, 32}, &context_), shape);
      ExpectOnce(ColumnReduction(shape, {length, 7, 3}, &context_), shape);
    }
  }
  const Shape scalar = Shape::Scalar(ElementType::kF32);
  ExpectOnce(RowMajorLoop(scalar, {}, &context_), scalar);
}

TEST_F(ThreadMappingTest, ATiledTransposeReadsAndWritesInRows) {
  // r[i, j] = p[j, i]: lanes along i read rows of p, lanes along j write rows of r.
  const Shape shape = Shape::Array(ElementType::kF32, {64, 64});
  const OperandIndexing transposed(
      kPartsFit,
      IndexingMap::FromTensorSizes(
          mlir::AffineMap::get(
              2, 0, {mlir::getAffineDimExpr(1, &context_), mlir::getAffineDimExpr(0, &context_)},
              &context_),
          {64, 64})
          .value());
  const auto read = CoalescingAnalysis::Create(
      TiledTranspose(shape, {/*lanes=*/0, /*rows=*/1}, &context_).value(), shape);
  EXPECT_EQ(read->OfReads(transposed, shape).Efficiency(), 1);
  EXPECT_EQ(read->OfWrites().Efficiency(), 0.125);
  const auto write = CoalescingAnalysis::Create(
      TiledTranspose(shape, {/*lanes=*/1, /*rows=*/0}, &context_).value(), shape);
  EXPECT_EQ(write->OfWrites().Efficiency(), 1);
  EXPECT_EQ(write->OfReads(transposed, shape).Efficiency(), 0.125);
}

TEST_F(ThreadMappingTest, ReductionsGoAlongRowsOfMemory) {
  const Shape shape = Shape::Array(ElementType::kF32, {64, 256});
  for (const auto& mapping :
       {RowReduction(shape, {256}, &context_), RowReduction(shape, {256, 32, 4, 4}, &context_),
        ColumnReduction(shape, {256}, &context_)}) {
    const Coalescing reads = CoalescingAnalysis::Create(*mapping, shape)->OfWrites();
    EXPECT_EQ(reads.Efficiency(), 1) << mapping->map.ToString();
    EXPECT_EQ(reads.sectors, Interval::Point(64 * 256 * 4 / 32));
  }
}

TEST_F(ThreadMappingTest, NamesSayRoles) {
  const auto mapping = ParseThreadMapping(
      "(bl_x, th_y, th_x)[s0, vec] -> (th_x + th_y + bl_x + s0 + vec), domain: bl_x in [0, 1], "
      "th_y in [0, 2], th_x in [0, 3], s0 in [0, 4], vec in [0, 5]",
      &context_);
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_THAT(mapping->thread_dims, ::testing::ElementsAre(2, 1));
  EXPECT_THAT(mapping->block_dims, ::testing::ElementsAre(0));
  EXPECT_THAT(mapping->vector_ranges, ::testing::ElementsAre(1));
  EXPECT_EQ(mapping->ThreadsPerBlock(), 12);
  EXPECT_EQ(mapping->NumBlocks(), 2);
  const auto plain = ParseThreadMapping(
      "(d0, d1) -> (d0 + d1 * 4), domain: d0 in [0, 3], d1 in [0, 8]", &context_);
  EXPECT_EQ(plain->ThreadsPerBlock(), 4);
  EXPECT_EQ(plain->NumBlocks(), 9);
}

TEST_F(ThreadMappingTest, Errors) {
  EXPECT_THAT(ParseError("(th_x -> (th_x), domain: th_x in [0, 3]"), HasSubstr("1:7"));
  EXPECT_THAT(ParseError("(i) -> (i), domain: i in [0, 3]"), HasSubstr("th_x, th_y, th_z"));
  EXPECT_THAT(ParseError("(d0, d1, d2) -> (d0), domain: d0 in [0, 3], d1 in [0, 3], d2 in [0, 3]"),
              HasSubstr("d0 (the thread) and d1 (the block)"));
  EXPECT_THAT(ParseError("(d0) -> (d0), domain: d0 in [0, inf]"),
              HasSubstr("d0 is in [0, inf], which is more than int64 counts"));
  EXPECT_THAT(ParseError("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, inf]"),
              HasSubstr("not finite"));
  EXPECT_THAT(ParseError("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 1]"),
              HasSubstr("runtime variable"));
  EXPECT_THAT(ParseError("(d0)[vec] -> (d0 + vec), domain: d0 in [0, 3], vec in [0, 2000]"),
              HasSubstr("more than 1024 elements"));
  EXPECT_THAT(ParseError("(th_x, bl_x) -> (th_x + bl_x), domain: th_x in [0, 4611686018427387904], "
                         "bl_x in [0, 4611686018427387904]") +
                  FitError("(th_x, bl_x) -> (th_x), domain: th_x in [0, 31], bl_x in [0, 3]",
                           Shape::Array(ElementType::kF32, {4, 8})),
              HasSubstr("1 results, and f32[4,8] has rank 2"));
  EXPECT_THAT(
      FitError("(th_x) -> (th_x), domain: th_x in [0, 31]", Shape::Array(ElementType::kF32, {31})),
      HasSubstr("result 0 leaves dimension 0 of f32[31]"));
  EXPECT_THAT(FitError("(th_x) -> (th_x - 1), domain: th_x in [0, 31]",
                       Shape::Array(ElementType::kF32, {31})),
              HasSubstr("leaves"));
  const auto error = [&](const LoopOptions& loop) {
    return std::string(RowMajorLoop(kBatch, loop, &context_).status().message());
  };
  EXPECT_THAT(error({0, 1, 1}), HasSubstr("threads a block is 0"));
  EXPECT_THAT(error({2048, 1, 1}), HasSubstr("threads a block is 2048"));
  EXPECT_THAT(error({128, 3, 2}), HasSubstr("accesses of 2 elements do not make 3"));
  EXPECT_THAT(TiledTranspose(kBatch, {1, 1}, &context_).status().message(),
              HasSubstr("dimensions 1 and 1"));
  EXPECT_THAT(RowReduction(kBatch, {7}, &context_).status().message(), HasSubstr("rows of 7"));
  EXPECT_THAT(RowMajorLoop(Shape::Token(), {}, &context_).status().message(),
              HasSubstr("not an array"));
}

TEST_F(ThreadMappingTest, Coverage) {
  const Shape shape = Shape::Array(ElementType::kF32, {100});
  const auto of = [&](absl::string_view text) {
    return CoverageOf(*ParseThreadMapping(text, &context_), shape).value();
  };
  const auto counts = [](int64_t computed, int64_t computations) {
    return ThreadCoverage{Interval::Point(100), Interval::Point(computed),
                          Interval::Point(computations)};
  };
  // Every other element; all twice; the first 32 twice.
  EXPECT_EQ(of("(th_x) -> (th_x * 2), domain: th_x in [0, 49]"), counts(50, 50));
  EXPECT_EQ(of("(th_x, bl_x) -> (th_x), domain: th_x in [0, 99], bl_x in [0, 1]"),
            counts(100, 200));
  EXPECT_EQ(of("(th_x)[s0] -> (th_x + s0 * 32), domain: th_x in [0, 63], s0 in [0, 1]"),
            counts(96, 128));
}

}  // namespace
}  // namespace xla_indexing

#include "tests/testing/misuse.h"

#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/gpu/bank_conflicts.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"

namespace xla_indexing::internal {
namespace {

using ::testing::HasSubstr;
class GpuMisuseTest : public QueryMisuseTest {
 protected:
  ThreadMapping Threads(absl::string_view text) {
    return ParseThreadMapping(text, &context_).value();
  }
};

TEST_F(GpuMisuseTest, CoalescingIsOfArraysThatTheMapsFit) {
  const auto analysis = CoalescingAnalysis::OfLoop(Array({64}), {}, &context_);
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const OperandIndexing map = Map("(d0) -> (d0), domain: d0 in [0, 63]");
  EXPECT_TRUE(analysis->OfReads(map, Array({64})).IsExact());
  EXPECT_THAT(analysis->OfReads(map, Array({32})).reason,
              HasSubstr("has values in [0, 63], and the indices of dimension 0 of f32[32] are "
                        "[0, 31]"));
  EXPECT_THAT(analysis->OfReads(map, Array({8, 8})).reason, HasSubstr("1 results"));
  EXPECT_THAT(analysis->OfReads(map, Shape::Tuple({})).reason, HasSubstr("from array to array"));
  EXPECT_THAT(analysis->OfReads(Unbounded("[0, inf]"), Array({64})).reason, HasSubstr("[0, inf]"));
}

TEST_F(GpuMisuseTest, RequestsAreOfTheLaunch) {
  const auto analysis = CoalescingAnalysis::OfLoop(Array({64}), {}, &context_);
  const OperandIndexing map = Map("(d0) -> (d0), domain: d0 in [0, 63]");
  WarpRequest good;
  good.block = {0};
  const auto addresses = [&](const WarpRequest& request, const OperandIndexing* indexing,
                             const Shape& shape) {
    return analysis->AddressesOf(request, indexing, shape).status();
  };
  good.loops.resize(analysis->mapping().map.num_ranges());
  EXPECT_TRUE(addresses(good, &map, Array({64})).ok()) << addresses(good, &map, Array({64}));
  ExpectRefused(addresses(good, &map, Array({32})), "has values in [0, 63]");
  const OperandIndexing unknown = OperandIndexing::Unknown(&context_, "no idea");
  ExpectRefused(addresses(good, &unknown, Array({64})), "an unknown map has no addresses");
  WarpRequest request = good;
  request.block = {};
  ExpectRefused(addresses(request, &map, Array({64})), "a request of 0 block coordinates");
  request = good;
  request.symbols = {1};
  ExpectRefused(addresses(request, &map, Array({64})), "1 symbols");
  request = good;
  request.loops.push_back(7);
  ExpectRefused(addresses(request, &map, Array({64})), "loops");
  for (const int64_t thread : {int64_t{-32}, int64_t{1}, kGreatest, kLeast}) {
    request = good;
    request.first_thread = thread;
    ExpectRefused(addresses(request, &map, Array({64})), "a warp that begins at thread");
  }
  for (const int64_t base : {int64_t{-1}, int64_t{1}, kGreatest}) {
    request = good;
    request.base = base;
    ExpectRefused(addresses(request, &map, Array({64})), "a tensor that begins at place");
  }
}

TEST_F(GpuMisuseTest, OptionsOfCoalescingAreFinite) {
  const auto with = [](double factor) {
    CoalescingOptions options;
    options.factor = factor;
    return options.Verify();
  };
  EXPECT_TRUE(with(1).ok());
  for (const double factor : {0.0, -1.25, std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity()}) {
    ExpectRefused(with(factor), "should be a finite number of at least 1");
  }
  for (const int64_t number : {kLeast, int64_t{-1}, int64_t{0}, int64_t{3}, kGreatest}) {
    for (const auto member :
         {&CoalescingOptions::warp_size, &CoalescingOptions::sector_bytes,
          &CoalescingOptions::line_bytes, &CoalescingOptions::alignment_bytes}) {
      CoalescingOptions options;
      options.*member = number;
      ExpectRefused(options.Verify(), absl::StrCat(number));
    }
    for (const auto member :
         {&BankOptions::warp_size, &BankOptions::banks, &BankOptions::word_bytes}) {
      BankOptions options;
      options.*member = number;
      ExpectRefused(options.Verify(), absl::StrCat(number));
    }
  }
}

TEST_F(GpuMisuseTest, LaunchesHaveThreads) {
  const Shape array = Array({64, 64});
  for (const int64_t number : {kLeast, int64_t{-1}, int64_t{0}, kGreatest}) {
    EXPECT_FALSE(RowMajorLoop(array, {number, 1, 1}, &context_).ok()) << number;
    EXPECT_FALSE(RowMajorLoop(array, {128, number, number}, &context_).ok()) << number;
    EXPECT_FALSE(RowMajorLoop(array, {128, 1, number}, &context_).ok()) << number;
    EXPECT_FALSE(RowReduction(array, {number, 32, 4, 1}, &context_).ok()) << number;
    EXPECT_FALSE(RowReduction(array, {64, 32, 4, number}, &context_).ok()) << number;
    EXPECT_FALSE(ColumnReduction(array, {number, 32, 32}, &context_).ok()) << number;
    if (number != 0) {
      EXPECT_FALSE(TiledTranspose(array, {number, 1}, &context_).ok()) << number;
    }
  }
  EXPECT_FALSE(RowMajorLoop(Shape::Tuple({array}), {}, &context_).ok());
}

TEST_F(GpuMisuseTest, ThreadMappingsHaveFittingParts) {
  ThreadMapping good = Threads(
      "(th_x, bl_x) -> (th_x + bl_x * 32), domain: th_x in [0, 31], "
      "bl_x in [0, 1]");
  EXPECT_TRUE(good.VerifyFor(Array({64})).ok());
  ExpectRefused(good.VerifyFor(Array({63})), "result 0 leaves dimension 0 of f32[63]");
  ExpectRefused(good.VerifyFor(Array({64, 1})), "it has 1 results, and f32[64,1] has rank 2");
  ExpectRefused(CoverageOf(good, Array({63})).status(), "leaves dimension 0");
  ExpectRefused(CoverageOf(good, Array({})).status(), "has rank 0");
  ThreadMapping mapping = good;
  mapping.thread_dims = {5};
  ExpectRefused(mapping.Verify(), "dimension 5 of 2");
  mapping.thread_dims = {-1};
  ExpectRefused(mapping.Verify(), "dimension -1 of 2");
  mapping.thread_dims = {1};
  ExpectRefused(mapping.Verify(), "dimension");
  mapping.thread_dims = {};
  ExpectRefused(mapping.Verify(), "0 coordinates have 1 sizes");
  mapping = good;
  mapping.vector_ranges = {0};
  ExpectRefused(mapping.Verify(), "a vector range that is none of 0");
  for (const int64_t size : {int64_t{0}, int64_t{31}}) {
    mapping = good;
    mapping.thread_sizes = {size};
    ExpectRefused(mapping.Verify(), "dimension 0 is in [0, 31]");
  }
  for (const int64_t size : {kLeast, int64_t{-1}}) {
    mapping = good;
    mapping.thread_sizes = {size};
    ExpectRefused(mapping.Verify(), absl::StrCat("dimension 0 has size ", size));
  }
  mapping = good;
  mapping.thread_sizes = {kGreatest};
  mapping.block_sizes = {kGreatest};
  EXPECT_TRUE(mapping.Verify().ok());
  for (const absl::string_view text :
       {"(th_x) -> (th_x), domain: th_x in [0, inf]", "(th_x) -> (th_x), domain: th_x in [-inf, 3]",
        "(th_x)[s0] -> (th_x + s0), domain: th_x in [0, 3], s0 in [0, inf]",
        "(th_x)[vec] -> (th_x + vec), domain: th_x in [0, 3], vec in [-inf, inf]",
        "(th_x){rt0} -> (th_x + rt0), domain: th_x in [0, 3], rt0 in [0, 1]"}) {
    EXPECT_FALSE(ParseThreadMapping(text, &context_).ok()) << text;
  }
}

}  // namespace
}  // namespace xla_indexing::internal

#include "xla_indexing/gpu/bank_conflicts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/gpu/requests/request_meter.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

using ::testing::HasSubstr;

class BankConflictsTest : public ::testing::Test {
 protected:
  BankConflictsTest() : context_(mlir::MLIRContext::Threading::DISABLED) {}

  BankConflicts Of(absl::string_view accesses, const Shape& array,
                   const BankOptions& options = {}) {
    const auto conflicts =
        ComputeBankConflicts(ParseThreadMapping(accesses, &context_).value(), array, options);
    EXPECT_TRUE(conflicts.ok()) << conflicts.status();
    return conflicts.ok() ? *conflicts : BankConflicts();
  }
  static void Expect(const BankConflicts& conflicts, int64_t requests, int64_t wavefronts,
                     int64_t least) {
    EXPECT_EQ(conflicts.requests, Interval::Point(requests));
    EXPECT_EQ(conflicts.wavefronts, Interval::Point(wavefronts));
    EXPECT_EQ(conflicts.least_wavefronts, Interval::Point(least));
    EXPECT_TRUE(conflicts.IsExact());
  }

  mlir::MLIRContext context_;
};

// Words and wavefronts by definition, a byte after the other.
RequestCost CostByBytes(const std::vector<BitRun>& runs, int64_t banks, int64_t word_bytes,
                        const XorSwizzle& swizzle) {
  std::set<int64_t> words;
  for (const BitRun& run : runs) {
    for (int64_t byte = run.begin / 8; byte <= (run.end - 1) / 8; ++byte) {
      const int64_t bits = (byte >> swizzle.source) & ((int64_t{1} << swizzle.bits) - 1);
      words.insert((byte ^ (bits << swizzle.target)) / word_bytes);
    }
  }
  std::map<int64_t, int64_t> of_bank;
  int64_t most = 0;
  for (const int64_t word : words) most = std::max(most, ++of_bank[word % banks]);
  const auto count = static_cast<int64_t>(words.size());
  return {most, (count + banks - 1) / banks, count};
}

TEST(BankMeterTest, RunsOfAnyLengthAreCountedByTheirBytes) {
  constexpr XorSwizzle kSwizzles[] = {{}, {1, 0, 2}, {1, 2, 3}, {2, 0, 3}, {2, 1, 4}};
  for (const XorSwizzle& swizzle : kSwizzles) {
    for (const int64_t banks : {1, 2, 4}) {
      for (const int64_t word_bytes : {1, 4}) {
        const BankMeter meter(banks, word_bytes, swizzle);
        for (int64_t begin = 0; begin < 300; begin += 7) {
          for (const int64_t length : {1, 8, 63, 64, 200, 512, 1025}) {
            const std::vector<BitRun> runs = {{begin, begin + length},
                                              {begin + length + 5, begin + 2 * length + 300}};
            const RequestCost expected = CostByBytes(runs, banks, word_bytes, swizzle);
            ASSERT_EQ(meter.Measure(runs, 0), expected) << begin << " " << length << " " << banks;
          }
        }
      }
    }
  }
}

// 2^48 bytes are 2^46 words of 4 bytes.
TEST(BankMeterTest, LongRunsTakeNoTime) {
  const BankMeter meter(32, 4, {});
  const std::vector<BitRun> runs = {{0, int64_t{1} << 51}};
  EXPECT_EQ(meter.Measure(runs, 0).units, int64_t{1} << 41);
}

constexpr char kColumns[] = "(th_x)[s0] -> (th_x, s0), domain: th_x in [0, 31], s0 in [0, 31]";
constexpr char kRows[] = "(th_x)[s0] -> (s0, th_x), domain: th_x in [0, 31], s0 in [0, 31]";

TEST_F(BankConflictsTest, TilesOfATranspose) {
  const Shape tile = Shape::Array(ElementType::kF32, {32, 32});
  const Shape padded = Shape::Array(ElementType::kF32, {32, 33});
  Expect(Of(kRows, tile), 32, 32, 32);
  Expect(Of(kColumns, tile), 32, 32 * 32, 32);
  // Word 33 * lane + column is in bank lane + column.
  Expect(Of(kRows, padded), 32, 32, 32);
  Expect(Of(kColumns, padded), 32, 32, 32);
  // Bank column ^ lane.
  BankOptions swizzled;
  swizzled.swizzle = {5, 2, 7};
  Expect(Of(kRows, tile, swizzled), 32, 32, 32);
  Expect(Of(kColumns, tile, swizzled), 32, 32, 32);
  // Three bits: 8 different banks for 32 lanes.
  swizzled.swizzle = {3, 4, 7};
  Expect(Of(kColumns, tile, swizzled), 32, 32 * 4, 32);
}

// A column of 32 rows is in 4 tiles of 8 rows of 128 bytes: without a tile in 32 words of one bank.
// In tiles of 32 x 1 it is 32 words side by side.
TEST_F(BankConflictsTest, TiledLayouts) {
  Expect(Of(kColumns, *ParseShape("f32[32,32]{1,0:T(8,32)}")), 32, 32 * 32, 32);
  Expect(Of(kColumns, *ParseShape("f32[32,32]{1,0:T(32,1)}")), 32, 32, 32);
  Expect(Of(kRows, *ParseShape("f32[32,32]{1,0:T(32,1)}")), 32, 32 * 32, 32);
}

TEST_F(BankConflictsTest, WordsAndNotLanesConflict) {
  // All lanes want one word; two halves of words; 8 bytes a lane are two wavefronts.
  Expect(Of("(th_x) -> (th_x * 0), domain: th_x in [0, 31]", Shape::Array(ElementType::kF32, {1})),
         1, 1, 1);
  Expect(Of("(th_x) -> (th_x), domain: th_x in [0, 31]", Shape::Array(ElementType::kBF16, {32})), 1,
         1, 1);
  Expect(Of("(th_x) -> (th_x), domain: th_x in [0, 31]", Shape::Array(ElementType::kF64, {32})), 1,
         2, 2);
  // Every other word: 16 banks, twice each.
  Expect(Of("(th_x) -> (th_x * 2), domain: th_x in [0, 31]", Shape::Array(ElementType::kF32, {64})),
         1, 2, 1);
}

TEST_F(BankConflictsTest, AgreeWithACountOfSingleWords) {
  // Strides, widths and swizzles, by a table of banks.
  for (const int64_t stride : {1, 2, 3, 8, 32, 33, 48}) {
    for (const XorSwizzle& swizzle : {XorSwizzle{}, XorSwizzle{5, 2, 7}, XorSwizzle{2, 3, 8}}) {
      for (const auto& [type, bytes] :
           {std::pair(ElementType::kF32, 4), std::pair(ElementType::kS8, 1),
            std::pair(ElementType::kC64, 8)}) {
        int64_t wavefronts = 0;
        int64_t least = 0;
        for (int64_t s = 0; s < 20; ++s) {
          std::map<int64_t, std::set<int64_t>> of_bank;
          std::set<int64_t> words;
          for (int64_t lane = 0; lane < 32; ++lane) {
            for (int64_t i = 0; i < bytes; ++i) {
              const int64_t byte = (lane * stride + s * 5) * bytes + i;
              const int64_t mask = (int64_t{1} << swizzle.bits) - 1;
              const int64_t moved = byte ^ ((byte >> swizzle.source & mask) << swizzle.target);
              of_bank[moved / 4 % 32].insert(moved / 4);
              words.insert(moved / 4);
            }
          }
          size_t most = 0;
          for (const auto& [bank, in_bank] : of_bank) most = std::max(most, in_bank.size());
          wavefronts += static_cast<int64_t>(most);
          least += (static_cast<int64_t>(words.size()) + 31) / 32;
        }
        BankOptions options;
        options.swizzle = swizzle;
        Expect(Of(absl::StrCat("(th_x)[s0] -> (th_x * ", stride,
                               " + s0 * 5), domain: th_x in [0, 31], s0 in [0, 19]"),
                  Shape::Array(type, {2000}), options),
               20, wavefronts, least);
      }
    }
  }
}

// Elements of 8 bytes in tiles of 3 x 5, 30 elements to a pair of tiles, read by warps of 64
// through divisions that carry within a warp.
TEST_F(BankConflictsTest, SwizzledTilesAsWordsOneByOne) {
  int64_t wavefronts = 0;
  for (int64_t y = 0; y < 3; ++y) {
    for (int64_t s = 0; s < 17; ++s) {
      std::map<int64_t, std::set<int64_t>> of_bank;
      for (int64_t x = 0; x < 64; ++x) {
        const int64_t row = (y * 7 + s) / 4 % 26;
        const int64_t column = (x * 3 + s / 6 * 3) / 5 % 8;
        const int64_t place = (row / 3 * 2 + column / 5) * 15 + row % 3 * 5 + column % 5;
        for (int64_t byte = place * 8; byte < place * 8 + 8; ++byte) {
          const int64_t moved = byte ^ ((byte >> 7 & 7) << 4);
          of_bank[moved / 4 % 32].insert(moved / 4);
        }
      }
      size_t most = 0;
      for (const auto& [bank, words] : of_bank) most = std::max(most, words.size());
      wavefronts += static_cast<int64_t>(most);
    }
  }
  BankOptions options;
  options.warp_size = 64;
  options.swizzle = {3, 4, 7};
  // No request has more than 32 words: at most 8 columns of 2.
  Expect(Of("(th_x, th_y)[s0] -> (((th_y * 7 + s0) floordiv 4) mod 26, "
            "((th_x * 3 + s0 floordiv 6 * 3) floordiv 5) mod 8), "
            "domain: th_x in [0, 63], th_y in [0, 2], s0 in [0, 16]",
            *ParseShape("f64[26,8]{1,0:T(3,5)}"), options),
         51, wavefronts, 51);
}

TEST_F(BankConflictsTest, Errors) {
  const ThreadMapping mapping = *ParseThreadMapping(kRows, &context_);
  const Shape tile = Shape::Array(ElementType::kF32, {32, 32});
  const auto error = [&](const BankOptions& options, const Shape& shape) {
    return std::string(ComputeBankConflicts(mapping, shape, options).status().message());
  };
  BankOptions options;
  options.banks = 33;
  EXPECT_THAT(error(options, tile), HasSubstr("number of banks is 33"));
  options = {};
  options.swizzle = {3, 5, 7};
  EXPECT_THAT(error(options, tile), HasSubstr("a swizzle of 3 bits from 7 into 5"));
  options = {};
  options.warp_size = 31;
  EXPECT_THAT(error(options, tile), HasSubstr("warp size is 31"));
  EXPECT_THAT(error({}, Shape::Array(ElementType::kF32, {32, 31})), HasSubstr("result 1 leaves"));
}

}  // namespace
}  // namespace xla_indexing::internal

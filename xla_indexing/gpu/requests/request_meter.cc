#include "xla_indexing/gpu/requests/request_meter.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

int Log2(int64_t power_of_two) { return std::countr_zero(static_cast<uint64_t>(power_of_two)); }

// How many chunks of 2^log bits have a bit of runs that ascend.
struct ChunkCounter {
  int log;
  int64_t count = 0;
  int64_t next = 0;  // Chunks before it are counted.

  void Add(int64_t begin, int64_t end) {
    const int64_t first = std::max(begin >> log, next);
    next = ((end - 1) >> log) + 1;
    count += next - first;
  }
};

}  // namespace

SectorMeter::SectorMeter(int64_t sector_bytes, int64_t line_bytes)
    : sector_log_(Log2(sector_bytes)), line_log_(Log2(line_bytes)) {}

RequestCost SectorMeter::Measure(absl::Span<const BitRun> runs, int64_t shift) const {
  ChunkCounter bytes{3};
  ChunkCounter sectors{sector_log_ + 3};
  ChunkCounter lines{line_log_ + 3};
  for (const BitRun& run : runs) {
    const int64_t begin = run.begin + shift;
    const int64_t end = run.end + shift;
    bytes.Add(begin, end);
    sectors.Add(begin, end);
    lines.Add(begin, end);
  }
  return {sectors.count, CeilDiv(bytes.count, int64_t{1} << sector_log_), lines.count};
}

RequestCost SectorMeter::Most(int64_t lanes, int64_t width, BitRun extent) const {
  const auto chunks = [&](int log) {
    ChunkCounter all{log};
    all.Add(extent.begin, extent.end);
    return std::min(lanes * ((width >> log) + 2), all.count);
  };
  return {chunks(sector_log_ + 3), CeilDiv(chunks(3), int64_t{1} << sector_log_),
          chunks(line_log_ + 3)};
}

BankMeter::BankMeter(int64_t banks, int64_t word_bytes, const XorSwizzle& swizzle)
    : banks_(banks),
      word_log_(Log2(word_bytes)),
      swizzle_(swizzle),
      modulus_(std::max(8 * banks * word_bytes, int64_t{8} << (swizzle.source + swizzle.bits))) {}

int64_t BankMeter::Swizzled(int64_t byte) const {
  const int64_t mask = (int64_t{1} << swizzle_.bits) - 1;
  return byte ^ (((byte >> swizzle_.source) & mask) << swizzle_.target);
}

RequestCost BankMeter::Measure(absl::Span<const BitRun> runs, int64_t shift) const {
  // Bits of a byte stay together, so bytes are what is moved, within blocks of the modulus. A whole
  // block has all of its words, as many in each bank.
  const int64_t block = modulus_ >> 3;
  int64_t whole_blocks = 0;
  llvm::SmallVector<int64_t, 64> words;  // of the others
  int64_t next = 0;                      // Bytes before it are taken.
  for (const BitRun& run : runs) {
    int64_t byte = std::max((run.begin + shift) >> 3, next);
    next = ((run.end + shift - 1) >> 3) + 1;
    while (byte < next) {
      if (byte % block == 0 && next - byte >= block) {
        whole_blocks += (next - byte) / block;
        byte += (next - byte) / block * block;
        continue;
      }
      const int64_t word = Swizzled(byte) >> word_log_;
      if (words.empty() || words.back() != word) words.push_back(word);
      ++byte;
    }
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  llvm::SmallVector<int64_t, 32> of_bank(banks_);
  for (const int64_t word : words) ++of_bank[word & (banks_ - 1)];
  const int64_t words_of_blocks = whole_blocks * (block >> word_log_);
  const int64_t distinct = static_cast<int64_t>(words.size()) + words_of_blocks;
  return {*std::max_element(of_bank.begin(), of_bank.end()) + words_of_blocks / banks_,
          CeilDiv(distinct, banks_), distinct};
}

RequestCost BankMeter::Most(int64_t lanes, int64_t width, BitRun /*extent*/) const {
  const int64_t words = lanes * ((width >> (word_log_ + 3)) + 2);
  return {words, CeilDiv(words, banks_), words};
}

}  // namespace xla_indexing::internal

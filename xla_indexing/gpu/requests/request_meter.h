// What one warp-wide access costs, as a function of the addresses of its lanes.
//
// A request is a set of bits, those of the elements of its active lanes. A meter gives its cost,
// which is three numbers, and a modulus: moving all addresses by a multiple of the modulus does not
// change the cost.
//
//   SectorMeter   sectors and lines of global memory that have a byte of the request, and the least
//                 sectors that its distinct bytes fit in
//   BankMeter     wavefronts of shared memory: banks have one word a cycle, so that a request takes
//                 the greatest number of distinct words that it has in one bank; the least that its
//                 distinct words fit in; and the distinct words
//
// A vector access is one request with several elements a lane. (Hardware serves a shared-memory
// access of 8 or 16 bytes a lane in two or four parts. Their wavefronts add up to at least the
// number given here, and to exactly this number where no bank is asked for more than its share.)
//
// Example: 32 lanes that read 4 bytes each, 4 bytes apart from a multiple of 128: 4 sectors of 4 at
// least, 1 line. 4096 bytes apart: 32 sectors of 4 at least, 32 lines; as shared memory 32
// wavefronts of 1 at least.
#ifndef XLA_INDEXING_GPU_REQUESTS_REQUEST_METER_H_
#define XLA_INDEXING_GPU_REQUESTS_REQUEST_METER_H_

#include <compare>
#include <cstdint>

#include "absl/types/span.h"
#include "xla_indexing/gpu/requests/warp_request.h"

namespace xla_indexing::internal {

// Bits [begin, end).
struct BitRun {
  int64_t begin = 0;
  int64_t end = 0;

  friend auto operator<=>(const BitRun& a, const BitRun& b) = default;
};

class RequestMeter {
 public:
  virtual ~RequestMeter() = default;

  // The modulus in bits, a power of two.
  virtual int64_t modulus() const = 0;
  // The cost of the bits of `runs`, moved by `shift`. There is at least one run; runs ascend and do
  // not overlap; numbers are at least 0 and far from int64's end.
  virtual RequestCost Measure(absl::Span<const BitRun> runs, int64_t shift) const = 0;
  // An upper bound on the cost of `lanes` elements of this width, all within `extent`.
  virtual RequestCost Most(int64_t lanes, int64_t width, BitRun extent) const = 0;
};

// Sizes in bytes, powers of two.
class SectorMeter final : public RequestMeter {
 public:
  SectorMeter(int64_t sector_bytes, int64_t line_bytes);

  int64_t modulus() const override { return int64_t{8} << line_log_; }
  RequestCost Measure(absl::Span<const BitRun> runs, int64_t shift) const override;
  RequestCost Most(int64_t lanes, int64_t width, BitRun extent) const override;

 private:
  int sector_log_;  // of the bytes
  int line_log_;
};

class BankMeter final : public RequestMeter {
 public:
  // Banks and bytes of a word are powers of two.
  BankMeter(int64_t banks, int64_t word_bytes, const XorSwizzle& swizzle);

  int64_t modulus() const override { return modulus_; }
  RequestCost Measure(absl::Span<const BitRun> runs, int64_t shift) const override;
  RequestCost Most(int64_t lanes, int64_t width, BitRun extent) const override;

 private:
  int64_t Swizzled(int64_t byte) const;

  int64_t banks_;
  int word_log_;
  XorSwizzle swizzle_;
  int64_t modulus_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_REQUEST_METER_H_

// Hashes of small groups of numbers, for tables in hot loops.
#ifndef XLA_INDEXING_BASE_MIX_BITS_H_
#define XLA_INDEXING_BASE_MIX_BITS_H_

#include <cstdint>

namespace xla_indexing::internal {

// Every bit of x influences the low bits of the result: x is multiplied by an odd number, which
// mixes the high bits well, and folded. Several numbers are hashed as MixBits(MixBits(x) + y).
inline uint64_t MixBits(uint64_t x) {
  x *= 0x9E3779B97F4A7C15;
  return x ^ (x >> 32);
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_MIX_BITS_H_

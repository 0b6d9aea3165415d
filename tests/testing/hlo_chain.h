// Random chains of operations that move the elements of one array, as HLO text, and other chains
// for the same function.
//
//   Random random(1);
//   HloChain chain = RandomHloChain({2, 3, 5}, 8, kReindexings, random);
//   HloChain same = RewrittenHloChain(chain, 6, random);
//   ToHlo(chain)   // "f {\n  x0 = f32[6,5]{1,0} parameter(0)\n  x1 = .."

#ifndef XLA_INDEXING_TESTS_TESTING_HLO_CHAIN_H_
#define XLA_INDEXING_TESTS_TESTING_HLO_CHAIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/testing/random.h"

namespace xla_indexing {

using ChainSizes = std::vector<int64_t>;

// An array's sizes and its layout, minor to major.
struct ChainArray {
  ChainSizes sizes;
  ChainSizes layout;

  std::string ToString() const;
};

enum class ChainOpcode { kReshape, kBitcast, kTranspose, kReverse, kSlice, kPad, kConcatenate };

// One operation, from the array before it to the array after it.
struct ChainStep {
  ChainOpcode opcode = ChainOpcode::kReshape;
  ChainArray from;
  ChainArray to;
  ChainSizes dimensions;  // of a transpose and a reverse, and the one of a concatenation
  // For each dimension: start and stride of a slice; edges and interior of a pad, where `start` is
  // the low edge; how much stands before the array in a concatenation.
  ChainSizes start;
  ChainSizes end;
  ChainSizes stride;
};
using HloChain = std::vector<ChainStep>;

// Bits of the kinds of operations that a chain may have.
inline constexpr unsigned kReindexings = 1;  // reshape, bitcast, transpose, reverse
inline constexpr unsigned kCutting = 2;      // slice
inline constexpr unsigned kPlacing = 4;      // pad, concatenate

// A chain of `length` operations that begins with an array whose sizes are products of `factors`.
HloChain RandomHloChain(const ChainSizes& factors, int64_t length, unsigned kinds, Random& random);

// Steps that move every element back to where it came from; of reindexings, pads and
// concatenations.
HloChain InverseHloChain(const HloChain& chain);

// A chain for the same function: `changes` times, steps that commute change places, a step is split
// in two, or a pair of steps that cancel is put in.
HloChain RewrittenHloChain(HloChain chain, int64_t changes, Random& random);

// The chain as a computation of parameter(0).
std::string ToHlo(const HloChain& chain);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_HLO_CHAIN_H_

// Random numbers that are the same on every machine: the state is 64 bits, the distributions are
// written out here and not those of the standard library, which may differ.

#ifndef XLA_INDEXING_TESTS_TESTING_RANDOM_H_
#define XLA_INDEXING_TESTS_TESTING_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "tests/testing/seed.h"

namespace xla_indexing {

// A bijection of 64-bit numbers without visible pattern (the finalizer of SplitMix64).
inline uint64_t MixBits(uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(MixBits(Seeded(seed))) {}

  uint64_t Bits() { return MixBits(state_++); }

  // One of least, .., most.
  int64_t Between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(Bits() % static_cast<uint64_t>(most - least + 1));
  }

  // True once in n times.
  bool OneIn(int64_t n) { return Between(1, n) == 1; }

  // One of the elements of a container that is not empty.
  template <typename C>
  const auto& Pick(const C& container) {
    return container[Between(0, static_cast<int64_t>(std::size(container)) - 1)];
  }

  template <typename C>
  void Shuffle(C* container) {
    for (size_t i = container->size(); i > 1; --i) {
      std::swap((*container)[i - 1], (*container)[Between(0, static_cast<int64_t>(i) - 1)]);
    }
  }

 private:
  uint64_t state_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_RANDOM_H_

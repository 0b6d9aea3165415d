// Random tests draw the same cases on every run and every machine. XLA_INDEXING_SEED=7 in the
// environment makes all of them draw others, the same for every 7: whoever looks for faults that
// no test shows yet runs the tests with one number after another. A test that asks how many cases
// of many something holds for may miss its mark then, and the reference gives up on a map of too
// many points; nothing else may fail.
#ifndef XLA_INDEXING_TESTS_TESTING_SEED_H_
#define XLA_INDEXING_TESTS_TESTING_SEED_H_

#include <cstdint>
#include <cstdlib>

namespace xla_indexing {

// What a test that begins at `seed` begins at in this run.
inline uint64_t Seeded(uint64_t seed) {
  static const uint64_t shift = [] {
    const char* const text = std::getenv("XLA_INDEXING_SEED");
    return text == nullptr ? uint64_t{0} : std::strtoull(text, nullptr, 10);
  }();
  return seed + shift * 1000000007;
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_SEED_H_

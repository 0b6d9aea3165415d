// How many cases a test of properties tries.
#ifndef XLA_INDEXING_TESTS_TESTING_EFFORT_H_
#define XLA_INDEXING_TESTS_TESTING_EFFORT_H_

#include <cstddef>
#include <cstdint>

namespace xla_indexing {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XLA_INDEXING_IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define XLA_INDEXING_IS_SANITIZED 1
#endif

// Sanitizers, which make every case ten times slower and more, look for faults of memory and
// arithmetic that a part of the cases shows as well.
#ifdef XLA_INDEXING_IS_SANITIZED
inline constexpr int kOneCaseOf = 16;
#else
inline constexpr int kOneCaseOf = 1;
#endif
#undef XLA_INDEXING_IS_SANITIZED

constexpr int Cases(int cases) { return cases / kOneCaseOf; }
// The same for cases that take long each, of which a quarter is enough under sanitizers.
constexpr int LongCases(int cases) { return Cases(cases) / (kOneCaseOf == 1 ? 1 : 4); }

// Tells a loop over all cases which of them to try: every one, and under sanitizers the first one and then
// every 17th. The length of an inner loop is seldom a multiple of 17, so that cases of all kinds are tried.
//
//   CasesInTurn cases;
//   for (const Step& step : AllSteps()) {
//     if (cases.IsNextTried()) Check(step);
//   }
class CasesInTurn {
 public:
  bool IsNextTried() { return passed_++ % kStep == 0; }

 private:
  static constexpr int kStep = kOneCaseOf == 1 ? 1 : 17;
  int passed_ = 0;
};

// Tests that read every file of a corpus leave out longer ones, in bytes, under sanitizers.
inline constexpr size_t kLongestText = kOneCaseOf == 1 ? SIZE_MAX : 50'000;

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_EFFORT_H_

// How many cases a test of properties tries. The environment variable XLA_INDEXING_EFFORT chooses:
//
//   quick       a tenth of the cases; also where the variable is not set
//   third       a third of them
//   full        all of them
//   3, 10, ..   so many times all of the random cases, for whoever looks for faults
//
// Sanitizers make every case ten times slower and more, and look for faults of memory and arithmetic that
// a part of the cases shows as well: there, quick, third and full are all a sixteenth.
#ifndef XLA_INDEXING_TESTS_TESTING_EFFORT_H_
#define XLA_INDEXING_TESTS_TESTING_EFFORT_H_

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/numbers.h"

namespace xla_indexing {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XLA_INDEXING_IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define XLA_INDEXING_IS_SANITIZED 1
#endif
#ifdef XLA_INDEXING_IS_SANITIZED
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
#undef XLA_INDEXING_IS_SANITIZED

// What the environment asks for: one case of `one_of`, or all of them `times` over.
struct Effort {
  int times = 1;
  int one_of = 1;
};

inline std::string AskedEffort() {
  const char* const text = std::getenv("XLA_INDEXING_EFFORT");
  return text == nullptr || *text == '\0' ? "quick" : text;
}

inline Effort ChosenEffort() {
  static const Effort effort = [] {
    const std::string asked = AskedEffort();
    if (asked == "quick") return Effort{.one_of = kIsSanitized ? 16 : 10};
    if (asked == "third") return Effort{.one_of = kIsSanitized ? 16 : 3};
    if (asked == "full") return Effort{.one_of = kIsSanitized ? 16 : 1};
    int times = 0;
    if (absl::SimpleAtoi(asked, &times) && times >= 1 && times <= 1000) {
      return Effort{.times = times};
    }
    // A word that is not known must not make a test pass that was meant to be a longer one.
    std::cerr << "XLA_INDEXING_EFFORT is '" << asked
              << "': not quick, third, full, or a number up to 1000\n";
    std::exit(1);
  }();
  return effort;
}

inline bool IsFullEffort() { return ChosenEffort().one_of == 1; }

// Also of what a test expects to count: "EXPECT_GT(found, Cases(1000))".
inline int Cases(int cases) {
  const Effort effort = ChosenEffort();
  return static_cast<int>(int64_t{cases} * effort.times / effort.one_of);
}
// The same for cases that take long each, of which a quarter is enough under sanitizers.
inline int LongCases(int cases) { return Cases(cases) / (kIsSanitized && !IsFullEffort() ? 4 : 1); }

// Tells a loop over all cases which of them to try: every one; a third of them, by a hash of the number; and
// with less effort the first one and then every 11th (every 17th under sanitizers). The length of an inner
// loop is seldom a multiple of these, so that cases of all kinds are tried.
//
//   CasesInTurn cases;
//   for (const Step& step : AllSteps()) {
//     if (cases.IsNextTried()) Check(step);
//   }
class CasesInTurn {
 public:
  bool IsNextTried() {
    const uint64_t number = passed_++;
    if (one_of_ > 3) return number % (one_of_ + 1) == 0;
    return (number * 0x9E3779B97F4A7C15 >> 32) % one_of_ == 0;
  }

 private:
  const uint64_t one_of_ = static_cast<uint64_t>(ChosenEffort().one_of);
  uint64_t passed_ = 0;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_EFFORT_H_

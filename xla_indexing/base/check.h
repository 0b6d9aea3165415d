// Conditions that the caller of a function has to ensure, checked in every build.
//
// A function whose inputs can be wrong returns a Status. Some conditions are part of how a function
// is used, as that an index is less than a size. Where a look tells whether such a condition holds,
// it is checked in release builds too: a program that breaks it ends with a message instead of
// going on with meaningless numbers.
//
// Example:
//   Check(has_lower_, "Interval::lower() of an interval without a finite lower end");

#ifndef XLA_INDEXING_BASE_CHECK_H_
#define XLA_INDEXING_BASE_CHECK_H_

#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

// Writes the message to standard error and ends the program.
[[noreturn]] void CheckFailed(const char* message);

constexpr void Check(bool condition, const char* message) {
  if (!condition) [[unlikely]] {
    CheckFailed(message);
  }
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_BASE_CHECK_H_

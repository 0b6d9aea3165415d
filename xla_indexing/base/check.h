// Conditions that a caller of a function has to see to, checked in every build.
//
// A function whose inputs can be wrong returns a Status. Where a condition is part of how a
// function is used, as an index has to be less than a size, and a look tells whether it holds, the
// look stays in release builds: a program that breaks it ends with a message, rather than go on
// with numbers that mean nothing.
//
// Example:
//   Check(has_lower_, "Interval::lower() of an interval without a finite lower end");

#ifndef XLA_INDEXING_BASE_CHECK_H_
#define XLA_INDEXING_BASE_CHECK_H_

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

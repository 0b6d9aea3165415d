// Places in source text, and error messages that show them.
//
// A diagnostic is three lines, without a final newline:
//
//   FILE:LINE:COLUMN: error: what is wrong
//   <the source line>
//   <a caret below the place>
//
// Lines and columns count from 1; columns count bytes. Each byte of the source line is shown as one
// character: printable ASCII as it is, a tab as a space, any other byte as '?', so that the caret
// stands where it should and hostile text cannot control a terminal. A long line is cut to a window
// around the place, with "..." at each cut.
//
// Example: FormatDiagnostic("a.hlo", "x = f32[\n", 8, "expected a dimension") is
//
//   a.hlo:1:9: error: expected a dimension
//   x = f32[
//           ^

#ifndef XLA_INDEXING_BASE_DIAGNOSTIC_H_
#define XLA_INDEXING_BASE_DIAGNOSTIC_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

struct SourcePosition {
  int64_t line = 1;
  int64_t column = 1;

  friend bool operator==(const SourcePosition& a, const SourcePosition& b) {
    return a.line == b.line && a.column == b.column;
  }
};

// The place of the byte at `offset` in `buffer`; an offset past the end means the end. Lines
// end at '\n'. Reads the buffer up to `offset`.
SourcePosition PositionAt(absl::string_view buffer, size_t offset);

std::string FormatDiagnostic(absl::string_view file, absl::string_view buffer, size_t offset,
                             absl::string_view message, absl::string_view severity = "error");

// An overload for a caller that knows the position of `offset` already; it reads only the line that
// it shows. A caller that reports many errors in one buffer so counts the lines once in all.
std::string FormatDiagnostic(absl::string_view file, absl::string_view buffer, size_t offset,
                             SourcePosition position, absl::string_view message,
                             absl::string_view severity = "error");

}  // namespace xla_indexing

#endif  // XLA_INDEXING_BASE_DIAGNOSTIC_H_

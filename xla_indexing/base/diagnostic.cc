#include "xla_indexing/base/diagnostic.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace xla_indexing {
namespace {

// At most this many bytes of the source line are shown before and after the place.
constexpr size_t kBytesBefore = 80;
constexpr size_t kBytesAfter = 60;

void AppendPrintable(absl::string_view text, std::string* out) {
  for (const char c : text) {
    if (c == '\t') {
      out->push_back(' ');
    } else {
      out->push_back(c >= 0x20 && c < 0x7f ? c : '?');
    }
  }
}

}  // namespace

SourcePosition PositionAt(absl::string_view buffer, size_t offset) {
  const absl::string_view before = buffer.substr(0, std::min(offset, buffer.size()));
  SourcePosition position;
  position.line += std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  const size_t line_begin = newline == absl::string_view::npos ? 0 : newline + 1;
  position.column += static_cast<int64_t>(before.size() - line_begin);
  return position;
}

std::string FormatDiagnostic(absl::string_view file, absl::string_view buffer, size_t offset,
                             absl::string_view message, absl::string_view severity) {
  return FormatDiagnostic(file, buffer, offset, PositionAt(buffer, offset), message, severity);
}

std::string FormatDiagnostic(absl::string_view file, absl::string_view buffer, size_t offset,
                             SourcePosition position, absl::string_view message,
                             absl::string_view severity) {
  const size_t at = std::min(offset, buffer.size());
  const auto column_index = static_cast<size_t>(std::max<int64_t>(position.column - 1, 0));
  const size_t line_begin = at - std::min(at, column_index);

  const bool cut_before = at - line_begin > kBytesBefore;
  const size_t begin = cut_before ? at - kBytesBefore : line_begin;
  absl::string_view rest = buffer.substr(at, kBytesAfter + 2);
  const size_t newline = rest.find('\n');
  if (newline != absl::string_view::npos) rest = rest.substr(0, newline);
  if (!rest.empty() && rest.back() == '\r') rest.remove_suffix(1);
  const bool cut_after = rest.size() > kBytesAfter;
  if (cut_after) rest = rest.substr(0, kBytesAfter);

  std::string out =
      absl::StrCat(file, ":", position.line, ":", position.column, ": ", severity, ": ");
  AppendPrintable(message, &out);
  out.push_back('\n');
  if (cut_before) out.append("...");
  AppendPrintable(buffer.substr(begin, at - begin), &out);
  AppendPrintable(rest, &out);
  if (cut_after) out.append("...");
  out.push_back('\n');
  out.append((cut_before ? 3 : 0) + (at - begin), ' ');
  out.push_back('^');
  return out;
}

}  // namespace xla_indexing

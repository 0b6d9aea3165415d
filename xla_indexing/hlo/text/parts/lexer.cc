#include "xla_indexing/hlo/text/parts/lexer.h"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace xla_indexing::internal {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool Lexer::KeepError(const char* position, absl::string_view message) {
  if (!failed_) {
    failed_ = true;
    error_message_ = std::string(message);
    error_offset_ = OffsetOf(position);
  }
  return false;
}

bool Lexer::FailFound(absl::string_view expected) {
  constexpr size_t kLongestShown = 40;
  SkipSpace();
  if (position_ == end_) return Fail("expected ", expected, ", found the end of the text");
  // Shows the word that stands here, or one character.
  const char* stop = position_;
  while (stop < end_ && IsNameCharacter(*stop)) ++stop;
  if (stop == position_) ++stop;
  absl::string_view found(position_, stop - position_);
  const bool cut = found.size() > kLongestShown;
  found = found.substr(0, kLongestShown);
  if (!absl::ascii_isprint(static_cast<unsigned char>(found[0]))) {
    return Fail("expected ", expected, ", found a byte that is no printable character");
  }
  return Fail("expected ", expected, ", found '", found, cut ? "..." : "", "'");
}

bool Lexer::FailExpectedQuoted(absl::string_view text) { return FailExpected("'", text, "'"); }

bool Lexer::SkipComment() {
  if (end_ - position_ < 2) return false;
  if (position_[1] == '/') {
    const void* newline = std::memchr(position_, '\n', end_ - position_);
    position_ = newline == nullptr ? end_ : static_cast<const char*>(newline) + 1;
    return true;
  }
  if (position_[1] != '*') return false;
  const size_t close = absl::string_view(position_, end_ - position_).find("*/", 2);
  if (close == absl::string_view::npos) {
    Fail("this comment is not closed");
    position_ = end_;
  } else {
    position_ += close + 2;
  }
  return true;
}

char Lexer::PeekSecond() {
  SkipSpace();
  const char* const start = position_;
  if (position_ < end_) ++position_;
  const char second = Peek();
  position_ = start;
  return second;
}

bool Lexer::Consume(absl::string_view text) {
  SkipSpace();
  if (absl::string_view(position_, end_ - position_).substr(0, text.size()) != text) return false;
  position_ += text.size();
  return true;
}

absl::string_view Lexer::ReadWord() {
  SkipSpace();
  const char* const start = position_;
  if (start == end_ || !IsNameStart(*start)) return {};
  const char* stop = start + 1;
  while (stop != end_ && IsNameCharacter(*stop)) ++stop;
  position_ = stop;
  return TextSince(start);
}

bool Lexer::ReadName(absl::string_view what, absl::string_view* name) {
  SkipSpace();
  const char* const start = position_;
  ConsumeRaw('%');
  if (IsNameStart(PeekRaw())) {
    *name = ReadWord();
    return true;
  }
  position_ = start;
  return FailExpected(what);
}

bool Lexer::ReadInteger(absl::string_view what, int64_t* value) {
  SkipSpace();
  const auto [stop, error] = std::from_chars(position_, end_, *value);
  if (error == std::errc::result_out_of_range) return Fail(what, " does not fit 64 bits");
  if (error != std::errc()) return FailExpected(what);
  position_ = stop;
  return true;
}

bool Lexer::ReadBool(bool* value) {
  SkipSpace();
  const char* const start = position_;
  const absl::string_view word = ReadWord();
  if (word == "true" || (word.empty() && ConsumeRaw('1'))) {
    *value = true;
    if (!IsDigit(PeekRaw())) return true;
  } else if (word == "false" || (word.empty() && ConsumeRaw('0'))) {
    *value = false;
    if (!IsDigit(PeekRaw())) return true;
  }
  position_ = start;
  return FailExpected("'true' or 'false'");
}

bool Lexer::SkipString() {
  const char* const start = position_;
  const char quote = *position_++;
  while (position_ < end_ && *position_ != quote) {
    position_ += *position_ == '\\' && end_ - position_ > 1 ? 2 : 1;
  }
  if (position_ == end_) return FailAt(start, "this string is not closed");
  ++position_;
  return true;
}

bool Lexer::ReadString(absl::string_view* raw) {
  const char quote = Peek();
  if (quote != '"' && quote != '\'') return FailExpected("a string");
  const char* const start = position_;
  if (!SkipString()) return false;
  *raw = absl::string_view(start + 1, position_ - start - 2);
  return true;
}

bool Lexer::ReadBraces(absl::string_view* raw) {
  if (Peek() != '{') return FailExpected("'{'");
  const char* const start = position_;
  int64_t depth = 0;
  while (position_ < end_) {
    const char c = *position_;
    if (c == '"') {
      if (!SkipString()) return false;
      continue;
    }
    ++position_;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) {
      *raw = TextSince(start);
      return true;
    }
  }
  return FailAt(start, "this brace is not closed");
}

bool Lexer::ReadUntilSpace(absl::string_view* raw) {
  SkipSpace();
  const char* const start = position_;
  int64_t depth = 0;
  while (position_ < end_) {
    const char c = *position_;
    absl::string_view inside;
    if (c == '{') {
      if (!ReadBraces(&inside)) return false;
      continue;
    }
    if (c == '"' || c == '\'') {
      if (!SkipString()) return false;
      continue;
    }
    const bool is_space = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (depth == 0 && (is_space || c == ',' || c == '}' || c == ')' || c == ']')) break;
    if (c == '}') break;
    const bool is_comment = c == '/' && (PeekRaw(1) == '/' || PeekRaw(1) == '*');
    if (is_comment && depth == 0) break;
    if (is_comment && SkipComment()) {
      if (failed_) return false;
      continue;
    }
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    ++position_;
  }
  if (depth != 0) return FailAt(start, "the brackets of this value are not balanced");
  if (position_ == start) return FailExpected("a value");
  *raw = TextSince(start);
  return true;
}

bool Lexer::ReadUntilComma(absl::string_view* raw) {
  SkipSpace();
  const char* const start = position_;
  const char* last = position_;  // Past the last character that belongs to the text.
  int64_t depth = 0;
  while (position_ < end_) {
    const char c = *position_;
    if (c == '"' || c == '\'') {
      if (!SkipString()) return false;
      last = position_;
      continue;
    }
    if (c == '/' && SkipComment()) {
      if (failed_) return false;
      // A comment to the end of the line ends the line.
      if (depth == 0 && position_[-1] == '\n') break;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '\n')) break;
    if (c == ')' || c == ']' || c == '}') {
      if (depth == 0) break;
      --depth;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    ++position_;
    if (c != ' ' && c != '\t' && c != '\r') last = position_;
  }
  if (depth != 0) return FailAt(start, "the brackets of this value are not balanced");
  position_ = last;
  if (last == start) return FailExpected("a value");
  *raw = TextSince(start);
  return true;
}

}  // namespace xla_indexing::internal

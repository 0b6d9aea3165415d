// The lexical level of HLO text: a cursor over a memory buffer.
//
// The characters of a token can mean different tokens in different contexts (`1_1x1_1` is padding,
// `01bf` are labels, `<=` a bound or a device list), so the cursor does not cut the text into
// tokens ahead of time: the parser asks for what may come next. White space and comments (line
// comments and block comments) are skipped before each of the Peek, Consume, Expect and Read calls,
// unless said otherwise.
//
// Every reading function returns false where the text is something else. The first error is kept,
// with its place, and what comes after it does not replace it.

#ifndef XLA_INDEXING_HLO_TEXT_PARTS_LEXER_H_
#define XLA_INDEXING_HLO_TEXT_PARTS_LEXER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace xla_indexing::internal {

// The deepest nesting of tuples, literals, nested operands and computations that is read.
inline constexpr int kMaxParseDepth = 256;

class Lexer {
 public:
  // Reads `text`, which begins `base_offset` bytes after the beginning of its file.
  explicit Lexer(absl::string_view text, size_t base_offset = 0)
      : begin_(text.data()),
        position_(text.data()),
        end_(text.data() + text.size()),
        base_offset_(base_offset) {}

  // Keeps an error that was found at `position` (by default where the cursor stands), whose message is
  // the parts one after the other. Returns false.
  template <typename... Parts>
  bool Fail(const Parts&... parts) {
    return FailAt(position_, parts...);
  }
  template <typename... Parts>
  bool FailAt(const char* position, const Parts&... parts) {
    return KeepError(position, absl::StrCat(parts...));
  }
  // Fails with "expected <what>, found ..." and shows what stands at the cursor.
  template <typename... Parts>
  bool FailExpected(const Parts&... what) {
    return FailFound(absl::StrCat(what...));
  }

  bool failed() const { return failed_; }
  const std::string& error_message() const { return error_message_; }
  size_t error_offset() const { return error_offset_; }

  const char* position() const { return position_; }
  void SetPosition(const char* position) { position_ = position; }
  size_t OffsetOf(const char* position) const { return base_offset_ + (position - begin_); }
  // The number of bytes from the cursor to the end.
  size_t Remaining() const { return end_ - position_; }
  // The text from `start` to the cursor.
  absl::string_view TextSince(const char* start) const {
    return absl::string_view(start, position_ - start);
  }

  // Moves to the next character that is neither white space nor part of a comment.
  void SkipSpace() {
    while (position_ < end_) {
      const char c = *position_;
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++position_;
      } else if (c != '/' || !SkipComment()) {
        return;
      }
    }
  }

  // Where what comes next begins: the cursor after SkipSpace.
  const char* NextPosition() {
    SkipSpace();
    return position_;
  }
  bool AtEnd() {
    SkipSpace();
    return position_ == end_;
  }
  // The next character; '\0' at the end.
  char Peek() {
    SkipSpace();
    return PeekRaw();
  }
  // The character at the cursor itself, and the one `ahead` of it; '\0' past the end.
  char PeekRaw() const { return position_ < end_ ? *position_ : '\0'; }
  char PeekRaw(ptrdiff_t ahead) const { return end_ - position_ > ahead ? position_[ahead] : '\0'; }
  // The first character after the next one, `ahead` of space: what follows a `{`.
  char PeekSecond();

  bool Consume(char c) {
    if (Peek() != c || position_ == end_) return false;
    ++position_;
    return true;
  }
  bool ConsumeRaw(char c) {
    if (position_ == end_ || *position_ != c) return false;
    ++position_;
    return true;
  }
  bool Consume(absl::string_view text);
  // As Consume, but it is an error if something else stands there.
  bool Expect(char c) { return Consume(c) || FailExpectedQuoted(absl::string_view(&c, 1)); }
  bool Expect(absl::string_view text) { return Consume(text) || FailExpectedQuoted(text); }
  // `open`, what `read()` reads any number of times with commas between, and `close`.
  template <typename Read>
  bool ReadList(char open, char close, Read read) {
    return Expect(open) && (Consume(close) || (ReadSeparated(read) && Expect(close)));
  }
  // What `read()` reads, once or several times with commas between.
  template <typename Read>
  bool ReadSeparated(Read read) {
    do {
      if (!read()) return false;
    } while (Consume(','));
    return true;
  }

  // Whether a name can begin with, or go on with, a character.
  static bool IsNameStart(char c) {
    return (kCharacterClasses[static_cast<uint8_t>(c)] & kStartsName) != 0;
  }
  static bool IsNameCharacter(char c) {
    return (kCharacterClasses[static_cast<uint8_t>(c)] & kContinuesName) != 0;
  }
  // Whether all of a text is a name.
  static bool IsName(absl::string_view text) {
    return !text.empty() && IsNameStart(text[0]) && absl::c_all_of(text, IsNameCharacter);
  }

  // `[A-Za-z_][A-Za-z0-9_.-]*`, an attribute's name, an opcode, a word. Empty if none stands here;
  // no error.
  absl::string_view ReadWord();
  // The name of an instruction or computation, with or without `%` before it.
  bool ReadName(absl::string_view what, absl::string_view* name);
  // A decimal integer, with or without `-` before it.
  bool ReadInteger(absl::string_view what, int64_t* value);
  // `true`, `false`, `1` or `0`.
  bool ReadBool(bool* value);
  // A string in double or single quotes; gives the text between them with its escapes untouched.
  bool ReadString(absl::string_view* raw);
  // `{ .. }` with balanced braces, of which only strings in double quotes and braces are read;
  // gives the text with the braces.
  bool ReadBraces(absl::string_view* raw);
  // Text up to a comma, line end or closing bracket outside all brackets and strings; without the
  // white space and comments at its end. An error if there is none.
  bool ReadUntilComma(absl::string_view* raw);
  // Text up to white space, a comma, or a closing bracket outside all brackets and strings: in braces as
  // ReadBraces, in other brackets as ReadUntilComma. An error if there is none.
  bool ReadUntilSpace(absl::string_view* raw);

 private:
  bool KeepError(const char* position, absl::string_view message);
  bool FailFound(absl::string_view expected);
  bool FailExpectedQuoted(absl::string_view text);

  static constexpr uint8_t kStartsName = 1;
  static constexpr uint8_t kContinuesName = 2;
  static constexpr std::array<uint8_t, 256> kCharacterClasses = [] {
    std::array<uint8_t, 256> classes{};
    for (int c = 0; c < 256; ++c) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
      const bool digit = c >= '0' && c <= '9';
      if (letter) classes[c] |= kStartsName;
      if (letter || digit || c == '.' || c == '-') classes[c] |= kContinuesName;
    }
    return classes;
  }();

  // Skips a comment that begins at the cursor; false if none does.
  bool SkipComment();
  // Moves past a string that begins at the cursor.
  bool SkipString();

  const char* begin_;
  const char* position_;
  const char* end_;
  size_t base_offset_;
  bool failed_ = false;
  std::string error_message_;
  size_t error_offset_ = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TEXT_PARTS_LEXER_H_

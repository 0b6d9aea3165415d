// The words and signs of a map's text.

#ifndef XLA_INDEXING_MAP_TEXT_LEXER_H_
#define XLA_INDEXING_MAP_TEXT_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace xla_indexing::internal {

enum class MapTokenKind : uint8_t {
  kEnd,
  kName,     // identifiers and the words of the syntax
  kInteger,  // decimal digits, without sign
  kSign,     // one of ( ) [ ] { } , : + - * / and ->
  kInvalid,  // a byte that no token begins with
};

struct MapToken {
  MapTokenKind kind = MapTokenKind::kEnd;
  absl::string_view text;
  size_t offset = 0;
};

class MapLexer {
 public:
  explicit MapLexer(absl::string_view text) : text_(text) { Advance(); }

  const MapToken& token() const { return token_; }
  void Advance();

  bool AtEnd() const { return token_.kind == MapTokenKind::kEnd; }
  bool IsSign(absl::string_view sign) const {
    return token_.kind == MapTokenKind::kSign && token_.text == sign;
  }
  bool IsWord(absl::string_view word) const {
    return token_.kind == MapTokenKind::kName && token_.text == word;
  }

  // Whether the token after this one is the sign.
  bool IsBefore(absl::string_view sign) const {
    MapLexer ahead = *this;
    ahead.Advance();
    return ahead.IsSign(sign);
  }

  // The token as an error message names it: 'd0', or "the end of the text".
  std::string Describe() const;

 private:
  absl::string_view text_;
  size_t next_ = 0;
  MapToken token_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_TEXT_LEXER_H_

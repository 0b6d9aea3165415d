#include "xla_indexing/map/text/lexer.h"

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/map/variable_names.h"

namespace xla_indexing::internal {
namespace {

// Long tokens are cut when a message shows them.
constexpr size_t kShownBytes = 40;

}  // namespace

void MapLexer::Advance() {
  while (next_ < text_.size() && absl::ascii_isspace(text_[next_])) ++next_;
  const size_t begin = next_;
  token_.offset = begin;
  if (begin == text_.size()) {
    token_.kind = MapTokenKind::kEnd;
    token_.text = {};
    return;
  }
  const char first = text_[begin];
  ++next_;
  if (absl::ascii_isdigit(first)) {
    while (next_ < text_.size() && absl::ascii_isdigit(text_[next_])) ++next_;
    token_.kind = MapTokenKind::kInteger;
  } else if (absl::ascii_isalpha(first) || first == '_') {
    while (next_ < text_.size() && IsVariableNameByte(text_[next_])) ++next_;
    token_.kind = MapTokenKind::kName;
  } else if (first == '-' && next_ < text_.size() && text_[next_] == '>') {
    ++next_;
    token_.kind = MapTokenKind::kSign;
  } else {
    const bool is_sign = absl::string_view("()[]{},:+-*/").find(first) != absl::string_view::npos;
    token_.kind = is_sign ? MapTokenKind::kSign : MapTokenKind::kInvalid;
  }
  token_.text = text_.substr(begin, next_ - begin);
}

std::string MapLexer::Describe() const {
  if (AtEnd()) return "the end of the text";
  if (token_.kind == MapTokenKind::kInvalid && !absl::ascii_isprint(token_.text[0])) {
    return absl::StrCat("the byte 0x", absl::Hex(static_cast<unsigned char>(token_.text[0])));
  }
  const bool cut = token_.text.size() > kShownBytes;
  return absl::StrCat("'", token_.text.substr(0, kShownBytes), cut ? "..." : "", "'");
}

}  // namespace xla_indexing::internal

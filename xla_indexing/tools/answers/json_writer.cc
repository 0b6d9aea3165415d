#include "xla_indexing/tools/answers/json_writer.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/Support/JSON.h"

namespace xla_indexing {
namespace {

void AppendEscaped(absl::string_view text, std::string* out) {
  constexpr char kHexDigits[] = "0123456789abcdef";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppend(out, "\\u00", c < 0x10 ? "0" : "1");
      out->push_back(kHexDigits[c & 0xf]);
    } else {
      out->push_back(c);
    }
  }
}

}  // namespace

void JsonWriter::Separate() {
  if (!is_first_) out_.append(", ");
  is_first_ = false;
}

void JsonWriter::Open(char bracket) {
  Separate();
  out_.push_back(bracket);
  is_first_ = true;
}

void JsonWriter::Close(char bracket) {
  out_.push_back(bracket);
  is_first_ = false;
}

JsonWriter& JsonWriter::Key(absl::string_view key) {
  Text(key);
  out_.append(": ");
  is_first_ = true;
  return *this;
}

void JsonWriter::Text(absl::string_view value) {
  Separate();
  out_.push_back('"');
  if (const llvm::StringRef text(value.data(), value.size()); llvm::json::isUTF8(text)) {
    AppendEscaped(value, &out_);
  } else {
    AppendEscaped(llvm::json::fixUTF8(text), &out_);
  }
  out_.push_back('"');
}

void JsonWriter::Count(const Interval& count) {
  if (count.IsPoint()) return Value(count.lower());
  BeginObject();
  Field("least", count.has_lower() ? std::optional(count.lower()) : std::nullopt);
  Field("most", count.has_upper() ? std::optional(count.upper()) : std::nullopt);
  EndObject();
}

void JsonWriter::Raw(absl::string_view json) {
  if (json.empty()) return;
  Separate();
  absl::StrAppend(&out_, json);
}

}  // namespace xla_indexing

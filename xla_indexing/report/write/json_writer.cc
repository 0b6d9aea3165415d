#include "xla_indexing/report/write/json_writer.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/Support/JSON.h"

namespace xla_indexing::internal {
namespace {

void AppendEscaped(absl::string_view text, std::string* out) {
  constexpr char kHexDigits[] = "0123456789abcdef";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out->append(c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
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
  if (!is_first_) out_.append(is_compact_ ? "," : ", ");
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
  out_.append(is_compact_ ? ":" : ": ");
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

void JsonWriter::NamedValues(absl::string_view key,
                             const std::vector<std::pair<std::string, int64_t>>& values,
                             absl::string_view key_of_name) {
  Objects(key, values, [&](const std::pair<std::string, int64_t>& value) {
    Field(key_of_name, value.first);
    Field("value", value.second);
  });
}

void JsonWriter::Number(double value) {
  if (!is_compact_) return Raw(absl::StrCat(value));
  char text[32];
  const int size = std::snprintf(text, sizeof text, "%.17g", value);
  Raw(absl::string_view(text, static_cast<size_t>(size)));
}

void JsonWriter::Count(const Interval& count) {
  if (count.IsPoint()) return Value(count.lower());
  Object([&] {
    Field("least", count.has_lower() ? std::optional(count.lower()) : std::nullopt);
    Field("most", count.has_upper() ? std::optional(count.upper()) : std::nullopt);
  });
}

void JsonWriter::Raw(absl::string_view json) {
  if (json.empty()) return;
  Separate();
  absl::StrAppend(&out_, json);
}

void AppendObject(absl::FunctionRef<void(JsonWriter* json)> write, std::string* list) {
  if (!list->empty()) list->append(", ");
  JsonWriter json(list);
  json.Object([&] { write(&json); });
}

}  // namespace xla_indexing::internal

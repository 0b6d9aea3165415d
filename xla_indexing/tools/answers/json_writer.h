// Writes JSON on one line, with a space after each comma and colon.
//
// Example:
//
//   JsonWriter json(&out);
//   json.BeginObject();
//   json.Field("rank", 1);
//   json.Field("maps", std::vector<std::string>{"(d0) -> (d0)"});
//   json.EndObject();  // {"rank": 1, "maps": ["(d0) -> (d0)"]}

#ifndef XLA_INDEXING_TOOLS_ANSWERS_JSON_WRITER_H_
#define XLA_INDEXING_TOOLS_ANSWERS_JSON_WRITER_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing {

class JsonWriter {
 public:
  // Appends to `out`, which must outlive the writer.
  explicit JsonWriter(std::string* out) : out_(*out) {}

  // In an object all values follow a key: that of a field, of what is begun, or of the next value.
  JsonWriter& Key(absl::string_view key);
  void BeginObject() { Open('{'); }
  void BeginObject(absl::string_view key) { Key(key).Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void BeginArray(absl::string_view key) { Key(key).Open('['); }
  void EndArray() { Close(']'); }

  // Text, a bool, an integer, a number with six significant digits, a count, an optional value, which
  // may be null, or a list of values.
  template <typename T>
  void Value(const T& value) {
    if constexpr (std::is_convertible_v<const T&, absl::string_view>) {
      Text(value);
    } else if constexpr (std::same_as<T, bool>) {
      Raw(value ? "true" : "false");
    } else if constexpr (std::is_arithmetic_v<T>) {
      Raw(absl::StrCat(value));
    } else if constexpr (std::same_as<T, Interval>) {
      Count(value);
    } else {
      List(value);
    }
  }
  template <typename T>
  void Value(const std::optional<T>& value) {
    value ? Value(*value) : Raw("null");
  }
  template <typename T>
  void Field(absl::string_view key, const T& value) {
    Key(key).Value(value);
  }
  // A field whose value is a list: `write(item)` writes each.
  template <typename Items, typename Write>
  void ListField(absl::string_view key, const Items& items, Write write) {
    BeginArray(key);
    for (const auto& item : items) write(item);
    EndArray();
  }
  // A value that is JSON already, or several with ", " between them; none if empty.
  void Raw(absl::string_view json);
  void RawField(absl::string_view key, absl::string_view json) { Key(key).Raw(json); }

 private:
  void Text(absl::string_view value);
  // A number, or {"least": N, "most": N}, where an end that is not there is null.
  void Count(const Interval& count);
  template <typename Items>
  void List(const Items& items) {
    BeginArray();
    for (const auto& item : items) Value(item);
    EndArray();
  }
  void Separate();
  void Open(char bracket);
  void Close(char bracket);

  std::string& out_;
  // Whether the next value is the first of its array or object, or follows its key.
  bool is_first_ = true;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_JSON_WRITER_H_

// Writes JSON on one line, with a space after each comma and colon.
//
// Example:
//
//   JsonWriter json(&out);
//   json.BeginObject();
//   json.Key("maps");
//   json.BeginArray();
//   json.String("(d0) -> (d0)");
//   json.EndArray();
//   json.EndObject();  // {"maps": ["(d0) -> (d0)"]}

#ifndef XLA_INDEXING_TOOLS_ANSWERS_JSON_WRITER_H_
#define XLA_INDEXING_TOOLS_ANSWERS_JSON_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace xla_indexing {

class JsonWriter {
 public:
  // Appends to `out`, which must outlive the writer.
  explicit JsonWriter(std::string* out) : out_(*out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  // The key of the next value of an object.
  void Key(absl::string_view key);
  void String(absl::string_view value);
  void Integer(int64_t value);
  void Bool(bool value) { Raw(value ? "true" : "false"); }
  // A field of an object.
  void StringField(absl::string_view key, absl::string_view value);
  void IntegerField(absl::string_view key, int64_t value);
  // A field whose value is an array.
  template <typename List>
  void IntegersField(absl::string_view key, const List& values) {
    Key(key);
    BeginArray();
    for (const int64_t value : values) Integer(value);
    EndArray();
  }
  // Writes a number with six significant digits.
  void Number(double value);
  // A value that is JSON already, or several with ", " between them; none if empty.
  void Raw(absl::string_view json);

 private:
  void Separate();
  void Open(char bracket);
  void Close(char bracket);

  std::string& out_;
  // Whether the next value is the first of its array or object, or follows its key.
  bool is_first_ = true;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_JSON_WRITER_H_

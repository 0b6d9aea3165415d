// Writes JSON on one line.
//
//   JsonWriter json(&out);
//   json.Object([&] {
//     json.Field("rank", 1);
//     json.Objects("maps", maps, [&](const OperandIndexing& map) {
//       json.Field("map", map.MapToString());
//     });
//   });  // {"rank": 1, "maps": [{"map": "(d0) -> (d0)"}]}
//
// What writes the fields of an object is a function of nothing or, of a struct, one of it and the writer:
// `json.Object("traffic", traffic, WriteTraffic)`.
#ifndef XLA_INDEXING_REPORT_WRITE_JSON_WRITER_H_
#define XLA_INDEXING_REPORT_WRITE_JSON_WRITER_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

enum class JsonStyle {
  kSpaced,   // a space after each comma and colon; numbers with six significant digits
  kCompact,  // no space; numbers in full
};

class JsonWriter {
 public:
  // Appends to `out`, which must outlive the writer.
  explicit JsonWriter(std::string* out, JsonStyle style = JsonStyle::kSpaced)
      : out_(*out), is_compact_(style == JsonStyle::kCompact) {}

  // Text, a bool, a number, a count, an optional value, which may be null, or a list of values.
  template <typename T>
  void Value(const T& value) {
    if constexpr (std::is_convertible_v<const T&, absl::string_view>) {
      Text(value);
    } else if constexpr (std::same_as<T, bool>) {
      Raw(value ? "true" : "false");
    } else if constexpr (std::is_integral_v<T>) {
      Raw(absl::StrCat(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      Number(value);
    } else if constexpr (std::same_as<T, Interval>) {
      Count(value);
    } else {
      Array([&] {
        for (const auto& item : value) Value(item);
      });
    }
  }
  template <typename T>
  void Value(const std::optional<T>& value) {
    value ? Value(*value) : Raw("null");
  }
  // A value that is JSON already; none if empty.
  void Raw(absl::string_view json);
  template <typename Write>
  void Object(Write write) {
    Open('{');
    write();
    Close('}');
  }
  template <typename Write>
  void Array(Write write) {
    Open('[');
    write();
    Close(']');
  }

  // The fields of an object.
  template <typename T>
  void Field(absl::string_view key, const T& value) {
    Key(key).Value(value);
  }
  void RawField(absl::string_view key, absl::string_view json) { Key(key).Raw(json); }
  template <typename Write>
  void Object(absl::string_view key, Write write) {
    Key(key).Object(write);
  }
  template <typename Write>
  void Array(absl::string_view key, Write write) {
    Key(key).Array(write);
  }
  template <typename T, typename Write>
  void Object(absl::string_view key, const T& of, Write write) {
    Key(key).ObjectOf(of, write);
  }
  // A list of the values, or of the objects, that `value_of` and `write` make of items.
  template <typename Items, typename ValueOf>
  void Values(absl::string_view key, const Items& items, ValueOf value_of) {
    Key(key).Array([&] {
      for (const auto& item : items) Value(value_of(item));
    });
  }
  template <typename Items, typename Write>
  void Objects(absl::string_view key, const Items& items, Write write) {
    Key(key).Array([&] {
      for (const auto& item : items) ObjectOf(item, write);
    });
  }
  // The values that names have: objects with a field for the name and one for the value.
  void NamedValues(absl::string_view key,
                   const std::vector<std::pair<std::string, int64_t>>& values,
                   absl::string_view key_of_name = "name");
  // A field where there is a value, or text or a list that is not empty.
  template <typename T>
  void FieldIfAny(absl::string_view key, const T& value) {
    if (!value.empty()) Field(key, value);
  }
  template <typename T>
  void FieldIfAny(absl::string_view key, const std::optional<T>& value) {
    if (value) Field(key, *value);
  }
  template <typename T, typename Write>
  void ObjectIfAny(absl::string_view key, const std::optional<T>& of, Write write) {
    if (of) Object(key, *of, write);
  }

 private:
  template <typename T, typename Write>
  void ObjectOf(const T& of, Write write) {
    Object([&] {
      if constexpr (std::is_invocable_v<Write, const T&, JsonWriter*>) {
        write(of, this);
      } else {
        write(of);
      }
    });
  }
  JsonWriter& Key(absl::string_view key);
  void Text(absl::string_view value);
  void Number(double value);
  // A number, or {"least": N, "most": N}, where an end that is not there is null.
  void Count(const Interval& count);
  void Separate();
  void Open(char bracket);
  void Close(char bracket);

  std::string& out_;
  const bool is_compact_;
  // Whether the next value is the first of its array or object, or follows its key.
  bool is_first_ = true;
};

// Appends an object, whose fields `write` writes, to a list; after a comma where it is not the first.
void AppendObject(absl::FunctionRef<void(JsonWriter* json)> write, std::string* list);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_WRITE_JSON_WRITER_H_

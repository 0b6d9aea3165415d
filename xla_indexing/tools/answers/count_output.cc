#include "xla_indexing/tools/answers/count_output.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace xla_indexing {

std::string CountText(const Interval& count) {
  return count.IsPoint() ? absl::StrCat(count.lower()) : count.ToString();
}

void WriteCount(absl::string_view key, const Interval& count, JsonWriter* json) {
  json->Key(key);
  WriteCountValue(count, json);
}

void WriteCountValue(const Interval& count, JsonWriter* json) {
  if (count.IsPoint()) return json->Integer(count.lower());
  json->BeginObject();
  json->Key("least");
  count.has_lower() ? json->Integer(count.lower()) : json->Raw("null");
  json->Key("most");
  count.has_upper() ? json->Integer(count.upper()) : json->Raw("null");
  json->EndObject();
}

void WriteRatio(absl::string_view key, const std::optional<double>& ratio, JsonWriter* json) {
  json->Key(key);
  if (ratio) {
    json->Number(*ratio);
  } else {
    json->Raw("null");
  }
}

}  // namespace xla_indexing

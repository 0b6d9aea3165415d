#include "python/src/classes.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace xla_indexing::python {

Indices AsPython(absl::Span<const int64_t> indices) {
  nb::list list;
  for (const int64_t index : indices) list.append(index);
  return nb::tuple(list);
}

nb::typed<nb::dict, nb::str, int64_t> AsPython(const NamedValues& values) {
  nb::dict dict;
  for (const auto& [name, value] : values) dict[ToText(name)] = value;
  return dict;
}

std::vector<nb::str> AsPython(const std::vector<std::string>& texts) {
  std::vector<nb::str> result;
  for (const std::string& text : texts) result.push_back(ToText(text));
  return result;
}

void AddCells(nb::handle object, std::initializer_list<const char*> properties, TableRow* row) {
  for (const char* name : properties) {
    nb::object value = object.attr(name);
    Interval count;
    if (nb::try_cast(value, count)) {
      value = count.IsPoint() ? nb::object(nb::int_(count.lower())) : ToText(CountText(count));
    }
    (*row)[name] = value;
  }
}

TableRow RowOf(nb::handle object, std::initializer_list<const char*> properties) {
  TableRow row;
  AddCells(object, properties, &row);
  return row;
}

std::optional<nb::str> TextOrNone(absl::string_view text) {
  return text.empty() ? std::nullopt : std::optional(ToText(text));
}

}  // namespace xla_indexing::python

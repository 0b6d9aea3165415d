// Classes of Python made of C++ structs, with a line for each property:
//
//   Class<Traffic>(m, "Traffic", "Bytes that are moved.")
//       .Property("bytes_read", &Traffic::bytes_read, "Bytes of what is read, each once.")
//       .Repr(&TrafficText);
//
// A property has AsPython() of a member, or of what a method or a function returns.
#ifndef PYTHON_SRC_CLASSES_H_
#define PYTHON_SRC_CLASSES_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "python/src/common.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing::python {

// --- Values ---

using Indices = nb::typed<nb::tuple, int64_t, nb::ellipsis>;
using NamedValues = std::vector<std::pair<std::string, int64_t>>;

// Indices are a tuple.
Indices AsPython(absl::Span<const int64_t> indices);
inline Indices AsPython(const std::vector<int64_t>& indices) {
  return AsPython(absl::MakeConstSpan(indices));
}
// By name.
nb::typed<nb::dict, nb::str, int64_t> AsPython(const NamedValues& values);
std::vector<nb::str> AsPython(const std::vector<std::string>& texts);
inline nb::str AsPython(absl::string_view text) { return ToText(text); }
inline nb::str AsPython(const std::string& text) { return ToText(text); }
// True, False, or None if it is not decided.
inline std::optional<bool> AsPython(Answer answer) { return ToBool(answer); }
// All else is what nanobind makes of it.
template <typename T>
T AsPython(const T& value) {
  return value;
}
template <typename T>
auto AsPython(const std::optional<T>& value) {
  using Result = std::optional<decltype(AsPython(*value))>;
  return value ? Result(AsPython(*value)) : std::nullopt;
}

// --- Rows of tables ---

using TableRow = nb::typed<nb::dict, nb::str, nb::any>;

// Adds the properties of these names. A count is a number where it is one, and text otherwise.
void AddCells(nb::handle object, std::initializer_list<const char*> properties, TableRow* row);
TableRow RowOf(nb::handle object, std::initializer_list<const char*> properties);

// None if the text is empty.
std::optional<nb::str> TextOrNone(absl::string_view text);

// --- Classes ---

template <typename T>
class Class : public nb::class_<T> {
 public:
  template <typename... Extra>
  Class(nb::handle scope, const char* name, const Extra&... extra)
      : nb::class_<T>(scope, name, extra...), name_(name) {}

  // What `get` gives of the object, with perhaps a docstring and a signature.
  template <typename Get, typename... Extra>
    requires std::is_invocable_v<Get, const T&>
  Class& Property(const char* name, Get get, const Extra&... extra) {
    return def_prop_ro(
        name, [get](const T& self) { return AsPython(std::invoke(get, self)); }, extra...);
  }
  // What `get` gives of the part that `part` gives of the object.
  template <typename Part, typename Get, typename... Extra>
    requires std::is_invocable_v<Get, std::invoke_result_t<Part, const T&>>
  Class& Property(const char* name, Part part, Get get, const Extra&... extra) {
    const auto get_of_part = [part, get](const T& self) {
      return AsPython(std::invoke(get, std::invoke(part, self)));
    };
    return def_prop_ro(name, get_of_part, extra...);
  }

  // repr(): `<xla_indexing.NAME: TEXT>`, with the first line of the text that `get` gives.
  template <typename Get>
  Class& Repr(Get get) {
    return def("__repr__",
               [name = name_, get](const T& self) { return ReprOf(name, std::invoke(get, self)); });
  }
  // str(), and repr() with its first line.
  template <typename Get>
  Class& Text(Get get) {
    def("__str__", [get](const T& self) { return AsPython(std::invoke(get, self)); });
    return Repr(get);
  }
  // What Jupyter shows: `_html.FUNCTION(object)` of the package.
  Class& Html(const char* function) {
    return def("_repr_html_",
               [function](const nb::object& self) { return HtmlOf(function, self); });
  }
  // Two objects are equal where what `key` gives of them is.
  template <typename Key, typename... Extra>
  Class& EqualBy(Key key, const Extra&... extra) {
    using Value = std::decay_t<std::invoke_result_t<Key, const T&>>;
    def(
        "__eq__",
        [key](const T& self, nb::handle other) {
          return nb::isinstance<T>(other) &&
                 std::invoke(key, self) == std::invoke(key, *nb::inst_ptr<T>(other));
        },
        nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"), extra...);
    return def("__hash__",
               [key](const T& self) { return absl::Hash<Value>()(std::invoke(key, self)) >> 1; });
  }

  // Those of nanobind, of this class.
  template <typename... Args>
  Class& def(Args&&... args) {
    nb::class_<T>::def(std::forward<Args>(args)...);
    return *this;
  }
  template <typename... Args>
  Class& def_static(Args&&... args) {
    nb::class_<T>::def_static(std::forward<Args>(args)...);
    return *this;
  }
  template <typename... Args>
  Class& def_prop_ro(Args&&... args) {
    nb::class_<T>::def_prop_ro(std::forward<Args>(args)...);
    return *this;
  }
  template <typename... Args>
  Class& def_ro(Args&&... args) {
    nb::class_<T>::def_ro(std::forward<Args>(args)...);
    return *this;
  }

 private:
  const char* name_;
};

// The classes of what is asked about.
struct SubjectClasses {
  Class<Module> module;
  Class<Instruction> instruction;
  Class<Computation> computation;
  Class<OperandMap> operand_indexing;
};

}  // namespace xla_indexing::python

#endif  // PYTHON_SRC_CLASSES_H_

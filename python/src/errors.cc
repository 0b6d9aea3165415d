// Statuses as Python exceptions, and text from anywhere as Python strings.

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "python/src/common.h"

namespace xla_indexing::python {
namespace {

// The classes Error and ParseError, which live as long as the process.
PyObject* g_error = nullptr;
PyObject* g_parse_error = nullptr;

void Raise(const StatusError& error) {
  const nb::str message = ToText(error.status().message());
  const nb::handle type = error.is_of_text() ? g_parse_error : g_error;
  nb::object exception = nb::borrow(type)(message);
  exception.attr("code") = ToText(absl::StatusCodeToString(error.status().code()));
  PyErr_SetObject(type.ptr(), exception.ptr());
}

}  // namespace

void ThrowInvalid(absl::string_view message) {
  throw StatusError(absl::InvalidArgumentError(message));
}

nb::str ToText(absl::string_view text) {
  PyObject* const object =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (object == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(object);
}

std::string CountText(const Interval& count) {
  return count.IsPoint() ? absl::StrCat(count.lower()) : count.ToString();
}

nb::str ReprOf(absl::string_view name, absl::string_view text) {
  const absl::string_view line = text.substr(0, text.find('\n'));
  return ToText(
      absl::StrCat("<xla_indexing.", name, ": ", line, line.size() < text.size() ? " ..>" : ">"));
}

nb::str HtmlOf(const char* function, nb::handle object) {
  return nb::str(nb::module_::import_("xla_indexing._html").attr(function)(object));
}

AnyTuple Unpickled(const char* function, nb::handle a, nb::handle b) {
  return nb::make_tuple(nb::module_::import_("xla_indexing._pickle").attr(function),
                        nb::make_tuple(a, b));
}

PictureObject ToPython(const Picture& picture) {
  const nb::object type = nb::module_::import_("xla_indexing.picture").attr("Picture");
  return nb::borrow<PictureObject>(type(ToText(picture.svg), ToText(picture.title)));
}

void DefineErrors(nb::module_& m) {
  g_error =
      PyErr_NewExceptionWithDoc("xla_indexing.Error",
                                "What the library refuses or cannot answer. The message names the "
                                "instruction and the numbers, and the attribute `code` the kind of "
                                "error, such as 'INVALID_ARGUMENT' or 'RESOURCE_EXHAUSTED'.",
                                PyExc_ValueError, nullptr);
  if (g_error == nullptr) throw nb::python_error();
  g_parse_error = PyErr_NewExceptionWithDoc(
      "xla_indexing.ParseError",
      "A text that cannot be read, or a module that the verifier refuses. The message "
      "is\n`FILE:LINE:COLUMN: error: what is wrong`, the line, and a caret below the place.",
      g_error, nullptr);
  if (g_parse_error == nullptr) throw nb::python_error();
  m.attr("Error") = nb::borrow(g_error);
  m.attr("ParseError") = nb::borrow(g_parse_error);
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const StatusError& error) {
      Raise(error);
    }
  });
}

}  // namespace xla_indexing::python

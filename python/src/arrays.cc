#include "python/src/arrays.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "python/src/common.h"

namespace xla_indexing::python {

IntegerArray ToIntegers(nb::handle value, const char* name) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  if (value.is_none())
    throw nb::type_error(absl::StrCat(name, " is None, and has to be integers").c_str());
  nb::object array = numpy.attr("asarray")(value);
  const nb::object type = array.attr("dtype");
  const std::string kind = nb::cast<std::string>(nb::str(type.attr("kind")));
  const bool is_empty = nb::cast<size_t>(array.attr("size")) == 0;
  if (kind != "i" && kind != "u" && !(is_empty && kind == "f")) {
    const std::string name_of_type = nb::cast<std::string>(nb::str(type));
    throw nb::type_error(absl::StrCat(name, " has to be integers, and is ", name_of_type).c_str());
  }
  if (kind == "u" && !is_empty &&
      nb::cast<uint64_t>(nb::int_(array.attr("max")())) > uint64_t{INT64_MAX}) {
    ThrowInvalid(absl::StrCat(name, " has a number that does not fit int64"));
  }
  array = numpy.attr("asarray")(array, "dtype"_a = numpy.attr("int64"), "order"_a = "C");
  return nb::cast<IntegerArray>(array);
}

std::string ShapeText(const IntegerArray& array) {
  std::vector<size_t> sizes;
  for (size_t k = 0; k < array.ndim(); ++k) sizes.push_back(array.shape(k));
  return absl::StrJoin(sizes, ", ");
}

}  // namespace xla_indexing::python

// Intervals of integers.

#include "xla_indexing/base/numbers/interval.h"

#include <nanobind/operators.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/hash/hash.h"
#include "python/src/common.h"

namespace xla_indexing::python {

void DefineInterval(nb::module_& m) {
  nb::class_<Interval>(m, "Interval", R"doc(The integers x with lower <= x <= upper.

An end that is None is infinite. Counts of the library are intervals: a single number where it is
known, its bounds otherwise.

    >>> import xla_indexing as xi
    >>> xi.Interval(0, 9)
    Interval(0, 9)
    >>> 10 in xi.Interval(0, 9), int(xi.Interval(4, 4)), xi.Interval(1, 0).is_empty
    (False, 4, True)
)doc")
      .def(
          "__init__",
          [](Interval* self, std::optional<int64_t> lower, std::optional<int64_t> upper) {
            const Interval from = lower ? Interval::AtLeast(*lower) : Interval::All();
            const Interval to = upper ? Interval::AtMost(*upper) : Interval::All();
            new (self) Interval(from.Intersect(to));
          },
          "lower"_a.none(), "upper"_a.none())
      .def_prop_ro(
          "lower",
          [](const Interval& self) -> std::optional<int64_t> {
            if (self.IsEmpty()) return 0;
            return self.has_lower() ? std::optional<int64_t>(self.lower()) : std::nullopt;
          },
          "The least element; None if there is none below, 0 where the interval is empty.")
      .def_prop_ro(
          "upper",
          [](const Interval& self) -> std::optional<int64_t> {
            if (self.IsEmpty()) return -1;
            return self.has_upper() ? std::optional<int64_t>(self.upper()) : std::nullopt;
          },
          "The greatest element; None if there is none above, -1 where the interval is empty.")
      .def_prop_ro("is_empty", &Interval::IsEmpty)
      .def_prop_ro("is_finite", &Interval::IsFinite)
      .def_prop_ro("is_point", &Interval::IsPoint, "Whether it has just one element.")
      .def_prop_ro("size", &Interval::Size,
                   "The number of elements; None if that is infinite or past 64 bits.")
      .def("__contains__", &Interval::Contains)
      .def("__int__",
           [](const Interval& self) {
             if (!self.IsPoint())
               ThrowInvalid("the interval " + self.ToString() + " is no single number");
             return self.lower();
           })
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Interval& self) { return absl::Hash<Interval>()(self) >> 1; })
      .def("__str__", [](const Interval& self) { return CountText(self); })
      .def("__repr__",
           [](const Interval& self) {
             if (self.IsEmpty()) return std::string("Interval(0, -1)");
             return "Interval(" + (self.has_lower() ? std::to_string(self.lower()) : "None") +
                    ", " + (self.has_upper() ? std::to_string(self.upper()) : "None") + ")";
           })
      .def(
          "__reduce__",
          [](const nb::object& self) {
            const nb::object lower = self.attr("lower");
            const nb::object upper = self.attr("upper");
            return nb::make_tuple(self.type(), nb::make_tuple(lower, upper));
          },
          nb::sig("def __reduce__(self) -> tuple[type[Interval], tuple[int | None, int | None]]"));
}

}  // namespace xla_indexing::python

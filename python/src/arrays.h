// NumPy arrays on their way in and out.
#ifndef PYTHON_SRC_ARRAYS_H_
#define PYTHON_SRC_ARRAYS_H_

#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "python/src/common.h"

namespace xla_indexing::python {

using IntegerArray = nb::ndarray<const int64_t, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::numpy, int64_t, nb::ndim<2>>;
using Vector = nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>;
using Flags = nb::ndarray<nb::numpy, bool, nb::ndim<1>>;

// What numpy.asarray takes, as an array of int64 whose rows lie one after the other. TypeError where its elements
// are no integers, Error where one of them does not fit int64.
IntegerArray ToIntegers(nb::handle value, const char* name);

// `2, 3`.
std::string ShapeText(const IntegerArray& array);

// An array of these sizes that owns the values.
template <typename Array, typename Value>
Array ToArray(std::vector<Value> values, std::initializer_list<size_t> sizes) {
  auto* const kept = new std::vector<Value>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Value>*>(p); });
  return Array(kept->data(), sizes.size(), sizes.begin(), owner);
}

}  // namespace xla_indexing::python

#endif  // PYTHON_SRC_ARRAYS_H_

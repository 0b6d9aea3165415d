// The extension module xla_indexing._native: the C++ library for Python. The package xla_indexing
// (python/xla_indexing) is what users import; it adds what is easier said in Python.

#include "python/src/classes.h"
#include "python/src/common.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/version.h"

namespace {

const char* Version() { return XLA_INDEXING_VERSION_STRING; }

}  // namespace

NB_MODULE(_native, m) {
  using namespace xla_indexing::python;  // NOLINT(google-build-using-namespace)
  m.doc() = "The C++ library xla_indexing. Import xla_indexing, which has all of this.";
  m.def("version", &Version, "The version of the library.");
  // An object that a program still holds as it ends is no fault of this module's.
  nb::set_leak_warnings(false);
  m.def("set_leak_warnings", &nb::set_leak_warnings, "whether"_a,
        "Whether the end of the process says what objects were not freed, for tests.");
  nb::enum_<xla_indexing::Direction>(m, "Direction",
                                     "The direction in which a dependence is asked about.")
      .value(
          "OUTPUT_TO_INPUT", xla_indexing::Direction::kOutputToInput,
          "From an element of a result to the elements of the operands that it is computed from.")
      .value(
          "INPUT_TO_OUTPUT", xla_indexing::Direction::kInputToOutput,
          "From an element of an operand to the elements of the results that are computed from it.")
      .export_values();
  DefineErrors(m);
  DefineInterval(m);
  DefineIndexingMap(m);
  SubjectClasses classes = DefineModule(m);
  DefineIndexing(m, classes);
  DefineQueries(m, classes);
  DefineInPlace(m, classes);
  DefineIndexStructure(m, classes);
  DefineGpu(m, classes);
  DefineTiling(m, classes);
  DefineReport(m, classes);
  DefineLowering(classes);
}

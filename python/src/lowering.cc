// Computations as code: xla_indexing.lowering, as methods of what is asked about.

#include "python/src/classes.h"
#include "python/src/common.h"
#include "python/src/subjects.h"

namespace xla_indexing::python {
namespace {

nb::module_ LoweringModule() { return nb::module_::import_("xla_indexing.lowering"); }

constexpr const char* kEmitSignature =
    "def emit(self, tile_sizes: str | collections.abc.Mapping[str, int] | "
    "collections.abc.Sequence[int] | None = None, *, one_pass: bool = False) -> str";
constexpr const char* kEmitText =
    R"doc(The text of MLIR that computes it: loops, index arithmetic, loads, stores.

With `tile_sizes`, as instantiate() takes them, tile by tile; with `one_pass`, as tiled() takes it, in one loop through
a softmax or an attention. Error where this build has no lowering, and for `one_pass` without `tile_sizes`.
)doc";
constexpr const char* kRunSignature =
    "def run(self, *arrays: typing.Any, tile_sizes: str | collections.abc.Mapping[str, int] | "
    "collections.abc.Sequence[int] | None = None, one_pass: bool = False) -> typing.Any";
constexpr const char* kRunText =
    R"doc(Its result for numpy arrays, one for each parameter, computed by what emit() gives.

An array, or a list of the arrays of a tuple. TypeError where a shape or dtype is not the parameter's. What ran is
kept, so that a second run compiles nothing.
)doc";

template <typename Asked>
void Define(nb::class_<Asked>& type) {
  type.def(
      "emit",
      [](const Asked& self, const nb::args& args, const nb::kwargs& kwargs) {
        return LoweringModule().attr("emit")(ComputationOf(Subject(self)), *args, **kwargs);
      },
      nb::sig(kEmitSignature), kEmitText);
  type.def(
      "run",
      [](const Asked& self, const nb::args& args, const nb::kwargs& kwargs) {
        return LoweringModule().attr("run")(ComputationOf(Subject(self)), *args, **kwargs);
      },
      nb::sig(kRunSignature), kRunText);
}

}  // namespace

void DefineLowering(SubjectClasses& classes) {
  Define(classes.computation);
  Define(classes.instruction);
}

}  // namespace xla_indexing::python

// What all files of the extension module share: how C++ objects are held by Python's, how errors become
// exceptions, and which lock is held when.
//
// Ownership. Python objects are small values that share what they are about: a Module, its computations,
// instructions and answers share a ModuleState, an IndexingMap a Context. Nothing is freed while an object
// that needs it lives, and no object points back, so that counting references is enough.
//
// Threads. A context (its mlir::MLIRContext and whatever makes expressions in it) serves one thread at a time:
// Locked() waits for it without the GIL, so that other Python threads go on. A module has one context, a map
// that was made from text one of its own. Modules do not change once they are read: reading names and shapes
// takes no lock. Work within Locked() makes no Python object and locks no other context.
#ifndef PYTHON_SRC_COMMON_H_
#define PYTHON_SRC_COMMON_H_

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/parts/direction.h"

#ifndef ABSL_USES_STD_STRING_VIEW
namespace nanobind::detail {
// abseil's own class, where it is not another name of the standard one.
template <>
struct type_caster<absl::string_view> {
  NB_TYPE_CASTER(absl::string_view, const_name("str"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
    if (text == nullptr) {
      PyErr_Clear();
      return false;
    }
    value = absl::string_view(text, static_cast<size_t>(size));
    return true;
  }
  static handle from_cpp(absl::string_view text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  }
};
}  // namespace nanobind::detail
#endif

namespace xla_indexing::python {

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): "name"_a

// --- Errors (errors.cc) ---

// A Status on its way to Python, where it is xla_indexing.Error, or ParseError.
class StatusError : public std::exception {
 public:
  explicit StatusError(absl::Status status, bool is_of_text = false)
      : status_(std::move(status)), is_of_text_(is_of_text) {}
  const char* what() const noexcept override { return "xla_indexing.Error"; }
  const absl::Status& status() const { return status_; }
  // Whether a text could not be read.
  bool is_of_text() const { return is_of_text_; }

 private:
  absl::Status status_;
  bool is_of_text_;
};

inline void CheckOk(const absl::Status& status) {
  if (!status.ok()) throw StatusError(status);
}
template <typename T>
T ValueOf(absl::StatusOr<T> value) {
  if (!value.ok()) throw StatusError(std::move(value).status());
  return *std::move(value);
}
[[noreturn]] void ThrowInvalid(absl::string_view message);

// --- Text ---

// Text that may have come from anywhere: what is not UTF-8 in it is shown as U+FFFD.
nb::str ToText(absl::string_view text);

// `<xla_indexing.NAME: TEXT>`, of which the first line is shown.
nb::str ReprOf(absl::string_view name, absl::string_view text);

// What Jupyter shows of an object: `_html.FUNCTION(object)` of the package.
nb::str HtmlOf(const char* function, nb::handle object);
// The module that draws: `xla_indexing.picture`.
nb::module_ PictureModule();

// --- Contexts and modules ---

struct Context {
  Context() : mlir(mlir::MLIRContext::Threading::DISABLED) {}

  mlir::MLIRContext mlir;
  std::mutex mutex;
};
using SharedContext = std::shared_ptr<Context>;

// Runs `work` without the GIL, while no other thread uses the context. A signal whose handler raises, as
// that of Ctrl-C does, ends the questions of the work, and is what is thrown.
template <typename Work>
auto Locked(Context& context, Work&& work) {
  if (Interruption::IsOpen()) {
    throw StatusError(absl::FailedPreconditionError(
        "a signal handler asks while its thread waits for an answer"));
  }
  std::exception_ptr raised;
  const auto is_raised = [&] {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0) return false;
    raised = std::make_exception_ptr(nb::python_error());
    return true;
  };
  const auto run = [&] {
    const nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock(context.mutex);
    const Interruption interruption(is_raised);
    try {
      return std::forward<Work>(work)();
    } catch (...) {
      // Answers that were cut short may be errors.
      if (!raised) throw;
    }
    std::rethrow_exception(raised);
  };
  if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
    run();
    if (raised) std::rethrow_exception(raised);
  } else {
    auto result = run();
    if (raised) std::rethrow_exception(raised);
    return result;
  }
}

struct ModuleState {
  // The context of everything that is asked about the module.
  SharedContext context = std::make_shared<Context>();
  // A view's original, which it refers to.
  std::shared_ptr<ModuleState> original;
  std::optional<FusionView> view;
  std::unique_ptr<HloModule> owned;
  const HloModule* module = nullptr;  // `owned`, or that of `view`
  std::string filename;
  // By parameter of the entry: the Python function's argument that it is; empty where that is not known.
  std::vector<std::string> argument_names;
  // The computations that fusions call.
  absl::flat_hash_set<const HloComputation*> fused;
  // What has been found out, with the usual options.
  HloIndexers indexers{&context->mlir};
};
using SharedModule = std::shared_ptr<ModuleState>;

struct Module {
  SharedModule state;
};
struct Computation {
  SharedModule state;
  const HloComputation* computation = nullptr;

  friend bool operator==(const Computation& a, const Computation& b) = default;
};
struct Instruction {
  SharedModule state;
  const HloInstruction* instruction = nullptr;

  friend bool operator==(const Instruction& a, const Instruction& b) = default;
};

// The state of a module that verifies, or of a view of another.
SharedModule NewModule(std::unique_ptr<HloModule> module, std::string filename);
SharedModule NewModule(FusionView view, const SharedModule& original);

// The name that a parameter of the entry has in the Python program, where that is known.
std::optional<std::string> ArgumentOf(const ModuleState& state, const HloInstruction& instruction);

// What a question is about: an instruction or a computation.
struct Subject {
  explicit Subject(const Instruction& of) : state(of.state), instruction(of.instruction) {}
  explicit Subject(const Computation& of) : state(of.state), computation(of.computation) {}

  IndexingTarget Target() const {
    return instruction != nullptr ? IndexingTarget(*instruction) : IndexingTarget(*computation);
  }
  // The instruction whose shape is the result's; null for a computation without instructions.
  const HloInstruction* Result() const {
    return instruction != nullptr ? instruction : computation->root_instruction();
  }
  absl::Span<const HloInstruction* const> Operands() const {
    return instruction != nullptr ? instruction->operands() : computation->parameters();
  }
  // The computation in which bindings are named without a prefix.
  const HloComputation* Analysed() const {
    return instruction != nullptr ? instruction->parent() : computation;
  }
  absl::string_view Name() const {
    return instruction != nullptr ? instruction->name() : computation->name();
  }

  SharedModule state;
  const HloInstruction* instruction = nullptr;
  const HloComputation* computation = nullptr;
};

// --- Maps ---

// A map that does not change, and its context.
struct Map {
  SharedContext context;
  IndexingMap map;
};

// One map of an answer, and what keeps it.
struct OperandMap {
  Subject subject;
  SharedIndexing entries;
  const OperandIndexing* indexing = nullptr;
};

// A decision as Python says it: True, False, or None where it is not decided.
inline std::optional<bool> ToBool(Answer answer) {
  if (answer == Answer::kUndecided) return std::nullopt;
  return answer == Answer::kYes;
}

// --- The parts of the module, each in the file of its name ---

void DefineErrors(nb::module_& m);
void DefineInterval(nb::module_& m);
void DefineIndexingMap(nb::module_& m);

// The classes of what is asked about, to which each file adds its questions.
struct SubjectClasses {
  nb::class_<Module> module;
  nb::class_<Instruction> instruction;
  nb::class_<Computation> computation;
  nb::class_<OperandMap> operand_indexing;
};
SubjectClasses DefineModule(nb::module_& m);
void DefineIndexing(nb::module_& m, SubjectClasses& classes);
void DefineQueries(nb::module_& m, SubjectClasses& classes);
void DefineInPlace(nb::module_& m, SubjectClasses& classes);
void DefineIndexStructure(nb::module_& m, SubjectClasses& classes);
void DefineGpu(nb::module_& m, SubjectClasses& classes);
void DefineTiling(nb::module_& m, SubjectClasses& classes);
void DefineReport(nb::module_& m, SubjectClasses& classes);

}  // namespace xla_indexing::python

#endif  // PYTHON_SRC_COMMON_H_

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
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/report/write/picture.h"

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
// What a text spells.
template <typename T>
T ParsedOf(absl::StatusOr<T> value) {
  if (!value.ok()) throw StatusError(std::move(value).status(), /*is_of_text=*/true);
  return *std::move(value);
}
[[noreturn]] void ThrowInvalid(absl::string_view message);

// --- Text ---

// Text that may have come from anywhere: what is not UTF-8 in it is shown as U+FFFD.
nb::str ToText(absl::string_view text);

// `12`, or `[0, 12]` where a count is not one number.
std::string CountText(const Interval& count);

// `<xla_indexing.NAME: TEXT>`, of which the first line is shown.
nb::str ReprOf(absl::string_view name, absl::string_view text);

// What pickle makes an object of again: `_pickle.FUNCTION(a, b)` of the package.
using AnyTuple = nb::typed<nb::tuple, nb::any, nb::ellipsis>;
AnyTuple Unpickled(const char* function, nb::handle a, nb::handle b);

// What Jupyter shows of an object: `_html.FUNCTION(object)` of the package.
nb::str HtmlOf(const char* function, nb::handle object);
// A `xla_indexing.picture.Picture`.
class PictureObject : public nb::object {
 public:
  using nb::object::object;
  static constexpr auto Name = nb::detail::const_name("xla_indexing.picture.Picture");
};
PictureObject ToPython(const Picture& picture);

// --- Long work (waiting.cc) ---

// What happens while a question is worked on: an interrupt ends it, and on a terminal it shows how
// much of its steps it has taken.
class __attribute__((visibility("hidden"))) Waiting {  // as its members are
 public:
  // Without the GIL. Whether a signal's handler raised an exception.
  bool ShouldStop(double share);
  // With the GIL, at the end: throws what was raised.
  void Finish();

 private:
  nb::object progress_;
  std::exception_ptr raised_;
};

// Runs `work` without the GIL. KeyboardInterrupt, and whatever else a signal's handler raises, ends
// it within moments (base/question_budget.h).
template <typename Work>
auto Interruptible(Work&& work) {
  Waiting waiting;
  std::exception_ptr thrown;
  const auto run = [&]() -> std::optional<decltype(work())> {
    const nb::gil_scoped_release release;
    const auto should_stop = [&](double share) { return waiting.ShouldStop(share); };
    const QuestionBudget::Watch watch(should_stop);
    try {
      return std::forward<Work>(work)();
    } catch (...) {
      thrown = std::current_exception();
      return std::nullopt;
    }
  };
  auto result = run();
  waiting.Finish();
  if (thrown) std::rethrow_exception(thrown);
  return *std::move(result);
}

// --- Contexts and modules ---

struct Context {
  Context() : mlir(mlir::MLIRContext::Threading::DISABLED) {}

  mlir::MLIRContext mlir;
  std::mutex mutex;
};
using SharedContext = std::shared_ptr<Context>;

// The lock of a context. FailedPrecondition where this thread has one already: where a signal's
// handler asks a question while its thread waits for the answer to another.
class ContextLock {
 public:
  explicit ContextLock(Context& context);
  ~ContextLock();
  ContextLock(const ContextLock&) = delete;
  ContextLock& operator=(const ContextLock&) = delete;

 private:
  Context& context_;
};

// Runs `work` without the GIL, while no other thread uses the context.
template <typename Work>
auto Locked(Context& context, Work&& work) {
  return Interruptible([&] {
    const ContextLock lock(context);
    return std::forward<Work>(work)();
  });
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

template <typename Work>
auto Locked(const SharedModule& state, Work&& work) {
  return Locked(*state->context, std::forward<Work>(work));
}

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

// Instructions of a module; null ones are left out.
std::vector<Instruction> WithState(const SharedModule& state,
                                   absl::Span<const HloInstruction* const> instructions);

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

// What is asked, but for the subject and the direction.
struct AskedOptions {
  bool exact = false;
  Dependence dependence = Dependence::kReads;
  bool fold_runtime_variables = true;
  ScatterBounds scatter_bounds = ScatterBounds::kWindow;
  int max_maps = FusionOptions().max_maps;
  std::optional<OperandLeaf> from = std::nullopt;

  bool IsUsual() const {
    return dependence == Dependence::kReads && fold_runtime_variables &&
           scatter_bounds == ScatterBounds::kWindow && max_maps == FusionOptions().max_maps;
  }
  FusionOptions ToOptions() const;
};

// All entries of one question.
struct Indexing {
  Subject subject;
  Direction direction;
  AskedOptions asked;
  SharedIndexing entries;
};

struct Entry {
  Indexing indexing;
  size_t position = 0;

  const IndexingEntry& Get() const { return (*indexing.entries)[position]; }
  const Shape& OutputShape() const {
    return indexing.subject.Result()->shape().Leaf(Get().output_leaf);
  }
  const Shape& OperandShape() const {
    return indexing.subject.Operands()[Get().operand]->shape().Leaf(Get().operand_leaf);
  }
  // The array that the maps start from, and the one that they map to.
  const Shape& From() const {
    return indexing.direction == Direction::kOutputToInput ? OutputShape() : OperandShape();
  }
  const Shape& To() const {
    return indexing.direction == Direction::kOutputToInput ? OperandShape() : OutputShape();
  }
};

// One map of an answer, and what keeps it.
struct OperandMap {
  Entry entry;
  size_t position = 0;

  const Subject& subject() const { return entry.indexing.subject; }
  const OperandIndexing& indexing() const { return entry.Get().indexing.maps()[position]; }
};

// A decision as Python says it: True, False, or None if it is not decided.
inline std::optional<bool> ToBool(Answer answer) {
  if (answer == Answer::kUndecided) return std::nullopt;
  return answer == Answer::kYes;
}

// --- The parts of the module, each in the file of its name ---

void DefineErrors(nb::module_& m);
void DefineInterval(nb::module_& m);
void DefineIndexingMap(nb::module_& m);

// The classes of what is asked about, to which each file adds its questions (classes.h).
struct SubjectClasses;
SubjectClasses DefineModule(nb::module_& m);
void DefineIndexing(nb::module_& m, SubjectClasses& classes);
void DefineQueries(nb::module_& m, SubjectClasses& classes);
void DefineInPlace(nb::module_& m, SubjectClasses& classes);
void DefineIndexStructure(nb::module_& m, SubjectClasses& classes);
void DefineGpu(nb::module_& m, SubjectClasses& classes);
void DefineTiling(nb::module_& m, SubjectClasses& classes);
void DefineReport(nb::module_& m, SubjectClasses& classes);
void DefineLowering(SubjectClasses& classes);

}  // namespace xla_indexing::python

#endif  // PYTHON_SRC_COMMON_H_

// Modules, computations, instructions and shapes.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "python/src/classes.h"
#include "python/src/common.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/gpu/fusing/fuse_like_xla.h"
#include "xla_indexing/hlo/proto/proto_reader.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/metadata.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/stablehlo/stablehlo_reader.h"

namespace xla_indexing::python {

std::vector<Instruction> WithState(const SharedModule& state,
                                   absl::Span<const HloInstruction* const> instructions) {
  std::vector<Instruction> result;
  result.reserve(instructions.size());
  for (const HloInstruction* const instruction : instructions) {
    if (instruction != nullptr) result.push_back({state, instruction});
  }
  return result;
}

namespace {

std::vector<Computation> WithState(const SharedModule& state,
                                   absl::Span<const HloComputation* const> computations) {
  std::vector<Computation> result;
  for (const HloComputation* const computation : computations)
    result.push_back({state, computation});
  return result;
}

// --- Modules ---

// JAX writes the names of arguments into the metadata of parameters. What other programs write there
// they write for all parameters.
std::vector<std::string> ArgumentNamesOf(const HloModule& module) {
  std::vector<std::string> names;
  if (module.entry_computation() == nullptr) return names;
  absl::flat_hash_map<std::string, int> uses;
  for (const HloInstruction* const parameter : module.entry_computation()->parameters()) {
    names.push_back(parameter->metadata().op_name);
    ++uses[names.back()];
  }
  for (std::string& name : names) {
    if (uses[name] > 1 || name == "XLA_Args" || name == "xla__device_data") name.clear();
  }
  return names;
}

void FillIn(ModuleState* state) {
  state->argument_names = ArgumentNamesOf(*state->module);
  for (const HloComputation* const computation : state->module->computations()) {
    for (const HloInstruction* const instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kFusion && instruction->calls() != nullptr) {
        state->fused.insert(instruction->calls());
      }
    }
  }
}

std::vector<Module> ParseModulesOf(const nb::bytes& content, const std::string& filename) {
  const absl::string_view bytes(static_cast<const char*>(content.data()), content.size());
  const nb::gil_scoped_release release;
  if (LooksLikeHloModuleProto(bytes)) {
    return {{NewModule(ParsedOf(ReadAndVerifyHloModuleProto(bytes, filename)), filename)}};
  }
  if (LooksLikeStableHlo(bytes)) {
    return {{NewModule(ParsedOf(ReadAndVerifyStableHlo(bytes, filename)), filename)}};
  }
  std::vector<Module> modules;
  for (absl::StatusOr<std::unique_ptr<HloModule>>& parsed :
       ParseModules({filename, std::string(bytes)})) {
    std::unique_ptr<HloModule> module = ParsedOf(std::move(parsed));
    if (const absl::Status verified = VerifyModule(*module); !verified.ok()) {
      throw StatusError(verified, true);
    }
    modules.push_back({NewModule(std::move(module), filename)});
  }
  return modules;
}

std::vector<nb::str> WarningsOf(const Module& self) {
  std::vector<nb::str> warnings;
  for (const VerificationError& warning :
       FindWarnings(*self.state->module, std::numeric_limits<int64_t>::max())) {
    warnings.push_back(ToText(warning.ToString("warning", warning.message)));
  }
  return warnings;
}

Computation EntryOf(const Module& self) {
  const HloComputation* const entry = self.state->module->entry_computation();
  if (entry == nullptr)
    ThrowInvalid(absl::StrCat("module ", self.state->module->name(), " has no computation"));
  return {self.state, entry};
}

std::vector<Instruction> FusionsOf(const Module& self) {
  std::vector<Instruction> fusions;
  for (const HloInstruction* const instruction : InstructionsOf(*self.state->module)) {
    if (instruction->opcode() == HloOpcode::kFusion &&
        !self.state->fused.contains(instruction->parent())) {
      fusions.push_back({self.state, instruction});
    }
  }
  return fusions;
}

absl::string_view WithoutSign(absl::string_view name) {
  return !name.empty() && name[0] == '%' ? name.substr(1) : name;
}

[[noreturn]] void ThrowKeyError(const std::string& message) {
  PyErr_SetObject(PyExc_KeyError, ToText(message).ptr());
  throw nb::python_error();
}

nb::object Find(const Module& self, absl::string_view name) {
  const HloModule& module = *self.state->module;
  name = WithoutSign(name);
  if (const HloInstruction* const found = EntryOf(self).computation->FindInstruction(name)) {
    return nb::cast(Instruction{self.state, found});
  }
  if (const HloComputation* const found = module.FindComputation(name)) {
    return nb::cast(Computation{self.state, found});
  }
  if (const size_t slash = name.find('/'); slash != absl::string_view::npos) {
    const HloComputation* const computation = module.FindComputation(name.substr(0, slash));
    const HloInstruction* const found =
        computation == nullptr ? nullptr
                               : computation->FindInstruction(WithoutSign(name.substr(slash + 1)));
    if (found != nullptr) return nb::cast(Instruction{self.state, found});
  }
  for (const HloComputation* const computation : module.computations()) {
    if (const HloInstruction* const found = computation->FindInstruction(name)) {
      return nb::cast(Instruction{self.state, found});
    }
  }
  ThrowKeyError(absl::StrCat("module ", module.name(), " has no instruction and no computation '",
                             name, "'"));
}

// --- Shapes ---

void DefineShape(nb::module_& m) {
  Class<Layout>(m, "Layout", "The order in which the dimensions of an array lie in memory.")
      .Property(
          "minor_to_major",
          [](const Layout& self) { return absl::MakeConstSpan(self.minor_to_major); },
          "The dimensions, the one that varies fastest in memory first.")
      .Property("memory_space", &Layout::memory_space)
      .Text(&Layout::ToString)
      .EqualBy(std::identity());

  Class<Shape>(m, "Shape", R"doc(The shape of a value: an array, a tuple, a token.

    >>> s = xi.Shape("(f32[2,3]{1,0}, s32[])")
    >>> s.is_array, [str(leaf) for leaf in s.leaves], s.leaves[0].dimensions
    (False, ['f32[2,3]{1,0}', 's32[]'], (2, 3))
)doc")
      .def(
          "__init__",
          [](Shape* self, absl::string_view text) { new (self) Shape(ParsedOf(ParseShape(text))); },
          "text"_a)
      .def_prop_ro(
          "element_type",
          [](const Shape& self) { return nb::str(ElementTypeName(self.element_type()).data()); },
          "The name of the element type, such as 'f32'; 'tuple' and 'token' for what is no array.")
      .def_prop_ro(
          "dimensions",
          [](const Shape& self) {
            nb::list sizes;
            for (const int64_t size : self.dimensions()) {
              sizes.append(size == Shape::kUnboundedSize ? nb::none() : nb::object(nb::int_(size)));
            }
            return AnyTuple(nb::tuple(sizes));
          },
          "The size of each dimension of an array; its bound where it is dynamic, None without "
          "bound.")
      .def_prop_ro("rank", &Shape::rank)
      .def_prop_ro("is_array", &Shape::IsArray)
      .def_prop_ro("is_tuple", &Shape::IsTuple)
      .def_prop_ro("is_static", &Shape::IsStatic, "Whether no dimension is dynamic, in any leaf.")
      .Property("layout", &Shape::layout, "The Layout, None if none was given (row-major, then).")
      .def_prop_ro(
          "element_count", [](const Shape& self) { return ValueOf(self.ElementCount()); },
          "The number of elements of an array (at the bounds of its sizes). Error for what is no "
          "array.")
      .def_prop_ro(
          "leaves",
          [](const Shape& self) {
            nb::list leaves;
            for (const Shape* const leaf : self.Leaves()) leaves.append(*leaf);
            return nb::typed<nb::tuple, Shape, nb::ellipsis>(nb::tuple(leaves));
          },
          "The arrays of the shape, numbered depth first; an array is its own leaf.")
      .def("__str__", &Shape::ToString)
      .def("__repr__", [](const Shape& self) { return "Shape('" + self.ToString() + "')"; })
      .EqualBy(std::identity())
      .def(
          "__reduce__",
          [](const nb::object& self) {
            return nb::make_tuple(self.type(), nb::make_tuple(nb::str(self)));
          },
          nb::sig("def __reduce__(self) -> tuple[type[Shape], tuple[str]]"));
}

// Appends a line for each of the first of many things, and how many more there are.
template <typename Things, typename LineOf>
void AppendFirst(const Things& things, absl::string_view what, LineOf line_of, std::string* text) {
  constexpr size_t kMostLines = 10;
  for (size_t i = 0; i < things.size() && i < kMostLines; ++i) {
    absl::StrAppend(text, "\n  ", line_of(*things[i]));
  }
  if (things.size() > kMostLines) {
    absl::StrAppend(text, "\n  .. and ", things.size() - kMostLines, " more ", what);
  }
}

// What print() shows of a module.
std::string SummaryOf(const Module& self) {
  const HloModule& module = *self.state->module;
  const auto count = [](size_t n, absl::string_view what) {
    return absl::StrCat(n, " ", what, n == 1 ? "" : "s");
  };
  std::string text = absl::StrCat("module ", module.name(), ": ",
                                  count(module.computations().size(), "computation"), ", ",
                                  count(module.instruction_count(), "instruction"));
  if (module.entry_computation() == nullptr) return text;
  const HloComputation& entry = *module.entry_computation();
  absl::StrAppend(&text, "\nentry ", entry.name(), ": ",
                  count(entry.instruction_count(), "instruction"));
  AppendFirst(
      entry.parameters(), "parameters",
      [&](const HloInstruction& parameter) {
        const std::optional<std::string> argument = ArgumentOf(*self.state, parameter);
        return absl::StrCat("parameter ", parameter.parameter_number(), " ", parameter.name(),
                            argument ? absl::StrCat(" (", *argument, ")") : "", ": ",
                            parameter.shape().ToStringWithoutLayout());
      },
      &text);
  const std::vector<const Shape*> results = entry.root_instruction()->shape().Leaves();
  AppendFirst(
      results, "results",
      [](const Shape& shape) { return absl::StrCat("result ", shape.ToStringWithoutLayout()); },
      &text);
  return text;
}

void DefineModuleClass(Class<Module>& type) {
  type.EqualBy(&Module::state)
      .Property("name", [](const Module& self) { return self.state->module->name(); })
      .Property(
          "filename", [](const Module& self) { return self.state->filename; },
          "Where the text came from, as error messages say it.")
      .def_prop_ro(
          "computations",
          [](const Module& self) {
            return WithState(self.state, self.state->module->computations());
          },
          "All computations, those called before those that call them.")
      .def_prop_ro("entry", &EntryOf, "The entry computation.")
      .def_prop_ro(
          "instructions",
          [](const Module& self) {
            return WithState(self.state, InstructionsOf(*self.state->module));
          },
          "The instructions of all computations.")
      .def_prop_ro("fusions", &FusionsOf,
                   "The fusion instructions that are not inside of another fusion.")
      .def_prop_ro("warnings", &WarningsOf,
                   "What is not known of the module, a text for each instruction whose opcode is "
                   "none that the library knows: it is treated as reading all of its operands.")
      .def_prop_ro("num_replicas",
                   [](const Module& self) { return self.state->module->replica_count(); })
      .def_prop_ro("num_partitions",
                   [](const Module& self) { return self.state->module->num_partitions(); })
      .def_prop_ro(
          "argument_names",
          [](const Module& self) {
            std::vector<std::optional<nb::str>> names;
            for (const std::string& name : self.state->argument_names) {
              names.push_back(TextOrNone(name));
            }
            return names;
          },
          "For each parameter of the entry the Python function's argument that it is; None if that "
          "is not known.")
      .def(
          "__getitem__", &Find, "name"_a,
          nb::sig("def __getitem__(self, name: str, /) -> Instruction | Computation"),
          R"doc(The instruction of the entry, or else the computation, or else the instruction elsewhere, of a name.

`%` may stand before it; `computation/instruction` says which computation. KeyError where there is none.
)doc")
      .def(
          "computation",
          [](const Module& self, absl::string_view name) {
            const HloComputation* const found =
                self.state->module->FindComputation(WithoutSign(name));
            if (found == nullptr) {
              ThrowKeyError(absl::StrCat("module ", self.state->module->name(),
                                         " has no computation '", name, "'"));
            }
            return Computation{self.state, found};
          },
          "name"_a, "The computation of a name; KeyError where there is none.")
      .def(
          "fused",
          [](const Module& self) {
            return Module{
                NewModule(ValueOf(FuseLikeXla(*self.state->module)), self.state->filename)};
          },
          R"doc(The module fused as XLA's passes for GPUs would in the main, for report().

For what has no fusions yet: a dump before optimizations, or what JAX lowers. Error for a module that does not
verify.

    >>> m = xi.load("ENTRY e { p = f32[8] parameter(0)  n = f32[8] negate(p)  ROOT r = f32[8] exponential(n) }")
    >>> [kernel.kernel for kernel in m.fused().report()]
    ['r_fusion']
)doc")
      .def(
          "to_text", [](const Module& self) { return ToText(self.state->module->ToString()); },
          "The module as HLO text, which load() reads back.")
      .def(
          "__str__", [](const Module& self) { return ToText(SummaryOf(self)); },
          "A few lines: how much there is, the parameters, the result. to_text() is the text.")
      .Repr([](const Module& self) {
        const HloModule& module = *self.state->module;
        return absl::StrCat(module.name(), ", ", module.computations().size(), " computations, ",
                            module.instruction_count(), " instructions");
      })
      .Html("of_module")
      .def("__reduce__", [](const nb::object& self) {
        return Unpickled("module", self.attr("to_text")(), self.attr("filename"));
      });
}

void DefineComputation(Class<Computation>& type) {
  type.EqualBy(&Computation::computation)
      .Property("name", &Computation::computation, &HloComputation::name)
      .def_prop_ro("module", [](const Computation& self) { return Module{self.state}; })
      .def_prop_ro(
          "instructions",
          [](const Computation& self) {
            return WithState(self.state, self.computation->instructions());
          },
          "The instructions, operands before their users.")
      .def_prop_ro("parameters",
                   [](const Computation& self) {
                     return WithState(self.state, self.computation->parameters());
                   })
      .def_prop_ro("root",
                   [](const Computation& self) {
                     const HloInstruction* const root = self.computation->root_instruction();
                     if (root == nullptr) {
                       ThrowInvalid(absl::StrCat("computation ", self.computation->name(),
                                                 " has no instruction"));
                     }
                     return Instruction{self.state, root};
                   })
      .Property("is_entry", &Computation::computation, &HloComputation::is_entry)
      .def_prop_ro(
          "is_fusion",
          [](const Computation& self) { return self.state->fused.contains(self.computation); },
          "Whether a fusion calls it.")
      .def(
          "__getitem__",
          [](const Computation& self, absl::string_view name) {
            const HloInstruction* const found =
                self.computation->FindInstruction(WithoutSign(name));
            if (found == nullptr) {
              ThrowKeyError(absl::StrCat("computation ", self.computation->name(),
                                         " has no instruction '", name, "'"));
            }
            return Instruction{self.state, found};
          },
          "name"_a, "The instruction of a name; KeyError where there is none.")
      .def(
          "to_text", [](const Computation& self) { return ToText(self.computation->ToString()); },
          "The computation as HLO text.")
      .def("__str__", [](const Computation& self) { return ToText(self.computation->ToString()); })
      .def("__reduce__",
           [](const Computation& self) {
             return Unpickled("computation", nb::cast(Module{self.state}),
                              ToText(self.computation->name()));
           })
      .Repr([](const Computation& self) {
        return absl::StrCat(self.computation->name(), ", ", self.computation->instruction_count(),
                            " instructions");
      });
}

// The innermost place in the source.
SourceFrame PlaceOf(const Instruction& self) {
  std::vector<SourceFrame> frames = self.instruction->SourceFrames();
  return frames.empty() ? SourceFrame() : std::move(frames.front());
}

void DefineInstruction(Class<Instruction>& type) {
  type.EqualBy(&Instruction::instruction)
      .Property("name", &Instruction::instruction, &HloInstruction::name)
      .Property("opcode", &Instruction::instruction, &HloInstruction::opcode_name,
                "The opcode as HLO text spells it, such as 'dynamic-slice'.")
      .Property("shape", &Instruction::instruction, &HloInstruction::shape)
      .def_prop_ro("operands",
                   [](const Instruction& self) {
                     return WithState(self.state, self.instruction->operands());
                   })
      .def_prop_ro(
          "users",
          [](const Instruction& self) { return WithState(self.state, self.instruction->users()); },
          "The instructions that have this one as an operand, each once.")
      .def_prop_ro(
          "computation",
          [](const Instruction& self) {
            return Computation{self.state, self.instruction->parent()};
          },
          "The computation that it is in.")
      .def_prop_ro("module", [](const Instruction& self) { return Module{self.state}; })
      .def_prop_ro("called_computations",
                   [](const Instruction& self) {
                     return WithState(self.state, self.instruction->called_computations());
                   })
      .Property("is_root", &Instruction::instruction, &HloInstruction::is_root)
      .def_prop_ro(
          "parameter_number",
          [](const Instruction& self) -> std::optional<int64_t> {
            if (self.instruction->opcode() != HloOpcode::kParameter) return std::nullopt;
            return self.instruction->parameter_number();
          },
          "The number of a parameter; None for other instructions.")
      .Property(
          "argument",
          [](const Instruction& self) { return ArgumentOf(*self.state, *self.instruction); },
          "The Python function's argument that a parameter of the entry is, such as "
          "\"args[0]['w']\"; None if that is not known.")
      .Property(
          "op_name", [](const Instruction& self) { return self.instruction->metadata().op_name; },
          "The operation of the program that it comes from, such as 'jit(f)/add'; empty where that "
          "is not known.")
      .Property("source_file", &PlaceOf, &SourceFrame::file,
                "The file of the program's source; empty where it is not known.")
      .Property("source_line", &PlaceOf, &SourceFrame::line,
                "The line in it, from 1; 0 where it is not known.")
      .def_prop_ro(
          "frames",
          [](const Instruction& self) {
            std::vector<std::tuple<nb::str, int64_t, nb::str>> frames;
            for (const SourceFrame& frame : self.instruction->SourceFrames()) {
              frames.emplace_back(ToText(frame.file), frame.line, ToText(frame.function));
            }
            return frames;
          },
          "Where it stands in the program and who called that, the innermost first: (file, line, "
          "function).")
      .Property("text", &Instruction::instruction, &HloInstruction::ToString,
                "The line of HLO text.")
      .def("__reduce__",
           [](const Instruction& self) {
             return Unpickled("instruction",
                              nb::cast(Computation{self.state, self.instruction->parent()}),
                              ToText(self.instruction->name()));
           })
      .Text([](const Instruction& self) { return self.instruction->ToString(); });
}

}  // namespace

SharedModule NewModule(std::unique_ptr<HloModule> module, std::string filename) {
  auto state = std::make_shared<ModuleState>();
  state->owned = std::move(module);
  state->module = state->owned.get();
  state->filename = std::move(filename);
  FillIn(state.get());
  return state;
}

SharedModule NewModule(FusionView view, const SharedModule& original) {
  auto state = std::make_shared<ModuleState>();
  state->view.emplace(std::move(view));
  state->module = &state->view->module();
  state->original = original;
  state->filename = original->filename;
  FillIn(state.get());
  return state;
}

std::optional<std::string> ArgumentOf(const ModuleState& state, const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kParameter) return std::nullopt;
  if (state.view) {
    // What a parameter of a view stands for may be an argument.
    if (!instruction.parent()->is_entry()) return std::nullopt;
    return ArgumentOf(*state.original, *state.view->operand(instruction.parameter_number()));
  }
  if (!instruction.parent()->is_entry()) return std::nullopt;
  const std::string& name = state.argument_names[instruction.parameter_number()];
  return name.empty() ? std::nullopt : std::optional<std::string>(name);
}

SubjectClasses DefineModule(nb::module_& m) {
  DefineShape(m);
  SubjectClasses classes = {
      Class<Module>(m, "Module", R"doc(An HLO module: load() makes it, from what there is.

    >>> m = xi.load("ENTRY e { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }")
    >>> m.entry.root.opcode, m["p"].shape.dimensions
    ('negate', (4,))
)doc"),
      Class<Instruction>(m, "Instruction", R"doc(An instruction: an opcode applied to operands.

Equal where both are the same instruction of the same module object.
)doc"),
      Class<Computation>(m, "Computation",
                         R"doc(A computation: instructions, one of which is the root.

Its questions are about all of it, as one fusion: from the root to the parameters.
)doc"),
      Class<OperandMap>(
          m, "OperandIndexing",
          R"doc(One map of an operand, what its runtime variables are, and how much it says.

exactness 'exact': the elements named are those that are read, for every content of the tensors that runtime
variables are read from; 'over-approximate': and perhaps more are named than are read; 'unknown': nothing is
said. An element that the operation's formula names counts as read.
)doc")};
  DefineModuleClass(classes.module);
  DefineInstruction(classes.instruction);
  DefineComputation(classes.computation);
  m.def("parse", &ParseModulesOf, "content"_a, "filename"_a = "<bytes>",
        "The modules of a text of HLO, or the module of an HloModuleProto, which the verifier has "
        "to accept. ParseError where it does not.");
  return classes;
}

}  // namespace xla_indexing::python

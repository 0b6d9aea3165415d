// Questions that maps answer: utilization, equivalence, corresponding dimensions; views.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "python/src/classes.h"
#include "python/src/common.h"
#include "python/src/indexing.h"
#include "python/src/subjects.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/query/dims/corresponding_dims.h"
#include "xla_indexing/query/equivalence/equivalence.h"
#include "xla_indexing/query/explain/explain_dependence.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing::python {

Computation ComputationOf(const Subject& subject) {
  if (subject.computation != nullptr) return {subject.state, subject.computation};
  if (subject.instruction->opcode() == HloOpcode::kFusion) {
    return {subject.state, subject.instruction->calls()};
  }
  const SharedModule view =
      NewModule(ValueOf(FusionView::OfFusion(*subject.instruction)), subject.state);
  return {view, view->module->entry_computation()};
}

Subject ToSubject(nb::handle object) {
  if (nb::isinstance<Instruction>(object)) return Subject(*nb::inst_ptr<Instruction>(object));
  if (nb::isinstance<Computation>(object)) return Subject(*nb::inst_ptr<Computation>(object));
  throw nb::type_error("an Instruction or a Computation is needed");
}

Computation ToComputation(nb::handle object) {
  if (!nb::isinstance<Module>(object)) return ComputationOf(ToSubject(object));
  const SharedModule& state = nb::inst_ptr<Module>(object)->state;
  return {state, state->module->entry_computation()};
}

const Machine& MachineNamed(absl::string_view name) {
  const Machine* machine = FindMachine(name);
  if (machine == nullptr) {
    ThrowInvalid(absl::StrCat("'", name, "' is no machine: ", absl::StrJoin(MachineNames(), ", ")));
  }
  return *machine;
}

namespace {

// --- Utilization ---

struct OperandReads {
  Subject subject;
  OperandUtilization of;
};
struct UtilizationAnswer {
  Subject subject;
  UtilizationReport report;
};

const Utilization& UtilizationOf(const OperandReads& reads) { return reads.of.utilization; }

std::vector<OperandReads> ReadsOfReport(const UtilizationAnswer& answer) {
  std::vector<OperandReads> all;
  for (const OperandUtilization& of : answer.report.operands) all.push_back({answer.subject, of});
  return all;
}

const Traffic& TotalOf(const UtilizationAnswer& answer) { return answer.report.total; }

template <typename Class>
void DefineUtilizationOf(nb::class_<Class>& type) {
  type.def(
      "utilization",
      [](const Class& self) {
        Subject subject(self);
        UtilizationReport report = Locked(subject.state, [&] {
          return ValueOf(ComputeUtilization(subject.Target(), subject.state->indexers));
        });
        return UtilizationAnswer{std::move(subject), std::move(report)};
      },
      R"doc(How many elements of each operand are read, and how often.

    >>> m = xi.load("ENTRY e { p = f32[8] parameter(0)  ROOT b = f32[4,8] broadcast(p), dimensions={1} }")
    >>> [u] = m.entry.utilization().operands
    >>> int(u.elements_read), int(u.reads), u.reads_per_element
    (8, 32, 4.0)
)doc");
}

void DefineUtilization(nb::module_& m, SubjectClasses& classes) {
  constexpr const char* kCount = " An Interval, of one number where it is known.";
  Class<OperandReads>(m, "OperandUtilization",
                      "How much of one array of an operand one array of the result reads.")
      .Property("output_leaf", &OperandReads::of, &OperandUtilization::output_leaf)
      .Property("operand", &OperandReads::of, &OperandUtilization::operand)
      .Property("operand_leaf", &OperandReads::of, &OperandUtilization::operand_leaf)
      .Property(
          "operand_name",
          [](const OperandReads& self) { return NameOfOperand(self.subject, self.of.operand); })
      .Property("elements", &UtilizationOf, &Utilization::elements,
                absl::StrCat("Elements of the array.", kCount).c_str())
      .Property("elements_read", &UtilizationOf, &Utilization::elements_read,
                absl::StrCat("Elements that some element of the output reads.", kCount).c_str())
      .Property(
          "reads", &UtilizationOf, &Utilization::reads,
          absl::StrCat("Pairs of an element of the output and one that it reads.", kCount).c_str())
      .Property("bytes", &UtilizationOf, &Utilization::bytes,
                absl::StrCat("Bytes of all elements.", kCount).c_str())
      .Property("bytes_read", &UtilizationOf, &Utilization::bytes_read,
                absl::StrCat("Bytes of the elements that are read.", kCount).c_str())
      .Property(
          "bytes_of_reads", &UtilizationOf, &Utilization::bytes_of_reads,
          absl::StrCat("Bytes of all reads, if nothing is kept between them.", kCount).c_str())
      .Property("buffer_bytes", &UtilizationOf, &Utilization::buffer_bytes,
                "Bytes that the array takes in memory, with padding; None if that is not known.")
      .Property("used_fraction", &UtilizationOf, &Utilization::UsedFraction,
                "elements_read / elements; None if one of them is not known.")
      .Property("reads_per_element", &UtilizationOf, &Utilization::ReadsPerElement,
                "reads / elements_read; None if one of them is not known.")
      .Property("is_exact", &UtilizationOf, &Utilization::IsExact)
      .Property("has_runtime_values", &UtilizationOf, &Utilization::has_runtime_values)
      .Repr([](const OperandReads& self) {
        const Utilization& u = self.of.utilization;
        return absl::StrCat(NameOfOperand(self.subject, self.of.operand), ", ",
                            CountText(u.elements_read), " of ", CountText(u.elements),
                            " elements, ", CountText(u.reads), " reads");
      });
  Class<UtilizationAnswer>(m, "Utilization", "How much of its operands something uses.")
      .def_prop_ro("operands", &ReadsOfReport,
                   "By output leaf, operand and operand leaf. An array that nothing reads stands "
                   "with output 0.")
      .Property("bytes_of_reads", &TotalOf, &Traffic::bytes_of_reads,
                "Bytes of all reads, an Interval.")
      .Property("bytes_read", &TotalOf, &Traffic::bytes_read,
                "Bytes of all elements that are read, each once, an Interval.")
      .Property("bytes_written", &TotalOf, &Traffic::bytes_written,
                "Bytes of the result, an Interval.")
      .def(
          "rows",
          [](const UtilizationAnswer& self) {
            std::vector<TableRow> rows;
            for (const OperandReads& reads : ReadsOfReport(self)) {
              rows.push_back(
                  RowOf(nb::cast(reads), {"output_leaf", "operand", "operand_leaf", "operand_name",
                                          "elements_read", "elements", "reads", "used_fraction",
                                          "reads_per_element", "bytes_read", "bytes_of_reads"}));
            }
            return rows;
          },
          "A dict for each of `operands`.")
      .Repr([](const UtilizationAnswer& self) {
        const Traffic& total = self.report.total;
        return absl::StrCat("bytes read ", CountText(total.bytes_read), ", written ",
                            CountText(total.bytes_written));
      })
      .Html("of_rows");
  DefineUtilizationOf(classes.instruction);
  DefineUtilizationOf(classes.computation);
}

// --- Equivalence ---

// As Python writes it: `(0, 1)`, `(0,)`.
std::string ElementText(const std::vector<int64_t>& element) {
  return nb::repr(AsPython(element)).c_str();
}

using ParameterLeaf = std::pair<int64_t, int64_t>;

std::optional<ParameterLeaf> OtherOf(const LeafComparison& leaf) {
  if (!leaf.other) return std::nullopt;
  return ParameterLeaf(leaf.other->operand, leaf.other->operand_leaf);
}

TableRow RowOfComparison(const LeafComparison& leaf) {
  TableRow row = RowOf(nb::cast(leaf), {"output_leaf", "parameter", "parameter_leaf"});
  row["meets"] = OtherOf(leaf);
  row["same"] = ToBool(leaf.same);
  row["reason"] = TextOrNone(leaf.reason);
  return row;
}

void DefineEquivalence(nb::module_& m) {
  Class<PairOfOne>(m, "PairOfOne",
                   "A pair of elements that only one of two computations reads, or of elements "
                   "that meet only in one.")
      .def_ro("is_of_first", &PairOfOne::is_of_first, "Whether that is the first one.")
      .Property("output_element", &PairOfOne::output_element)
      .Property("operand_element", &PairOfOne::operand_element)
      .Property("other_element", &PairOfOne::other_element,
                "The element that it meets; None in a comparison of reads.")
      .Property("runtime_values", &PairOfOne::runtime_values,
                "What each runtime variable is bound to, and its value in this pair.")
      .Repr([](const PairOfOne& self) {
        return absl::StrCat(
            "output ", ElementText(self.output_element), self.other_element ? ", " : ", operand ",
            ElementText(self.operand_element),
            self.other_element ? absl::StrCat(" meets ", ElementText(*self.other_element)) : "",
            ", of the ", self.is_of_first ? "first" : "second");
      });
  Class<LeafComparison>(m, "LeafComparison",
                        "Whether two computations read one array of a parameter alike, or elements "
                        "of two arrays meet alike.")
      .def_ro("output_leaf", &LeafComparison::output_leaf)
      .def_ro("parameter", &LeafComparison::parameter)
      .def_ro("parameter_leaf", &LeafComparison::parameter_leaf)
      .Property("other", &OtherOf,
                "The other parameter and its leaf; None in a comparison of reads.")
      .Property("same", &LeafComparison::same, "None if it was not decided.")
      .Property("difference", &LeafComparison::difference,
                "A pair that only one has; None if none was found.")
      .Property("reason", &LeafComparison::reason, "Why it is not decided; empty where it is.");
  Class<EquivalenceReport>(m, "Equivalence",
                           "Whether two computations read the same elements of their parameters, "
                           "and the same elements meet.")
      .Property("same", &EquivalenceReport::same, "Whether both hold; None if undecided.")
      .Property("reads", &EquivalenceReport::reads,
                "Whether the same elements are read; None if undecided.")
      .Property("meets", &EquivalenceReport::meets,
                "Whether the same elements meet, as operands of one product or sum, or in one step "
                "of a dot. None if undecided, and if the elements read are not the same.")
      .Property("difference", &EquivalenceReport::difference,
                "How the shapes differ; empty where they do not.")
      .Property("leaves", &EquivalenceReport::leaves,
                "The comparison of each array of the output and each of a parameter.")
      .Property("pairs", &EquivalenceReport::pairs,
                "The comparison of what meets, for each two arrays of parameters.")
      .Property("reason", &EquivalenceReport::meets_reason,
                "Why it was not decided what meets, where that is for no single pair.")
      .def_ro("not_compared", &EquivalenceReport::not_compared,
              "The number of pairs of arrays that were left out.")
      .def("__bool__", [](const EquivalenceReport& self) { return self.same == Answer::kYes; })
      .def("rows",
           [](const EquivalenceReport& self) {
             std::vector<TableRow> rows;
             for (const std::vector<LeafComparison>* leaves : {&self.leaves, &self.pairs}) {
               for (const LeafComparison& leaf : *leaves) rows.push_back(RowOfComparison(leaf));
             }
             return rows;
           })
      .Repr([](const EquivalenceReport& self) {
        return self.same == Answer::kUndecided ? "not decided"
               : self.same == Answer::kYes     ? "same"
                                               : "different";
      })
      .Html("of_rows");
  m.def(
      "equivalent",
      [](nb::handle a, nb::handle b, int64_t max_steps) {
        const Computation first = ToComputation(a);
        const Computation second = ToComputation(b);
        return Interruptible([&] {
          // Modules are read without a lock; a context of its own serves both.
          mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
          return ValueOf(
              CompareReads(*first.computation, *second.computation, &context, {}, max_steps));
        });
      },
      "a"_a, "b"_a, nb::kw_only(), "max_steps"_a = kEquivalenceSteps,
      nb::sig("def equivalent(a: Instruction | Computation | Module, b: Instruction | Computation "
              "| Module, *, max_steps: int = 4194304) -> Equivalence"),
      R"doc(Whether two computations read the same elements of their parameters, and the same meet.

Fusions and other instructions are computations of their operands; a module is its entry.

    >>> a = xi.load("ENTRY e { p = f32[9] parameter(0)  ROOT r = f32[9] reverse(p), dimensions={0} }")
    >>> b = xi.load("ENTRY e { p = f32[9] parameter(0)  ROOT r = f32[9] negate(p) }")
    >>> xi.equivalent(a, a).same, xi.equivalent(a, b).leaves[0].difference
    (True, <xla_indexing.PairOfOne: output (0,), operand (0,), of the second>)
)doc");
}

// --- Why an element depends on another ---

void DefineDependence(nb::module_& m, SubjectClasses& classes) {
  Class<DependenceStep>(m, "DependenceStep", "An element on the way from the output to an operand.")
      .Property("instruction", &DependenceStep::instruction)
      .Property("opcode", &DependenceStep::opcode)
      .Property("computation", &DependenceStep::computation)
      .Property("op_name", &DependenceStep::op_name,
                "The operation of the model's program; empty where that is not known.")
      .Property("source_file", &DependenceStep::source_file,
                "The file of the program's source; empty where that is not known.")
      .def_ro("source_line", &DependenceStep::source_line, "The line, from 1; 0 if not known.")
      .def_ro("leaf", &DependenceStep::leaf, "The array of the instruction's result.")
      .Property("element", &DependenceStep::element)
      .Property("iterations", &DependenceStep::iterations,
                "The iterations of the loops around it that are followed, the outermost first.")
      .def_ro("repeats", &DependenceStep::repeats,
              "In how many iterations, this and those before it, the same steps are taken.")
      .Property("reason", &DependenceStep::reason,
                "Why it may not read the next element; empty where it does.")
      .Property("runtime_values", &DependenceStep::runtime_values,
                "The instructions whose values decide on what is read, and the values for which it "
                "is the next element.")
      .Repr([](const DependenceStep& self) {
        return absl::StrCat(self.instruction, " ", ElementText(self.element));
      });
  Class<DependenceReport>(m, "Explanation",
                          "Why an element of the output depends on one of an operand.")
      .Property("depends", &DependenceReport::answer,
                "Whether it does, or None if that was not decided.")
      .Property("reason", &DependenceReport::reason, "Why it was not decided; empty where it was.")
      .Property("steps", &DependenceReport::steps,
                "A shortest chain, from the output to the operand; empty where there is none.")
      .def_ro("depends_on_values", &DependenceReport::depends_on_values,
              "Whether values of the program decide on what some step reads.")
      .def("__bool__", [](const DependenceReport& self) { return self.answer == Answer::kYes; })
      .def("__str__", [](const DependenceReport& self) { return ToText(DependenceText(self)); })
      .Html("of_explanation")
      .Repr([](const DependenceReport& self) {
        return self.answer == Answer::kNo    ? "no"
               : self.answer == Answer::kYes ? absl::StrCat(self.steps.size(), " steps")
                                             : "not decided";
      });
  classes.computation.def(
      "explain",
      [](const Computation& self, std::vector<int64_t> output_element, int64_t operand,
         std::vector<int64_t> operand_element, int64_t output, int64_t operand_leaf,
         bool dependence, bool assume_finite) {
        Subject subject(self);
        return Locked(subject.state, [&] {
          FusionOptions options;
          options.indexing.dependence = ToDependence(dependence, assume_finite);
          const DependenceQuestion question = {output, std::move(output_element), operand,
                                               operand_leaf, std::move(operand_element)};
          if (options.indexing.dependence == Dependence::kReads) {
            return ValueOf(
                ExplainDependence(*subject.computation, question, subject.state->indexers));
          }
          HloIndexers indexers(&subject.state->context->mlir, options);
          return ValueOf(ExplainDependence(*subject.computation, question, indexers));
        });
      },
      "output_element"_a, "operand"_a, "operand_element"_a, "output"_a = 0, "operand_leaf"_a = 0,
      nb::kw_only(), "dependence"_a = false, "assume_finite"_a = false,
      R"doc(Why an element of the output depends on an element of a parameter.

The answer is a shortest chain of instructions through which it is read. `output` and `operand_leaf` are
numbers of arrays; `dependence` and `assume_finite` are those of indexing(). ValueError for an element outside
its array.

    >>> m = xi.load("ENTRY e { p = f32[4] parameter(0)  r = f32[4] reverse(p), dimensions={0}  ROOT n = f32[4] negate(r) }")
    >>> print(m.entry.explain((0,), 0, (3,)))
    n {0} depends on p {3}: 3 instructions
      n  {0}  negate
      r  {0}  reverse
      p  {3}  parameter
)doc");
}

// --- Corresponding dimensions ---

std::vector<CorrespondingDims> DimsOf(const Subject& subject) {
  return Locked(subject.state, [&] {
    return ValueOf(FindCorrespondingDims(subject.Target(), subject.state->indexers.usual()));
  });
}

void DefineCorrespondingDims(nb::module_& m, SubjectClasses& classes) {
  Class<LeafDim>(m, "LeafDim",
                 "A dimension of an array of an instruction's result or of an operand.")
      .def_prop_ro(
          "operand",
          [](const LeafDim& self) {
            return self.operand == LeafDim::kResult ? std::nullopt : std::optional(self.operand);
          },
          "The number of the operand; None for the result.")
      .def_ro("leaf", &LeafDim::leaf)
      .def_ro("dimension", &LeafDim::dim)
      .Repr([](const LeafDim& self) {
        return absl::StrCat(self.operand == LeafDim::kResult
                                ? "result "
                                : absl::StrCat("operand ", self.operand, " leaf "),
                            self.leaf, " dim ", self.dim);
      });
  Class<CorrespondingDims>(m, "CorrespondingDims",
                           "Dimensions that run together: cutting one into parts cuts all of them.")
      .def_prop_ro(
          "size",
          [](const CorrespondingDims& self) {
            return self.size == Shape::kUnboundedSize ? std::nullopt : std::optional(self.size);
          },
          "Their size; None if it has no bound.")
      .Property("dims", &CorrespondingDims::dims,
                "Those of results, then those of operands; two or more.")
      .def_ro(
          "is_batch", &CorrespondingDims::is_batch,
          "Whether the instruction is as many independent ones: no part needs another's operands.")
      .Text(&CorrespondingDims::ToString);
  classes.computation.def(
      "corresponding_dims", [](const Computation& self) { return DimsOf(Subject(self)); },
      "The dimensions of the root and of the parameters that run together, in groups: as of an "
      "instruction that calls it.");
  classes.instruction.def(
      "corresponding_dims", [](const Instruction& self) { return DimsOf(Subject(self)); },
      R"doc(The dimensions of the result and of the operands that run together, in groups.

    >>> m = xi.load('''ENTRY e { a = f32[5,8,3] parameter(0)  b = f32[5,3,7] parameter(1)
    ...   ROOT d = f32[5,8,7] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0},
    ...     lhs_contracting_dims={2}, rhs_contracting_dims={1} }''')
    >>> print(m["d"].corresponding_dims()[0])
    size 5: result 0 dim 0, operand 0 dim 0, operand 1 dim 0  (batch)
)doc");
}

// --- Views ---

struct View {
  SharedModule state;
};

// All of one module, as pointers.
std::vector<const HloInstruction*> PointersOf(const std::vector<Instruction>& instructions,
                                              SharedModule* state) {
  std::vector<const HloInstruction*> pointers;
  for (const Instruction& instruction : instructions) {
    if (*state == nullptr) *state = instruction.state;
    if (*state != instruction.state) ThrowInvalid("the instructions are of different modules");
    pointers.push_back(instruction.instruction);
  }
  return pointers;
}

View NewView(absl::StatusOr<FusionView> view, const SharedModule& original) {
  return {NewModule(ValueOf(std::move(view)), original)};
}

void DefineViews(nb::module_& m) {
  Class<View>(
      m, "FusionView",
      R"doc(Instructions of a module as a computation of their own: a fusion that is only thought of.

    >>> m = xi.load("ENTRY e { p = f32[2,3] parameter(0)  n = f32[2,3] negate(p)"
    ...             "  ROOT t = f32[3,2] transpose(n), dimensions={1,0} }")
    >>> view = xi.FusionView.of_producer_consumer(m["n"], m["t"])
    >>> print(view.computation.indexing()[0].maps[0]), view.operands[0].name
    (d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]
    (None, 'p')
)doc")
      .def_static(
          "between",
          [](const std::vector<Instruction>& from, const std::vector<Instruction>& roots) {
            SharedModule state;
            const auto ends = PointersOf(roots, &state);
            const auto starts = PointersOf(from, &state);
            return NewView(FusionView::Between(starts, ends), state);
          },
          "start"_a, "roots"_a,
          "What the roots are computed from, going no further than to `start`.")
      .def_static(
          "of_instructions",
          [](const std::vector<Instruction>& instructions) {
            SharedModule state;
            const auto pointers = PointersOf(instructions, &state);
            return NewView(FusionView::OfInstructions(pointers), state);
          },
          "instructions"_a, "Instructions as one, where a fusion of them is possible.")
      .def_static(
          "of_fusion",
          [](const Instruction& fusion) {
            return NewView(FusionView::OfFusion(*fusion.instruction), fusion.state);
          },
          "fusion"_a, "A fusion; also any other instruction, by itself.")
      .def_static(
          "of_producer_consumer",
          [](const Instruction& producer, const Instruction& consumer, bool producer_is_output) {
            SharedModule state;
            PointersOf({producer, consumer}, &state);
            return NewView(FusionView::OfProducerConsumer(
                               *producer.instruction, *consumer.instruction,
                               producer_is_output ? FusionView::ProducerIs::kOutput
                                                  : FusionView::ProducerIs::kInternal),
                           state);
          },
          "producer"_a, "consumer"_a, nb::kw_only(), "producer_is_output"_a = false,
          "A consumer with one of its producers fused into it, whoever else uses the producer.")
      .def_prop_ro("module", [](const View& self) { return Module{self.state}; })
      .def_prop_ro(
          "computation",
          [](const View& self) {
            return Computation{self.state, &self.state->view->computation()};
          },
          "The fusion's computation, which has all questions.")
      .def_prop_ro(
          "operands",
          [](const View& self) {
            return WithState(self.state->original, self.state->view->operands());
          },
          "What each parameter stands for: the instruction of the original.")
      .def_prop_ro(
          "roots",
          [](const View& self) { return WithState(self.state, self.state->view->roots()); },
          "The roots, instructions of the view.")
      .def(
          "copies_of",
          [](const View& self, const Instruction& original) {
            if (original.state != self.state->original) return std::vector<Instruction>();
            return WithState(self.state, self.state->view->CopiesOf(*original.instruction));
          },
          "original"_a, "The instructions of the view that have the value of one of the original.")
      .def(
          "original_of",
          [](const View& self, const Instruction& copy) -> std::optional<Instruction> {
            if (copy.state != self.state) return std::nullopt;
            const HloInstruction* const original = self.state->view->OriginalOf(*copy.instruction);
            if (original == nullptr) return std::nullopt;
            return Instruction{self.state->original, original};
          },
          "copy"_a,
          "What an instruction of the view is a copy of, or stands for; None if there is none.")
      .def(
          "emit",
          [](const nb::object& self, const nb::args& args, const nb::kwargs& kwargs) {
            return self.attr("computation").attr("emit")(*args, **kwargs);
          },
          nb::sig("def emit(self, tile_sizes: str | collections.abc.Mapping[str, int] | "
                  "collections.abc.Sequence[int] | None = None) -> str"),
          "`computation.emit`.")
      .def(
          "run",
          [](const nb::object& self, const nb::args& args, const nb::kwargs& kwargs) {
            return self.attr("computation").attr("run")(*args, **kwargs);
          },
          nb::sig(
              "def run(self, *arrays: typing.Any, tile_sizes: str | collections.abc.Mapping[str, "
              "int] | collections.abc.Sequence[int] | None = None) -> typing.Any"),
          "`computation.run`, of an array for each operand.")
      .Repr([](const View& self) {
        return absl::StrCat(self.state->view->computation().instruction_count(), " instructions");
      });
}

}  // namespace

void DefineQueries(nb::module_& m, SubjectClasses& classes) {
  DefineUtilization(m, classes);
  DefineEquivalence(m);
  DefineDependence(m, classes);
  DefineCorrespondingDims(m, classes);
  DefineViews(m);
}

}  // namespace xla_indexing::python

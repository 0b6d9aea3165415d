// Whether outputs may overwrite operands, and whether the aliases that a module states are safe.

#include "xla_indexing/query/in_place/in_place.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "python/src/classes.h"
#include "python/src/common.h"
#include "python/src/subjects.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/query/in_place/donations.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"

namespace xla_indexing::python {
namespace {

using NamedOrder = std::vector<std::pair<int64_t, const char*>>;

// The order of a condition or an answer: [(1, "descending"), (0, "ascending")].
template <typename Of>
NamedOrder OrderOf(const Of& of) {
  NamedOrder loops;
  for (const DirectedLoop& loop : of.order) {
    loops.emplace_back(loop.dimension, loop.is_descending ? "descending" : "ascending");
  }
  return loops;
}

// One pair of an output and an operand.
struct InPlacePair {
  SharedBuffer buffer;
  std::string operand_name;
  InPlaceSafety safety;
  Interval written;
};

const OperandLeaf& OperandOf(const InPlacePair& pair) { return pair.buffer.operand; }

void DefineSafety(nb::module_& m) {
  Class<InPlaceConflict>(m, "InPlaceConflict",
                         "Two elements of an output of which one overwrites what the other reads.")
      .Property("writer", &InPlaceConflict::writer, "The element that is written first.")
      .Property("reader", &InPlaceConflict::reader,
                "The element that is computed from what was there.")
      .Property("reader_leaf", &InPlaceConflict::reader_leaf,
                "The output that the reader is of, where it is another one.")
      .Property("operand", &InPlaceConflict::operand, "The element of the operand.")
      .def_ro("byte", &InPlaceConflict::byte, "The first byte of the buffer that both have.")
      .Property("runtime_values", &InPlaceConflict::runtime_values,
                "What elements that are read at run time contain.")
      .Text(&InPlaceConflict::ToString);
  Class<RuntimeCondition>(m, "RuntimeCondition",
                          "Values of the program for which an order is safe.")
      .Property("order", &OrderOf<RuntimeCondition>,
                "The loops from the outermost on; empty: any order.")
      .Text(&RuntimeCondition::ToString);
  Class<InPlaceSafety>(m, "InPlaceSafety",
                       "Whether an output may be written into the buffer of an operand.")
      .Property(
          "answer", [](const InPlaceSafety& self) { return InPlaceAnswerName(self.answer); },
          "'any order', 'in order', 'unsafe' or 'undecided'.")
      .def_prop_ro("is_safe", &InPlaceSafety::IsSafe, "Whether some order, or any, is safe.")
      .Property("order", &OrderOf<InPlaceSafety>,
                "Where it is safe in an order: dimensions and directions of the loops that matter, "
                "the outermost first.")
      .Property("conflict", &InPlaceSafety::conflict, "Why other orders are not safe.")
      .Property("conditions", &InPlaceSafety::conditions, "Each is enough for its order.")
      .Property("reason", &InPlaceSafety::reason, "Why it is undecided, or unsafe by its size.")
      .def("__bool__", &InPlaceSafety::IsSafe)
      .Text(&InPlaceSafety::ToString);
}

// The number of an operand that is given as one, or by its name.
std::optional<int64_t> OperandNumber(const Subject& subject, nb::handle operand) {
  if (operand.is_none()) return std::nullopt;
  if (!nb::isinstance<nb::str>(operand)) return nb::cast<int64_t>(operand);
  const auto name = nb::cast<std::string>(operand);
  for (size_t i = 0; i < subject.Operands().size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    if (NameOfOperand(subject, number) == name || subject.Operands()[i]->name() == name) {
      return number;
    }
  }
  ThrowInvalid(absl::StrCat("there is no operand '", name, "' of ", subject.Name()));
}

template <typename Class>
void DefineInPlaceOf(nb::class_<Class>& type) {
  type.def(
      "in_place",
      [](const Class& self, std::optional<int64_t> output, const nb::object& operand,
         std::optional<int64_t> max_pairs) {
        const Subject subject(self);
        PairFilter filter{output, OperandNumber(subject, operand)};
        return Locked(subject.state, [&] {
          mlir::MLIRContext* context = &subject.state->context->mlir;
          InPlaceAnalysis analysis =
              ValueOf(subject.instruction != nullptr
                          ? InPlaceAnalysis::OfInstruction(*subject.instruction, context)
                          : InPlaceAnalysis::OfComputation(*subject.computation, context));
          std::vector<InPlacePair> pairs;
          const int64_t count = analysis.CountCandidates(filter);
          if (!max_pairs && count > filter.max_pairs) {
            ThrowInvalid(absl::StrCat(
                "there are ", count,
                " pairs: ask about one output or one operand, or say how many with max_pairs"));
          }
          filter.max_pairs = max_pairs.value_or(filter.max_pairs);
          for (const SharedBuffer& buffer : analysis.Candidates(filter)) {
            CheckOk(QuestionBudget::CheckGoesOn());
            InPlaceSafety safety = ValueOf(analysis.Safety(buffer));
            const Interval written = ValueOf(analysis.Written(buffer)).count;
            pairs.push_back({buffer, NameOfOperand(subject, buffer.operand.operand),
                             std::move(safety), written});
          }
          return pairs;
        });
      },
      nb::kw_only(), "output"_a = nb::none(), "operand"_a = nb::none(), "max_pairs"_a = nb::none(),
      nb::sig("def in_place(self, *, output: int | None = None, operand: int | str | None = None, "
              "max_pairs: int | None = None) -> list[InPlacePair]"),
      R"doc(Which outputs may be written into the buffer of an operand of equally many bytes, and in which order.

All pairs, first those of the output and the operand in the same place; with `output`, the number of an
array of the result, or `operand`, a number or a name, only theirs, and only the first `max_pairs`.

    >>> m = xi.load("examples/in_place.hlo")
    >>> [pair] = m.entry.in_place()
    >>> pair.safety.answer, pair.safety.order, pair.safety.conflict.writer, pair.safety.conflict.reader
    ('in order', [(0, 'descending')], (1,), (2,))
    >>> pair.written
    Interval(3, 3)
)doc");
}

// One value of several in one buffer.
struct PlacedValue {
  SharedModule state;
  CheckedValue checked;
};

// An instruction of a computation that is given as such, or by its name, perhaps with a leaf: ("w", 2).
BufferValue ValueIn(const Computation& computation, nb::handle given) {
  if (nb::isinstance<nb::tuple>(given)) {
    const auto pair = nb::cast<nb::tuple>(given);
    if (pair.size() != 2) ThrowInvalid("a value is an instruction, or a pair of one and a leaf");
    BufferValue value = ValueIn(computation, pair[0]);
    value.leaf = nb::cast<int64_t>(pair[1]);
    return value;
  }
  if (nb::isinstance<Instruction>(given)) {
    const Instruction& instruction = nb::cast<const Instruction&>(given);
    if (instruction.state != computation.state)
      ThrowInvalid("the instruction is of another module");
    return {instruction.instruction};
  }
  const auto name = nb::cast<std::string>(given);
  for (const HloInstruction* i : computation.computation->instructions()) {
    if (i->name() == name) return {i};
  }
  ThrowInvalid(
      absl::StrCat("there is no instruction '", name, "' in ", computation.computation->name()));
}

void DefineOneBuffer(nb::module_& m, nb::class_<Computation>& computation) {
  Class<PlacedValue>(m, "PlacedValue", "A value that is to be written over another one.")
      .def_prop_ro(
          "value",
          [](const PlacedValue& self) {
            return Instruction{self.state, self.checked.value.instruction};
          },
          "The instruction that yields it.")
      .Property("leaf", [](const PlacedValue& self) { return self.checked.value.leaf; })
      .def_prop_ro(
          "before",
          [](const PlacedValue& self) {
            return Instruction{self.state, self.checked.before.instruction};
          },
          "The instruction that yields what the buffer holds before.")
      .Property("before_leaf", [](const PlacedValue& self) { return self.checked.before.leaf; })
      .Property("writer", &PlacedValue::checked, &CheckedValue::WriterName,
                "The instruction that the answer is about; empty where nothing is written.")
      .Property("safety", &PlacedValue::checked, &CheckedValue::safety)
      .def("__bool__", [](const PlacedValue& self) { return self.checked.safety.IsSafe(); })
      .Text([](const PlacedValue& self) { return self.checked.ToString(); });
  computation.def(
      "one_buffer",
      [](const Computation& self, const nb::list& given) {
        std::vector<BufferValue> values;
        for (const nb::handle value : given) values.push_back(ValueIn(self, value));
        const std::vector<CheckedValue> checked = Locked(self.state, [&] {
          return ValueOf(CheckOneBuffer(values, &self.state->context->mlir));
        });
        std::vector<PlacedValue> placed;
        for (const CheckedValue& value : checked) placed.push_back({self.state, value});
        return placed;
      },
      "values"_a,
      nb::sig("def one_buffer(self, values: list[str | Instruction | tuple[str | Instruction, "
              "int]]) -> list[PlacedValue]"),
      R"doc(Whether values may lie in one buffer, one after the other: an answer for each but the first.

A value is an instruction of this computation, by itself or by name, or a pair of it and a leaf of its
tuple. A parameter that comes first is taken to be donated.

    >>> m = xi.load("examples/donated.hlo")
    >>> for placed in m.entry.one_buffer(["x", "mid", "final"]):
    ...     print(placed)
    mid over x: any order
    final over mid: any order
)doc");
}

void DefinePairs(nb::module_& m) {
  Class<InPlacePair>(m, "InPlacePair",
                     "An array of the result and an array of an operand of equally many bytes.")
      .Property("output_leaf", &InPlacePair::buffer, &SharedBuffer::output_leaf)
      .Property("operand", &OperandOf, &OperandLeaf::operand)
      .Property("operand_leaf", &OperandOf, &OperandLeaf::operand_leaf)
      .Property("operand_name", &InPlacePair::operand_name)
      .Property("safety", &InPlacePair::safety,
                "Whether the array of the result may be written into the buffer of the other.")
      .Property("written", &InPlacePair::written,
                "How many elements are written then, an Interval.")
      .Repr([](const InPlacePair& self) {
        return absl::StrCat("output ", self.buffer.output_leaf, " in ", self.operand_name, ": ",
                            self.safety.ToString());
      });
}

void DefineAliases(nb::module_& m, nb::class_<Module>& module) {
  Class<CheckedAlias>(m, "CheckedAlias", "Whether an alias that a module states is safe.")
      .def_ro("output", &CheckedAlias::output, "The shape index of the output, as it is written.")
      .def_ro("operand", &CheckedAlias::operand, "The number of the parameter or operand.")
      .def_ro("operand_index", &CheckedAlias::operand_index, "The shape index in it.")
      .Property("writer", &CheckedAlias::WriterName,
                "The instruction that the answer is about; empty where nothing is written.")
      .Property("safety", &CheckedAlias::safety)
      .Text(&CheckedAlias::ToString);
  module.def(
      "donations",
      [](const Module& self) {
        std::vector<TableRow> rows;
        for (const Donation& donation : ValueOf(Locked(self.state, [&] {
               return CheckDonations(*self.state->module, &self.state->context->mlir);
             }))) {
          TableRow& row = rows.emplace_back();
          row["parameter"] = donation.parameter.instruction->parameter_number();
          row["leaf"] = donation.parameter.leaf;
          row["answer"] = DonationAnswerName(donation.answer);
          row["outputs"] = AsPython(donation.output_leaves);
          row["bytes"] = donation.bytes;
          row["why"] = ToText(donation.why);
        }
        return rows;
      },
      R"doc(For each array of the parameters, whether it is donated, whether that saves a copy, or whether it could be.

`answer` is one of may_donate(): 'aliased', 'copied', 'unused', 'possible', 'impossible', 'undecided'.

    >>> m = xi.load("ENTRY e { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }")
    >>> [(d["answer"], d["outputs"], d["bytes"]) for d in m.donations()]
    [('possible', (0,), 16)]
)doc");
  module.def(
      "aliases",
      [](const Module& self) {
        return Locked(self.state, [&] {
          return CheckAliases(*self.state->module, &self.state->context->mlir);
        });
      },
      R"doc(The aliases that the module states (input_output_alias, output_to_operand_aliasing), checked.

    >>> [alias] = xi.load("examples/in_place.hlo").aliases()
    >>> alias.output, alias.operand, alias.writer, alias.safety.answer
    ('{}', 0, 'shifted', 'in order')
)doc");
}

}  // namespace

void DefineInPlace(nb::module_& m, SubjectClasses& classes) {
  DefineSafety(m);
  DefinePairs(m);
  DefineAliases(m, classes.module);
  DefineInPlaceOf(classes.instruction);
  DefineInPlaceOf(classes.computation);
  DefineOneBuffer(m, classes.computation);
}

}  // namespace xla_indexing::python

// Whether outputs may overwrite operands, and whether the aliases that a module states are safe.

#include "xla_indexing/query/in_place/in_place.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "python/src/common.h"
#include "python/src/subjects.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"

namespace xla_indexing::python {
namespace {

nb::object IndexTuple(const std::vector<int64_t>& element) {
  nb::list list;
  for (const int64_t index : element) list.append(index);
  return nb::tuple(list);
}

// [(1, "descending"), (0, "ascending")].
nb::list OrderList(const LoopOrder& order) {
  nb::list loops;
  for (const DirectedLoop& loop : order) {
    loops.append(nb::make_tuple(loop.dimension, loop.is_descending ? "descending" : "ascending"));
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

constexpr const char* kOrderType = "list[tuple[int, str]]";

void DefineSafety(nb::module_& m) {
  const std::string order_sig = absl::StrCat("def order(self) -> ", kOrderType);
  nb::class_<InPlaceConflict>(
      m, "InPlaceConflict",
      "Two elements of an output of which one overwrites what the other reads.")
      .def_prop_ro(
          "writer", [](const InPlaceConflict& self) { return IndexTuple(self.writer); },
          "The element that is written first.", nb::sig("def writer(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "reader", [](const InPlaceConflict& self) { return IndexTuple(self.reader); },
          "The element that is computed from what was there.",
          nb::sig("def reader(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "reader_leaf", [](const InPlaceConflict& self) { return self.reader_leaf; },
          "The output that the reader is of, where it is another one.")
      .def_prop_ro(
          "operand", [](const InPlaceConflict& self) { return IndexTuple(self.operand); },
          "The element of the operand.", nb::sig("def operand(self) -> tuple[int, ...]"))
      .def_ro("byte", &InPlaceConflict::byte, "The first byte of the buffer that both have.")
      .def_prop_ro(
          "runtime_values",
          [](const InPlaceConflict& self) {
            nb::dict values;
            for (const auto& [name, value] : self.runtime_values) values[ToText(name)] = value;
            return values;
          },
          "What elements that are read at run time contain.",
          nb::sig("def runtime_values(self) -> dict[str, int]"))
      .def("__str__", &InPlaceConflict::ToString)
      .def("__repr__",
           [](const InPlaceConflict& self) { return ReprOf("InPlaceConflict", self.ToString()); });
  nb::class_<RuntimeCondition>(m, "RuntimeCondition",
                               "Values of the program for which an order is safe.")
      .def_prop_ro(
          "order", [](const RuntimeCondition& self) { return OrderList(self.order); },
          "The loops from the outermost on; empty: any order.", nb::sig(order_sig.c_str()))
      .def("__str__", &RuntimeCondition::ToString)
      .def("__repr__", [](const RuntimeCondition& self) {
        return ReprOf("RuntimeCondition", self.ToString());
      });
  nb::class_<InPlaceSafety>(m, "InPlaceSafety",
                            "Whether an output may be written into the buffer of an operand.")
      .def_prop_ro(
          "answer",
          [](const InPlaceSafety& self) { return ToText(InPlaceAnswerName(self.answer)); },
          "'any order', 'in order', 'unsafe' or 'undecided'.")
      .def_prop_ro("is_safe", &InPlaceSafety::IsSafe, "Whether some order, or any, is safe.")
      .def_prop_ro(
          "order", [](const InPlaceSafety& self) { return OrderList(self.order); },
          "Where it is safe in an order: dimensions and directions of the loops that matter, the "
          "outermost first.",
          nb::sig(order_sig.c_str()))
      .def_prop_ro(
          "conflict", [](const InPlaceSafety& self) { return self.conflict; },
          "Why other orders are not safe.")
      .def_prop_ro(
          "conditions", [](const InPlaceSafety& self) { return self.conditions; },
          "Each is enough for its order.")
      .def_prop_ro(
          "reason", [](const InPlaceSafety& self) { return ToText(self.reason); },
          "Why it is undecided, or unsafe by its size.")
      .def("__bool__", &InPlaceSafety::IsSafe)
      .def("__str__", &InPlaceSafety::ToString)
      .def("__repr__",
           [](const InPlaceSafety& self) { return ReprOf("InPlaceSafety", self.ToString()); });
}

template <typename Class>
void DefineInPlaceOf(nb::class_<Class>& type) {
  type.def(
      "in_place",
      [](const Class& self, int64_t max_pairs) {
        const Subject subject(self);
        return Locked(*subject.state->context, [&] {
          mlir::MLIRContext* context = &subject.state->context->mlir;
          InPlaceAnalysis analysis =
              ValueOf(subject.instruction != nullptr
                          ? InPlaceAnalysis::OfInstruction(*subject.instruction, context)
                          : InPlaceAnalysis::OfComputation(*subject.computation, context));
          std::vector<InPlacePair> pairs;
          for (const SharedBuffer& buffer : analysis.Candidates(max_pairs)) {
            InPlaceSafety safety = ValueOf(analysis.Safety(buffer));
            const Interval written = ValueOf(analysis.Written(buffer)).count;
            pairs.push_back({buffer, NameOfOperand(subject, buffer.operand.operand),
                             std::move(safety), written});
          }
          return pairs;
        });
      },
      nb::kw_only(), "max_pairs"_a = 1024,
      R"doc(Which outputs may be written into the buffer of an operand of equally many bytes, and in which order.

    >>> m = xi.load("examples/in_place.hlo")
    >>> [pair] = m.entry.in_place()
    >>> pair.safety.answer, pair.safety.order, pair.safety.conflict.writer, pair.safety.conflict.reader
    ('in order', [(0, 'descending')], (1,), (2,))
    >>> pair.written
    Interval(3, 3)
)doc");
}

void DefinePairs(nb::module_& m) {
  nb::class_<InPlacePair>(
      m, "InPlacePair", "An array of the result and an array of an operand of equally many bytes.")
      .def_prop_ro("output_leaf", [](const InPlacePair& self) { return self.buffer.output_leaf; })
      .def_prop_ro("operand", [](const InPlacePair& self) { return self.buffer.operand.operand; })
      .def_prop_ro("operand_leaf",
                   [](const InPlacePair& self) { return self.buffer.operand.operand_leaf; })
      .def_prop_ro("operand_name",
                   [](const InPlacePair& self) { return ToText(self.operand_name); })
      .def_prop_ro(
          "safety", [](const InPlacePair& self) { return self.safety; },
          "Whether the array of the result may be written into the buffer of the other.")
      .def_prop_ro(
          "written", [](const InPlacePair& self) { return self.written; },
          "How many elements are written then, an Interval.")
      .def("__repr__", [](const InPlacePair& self) {
        return ReprOf("InPlacePair", absl::StrCat("output ", self.buffer.output_leaf, " in ",
                                                  self.operand_name, ": ", self.safety.ToString()));
      });
}

void DefineAliases(nb::module_& m, nb::class_<Module>& module) {
  nb::class_<CheckedAlias>(m, "CheckedAlias", "Whether an alias that a module states is safe.")
      .def_ro("output", &CheckedAlias::output, "The shape index of the output, as it is written.")
      .def_ro("operand", &CheckedAlias::operand, "The number of the parameter or operand.")
      .def_ro("operand_index", &CheckedAlias::operand_index, "The shape index in it.")
      .def_prop_ro(
          "writer", [](const CheckedAlias& self) { return ToText(self.WriterName()); },
          "The instruction that the answer is about; empty where nothing is written.")
      .def_prop_ro("safety", [](const CheckedAlias& self) { return self.safety; })
      .def("__str__", [](const CheckedAlias& self) { return ToText(self.ToString()); })
      .def("__repr__",
           [](const CheckedAlias& self) { return ReprOf("CheckedAlias", self.ToString()); });
  module.def(
      "aliases",
      [](const Module& self) {
        return Locked(*self.state->context, [&] {
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
}

}  // namespace xla_indexing::python

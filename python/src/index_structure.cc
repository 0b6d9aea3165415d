// What gathers and scatters are.

#include "xla_indexing/query/index_structure/index_structure.h"

#include "absl/strings/str_cat.h"
#include "python/src/classes.h"
#include "python/src/common.h"

namespace xla_indexing::python {

void DefineIndexStructure(nb::module_& m, SubjectClasses& classes) {
  constexpr const char* kNone = " None if it is not decided.";
  Class<IndexStructure>(m, "IndexStructure", "What a gather or a scatter is.")
      .Property("name", &IndexStructure::name,
                "The operations that it is, 'strided slice, reverse', or 'unrecognised'.")
      .Property("reason", &IndexStructure::reason)
      .Property("where", &IndexStructure::where,
                "Of an unrecognised one: a condition under which it is something; else empty.")
      .Property("not_replaced", &IndexStructure::not_replaced,
                "Why no other operation is written for it, where it has a name; else empty.")
      .Property("sorted", &IndexStructure::sorted, &IndexProperty::holds,
                absl::StrCat("Whether no index is less than one before it.", kNone).c_str())
      .Property("unique", &IndexStructure::unique, &IndexProperty::holds,
                absl::StrCat("Whether no two updates of a scatter meet.", kNone).c_str())
      .Property("in_bounds", &IndexStructure::in_bounds, &IndexProperty::holds,
                absl::StrCat("Whether every window is inside of the operand.", kNone).c_str())
      .def_prop_ro("is_replaceable", &IndexStructure::IsReplaceable,
                   "Whether there are operations, or attributes, that say it better.")
      .Text(&IndexStructure::name);
  classes.instruction.def(
      "index_structure",
      [](const Instruction& self) {
        return Locked(self.state, [&] {
          return ValueOf(IndexStructureOf(*self.instruction, &self.state->context->mlir));
        });
      },
      R"doc(What a gather or a scatter of one array is.

    >>> what = xi.load("examples/indices.hlo")["every_other"].index_structure()
    >>> what.name, what.sorted, what.in_bounds
    ('strided slice, reverse', False, True)
)doc");
  classes.module.def(
      "rewrite_indices",
      [](const Module& self) {
        return Module{NewModule(Locked(self.state,
                                       [&] {
                                         return ValueOf(RewriteIndices(*self.state->module,
                                                                       &self.state->context->mlir));
                                       }),
                                self.state->filename)};
      },
      R"doc(A module with gathers and scatters written as the operations that they are.

    >>> m = xi.load("examples/indices.hlo").rewrite_indices()
    >>> "gather" in [i.opcode for i in m.instructions]
    False
)doc");
}

}  // namespace xla_indexing::python

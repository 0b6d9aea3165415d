// The indexing of instructions and computations, in both directions.

#include "python/src/indexing.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "python/src/classes.h"
#include "python/src/common.h"
#include "python/src/contents.h"
#include "python/src/subjects.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/binding_words.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/exactness.h"

namespace xla_indexing::python {

FusionOptions AskedOptions::ToOptions() const {
  FusionOptions options;
  options.indexing.exact = exact;
  options.indexing.dependence = dependence;
  options.indexing.fold_runtime_variables = fold_runtime_variables;
  options.indexing.scatter_bounds = scatter_bounds;
  options.max_maps = max_maps;
  return options;
}

Dependence ToDependence(bool dependence, bool assume_finite) {
  if (assume_finite) return Dependence::kFiniteValues;
  return dependence ? Dependence::kValues : Dependence::kReads;
}

std::string NameOfOperand(const Subject& subject, int64_t operand) {
  const HloInstruction& instruction = *subject.Operands()[operand];
  return ArgumentOf(*subject.state, instruction).value_or(std::string(instruction.name()));
}

namespace {

// OperandMap.reads() and Entry.reads().
constexpr char kSignatureOfReads[] =
    "def reads(self, indices: numpy.typing.ArrayLike, contents: dict[str, numpy.typing.ArrayLike] "
    "= {}, *, max_points: int = 268435456) -> tuple[numpy.typing.NDArray[numpy.int64], "
    "numpy.typing.NDArray[numpy.int64]]";
constexpr char kSignatureOfEntryReads[] =
    "def reads(self, indices: numpy.typing.ArrayLike, contents: dict[str, numpy.typing.ArrayLike] "
    "= {}, *, arguments: dict[str, numpy.typing.ArrayLike] = {}, unknown: str | None = None, "
    "max_points: int = 268435456) -> tuple[numpy.typing.NDArray[numpy.int64], "
    "numpy.typing.NDArray[numpy.int64]]";

// --- Asking ---

// A Direction, or its name: 'output_to_input', with `-` for `_` where one likes.
Direction ToDirection(nb::handle direction) {
  if (nb::isinstance<Direction>(direction)) return nb::cast<Direction>(direction);
  if (nb::isinstance<nb::str>(direction)) {
    const std::string name =
        absl::StrReplaceAll(absl::AsciiStrToLower(nb::cast<std::string>(direction)), {{"-", "_"}});
    if (name == "output_to_input") return Direction::kOutputToInput;
    if (name == "input_to_output") return Direction::kInputToOutput;
  }
  ThrowInvalid(absl::StrCat("direction is ", nb::cast<std::string>(nb::repr(direction)),
                            ", and has to be 'output_to_input' or 'input_to_output'"));
}

ScatterBounds ToScatterBounds(absl::string_view name) {
  if (name == "window") return ScatterBounds::kWindow;
  if (name == "element") return ScatterBounds::kElement;
  ThrowInvalid(absl::StrCat("scatter_bounds is '", name,
                            "', and has to be 'window' (HLO) or 'element' (StableHLO)"));
}

Indexing Ask(Subject subject, Direction direction, const AskedOptions& asked) {
  if (asked.max_maps < 1)
    ThrowInvalid(absl::StrCat("max_maps is ", asked.max_maps, ", and has to be at least 1"));
  SharedIndexing entries = Locked(subject.state, [&] {
    if (asked.IsUsual()) return ValueOf(AskUsual(subject, direction, asked.exact, asked.from));
    HloIndexer indexer(&subject.state->context->mlir, asked.ToOptions());
    return ValueOf(indexer.Index(subject.Target(), direction, asked.from));
  });
  return {std::move(subject), direction, asked, std::move(entries)};
}

// The leaf that a question starts from, of the arguments that say so.
std::optional<OperandLeaf> StartOf(Direction direction, std::optional<int64_t> output_leaf,
                                   std::optional<int64_t> operand,
                                   std::optional<int64_t> operand_leaf) {
  if (direction == Direction::kOutputToInput) {
    if (operand || operand_leaf) {
      ThrowInvalid(
          "from output to input a question starts from an output_leaf; maps() selects operands");
    }
    return output_leaf ? std::optional<OperandLeaf>({0, *output_leaf}) : std::nullopt;
  }
  if (output_leaf) {
    ThrowInvalid(
        "from input to output a question starts from an operand; maps() selects output leaves");
  }
  if (!operand && !operand_leaf) return std::nullopt;
  if (!operand) ThrowInvalid("operand_leaf needs an operand");
  return OperandLeaf{*operand, operand_leaf.value_or(0)};
}

template <typename Class>
void DefineAsking(nb::class_<Class>& type) {
  type.def(
      "indexing",
      [](const Class& self, nb::handle named_direction, bool exact,
         std::optional<int64_t> output_leaf, std::optional<int64_t> operand,
         std::optional<int64_t> operand_leaf, bool fold_runtime_variables,
         absl::string_view scatter_bounds, int max_maps, bool dependence, bool assume_finite) {
        const Direction direction = ToDirection(named_direction);
        return Ask(Subject(self), direction,
                   {exact, ToDependence(dependence, assume_finite), fold_runtime_variables,
                    ToScatterBounds(scatter_bounds), max_maps,
                    StartOf(direction, output_leaf, operand, operand_leaf)});
      },
      "direction"_a = "output_to_input", nb::kw_only(), "exact"_a = false,
      "output_leaf"_a = nb::none(), "operand"_a = nb::none(), "operand_leaf"_a = nb::none(),
      "fold_runtime_variables"_a = true, "scatter_bounds"_a = "window",
      "max_maps"_a = FusionOptions().max_maps, "dependence"_a = false, "assume_finite"_a = false,
      nb::sig("def indexing(self, direction: Direction | str = 'output_to_input', *, exact: bool = "
              "False, output_leaf: int | None = None, operand: int | None = None, operand_leaf: "
              "int | None = None, fold_runtime_variables: bool = True, scatter_bounds: str = "
              "'window', max_maps: int = 256, dependence: bool = False, assume_finite: bool = "
              "False) -> Indexing"),
      R"doc(The indexing maps between all arrays of the result and all arrays of the operands.

`direction` is 'output_to_input' (what is read) or 'input_to_output' (where it goes), or a Direction.

Operands of a computation are its parameters. `output_leaf` (output to input), or `operand` and
`operand_leaf` (input to output), ask about one array alone. `exact` asks for the tightest maps, which may be
more; `fold_runtime_variables` replaces offsets that the module fixes by their values; `scatter_bounds` says
whether a scatter drops a whole 'window' that is partly outside (HLO) or its 'element' (StableHLO); past
`max_maps` maps of one array they are widened to one.

`dependence` asks for what can change a value, instead of what is read: of a select whose predicate is decided
by indices and constants, only the value that it takes. `assume_finite`, which implies it, also takes all
numbers that are no constants to be finite and less than 1e9 in size: 0 * x is 0, exp(-inf) is 0.

    >>> m = xi.load("ENTRY e { p = f32[20,20] parameter(0)  t = f32[20,20] transpose(p), dimensions={1,0}"
    ...             "  ROOT s = f32[20,20] add(p, t) }")
    >>> print(m.entry.indexing())
    Output 0 operand 0:
    (d0, d1) -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 19]
    (d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]

Error where there is no such array.
)doc");
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    const bool is_to_input = direction == Direction::kOutputToInput;
    type.def(
        is_to_input ? "output_to_input" : "input_to_output",
        [direction](const Class& self, bool exact) {
          return Ask(Subject(self), direction, {exact});
        },
        nb::kw_only(), "exact"_a = false,
        is_to_input
            ? "What the elements of the result are computed from: indexing(OUTPUT_TO_INPUT)."
            : "What is computed from the elements of the operands: indexing(INPUT_TO_OUTPUT).");
  }
}

// --- Entries ---

using PictureIndices = std::optional<std::vector<int64_t>>;

PictureObject PictureOfStart(const Indexing& indexing, const InstructionIndexing& entries,
                             OperandLeaf from, const PictureOptions& options) {
  const Subject& subject = indexing.subject;
  PictureSubject pictured = {
      *subject.Result(), "result", subject.Operands(), {}, indexing.direction};
  for (size_t i = 0; i < subject.Operands().size(); ++i) {
    pictured.operand_names.push_back(NameOfOperand(subject, static_cast<int64_t>(i)));
  }
  return ToPython(Locked(
      subject.state, [&] { return ValueOf(PictureOfEntries(pictured, entries, from, options)); }));
}

absl::string_view LabelOf(const OperandIndexing& map) {
  return ExactnessName(map.label().exactness);
}

// As print-indexing writes it, `Output 0 operand 1 leaf 2:`, with the argument that the operand is
// where that is known: `Output 0 operand 1 (params['w']):`.
std::string HeadingOf(const Entry& entry) {
  const IndexingEntry& e = entry.Get();
  const Subject& subject = entry.indexing.subject;
  const HloInstruction& instruction = *subject.Operands()[e.operand];
  const std::optional<std::string> argument = ArgumentOf(*subject.state, instruction);
  const std::string operand = absl::StrCat(
      e.operand, instruction.shape().IsTuple() ? absl::StrCat(" leaf ", e.operand_leaf) : "",
      argument ? absl::StrCat(" (", *argument, ")") : "");
  return entry.indexing.direction == Direction::kOutputToInput
             ? absl::StrCat("Output ", e.output_leaf, " operand ", operand, ":")
             : absl::StrCat("Input ", operand, " output ", e.output_leaf, ":");
}

// Within Locked().
std::string EntryText(const Entry& entry) {
  std::string text = HeadingOf(entry);
  for (const OperandIndexing& map : entry.Get().indexing) {
    absl::StrAppend(&text, "\n", map.ToString(entry.indexing.subject.Analysed()));
  }
  return text;
}

std::string TextOfEntries(const Indexing& indexing) {
  return Locked(indexing.subject.state, [&] {
    std::string text;
    for (size_t i = 0; i < indexing.entries->size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : "\n", EntryText({indexing, i}));
    }
    return text;
  });
}

std::vector<Entry> EntriesOf(const Indexing& indexing) {
  std::vector<Entry> entries;
  for (size_t i = 0; i < indexing.entries->size(); ++i) entries.push_back({indexing, i});
  return entries;
}

std::vector<OperandMap> MapsOf(const Entry& entry) {
  std::vector<OperandMap> maps;
  for (size_t i = 0; i < entry.Get().indexing.size(); ++i) maps.push_back({entry, i});
  return maps;
}

std::vector<TableRow> RowsOf(const Entry& entry) {
  std::vector<TableRow> rows;
  const nb::object object = nb::cast(entry);
  for (const OperandIndexing& map : entry.Get().indexing) {
    const std::string text =
        Locked(entry.indexing.subject.state, [&] { return map.map().ToString(); });
    TableRow& row = rows.emplace_back();
    AddCells(object, {"output_leaf", "operand", "operand_leaf", "operand_name"}, &row);
    row["map"] = TextOrNone(map.IsUnknown() ? "" : text);
    row["exactness"] = ToText(LabelOf(map));
    row["reason"] = TextOrNone(map.label().reason);
    row["runtime_variables"] = map.map().num_runtimes();
  }
  return rows;
}

void DefineEntries(nb::module_& m) {
  Class<Entry>(m, "Entry",
               R"doc(The maps between one array of the result and one array of one operand.

Output to input: dimensions are those of the output's array, results index the operand's. Input to output:
the reverse. Arrays ("leaves") are numbered depth first where a shape is a tuple.
)doc")
      .Property("output_leaf", &Entry::Get, &IndexingEntry::output_leaf)
      .Property("operand", &Entry::Get, &IndexingEntry::operand,
                "The number of the operand, or of the computation's parameter.")
      .Property("operand_leaf", &Entry::Get, &IndexingEntry::operand_leaf)
      .Property(
          "operand_name",
          [](const Entry& self) {
            return NameOfOperand(self.indexing.subject, self.Get().operand);
          },
          "The Python function's argument that the operand is, where that is known; otherwise its "
          "name.")
      .def_prop_ro("operand_instruction",
                   [](const Entry& self) {
                     return Instruction{self.indexing.subject.state,
                                        self.indexing.subject.Operands()[self.Get().operand]};
                   })
      .Property("output_shape", &Entry::OutputShape, "The Shape of the output's array.")
      .Property("operand_shape", &Entry::OperandShape, "The Shape of the operand's array.")
      .Property("direction", &Entry::indexing, &Indexing::direction)
      .def_prop_ro("maps", &MapsOf,
                   "The maps, each an OperandIndexing; what is read is their union.")
      .def_prop_ro(
          "is_exact", [](const Entry& self) { return self.Get().indexing.label().IsExact(); },
          "Whether all maps are exact.")
      .Property(
          "exactness",
          [](const Entry& self) { return ExactnessName(self.Get().indexing.label().exactness); },
          "The weakest label of the maps: 'exact', 'over-approximate' or 'unknown'.")
      .def(
          "reads",
          [](const Entry& self, nb::handle indices, const nb::dict& contents,
             const nb::dict& arguments, nb::handle unknown, int64_t max_points) -> nb::object {
            if (arguments.size() == 0 && unknown.is_none()) {
              return ReadsWithContents(self, MapsOf(self), indices, contents, max_points);
            }
            return nb::module_::import_("xla_indexing._values")
                .attr("reads")(self, indices, contents, arguments, unknown, max_points);
          },
          "indices"_a, "contents"_a = nb::dict(), nb::kw_only(), "arguments"_a = nb::dict(),
          "unknown"_a = nb::none(), "max_points"_a = kMaxPointsRead,
          nb::sig(kSignatureOfEntryReads),
          R"doc(All elements that many elements map to, by any of the maps: a pair (rows, elements) of int64 arrays.

Row `rows[i]` of `indices` maps to `elements[i]`; pairs are sorted, and each is there once. `contents` has the
arrays that the program computes and that runtime variables are read from, by their `source`. What a loop
computes has the iterations as its first dimension. Of what is not there `arguments` are the arrays of parameters, by
the name of the argument or parameter, from which integers are computed here as the program does.
With `unknown` "any" a map of which a value is still not known maps to every element that it could, for proofs.

    >>> m = xi.load("ENTRY e { p = f32[9,2] parameter(0)  i = s32[3,1] parameter(1)  ROOT g = f32[3,2] gather(p, i),"
    ...             " offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,"
    ...             " slice_sizes={1,2} }")
    >>> rows, elements = m.entry.indexing()[0].reads([[0, 0], [2, 1]], {"i": [[7], [3], [100]]})
    >>> rows.tolist(), elements.tolist()
    ([0, 1], [[7, 0], [8, 1]])
    >>> m.entry.indexing()[0].reads([[2, 1]], unknown="any")[1][:, 0].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8]

Error where indices are not those of elements, where an array is missing, has another shape, or lacks an element
that is read, and for more than `max_points` points.
)doc")
      .def(
          "contents_from",
          [](const Entry& self, const nb::list& arguments) {
            return ContentsFromArguments(self, MapsOf(self), arguments);
          },
          "arguments"_a,
          nb::sig("def contents_from(self, arguments: list[typing.Any]) -> dict[str, "
                  "numpy.typing.NDArray[numpy.int64]]"),
          R"doc(The arrays that runtime variables of the maps are read from, by their `source`, as reads() takes them.

They are computed from `arguments`: for each parameter of the computation an array of integers of its shape, or None
where it is not known. What is made of other values, or in the iterations of a loop, is left out.

    >>> m = xi.load("ENTRY e { p = f32[9] parameter(0)  i = s32[] parameter(1)  j = s32[] negate(i)"
    ...             "  ROOT s = f32[3] dynamic-slice(p, j), dynamic_slice_sizes={3} }")
    >>> m.entry.indexing()[0].contents_from([None, -4])
    {'j': array(4, dtype=int64)}

Error for an argument of another shape, TypeError for one that is no integers.
)doc")
      .def("rows", &RowsOf, "A dict for each map.")
      .def("__reduce__",
           [](const Entry& self) {
             return Unpickled("item", nb::cast(self.indexing), nb::cast(self.position));
           })
      .def("__str__",
           [](const Entry& self) {
             return ToText(Locked(self.indexing.subject.state, [&] { return EntryText(self); }));
           })
      .Repr([](const Entry& self) {
        return absl::StrCat(HeadingOf(self), " ", self.Get().indexing.size(), " maps");
      })
      .Html("of_rows")
      .def(
          "picture",
          [](const Entry& self, const PictureIndices& element, const PictureIndices& runtime) {
            const IndexingEntry& entry = self.Get();
            return PictureOfStart(self.indexing, {entry},
                                  self.indexing.direction == Direction::kOutputToInput
                                      ? OperandLeaf{0, entry.output_leaf}
                                      : OperandLeaf{entry.operand, entry.operand_leaf},
                                  {element, runtime});
          },
          "element"_a = nb::none(), "runtime"_a = nb::none(),
          "An element of the array that the maps start from, and all elements that it maps to.");

  Class<Indexing>(m, "Indexing",
                  R"doc(The answer to a question of indexing: a sequence of entries.

Sorted by output leaf, operand and operand leaf. Pairs of arrays of which nothing is read have no entry.
)doc")
      .def("__len__", [](const Indexing& self) { return self.entries->size(); })
      .def(
          "__getitem__",
          [](const Indexing& self, int64_t i) {
            const auto size = static_cast<int64_t>(self.entries->size());
            if (i < 0) i += size;
            if (i < 0 || i >= size) throw nb::index_error("there is no such entry");
            return Entry{self, static_cast<size_t>(i)};
          },
          "i"_a)
      .def(
          "__iter__", [](const Indexing& self) { return nb::iter(nb::cast(EntriesOf(self))); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[Entry]"))
      .Property("direction", &Indexing::direction)
      .def("__reduce__",
           [](const Indexing& self) {
             const AskedOptions& asked = self.asked;
             const nb::object subject =
                 self.subject.instruction != nullptr
                     ? nb::cast(Instruction{self.subject.state, self.subject.instruction})
                     : nb::cast(Computation{self.subject.state, self.subject.computation});
             const bool is_to_input = self.direction == Direction::kOutputToInput;
             nb::dict arguments;
             arguments["direction"] = is_to_input ? "output_to_input" : "input_to_output";
             arguments["exact"] = asked.exact;
             if (asked.from && is_to_input) arguments["output_leaf"] = asked.from->operand_leaf;
             if (asked.from && !is_to_input) {
               arguments["operand"] = asked.from->operand;
               arguments["operand_leaf"] = asked.from->operand_leaf;
             }
             arguments["fold_runtime_variables"] = asked.fold_runtime_variables;
             arguments["scatter_bounds"] =
                 asked.scatter_bounds == ScatterBounds::kWindow ? "window" : "element";
             arguments["max_maps"] = asked.max_maps;
             arguments["dependence"] = asked.dependence != Dependence::kReads;
             arguments["assume_finite"] = asked.dependence == Dependence::kFiniteValues;
             return Unpickled("indexing", subject, arguments);
           })
      .def(
          "maps",
          [](const Indexing& self, std::optional<int64_t> operand,
             std::optional<int64_t> output_leaf, std::optional<int64_t> operand_leaf) {
            std::vector<OperandMap> maps;
            for (const Entry& entry : EntriesOf(self)) {
              const IndexingEntry& e = entry.Get();
              if ((operand && *operand != e.operand) ||
                  (output_leaf && *output_leaf != e.output_leaf) ||
                  (operand_leaf && *operand_leaf != e.operand_leaf)) {
                continue;
              }
              for (OperandMap& map : MapsOf(entry)) maps.push_back(std::move(map));
            }
            return maps;
          },
          "operand"_a = nb::none(), "output_leaf"_a = nb::none(), nb::kw_only(),
          "operand_leaf"_a = nb::none(),
          "The maps of all entries, or of those of this operand and these leaves.")
      .def_prop_ro(
          "is_exact",
          [](const Indexing& self) {
            for (const IndexingEntry& entry : *self.entries) {
              if (!entry.indexing.label().IsExact()) return false;
            }
            return true;
          },
          "Whether all maps are exact.")
      .def(
          "rows",
          [](const Indexing& self) {
            std::vector<TableRow> rows;
            for (const Entry& entry : EntriesOf(self)) {
              for (TableRow& row : RowsOf(entry)) rows.push_back(std::move(row));
            }
            return rows;
          },
          "A dict for each map of each entry.")
      .def(
          "__str__", [](const Indexing& self) { return ToText(TextOfEntries(self)); },
          "What print-indexing prints.")
      .Repr([](const Indexing& self) {
        return absl::StrCat("of ", self.subject.Name(), ", ", self.entries->size(), " entries");
      })
      .Html("of_rows")
      .def(
          "picture",
          [](const Indexing& self, const PictureIndices& element, const PictureIndices& runtime,
             int64_t leaf, int64_t operand) {
            return PictureOfStart(self, *self.entries, {operand, leaf}, {element, runtime});
          },
          "element"_a = nb::none(), "runtime"_a = nb::none(), nb::kw_only(), "leaf"_a = 0,
          "operand"_a = 0,
          R"doc(An element of one array, and what it maps to in all others.

The array is the result's `leaf` from output to input, and `leaf` of `operand` from input to output. Without
`element`, its indices, one near the middle is taken. `runtime` gives the values of the runtime variables of all
maps that have as many; those of others are in the middle of their intervals. A map that maps to more than
2^20 points is not drawn, which the picture says.

Error where no map starts from that array, or the element is not one of it.
)doc");
}

// --- Maps with their bindings ---

struct RuntimeVariable {
  OperandMap of;
  int position = 0;
  std::string name;

  const RuntimeVarIndexing& Binding() const { return of.indexing().bindings()[position]; }
};

std::vector<RuntimeVariable> RuntimeVariablesOf(const OperandMap& map) {
  const MapTextParts parts =
      Locked(map.subject().state, [&] { return TextPartsOf(map.indexing().map()); });
  std::vector<RuntimeVariable> variables;
  for (size_t i = 0; i < map.indexing().bindings().size(); ++i) {
    variables.push_back({map, static_cast<int>(i), parts.runtimes[i]});
  }
  return variables;
}

void DefineMaps(nb::module_& m, SubjectClasses& classes) {
  Class<RuntimeVariable>(m, "RuntimeVariable",
                         R"doc(What yields the value of a runtime variable.

rt = value_function(owner[map(d, s, earlier rt)]): an element of an array that the program has when it runs,
put through a function such as a clamp.
)doc")
      .def_ro("name", &RuntimeVariable::name, "Its name in the map, such as 'rt0'.")
      .Property(
          "source", [](const RuntimeVariable& self) { return SourceOf(self.of, self.position); },
          "What yields the value, as its line says: 'row', 'call/computation/start', 'w/body/c', "
          "'w, iterations'. reads() looks its contents up by this.")
      .def_prop_ro(
          "in_words",
          [](const RuntimeVariable& self) {
            const ModuleState& state = *self.of.subject().state;
            const std::string source = ArgumentOf(state, *self.Binding().instruction).value_or("");
            return ToText(Locked(*state.context, [&] {
              return BindingInWords(self.of.indexing(), self.position, source);
            }));
          },
          "What it is: 'element (d0, 0) of indices, clamped to [0, 7]', 'the value of row in "
          "iteration s0 of the loop w', 'how often the loop w runs'.")
      .Property("loops", &RuntimeVariable::Binding, &RuntimeVarIndexing::NumLoops,
                "How many loops the owner is in the body of: so many first indices of the element "
                "are numbers of iterations, from 0, of the outermost loop first.")
      .def_prop_ro(
          "bounds",
          [](const RuntimeVariable& self) {
            return self.of.indexing().map().runtimes()[self.position].bounds;
          },
          "The values with which points are in the domain, an Interval.")
      .def_prop_ro(
          "owner",
          [](const RuntimeVariable& self) {
            return Instruction{self.of.subject().state, self.Binding().instruction};
          },
          "The instruction whose value is read.")
      .Property("leaf", &RuntimeVariable::Binding, &RuntimeVarIndexing::leaf,
                "The array of its result.")
      .def_prop_ro(
          "call_path",
          [](const RuntimeVariable& self) {
            return WithState(self.of.subject().state, self.Binding().call_path);
          },
          "The callers on the way to the owner's computation, the outermost first.")
      .def_prop_ro(
          "map",
          [](const RuntimeVariable& self) {
            const SharedContext& context = self.of.subject().state->context;
            return Map{context, Locked(*context, [&] {
                         return self.of.indexing().ElementMap(self.position);
                       })};
          },
          "From the dimensions, and the range and runtime variables that it uses, to the element "
          "that is read.")
      .def_prop_ro(
          "value_function",
          [](const RuntimeVariable& self) { return self.Binding().value.ToString(); },
          "What is done to the value: 'as is', 'clamp [0, 6]', 'in [0, 3], else 3', 'iterations'.")
      .def(
          "apply",
          [](const RuntimeVariable& self, int64_t value) {
            return self.Binding().value.Apply(value);
          },
          "value"_a, "The variable's value where the element that is read has this one.")
      .Text([](const RuntimeVariable& self) {
        return Locked(self.of.subject().state, [&] {
          return self.of.indexing().BindingToString(self.position, self.of.subject().Analysed());
        });
      });

  classes.operand_indexing
      .def("__reduce__",
           [](const OperandMap& self) {
             return Unpickled("map_of", nb::cast(self.entry), nb::cast(self.position));
           })
      .def_prop_ro(
          "map",
          [](const OperandMap& self) {
            return Map{self.subject().state->context, self.indexing().map()};
          },
          "The IndexingMap; of an unknown answer it has no meaning.")
      .def(
          "reads",
          [](const OperandMap& self, nb::handle indices, const nb::dict& contents,
             int64_t max_points) {
            return ReadsWithContents(self.entry, {&self, 1}, indices, contents, max_points);
          },
          "indices"_a, "contents"_a = nb::dict(), nb::kw_only(), "max_points"_a = kMaxPointsRead,
          nb::sig(kSignatureOfReads), "What this map alone maps to, as Entry.reads().")
      .def_prop_ro("runtime_variables", &RuntimeVariablesOf,
                   "What each runtime variable of the map is bound to, in their order.")
      .Property("exactness", [](const OperandMap& self) { return LabelOf(self.indexing()); })
      .Property("is_exact", &OperandMap::indexing, &OperandIndexing::IsExact)
      .Property(
          "reason",
          [](const OperandMap& self) { return TextOrNone(self.indexing().label().reason); },
          "Why the map is not exact; None if it is.")
      .def_prop_ro(
          "replica_map",
          [](const OperandMap& self) -> std::optional<Map> {
            if (self.indexing().replica_map() == nullptr) return std::nullopt;
            const SharedContext& context = self.subject().state->context;
            return Map{context, Locked(*context, [&] { return self.indexing().DeviceMap(); })};
          },
          "From the dimensions and one more, the device that reads, to the device whose operand is "
          "read; None if that is the reader itself.")
      .Text([](const OperandMap& self) {
        return Locked(self.subject().state,
                      [&] { return self.indexing().ToString(self.subject().Analysed()); });
      })
      .Html("of_operand_indexing")
      .EqualBy(&OperandMap::indexing,
               "Whether both are written alike: of one module, with equal maps, bindings and "
               "labels.");
}

}  // namespace

absl::StatusOr<SharedIndexing> AskUsual(const Subject& subject, Direction direction, bool exact,
                                        std::optional<OperandLeaf> from) {
  HloIndexers& indexers = subject.state->indexers;
  HloIndexer& indexer = exact ? indexers.exact() : indexers.usual();
  return indexer.Index(subject.Target(), direction, from);
}

void DefineIndexing(nb::module_& m, SubjectClasses& classes) {
  DefineMaps(m, classes);
  DefineEntries(m);
  DefineAsking(classes.instruction);
  DefineAsking(classes.computation);
}

}  // namespace xla_indexing::python

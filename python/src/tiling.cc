// What tile of an operand a tile of the result needs, and the tilings of whole computations.

#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/variant.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "python/src/classes.h"
#include "python/src/common.h"
#include "python/src/subjects.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/tiling/kernel/tile_cost.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"
#include "xla_indexing/tiling/kernel/tiling_space.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_condition.h"
#include "xla_indexing/tiling/tile/tile_expr.h"

namespace xla_indexing::python {
namespace {

// Objects of the library in a context, and what keeps it.
template <typename Object>
struct InModule {
  SharedModule state;
  Object object;
};

using Tile = InModule<SymbolicTile>;
using Tiled = InModule<std::shared_ptr<const TiledComputation>>;
using Graph = InModule<TileGraph>;
using Search = InModule<TilingSearch>;

// A list of expressions of a tile, as text.
std::vector<std::string> TextsOf(const Tile& self,
                                 llvm::SmallVector<TileExpr, 4> (SymbolicTile::*list)() const) {
  return Locked(self.state, [&] {
    std::vector<std::string> texts;
    for (const TileExpr& expr : (self.object.*list)()) texts.push_back(expr.ToString());
    return texts;
  });
}

std::vector<std::string> ToTextsOf(const std::vector<TileCondition>& conditions,
                                   const TileNames& names) {
  std::vector<std::string> texts;
  for (const TileCondition& condition : conditions) texts.push_back(condition.ToString(names));
  return texts;
}

// --- The tile of a map ---

void DefineSymbolicTile(nb::module_& m) {
  Class<TileRange>(m, "TileRange", "The indices offset + i * stride, 0 <= i < size.")
      .def_ro("offset", &TileRange::offset,
              "An Interval, of one number where no runtime variable moves it.")
      .def_ro("size", &TileRange::size)
      .def_ro("stride", &TileRange::stride)
      .Repr([](const TileRange& self) {
        return absl::StrCat(CountText(self.offset), ", size ", self.size, ", stride ", self.stride);
      });
  Class<ConcreteTile>(m, "ConcreteTile", "The box that a tile of given sizes reads.")
      .def_prop_ro(
          "ranges",
          [](const ConcreteTile& self) {
            return std::vector<TileRange>(self.ranges.begin(), self.ranges.end());
          },
          "A TileRange for each dimension of the operand.")
      .def_ro("is_exact", &ConcreteTile::is_exact, "Whether the box is exactly what is read.")
      .def_ro("is_clipped", &ConcreteTile::is_clipped, "Whether some of the tile is not there.")
      .def_ro("is_empty", &ConcreteTile::is_empty, "Whether nothing is read.")
      .Property("excess", &ConcreteTile::excess,
                "How many elements of the box are not read; None if that was not counted.");
  Class<Tile>(
      m, "SymbolicTile",
      R"doc(The tile of an operand that a tile of the result needs, as a function of its sizes.

t0, t1, .. are the sizes of the tile of the result, k0, k1, .. its indices.

    >>> m = xi.load("ENTRY e { p = f32[32] parameter(0)  ROOT r = f32[4,8] reshape(p) }")
    >>> tile = m["r"].indexing()[0].maps[0].tile()
    >>> tile.offsets, tile.conditions
    (['k1 * t1 + k0 * t0 * 8'], ['t0 = 1 or t1 = 1 or t1 = 8'])
    >>> tile.is_exact([2, 8]), tile.full_tile([2, 8]).ranges[0].size
    (True, 16)
)doc")
      .def_prop_ro(
          "offsets", [](const Tile& self) { return TextsOf(self, &SymbolicTile::Offsets); },
          "The offset of each result, as text; '?' where it has no closed form.")
      .def_prop_ro("sizes", [](const Tile& self) { return TextsOf(self, &SymbolicTile::Sizes); })
      .def_prop_ro("strides",
                   [](const Tile& self) { return TextsOf(self, &SymbolicTile::Strides); })
      .def_prop_ro(
          "conditions",
          [](const Tile& self) {
            return Locked(self.state, [&] { return ToTextsOf(self.object.Conditions(), {}); });
          },
          "Conditions on the sizes, which all have to hold for every full tile to be such a box.")
      .def(
          "is_exact",
          [](const Tile& self, const std::vector<int64_t>& sizes) {
            return ToBool(
                Locked(self.state, [&] { return ValueOf(self.object.IsExact(sizes)); }).answer);
          },
          "sizes"_a,
          "Whether every full tile of these sizes reads just its box; None if that was not "
          "decided.")
      .def(
          "full_tile",
          [](const Tile& self, const std::vector<int64_t>& sizes) {
            return Locked(self.state, [&] { return ValueOf(self.object.FullTile(sizes)); });
          },
          "sizes"_a,
          "The box that all full tiles of these sizes are like, with the offsets of the first.")
      .def(
          "tile_at",
          [](const Tile& self, const std::vector<int64_t>& sizes,
             const std::vector<int64_t>& index) {
            return Locked(self.state, [&] { return ValueOf(self.object.TileAt(sizes, index)); });
          },
          "sizes"_a, "index"_a, "The box of one tile, clipped where it is not full.")
      .Repr([](const Tile& self) {
        return Locked(self.state, [&] { return self.object.map().ToString(); });
      });
}

// --- Computations ---

std::vector<TableRow> RowsOfSpace(const Tiled& self) {
  std::vector<TableRow> rows;
  const TilingSpace& space = self.object->space();
  for (const absl::Span<const TilingDimension> dims : {space.dims(), space.runtimes()}) {
    for (const TilingDimension& dim : dims) {
      TableRow& row = rows.emplace_back();
      row["name"] = ToText(dim.name);
      row["kind"] = ToText(NameOf(dim.kind));
      row["size"] = dim.size;
      row["owner"] = ToText(dim.owner->name());
      row["position"] = dim.position;
    }
  }
  return rows;
}

// Sizes in the order of the space's dimensions, or by name.
using SizesArgument =
    std::variant<std::vector<int64_t>, std::map<std::string, int64_t>, std::string>;

std::vector<int64_t> SizesOf(const TilingSpace& space, const SizesArgument& sizes) {
  if (const auto* const list = std::get_if<std::vector<int64_t>>(&sizes)) return *list;
  if (const auto* const text = std::get_if<std::string>(&sizes))
    return ValueOf(space.ParseSizes(*text));
  std::string text;
  for (const auto& [name, size] : std::get<std::map<std::string, int64_t>>(sizes)) {
    absl::StrAppend(&text, text.empty() ? "" : ",", name, "=", size);
  }
  return ValueOf(space.ParseSizes(text));
}

Graph GraphOf(const Tiled& self, const SizesArgument& sizes, const std::vector<int>& loops) {
  return {self.state, Locked(self.state, [&] {
            return ValueOf(self.object->Instantiate({SizesOf(self.object->space(), sizes), loops}));
          })};
}

Search SearchOf(const Tiled& self, int64_t max_resident_bytes, int64_t max_tried,
                int64_t max_returned, absl::string_view machine, bool powers_of_two) {
  TilingSearchOptions options;
  options.machine = &MachineNamed(machine);
  options.powers_of_two = powers_of_two;
  options.max_resident_bytes = max_resident_bytes;
  options.max_tried = max_tried;
  options.max_returned = max_returned;
  if (max_tried < 0 || max_returned < 0)
    ThrowInvalid("max_tried and max_returned have to be at least 0");
  return {self.state, Locked(self.state, [&] { return self.object->FindTilings(options); })};
}

template <typename Subject_>
Tiled TiledOf(const Subject_& self, bool one_pass = false) {
  const Computation computation = ComputationOf(Subject(self));
  return {computation.state, Locked(computation.state, [&] {
            return std::make_shared<const TiledComputation>(ValueOf(TiledComputation::Create(
                *computation.computation, &computation.state->context->mlir, {},
                one_pass ? TiledLoops::kOnePass : TiledLoops::kSeparate)));
          })};
}

TileCost CostOf(const Graph& self) {
  return Locked(self.state, [&] { return self.object.Cost(); });
}

void DefineTiledComputation(nb::module_& m) {
  Class<TileCost>(m, "TileCost",
                  "Bytes and numbers of tiles; 2**63 - 1 where a number does not fit.")
      .def_ro("resident_bytes", &TileCost::resident_bytes,
              "The most bytes that are held at one time.")
      .def_ro("moved_bytes", &TileCost::moved_bytes,
              "Bytes of all loads and stores, in all programs.")
      .def_ro("num_loads", &TileCost::num_loads, "Loads of tiles.")
      .def_ro("num_stores", &TileCost::num_stores, "Stores of tiles.")
      .def_ro("num_programs", &TileCost::num_programs)
      .def_ro("register_bytes", &TileCost::register_bytes,
              "The most bytes of tiles that a program holds in registers at one time.")
      .def_ro("shared_bytes", &TileCost::shared_bytes,
              "The most bytes of tiles that a program holds in shared memory at one time.")
      .def_ro("sectors", &TileCost::sectors,
              "Sectors that the warps of all programs ask for, with 128 threads a program.")
      .def_ro("lines", &TileCost::lines, "Cache lines, likewise.")
      .def_ro("are_requests_exact", &TileCost::are_requests_exact,
              "Whether sectors, lines and wavefronts are just what happens; otherwise there are no "
              "more.")
      .def_ro("wavefronts", &TileCost::wavefronts,
              "Wavefronts of shared memory, for tiles that are transposed through it.")
      .def_ro("least_wavefronts", &TileCost::least_wavefronts,
              "The wavefronts that there would be without bank conflicts.")
      .def_ro("elements", &TileCost::elements,
              "Elements that operations compute, each time they do.")
      .def_ro("multiply_adds", &TileCost::multiply_adds)
      .def_ro("transcendentals", &TileCost::transcendentals)
      .def_ro("other_operations", &TileCost::other_operations)
      .def_ro("is_exact", &TileCost::is_exact,
              "Whether bytes, loads and stores are just what happens; otherwise there are no more: "
              "values that are known when the program runs decide.")
      .Repr([](const TileCost& self) {
        return absl::StrCat(self.resident_bytes, " bytes resident, ", self.moved_bytes, " moved, ",
                            self.num_programs, " programs");
      });
  Class<Graph>(m, "TileGraph",
               "What the programs of a tiled kernel load, compute and store, in order.")
      .def_prop_ro("cost", &CostOf)
      .def_prop_ro(
          "sizes",
          [](const Graph& self) {
            return std::vector<int64_t>(self.object.sizes().begin(), self.object.sizes().end());
          },
          "The size of a tile in each dimension of the space.")
      .def_prop_ro("num_tiles",
                   [](const Graph& self) {
                     return std::vector<int64_t>(self.object.num_tiles().begin(),
                                                 self.object.num_tiles().end());
                   })
      .Property("is_exact", &Graph::object, &TileGraph::IsExact,
                "Whether no tile has elements that are not read.")
      .def("__str__",
           [](const Graph& self) {
             return ToText(Locked(self.state, [&] { return self.object.ToString(); }));
           })
      .Repr([](const Graph& self) {
        return absl::StrCat(self.object.nodes().size(), " nodes, ", CostOf(self).moved_bytes,
                            " bytes moved");
      })
      .Html("pre");
  Class<CostedTiling>(m, "CostedTiling", "A tiling that was found.")
      .def_prop_ro("sizes", [](const CostedTiling& self) { return self.tiling.sizes; })
      .Property("loops", &CostedTiling::tiling, &Tiling::loops,
                "Parallel dimensions that are loops inside of each program.")
      .def_ro("cost", &CostedTiling::cost)
      .Property("microseconds", &CostedTiling::time, &KernelTime::microseconds,
                "The least that the machine takes.")
      .Property(
          "bound", [](const CostedTiling& self) { return NameOf(self.time.bound); },
          "What takes that time: 'memory', 'cache', 'products', 'transcendentals', 'other "
          "operations' or 'shared memory'.");
  Class<Search>(m, "TilingSearch", "The tilings that fit, those that take the least time first.")
      .Property("tilings", &Search::object, &TilingSearch::tilings)
      .Property("num_tried", &Search::object, &TilingSearch::num_tried)
      .Property("is_complete", &Search::object, &TilingSearch::is_complete,
                "Whether all candidates were tried: divisors of the dimensions and powers of two.")
      .def("__len__", [](const Search& self) { return self.object.tilings.size(); })
      .def("rows",
           [](const Search& self) {
             std::vector<TableRow> rows;
             for (const CostedTiling& tiling : self.object.tilings) {
               TableRow& row = rows.emplace_back();
               AddCells(nb::cast(tiling), {"sizes"}, &row);
               AddCells(nb::cast(tiling.cost),
                        {"resident_bytes", "moved_bytes", "num_loads", "num_stores", "num_programs",
                         "is_exact", "sectors"},
                        &row);
               AddCells(nb::cast(tiling), {"microseconds", "bound"}, &row);
             }
             return rows;
           })
      .Repr([](const Search& self) {
        return absl::StrCat(self.object.tilings.size(), " tilings, ", self.object.num_tried,
                            " tried");
      })
      .Html("of_rows");
  Class<Tiled>(m, "TiledComputation", R"doc(A computation, tiled for all sizes together.

Its space has the dimensions that tiles cut: 'parallel' ones of the roots and 'sequential' ones, the loops of
contractions. `runtime` ones move tiles and are not cut.

    >>> m = xi.load('''ENTRY e { a = f32[64,128] parameter(0)  b = f32[128,32] parameter(1)
    ...   ROOT d = f32[64,32] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }''')
    >>> tiled = m.entry.tiled()
    >>> [(row["name"], row["kind"], row["size"]) for row in tiled.rows()]
    [('d0', 'parallel', 64), ('d1', 'parallel', 32), ('k', 'sequential', 128)]
    >>> tiled.instantiate({"d0": 16, "d1": 16, "k": 32}).cost.num_programs
    8
)doc")
      .def("rows", &RowsOfSpace, "A dict for each dimension of the space.")
      .def_prop_ro("dimension_names",
                   [](const Tiled& self) {
                     std::vector<std::string> names;
                     for (const TilingDimension& dim : self.object->space().dims())
                       names.push_back(dim.name);
                     return names;
                   })
      .def_prop_ro(
          "conditions",
          [](const Tiled& self) {
            return Locked(self.state, [&] {
              return ToTextsOf(self.object->Conditions(), self.object->Names());
            });
          },
          "Conditions on sizes under which every full tile is a box with strides, as text.")
      .def(
          "instantiate", &GraphOf, "sizes"_a, nb::kw_only(), "loops"_a = nb::tuple(),
          R"doc(The graph of tiles of these sizes: in the order of the dimensions, or by name ('d0=16,k=32').

Sequential dimensions that are not named are whole. `loops` are parallel dimensions that are loops inside of each
program, the outermost first.

Error with the code FAILED_PRECONDITION where what a tile reads is no box with strides: `conditions` says for which
sizes it is.
)doc")
      .def("find_tilings", &SearchOf, nb::kw_only(),
           "max_resident_bytes"_a = TilingSearchOptions().max_resident_bytes,
           "max_tried"_a = TilingSearchOptions().max_tried,
           "max_returned"_a = TilingSearchOptions().max_returned, "machine"_a = "h100",
           "powers_of_two"_a = false,
           "The sizes that take the least time on a machine, of those that hold no more than "
           "`max_resident_bytes` at one time.")
      .Repr([](const Tiled& self) {
        return absl::StrCat(self.object->space().num_dims(), " dimensions");
      })
      .Html("of_rows");
}

template <typename Class>
void DefineTilingOf(nb::class_<Class>& type) {
  type.def(
      "tiled", &TiledOf<Class>, nb::kw_only(), "one_pass"_a = false,
      "The TiledComputation of all of it, as one fusion. Error where the result has no array. With "
      "`one_pass`, the maximum, the sum and the weighted sum of a softmax or an attention share a "
      "loop, and its graphs say how sums are rescaled when the maximum grows.");
  type.def(
      "tiling",
      [](const Class& self, const std::optional<SizesArgument>& sizes,
         const std::vector<int>& loops,
         int64_t max_resident_bytes) -> nb::typed<nb::object, nb::any> {
        const Tiled tiled = TiledOf(self);
        if (sizes) return nb::cast(GraphOf(tiled, *sizes, loops));
        const TilingSearchOptions usual;
        return nb::cast(SearchOf(tiled, max_resident_bytes, usual.max_tried, usual.max_returned,
                                 DefaultMachine().name, usual.powers_of_two));
      },
      "sizes"_a = nb::none(), nb::kw_only(), "loops"_a = nb::tuple(),
      "max_resident_bytes"_a = TilingSearchOptions().max_resident_bytes,
      "With sizes: the TileGraph of tiles of these sizes. Without: a TilingSearch for the best "
      "ones that hold no more than `max_resident_bytes`.");
}

}  // namespace

void DefineTiling(nb::module_& m, SubjectClasses& classes) {
  DefineSymbolicTile(m);
  DefineTiledComputation(m);
  DefineTilingOf(classes.instruction);
  DefineTilingOf(classes.computation);
  classes.operand_indexing.def(
      "tile",
      [](const OperandMap& self) {
        const SharedModule& state = self.subject().state;
        return Tile{state,
                    Locked(state, [&] { return ValueOf(SymbolicTile::Of(self.indexing())); })};
      },
      "The SymbolicTile of the operand, for tiles of the array that the map starts from.");
}

}  // namespace xla_indexing::python

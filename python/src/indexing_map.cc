#include "python/src/indexing_map.h"

#include <nanobind/stl/variant.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "python/src/arrays.h"
#include "python/src/classes.h"
#include "python/src/common.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/map/count/count_image.h"
#include "xla_indexing/map/count/image.h"
#include "xla_indexing/map/expr/map_program.h"
#include "xla_indexing/map/sets/bijection.h"
#include "xla_indexing/map/sets/decide.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/inverse.h"
#include "xla_indexing/map/text/isl_text.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::python {
namespace {

constexpr int64_t kMaxPoints = int64_t{1} << 28;

struct MapVariable {
  std::string name;
  Interval bounds;
};

struct MapConstraint {
  std::string expression;
  Interval bounds;
};

struct Image {
  std::optional<bool> is_box;
  std::vector<StridedRange> ranges;
};

using NamesInText = std::vector<std::string> MapTextParts::*;

std::vector<MapVariable> VariablesOf(const Map& map, llvm::ArrayRef<Variable> variables,
                                     NamesInText names) {
  const MapTextParts parts = Locked(*map.context, [&] { return TextPartsOf(map.map); });
  std::vector<MapVariable> result;
  for (size_t i = 0; i < variables.size(); ++i) {
    result.push_back({(parts.*names)[i], variables[i].bounds});
  }
  return result;
}

// A map of the same context that Locked() work makes.
template <typename Work>
Map NewMap(const Map& map, Work&& work) {
  return {map.context, Locked(*map.context, std::forward<Work>(work))};
}

// What a decision procedure, and what a counter, of the library says.
template <auto decide>
std::optional<bool> DecideOne(const Map& map, int64_t max_steps) {
  return ToBool(Locked(*map.context, [&] { return ValueOf(decide(map.map, max_steps)); }).answer);
}
template <auto decide>
std::optional<bool> DecideTwo(const Map& a, const Map& b, int64_t max_steps) {
  const IndexingMap other = InContext(b, a.context);
  return ToBool(
      Locked(*a.context, [&] { return ValueOf(decide(a.map, other, max_steps)); }).answer);
}
template <auto count>
Interval CountOf(const Map& map, int64_t max_steps) {
  return Locked(*map.context, [&] {
    const QuestionBudget question;
    StepBudget budget(max_steps);
    return count(map.map, &budget);
  });
}

// Maps that are equal have the same text but for the names of their variables; all empty ones of equal numbers
// of dimensions and results are equal.
size_t HashOf(const Map& map) {
  if (map.map.IsKnownEmpty()) {
    return absl::Hash<std::pair<int, int>>()({map.map.num_dims(), map.map.num_results()}) >> 1;
  }
  return Locked(*map.context, [&] {
    IndexingMap unnamed = map.map;
    for (int i = 0; i < unnamed.num_dims(); ++i) unnamed.mutable_dim(i).name = {};
    for (int i = 0; i < unnamed.num_ranges(); ++i) unnamed.mutable_range(i).name = {};
    for (int i = 0; i < unnamed.num_runtimes(); ++i) unnamed.mutable_runtime(i).name = {};
    return absl::Hash<std::string>()(unnamed.ToString()) >> 1;
  });
}

// --- Points as arrays ---

std::vector<int64_t> SymbolsOf(const std::vector<int64_t>& ranges,
                               const std::vector<int64_t>& runtime) {
  std::vector<int64_t> symbols = ranges;
  symbols.insert(symbols.end(), runtime.begin(), runtime.end());
  return symbols;
}

// The values of the variables of many points: of the dimensions as given, of the range variables all, of the
// runtime variables as given for each point or for all.
struct PointSources {
  size_t num_rows = 1;
  std::vector<MapProgram::Source> sources;
  // What they point into.
  std::optional<IntegerArray> indices;
  std::optional<IntegerArray> runtime;
};

void AddRuntime(const Map& map, nb::handle runtime, PointSources* points) {
  const int count = map.map.num_runtimes();
  if (count == 0 && runtime.is_none()) return;
  if (runtime.is_none()) {
    ThrowInvalid(absl::StrCat("the map has ", count,
                              count == 1 ? " runtime variable, and needs its value"
                                         : " runtime variables, and needs their values",
                              " as `runtime`"));
  }
  points->runtime = ToIntegers(runtime, "runtime");
  const IntegerArray& values = *points->runtime;
  const bool is_for_each = values.ndim() == 2 && points->indices.has_value();
  const size_t columns = values.ndim() == 0 ? 1 : values.shape(values.ndim() - 1);
  if (values.ndim() > 2 || (values.ndim() == 2 && !is_for_each) ||
      columns != static_cast<size_t>(count) ||
      (is_for_each && values.shape(0) != points->num_rows)) {
    ThrowInvalid(absl::StrCat(
        "runtime has shape [", ShapeText(values), "], and has to have [", count, "]",
        points->indices.has_value() ? absl::StrCat(" or [", points->num_rows, ", ", count, "]")
                                    : ""));
  }
  // An empty array may have no memory, and a source without values means all of them.
  static const int64_t kNothing = 0;
  for (int i = 0; i < count; ++i) {
    points->sources.push_back({values.size() == 0 ? &kNothing : values.data() + i,
                               is_for_each ? static_cast<size_t>(count) : 0});
  }
}

PointSources SourcesOf(const Map& map, nb::handle indices, nb::handle runtime) {
  PointSources points;
  points.indices = ToIntegers(indices, "indices");
  const IntegerArray& values = *points.indices;
  const size_t num_dims = map.map.num_dims();
  if (values.ndim() != 2 || values.shape(1) != num_dims) {
    ThrowInvalid(absl::StrCat("indices have shape [", ShapeText(values), "], and have to have [N, ",
                              num_dims, "]: a row for each point"));
  }
  points.num_rows = values.shape(0);
  static const int64_t kNothing = 0;
  for (size_t i = 0; i < num_dims; ++i) {
    points.sources.push_back({values.size() == 0 ? &kNothing : values.data() + i, num_dims});
  }
  points.sources.resize(num_dims + map.map.num_ranges());
  AddRuntime(map, runtime, &points);
  return points;
}

// Copies columns of a block to the rows of a matrix.
void AppendRows(const std::vector<const int64_t*>& columns, size_t point,
                std::vector<int64_t>* out) {
  for (const int64_t* const column : columns) out->push_back(column[point]);
}

nb::typed<nb::tuple, Vector, Matrix> ReadsOf(const Map& map, nb::handle indices, nb::handle runtime,
                                             int64_t max_points) {
  const PointSources points = SourcesOf(map, indices, runtime);
  std::vector<int64_t> rows;
  std::vector<int64_t> elements;
  CheckOk(Interruptible([&] {
    return MapProgram(map.map).Run(points.num_rows, points.sources, max_points,
                                   [&](const MapProgram::Block& block) {
                                     for (size_t i = 0; i < block.count; ++i) {
                                       if (block.is_inside[i] == 0) continue;
                                       rows.push_back(static_cast<int64_t>(block.rows[i]));
                                       AppendRows(block.results, i, &elements);
                                     }
                                   });
  }));
  const size_t count = rows.size();
  const size_t num_results = map.map.num_results();
  return nb::make_tuple(ToArray<Vector>(std::move(rows), {count}),
                        ToArray<Matrix>(std::move(elements), {count, num_results}));
}

// One value for each range variable of a domain that no constraint names: if one is in the domain, all are.
std::vector<int64_t> FixFreeRanges(const IndexingMap& domain, PointSources* points) {
  std::vector<int64_t> values(static_cast<size_t>(domain.num_ranges()));
  for (int i = 0; i < domain.num_ranges(); ++i) {
    const bool is_named =
        std::any_of(domain.constraints().begin(), domain.constraints().end(),
                    [&](const Constraint& c) { return c.expr.isFunctionOfSymbol(i); });
    const Interval& bounds = domain.ranges()[i].bounds;
    if (is_named || bounds.IsEmpty()) continue;
    values[i] = bounds.has_lower() ? bounds.lower() : bounds.has_upper() ? bounds.upper() : 0;
    points->sources[domain.num_dims() + i] = {&values[i], 0};
  }
  return values;
}

Flags InDomain(const Map& map, nb::handle indices, nb::handle runtime, int64_t max_points) {
  PointSources points = SourcesOf(map, indices, runtime);
  std::vector<uint8_t> flags(points.num_rows);
  const IndexingMap domain = Locked(*map.context, [&] { return DomainOf(map.map); });
  const std::vector<int64_t> fixed = FixFreeRanges(domain, &points);
  CheckOk(Interruptible([&] {
    return MapProgram(domain).Run(points.num_rows, points.sources, max_points,
                                  [&](const MapProgram::Block& block) {
                                    for (size_t i = 0; i < block.count; ++i)
                                      flags[block.rows[i]] |= block.is_inside[i];
                                  });
  }));
  return ToArray<Flags>(std::move(flags), {points.num_rows});
}

// One result row for each row of indices, of a map without range variables.
Matrix FunctionOf(const Map& map, nb::handle indices, nb::handle runtime, bool check) {
  const PointSources points = SourcesOf(map, indices, runtime);
  const size_t num_results = map.map.num_results();
  std::vector<int64_t> results(points.num_rows * num_results);
  std::optional<size_t> outside;
  CheckOk(Interruptible([&] {
    return MapProgram(map.map).Run(
        points.num_rows, points.sources, INT64_MAX, [&](const MapProgram::Block& block) {
          const size_t first = block.rows[0];
          for (size_t r = 0; r < num_results; ++r) {
            for (size_t i = 0; i < block.count; ++i) {
              results[(first + i) * num_results + r] = block.results[r][i];
            }
          }
          if (!check || outside) return;
          for (size_t i = 0; i < block.count && !outside; ++i) {
            if (block.is_inside[i] == 0) outside = first + i;
          }
        });
  }));
  if (outside) {
    ThrowInvalid(absl::StrCat(
        "row ", *outside, " of indices is outside of the domain of ", TextOf(map),
        "; in_domain() says which rows are inside, and reads() leaves the others out"));
  }
  return ToArray<Matrix>(std::move(results), {points.num_rows, num_results});
}

// The distinct pairs of a map for these runtime values: a row for each, of the dimensions and then the results,
// in lexicographic order.
std::vector<int64_t> PairsOf(const Map& map, nb::handle runtime, int64_t max_points) {
  PointSources points;
  points.sources.resize(map.map.num_dims() + map.map.num_ranges());
  AddRuntime(map, runtime, &points);
  const size_t num_dims = map.map.num_dims();
  const size_t width = num_dims + map.map.num_results();
  std::vector<int64_t> pairs;
  CheckOk(Interruptible([&] {
    return MapProgram(map.map).Run(1, points.sources, max_points,
                                   [&](const MapProgram::Block& block) {
                                     for (size_t i = 0; i < block.count; ++i) {
                                       if (block.is_inside[i] == 0) continue;
                                       for (size_t d = 0; d < num_dims; ++d)
                                         pairs.push_back(block.variables[d][i]);
                                       AppendRows(block.results, i, &pairs);
                                     }
                                   });
  }));
  const nb::gil_scoped_release release;
  if (map.map.num_ranges() == 0 || width == 0) {
    // Without columns all pairs are one.
    return pairs;
  }
  // Points of the same dimensions follow one another; what they map to may come in any order, and twice.
  std::vector<size_t> order(pairs.size() / width);
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto row = [&](size_t i) { return absl::MakeConstSpan(pairs).subspan(i * width, width); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return row(a) < row(b); });
  order.erase(
      std::unique(order.begin(), order.end(), [&](size_t a, size_t b) { return row(a) == row(b); }),
      order.end());
  std::vector<int64_t> distinct;
  distinct.reserve(order.size() * width);
  for (const size_t i : order) distinct.insert(distinct.end(), row(i).begin(), row(i).end());
  return distinct;
}

// The pairs as a boolean array: out[d..., r...] says whether the element d reads the element r.
nb::object MaskOf(const Map& map, const std::vector<int64_t>& pairs,
                  const std::optional<std::vector<int64_t>>& shape, int64_t max_elements) {
  const size_t num_dims = map.map.num_dims();
  const size_t width = num_dims + map.map.num_results();
  std::vector<int64_t> sizes(width, 0);
  for (size_t d = 0; d < num_dims; ++d) {
    const Interval bounds = map.map.dims()[d].bounds;
    sizes[d] = bounds.has_upper() && bounds.upper() < INT64_MAX ? bounds.upper() + 1 : 0;
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    int64_t& size = sizes[i % width];
    if (pairs[i] < 0) {
      ThrowInvalid(
          absl::StrCat("the index ", pairs[i], " has no place in an array: kind='pairs' has it"));
    }
    if (pairs[i] == INT64_MAX) ThrowInvalid("an index is too large for an array");
    size = std::max(size, pairs[i] + 1);
  }
  if (shape) {
    if (shape->size() != width) {
      ThrowInvalid(absl::StrCat("shape has ", shape->size(), " sizes, and has to have ", width,
                                ": those of the dimensions, then those of the results"));
    }
    for (size_t i = 0; i < width; ++i) {
      if ((*shape)[i] < sizes[i]) {
        ThrowInvalid(absl::StrCat("size ", i, " of shape is ", (*shape)[i],
                                  ", and has to be at least ", sizes[i]));
      }
      sizes[i] = (*shape)[i];
    }
  }
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    if (__builtin_mul_overflow(elements, size, &elements)) elements = INT64_MAX;
    if (elements > max_elements) {
      throw StatusError(absl::ResourceExhaustedError(
          absl::StrCat("the array would have more than ", max_elements, " elements")));
    }
  }
  std::vector<uint8_t> flags(elements);
  if (width == 0) {
    // A map between scalars: whether there is a point at all is not told by rows without columns.
    const std::optional<bool> is_empty = DecideOne<IsEmptyDomain>(map, kDefaultSteps);
    flags[0] = is_empty.value_or(false) ? 0 : 1;
  }
  for (size_t begin = 0; width > 0 && begin < pairs.size(); begin += width) {
    int64_t place = 0;
    for (size_t i = 0; i < width; ++i) place = place * sizes[i] + pairs[begin + i];
    flags[place] = 1;
  }
  auto* const kept = new std::vector<uint8_t>(std::move(flags));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<uint8_t>*>(p); });
  const std::vector<size_t> extents(sizes.begin(), sizes.end());
  return nb::cast(nb::ndarray<nb::numpy, bool>(kept->data(), width, extents.data(), owner));
}

// --- The class ---

void DefineParts(nb::module_& m) {
  Class<MapVariable>(m, "Variable", "A variable of a map: its name and the values that it takes.")
      .def_ro("name", &MapVariable::name)
      .def_ro("bounds", &MapVariable::bounds, "Its values, an Interval.")
      .def_prop_ro(
          "lower",
          [](const MapVariable& self) { return nb::object(nb::cast(self.bounds).attr("lower")); },
          "The least value; None if there is none.", nb::sig("def lower(self) -> int | None"))
      .def_prop_ro(
          "upper",
          [](const MapVariable& self) { return nb::object(nb::cast(self.bounds).attr("upper")); },
          "The greatest value; None if there is none.", nb::sig("def upper(self) -> int | None"))
      .def_prop_ro(
          "size", [](const MapVariable& self) { return self.bounds.Size(); },
          "The number of values; None if that is infinite.")
      .Repr([](const MapVariable& self) {
        return absl::StrCat(self.name, " in ", self.bounds.ToString());
      });
  Class<MapConstraint>(m, "Constraint", "A condition on the points of a map's domain.")
      .def_ro("expression", &MapConstraint::expression, "An affine expression, as text.")
      .def_ro("bounds", &MapConstraint::bounds, "The Interval that its values lie in.")
      .Text([](const MapConstraint& self) {
        return absl::StrCat(self.expression, " in ", self.bounds.ToString());
      });
  Class<Image>(m, "Image", "The results of a map, as a box with strides where they are one.")
      .def_ro("is_box", &Image::is_box, nb::rv_policy::copy,
              "Whether the results are all elements of a box; None if that was not decided.")
      .def_prop_ro(
          "ranges",
          [](const Image& self) {
            nb::list ranges;
            const nb::object range = nb::module_::import_("builtins").attr("range");
            for (const StridedRange& r : self.ranges) {
              // Python's integers do not overflow.
              const nb::int_ offset(r.offset), stride(r.stride);
              const nb::object end = nb::object(nb::int_(r.count) * stride) + offset;
              ranges.append(range(offset, end, stride));
            }
            return nb::tuple(ranges);
          },
          "A range for each result; empty where they are no box.",
          nb::sig("def ranges(self) -> tuple[range, ...]"))
      .def("__repr__", [](const nb::object& self) {
        const nb::object is_box = self.attr("is_box");
        const nb::object ranges = self.attr("ranges");
        return nb::str("<xla_indexing.Image: is_box={}, ranges={}>").format(is_box, ranges);
      });
}

}  // namespace

Map ParseMap(absl::string_view text) {
  auto context = std::make_shared<Context>();
  MapParseError error;
  absl::StatusOr<IndexingMap> map =
      Locked(*context, [&] { return ParseIndexingMap(text, &context->mlir, &error); });
  if (!map.ok()) {
    throw StatusError(
        absl::InvalidArgumentError(FormatDiagnostic("<map>", text, error.offset, error.message)),
        true);
  }
  return {std::move(context), *std::move(map)};
}

std::string TextOf(const Map& map) {
  return Locked(*map.context, [&] { return map.map.ToString(); });
}

IndexingMap InContext(const Map& map, const SharedContext& context) {
  if (map.context == context) return map.map;
  const std::string text = TextOf(map);
  return Locked(*context, [&] { return ValueOf(ParseIndexingMap(text, &context->mlir)); });
}

void DefineIndexingMap(nb::module_& m) {
  DefineParts(m);
  Class<Map>(m, "IndexingMap",
             R"doc(An indexing map: which elements of one tensor an element of another depends on.

An affine function of dimensions (d, in parentheses), range variables (s, in brackets: all of their
values count) and runtime variables (rt, in braces: one value each, known when the program runs), and
its domain: an interval for each variable, and constraints. Maps do not change.

The text is that of print-indexing. ParseError shows the place of a mistake.

    >>> import numpy as np, xla_indexing as xi
    >>> m = xi.IndexingMap("(d0, d1)[s0] -> (d0 * 2 + s0, d1), domain: d0 in [0, 4], d1 in [0, 3], s0 in [0, 2]")
    >>> m.evaluate((1, 3), ranges=(2,))
    (4, 3)
    >>> rows, elements = m(np.array([[0, 0], [1, 3]]))
    >>> rows.tolist(), elements.tolist()
    ([0, 0, 0, 1, 1, 1], [[0, 0], [1, 0], [2, 0], [2, 3], [3, 3], [4, 3]])
)doc")
      .def(
          "__init__", [](Map* self, absl::string_view text) { new (self) Map(ParseMap(text)); },
          "text"_a)
      .def_static("parse", &ParseMap, "text"_a,
                  "The map that a text spells; the same as IndexingMap(text).")
      // The parts.
      .def_prop_ro(
          "dimensions",
          [](const Map& self) { return VariablesOf(self, self.map.dims(), &MapTextParts::dims); })
      .def_prop_ro("range_variables",
                   [](const Map& self) {
                     return VariablesOf(self, self.map.ranges(), &MapTextParts::ranges);
                   })
      .def_prop_ro("runtime_variables",
                   [](const Map& self) {
                     return VariablesOf(self, self.map.runtimes(), &MapTextParts::runtimes);
                   })
      .def_prop_ro(
          "results",
          [](const Map& self) {
            return Locked(*self.context, [&] { return TextPartsOf(self.map).results; });
          },
          "The expression of each result, as text.")
      .def_prop_ro(
          "constraints",
          [](const Map& self) {
            const MapTextParts parts = Locked(*self.context, [&] { return TextPartsOf(self.map); });
            std::vector<MapConstraint> constraints;
            for (size_t i = 0; i < parts.constraints.size(); ++i) {
              constraints.push_back({parts.constraints[i], self.map.constraints()[i].interval});
            }
            return constraints;
          })
      .Property("num_dimensions", &Map::map, &IndexingMap::num_dims)
      .Property("num_range_variables", &Map::map, &IndexingMap::num_ranges)
      .Property("num_runtime_variables", &Map::map, &IndexingMap::num_runtimes)
      .Property("num_results", &Map::map, &IndexingMap::num_results)
      .def_prop_ro(
          "domain",
          [](const Map& self) { return NewMap(self, [&] { return DomainOf(self.map); }); },
          "The map without its results: its variables, intervals and constraints.")
      // Text and comparison.
      .def("__str__", &TextOf)
      .def(
          "__repr__",
          [](const Map& self) { return nb::str("IndexingMap({!r})").format(ToText(TextOf(self))); })
      .def("_repr_svg_",
           [](const Map& self) -> std::optional<nb::str> {
             const absl::StatusOr<Picture> picture =
                 Locked(*self.context, [&] { return PictureOfMap(self.map); });
             return picture.ok() ? std::optional(ToText(picture->svg)) : std::nullopt;
           })
      .def(
          "picture",
          [](const Map& self, const std::optional<std::vector<int64_t>>& element,
             const std::optional<std::vector<int64_t>>& runtime,
             const std::optional<std::pair<std::vector<int64_t>, std::vector<int64_t>>>& sizes) {
            std::optional<PictureSizes> given;
            if (sizes) given = PictureSizes{sizes->first, sizes->second};
            return ToPython(Locked(*self.context, [&] {
              return ValueOf(PictureOfMap(self.map, {element, runtime}, given));
            }));
          },
          "element"_a = nb::none(), "runtime"_a = nb::none(), nb::kw_only(), "sizes"_a = nb::none(),
          R"(Two arrays: an element of the dimensions, and all elements that it maps to.

    >>> transpose = xi.IndexingMap("(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 3]")
    >>> transpose.picture(element=(1, 3))
    <Picture of element (1, 3): 1 element that it maps to>

`element` has an index for each dimension, and `runtime` a value for each runtime variable; without them they
are in the middle. `sizes` are those of the two arrays; without them these are as large as the intervals of the
dimensions and the results need.

Error where an interval has no end, where the element is not one of the first array, or where it maps to more than
2^20 points.
)")
      .def(
          "__eq__",
          [](const Map& self, nb::handle other) -> nb::object {
            if (!nb::isinstance<Map>(other)) return nb::borrow(Py_NotImplemented);
            const Map& map = *nb::inst_ptr<Map>(other);
            return nb::bool_(self.map == InContext(map, self.context));
          },
          "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"),
          "Whether both are written alike, but for the names of variables. same_relation() "
          "compares what maps mean.")
      .def("__hash__", &HashOf)
      .def(
          "__copy__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __copy__(self) -> IndexingMap"))
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); },
          "memo"_a.none(), nb::sig("def __deepcopy__(self, memo: object) -> IndexingMap"))
      .def(
          "__reduce__",
          [](const nb::object& self) {
            return nb::make_tuple(self.type(), nb::make_tuple(nb::str(self)));
          },
          nb::sig("def __reduce__(self) -> tuple[type[IndexingMap], tuple[str]]"))
      // Questions.
      .def("is_empty", &DecideOne<IsEmptyDomain>, nb::kw_only(), "max_steps"_a = kDefaultSteps,
           "Whether the domain has no point; None if that was not decided within so many steps.")
      .def(
          "same_relation", &DecideTwo<SameRelation>, "other"_a, nb::kw_only(),
          "max_steps"_a = kDefaultSteps,
          R"doc(Whether both relate the same pairs, for each value of the runtime variables; None: not decided.

Range variables may differ in number, order and intervals.

    >>> a = xi.IndexingMap("(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 7]")
    >>> b = xi.IndexingMap("(d0)[s0, s1] -> (d0, s0 + s1 * 2), domain: d0 in [0, 9], s0 in [0, 1], s1 in [0, 3]")
    >>> a == b, a.same_relation(b)
    (False, True)

Error where the numbers of dimensions, results or runtime variables differ.
)doc")
      .def("same_function", &DecideTwo<SameFunction>, "other"_a, nb::kw_only(),
           "max_steps"_a = kDefaultSteps,
           "Whether both have the same domain, point for point, and the same results there; None: "
           "not decided.")
      .def("is_subrelation_of", &DecideTwo<IsSubrelation>, "other"_a, nb::kw_only(),
           "max_steps"_a = kDefaultSteps,
           "Whether every pair of this map is one of the other; None: not decided.")
      .def("is_injective", &DecideOne<IsInjective>, nb::kw_only(), "max_steps"_a = kDefaultSteps,
           "Whether no two points have one result; None: not decided.")
      .def(
          "is_bijection_onto",
          [](const Map& self, const std::vector<int64_t>& sizes, int64_t max_steps) {
            return ToBool(Locked(*self.context, [&] {
                            return ValueOf(IsBijectionOnto(self.map, sizes, max_steps));
                          }).answer);
          },
          "sizes"_a, nb::kw_only(), "max_steps"_a = kDefaultSteps,
          "Whether it is one-to-one onto all elements of an array of these sizes; None: not "
          "decided.")
      .def(
          "simplify",
          [](const Map& self, bool keep_variables) {
            return NewMap(self, [&] {
              IndexingMap map = self.map;
              map.Simplify({.keep_variables = keep_variables});
              return map;
            });
          },
          nb::kw_only(), "keep_variables"_a = false,
          R"doc(The map in normal form: the same relation between dimensions, runtime variables and results.

Range variables, of which only that some value exists counts, are replaced, eliminated, joined and dropped.
With `keep_variables` they all stay, and it is the same function of them.

    >>> rows = xi.IndexingMap("(d0)[s0, s1] -> ((d0 * 8 + 3) mod 8, s0 * 4 + s1), "
    ...                       "domain: d0 in [0, 9], s0 in [0, 9], s1 in [0, 3]")
    >>> print(rows.simplify())
    (d0)[s0] -> (3, s0), domain: d0 in [0, 9], s0 in [0, 39]
    >>> print(rows.simplify(keep_variables=True))
    (d0)[s0, s1] -> (3, s0 * 4 + s1), domain: d0 in [0, 9], s0 in [0, 9], s1 in [0, 3]
)doc")
      .def(
          "compose",
          [](const Map& self, const Map& other) {
            const IndexingMap second = InContext(other, self.context);
            return NewMap(self, [&] { return ValueOf(ComposeIndexingMaps(self.map, second)); });
          },
          "other"_a,
          R"doc(First this map, then `other`: from the consumer's output to the producer's operand.

The dimension intervals of `other` become constraints. The result is not simplified.

    >>> reverse = xi.IndexingMap("(d0) -> (9 - d0), domain: d0 in [0, 9]")
    >>> print(reverse.compose(reverse).simplify())
    (d0) -> (d0), domain: d0 in [0, 9]

Error where the results of this map are not as many as the dimensions of the other.
)doc")
      .def(
          "inverse",
          [](const Map& self, int64_t max_steps) {
            return NewMap(self, [&] { return ValueOf(Inverse(self.map, max_steps)); });
          },
          nb::kw_only(), "max_steps"_a = kDefaultSteps,
          R"doc(From results back to dimensions, where no result belongs to two points.

    >>> print(xi.IndexingMap("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 9], d1 in [0, 7]").inverse())
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 79]

Error with the code FAILED_PRECONDITION where two points have one result, UNIMPLEMENTED where the results
were not shown to determine a dimension.
)doc")
      .def(
          "image",
          [](const Map& self, int64_t max_steps) {
            const ImageBox box =
                Locked(*self.context, [&] { return ValueOf(ImageAsBox(self.map, max_steps)); });
            return Image{ToBool(box.is_box.answer), {box.ranges.begin(), box.ranges.end()}};
          },
          nb::kw_only(), "max_steps"_a = kDefaultSteps,
          R"doc(All results, as a box with strides where they are one.

    >>> xi.IndexingMap("(d0) -> (d0 * 2 + 3), domain: d0 in [0, 4]").image().ranges
    (range(3, 13, 2),)
)doc")
      .def("count_image", &CountOf<CountImage>, nb::kw_only(), "max_steps"_a = kMaxCountingSteps,
           "The number of different results, an Interval where it was not found in so many steps.")
      .def("count_pairs", &CountOf<CountPairs>, nb::kw_only(), "max_steps"_a = kMaxCountingSteps,
           "The number of pairs (point of the dimensions, result), an Interval where it was not "
           "found.")
      // Points.
      .def(
          "contains",
          [](const Map& self, const std::vector<int64_t>& dims, const std::vector<int64_t>& ranges,
             const std::vector<int64_t>& runtime) {
            return ValueOf(self.map.Contains(dims, SymbolsOf(ranges, runtime)));
          },
          "dims"_a, "ranges"_a = nb::tuple(), "runtime"_a = nb::tuple(),
          "Whether a point is in the domain.")
      .def(
          "evaluate",
          [](const Map& self, const std::vector<int64_t>& dims, const std::vector<int64_t>& ranges,
             const std::vector<int64_t>& runtime) {
            const auto results = ValueOf(self.map.Evaluate(dims, SymbolsOf(ranges, runtime)));
            return AsPython(absl::MakeConstSpan(results));
          },
          "dims"_a, "ranges"_a = nb::tuple(), "runtime"_a = nb::tuple(),
          R"doc(The results at one point, which need not be in the domain.

    >>> xi.IndexingMap("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]").evaluate([2], runtime=[5])
    (7,)

Error where the numbers of values are not those of the variables, or a number does not fit 64 bits.
)doc")
      .def(
          "__call__",
          [](const Map& self, nb::handle indices, nb::handle runtime, bool check,
             int64_t max_points) -> nb::object {
            if (self.map.num_ranges() > 0) return ReadsOf(self, indices, runtime, max_points);
            return nb::cast(FunctionOf(self, indices, runtime, check));
          },
          "indices"_a, "runtime"_a = nb::none(), nb::kw_only(), "check"_a = true,
          "max_points"_a = kMaxPoints,
          nb::sig(
              "def __call__(self, indices: numpy.typing.ArrayLike, runtime: numpy.typing.ArrayLike "
              "| None = None, *, check: bool = True, max_points: int = 268435456) -> typing.Any"),
          R"doc(The results at many points.

`indices` are integers of shape [N, dimensions]: a row for each point. `runtime` are the values of the
runtime variables, of shape [variables], or [N, variables] where each point has its own.

Without range variables: an int64 array [N, results]. A row outside of the domain is an Error, unless
`check` is False; then the formula is evaluated there too.
With range variables: what reads() returns, a pair (rows, elements).

    >>> transpose = xi.IndexingMap("(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 3]")
    >>> transpose([[0, 3], [2, 1]]).tolist()
    [[3, 0], [1, 2]]

TypeError where the indices are no integers.
)doc")
      .def(
          "reads", &ReadsOf, "indices"_a, "runtime"_a = nb::none(), nb::kw_only(),
          "max_points"_a = kMaxPoints,
          nb::sig("def reads(self, indices: numpy.typing.ArrayLike, runtime: "
                  "numpy.typing.ArrayLike | None = None, *, max_points: int = 268435456) -> "
                  "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]"),
          R"doc(All that many points map to: a pair (rows, elements) of int64 arrays [M] and [M, results].

The point in row `rows[i]` of `indices` maps to `elements[i]`, one for every value of the range variables
with which it is in the domain. Points outside of the domain map to nothing.

    >>> pad = xi.IndexingMap("(d0) -> (d0 - 1), domain: d0 in [1, 3]")
    >>> rows, elements = pad.reads([[0], [1], [2], [3], [4]])
    >>> rows.tolist(), elements.tolist()
    ([1, 2, 3], [[0], [1], [2]])

Error for more than `max_points` points, and for a range variable without bound.
)doc")
      .def("in_domain", &InDomain, "indices"_a, "runtime"_a = nb::none(), nb::kw_only(),
           "max_points"_a = kMaxPoints,
           nb::sig("def in_domain(self, indices: numpy.typing.ArrayLike, runtime: "
                   "numpy.typing.ArrayLike | None = None, *, max_points: int = 268435456) -> "
                   "numpy.typing.NDArray[numpy.bool_]"),
           "For each row of `indices` whether the point maps to anything: a boolean array [N].")
      .def(
          "to_numpy",
          [](const Map& self, absl::string_view kind, nb::handle runtime,
             const std::optional<std::vector<int64_t>>& shape, int64_t max_points) -> nb::object {
            if (kind != "pairs" && kind != "mask") {
              ThrowInvalid(absl::StrCat("kind is '", kind, "', and has to be 'pairs' or 'mask'"));
            }
            std::vector<int64_t> pairs = PairsOf(self, runtime, max_points);
            if (kind == "mask") return MaskOf(self, pairs, shape, max_points);
            if (shape) ThrowInvalid("kind='pairs' takes no shape");
            const size_t width = self.map.num_dims() + self.map.num_results();
            const size_t rows = width == 0 ? 0 : pairs.size() / width;
            return nb::cast(ToArray<Matrix>(std::move(pairs), {rows, width}));
          },
          "kind"_a = "pairs", nb::kw_only(), "runtime"_a = nb::none(), "shape"_a = nb::none(),
          "max_points"_a = kMaxPoints,
          nb::sig("def to_numpy(self, kind: str = 'pairs', *, runtime: numpy.typing.ArrayLike | "
                  "None = None, shape: collections.abc.Sequence[int] | None = None, max_points: "
                  "int = 268435456) -> numpy.typing.NDArray[typing.Any]"),
          R"doc(Everything that the map says, for one value of its runtime variables.

kind 'pairs': an int64 array [M, dimensions + results], a row for each different pair, in order.
kind 'mask': a boolean array with an axis for each dimension and each result, that is True where the element
maps to that result. `shape` gives its sizes, where it should be larger than the map needs.

    >>> diagonal = xi.IndexingMap("(d0) -> (d0, 2 - d0), domain: d0 in [0, 2]")
    >>> diagonal.to_numpy().tolist()
    [[0, 0, 2], [1, 1, 1], [2, 2, 0]]
    >>> diagonal.to_numpy("mask").shape
    (3, 3, 3)

Error for an interval without end and for more than `max_points` points.
)doc")
      .def(
          "to_isl",
          [](const Map& self) {
            return Locked(*self.context, [&] { return ToIslText(self.map); });
          },
          R"doc(The relation in the notation of isl, which islpy.Map() reads.

    >>> xi.IndexingMap("(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]").to_isl()
    '{ [d0] -> [r0] : r0 = floor(d0/2) and 0 <= d0 <= 9 }'
)doc");
}

}  // namespace xla_indexing::python

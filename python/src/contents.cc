#include "python/src/contents.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "python/src/arrays.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/map/expr/map_program.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/decisions/argument_values.h"

namespace xla_indexing::python {

std::string SourceOf(const OperandMap& map, int variable) {
  const RuntimeVarIndexing& binding = map.indexing().bindings()[variable];
  const bool is_count = binding.value.kind() == ValueFunction::Kind::kIterations;
  return absl::StrCat(binding.YieldedBy(map.subject().Analysed()), is_count ? ", iterations" : "");
}

namespace {

// An array that a runtime variable is read from.
class SourceArray {
 public:
  SourceArray(std::string source, IntegerArray values)
      : source_(std::move(source)), values_(std::move(values)) {}

  // OutOfRange for an element that is not there.
  absl::StatusOr<int64_t> At(absl::Span<const int64_t> element) const {
    int64_t position = 0;
    for (size_t k = 0; k < element.size(); ++k) {
      const auto size = static_cast<int64_t>(values_.shape(k));
      if (element[k] < 0 || element[k] >= size) {
        return absl::OutOfRangeError(
            absl::StrCat("element (", absl::StrJoin(element, ", "), ") of '", source_,
                         "' is read, of which contents has shape [", ShapeText(values_), "]"));
      }
      position = position * size + element[k];
    }
    return values_.data()[position];
  }

 private:
  std::string source_;
  IntegerArray values_;
};

SourceArray SourceArrayOf(const OperandMap& map, int variable, const nb::dict& contents) {
  const RuntimeVarIndexing& binding = map.indexing().bindings()[variable];
  const std::string source = SourceOf(map, variable);
  if (binding.device) {
    ThrowInvalid(
        absl::StrCat("'", source, "' is read on another device, of which contents says nothing"));
  }
  const nb::object key = ToText(source);
  if (!contents.contains(key)) {
    ThrowInvalid(absl::StrCat(
        "contents has no '", source, "', from which a runtime variable of ",
        Locked(map.subject().state, [&] { return map.indexing().MapToString(); }), " is read"));
  }
  nb::object given = nb::module_::import_("numpy").attr("asarray")(contents[key]);
  if (nb::cast<std::string>(nb::str(given.attr("dtype").attr("kind"))) == "b") {
    given = given.attr("astype")("int64");
  }
  IntegerArray values = ToIntegers(given, source.c_str());
  const auto loops = static_cast<size_t>(binding.NumLoops());
  const auto sizes = binding.shape().dimensions();
  bool fits = values.ndim() == binding.element.size();
  for (size_t k = loops; fits && k < values.ndim(); ++k) {
    fits = static_cast<int64_t>(values.shape(k)) == sizes[k - loops];
  }
  if (!fits) {
    ThrowInvalid(absl::StrCat(
        "contents['", source, "'] has shape [", ShapeText(values), "], and has to have that of ",
        binding.shape().ToString(),
        loops == 0
            ? ""
            : absl::StrCat(" behind ", loops,
                           loops == 1
                               ? " dimension for the iterations"
                               : " dimensions for the iterations of loops, the outermost first")));
  }
  return SourceArray(source, std::move(values));
}

bool UsesRuntimesFrom(mlir::AffineExpr expr, const IndexingMap& map, int first) {
  for (int i = first; i < map.num_runtimes(); ++i) {
    if (expr.isFunctionOfSymbol(map.num_ranges() + i)) return true;
  }
  return false;
}

// The results, where they are the element that variable `stage` is read from, over the points that
// are in the domain as far as the variables before it say; with all variables, the map itself.
IndexingMap StageOf(const OperandIndexing& indexing, const IndexingMap& map, int stage) {
  if (stage == map.num_runtimes()) return map;
  Variables runtimes(map.runtimes());
  for (int i = stage; i < map.num_runtimes(); ++i) runtimes[i].bounds = Interval::All();
  Constraints constraints;
  for (const Constraint& constraint : map.constraints()) {
    if (!UsesRuntimesFrom(constraint.expr, map, stage)) constraints.push_back(constraint);
  }
  return IndexingMap(kPartsFit,
                     mlir::AffineMap::get(map.num_dims(), map.num_symbols(),
                                          indexing.bindings()[stage].element, map.context()),
                     Variables(map.dims()), Variables(map.ranges()), std::move(runtimes),
                     std::move(constraints));
}

// Points, a column for each variable of the map, and what a stage makes of them.
struct PointColumns {
  std::vector<size_t> rows;
  std::vector<std::vector<int64_t>> variables;
  std::vector<std::vector<int64_t>> results;
};

PointColumns InsideOf(const MapProgram::Block& block) {
  PointColumns inside;
  inside.variables.resize(block.variables.size());
  inside.results.resize(block.results.size());
  for (size_t i = 0; i < block.count; ++i) {
    if (block.is_inside[i] == 0) continue;
    inside.rows.push_back(block.rows[i]);
    for (size_t k = 0; k < block.variables.size(); ++k) {
      inside.variables[k].push_back(block.variables[k][i]);
    }
    for (size_t k = 0; k < block.results.size(); ++k) {
      inside.results[k].push_back(block.results[k][i]);
    }
  }
  return inside;
}

class ContentsReader {
 public:
  ContentsReader(const OperandMap& map, const nb::dict& contents)
      : indexing_(map.indexing()), map_(map.indexing().map()) {
    for (int i = 0; i < map_.num_runtimes(); ++i) {
      arrays_.push_back(SourceArrayOf(map, i, contents));
    }
    Locked(map.subject().state, [&] {
      Narrow();
      for (int i = 0; i <= map_.num_runtimes(); ++i) {
        stages_.emplace_back(StageOf(indexing_, map_, i));
      }
      return 0;
    });
  }

  // Appends a row for each pair: the number of the point, and the element that it maps to.
  absl::Status Run(const IntegerArray& indices, int64_t max_points, std::vector<int64_t>* pairs) {
    static const int64_t kNothing = 0;
    const size_t num_dims = map_.num_dims();
    std::vector<MapProgram::Source> sources;
    for (size_t i = 0; i < num_dims; ++i) {
      sources.push_back({indices.size() == 0 ? &kNothing : indices.data() + i, num_dims});
    }
    sources.resize(num_dims + map_.num_ranges());
    sources.resize(sources.size() + map_.num_runtimes(), {&kNothing, 0});
    absl::Status status;
    const absl::Status ran =
        stages_[0].Run(indices.shape(0), sources, max_points, [&](const MapProgram::Block& block) {
          if (status.ok()) status = Finish(InsideOf(block), pairs);
        });
    return status.ok() ? ran : status;
  }

 private:
  // The value of variable i that is read from this element.
  absl::StatusOr<int64_t> ValueAt(int i, absl::Span<const int64_t> element) const {
    const absl::StatusOr<int64_t> value = arrays_[i].At(element);
    if (!value.ok()) return value;
    return indexing_.bindings()[i].value.Apply(*value);
  }

  // Values that are the same for all points, such as how often a loop runs, bound range variables.
  void Narrow() {
    IndexingMap narrow = map_;
    for (int i = 0; i < map_.num_runtimes(); ++i) {
      std::vector<int64_t> element;
      for (const mlir::AffineExpr index : indexing_.bindings()[i].element) {
        if (const auto number = mlir::dyn_cast<mlir::AffineConstantExpr>(index)) {
          element.push_back(number.getValue());
        }
      }
      if (element.size() < indexing_.bindings()[i].element.size()) continue;
      const absl::StatusOr<int64_t> value = ValueAt(i, element);
      if (!value.ok()) continue;
      Interval& bounds = narrow.mutable_runtime(i).bounds;
      bounds = bounds.Intersect(Interval::Point(*value));
    }
    narrow.Simplify({.keep_variables = true});
    for (int i = 0; i < map_.num_ranges(); ++i) {
      Interval& bounds = map_.mutable_range(i).bounds;
      bounds =
          narrow.IsKnownEmpty() ? Interval::Empty() : bounds.Intersect(narrow.ranges()[i].bounds);
    }
  }

  // Finds the values of the runtime variables at points of which the first stage has been run.
  absl::Status Finish(PointColumns points, std::vector<int64_t>* pairs) const {
    const size_t first = map_.num_dims() + map_.num_ranges();
    for (int i = 0; i < map_.num_runtimes(); ++i) {
      if (points.rows.empty()) return absl::OkStatus();
      std::vector<int64_t> element(points.results.size());
      for (size_t p = 0; p < points.rows.size(); ++p) {
        for (size_t k = 0; k < element.size(); ++k) element[k] = points.results[k][p];
        const absl::StatusOr<int64_t> value = ValueAt(i, element);
        if (!value.ok()) return value.status();
        points.variables[first + i][p] = *value;
      }
      std::vector<MapProgram::Source> sources;
      for (const std::vector<int64_t>& column : points.variables) {
        sources.push_back({column.data(), 1});
      }
      PointColumns inside;
      const absl::Status status =
          stages_[i + 1].Run(points.rows.size(), sources, INT64_MAX,
                             [&](const MapProgram::Block& block) { inside = InsideOf(block); });
      if (!status.ok()) return status;
      for (size_t& row : inside.rows) row = points.rows[row];
      points = std::move(inside);
    }
    for (size_t p = 0; p < points.rows.size(); ++p) {
      pairs->push_back(static_cast<int64_t>(points.rows[p]));
      for (const std::vector<int64_t>& result : points.results) pairs->push_back(result[p]);
    }
    return absl::OkStatus();
  }

  const OperandIndexing& indexing_;
  IndexingMap map_;
  std::vector<SourceArray> arrays_;
  std::vector<MapProgram> stages_;
};

// Throws unless each row is the index of an element of the array.
void CheckInside(const IntegerArray& indices, const Shape& array) {
  for (size_t row = 0; row < indices.shape(0); ++row) {
    const absl::Span<const int64_t> element(indices.data() + row * indices.shape(1),
                                            indices.shape(1));
    for (size_t k = 0; k < element.size(); ++k) {
      const auto dim = static_cast<int64_t>(k);
      const bool is_below = array.IsUnboundedDimension(dim) || element[k] < array.dimension(dim);
      if (element[k] >= 0 && is_below) continue;
      ThrowInvalid(absl::StrCat("row ", row, " of indices, [", absl::StrJoin(element, ", "),
                                "], is no element of ", array.ToStringWithoutLayout()));
    }
  }
}

}  // namespace

nb::typed<nb::tuple, Vector, Matrix> ReadsWithContents(const Entry& entry,
                                                       absl::Span<const OperandMap> maps,
                                                       nb::handle indices, const nb::dict& contents,
                                                       int64_t max_points) {
  const Shape& from = entry.From();
  const auto num_dims = static_cast<size_t>(from.rank());
  const auto num_results = static_cast<size_t>(entry.To().rank());
  const IntegerArray points = ToIntegers(indices, "indices");
  if (points.ndim() != 2 || points.shape(1) != num_dims) {
    ThrowInvalid(absl::StrCat("indices have shape [", ShapeText(points), "], and have to have [N, ",
                              num_dims, "]: a row for each point"));
  }
  CheckInside(points, from);
  const size_t width = 1 + num_results;
  std::vector<int64_t> pairs;
  for (const OperandMap& map : maps) {
    if (map.indexing().IsUnknown()) {
      ThrowInvalid(absl::StrCat("what is read is not known: ", map.indexing().label().reason));
    }
    ContentsReader reader(map, contents);
    CheckOk(Interruptible([&] { return reader.Run(points, max_points, &pairs); }));
  }
  std::vector<absl::Span<const int64_t>> sorted;
  for (size_t begin = 0; begin < pairs.size(); begin += width) {
    sorted.push_back(absl::MakeConstSpan(pairs).subspan(begin, width));
  }
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<int64_t> rows;
  std::vector<int64_t> elements;
  for (const absl::Span<const int64_t> pair : sorted) {
    rows.push_back(pair[0]);
    elements.insert(elements.end(), pair.begin() + 1, pair.end());
  }
  const size_t count = rows.size();
  return nb::make_tuple(ToArray<Vector>(std::move(rows), {count}),
                        ToArray<Matrix>(std::move(elements), {count, num_results}));
}

namespace {

// int64; None if an element does not fit.
nb::object ToNumpy(const Literal& literal) {
  std::vector<int64_t> values;
  values.reserve(static_cast<size_t>(literal.shape().ElementCount().value_or(0)));
  for (int64_t i = 0; i < literal.shape().ElementCount().value_or(0); ++i) {
    const std::optional<int64_t> value = literal.IntegerAt(i);
    if (!value) return nb::none();
    values.push_back(*value);
  }
  const size_t count = values.size();
  nb::list sizes;
  for (const int64_t size : literal.shape().dimensions()) sizes.append(size);
  return nb::cast(ToArray<Vector>(std::move(values), {count})).attr("reshape")(nb::tuple(sizes));
}

}  // namespace

nb::dict ContentsFromArguments(const Entry& entry, absl::Span<const OperandMap> maps,
                               const nb::list& arguments) {
  const Subject& subject = entry.indexing.subject;
  const HloComputation& computation = *subject.Operands()[entry.Get().operand]->parent();
  std::vector<std::shared_ptr<const Literal>> literals(computation.parameters().size());
  for (size_t i = 0; i < std::min(literals.size(), nb::len(arguments)); ++i) {
    if (arguments[i].is_none()) continue;
    const HloInstruction& parameter = *computation.parameters()[i];
    const IntegerArray values = ToIntegers(arguments[i], std::string(parameter.name()).c_str());
    literals[i] = std::make_shared<const Literal>(
        Literal::Integers(parameter.shape().element_type(), parameter.shape().dimensions(),
                          absl::MakeConstSpan(values.data(), values.size())));
  }
  ArgumentValues values = ValueOf(ArgumentValues::Create(computation, std::move(literals)));
  nb::dict contents;
  for (const OperandMap& map : maps) {
    for (size_t i = 0; i < map.indexing().bindings().size(); ++i) {
      const RuntimeVarIndexing& binding = map.indexing().bindings()[i];
      const Literal* array = Locked(
          subject.state, [&] { return values.ArrayOf(binding, &subject.state->context->mlir); });
      if (array == nullptr) continue;
      const nb::object known = ToNumpy(*array);
      if (!known.is_none()) contents[ToText(SourceOf(map, static_cast<int>(i)))] = known;
    }
  }
  return contents;
}

}  // namespace xla_indexing::python

#include "xla_indexing/ops/rules/indexed/outside_windows.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/values/fold_runtime.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using IndexVector = IndexedWindows::IndexVector;

using Box = llvm::SmallVector<Interval, 4>;  // An interval for each dimension.
using BatchIndex = llvm::SmallVector<int64_t, 4>;

// The batch indices in row-major order, if there are not too many.
std::optional<std::vector<BatchIndex>> BatchIndices(const IndexedWindows& windows) {
  std::vector<BatchIndex> indices = {{}};
  for (const int64_t dim : windows.batch_dims()) {
    const int64_t size = windows.windows().dimension(dim);
    if (size < 0 || size > kMaxOutsideWindows / static_cast<int64_t>(indices.size())) {
      return std::nullopt;
    }
    std::vector<BatchIndex> longer;
    for (const BatchIndex& index : indices) {
      for (int64_t i = 0; i < size; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    }
    indices = std::move(longer);
  }
  return indices;
}

IndexVector Constants(llvm::ArrayRef<int64_t> values, const MapBuilder& builder) {
  IndexVector constants;
  for (const int64_t value : values) constants.push_back(builder.Value(value));
  return constants;
}

// The integers below, and above, all of an interval that is not empty.
Interval Below(const Interval& interval) {
  return interval.has_lower() ? Interval::AtMost(interval.lower()).Sub(1) : Interval::Empty();
}
Interval Above(const Interval& interval) {
  return interval.has_upper() ? Interval::AtLeast(interval.upper()).Add(1) : Interval::Empty();
}

// The identity on the domain of a builder from the array to itself.
OperandIndexing IdentityOn(const MapBuilder& builder, const Shape& array) {
  IndexVector element;
  for (int64_t k = 0; k < array.rank(); ++k) element.push_back(builder.Dim(k));
  OperandIndexing identity = builder.Build(element);
  identity.Simplify();
  return identity;
}

// Where the window of a batch index begins, if the module fixes that.
std::optional<BatchIndex> FixedOrigin(const BuildContext& build, const IndexedWindows& windows,
                                      const BatchIndex& batch) {
  const Shape scalar = Shape::Scalar(windows.array().element_type());
  MapBuilder builder(scalar, windows.array(), build.mlir_context);
  const IndexVector origin = windows.AddOrigin(Constants(batch, builder), &builder);
  OperandIndexingSet folded = FoldRuntimeVariables(builder.Build(origin));
  if (folded.size() != 1) return std::nullopt;
  BatchIndex values;
  for (AffineExpr expr : folded.maps().front().map().results()) {
    const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr);
    if (!constant) return std::nullopt;
    values.push_back(constant.getValue());
  }
  return values;
}

// The elements of the array in the window that begins at `origin`; an empty interval where it is
// dropped.
Box BoxOf(const IndexedWindows& windows, const BatchIndex& origin) {
  Box box;
  for (int64_t k = 0; k < windows.array().rank(); ++k) {
    box.push_back(IndicesOfAxis(windows.WindowSize(k)).Add(origin[k]));
    if (windows.DropsWholeWindows() && windows.IsIndexed(k) &&
        !windows.InsideStarts(k).Contains(origin[k])) {
      box.back() = Interval::Empty();
    }
  }
  return box;
}

// Adds the disjoint parts of `whole` that are not in `box`: for each dimension those below and
// above, inside in the dimensions before.
void AddDifference(const Box& whole, const Box& box, std::vector<Box>* parts) {
  for (size_t k = 0; k < whole.size(); ++k) {
    if (!whole[k].Intersect(box[k]).IsEmpty()) continue;
    parts->push_back(whole);
    return;
  }
  Box rest = whole;
  for (size_t k = 0; k < whole.size(); ++k) {
    for (const Interval& beside : {Below(box[k]), Above(box[k])}) {
      if (rest[k].Intersect(beside).IsEmpty()) continue;
      parts->push_back(rest);
      parts->back()[k] = rest[k].Intersect(beside);
    }
    rest[k] = rest[k].Intersect(box[k]);
  }
}

// What is left where the module fixes every index.
std::optional<OperandIndexingSet> OutsideBoxes(const BuildContext& build,
                                               const IndexedWindows& windows,
                                               const std::vector<BatchIndex>& batches) {
  Box whole;
  for (const int64_t size : windows.array().dimensions()) whole.push_back(IndicesOfAxis(size));
  std::vector<Box> left = {whole};
  for (const BatchIndex& batch : batches) {
    const std::optional<BatchIndex> origin = FixedOrigin(build, windows, batch);
    if (!origin) return std::nullopt;
    const Box box = BoxOf(windows, *origin);
    std::vector<Box> parts;
    for (const Box& piece : left) AddDifference(piece, box, &parts);
    if (parts.size() > kMaxOutsidePieces) return std::nullopt;
    left = std::move(parts);
  }
  OperandIndexingSet pieces;
  for (const Box& box : left) {
    MapBuilder builder(windows.array(), windows.array(), build.mlir_context);
    for (int64_t k = 0; k < windows.array().rank(); ++k) {
      builder.Constrain(builder.Dim(k), box[k]);
    }
    AddUnlessEmpty(IdentityOn(builder, windows.array()), &pieces);
    if (!build.TakesPieces(pieces.size())) break;
  }
  return pieces;
}

// What makes an element lie in one window: all of these.
struct WindowCondition {
  AffineExpr expr;
  Interval holds;
  Interval range;  // The values that the expression can have.
};

std::vector<WindowCondition> ConditionsOf(const IndexedWindows& windows, const IndexVector& origin,
                                          const MapBuilder& builder) {
  std::vector<WindowCondition> conditions;
  for (int64_t k = 0; k < windows.array().rank(); ++k) {
    if (windows.DropsWholeWindows() && windows.IsIndexed(k)) {
      conditions.push_back({origin[k], windows.InsideStarts(k), Interval::All()});
    }
  }
  for (int64_t k = 0; k < windows.array().rank(); ++k) {
    const auto start = llvm::dyn_cast<mlir::AffineConstantExpr>(origin[k]);
    conditions.push_back({Sub(builder.Dim(k), origin[k]), IndicesOfAxis(windows.WindowSize(k)),
                          start ? IndicesOfAxis(windows.array().dimension(k)).Sub(start.getValue())
                                : Interval::All()});
  }
  return conditions;
}

// One way in which an element is not in a window: condition number `condition` does not hold, and
// those before do.
struct Alternative {
  size_t condition;
  Interval instead;
};

std::vector<Alternative> AlternativesOf(const std::vector<WindowCondition>& conditions) {
  std::vector<Alternative> alternatives;
  for (size_t i = 0; i < conditions.size(); ++i) {
    const auto [expr, holds, range] = conditions[i];
    if (holds.IsEmpty()) {
      alternatives.push_back({i, Interval::All()});
      break;
    }
    for (const Interval& beside : {Below(holds), Above(holds)}) {
      if (!range.Intersect(beside).IsEmpty()) alternatives.push_back({i, beside});
    }
  }
  return alternatives;
}

// The elements for which the window of batch index i is missed in the way `ways[i]`.
OperandIndexing PieceOutside(const BuildContext& build, const IndexedWindows& windows,
                             const std::vector<BatchIndex>& batches,
                             const std::vector<Alternative>& ways) {
  MapBuilder builder(windows.array(), windows.array(), build.mlir_context);
  for (size_t i = 0; i < batches.size(); ++i) {
    const IndexVector origin = windows.AddOrigin(Constants(batches[i], builder), &builder);
    const std::vector<WindowCondition> conditions = ConditionsOf(windows, origin, builder);
    for (size_t c = 0; c < ways[i].condition; ++c) {
      builder.Constrain(conditions[c].expr, conditions[c].holds);
    }
    builder.Constrain(conditions[ways[i].condition].expr, ways[i].instead);
  }
  return IdentityOn(builder, windows.array());
}

// What is left where indices are known when the program runs only.
std::optional<OperandIndexingSet> OutsideVaryingWindows(const BuildContext& build,
                                                        const IndexedWindows& windows,
                                                        const std::vector<BatchIndex>& batches) {
  std::vector<std::vector<Alternative>> combinations = {{}};
  for (const BatchIndex& batch : batches) {
    MapBuilder builder(windows.array(), windows.array(), build.mlir_context);
    const IndexVector origin = windows.AddOrigin(Constants(batch, builder), &builder);
    const std::vector<Alternative> alternatives =
        AlternativesOf(ConditionsOf(windows, origin, builder));
    if (combinations.size() * alternatives.size() > kMaxOutsidePieces) return std::nullopt;
    std::vector<std::vector<Alternative>> longer;
    for (const std::vector<Alternative>& ways : combinations) {
      for (const Alternative& alternative : alternatives) {
        longer.push_back(ways);
        longer.back().push_back(alternative);
      }
    }
    combinations = std::move(longer);
  }
  OperandIndexingSet pieces;
  for (const std::vector<Alternative>& ways : combinations) {
    AddUnlessEmpty(PieceOutside(build, windows, batches, ways), &pieces);
    if (!build.TakesPieces(pieces.size())) break;
  }
  return pieces;
}

}  // namespace

std::optional<OperandIndexingSet> OutsideWindows(const BuildContext& build,
                                                 const IndexedWindows& windows) {
  for (int64_t k = 0; k < windows.array().rank(); ++k) {
    if (windows.WindowSize(k) == Shape::kUnboundedSize) return std::nullopt;
  }
  const std::optional<std::vector<BatchIndex>> batches = BatchIndices(windows);
  if (!batches) return std::nullopt;
  if (build.options.fold_runtime_variables) {
    std::optional<OperandIndexingSet> pieces = OutsideBoxes(build, windows, *batches);
    if (pieces) return pieces;
  }
  return OutsideVaryingWindows(build, windows, *batches);
}

}  // namespace xla_indexing::internal

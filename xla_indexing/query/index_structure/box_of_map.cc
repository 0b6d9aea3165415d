#include "xla_indexing/query/index_structure/box_of_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/query/index_structure/affine_runs.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr absl::string_view kLeftOut = "a window is left out for some values of its start";

// The start that a runtime variable is; nullopt if it is not one value of this computation.
std::optional<RuntimeStart> StartOf(const RuntimeVarIndexing& binding) {
  if (!binding.call_path.empty() || binding.leaf != 0 || binding.device ||
      !binding.instruction->shape().IsArray()) {
    return std::nullopt;
  }
  RuntimeStart start;
  start.source = binding.instruction;
  for (const AffineExpr expr : binding.element) {
    const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr);
    if (!constant) return std::nullopt;
    start.element.push_back(constant.getValue());
  }
  if (binding.value.kind() == ValueFunction::Kind::kAsIs) return start;
  if (binding.value.kind() != ValueFunction::Kind::kClamp) return std::nullopt;
  const Interval values = ValuesOfElementType(binding.shape().element_type());
  const Interval clamped = Interval::Closed(binding.value.lower(), binding.value.upper());
  if (values.IsSubsetOf(clamped)) return start;
  const Interval both = values.Intersect(clamped);
  if (both.IsEmpty()) return std::nullopt;
  start.is_clamped = true;
  start.lower = both.lower();
  start.upper = both.upper();
  return start;
}

}  // namespace

MapBox BoxOfMap(const OperandIndexing& indexing, const Shape& operand, Outside outside) {
  const IndexingMap& map = indexing.map();
  MapBox box;
  const auto fail = [&](absl::string_view why_not, BoxKind kind = BoxKind::kNone) {
    box.kind = kind;
    box.why_not = std::string(why_not);
    return box;
  };
  if (map.num_ranges() > 0) return fail("an element is of several");
  for (int i = 0; i < map.num_runtimes() && outside != Outside::kAssumedNever; ++i) {
    if (indexing.bindings()[i].ValueRange().IsSubsetOf(map.runtimes()[i].bounds)) continue;
    return fail(kLeftOut);
  }
  for (const Variable& dim : map.dims()) {
    if (dim.bounds.IsEmpty() || !dim.bounds.IsFinite() || dim.bounds.lower() < 0) {
      return fail("a dimension has no ends");
    }
    box.box.dims.push_back({dim.bounds.lower(), dim.bounds.upper() - dim.bounds.lower() + 1});
  }
  std::set<int64_t> used;
  bool is_diagonal = false;
  bool is_stencil = false;
  for (int k = 0; k < map.num_results(); ++k) {
    const LinearSum sum = LinearSum::FromExpr(map.results()[k]);
    MovedAxis axis;
    LinearSum start(sum.constant());
    Interval runtime = Interval::Point(0);
    for (const auto& term : sum.terms()) {
      if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(term.atom)) {
        const MovedDim& moved = box.box.dims[dim.getPosition()];
        start.AddScaled(LinearSum(moved.offset), term.coefficient);
        if (moved.size == 1) continue;
        is_stencil = is_stencil || axis.dim;
        is_diagonal = !used.insert(dim.getPosition()).second || is_diagonal;
        axis.dim = dim.getPosition();
        axis.stride = term.coefficient;
        continue;
      }
      const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom);
      if (!symbol) return fail("a coordinate is a quotient or a remainder");
      const RuntimeVarIndexing& binding = indexing.bindings()[symbol.getPosition()];
      if (axis.runtime || term.coefficient != 1) {
        return fail("a start is computed of runtime values");
      }
      axis.runtime = StartOf(binding);
      if (!axis.runtime) return fail("the indices depend on runtime values");
      runtime = binding.ValueRange();
    }
    axis.start = start.constant();
    const auto span = SpanOf(axis, box.box);
    if (!sum.valid() || !start.valid() || !span) return fail("a coordinate does not fit 64 bits");
    const int64_t size = operand.dimension(k);
    // Where every value of the start leaves all elements inside.
    const Interval starts = Interval::Closed(0, size - span->size).Sub(span->start);
    if (axis.runtime && outside == Outside::kMayBe &&
        (size < span->size || !runtime.IsSubsetOf(starts))) {
      return fail(kLeftOut);
    }
    box.box.axes.push_back(std::move(axis));
  }
  if (is_stencil) return fail("two indices are in one coordinate", BoxKind::kStencil);
  if (is_diagonal) return fail("an index is in two coordinates", BoxKind::kDiagonal);
  box.kind = BoxKind::kMovements;
  return box;
}

std::optional<MovedBox> BoxInEachBatchElement(const OperandIndexing& indexing, const Shape& operand,
                                              Outside outside) {
  const IndexingMap& map = indexing.map();
  // The starts of the first batch element.
  llvm::SmallVector<AffineExpr, 8> first(map.num_dims());
  llvm::SmallBitVector is_batch(map.num_dims());
  RuntimeVarIndexings bindings(indexing.bindings().begin(), indexing.bindings().end());
  for (const RuntimeVarIndexing& binding : bindings) {
    for (const AffineExpr e : binding.element) {
      for (const int variable : VariablesOf(e, map.num_dims())) {
        if (variable >= map.num_dims()) return std::nullopt;
        is_batch.set(variable);
        first[variable] = Constant(0, map.context());
      }
    }
  }
  if (is_batch.none() || !map.constraints().empty()) return std::nullopt;
  for (const unsigned dim : is_batch.set_bits()) {
    const AffineExpr coordinate = mlir::getAffineDimExpr(dim, map.context());
    int uses = 0;
    for (const AffineExpr result : map.results()) {
      if (!llvm::is_contained(VariablesOf(result, map.num_dims()), static_cast<int>(dim))) continue;
      if (result != coordinate || ++uses > 1) return std::nullopt;
    }
    if (uses == 0) return std::nullopt;
  }
  for (RuntimeVarIndexing& binding : bindings) {
    for (AffineExpr& e : binding.element) e = Substitute(e, first, {});
  }
  MapBox box = BoxOfMap(OperandIndexing(kPartsFit, map, std::move(bindings)), operand, outside);
  if (!box.IsBox()) return std::nullopt;
  return std::move(box.box);
}

namespace {

int64_t StrideAlong(const MovedAxis& axis, size_t dim) {
  return axis.dim == static_cast<int64_t>(dim) ? axis.stride : 0;
}

// The box of `a` and then `b` along a dimension, where the steps to and in `b` are those in `a`.
std::optional<MovedBox> Joined(const MovedBox& a, const MovedBox& b, size_t dim) {
  const int64_t size = a.dims[dim].size;
  MovedBox joined = a;
  joined.dims[dim].size += b.dims[dim].size;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    const bool follows =
        i == dim ? a.dims[i].offset + size == b.dims[i].offset : a.dims[i] == b.dims[i];
    if (!follows) return std::nullopt;
  }
  int coordinates = 0;
  for (size_t k = 0; k < a.axes.size(); ++k) {
    const MovedAxis& x = a.axes[k];
    const MovedAxis& y = b.axes[k];
    if (x.runtime || y.runtime) return std::nullopt;
    const std::optional<int64_t> distance = CheckedSub(y.start, x.start);
    if (!distance || *distance % size != 0) return std::nullopt;
    const int64_t step = *distance / size;
    if (size > 1 && StrideAlong(x, dim) != step) return std::nullopt;
    if (b.dims[dim].size > 1 && StrideAlong(y, dim) != step) return std::nullopt;
    for (size_t i = 0; i < a.dims.size(); ++i) {
      if (i == dim) continue;
      if (StrideAlong(x, i) != StrideAlong(y, i)) return std::nullopt;
      if (step != 0 && StrideAlong(x, i) != 0) return std::nullopt;
    }
    if (step == 0) continue;
    // No diagonals.
    if (++coordinates > 1) return std::nullopt;
    joined.axes[k].dim = static_cast<int64_t>(dim);
    joined.axes[k].stride = step;
  }
  return joined;
}

// Makes one box of boxes that follow one another in steps along a dimension, as far as possible.
void JoinBoxes(std::vector<MovedBox>* boxes) {
  if (boxes->size() < 2) return;
  for (size_t dim = boxes->front().dims.size(); dim-- > 0;) {
    absl::c_stable_sort(*boxes, [&](const MovedBox& a, const MovedBox& b) {
      const auto key = [&](const MovedBox& box) {
        std::vector<int64_t> offsets;
        for (size_t i = 0; i < box.dims.size(); ++i) {
          if (i != dim) offsets.push_back(box.dims[i].offset);
        }
        offsets.push_back(box.dims[dim].offset);
        return offsets;
      };
      return key(a) < key(b);
    });
    std::vector<MovedBox> joined;
    for (MovedBox& box : *boxes) {
      auto both = joined.empty() ? std::nullopt : Joined(joined.back(), box, dim);
      if (both) {
        joined.back() = *std::move(both);
      } else {
        joined.push_back(std::move(box));
      }
    }
    *boxes = std::move(joined);
  }
}

}  // namespace

Boxes BoxesOf(const std::vector<OperandIndexing>& maps, const Shape& operand, Outside outside) {
  Boxes all;
  const auto add = [&](const OperandIndexing& map) {
    if (!map.map().constraints().empty()) {
      all.why_not = "a piece is no box";
      return;
    }
    MapBox box = BoxOfMap(map, operand, outside);
    if (!box.IsBox()) all.why_not = box.why_not;
    all.boxes.push_back(std::move(box.box));
  };
  for (const OperandIndexing& map : maps) {
    for (const OperandIndexing& run : InAffineRuns(map)) {
      add(run);
      if (!all.why_not.empty()) return all;
    }
  }
  JoinBoxes(&all.boxes);
  return all;
}

bool CoversAll(const MovedBox& box, const Shape& array) {
  for (size_t i = 0; i < box.dims.size(); ++i) {
    if (box.dims[i].size != array.dimension(static_cast<int64_t>(i))) return false;
  }
  return true;
}

std::string NameOfBox(const MovedBox& box, const Shape& operand) {
  bool is_runtime = false;
  bool is_slice = false;
  bool is_strided = false;
  bool is_reversed = false;
  std::vector<int64_t> order;
  for (size_t k = 0; k < box.axes.size(); ++k) {
    const MovedAxis& axis = box.axes[k];
    is_runtime = is_runtime || axis.runtime;
    if (axis.dim) {
      order.push_back(*axis.dim);
      is_strided = is_strided || axis.stride > 1 || axis.stride < -1;
      is_reversed = is_reversed || axis.stride < 0;
    }
    const std::optional<AxisSpan> span = SpanOf(axis, box);
    is_slice = is_slice || !span || span->size != operand.dimension(static_cast<int64_t>(k));
  }
  std::vector<absl::string_view> names;
  if (is_runtime) names.push_back("dynamic-slice");
  if (is_strided) {
    names.push_back("strided slice");
  } else if (is_slice && !is_runtime) {
    names.push_back("slice");
  }
  if (is_reversed) names.push_back("reverse");
  if (!absl::c_is_sorted(order)) names.push_back("transpose");
  const auto is_repeated = [](const MovedDim& dim) { return dim.size > 1; };
  if (absl::c_count_if(box.dims, is_repeated) > static_cast<int64_t>(order.size())) {
    names.push_back("broadcast");
  }
  return names.empty() ? "copy" : absl::StrJoin(names, ", ");
}

std::string NameOfBatch(absl::string_view name) {
  const size_t end = std::min(name.find(','), name.size());
  return absl::StrCat("batch of ", name.substr(0, end), "s", name.substr(end));
}

}  // namespace xla_indexing::internal

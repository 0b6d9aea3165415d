#include "xla_indexing/query/index_structure/box_of_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
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
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/digit_view.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr absl::string_view kLeftOut = "a window is left out for some values of its start";

// More pieces than that are no help.
constexpr int64_t kMaxMultiples = 8;

// The digits of one dimension, as loops.
struct DigitLoops {
  // Those that results are sums of, and the shift that they have in common; plain ones say nothing.
  std::vector<VariableDigit> digits;
  int64_t shift = 0;
  // Where they begin and end.
  std::set<int64_t> weights = {1};
  // The first multiple of the greatest weight, and the loop of each digit, the lowest first.
  int64_t start = 0;
  std::vector<int64_t> loops;
  std::vector<int64_t> counts;

  bool IsPlain() const { return digits.empty(); }
};

// The results as sums of digits of the dimensions, with those of each dimension collected; nullopt if they
// do not go together.
std::optional<std::vector<DigitSum>> CollectDigits(const IndexingMap& map,
                                                   std::vector<DigitLoops>* dims) {
  std::vector<DigitSum> sums;
  for (const AffineExpr result : map.results()) {
    std::optional<DigitSum> sum = DigitSumOf(result, map.num_dims());
    if (!sum) return std::nullopt;
    for (const DigitTerm& term : sum->terms) {
      const VariableDigit& digit = term.digit;
      if (digit.IsPlain()) continue;
      if (digit.variable >= map.num_dims()) return std::nullopt;
      DigitLoops& loops = (*dims)[digit.variable];
      loops.digits.push_back(digit);
      loops.weights.insert({digit.low, digit.Period()});
    }
    sums.push_back(*std::move(sum));
  }
  for (DigitLoops& loops : *dims) {
    const std::optional<int64_t> shift = CommonShift(loops.digits);
    if (!shift) return std::nullopt;
    loops.shift = *shift;
  }
  return sums;
}

// The sum of digits with the weights in [from, to), each divided by `from`.
LinearSum SumOfDigits(const DigitLoops& digits, int64_t from, int64_t to,
                      mlir::MLIRContext* context) {
  LinearSum sum;
  size_t i = 0;
  for (const int64_t weight : digits.weights) {
    const size_t digit = i++;
    if (weight < from || weight >= to || digits.counts[digit] == 1) continue;
    const auto loop = static_cast<unsigned>(digits.loops[digit]);
    sum.AddTerm(mlir::getAffineDimExpr(loop, context), weight / from);
  }
  return sum;
}

// A result as a sum of loops and symbols.
LinearSum SumOfLoops(const DigitSum& result, const std::vector<DigitLoops>& dims,
                     mlir::MLIRContext* context) {
  const auto num_dims = static_cast<int>(dims.size());
  LinearSum sum(result.constant);
  for (const DigitTerm& term : result.terms) {
    const VariableDigit& digit = term.digit;
    if (digit.variable >= num_dims) {
      sum.AddTerm(mlir::getAffineSymbolExpr(digit.variable - num_dims, context), term.coefficient);
      continue;
    }
    const DigitLoops& loops = dims[digit.variable];
    LinearSum value =
        SumOfDigits(loops, digit.low, digit.count == 0 ? kInt64Max : digit.Period(), context);
    if (digit.count == 0) value.AddConstant(loops.start / digit.low);
    value.AddConstant(ConstantAtShift(digit, loops.shift).value_or(0));
    sum.AddScaled(value, term.coefficient);
  }
  return sum;
}

int64_t FloorToMultiple(int64_t value, int64_t of) {
  const int64_t rest = value % of;
  return value - (rest < 0 ? rest + of : rest);
}

// The digits of each dimension, numbered as loops; the dimensions of the box.
std::optional<std::vector<MovedDim>> NumberLoops(const IndexingMap& map,
                                                 std::vector<DigitLoops>* dims) {
  constexpr int64_t kFar = int64_t{1} << 60;
  std::vector<MovedDim> moved;
  int64_t next_loop = 0;
  for (int i = 0; i < map.num_dims(); ++i) {
    DigitLoops& digits = (*dims)[i];
    const Interval bounds = map.dims()[i].bounds;
    if (bounds.IsEmpty() || !bounds.IsFinite() || bounds.lower() < 0 || bounds.upper() >= kFar ||
        digits.shift >= kFar) {
      return std::nullopt;
    }
    int64_t before = 1;
    for (const int64_t weight : digits.weights) {
      if (weight % before != 0 || weight >= kFar) return std::nullopt;
      if (weight > 1) digits.counts.push_back(weight / before);
      before = weight;
    }
    const int64_t least = bounds.lower() + digits.shift;
    const int64_t greatest = bounds.upper() + digits.shift;
    // The one loop of a dimension without digits begins where it does.
    digits.start = digits.IsPlain() ? least : FloorToMultiple(least, before);
    digits.counts.push_back((greatest - digits.start) / before + 1);
    MovedDim dim = {bounds.lower(),
                    greatest - least + 1,
                    least - digits.start,
                    {digits.counts.rbegin(), digits.counts.rend()}};
    for (size_t k = digits.counts.size(); k-- > 0;) {
      digits.loops.push_back(next_loop + static_cast<int64_t>(k));
    }
    next_loop += static_cast<int64_t>(digits.counts.size());
    moved.push_back(std::move(dim));
  }
  return moved;
}

// The start that a runtime variable is; none where it is not one value of this computation.
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
  const auto fail = [&](absl::string_view why_not) {
    box.why_not = std::string(why_not);
    return box;
  };
  if (map.num_ranges() > 0) return fail("an element is of several");
  for (int i = 0; i < map.num_runtimes() && outside != Outside::kAssumedNever; ++i) {
    if (indexing.bindings()[i].ValueRange().IsSubsetOf(map.runtimes()[i].bounds)) continue;
    return fail(kLeftOut);
  }
  std::vector<DigitLoops> dims(map.num_dims());
  const std::optional<std::vector<DigitSum>> results = CollectDigits(map, &dims);
  if (!results) {
    return fail("quotients and remainders of a coordinate are not digits of one index");
  }
  std::optional<std::vector<MovedDim>> moved = NumberLoops(map, &dims);
  if (!moved) return fail("a dimension is too large, or divisors do not divide one another");
  box.box.dims = *std::move(moved);
  const std::vector<int64_t> counts = box.box.LoopCounts();
  for (int k = 0; k < map.num_results(); ++k) {
    const LinearSum sum = SumOfLoops((*results)[k], dims, map.context());
    if (!sum.valid()) return fail("a coordinate does not fit 64 bits");
    MovedAxis axis;
    axis.start = sum.constant();
    Interval runtime = Interval::Point(0);
    for (const auto& term : sum.terms()) {
      if (const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(term.atom)) {
        axis.terms.push_back({static_cast<int64_t>(loop.getPosition()), term.coefficient});
        continue;
      }
      const RuntimeVarIndexing& binding =
          indexing.bindings()[llvm::cast<mlir::AffineSymbolExpr>(term.atom).getPosition()];
      if (axis.runtime || term.coefficient != 1)
        return fail("a start is computed of runtime values");
      axis.runtime = StartOf(binding);
      if (!axis.runtime) return fail("the indices depend on runtime values");
      runtime = binding.ValueRange();
    }
    const std::optional<AxisSpan> span = SpanOf(axis, counts);
    if (!span) return fail("a coordinate does not fit 64 bits");
    const int64_t size = operand.dimension(k);
    // Where every value of the start leaves all elements inside.
    const Interval starts = Interval::Closed(0, size - span->size).Sub(span->start);
    const bool is_inside = size >= span->size && runtime.IsSubsetOf(starts);
    if (!is_inside &&
        (outside == Outside::kNever || (outside == Outside::kIsFill && axis.runtime.has_value()))) {
      return fail(axis.runtime ? kLeftOut : "a coordinate is rounded to outside the operand");
    }
    box.box.axes.push_back(std::move(axis));
  }
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
  if (!box.IsBox() || IsRounded(box.box) || KindOfBox(box.box) != BoxKind::kMovements) {
    return std::nullopt;
  }
  return std::move(box.box);
}

bool IsRounded(const MovedBox& box) {
  return absl::c_any_of(box.dims, [](const MovedDim& dim) {
    int64_t product = 1;
    for (const int64_t count : dim.counts) product *= count;
    return product != dim.size;
  });
}

std::vector<OperandIndexing> AtMultiples(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  std::vector<DigitLoops> dims(map.num_dims());
  if (!CollectDigits(map, &dims)) return {indexing};
  std::vector<OperandIndexing> pieces = {indexing};
  for (int i = 0; i < map.num_dims(); ++i) {
    const Interval bounds = map.dims()[i].bounds;
    const DigitLoops& digits = dims[i];
    if (digits.IsPlain() || !bounds.IsFinite()) continue;
    const int64_t weight = *digits.weights.rbegin();
    const auto least = CheckedAdd(bounds.lower(), digits.shift);
    const auto greatest = CheckedAdd(bounds.upper(), digits.shift);
    if (!least || !greatest || weight > (int64_t{1} << 60)) continue;
    const int64_t first = FloorToMultiple(*least, weight) / weight;
    const int64_t last = FloorToMultiple(*greatest, weight) / weight;
    if (last == first || last - first >= kMaxMultiples) continue;
    std::vector<OperandIndexing> next;
    for (const OperandIndexing& piece : pieces) {
      for (int64_t k = first; k <= last; ++k) {
        OperandIndexing part = piece;
        const Interval inside =
            Interval::Closed(k * weight, k * weight + (weight - 1)).Sub(digits.shift);
        part.SetDimBounds(i, bounds.Intersect(inside));
        part.Simplify();
        if (!part.IsKnownEmpty()) next.push_back(std::move(part));
      }
    }
    pieces = std::move(next);
  }
  return pieces;
}

namespace {

// The weights of those digits of dimensions that begin at 0.
void CollectPlainWeights(AffineExpr expr, std::vector<std::set<int64_t>>* weights) {
  const auto num_dims = static_cast<int>(weights->size());
  const LinearSum linear = LinearSum::FromExpr(expr);
  if (!linear.valid()) return;
  for (const auto& term : linear.terms()) {
    const std::optional<DigitSum> sum = DigitSumOf(term.atom, num_dims);
    if (!sum) continue;
    for (const auto& [digit, coefficient] : sum->terms) {
      if (digit.IsPlain() || digit.variable >= num_dims || digit.shift != 0) continue;
      (*weights)[digit.variable].insert({digit.low, digit.Period()});
    }
  }
}

}  // namespace

std::optional<DigitShape> CommonDigits(const std::vector<OperandIndexing>& maps,
                                       const std::vector<int64_t>& sizes) {
  std::vector<std::set<int64_t>> weights(sizes.size(), {1});
  for (const OperandIndexing& map : maps) {
    for (const AffineExpr result : map.map().results()) CollectPlainWeights(result, &weights);
    for (const Constraint& constraint : map.map().constraints()) {
      CollectPlainWeights(constraint.expr, &weights);
    }
  }
  DigitShape shape;
  bool is_split = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<int64_t> digits(weights[i].rbegin(), weights[i].rend());
    // Each weight divides the one before it, and the first the size.
    bool is_chain = true;
    int64_t before = sizes[i];
    for (const int64_t weight : digits) {
      is_chain = is_chain && before > 0 && before % weight == 0;
      before = weight;
    }
    if (!is_chain) digits = {1};
    before = sizes[i];
    for (const int64_t weight : digits) {
      shape.sizes.push_back(before / weight);
      before = weight;
    }
    is_split = is_split || digits.size() > 1;
    shape.weights.push_back(std::move(digits));
  }
  if (!is_split) return std::nullopt;
  return shape;
}

std::optional<OperandIndexing> FromDigits(const OperandIndexing& map, const DigitShape& digits) {
  mlir::MLIRContext* context = map.map().context();
  llvm::SmallVector<AffineExpr, 4> results;
  unsigned next = 0;
  for (const std::vector<int64_t>& weights : digits.weights) {
    LinearSum sum;
    for (const int64_t weight : weights) {
      sum.AddTerm(mlir::getAffineDimExpr(next++, context), weight);
    }
    results.push_back(sum.ToExpr(context));
    if (!results.back()) return std::nullopt;
  }
  Variables dims;
  for (const int64_t size : digits.sizes) dims.push_back({Interval::OfSize(size), {}});
  const IndexingMap to_dims(kPartsFit, mlir::AffineMap::get(next, 0, results, context),
                            std::move(dims), {}, {}, {});
  auto composed = ComposeOperandIndexing(OperandIndexing(kPartsFit, to_dims), map);
  if (!composed.ok()) return std::nullopt;
  composed->Simplify();
  return *std::move(composed);
}

namespace {

// The loops of a box are its dimensions, so that boxes can be compared dimension by dimension.
bool HasDigits(const MovedBox& box) {
  return absl::c_any_of(box.dims, [](const MovedDim& dim) { return dim.counts.size() > 1; });
}

int64_t StrideOf(const MovedAxis& axis, int64_t loop) {
  for (const MovedTerm& term : axis.terms) {
    if (term.loop == loop) return term.stride;
  }
  return 0;
}

// The box of `a` and then `b` along a dimension, where the steps to and in `b` are those in `a`.
std::optional<MovedBox> Joined(const MovedBox& a, const MovedBox& b, size_t dim) {
  for (size_t i = 0; i < a.dims.size(); ++i) {
    const bool follows =
        i == dim ? a.dims[i].offset + a.dims[i].size == b.dims[i].offset
                 : a.dims[i].offset == b.dims[i].offset && a.dims[i].size == b.dims[i].size;
    if (!follows) return std::nullopt;
  }
  const auto loop = static_cast<int64_t>(dim);
  MovedBox joined = a;
  joined.dims[dim].size += b.dims[dim].size;
  joined.dims[dim].counts = {joined.dims[dim].size};
  for (size_t k = 0; k < a.axes.size(); ++k) {
    const MovedAxis& x = a.axes[k];
    const MovedAxis& y = b.axes[k];
    if (x.runtime || y.runtime) return std::nullopt;
    const std::optional<int64_t> distance = CheckedSub(y.start, x.start);
    if (!distance || *distance % a.dims[dim].size != 0) return std::nullopt;
    const int64_t step = *distance / a.dims[dim].size;
    if (a.dims[dim].size > 1 && StrideOf(x, loop) != step) return std::nullopt;
    if (b.dims[dim].size > 1 && StrideOf(y, loop) != step) return std::nullopt;
    for (size_t i = 0; i < a.dims.size(); ++i) {
      const auto other = static_cast<int64_t>(i);
      if (i != dim && StrideOf(x, other) != StrideOf(y, other)) return std::nullopt;
    }
    MovedAxis& axis = joined.axes[k];
    axis.terms.erase(std::remove_if(axis.terms.begin(), axis.terms.end(),
                                    [&](const MovedTerm& t) { return t.loop == loop; }),
                     axis.terms.end());
    if (step != 0) axis.terms.push_back({loop, step});
  }
  return joined;
}

}  // namespace

void JoinBoxes(std::vector<MovedBox>* boxes) {
  if (boxes->empty() || absl::c_any_of(*boxes, HasDigits)) return;
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
      if (!joined.empty()) {
        if (std::optional<MovedBox> both = Joined(joined.back(), box, dim)) {
          joined.back() = *std::move(both);
          continue;
        }
      }
      joined.push_back(std::move(box));
    }
    *boxes = std::move(joined);
  }
}

namespace {

int64_t Magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

// The terms, the largest step first, are the digits of one index.
bool AreDigits(std::vector<MovedTerm> terms, const std::vector<int64_t>& counts) {
  absl::c_sort(terms, [](const MovedTerm& a, const MovedTerm& b) {
    return Magnitude(a.stride) > Magnitude(b.stride);
  });
  for (size_t i = 0; i + 1 < terms.size(); ++i) {
    const auto next = CheckedMul(Magnitude(terms[i + 1].stride), counts[terms[i + 1].loop]);
    if (next != Magnitude(terms[i].stride)) return false;
  }
  return true;
}

}  // namespace

BoxKind KindOfBox(const MovedBox& box) {
  const std::vector<int64_t> counts = box.LoopCounts();
  std::set<int64_t> used;
  bool is_diagonal = false;
  for (const MovedAxis& axis : box.axes) {
    if (!AreDigits(axis.terms, counts)) return BoxKind::kStencil;
    for (const MovedTerm& term : axis.terms) {
      if (!used.insert(term.loop).second) is_diagonal = true;
    }
  }
  return is_diagonal ? BoxKind::kDiagonal : BoxKind::kMovements;
}

std::string NameOfBox(const MovedBox& box, const Shape& operand) {
  const BoxKind kind = KindOfBox(box);
  if (kind == BoxKind::kDiagonal) return "diagonal";
  if (kind == BoxKind::kStencil) return "stencil";
  const std::vector<int64_t> counts = box.LoopCounts();
  bool is_runtime = false;
  bool is_slice = false;
  bool is_strided = false;
  bool is_reversed = false;
  bool is_reshaped = absl::c_any_of(box.dims, [](const MovedDim& dim) {
    return absl::c_count_if(dim.counts, [](int64_t count) { return count > 1; }) > 1;
  });
  std::vector<int64_t> order;
  for (size_t k = 0; k < box.axes.size(); ++k) {
    MovedAxis axis = box.axes[k];
    absl::c_sort(axis.terms, [](const MovedTerm& a, const MovedTerm& b) {
      return Magnitude(a.stride) > Magnitude(b.stride);
    });
    is_runtime = is_runtime || axis.runtime;
    const std::optional<AxisSpan> span = SpanOf(axis, counts);
    int64_t step = axis.terms.empty() ? 1 : kInt64Max;
    for (const MovedTerm& term : axis.terms) {
      step = std::min(step, Magnitude(term.stride));
      is_reversed = is_reversed || term.stride < 0;
      order.push_back(term.loop);
    }
    is_strided = is_strided || step > 1;
    is_reshaped = is_reshaped || axis.terms.size() > 1;
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
  for (size_t loop = 0; loop < counts.size(); ++loop) {
    if (counts[loop] == 1 || absl::c_linear_search(order, static_cast<int64_t>(loop))) continue;
    names.push_back("broadcast");
    break;
  }
  if (is_reshaped) names.push_back("reshape");
  return names.empty() ? "copy" : absl::StrJoin(names, ", ");
}

std::string NameOfBatch(absl::string_view name) {
  const size_t end = std::min(name.find(','), name.size());
  return absl::StrCat("batch of ", name.substr(0, end), "s", name.substr(end));
}

}  // namespace xla_indexing::internal

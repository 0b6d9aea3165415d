#include "xla_indexing/ops/values/cases/listed_values.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/values/cases/fit_sequence.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The elements of a literal that are compared with an affine function, and those that are listed.
constexpr int64_t kMaxLiteralElements = 65536;
constexpr int64_t kMaxListed = 4096;

// The literal, whose rank is not 0, as an affine function of the index, where it is one.
std::optional<AffineExpr> AffineLiteral(const Literal& literal, llvm::ArrayRef<AffineExpr> index) {
  const int64_t count = literal.ElementCount();
  if (count == 0 || count > kMaxLiteralElements) return std::nullopt;
  const std::optional<int64_t> origin = literal.IntegerAt(0);
  if (!origin) return std::nullopt;
  const auto sizes = literal.shape().dimensions();
  llvm::SmallVector<int64_t, 4> steps(sizes.size(), 0);
  AffineExpr value = Constant(*origin, index[0].getContext());
  int64_t stride = 1;
  for (size_t k = sizes.size(); k-- > 0;) {
    if (sizes[k] > 1) {
      const std::optional<int64_t> next = literal.IntegerAt(stride);
      const std::optional<int64_t> step = next ? CheckedSub(*next, *origin) : std::nullopt;
      if (!step) return std::nullopt;
      steps[k] = *step;
    }
    stride *= sizes[k];
    value = Add(value, Scale(index[k], steps[k]));
  }
  for (int64_t position = 0; position < count; ++position) {
    Int128 expected = *origin;
    int64_t rest = position;
    for (size_t k = sizes.size(); k-- > 0;) {
      expected += static_cast<Int128>(steps[k]) * (rest % sizes[k]);
      rest /= sizes[k];
    }
    const std::optional<int64_t> actual = literal.IntegerAt(position);
    if (!actual || *actual != expected) return std::nullopt;
  }
  return value ? std::optional<AffineExpr>(value) : std::nullopt;
}

// Cases of one value each, for the elements of a literal in a box of indices.
std::optional<ValueCases> EachElement(const Literal& literal, llvm::ArrayRef<AffineExpr> index,
                                      llvm::ArrayRef<Interval> box, const Constraints& when) {
  ValueCases cases;
  llvm::SmallVector<int64_t, 4> at;
  if (!FirstPoint(box, &at)) return cases;
  do {
    const std::optional<int64_t> value = literal.IntegerAt(absl::Span<const int64_t>(at));
    if (!value) return std::nullopt;
    ValueCase& value_case =
        cases.emplace_back(ValueCase{when, Constant(*value, index[0].getContext())});
    for (const auto [expr, interval, i] : llvm::zip_equal(index, box, at)) {
      if (!interval.IsPoint()) value_case.when.push_back({expr, Interval::Point(i)});
    }
  } while (NextPoint(box, absl::MakeSpan(at)));
  return cases;
}

// The elements of a literal along one dimension, in a box that has one index in all others.
std::optional<std::vector<int64_t>> ElementsAlong(const Literal& literal,
                                                  llvm::ArrayRef<Interval> box) {
  std::vector<int64_t> values;
  llvm::SmallVector<int64_t, 4> at;
  if (!FirstPoint(box, &at)) return std::nullopt;
  do {
    const std::optional<int64_t> value = literal.IntegerAt(absl::Span<const int64_t>(at));
    if (!value) return std::nullopt;
    values.push_back(*value);
  } while (NextPoint(box, absl::MakeSpan(at)));
  return values;
}

int64_t RunsOfEqualValues(llvm::ArrayRef<int64_t> values) {
  int64_t runs = 1;
  for (size_t i = 1; i < values.size(); ++i) runs += values[i] != values[i - 1] ? 1 : 0;
  return runs;
}

}  // namespace

std::optional<ValueCases> ListedValue(llvm::ArrayRef<int64_t> values, ElementType type,
                                      AffineExpr x, const Constraints& when,
                                      const ValueVariables& variables) {
  if (IsOff(Engine::kListedValues)) return std::nullopt;
  if (!x || values.empty()) return std::nullopt;
  const int64_t runs = RunsOfEqualValues(values);
  const auto most = static_cast<int64_t>(kMaxValueCases);
  const bool has_unknown = variables.HasUnknown(x);
  if (!IsPred(type) || has_unknown || runs > most) {
    AffineExpr formula = FitSequence(values, x);
    if (!formula) formula = FitFloor(values, x);
    if (formula) return ValueCases{{when, variables.Simplified(formula)}};
  }
  if (has_unknown) return std::nullopt;
  ValueCases cases;
  const auto add = [&](size_t begin, size_t end, AffineExpr value) {
    cases.push_back({when, value});
    cases.back().when.push_back(
        {x, Interval::Closed(static_cast<int64_t>(begin), static_cast<int64_t>(end) - 1)});
  };
  // A formula for two or three values says less than they do.
  constexpr int64_t kRunsOfAFormula = 4;
  if (const auto pieces =
          FitFloors(values, x, IsPred(type) ? 0 : std::min(most, runs / kRunsOfAFormula))) {
    for (const FittedRun& piece : *pieces) add(piece.begin, piece.end, piece.value);
    return cases;
  }
  if (runs > most) return std::nullopt;
  for (size_t begin = 0; begin < values.size();) {
    size_t end = begin + 1;
    while (end < values.size() && values[end] == values[begin]) ++end;
    add(begin, end, Constant(values[begin], x.getContext()));
    begin = end;
  }
  return cases;
}

std::optional<ValueCases> LiteralValue(const Literal& literal, llvm::ArrayRef<AffineExpr> index,
                                       const Constraints& when, const ValueVariables& variables) {
  if (index.empty()) {
    const std::optional<int64_t> value = literal.IntegerAt(int64_t{0});
    if (!value) return std::nullopt;
    return ValueCases{{when, Constant(*value, variables.context())}};
  }
  const bool is_predicate = IsPred(literal.shape().element_type());
  const std::optional<AffineExpr> value = AffineLiteral(literal, index);
  if (value && !(is_predicate && !ConstantIn(*value))) return ValueCases{{when, *value}};
  llvm::SmallVector<Interval, 4> box;
  std::optional<size_t> varying;
  bool is_line = true;
  for (const auto [k, expr] : llvm::enumerate(index)) {
    const int64_t size = literal.shape().dimension(static_cast<int64_t>(k));
    box.push_back(variables.RangeOf(expr, when).Intersect(Interval::OfSize(size)));
    if (box.back().IsPoint()) continue;
    is_line = is_line && !varying;
    varying = k;
  }
  const std::optional<int64_t> count = NumPoints(box);
  if (!count || *count == 0 || *count > kMaxListed) return std::nullopt;
  if (is_line && varying) {
    const std::optional<std::vector<int64_t>> values = ElementsAlong(literal, box);
    if (!values) return std::nullopt;
    AffineExpr first = Constant(box[*varying].lower(), variables.context());
    return ListedValue(*values, literal.shape().element_type(), Sub(index[*varying], first), when,
                       variables);
  }
  if (*count > static_cast<int64_t>(kMaxValueCases) ||
      llvm::any_of(index, [&](AffineExpr expr) { return variables.HasUnknown(expr); })) {
    return std::nullopt;
  }
  return EachElement(literal, index, box, when);
}

}  // namespace xla_indexing::internal

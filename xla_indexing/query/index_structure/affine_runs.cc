#include "xla_indexing/query/index_structure/affine_runs.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr int64_t kMaxIndices = 4096;
constexpr size_t kMaxRuns = 8;  // of one dimension
constexpr size_t kMaxRunsInAll = 64;

// The first dimension that is divided, unless one is divided together with another.
std::optional<int> DividedDimension(const std::vector<LinearSum>& results, int num_dims) {
  std::optional<int> dim;
  for (const LinearSum& result : results) {
    if (!result.valid()) return std::nullopt;
    for (const Term& term : result.terms()) {
      if (IsVariable(term.atom)) continue;
      const auto variables = VariablesOf(term.atom, num_dims);
      if (variables.size() != 1) return std::nullopt;
      if (!dim) dim = variables[0];
    }
  }
  return dim;
}

// The results at every index of a dimension, with the others at their lower bounds; empty where a number
// does not fit.
std::vector<llvm::SmallVector<int64_t, 4>> ValuesAlong(const IndexingMap& map, int dim) {
  llvm::SmallVector<int64_t, 4> point;
  for (const Variable& variable : map.dims()) point.push_back(variable.bounds.lower());
  std::vector<llvm::SmallVector<int64_t, 4>> values;
  const Interval& indices = map.dims()[dim].bounds;
  for (point[dim] = indices.lower(); point[dim] <= indices.upper(); ++point[dim]) {
    const auto results = map.Evaluate(point, {});
    if (!results.ok()) return {};
    values.emplace_back(results->begin(), results->end());
  }
  return values;
}

// The affine map in indices first .. last of the dimension, counted from its lower bound.
std::optional<OperandIndexing> RunOf(const OperandIndexing& indexing, int dim, size_t first,
                                     size_t last, const std::vector<LinearSum>& results,
                                     const std::vector<llvm::SmallVector<int64_t, 4>>& values) {
  const IndexingMap& map = indexing.map();
  mlir::MLIRContext* context = map.context();
  const int64_t begin = map.dims()[dim].bounds.lower() + static_cast<int64_t>(first);
  const AffineExpr divided = mlir::getAffineDimExpr(dim, context);
  llvm::SmallVector<AffineExpr, 4> lower_ends;
  for (const Variable& variable : map.dims()) {
    lower_ends.push_back(Constant(variable.bounds.lower(), context));
  }
  llvm::SmallVector<AffineExpr, 4> exprs;
  for (size_t k = 0; k < results.size(); ++k) {
    const auto step = first < last ? CheckedSub(values[first + 1][k], values[first][k]) : 0;
    if (!step) return std::nullopt;
    LinearSum sum;
    for (const Term& term : results[k].terms()) {
      const auto variables = VariablesOf(term.atom, map.num_dims());
      if (!llvm::is_contained(variables, dim)) sum.AddTerm(term.atom, term.coefficient);
    }
    // What others give where they begin, and steps before the run, are in the value at its beginning.
    const AffineExpr others = sum.ToExpr(context);
    const AffineExpr there = others ? Substitute(others, lower_ends, {}) : AffineExpr();
    const auto constant = there ? ConstantIn(there) : std::nullopt;
    if (!constant) return std::nullopt;
    LinearSum before(*constant);
    before.AddScaled(LinearSum(begin), *step);
    sum.AddTerm(divided, *step);
    sum.AddConstant(values[first][k]);
    sum.AddScaled(before, -1);
    exprs.push_back(sum.ToExpr(context));
    if (!exprs.back()) return std::nullopt;
  }
  Variables dims(map.dims());
  dims[dim].bounds = Interval::Closed(begin, begin + static_cast<int64_t>(last - first));
  OperandIndexing run(
      kPartsFit,
      IndexingMap(kPartsFit, mlir::AffineMap::get(map.num_dims(), 0, exprs, context),
                  std::move(dims), {}, {}, {}),
      {}, indexing.label());
  run.Simplify();
  return run;
}

}  // namespace

std::vector<OperandIndexing> InAffineRuns(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  if (indexing.IsUnknown() || map.num_symbols() > 0 || !map.constraints().empty()) {
    return {indexing};
  }
  std::vector<LinearSum> results;
  for (const AffineExpr result : map.results()) results.push_back(LinearSum::FromExpr(result));
  const std::optional<int> dim = DividedDimension(results, map.num_dims());
  if (!dim || llvm::any_of(map.dims(), [](const Variable& variable) {
        return !variable.bounds.IsFinite() || variable.bounds.IsEmpty();
      })) {
    return {indexing};
  }
  const Interval& indices = map.dims()[*dim].bounds;
  if (!indices.IsSubsetOf(Interval::OfSize(kMaxIndices).Add(indices.lower()))) return {indexing};
  const auto values = ValuesAlong(map, *dim);
  const size_t count = values.size();
  if (count == 0) return {indexing};
  const auto bends_at = [&](size_t i) {
    for (size_t k = 0; k < results.size(); ++k) {
      if (CheckedSub(values[i + 1][k], values[i][k]) !=
          CheckedSub(values[i][k], values[i - 1][k])) {
        return true;
      }
    }
    return false;
  };
  std::vector<OperandIndexing> runs;
  size_t count_of_dim = 0;
  for (size_t first = 0; first < count;) {
    size_t last = first + 1 < count ? first + 1 : first;
    while (last + 1 < count && !bends_at(last)) ++last;
    std::optional<OperandIndexing> run = RunOf(indexing, *dim, first, last, results, values);
    if (!run || ++count_of_dim > kMaxRuns) return {indexing};
    const std::vector<OperandIndexing> inside = InAffineRuns(*run);
    runs.insert(runs.end(), inside.begin(), inside.end());
    if (runs.size() > kMaxRunsInAll) return {indexing};
    first = last + 1;
  }
  return runs;
}

}  // namespace xla_indexing::internal

#include "xla_indexing/query/index_structure/affine_runs.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallVector.h"
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
constexpr size_t kMaxRuns = 8;

// A result as e + f, where f has the quotients and remainders.
struct SplitResult {
  LinearSum linear;
  LinearSum divided;
};

std::vector<SplitResult> SplitResults(const IndexingMap& map) {
  std::vector<SplitResult> results;
  for (const AffineExpr result : map.results()) {
    const LinearSum sum = LinearSum::FromExpr(result);
    if (!sum.valid()) return {};
    SplitResult split = {LinearSum(sum.constant()), LinearSum(0)};
    for (const Term& term : sum.terms()) {
      (IsVariable(term.atom) ? split.linear : split.divided).AddTerm(term.atom, term.coefficient);
    }
    results.push_back(std::move(split));
  }
  return results;
}

// The one dimension that is divided.
std::optional<int> DividedDimension(const std::vector<SplitResult>& results, int num_dims) {
  std::optional<int> dim;
  for (const SplitResult& result : results) {
    for (const Term& term : result.divided.terms()) {
      for (const int variable : VariablesOf(term.atom, num_dims)) {
        if (dim && *dim != variable) return std::nullopt;
        dim = variable;
      }
    }
  }
  return dim;
}

// f at every index of the dimension; empty where a number does not fit.
std::vector<int64_t> ValuesAlong(LinearSum divided, int dim, const Interval& indices,
                                 mlir::MLIRContext* context) {
  const AffineExpr expr = divided.ToExpr(context);
  if (!expr) return {};
  std::vector<int64_t> values;
  llvm::SmallVector<AffineExpr, 4> chosen(static_cast<size_t>(dim) + 1);
  for (int64_t i = indices.lower(); i <= indices.upper(); ++i) {
    chosen[dim] = mlir::getAffineConstantExpr(i, context);
    const AffineExpr value = Substitute(expr, chosen, {});
    const std::optional<int64_t> number = value ? ConstantIn(value) : std::nullopt;
    if (!number) return {};
    values.push_back(*number);
  }
  return values;
}

// The affine map in indices first .. last of the dimension, counted from its lower bound.
std::optional<OperandIndexing> RunOf(const OperandIndexing& indexing, int dim, size_t first,
                                     size_t last, const std::vector<SplitResult>& results,
                                     const std::vector<std::vector<int64_t>>& values) {
  const IndexingMap& map = indexing.map();
  mlir::MLIRContext* context = map.context();
  const int64_t begin = map.dims()[dim].bounds.lower() + static_cast<int64_t>(first);
  llvm::SmallVector<AffineExpr, 4> exprs;
  for (size_t k = 0; k < results.size(); ++k) {
    const auto step = first < last ? CheckedSub(values[k][first + 1], values[k][first]) : 0;
    const auto ahead = step ? CheckedMul(*step, begin) : std::nullopt;
    const auto constant = ahead ? CheckedSub(values[k][first], *ahead) : std::nullopt;
    if (!constant) return std::nullopt;
    LinearSum sum = results[k].linear;
    sum.AddTerm(mlir::getAffineDimExpr(dim, context), *step);
    sum.AddScaled(LinearSum(*constant), 1);
    const AffineExpr expr = sum.ToExpr(context);
    if (!expr) return std::nullopt;
    exprs.push_back(expr);
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
  const std::vector<SplitResult> results = SplitResults(map);
  const std::optional<int> dim = DividedDimension(results, map.num_dims());
  if (!dim) return {indexing};
  const Interval& indices = map.dims()[*dim].bounds;
  if (!indices.IsFinite() || indices.IsEmpty() ||
      !indices.IsSubsetOf(Interval::OfSize(kMaxIndices).Add(indices.lower()))) {
    return {indexing};
  }
  std::vector<std::vector<int64_t>> values;
  for (const SplitResult& result : results) {
    values.push_back(ValuesAlong(result.divided, *dim, indices, map.context()));
    if (values.back().empty()) return {indexing};
  }
  const size_t count = values[0].size();
  const auto bends_at = [&](size_t i) {
    for (const std::vector<int64_t>& of_result : values) {
      if (CheckedSub(of_result[i + 1], of_result[i]) !=
          CheckedSub(of_result[i], of_result[i - 1])) {
        return true;
      }
    }
    return false;
  };
  std::vector<OperandIndexing> runs;
  for (size_t first = 0; first < count;) {
    size_t last = first + 1 < count ? first + 1 : first;
    while (last + 1 < count && !bends_at(last)) ++last;
    std::optional<OperandIndexing> run = RunOf(indexing, *dim, first, last, results, values);
    if (!run || runs.size() == kMaxRuns) return {indexing};
    runs.push_back(*std::move(run));
    first = last + 1;
  }
  return runs;
}

}  // namespace xla_indexing::internal

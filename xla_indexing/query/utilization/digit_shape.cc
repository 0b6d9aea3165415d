#include "xla_indexing/query/utilization/digit_shape.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/map/expr/digit_view.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

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

}  // namespace xla_indexing::internal

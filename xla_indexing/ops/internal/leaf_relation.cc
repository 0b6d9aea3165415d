#include "xla_indexing/ops/internal/leaf_relation.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/ops/internal/map_builder.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

// Simplifying takes constraints and variables together, and compares runtime variables with one
// another; of very many variables expressions are as long.
size_t StepsToSimplify(const IndexingMap& map) {
  constexpr size_t kManySymbols = 64;
  constexpr size_t kRuntimesInAStep = 32;
  const auto symbols = static_cast<size_t>(map.num_symbols());
  const auto runtimes = static_cast<size_t>(map.num_runtimes());
  return (map.constraints().size() * symbols + runtimes * runtimes / kRuntimesInAStep) *
         (1 + symbols / kManySymbols);
}

OperandIndexingSet ComposeOrWiden(const OperandIndexingSet& first, const OperandIndexingSet& second,
                                  const Shape& from, const Shape& to, mlir::MLIRContext* context) {
  OperandIndexingSet result;
  for (const OperandIndexing& a : first) {
    for (const OperandIndexing& b : second) {
      absl::StatusOr<OperandIndexing> composed =
          QuestionBudget::Spend() ? ComposeOperandIndexing(a, b)
                                  : absl::ResourceExhaustedError(QuestionBudget::Reason());
      if (composed.ok()) {
        QuestionBudget::Spend(static_cast<int64_t>(StepsToSimplify(composed->map())));
      } else {
        composed = OnDevicesOf(
            a, b,
            WholeTensorIndexing(
                from, to, absl::StrCat("whole tensor: ", composed.status().message()), context));
      }
      result.Add(*std::move(composed));
    }
  }
  result.Simplify();
  return result;
}

OperandIndexing WithRanges(const OperandIndexing& indexing,
                           const std::vector<std::optional<Interval>>& intervals) {
  const IndexingMap& map = indexing.map();
  Variables ranges(map.ranges());
  Variables runtimes;
  RuntimeVarIndexings bindings;
  for (int i = 0; i < map.num_runtimes(); ++i) {
    if (!intervals[i]) continue;
    ranges.push_back({map.runtimes()[i].bounds.Intersect(*intervals[i]), {}});
  }
  unsigned next_range = map.num_ranges();
  auto next_runtime = static_cast<unsigned>(ranges.size());
  llvm::SmallVector<AffineExpr, 8> symbols;
  for (int i = 0; i < map.num_ranges(); ++i) {
    symbols.push_back(mlir::getAffineSymbolExpr(i, map.context()));
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    symbols.push_back(
        mlir::getAffineSymbolExpr(intervals[i] ? next_range++ : next_runtime++, map.context()));
    if (intervals[i]) continue;
    runtimes.push_back(map.runtimes()[i]);
    bindings.push_back(indexing.bindings()[i]);
  }
  const auto substitute = [&](AffineExpr* expr) {
    *expr = Substitute(*expr, {}, symbols);
    return static_cast<bool>(*expr);
  };
  llvm::SmallVector<AffineExpr, 4> results(map.results().begin(), map.results().end());
  Constraints constraints(map.constraints());
  bool fits = true;
  for (AffineExpr& expr : results) fits = substitute(&expr) && fits;
  for (Constraint& constraint : constraints) fits = substitute(&constraint.expr) && fits;
  for (RuntimeVarIndexing& binding : bindings) {
    for (AffineExpr& expr : binding.element) fits = substitute(&expr) && fits;
    if (binding.device) fits = substitute(&binding.device) && fits;
  }
  std::optional<ReplicaMap> replica_map;
  if (indexing.replica_map() != nullptr) {
    replica_map = *indexing.replica_map();
    fits = substitute(&replica_map->device) && fits;
    for (Constraint& constraint : replica_map->constraints) {
      fits = substitute(&constraint.expr) && fits;
    }
  }
  if (!fits) return OperandIndexing::Unknown(map.context(), "an expression is too large");
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(map.num_dims(), ranges.size() + runtimes.size(), results, map.context());
  OperandIndexing result(
      kPartsFit,
      IndexingMap(kPartsFit, affine_map, Variables(map.dims()), std::move(ranges),
                  std::move(runtimes), std::move(constraints)),
      std::move(bindings), indexing.label());
  if (replica_map) result.SetReplicaMap(kPartsFit, *std::move(replica_map));
  return result;
}

}  // namespace xla_indexing::internal

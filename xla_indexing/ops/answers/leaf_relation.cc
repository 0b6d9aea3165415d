#include "xla_indexing/ops/answers/leaf_relation.h"

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
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/ops/answers/map_builder.h"

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

OperandIndexing Renamed(const OperandIndexing& indexing, Renaming renaming) {
  if (indexing.IsUnknown()) return indexing;
  const IndexingMap& map = indexing.map();
  bool fits = true;
  const auto substitute = [&](AffineExpr* expr) {
    *expr = Substitute(*expr, renaming.for_dims, renaming.for_symbols);
    fits = fits && static_cast<bool>(*expr);
  };
  llvm::SmallVector<AffineExpr, 4> results(renaming.results_added.begin(),
                                           renaming.results_added.end());
  for (AffineExpr result : map.results().drop_front(renaming.results_dropped)) {
    substitute(&result);
    results.push_back(result);
  }
  Constraints constraints(map.constraints());
  for (Constraint& constraint : constraints) substitute(&constraint.expr);
  constraints.append(renaming.constraints_added);
  Variables runtimes;
  RuntimeVarIndexings bindings;
  if (renaming.iterations_of != nullptr) {
    runtimes.push_back(renaming.iterations);
    bindings.push_back(RuntimeVarIndexing::IterationsOf(*renaming.iterations_of));
  }
  for (const int i : renaming.runtimes) {
    runtimes.push_back(map.runtimes()[i]);
    RuntimeVarIndexing& binding = bindings.emplace_back(indexing.bindings()[i]);
    for (AffineExpr& expr : binding.element) substitute(&expr);
    if (binding.device) substitute(&binding.device);
  }
  std::optional<ReplicaMap> replica_map;
  if (indexing.replica_map() != nullptr) {
    replica_map = *indexing.replica_map();
    substitute(&replica_map->device);
    for (Constraint& constraint : replica_map->constraints) substitute(&constraint.expr);
  }
  for (const AffineExpr result : results) fits = fits && static_cast<bool>(result);
  for (const Constraint& constraint : constraints) {
    fits = fits && static_cast<bool>(constraint.expr);
  }
  if (!fits) return OperandIndexing::Unknown(map.context(), "an expression is too large");
  const mlir::AffineMap affine_map = mlir::AffineMap::get(
      renaming.dims.size(), renaming.ranges.size() + runtimes.size(), results, map.context());
  OperandIndexing result(
      kPartsFit,
      IndexingMap(kPartsFit, affine_map, std::move(renaming.dims), std::move(renaming.ranges),
                  std::move(runtimes), std::move(constraints)),
      std::move(bindings), indexing.label());
  if (replica_map) result.SetReplicaMap(kPartsFit, *std::move(replica_map));
  return result;
}

OperandIndexing WithResults(const OperandIndexing& indexing,
                            llvm::ArrayRef<mlir::AffineExpr> results) {
  const IndexingMap& map = indexing.map();
  const auto affine_map =
      mlir::AffineMap::get(map.num_dims(), map.num_symbols(), results, map.context());
  OperandIndexing changed(
      kPartsFit,
      IndexingMap(kPartsFit, affine_map, Variables(map.dims()), Variables(map.ranges()),
                  Variables(map.runtimes()), Constraints(map.constraints())),
      RuntimeVarIndexings(indexing.bindings().begin(), indexing.bindings().end()),
      indexing.label());
  if (indexing.replica_map() != nullptr) changed.SetReplicaMap(kPartsFit, *indexing.replica_map());
  return changed;
}

OperandIndexing WithRanges(const OperandIndexing& indexing,
                           const std::vector<std::optional<Interval>>& intervals) {
  const IndexingMap& map = indexing.map();
  Renaming renaming;
  renaming.dims = Variables(map.dims());
  renaming.ranges = Variables(map.ranges());
  for (int i = 0; i < map.num_runtimes(); ++i) {
    if (intervals[i]) {
      renaming.ranges.push_back({map.runtimes()[i].bounds.Intersect(*intervals[i]), {}});
    } else {
      renaming.runtimes.push_back(i);
    }
  }
  unsigned next_range = map.num_ranges();
  auto next_runtime = static_cast<unsigned>(renaming.ranges.size());
  for (int i = 0; i < map.num_ranges(); ++i) {
    renaming.for_symbols.push_back(mlir::getAffineSymbolExpr(i, map.context()));
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    renaming.for_symbols.push_back(
        mlir::getAffineSymbolExpr(intervals[i] ? next_range++ : next_runtime++, map.context()));
  }
  return Renamed(indexing, std::move(renaming));
}

}  // namespace xla_indexing::internal

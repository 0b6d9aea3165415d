#include "xla_indexing/ops/loops/body/timed_map.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/unions/few_ranges.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

OperandIndexing AddTime(const OperandIndexing& map, const Interval& times, AffineExpr result) {
  Renaming renaming;
  renaming.dims = Variables(map.map().dims());
  renaming.dims.insert(renaming.dims.begin(), Variable{times, {}});
  renaming.ranges = Variables(map.map().ranges());
  for (int i = 0; i < map.map().num_runtimes(); ++i) renaming.runtimes.push_back(i);
  // The dimension after the last stands for the reader in replica maps.
  for (int i = 0; i <= map.map().num_dims(); ++i) {
    renaming.for_dims.push_back(mlir::getAffineDimExpr(i + 1, map.map().context()));
  }
  if (result) renaming.results_added.push_back(result);
  return Renamed(map, std::move(renaming));
}

OperandIndexing DropTime(const OperandIndexing& timed, const Interval& times, int results_dropped,
                         bool* depends_on_time) {
  if (timed.IsUnknown()) return timed;
  const IndexingMap& map = timed.map();
  mlir::MLIRContext* context = map.context();
  bool mentions_time = false;
  const auto look_at = [&](AffineExpr expr) {
    mentions_time = mentions_time || expr.isFunctionOfDim(0);
  };
  for (const AffineExpr result : map.results().drop_front(results_dropped)) look_at(result);
  for (const Constraint& constraint : map.constraints()) look_at(constraint.expr);
  for (const RuntimeVarIndexing& binding : timed.bindings()) {
    for (const AffineExpr expr : binding.element) look_at(expr);
  }
  *depends_on_time = *depends_on_time || mentions_time;
  Renaming renaming;
  renaming.results_dropped = results_dropped;
  renaming.dims = Variables(map.dims().drop_front());
  renaming.ranges = Variables(map.ranges());
  const Interval possible = map.dims()[0].bounds.Intersect(times);
  AffineExpr time = Constant(0, context);
  if (possible.IsPoint()) {
    time = Constant(possible.lower(), context);
  } else if (mentions_time || possible.IsEmpty()) {
    time = mlir::getAffineSymbolExpr(map.num_ranges(), context);
    renaming.ranges.push_back({possible, {}});
  }
  renaming.for_dims.push_back(time);
  for (int i = 0; i <= map.num_dims() - 1; ++i) {
    renaming.for_dims.push_back(mlir::getAffineDimExpr(i, context));
  }
  for (int i = 0; i < map.num_ranges(); ++i) {
    renaming.for_symbols.push_back(mlir::getAffineSymbolExpr(i, context));
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    renaming.runtimes.push_back(i);
    renaming.for_symbols.push_back(mlir::getAffineSymbolExpr(renaming.ranges.size() + i, context));
  }
  return Renamed(timed, std::move(renaming));
}

std::optional<OperandIndexing> ComposeTimed(const OperandIndexing& first,
                                            const OperandIndexing& second) {
  if (first.IsUnknown() || second.IsUnknown() || !QuestionBudget::Spend()) return std::nullopt;
  absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(first, second);
  if (!composed.ok()) return std::nullopt;
  QuestionBudget::Spend(static_cast<int64_t>(StepsToSimplify(composed->map())));
  composed->Simplify();
  return WithSumsJoined(*std::move(composed));
}

bool AddComposed(const OperandIndexingSet& first, const OperandIndexingSet& second,
                 OperandIndexingSet* to) {
  for (const OperandIndexing& a : first) {
    for (const OperandIndexing& b : second) {
      std::optional<OperandIndexing> both = ComposeTimed(a, b);
      if (!both) return false;
      to->Add(*std::move(both));
    }
  }
  return true;
}

std::vector<bool> DimensionsThatMatter(const OperandIndexing& indexing, const Shape& from) {
  const IndexingMap& map = indexing.map();
  std::vector<bool> matter(map.num_dims(), false);
  matter[0] = true;
  const auto look_at = [&](AffineExpr expr) {
    for (const int variable : VariablesOf(expr, map.num_dims())) {
      if (variable < map.num_dims()) matter[variable] = true;
    }
  };
  for (const AffineExpr result : map.results()) look_at(result);
  for (const Constraint& constraint : map.constraints()) look_at(constraint.expr);
  for (const RuntimeVarIndexing& binding : indexing.bindings()) {
    for (const AffineExpr expr : binding.element) look_at(expr);
    if (binding.device) look_at(binding.device);
  }
  if (const ReplicaMap* replica_map = indexing.replica_map()) {
    // The dimension after the last one stands for the reader.
    for (int i = 1; i < map.num_dims(); ++i) {
      const auto mentions = [&](AffineExpr expr) { return expr.isFunctionOfDim(i); };
      matter[i] = matter[i] || mentions(replica_map->device) ||
                  llvm::any_of(replica_map->constraints, [&](const Constraint& constraint) {
                    return mentions(constraint.expr);
                  });
    }
  }
  for (int i = 1; i < map.num_dims(); ++i) {
    matter[i] = matter[i] || map.dims()[i].bounds != IndicesOfAxis(from.dimension(i - 1)) ||
                map.dims()[i].bounds.IsEmpty();
  }
  return matter;
}

OperandIndexing WithResultsThatMatter(const OperandIndexing& indexing,
                                      const std::vector<bool>& matter) {
  if (indexing.IsUnknown() || !llvm::is_contained(matter, false)) return indexing;
  const IndexingMap& map = indexing.map();
  llvm::SmallVector<AffineExpr, 4> results(map.results());
  for (size_t i = 0; i < matter.size(); ++i) {
    if (!matter[i]) results[i] = Constant(0, map.context());
  }
  OperandIndexing result = WithResults(indexing, results);
  result.Simplify();
  return WithSumsJoined(std::move(result));
}

bool MentionsOnly(AffineExpr expr, int num_dims, int first, int last) {
  return llvm::all_of(VariablesOf(expr, num_dims),
                      [&](int variable) { return variable >= first && variable < last; });
}

bool HasFixedValues(const OperandIndexing& map) {
  const int first_runtime = map.map().num_dims() + map.map().num_ranges();
  return llvm::all_of(map.bindings(), [&](const RuntimeVarIndexing& binding) {
    return !binding.device && llvm::all_of(binding.element, [&](AffineExpr expr) {
      return MentionsOnly(expr, map.map().num_dims(), first_runtime,
                          first_runtime + map.map().num_runtimes());
    });
  });
}

}  // namespace xla_indexing::internal

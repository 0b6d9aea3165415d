#include "xla_indexing/ops/internal/timed_map.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/internal/expr_util.h"
#include "xla_indexing/ops/internal/few_maps.h"
#include "xla_indexing/ops/internal/leaf_relation.h"

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

bool IsTimeless(const LoopSteps& body, const OperandIndexing& piece) {
  const IndexingMap& map = piece.map();
  if (piece.IsUnknown() || !HasFixedValues(piece)) return false;
  const Interval times = body.Times();
  if (map.dims()[0].bounds != times.Intersect(body.is_forward() ? times.Sub(1) : times.Add(1))) {
    return false;
  }
  const auto passed = ConstantIn(Sub(map.results()[0], mlir::getAffineDimExpr(0, map.context())));
  if (passed != 1 && passed != -1) return false;
  const auto mentions = [](AffineExpr expr) { return expr.isFunctionOfDim(0); };
  return !llvm::any_of(map.results().drop_front(), mentions) &&
         !llvm::any_of(map.constraints(),
                       [&](const Constraint& constraint) { return mentions(constraint.expr); });
}

}  // namespace xla_indexing::internal

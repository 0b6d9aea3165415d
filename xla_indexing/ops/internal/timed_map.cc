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

bool IsTimeless(const LoopBody& body, const OperandIndexing& piece) {
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

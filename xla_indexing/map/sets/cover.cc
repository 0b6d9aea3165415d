#include "xla_indexing/map/sets/cover.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/project.h"

namespace xla_indexing {
namespace {

using internal::kInt64Max;
using internal::kInt64Min;
using internal::KnownVariables;
using internal::Projected;
using internal::ProjectOntoResults;
using internal::Substitute;
using ::mlir::AffineExpr;

// The most disjoint pieces; with more, nothing is decided.
constexpr size_t kMaxPieces = 256;

// What an explicit set over (d, rt, r) says of the points of `a`: intervals and constraints. False
// where an expression cannot be written.
bool PullBack(const IndexingMap& a, const IndexingMap& set, Constraints* conditions) {
  llvm::SmallVector<AffineExpr, 8> places;
  for (int i = 0; i < a.num_dims(); ++i) places.push_back(mlir::getAffineDimExpr(i, a.context()));
  places.append(a.results().begin(), a.results().end());
  for (const auto& [place, dim] : llvm::zip_equal(places, set.dims())) {
    conditions->push_back({place, dim.bounds});
  }
  for (const Constraint& constraint : set.constraints()) {
    const AffineExpr expr = Substitute(constraint.expr, places, {});
    if (!expr) return false;
    conditions->push_back({expr, constraint.interval});
  }
  return true;
}

// The pieces of `piece` where some condition does not hold.
bool AddPiecesOutside(IndexingMap piece, const Constraints& conditions, StepBudget* budget,
                      std::vector<IndexingMap>* pieces) {
  for (const Constraint& condition : conditions) {
    if (condition.interval.IsEmpty()) {
      pieces->push_back(std::move(piece));
      return true;
    }
    for (const bool below : {true, false}) {
      const Interval& inside = condition.interval;
      if (!(below ? inside.has_lower() : inside.has_upper())) continue;
      const int64_t end = below ? inside.lower() : inside.upper();
      if (end == (below ? kInt64Min : kInt64Max)) continue;
      IndexingMap outside = piece;
      outside.AddConstraint(kPartsFit, condition.expr,
                            below ? Interval::AtMost(end - 1) : Interval::AtLeast(end + 1));
      if (DomainHasIntegerPoint(outside, budget) == Answer::kNo) continue;
      pieces->push_back(std::move(outside));
      if (pieces->size() > kMaxPieces) return false;
    }
    piece.AddConstraint(kPartsFit, condition.expr, condition.interval);
  }
  return true;
}

}  // namespace

Answer IsCovered(const IndexingMap& a, llvm::ArrayRef<IndexingMap> others, StepBudget* budget) {
  if (internal::IsOff(internal::Engine::kCover)) return Answer::kUndecided;
  const bool can_be_compared = llvm::all_of(others, [&](const IndexingMap& other) {
    return other.context() == a.context() && other.num_dims() == a.num_dims() &&
           other.num_runtimes() == a.num_runtimes() && other.num_results() == a.num_results();
  });
  if (!can_be_compared) return Answer::kUndecided;
  constexpr KnownVariables kKnown = {.dims = true, .runtimes = true};
  const std::optional<Projected> projected = ProjectOntoResults(a, kKnown);
  if (!projected) return Answer::kUndecided;
  std::vector<IndexingMap> left = {projected->map};
  bool all_are_explicit = true;
  for (const IndexingMap& other : others) {
    const std::optional<Projected> taken = ProjectOntoResults(other, kKnown);
    if (taken && taken->map.IsKnownEmpty()) continue;
    Constraints conditions;
    if (!taken || !taken->projection || !taken->projection->IsExplicit() ||
        !PullBack(projected->map, taken->projection->set, &conditions)) {
      all_are_explicit = false;
      continue;
    }
    std::vector<IndexingMap> still;
    for (IndexingMap& piece : left) {
      if (!AddPiecesOutside(std::move(piece), conditions, budget, &still)) {
        return Answer::kUndecided;
      }
    }
    left = std::move(still);
  }
  Answer covered = Answer::kYes;
  for (const IndexingMap& piece : left) {
    covered = And(covered, Not(DomainHasIntegerPoint(piece, budget)));
    if (covered == Answer::kNo) break;
  }
  // The rest may be covered by the maps that could not be subtracted.
  return covered == Answer::kNo && !all_are_explicit ? Answer::kUndecided : covered;
}

}  // namespace xla_indexing

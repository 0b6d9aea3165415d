#include "xla_indexing/ops/unions/joined_values.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/coalesce.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Conditions by which what is left of a map is split one after another.
constexpr int kMaxSplits = 2;
constexpr size_t kMaxJoinedMaps = 16;

// What a map asks of its runtime variables: its constraints on them, and their intervals.
std::vector<Constraint> ConditionsOnValues(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  std::vector<Constraint> conditions;
  for (const Constraint& constraint : map.constraints()) {
    const int first = map.num_dims() + map.num_ranges();
    if (llvm::any_of(VariablesOf(constraint.expr, map.num_dims()),
                     [&](int variable) { return variable >= first; })) {
      conditions.push_back(constraint);
    }
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    conditions.push_back(
        {mlir::getAffineSymbolExpr(map.num_ranges() + i, map.context()), map.runtimes()[i].bounds});
  }
  return conditions;
}

// `indexing` with such intervals of dimensions and without one of its conditions.
OperandIndexing WithoutCondition(const OperandIndexing& indexing, const Constraint& condition,
                                 const Variables& dims) {
  const IndexingMap& map = indexing.map();
  Constraints constraints;
  for (const Constraint& constraint : map.constraints()) {
    if (constraint.expr != condition.expr) constraints.push_back(constraint);
  }
  Variables runtimes(map.runtimes());
  for (int i = 0; i < map.num_runtimes(); ++i) {
    // What the condition leaves of a variable need not be all that there is without it.
    runtimes[i].bounds = indexing.bindings()[i].ValueRange();
    const AffineExpr variable = mlir::getAffineSymbolExpr(map.num_ranges() + i, map.context());
    if (condition.expr != variable && !HasSymbol(condition.expr, map.num_ranges() + i)) {
      runtimes[i].bounds = map.runtimes()[i].bounds;
    }
  }
  OperandIndexing without(
      kPartsFit,
      IndexingMap(kPartsFit, map.affine_map(), dims, Variables(map.ranges()), std::move(runtimes),
                  std::move(constraints)),
      RuntimeVarIndexings(indexing.bindings().begin(), indexing.bindings().end()),
      indexing.label());
  return without;
}

// Whether every pair of `part` is one of some map; before it is simplified, so that its variables are
// numbered as in maps with the same bindings.
bool IsCovered(const OperandIndexing& part, const std::vector<OperandIndexing>& maps, int splits) {
  OperandIndexing simple = part;
  simple.Simplify();
  if (simple.IsKnownEmpty() ||
      llvm::any_of(maps, [&](const OperandIndexing& map) { return Covers(map, simple); })) {
    return true;
  }
  if (splits == 0) return false;
  for (const OperandIndexing& map : maps) {
    if (map.bindings() != part.bindings()) continue;
    for (const Constraint& condition : ConditionsOnValues(map)) {
      const auto covers = [&](const Interval& values) {
        OperandIndexing piece = part;
        return values.IsEmpty() || (piece.AddConstraint(condition.expr, values).ok() &&
                                    IsCovered(piece, maps, splits - 1));
      };
      const Interval& inside = condition.interval;
      if (inside.IsEmpty() || inside == Interval::All()) continue;
      OperandIndexing rest = part;
      if (!rest.AddConstraint(condition.expr, inside).ok()) continue;
      rest.Simplify();
      if (rest.IsKnownEmpty() || !Covers(map, rest)) continue;
      if (covers(inside.has_lower() ? Interval::AtMost(inside.lower()).Sub(1)
                                    : Interval::Empty()) &&
          covers(inside.has_upper() ? Interval::AtLeast(inside.upper()).Add(1)
                                    : Interval::Empty())) {
        return true;
      }
    }
  }
  return false;
}

std::optional<OperandIndexing> JoinedWithOthers(const OperandIndexing& map,
                                                const std::vector<OperandIndexing>& maps) {
  Variables dims(map.map().dims());
  for (const OperandIndexing& other : maps) {
    if (other.map().num_dims() != map.map().num_dims()) return std::nullopt;
    for (size_t i = 0; i < dims.size(); ++i) {
      dims[i].bounds = dims[i].bounds.Union(other.map().dims()[static_cast<int>(i)].bounds);
    }
  }
  for (const Constraint& condition : ConditionsOnValues(map)) {
    const OperandIndexing without = WithoutCondition(map, condition, dims);
    if (!IsCovered(without, maps, kMaxSplits)) continue;
    OperandIndexing joined = without;
    joined.Simplify();
    if (!Covers(map, joined)) return joined;
  }
  return std::nullopt;
}

}  // namespace

void JoinOverValues(OperandIndexingSet* set) {
  if (IsOff(Engine::kJoinOverValues)) return;
  std::vector<OperandIndexing> maps(set->begin(), set->end());
  if (maps.size() < 2 || maps.size() > kMaxJoinedMaps) return;
  for (const OperandIndexing& map : maps) {
    if (map.IsUnknown() || !map.IsExact() || map.replica_map() != nullptr) return;
  }
  bool changes = false;
  size_t looked_at = 0;
  while (looked_at < maps.size()) {
    std::optional<OperandIndexing> joined = JoinedWithOthers(maps[looked_at++], maps);
    if (!joined) continue;
    const size_t covered =
        std::erase_if(maps, [&](const OperandIndexing& map) { return Covers(*joined, map); });
    maps.push_back(*std::move(joined));
    // Maps become fewer with every step but the last one.
    if (covered < 2) break;
    changes = true;
    looked_at = 0;
  }
  if (!changes) return;
  OperandIndexingSet all;
  for (OperandIndexing& map : maps) all.Add(std::move(map));
  all.Simplify();
  *set = std::move(all);
}

}  // namespace xla_indexing::internal

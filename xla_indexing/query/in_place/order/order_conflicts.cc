#include "xla_indexing/query/in_place/order/order_conflicts.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/query/in_place/order/free_values.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

Interval IntervalOfSign(int sign) {
  if (sign == 0) return Interval::Point(0);
  return sign > 0 ? Interval::AtLeast(1) : Interval::AtMost(-1);
}

// The differences D as results; nullopt if an expression cannot be written.
std::optional<IndexingMap> DifferencesOf(const IndexingMap& relation) {
  llvm::SmallVector<AffineExpr, 4> differences;
  for (int i = 0; i < relation.num_results(); ++i) {
    const AffineExpr own = mlir::getAffineDimExpr(i, relation.context());
    differences.push_back(Sub(relation.results()[i], own));
    if (!differences.back()) return std::nullopt;
  }
  IndexingMap map(kPartsFit,
                  mlir::AffineMap::get(relation.num_dims(), relation.num_symbols(), differences,
                                       relation.context()),
                  Variables(relation.dims()), Variables(relation.ranges()),
                  Variables(relation.runtimes()), Constraints(relation.constraints()));
  map.Simplify({.keep_variables = true});
  return map;
}

}  // namespace

OrderConflicts::OrderConflicts(std::vector<ConflictRelation> relations,
                               std::vector<CoordinateKind> kinds, StepBudget* budget)
    : relations_(std::move(relations)), kinds_(std::move(kinds)), budget_(budget) {
  for (const ConflictRelation& relation : relations_) {
    differences_.push_back(relation.is_outside ? std::nullopt
                                               : DifferencesOf(relation.writers.map()));
  }
}

Answer OrderConflicts::HasConflict(size_t relation, const ConflictCell& cell) {
  const ConflictRelation& of = relations_[relation];
  if (!of.is_outside && cell.empty()) return Answer::kNo;
  std::optional<IndexingMap> domain = of.is_outside ? of.writers.map() : differences_[relation];
  if (domain && !of.is_outside) {
    for (const SignedDifference& difference : cell) {
      if (domain->IsKnownEmpty()) return Answer::kNo;
      domain->AddConstraint(kPartsFit, domain->results()[difference.coordinate],
                            IntervalOfSign(difference.sign));
    }
  }
  const Answer has = domain ? DomainHasIntegerPoint(*domain, budget_) : Answer::kUndecided;
  if (has == Answer::kNo) return has;
  std::string why_not = "it was not decided within the number of steps whether elements meet";
  if (has == Answer::kYes) {
    why_not = of.why_not_certain;
    if (why_not.empty() && !of.why_not_free.empty() &&
        !LeastPointThatOccurs(of.writers, *domain, budget_))
      why_not = of.why_not_free;
  }
  if (why_not.empty()) return has;
  if (why_undecided_.empty()) why_undecided_ = std::move(why_not);
  return Answer::kUndecided;
}

Answer OrderConflicts::HasConflict(const ConflictCell& cell) {
  Answer has = Answer::kNo;
  for (size_t i = 0; i < relations_.size() && has != Answer::kYes; ++i) {
    has = Or(has, HasConflict(i, cell));
  }
  return has;
}

std::vector<ConflictCell> OrderConflicts::CellsOf(const LoopOrder& loops) const {
  std::vector<ConflictCell> cells;
  // Apart from the loops anything may come first.
  ConflictCell outer;
  llvm::SmallVector<bool, 4> is_ordered(kinds_.size(), false);
  for (const DirectedLoop& loop : loops) is_ordered[loop.dimension] = true;
  ConflictCell same_parallel;
  for (int i = 0; i < static_cast<int>(kinds_.size()); ++i) {
    if (kinds_[i] != CoordinateKind::kParallel) continue;
    for (const int sign : {-1, 1}) cells.push_back({{i, sign}});
    same_parallel.push_back({i, 0});
  }
  outer = same_parallel;
  for (const DirectedLoop& loop : loops) {
    ConflictCell cell = outer;
    cell.push_back({loop.dimension, loop.is_descending ? 1 : -1});
    cells.push_back(std::move(cell));
    outer.push_back({loop.dimension, 0});
  }
  for (int i = 0; i < static_cast<int>(kinds_.size()); ++i) {
    if (kinds_[i] != CoordinateKind::kLoop || is_ordered[i]) continue;
    for (const int sign : {-1, 1}) {
      ConflictCell cell = outer;
      cell.push_back({i, sign});
      cells.push_back(std::move(cell));
    }
  }
  // What reads from outside of the space needs no cell; where there is no coordinate, one is asked.
  bool is_any_outside = false;
  for (const ConflictRelation& relation : relations_) is_any_outside |= relation.is_outside;
  if (cells.empty() && is_any_outside) cells.emplace_back();
  return cells;
}

Answer OrderConflicts::IsSafeIn(const LoopOrder& loops) {
  Answer is_safe = Answer::kYes;
  for (const ConflictCell& cell : CellsOf(loops)) {
    is_safe = And(is_safe, Not(HasConflict(cell)));
    if (is_safe == Answer::kNo) break;
  }
  return is_safe;
}

Answer OrderConflicts::IsSafeInAnyOrder() { return IsSafeIn({}); }

FoundOrder OrderConflicts::FindOrder() {
  FoundOrder found;
  for (size_t i = 0; i < relations_.size(); ++i) {
    if (!relations_[i].is_outside) continue;
    const Answer has = HasConflict(i, {});
    if (has == Answer::kNo) continue;
    found.is_safe = Not(has);
    return found;
  }
  ConflictCell outer;
  for (int i = 0; i < static_cast<int>(kinds_.size()); ++i) {
    if (kinds_[i] == CoordinateKind::kParallel) outer.push_back({i, 0});
  }
  llvm::SmallVector<bool, 4> is_taken(kinds_.size(), false);
  while (true) {
    std::optional<DirectedLoop> next;
    bool is_any_left = false;
    bool is_blocked = true;  // every loop that matters has both signs for certain
    for (int i = 0; i < static_cast<int>(kinds_.size()) && !next; ++i) {
      if (kinds_[i] != CoordinateKind::kLoop || is_taken[i]) continue;
      ConflictCell cell = outer;
      cell.push_back({i, -1});
      const Answer down = HasConflict(cell);
      cell.back().sign = 1;
      const Answer up = HasConflict(cell);
      if (down == Answer::kNo && up == Answer::kNo) continue;
      is_any_left = true;
      if (down == Answer::kNo || up == Answer::kNo) {
        next = DirectedLoop{i, /*is_descending=*/down != Answer::kNo};
      } else if (down != Answer::kYes || up != Answer::kYes) {
        is_blocked = false;
      }
    }
    if (!is_any_left) {
      found.is_safe = Answer::kYes;
      return found;
    }
    if (!next) {
      found.is_safe = is_blocked ? Answer::kNo : Answer::kUndecided;
      found.loops.clear();
      return found;
    }
    is_taken[next->dimension] = true;
    outer.push_back({next->dimension, 0});
    found.loops.push_back(*next);
  }
}

std::optional<std::pair<size_t, ConflictCell>> OrderConflicts::FindConflict(
    const LoopOrder& loops) {
  for (ConflictCell& cell : CellsOf(loops)) {
    for (size_t i = 0; i < relations_.size(); ++i) {
      if (HasConflict(i, cell) != Answer::kYes) continue;
      return std::pair(i, relations_[i].is_outside ? ConflictCell() : std::move(cell));
    }
  }
  return std::nullopt;
}

std::optional<IndexingMap> RestrictTo(const ConflictCell& cell, const IndexingMap& relation) {
  IndexingMap map = relation;
  for (const SignedDifference& difference : cell) {
    const AffineExpr expr = Sub(relation.results()[difference.coordinate],
                                mlir::getAffineDimExpr(difference.coordinate, relation.context()));
    if (!expr) return std::nullopt;
    map.AddConstraint(kPartsFit, expr, IntervalOfSign(difference.sign));
  }
  return map;
}

}  // namespace xla_indexing::internal

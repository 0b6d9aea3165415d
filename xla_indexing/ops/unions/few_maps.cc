#include "xla_indexing/ops/unions/few_maps.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/unions/few_ranges.h"
#include "xla_indexing/ops/unions/range_choices.h"
#include "xla_indexing/ops/unions/zones.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

namespace {

// Steps of a question (base/question_budget.h) that it may take to find maps to join.
constexpr int64_t kMaxStepsToReduce = 50'000;

// Whether `a` can be `b` with a variable or a constraint in one point, at a glance: a dimension is
// there, or a range variable is gone, and results whose other variables are the same have the
// constants that they have then.
bool MayProlong(const IndexingMap& b, int place, int64_t point, const IndexingMap& a) {
  if (place < b.num_dims()) return a.dims()[place].bounds == Interval::Point(point);
  for (int i = 0; i < b.num_dims(); ++i) {
    if (!a.dims()[i].bounds.IsSubsetOf(b.dims()[i].bounds)) return false;
  }
  if (a.num_ranges() >= b.num_ranges()) return false;
  if (place >= b.num_dims() + b.num_ranges()) {
    return MayHaveValue(b, b.constraints()[place - b.num_dims() - b.num_ranges()].expr, point, a);
  }
  const AffineExpr range = mlir::getAffineSymbolExpr(place - b.num_dims(), b.context());
  for (int i = 0; i < b.num_results(); ++i) {
    const LinearSum of_a = LinearSum::FromExpr(a.results()[i]);
    const LinearSum of_b = LinearSum::FromExpr(b.results()[i]);
    const auto moved = CheckedMul(of_b.CoefficientOf(range), point);
    const auto constant = moved ? CheckedAdd(of_b.constant(), *moved) : std::nullopt;
    if (!of_a.valid() || !of_b.valid() || constant != of_a.constant()) return false;
  }
  return true;
}

// How far apart the values of a dimension are that a restriction such as (d + c) mod k = 0 leaves;
// 1 where there is none.
int64_t StrideOf(const IndexingMap& map, int dim) {
  for (const Constraint& constraint : map.constraints()) {
    const auto mod = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(constraint.expr);
    if (!mod || mod.getKind() != mlir::AffineExprKind::Mod || !constraint.interval.IsPoint()) {
      continue;
    }
    const LinearSum sum = LinearSum::FromExpr(mod.getLHS());
    const std::optional<int64_t> modulus = ConstantIn(mod.getRHS());
    if (!sum.valid() || !modulus || sum.terms().size() != 1) continue;
    const auto variable = llvm::dyn_cast<mlir::AffineDimExpr>(sum.terms()[0].atom);
    if (!variable || static_cast<int>(variable.getPosition()) != dim) continue;
    if (std::abs(sum.terms()[0].coefficient) == 1) return *modulus;
  }
  return 1;
}

// `b` with one of its intervals longer by one, where what that adds is `a`.
std::optional<OperandIndexing> Prolonged(const OperandIndexing& b, const OperandIndexing& a) {
  const IndexingMap& map = b.map();
  const int num_dims = map.num_dims();
  const int num_variables = num_dims + map.num_ranges();
  const auto with = [&](int place, const Interval& interval) {
    Renaming renaming;
    renaming.dims = Variables(map.dims());
    renaming.ranges = Variables(map.ranges());
    for (int i = 0; i < map.num_runtimes(); ++i) renaming.runtimes.push_back(i);
    if (place < num_dims) {
      renaming.dims[place].bounds = interval;
    } else if (place < num_variables) {
      renaming.ranges[place - num_dims].bounds = interval;
    }
    IndexingMap with_interval(kPartsFit, map.affine_map(), std::move(renaming.dims),
                              std::move(renaming.ranges), Variables(map.runtimes()),
                              Constraints(map.constraints()));
    if (place >= num_variables) {
      Constraints constraints(map.constraints());
      constraints[place - num_variables].interval = interval;
      with_interval =
          IndexingMap(kPartsFit, map.affine_map(), Variables(map.dims()), Variables(map.ranges()),
                      Variables(map.runtimes()), std::move(constraints));
    }
    OperandIndexing result(kPartsFit, std::move(with_interval),
                           RuntimeVarIndexings(b.bindings().begin(), b.bindings().end()),
                           b.label());
    if (b.replica_map() != nullptr) result.SetReplicaMap(kPartsFit, *b.replica_map());
    result.Simplify();
    return result;
  };
  const int num_places = num_variables + static_cast<int>(map.constraints().size());
  for (int place = 0; place < num_places; ++place) {
    const Interval interval = place < num_dims ? map.dims()[place].bounds
                              : place < num_variables
                                  ? map.ranges()[place - num_dims].bounds
                                  : map.constraints()[place - num_variables].interval;
    for (const bool is_lower : {true, false}) {
      if (interval.IsEmpty() || !(is_lower ? interval.has_lower() : interval.has_upper())) continue;
      const int64_t stride = place < num_dims ? StrideOf(map, place) : 1;
      const Interval added = is_lower ? Interval::Point(interval.lower()).Sub(stride)
                                      : Interval::Point(interval.upper()).Add(stride);
      if (added.IsEmpty() || !added.IsPoint() || !MayProlong(map, place, added.lower(), a.map())) {
        continue;
      }
      if (!OperandIndexing::IdenticalRelation(with(place, added), a)) continue;
      return with(place, interval.Union(added));
    }
  }
  return std::nullopt;
}

// Two maps of one row each, rows beside one another, as one map of both, where their results differ
// by constants.
std::optional<OperandIndexing> RowsJoined(const OperandIndexing& a, const OperandIndexing& b) {
  const IndexingMap& first = a.map();
  const IndexingMap& second = b.map();
  std::optional<int> row;
  for (int i = 0; i < first.num_dims(); ++i) {
    const Interval& bounds = first.dims()[i].bounds;
    if (bounds == second.dims()[i].bounds) continue;
    if (row || !bounds.IsPoint() || second.dims()[i].bounds != bounds.Add(1)) return std::nullopt;
    row = i;
  }
  if (!row || first.SymbolBounds() != second.SymbolBounds() || a.bindings() != b.bindings() ||
      first.constraints() != second.constraints() || a.replica_map() != nullptr) {
    return std::nullopt;
  }
  mlir::MLIRContext* context = first.context();
  const AffineExpr dim = mlir::getAffineDimExpr(*row, context);
  const AffineExpr from_first = Sub(dim, Constant(first.dims()[*row].bounds.lower(), context));
  Renaming renaming;
  renaming.dims = Variables(first.dims());
  renaming.dims[*row].bounds = first.dims()[*row].bounds.Union(second.dims()[*row].bounds);
  renaming.ranges = Variables(first.ranges());
  for (int i = 0; i < first.num_runtimes(); ++i) renaming.runtimes.push_back(i);
  renaming.results_dropped = first.num_results();
  for (int i = 0; i < first.num_results(); ++i) {
    const auto step = ConstantIn(Sub(second.results()[i], first.results()[i]));
    if (!step) return std::nullopt;
    renaming.results_added.push_back(Add(first.results()[i], Scale(from_first, *step)));
  }
  OperandIndexing joined = Renamed(a, std::move(renaming));
  if (joined.IsUnknown()) return std::nullopt;
  joined.Simplify();
  return joined;
}

bool AreOfOneKind(const OperandIndexing& a, const OperandIndexing& b) {
  return !a.IsUnknown() && !b.IsUnknown() && a.label() == b.label() &&
         (a.replica_map() == nullptr) == (b.replica_map() == nullptr);
}

// Leaves out maps that others absorb, as long as there are any, and as long as looking for them does
// not take a large part of the question's budget.
void Reduce(llvm::function_ref<bool(OperandIndexing& a, const OperandIndexing& b)> absorbs,
            std::vector<OperandIndexing>* maps) {
  const int64_t least_left = QuestionBudget::Left() - kMaxStepsToReduce;
  for (size_t i = 0; i < maps->size(); ++i) {
    for (size_t j = 0; j < maps->size() && QuestionBudget::Spend(); ++j) {
      if (QuestionBudget::Left() < least_left) return;
      if (i == j || !absorbs((*maps)[i], (*maps)[j])) continue;
      maps->erase(maps->begin() + static_cast<std::ptrdiff_t>(j));
      // What was compared before may be more now.
      i = 0;
      j = static_cast<size_t>(-1);
    }
  }
}

// Leaves out maps that others cover: what is left out changes none of the others. Within the same part
// of the budget.
void DropCovered(
    llvm::function_ref<bool(const OperandIndexing& a, const OperandIndexing& b)> covers,
    std::vector<OperandIndexing>* maps) {
  const int64_t least_left = QuestionBudget::Left() - kMaxStepsToReduce;
  for (size_t i = 0; i < maps->size(); ++i) {
    for (size_t j = 0; j < maps->size() && QuestionBudget::Spend();) {
      if (QuestionBudget::Left() < least_left) return;
      if (i == j || !covers((*maps)[i], (*maps)[j])) {
        ++j;
        continue;
      }
      maps->erase(maps->begin() + static_cast<std::ptrdiff_t>(j));
      if (j < i) --i;
    }
  }
}

OperandIndexingSet Tidied(std::vector<OperandIndexing> maps) {
  OperandIndexingSet tidied;
  for (OperandIndexing& map : maps) tidied.Add(std::move(map));
  tidied.Simplify();
  return tidied;
}

}  // namespace

void WriteWithFewMaps(OperandIndexingSet* set) {
  set->Simplify();
  std::vector<OperandIndexing> maps;
  for (const OperandIndexing& map : *set) {
    maps.push_back(WithRangesAsIterations(WithRangesAsResults(WithSumsJoined(map))));
  }
  // Where two maps contain each other, the exact one stays.
  const auto covers = [](const OperandIndexing& a, const OperandIndexing& b) {
    return !a.IsUnknown() && !b.IsUnknown() && Covers(a, b) &&
           (a.IsExact() || !b.IsExact() || !Covers(b, a));
  };
  const auto prolongs = [](OperandIndexing& a, const OperandIndexing& b) {
    if (IsOff(Engine::kProlonged) || !AreOfOneKind(a, b)) return false;
    std::optional<OperandIndexing> longer = Prolonged(a, b);
    if (!longer) longer = RowsJoined(a, b);
    if (longer) a = *longer;
    return longer.has_value();
  };
  DropCovered(covers, &maps);
  Reduce(prolongs, &maps);
  *set = Tidied(std::move(maps));
}

void JoinBeyondEnds(OperandIndexingSet* set) {
  if (IsOff(Engine::kJoinBeyondEnds) || set->size() < 2) return;
  std::vector<OperandIndexing> maps(set->begin(), set->end());
  const auto joins = [](OperandIndexing& a, const OperandIndexing& b) {
    std::optional<OperandIndexing> joined;
    if (AreOfOneKind(a, b)) joined = JoinedAlongOne(a, b);
    if (joined) a = *joined;
    return joined.has_value();
  };
  Reduce(joins, &maps);
  if (maps.size() < set->size()) *set = Tidied(std::move(maps));
}

void WriteAnswer(OperandIndexingSet* set) {
  WriteWithFewMaps(set);
  JoinBeyondEnds(set);
  std::vector<OperandIndexing> maps;
  for (const OperandIndexing& map : *set) maps.push_back(WithConstrainedResultsAsRanges(map));
  if (maps.size() > 1) JoinZones(&maps);
  *set = Tidied(std::move(maps));
}

}  // namespace xla_indexing::internal

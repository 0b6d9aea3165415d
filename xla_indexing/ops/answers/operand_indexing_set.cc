#include "xla_indexing/ops/answers/operand_indexing_set.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/text/affine_text.h"
#include "xla_indexing/map/variable_names.h"
#include "xla_indexing/ops/answers/subsumes.h"

namespace xla_indexing {
namespace {

using internal::Engine;
using internal::IsOff;
using internal::LinearSum;
using internal::MaySubsumeOthers;
using internal::Subsumes;
using internal::Term;

// How many maps are compared with one another at a glance in the time of a step of the question's
// budget (base/question_budget.h).
constexpr size_t kComparedInAStep = 64;

// The only position at which the intervals differ; none where there is no such position or several.
std::optional<size_t> OnlyDifference(llvm::ArrayRef<Interval> a, llvm::ArrayRef<Interval> b) {
  if (a.size() != b.size()) return std::nullopt;
  std::optional<size_t> difference;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (difference) return std::nullopt;
    difference = i;
  }
  return difference;
}

using DimBounds = llvm::SmallVector<Interval, 4>;

// The intervals of the dimensions, and behind them that of the replica map's reader.
DimBounds DimAndReaderBounds(const OperandIndexing& indexing) {
  DimBounds bounds = indexing.map().DimBounds();
  if (indexing.replica_map() != nullptr) bounds.push_back(indexing.replica_map()->readers);
  return bounds;
}

// `indexing` with dimension `i`, or the reader, in `interval`, simplified.
OperandIndexing WithDimIn(const OperandIndexing& indexing, size_t i, const Interval& interval) {
  OperandIndexing result = indexing;
  if (static_cast<int>(i) < indexing.map().num_dims()) {
    result.SetDimBounds(static_cast<int>(i), interval);
  } else {
    ReplicaMap replica_map = *indexing.replica_map();
    replica_map.readers = interval;
    result.SetReplicaMap(kPartsFit, std::move(replica_map));
  }
  result.Simplify();
  return result;
}

// The values of a sum of multiples of variables where the dimensions have their least values and the
// range variables any; none of others.
std::optional<Interval> ValuesAtLeastPoint(mlir::AffineExpr expr, llvm::ArrayRef<Variable> dims,
                                           llvm::ArrayRef<Variable> ranges) {
  const LinearSum sum = LinearSum::FromExpr(expr);
  if (!sum.valid()) return std::nullopt;
  Interval values = Interval::Point(sum.constant());
  for (const Term& term : sum.terms()) {
    Interval of_variable = Interval::All();
    if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(term.atom)) {
      if (!dims[dim.getPosition()].bounds.has_lower()) return std::nullopt;
      of_variable = Interval::Point(dims[dim.getPosition()].bounds.lower());
    } else if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom)) {
      if (symbol.getPosition() >= ranges.size()) return std::nullopt;
      of_variable = ranges[symbol.getPosition()].bounds;
    } else {
      return std::nullopt;
    }
    values = values.Add(of_variable.Mul(term.coefficient));
  }
  return values;
}

// Whether the maps lead the least point of `b` to different places, so that `a` is not `b` on the
// intervals of `b`. False where that takes more than a glance.
bool DifferAtLeastPoint(const IndexingMap& a, const IndexingMap& b) {
  if (!b.constraints().empty() || a.num_results() != b.num_results()) return false;
  for (int i = 0; i < a.num_results(); ++i) {
    const auto of_a = ValuesAtLeastPoint(a.results()[i], b.dims(), a.ranges());
    const auto of_b = ValuesAtLeastPoint(b.results()[i], b.dims(), b.ranges());
    if (!of_a || !of_b) continue;
    // With constraints a leads to some of these values only.
    if (!of_b->IsSubsetOf(*of_a)) return true;
    if (a.constraints().empty() && *of_a != *of_b) return true;
  }
  return false;
}

// Maps that differ in the interval of one dimension: the formula of one of them, where on the
// other's interval it is the other one.
std::optional<OperandIndexing> MergeAlongDimension(const OperandIndexing& a,
                                                   const DimBounds& bounds_a,
                                                   const OperandIndexing& b,
                                                   const DimBounds& bounds_b) {
  const std::optional<size_t> dim = OnlyDifference(bounds_a, bounds_b);
  if (!dim) return std::nullopt;
  const Interval& interval_a = bounds_a[*dim];
  const Interval& interval_b = bounds_b[*dim];
  if (!interval_a.TouchesOrOverlaps(interval_b)) return std::nullopt;
  const Interval both = interval_a.Union(interval_b);
  // Where a dimension has one value, no result mentions it, and it is the same on any interval.
  const auto may_be_on = [](const OperandIndexing& from, const Interval& interval,
                            const OperandIndexing& to) {
    return !interval.IsPoint() || from.map().affine_map() == to.map().affine_map();
  };
  if (may_be_on(a, interval_a, b) && !DifferAtLeastPoint(a.map(), b.map()) &&
      OperandIndexing::IdenticalRelation(WithDimIn(a, *dim, interval_b), b)) {
    return WithDimIn(a, *dim, both);
  }
  if (may_be_on(b, interval_b, a) && !DifferAtLeastPoint(b.map(), a.map()) &&
      OperandIndexing::IdenticalRelation(WithDimIn(b, *dim, interval_a), a)) {
    return WithDimIn(b, *dim, both);
  }
  return std::nullopt;
}

// The intervals of the range and runtime variables, then those of the constraints; the ones of the
// replica map come last.
std::vector<Interval> SymbolAndConstraintIntervals(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  std::vector<Interval> intervals;
  for (const Interval& interval : map.SymbolBounds()) intervals.push_back(interval);
  for (const Constraint& constraint : map.constraints()) intervals.push_back(constraint.interval);
  if (indexing.replica_map() != nullptr) {
    for (const Constraint& constraint : indexing.replica_map()->constraints) {
      intervals.push_back(constraint.interval);
    }
  }
  return intervals;
}

bool SameExprs(llvm::ArrayRef<Constraint> a, llvm::ArrayRef<Constraint> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Constraint& x, const Constraint& y) { return x.expr == y.expr; });
}

// Replica maps that differ in intervals of constraints at most.
bool SameFormula(const ReplicaMap* a, const ReplicaMap* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->readers == b->readers && a->device == b->device &&
         SameExprs(a->constraints, b->constraints);
}

// Maps of one formula that differ in the interval of one symbol or one constraint.
std::optional<OperandIndexing> MergeAlongSymbolOrConstraint(const OperandIndexing& a,
                                                            const OperandIndexing& b) {
  const IndexingMap& map_a = a.map();
  const IndexingMap& map_b = b.map();
  if (map_a.affine_map() != map_b.affine_map() || map_a.num_ranges() != map_b.num_ranges() ||
      map_a.DimBounds() != map_b.DimBounds() || a.bindings() != b.bindings() ||
      !SameExprs(map_a.constraints(), map_b.constraints()) ||
      !SameFormula(a.replica_map(), b.replica_map())) {
    return std::nullopt;
  }
  const std::vector<Interval> intervals_a = SymbolAndConstraintIntervals(a);
  const std::vector<Interval> intervals_b = SymbolAndConstraintIntervals(b);
  const std::optional<size_t> differing = OnlyDifference(intervals_a, intervals_b);
  if (!differing || !intervals_a[*differing].TouchesOrOverlaps(intervals_b[*differing]))
    return std::nullopt;

  const Interval both = intervals_a[*differing].Union(intervals_b[*differing]);
  const auto symbol = static_cast<int>(*differing);
  Variables ranges(map_a.ranges());
  Variables runtimes(map_a.runtimes());
  Constraints constraints(map_a.constraints());
  const int after_constraints = map_a.num_symbols() + static_cast<int>(constraints.size());
  std::optional<ReplicaMap> replica_map;
  if (a.replica_map() != nullptr) replica_map = *a.replica_map();
  if (symbol < map_a.num_ranges()) {
    ranges[symbol].bounds = both;
  } else if (symbol < map_a.num_symbols()) {
    runtimes[symbol - map_a.num_ranges()].bounds = both;
  } else if (symbol < after_constraints) {
    constraints[symbol - map_a.num_symbols()].interval = both;
  } else {
    replica_map->constraints[symbol - after_constraints].interval = both;
  }
  OperandIndexing result(
      kPartsFit,
      IndexingMap(kPartsFit, map_a.affine_map(), Variables(map_a.dims()), std::move(ranges),
                  std::move(runtimes), std::move(constraints)),
      RuntimeVarIndexings(a.bindings().begin(), a.bindings().end()), a.label());
  if (replica_map) result.SetReplicaMap(kPartsFit, *std::move(replica_map));
  result.Simplify();
  return result;
}

// One map for the union of both, where one of the simple cases gives it.
std::optional<OperandIndexing> Merge(const OperandIndexing& a, const DimBounds& bounds_a,
                                     const OperandIndexing& b, const DimBounds& bounds_b) {
  if (a.label() != b.label() || a.IsUnknown()) return std::nullopt;
  if (a.map().num_dims() != b.map().num_dims()) return std::nullopt;
  if ((a.replica_map() == nullptr) != (b.replica_map() == nullptr)) return std::nullopt;
  if (std::optional<OperandIndexing> merged = MergeAlongDimension(a, bounds_a, b, bounds_b)) {
    return merged;
  }
  return MergeAlongSymbolOrConstraint(a, b);
}

// The affine map of an answer whose normal form does not depend on its intervals, as long as these
// have several values: results are sums of variables, and there are no constraints. Null for all
// other answers.
mlir::AffineMap FixedFormula(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  const auto is_point = [](const Variable& variable) { return variable.bounds.IsPoint(); };
  const auto is_sum = [](mlir::AffineExpr result) { return result.isPureAffine(); };
  if (!indexing.bindings().empty() || indexing.replica_map() != nullptr ||
      !map.constraints().empty() || llvm::any_of(map.dims(), is_point) ||
      llvm::any_of(map.ranges(), is_point) || !llvm::all_of(map.results(), is_sum)) {
    return {};
  }
  return map.affine_map();
}

// Merges until no two maps can be, or the question's budget is spent; true if any were.
bool MergeAll(llvm::SmallVectorImpl<OperandIndexing>* maps) {
  if (IsOff(Engine::kMergeIntervals)) return false;
  // Facts about each map that every comparison with another one needs. Two maps with fixed formulas
  // can merge only if these are equal.
  std::vector<mlir::AffineMap> formulas(maps->size());
  std::vector<DimBounds> bounds(maps->size());
  std::vector<bool> is_gone(maps->size());
  // How many maps have, or had, each formula; and which maps have, or had, none.
  llvm::SmallDenseMap<mlir::AffineMap, int> times;
  std::vector<size_t> without_formula;
  const auto note = [&](size_t i) {
    formulas[i] = FixedFormula((*maps)[i]);
    bounds[i] = DimAndReaderBounds((*maps)[i]);
    ++times[formulas[i]];
    const auto it = llvm::lower_bound(without_formula, i);
    const bool is_new = it == without_formula.end() || *it != i;
    if (!formulas[i] && is_new) without_formula.insert(it, i);
  };
  for (size_t i = 0; i < maps->size(); ++i) note(i);
  // The first from `j` on that may be merged with map i.
  const auto next = [&](size_t i, size_t j) {
    // A formula that no other map has can merge only with maps without a fixed formula.
    if (formulas[i] && times[formulas[i]] == 1) {
      const auto later = llvm::lower_bound(without_formula, j);
      j = later == without_formula.end() ? formulas.size() : *later;
    }
    while (j < formulas.size() &&
           (i == j || (formulas[i] && formulas[j] && formulas[i] != formulas[j]) || is_gone[j])) {
      ++j;
    }
    return j;
  };
  for (size_t i = 0; i < maps->size(); ++i) {
    QuestionBudget::Spend(static_cast<int64_t>((maps->size() - i) / kComparedInAStep));
    // The maps before this one have been compared with it, unless it becomes another one.
    for (size_t j = next(i, i + 1); j < maps->size() && !is_gone[i];) {
      if (!QuestionBudget::Spend()) break;
      std::optional<OperandIndexing> merged = Merge((*maps)[i], bounds[i], (*maps)[j], bounds[j]);
      if (!merged) {
        j = next(i, j + 1);
        continue;
      }
      is_gone[j] = true;
      (*maps)[i] = *std::move(merged);
      note(i);
      j = next(i, 0);
    }
  }
  const auto kept = std::count(is_gone.begin(), is_gone.end(), false);
  if (static_cast<size_t>(kept) == maps->size()) return false;
  size_t end = 0;
  for (size_t i = 0; i < maps->size(); ++i) {
    if (!is_gone[i] && end++ != i) (*maps)[end - 1] = std::move((*maps)[i]);
  }
  maps->erase(maps->begin() + kept, maps->end());
  return true;
}

bool HasNames(const IndexingMap& map) {
  const auto has_name = [](const Variable& variable) { return static_cast<bool>(variable.name); };
  return llvm::any_of(map.dims(), has_name) || llvm::any_of(map.ranges(), has_name) ||
         llvm::any_of(map.runtimes(), has_name);
}

// Whether the text of one map comes before that of another, by their range variables or else by the
// first result that they do not share; none where that takes more than a glance. Neither is known to
// be empty.
std::optional<bool> ComesBeforeAtAGlance(const IndexingMap& a, const IndexingMap& b) {
  if (a.num_dims() != b.num_dims() || a.num_runtimes() != b.num_runtimes() || HasNames(a) ||
      HasNames(b)) {
    return std::nullopt;
  }
  if (a.num_ranges() != b.num_ranges()) {
    // `(d0) ->` comes before `(d0)[s0, s1] ->`, and that before `(d0)[s0] ->`.
    if (a.num_runtimes() > 0) return std::nullopt;
    return a.num_ranges() == 0 || (b.num_ranges() != 0 && a.num_ranges() > b.num_ranges());
  }
  const auto count = std::min(a.results().size(), b.results().size());
  size_t i = 0;
  while (i < count && a.results()[i] == b.results()[i]) ++i;
  if (i == count) return std::nullopt;
  // Dimensions and range variables have their default names, which need not be made.
  internal::VariableNames names;
  if (a.num_runtimes() > 0) names = internal::NamesOf(a);
  // What ends a result comes before what goes on with it.
  const auto text_of = [&](const IndexingMap& map) {
    std::string text;
    internal::AppendAffineExpr(map.results()[i], names.dims, names.symbols, &text);
    text.append(i + 1 < map.results().size() ? "," : ")");
    return text;
  };
  const std::string text_of_a = text_of(a);
  const std::string text_of_b = text_of(b);
  return text_of_a != text_of_b ? std::optional(text_of_a < text_of_b) : std::nullopt;
}

bool TextComesBefore(const OperandIndexing& a, const OperandIndexing& b) {
  std::optional<bool> is_before;
  if (!a.IsUnknown() && !b.IsUnknown()) is_before = ComesBeforeAtAGlance(a.map(), b.map());
  return is_before ? *is_before : a.ToString() < b.ToString();
}

// Puts the maps in the order of their texts.
void SortByText(llvm::SmallVectorImpl<OperandIndexing>* maps) {
  // Where maps are few, parts of their texts are enough to compare them.
  constexpr size_t kFew = 4;
  if (maps->size() == 2) {
    if (TextComesBefore(maps->back(), maps->front())) std::swap(maps->front(), maps->back());
    return;
  }
  if (maps->size() <= kFew) {
    std::sort(maps->begin(), maps->end(), TextComesBefore);
    return;
  }
  std::vector<std::pair<std::string, size_t>> order;
  order.reserve(maps->size());
  for (size_t i = 0; i < maps->size(); ++i) order.emplace_back((*maps)[i].ToString(), i);
  std::sort(order.begin(), order.end());
  llvm::SmallVector<OperandIndexing, 1> sorted;
  for (const auto& [text, i] : order) sorted.push_back(std::move((*maps)[i]));
  std::move(sorted.begin(), sorted.end(), maps->begin());
}

}  // namespace

OperandIndexing* OperandIndexingSet::Find(const OperandIndexing& indexing) {
  constexpr size_t kFew = 8;
  if (maps_.size() <= kFew) {
    for (OperandIndexing& present : maps_) {
      if (OperandIndexing::IdenticalRelation(present, indexing)) return &present;
    }
    return nullptr;
  }
  const auto hash_of = [](const OperandIndexing& map) {
    return static_cast<size_t>(hash_value(map.map()));
  };
  while (positions_.size() < maps_.size()) positions_.Append(hash_of(maps_[positions_.size()]));
  for (const size_t i : positions_.Find(hash_of(indexing))) {
    if (OperandIndexing::IdenticalRelation(maps_[i], indexing)) return &maps_[i];
  }
  return nullptr;
}

OperandIndexingSet::Maps OperandIndexingSet::Take() {
  positions_.Clear();
  return std::exchange(maps_, {});
}

void OperandIndexingSet::Add(OperandIndexing indexing) {
  if (indexing.IsKnownEmpty()) return;
  OperandIndexing* present = Find(indexing);
  if (present == nullptr) {
    maps_.push_back(std::move(indexing));
  } else if (indexing.label().exactness < present->label().exactness) {
    *present = std::move(indexing);
  }
}

void OperandIndexingSet::Add(const OperandIndexingSet& other) {
  for (const OperandIndexing& indexing : other.maps_) Add(indexing);
}

ExactnessLabel OperandIndexingSet::label() const {
  ExactnessLabel label;
  for (const OperandIndexing& indexing : maps_) {
    label = ExactnessLabel::Weaker(label, indexing.label());
  }
  return label;
}

void OperandIndexingSet::Simplify() {
  if (maps_.size() == 1) {  // As most have.
    maps_.front().Simplify();
    if (maps_.front().IsKnownEmpty()) maps_.clear();
    return;
  }
  // Maps that are simplified already have been added as they are.
  auto* const others = std::stable_partition(maps_.begin(), maps_.end(),
                                             std::mem_fn(&OperandIndexing::IsSimplified));
  Maps maps(std::make_move_iterator(others), std::make_move_iterator(maps_.end()));
  maps_.erase(others, maps_.end());
  positions_.Clear();
  for (OperandIndexing& indexing : maps) {
    indexing.Simplify();
    Add(std::move(indexing));
  }
  if (maps_.size() < 2) return;
  positions_.Clear();
  if (MergeAll(&maps_)) {
    maps = Take();
    for (OperandIndexing& indexing : maps) Add(std::move(indexing));
  }
  positions_.Clear();
  SortByText(&maps_);
}

void OperandIndexingSet::DropSubsumed(const Shape& to) {
  positions_.Clear();
  for (size_t i = 0; i < maps_.size(); ++i) {
    if (!QuestionBudget::Spend(static_cast<int64_t>(maps_.size() / kComparedInAStep))) return;
    if (!MaySubsumeOthers(maps_[i], to)) continue;
    for (size_t j = 0; j < maps_.size();) {
      if (i == j || !Subsumes(maps_[i], maps_[j], to)) {
        ++j;
        continue;
      }
      maps_.erase(maps_.begin() + static_cast<std::ptrdiff_t>(j));
      if (j < i) --i;
    }
  }
}

absl::StatusOr<OperandIndexingSet> ComposeOperandIndexingSets(const OperandIndexingSet& first,
                                                              const OperandIndexingSet& second) {
  OperandIndexingSet result;
  for (const OperandIndexing& a : first) {
    for (const OperandIndexing& b : second) {
      absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(a, b);
      if (!composed.ok()) return composed.status();
      result.Add(*std::move(composed));
    }
  }
  return result;
}

}  // namespace xla_indexing

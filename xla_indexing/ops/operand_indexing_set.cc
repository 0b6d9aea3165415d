#include "xla_indexing/ops/operand_indexing_set.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/ops/covers.h"

namespace xla_indexing {
namespace {

// Both are intervals without a gap between them.
bool TouchOrOverlap(const Interval& a, const Interval& b) {
  if (a.IsEmpty() || b.IsEmpty()) return false;
  const auto reaches = [](const Interval& low, const Interval& high) {
    if (!low.has_upper() || !high.has_lower()) return true;
    return low.upper() >= high.lower() || low.upper() + 1 == high.lower();
  };
  return reaches(a, b) && reaches(b, a);
}

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

// The intervals of the dimensions, and behind them that of the replica map's reader.
llvm::SmallVector<Interval, 4> DimAndReaderBounds(const OperandIndexing& indexing) {
  llvm::SmallVector<Interval, 4> bounds = indexing.map().DimBounds();
  if (indexing.replica_map() != nullptr) bounds.push_back(indexing.replica_map()->readers);
  return bounds;
}

// `indexing` with dimension `i`, or the reader, in `interval`, simplified.
OperandIndexing WithDimIn(const OperandIndexing& indexing, size_t i, const Interval& interval) {
  OperandIndexing result = indexing;
  if (static_cast<int>(i) < indexing.map().num_dims()) {
    result.mutable_map().mutable_dim(static_cast<int>(i)).bounds = interval;
  } else {
    ReplicaMap replica_map = *indexing.replica_map();
    replica_map.readers = interval;
    result.SetReplicaMap(std::move(replica_map));
  }
  result.Simplify();
  return result;
}

// Maps that differ in the interval of one dimension: the formula of one of them, where on the
// other's interval it is the other one.
std::optional<OperandIndexing> MergeAlongDimension(const OperandIndexing& a,
                                                   const OperandIndexing& b) {
  const llvm::SmallVector<Interval, 4> bounds_a = DimAndReaderBounds(a);
  const llvm::SmallVector<Interval, 4> bounds_b = DimAndReaderBounds(b);
  const std::optional<size_t> dim = OnlyDifference(bounds_a, bounds_b);
  if (!dim) return std::nullopt;
  const Interval& interval_a = bounds_a[*dim];
  const Interval& interval_b = bounds_b[*dim];
  if (!TouchOrOverlap(interval_a, interval_b)) return std::nullopt;
  const Interval both = interval_a.Union(interval_b);
  // Where a dimension has one value, no result mentions it, and it is the same on any interval.
  const auto may_be_on = [](const OperandIndexing& from, const Interval& interval,
                            const OperandIndexing& to) {
    return !interval.IsPoint() || from.map().affine_map() == to.map().affine_map();
  };
  if (may_be_on(a, interval_a, b) &&
      OperandIndexing::SameRelation(WithDimIn(a, *dim, interval_b), b)) {
    return WithDimIn(a, *dim, both);
  }
  if (may_be_on(b, interval_b, a) &&
      OperandIndexing::SameRelation(WithDimIn(b, *dim, interval_a), a)) {
    return WithDimIn(b, *dim, both);
  }
  return std::nullopt;
}

// Those of the replica map come last.
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
  const std::optional<size_t> place = OnlyDifference(intervals_a, intervals_b);
  if (!place || !TouchOrOverlap(intervals_a[*place], intervals_b[*place])) return std::nullopt;

  const Interval both = intervals_a[*place].Union(intervals_b[*place]);
  const auto symbol = static_cast<int>(*place);
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
  OperandIndexing result(IndexingMap(map_a.affine_map(), Variables(map_a.dims()), std::move(ranges),
                                     std::move(runtimes), std::move(constraints)),
                         RuntimeVarIndexings(a.bindings().begin(), a.bindings().end()), a.label());
  if (replica_map) result.SetReplicaMap(*std::move(replica_map));
  result.Simplify();
  return result;
}

// One map for the union of both, where one of the simple cases gives it.
std::optional<OperandIndexing> Merge(const OperandIndexing& a, const OperandIndexing& b) {
  if (a.label() != b.label() || a.IsUnknown()) return std::nullopt;
  if (a.map().num_dims() != b.map().num_dims()) return std::nullopt;
  if ((a.replica_map() == nullptr) != (b.replica_map() == nullptr)) return std::nullopt;
  if (std::optional<OperandIndexing> merged = MergeAlongDimension(a, b)) return merged;
  return MergeAlongSymbolOrConstraint(a, b);
}

// Of a map whose normal form does not depend on its intervals, as long as they are of several
// values: sums of variables without constraints. Null of others.
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

// Merges until no two maps can be; true if any were.
bool MergeAll(std::vector<OperandIndexing>* maps) {
  // Of two maps that have fixed formulas these would have to be equal.
  std::vector<mlir::AffineMap> formulas;
  formulas.reserve(maps->size());
  for (const OperandIndexing& map : *maps) formulas.push_back(FixedFormula(map));
  bool merged_any = false;
  for (size_t i = 0; i < maps->size(); ++i) {
    for (size_t j = 0; j < maps->size();) {
      std::optional<OperandIndexing> merged;
      if (i != j && (!formulas[i] || !formulas[j] || formulas[i] == formulas[j])) {
        merged = Merge((*maps)[i], (*maps)[j]);
      }
      if (!merged) {
        ++j;
        continue;
      }
      merged_any = true;
      (*maps)[i] = *std::move(merged);
      formulas[i] = FixedFormula((*maps)[i]);
      maps->erase(maps->begin() + static_cast<std::ptrdiff_t>(j));
      formulas.erase(formulas.begin() + static_cast<std::ptrdiff_t>(j));
      if (j < i) --i;
      j = 0;
    }
  }
  return merged_any;
}

}  // namespace

OperandIndexing* OperandIndexingSet::Find(const OperandIndexing& indexing) {
  constexpr size_t kFew = 8;
  if (maps_.size() <= kFew) {
    for (OperandIndexing& present : maps_) {
      if (OperandIndexing::SameRelation(present, indexing)) return &present;
    }
    return nullptr;
  }
  const auto hash_of = [](const OperandIndexing& map) {
    return static_cast<size_t>(hash_value(map.map()));
  };
  while (hashes_.size() < maps_.size()) hashes_.push_back(hash_of(maps_[hashes_.size()]));
  const size_t hash = hash_of(indexing);
  for (size_t i = 0; i < maps_.size(); ++i) {
    if (hashes_[i] == hash && OperandIndexing::SameRelation(maps_[i], indexing)) return &maps_[i];
  }
  return nullptr;
}

std::vector<OperandIndexing> OperandIndexingSet::Take() {
  hashes_.clear();
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
  std::vector<OperandIndexing> maps = Take();
  for (OperandIndexing& indexing : maps) {
    indexing.Simplify();
    Add(std::move(indexing));
  }
  if (maps_.size() < 2) return;
  hashes_.clear();
  if (MergeAll(&maps_)) {
    maps = Take();
    for (OperandIndexing& indexing : maps) Add(std::move(indexing));
  }
  std::vector<std::pair<std::string, size_t>> order;
  order.reserve(maps_.size());
  for (size_t i = 0; i < maps_.size(); ++i) order.emplace_back(maps_[i].ToString(), i);
  std::sort(order.begin(), order.end());
  maps = Take();
  for (const auto& [text, i] : order) maps_.push_back(std::move(maps[i]));
}

void OperandIndexingSet::DropCovered(const Shape& to) {
  hashes_.clear();
  for (size_t i = 0; i < maps_.size(); ++i) {
    for (size_t j = 0; j < maps_.size();) {
      if (i == j || !Covers(maps_[i], maps_[j], to)) {
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

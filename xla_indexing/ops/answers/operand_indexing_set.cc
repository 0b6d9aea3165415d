#include "xla_indexing/ops/answers/operand_indexing_set.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/compare.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/coalesce.h"
#include "xla_indexing/ops/answers/parts/replica_map.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing {
namespace {

// Steps of a question (base/question_budget.h) that it may take to find maps that are one.
constexpr int64_t kMaxStepsToCoalesce = 1'000'000;

using internal::CompareExprs;
using internal::CompareIntervals;
using internal::CompareValues;

// Shorter lists come first, and lists of one length in the order of the first items that differ.
template <typename List, typename Compare>
int CompareLists(const List& a, const List& b, Compare compare) {
  if (const int c = CompareValues(a.size(), b.size())) return c;
  for (const auto& [item_a, item_b] : llvm::zip_equal(a, b)) {
    if (const int c = compare(item_a, item_b)) return c;
  }
  return 0;
}

int CompareBounds(const Variable& a, const Variable& b) {
  return CompareIntervals(a.bounds, b.bounds);
}

int CompareConstraints(const Constraint& a, const Constraint& b) {
  if (const int c = CompareExprs(a.expr, b.expr)) return c;
  return CompareIntervals(a.interval, b.interval);
}

int CompareDevices(mlir::AffineExpr a, mlir::AffineExpr b) {
  if (!a || !b) return CompareValues(!!a, !!b);
  return CompareExprs(a, b);
}

int CompareBindings(const RuntimeVarIndexing& a, const RuntimeVarIndexing& b) {
  if (const int c = CompareSources(a, b)) return c;
  if (const int c = CompareLists(a.element, b.element, CompareExprs)) return c;
  if (const int c = CompareValues(a.value, b.value)) return c;
  return CompareDevices(a.device, b.device);
}

int CompareReplicaMaps(const ReplicaMap* a, const ReplicaMap* b) {
  if (a == nullptr || b == nullptr) return CompareValues(a != nullptr, b != nullptr);
  if (const int c = CompareExprs(a->device, b->device)) return c;
  if (const int c = CompareIntervals(a->readers, b->readers)) return c;
  return CompareLists(a->constraints, b->constraints, CompareConstraints);
}

// The order of a set: by the numbers of variables, then by results, domain, bindings and devices. 0
// only for maps that are written in the same way; names do not count.
int CompareMaps(const OperandIndexing& a, const OperandIndexing& b) {
  if (a.IsUnknown() || b.IsUnknown()) return CompareValues(a.IsUnknown(), b.IsUnknown());
  const IndexingMap& map_a = a.map();
  const IndexingMap& map_b = b.map();
  if (const int c = CompareValues(map_a.num_ranges(), map_b.num_ranges())) return c;
  if (const int c = CompareValues(map_a.num_runtimes(), map_b.num_runtimes())) return c;
  if (const int c = CompareLists(map_a.results(), map_b.results(), CompareExprs)) return c;
  if (const int c = CompareLists(map_a.dims(), map_b.dims(), CompareBounds)) return c;
  if (const int c = CompareLists(map_a.ranges(), map_b.ranges(), CompareBounds)) return c;
  if (const int c = CompareLists(map_a.runtimes(), map_b.runtimes(), CompareBounds)) return c;
  if (const int c = CompareLists(map_a.constraints(), map_b.constraints(), CompareConstraints)) {
    return c;
  }
  if (const int c = CompareLists(a.bindings(), b.bindings(), CompareBindings)) return c;
  return CompareReplicaMaps(a.replica_map(), b.replica_map());
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
  maps = Take();
  std::vector<OperandIndexing> fewer(maps.begin(), maps.end());
  internal::CoalesceAll(internal::Witness::kRanges, kMaxStepsToCoalesce, &fewer);
  for (OperandIndexing& indexing : fewer) Add(std::move(indexing));
  positions_.Clear();
  std::stable_sort(maps_.begin(), maps_.end(),
                   [](const auto& a, const auto& b) { return CompareMaps(a, b) < 0; });
}

void OperandIndexingSet::DropSubsumed(const Shape& to) {
  if (maps_.size() < 2) return;
  std::vector<OperandIndexing> kept(maps_.begin(), maps_.end());
  internal::DropCovered(&to, &kept);
  positions_.Clear();
  maps_.assign(kept.begin(), kept.end());
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

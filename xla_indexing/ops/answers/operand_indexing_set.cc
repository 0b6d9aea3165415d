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
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/text/affine_text.h"
#include "xla_indexing/map/variable_names.h"
#include "xla_indexing/ops/answers/coalesce.h"

namespace xla_indexing {
namespace {

// Steps of a question (base/question_budget.h) that it may take to find maps that are one.
constexpr int64_t kMaxStepsToCoalesce = 1'000'000;

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
  maps = Take();
  std::vector<OperandIndexing> fewer(maps.begin(), maps.end());
  internal::CoalesceAll(internal::Witness::kRanges, kMaxStepsToCoalesce, &fewer);
  for (OperandIndexing& indexing : fewer) Add(std::move(indexing));
  positions_.Clear();
  SortByText(&maps_);
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

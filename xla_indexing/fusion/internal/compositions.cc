#include "xla_indexing/fusion/internal/compositions.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/internal/leaf_relation.h"

namespace xla_indexing::internal {
namespace {

// A question of few compositions seldom makes one twice.
constexpr int64_t kFewCompositions = 32;
// A map whose normal form takes more steps than this is simplified at once, while there are steps left.
constexpr int64_t kFewSteps = 16;
// Everything is forgotten when it is more: variables, results, constraints and bindings of maps.
constexpr size_t kMaxSize = size_t{1} << 19;

size_t SizeOf(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  return static_cast<size_t>(map.num_dims() + map.num_symbols() + map.num_results()) +
         map.constraints().size() + indexing.bindings().size();
}

}  // namespace

void Compositions::BeginQuestion() {
  const int64_t question = QuestionBudget::Number();
  if (question == question_) return;
  question_ = question;
  num_made_ = 0;
  size_ = 0;
  kept_.clear();
}

void Compositions::Keep(const OperandIndexing& first, const OperandIndexing& second,
                        Composed composed) {
  constexpr size_t kSizeOfEntry = 8;
  const size_t size = kSizeOfEntry + SizeOf(first) + SizeOf(second) + SizeOf(composed.map);
  if (size_ + size > kMaxSize) {
    size_ = 0;
    kept_.clear();
  }
  if (kept_.emplace(Pair(first, second), std::move(composed)).second) size_ += size;
}

absl::StatusOr<OperandIndexing> Compositions::Compose(const OperandIndexing& first,
                                                      const OperandIndexing& second,
                                                      llvm::function_ref<void(int64_t steps)> take,
                                                      bool* is_simplified) {
  if (is_simplified != nullptr) *is_simplified = true;
  BeginQuestion();
  const bool may_keep = question_ != 0 && ++num_made_ > kFewCompositions;
  if (may_keep) {
    const auto known = kept_.find(Pair(first, second));
    if (known != kept_.end() &&
        known->second.steps + known->second.spent < QuestionBudget::Left()) {
      take(known->second.steps);
      QuestionBudget::Spend(known->second.spent);
      return known->second.map;
    }
  }
  int64_t left = QuestionBudget::Left();
  absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(first, second);
  if (!composed.ok()) return composed.status();
  int64_t spent = left - QuestionBudget::Left();
  const auto steps = static_cast<int64_t>(StepsToSimplify(composed->map()));
  take(steps);
  // A normal form may have no replica map where what it is made of has one.
  if (is_simplified != nullptr && !may_keep && steps <= kFewSteps &&
      composed->replica_map() == nullptr) {
    *is_simplified = false;
    return composed;
  }
  left = QuestionBudget::Left();
  composed->Simplify();
  spent += left - QuestionBudget::Left();
  if (may_keep && !QuestionBudget::IsSpent()) Keep(first, second, {*composed, steps, spent});
  return composed;
}

}  // namespace xla_indexing::internal

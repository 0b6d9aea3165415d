#include "xla_indexing/query/in_place/order/permutation_conflict.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/simplify/named_ranges.h"

namespace xla_indexing::internal {
namespace {

// How many elements are looked at for one that is moved.
constexpr int64_t kMostElementsLookedAt = 512;

using Element = llvm::SmallVector<int64_t, 4>;

class PermutationWalk {
 public:
  PermutationWalk(const IndexingMap& reads, const IndexingMap& place, StepBudget* budget)
      : reads_(reads), place_(place), names_(NamedRangesOf(reads)), budget_(budget) {}

  bool HasNamesOnly() const {
    return static_cast<int>(names_.size()) == reads_.num_ranges() && reads_.num_runtimes() == 0 &&
           place_.num_symbols() == 0;
  }

  struct Step {
    Element operand;  // what an element reads
    Element writer;   // what has the place of that
  };
  // None where the budget is spent.
  std::optional<Step> From(const Element& element) {
    if (!budget_->Take(static_cast<int64_t>(names_.size()) + 1)) return std::nullopt;
    Element symbols(reads_.num_ranges());
    if (!ComputeNames(names_, element, symbols).ok()) return std::nullopt;
    absl::StatusOr<Element> operand = reads_.Evaluate(element, symbols);
    if (!operand.ok()) return std::nullopt;
    absl::StatusOr<Element> writer = place_.Evaluate(*operand, {});
    if (!writer.ok()) return std::nullopt;
    return Step{*std::move(operand), *std::move(writer)};
  }

 private:
  const IndexingMap& reads_;
  const IndexingMap& place_;
  const llvm::SmallVector<NamedRange, 0> names_;
  StepBudget* budget_;
};

// Whether a different element may be written before `element` is computed.
bool MayComeBefore(const Element& other, const Element& element, const LoopOrder& order) {
  for (const DirectedLoop& loop : order) {
    const int64_t a = other[loop.dimension];
    const int64_t b = element[loop.dimension];
    if (a != b) return loop.is_descending ? a > b : a < b;
  }
  return true;
}

}  // namespace

PermutationConflict FindPermutationConflict(const IndexingMap& reads, const IndexingMap& place,
                                            llvm::ArrayRef<int64_t> sizes, const LoopOrder& order,
                                            StepBudget* budget) {
  PermutationWalk walk(reads, place, budget);
  Int128 count = 1;
  for (const int64_t size : sizes) {
    count *= size;
    if (size <= 0 || count > Int128{1} << 62) return {};
  }
  if (!walk.HasNamesOnly()) return {};
  // Elements far apart: multiples of about the golden section of their number.
  const auto elements = static_cast<int64_t>(count);
  const int64_t looked_at = std::min(elements, kMostElementsLookedAt);
  const Int128 step = looked_at == elements ? 1 : count * 618 / 1000;
  for (int64_t i = 0; i < looked_at; ++i) {
    auto rest = static_cast<int64_t>(step * i % count);
    Element element(sizes.size());
    for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) element[d] = rest % sizes[d];
    std::optional<PermutationWalk::Step> move = walk.From(element);
    while (move && move->writer != element) {
      if (MayComeBefore(move->writer, element, order)) {
        return {Answer::kYes, std::move(element), std::move(move->operand),
                std::move(move->writer)};
      }
      element = std::move(move->writer);
      move = walk.From(element);
    }
    if (!move) return {};
  }
  return {.has = looked_at == elements ? Answer::kNo : Answer::kUndecided};
}

}  // namespace xla_indexing::internal

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

struct Move {
  Element operand;  // what an element reads
  Element writer;   // what has the place of that
};

// Nothing if a number is too large.
std::optional<Move> MoveOf(const Element& element, const IndexingMap& reads,
                           const IndexingMap& place, llvm::ArrayRef<NamedRange> names) {
  Element symbols(reads.num_ranges());
  if (!ComputeNames(names, element, symbols).ok()) return std::nullopt;
  absl::StatusOr<Element> operand = reads.Evaluate(element, symbols);
  if (!operand.ok()) return std::nullopt;
  absl::StatusOr<Element> writer = place.Evaluate(*operand, {});
  if (!writer.ok()) return std::nullopt;
  return Move{*std::move(operand), *std::move(writer)};
}

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
  const llvm::SmallVector<NamedRange, 0> names = NamedRangesOf(reads);
  if (static_cast<int>(names.size()) != reads.num_ranges() || reads.num_runtimes() > 0 ||
      place.num_symbols() > 0) {
    return {};
  }
  // Nothing if the budget is spent.
  const auto move_of = [&](const Element& element) -> std::optional<Move> {
    if (!budget->Take(static_cast<int64_t>(names.size()) + 1)) return std::nullopt;
    return MoveOf(element, reads, place, names);
  };
  Int128 count = 1;
  for (const int64_t size : sizes) {
    count *= size;
    if (size <= 0 || count > Int128{1} << 62) return {};
  }
  // Elements far apart: multiples of about the golden section of their number.
  const auto elements = static_cast<int64_t>(count);
  const int64_t looked_at = std::min(elements, kMostElementsLookedAt);
  const Int128 step = looked_at == elements ? 1 : count * 618 / 1000;
  for (int64_t i = 0; i < looked_at; ++i) {
    auto rest = static_cast<int64_t>(step * i % count);
    Element element(sizes.size());
    for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) element[d] = rest % sizes[d];
    std::optional<Move> move = move_of(element);
    while (move && move->writer != element) {
      if (MayComeBefore(move->writer, element, order)) {
        return {Answer::kYes, std::move(element), std::move(move->operand),
                std::move(move->writer)};
      }
      element = std::move(move->writer);
      move = move_of(element);
    }
    if (!move) return {};
  }
  return {.has = looked_at == elements ? Answer::kNo : Answer::kUndecided};
}

}  // namespace xla_indexing::internal

#include "xla_indexing/ops/unions/few_maps.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/union/unite_graphs.h"
#include "xla_indexing/ops/answers/coalesce.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/unions/few_ranges.h"

namespace xla_indexing::internal {

namespace {

// Steps of a question (base/question_budget.h) that it may take to find maps to join.
constexpr int64_t kMaxStepsToReduce = 50'000;

OperandIndexingSet Tidied(std::vector<OperandIndexing> maps) {
  OperandIndexingSet tidied;
  for (OperandIndexing& map : maps) tidied.Add(std::move(map));
  tidied.Simplify();
  return tidied;
}

}  // namespace

void CoalesceMaps(OperandIndexingSet* set) {
  if (set->size() < 2) return;
  std::vector<OperandIndexing> maps(set->begin(), set->end());
  CoalesceAll(Witness::kAny, kMaxStepsToReduce, &maps);
  if (maps.size() < set->size()) *set = Tidied(std::move(maps));
}

void UniteGraphs(OperandIndexingSet* set) {
  std::vector<IndexingMap> maps;
  OperandIndexingSet united;
  for (const OperandIndexing& indexing : *set) {
    if (indexing.IsExact() && indexing.bindings().empty() && indexing.replica_map() == nullptr) {
      maps.push_back(indexing.map());
    } else {
      united.Add(indexing);
    }
  }
  if (maps.size() < 2) return;
  const std::vector<IndexingMap> fewer = UniteGraphs(maps);
  if (fewer.size() >= maps.size()) return;
  for (const IndexingMap& map : fewer) united.Add(OperandIndexing(kPartsFit, map));
  *set = std::move(united);
}

void WriteWithFewMaps(OperandIndexingSet* set) {
  set->Simplify();
  std::vector<OperandIndexing> maps;
  for (const OperandIndexing& map : *set) {
    maps.push_back(WithRangesAsIterations(WithRangesAsResults(WithSumsJoined(map))));
  }
  DropCovered(/*to=*/nullptr, &maps);
  CoalesceAll(Witness::kAny, kMaxStepsToReduce, &maps);
  *set = Tidied(std::move(maps));
}

void WriteAnswer(OperandIndexingSet* set) {
  WriteWithFewMaps(set);
  std::vector<OperandIndexing> maps;
  for (const OperandIndexing& map : *set) maps.push_back(WithConstrainedResultsAsRanges(map));
  *set = Tidied(std::move(maps));
}

}  // namespace xla_indexing::internal

#include "xla_indexing/ops/loops/body/alike_unions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

bool ComesBefore(const RuntimeVarIndexing& a, const RuntimeVarIndexing& b) {
  return CompareSources(a, b) < 0;
}

// Bindings of the set that are read from different sources, in the order of these.
RuntimeVarIndexings SourcesOf(const OperandIndexingSet& set) {
  RuntimeVarIndexings sources;
  for (const OperandIndexing& map : set) {
    sources.insert(sources.end(), map.bindings().begin(), map.bindings().end());
  }
  llvm::sort(sources, ComesBefore);
  sources.erase(std::unique(sources.begin(), sources.end(),
                            [](const auto& a, const auto& b) { return CompareSources(a, b) == 0; }),
                sources.end());
  return sources;
}

size_t NumberOfSource(const RuntimeVarIndexing& binding, const RuntimeVarIndexings& sources) {
  return static_cast<size_t>(llvm::lower_bound(sources, binding, ComesBefore) - sources.begin());
}

OperandIndexingSet Renamed(const OperandIndexingSet& set,
                           llvm::function_ref<void(RuntimeVarIndexing*)> rename) {
  OperandIndexingSet renamed;
  for (const OperandIndexing& map : set) renamed.Add(map.Renamed(kPartsFit, rename));
  return renamed;
}

}  // namespace

void AlikeUnions::Do(OperandIndexingSet* set, Work work) {
  RuntimeVarIndexings sources = SourcesOf(*set);
  Kind kind;
  for (const OperandIndexing& map : *set) {
    for (const RuntimeVarIndexing& binding : map.bindings()) kind.second.push_back(binding.shape());
  }
  kind.first = Renamed(*set, [&](RuntimeVarIndexing* binding) {
    binding->leaf = static_cast<int64_t>(NumberOfSource(*binding, sources));
    binding->call_path.clear();
    binding->instruction = nullptr;
  });
  if (const auto known = done_.find(kind); known != done_.end()) {
    *set = Renamed(known->second.result, [&](RuntimeVarIndexing* binding) {
      const RuntimeVarIndexing& source = sources[NumberOfSource(*binding, known->second.sources)];
      binding->call_path = source.call_path;
      binding->instruction = source.instruction;
      binding->leaf = source.leaf;
    });
    return;
  }
  work(set);
  if (!QuestionBudget::IsSpent()) {
    done_.emplace(std::move(kind), Done{std::move(sources), *set});
  }
}

}  // namespace xla_indexing::internal

#include "xla_indexing/report/analysis/recomputation.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "xla_indexing/gpu/machine/element_work.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/rules/arithmetic/contraction.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing::internal {
namespace {

constexpr int kMaxLookedAt = 16;

// Whether computing an element again costs much: it is made of kSmallSum others or more.
bool IsExpensive(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kConvolution:
    case HloOpcode::kDot:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
      return absl::c_accumulate(ContractionLoops(instruction), 1.0, std::multiplies<>()) >=
             static_cast<double>(kSmallSum);
    case HloOpcode::kRaggedDot:
    case HloOpcode::kScaledDot:
    case HloOpcode::kSelectAndScatter:
      return true;
    default:
      return false;
  }
}

// Adds the reads of `inner` by the roots, going no further than to it and to `exchanged`. False where
// that cannot be said.
bool AddReadsOf(const HloInstruction& inner, const std::vector<const HloInstruction*>& exchanged,
                const HloInstruction& root, HloIndexers& indexers, Recomputation* sum) {
  std::vector<const HloInstruction*> from = exchanged;
  from.push_back(&inner);
  const absl::StatusOr<FusionView> view = FusionView::Between(from, {&root});
  if (!view.ok()) return false;
  const std::optional<int64_t> parameter = view->ParameterOf(inner);
  if (!parameter) return true;
  const absl::StatusOr<UtilizationReport> use = ComputeUtilization(view->computation(), indexers);
  if (!use.ok()) return false;
  for (const OperandUtilization& operand : use->operands) {
    if (operand.operand != *parameter || operand.operand_leaf != 0) continue;
    sum->computations = sum->computations.Add(operand.utilization.reads);
    const Interval& elements = operand.utilization.elements_read;
    if (!elements.IsFinite() || !operand.utilization.elements.has_upper()) return false;
    // What several read may be the same or different.
    sum->elements = Interval::Closed(
        std::max(sum->elements.lower(), elements.lower()),
        std::min(sum->elements.Add(elements).upper(), operand.utilization.elements.upper()));
  }
  return true;
}

}  // namespace

std::vector<Recomputation> FindRecomputation(const FusionMapping& mapping, const FusionView& view,
                                             HloIndexers& indexers) {
  std::vector<Recomputation> found;
  int looked_at = 0;
  for (const HloInstruction* inner : view.computation().instructions()) {
    if (!IsExpensive(*inner) || ++looked_at > kMaxLookedAt) continue;
    const bool is_exchanged = absl::c_any_of(mapping.roots, [&](const RootMapping& root) {
      return root.hero == inner || root.root == inner;
    });
    if (is_exchanged) continue;
    Recomputation sum;
    sum.elements = sum.computations = Interval::Point(0);
    std::set<const HloInstruction*> arrays;
    bool is_known = true;
    for (const RootMapping& root : mapping.roots) {
      std::vector<const HloInstruction*> exchanged;
      exchanged.reserve(root.writes.size());
      for (const ThreadedArray& array : root.writes) exchanged.push_back(array.instruction);
      for (const ThreadedArray& array : root.reads) {
        if (!arrays.insert(array.instruction).second) continue;
        is_known = is_known && AddReadsOf(*inner, {}, *array.instruction, indexers, &sum);
      }
      if (absl::c_linear_search(exchanged, root.root)) continue;
      if (!arrays.insert(root.root).second) continue;
      is_known = is_known && AddReadsOf(*inner, exchanged, *root.root, indexers, &sum);
    }
    if (!is_known || !sum.elements.has_upper() || !sum.computations.has_lower()) continue;
    if (sum.computations.lower() <= sum.elements.upper()) continue;
    const HloInstruction* original = view.OriginalOf(*inner);
    sum.instruction = std::string(original == nullptr ? inner->name() : original->name());
    sum.opcode = std::string(inner->opcode_name());
    found.push_back(std::move(sum));
  }
  return found;
}

}  // namespace xla_indexing::internal

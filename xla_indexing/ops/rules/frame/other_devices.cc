#include "xla_indexing/ops/rules/frame/other_devices.h"

#include <algorithm>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/devices/collective.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/transforms/set_aside.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

bool IsAcrossReplicas(HloOpcode opcode) {
  const OpcodeIndexing indexing = IndexingOfOpcode(opcode);
  return indexing.output_to_input == &CollectiveOutputToInput ||
         indexing.output_to_input == &RaggedAllToAllOutputToInput;
}

// For groups that the verifier would refuse, nothing is known of their devices.
int64_t DeviceCount(const HloInstruction& instruction) {
  if (const auto groups = CollectiveGroupsOf(instruction); groups.ok()) {
    return groups->DeviceCount();
  }
  const auto pairs = CollectivePairsOf(instruction);
  return pairs.ok() ? pairs->DeviceCount() : kInt64Max;
}

}  // namespace

bool MayBeAcrossReplicas(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kUnknown) return false;
  const HloModule& module = *instruction.parent()->parent();
  return module.replica_count() > 1 || module.num_partitions() > 1 ||
         instruction.HasAttribute(AttributeKey::kReplicaGroups) ||
         instruction.HasAttribute(AttributeKey::kSourceTargetPairs) ||
         instruction.HasAttribute(AttributeKey::kChannelId);
}

std::optional<int64_t> DevicesAcrossWhich(const HloComputation& computation) {
  llvm::SmallPtrSet<const HloComputation*, 8> seen;
  llvm::SmallVector<const HloComputation*, 8> pending = {&computation};
  std::optional<int64_t> devices;
  while (!pending.empty()) {
    const HloComputation* next = pending.pop_back_val();
    if (next == nullptr || !seen.insert(next).second) continue;
    for (const HloInstruction* instruction : next->instructions()) {
      if (WhyUnverified(*instruction) || MayBeAcrossReplicas(*instruction)) {
        devices = kInt64Max;
      } else if (IsAcrossReplicas(instruction->opcode())) {
        devices = std::max(devices.value_or(1), DeviceCount(*instruction));
      }
      for (const HloComputation* called : instruction->called_computations()) {
        pending.push_back(called);
      }
    }
  }
  return devices;
}

}  // namespace xla_indexing::internal

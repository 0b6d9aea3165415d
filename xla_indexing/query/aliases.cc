#include "xla_indexing/query/aliases.h"

#include <cstddef>

#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/values/leaf_routes.h"

namespace xla_indexing {

bool IsAlias(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kParameter:
    case HloOpcode::kConstant:
    case HloOpcode::kTuple:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kBitcast:
    case HloOpcode::kOptBarrier:
    case HloOpcode::kDomain:
    case HloOpcode::kAddDependency:
    case HloOpcode::kAfterAll:
    case HloOpcode::kAllGatherDone:
    case HloOpcode::kAllReduceDone:
    case HloOpcode::kAsyncDone:
    case HloOpcode::kCollectivePermuteDone:
    case HloOpcode::kCopyDone:
    case HloOpcode::kRecvDone:
    case HloOpcode::kSendDone:
      return true;
    case HloOpcode::kAsyncUpdate:
      // One that binds operands may begin the operation.
      return instruction.operand_count() == 1;
    default:
      return false;
  }
}

std::vector<bool> AliasedLeaves(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kWhile) {
    return internal::LeavesPassedThrough(instruction);
  }
  return std::vector<bool>(static_cast<size_t>(instruction.shape().LeafCount()),
                           IsAlias(instruction));
}

}  // namespace xla_indexing

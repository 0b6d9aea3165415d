#include "xla_indexing/query/in_place/buffer_values.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "xla_indexing/hlo/devices/collective.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

// The leaf with this number of all leaves of the operands, one operand after the other.
std::optional<BufferValue> LeafOfOperands(const HloInstruction& instruction, int64_t leaf) {
  for (const HloInstruction* operand : instruction.operands()) {
    if (leaf < operand->shape().LeafCount()) return BufferValue{operand, leaf};
    leaf -= operand->shape().LeafCount();
  }
  return std::nullopt;
}

// Whether the operand is an asynchronous operation that has begun.
bool FollowsAStart(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAllGatherDone:
    case HloOpcode::kAllReduceDone:
    case HloOpcode::kAsyncDone:
    case HloOpcode::kAsyncUpdate:
    case HloOpcode::kCollectivePermuteDone:
    case HloOpcode::kCopyDone:
    case HloOpcode::kRecvDone:
    case HloOpcode::kSendDone:
      return instruction.operand_count() > 0;
    default:
      return false;
  }
}

// The leaf of a ..-start, or of an update, that a leaf of what follows it is.
std::optional<BufferValue> HandedOnByDone(const HloInstruction& done, int64_t leaf) {
  const HloInstruction* start = done.operand(0);
  int64_t first = 0;
  if (done.opcode() == HloOpcode::kAllGatherDone || done.opcode() == HloOpcode::kAllReduceDone ||
      done.opcode() == HloOpcode::kAsyncDone ||
      done.opcode() == HloOpcode::kCollectivePermuteDone) {
    const std::optional<int64_t> element = ResultElementOfDone(done);
    if (element) first = start->shape().FirstLeafOfElement(*element);
  }
  if (first + leaf >= start->shape().LeafCount()) return std::nullopt;
  return BufferValue{start, first + leaf};
}

std::optional<BufferValue> HandedOnByStart(const HloInstruction& start, int64_t leaf) {
  const Shape& shape = start.shape();
  if (start.opcode() == HloOpcode::kCopyStart) {
    const int64_t leaves = start.operand(0)->shape().LeafCount();
    if (leaf < leaves || leaf >= 2 * leaves) return std::nullopt;
    return BufferValue{start.operand(0), leaf - leaves};
  }
  const int64_t begin =
      start.opcode() == HloOpcode::kAsyncStart
          ? (shape.IsTuple() && shape.tuple_elements().size() > 1 ? shape.FirstLeafOfElement(1) : 0)
          : LeavesOfStart(start).operand_count;
  return leaf < begin ? LeafOfOperands(start, leaf) : std::nullopt;
}

}  // namespace

bool IsOnlyAName(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAddDependency:
    case HloOpcode::kBitcast:
    case HloOpcode::kDomain:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kOptBarrier:
    case HloOpcode::kTuple:
      return true;
    default:
      return false;
  }
}

const HloInstruction& StartOf(const HloInstruction& instruction) {
  const HloInstruction* start = &instruction;
  while (FollowsAStart(*start)) start = start->operand(0);
  return *start;
}

BufferValues& BufferValues::In(const HloComputation& called) {
  std::unique_ptr<BufferValues>& values = called_[&called];
  if (values == nullptr) values.reset(new BufferValues(called, depth_ + 1));
  return *values;
}

std::optional<BufferValue> BufferValues::HandedOnByCall(const BufferValue& value) {
  constexpr int kMostCalls = 1000;
  const HloInstruction& call = *value.instruction;
  const bool is_loop = call.opcode() == HloOpcode::kWhile;
  const HloComputation* called = is_loop ? call.while_body() : call.to_apply();
  if (depth_ >= kMostCalls || called == nullptr) return std::nullopt;
  const BufferValue origin = In(*called).OriginOfOutput(value.leaf);
  if (origin.instruction->opcode() != HloOpcode::kParameter ||
      (is_loop && origin.leaf != value.leaf)) {
    return std::nullopt;
  }
  return BufferValue{call.operand(origin.instruction->parameter_number()), origin.leaf};
}

std::optional<BufferValue> BufferValues::HandedOn(const BufferValue& value) {
  const HloInstruction& instruction = *value.instruction;
  switch (instruction.opcode()) {
    case HloOpcode::kGetTupleElement: {
      const HloInstruction* operand = instruction.operand(0);
      return BufferValue{
          operand, operand->shape().FirstLeafOfElement(instruction.tuple_index()) + value.leaf};
    }
    case HloOpcode::kTuple:
      return LeafOfOperands(instruction, value.leaf);
    case HloOpcode::kCall:
    case HloOpcode::kWhile:
      return HandedOnByCall(value);
    case HloOpcode::kAllGatherStart:
    case HloOpcode::kAllReduceStart:
    case HloOpcode::kAsyncStart:
    case HloOpcode::kCollectivePermuteStart:
    case HloOpcode::kCopyStart:
      return HandedOnByStart(instruction, value.leaf);
    default:
      if (IsOnlyAName(instruction)) return BufferValue{instruction.operand(0), value.leaf};
      return FollowsAStart(instruction) ? HandedOnByDone(instruction, value.leaf) : std::nullopt;
  }
}

BufferValue BufferValues::OriginOf(BufferValue value) {
  while (const std::optional<BufferValue> operand = HandedOn(value)) value = *operand;
  return value;
}

BufferValue BufferValues::OriginOfOutput(int64_t leaf) {
  const HloInstruction* root = computation_.root_instruction();
  for (int64_t i = static_cast<int64_t>(outputs_.size()); i < root->shape().LeafCount(); ++i) {
    outputs_.push_back(OriginOf({root, i}));
  }
  return outputs_[leaf];
}

std::optional<int64_t> BufferValues::OutputOf(const BufferValue& value) {
  for (int64_t leaf = 0; leaf < computation_.root_instruction()->shape().LeafCount(); ++leaf) {
    if (OriginOfOutput(leaf) == value) return leaf;
  }
  return std::nullopt;
}

const std::vector<const HloInstruction*>& BufferValues::ReadersOf(const BufferValue& value) {
  if (!readers_) {
    readers_.emplace();
    const auto add = [&](const HloInstruction* reader, const HloInstruction& of) {
      for (const HloInstruction* operand : of.operands()) {
        for (int64_t leaf = 0; leaf < operand->shape().LeafCount(); ++leaf) {
          std::vector<const HloInstruction*>& readers = (*readers_)[OriginOf({operand, leaf})];
          if (readers.empty() || readers.back() != reader) readers.push_back(reader);
        }
      }
    };
    for (const HloInstruction* reader : computation_.instructions()) {
      if (IsOnlyAName(*reader)) continue;
      add(reader, *reader);
      for (const HloInstruction* i = reader; FollowsAStart(*i); i = i->operand(0)) {
        add(reader, *i->operand(0));
      }
    }
  }
  return (*readers_)[value];
}

bool BufferValues::IsRead(int64_t leaf) {
  const BufferValue value = {computation_.parameters()[0], leaf};
  if (!ReadersOf(value).empty()) return true;
  for (int64_t i = 0; i < computation_.root_instruction()->shape().LeafCount(); ++i) {
    if (i != leaf && OriginOfOutput(i) == value) return true;
  }
  return false;
}

}  // namespace xla_indexing::internal

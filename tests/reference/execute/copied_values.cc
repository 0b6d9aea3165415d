#include "tests/reference/execute/copied_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/tiled_layout.h"
#include "xla_indexing/hlo/model/async_steps.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {
namespace {

// The parts of a bitcast, which are where they are in memory.
std::vector<Copied> BitcastParts(const Shape& from, const std::vector<Copied>& parts,
                                 const Shape& to) {
  std::map<int64_t, Copied> at;
  int64_t next = 0;
  ForEachIndex(from.dimensions(), [&](const Index& index) {
    const int64_t first =
        PositionOf(from, std::vector<int64_t>(index.begin(), index.end())) * PartsOf(from);
    for (int64_t k = 0; k < PartsOf(from); ++k) at[first + k] = parts[next++];
  });
  std::vector<Copied> found;
  ForEachIndex(to.dimensions(), [&](const Index& index) {
    const int64_t first =
        PositionOf(to, std::vector<int64_t>(index.begin(), index.end())) * PartsOf(to);
    for (int64_t k = 0; k < PartsOf(to); ++k) found.push_back(at[first + k]);
  });
  return found;
}

// The operands whose elements become elements of the result; none where it computes.
std::vector<int64_t> MovedOperands(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAddDependency:
    case HloOpcode::kAsyncDone:
    case HloOpcode::kBitcast:
    case HloOpcode::kBitcastConvert:
    case HloOpcode::kBroadcast:
    case HloOpcode::kCopy:
    case HloOpcode::kCopyDone:
    case HloOpcode::kCopyStart:
    case HloOpcode::kDomain:
    case HloOpcode::kDynamicReshape:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSend:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return {0};
    case HloOpcode::kAsyncStart:
    case HloOpcode::kAsyncUpdate:
    case HloOpcode::kConcatenate:
    case HloOpcode::kOptBarrier:
    case HloOpcode::kTuple: {
      std::vector<int64_t> all(instruction.operand_count());
      std::iota(all.begin(), all.end(), 0);
      return all;
    }
    case HloOpcode::kSort: {
      if (instruction.shape().Leaf(0).dimension(instruction.dimensions()[0]) != 1) return {};
      std::vector<int64_t> all(instruction.operand_count());
      std::iota(all.begin(), all.end(), 0);
      return all;
    }
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kPad:
      return {0, 1};
    case HloOpcode::kSelect:
      return {1, 2};
    case HloOpcode::kScatter: {
      std::vector<int64_t> all(instruction.operand_count() / 2);
      std::iota(all.begin(), all.end(), 0);
      return all;
    }
    default:
      return {};
  }
}

// Whether a leaf of a step of an asynchronous operation has elements of an operand: it is one, or what the
// computation moves of it.
bool IsMovedByAsyncStep(const HloInstruction& step, int64_t leaf, int64_t operand_number) {
  const bool is_update = step.opcode() == HloOpcode::kAsyncUpdate;
  if (is_update && step.operand_count() == 1) return true;
  leaf -= step.shape().tuple_element(0).LeafCount();
  if (leaf < 0) return true;
  if (leaf >= step.shape().tuple_element(1).LeafCount()) return is_update && operand_number == 0;
  const HloComputation& computation = *AsyncStartOf(step)->calls();
  if (BoundOperands(step.shape()) != static_cast<int64_t>(computation.parameters().size())) {
    return false;
  }
  const HloInstruction* i = computation.root_instruction();
  if (i->opcode() == HloOpcode::kTuple) {
    if (leaf >= i->operand_count()) return false;
    i = i->operand(leaf);
  }
  while (i->opcode() != HloOpcode::kParameter) {
    const std::vector<int64_t> moved = MovedOperands(*i);
    if (moved.size() != 1 || i->operand_count() != 1 || !i->shape().IsArray()) return false;
    i = i->operand(0);
  }
  if (!is_update) return i->parameter_number() == operand_number;
  const int64_t before = BoundOperands(step.operand(0)->shape());
  return std::max<int64_t>(i->parameter_number() - before + 1, 0) == operand_number;
}

// Whether elements of the operand have another type than those of the result, where a change of precision is
// allowed: their values go on, their bits do not.
bool IsConverted(const HloInstruction& i, const LeafPair& pair) {
  const Shape& from = i.operand(pair.operand)->shape().Leaf(pair.operand_leaf);
  const Shape& to = i.shape().Leaf(pair.output_leaf);
  return i.opcode() != HloOpcode::kBitcast && i.opcode() != HloOpcode::kBitcastConvert &&
         from.element_type() != to.element_type();
}

using CopiedByInstruction = std::map<const HloInstruction*, CopiedLeaves>;

int64_t PartsOfLeaf(const HloInstruction& i, int64_t leaf) { return PartsOf(i.shape().Leaf(leaf)); }

// Every part of a parameter is a copy of itself.
void CopyParameter(const HloInstruction& parameter, CopiedLeaves& own) {
  for (size_t leaf = 0; leaf < own.size(); ++leaf) {
    const int64_t parts = PartsOfLeaf(parameter, static_cast<int64_t>(leaf));
    if (parts == 0) continue;
    for (size_t i = 0; i < own[leaf].size(); ++i) {
      own[leaf][i] = {parameter.parameter_number(), static_cast<int64_t>(leaf),
                      static_cast<int64_t>(i) / parts, static_cast<int64_t>(i) % parts};
    }
  }
}

// Whether elements go on from the operand's leaf to the result's as they are.
bool AreMoved(const HloInstruction& i, const LeafPair& pair,
              const std::vector<int64_t>& moved_operands) {
  if ((i.opcode() == HloOpcode::kScatter || i.opcode() == HloOpcode::kSort) &&
      pair.operand != pair.output_leaf) {
    return false;
  }
  if ((i.opcode() == HloOpcode::kAsyncStart || i.opcode() == HloOpcode::kAsyncUpdate) &&
      !IsMovedByAsyncStep(i, pair.output_leaf, pair.operand)) {
    return false;
  }
  return std::find(moved_operands.begin(), moved_operands.end(), pair.operand) !=
             moved_operands.end() &&
         !IsConverted(i, pair);
}

// Whether a select takes the element of this operand.
bool IsSelected(const HloInstruction& select, int64_t operand, int64_t element,
                const Execution& execution) {
  const auto& predicate = execution.ValueOf(select.operand(0))[0].elements();
  const size_t at = predicate.size() == 1 ? 0 : element;
  return (*predicate[at].value != 0) == (operand == 1);
}

void CopyMoved(const HloInstruction& i, const Dependence& truth, const Execution& execution,
               const CopiedByInstruction& copied, CopiedLeaves& own) {
  const std::vector<int64_t> moved = MovedOperands(i);
  for (const auto& [pair, relation] : truth) {
    if (!AreMoved(i, pair, moved)) continue;
    const int64_t parts = PartsOfLeaf(i, pair.output_leaf);
    const std::vector<Copied>& of_operand = copied.at(i.operand(pair.operand))[pair.operand_leaf];
    for (const auto& [to, from] : relation) {
      if (i.opcode() == HloOpcode::kSelect && !IsSelected(i, pair.operand, to, execution)) continue;
      for (int64_t k = 0; k < parts; ++k) {
        own[pair.output_leaf][to * parts + k] = of_operand[from * parts + k];
      }
    }
  }
}

// What an update reaches is computed, or the update that is assigned.
void CopyUpdates(const HloInstruction& scatter, const Dependence& truth,
                 const CopiedByInstruction& copied, CopiedLeaves& own) {
  const HloInstruction* combined = scatter.to_apply()->root_instruction();
  const bool is_assigned = combined->opcode() == HloOpcode::kParameter &&
                           combined->parameter_number() == 1 && scatter.operand_count() == 3;
  for (const auto& [pair, relation] : truth) {
    if (pair.operand <= scatter.operand_count() / 2) continue;
    const bool is_copied = is_assigned && !IsConverted(scatter, pair);
    const int64_t parts = PartsOfLeaf(scatter, pair.output_leaf);
    const std::vector<Copied>& updates = copied.at(scatter.operand(pair.operand))[0];
    std::set<int64_t> reached;
    for (const auto& [to, from] : relation) {
      const bool is_first = reached.insert(to).second;
      for (int64_t k = 0; k < parts; ++k) {
        Copied& part = own[pair.output_leaf][to * parts + k];
        const Copied update = is_copied ? updates[from * parts + k] : Copied();
        // Where several reach it, any may be the last.
        part = is_first || part == update ? update : Copied();
      }
    }
  }
}

}  // namespace

int64_t PartsOf(const Shape& array) { return array.IsArray() ? WidthOf(array) / kPartBits : 0; }

absl::StatusOr<CopiedLeaves> CopiesOfRoot(const HloComputation& computation,
                                          const Execution& execution) {
  CopiedByInstruction copied;
  for (const HloInstruction* instruction : computation.instructions()) {
    const Value& value = execution.ValueOf(instruction);
    CopiedLeaves& own = copied[instruction];
    for (size_t leaf = 0; leaf < value.size(); ++leaf) {
      own.emplace_back(value[leaf].elements().size() *
                       PartsOfLeaf(*instruction, static_cast<int64_t>(leaf)));
    }
    if (instruction->opcode() == HloOpcode::kParameter) {
      CopyParameter(*instruction, own);
      continue;
    }
    if ((instruction->opcode() == HloOpcode::kBitcast ||
         instruction->opcode() == HloOpcode::kBitcastConvert) &&
        PartsOf(instruction->shape()) != PartsOf(instruction->operand(0)->shape())) {
      const std::vector<Copied>& parts = copied.at(instruction->operand(0))[0];
      own[0] = instruction->opcode() == HloOpcode::kBitcastConvert
                   ? parts
                   : BitcastParts(instruction->operand(0)->shape(), parts, instruction->shape());
      continue;
    }
    if (MovedOperands(*instruction).empty()) continue;
    const auto truth = DependenceOfInstruction(*instruction, execution);
    if (!truth.ok()) return truth.status();
    CopyMoved(*instruction, *truth, execution, copied, own);
    if (instruction->opcode() == HloOpcode::kScatter)
      CopyUpdates(*instruction, *truth, copied, own);
  }
  return copied.at(computation.root_instruction());
}

}  // namespace xla_indexing::reference

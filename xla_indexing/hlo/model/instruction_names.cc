#include "xla_indexing/hlo/model/instruction_names.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace xla_indexing::internal {
namespace {

// Comparing so many instructions one by one takes less time than the hash of a name.
constexpr size_t kFewInstructions = 8;
constexpr size_t kFirstSlots = 32;

// Abseil's hashes differ from run to run, so that no text can be made to collide on purpose.
uint32_t Hash(absl::string_view name) {
  return static_cast<uint32_t>(absl::Hash<absl::string_view>()(name));
}

}  // namespace

HloInstruction* InstructionNames::Find(Instructions instructions, absl::string_view name) const {
  if (name.empty()) return nullptr;
  if (slots_.empty()) {
    for (HloInstruction* instruction : instructions) {
      if (instruction->name() == name) return instruction;
    }
    return nullptr;
  }
  const Slot& slot = Probe(instructions, name, Hash(name));
  return slot.name == nullptr ? nullptr : instructions[slot.index];
}

bool InstructionNames::Add(Instructions instructions, size_t index) {
  const bool is_new = AddIfNew(instructions, index);
  are_unique_ &= is_new;
  return is_new;
}

bool InstructionNames::AddIfNew(Instructions instructions, size_t index) {
  if (!slots_.empty()) return AddToTable(instructions, index);
  if (instructions.size() <= kFewInstructions) {
    const absl::string_view name = instructions[index]->name();
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (i != index && instructions[i]->name() == name) return false;
    }
    return true;
  }
  slots_.resize(kFirstSlots);
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (i != index && !instructions[i]->name().empty()) AddToTable(instructions, i);
  }
  return AddToTable(instructions, index);
}

const InstructionNames::Slot& InstructionNames::Probe(Instructions instructions,
                                                      absl::string_view name, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.name == nullptr) return slot;
    if (slot.hash == hash && instructions[slot.index]->name().size() == name.size() &&
        std::memcmp(slot.name, name.data(), name.size()) == 0) {
      return slot;
    }
  }
}

void InstructionNames::Insert(const Slot& slot) {
  const size_t mask = slots_.size() - 1;
  size_t i = slot.hash & mask;
  while (slots_[i].name != nullptr) i = (i + 1) & mask;
  slots_[i] = slot;
}

bool InstructionNames::AddToTable(Instructions instructions, size_t index) {
  const absl::string_view name = instructions[index]->name();
  const uint32_t hash = Hash(name);
  if (Probe(instructions, name, hash).name != nullptr) return false;
  // The table is at most three quarters full.
  if (4 * (count_ + 1) > 3 * slots_.size()) {
    const std::vector<Slot> old(std::exchange(slots_, std::vector<Slot>(2 * slots_.size())));
    for (const Slot& slot : old) {
      if (slot.name != nullptr) Insert(slot);
    }
  }
  Insert({name.data(), hash, static_cast<uint32_t>(index)});
  ++count_;
  return true;
}

}  // namespace xla_indexing::internal

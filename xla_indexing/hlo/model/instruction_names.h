// Finds the instructions of a computation by their names.
//
// Most computations are the few instructions of a reducer, whose names are compared one by one; a
// large one gets a hash table. The table holds no names: it refers to the list of instructions,
// which is given to each call and only grows.

#ifndef XLA_INDEXING_HLO_MODEL_INSTRUCTION_NAMES_H_
#define XLA_INDEXING_HLO_MODEL_INSTRUCTION_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::internal {

class InstructionNames {
 public:
  using Instructions = absl::Span<HloInstruction* const>;

  // The instruction of that name; the first of several, and null if there is none or the name is
  // empty.
  HloInstruction* Find(Instructions instructions, absl::string_view name) const;

  // Records the name, which is not empty, of `instructions[index]`. False if another instruction
  // has it.
  bool Add(Instructions instructions, size_t index);

  // Whether every name that was added is that of one instruction.
  bool are_unique() const { return are_unique_; }

 private:
  struct Slot {
    const char* name = nullptr;  // Null if the slot is free. Not ended by a '\0'.
    uint32_t hash = 0;
    uint32_t index = 0;
  };

  // The slot of that name, or the free slot where it belongs.
  const Slot& Probe(Instructions instructions, absl::string_view name, uint32_t hash) const;
  // Inserts a name that has no slot yet; the table has room.
  void Insert(const Slot& slot);
  // Add() without its update of `are_unique_`, and the part of it that uses the table.
  bool AddIfNew(Instructions instructions, size_t index);
  bool AddToTable(Instructions instructions, size_t index);

  std::vector<Slot> slots_;  // A power of two of them; none while there are few instructions.
  size_t count_ = 0;         // How many slots are taken.
  bool are_unique_ = true;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_MODEL_INSTRUCTION_NAMES_H_

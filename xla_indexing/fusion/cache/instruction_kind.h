// What the maps of an instruction depend on.
//
// Most operations are indexed by opcode, attributes, and the shapes of result and operands alone:
// two instructions in which these are equal are of one *kind* and have equal maps. Operations that
// read indices while the program runs (dynamic-slice, dynamic-update-slice, gather, scatter) depend
// besides on what the module says of these: each such instruction is of a kind of its own (OwnKind).
// Operations that look into computations have none.
//
// A kind is a list of words to be compared and hashed. Shapes stand in it by address: modules hold
// equal shapes once, so that a kind means something as long as the instruction's module lives, and
// kinds of two modules differ. Attributes that indexing does not read (metadata, sharding, and the
// computation that a reduction applies, ..) are left out; of an elementwise operation all are, and
// the opcode is.
//
// Example: in a module add(a, b) and multiply(a, c) of f32[8,4] are of one kind; slices of it at
// [0:4] and at [4:8] are of two.
#ifndef XLA_INDEXING_FUSION_CACHE_INSTRUCTION_KIND_H_
#define XLA_INDEXING_FUSION_CACHE_INSTRUCTION_KIND_H_

#include <cstddef>
#include <cstdint>

#include "absl/hash/hash.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing::internal {

using InstructionKind = llvm::SmallVector<uint64_t, 24>;

// Whether instructions of the opcode have kinds, their own or others.
bool HasKind(HloOpcode opcode);

// The kind of an instruction that shares it with others; empty where it has none, or its own.
InstructionKind KindOf(const HloInstruction& instruction);
InstructionKind OwnKind(const HloInstruction& instruction);

// Whether the maps of an instruction are those of every instruction of its kind. They are not where
// reasons name the instruction.
bool AreOfKind(const HloInstruction& instruction, const InstructionIndexing& entries);

// For tables of kinds that are looked up as they stand on the stack.
struct InstructionKindHash {
  using is_transparent = void;
  size_t operator()(absl::Span<const uint64_t> kind) const {
    return absl::Hash<absl::Span<const uint64_t>>()(kind);
  }
};
struct InstructionKindEqual {
  using is_transparent = void;
  bool operator()(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b) const {
    return a == b;
  }
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CACHE_INSTRUCTION_KIND_H_

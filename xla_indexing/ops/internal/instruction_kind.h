// What the maps of an instruction depend on.
//
// Most operations are indexed by opcode, attributes, and the shapes of result and operands alone:
// two instructions in which these are equal are of one *kind* and have equal maps. The maps of
// others name the instructions that values come from, or look into computations and constants; they
// have no kind.
//
// A kind is a list of words to be compared and hashed. Shapes stand in it by address: modules hold
// equal shapes once, so that a kind means something as long as the instruction's module lives, and
// kinds of two modules differ. Attributes that indexing does not read (metadata, sharding, ..) are
// left out; of an elementwise operation all are, and the opcode is.
//
// Example: in a module add(a, b) and multiply(a, c) of f32[8,4] are of one kind; slices of it at
// [0:4] and at [4:8] are of two.
#ifndef XLA_INDEXING_OPS_INTERNAL_INSTRUCTION_KIND_H_
#define XLA_INDEXING_OPS_INTERNAL_INSTRUCTION_KIND_H_

#include <cstddef>
#include <cstdint>

#include "absl/hash/hash.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/hlo/instruction.h"

namespace xla_indexing::internal {

using InstructionKind = llvm::SmallVector<uint64_t, 16>;

// Empty where the instruction has no kind.
InstructionKind KindOf(const HloInstruction& instruction);

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

#endif  // XLA_INDEXING_OPS_INTERNAL_INSTRUCTION_KIND_H_

// Which instructions of a computation are in memory, and which are inlined where they are used
// (lowering/emit_fusion.h says when).
//
// Example: in `e = exponential(p)`, `s = add(e, e)`, `r = reduce(s, zero)` as the root, e has two uses
// and r is a sum: they are in memory. s is inlined in the loops of r.
#ifndef XLA_INDEXING_LOWERING_FUSION_MEMORY_PLAN_H_
#define XLA_INDEXING_LOWERING_FUSION_MEMORY_PLAN_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// A leaf of the result of an instruction: an array.
struct ArrayValue {
  const HloInstruction* instruction = nullptr;
  int64_t leaf = 0;

  const Shape& shape() const { return instruction->shape().Leaf(leaf); }
  friend bool operator==(const ArrayValue& a, const ArrayValue& b) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ArrayValue& value) {
    return H::combine(std::move(h), value.instruction, value.leaf);
  }
};

// The instruction that computes the array: tuples, get-tuple-elements and barriers only pass it on.
ArrayValue ComputedBy(ArrayValue value);

// Whether each element is the sum, or the like, of many: dot, convolution, reduce, reduce-window.
bool IsSumOfMany(const HloInstruction& instruction);
// Such a sum, what is stored, and what writes its result as a whole: it is in memory.
bool IsNeverInlined(const HloInstruction& instruction);
// A constant all of whose elements are equal.
bool IsOneNumber(const HloInstruction& instruction);
// What is computed from no array, and therefore anew wherever it is used: such a constant, an iota.
bool IsOfNothing(const HloInstruction& instruction);

class MemoryPlan {
 public:
  explicit MemoryPlan(const HloComputation& computation);

  bool IsInMemory(const HloInstruction& instruction) const {
    return in_memory_.contains(&instruction);
  }

 private:
  void CountUses(const HloInstruction& instruction);
  void Add(const HloInstruction& instruction);

  absl::flat_hash_map<const HloInstruction*, int64_t> uses_;
  absl::flat_hash_map<const HloInstruction*, int> levels_;  // of what is inlined in it
  absl::flat_hash_set<const HloInstruction*> in_memory_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LOWERING_FUSION_MEMORY_PLAN_H_

// Which instructions of two computations have the same values, given the same arguments.
//
// Values are numbered: parameters by their numbers, any other instruction by its operation
// (hlo/equality.h) and the numbers of its operands. Equal numbers are equal values; instructions
// with different numbers may be equal too. What may differ each time it runs (random numbers, data
// from outside, custom calls) and what calls computations has a number of its own.
//
// Example: with i = s32[] add(p0, p1) in one computation and j = s32[] add(p0, p1) in the other,
// NumberOf(i) == NumberOf(j).

#ifndef XLA_INDEXING_QUERY_INTERNAL_SAME_VALUES_H_
#define XLA_INDEXING_QUERY_INTERNAL_SAME_VALUES_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"

namespace xla_indexing::internal {

class ValueNumbers {
 public:
  ValueNumbers(const HloComputation& a, const HloComputation& b) {
    AddAll(a);
    AddAll(b);
  }

  // Of an instruction of one of the two.
  int64_t NumberOf(const HloInstruction& instruction) const { return numbers_.at(&instruction); }
  bool Has(const HloInstruction& instruction) const { return numbers_.contains(&instruction); }

 private:
  void AddAll(const HloComputation& computation);

  absl::flat_hash_map<const HloInstruction*, int64_t> numbers_;
  // One instruction for each number, by the numbers of the operands.
  std::map<std::vector<int64_t>, std::vector<const HloInstruction*>> by_operands_;
  int64_t count_ = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INTERNAL_SAME_VALUES_H_

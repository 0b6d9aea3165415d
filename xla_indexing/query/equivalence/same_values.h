// Which instructions of two computations have the same values, given the same arguments.
//
// Values are numbered: parameters by their numbers, any other instruction by its operation
// (hlo/model/equality.h) and the numbers of its operands. Equal numbers are equal values; instructions
// with different numbers may be equal too. What may differ each time it runs (random numbers, data
// from outside, custom calls) has a number of its own. Instructions that call computations are the
// same operation where these have the same names and, instruction by instruction in their order,
// the same operations, none of which may differ each time it runs.
//
// Example: with i = s32[] add(p0, p1) in one computation and j = s32[] add(p0, p1) in the other,
// NumberOf(i) == NumberOf(j).

#ifndef XLA_INDEXING_QUERY_EQUIVALENCE_SAME_VALUES_H_
#define XLA_INDEXING_QUERY_EQUIVALENCE_SAME_VALUES_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::internal {

class ValueNumbers {
 public:
  ValueNumbers(const HloComputation& a, const HloComputation& b);

  // The number of an instruction of one of the two computations.
  int64_t NumberOf(const HloInstruction& instruction) const { return numbers_.at(&instruction); }
  bool Has(const HloInstruction& instruction) const { return numbers_.contains(&instruction); }

 private:
  void AddAll(const HloComputation& computation);
  // Finds out which computations of the two modules are the same.
  void AddCalled(const HloModule& a, const HloModule& b);
  bool AreSame(const HloComputation& a, const HloComputation& b) const;
  bool DoTheSame(const HloInstruction& a, const HloInstruction& b) const;

  absl::flat_hash_map<const HloInstruction*, int64_t> numbers_;
  // One instruction for each number, by the numbers of the operands.
  std::map<std::vector<int64_t>, std::vector<const HloInstruction*>> by_operands_;
  int64_t count_ = 0;
  absl::flat_hash_set<std::pair<const HloComputation*, const HloComputation*>> same_computations_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_EQUIVALENCE_SAME_VALUES_H_

// Which instructions of two computations have the same values, given the same arguments.
//
// Values are numbered: parameters by what stands for them in both computations, any other
// instruction by its operation (hlo/model/equality.h) and the numbers of its operands. Equal numbers
// are equal values; instructions with different numbers may be equal too. What may differ each time
// it runs (random numbers, data from outside, custom calls) has a number of its own. Instructions
// that call computations are the same operation where these have, instruction by instruction in
// their order, the same operations, none of which may differ each time it runs. An instruction of a
// called computation is numbered by its caller's number and its place.
//
// Example: with i = s32[] add(p0, p1) in one computation and j = s32[] add(p0, p1) in the other,
// NumberOf({}, i) == NumberOf({}, j).

#ifndef XLA_INDEXING_QUERY_EQUIVALENCE_SAME_VALUES_H_
#define XLA_INDEXING_QUERY_EQUIVALENCE_SAME_VALUES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::internal {

class ValueNumbers {
 public:
  // `arguments_of_a[i]` says what parameter i of `a` is; equal lists are equal values.
  using Arguments = std::vector<std::vector<int64_t>>;
  ValueNumbers(const HloComputation& a, const Arguments& arguments_of_a, const HloComputation& b,
               const Arguments& arguments_of_b);

  // The number of an instruction of one of the two computations, or of one that is reached through
  // the callers of `call_path`, the outermost first; nullopt if it may differ each time it runs and
  // where its place in the caller is not the only one.
  std::optional<int64_t> NumberOf(llvm::ArrayRef<const HloInstruction*> call_path,
                                  const HloInstruction& instruction);

 private:
  void AddAll(const HloComputation& computation, const Arguments& arguments);
  // Finds out which computations of a module are the same as others.
  void AddCalled(const HloModule& module);
  bool AreSame(const HloComputation& a, const HloComputation& b) const;
  bool DoTheSame(const HloInstruction& a, const HloInstruction& b) const;
  // The number of what these numbers tell apart from everything else.
  int64_t NumberOfKey(const std::vector<int64_t>& key);

  absl::flat_hash_map<const HloInstruction*, int64_t> numbers_;
  // One instruction for each number, by the numbers of the operands.
  std::map<std::vector<int64_t>, std::vector<const HloInstruction*>> by_operands_;
  // Arguments and values inside callers.
  std::map<std::vector<int64_t>, int64_t> by_key_;
  int64_t count_ = 0;
  // The first of the computations that are the same as this one; null if one of its values may
  // differ each time it runs.
  absl::flat_hash_map<const HloComputation*, const HloComputation*> first_alike_;
  // These, by the number of their instructions.
  absl::flat_hash_map<int64_t, std::vector<const HloComputation*>> by_size_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_EQUIVALENCE_SAME_VALUES_H_

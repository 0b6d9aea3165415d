// Which leaves of a computation's parameters and of its root depend on each other at all: the
// answer where there are too many maps to compose.
//
// A leaf of an instruction depends on the leaves that it is routed from (tuples, copies), a leaf
// that a while passes through on the same leaf before, any other on all leaves of all operands,
// whatever is called. A row of bits for each leaf of each instruction, in one pass over the
// computation in each direction: leaves of instructions times leaves of parameters (or the root).
//
// Example: in  t = tuple(a, b), ROOT r = get-tuple-element(t), index=1  the root depends on the
// parameters that b is computed from.
#ifndef XLA_INDEXING_FUSION_WALK_REACHABILITY_H_
#define XLA_INDEXING_FUSION_WALK_REACHABILITY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::internal {

class Reachability {
 public:
  // The most bits; with more, everything is taken to depend on everything.
  static constexpr int64_t kMaxBits = int64_t{1} << 31;

  // Output to input: the leaves of parameters that leaves are computed from. Input to output: the
  // leaves of the root that are computed from them.
  Reachability(const HloComputation& computation, Direction direction);

  // The leaves of that row (`operand` is the parameter's number, 0 for the root), in order.
  std::vector<OperandLeaf> Of(const HloInstruction& instruction, int64_t leaf) const;

  // These leaves among those that rows name, and whether a leaf's row names one of them.
  llvm::BitVector EndsAt(absl::Span<const OperandLeaf> ends) const;
  bool LeadsTo(const llvm::BitVector& ends, const HloInstruction& instruction, int64_t leaf) const {
    return rows_.empty() || RowOf(instruction, leaf).anyCommon(ends);
  }

 private:
  using Rows = llvm::MutableArrayRef<llvm::BitVector>;  // by leaf of an instruction

  // Joins the rows on both sides of an instruction, from those that are complete.
  void Step(const HloInstruction& instruction);
  Rows RowsOf(const HloInstruction& instruction);
  const llvm::BitVector& RowOf(const HloInstruction& instruction, int64_t leaf) const {
    return rows_[first_row_[instruction.index_in_computation()] + leaf];
  }

  const Direction direction_;
  std::vector<OperandLeaf> ends_;
  std::vector<llvm::BitVector> rows_;  // of all instructions; empty: everything
  std::vector<size_t> first_row_;      // by position of the instruction
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_WALK_REACHABILITY_H_

// What all elements together of some leaves of a computation's root read.
//
// Mathematics. Let all elements of a leaf of an instruction be read, by exact maps: the leaf is
// *whole*. Whatever else is read of it is read already, so that all that it leads to follows from
// the instruction alone, from every element of its result:
//
//   elementwise, reshape, transpose, reverse, broadcast, concatenate, reduce, dot   all of their operands
//   tuples, get-tuple-element                                                  the leaves routed
//   others   what their maps make of every element of the leaf, the same for all of one kind
//
// A leaf is also whole where several instructions read parts of it that are all of it together.
// So one pass over the computation, which composes nothing, finds the leaves that are whole. Paths
// are followed from whole leaves through those that are not, and only where they may lead to
// something that is still to be known.
//
// Let a value that the program computes decide whether something is read, as the offset of a
// dynamic-update-slice does of the rows of its operand. It decides so whatever follows, since maps are
// only restricted further; such paths are not followed. Where a value decides which elements are read,
// as the offset of a dynamic-slice does, what follows may not depend on it: a broadcast does not.
//
// Example: of  m = concatenate(a, b), t = slice(c), ROOT r = dot(m, t)  all of m and t is read, so all
// of a and b, and of c what the slice reads of it.
#ifndef XLA_INDEXING_FUSION_WALK_WHOLE_READS_H_
#define XLA_INDEXING_FUSION_WALK_WHOLE_READS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "llvm/ADT/BitVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/walk/traversal.h"
#include "xla_indexing/fusion/walk/traversal_source.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/unions/whole_sets.h"

namespace xla_indexing::internal {

class WholeReads {
 public:
  // Keeps references.
  WholeReads(const HloComputation& computation, TraversalSource& source,
             mlir::MLIRContext* context);

  // Finds the leaves that are whole where these leaves of the root are; the computation is met at
  // this depth of calls. Not all of them are found where the question's budget is spent.
  absl::Status Find(absl::Span<const int64_t> output_leaves, int depth);
  bool IsWhole(const HloInstruction& instruction, int64_t leaf) const {
    return whole_.test(RowOf(instruction, leaf));
  }

  // After Find(): where paths to these leaves of the parameters leave the leaves that are whole, as
  // maps from a scalar, and (by position) the instructions that no such path goes through.
  struct Rest {
    Traversal::PathsByPosition start;
    llvm::BitVector left_out;
  };
  Rest RestTo(absl::Span<const OperandLeaf> parameter_leaves) const;

 private:
  size_t RowOf(const HloInstruction& instruction, int64_t leaf) const {
    return first_row_[instruction.index_in_computation()] + static_cast<size_t>(leaf);
  }
  // What is read of the operands where a leaf of the result is whole.
  absl::Status Step(const HloInstruction& instruction, int64_t leaf, int depth);
  void SetWhole(const HloInstruction& instruction, int64_t leaf);

  // The maps from a whole leaf of an instruction to leaves of its operands.
  struct StepInPart {
    const HloInstruction* instruction = nullptr;
    int64_t leaf = 0;
    SharedIndexing entries;
  };

  const HloComputation& computation_;
  TraversalSource& source_;
  std::vector<size_t> first_row_;  // by position of the instruction
  llvm::BitVector whole_;          // by row
  WholeSets sets_;
  // What steps from whole leaves read in part, by row.
  absl::flat_hash_map<size_t, OperandIndexingSet> parts_;
  // Steps that do not read all of an operand.
  std::vector<StepInPart> in_part_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_WALK_WHOLE_READS_H_

// The answer to a question of indexing: maps between the leaves of results and of operands.
//
// Leaves are the arrays of a shape, numbered depth first (hlo/types/shape.h).
//
// Example, `add(p, q)` of f32[4], from the output to the inputs, has two entries:
//
//   {output_leaf 0, operand 0, operand_leaf 0, {(d0) -> (d0), domain: d0 in [0, 3]}}
//   {output_leaf 0, operand 1, operand_leaf 0, {(d0) -> (d0), domain: d0 in [0, 3]}}
#ifndef XLA_INDEXING_OPS_ANSWERS_INDEXING_ENTRY_H_
#define XLA_INDEXING_OPS_ANSWERS_INDEXING_ENTRY_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing {

// The maps between one leaf of the result and one leaf of one operand. Output to input: dimensions
// are those of the output leaf, results index the operand leaf. Input to output: the reverse.
struct IndexingEntry {
  int64_t output_leaf = 0;
  int64_t operand = 0;  // For a computation: the parameter's number.
  int64_t operand_leaf = 0;
  OperandIndexingSet indexing;
};

// Sorted by output leaf, operand, operand leaf. No entry has an empty set.
using InstructionIndexing = std::vector<IndexingEntry>;

// Entries that several instructions and askers have in common, which live as long as someone has
// them. Answers are never null.
//
// A temporary one cannot be looked into: in `for (const auto& entry : **indexer.Index(..))` the entries
// may be gone before the first of them is looked at. Whoever asks keeps the answer:
//
//   const absl::StatusOr<SharedIndexing> entries = indexer.Index(..);
//   for (const IndexingEntry& entry : **entries) ..
class SharedIndexing : public std::shared_ptr<const InstructionIndexing> {
 public:
  SharedIndexing() = default;
  SharedIndexing(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor): the same in short
  SharedIndexing(std::shared_ptr<const InstructionIndexing> entries)
      : std::shared_ptr<const InstructionIndexing>(std::move(entries)) {}

  const InstructionIndexing& operator*() const& { return *get(); }
  const InstructionIndexing* operator->() const& { return get(); }
  const InstructionIndexing& operator*() const&& = delete;
  const InstructionIndexing* operator->() const&& = delete;
};

void SortEntries(InstructionIndexing* entries);

// A leaf of an operand, or of a parameter of a computation. For a question about a leaf of a
// result, the operand is 0.
struct OperandLeaf {
  int64_t operand = 0;
  int64_t operand_leaf = 0;

  friend auto operator<=>(const OperandLeaf& a, const OperandLeaf& b) = default;
};

// The leaves of the operands of an instruction, or of the parameters of a computation, that no
// entry mentions: nothing of them is read (or nothing depends on them).
std::vector<OperandLeaf> UnreadOperandLeaves(absl::Span<const HloInstruction* const> operands,
                                             const InstructionIndexing& entries);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_ANSWERS_INDEXING_ENTRY_H_

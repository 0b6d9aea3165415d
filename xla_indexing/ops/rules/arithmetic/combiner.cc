#include "xla_indexing/ops/rules/arithmetic/combiner.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/ADT/BitVector.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {
namespace {

// One set of parameters for each leaf of an instruction.
using LeafReads = std::vector<llvm::BitVector>;

// What every leaf of an instruction depends on, given that of its operands.
LeafReads ReadsOf(const HloInstruction& instruction, const std::vector<LeafReads>& reads,
                  size_t parameter_count) {
  LeafReads result;
  switch (instruction.opcode()) {
    case HloOpcode::kParameter:
      result.emplace_back(parameter_count);
      result.back().set(instruction.parameter_number());
      return result;
    case HloOpcode::kTuple:
      for (const HloInstruction* operand : instruction.operands()) {
        const LeafReads& element = reads[operand->index_in_computation()];
        result.insert(result.end(), element.begin(), element.end());
      }
      return result;
    case HloOpcode::kGetTupleElement: {
      const HloInstruction& tuple = *instruction.operand(0);
      const LeafReads& leaves = reads[tuple.index_in_computation()];
      const auto first =
          leaves.begin() + tuple.shape().FirstLeafOfElement(instruction.tuple_index());
      return LeafReads(first, first + instruction.shape().LeafCount());
    }
    default:
      break;
  }
  llvm::BitVector all(parameter_count);
  for (const HloInstruction* operand : instruction.operands()) {
    for (const llvm::BitVector& leaf : reads[operand->index_in_computation()]) all |= leaf;
  }
  result.assign(instruction.shape().LeafCount(), all);
  return result;
}

// Adds to row i of `a` the rows of `b` that row i of `through` names; whether that changed `a`.
bool AddProduct(const std::vector<llvm::BitVector>& through, const std::vector<llvm::BitVector>& b,
                std::vector<llvm::BitVector>* a) {
  bool changed = false;
  for (size_t i = 0; i < a->size(); ++i) {
    for (const unsigned j : through[i].set_bits()) {
      changed |= b[j].test((*a)[i]);
      (*a)[i] |= b[j];
    }
  }
  return changed;
}

// Whether every member of `relation` is a member of its product with itself.
bool IsPartOfItsSquare(const std::vector<llvm::BitVector>& relation) {
  for (const llvm::BitVector& row : relation) {
    llvm::BitVector square(row.size());
    for (const unsigned j : row.set_bits()) square |= relation[j];
    if (row.test(square)) return false;
  }
  return true;
}

}  // namespace

CombinerReads ReadsOfCombiner(const HloComputation& combiner, int64_t count) {
  std::vector<LeafReads> reads;
  reads.reserve(combiner.instruction_count());
  for (const HloInstruction* instruction : combiner.instructions()) {
    reads.push_back(ReadsOf(*instruction, reads, 2 * count));
  }
  CombinerReads result;
  for (const llvm::BitVector& row : reads[combiner.root_instruction()->index_in_computation()]) {
    llvm::BitVector operands(count);
    llvm::BitVector updates(count);
    for (const unsigned parameter : row.set_bits()) {
      if (parameter < count) {
        operands.set(parameter);
      } else {
        updates.set(parameter - count);
      }
    }
    result.operands.push_back(std::move(operands));
    result.updates.push_back(std::move(updates));
  }
  result.is_exact = IsPartOfItsSquare(result.operands);
  while (AddProduct(result.operands, result.operands, &result.operands)) result.is_exact = false;
  while (AddProduct(result.operands, result.updates, &result.updates)) result.is_exact = false;
  return result;
}

}  // namespace xla_indexing::internal

#include "xla_indexing/fusion/walk/reachability.h"

#include <algorithm>
#include <iterator>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/values/leaf_routes.h"

namespace xla_indexing::internal {

Reachability::Reachability(const HloComputation& computation, Direction direction)
    : direction_(direction) {
  const HloInstruction* root = computation.root_instruction();
  const bool backward = direction == Direction::kOutputToInput;
  std::vector<const HloInstruction*> ends = {root};
  if (backward) ends.assign(computation.parameters().begin(), computation.parameters().end());
  for (size_t number = 0; number < ends.size(); ++number) {
    const int64_t leaf_count = ends[number]->shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      ends_.push_back({static_cast<int64_t>(number), leaf});
    }
  }
  const auto num_ends = static_cast<int64_t>(ends_.size());
  int64_t num_rows = 0;
  for (const HloInstruction* instruction : computation.instructions()) {
    first_row_.push_back(static_cast<size_t>(num_rows));
    num_rows += instruction->shape().LeafCount();
  }
  if (num_ends > 0 && num_rows > kMaxBits / num_ends) return;

  rows_.assign(static_cast<size_t>(num_rows), llvm::BitVector(num_ends));
  for (int64_t i = 0; i < num_ends; ++i) {
    RowsOf(*ends[ends_[i].operand])[ends_[i].operand_leaf].set(i);
  }
  const auto instructions = computation.instructions();
  if (backward) {
    std::for_each(instructions.begin(), instructions.end(), [&](auto* i) { Step(*i); });
  } else {
    std::for_each(instructions.rbegin(), instructions.rend(), [&](auto* i) { Step(*i); });
  }
}

Reachability::Rows Reachability::RowsOf(const HloInstruction& instruction) {
  return Rows(rows_).slice(first_row_[instruction.index_in_computation()],
                           instruction.shape().LeafCount());
}

void Reachability::Step(const HloInstruction& instruction) {
  const bool backward = direction_ == Direction::kOutputToInput;
  const Rows results = RowsOf(instruction);
  const auto pass_on = [&](int64_t result_leaf, llvm::BitVector& operand) {
    llvm::BitVector& result = results[result_leaf];
    backward ? result |= operand : operand |= result;
  };
  if (const LeafRouter router = IndexingOfOpcode(instruction.opcode()).routes) {
    for (const LeafRoute& route : router(instruction)) {
      pass_on(route.output_leaf, RowsOf(*instruction.operand(route.operand))[route.operand_leaf]);
    }
    return;
  }
  // Everything else depends on everything, through this row.
  llvm::BitVector all(ends_.size());
  llvm::BitVector passed(results.size());
  if (instruction.opcode() == HloOpcode::kWhile) {
    for (const auto& [leaf, is_passed] : llvm::enumerate(LeavesPassedThrough(instruction))) {
      if (!is_passed) continue;
      passed.set(leaf);
      pass_on(static_cast<int64_t>(leaf), RowsOf(*instruction.operand(0))[leaf]);
    }
  }
  const auto for_each_result = [&](auto join) {
    for (size_t leaf = 0; leaf < results.size(); ++leaf) {
      if (!passed.test(leaf)) join(results[leaf]);
    }
  };
  const auto for_each_operand = [&](auto join) {
    for (const HloInstruction* operand : instruction.operands()) {
      for (llvm::BitVector& row : RowsOf(*operand)) join(row);
    }
  };
  const auto collect = [&](const llvm::BitVector& row) { all |= row; };
  const auto spread = [&](llvm::BitVector& row) { row |= all; };
  if (backward) {
    for_each_operand(collect);
    for_each_result(spread);
  } else {
    for_each_result(collect);
    for_each_operand(spread);
  }
}

std::vector<OperandLeaf> Reachability::Of(const HloInstruction& instruction, int64_t leaf) const {
  if (rows_.empty()) return ends_;
  std::vector<OperandLeaf> reached;
  for (const unsigned end : RowOf(instruction, leaf).set_bits()) reached.push_back(ends_[end]);
  return reached;
}

llvm::BitVector Reachability::EndsAt(absl::Span<const OperandLeaf> ends) const {
  llvm::BitVector chosen(ends_.size());
  for (size_t i = 0; i < ends_.size(); ++i) {
    if (llvm::is_contained(ends, ends_[i])) chosen.set(i);
  }
  return chosen;
}

}  // namespace xla_indexing::internal

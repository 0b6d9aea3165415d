#include "xla_indexing/fusion/cache/call_trees.h"

#include <algorithm>
#include <vector>

namespace xla_indexing::internal {

const CallTrees::Tree& CallTrees::Of(const HloComputation& computation) {
  if (const auto known = trees_.find(&computation); known != trees_.end()) {
    return known->second;
  }
  // Called computations come before their callers, without recursion.
  std::vector<const HloComputation*> pending = {&computation};
  while (!pending.empty()) {
    const HloComputation& next = *pending.back();
    const size_t size = pending.size();
    Tree tree;
    for (const HloInstruction* instruction : next.instructions()) {
      const HloComputation* walked = instruction->inlined_computation();
      for (const HloComputation* called : instruction->called_computations()) {
        if (called == nullptr) continue;
        const auto known = trees_.find(called);
        if (known == trees_.end()) {
          pending.push_back(called);
          continue;
        }
        tree.height = std::max(tree.height, known->second.height + 1);
        if (called == walked) tree.instructions += known->second.instructions;
      }
      tree.instructions = std::min(tree.instructions + 1, max_instructions_ + 1);
    }
    if (pending.size() > size) continue;
    pending.pop_back();
    trees_[&next] = tree;
  }
  return trees_.find(&computation)->second;
}

int CallTrees::LevelsLeft(int depth, const HloComputation& computation) {
  return std::min(max_depth_ - depth, Of(computation).height);
}

int CallTrees::LevelsLeft(int depth, const HloInstruction& instruction) {
  int height = 0;
  for (const HloComputation* called : instruction.called_computations()) {
    if (called != nullptr) height = std::max(height, Of(*called).height + 1);
  }
  return std::min(max_depth_ - depth, height);
}

}  // namespace xla_indexing::internal

// What computations call, as a tree: how many instructions that is, and how deep calls nest.
//
// Mathematics. A computation that calls no other has its own instructions and height 0. Otherwise the
// computations that fusions and calls step into count as often as they are called, so that the
// number may grow exponentially with the height; it is counted up to a bound. All that is called
// counts for the height.
//
// An answer about what is met at a depth of calls depends on the depth only through how many of the
// levels that calls may still nest are used: min(max_depth - depth, height).
//
// Example: f calls g twice and has 3 instructions, g calls none and has 4. f has 3 + 2 * 4 = 11 of
// them, and height 1.
#ifndef XLA_INDEXING_FUSION_CACHE_CALL_TREES_H_
#define XLA_INDEXING_FUSION_CACHE_CALL_TREES_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::internal {

class CallTrees {
 public:
  explicit CallTrees(const FusionOptions& options)
      : max_instructions_(options.max_called_instructions), max_depth_(options.max_call_depth) {}

  // Whether the computation has, with all that it calls, no more instructions than the options say.
  bool IsSmall(const HloComputation& computation) {
    return Of(computation).instructions <= max_instructions_;
  }
  // How many levels of calls are used by the computation, or by what the instruction calls, when it is
  // met at this depth.
  int LevelsLeft(int depth, const HloComputation& computation);
  int LevelsLeft(int depth, const HloInstruction& instruction);

 private:
  struct Tree {
    int64_t instructions = 0;
    int height = 0;
  };
  const Tree& Of(const HloComputation& computation);

  const int64_t max_instructions_;
  const int max_depth_;
  absl::flat_hash_map<const HloComputation*, Tree> trees_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CACHE_CALL_TREES_H_

// Which instruction of a fusion XLA's GPU backend builds the kernel around (rules 1 to 3, 5, 6 and 8
// of gpu/fusion_mapping.h).
#ifndef XLA_INDEXING_GPU_THREADS_EMITTER_HERO_H_
#define XLA_INDEXING_GPU_THREADS_EMITTER_HERO_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/gpu/threads/emitter.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// A transpose of an array seen with fewer dimensions: sizes in the order of memory, major to minor,
// of which no two neighbours in the operand are neighbours in the result. Dimension i of the result
// is dimension `permutation[i]` of the operand.
struct JoinedTranspose {
  llvm::SmallVector<int64_t, 4> operand_sizes;
  llvm::SmallVector<int64_t, 4> permutation;

  llvm::SmallVector<int64_t, 4> result_sizes() const;
  // Whether the dimension that is contiguous in the operand is so in the result.
  bool keeps_minor() const {
    return permutation.back() + 1 == static_cast<int64_t>(permutation.size());
  }
  friend bool operator==(const JoinedTranspose& a, const JoinedTranspose& b) = default;
};
// The order in memory of a transpose, or of a copy to another layout; none for other opcodes.
std::optional<JoinedTranspose> JoinTranspose(const HloInstruction& instruction);
// One that is moved through shared memory, tile by tile.
std::optional<JoinedTranspose> TiledTransposeOf(const HloInstruction& instruction);

// A reduction of an array seen as [major, middle, minor] in the order of memory: of rows, where
// major and minor are reduced, or of columns, where middle is.
struct JoinedReduction {
  bool is_of_rows = true;
  int64_t major = 1;
  int64_t middle = 1;
  int64_t minor = 1;

  friend bool operator==(const JoinedReduction& a, const JoinedReduction& b) = default;
};
// None for other opcodes, and for what the reduction emitters do not take.
std::optional<JoinedReduction> ReductionOf(const HloInstruction& instruction, int64_t warp_size);

// An array of the result of a computation, and the hero of what computes it.
struct RootOfFusion {
  int64_t output_leaf = 0;
  const HloInstruction* root = nullptr;
  int64_t root_leaf = 0;
  const HloInstruction* hero = nullptr;
  int64_t hero_leaf = 0;
};
// Looking for a hero spends the question's budget; none is found once it is spent.
std::vector<RootOfFusion> RootsOfFusion(const HloComputation& computation);

// The parameter into whose buffer a dynamic-update-slice, or a scatter for this leaf, writes what it
// changes. Null if the operand is computed, or if that of a scatter is read elsewhere as well.
const HloInstruction* UpdatedParameter(const HloInstruction& hero, int64_t leaf);

// The kind, and the position of the root whose hero decided on it. The hero of an in-place update
// becomes the dynamic-update-slice.
struct DecidedKind {
  EmitterKind kind = EmitterKind::kLoop;
  size_t root = 0;
};
DecidedKind DecideKind(int64_t warp_size, std::vector<RootOfFusion>* roots);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_THREADS_EMITTER_HERO_H_

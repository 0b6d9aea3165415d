// The walk over a computation that finds its tiling space and what each point of it needs of every
// instruction.
//
// Mathematics. A *read* is an instruction's leaf with a map to it from the points of the tiling
// space (tiling/kernel/tiling_space.h). The root is read through its own dimensions. An instruction that
// is read through m reads its operands through m followed by the instruction's maps; a contraction
// that is read through m takes, at each point, the step that its own dimensions of the space say:
//
//   (m, steps) followed by the map from its step space (ops/rules/arithmetic/contraction.h)
//
// so that the loops of a contraction are dimensions of the space and not range variables. What
// moves elements extends a chain, in which a step and its inverse cancel (fusion/chain/path.h).
// Reads of one instruction through one map are one read, however many paths lead to it.
//
// Bound. More than `max_maps` reads of one leaf are replaced by a read of the whole, labelled
// over-approximate; past `max_steps` compositions, or 2^22 operands of all reads together, the walk is
// ResourceExhausted.
#ifndef XLA_INDEXING_TILING_KERNEL_TILE_WALK_H_
#define XLA_INDEXING_TILING_KERNEL_TILE_WALK_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/tiling/kernel/one_pass.h"
#include "xla_indexing/tiling/kernel/tiling_space.h"

namespace xla_indexing::internal {

// What computing a read needs: a leaf of an operand, through the read `read`. An operand that is
// read in several ways has several.
struct TileReadOperand {
  int64_t operand = 0;
  int64_t operand_leaf = 0;
  int read = 0;
};

struct TileRead {
  const HloInstruction* instruction = nullptr;
  int64_t leaf = 0;
  OperandIndexing map;
  std::vector<TileReadOperand> operands;
  // The dimensions of the space that are its loops, where it is a contraction; -1 for a loop of one
  // step.
  std::vector<int> loops = {};
  SharedIndexing entries = {};  // as TileNode::reads
};

struct TileWalk {
  TilingSpace space;
  std::vector<TileRead> reads;  // each after those that need it
  std::vector<int> roots;       // the read of each root of the space
  // Whose contractions share a dimension, and are read through one map each.
  std::vector<OnePass> passes;
};

absl::StatusOr<TileWalk> WalkTiles(const HloComputation& computation, HloIndexers& indexers,
                                   TiledLoops loops);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_KERNEL_TILE_WALK_H_

// Options for the indexing of whole computations.
//
// Example, an indexer that asks for exact pieces and gives up sooner:
//
//   FusionOptions options;
//   options.indexing.exact = true;
//   options.max_maps = 32;
//   HloIndexer indexer(&context, options);
#ifndef XLA_INDEXING_FUSION_WALK_FUSION_OPTIONS_H_
#define XLA_INDEXING_FUSION_WALK_FUSION_OPTIONS_H_

#include <cstdint>

#include "xla_indexing/ops/answers/parts/indexing_options.h"

namespace xla_indexing {

struct FusionOptions {
  // The options for single instructions; `computations` is ignored, since called computations are
  // looked into.
  IndexingOptions indexing;
  // The most maps from the start to one leaf of one instruction.
  int max_maps = 256;
  // How many steps one question may take; a step takes one map through one instruction. The leaves
  // that the question is about share them equally, and share what some leave over. A computation
  // that is walked on its own (the body of a loop, a branch) has an eighth of them for all its
  // leaves.
  int64_t max_steps = 2500000;
  // How deep called computations may nest; deeper ones are read whole, over-approximate.
  int max_call_depth = 64;
  // The most instructions of a called computation that a walk steps through where it is called,
  // counting those of the computations it calls as often as they are called. A larger computation
  // is walked on its own, once, and its maps are taken wherever it is called.
  int64_t max_called_instructions = 20000;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_WALK_FUSION_OPTIONS_H_

// What may be chosen about the indexing of whole computations.
#ifndef XLA_INDEXING_FUSION_FUSION_OPTIONS_H_
#define XLA_INDEXING_FUSION_FUSION_OPTIONS_H_

#include <cstdint>

#include "xla_indexing/ops/indexing_options.h"

namespace xla_indexing {

struct FusionOptions {
  // As for single instructions; `computations` is ignored, called computations are looked into.
  IndexingOptions indexing;
  // The most maps from the start to one leaf of one instruction.
  int max_maps = 256;
  // How many maps one question takes through instructions. The leaves that it asks for share them
  // equally, and what some leave over; a computation that is walked on its own (the body of a loop,
  // a branch) has an eighth as many for all its leaves.
  int64_t max_steps = 2500000;
  // How deep called computations may nest; deeper ones are read whole, over-approximate.
  int max_call_depth = 64;
  // A walk steps through a computation that is called where it has no more instructions than this,
  // with those of the computations it calls, each counting as often as it is called. Larger ones
  // are walked on their own, once, and their maps taken wherever they are called.
  int64_t max_called_instructions = 20000;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_FUSION_OPTIONS_H_

// What the callers of a computation pass as one scalar (ops/values/passed_values.h finds it).
#ifndef XLA_INDEXING_OPS_RULES_FRAME_PASSED_SCALAR_H_
#define XLA_INDEXING_OPS_RULES_FRAME_PASSED_SCALAR_H_

#include <cstdint>

#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::internal {

// What is passed as a leaf of a parameter, a scalar of integers: `added` and another leaf of a parameter
// of the same computation, perhaps the same leaf, which has these values.
struct PassedScalar {
  const HloInstruction* parameter = nullptr;
  int64_t leaf = 0;
  int64_t added = 0;
  Interval values = Interval::All();
};

// A leaf of an instruction's value.
struct LeafSource {
  const HloInstruction* instruction;
  int64_t leaf;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_FRAME_PASSED_SCALAR_H_

// Broadcast: dimension k of the operand is dimension dims[k] of the result,
//
//   r[d] = a[d_dims[0], d_dims[1], ..];
//
// an element of the operand is every element of the result whose other indices are free.

#include <cstdint>

#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

LoopNests BroadcastNests(const BuildContext& build, int64_t /*output_leaf*/, int64_t operand) {
  return MatchingNest(build.Output(), build.Operand(operand), build.instruction.dimensions());
}

}  // namespace xla_indexing::internal

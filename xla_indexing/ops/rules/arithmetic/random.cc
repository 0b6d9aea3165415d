// Random numbers. Every element depends on all of what the generator is given:
//
//   rng                 the two parameters of the distribution, scalars
//   rng-bit-generator   the state, for the bits and for the next state

#include <cstdint>

#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

LoopNests RandomNumberNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  return WholeNest(build.Output(output_leaf), build.Operand(operand));
}

}  // namespace xla_indexing::internal

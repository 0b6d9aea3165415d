// (Variadic) reduce of n operands, each with an initial value; every result is computed from all of
// them,
//
//   r_j[d] = fold over s of (a_0[i], a_1[i], ..) from (init_0, init_1, ..),
//
// where i has s on the reduced dimensions and d on the others.

#include <cstdint>

#include "absl/algorithm/container.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

LoopNests ReduceNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  const Shape& result = build.Output(output_leaf);
  const Shape& shape = build.Operand(operand);
  if (operand >= build.instruction.operand_count() / 2) return WholeNest(result, shape);
  llvm::SmallVector<int64_t, 4> match;
  int64_t output_dim = 0;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const bool is_reduced = absl::c_linear_search(build.instruction.dimensions(), i);
    match.push_back(is_reduced ? kWholeAxis : output_dim++);
  }
  return MatchingNest(result, shape, match);
}

}  // namespace xla_indexing::internal

// Elementwise operations: an element of the result is a function of the operands' elements at the
// same index alone,
//
//   r[d] = f(a[d], b[d], ..).
//
// A predicate of select and the bounds of clamp may be scalars, which every element reads. A select
// names both its values, whatever the predicate is.

#include <cstdint>

#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

bool IsScalarForArray(const Shape& operand, const Shape& output) {
  return operand.IsScalar() && output.rank() > 0;
}

}  // namespace

void ElementwiseOutputToInput(BuildContext& build, int64_t output_leaf) {
  const Shape& output = build.instruction.shape().Leaf(output_leaf);
  for (int64_t i = 0; i < build.instruction.operand_count(); ++i) {
    const Shape& operand = build.instruction.operand(i)->shape();
    if (IsScalarForArray(operand, output)) {
      build.AddWholeRead(i, output_leaf);
    } else {
      // A select may choose between tuples, leaf by leaf.
      const int64_t leaf = operand.IsTuple() ? output_leaf : 0;
      build.Add(output_leaf, i, leaf, build.Identity(output));
    }
  }
}

void ElementwiseInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  const Shape& shape = build.instruction.operand(operand)->shape();
  const int64_t first = shape.IsTuple() ? operand_leaf : 0;
  const int64_t last = shape.IsTuple() ? operand_leaf : build.instruction.shape().LeafCount() - 1;
  for (int64_t leaf = first; leaf <= last; ++leaf) {
    const Shape& output = build.instruction.shape().Leaf(leaf);
    if (IsScalarForArray(shape, output)) {
      build.AddWholeReach(operand, leaf);
    } else {
      build.Add(leaf, operand, operand_leaf, build.Identity(output));
    }
  }
}

}  // namespace xla_indexing::internal

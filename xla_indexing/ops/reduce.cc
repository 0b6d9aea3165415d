// (Variadic) reduce of n operands, each with an initial value; every result is computed from all of
// them,
//
//   r_j[d] = fold over s of (a_0[i], a_1[i], ..) from (init_0, init_1, ..),
//
// where i has s on the reduced dimensions and d on the others.

#include <cstdint>

#include "absl/algorithm/container.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/ops/builders.h"

namespace xla_indexing {

using ::mlir::AffineExpr;

void ReduceOutputToInput(BuildContext& build, int64_t output_leaf) {
  const int64_t count = build.instruction.operand_count() / 2;
  for (int64_t operand = 0; operand < count; ++operand) {
    MapBuilder builder = build.FromOutput(operand, output_leaf);
    const Shape& shape = build.Operand(operand);
    llvm::SmallVector<AffineExpr, 4> indices;
    int64_t output_dim = 0;
    for (int64_t i = 0; i < shape.rank(); ++i) {
      const bool is_reduced = absl::c_linear_search(build.instruction.dimensions(), i);
      indices.push_back(is_reduced ? builder.AddRangeOverAxis(shape.dimension(i))
                                   : builder.Dim(output_dim++));
    }
    build.Add(output_leaf, operand, 0, builder.Build(indices));
    build.AddWholeRead(count + operand, output_leaf);
  }
}

void ReduceInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  const int64_t count = build.instruction.operand_count() / 2;
  for (int64_t output_leaf = 0; output_leaf < count; ++output_leaf) {
    if (operand >= count) {
      build.AddWholeReach(operand, output_leaf);
      continue;
    }
    MapBuilder builder = build.ToOutput(operand, output_leaf);
    llvm::SmallVector<AffineExpr, 4> indices;
    for (int64_t i = 0; i < build.Operand(operand).rank(); ++i) {
      if (!absl::c_linear_search(build.instruction.dimensions(), i)) {
        indices.push_back(builder.Dim(i));
      }
    }
    build.Add(output_leaf, operand, 0, builder.Build(indices));
  }
}

}  // namespace xla_indexing

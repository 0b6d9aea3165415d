// Operations on sizes that are known at run time only. Arrays are indexed at their bounds.
//
//   get-dimension-size   the size of one dimension; reads no element
//   set-dimension-size   the operand, of which the part before the size counts; every element reads
//                        the size
//   dynamic-reshape      elements keep their places in the row-major order of the sizes at run
//                        time; a reshape where all sizes are static, or have no bound (reshape.cc).
//                        Every element reads the sizes.

#include <cstdint>

#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

// The operands after the first are sizes.
void AddSizeReads(BuildContext& build) {
  for (int64_t i = 1; i < build.instruction.operand_count(); ++i) build.AddWholeRead(i);
}

ExactnessLabel DynamicReshapeLabel() {
  return ExactnessLabel::OverApproximate("whole operand: a reshape of sizes known at run time");
}

bool IsReshape(const BuildContext& build) {
  const Shape& from = build.Operand(0);
  const Shape& to = build.Output();
  return (from.IsStatic() && to.IsStatic()) || from.HasUnboundedDimension() ||
         to.HasUnboundedDimension();
}

}  // namespace

void SetDimensionSizeOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  build.Add(0, IdentityIndexing(build.Output(), build.mlir_context));
  AddSizeReads(build);
}

void SetDimensionSizeInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  if (operand == 0) {
    build.Add(0, IdentityIndexing(build.Output(), build.mlir_context));
  } else {
    build.AddWholeReach(operand);
  }
}

void DynamicReshapeOutputToInput(BuildContext& build, int64_t output_leaf) {
  if (IsReshape(build)) {
    ReshapeOutputToInput(build, output_leaf);
  } else {
    build.AddWholeRead(0, 0, 0, DynamicReshapeLabel());
  }
  AddSizeReads(build);
}

void DynamicReshapeInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  if (operand > 0) {
    build.AddWholeReach(operand);
  } else if (IsReshape(build)) {
    ReshapeInputToOutput(build, operand, operand_leaf);
  } else {
    build.AddWholeReach(0, 0, 0, DynamicReshapeLabel());
  }
}

}  // namespace xla_indexing::internal

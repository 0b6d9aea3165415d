// Operations without a builder of their own: every element of every result may read every element
// of every operand. A sound answer, labelled as larger than needed.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/ops/builders.h"

namespace xla_indexing {

ExactnessLabel UnanalysedLabel(const BuildContext& build) {
  return ExactnessLabel::OverApproximate(
      absl::StrCat("whole operand: ", OpcodeName(build.instruction.opcode()), " is not analysed"));
}

void UnanalysedOutputToInput(BuildContext& build, int64_t output_leaf) {
  for (int64_t i = 0; i < build.instruction.operand_count(); ++i) {
    const int64_t leaf_count = build.instruction.operand(i)->shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      build.AddWholeRead(output_leaf, i, leaf, UnanalysedLabel(build));
    }
  }
}

void UnanalysedInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  const int64_t leaf_count = build.instruction.shape().LeafCount();
  for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
    build.AddWholeReach(leaf, operand, operand_leaf, UnanalysedLabel(build));
  }
}

}  // namespace xla_indexing

// Operations without a builder of their own: every element of every result may read every element
// of every operand. A sound answer, labelled as larger than needed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/transforms/set_aside.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/frame/other_devices.h"

namespace xla_indexing::internal {
namespace {

bool CallsAcrossReplicas(const HloInstruction& instruction) {
  const auto called = instruction.called_computations();
  return std::any_of(called.begin(), called.end(), [](const HloComputation* computation) {
    return computation != nullptr && DevicesAcrossWhich(*computation);
  });
}

// Why not even the whole operands can be said to be what is read.
std::optional<OperandIndexing> UnknownReads(const BuildContext& build) {
  if (const auto why = WhyUnverified(build.instruction)) {
    return OperandIndexing::Unknown(build.mlir_context, std::string(*why));
  }
  // Elements of other devices would be left out of the whole operand.
  if (MayBeAcrossReplicas(build.instruction)) {
    return OperandIndexing::Unknown(build.mlir_context,
                                    absl::StrCat("the opcode ", build.instruction.opcode_name(),
                                                 " is not known and may read other devices"));
  }
  if (build.instruction.opcode() == HloOpcode::kAsyncUpdate &&
      build.instruction.called_computations().empty()) {
    return OperandIndexing::Unknown(
        build.mlir_context,
        absl::StrCat("the async-start of ", build.instruction.name(), " is not to be seen"));
  }
  if (!CallsAcrossReplicas(build.instruction)) return std::nullopt;
  return OperandIndexing::Unknown(
      build.mlir_context,
      absl::StrCat(build.instruction.opcode_name(),
                   " is not looked into and has operations across replicas inside"));
}

}  // namespace

ExactnessLabel UnanalysedLabel(const BuildContext& build) {
  if (build.instruction.opcode() == HloOpcode::kUnknown) {
    return ExactnessLabel::OverApproximate(absl::StrCat(
        "whole operand: the opcode ", build.instruction.opcode_name(), " is not known"));
  }
  std::string reason =
      absl::StrCat("whole operand: ", build.instruction.opcode_name(), " is not analysed");
  if (const absl::string_view target = build.instruction.custom_call_target(); !target.empty()) {
    constexpr size_t kMostOfTarget = 80;
    absl::StrAppend(&reason, ": ", absl::CEscape(target.substr(0, kMostOfTarget)));
  }
  if (!build.instruction.called_computations().empty() &&
      !build.options.why_no_computations.empty()) {
    absl::StrAppend(&reason, ": ", build.options.why_no_computations);
  }
  return ExactnessLabel::OverApproximate(std::move(reason));
}

void AddUnanalysed(BuildContext& build, Direction direction, int64_t output_leaf, int64_t operand,
                   int64_t operand_leaf) {
  if (std::optional<OperandIndexing> unknown = UnknownReads(build)) {
    build.Add(output_leaf, operand, operand_leaf, *std::move(unknown));
  } else if (direction == Direction::kOutputToInput) {
    build.AddWholeRead(output_leaf, operand, operand_leaf, UnanalysedLabel(build));
  } else {
    build.AddWholeReach(output_leaf, operand, operand_leaf, UnanalysedLabel(build));
  }
}

void UnanalysedOutputToInput(BuildContext& build, int64_t output_leaf) {
  const std::optional<OperandIndexing> unknown = UnknownReads(build);
  const ExactnessLabel label = UnanalysedLabel(build);
  for (int64_t i = 0; i < build.instruction.operand_count(); ++i) {
    const int64_t leaf_count = build.instruction.operand(i)->shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      if (unknown) {
        build.Add(output_leaf, i, leaf, *unknown);
      } else {
        build.AddWholeRead(output_leaf, i, leaf, label);
      }
    }
  }
}

void UnanalysedInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  const std::optional<OperandIndexing> unknown = UnknownReads(build);
  const ExactnessLabel label = UnanalysedLabel(build);
  const int64_t leaf_count = build.instruction.shape().LeafCount();
  for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
    if (unknown) {
      build.Add(leaf, operand, operand_leaf, *unknown);
    } else {
      build.AddWholeReach(leaf, operand, operand_leaf, label);
    }
  }
}

}  // namespace xla_indexing::internal

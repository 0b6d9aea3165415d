// Custom-call: what the rule of its target says (ops/rules/custom_calls/custom_call_registry.h), every element of
// every operand where there is none.

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/ops/answers/fits_shapes.h"
#include "xla_indexing/ops/rules/custom_calls/custom_call_registry.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

// An error where a map of an entry cannot lead between its leaves.
absl::Status CheckEntry(const CustomCallLeaf& leaf, const IndexingEntry& entry) {
  const HloInstruction& call = leaf.instruction;
  const bool is_forward = leaf.operand >= 0;
  const auto error = [&](const auto&... parts) {
    return absl::InvalidArgumentError(absl::StrCat("the rule for ", call.custom_call_target(),
                                                   " says of ", call.name(), " ", parts...));
  };
  if (entry.output_leaf < 0 || entry.output_leaf >= call.shape().LeafCount() || entry.operand < 0 ||
      entry.operand >= call.operand_count() || entry.operand_leaf < 0 ||
      entry.operand_leaf >= call.operand(entry.operand)->shape().LeafCount() ||
      (is_forward ? entry.operand != leaf.operand || entry.operand_leaf != leaf.leaf
                  : entry.output_leaf != leaf.leaf)) {
    return error("something between output leaf ", entry.output_leaf, " and leaf ",
                 entry.operand_leaf, " of operand ", entry.operand, ", which it was not asked for");
  }
  const Shape& output = call.shape().Leaf(entry.output_leaf);
  const Shape& operand = call.operand(entry.operand)->shape().Leaf(entry.operand_leaf);
  absl::Status status =
      VerifyFits(entry.indexing, is_forward ? operand : output, is_forward ? output : operand);
  if (status.ok()) return status;
  return error("something between output leaf ", entry.output_leaf, " and leaf ",
               entry.operand_leaf, " of operand ", entry.operand, ": ", status.message());
}

// Whether there is a rule that speaks of the leaf; its entries or its error are taken over.
bool ApplyRule(const CustomCallLeaf& leaf, BuildContext& build) {
  const CustomCallRegistry& registry = build.options.custom_calls != nullptr
                                           ? *build.options.custom_calls
                                           : CustomCallRegistry::Default();
  const CustomCallRule* rule = registry.Find(leaf.instruction.custom_call_target());
  if (rule == nullptr) return false;
  const CustomCallRule::Builder& builder =
      leaf.operand >= 0 ? rule->input_to_output : rule->output_to_input;
  if (!builder) return false;
  absl::StatusOr<std::optional<InstructionIndexing>> entries = builder(leaf);
  if (!entries.ok()) {
    build.status.Update(entries.status());
    return true;
  }
  if (!entries->has_value()) return false;
  for (IndexingEntry& entry : **entries) {
    if (absl::Status status = CheckEntry(leaf, entry); !status.ok()) {
      build.status.Update(status);
      return true;
    }
    build.Add(entry.output_leaf, entry.operand, entry.operand_leaf, std::move(entry.indexing));
  }
  return true;
}

}  // namespace

void CustomCallOutputToInput(BuildContext& build, int64_t output_leaf) {
  if (!ApplyRule({build.instruction, -1, output_leaf, build.mlir_context}, build)) {
    UnanalysedOutputToInput(build, output_leaf);
  }
}

void CustomCallInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  if (!ApplyRule({build.instruction, operand, operand_leaf, build.mlir_context}, build)) {
    UnanalysedInputToOutput(build, operand, operand_leaf);
  }
}

}  // namespace xla_indexing::internal

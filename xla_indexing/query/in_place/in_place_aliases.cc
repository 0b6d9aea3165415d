#include "xla_indexing/query/in_place/in_place_aliases.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/query/in_place/alias_text.h"
#include "xla_indexing/query/in_place/buffer_writers.h"
#include "xla_indexing/query/in_place/in_place.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

using internal::IsArrayAt;
using internal::LeafAt;
using internal::ParseAliases;
using internal::StatedAlias;
using internal::WriterSafety;

// Why leaves are not there, or not of equally many bytes; empty where they are.
std::string WhyNotAlike(const Shape& output, const StatedAlias& alias, const Shape* operand) {
  if (operand == nullptr) return absl::StrCat("there is no operand ", alias.operand);
  const std::optional<int64_t> output_leaf = LeafAt(output, alias.output_path);
  if (!output_leaf) return absl::StrCat("there is no ", alias.output, " of the output");
  const std::optional<int64_t> operand_leaf = LeafAt(*operand, alias.operand_path);
  if (!operand_leaf) {
    return absl::StrCat("there is no ", alias.operand_index, " of the operand");
  }
  if (!IsArrayAt(output, alias.output_path) || !IsArrayAt(*operand, alias.operand_path)) return "";
  const std::optional<Interval> output_bytes = BufferBytesOf(output.Leaf(*output_leaf));
  const std::optional<Interval> operand_bytes = BufferBytesOf(operand->Leaf(*operand_leaf));
  if (output_bytes && operand_bytes && output_bytes != operand_bytes) {
    return absl::StrCat("the output has ", output_bytes->lower(), " bytes and the operand ",
                        operand_bytes->lower());
  }
  return "";
}

InPlaceSafety SafetyOf(const HloInstruction& instruction, const SharedBuffer& buffer,
                       mlir::MLIRContext* context) {
  if (instruction.opcode() == HloOpcode::kCustomCall) {
    return InPlaceSafety::Undecided("the custom call answers for it");
  }
  absl::StatusOr<InPlaceAnalysis> analysis = InPlaceAnalysis::OfInstruction(instruction, context);
  if (!analysis.ok()) return InPlaceSafety::Undecided(std::string(analysis.status().message()));
  absl::StatusOr<InPlaceSafety> safety = analysis->Safety(buffer);
  if (!safety.ok()) return InPlaceSafety::Undecided(std::string(safety.status().message()));
  return *std::move(safety);
}

}  // namespace

std::string CheckedAlias::WriterName() const {
  if (writer == nullptr) return "";
  const HloComputation& computation = *writer->parent();
  if (computation.parent()->entry_computation() == &computation) return std::string(writer->name());
  return absl::StrCat(computation.name(), "/", writer->name());
}

std::string CheckedAlias::ToString() const {
  return absl::StrCat(
      "alias of ", instruction == nullptr ? "the module" : instruction->name(), ": output ", output,
      " in ", instruction == nullptr ? "parameter " : "operand ", operand, " ", operand_index,
      writer == nullptr ? "" : absl::StrCat(", written by ", WriterName()), ": ",
      safety.ToString());
}

std::vector<CheckedAlias> CheckAliases(const HloModule& module, mlir::MLIRContext* context,
                                       int64_t max_aliases) {
  std::vector<CheckedAlias> checked;
  const HloComputation* entry = module.entry_computation();
  if (entry == nullptr) return checked;
  // Checks what one text states of the leaves of a result and of operands.
  const auto check = [&](const HloInstruction* owner, absl::string_view text, const Shape& output,
                         absl::Span<const HloInstruction* const> operands, auto&& safety_of) {
    const auto aliases = ParseAliases(text);
    if (!aliases) {
      checked.push_back(
          {owner, "{}", 0, "{}",
           InPlaceSafety::Unsafe(absl::StrCat("the aliases cannot be read: ", text))});
      return;
    }
    for (const StatedAlias& alias : *aliases) {
      if (static_cast<int64_t>(checked.size()) >= max_aliases) return;
      CheckedAlias& result = checked.emplace_back();
      result.instruction = owner;
      result.output = alias.output;
      result.operand = alias.operand;
      result.operand_index = alias.operand_index;
      const bool is_there = alias.operand < static_cast<int64_t>(operands.size());
      std::string why_not =
          WhyNotAlike(output, alias, is_there ? &operands[alias.operand]->shape() : nullptr);
      if (!why_not.empty()) {
        result.safety = InPlaceSafety::Unsafe(std::move(why_not));
        continue;
      }
      const auto other = absl::c_find_if(*aliases, [&](const StatedAlias& first) {
        return &first == &alias ||
               (first.operand == alias.operand && first.operand_path == alias.operand_path);
      });
      if (&*other != &alias) {
        result.safety =
            InPlaceSafety::Unsafe(absl::StrCat("output ", other->output, " is in it, too"));
        continue;
      }
      const Shape& operand = operands[alias.operand]->shape();
      const SharedBuffer buffer{*LeafAt(output, alias.output_path),
                                {alias.operand, *LeafAt(operand, alias.operand_path)}};
      if (!IsArrayAt(output, alias.output_path) || !IsArrayAt(operand, alias.operand_path)) {
        result.safety = InPlaceSafety::Undecided("what is shared is no array");
        continue;
      }
      const QuestionBudget question;
      WriterSafety answer = safety_of(buffer);
      result.safety = std::move(answer.safety);
      result.writer = answer.writer;
    }
  };
  if (const auto text = module.FindAttribute("input_output_alias")) {
    HloIndexers indexers(context);
    internal::BufferWriters writers(*entry, module.is_scheduled(), &indexers);
    check(nullptr, *text, entry->root_instruction()->shape(), entry->parameters(),
          [&](const SharedBuffer& buffer) {
            return writers.Check(buffer.output_leaf, buffer.operand.operand,
                                 buffer.operand.operand_leaf);
          });
  }
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!instruction->HasAttribute(AttributeKey::kOutputToOperandAliasing)) continue;
      check(instruction, instruction->GetText(AttributeKey::kOutputToOperandAliasing),
            instruction->shape(), instruction->operands(), [&](const SharedBuffer& buffer) {
              return WriterSafety{SafetyOf(*instruction, buffer, context), nullptr};
            });
    }
  }
  return checked;
}

}  // namespace xla_indexing

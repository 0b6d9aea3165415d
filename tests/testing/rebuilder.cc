#include "tests/testing/rebuilder.h"

#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/build/broadcast.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/verify/shape_inference.h"

namespace xla_indexing {

Rebuilder::Rebuilder(const HloModule& original, bool infers)
    : original_(original), infers_(infers), copy_(original.name()) {}

absl::Status Rebuilder::Run() {
  for (const ModuleAttribute& attribute : original_.attributes()) {
    copy_.SetAttribute(attribute.name, attribute.text);
  }
  copy_.SetStackFrameTables(original_.stack_frame_tables());
  for (const HloComputation* computation : original_.computations()) {
    HloComputation* copy = copy_.AddComputation(computation->name());
    computations_[computation] = copy;
    if (computation == original_.entry_computation()) copy_.SetEntry(copy);
    copy->SetExecutionThread(computation->execution_thread());
    HloBuilder builder(copy, {.rule = BroadcastRule::kNone});
    for (const HloInstruction* instruction : computation->instructions()) {
      const auto built = Build(*instruction, &builder);
      if (!built.ok()) return built.status();
      instructions_[instruction] = *built;
    }
    const absl::Status status = builder.SetRoot(instructions_[computation->root_instruction()]);
    if (!status.ok()) return status;
  }
  std::string difference;
  if (!ModulesEqual(original_, copy_, &difference)) return absl::InternalError(difference);
  return CheckBuiltModule(copy_);
}

absl::StatusOr<const HloInstruction*> Rebuilder::Build(const HloInstruction& i,
                                                       HloBuilder* builder) {
  std::vector<const HloInstruction*> operands;
  for (const HloInstruction* operand : i.operands()) operands.push_back(instructions_[operand]);
  InstructionDetails details{.name = i.name(), .shape = i.shape()};
  for (const Attribute& attribute : i.attributes()) {
    if (attribute.name.empty()) continue;
    details.attributes.push_back(attribute);
    AttributeValue& value = details.attributes.back().value;
    if (const auto* one = std::get_if<const HloComputation*>(&value)) {
      value = computations_.at(*one);
    } else if (const auto* all = std::get_if<absl::Span<const HloComputation* const>>(&value)) {
      Pointers<HloComputation>& mapped = called_.emplace_back();
      for (const HloComputation* computation : *all) {
        mapped.push_back(computations_.at(computation));
      }
      value = absl::Span<const HloComputation* const>(mapped);
    } else if (const auto* before = std::get_if<absl::Span<const HloInstruction* const>>(&value)) {
      Pointers<HloInstruction>& mapped = preceding_.emplace_back();
      for (const HloInstruction* instruction : *before) {
        mapped.push_back(instructions_.at(instruction));
      }
      value = absl::Span<const HloInstruction* const>(mapped);
    }
  }
  if (i.opcode() == HloOpcode::kParameter) {
    return builder->AddParameter(i.parameter_number(), i.shape(), i.name(), details.attributes);
  }
  if (i.opcode() == HloOpcode::kConstant) {
    return builder->AddConstant(*i.literal(), i.name(), details.attributes);
  }
  const absl::StatusOr<Shape> inferred = internal::InferShape(i);
  if (infers_ && inferred.ok() && *inferred == i.shape()) {
    ++inferred_count_;
    details.shape.reset();
  }
  return builder->Add(i.opcode(), operands, details);
}

}  // namespace xla_indexing

#include "xla_indexing/hlo/transforms/set_aside.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"
#include "xla_indexing/hlo/verify/shape_inference.h"

namespace xla_indexing {
namespace {

using internal::CheckIsValid;

constexpr absl::string_view kUnverifiedTarget = "xla_indexing.unverified: ";

void SetWhy(absl::string_view why, HloInstruction* call) {
  const std::string target = absl::StrCat(kUnverifiedTarget, why);
  call->SetAttribute(AttributeKey::kCustomCallTarget, absl::string_view(target));
}

// The computation of a fusion or call that has as many parameters as the caller operands and a
// result of the caller's shape; null if it is no such caller.
const HloComputation* CalledWithOtherShapes(const HloInstruction& i) {
  const HloComputation* called = i.opcode() == HloOpcode::kFusion ? i.calls()
                                 : i.opcode() == HloOpcode::kCall ? i.to_apply()
                                                                  : nullptr;
  if (called == nullptr || called->root_instruction() == nullptr ||
      static_cast<int64_t>(called->parameters().size()) != i.operand_count() ||
      !internal::shape_rules::ShapesAgree(i.shape(), called->root_instruction()->shape(),
                                          internal::shape_rules::Agreement::kSameValue)) {
    return nullptr;
  }
  return called;
}

void GiveParametersTheirShapes(const HloComputation& called, absl::string_view why,
                               InstructionRewriter& rewriter) {
  std::vector<const HloInstruction*> operands;
  for (size_t p = 0; p < rewriter.operands().size(); ++p) {
    const Shape& shape = called.parameters()[p]->shape();
    const HloInstruction* operand = rewriter.operands()[p];
    if (!internal::shape_rules::ShapesAgree(shape, operand->shape(),
                                            internal::shape_rules::Agreement::kExact)) {
      HloInstruction* other =
          rewriter.AddHelper(HloOpcode::kCustomCall, absl::StrCat("operand", p), shape, {operand});
      SetWhy(why, other);
      operand = other;
    }
    operands.push_back(operand);
  }
  rewriter.ReplaceOperands(operands);
}

}  // namespace

absl::StatusOr<ModuleWithErrorsAside> SetErrorsAside(const HloModule& module) {
  ModuleWithErrorsAside result;
  absl::flat_hash_map<const HloInstruction*, size_t> index_of;
  for (VerificationError& error : FindErrors(module, std::numeric_limits<int64_t>::max())) {
    // A computation cannot be without its parameters.
    if (!error.is_of_instruction_alone || error.instruction->opcode() == HloOpcode::kParameter) {
      return absl::InvalidArgumentError(error.ToString());
    }
    index_of.emplace(error.instruction, result.set_aside.size());
    const bool is_call = CalledWithOtherShapes(*error.instruction) != nullptr;
    result.set_aside.push_back({std::move(error), is_call});
  }
  auto copy = RewriteModule(module, [&](InstructionRewriter& rewriter) {
    const auto found = index_of.find(&rewriter.original());
    if (found == index_of.end()) return absl::OkStatus();
    const SetAside& aside = result.set_aside[found->second];
    if (aside.is_call) {
      GiveParametersTheirShapes(*CalledWithOtherShapes(rewriter.original()), aside.error.message,
                                rewriter);
    } else {
      Shape shape = rewriter.original().shape();
      if (!CheckIsValid(shape).ok()) shape.ClearLayout();
      SetWhy(aside.error.message,
             rewriter.Replace(HloOpcode::kCustomCall, shape, rewriter.operands()));
    }
    return absl::OkStatus();
  });
  if (!copy.ok()) return copy.status();
  result.module = *std::move(copy);
  return result;
}

std::optional<absl::string_view> WhyUnverified(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kCustomCall) return std::nullopt;
  absl::string_view why = instruction.custom_call_target();
  if (!absl::ConsumePrefix(&why, kUnverifiedTarget)) return std::nullopt;
  return why;
}

}  // namespace xla_indexing

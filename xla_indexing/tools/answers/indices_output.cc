#include "xla_indexing/tools/answers/indices_output.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/gpu/fusing/fuse_like_xla.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tools/input/read_modules.h"

namespace xla_indexing {
namespace {

using internal::JsonWriter;

absl::string_view PropertyAnswerText(Answer answer) {
  switch (answer) {
    case Answer::kYes:
      return "yes";
    case Answer::kNo:
      return "no";
    case Answer::kUndecided:
      break;
  }
  return "undecided";
}

void AppendProperty(absl::string_view name, const IndexProperty& property, std::string* out) {
  absl::StrAppend(out, "  ", name, ": ", PropertyAnswerText(property.holds), ": ", property.reason,
                  "\n");
}

void WriteProperty(const IndexProperty& property, JsonWriter* json) {
  json->Field("answer", PropertyAnswerText(property.holds));
  json->Field("reason", property.reason);
  json->FieldIfAny("where", property.where);
}

// Whether the instruction, or what it calls, has something that the question is about. Computations
// that call one another again and again are looked into once.
bool ComputesIndexed(const HloInstruction& instruction) {
  if (HasIndexStructure(instruction)) return true;
  absl::flat_hash_set<const HloComputation*> seen;
  std::vector<const HloComputation*> open;
  const auto call = [&](const HloInstruction& caller) {
    const HloComputation* called = caller.inlined_computation();
    if (called != nullptr && seen.insert(called).second) open.push_back(called);
  };
  call(instruction);
  while (!open.empty()) {
    const HloComputation& computation = *open.back();
    open.pop_back();
    for (const HloInstruction* inner : computation.instructions()) {
      if (HasIndexStructure(*inner)) return true;
      call(*inner);
    }
  }
  return false;
}

bool IsScatter(const InstructionIndices& indices) {
  return indices.instruction->opcode() == HloOpcode::kScatter;
}

}  // namespace

std::vector<InstructionIndices> ReportIndices(const Subject& subject, mlir::MLIRContext* context) {
  if (!subject.is_fusion && !ComputesIndexed(*subject.instruction)) return {};
  const absl::StatusOr<FusionView> view = subject.is_fusion
                                              ? FusionView::OfComputation(subject.computation())
                                              : ViewWithIndices(*subject.instruction);
  if (!view.ok()) return {};
  auto reported = IndexStructuresOf(*view, context);
  return reported.ok() ? *std::move(reported) : std::vector<InstructionIndices>();
}

void AppendIndices(const InstructionIndices& indices, std::string* out) {
  const IndexStructure& structure = indices.structure;
  absl::StrAppend(out, "Indices of ", indices.instruction->name(), ": ", structure.name, ": ",
                  structure.reason, "\n");
  if (!structure.not_replaced.empty()) {
    absl::StrAppend(out, "  stays: ", structure.not_replaced, "\n");
  }
  AppendProperty("sorted", structure.sorted, out);
  if (IsScatter(indices)) AppendProperty("unique", structure.unique, out);
  AppendProperty("in bounds", structure.in_bounds, out);
}

void WriteIndices(const InstructionIndices& indices, JsonWriter* json) {
  const IndexStructure& structure = indices.structure;
  json->Field("computation", indices.instruction->parent()->name());
  json->Field("instruction", indices.instruction->name());
  json->Field("form", structure.name);
  json->Field("reason", structure.reason);
  json->FieldIfAny("stays", structure.not_replaced);
  json->Object("sorted", structure.sorted, WriteProperty);
  if (IsScatter(indices)) json->Object("unique", structure.unique, WriteProperty);
  json->Object("in_bounds", structure.in_bounds, WriteProperty);
}

int PrintRewrittenModules(const CommandLine& line) {
  return PrintEachModule(line.files, [&](const HloModule& read) -> absl::StatusOr<std::string> {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const HloModule* module = &read;
    absl::StatusOr<std::unique_ptr<HloModule>> rewritten;
    absl::StatusOr<std::unique_ptr<HloModule>> fused;
    if (line.queries.indices) {
      rewritten = RewriteIndices(*module, &context);
      if (!rewritten.ok()) return rewritten.status();
      module = rewritten->get();
    }
    if (line.assume == AssumeMode::kFused) {
      fused = FuseLikeXla(*module);
      if (!fused.ok()) return fused.status();
      module = fused->get();
    }
    return module->ToString();
  });
}

}  // namespace xla_indexing

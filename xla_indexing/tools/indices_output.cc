#include "xla_indexing/tools/indices_output.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/tools/files.h"
#include "xla_indexing/tools/json_writer.h"
#include "xla_indexing/tools/read_modules.h"

namespace xla_indexing {
namespace {

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

void WriteProperty(absl::string_view name, const IndexProperty& property, JsonWriter* json) {
  json->Key(name);
  json->BeginObject();
  json->Key("answer");
  json->String(PropertyAnswerText(property.holds));
  json->Key("reason");
  json->String(property.reason);
  json->EndObject();
}

bool IsScatter(const ReportedIndices& indices) {
  return indices.instruction->opcode() == HloOpcode::kScatter;
}

}  // namespace

std::vector<ReportedIndices> ReportIndices(const Subject& subject, mlir::MLIRContext* context) {
  std::vector<ReportedIndices> reported;
  const auto add = [&](const HloInstruction& instruction) {
    if (!HasIndexStructure(instruction)) return;
    absl::StatusOr<IndexStructure> structure = IndexStructureOf(instruction, context);
    if (structure.ok()) reported.push_back({&instruction, *std::move(structure)});
  };
  const HloComputation* computation =
      subject.is_fusion ? &subject.computation() : subject.instruction->inlined_computation();
  if (computation == nullptr) {
    add(*subject.instruction);
  } else {
    for (const HloInstruction* instruction : computation->instructions()) add(*instruction);
  }
  return reported;
}

void AppendIndices(const ReportedIndices& indices, std::string* out) {
  const IndexStructure& structure = indices.structure;
  absl::StrAppend(out, "Indices of ", indices.instruction->name(), ": ", structure.name, ": ",
                  structure.reason, "\n");
  AppendProperty("sorted", structure.sorted, out);
  if (IsScatter(indices)) AppendProperty("unique", structure.unique, out);
  AppendProperty("in bounds", structure.in_bounds, out);
}

void AppendIndicesJson(const ReportedIndices& indices, std::string* objects) {
  const IndexStructure& structure = indices.structure;
  if (!objects->empty()) objects->append(", ");
  JsonWriter json(objects);
  json.BeginObject();
  json.Key("computation");
  json.String(indices.instruction->parent()->name());
  json.Key("instruction");
  json.String(indices.instruction->name());
  json.Key("form");
  json.String(structure.name);
  json.Key("reason");
  json.String(structure.reason);
  WriteProperty("sorted", structure.sorted, &json);
  if (IsScatter(indices)) WriteProperty("unique", structure.unique, &json);
  WriteProperty("in_bounds", structure.in_bounds, &json);
  json.EndObject();
}

int PrintRewrittenModules(const CommandLine& line) {
  int exit_code = 0;
  const auto fail = [&](absl::string_view message) {
    WriteError(message);
    exit_code = 1;
  };
  for (const std::string& file : line.files) {
    absl::StatusOr<SourceText> source = ReadSource(file);
    if (!source.ok()) {
      fail(source.status().message());
      continue;
    }
    for (const ReadModule& read : ReadModules(*std::move(source))) {
      for (const std::string& error : read.errors) fail(error);
      if (read.module == nullptr) continue;
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      const auto rewritten = RewriteIndices(*read.module, &context);
      if (rewritten.ok()) {
        WriteOutput((*rewritten)->ToString());
      } else {
        fail(absl::StrCat(file, ": error: ", rewritten.status().message()));
      }
    }
  }
  return exit_code;
}

}  // namespace xla_indexing

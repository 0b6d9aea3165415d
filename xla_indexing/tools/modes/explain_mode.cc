#include "xla_indexing/tools/modes/explain_mode.h"

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/query/explain/explain_dependence.h"
#include "xla_indexing/tools/answers/json_writer.h"
#include "xla_indexing/tools/input/files.h"
#include "xla_indexing/tools/input/read_modules.h"

namespace xla_indexing {
namespace {

constexpr int kWrongQuestion = 2;

std::string ExplanationJson(const DependenceReport& report) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.StringField("answer", report.answer == Answer::kYes  ? "yes"
                             : report.answer == Answer::kNo ? "no"
                                                            : "undecided");
  json.StringField("reason", report.reason);
  json.Key("depends_on_values");
  json.Bool(report.depends_on_values);
  json.Key("steps");
  json.BeginArray();
  for (const DependenceStep& step : report.steps) {
    json.BeginObject();
    json.StringField("instruction", step.instruction);
    json.StringField("opcode", step.opcode);
    json.StringField("computation", step.computation);
    json.IntegerField("leaf", step.leaf);
    json.IntegersField("element", step.element);
    json.IntegersField("iterations", step.iterations);
    json.IntegerField("repeats", step.repeats);
    json.StringField("op_name", step.op_name);
    json.StringField("source_file", step.source_file);
    json.IntegerField("source_line", step.source_line);
    json.StringField("reason", step.reason);
    json.Key("runtime_values");
    json.BeginArray();
    for (const auto& [name, value] : step.runtime_values) {
      json.BeginObject();
      json.StringField("name", name);
      json.IntegerField("value", value);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return absl::StrCat(out, "\n");
}

}  // namespace

int PrintExplanation(const CommandLine& line) {
  const std::unique_ptr<HloModule> module = ReadOnlyModule(line.files[0], "--explain");
  if (module == nullptr) return kWrongQuestion;
  const HloComputation* computation = FindNamedComputation(*module, line.computation);
  if (computation == nullptr) return kWrongQuestion;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  FusionOptions options;
  options.indexing.exact = line.exact;
  options.indexing.dependence = line.AskedDependence();
  HloIndexers indexers(&context, options);
  const absl::StatusOr<DependenceReport> report =
      ExplainDependence(*computation,
                        {.output_leaf = line.output_id.value_or(0),
                         .output_element = *line.output_element,
                         .operand = line.operand_id.value_or(0),
                         .operand_leaf = line.operand_leaf.value_or(0),
                         .operand_element = *line.operand_element},
                        indexers);
  if (!report.ok()) {
    WriteError(absl::StrCat("print-indexing: error: ", report.status().message()));
    return kWrongQuestion;
  }
  WriteOutput(line.format == OutputFormat::kJson ? ExplanationJson(*report)
                                                 : absl::StrCat(DependenceText(*report), "\n"));
  if (report->answer == Answer::kUndecided) return 3;
  return report->answer == Answer::kYes ? 0 : 1;
}

}  // namespace xla_indexing

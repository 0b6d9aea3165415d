#include "xla_indexing/tools/modes/explain_mode.h"

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/query/explain/explain_dependence.h"
#include "xla_indexing/report/write/report_json.h"
#include "xla_indexing/tools/input/files.h"
#include "xla_indexing/tools/input/read_modules.h"

namespace xla_indexing {
namespace {

constexpr int kWrongQuestion = 2;

}  // namespace

absl::StatusOr<DependenceReport> Explain(const HloComputation& computation,
                                         const CommandLine& line) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  FusionOptions options;
  options.indexing.exact = line.exact;
  options.indexing.dependence = line.AskedDependence();
  HloIndexers indexers(&context, options);
  return ExplainDependence(computation,
                           {.output_leaf = line.output_id.value_or(0),
                            .output_element = *line.output_element,
                            .operand = line.operand_id.value_or(0),
                            .operand_leaf = line.operand_leaf.value_or(0),
                            .operand_element = *line.operand_element},
                           indexers);
}

int PrintExplanation(const CommandLine& line) {
  const std::unique_ptr<HloModule> module = ReadOnlyModule(line.files[0], "--explain");
  if (module == nullptr) return kWrongQuestion;
  const HloComputation* computation = FindNamedComputation(*module, line.computation);
  if (computation == nullptr) return kWrongQuestion;
  const absl::StatusOr<DependenceReport> report = Explain(*computation, line);
  if (!report.ok()) return FailWith(report.status().message(), kWrongQuestion);
  WriteOutput(line.format == OutputFormat::kJson ? DependenceJson(*report)
                                                 : absl::StrCat(DependenceText(*report), "\n"));
  if (report->answer == Answer::kUndecided) return 3;
  return report->answer == Answer::kYes ? 0 : 1;
}

}  // namespace xla_indexing

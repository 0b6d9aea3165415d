#include "xla_indexing/tools/modes/compare_mode.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/query/equivalence/equivalence.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tools/input/files.h"
#include "xla_indexing/tools/input/read_modules.h"

namespace xla_indexing {
namespace {

using internal::JsonWriter;

constexpr int kBadInput = 2;

absl::string_view AnswerText(Answer answer) {
  switch (answer) {
    case Answer::kYes:
      return "same";
    case Answer::kNo:
      return "different";
    case Answer::kUndecided:
      break;
  }
  return "not decided";
}

int ExitCodeOf(Answer answer) {
  switch (answer) {
    case Answer::kYes:
      return 0;
    case Answer::kNo:
      return 1;
    case Answer::kUndecided:
      break;
  }
  return 3;
}

std::string ElementText(const std::vector<int64_t>& element) {
  return absl::StrCat("(", absl::StrJoin(element, ", "), ")");
}

// `(0, 1) reads (1, 0) in the first alone`; `for (0, 1), (1, 0) meets (2) in the first alone`
std::string PairText(const LeafComparison& leaf) {
  const PairOfOne& pair = *leaf.difference;
  const std::string output = ElementText(pair.output_element);
  const std::string operand = ElementText(pair.operand_element);
  std::string text = pair.other_element ? absl::StrCat("for ", output, ", ", operand, " meets ",
                                                       ElementText(*pair.other_element))
                                        : absl::StrCat(output, " reads ", operand);
  absl::StrAppend(&text, " in the ", pair.is_of_first ? "first" : "second", " alone");
  for (const auto& [name, value] : pair.runtime_values) {
    absl::StrAppend(&text, ", where ", name, " gives ", value);
  }
  return text;
}

// ` operand 1`, ` operand 1 leaf 2`
void AppendOperand(const HloComputation& computation, const OperandLeaf& leaf, std::string* text) {
  absl::StrAppend(text, " operand ", leaf.operand);
  if (computation.parameters()[leaf.operand]->shape().IsTuple()) {
    absl::StrAppend(text, " leaf ", leaf.operand_leaf);
  }
}

void AppendLeaf(const LeafComparison& leaf, const HloComputation& computation, std::string* text) {
  absl::StrAppend(text, "Output ", leaf.output_leaf);
  AppendOperand(computation, {leaf.parameter, leaf.parameter_leaf}, text);
  if (leaf.other) {
    absl::StrAppend(text, " with");
    AppendOperand(computation, *leaf.other, text);
  }
  absl::StrAppend(text, ": ", AnswerText(leaf.same));
  if (leaf.same == Answer::kUndecided) absl::StrAppend(text, ": ", leaf.reason);
  absl::StrAppend(text, "\n");
  if (leaf.difference) {
    absl::StrAppend(text, "  ", leaf.difference->is_least ? "first: " : "", PairText(leaf), "\n");
  }
}

std::string ReportText(const EquivalenceReport& report, const HloComputation& computation) {
  if (!report.difference.empty()) return absl::StrCat("different: ", report.difference, "\n");
  std::string text;
  for (const LeafComparison& leaf : report.leaves) AppendLeaf(leaf, computation, &text);
  for (const LeafComparison& pair : report.pairs) AppendLeaf(pair, computation, &text);
  if (report.not_compared > 0) {
    absl::StrAppend(&text, report.not_compared, " pairs of leaves not compared: more than ",
                    kMaxComparedPairs, "\n");
  }
  absl::StrAppend(&text, "What is read: ", AnswerText(report.reads), "\nWhat meets: ",
                  report.reads == Answer::kYes ? AnswerText(report.meets) : "not compared");
  if (report.reads == Answer::kYes && !report.meets_reason.empty()) {
    absl::StrAppend(&text, ": ", report.meets_reason);
  }
  absl::StrAppend(&text, "\n");
  return text;
}

void WritePair(const PairOfOne& pair, JsonWriter* json) {
  json->Field("read_by", pair.is_of_first ? "first" : "second");
  json->Field("output_element", pair.output_element);
  json->Field("operand_element", pair.operand_element);
  json->FieldIfAny("other_element", pair.other_element);
  json->NamedValues("runtime_values", pair.runtime_values, "instruction");
  json->Field("is_first", pair.is_least);
}

void WriteLeaf(const LeafComparison& leaf, JsonWriter* json) {
  json->Field("output_id", leaf.output_leaf);
  json->Field("operand_id", leaf.parameter);
  json->Field("operand_leaf", leaf.parameter_leaf);
  if (leaf.other) {
    json->Field("other_id", leaf.other->operand);
    json->Field("other_leaf", leaf.other->operand_leaf);
  }
  json->Field("answer", AnswerText(leaf.same));
  json->Field("reason", leaf.same == Answer::kUndecided ? leaf.reason : "");
  json->ObjectIfAny("difference", leaf.difference, WritePair);
}

std::string ReportJson(const EquivalenceReport& report) {
  std::string out;
  JsonWriter json(&out);
  json.Object([&] {
    json.Field("answer", AnswerText(report.same));
    json.Field("reads", AnswerText(report.reads));
    json.Field("meets", AnswerText(report.meets));
    json.Field("reason", report.difference.empty() ? report.meets_reason : report.difference);
    json.Objects("leaves", report.leaves, WriteLeaf);
    json.Objects("pairs", report.pairs, WriteLeaf);
    if (report.not_compared > 0) json.Field("pairs_not_compared", report.not_compared);
  });
  out.push_back('\n');
  return out;
}

}  // namespace

int PrintComparison(const CommandLine& line) {
  // One name, or none, is for both.
  std::optional<std::string> names[2];
  if (line.computation) {
    const std::vector<std::string> given = absl::StrSplit(*line.computation, ',');
    for (size_t i = 0; i < 2; ++i) {
      names[i] = std::string(absl::StripPrefix(given[std::min(i, given.size() - 1)], "%"));
    }
  }
  std::vector<std::unique_ptr<HloModule>> modules;
  for (const std::string& file : line.files) {
    modules.push_back(ReadOnlyModule(file, "--compare"));
    if (modules.back() == nullptr) return kBadInput;
  }
  const HloComputation* first = FindNamedComputation(*modules.front(), names[0]);
  const HloComputation* second = FindNamedComputation(*modules.back(), names[1]);
  if (first == nullptr || second == nullptr) return kBadInput;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::StatusOr<EquivalenceReport> report = CompareReads(*first, *second, &context);
  if (!report.ok()) return FailWith(report.status().message(), ExitCodeOf(Answer::kUndecided));
  WriteOutput(line.format == OutputFormat::kJson ? ReportJson(*report)
                                                 : ReportText(*report, *first));
  return ExitCodeOf(report->same);
}

}  // namespace xla_indexing

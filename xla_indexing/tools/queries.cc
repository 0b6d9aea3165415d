#include "xla_indexing/tools/queries.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/tools/tiling_output.h"
#include "xla_indexing/tools/utilization_output.h"

namespace xla_indexing {
namespace {

void AnswerUtilization(const Subject& subject, Direction direction, const CommandLine& line,
                       mlir::MLIRContext* context, std::vector<ReportedEntry>* entries,
                       QueryTotals* totals) {
  InstructionIndexing maps;
  for (const ReportedEntry& entry : *entries) {
    if (entry.maps.empty()) continue;
    OperandIndexingSet set;
    for (const ReportedMap& map : entry.maps) set.Add(map.indexing);
    maps.push_back({entry.output_leaf, entry.operand, entry.operand_leaf, std::move(set)});
  }
  const auto exact_maps = [&] {
    CommandLine exact = line;
    exact.exact = true;
    return ComputeIndexing(subject, direction, exact, context);
  };
  // What the analysis says of a subject fits the subject's leaves.
  const absl::StatusOr<UtilizationReport> report =
      ReportUtilization(maps, exact_maps, *subject.instruction, subject.operands());
  if (!report.ok()) return;
  // Both are sorted by output leaf, operand, operand leaf.
  auto answer = report->operands.begin();
  const auto place = [](const auto& of) {
    return std::tie(of.output_leaf, of.operand, of.operand_leaf);
  };
  for (ReportedEntry& entry : *entries) {
    while (answer != report->operands.end() && place(*answer) < place(entry)) ++answer;
    if (answer != report->operands.end() && place(*answer) == place(entry)) {
      entry.utilization = answer->utilization;
    }
  }
  totals->AddTraffic(subject, report->total);
}

}  // namespace

void QueryTotals::AddRow(const Row& row) {
  // Subjects come computation by computation.
  if (!rows_.empty() && rows_.back().computation == row.computation &&
      rows_.back().is_fusion == row.is_fusion) {
    rows_.back().traffic.Add(row.traffic);
  } else {
    rows_.push_back(row);
  }
}

void QueryTotals::AddTraffic(const Subject& subject, const Traffic& traffic) {
  AddRow({std::string(subject.computation().name()), subject.is_fusion, traffic});
}

void QueryTotals::AddWrites(const Subject& subject, const std::vector<ReportedWrites>& writes) {
  AppendWritesJson(subject, writes, &writes_json_);
}

void QueryTotals::Add(const QueryTotals& other) {
  if (!writes_json_.empty() && !other.writes_json_.empty()) writes_json_.append(", ");
  writes_json_.append(other.writes_json_);
  for (const Row& row : other.rows_) AddRow(row);
}

void QueryTotals::AppendText(std::string* out) const {
  for (const Row& row : rows_) {
    absl::StrAppend(out, "Total of ", row.computation, ": ", TrafficText(row.traffic), "\n");
  }
}

void QueryTotals::WriteJson(JsonWriter* json) const {
  if (!writes_json_.empty()) {
    json->Key("outputs");
    json->BeginArray();
    json->Raw(writes_json_);
    json->EndArray();
  }
  if (rows_.empty()) return;
  json->Key("totals");
  json->BeginArray();
  for (const Row& row : rows_) {
    json->BeginObject();
    json->Key("computation");
    json->String(row.computation);
    json->Key("scope");
    json->String(row.is_fusion ? "fusion" : "instruction");
    WriteTraffic(row.traffic, json);
    json->EndObject();
  }
  json->EndArray();
}

std::vector<ReportedWrites> AnswerQueries(const Subject& subject, Direction direction,
                                          const CommandLine& line, mlir::MLIRContext* context,
                                          std::vector<ReportedEntry>* entries,
                                          QueryTotals* totals) {
  if (line.queries.utilization && direction == Direction::kOutputToInput) {
    AnswerUtilization(subject, direction, line, context, entries, totals);
  }
  if (line.queries.tiling) AnswerTiling(subject, direction, line, entries);
  std::vector<ReportedWrites> writes;
  if (line.queries.coalescing && direction == Direction::kOutputToInput) {
    writes = AnswerCoalescing(subject, line, context, entries);
    if (line.format == OutputFormat::kJson) totals->AddWrites(subject, writes);
  }
  return writes;
}

}  // namespace xla_indexing

#include "xla_indexing/tools/queries.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/ops/indexing_entry.h"
#include "xla_indexing/tools/tiling_output.h"
#include "xla_indexing/tools/utilization_output.h"

namespace xla_indexing {

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

void QueryTotals::AddTiling(const std::string& json) {
  absl::StrAppend(&tilings_json_, tilings_json_.empty() ? "" : ", ", json);
}

void QueryTotals::Add(const QueryTotals& other) {
  if (!other.tilings_json_.empty()) AddTiling(other.tilings_json_);
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
  if (!tilings_json_.empty()) {
    json->Key("tilings");
    json->BeginArray();
    json->Raw(tilings_json_);
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

QueryAnswers::QueryAnswers(const Subject& subject, Direction direction, const CommandLine& line,
                           SubjectIndexer* indexer)
    : subject_(subject),
      direction_(direction),
      line_(line),
      indexer_(*indexer),
      is_to_input_(direction == Direction::kOutputToInput),
      tiling_(line.queries.tiling && is_to_input_
                  ? SubjectTiling::Create(subject, indexer->context())
                  : absl::NotFoundError("not asked for")),
      utilization_(*subject.instruction, subject.operands()),
      coalescing_(subject, line, indexer->context()) {}

void QueryAnswers::AnswerUtilization(const ReportPart& part, std::vector<ReportedEntry>* entries) {
  InstructionIndexing maps;
  for (const ReportedEntry& entry : *entries) {
    OperandIndexingSet set;
    for (const ReportedMap& map : entry.maps) set.Add(map.indexing);
    maps.push_back({entry.output_leaf, entry.operand, entry.operand_leaf, std::move(set)});
  }
  const auto exact_maps = [&] {
    return indexer_.Compute(subject_, direction_, part.leaf, /*exact=*/true);
  };
  // What the analysis says of a subject fits the subject's leaves.
  const absl::StatusOr<std::vector<OperandUtilization>> answers =
      utilization_.Count(maps, exact_maps);
  if (!answers.ok()) return;
  for (size_t i = 0; i < answers->size(); ++i) {
    (*entries)[i].utilization = (*answers)[i].utilization;
  }
}

void QueryAnswers::Answer(const ReportPart& part, std::vector<ReportedEntry>* entries) {
  if (line_.queries.utilization && is_to_input_) AnswerUtilization(part, entries);
  if (line_.queries.tiling) AnswerTiling(subject_, direction_, line_, tiling_, entries);
  if (line_.queries.coalescing && is_to_input_) coalescing_.AnswerReads(entries);
}

std::string QueryAnswers::FinishTiling(QueryTotals* totals) {
  // A question about one operand is not about the whole.
  if (!line_.queries.tiling || !is_to_input_ || line_.operand_id) return "";
  const Shape& result = subject_.instruction->shape();
  bool has_array = false;
  for (int64_t leaf = 0; leaf < result.LeafCount(); ++leaf) {
    has_array = has_array || result.Leaf(leaf).IsArray();
  }
  if (!has_array) return "";
  ReportedTiling report = ReportTiling(subject_, tiling_, line_);
  if (line_.format == OutputFormat::kJson) totals->AddTiling(report.json);
  return std::move(report.text);
}

std::vector<ReportedWrites> QueryAnswers::Finish(QueryTotals* totals) {
  if (line_.queries.utilization && is_to_input_) {
    Traffic traffic = utilization_.Total();
    if (!has_all_entries_) {
      traffic.bytes_of_reads = Interval::AtLeast(traffic.bytes_of_reads.lower());
      traffic.bytes_read = Interval::AtLeast(traffic.bytes_read.lower());
    }
    totals->AddTraffic(subject_, traffic);
  }
  if (!line_.queries.coalescing || !is_to_input_) return {};
  std::vector<ReportedWrites> writes = coalescing_.AnswerWrites();
  if (line_.format == OutputFormat::kJson) totals->AddWrites(subject_, writes);
  return writes;
}

}  // namespace xla_indexing

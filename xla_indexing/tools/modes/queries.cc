#include "xla_indexing/tools/modes/queries.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/tools/answers/module_bounds.h"
#include "xla_indexing/tools/answers/tiling_output.h"
#include "xla_indexing/tools/answers/utilization_output.h"

namespace xla_indexing {

using internal::JsonWriter;

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

void QueryTotals::AddAliases(const std::vector<CheckedAlias>& aliases) {
  for (const CheckedAlias& alias : aliases) {
    AppendAlias(alias, &aliases_text_);
    AddObject(kAliases, [&](JsonWriter* json) { WriteAlias(alias, json); });
  }
}

void QueryTotals::AddOneBuffer(const std::vector<CheckedValue>& values) {
  for (const CheckedValue& value : values) {
    AppendCheckedValue(value, &aliases_text_);
    AddObject(kOneBuffer, [&](JsonWriter* json) { WriteCheckedValue(value, json); });
  }
}

void QueryTotals::Add(const QueryTotals& other) {
  for (int list = 0; list < kNumLists; ++list) {
    std::string& objects = lists_[list];
    if (!objects.empty() && !other.lists_[list].empty()) objects.append(", ");
    objects.append(other.lists_[list]);
  }
  aliases_text_ += other.aliases_text_;
  for (const Row& row : other.rows_) AddRow(row);
}

void QueryTotals::AppendText(std::string* out) const {
  out->append(aliases_text_);
  for (const Row& row : rows_) {
    absl::StrAppend(out, "Total of ", row.computation, ": ", TrafficText(row.traffic), "\n");
  }
}

void QueryTotals::WriteJson(JsonWriter* json) const {
  constexpr absl::string_view kKeys[kNumLists] = {"outputs", "tilings", "kernels",
                                                  "indices", "aliases", "one_buffer"};
  for (int list = 0; list < kNumLists; ++list) {
    if (lists_[list].empty()) continue;
    json->Array(kKeys[list], [&] { json->Raw(lists_[list]); });
  }
  if (rows_.empty()) return;
  json->Objects("totals", rows_, [&](const Row& row) {
    json->Field("computation", row.computation);
    json->Field("scope", row.is_fusion ? "fusion" : "instruction");
    WriteTraffic(row.traffic, json);
  });
}

QueryAnswers::QueryAnswers(const Subject& subject, Direction direction, const CommandLine& line,
                           SubjectIndexer* indexer)
    : subject_(subject),
      direction_(direction),
      line_(line),
      indexer_(*indexer),
      is_to_input_(direction == Direction::kOutputToInput),
      tiling_(line.queries.tiling && is_to_input_
                  ? SubjectTiling::Create(subject, indexer->context(), LoopsOf(line))
                  : absl::NotFoundError("not asked for")),
      utilization_(*subject.instruction, subject.operands()),
      coalescing_(subject, line, indexer->context()),
      in_place_(subject, line, indexer->context()) {}

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
  // The answers of the analysis about a subject fit the subject's leaves.
  const absl::StatusOr<std::vector<OperandUtilization>> answers =
      utilization_.Count(maps, exact_maps);
  if (!answers.ok()) return;
  for (size_t i = 0; i < answers->size(); ++i) {
    (*entries)[i].utilization = (*answers)[i].utilization;
  }
}

void QueryAnswers::Answer(const ReportPart& part, std::vector<ReportedEntry>* entries) {
  if (line_.queries.utilization && is_to_input_) AnswerUtilization(part, entries);
  if (line_.queries.in_place && is_to_input_) in_place_.Answer(entries);
  if (line_.queries.tiling) AnswerTiling(subject_, direction_, line_, tiling_, entries);
  if (line_.queries.coalescing && is_to_input_ && !line_.launch.is_emitters) {
    coalescing_.AnswerReads(entries);
  }
}

void QueryAnswers::FinishTiling(QueryTotals* totals, std::string* out) {
  // A question about one operand is not about the whole.
  if (!line_.queries.tiling || !is_to_input_ || line_.operand_id) return;
  const Shape& result = subject_.instruction->shape();
  bool has_array = false;
  for (int64_t leaf = 0; leaf < result.LeafCount(); ++leaf) {
    has_array = has_array || result.Leaf(leaf).IsArray();
  }
  if (!has_array) return;
  std::string text;
  const auto report = [&](JsonWriter* json) {
    ReportTiling(subject_, tiling_, line_, &text, json);
  };
  if (line_.format == OutputFormat::kJson) return totals->AddObject(QueryTotals::kTilings, report);
  std::string unused;
  internal::AppendObject(report, &unused);
  out->append(text);
}

void QueryAnswers::Finish(QueryTotals* totals, std::string* out) {
  FinishTiling(totals, out);
  const bool is_text = line_.format == OutputFormat::kText;
  if (line_.queries.indices && is_to_input_) {
    for (const InstructionIndices& indices : ReportIndices(subject_, indexer_.context())) {
      if (is_text) {
        AppendIndices(indices, out);
      } else {
        totals->AddObject(QueryTotals::kIndices,
                          [&](JsonWriter* json) { WriteIndices(indices, json); });
      }
    }
  }
  if (line_.queries.utilization && is_to_input_) {
    Traffic traffic = utilization_.Total();
    if (!has_all_entries_) {
      traffic.bytes_of_reads = Interval::AtLeast(traffic.bytes_of_reads.lower());
      traffic.bytes_read = Interval::AtLeast(traffic.bytes_read.lower());
    }
    totals->AddTraffic(subject_, traffic);
  }
  if (!line_.queries.coalescing || !is_to_input_) return;
  const double factor = line_.launch.options.factor;
  if (line_.launch.is_emitters) {
    if (!subject_.WritesItsResult()) return;
    ReportedKernel kernel;
    if (has_all_entries_) {
      kernel = ReportKernel(subject_, line_, indexer_.context());
    } else {
      kernel.error = ModuleBounds::WhyNotListed();
    }
    if (is_text) return AppendKernel(kernel, factor, out);
    return totals->AddObject(QueryTotals::kKernels,
                             [&](JsonWriter* json) { WriteKernel(subject_, kernel, json); });
  }
  const std::vector<ReportedWrites> writes = coalescing_.AnswerWrites();
  if (is_text) return AppendWrites(writes, factor, out);
  for (const ReportedWrites& leaf : writes) {
    totals->AddObject(QueryTotals::kOutputs,
                      [&](JsonWriter* json) { WriteWrites(subject_, leaf, json); });
  }
}

}  // namespace xla_indexing

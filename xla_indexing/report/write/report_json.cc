#include "xla_indexing/report/write/report_json.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/query/explain/explain_dependence.h"
#include "xla_indexing/report/kernel_report.h"
#include "xla_indexing/report/saturated.h"
#include "xla_indexing/report/write/drawing_json.h"
#include "xla_indexing/report/write/json_writer.h"

namespace xla_indexing {
namespace {

using internal::JsonStyle;
using internal::JsonWriter;

// Each function writes the fields of an object.

void WriteLanes(const LaneDistance& distance, JsonWriter* json) {
  json->Field("bytes_apart", distance.bytes);
  json->Field("dimension", distance.dimension);
  json->Field("step", distance.step);
}

void WriteAccess(const KernelAccess& access, int64_t sector_bytes, JsonWriter* json) {
  json->Field("access", access.is_write ? "write" : "read");
  if (!access.is_write) json->Field("operand_id", access.operand);
  json->Field("leaf", access.leaf);
  json->Field("shape", access.shape);
  json->Field("bytes", access.bytes);
  json->Field("map", access.map);
  json->Field("requests", access.requests);
  json->Field("sectors", access.sectors);
  json->Field("least_sectors", access.least_sectors);
  json->Field("bytes_wasted", access.WastedBytes(sector_bytes));
  json->Field("coalesced", access.coalesced);
  json->ObjectIfAny("lanes", access.distance, WriteLanes);
  json->Field("reason", access.reason);
}

void WriteRead(const UnchangedLeafRead& read, JsonWriter* json) {
  json->Field("leaf", read.leaf);
  json->Field("shape", read.shape);
  json->Field("bytes_read", read.bytes_read);
  json->Field("bytes", read.bytes);
  json->Field("maps", read.maps);
}

void WriteLoop(const LoopFigures& loop, JsonWriter* json) {
  json->Field("iterations", loop.iterations);
  json->Field("kernel_runs", loop.kernel_runs);
  json->Objects("reads", loop.reads, WriteRead);
}

void WriteRecomputation(const Recomputation& again, JsonWriter* json) {
  json->Field("instruction", again.instruction);
  json->Field("opcode", again.opcode);
  json->Field("elements", again.elements);
  json->Field("computations", again.computations);
}

void WriteAnalysis(const KernelAnalysis& analysis, int64_t sector_bytes, JsonWriter* json) {
  json->Field("kernel", analysis.kernel);
  json->Field("kind", analysis.kind);
  json->Field("hero", analysis.hero);
  json->Field("blocks", analysis.blocks);
  json->Field("threads_per_block", analysis.threads_per_block);
  json->Field("bytes_read", analysis.bytes_read);
  json->Field("bytes_written", analysis.bytes_written);
  json->Field("bytes_of_reads", analysis.bytes_of_reads);
  json->Field("has_sectors", analysis.has_sectors);
  if (analysis.has_sectors) {
    json->Field("sectors", analysis.sectors);
    json->Field("least_sectors", analysis.least_sectors);
    json->Field("bytes_moved", analysis.bytes_moved);
    json->Field("bytes_wasted", analysis.bytes_wasted);
  }
  json->Field("traffic", analysis.traffic);
  json->Field("flops", analysis.flops);
  json->Field("microseconds", analysis.microseconds);
  json->Field("reads_per_element", analysis.reads_per_element);
  json->Field("most_read_operand", analysis.most_read_operand);
  json->Objects("accesses", analysis.accesses,
                [&](const KernelAccess& access) { WriteAccess(access, sector_bytes, json); });
  json->Field("worst", analysis.worst);
  json->Objects("recomputed", analysis.recomputed, WriteRecomputation);
  json->ObjectIfAny("loop", analysis.loop, WriteLoop);
  json->Field("exact", analysis.IsExact());
  if (analysis.drawing != nullptr) {
    json->Object("drawing", *analysis.drawing, internal::WriteDrawing);
  }
}

void WriteFinding(const Finding& finding, JsonWriter* json) {
  json->Field("bytes", finding.bytes);
  json->Field("text", finding.text);
}

void WriteSource(const SourcePlace& source, JsonWriter* json) {
  json->Field("op_name", source.op_name);
  json->Field("source_file", source.file);
  json->Field("source_function", source.function);
  json->Field("source_line", source.line);
}

void WriteRow(const KernelRow& row, JsonWriter* json) {
  const HloInstruction& instruction = *row.instruction;
  json->Field("computation", instruction.parent()->name());
  json->Field("instruction", instruction.name());
  json->Field("opcode", instruction.opcode_name());
  if (instruction.while_body() != nullptr) json->Field("body", instruction.while_body()->name());
  json->Field("shape", instruction.shape().ToString());
  json->Field("analysis", row.analysis);
  json->Field("operands", row.operands);
  json->Field("runs", row.runs);
  json->Field("runs_reason", row.runs_reason);
  json->Field("counted_runs", row.counted_runs);
  WriteSource(row.source, json);
  json->Field("bytes_wasted", row.bytes_wasted);
  json->Field("worst_operand", row.worst_operand);
  json->Field("notes", row.notes);
  json->Objects("findings", row.findings, WriteFinding);
  json->Field("not_known", row.not_known);
}

void WriteTotals(const ReportTotals& totals, JsonWriter* json) {
  json->Field("kernels", totals.kernels);
  json->Field("without_sectors", totals.without_sectors);
  json->Field("not_exact", totals.not_exact);
  json->Field("with_unknown_runs", totals.with_unknown_runs);
  json->Field("bytes_read", totals.bytes_read);
  json->Field("bytes_written", totals.bytes_written);
  json->Field("bytes_of_reads", totals.bytes_of_reads);
  json->Field("sectors", totals.sectors);
  json->Field("least_sectors", totals.least_sectors);
  json->Field("bytes_moved", totals.bytes_moved);
  json->Field("bytes_wasted", totals.bytes_wasted);
  json->Field("traffic", totals.traffic);
  json->Field("microseconds", totals.microseconds);
}

void WriteSum(const NamedTotals& sum, JsonWriter* json) {
  json->Field("name", sum.name);
  WriteTotals(sum.totals, json);
}

void WriteGroup(const KernelGroup& group, JsonWriter* json) {
  json->Field("name", group.name);
  json->Field("analysis", group.analysis);
  json->Field("runs", group.runs);
  WriteSource(group.source, json);
  json->Field("places", group.places);
  json->Objects("findings", group.findings, WriteFinding);
  json->Object("totals", group.totals, WriteTotals);
}

void WriteStep(const DependenceStep& step, JsonWriter* json) {
  json->Field("instruction", step.instruction);
  json->Field("opcode", step.opcode);
  json->Field("computation", step.computation);
  json->Field("leaf", step.leaf);
  json->Field("element", step.element);
  json->Field("iterations", step.iterations);
  json->Field("repeats", step.repeats);
  json->Field("op_name", step.op_name);
  json->Field("source_file", step.source_file);
  json->Field("source_line", step.source_line);
  json->Field("reason", step.reason);
  json->NamedValues("runtime_values", step.runtime_values);
}

void WriteDependence(const DependenceReport& report, JsonWriter* json) {
  json->Field("answer", report.answer == Answer::kYes  ? "yes"
                        : report.answer == Answer::kNo ? "no"
                                                       : "undecided");
  json->Field("reason", report.reason);
  json->Field("depends_on_values", report.depends_on_values);
  json->Objects("steps", report.steps, WriteStep);
}

void WriteAdvice(const Advice& advice, JsonWriter* json) {
  json->Field("kind", advice.kind);
  json->Field("text", advice.text);
  WriteSource(advice.source, json);
  json->Field("microseconds", advice.microseconds);
  json->Field("traffic", advice.traffic);
  json->Field("memory", advice.memory);
}

void WriteReport(const ModuleReport& report, JsonWriter* json) {
  json->Field("module", report.module);
  json->Field("sector_bytes", report.sector_bytes);
  json->Field("warp_size", report.warp_size);
  json->Field("machine", report.machine->name);
  json->Field("platform", report.platform);
  json->Field("about", report.about);
  json->Object("totals", [&] {
    json->Field("distinct_kernels", report.totals.distinct_kernels);
    json->Field("loops", report.totals.loops);
    WriteTotals(report.totals, json);
  });
  json->Objects("advice", report.advice, WriteAdvice);
  json->Objects("groups", report.groups, WriteGroup);
  json->Objects("by_loop", report.by_loop, WriteSum);
  json->Objects("by_module", report.by_module, WriteSum);
  json->Objects("by_source", report.by_source, WriteSum);
  json->ObjectIfAny("path", report.path, WriteDependence);
  json->Objects("kernels", report.rows, WriteRow);
  json->Objects("analyses", report.analyses, [&](const KernelAnalysis& analysis) {
    WriteAnalysis(analysis, report.sector_bytes, json);
  });
}

// The object whose fields `write` writes, and a line feed.
std::string JsonLine(absl::FunctionRef<void(JsonWriter* json)> write) {
  std::string text;
  JsonWriter json(&text, JsonStyle::kCompact);
  json.Object([&] { write(&json); });
  text.push_back('\n');
  return text;
}

}  // namespace

std::string DependenceJson(const DependenceReport& report) {
  return JsonLine([&](JsonWriter* json) { WriteDependence(report, json); });
}

absl::StatusOr<std::string> NodeDataJson(const ModuleReport& report, absl::string_view figure) {
  if (figure != "time" && figure != "moved" && figure != "wasted") {
    return absl::InvalidArgumentError(
        absl::StrCat("node data are of time, moved or wasted, and not of '", figure, "'"));
  }
  std::map<absl::string_view, std::vector<const KernelRow*>> graphs;
  for (const KernelRow& row : report.rows)
    graphs[row.instruction->parent()->name()].push_back(&row);
  const auto write_value = [&](const KernelRow& row, JsonWriter* json) {
    const KernelAnalysis& analysis = report.AnalysisOf(row);
    if (figure == "time") {
      json->Field("value", analysis.microseconds * static_cast<double>(row.counted_runs));
    } else if (figure == "moved") {
      json->Field("value", internal::SaturatedProduct(analysis.traffic, row.counted_runs));
    } else {
      json->Field("value", internal::LeastOf(row.bytes_wasted));
    }
  };
  return JsonLine([&](JsonWriter* json) {
    for (const auto& [graph, rows] : graphs) {
      json->Object(graph, [&, &rows = rows] {
        json->Object("results", [&] {
          for (const KernelRow* row : rows) {
            if (figure == "wasted" && !report.AnalysisOf(*row).has_sectors) continue;
            json->Object(row->instruction->name(), *row, write_value);
          }
        });
        const std::pair<int, absl::string_view> colors[] = {{0, "#ffffff"}, {1, "#e5484d"}};
        json->Objects("gradient", colors, [&](const auto& color) {
          json->Field("stop", color.first);
          json->Field("bgColor", color.second);
        });
      });
    }
  });
}

std::string ReportJson(const ModuleReport& report) {
  return JsonLine([&](JsonWriter* json) { WriteReport(report, json); });
}

}  // namespace xla_indexing

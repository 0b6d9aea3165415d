#include "xla_indexing/report/write/report_json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/query/explain/explain_dependence.h"
#include "xla_indexing/report/kernel_report.h"
#include "xla_indexing/report/saturated.h"
#include "xla_indexing/report/write/drawing_json.h"

namespace xla_indexing {
namespace {

using internal::JsonText;

// The fields of an object.
class JsonFields {
 public:
  explicit JsonFields(llvm::json::OStream* json) : json_(*json) {}

  void Text(absl::string_view key, absl::string_view value) {
    json_.attribute(llvm::StringRef(key.data(), key.size()), JsonText(value));
  }
  void Texts(absl::string_view key, const std::vector<std::string>& values) {
    json_.attributeArray(llvm::StringRef(key.data(), key.size()), [&] {
      for (const std::string& value : values) json_.value(JsonText(value));
    });
  }
  void Integers(absl::string_view key, const std::vector<int64_t>& values) {
    json_.attributeArray(llvm::StringRef(key.data(), key.size()), [&] {
      for (const int64_t value : values) json_.value(value);
    });
  }
  void Integer(absl::string_view key, int64_t value) {
    json_.attribute(llvm::StringRef(key.data(), key.size()), value);
  }
  void Bool(absl::string_view key, bool value) {
    json_.attribute(llvm::StringRef(key.data(), key.size()), value);
  }
  void Ratio(absl::string_view key, const std::optional<double>& value) {
    json_.attribute(llvm::StringRef(key.data(), key.size()),
                    value ? llvm::json::Value(*value) : llvm::json::Value(nullptr));
  }
  void Count(absl::string_view key, const Interval& count) {
    const llvm::StringRef name(key.data(), key.size());
    if (count.IsPoint()) {
      json_.attribute(name, count.lower());
      return;
    }
    json_.attributeObject(name, [&] {
      json_.attribute("least", count.has_lower() ? llvm::json::Value(count.lower())
                                                 : llvm::json::Value(nullptr));
      json_.attribute("most", count.has_upper() ? llvm::json::Value(count.upper())
                                                : llvm::json::Value(nullptr));
    });
  }

 private:
  llvm::json::OStream& json_;
};

void WriteAccess(const KernelAccess& access, int64_t sector_bytes, llvm::json::OStream* json) {
  json->object([&] {
    JsonFields fields(json);
    fields.Text("access", access.is_write ? "write" : "read");
    if (!access.is_write) fields.Integer("operand_id", access.operand);
    fields.Integer("leaf", access.leaf);
    fields.Text("shape", access.shape);
    fields.Integer("bytes", access.bytes);
    fields.Text("map", access.map);
    fields.Count("requests", access.requests);
    fields.Count("sectors", access.sectors);
    fields.Count("least_sectors", access.least_sectors);
    fields.Count("bytes_wasted", access.WastedBytes(sector_bytes));
    json->attribute("coalesced", access.coalesced ? llvm::json::Value(*access.coalesced)
                                                  : llvm::json::Value(nullptr));
    if (access.distance) {
      json->attributeObject("lanes", [&] {
        JsonFields of_lanes(json);
        of_lanes.Integer("bytes_apart", access.distance->bytes);
        of_lanes.Integer("dimension", access.distance->dimension);
        of_lanes.Integer("step", access.distance->step);
      });
    }
    fields.Text("reason", access.reason);
  });
}

void WriteLoop(const LoopFigures& loop, llvm::json::OStream* json) {
  JsonFields fields(json);
  fields.Count("iterations", loop.iterations);
  fields.Count("kernel_runs", loop.kernel_runs);
  json->attributeArray("reads", [&] {
    for (const UnchangedLeafRead& read : loop.reads) {
      json->object([&] {
        JsonFields of_read(json);
        of_read.Integer("leaf", read.leaf);
        of_read.Text("shape", read.shape);
        of_read.Count("bytes_read", read.bytes_read);
        of_read.Count("bytes", read.bytes);
        of_read.Texts("maps", read.maps);
      });
    }
  });
}

void WriteAnalysis(const ModuleReport& report, const KernelAnalysis& analysis,
                   llvm::json::OStream* json) {
  json->object([&] {
    JsonFields fields(json);
    fields.Text("kernel", analysis.kernel);
    fields.Text("kind", analysis.kind);
    fields.Text("hero", analysis.hero);
    fields.Integer("blocks", analysis.blocks);
    fields.Integer("threads_per_block", analysis.threads_per_block);
    fields.Count("bytes_read", analysis.bytes_read);
    fields.Count("bytes_written", analysis.bytes_written);
    fields.Count("bytes_of_reads", analysis.bytes_of_reads);
    fields.Bool("has_sectors", analysis.has_sectors);
    if (analysis.has_sectors) {
      fields.Count("sectors", analysis.sectors);
      fields.Count("least_sectors", analysis.least_sectors);
      fields.Count("bytes_moved", analysis.bytes_moved);
      fields.Count("bytes_wasted", analysis.bytes_wasted);
    }
    fields.Integer("traffic", analysis.traffic);
    fields.Ratio("flops", analysis.flops);
    fields.Ratio("microseconds", analysis.microseconds);
    fields.Ratio("reads_per_element", analysis.reads_per_element);
    fields.Integer("most_read_operand", analysis.most_read_operand);
    json->attributeArray("accesses", [&] {
      for (const KernelAccess& access : analysis.accesses) {
        WriteAccess(access, report.sector_bytes, json);
      }
    });
    json->attribute("worst", analysis.worst
                                 ? llvm::json::Value(static_cast<int64_t>(*analysis.worst))
                                 : llvm::json::Value(nullptr));
    json->attributeArray("recomputed", [&] {
      for (const Recomputation& again : analysis.recomputed) {
        json->object([&] {
          JsonFields of_again(json);
          of_again.Text("instruction", again.instruction);
          of_again.Text("opcode", again.opcode);
          of_again.Count("elements", again.elements);
          of_again.Count("computations", again.computations);
        });
      }
    });
    if (analysis.loop) json->attributeObject("loop", [&] { WriteLoop(*analysis.loop, json); });
    fields.Bool("exact", analysis.IsExact());
    if (analysis.drawing != nullptr) {
      json->attributeBegin("drawing");
      internal::WriteDrawing(*analysis.drawing, json);
      json->attributeEnd();
    }
  });
}

void WriteFindings(const std::vector<Finding>& findings, llvm::json::OStream* json) {
  json->attributeArray("findings", [&] {
    for (const Finding& finding : findings) {
      json->object([&] {
        JsonFields fields(json);
        fields.Integer("bytes", finding.bytes);
        fields.Text("text", finding.text);
      });
    }
  });
}

void WriteSource(const SourcePlace& source, JsonFields* fields) {
  fields->Text("op_name", source.op_name);
  fields->Text("source_file", source.file);
  fields->Text("source_function", source.function);
  fields->Integer("source_line", source.line);
}

void WriteRow(const KernelRow& row, llvm::json::OStream* json) {
  json->object([&] {
    JsonFields fields(json);
    fields.Text("computation", row.instruction->parent()->name());
    fields.Text("instruction", row.instruction->name());
    fields.Text("opcode", row.instruction->opcode_name());
    if (row.instruction->while_body() != nullptr) {
      fields.Text("body", row.instruction->while_body()->name());
    }
    fields.Text("shape", row.instruction->shape().ToString());
    fields.Integer("analysis", static_cast<int64_t>(row.analysis));
    fields.Texts("operands", row.operands);
    fields.Count("runs", row.runs);
    fields.Text("runs_reason", row.runs_reason);
    fields.Integer("counted_runs", row.counted_runs);
    WriteSource(row.source, &fields);
    fields.Count("bytes_wasted", row.bytes_wasted);
    fields.Text("worst_operand", row.worst_operand);
    fields.Texts("notes", row.notes);
    WriteFindings(row.findings, json);
    fields.Texts("not_known", row.not_known);
  });
}

void WriteTotals(const ReportTotals& totals, llvm::json::OStream* json) {
  JsonFields fields(json);
  fields.Integer("kernels", totals.kernels);
  fields.Integer("without_sectors", totals.without_sectors);
  fields.Integer("not_exact", totals.not_exact);
  fields.Integer("with_unknown_runs", totals.with_unknown_runs);
  fields.Count("bytes_read", totals.bytes_read);
  fields.Count("bytes_written", totals.bytes_written);
  fields.Count("bytes_of_reads", totals.bytes_of_reads);
  fields.Count("sectors", totals.sectors);
  fields.Count("least_sectors", totals.least_sectors);
  fields.Count("bytes_moved", totals.bytes_moved);
  fields.Count("bytes_wasted", totals.bytes_wasted);
  fields.Integer("traffic", totals.traffic);
  fields.Ratio("microseconds", totals.microseconds);
}

void WriteSums(absl::string_view key, const std::vector<NamedTotals>& sums,
               llvm::json::OStream* json) {
  json->attributeArray(llvm::StringRef(key.data(), key.size()), [&] {
    for (const NamedTotals& sum : sums) {
      json->object([&] {
        JsonFields fields(json);
        fields.Text("name", sum.name);
        WriteTotals(sum.totals, json);
      });
    }
  });
}

void WriteGroup(const KernelGroup& group, llvm::json::OStream* json) {
  json->object([&] {
    JsonFields fields(json);
    fields.Text("name", group.name);
    fields.Integer("analysis", static_cast<int64_t>(group.analysis));
    fields.Count("runs", group.runs);
    WriteSource(group.source, &fields);
    fields.Integer("places", group.places);
    WriteFindings(group.findings, json);
    json->attributeObject("totals", [&] { WriteTotals(group.totals, json); });
  });
}

void WriteStep(const DependenceStep& step, llvm::json::OStream* json) {
  json->object([&] {
    JsonFields fields(json);
    fields.Text("instruction", step.instruction);
    fields.Text("opcode", step.opcode);
    fields.Text("computation", step.computation);
    fields.Integer("leaf", step.leaf);
    fields.Integers("element", step.element);
    fields.Integers("iterations", step.iterations);
    fields.Integer("repeats", step.repeats);
    fields.Text("op_name", step.op_name);
    fields.Text("source_file", step.source_file);
    fields.Integer("source_line", step.source_line);
    fields.Text("reason", step.reason);
    json->attributeArray("runtime_values", [&] {
      for (const auto& [name, value] : step.runtime_values) {
        json->object([&] {
          JsonFields runtime(json);
          runtime.Text("name", name);
          runtime.Integer("value", value);
        });
      }
    });
  });
}

void WriteDependence(const DependenceReport& report, llvm::json::OStream* json) {
  json->object([&] {
    JsonFields fields(json);
    fields.Text("answer", report.answer == Answer::kYes  ? "yes"
                          : report.answer == Answer::kNo ? "no"
                                                         : "undecided");
    fields.Text("reason", report.reason);
    fields.Bool("depends_on_values", report.depends_on_values);
    json->attributeArray("steps", [&] {
      for (const DependenceStep& step : report.steps) WriteStep(step, json);
    });
  });
}

void WriteAdvice(const Advice& advice, llvm::json::OStream* json) {
  json->object([&] {
    JsonFields fields(json);
    fields.Text("kind", advice.kind);
    fields.Text("text", advice.text);
    WriteSource(advice.source, &fields);
    fields.Ratio("microseconds", advice.microseconds);
    fields.Integer("traffic", advice.traffic);
    fields.Integer("memory", advice.memory);
  });
}

void WriteReport(const ModuleReport& report, llvm::json::OStream* json) {
  json->object([&] {
    JsonFields fields(json);
    fields.Text("module", report.module);
    fields.Integer("sector_bytes", report.sector_bytes);
    fields.Integer("warp_size", report.warp_size);
    fields.Text("machine", report.machine->name);
    fields.Text("platform", report.platform);
    fields.Texts("about", report.about);
    json->attributeObject("totals", [&] {
      fields.Integer("distinct_kernels", report.totals.distinct_kernels);
      fields.Integer("loops", report.totals.loops);
      WriteTotals(report.totals, json);
    });
    json->attributeArray("advice", [&] {
      for (const Advice& advice : report.advice) WriteAdvice(advice, json);
    });
    json->attributeArray("groups", [&] {
      for (const KernelGroup& group : report.groups) WriteGroup(group, json);
    });
    WriteSums("by_loop", report.by_loop, json);
    WriteSums("by_module", report.by_module, json);
    WriteSums("by_source", report.by_source, json);
    if (report.path) {
      json->attributeBegin("path");
      WriteDependence(*report.path, json);
      json->attributeEnd();
    }
    json->attributeArray("kernels", [&] {
      for (const KernelRow& row : report.rows) WriteRow(row, json);
    });
    json->attributeArray("analyses", [&] {
      for (const KernelAnalysis& analysis : report.analyses) WriteAnalysis(report, analysis, json);
    });
  });
}

// What `write` writes, and a line feed.
std::string JsonLine(absl::FunctionRef<void(llvm::json::OStream&)> write) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  write(json);
  stream << "\n";
  stream.flush();
  return text;
}

}  // namespace

std::string DependenceJson(const DependenceReport& report) {
  return JsonLine([&](llvm::json::OStream& json) { WriteDependence(report, &json); });
}

absl::StatusOr<std::string> NodeDataJson(const ModuleReport& report, absl::string_view figure) {
  if (figure != "time" && figure != "moved" && figure != "wasted") {
    return absl::InvalidArgumentError(
        absl::StrCat("node data are of time, moved or wasted, and not of '", figure, "'"));
  }
  std::map<absl::string_view, std::vector<const KernelRow*>> graphs;
  for (const KernelRow& row : report.rows)
    graphs[row.instruction->parent()->name()].push_back(&row);
  const auto value_of = [&](const KernelRow& row) -> std::optional<llvm::json::Value> {
    const KernelAnalysis& analysis = report.AnalysisOf(row);
    if (figure == "time") return analysis.microseconds * static_cast<double>(row.counted_runs);
    if (figure == "moved") return internal::SaturatedProduct(analysis.traffic, row.counted_runs);
    if (!analysis.has_sectors) return std::nullopt;
    return internal::LeastOf(row.bytes_wasted);
  };
  return JsonLine([&](llvm::json::OStream& json) {
    json.object([&] {
      for (const auto& [graph, rows] : graphs) {
        json.attributeObject(JsonText(graph), [&] {
          json.attributeObject("results", [&] {
            for (const KernelRow* row : rows) {
              const std::optional<llvm::json::Value> value = value_of(*row);
              if (!value) continue;
              json.attributeObject(JsonText(row->instruction->name()),
                                   [&] { json.attribute("value", *value); });
            }
          });
          json.attributeArray("gradient", [&] {
            for (const auto& [stop, color] : {std::pair(0, "#ffffff"), std::pair(1, "#e5484d")}) {
              json.object([&] {
                json.attribute("stop", stop);
                json.attribute("bgColor", color);
              });
            }
          });
        });
      }
    });
  });
}

std::string ReportJson(const ModuleReport& report) {
  return JsonLine([&](llvm::json::OStream& json) { WriteReport(report, &json); });
}

}  // namespace xla_indexing

#include "xla_indexing/report/write/report_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace xla_indexing {
namespace {

double Least(const Interval& count) {
  return count.has_lower() ? static_cast<double>(count.lower()) : 0;
}

// By the C library: absl::StrFormat of Debian's archives cannot be linked into a shared object, which the
// Python package is.
std::string Decimal(const char* format, double value) {
  char text[64];
  const int size = std::snprintf(text, sizeof text, format, value);
  return {text, static_cast<size_t>(std::clamp<int>(size, 0, sizeof text - 1))};
}

std::string PadLeft(absl::string_view text, size_t width) {
  return absl::StrCat(std::string(width - std::min(width, text.size()), ' '), text);
}

std::string TableLine(absl::string_view wasted, absl::string_view moved,
                      absl::string_view efficiency, absl::string_view runs, absl::string_view reads,
                      absl::string_view kind, absl::string_view kernel) {
  return absl::StrCat(PadLeft(wasted, 20), " ", PadLeft(moved, 12), " ", PadLeft(efficiency, 7),
                      " ", PadLeft(runs, 6), " ", PadLeft(reads, 7), "  ", kind,
                      std::string(15 - std::min<size_t>(15, kind.size()), ' '), " ", kernel);
}

// To a tenth, halves up, as the page rounds them (page/numbers.js).
std::string BytesOfSize(int64_t bytes) {
  constexpr absl::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  // What would round to 1024 is the next unit's 1.
  while (value >= 1023.95 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0
             ? absl::StrCat(bytes, " B")
             : absl::StrCat(Decimal("%.1f ", std::floor(value * 10 + 0.5) / 10), kUnits[unit]);
}

std::string RangeText(const Interval& count, const std::function<std::string(int64_t)>& text) {
  if (count.IsPoint()) return text(count.lower());
  const int64_t least = count.has_lower() ? count.lower() : 0;
  if (!count.has_upper()) return least == 0 ? "?" : absl::StrCat(">= ", text(least));
  const std::string low = text(least);
  const std::string high = text(count.upper());
  return low == high ? low : absl::StrCat(low, " to ", high);
}

std::string CountOrRange(const Interval& count) {
  return RangeText(count, [](int64_t n) { return absl::StrCat(n); });
}

using RowKey = double (*)(const ModuleReport& report, const KernelRow& row);

struct ReportColumn {
  absl::string_view name;
  RowKey key;  // the least first
};

constexpr ReportColumn kReportColumns[] = {
    {"wasted", [](const ModuleReport&, const KernelRow& row) { return -Least(row.bytes_wasted); }},
    {"moved",
     [](const ModuleReport& report, const KernelRow& row) {
       return -Least(report.AnalysisOf(row).bytes_moved.Mul(row.runs));
     }},
    {"sectors", [](const ModuleReport& report,
                   const KernelRow& row) { return -Least(report.AnalysisOf(row).sectors); }},
    {"read", [](const ModuleReport& report,
                const KernelRow& row) { return -Least(report.AnalysisOf(row).bytes_read); }},
    {"written", [](const ModuleReport& report,
                   const KernelRow& row) { return -Least(report.AnalysisOf(row).bytes_written); }},
    {"runs", [](const ModuleReport&, const KernelRow& row) { return -Least(row.runs); }},
    {"reads",
     [](const ModuleReport& report, const KernelRow& row) {
       return -report.AnalysisOf(row).reads_per_element.value_or(0);
     }},
    {"efficiency",
     [](const ModuleReport& report, const KernelRow& row) {
       return EfficiencyOf(report.AnalysisOf(row)).value_or(2);
     }},
    {"name", nullptr},
};

// Four digits, and whole numbers where that is more.
std::string ReadsText(double reads) { return Decimal(reads < 1000 ? "%.4g" : "%.0f", reads); }

std::string KernelName(const KernelRow& row) {
  return absl::StrCat(row.instruction->parent()->name(), "/", row.instruction->name());
}

// Appends a line in which text of the module cannot control a terminal: control characters are `?`.
void AppendLine(std::string line, std::string* out) {
  for (char& c : line) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  absl::StrAppend(out, line, "\n");
}

void AppendRow(const ModuleReport& report, const KernelRow& row, std::string* out) {
  const KernelAnalysis& analysis = report.AnalysisOf(row);
  const auto of_sectors = [&](std::string text) {
    return analysis.has_sectors ? std::move(text) : std::string("?");
  };
  const std::optional<double> efficiency = EfficiencyOf(analysis);
  std::string line =
      TableLine(of_sectors(BytesText(row.bytes_wasted)),
                of_sectors(BytesText(analysis.bytes_moved.Mul(row.runs))),
                efficiency ? Decimal("%.0f%%", *efficiency * 100) : "?", CountOrRange(row.runs),
                analysis.reads_per_element ? ReadsText(*analysis.reads_per_element) : "-",
                analysis.kind, KernelName(row));
  if (analysis.worst && !row.worst_operand.empty()) {
    const std::string& map = analysis.accesses[*analysis.worst].map;
    absl::StrAppend(&line, "  (", row.worst_operand, ": ", map.substr(0, map.find(", domain:")),
                    ")");
  }
  AppendLine(std::move(line), out);
  for (const std::string& note : row.notes) AppendLine(absl::StrCat("    ", note), out);
  for (const std::string& finding : row.findings) AppendLine(absl::StrCat("    ", finding), out);
  for (const std::string& sentence : row.not_known) {
    AppendLine(absl::StrCat("    not exact: ", sentence), out);
  }
  std::string place = row.source.file;
  if (row.source.line > 0) absl::StrAppend(&place, ":", row.source.line);
  if (!place.empty() && !row.source.op_name.empty()) place.append("  ");
  place.append(row.source.op_name);
  if (!place.empty()) AppendLine(absl::StrCat("    ", place), out);
}

}  // namespace

std::string BytesText(const Interval& bytes) { return RangeText(bytes, BytesOfSize); }

std::optional<double> EfficiencyOf(const KernelAnalysis& analysis) {
  if (!analysis.has_sectors || !analysis.sectors.IsPoint() || !analysis.least_sectors.IsPoint()) {
    return std::nullopt;
  }
  if (analysis.sectors.lower() == 0) return 1;
  return static_cast<double>(analysis.least_sectors.lower()) /
         static_cast<double>(analysis.sectors.lower());
}

std::vector<absl::string_view> ReportColumns() {
  std::vector<absl::string_view> names;
  for (const ReportColumn& column : kReportColumns) names.push_back(column.name);
  return names;
}

absl::Status SortRows(absl::string_view column, ModuleReport* report) {
  for (const ReportColumn& known : kReportColumns) {
    if (known.name != column) continue;
    std::stable_sort(report->rows.begin(), report->rows.end(),
                     [&](const KernelRow& a, const KernelRow& b) {
                       return known.key == nullptr ? KernelName(a) < KernelName(b)
                                                   : known.key(*report, a) < known.key(*report, b);
                     });
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", column, "' is no column of the report: ", absl::StrJoin(ReportColumns(), ", ")));
}

std::string ReportText(const ModuleReport& report, const ReportTextOptions& options) {
  const ReportTotals& totals = report.totals;
  std::string out;
  AppendLine(absl::StrCat("module ", report.module, ": ", totals.kernels,
                          totals.kernels == 1 ? " kernel" : " kernels", ", ",
                          totals.distinct_kernels, " distinct",
                          totals.loops == 0   ? ""
                          : totals.loops == 1 ? ", 1 loop"
                                              : absl::StrCat(", ", totals.loops, " loops")),
             &out);
  if (!report.note.empty()) AppendLine(absl::StrCat("  ", report.note), &out);
  absl::StrAppend(&out, "  read ", BytesText(totals.bytes_read), ", written ",
                  BytesText(totals.bytes_written), ", each element once\n");
  absl::StrAppend(&out, "  moved ", BytesText(totals.bytes_moved), ", of which wasted ",
                  BytesText(totals.bytes_wasted));
  if (totals.without_sectors > 0) {
    absl::StrAppend(&out, ", without ", totals.without_sectors,
                    totals.without_sectors == 1 ? " kernel" : " kernels",
                    " whose sectors are not known");
  }
  out.push_back('\n');
  if (totals.not_exact > 0) {
    absl::StrAppend(&out, "  not exact: ", totals.not_exact,
                    totals.not_exact == 1 ? " kernel" : " kernels", "\n");
  }
  if (totals.with_unknown_runs > 0) {
    absl::StrAppend(&out, "  runs not known: ", totals.with_unknown_runs,
                    totals.with_unknown_runs == 1 ? " kernel" : " kernels", "\n");
  }
  if (report.rows.empty()) return out;
  absl::StrAppend(&out, TableLine("wasted", "moved", "effic.", "runs", "reads", "kind", "kernel"),
                  "\n");
  int64_t shown = 0;
  for (const KernelRow& row : report.rows) {
    if (shown++ >= options.top) break;
    AppendRow(report, row, &out);
  }
  const auto left = static_cast<int64_t>(report.rows.size()) - options.top;
  if (left > 0) absl::StrAppend(&out, "  and ", left, " more\n");
  return out;
}

}  // namespace xla_indexing

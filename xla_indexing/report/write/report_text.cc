#include "xla_indexing/report/write/report_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "xla_indexing/report/saturated.h"

namespace xla_indexing {
namespace {

constexpr int64_t kRowsShown = 20;
constexpr int64_t kAdviceShown = 3;
constexpr double kSmallShare = 0.01;

double Least(const Interval& count) { return static_cast<double>(internal::LeastOf(count)); }

// By the C library: absl::StrFormat of Debian's archives cannot be linked into a shared object, which the
// Python package is.
std::string Decimal(const char* format, double value) {
  char text[64];
  const int size = std::snprintf(text, sizeof text, format, value);
  return {text, static_cast<size_t>(std::clamp<int>(size, 0, sizeof text - 1))};
}

std::string PadRight(absl::string_view text, size_t width) {
  return absl::StrCat(text, std::string(width - std::min(width, text.size()), ' '));
}

struct TableCells {
  std::string time, share, moved, wasted, efficiency, runs, kind, name;
};

// Figures in columns; ranges are wider, and have two blanks before them all the same.
std::string FiguresLine(const TableCells& cells) {
  return absl::StrCat(PadLeft(cells.time, 10), PadLeft(cells.share, 8), "  ",
                      PadLeft(cells.moved, 12), "  ", PadLeft(cells.wasted, 11));
}

std::string TableLine(const TableCells& cells) {
  return absl::StrCat(FiguresLine(cells), PadLeft(cells.efficiency, 8), PadLeft(cells.runs, 8),
                      "  ", PadRight(cells.kind, 15), " ", cells.name);
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

// What a row and a group are sorted by.
struct SortedFigures {
  const KernelAnalysis& analysis;
  const Interval& runs;
  int64_t counted_runs;
};

struct ReportColumn {
  absl::string_view name;
  double (*key)(const SortedFigures& of);  // the least first
};

constexpr ReportColumn kReportColumns[] = {
    {"time",
     [](const SortedFigures& of) {
       return -of.analysis.microseconds * static_cast<double>(of.counted_runs);
     }},
    {"wasted",
     [](const SortedFigures& of) { return -Least(of.analysis.bytes_wasted.Mul(of.runs)); }},
    {"moved",
     [](const SortedFigures& of) {
       return -static_cast<double>(of.analysis.traffic) * static_cast<double>(of.counted_runs);
     }},
    {"sectors", [](const SortedFigures& of) { return -Least(of.analysis.sectors); }},
    {"read", [](const SortedFigures& of) { return -Least(of.analysis.bytes_read); }},
    {"written", [](const SortedFigures& of) { return -Least(of.analysis.bytes_written); }},
    {"runs", [](const SortedFigures& of) { return -Least(of.runs); }},
    {"reads", [](const SortedFigures& of) { return -of.analysis.reads_per_element.value_or(0); }},
    {"efficiency", [](const SortedFigures& of) { return EfficiencyOf(of.analysis).value_or(2); }},
    {"name", nullptr},
};

std::string NameOf(const KernelRow& row) {
  return absl::StrCat(row.instruction->parent()->name(), "/", row.instruction->name());
}
std::string NameOf(const KernelGroup& group) { return group.name; }

template <typename T>
void SortBy(const ReportColumn& column, const ModuleReport& report, std::vector<T>* sorted) {
  const auto key = [&](const T& of) {
    return column.key({report.analyses[of.analysis], of.runs, of.counted_runs});
  };
  std::stable_sort(sorted->begin(), sorted->end(), [&](const T& a, const T& b) {
    return column.key == nullptr ? NameOf(a) < NameOf(b) : key(a) < key(b);
  });
}

std::string SharePart(double part, double whole) {
  return whole > 0 ? Decimal("%.1f%%", 100 * part / whole) : "-";
}

// Writes the tables of a report.
class TextWriter {
 public:
  TextWriter(const ModuleReport& report, const ReportTextOptions& options)
      : report_(report), options_(options) {}

  std::string Write() && {
    WriteHead();
    if (report_.totals.kernels > 0) WriteGroups("kernel", /*loops=*/false);
    if (report_.totals.loops > 0) WriteGroups("loop, with all that runs inside", /*loops=*/true);
    WriteFindings();
    WriteSums("by module", report_.by_module);
    WriteSums("by source", report_.by_source);
    return std::move(out_);
  }

 private:
  void WriteHead() {
    const ReportTotals& totals = report_.totals;
    Line("module ", report_.module, ": ", CountText(totals.kernels, "kernel"), ", ",
         totals.distinct_kernels, " distinct",
         totals.loops == 0 ? "" : absl::StrCat(", ", CountText(totals.loops, "loop")));
    for (const std::string& sentence : report_.about) Line("  ", sentence);
    Line("  read ", BytesText(totals.bytes_read), ", written ", BytesText(totals.bytes_written),
         ", each element once");
    Line("  moved ", BytesText(totals.bytes_moved), ", of which wasted ",
         BytesText(totals.bytes_wasted),
         totals.without_sectors == 0
             ? ""
             : absl::StrCat(", without ", CountText(totals.without_sectors, "kernel"),
                            " whose sectors are not known"));
    Line("  takes at least ", TimeText(totals.microseconds));
    if (totals.not_exact > 0) Line("  not exact: ", CountText(totals.not_exact, "kernel"));
    if (totals.with_unknown_runs > 0) {
      Line("  runs not known: ", CountText(totals.with_unknown_runs, "kernel"),
           ", which count once in times and shares");
    }
    WriteAdvice();
  }

  // The first three, or as many as rows are asked for.
  void WriteAdvice() {
    if (report_.advice.empty()) return;
    Line("  what to do, each by itself, and what it saves");
    const auto shown = std::min<size_t>(report_.advice.size(),
                                        static_cast<size_t>(options_.top.value_or(kAdviceShown)));
    for (size_t i = 0; i < shown; ++i) {
      const Advice& advice = report_.advice[i];
      std::vector<std::string> saved;
      if (advice.microseconds > 0) {
        saved.push_back(absl::StrCat(TimeText(advice.microseconds), " (",
                                     SharePart(advice.microseconds, report_.totals.microseconds),
                                     ")"));
      }
      if (advice.traffic > 0) {
        saved.push_back(absl::StrCat(BytesText(Interval::Point(advice.traffic)), " moved"));
      }
      if (advice.memory > 0) {
        saved.push_back(absl::StrCat(BytesText(Interval::Point(advice.memory)), " of memory"));
      }
      Line("    ", i + 1, ". ", advice.text);
      const std::string place = PlaceText(advice.source);
      Line("       ", absl::StrJoin(saved, ", "), place.empty() ? "" : "  ", place);
    }
    if (shown < report_.advice.size()) {
      Line("    and ", report_.advice.size() - shown, " more, which save less");
    }
  }

  // `model.py:12  jit(f)/add`.
  static std::string PlaceText(const SourcePlace& source) {
    std::string place(source.ShortFile());
    if (source.line > 0) absl::StrAppend(&place, ":", source.line);
    if (!place.empty() && !source.op_name.empty()) place.append("  ");
    return absl::StrCat(place, source.op_name);
  }

  bool IsShown(int64_t shown, double time, double bytes) const {
    if (options_.top) return shown < *options_.top;
    return shown < kRowsShown &&
           (time >= kSmallShare * report_.totals.microseconds ||
            bytes >= kSmallShare * static_cast<double>(report_.totals.traffic));
  }

  // Rows of a table.
  struct Rows {
    int64_t shown = 0;
    int64_t left = 0;
    double time = 0;  // of those that are left
    int64_t bytes = 0;
  };

  // Whether the row with these figures, which stands for so many, is shown.
  bool Takes(const ReportTotals& figures, int64_t count, Rows* rows) const {
    if (IsShown(rows->shown, figures.microseconds, static_cast<double>(figures.traffic))) {
      ++rows->shown;
      return true;
    }
    rows->left += count;
    rows->time += figures.microseconds;
    rows->bytes = internal::SaturatedSum(rows->bytes, figures.traffic);
    return false;
  }

  void WriteRest(const Rows& rows, absl::string_view what) {
    if (rows.left == 0) return;
    Line("  and ", rows.left, " more ", what,
         rows.left == 1 ? ": " : "s: ", SharePart(rows.time, report_.totals.microseconds),
         " of the time, ",
         SharePart(static_cast<double>(rows.bytes), static_cast<double>(report_.totals.traffic)),
         " of the bytes");
  }

  TableCells CellsOf(const ReportTotals& totals) const {
    TableCells cells;
    cells.time = TimeText(totals.microseconds);
    cells.share = SharePart(totals.microseconds, report_.totals.microseconds);
    cells.moved = BytesText(totals.without_sectors == 0 ? totals.bytes_moved
                                                        : Interval::AtLeast(totals.traffic));
    const bool has_some = totals.without_sectors < totals.kernels;
    cells.wasted = has_some ? BytesText(totals.bytes_wasted) : "?";
    return cells;
  }

  void WriteGroups(absl::string_view title, bool loops) {
    Line(TableLine(
        {"time", "share", "moved", "wasted", "effic.", "runs", "kind", std::string(title)}));
    Rows rows;
    for (const KernelGroup& group : report_.groups) {
      if (report_.analyses[group.analysis].loop.has_value() != loops) continue;
      if (Takes(group.totals, group.totals.kernels, &rows)) WriteGroup(group);
    }
    WriteRest(rows, loops ? "loop" : "kernel");
    for (const NamedTotals& sum : report_.by_loop) {
      if (!loops || sum.name != kOutsideOfLoops || sum.totals.kernels == 0) continue;
      TableCells cells = CellsOf(sum.totals);
      cells.name = sum.name;
      Line(TableLine(cells));
    }
  }

  void WriteGroup(const KernelGroup& group) {
    const KernelAnalysis& analysis = report_.analyses[group.analysis];
    const std::optional<double> efficiency = EfficiencyOf(analysis);
    TableCells cells = CellsOf(group.totals);
    cells.efficiency = efficiency ? Decimal("%.0f%%", *efficiency * 100) : "?";
    cells.runs = CountOrRange(group.runs);
    cells.kind = analysis.kind;
    cells.name = group.name;
    if (group.totals.kernels > 1) absl::StrAppend(&cells.name, " x", group.totals.kernels);
    if (analysis.worst && !group.worst_operand.empty()) {
      const std::string& map = analysis.accesses[*analysis.worst].map;
      absl::StrAppend(&cells.name, "  (", group.worst_operand, ": ",
                      map.substr(0, map.find(", domain:")), ")");
    }
    Line(TableLine(cells));
    for (const std::string& note : group.notes) Line("    ", note);
    // That the sectors of a library's kernel are not known its kind says.
    if (analysis.has_sectors || analysis.kind == "unknown") {
      for (const std::string& sentence : group.not_known) Line("    not exact: ", sentence);
    }
    std::string place = PlaceText(group.source);
    if (group.places > 1 && !place.empty()) {
      absl::StrAppend(&place, ", and ", CountText(group.places - 1, "other place"));
    }
    if (!place.empty()) Line("    ", place);
  }

  void WriteFindings() {
    std::vector<std::pair<const Finding*, const KernelGroup*>> all;
    for (const KernelGroup& group : report_.groups) {
      for (const Finding& finding : group.findings) all.emplace_back(&finding, &group);
    }
    if (all.empty()) return;
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first->bytes > b.first->bytes; });
    if (!options_.top && !IsShown(0, -1, static_cast<double>(all[0].first->bytes))) {
      Line("nothing that is wrong concerns 1% of the bytes");
      return;
    }
    Line("what is wrong, by the bytes that it concerns");
    int64_t shown = 0;
    double left = 0;
    for (const auto& [finding, group] : all) {
      const auto bytes = static_cast<double>(finding->bytes);
      if (!IsShown(shown, -1, bytes)) {
        left += bytes;
        continue;
      }
      ++shown;
      Line(PadLeft(BytesText(Interval::Point(finding->bytes)), 13), "  ", group->name,
           group->totals.kernels > 1 ? absl::StrCat(" x", group->totals.kernels) : "", ": ",
           finding->text);
    }
    if (shown < static_cast<int64_t>(all.size())) {
      Line("  and ", static_cast<int64_t>(all.size()) - shown,
           " more: ", SharePart(left, static_cast<double>(report_.totals.traffic)),
           " of the bytes");
    }
  }

  void WriteSums(absl::string_view title, const std::vector<NamedTotals>& sums) {
    // One sum is the whole.
    if (sums.size() < 2) return;
    Line(title);
    Rows rows;
    for (const NamedTotals& sum : sums) {
      if (!Takes(sum.totals, 1, &rows)) continue;
      Line(FiguresLine(CellsOf(sum.totals)), "  ", sum.name, "  (",
           CountText(sum.totals.kernels, "kernel"), ")");
    }
    WriteRest(rows, "row");
  }

  template <typename... Parts>
  void Line(const Parts&... parts) {
    AppendLine(absl::StrCat(parts...), &out_);
  }

  const ModuleReport& report_;
  const ReportTextOptions& options_;
  std::string out_;
};

}  // namespace

std::string PadLeft(absl::string_view text, size_t width) {
  return absl::StrCat(std::string(width - std::min(width, text.size()), ' '), text);
}

void AppendLine(std::string line, std::string* out) {
  for (char& c : line) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  absl::StrAppend(out, line, "\n");
}

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
    SortBy(known, *report, &report->rows);
    SortBy(known, *report, &report->groups);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", column, "' is no column of the report: ", absl::StrJoin(ReportColumns(), ", ")));
}

std::string CountText(int64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string TimeText(double microseconds) {
  if (microseconds >= 999'950) return Decimal("%.1f s", microseconds / 1e6);
  if (microseconds >= 999.95) return Decimal("%.1f ms", microseconds / 1e3);
  if (microseconds >= 0.99995) return Decimal("%.1f us", microseconds);
  return Decimal("%.1f ns", microseconds * 1e3);
}

std::string ReportText(const ModuleReport& report, const ReportTextOptions& options) {
  return TextWriter(report, options).Write();
}

}  // namespace xla_indexing

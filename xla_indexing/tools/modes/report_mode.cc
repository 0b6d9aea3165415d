#include "xla_indexing/tools/modes/report_mode.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/gpu/fusing/fuse_like_xla.h"
#include "xla_indexing/query/explain/explain_dependence.h"
#include "xla_indexing/report/advice/report_module.h"
#include "xla_indexing/report/kernel_report.h"
#include "xla_indexing/report/write/report_changes.h"
#include "xla_indexing/report/write/report_json.h"
#include "xla_indexing/report/write/report_page.h"
#include "xla_indexing/report/write/report_text.h"
#include "xla_indexing/tools/input/files.h"
#include "xla_indexing/tools/input/read_modules.h"
#include "xla_indexing/tools/modes/explain_mode.h"

namespace xla_indexing {
namespace {

constexpr absl::string_view kNodeData = ".model_explorer.json";

// A line on a terminal that is written over and, at the end, taken away.
class ProgressLine {
 public:
  ProgressLine() : is_terminal_(isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() {
    if (is_shown_) std::fputs("\r\x1b[K", stderr);
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(int64_t done, int64_t all) {
    if (!is_terminal_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    is_shown_ = true;
    std::fprintf(stderr, "\r\x1b[Kreport: %lld of %lld kernels", static_cast<long long>(done),
                 static_cast<long long>(all));
    std::fflush(stderr);
  }

 private:
  const bool is_terminal_;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

// The report about the module, made ready as --assume says.
absl::StatusOr<ReportedModule> ReportOf(const HloModule& module, bool advise,
                                        const CommandLine& line) {
  ProgressLine progress;
  ReportOptions options = ReportOptions::For(line.machine ? *line.machine : DefaultMachine());
  options.memory = line.launch.options;
  options.emitter.warp_size = line.launch.options.warp_size;
  options.jobs = line.jobs;
  options.with_drawings = absl::EndsWith(line.report_file, ".html");
  options.progress = [&](int64_t done, int64_t all) {
    progress.Show(done, all);
    return true;
  };
  const bool has_fusions = HasFusions(module);
  ModuleReportOptions how;
  how.fuse =
      line.assume == AssumeMode::kFused || (line.assume == AssumeMode::kAuto && !has_fusions);
  how.copy = line.assume != AssumeMode::kUnfused;
  how.advise = advise;
  absl::StatusOr<ReportedModule> reported = ReportModule(module, how, options);
  if (!reported.ok()) return reported;
  ModuleReport& report = reported->report;
  if (how.fuse) {
    report.about.insert(report.about.begin(),
                        absl::StrCat(has_fusions ? "" : "no fusions in this module: ",
                                     "fused as XLA would, approximately (--assume=fused)",
                                     HasUnassignedLayouts(module)
                                         ? "; in row-major layouts, not in those that it states, "
                                           "as XLA assigns its own"
                                         : ""));
  }
  if (absl::Status status = SortRows(line.report_sort.value_or("time"), &report); !status.ok())
    return status;
  return reported;
}

// A table of what is better and worse in the second file; 2 if a file has no module or no report.
int PrintChanges(const CommandLine& line) {
  constexpr int kBadInput = 2;
  std::vector<std::unique_ptr<HloModule>> modules;  // which the reports refer to
  std::vector<ReportedModule> reports;
  for (const std::string& file : line.files) {
    modules.push_back(ReadOnlyModule(file, "--compare --report"));
    if (modules.back() == nullptr) return kBadInput;
    absl::StatusOr<ReportedModule> report = ReportOf(*modules.back(), /*advise=*/false, line);
    if (!report.ok()) {
      WriteError(absl::StrCat(file, ": error: ", report.status().message()));
      return kBadInput;
    }
    reports.push_back(*std::move(report));
  }
  WriteOutput(ChangesText(reports[0].report, reports[1].report, line.report_top));
  return 0;
}

}  // namespace

int PrintReport(const CommandLine& line) {
  if (line.compare) return PrintChanges(line);
  std::string text;
  ReportTextOptions text_options;
  text_options.top = line.report_top;
  // The text for standard output; what is for the file is added to `text`.
  const auto report_on = [&](const HloModule& module) -> absl::StatusOr<std::string> {
    std::optional<DependenceReport> path;
    if (line.output_element) {
      absl::StatusOr<DependenceReport> found = Explain(*module.entry_computation(), line);
      if (!found.ok()) return found.status();
      path = *std::move(found);
    }
    absl::StatusOr<ReportedModule> reported = ReportOf(module, /*advise=*/true, line);
    if (!reported.ok()) return reported.status();
    ModuleReport& report = reported->report;
    report.path = std::move(path);
    if (line.report_file.empty()) return ReportText(report, text_options);
    if (!absl::EndsWith(line.report_file, kNodeData)) {
      text.append(ReportJson(report));
      return "";
    }
    absl::StatusOr<std::string> data = NodeDataJson(report, line.report_sort.value_or("time"));
    if (!data.ok()) return data.status();
    if (!text.empty()) {
      return absl::InvalidArgumentError("node data are of one module, and there are several");
    }
    text = *std::move(data);
    return "";
  };
  const int exit_code = PrintEachModule(line.files, report_on);
  if (line.report_file.empty()) return exit_code;
  const bool is_page = absl::EndsWith(line.report_file, ".html");
  const absl::Status status = WriteFile(line.report_file, is_page ? ReportPage(text) : text);
  if (status.ok()) return exit_code;
  WriteError(status.message());
  return 1;
}

}  // namespace xla_indexing

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
#include "xla_indexing/report/analysis/report_kernels.h"
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

absl::StatusOr<ModuleReport> ReportOf(const HloModule& module, const CommandLine& line) {
  ProgressLine progress;
  ReportOptions options =
      ReportOptions::For(line.report_machine ? *line.report_machine : DefaultMachine());
  options.memory = line.launch.options;
  options.emitter.warp_size = line.launch.options.warp_size;
  options.jobs = line.jobs;
  options.with_drawings = absl::EndsWith(line.report_file, ".html");
  options.progress = [&](int64_t done, int64_t all) {
    progress.Show(done, all);
    return true;
  };
  absl::StatusOr<ModuleReport> report = ReportKernels(module, options);
  if (!report.ok()) return report;
  if (absl::Status status = SortRows(line.report_sort.value_or("time"), &*report); !status.ok())
    return status;
  return report;
}

// Fuses a module of which that is assumed, and says so.
absl::Status FuseIfAssumed(AssumeMode assume, std::unique_ptr<HloModule>* module,
                           std::string* note) {
  const bool has_fusions = HasFusions(**module);
  if (assume == AssumeMode::kUnfused || (assume == AssumeMode::kAuto && has_fusions)) {
    return absl::OkStatus();
  }
  *note = absl::StrCat(has_fusions ? "" : "no fusions in this module: ",
                       "fused as XLA would, approximately (--assume=fused)");
  absl::StatusOr<std::unique_ptr<HloModule>> fused = FuseLikeXla(**module);
  if (!fused.ok()) return fused.status();
  *module = *std::move(fused);
  return absl::OkStatus();
}

// A table of what is better and worse in the second file; 2 if a file has no module or no report.
int PrintChanges(const CommandLine& line) {
  constexpr int kBadInput = 2;
  std::vector<std::unique_ptr<HloModule>> modules;  // which the reports refer to
  std::vector<ModuleReport> reports;
  for (const std::string& file : line.files) {
    modules.push_back(ReadOnlyModule(file, "--compare --report"));
    if (modules.back() == nullptr) return kBadInput;
    std::string note;
    absl::Status status = FuseIfAssumed(line.assume, &modules.back(), &note);
    absl::StatusOr<ModuleReport> report =
        status.ok() ? ReportOf(*modules.back(), line) : absl::StatusOr<ModuleReport>(status);
    if (!report.ok()) {
      WriteError(absl::StrCat(file, ": error: ", report.status().message()));
      return kBadInput;
    }
    reports.push_back(*std::move(report));
  }
  WriteOutput(ChangesText(reports[0], reports[1], line.report_top));
  return 0;
}

}  // namespace

int PrintReport(const CommandLine& line) {
  if (line.compare) return PrintChanges(line);
  int exit_code = 0;
  const auto report_error = [&](absl::string_view message) {
    exit_code = 1;
    WriteError(message);
  };
  std::string text;
  ReportTextOptions text_options;
  text_options.top = line.report_top;
  for (const std::string& file : line.files) {
    absl::StatusOr<SourceText> source = ReadSource(file);
    if (!source.ok()) {
      report_error(source.status().message());
      continue;
    }
    for (ReadModule& read : ReadModules(*std::move(source))) {
      for (const std::string& error : read.errors) report_error(error);
      if (read.module == nullptr) continue;
      std::optional<DependenceReport> path;
      if (line.output_element) {
        absl::StatusOr<DependenceReport> found = Explain(*read.module->entry_computation(), line);
        if (!found.ok()) {
          report_error(absl::StrCat(file, ": error: ", found.status().message()));
          continue;
        }
        path = *std::move(found);
      }
      std::string note;
      if (absl::Status status = FuseIfAssumed(line.assume, &read.module, &note); !status.ok()) {
        report_error(absl::StrCat(file, ": error: ", status.message()));
        continue;
      }
      absl::StatusOr<ModuleReport> report = ReportOf(*read.module, line);
      if (!report.ok()) {
        report_error(absl::StrCat(file, ": error: ", report.status().message()));
        continue;
      }
      report->path = std::move(path);
      if (!note.empty()) report->about.insert(report->about.begin(), std::move(note));
      if (line.report_file.empty()) {
        WriteOutput(ReportText(*report, text_options));
      } else {
        text.append(ReportJson(*report));
      }
    }
  }
  if (line.report_file.empty()) return exit_code;
  const bool is_page = absl::EndsWith(line.report_file, ".html");
  if (const absl::Status status = WriteFile(line.report_file, is_page ? ReportPage(text) : text);
      !status.ok()) {
    report_error(status.message());
  }
  return exit_code;
}

}  // namespace xla_indexing

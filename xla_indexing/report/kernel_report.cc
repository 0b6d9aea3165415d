#include "xla_indexing/report/kernel_report.h"

#include <cstddef>

#include "absl/algorithm/container.h"
#include "xla_indexing/report/saturated.h"

namespace xla_indexing {

ReportOptions ReportOptions::For(const Machine& machine) {
  ReportOptions options;
  options.machine = &machine;
  options.emitter.warp_size = options.memory.warp_size = machine.warp_size;
  options.emitter.core_count = machine.core_count;
  options.memory.sector_bytes = machine.sector_bytes;
  options.memory.line_bytes = machine.line_bytes;
  return options;
}

Interval KernelAccess::WastedBytes(int64_t sector_bytes) const {
  const Interval waste = sectors.Sub(least_sectors).Intersect(Interval::AtLeast(0));
  // Bounds of both that exclude each other say nothing of the difference.
  return (waste.IsEmpty() ? Interval::Point(0) : waste).Mul(sector_bytes);
}

bool KernelAnalysis::IsExact() const {
  return open_questions.empty() &&
         absl::c_all_of(accesses, [](const KernelAccess& access) { return access.reason.empty(); });
}

absl::string_view SourcePlace::ShortFile() const {
  absl::string_view name = file;
  for (const absl::string_view folder : {"site-packages/", "dist-packages/"}) {
    const size_t at = name.rfind(folder);
    if (at != absl::string_view::npos) name.remove_prefix(at + folder.size());
  }
  return name;
}

void ReportTotals::Add(const KernelAnalysis& kernel, const Interval& runs, int64_t counted_runs) {
  const auto add = [&](const Interval& of_run, Interval* total) {
    *total = total->Add(of_run.Mul(runs));
  };
  ++kernels;
  not_exact += kernel.IsExact() ? 0 : 1;
  without_sectors += kernel.has_sectors ? 0 : 1;
  with_unknown_runs += runs.IsPoint() ? 0 : 1;
  add(kernel.bytes_read, &bytes_read);
  add(kernel.bytes_written, &bytes_written);
  add(kernel.bytes_of_reads, &bytes_of_reads);
  if (kernel.has_sectors) {
    add(kernel.sectors, &sectors);
    add(kernel.least_sectors, &least_sectors);
    add(kernel.bytes_moved, &bytes_moved);
    add(kernel.bytes_wasted, &bytes_wasted);
  }
  traffic =
      internal::SaturatedSum(traffic, internal::SaturatedProduct(kernel.traffic, counted_runs));
  microseconds += kernel.microseconds * static_cast<double>(counted_runs);
}

}  // namespace xla_indexing

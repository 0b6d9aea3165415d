// A report as a table on a terminal.
//
//       wasted      moved  effic.  runs  reads  kind      kernel
//     28.0 MiB   40.0 MiB    30%      1      1  loop      main/fusion  (p0)
//       reading p0 makes lanes 4096 bytes apart, ..
//       model.py:12  jit(f)/add
//
// Columns: bytes wasted and moved in all runs, least sectors / sectors, runs, reads of an element,
// kind, kernel with the operand that wastes most. `>=` is a least without a most, `?` is not known.
#ifndef XLA_INDEXING_REPORT_WRITE_REPORT_TEXT_H_
#define XLA_INDEXING_REPORT_WRITE_REPORT_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing {

// What rows can be sorted by: wasted, moved, sectors, read, written, runs, reads, efficiency, name.
// The greatest known value comes first, of efficiency the least, of names in their order; equal rows
// keep their order.
std::vector<absl::string_view> ReportColumns();
// InvalidArgument where there is no such column.
absl::Status SortRows(absl::string_view column, ModuleReport* report);

struct ReportTextOptions {
  int64_t top = 20;  // rows
};
std::string ReportText(const ModuleReport& report, const ReportTextOptions& options = {});

// `28.0 MiB`, `512 B`, `1 to 2 KiB`, `>= 3.5 GiB`.
std::string BytesText(const Interval& bytes);

// Least sectors / sectors; none where that is not one number.
std::optional<double> EfficiencyOf(const KernelAnalysis& analysis);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_WRITE_REPORT_TEXT_H_

// A report as tables on a terminal: the kernels, equal ones in one row; loops; what is wrong, by the bytes
// that it concerns; sums by module of the model and by function of its source.
//
//        time  share      moved    wasted  effic.  runs  kind      kernel
//     13.3 us  12.1%   40.0 MiB  28.0 MiB     30%    12  loop      main/fusion x12  (p0)
//       Block_*/mlp/add  model.py: Block.__call__
//     ..
//     and 214 more kernels: 3.1% of the time, 2.0% of the bytes
//
// Columns: the least time of all runs and its share, bytes moved and wasted in all runs, least sectors /
// sectors, runs, kind, the first kernel of the group with the operand that wastes most. `>=` is a least
// without a most, `?` is not known.
#ifndef XLA_INDEXING_REPORT_WRITE_REPORT_TEXT_H_
#define XLA_INDEXING_REPORT_WRITE_REPORT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing {

// What kernels and groups can be sorted by: time, wasted, moved, sectors, read, written, runs, reads, efficiency, name.
// The greatest known value comes first, of efficiency the least, of names in their order; equal rows
// keep their order. What is sorted by is of all runs; of one run are sectors, read and written.
std::vector<absl::string_view> ReportColumns();
// InvalidArgument where there is no such column.
absl::Status SortRows(absl::string_view column, ModuleReport* report);

struct ReportTextOptions {
  // Rows of each table; none: at most 20 that take, move or concern 1% of the whole or more.
  std::optional<int64_t> top;
};
std::string ReportText(const ModuleReport& report, const ReportTextOptions& options = {});

// `28.0 MiB`, `512 B`, `1 to 2 KiB`, `>= 3.5 GiB`.
std::string BytesText(const Interval& bytes);

// `12.3 us`, `4.0 ms`, `1.5 s`, `812.0 ns`.
std::string TimeText(double microseconds);

// `1 kernel`, `2 kernels`.
std::string CountText(int64_t count, absl::string_view what);

// The text behind blanks, so that it is `width` wide or more.
std::string PadLeft(absl::string_view text, size_t width);

// Appends a line in which text of the module cannot control a terminal: control characters are `?`.
void AppendLine(std::string line, std::string* out);

// Least sectors / sectors; nullopt if that is not one number.
std::optional<double> EfficiencyOf(const KernelAnalysis& analysis);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_WRITE_REPORT_TEXT_H_

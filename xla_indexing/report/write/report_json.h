// A report as JSON: one object on one line. docs/report.md describes its fields.
//
// Counts are numbers, or {"least": N, "most": N} with null for a most that is not known. Text that
// is no UTF-8 is mended.
#ifndef XLA_INDEXING_REPORT_WRITE_REPORT_JSON_H_
#define XLA_INDEXING_REPORT_WRITE_REPORT_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/query/explain/explain_dependence.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing {

// Ends in a line feed.
std::string ReportJson(const ModuleReport& report);

// A figure of all kernels and loops for Model Explorer, to be loaded there as node data of the module's graph:
//
//   {"main": {"results": {"fusion.3": {"value": 12.5}, ..}, "gradient": [{"stop": 0, "bgColor": ".."}, ..]}}
//
// with a graph for each computation, by its name, and nodes by the names of instructions. `figure` is `time`
// (microseconds), `moved` or `wasted` (bytes), of all runs, at least; what is not known has no value.
// InvalidArgument for another one.
//
// Source: https://github.com/google-ai-edge/model-explorer, node_data_builder.py.
absl::StatusOr<std::string> NodeDataJson(const ModuleReport& report, absl::string_view figure);

// The object that a report has as `path`, by itself; ends in a line feed.
std::string DependenceJson(const DependenceReport& report);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_WRITE_REPORT_JSON_H_

// A report as JSON: one object on one line. docs/report.md describes its fields.
//
// Counts are numbers, or {"least": N, "most": N} with null for a most that is not known. Text that
// is no UTF-8 is mended.
#ifndef XLA_INDEXING_REPORT_WRITE_REPORT_JSON_H_
#define XLA_INDEXING_REPORT_WRITE_REPORT_JSON_H_

#include <string>

#include "xla_indexing/query/explain/explain_dependence.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing {

// Ends in a line feed.
std::string ReportJson(const ModuleReport& report);

// The object that a report has as `path`, by itself; ends in a line feed.
std::string DependenceJson(const DependenceReport& report);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_WRITE_REPORT_JSON_H_

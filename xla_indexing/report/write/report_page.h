// A report as one page of HTML that holds everything it needs: a table of the kernels, and of each a
// picture of which elements it reads (docs/report.md).
//
// The page evaluates maps itself (report/page/maps.js); no points are in it. Names of modules and
// instructions are data in it, and never HTML or code: whatever they are, they are shown as text.
#ifndef XLA_INDEXING_REPORT_WRITE_REPORT_PAGE_H_
#define XLA_INDEXING_REPORT_WRITE_REPORT_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

// `reports`: lines that ReportJson (report/write/report_json.h) has made of reports with drawings
// (ReportOptions::with_drawings), one or several.
std::string ReportPage(absl::string_view reports);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_WRITE_REPORT_PAGE_H_

// The page of reports: HTML with `@REPORTS@` where the reports stand, made of report/page when the library is built.
#ifndef XLA_INDEXING_REPORT_WRITE_PAGE_TEXT_H_
#define XLA_INDEXING_REPORT_WRITE_PAGE_TEXT_H_

#include "absl/strings/string_view.h"

namespace xla_indexing::internal {

absl::string_view PageText();

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_WRITE_PAGE_TEXT_H_

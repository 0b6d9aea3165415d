// Makes the report about the kernels of a module (report/kernel_report.h says what is in it).
//
//   absl::StatusOr<ModuleReport> report = ReportKernels(*module);
//   report->rows[0].findings;  // what is wrong with the kernel that wastes most
//
// Errors. InvalidArgument for options out of bounds and a module without an entry; Cancelled where
// the callback of progress asks for it.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_REPORT_KERNELS_H_
#define XLA_INDEXING_REPORT_ANALYSIS_REPORT_KERNELS_H_

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing {

// The module has to verify (hlo/verify/verifier.h), and to outlive the report.
absl::StatusOr<ModuleReport> ReportKernels(const HloModule& module,
                                           const ReportOptions& options = {});

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_ANALYSIS_REPORT_KERNELS_H_

// Makes the report about the kernels of a module (report/kernel_report.h says what is in it).
//
//   absl::StatusOr<ModuleReport> report = ReportKernels(*module);
//   report->rows[0].findings;  // what is wrong with the kernel that wastes most
//
// Errors. InvalidArgument for options out of bounds and a module without an entry; Cancelled where
// the callback of progress asks for it.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_REPORT_KERNELS_H_
#define XLA_INDEXING_REPORT_ANALYSIS_REPORT_KERNELS_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing {

// The module has to verify (hlo/verify/verifier.h), and to outlive the report.
absl::StatusOr<ModuleReport> ReportKernels(const HloModule& module,
                                           const ReportOptions& options = {});

namespace internal {

struct KnownKernels {
  // Analyses that were done, by what the kernels do.
  absl::flat_hash_map<std::string, KernelAnalysis> analyses;
  // What loops as a whole read is left out. No total has it.
  bool without_loops = false;
};

// The same, with what is known of equal kernels already, to which what is found is added.
absl::StatusOr<ModuleReport> ReportKernels(const HloModule& module, const ReportOptions& options,
                                           KnownKernels* known);

}  // namespace internal

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_ANALYSIS_REPORT_KERNELS_H_

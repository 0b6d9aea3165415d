// A report about a module as somebody has it, and what to do.
//
// A module that XLA has not scheduled is made ready first: fused where that is asked for
// (gpu/fusing/fuse_like_xla.h), with the copies that it needs (gpu/fusing/copy_like_xla.h). The report is about
// that. Then each change that promises something is made, on the module as it was or on the ready one, and the
// report made again. What takes less time, or less memory, is advice:
//
//   donate             arguments whose buffers results may have (query/in_place/donations.h): the memory of
//                      these results, and the copies that are not needed any more
//   index by a slice   gathers and scatters whose indices are known (query/index_structure/index_structure.h)
//   other axis         an argument of which a kernel reads neighbours of an axis that is not the minor one, in
//                      an order in memory in which it is
//   other order        arguments that kernels do nothing but transpose, in the order that gives them
//   own kernel         what a fusion computes again and again is computed once
//   fold               a transpose or copy that one fusion alone reads, which reads its operand instead
//   one kernel         two fusions that read one array become one with two results
//
// Each is by itself: two of them together may save less than their sum. What saves most time comes
// first, then what saves most memory. Nothing is said of what saves less than a thousandth of the
// time, and of the bytes of the arguments.
//
// Cost: a report for each change that is tried, at most kMaxTried of a kind, in which only what is another
// kernel is analysed. Of modules of more than kMaxInstructionsForAdvice instructions there is none, and the
// report says so.
//
// Example: of a module whose entry updates a row of a parameter that is not donated: `donate cache: 1 array,
// whose buffer a result may have`, which saves the copy of it.
#ifndef XLA_INDEXING_REPORT_ADVICE_REPORT_MODULE_H_
#define XLA_INDEXING_REPORT_ADVICE_REPORT_MODULE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing {

inline constexpr int64_t kMaxInstructionsForAdvice = 60'000;

struct ReportedModule {
  // What the report is about, and refers to; null if it is the module that was given.
  std::unique_ptr<HloModule> module;
  ModuleReport report;
};

struct ModuleReportOptions {
  bool fuse = false;
  bool copy = true;  // of modules without a schedule
  bool advise = true;
  // Called for each advice, with the module in which it is done, made ready.
  std::function<void(const Advice& advice, const HloModule& changed)> on_advice;
};

// Errors: those of ReportKernels (report/analysis/report_kernels.h).
absl::StatusOr<ReportedModule> ReportModule(const HloModule& module,
                                            const ModuleReportOptions& how = {},
                                            const ReportOptions& options = {});

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_ADVICE_REPORT_MODULE_H_

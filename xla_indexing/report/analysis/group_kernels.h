// Rows of a report that belong together: equal kernels, kernels of one module of a model or of one function
// of its source. Sums are those of the rows (report/kernel_report.h).
#ifndef XLA_INDEXING_REPORT_ANALYSIS_GROUP_KERNELS_H_
#define XLA_INDEXING_REPORT_ANALYSIS_GROUP_KERNELS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing::internal {

// Makes groups, by_module and by_source of the rows, in their order; rows have to be finished.
void GroupKernels(ModuleReport* report);

// The module of a model that an op_name is of: without the operation at its end and the function of jit at
// its beginning. `jvp(Net)/Block_3/attention` of `jit(step)/jvp(Net)/Block_3/attention/dot_general`. Of what
// XLA has made of several instructions, `a/transpose;b/squeeze`, that of the first.
std::string ModulePathOf(absl::string_view op_name);

// Numbers as `*` where no letter follows: `Block_*/attention`, `T5/block*/conv_2d`.
std::string WithoutNumbers(absl::string_view path);

// `flax/linen/linear.py: Dense.__call__`, `train.py:12` where no function is known. Empty where nothing is.
std::string FunctionOf(const SourcePlace& source);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ANALYSIS_GROUP_KERNELS_H_

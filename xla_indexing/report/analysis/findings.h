// What is wrong with a kernel, and what would fix it, in words with figures.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_FINDINGS_H_
#define XLA_INDEXING_REPORT_ANALYSIS_FINDINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing::internal {

// A sentence for each access that is known to waste sectors, the worst first and at most three; for
// an operand whose elements are read often; for each instruction that is recomputed. `operands` are
// the names of the kernel's operands. A fix is named where the distance between lanes says one:
//
//   lanes along another dimension than the minor one   transpose, or tiles through shared memory,
//                                                      which a transpose kernel has already
//   lanes every k-th element of the minor dimension    a dense copy; tiles, where other requests
//                                                      have the elements between
//   neighbouring lanes                                 rows that begin at sectors
std::vector<std::string> FindingsOf(const KernelAnalysis& analysis,
                                    const std::vector<std::string>& operands, int64_t sector_bytes);

// A sentence for everything that is not exact or not known of a kernel: `reading p0: why`, what is open
// of the whole kernel, and why it is not known how often it runs.
std::vector<std::string> NotKnownOf(const KernelAnalysis& analysis, const KernelRow& row);

// `7`, `3 to 5`, `at least 2`.
std::string NumberText(const Interval& count);

// `p0`, `p0 leaf 2`, or `the result`.
std::string AccessedName(const KernelAccess& access, const std::vector<std::string>& operands);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ANALYSIS_FINDINGS_H_

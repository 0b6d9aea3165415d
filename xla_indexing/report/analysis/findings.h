// What is wrong with a kernel, and what would fix it, in words with figures.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_FINDINGS_H_
#define XLA_INDEXING_REPORT_ANALYSIS_FINDINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing::internal {

struct FindingOptions {
  int64_t sector_bytes = 32;
  int64_t cache_bytes = 0;  // what fits is read from memory once
  bool is_cpu = false;      // nothing is said of warps and shared memory
};

// A sentence for each access that is known to waste sectors, at most three; for an operand whose
// elements are read often; for each instruction that is recomputed; with the bytes of one run that it
// concerns, the most first: wasted, asked for beyond once, moved by the kernel. `operands` are the names
// of the kernel's operands. One that fits into the cache may be read often, and by several lanes.
// A fix is named where the distance between lanes says one:
//
//   lanes along another dimension than the minor one   transpose, or tiles through shared memory,
//                                                      which a transpose kernel has already
//   lanes every k-th element of the minor dimension    a dense copy; tiles, where other requests
//                                                      have the elements between
//   neighbouring lanes                                 rows that begin at sectors
std::vector<Finding> FindingsOf(const KernelAnalysis& analysis,
                                const std::vector<std::string>& operands,
                                const FindingOptions& options);

// A sentence for everything that is not exact or not known of a kernel: `reading p0: why`, what is open
// of the whole kernel, and why it is not known how often it runs.
std::vector<std::string> NotKnownOf(const KernelAnalysis& analysis, const KernelRow& row);

// `7`, `3 to 5`, `at least 2`.
std::string NumberText(const Interval& count);

// `p0`, `p0 leaf 2`, or `the result`.
std::string AccessedName(const KernelAccess& access, const std::vector<std::string>& operands);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ANALYSIS_FINDINGS_H_

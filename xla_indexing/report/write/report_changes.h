// What became better and what worse between two reports, as of a module before and after a change.
//
//     Time     16.0 ms -> 14.9 ms  (0.93)
//     Moved    32.1 GiB -> 29.8 GiB  (0.93)
//     ..
//     Better
//        -1.0 ms    -2.1 GiB  Block_*/mlp/add  (main/fusion.3 x12)
//     Worse
//     ..
//
// Kernels are matched by the op_name of their source, of which those of equal kernels are one
// (KernelGroup); without it by their names. A place that one report alone has is new or gone.
#ifndef XLA_INDEXING_REPORT_WRITE_REPORT_CHANGES_H_
#define XLA_INDEXING_REPORT_WRITE_REPORT_CHANGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing {

struct PlaceChange {
  std::string place;  // op_name, or `computation/instruction`
  std::string name;   // of its first kernel, in the second report if it is there
  // Sums of its kernels' runs; 0 of a report that does not have the place.
  int64_t kernels_before = 0;
  int64_t kernels_after = 0;
  double microseconds_before = 0;
  double microseconds_after = 0;
  int64_t traffic_before = 0;  // bytes
  int64_t traffic_after = 0;
};

// By place, those whose time or traffic differs; the greatest difference of time first.
std::vector<PlaceChange> ChangesBetween(const ModuleReport& before, const ModuleReport& after);

// At most `top` places of each kind; 20 by default.
std::string ChangesText(const ModuleReport& before, const ModuleReport& after,
                        std::optional<int64_t> top = std::nullopt);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_WRITE_REPORT_CHANGES_H_

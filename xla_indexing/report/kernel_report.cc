#include "xla_indexing/report/kernel_report.h"

#include "absl/algorithm/container.h"

namespace xla_indexing {

Interval KernelAccess::WastedBytes(int64_t sector_bytes) const {
  const Interval waste = sectors.Sub(least_sectors).Intersect(Interval::AtLeast(0));
  // Bounds of both that exclude each other say nothing of the difference.
  return (waste.IsEmpty() ? Interval::Point(0) : waste).Mul(sector_bytes);
}

bool KernelAnalysis::IsExact() const {
  return open_questions.empty() &&
         absl::c_all_of(accesses, [](const KernelAccess& access) { return access.reason.empty(); });
}

}  // namespace xla_indexing

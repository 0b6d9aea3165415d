#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing {

Interval KernelAccess::WastedBytes(int64_t sector_bytes) const {
  const Interval waste = sectors.Sub(least_sectors).Intersect(Interval::AtLeast(0));
  // Bounds of both that exclude each other say nothing of the difference.
  return (waste.IsEmpty() ? Interval::Point(0) : waste).Mul(sector_bytes);
}

}  // namespace xla_indexing

#include "xla_indexing/tools/input/launch.h"

#include "absl/status/status.h"

namespace xla_indexing {

absl::StatusOr<ThreadMapping> ThreadMappingOf(const Shape& output, const LaunchFlags& flags,
                                              mlir::MLIRContext* context) {
  if (flags.thread_map.empty()) return RowMajorLoop(output, flags.Loop(), context);
  absl::StatusOr<ThreadMapping> mapping = ParseThreadMapping(flags.thread_map, context);
  if (!mapping.ok()) return mapping.status();
  if (absl::Status status = mapping->VerifyFor(output); !status.ok()) return status;
  return mapping;
}

}  // namespace xla_indexing

// The threads that the flags of a launch give.
#ifndef XLA_INDEXING_TOOLS_INPUT_LAUNCH_H_
#define XLA_INDEXING_TOOLS_INPUT_LAUNCH_H_

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/tools/input/command_line.h"

namespace xla_indexing {

// The thread map that is given, or the row-major loop. InvalidArgument where it is none of the array.
absl::StatusOr<ThreadMapping> ThreadMappingOf(const Shape& output, const LaunchFlags& flags,
                                              mlir::MLIRContext* context);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_INPUT_LAUNCH_H_

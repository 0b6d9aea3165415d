// The kinds of kernels that XLA's GPU backend makes, and what they depend on of the GPU. Which fusion
// becomes what is said in gpu/fusion_mapping.h.
//
// Example: EmitterKindName(EmitterKind::kInPlaceUpdate) is "in-place update".
#ifndef XLA_INDEXING_GPU_THREADS_EMITTER_H_
#define XLA_INDEXING_GPU_THREADS_EMITTER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

enum class EmitterKind : uint8_t {
  kLoop,
  kTranspose,
  kReduction,
  kConcatenate,
  kInPlaceUpdate,
  kScatter,
};
// `loop`, `transpose`, `reduction`, `concatenate`, `in-place update`, `scatter`.
absl::string_view EmitterKindName(EmitterKind kind);

// The GPU; the numbers are those of an H100.
struct EmitterOptions {
  int64_t warp_size = 32;  // or 64
  int64_t core_count = 132;
  int64_t threads_per_core = 2048;

  absl::Status Verify() const;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_GPU_THREADS_EMITTER_H_

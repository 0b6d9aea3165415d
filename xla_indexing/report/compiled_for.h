// For what a module was compiled, as far as it says.
#ifndef XLA_INDEXING_REPORT_COMPILED_FOR_H_
#define XLA_INDEXING_REPORT_COMPILED_FOR_H_

#include <cstdint>
#include <string>

#include "xla_indexing/base/cpp20.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::internal {

struct CompiledFor {
  std::string platform;  // `cpu`, `gpu`, `tpu`; empty: not known
  std::string evidence;  // `custom call lapack_sgetrf_ffi`
  bool is_scheduled = false;
  int64_t arrays = 0;
  int64_t without_layout = 0;

  // `compiled for cpu, as a backend config __ynn says`; `compiled for: not known; not scheduled: ..`.
  std::string PlatformText() const;
  // `no layouts are given: row-major ones are assumed`; empty where all are.
  std::string LayoutText() const;
};

// The first instruction with a layout in tiles, a custom call or a backend config that one backend alone
// makes decides; where there is none, a dot or convolution outside of fusions of a scheduled module. Arrays are the results of instructions with two dimensions or more.
CompiledFor CompiledForOf(const HloModule& module);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_COMPILED_FOR_H_

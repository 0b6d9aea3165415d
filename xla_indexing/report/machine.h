// Machines for which the time of a kernel is estimated, with published figures (docs/report.md says
// where from).
//
// The time is the least that one of these takes by itself: bytes from memory at `memory_bandwidth`, bytes
// that warps ask for at `cache_bandwidth`, multiplications and additions at the peak of their type.
// What starts a kernel, and what no kernel reaches of the peak, is not in it.
//
// Example: FindMachine("h100")->TimeOf({.memory_bytes = 3.35e6}) is 1 microsecond.
#ifndef XLA_INDEXING_REPORT_MACHINE_H_
#define XLA_INDEXING_REPORT_MACHINE_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

struct KernelWork {
  double memory_bytes = 0;
  double cache_bytes = 0;
  double flops = 0;
  int64_t bits = 32;  // of an element of what is multiplied
};

struct Machine {
  absl::string_view name;
  absl::string_view description;
  bool is_cpu = false;
  int64_t warp_size = 32;
  int64_t core_count = 0;
  int64_t sector_bytes = 32;
  int64_t line_bytes = 128;
  int64_t cache_bytes = 0;      // of the last cache, which all cores share
  double memory_bandwidth = 0;  // bytes a second
  double cache_bandwidth = 0;
  double flops_64 = 0;  // a second, dense, of elements of 64 bits
  double flops_32 = 0;
  double flops_16 = 0;
  double flops_8 = 0;

  // In microseconds.
  double TimeOf(const KernelWork& work) const;
};

std::vector<absl::string_view> MachineNames();
// Null where there is none of that name.
const Machine* FindMachine(absl::string_view name);
const Machine& DefaultMachine();  // h100

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_MACHINE_H_

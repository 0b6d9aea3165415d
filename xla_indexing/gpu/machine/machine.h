// Machines for which the time of a kernel is estimated, with published figures (docs/report.md says
// where from).
//
// The time is the greatest of what each of these takes by itself: bytes from memory at
// `memory_bandwidth`, bytes that warps ask for at `cache_bandwidth`, multiplications and additions of
// products at the peak of their type, transcendental and other operations at the rates of the units that
// compute them, and bytes of shared memory. All but the bytes from memory are shared by the cores: with
// `programs` that are not a multiple of the cores, some cores are idle in the end. What it takes to start
// a kernel is `launch_microseconds`, which is not in it, nor is what no kernel reaches of the peak.
//
// Example: FindMachine("h100")->TimeOf({.memory_bytes = 3.35e6}) is 1 microsecond, bound by memory.
#ifndef XLA_INDEXING_GPU_MACHINE_MACHINE_H_
#define XLA_INDEXING_GPU_MACHINE_MACHINE_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

struct KernelWork {
  double memory_bytes = 0;
  double cache_bytes = 0;
  double flops = 0;   // multiplications and additions of products
  int64_t bits = 32;  // of an element of what is multiplied
  double transcendentals = 0;
  double other_operations = 0;
  double shared_bytes = 0;  // wavefronts of shared memory times the bytes of one
  double programs = 0;      // 0: enough to keep all cores busy
};

// What takes the time of a kernel.
enum class TimeBound {
  kMemory,
  kCache,
  kProducts,
  kTranscendentals,
  kOtherOperations,
  kSharedMemory
};

// "memory", "cache", "products", "transcendentals", "other operations", "shared memory".
absl::string_view NameOf(TimeBound bound);

struct KernelTime {
  double microseconds = 0;
  TimeBound bound = TimeBound::kMemory;
  double busy_cores = 1;  // the part of the cores' time in which they have a program
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
  double other_operations = 0;  // a second, of 32 bits; a multiply-add is one
  double transcendentals = 0;   // a second
  double shared_bandwidth = 0;  // bytes a second, of all cores
  // What a core has; a CPU its second cache for both.
  int64_t register_bytes = 0;
  int64_t shared_bytes = 0;
  double launch_microseconds = 0;  // to start a kernel

  KernelTime TimeOf(const KernelWork& work) const;
  // The bytes that come from memory where `moved` bytes are asked for of an array: an array that fits
  // into the cache comes there once.
  double FromMemory(double moved, double array_bytes) const {
    return array_bytes <= static_cast<double>(cache_bytes) && array_bytes < moved ? array_bytes
                                                                                  : moved;
  }
};

std::vector<absl::string_view> MachineNames();
// Null if there is none of that name.
const Machine* FindMachine(absl::string_view name);
const Machine& DefaultMachine();  // h100

}  // namespace xla_indexing

#endif  // XLA_INDEXING_GPU_MACHINE_MACHINE_H_

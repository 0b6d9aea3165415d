#include "xla_indexing/gpu/machine/machine.h"

#include <cmath>
#include <cstdint>
#include <utility>

namespace xla_indexing {
namespace {

constexpr double kTera = 1e12;
constexpr int64_t kMega = 1'000'000;
constexpr int64_t kKibi = 1024;
constexpr double kGpuLaunch = 1;  // as the cost model of XLA has it

// clang-format off
constexpr Machine kMachines[] = {
    {"h100", "NVIDIA H100 SXM", false, 32, 132, 32, 128, 50 * kMega,
     3.35 * kTera, 9.4 * kTera, 67 * kTera, 494.7 * kTera, 989.4 * kTera, 1978.9 * kTera,
     33.5 * kTera, 4.18 * kTera, 33.5 * kTera, 256 * kKibi, 227 * kKibi, kGpuLaunch},
    {"h200", "NVIDIA H200 SXM", false, 32, 132, 32, 128, 50 * kMega,
     4.8 * kTera, 9.4 * kTera, 67 * kTera, 494.7 * kTera, 989.4 * kTera, 1978.9 * kTera,
     33.5 * kTera, 4.18 * kTera, 33.5 * kTera, 256 * kKibi, 227 * kKibi, kGpuLaunch},
    {"a100", "NVIDIA A100 SXM 80 GB", false, 32, 108, 32, 128, 40 * kMega,
     2.039 * kTera, 7.2 * kTera, 19.5 * kTera, 156 * kTera, 312 * kTera, 624 * kTera,
     9.75 * kTera, 2.44 * kTera, 19.5 * kTera, 256 * kKibi, 163 * kKibi, kGpuLaunch},
    {"mi300x", "AMD Instinct MI300X", false, 64, 304, 64, 128, 256 * kMega,
     5.3 * kTera, 17.2 * kTera, 163.4 * kTera, 653.7 * kTera, 1307.4 * kTera, 2614.9 * kTera,
     81.7 * kTera, 10.2 * kTera, 81.7 * kTera, 512 * kKibi, 64 * kKibi, kGpuLaunch},
    {"cpu", "AMD EPYC 9654", true, 32, 96, 64, 64, 384 * kMega,
     0.4608 * kTera, 7.37 * kTera, 3.69 * kTera, 7.37 * kTera, 14.7 * kTera, 29.5 * kTera,
     3.69 * kTera, 0.23 * kTera, 14.7 * kTera, 1024 * kKibi, 1024 * kKibi, 0},
};
// clang-format on

}  // namespace

absl::string_view NameOf(TimeBound bound) {
  switch (bound) {
    case TimeBound::kMemory:
      return "memory";
    case TimeBound::kCache:
      return "cache";
    case TimeBound::kProducts:
      return "products";
    case TimeBound::kTranscendentals:
      return "transcendentals";
    case TimeBound::kOtherOperations:
      return "other operations";
    case TimeBound::kSharedMemory:
      return "shared memory";
  }
  return "";
}

KernelTime Machine::TimeOf(const KernelWork& work) const {
  const double flops_a_second = work.bits > 32   ? flops_64
                                : work.bits > 16 ? flops_32
                                : work.bits > 8  ? flops_16
                                                 : flops_8;
  KernelTime time;
  if (work.programs > 0) {
    const auto cores = static_cast<double>(core_count);
    time.busy_cores = work.programs / (std::ceil(work.programs / cores) * cores);
  }
  time.microseconds = 1e6 * work.memory_bytes / memory_bandwidth;
  for (const auto& [seconds, bound] :
       {std::pair(work.cache_bytes / cache_bandwidth, TimeBound::kCache),
        std::pair(work.flops / flops_a_second, TimeBound::kProducts),
        std::pair(work.transcendentals / transcendentals, TimeBound::kTranscendentals),
        std::pair(work.other_operations / other_operations, TimeBound::kOtherOperations),
        std::pair(work.shared_bytes / shared_bandwidth, TimeBound::kSharedMemory)}) {
    const double microseconds = 1e6 * seconds / time.busy_cores;
    if (microseconds <= time.microseconds) continue;
    time.microseconds = microseconds;
    time.bound = bound;
  }
  return time;
}

std::vector<absl::string_view> MachineNames() {
  std::vector<absl::string_view> names;
  for (const Machine& machine : kMachines) names.push_back(machine.name);
  return names;
}

const Machine* FindMachine(absl::string_view name) {
  for (const Machine& machine : kMachines) {
    if (machine.name == name) return &machine;
  }
  return nullptr;
}

const Machine& DefaultMachine() { return kMachines[0]; }

}  // namespace xla_indexing

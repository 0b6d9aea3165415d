#include "xla_indexing/report/machine.h"

#include <algorithm>

namespace xla_indexing {
namespace {

constexpr double kTera = 1e12;
constexpr int64_t kMega = 1'000'000;

// clang-format off
constexpr Machine kMachines[] = {
    {"h100", "NVIDIA H100 SXM", false, 32, 132, 32, 128, 50 * kMega,
     3.35 * kTera, 9.4 * kTera, 67 * kTera, 494.7 * kTera, 989.4 * kTera, 1978.9 * kTera},
    {"h200", "NVIDIA H200 SXM", false, 32, 132, 32, 128, 50 * kMega,
     4.8 * kTera, 9.4 * kTera, 67 * kTera, 494.7 * kTera, 989.4 * kTera, 1978.9 * kTera},
    {"a100", "NVIDIA A100 SXM 80 GB", false, 32, 108, 32, 128, 40 * kMega,
     2.039 * kTera, 7.2 * kTera, 19.5 * kTera, 156 * kTera, 312 * kTera, 624 * kTera},
    {"mi300x", "AMD Instinct MI300X", false, 64, 304, 64, 128, 256 * kMega,
     5.3 * kTera, 17.2 * kTera, 163.4 * kTera, 653.7 * kTera, 1307.4 * kTera, 2614.9 * kTera},
    {"cpu", "AMD EPYC 9654", true, 32, 96, 64, 64, 384 * kMega,
     0.4608 * kTera, 7.37 * kTera, 3.69 * kTera, 7.37 * kTera, 14.7 * kTera, 29.5 * kTera},
};
// clang-format on

}  // namespace

double Machine::TimeOf(const KernelWork& work) const {
  const double flops_a_second = work.bits > 32   ? flops_64
                                : work.bits > 16 ? flops_32
                                : work.bits > 8  ? flops_16
                                                 : flops_8;
  return 1e6 * std::max({work.memory_bytes / memory_bandwidth, work.cache_bytes / cache_bandwidth,
                         work.flops / flops_a_second});
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

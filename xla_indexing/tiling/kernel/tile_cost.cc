#include "xla_indexing/tiling/kernel/tile_cost.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace xla_indexing {

TileCostOptions TileCostOptions::For(const Machine& machine) {
  TileCostOptions options;
  options.warp_size = machine.warp_size;
  options.num_threads = 4 * machine.warp_size;
  options.sector_bytes = machine.sector_bytes;
  options.line_bytes = machine.line_bytes;
  return options;
}

KernelTime TimeOf(const TileCost& cost, const Machine& machine) {
  const auto sector_bytes = static_cast<double>(machine.sector_bytes);
  constexpr double kBytesOfWavefront = 128;
  KernelWork work;
  std::map<std::tuple<const HloInstruction*, int64_t, bool>, std::pair<double, double>> arrays;
  for (const TileAccess& access : cost.accesses) {
    const double moved =
        access.sectors.has_upper() ? static_cast<double>(access.sectors.upper()) * sector_bytes : 0;
    auto& [sum, bytes] = arrays[{access.instruction, access.leaf, access.is_store}];
    sum += moved;
    bytes = static_cast<double>(access.array_bytes);
    work.cache_bytes += moved;
  }
  for (const auto& [array, figures] : arrays) {
    work.memory_bytes += machine.FromMemory(figures.first, figures.second);
  }
  const int64_t spilled = std::max<int64_t>(cost.register_bytes - machine.register_bytes, 0) +
                          std::max<int64_t>(cost.shared_bytes - machine.shared_bytes, 0);
  work.programs = static_cast<double>(cost.num_programs);
  work.cache_bytes += 2 * static_cast<double>(spilled) * work.programs;
  work.flops = 2 * cost.multiply_adds;
  work.bits = cost.product_bits;
  work.transcendentals = cost.transcendentals;
  work.other_operations = cost.other_operations;
  work.shared_bytes = kBytesOfWavefront * static_cast<double>(cost.wavefronts);
  return machine.TimeOf(work);
}

}  // namespace xla_indexing

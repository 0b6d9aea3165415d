#include "xla_indexing/ops/loops/closure/periods.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "xla_indexing/base/engines.h"
#include "xla_indexing/ops/loops/body/timed_map.h"
#include "xla_indexing/ops/unions/few_maps.h"

namespace xla_indexing::internal {
namespace {

constexpr int kMaxPeriod = 6;
constexpr size_t kMaxMapsOfPeriod = 16;

}  // namespace

std::optional<OperandIndexingSet> CloseByPeriod(
    const OperandIndexingSet& pieces,
    llvm::function_ref<std::optional<OperandIndexingSet>(const OperandIndexingSet& power)> close) {
  OperandIndexingSet before;
  OperandIndexingSet power = pieces;
  const int most = IsOff(Engine::kPeriods) ? 1 : kMaxPeriod;
  for (int period = 1; period <= most; ++period) {
    if (power.empty()) return before;
    if (const std::optional<OperandIndexingSet> closed = close(power)) {
      OperandIndexingSet all = before;
      all.Add(*closed);
      if (!AddComposed(*closed, before, &all)) return std::nullopt;
      all.Simplify();
      return all;
    }
    before.Add(power);
    OperandIndexingSet next;
    if (!AddComposed(power, pieces, &next)) return std::nullopt;
    if (next.size() > 1) WriteWithFewMaps(&next);
    if (next.size() > kMaxMapsOfPeriod) return std::nullopt;
    power = std::move(next);
  }
  return std::nullopt;
}

}  // namespace xla_indexing::internal

#include "xla_indexing/report/analysis/lane_distance.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>

#include "absl/status/statusor.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

namespace {

// The number that more than half of them are.
std::optional<int64_t> Majority(const std::map<int64_t, int64_t>& counts) {
  int64_t all = 0;
  for (const auto& [number, count] : counts) all += count;
  for (const auto& [number, count] : counts) {
    if (count * 2 > all) return number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<LaneDistance> FindLaneDistance(const std::vector<LaneAddress>& lanes,
                                             const Shape& array) {
  std::map<int64_t, int64_t> between_lanes;  // of their first elements, in bits
  std::map<int64_t, int64_t> in_vectors;     // from one element to the next
  std::map<int64_t, int64_t> widths;
  const LaneAddress* first = nullptr;
  int64_t width = 0;
  for (size_t i = 0; i < lanes.size(); ++i) {
    ++width;
    if (i + 1 < lanes.size() && lanes[i + 1].thread == lanes[i].thread) {
      ++in_vectors[lanes[i + 1].bit - lanes[i].bit];
      continue;
    }
    const LaneAddress& of_this = lanes[i + 1 - static_cast<size_t>(width)];
    if (first != nullptr && of_this.thread == first->thread + 1) {
      ++between_lanes[of_this.bit - first->bit];
    }
    first = &of_this;
    ++widths[width];
    width = 0;
  }
  std::optional<int64_t> bits = Majority(between_lanes);
  if (!bits) return std::nullopt;
  const std::optional<int64_t> in_vector = Majority(in_vectors);
  const std::optional<int64_t> elements = Majority(widths);
  if (in_vector && elements && Int128{*in_vector} * *elements == *bits) bits = in_vector;
  if (*bits % 8 != 0) return std::nullopt;
  LaneDistance distance;
  distance.bytes = *bits / 8;
  const absl::StatusOr<PhysicalLayout> layout = PhysicalLayoutOf(array);
  if (*bits == 0 || !layout.ok() || !layout->tilings.empty()) return distance;
  const Int128 apart = *bits < 0 ? -Int128{*bits} : Int128{*bits};
  Int128 stride = layout->width;
  for (size_t i = layout->sizes.size(); i-- > 0 && stride <= apart;) {
    const int64_t size = layout->sizes[i];
    if (size > 1 && apart % stride == 0 && apart / stride < size) {
      distance.dimension = layout->major_to_minor[i];
      distance.step = static_cast<int64_t>(*bits / stride);
      distance.is_minor_dimension = stride == layout->width;
    }
    stride *= size;
  }
  return distance;
}

bool LeadBetween(const OperandIndexingSet& maps, int64_t dimension, int64_t step) {
  Congruence indices;
  for (const OperandIndexing& of_map : maps) {
    if (of_map.IsUnknown()) return true;
    const IndexingMap& map = of_map.map();
    if (map.IsKnownEmpty()) continue;
    ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
    indices = indices.Union(simplifier.Residues(map.results()[static_cast<size_t>(dimension)]));
  }
  return !indices.IsEmpty() && !indices.ResidueModulo(std::abs(step));
}

}  // namespace xla_indexing::internal

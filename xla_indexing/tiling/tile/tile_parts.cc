#include "xla_indexing/tiling/tile/tile_parts.h"

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"

namespace xla_indexing::internal {

std::vector<TilePart> TilePartsOf(const IndexingMap& map) {
  const int first_runtime = map.num_dims() + map.num_ranges();
  std::vector<TilePart> parts;
  for (Component& component : ComponentsOf(map)) {
    std::optional<IndexingMap> own = MapOfComponent(map, component);
    // Where constants cannot be put in, the whole map is one part.
    if (!own) {
      parts.clear();
      parts.push_back({AllOf(map), map, {}, map.num_runtimes()});
      parts.back().dims.resize(map.num_dims());
      std::iota(parts.back().dims.begin(), parts.back().dims.end(), 0);
      return parts;
    }
    TilePart& part = parts.emplace_back(TilePart{std::move(component), *std::move(own), {}, 0});
    for (const int variable : part.component.variables) {
      if (variable < map.num_dims()) part.dims.push_back(variable);
      if (variable >= first_runtime) ++part.num_runtimes;
    }
  }
  return parts;
}

bool HasOnePoint(const TilePart& part) {
  return part.component.constraints.empty() && part.dims.empty() &&
         part.num_runtimes == static_cast<int>(part.component.variables.size());
}

bool IsBoxByDigits(const TilePart& part, const TileDigits& digits, const UnitCounts& counts) {
  // Constraints on constants have no variable whose digits would know them.
  if (part.component.variables.empty() && !part.component.constraints.empty()) return false;
  const auto num_variables = static_cast<int>(digits.variables().size());
  for (const int variable : part.component.variables) {
    // Runtime variables come last.
    if (variable >= num_variables) break;
    if (digits.variables()[variable].is_opaque || !counts.is_aligned[variable]) return false;
  }
  return llvm::all_of(part.component.results, [&](int i) {
    const TileResult& result = digits.results()[i];
    return !result.is_opaque && digits.ProgressionOf(result, counts).has_value() &&
           llvm::all_of(digits.UnitTermsOf(result), [&](const TileUnitTerm& term) {
             return digits.units()[term.unit].result != TileUnit::kSeveral ||
                    counts.counts[term.unit] == 1;
           });
  });
}

}  // namespace xla_indexing::internal

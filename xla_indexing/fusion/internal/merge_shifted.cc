#include "xla_indexing/fusion/internal/merge_shifted.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/internal/bands.h"
#include "xla_indexing/fusion/internal/map_as_band.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

// So many families count as one step of the question (base/question_budget.h).
constexpr size_t kComparedInAStep = 64;

// Bands of one result, dimension and factor that agree in all else.
struct Family {
  IndexingMap example;
  int dim = 0;
  int64_t factor = 1;
  std::vector<Band> bands;
  std::vector<OperandIndexing> maps;  // one for each, as they were given
};

// Whether the maps agree in all but the result and the interval of the dimension.
bool AgreeElsewhere(const IndexingMap& a, const IndexingMap& b, int result, int dim) {
  if (a.num_dims() != b.num_dims() || a.num_results() != b.num_results()) return false;
  for (int i = 0; i < a.num_results(); ++i) {
    if (i != result && a.results()[i] != b.results()[i]) return false;
  }
  for (int i = 0; i < a.num_dims(); ++i) {
    if (i != dim && !(a.dims()[i].bounds == b.dims()[i].bounds)) return false;
  }
  return true;
}

// Adds the map, which is this band along the family's dimension.
void AddBand(Band band, const OperandIndexing& indexing, Family* family) {
  band.dim = Progression::Of(indexing.map().dims()[family->dim].bounds, band.dim.residues);
  family->bands.push_back(Tightened(band, family->factor));
  family->maps.push_back(indexing);
}

// A map that is a band of any factor, along this dimension or any.
struct OfAnyFactor {
  OperandIndexing map;
  BandOfMap found;
};

// Adds what the bands of a family and those of any factor that fit are together. The latter go where
// they have become part of a band; others stay. Returns whether some are fewer.
bool AddMerged(Family& family, int result, std::vector<OfAnyFactor>* of_any_factor,
               OperandIndexingSet* merged) {
  const size_t own = family.bands.size();
  std::vector<size_t> positions;
  for (size_t i = 0; i < of_any_factor->size(); ++i) {
    const auto& [map, found] = (*of_any_factor)[i];
    if ((found.dim < 0 || found.dim == family.dim) &&
        AgreeElsewhere(family.example, map.map(), result, family.dim)) {
      AddBand(found.band, map, &family);
      positions.push_back(i);
    }
  }
  // Bands, and which of the maps they are of: none of those that several are.
  std::vector<std::pair<Band, std::optional<size_t>>> bands;
  bands.reserve(family.bands.size());
  for (size_t i = 0; i < family.bands.size(); ++i) bands.emplace_back(family.bands[i], i);
  const auto lower = [](const auto& band) {
    const Interval& offset = band.first.offset.interval;
    return offset.has_lower() ? offset.lower() : kInt64Min;
  };
  // Each with those before it, the nearest first, and again where some have become one.
  constexpr size_t kLooksBack = 32;
  for (size_t before = bands.size() + 1; bands.size() < before && !QuestionBudget::IsSpent();) {
    before = bands.size();
    QuestionBudget::Spend(static_cast<int64_t>(before));
    llvm::stable_sort(bands, [&](const auto& a, const auto& b) { return lower(a) < lower(b); });
    size_t kept = 0;
    for (size_t next = 0; next < bands.size(); ++next) {
      std::optional<Band> both;
      size_t i = kept;
      while (i > 0 && i + kLooksBack > kept && !both) {
        both = Union(bands[--i].first, bands[next].first, family.factor);
      }
      if (both) {
        bands[i] = {*both, std::nullopt};
      } else {
        bands[kept++] = bands[next];
      }
    }
    bands.resize(kept);
  }
  std::vector<OperandIndexing> maps;
  std::vector<bool> stays(positions.size());
  bool fit = true;
  for (const auto& [band, of_map] : bands) {
    if (of_map && *of_map >= own) {
      stays[*of_map - own] = true;
      continue;
    }
    std::optional<OperandIndexing> map =
        of_map ? family.maps[*of_map]
               : MapOfBand(family.example, {family.dim, family.factor, band}, result);
    fit = fit && map;
    if (map) maps.push_back(*std::move(map));
  }
  if (!fit) {
    maps.assign(family.maps.begin(), family.maps.begin() + own);
    stays.assign(stays.size(), true);
  }
  for (OperandIndexing& map : maps) merged->Add(std::move(map));
  for (size_t i = positions.size(); i-- > 0;) {
    if (!stays[i]) of_any_factor->erase(of_any_factor->begin() + positions[i]);
  }
  return fit && bands.size() < family.bands.size();
}

// The factors with which two bands of any factor, which are rectangles, may be one along a dimension:
// those of lines through their corners.
llvm::SmallVector<int64_t, 4> FactorsOfCorners(const OperandIndexing& a, const Band& first,
                                               const OperandIndexing& b, const Band& second,
                                               int dim, bool overlap) {
  llvm::SmallVector<int64_t, 4> factors;
  const Interval from = a.map().dims()[dim].bounds;
  const Interval to = b.map().dims()[dim].bounds;
  const Interval& low = first.value.interval;
  const Interval& high = second.value.interval;
  if (!from.IsFinite() || !to.IsFinite() || !low.IsFinite() || !high.IsFinite()) return factors;
  llvm::SmallVector<std::optional<int64_t>, 2> steps = {CheckedSub(to.lower(), from.upper())};
  if (overlap) {
    steps = {CheckedSub(to.lower(), from.lower()), CheckedSub(to.upper(), from.upper())};
  }
  for (const std::optional<int64_t>& step : steps) {
    if (!step || *step == 0 || (!overlap && *step < 0)) continue;
    for (const auto& rise :
         {CheckedSub(high.upper(), low.upper()), CheckedSub(high.lower(), low.lower())}) {
      if (!rise || *rise == 0 || *rise == kInt64Min || *rise % *step != 0) continue;
      const int64_t factor = *rise / *step;
      if (!llvm::is_contained(factors, factor)) factors.push_back(factor);
    }
  }
  return factors;
}

OperandIndexingSet MergedAlong(const OperandIndexingSet& maps, int result) {
  OperandIndexingSet merged;
  std::vector<Family> families;
  std::vector<OfAnyFactor> of_any_factor;
  for (const OperandIndexing& indexing : maps) {
    std::optional<BandOfMap> found = AsBand(indexing, result);
    if (!found) {
      merged.Add(indexing);
      continue;
    }
    if (found->factor == 0) {
      of_any_factor.push_back({indexing, *found});
      continue;
    }
    QuestionBudget::Spend(1 + static_cast<int64_t>(families.size() / kComparedInAStep));
    auto family = llvm::find_if(families, [&](const Family& other) {
      return other.dim == found->dim && other.factor == found->factor &&
             AgreeElsewhere(other.example, indexing.map(), result, other.dim);
    });
    if (family == families.end()) {
      families.push_back({indexing.map(), found->dim, found->factor, {}, {}});
      family = std::prev(families.end());
    }
    AddBand(found->band, indexing, &*family);
  }
  for (Family& family : families) AddMerged(family, result, &of_any_factor, &merged);
  // What is left are rectangles. Each with the next one, along a dimension in which they differ.
  llvm::stable_sort(of_any_factor, [&](const OfAnyFactor& a, const OfAnyFactor& b) {
    const auto key = [](const OfAnyFactor& of) {
      llvm::SmallVector<int64_t, 4> lowers;
      for (const Variable& dim : of.map.map().dims()) {
        lowers.push_back(dim.bounds.has_lower() ? dim.bounds.lower() : kInt64Min);
      }
      return lowers;
    };
    return key(a) < key(b);
  });
  // First those that lie beside one another.
  bool overlap = false;
  for (size_t i = 0; !QuestionBudget::IsSpent();) {
    if (i + 1 >= of_any_factor.size()) {
      if (overlap) break;
      overlap = true;
      i = 0;
      continue;
    }
    const auto [map, found] = of_any_factor[i];
    const auto [next_map, next_found] = of_any_factor[i + 1];
    bool is_joined = false;
    for (int dim = 0; dim < map.map().num_dims() && !is_joined; ++dim) {
      llvm::SmallVector<int64_t, 4> factors =
          FactorsOfCorners(map, found.band, next_map, next_found.band, dim, overlap);
      if (!overlap) factors.push_back(1);
      for (const int64_t factor : factors) {
        Family family = {map.map(), dim, factor, {}, {}};
        is_joined = AddMerged(family, result, &of_any_factor, &merged);
        if (is_joined) break;
      }
    }
    i = is_joined ? 0 : i + 1;
  }
  for (OfAnyFactor& left : of_any_factor) merged.Add(std::move(left.map));
  return merged;
}

}  // namespace

void MergeShifted(OperandIndexingSet* maps) {
  if (maps->empty()) return;
  const int num_results = maps->maps().front().map().num_results();
  for (const OperandIndexing& indexing : *maps) {
    if (indexing.IsUnknown() || indexing.map().num_results() != num_results) return;
  }
  for (int result = 0; result < num_results && maps->size() > 1; ++result) {
    *maps = MergedAlong(*maps, result);
  }
}

}  // namespace xla_indexing::internal

#include "xla_indexing/fusion/unions/merge_shifted.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/unions/bands.h"
#include "xla_indexing/fusion/unions/map_as_band.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

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

// Whether the maps have the same dimensions, but for the interval of this one.
bool AgreeInOtherDims(const IndexingMap& a, const IndexingMap& b, int dim) {
  if (a.num_dims() != b.num_dims()) return false;
  for (int i = 0; i < a.num_dims(); ++i) {
    if (i != dim && !(a.dims()[i].bounds == b.dims()[i].bounds)) return false;
  }
  return true;
}

// Whether the maps agree in all but the result and the interval of the dimension.
bool AgreeElsewhere(const IndexingMap& a, const IndexingMap& b, int result, int dim) {
  if (a.num_results() != b.num_results()) return false;
  for (int i = 0; i < a.num_results(); ++i) {
    if (i != result && a.results()[i] != b.results()[i]) return false;
  }
  return AgreeInOtherDims(a, b, dim);
}

// Equal for maps that AgreeElsewhere().
size_t HashElsewhere(const IndexingMap& map, int result, int dim) {
  llvm::hash_code hash = llvm::hash_value(map.num_results());
  for (int i = 0; i < map.num_results(); ++i) {
    if (i != result) hash = llvm::hash_combine(hash, map.results()[i]);
  }
  for (int i = 0; i < map.num_dims(); ++i) {
    const Interval& bounds = map.dims()[i].bounds;
    if (i != dim && bounds.IsFinite()) {
      hash = llvm::hash_combine(hash, bounds.lower(), bounds.upper());
    }
  }
  return hash;
}

// Groups of maps, found by a hash of what those of one group have in common.
template <typename Group>
class MapGroups {
 public:
  // The group of this hash for which `has` holds; a new one where there is none.
  template <typename Has>
  Group& Find(size_t hash, Has has, Group made) {
    QuestionBudget::Spend();
    auto& positions = of_hash_[hash];
    for (const size_t position : positions) {
      if (has(groups_[position])) return groups_[position];
    }
    positions.push_back(groups_.size());
    return groups_.emplace_back(std::move(made));
  }
  std::vector<Group>& all() { return groups_; }

 private:
  std::vector<Group> groups_;
  absl::flat_hash_map<size_t, llvm::SmallVector<size_t, 1>> of_hash_;
};

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

// Whether the map is exact, without bindings, and the same on all devices.
bool IsPlainAndExact(const OperandIndexing& indexing) {
  return indexing.IsExact() && indexing.bindings().empty() && indexing.replica_map() == nullptr;
}

// The map whose range variables that are not in the result have become its last dimensions. A union
// over them commutes with a union of maps. Simplified maps number them in the order of the results.
OperandIndexing WithRangesAsDims(const OperandIndexing& indexing, int result) {
  const IndexingMap& map = indexing.map();
  if (!IsPlainAndExact(indexing) || map.num_ranges() == 0) return indexing;
  mlir::MLIRContext* context = map.context();
  llvm::SmallVector<AffineExpr> renamed(map.num_ranges());
  Variables dims(map.dims());
  Variables ranges;
  for (int range = 0; range < map.num_ranges(); ++range) {
    const bool stays = map.results()[result].isFunctionOfSymbol(range);
    renamed[range] = stays ? mlir::getAffineSymbolExpr(ranges.size(), context)
                           : mlir::getAffineDimExpr(dims.size(), context);
    (stays ? ranges : dims).push_back(map.ranges()[range]);
  }
  if (dims.size() == map.dims().size()) return indexing;
  Constraints constraints(map.constraints());
  for (Constraint& constraint : constraints) {
    constraint.expr = constraint.expr.replaceSymbols(renamed);
  }
  const mlir::AffineMap affine_map =
      map.affine_map().replaceDimsAndSymbols({}, renamed, dims.size(), ranges.size());
  return OperandIndexing(kPartsFit, IndexingMap(kPartsFit, affine_map, std::move(dims),
                                                std::move(ranges), {}, std::move(constraints)));
}

// The map with no more dimensions than these: the others are its first range variables again.
OperandIndexing WithDims(const OperandIndexing& indexing, int num_dims) {
  const IndexingMap& map = indexing.map();
  if (map.num_dims() <= num_dims) return indexing;
  mlir::MLIRContext* context = map.context();
  llvm::SmallVector<AffineExpr> dims;
  llvm::SmallVector<AffineExpr> symbols;
  Variables ranges;
  for (int dim = 0; dim < map.num_dims(); ++dim) {
    const bool is_range = dim >= num_dims;
    dims.push_back(is_range ? mlir::getAffineSymbolExpr(ranges.size(), context)
                            : mlir::getAffineDimExpr(dim, context));
    if (is_range) ranges.push_back(map.dims()[dim]);
  }
  for (const Variable& range : map.ranges()) {
    symbols.push_back(mlir::getAffineSymbolExpr(ranges.size(), context));
    ranges.push_back(range);
  }
  Constraints constraints(map.constraints());
  for (Constraint& constraint : constraints) {
    constraint.expr = constraint.expr.replaceDimsAndSymbols(dims, symbols);
  }
  const mlir::AffineMap affine_map =
      map.affine_map().replaceDimsAndSymbols(dims, symbols, num_dims, ranges.size());
  OperandIndexing with(kPartsFit,
                       IndexingMap(kPartsFit, affine_map,
                                   Variables(map.dims().begin(), map.dims().begin() + num_dims),
                                   std::move(ranges), {}, std::move(constraints)));
  with.Simplify();
  return with;
}

// Maps that agree in all but the values of one dimension, by those values.
struct OverValues {
  IndexingMap example;
  Constraints constraints;  // those that say nothing of the residue class of the dimension
  std::vector<OperandIndexing> maps;
  std::vector<Progression> values;
};

// Makes one of maps that agree in all but the values of the dimension, where these are a progression.
OperandIndexingSet UnitedOver(const OperandIndexingSet& maps, int dim) {
  OperandIndexingSet united;
  MapGroups<OverValues> groups;
  for (const OperandIndexing& indexing : maps) {
    const IndexingMap& map = indexing.map();
    if (!IsPlainAndExact(indexing)) {
      united.Add(indexing);
      continue;
    }
    Constraints constraints;
    const Progression values = ValuesOfDim(map, dim, &constraints);
    const auto is_of = [&](const OverValues& of) {
      return AgreeElsewhere(of.example, map, /*result=*/-1, dim) &&
             llvm::equal(
                 of.example.ranges(), map.ranges(),
                 [](const Variable& a, const Variable& b) { return a.bounds == b.bounds; }) &&
             of.constraints == constraints;
    };
    OverValues& group = groups.Find(HashElsewhere(map, -1, dim), is_of, {map, constraints, {}, {}});
    group.maps.push_back(indexing);
    group.values.push_back(values);
  }
  for (OverValues& group : groups.all()) {
    std::vector<OperandIndexing> fewer;
    const std::vector<Progression> all = Unite(group.values);
    for (size_t i = 0; i < all.size() && all.size() < group.maps.size(); ++i) {
      std::optional<OperandIndexing> map =
          WithValuesOfDim(group.example, dim, all[i], group.constraints);
      if (map) fewer.push_back(*std::move(map));
    }
    if (!fewer.empty() && fewer.size() == all.size()) group.maps = std::move(fewer);
    for (OperandIndexing& map : group.maps) united.Add(std::move(map));
  }
  return united;
}

// The map as bands along the result and the dimension: one, or one for each value of the dimension,
// where these are few; none where it is not seen to be that.
std::vector<BandWithFactor> AsBands(const OperandIndexing& indexing, int result, int dim) {
  constexpr int64_t kFewValues = 64;
  const auto band_of = [&](const OperandIndexing& part) -> std::optional<BandWithFactor> {
    const std::optional<BandOfMap> found = AsBand(part, result);
    if (!found || (found->dim >= 0 && found->dim != dim)) return std::nullopt;
    const int64_t factor = found->factor == 0 ? 1 : found->factor;
    Band band = found->band;
    band.dim = Progression::Of(part.map().dims()[dim].bounds, band.dim.residues);
    return BandWithFactor{Tightened(band, factor), factor};
  };
  if (const auto band = band_of(indexing)) return {*band};
  if (!IsPlainAndExact(indexing) || AsBand(indexing, result) ||
      !indexing.map().results()[result].isFunctionOfDim(dim)) {
    return {};
  }
  Constraints constraints;
  const Progression values = ValuesOfDim(indexing.map(), dim, &constraints);
  const std::optional<Int128> count = values.Count();
  if (!count || *count > kFewValues) return {};
  std::vector<BandWithFactor> bands;
  for (int64_t i = 0; i < static_cast<int64_t>(*count); ++i) {
    QuestionBudget::Spend();
    const int64_t value = values.interval.lower() + i * values.residues.modulus();
    const std::optional<OperandIndexing> part =
        WithValuesOfDim(indexing.map(), dim, Progression::Point(value), constraints);
    if (!part) return {};
    if (part->IsKnownEmpty()) continue;
    // A constraint may say of another dimension what no band does.
    const std::optional<BandWithFactor> band = band_of(*part);
    if (!band || !AgreeInOtherDims(part->map(), indexing.map(), dim)) return {};
    bands.push_back(*band);
  }
  return bands;
}

// Makes one of maps that agree in all but the result and one dimension, where they are one band.
OperandIndexingSet UnitedInto(const OperandIndexingSet& maps, int result, int num_dims) {
  struct Group {
    std::vector<size_t> positions;
    std::vector<BandWithFactor> bands;
  };
  std::vector<std::optional<OperandIndexing>> left(maps.begin(), maps.end());
  for (int dim = 0; dim < num_dims; ++dim) {
    MapGroups<Group> groups;
    for (size_t i = 0; i < left.size(); ++i) {
      if (!left[i]) continue;
      const std::vector<BandWithFactor> bands = AsBands(*left[i], result, dim);
      if (bands.empty()) continue;
      const auto is_of = [&](const Group& of) {
        return AgreeElsewhere(left[of.positions.front()]->map(), left[i]->map(), result, dim);
      };
      Group& group = groups.Find(HashElsewhere(left[i]->map(), result, dim), is_of, {});
      group.positions.push_back(i);
      group.bands.insert(group.bands.end(), bands.begin(), bands.end());
    }
    for (const Group& group : groups.all()) {
      if (group.positions.size() < 2) continue;
      const std::optional<BandWithFactor> all = UnionOfAll(group.bands);
      if (!all) continue;
      std::optional<OperandIndexing> map =
          MapOfBand(left[group.positions.front()]->map(), {dim, all->factor, all->band}, result);
      if (!map) continue;
      for (const size_t position : group.positions) left[position].reset();
      left.push_back(std::move(map));
    }
  }
  OperandIndexingSet united;
  for (std::optional<OperandIndexing>& map : left) {
    if (map) united.Add(*std::move(map));
  }
  return united;
}

// Makes one of maps that are bands of one factor along the result, where these are one.
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
  for (OfAnyFactor& left : of_any_factor) merged.Add(std::move(left.map));
  return merged;
}

}  // namespace

void UniteValues(OperandIndexingSet* maps) {
  if (IsOff(Engine::kUniteValues)) return;
  for (int dim = 0; maps->size() > 1 && dim < maps->maps().front().map().num_dims(); ++dim) {
    *maps = UnitedOver(*maps, dim);
  }
}

void MergeShifted(OperandIndexingSet* maps) {
  if (IsOff(Engine::kBands)) return;
  if (maps->empty()) return;
  const int num_results = maps->maps().front().map().num_results();
  for (const OperandIndexing& indexing : *maps) {
    if (indexing.IsUnknown() || indexing.map().num_results() != num_results) return;
  }
  UniteValues(maps);
  const int num_dims = maps->maps().front().map().num_dims();
  for (int result = 0; result < num_results && maps->size() > 1; ++result) {
    OperandIndexingSet given;
    for (const OperandIndexing& map : *maps) given.Add(WithRangesAsDims(map, result));
    // Bands take less time than columns, and find fewer unions.
    OperandIndexingSet merged = MergedAlong(given, result);
    if (merged.size() > 1) {
      const OperandIndexingSet united = UnitedInto(given, result, num_dims);
      if (united.size() < given.size()) merged = MergedAlong(united, result);
    }
    *maps = {};
    for (const OperandIndexing& map : merged) maps->Add(WithDims(map, num_dims));
  }
}

}  // namespace xla_indexing::internal

#include "xla_indexing/ops/unions/zones.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/union/difference_bounds.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using Zone = DifferenceBounds;

// Coordinates of a zone, the maps that are looked at, and the parts that are left of a zone.
constexpr int kMaxCoordinates = 16;
constexpr size_t kMaxZones = 32;
constexpr int64_t kMaxParts = 512;
// A variable of a map, with a number added; nothing where an expression is something else. Ranges are
// the last coordinates of all.
class Coordinates {
 public:
  explicit Coordinates(const IndexingMap& map) : map_(map) {}

  int first_runtime() const { return 1 + map_.num_dims(); }
  int first_result() const { return first_runtime() + map_.num_runtimes(); }
  int first_range() const { return first_result() + map_.num_results(); }
  int size() const { return first_range() + map_.num_ranges(); }

  int Of(AffineExpr variable) const {
    if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable)) {
      return 1 + static_cast<int>(dim.getPosition());
    }
    const auto symbol =
        static_cast<int>(llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition());
    return symbol < map_.num_ranges() ? first_range() + symbol
                                      : first_runtime() + symbol - map_.num_ranges();
  }

  // `expr` as the difference of two places.
  std::optional<std::pair<ShiftedCoordinate, ShiftedCoordinate>> DifferenceOf(
      AffineExpr expr) const {
    const LinearSum sum = LinearSum::FromExpr(expr);
    if (!sum.valid() || sum.terms().size() > 2) return std::nullopt;
    std::pair<ShiftedCoordinate, ShiftedCoordinate> places;
    places.first.added = sum.constant();
    for (const Term& term : sum.terms()) {
      ShiftedCoordinate& place = term.coefficient == 1 ? places.first : places.second;
      if ((term.coefficient != 1 && term.coefficient != -1) || !IsVariable(term.atom) ||
          place.coordinate != 0) {
        return std::nullopt;
      }
      place.coordinate = Of(term.atom);
    }
    return places;
  }

 private:
  const IndexingMap& map_;
};

// The zone of a map in dimensions, runtime variables and results; nothing where it is none.
std::optional<Zone> ZoneOf(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  const Coordinates coordinates(map);
  if (coordinates.size() > kMaxCoordinates) return std::nullopt;
  Zone zone(coordinates.size());
  bool fits = true;
  const auto restrict_all = [&](int first, llvm::ArrayRef<Variable> variables) {
    for (const Variable& variable : variables) {
      fits = fits && zone.Restrict({first++}, {}, variable.bounds);
    }
  };
  restrict_all(1, map.dims());
  restrict_all(coordinates.first_runtime(), map.runtimes());
  restrict_all(coordinates.first_range(), map.ranges());
  const auto restrict_to = [&](AffineExpr expr, const Interval& interval,
                               std::optional<int> result) {
    const auto places = coordinates.DifferenceOf(expr);
    if (!places || (result && places->second.coordinate != 0)) return false;
    return zone.Restrict(places->first, result ? ShiftedCoordinate{*result} : places->second,
                         interval);
  };
  for (const Constraint& constraint : map.constraints()) {
    fits = fits && restrict_to(constraint.expr, constraint.interval, std::nullopt);
  }
  for (const auto [i, result] : llvm::enumerate(map.results())) {
    fits = fits && restrict_to(result, Interval::Point(0),
                               coordinates.first_result() + static_cast<int>(i));
  }
  if (!fits || !zone.Close()) return std::nullopt;
  return zone.Without(coordinates.first_range(), coordinates.size());
}

// Whether every point of a zone is one of zones[from], zones[from + 1], ..; false where that takes too
// many parts.
bool IsWithinZones(const Zone& zone, const std::vector<Zone>& zones, size_t from,
                   StepBudget* budget) {
  if (llvm::any_of(llvm::ArrayRef(zones).drop_front(from),
                   [&](const Zone& other) { return zone.IsSubsetOf(other); })) {
    return true;
  }
  if (from == zones.size()) return false;
  Zone inside = zone;
  for (int i = 0; i < zone.size(); ++i) {
    for (int j = 0; j < zone.size(); ++j) {
      const int64_t bound = zones[from].Bound(i, j);
      if (inside.Bound(i, j) <= bound) continue;
      if (!budget->Take(1) || !QuestionBudget::Spend(zone.size())) return false;
      Zone beyond = inside;
      beyond.Tighten(j, i, -bound - 1);
      if (beyond.Close() && !IsWithinZones(beyond, zones, from + 1, budget)) return false;
      inside.Tighten(i, j, bound);
      if (!inside.Close()) return true;
    }
  }
  return true;
}

// A zone as a map; `like` has its runtime variables.
class ZoneWriter {
 public:
  ZoneWriter(const Zone& zone, const OperandIndexing& like)
      : zone_(zone), like_(like), coordinates_(like.map()), context_(like.map().context()) {}

  // Nothing where that passes a bound.
  std::optional<OperandIndexing> Write() {
    const IndexingMap& map = like_.map();
    const int first_result = coordinates_.first_result();
    exprs_.resize(zone_.size());
    exprs_[0] = Constant(0, context_);
    Variables dims(map.dims());
    for (int i = 0; i < map.num_dims(); ++i) {
      dims[i].bounds = BoundsOf(1 + i);
      exprs_[1 + i] = mlir::getAffineDimExpr(i, context_);
    }
    // What results need ranges says which symbols runtime variables are.
    std::vector<int> free_results;
    for (int i = first_result; i < zone_.size(); ++i) {
      if (!EqualBefore(i)) free_results.push_back(i);
    }
    Variables ranges;
    for (const int i : free_results) {
      exprs_[i] = mlir::getAffineSymbolExpr(ranges.size(), context_);
      ranges.push_back({BoundsOf(i), {}});
    }
    Variables runtimes(map.runtimes());
    for (int i = 0; i < map.num_runtimes(); ++i) {
      const int coordinate = coordinates_.first_runtime() + i;
      runtimes[i].bounds = BoundsOf(coordinate);
      exprs_[coordinate] = mlir::getAffineSymbolExpr(ranges.size() + i, context_);
    }
    llvm::SmallVector<AffineExpr, 4> results;
    for (int i = first_result; i < zone_.size(); ++i) {
      if (const std::optional<ShiftedCoordinate> place = EqualBefore(i)) {
        exprs_[i] = Add(exprs_[place->coordinate], Constant(place->added, context_));
      }
      results.push_back(exprs_[i]);
    }
    Constraints constraints = Differences();
    if (llvm::is_contained(results, AffineExpr())) return std::nullopt;
    const auto affine_map =
        mlir::AffineMap::get(dims.size(), ranges.size() + runtimes.size(), results, context_);
    OperandIndexing written(kPartsFit,
                            IndexingMap(kPartsFit, affine_map, std::move(dims), std::move(ranges),
                                        std::move(runtimes), std::move(constraints)),
                            RuntimeVarIndexings(like_.bindings().begin(), like_.bindings().end()),
                            like_.label());
    written.Simplify();
    return written;
  }

 private:
  Interval BoundsOf(int i) const { return DifferenceOf(i, 0); }
  Interval DifferenceOf(int i, int j) const {
    const int64_t upper = zone_.Bound(i, j);
    const int64_t lower = zone_.Bound(j, i);
    const Interval above = lower == kNoBound ? Interval::All() : Interval::AtLeast(-lower);
    return above.Intersect(upper == kNoBound ? Interval::All() : Interval::AtMost(upper));
  }

  // The first coordinate before this one that differs from it by a number, dimensions before 0.
  std::optional<ShiftedCoordinate> EqualBefore(int i) const {
    for (int k = 1; k <= i; ++k) {
      const int j = k == i ? 0 : k;
      const Interval difference = DifferenceOf(i, j);
      if (difference.IsPoint()) return ShiftedCoordinate{j, difference.lower()};
    }
    return std::nullopt;
  }

  // The constraints that do not follow from others.
  Constraints Differences() const {
    std::vector<int> own;
    Constraints constraints;
    for (int i = 1; i < zone_.size(); ++i) {
      const std::optional<ShiftedCoordinate> equal = EqualBefore(i);
      if (!equal) {
        own.push_back(i);
      } else if (i < coordinates_.first_result() && equal->coordinate != 0) {
        constraints.push_back(
            {Sub(exprs_[i], exprs_[equal->coordinate]), Interval::Point(equal->added)});
      }
    }
    for (size_t a = 0; a < own.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        Interval difference = DifferenceOf(own[b], own[a]);
        if (Follows(own[b], own[a], own)) difference = WithoutUpper(difference);
        if (Follows(own[a], own[b], own)) difference = WithoutLower(difference);
        if (difference == Interval::All()) continue;
        constraints.push_back({Sub(exprs_[own[b]], exprs_[own[a]]), difference});
      }
    }
    return constraints;
  }

  static Interval WithoutUpper(const Interval& interval) {
    return interval.has_lower() ? Interval::AtLeast(interval.lower()) : Interval::All();
  }
  static Interval WithoutLower(const Interval& interval) {
    return interval.has_upper() ? Interval::AtMost(interval.upper()) : Interval::All();
  }

  // Whether the bound of x_i - x_j follows from others; no two of these coordinates are equal, so that
  // all that follow may be left out together.
  bool Follows(int i, int j, const std::vector<int>& own) const {
    const auto is_through = [&](int k) {
      return k != i && k != j && zone_.Bound(i, k) != kNoBound && zone_.Bound(k, j) != kNoBound &&
             zone_.Bound(i, k) + zone_.Bound(k, j) <= zone_.Bound(i, j);
    };
    return is_through(0) || llvm::any_of(own, is_through);
  }

  const Zone& zone_;
  const OperandIndexing& like_;
  const Coordinates coordinates_;
  mlir::MLIRContext* context_;
  llvm::SmallVector<AffineExpr, 8> exprs_;
};

// Whether zones of maps may be compared: they have the same variables, and read the same values.
bool AreOfOneSpace(const OperandIndexing& a, const OperandIndexing& b) {
  return a.label() == b.label() && a.map().num_dims() == b.map().num_dims() &&
         a.map().num_results() == b.map().num_results() && a.bindings() == b.bindings();
}

// A zone, and the map that it is of, or else one of its space.
struct ZoneOfMap {
  Zone zone;
  const OperandIndexing* map;
  bool is_joined = false;
};

// Whether the same coordinates before `first_result` differ by numbers.
bool HaveTiesOfOneKind(const Zone& a, const Zone& b, int first_result) {
  for (int i = 1; i < first_result; ++i) {
    for (int j = 1; j < i; ++j) {
      if (a.Difference(i, j) != b.Difference(i, j)) return false;
    }
  }
  return true;
}

// Whether a result differs from some coordinate by one number in the one and by another in the other.
bool HaveResultsThatMoveApart(const Zone& a, const Zone& b, int first_result) {
  for (int i = first_result; i < a.size(); ++i) {
    for (int j = 1; j < first_result; ++j) {
      const std::optional<int64_t> tie = a.Difference(i, j);
      const std::optional<int64_t> other = b.Difference(i, j);
      if (tie && other && *tie != *other) return true;
    }
  }
  return false;
}

// Joins two of the zones, if there are two to be joined; false otherwise.
bool JoinTwo(int first_result, std::vector<ZoneOfMap>* zones) {
  for (size_t i = 0; i < zones->size(); ++i) {
    std::vector<Zone> of_one_kind;
    for (const ZoneOfMap& each : *zones) {
      if (HaveTiesOfOneKind(each.zone, (*zones)[i].zone, first_result)) {
        of_one_kind.push_back(each.zone);
      }
    }
    for (const Zone& other : of_one_kind) {
      const Zone& zone = (*zones)[i].zone;
      if (other == zone || HaveResultsThatMoveApart(zone, other, first_result)) continue;
      const Zone hull = zone.Hull(other);
      StepBudget budget(kMaxParts);
      if (!IsWithinZones(hull, of_one_kind, 0, &budget)) continue;
      const OperandIndexing* like = (*zones)[i].map;
      std::erase_if(*zones, [&](const ZoneOfMap& each) { return each.zone.IsSubsetOf(hull); });
      zones->push_back({hull, like, /*is_joined=*/true});
      return true;
    }
  }
  return false;
}

// Joins zones as long as there are two to be joined.
void JoinAll(int first_result, std::vector<ZoneOfMap>* zones) {
  while (JoinTwo(first_result, zones)) {
  }
}

// A zone in parts, where two coordinates before `first_result` differ by a number in another zone and by
// that and others in this: the part with that difference, and those below and above.
std::vector<ZoneOfMap> DividedAtTies(const ZoneOfMap& zone, int first_result,
                                     const std::vector<ZoneOfMap>& others) {
  std::vector<ZoneOfMap> parts = {zone};
  const auto divide = [&](int i, int j, int64_t tie) {
    std::vector<ZoneOfMap> divided;
    for (const ZoneOfMap& part : parts) {
      Zone below = part.zone;
      Zone at = part.zone;
      Zone above = part.zone;
      below.Tighten(i, j, tie - 1);
      at.Tighten(i, j, tie);
      at.Tighten(j, i, -tie);
      above.Tighten(j, i, -tie - 1);
      for (Zone* each : {&below, &at, &above}) {
        if (each->Close()) divided.push_back({*each, part.map, /*is_joined=*/true});
      }
    }
    parts = std::move(divided);
  };
  for (const ZoneOfMap& other : others) {
    for (int i = 1; i < first_result && parts.size() < kMaxZones; ++i) {
      for (int j = 1; j < i; ++j) {
        const std::optional<int64_t> tie = other.zone.Difference(i, j);
        if (tie && !zone.zone.Difference(i, j)) divide(i, j, *tie);
      }
    }
  }
  return parts;
}

// Divides a zone, if its parts belong to others, so that there are fewer; false otherwise.
bool DivideOne(int first_result, std::vector<ZoneOfMap>* zones) {
  for (size_t i = 0; i < zones->size(); ++i) {
    std::vector<ZoneOfMap> fewer = DividedAtTies((*zones)[i], first_result, *zones);
    if (fewer.size() == 1 || fewer.size() > kMaxZones) continue;
    for (size_t j = 0; j < zones->size(); ++j) {
      if (j != i) fewer.push_back((*zones)[j]);
    }
    JoinAll(first_result, &fewer);
    if (fewer.size() >= zones->size()) continue;
    *zones = std::move(fewer);
    return true;
  }
  return false;
}

// Maps of one space with fewer zones, if there are; nothing where one cannot be written.
std::optional<std::vector<OperandIndexing>> Joined(const std::vector<OperandIndexing>& maps) {
  std::vector<ZoneOfMap> zones;
  std::vector<OperandIndexing> joined;
  for (const OperandIndexing& map : maps) {
    std::optional<Zone> zone = zones.size() < kMaxZones ? ZoneOf(map) : std::nullopt;
    if (zone) {
      zones.push_back({*std::move(zone), &map});
    } else {
      joined.push_back(map);
    }
  }
  if (zones.size() < 2) return std::nullopt;
  const int first_result = Coordinates(zones.front().map->map()).first_result();
  JoinAll(first_result, &zones);
  while (DivideOne(first_result, &zones)) {
  }
  for (const ZoneOfMap& each : zones) {
    std::optional<OperandIndexing> written =
        each.is_joined ? ZoneWriter(each.zone, *each.map).Write() : *each.map;
    if (!written) return std::nullopt;
    joined.push_back(*std::move(written));
  }
  return joined;
}

}  // namespace

void JoinZones(std::vector<OperandIndexing>* maps) {
  if (IsOff(Engine::kZones)) return;
  // What values are read from must not depend on variables, which are others in what is written.
  const auto is_fixed = [](const RuntimeVarIndexing& binding) {
    return !binding.device && llvm::all_of(binding.element, [](AffineExpr expr) {
      return ConstantIn(expr).has_value();
    });
  };
  std::vector<OperandIndexing> all;
  std::vector<OperandIndexing> pending = std::move(*maps);
  while (!pending.empty()) {
    std::vector<OperandIndexing> of_one_space;
    std::vector<OperandIndexing> others;
    for (OperandIndexing& map : pending) {
      if (map.IsUnknown() || map.replica_map() != nullptr ||
          !llvm::all_of(map.bindings(), is_fixed)) {
        all.push_back(std::move(map));
      } else if (of_one_space.empty() || AreOfOneSpace(of_one_space.front(), map)) {
        of_one_space.push_back(std::move(map));
      } else {
        others.push_back(std::move(map));
      }
    }
    const std::optional<std::vector<OperandIndexing>> joined = Joined(of_one_space);
    llvm::append_range(all, joined ? *joined : of_one_space);
    pending = std::move(others);
  }
  *maps = std::move(all);
}

}  // namespace xla_indexing::internal

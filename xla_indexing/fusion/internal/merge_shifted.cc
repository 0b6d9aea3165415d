#include "xla_indexing/fusion/internal/merge_shifted.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/internal/congruence.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/internal/constraint_form.h"
#include "xla_indexing/ops/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// So many families count as one step of the question (base/question_budget.h).
constexpr size_t kComparedInAStep = 64;

// What an interval has of a residue class.
struct Progression {
  Interval interval = Interval::Empty();
  Congruence residues = Congruence::All();

  static Progression Of(const Interval& interval, const Congruence& residues) {
    const Interval tight = residues.Tighten(interval);
    return {tight, tight.IsPoint() ? Congruence::Point(tight.lower()) : residues};
  }
  // None where it is infinite.
  std::optional<Int128> Count() const {
    if (interval.IsEmpty()) return 0;
    if (!interval.IsFinite()) return std::nullopt;
    if (interval.IsPoint()) return 1;
    return (Int128{interval.upper()} - interval.lower()) / residues.modulus() + 1;
  }
  Progression Intersect(const Progression& other) const {
    return Of(interval.Intersect(other.interval), residues.Intersect(other.residues));
  }
  bool Contains(const Progression& other) const { return Intersect(other) == other; }

  friend bool operator==(const Progression& a, const Progression& b) = default;
};

// The union of both, where it is one.
std::optional<Progression> Union(const Progression& a, const Progression& b) {
  const Progression hull =
      Progression::Of(a.interval.Union(b.interval), a.residues.Union(b.residues));
  const std::optional<Int128> all = hull.Count();
  const std::optional<Int128> of_a = a.Count();
  const std::optional<Int128> of_b = b.Count();
  const std::optional<Int128> of_both = a.Intersect(b).Count();
  if (!all || !of_a || !of_b || !of_both || *all != *of_a + *of_b - *of_both) return std::nullopt;
  return hull;
}

// What bands of one family differ in: D, T and C.
struct Band {
  Interval dim;
  Interval value;
  Progression offset;

  bool Contains(const Band& other) const {
    return other.dim.IsSubsetOf(dim) && other.value.IsSubsetOf(value) &&
           offset.Contains(other.offset);
  }
};

// The hull of the d_j in `box`; where there are few values, with regard to the residue class that each
// of them asks for.
Interval DimsIn(const Band& box, int64_t factor) {
  constexpr int64_t kFewValues = 64;
  const Interval dims = box.dim.Intersect(box.value.Sub(box.offset.interval).PreimageOfMul(factor));
  const std::optional<int64_t> values = box.value.Size();
  if (!values || *values > kFewValues || (factor != 1 && factor != -1)) return dims;
  Interval hull = Interval::Empty();
  for (int64_t i = 0; i < *values; ++i) {
    const int64_t value = box.value.lower() + i;
    const Progression products =
        Progression::Of(box.offset.interval.Neg().Add(value).Intersect(dims.Mul(factor)),
                        box.offset.residues.Mul(-1).Add(value));
    hull = hull.Union(products.interval.Mul(factor));
  }
  return hull;
}

// Whether all points of `box`, which is more than the band, are points of the band.
bool AreAllIn(const Band& box, int64_t factor, const Band& band) {
  const Interval& offset = box.offset.interval;
  const Interval values = box.dim.Mul(factor);
  return DimsIn(box, factor).IsSubsetOf(band.dim) &&
         box.value.Intersect(values.Add(offset)).IsSubsetOf(band.value) &&
         band.offset.Contains(
             Progression::Of(offset.Intersect(box.value.Sub(values)), box.offset.residues));
}

// The two as one band.
std::optional<Band> Union(const Band& a, const Band& b, int64_t factor) {
  if (a.Contains(b)) return a;
  if (b.Contains(a)) return b;
  const std::optional<Progression> offsets = Union(a.offset, b.offset);
  if (!offsets) return std::nullopt;
  const Band hull = {a.dim.Union(b.dim), a.value.Union(b.value), *offsets};
  const auto is_union = [&](auto part) {
    return llvm::all_of(llvm::ArrayRef<Band>({a, b}),
                        [&](const Band& band) { return AreAllIn(part(band), factor, band); });
  };
  const auto with_offset_of = [&](const Band& band) {
    return Band{hull.dim, hull.value, band.offset};
  };
  const bool along_offset = is_union(with_offset_of);
  const bool along_value = a.value.TouchesOrOverlaps(b.value) && is_union([&](const Band& band) {
                             return Band{hull.dim, band.value, hull.offset};
                           });
  const bool along_dim = a.dim.TouchesOrOverlaps(b.dim) && is_union([&](const Band& band) {
                           return Band{band.dim, hull.value, hull.offset};
                         });
  if (!along_offset && !along_value && !along_dim) return std::nullopt;
  return hull;
}

// A result or a constraint as  of_dim * d_dim + of_range * s0 + constant; a dimension of -1 and a
// factor of 0 where there is no dimension.
struct TwoTerms {
  int dim = -1;
  int64_t of_dim = 0;
  int64_t of_range = 0;
  int64_t constant = 0;
};
std::optional<TwoTerms> AsTwoTerms(AffineExpr expr) {
  const LinearSum sum = LinearSum::FromExpr(expr);
  if (!sum.valid()) return std::nullopt;
  TwoTerms terms;
  terms.constant = sum.constant();
  for (const Term& term : sum.terms()) {
    const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(term.atom);
    if (dim && terms.dim < 0 && term.coefficient != kInt64Min) {
      terms.dim = static_cast<int>(dim.getPosition());
      terms.of_dim = term.coefficient;
    } else if (llvm::isa<mlir::AffineSymbolExpr>(term.atom) && term.coefficient != kInt64Min) {
      terms.of_range = term.coefficient;
    } else {
      return std::nullopt;
    }
  }
  return terms;
}

// A map as a band along a result. The results that say nothing of the dimension and the factor are
// bands along any dimension, or along any with any factor where the dimension is given.
struct Found {
  int dim = -1;
  int64_t factor = 0;
  Band band;                                       // `dim` is not set
  bool is_constant = false;                        // of a value alone, `offset` is not set
  Congruence residues_of_dim = Congruence::All();  // of a constant result
};

// A map with a constant result. A constraint of it says that a dimension is in a residue class, or
// that the dimension and multiples of a range variable have a given sum.
std::optional<Found> AsConstant(const IndexingMap& map, int64_t value) {
  Found found;
  found.is_constant = true;
  found.band.value = Interval::Point(value);
  if (map.constraints().empty()) return found;
  const Constraint& constraint = map.constraints()[0];
  const std::optional<ResidueFact> fact = ResidueFactOf(constraint);
  if (fact && fact->sum.terms().size() == 1) {
    const Term& term = fact->sum.terms()[0];
    const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(term.atom);
    if (!dim || (term.coefficient != 1 && term.coefficient != -1)) return std::nullopt;
    found.dim = static_cast<int>(dim.getPosition());
    found.residues_of_dim = fact->residues.Mul(term.coefficient);
    return found;
  }
  const std::optional<TwoTerms> terms = AsTwoTerms(constraint.expr);
  if (!terms || terms->of_dim != 1 || terms->of_range == 0 || !constraint.interval.IsPoint()) {
    return std::nullopt;
  }
  // d_j = sum - of_range * s0 for some s0.
  const Interval rest = constraint.interval.Sub(terms->constant);
  const Interval found_in = rest.Sub(map.ranges()[0].bounds.Mul(terms->of_range));
  found.dim = terms->dim;
  found.residues_of_dim = Congruence::All().Mul(terms->of_range).Add(rest.lower());
  const Interval dim = map.dims()[found.dim].bounds;
  if (!found.residues_of_dim.Tighten(dim).IsSubsetOf(found_in)) return std::nullopt;
  return found;
}

// The map as a band along the result; none where it is none.
std::optional<Found> AsBand(const OperandIndexing& indexing, int result) {
  const IndexingMap& map = indexing.map();
  if (!indexing.IsExact() || !indexing.bindings().empty() || indexing.replica_map() != nullptr ||
      map.num_ranges() > 1 || map.constraints().size() > 1) {
    return std::nullopt;
  }
  for (int i = 0; i < map.num_results(); ++i) {
    if (i != result && map.num_ranges() > 0 && map.results()[i].isFunctionOfSymbol(0)) {
      return std::nullopt;
    }
  }
  const std::optional<TwoTerms> terms = AsTwoTerms(map.results()[result]);
  if (!terms) return std::nullopt;
  const auto [dim, factor, step, constant] = *terms;
  if (dim < 0 && step == 0) return AsConstant(map, constant);
  std::optional<TwoTerms> constraint;
  if (!map.constraints().empty()) {
    constraint = AsTwoTerms(map.constraints()[0].expr);
    if (!constraint) return std::nullopt;
  }
  const Interval within =
      constraint ? map.constraints()[0].interval.Sub(constraint->constant) : Interval::All();
  const Interval range = map.num_ranges() > 0 ? map.ranges()[0].bounds : Interval::Point(0);
  Found found;
  if (dim < 0) {
    // t = s + constant, and sign * s + k * d_j in an interval, that is t - a*d_j in one: a = -sign*k.
    if (step != 1) return std::nullopt;
    found.band.value = range.Add(constant);
    found.band.offset = {Interval::All(), Congruence::All()};
    if (!constraint) return found;
    const int64_t sign = constraint->of_range;
    if (constraint->dim < 0 || (sign != 1 && sign != -1)) return std::nullopt;
    found.dim = constraint->dim;
    found.factor = -sign * constraint->of_dim;
    found.band.offset = Progression::Of(within.Mul(sign).Add(constant), Congruence::All());
    return found;
  }
  // t = a*d_j + step*s + constant, and t - constant in an interval, or a divisor of that.
  found.dim = dim;
  found.factor = factor;
  found.band.value = map.dims()[dim].bounds.Mul(factor).Add(range.Mul(step)).Add(constant);
  found.band.offset =
      Progression::Of(range.Mul(step).Add(constant), Congruence::All().Mul(step).Add(constant));
  if (!constraint) return found;
  if (constraint->dim != dim || factor % constraint->of_dim != 0) return std::nullopt;
  const int64_t multiple = factor / constraint->of_dim;
  const std::optional<int64_t> of_range = CheckedMul(constraint->of_range, multiple);
  if (!of_range || *of_range != step) return std::nullopt;
  found.band.value = found.band.value.Intersect(within.Mul(multiple).Add(constant));
  return found;
}

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

// None where its numbers do not fit.
std::optional<OperandIndexing> MapOfBand(const Family& family, const Band& band, int result) {
  const IndexingMap& example = family.example;
  mlir::MLIRContext* context = example.context();
  const AffineExpr of_dim = Scale(mlir::getAffineDimExpr(family.dim, context), family.factor);
  const AffineExpr range = mlir::getAffineSymbolExpr(0, context);
  const Progression& offset = band.offset;
  Variables dims(example.dims());
  dims[family.dim].bounds = band.dim;
  Variables ranges(1);
  Constraints constraints;
  AffineExpr value = range;
  if (offset.residues.IsAll()) {
    ranges[0].bounds = band.value;
    constraints.push_back({Sub(range, of_dim), offset.interval});
  } else {
    const std::optional<Int128> count = offset.Count();
    if (!count || *count > kInt64Max) return std::nullopt;
    ranges[0].bounds = Interval::OfSize(static_cast<int64_t>(*count));
    value = Add(Add(of_dim, Scale(range, offset.residues.modulus())),
                Constant(offset.interval.lower(), context));
    constraints.push_back({value, band.value});
  }
  if (!value || !constraints[0].expr) return std::nullopt;
  llvm::SmallVector<AffineExpr, 4> results(example.results());
  results[result] = value;
  const mlir::AffineMap affine_map = mlir::AffineMap::get(dims.size(), 1, results, context);
  OperandIndexing map(kPartsFit, IndexingMap(kPartsFit, affine_map, std::move(dims),
                                             std::move(ranges), {}, std::move(constraints)));
  map.Simplify();
  return map;
}

// Adds what the bands of a family are together.
void AddMerged(Family& family, int result, OperandIndexingSet* merged) {
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
  for (const auto& [band, of_map] : bands) {
    std::optional<OperandIndexing> map =
        of_map ? std::move(family.maps[*of_map]) : MapOfBand(family, band, result);
    if (!map) {
      for (OperandIndexing& given : family.maps) merged->Add(std::move(given));
      return;
    }
    maps.push_back(*std::move(map));
  }
  for (OperandIndexing& map : maps) merged->Add(std::move(map));
}

OperandIndexingSet MergedAlong(const OperandIndexingSet& maps, int result) {
  OperandIndexingSet merged;
  std::vector<Family> families;
  std::vector<std::pair<const OperandIndexing*, Found>> of_any_factor;
  for (const OperandIndexing& indexing : maps) {
    std::optional<Found> found = AsBand(indexing, result);
    if (!found) {
      merged.Add(indexing);
      continue;
    }
    if (found->factor == 0) {
      of_any_factor.emplace_back(&indexing, *found);
      continue;
    }
    found->band.dim = indexing.map().dims()[found->dim].bounds;
    QuestionBudget::Spend(1 + static_cast<int64_t>(families.size() / kComparedInAStep));
    auto family = llvm::find_if(families, [&](const Family& other) {
      return other.dim == found->dim && other.factor == found->factor &&
             AgreeElsewhere(other.example, indexing.map(), result, other.dim);
    });
    if (family == families.end()) {
      families.push_back({indexing.map(), found->dim, found->factor, {}, {}});
      family = std::prev(families.end());
    }
    family->bands.push_back(found->band);
    family->maps.push_back(indexing);
  }
  for (auto& [indexing, found] : of_any_factor) {
    const IndexingMap& map = indexing->map();
    const int dim = found.dim;
    const auto family = llvm::find_if(families, [&](const Family& other) {
      return (dim < 0 || dim == other.dim) && AgreeElsewhere(other.example, map, result, other.dim);
    });
    if (family == families.end()) {
      merged.Add(*indexing);
      continue;
    }
    Band& band = found.band;
    band.dim = map.dims()[family->dim].bounds;
    if (found.is_constant) {
      const Interval offset = band.value.Sub(band.dim.Mul(family->factor));
      band.offset = Progression::Of(
          offset, found.residues_of_dim.Mul(-family->factor).Add(band.value.lower()));
    }
    family->bands.push_back(band);
    family->maps.push_back(*indexing);
  }
  for (Family& family : families) AddMerged(family, result, &merged);
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

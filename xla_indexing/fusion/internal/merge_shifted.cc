#include "xla_indexing/fusion/internal/merge_shifted.h"

#include <algorithm>
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
#include "xla_indexing/fusion/internal/bands.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/internal/constraint_form.h"
#include "xla_indexing/ops/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// So many families count as one step of the question (base/question_budget.h).
constexpr size_t kComparedInAStep = 64;

// A result or a constraint as  (of_dim * d_dim + of_range * s0 + constant) / divisor; a dimension of
// -1 and a factor of 0 where there is no dimension.
struct TwoTerms {
  int dim = -1;
  int64_t of_dim = 0;
  int64_t of_range = 0;
  int64_t constant = 0;
  int64_t divisor = 1;
};

// (of_dim * d + constant) / divisor
struct Quotient {
  int64_t of_dim = 1;
  int64_t constant = 0;
  int64_t divisor = 1;
};

// (d + added) floordiv m, where the residue class of d determines the remainder r, which is then
// (d + added - r) / m, or where d has few values and those of the division are on a line.
std::optional<Quotient> AsQuotient(const Progression& dim, int64_t added, int64_t m) {
  constexpr int64_t kFewDims = 16;
  if (const std::optional<int64_t> r = dim.residues.Add(added).ResidueModulo(m)) {
    const std::optional<int64_t> constant = CheckedSub(added, *r);
    return constant ? std::make_optional(Quotient{1, *constant, m}) : std::nullopt;
  }
  const std::optional<Int128> count = dim.Count();
  if (!count || *count < 2 || *count > kFewDims) return std::nullopt;
  const int64_t first = dim.interval.lower();
  const int64_t step = dim.residues.modulus();
  const auto value_at = [&](int64_t d) -> std::optional<int64_t> {
    const std::optional<int64_t> dividend = CheckedAdd(d, added);
    return dividend ? std::make_optional(FloorDiv(*dividend, m)) : std::nullopt;
  };
  const std::optional<int64_t> of_first = value_at(first);
  const std::optional<int64_t> of_next = value_at(first + step);
  if (!of_first || !of_next) return std::nullopt;
  const Int128 rise = Int128{*of_next} - *of_first;
  for (int64_t i = 2; i < static_cast<int64_t>(*count); ++i) {
    const std::optional<int64_t> value = value_at(first + i * step);
    if (!value || *value != *of_first + i * rise) return std::nullopt;
  }
  const std::optional<int64_t> of_dim = NarrowToInt64(rise);
  const std::optional<int64_t> constant = NarrowToInt64(Int128{*of_first} * step - rise * first);
  if (!of_dim || !constant) return std::nullopt;
  return Quotient{*of_dim, *constant, step};
}

std::optional<TwoTerms> AsTwoTerms(const LinearSum& sum, llvm::ArrayRef<Progression> dims) {
  if (!sum.valid()) return std::nullopt;
  std::optional<int> dim;
  Int128 of_dim = 0;
  Int128 of_quotient = 0;
  Int128 rest_of_quotient = 0;
  Int128 of_range = 0;
  int64_t divisor = 1;
  for (const Term& term : sum.terms()) {
    if (llvm::isa<mlir::AffineSymbolExpr>(term.atom)) {
      of_range = term.coefficient;
      continue;
    }
    AffineExpr of = term.atom;
    int64_t added = 0;
    if (const auto quotient = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(term.atom)) {
      const auto by = llvm::dyn_cast<mlir::AffineConstantExpr>(quotient.getRHS());
      const LinearSum dividend = LinearSum::FromExpr(quotient.getLHS());
      if (divisor != 1 || quotient.getKind() != mlir::AffineExprKind::FloorDiv || !by ||
          by.getValue() < 2 || !dividend.valid() || dividend.terms().size() != 1 ||
          dividend.terms()[0].coefficient != 1) {
        return std::nullopt;
      }
      of = dividend.terms()[0].atom;
      added = dividend.constant();
      divisor = by.getValue();
    }
    const auto found = llvm::dyn_cast<mlir::AffineDimExpr>(of);
    if (!found || (dim && *dim != static_cast<int>(found.getPosition()))) return std::nullopt;
    dim = static_cast<int>(found.getPosition());
    if (of == term.atom) {
      of_dim = term.coefficient;
      continue;
    }
    const std::optional<Quotient> quotient = AsQuotient(dims[*dim], added, divisor);
    if (!quotient) return std::nullopt;
    divisor = quotient->divisor;
    of_quotient = Int128{term.coefficient} * quotient->of_dim;
    rest_of_quotient = Int128{term.coefficient} * quotient->constant;
  }
  const std::optional<int64_t> by_dim = NarrowToInt64(of_dim * divisor + of_quotient);
  const std::optional<int64_t> by_range = NarrowToInt64(of_range * divisor);
  const std::optional<int64_t> constant =
      NarrowToInt64(Int128{sum.constant()} * divisor + rest_of_quotient);
  if (!by_dim || !by_range || !constant || *by_dim == kInt64Min || *by_range == kInt64Min) {
    return std::nullopt;
  }
  const int64_t common = Gcd(Gcd(*by_dim, *by_range), Gcd(*constant, divisor));
  return TwoTerms{dim.value_or(-1), *by_dim / common, *by_range / common, *constant / common,
                  divisor / common};
}

// A map as a band along a result. The results that say nothing of the dimension and the factor are
// bands along any dimension, or along any with any factor where the dimension is given.
struct Found {
  int dim = -1;
  int64_t factor = 0;
  Band band;  // `dim` has the residue classes alone
};

// A map with a constant result and a constraint, which says that a dimension and multiples of a range
// variable have a given sum.
std::optional<Found> AsConstant(const IndexingMap& map, int64_t value, const TwoTerms& constraint,
                                const Interval& interval) {
  if (constraint.of_dim != 1 || constraint.of_range == 0 || !interval.IsPoint()) {
    return std::nullopt;
  }
  // d_j = sum - of_range * s0 for some s0.
  const Interval rest = interval.Sub(constraint.constant);
  const Interval found_in = rest.Sub(map.ranges()[0].bounds.Mul(constraint.of_range));
  const Congruence residues = Congruence::All().Mul(constraint.of_range).Add(rest.lower());
  const Interval dim = map.dims()[constraint.dim].bounds;
  if (!found_in.IsFinite() || !residues.Tighten(dim).IsSubsetOf(found_in)) return std::nullopt;
  Found found;
  found.dim = constraint.dim;
  found.band.value = Progression::Of(Interval::Point(value), Congruence::All());
  found.band.dim.residues = residues;
  return found;
}

// The residue class of a dimension d, where the fact is about  (d + constant) / divisor  or
// (constant - d) / divisor; none where numbers do not fit.
std::optional<Congruence> ResiduesOfTerm(const ResidueFact& fact, const TwoTerms& terms) {
  const std::optional<int64_t> modulus = CheckedMul(fact.residues.modulus(), terms.divisor);
  const std::optional<int64_t> residue = CheckedMul(fact.residues.residue(), terms.divisor);
  const std::optional<int64_t> of_dim =
      residue ? CheckedSub(*residue, terms.constant) : std::nullopt;
  if (!modulus || *modulus < 1 || !of_dim || *of_dim == kInt64Min) return std::nullopt;
  return Congruence::Of(*of_dim * terms.of_dim, *modulus);
}

// Takes what constraints say of the residue class of one dimension, the innermost digits first, and
// returns the others. The dimension stays -1 where there are none.
llvm::SmallVector<const Constraint*, 4> TakeResidues(const IndexingMap& map, int* dim,
                                                     llvm::MutableArrayRef<Progression> dims) {
  llvm::SmallVector<const Constraint*, 4> others;
  for (const Constraint& constraint : map.constraints()) others.push_back(&constraint);
  for (size_t before = others.size() + 1; others.size() < before;) {
    before = others.size();
    llvm::erase_if(others, [&](const Constraint* constraint) {
      const std::optional<ResidueFact> fact = ResidueFactOf(*constraint);
      if (!fact) return false;
      const std::optional<TwoTerms> terms = AsTwoTerms(fact->sum, dims);
      if (!terms || terms->of_range != 0 || (terms->of_dim != 1 && terms->of_dim != -1) ||
          (*dim >= 0 && *dim != terms->dim)) {
        return false;
      }
      const Progression in_class = {Interval::All(),
                                    ResiduesOfTerm(*fact, *terms).value_or(Congruence::Empty())};
      const Progression known = dims[terms->dim].Intersect(in_class);
      // Classes whose numbers do not fit are not taken.
      if (in_class.residues.IsEmpty() || !known.residues.IsSubsetOf(in_class.residues))
        return false;
      *dim = terms->dim;
      dims[*dim] = known;
      return true;
    });
  }
  return others;
}

// Whether the map is exact, without bindings, and has a range variable in no result but that one.
bool HasOneRangeIn(const OperandIndexing& indexing, int result) {
  const IndexingMap& map = indexing.map();
  if (!indexing.IsExact() || !indexing.bindings().empty() || indexing.replica_map() != nullptr ||
      map.num_ranges() > 1) {
    return false;
  }
  for (int i = 0; i < map.num_results(); ++i) {
    if (i != result && map.num_ranges() > 0 && map.results()[i].isFunctionOfSymbol(0)) return false;
  }
  return true;
}

// The only dimension among these, -1 where all of them are; none where there are several.
std::optional<int> OneDimOf(llvm::ArrayRef<int> dims) {
  int one = -1;
  for (const int dim : dims) {
    if (dim >= 0 && one >= 0 && dim != one) return std::nullopt;
    one = std::max(one, dim);
  }
  return one;
}

// The map as a band along the result; none where it is none.
std::optional<Found> AsBand(const OperandIndexing& indexing, int result) {
  if (!HasOneRangeIn(indexing, result)) return std::nullopt;
  const IndexingMap& map = indexing.map();
  Found found;
  llvm::SmallVector<Progression> dims;
  for (const Variable& dim : map.dims()) {
    dims.push_back(Progression::Of(dim.bounds, Congruence::All()));
  }
  const llvm::SmallVector<const Constraint*, 4> others = TakeResidues(map, &found.dim, dims);
  if (others.size() > 1) return std::nullopt;
  if (found.dim >= 0) found.band.dim.residues = dims[found.dim].residues;
  const Constraint* other = others.empty() ? nullptr : others.front();
  const std::optional<TwoTerms> terms =
      AsTwoTerms(LinearSum::FromExpr(map.results()[result]), dims);
  if (!terms || terms->divisor != 1) return std::nullopt;
  std::optional<TwoTerms> constraint;
  if (other != nullptr) {
    constraint = AsTwoTerms(LinearSum::FromExpr(other->expr), dims);
    if (!constraint || constraint->dim < 0) return std::nullopt;
  }
  const std::optional<int> dim =
      OneDimOf({found.dim, terms->dim, constraint ? constraint->dim : -1});
  if (!dim) return std::nullopt;
  found.dim = *dim;
  const int64_t step = terms->of_range;
  const Interval range = map.num_ranges() > 0 ? map.ranges()[0].bounds : Interval::Point(0);
  const Progression at = Progression::Of(range.Mul(step).Add(terms->constant),
                                         Congruence::All().Mul(step).Add(terms->constant));
  if (range.IsFinite() && !at.interval.IsFinite()) return std::nullopt;
  // t - of_dim * d_j is in `at`.
  found.factor = terms->of_dim;
  (found.factor == 0 ? found.band.value : found.band.offset) = at;
  if (!constraint) return found;
  if (step == 0) {
    if (found.factor != 0 || constraint->divisor != 1 || !found.band.dim.residues.IsAll()) {
      return std::nullopt;
    }
    return AsConstant(map, terms->constant, *constraint, other->interval);
  }
  // step * s0 + k * d_j is in `within`, that is t - (of_dim - k) * d_j in one.
  Interval within = other->interval.Mul(constraint->divisor).Sub(constraint->constant);
  std::optional<int64_t> k;
  if (constraint->of_range == 0) return std::nullopt;
  if (step % constraint->of_range == 0) {
    k = CheckedMul(constraint->of_dim, step / constraint->of_range);
    within = within.Mul(step / constraint->of_range);
  } else if (constraint->of_range % step == 0 &&
             constraint->of_dim % (constraint->of_range / step) == 0) {
    k = constraint->of_dim / (constraint->of_range / step);
    within = within.PreimageOfMul(constraint->of_range / step);
  }
  const std::optional<int64_t> factor = k ? CheckedSub(terms->of_dim, *k) : std::nullopt;
  if (!factor || *factor == kInt64Min) return std::nullopt;
  within = within.Add(terms->constant);
  if (!other->interval.IsFinite() || !within.IsFinite()) return std::nullopt;
  const Progression part = {within, Congruence::All()};
  if (*factor == 0) {
    found.band.value = found.band.value.Intersect(part);
  } else if (found.factor == 0 || found.factor == *factor) {
    found.factor = *factor;
    found.band.offset = found.band.offset.Intersect(part);
  } else {
    return std::nullopt;
  }
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

// Adds the map, which is this band along the family's dimension.
void AddBand(Band band, const OperandIndexing& indexing, Family* family) {
  band.dim = Progression::Of(indexing.map().dims()[family->dim].bounds, band.dim.residues);
  family->bands.push_back(Tightened(band, family->factor));
  family->maps.push_back(indexing);
}

// None where its numbers do not fit.
std::optional<OperandIndexing> MapOfBand(const Family& family, const Band& band, int result) {
  const IndexingMap& example = family.example;
  mlir::MLIRContext* context = example.context();
  const AffineExpr of_dim = Scale(mlir::getAffineDimExpr(family.dim, context), family.factor);
  const AffineExpr range = mlir::getAffineSymbolExpr(0, context);
  const Congruence& offsets = band.offset.residues;
  Variables dims(example.dims());
  dims[family.dim].bounds = band.dim.interval;
  Variables ranges(1);
  Constraints constraints;
  const auto in_class = [&](AffineExpr expr, const Congruence& residues) {
    if (residues.IsAll() || residues.IsPoint()) return true;
    if (!expr) return false;
    const LinearSum sum = LinearSum::FromExpr(expr);
    LinearSum variables;
    for (const Term& term : sum.terms()) variables.AddTerm(term.atom, term.coefficient);
    const Congruence rest = residues.Add(Congruence::Point(sum.constant()).Mul(-1));
    const std::optional<Constraint> constraint = ConstraintOf({variables, rest}, context);
    if (constraint) constraints.push_back(*constraint);
    return constraint.has_value();
  };
  if (!in_class(mlir::getAffineDimExpr(family.dim, context), band.dim.residues)) {
    return std::nullopt;
  }
  // The range variable counts the values, unless offsets say all, or more than an interval does, or
  // are fewer: with a factor of 2 or more, dimensions lead to different values.
  const Progression products = band.dim.Mul(family.factor);
  const Progression values = products.Add(band.offset);
  const bool is_free = band.value.Contains(values);
  const bool of_values = !is_free && (family.factor == 1 || family.factor == -1) &&
                         band.value.residues.Add(products.residues.Mul(-1)).IsSubsetOf(offsets);
  const Progression& counted = of_values ? band.value : band.offset;
  const std::optional<Int128> count = counted.Count();
  if (!count || *count > kInt64Max) return std::nullopt;
  AffineExpr value = range;
  if (of_values && band.value.residues.IsAll()) {
    ranges[0].bounds = band.value.interval;
  } else {
    ranges[0].bounds = Interval::OfSize(static_cast<int64_t>(*count));
    value =
        Add(Scale(range, counted.residues.modulus()), Constant(counted.interval.lower(), context));
  }
  if (!of_values) value = Add(of_dim, value);
  if (!value) return std::nullopt;
  if (of_values) {
    constraints.push_back({Sub(value, of_dim), band.offset.interval});
    if (!constraints.back().expr) return std::nullopt;
  } else if (!is_free) {
    constraints.push_back({value, band.value.interval});
    if (!values.residues.IsSubsetOf(band.value.residues) && !in_class(value, band.value.residues)) {
      return std::nullopt;
    }
  }
  llvm::SmallVector<AffineExpr, 4> results(example.results());
  results[result] = value;
  const mlir::AffineMap affine_map = mlir::AffineMap::get(dims.size(), 1, results, context);
  OperandIndexing map(kPartsFit, IndexingMap(kPartsFit, affine_map, std::move(dims),
                                             std::move(ranges), {}, std::move(constraints)));
  map.Simplify();
  return map;
}

// A map that is a band of any factor, along this dimension or any.
struct OfAnyFactor {
  OperandIndexing map;
  Found found;
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
        of_map ? family.maps[*of_map] : MapOfBand(family, band, result);
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
    std::optional<Found> found = AsBand(indexing, result);
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

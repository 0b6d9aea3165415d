#include "xla_indexing/fusion/unions/map_as_band.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/constraint_form.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

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
struct LineQuotient {
  int64_t of_dim = 1;
  int64_t constant = 0;
  int64_t divisor = 1;
};

// (d + added) floordiv m, where the residue class of d determines the remainder r, which is then
// (d + added - r) / m, or where d has few values and those of the division are on a line.
std::optional<LineQuotient> AsQuotient(const Progression& dim, int64_t added, int64_t m) {
  constexpr int64_t kFewDims = 16;
  if (const std::optional<int64_t> r = dim.residues.Add(added).ResidueModulo(m)) {
    const std::optional<int64_t> constant = CheckedSub(added, *r);
    return constant ? std::make_optional(LineQuotient{1, *constant, m}) : std::nullopt;
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
  return LineQuotient{*of_dim, *constant, step};
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
    const std::optional<LineQuotient> quotient = AsQuotient(dims[*dim], added, divisor);
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

// A map with a constant result and a constraint, which says that a dimension and multiples of a range
// variable have a given sum.
std::optional<BandOfMap> AsConstant(const IndexingMap& map, int64_t value,
                                    const TwoTerms& constraint, const Interval& interval) {
  if (constraint.of_dim != 1 || constraint.of_range == 0 || !interval.IsPoint()) {
    return std::nullopt;
  }
  // d_j = sum - of_range * s0 for some s0.
  const Interval rest = interval.Sub(constraint.constant);
  const Interval found_in = rest.Sub(map.ranges()[0].bounds.Mul(constraint.of_range));
  const Congruence residues = Congruence::All().Mul(constraint.of_range).Add(rest.lower());
  const Interval dim = map.dims()[constraint.dim].bounds;
  if (!found_in.IsFinite() || !residues.Tighten(dim).IsSubsetOf(found_in)) return std::nullopt;
  BandOfMap found;
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

// Adds the constraint that the expression is in the class; false where its numbers do not fit.
bool AddClass(AffineExpr expr, const Congruence& residues, Constraints* constraints) {
  if (residues.IsAll() || residues.IsPoint()) return true;
  if (!expr) return false;
  const LinearSum sum = LinearSum::FromExpr(expr);
  LinearSum variables;
  for (const Term& term : sum.terms()) variables.AddTerm(term.atom, term.coefficient);
  const Congruence rest = residues.Add(Congruence::Point(sum.constant()).Mul(-1));
  const std::optional<Constraint> constraint = ConstraintOf({variables, rest}, expr.getContext());
  if (constraint) constraints->push_back(*constraint);
  return constraint.has_value();
}

llvm::SmallVector<Progression> IntervalsOfDims(const IndexingMap& map) {
  llvm::SmallVector<Progression> dims;
  for (const Variable& dim : map.dims()) {
    dims.push_back(Progression::Of(dim.bounds, Congruence::All()));
  }
  return dims;
}

}  // namespace

std::optional<BandOfMap> AsBand(const OperandIndexing& indexing, int result) {
  if (!HasOneRangeIn(indexing, result)) return std::nullopt;
  const IndexingMap& map = indexing.map();
  BandOfMap found;
  llvm::SmallVector<Progression> dims = IntervalsOfDims(map);
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

Progression ValuesOfDim(const IndexingMap& map, int dim, Constraints* others) {
  llvm::SmallVector<Progression> dims = IntervalsOfDims(map);
  for (const Constraint* other : TakeResidues(map, &dim, dims)) {
    if (others != nullptr) others->push_back(*other);
  }
  return dims[dim];
}

std::optional<OperandIndexing> WithValuesOfDim(const IndexingMap& example, int dim,
                                               const Progression& values, Constraints constraints) {
  Variables dims(example.dims());
  dims[dim].bounds = values.interval;
  if (!AddClass(mlir::getAffineDimExpr(dim, example.context()), values.residues, &constraints)) {
    return std::nullopt;
  }
  OperandIndexing map(kPartsFit,
                      IndexingMap(kPartsFit, example.affine_map(), std::move(dims),
                                  Variables(example.ranges()), {}, std::move(constraints)));
  map.Simplify();
  return map;
}

std::optional<OperandIndexing> MapOfBand(const IndexingMap& example, const BandOfMap& of,
                                         int result) {
  const Band& band = of.band;
  mlir::MLIRContext* context = example.context();
  const AffineExpr of_dim = Scale(mlir::getAffineDimExpr(of.dim, context), of.factor);
  const AffineExpr range = mlir::getAffineSymbolExpr(0, context);
  const Congruence& offsets = band.offset.residues;
  Variables dims(example.dims());
  dims[of.dim].bounds = band.dim.interval;
  Variables ranges(1);
  Constraints constraints;
  if (!AddClass(mlir::getAffineDimExpr(of.dim, context), band.dim.residues, &constraints)) {
    return std::nullopt;
  }
  // The range variable counts the values, unless offsets say all, or more than an interval does, or
  // are fewer: with a factor of 2 or more, dimensions lead to different values.
  const Progression products = band.dim.Mul(of.factor);
  const Progression values = products.Add(band.offset);
  const bool is_free = band.value.Contains(values);
  const std::optional<Int128> num_values = band.value.Count();
  const std::optional<Int128> num_offsets = band.offset.Count();
  const bool of_values = !is_free &&
                         (of.factor == 1 || of.factor == -1 ||
                          (num_values && num_offsets && *num_values <= *num_offsets)) &&
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
    if (!values.residues.IsSubsetOf(band.value.residues) &&
        !AddClass(value, band.value.residues, &constraints)) {
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

}  // namespace xla_indexing::internal

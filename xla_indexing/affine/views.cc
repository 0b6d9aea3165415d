// Ways to write a floor form. With T = floor(X / n) the definition of mod reads X = (X mod n) + n *
// T, a unimodular change of basis: wherever a sum has the floor atom T beside a multiple v of X, v
// * X may be written as v * (X mod n) + v*n * T. `ViewsOf` looks through the ways to write a sum
// that come from such steps and keeps the shortest one, the one with the most digits, and the least
// of their ranges.
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/simplifier.h"

namespace xla_indexing {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

bool ExprSimplifier::HasFloorAtom(const LinearSum& sum) {
  return llvm::any_of(sum.terms(), [](const Term& term) {
    return term.atom.getKind() == AffineExprKind::FloorDiv;
  });
}

// Least divisor first, so that digits are split off from the low end.
llvm::SmallVector<AffineExpr, 4> ExprSimplifier::FloorAtomsOf(const LinearSum& sum) const {
  llvm::SmallVector<AffineExpr, 4> atoms;
  for (const Term& term : sum.terms()) {
    if (LookUpFloorAtom(term.atom)) atoms.push_back(term.atom);
  }
  llvm::sort(atoms, [&](AffineExpr a, AffineExpr b) {
    int64_t divisor_a = LookUpFloorAtom(a)->divisor;
    int64_t divisor_b = LookUpFloorAtom(b)->divisor;
    return divisor_a != divisor_b ? divisor_a < divisor_b : SummandLess(a, b);
  });
  return atoms;
}

// X and n such that `floor_atom` = floor(X / n): X is the dividend Y and n the divisor a, or, where
// `atoms` has the next lower digit T' = floor(Y' / a') of the same expression, that is floor(Y /
// a') = P + T' or P - T', X is that and n = a / a'.
std::pair<LinearSum, int64_t> ExprSimplifier::DigitBelow(AffineExpr floor_atom,
                                                         const LinearSum& sum,
                                                         llvm::ArrayRef<AffineExpr> atoms) {
  const FloorAtom& floor = *LookUpFloorAtom(floor_atom);
  for (AffineExpr lower_atom : llvm::reverse(atoms)) {
    const FloorAtom& lower = *LookUpFloorAtom(lower_atom);
    if (lower.divisor >= floor.divisor || floor.divisor % lower.divisor != 0 ||
        sum.CoefficientOf(lower_atom) == 0) {
      continue;
    }
    LinearSum quotient = FloorForm(FloorDivide(floor.dividend, lower.divisor));
    int64_t link = quotient.CoefficientOf(lower_atom);
    if (quotient.valid() && (link == 1 || link == -1)) {
      return {std::move(quotient), floor.divisor / lower.divisor};
    }
  }
  return {floor.dividend_floor_form, floor.divisor};
}

// Appends to `ways` every v * X -> v * (X mod n) + v*n * T on `sum` that cancels a summand of X,
// where X and the sum are compared as floor forms and as digits.
void ExprSimplifier::SplitDigit(const LinearSum& sum, AffineExpr floor_atom,
                                llvm::ArrayRef<AffineExpr> atoms,
                                llvm::SmallVectorImpl<LinearSum>& ways) {
  auto [value, modulus] = DigitBelow(floor_atom, sum, atoms);
  LinearSum digit;
  llvm::SmallVector<int64_t, 4> factors;
  auto try_shape = [&](const LinearSum& shape) {
    // Nothing but the digit may be new in the sum.
    if (!llvm::all_of(shape.terms(), [&](const Term& term) {
          return term.atom == floor_atom || sum.CoefficientOf(term.atom) != 0;
        })) {
      return;
    }
    for (const Term& term : shape.terms()) {
      int64_t coefficient = sum.CoefficientOf(term.atom);
      if (coefficient == 0 || term.coefficient == 0 || coefficient % term.coefficient != 0)
        continue;
      int64_t factor = coefficient / term.coefficient;
      if (llvm::is_contained(factors, factor)) continue;
      factors.push_back(factor);
      if (digit.terms().empty()) digit = Modulo(value, modulus);
      LinearSum way = sum;
      way.AddScaled(shape, -factor);
      way.AddScaled(digit, factor);
      way.AddScaled(LinearSum::Of(floor_atom, modulus), factor);
      if (way.valid() && way.terms().size() <= sum.terms().size() + 1)
        ways.push_back(std::move(way));
    }
  };
  try_shape(value);
  if (!HasFloorAtom(value)) return;
  LinearSum digits = ViewsOf(value).digits;
  if (!(digits == value)) try_shape(digits);
}

namespace {

struct Cost {
  size_t summands = 0;
  size_t divisions = 0;
  int mods = 0;
  double magnitude = 0;

  // Shorter ways to write a sum come first.
  std::tuple<size_t, size_t, double> Order() const { return {summands, divisions, magnitude}; }
  // So do ways with as few summands and more digits.
  std::tuple<size_t, int, double> DigitOrder() const { return {summands, -mods, magnitude}; }
};

Cost CostOf(const LinearSum& sum) {
  Cost cost;
  cost.summands = sum.terms().size();
  for (const Term& term : sum.terms()) {
    bool is_variable = term.atom.getKind() == AffineExprKind::DimId ||
                       term.atom.getKind() == AffineExprKind::SymbolId;
    cost.divisions += is_variable ? 0 : 1;
    cost.mods += term.atom.getKind() == AffineExprKind::Mod ? 1 : 0;
    cost.magnitude += std::abs(static_cast<double>(term.coefficient));
  }
  return cost;
}

}  // namespace

// Asked for only where there is a floor atom; other sums have one view.
const ExprSimplifier::Views& ExprSimplifier::ViewsOf(const LinearSum& floor_form) {
  llvm::SmallVector<AffineExpr, 4> atoms = FloorAtomsOf(floor_form);
  LinearSum key_sum = floor_form;
  AffineExpr key = key_sum.ToExpr(context_);
  if (!key)
    return view_storage_.emplace_back(Views{floor_form, floor_form, SumOfRanges(floor_form)});
  if (auto it = views_.find(key); it != views_.end()) return *it->second;

  // Low digits first; every way found so far is taken on to the next floor atom.
  llvm::SmallVector<LinearSum, 8> ways = {floor_form};
  constexpr size_t kMaxWays = 48;
  for (AffineExpr atom : atoms) {
    size_t num_ways = ways.size();
    for (size_t i = 0; i < num_ways && ways.size() < kMaxWays; ++i) {
      if (ways[i].CoefficientOf(atom) == 0 || ++work_ > kMaxWork) continue;
      LinearSum way = ways[i];
      SplitDigit(way, atom, atoms, ways);
    }
  }
  Views views;
  views.range = Interval::All();
  const LinearSum* digits = nullptr;
  const LinearSum* shortest = nullptr;
  Cost digits_cost;
  Cost shortest_cost;
  for (const LinearSum& way : ways) {
    views.range = views.range.Intersect(SumOfRanges(way));
    Cost cost = CostOf(way);
    if (!digits || cost.DigitOrder() < digits_cost.DigitOrder()) {
      digits = &way;
      digits_cost = cost;
    }
    if (!shortest || cost.Order() < shortest_cost.Order()) {
      shortest = &way;
      shortest_cost = cost;
    }
  }
  views.digits = *digits;
  views.shortest = *shortest;
  const Views& stored = view_storage_.emplace_back(std::move(views));
  views_[key] = &stored;
  return stored;
}

AffineExpr ExprSimplifier::ToExpr(const LinearSum& digits) {
  LinearSum floor_form = FloorForm(digits);
  if (!floor_form.valid()) return {};
  if (!HasFloorAtom(floor_form)) return floor_form.ToExpr(context_);
  const LinearSum& shortest = ViewsOf(floor_form).shortest;
  LinearSum best = CostOf(digits).Order() < CostOf(shortest).Order() ? digits : shortest;
  return best.ToExpr(context_);
}

}  // namespace xla_indexing

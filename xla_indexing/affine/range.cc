// Ranges of atoms and of sums of digits.
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/simplifier.h"

namespace xla_indexing {

using ::llvm::cast;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

Interval ExprSimplifier::RangeOfVariable(AffineExpr variable) const {
  bool is_dim = variable.getKind() == AffineExprKind::DimId;
  llvm::ArrayRef<Interval> list = is_dim ? dims_ : symbols_;
  unsigned position = is_dim ? cast<mlir::AffineDimExpr>(variable).getPosition()
                             : cast<mlir::AffineSymbolExpr>(variable).getPosition();
  return position < list.size() ? list[position] : Interval::All();
}

Interval ExprSimplifier::RangeOfAtom(AffineExpr atom) const {
  if (atom.getKind() == AffineExprKind::DimId || atom.getKind() == AffineExprKind::SymbolId) {
    return RangeOfVariable(atom);
  }
  if (const FloorAtom* floor = LookUpFloorAtom(atom)) return floor->range;
  if (const ModAtom* mod = LookUpModAtom(atom)) return mod->range;
  auto it = opaque_atoms_.find(atom);
  return it != opaque_atoms_.end() ? it->second : Interval::All();
}

Interval ExprSimplifier::SumOfRanges(const LinearSum& sum) const {
  Interval result = Interval::Point(sum.constant());
  for (const Term& term : sum.terms()) {
    result = result.Add(RangeOfAtom(term.atom).Mul(term.coefficient));
  }
  return result;
}

Interval ExprSimplifier::RangeOf(const LinearSum& digits) {
  if (!digits.valid()) return Interval::All();
  Interval range = SumOfRanges(digits);
  bool is_linear = llvm::none_of(digits.terms(), [](const Term& term) {
    return term.atom.getKind() == AffineExprKind::FloorDiv ||
           term.atom.getKind() == AffineExprKind::Mod;
  });
  // The ranges of independent terms add up exactly, and one term is independent.
  if (is_linear || digits.terms().size() < 2) return range;
  return range.Intersect(RangeOfFloorForm(FloorForm(digits)));
}

// The least of the ranges of all ways to write the sum, and of
//   c * (Q + floor(Y / a)) = c * floor((a * Q + Y) / a),
// where variables of Q and Y may cancel.
Interval ExprSimplifier::RangeOfFloorForm(const LinearSum& sum) {
  if (!sum.valid()) return Interval::All();
  if (!HasFloorAtom(sum)) return SumOfRanges(sum);
  Interval range = ViewsOf(sum).range;
  constexpr int kMaxNesting = 3;
  if (depth_ >= kMaxNesting || sum.terms().size() < 2) return range;
  ++depth_;
  for (const Term& term : sum.terms()) {
    const FloorAtom* floor = LookUpFloorAtom(term.atom);
    if (!floor) continue;
    int64_t c = term.coefficient;
    if (!llvm::all_of(sum.terms(), [c](const Term& other) {
          return c == 1 || c == -1 || other.coefficient % c == 0;
        })) {
      continue;
    }
    LinearSum joined = sum;
    joined.AddConstant(-sum.constant());
    joined.AddTerm(term.atom, -c);
    if (c == -1) {
      joined.Scale(-1);
    } else {
      joined.DivideExactly(c);
    }
    joined.Scale(floor->divisor);
    joined.AddScaled(floor->dividend_floor_form, 1);
    if (!joined.valid()) continue;
    range = range.Intersect(
        RangeOfFloorForm(joined).FloorDiv(floor->divisor).Mul(c).Add(sum.constant()));
  }
  --depth_;
  return range;
}

}  // namespace xla_indexing

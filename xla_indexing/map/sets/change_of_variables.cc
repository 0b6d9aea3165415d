#include "xla_indexing/map/sets/change_of_variables.h"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/expr/replace_variables.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// sum = residue (mod modulus), or any residue where there is none. Modulo 0 that is an equality.
struct ResidueOfSum {
  LinearSum sum;
  int64_t modulus;
  std::optional<int64_t> residue;
};

// The value of range variable number `range` in c*s + e = r (mod m), with t, its quotient, in its place:
//
//   s = c'*(r - e) + n*t    n is the part of m that has no factor in common with c, and c*c' = 1 (mod n)
//
// Where r is not known it is one more range variable, and n has to be m. Of an equality c has to be 1 or
// -1, and no t is needed. Nullopt if n is 1 or e has s.
std::optional<ChangedVariables> ReplaceBy(const ResidueOfSum& known, int range,
                                          const IndexingMap& map) {
  mlir::MLIRContext* context = map.context();
  const AffineExpr s = mlir::getAffineSymbolExpr(range, context);
  const int64_t c = known.sum.CoefficientOf(s);
  int64_t n = known.modulus;
  if (c == 0 || (n == 0 && c != 1 && c != -1)) return std::nullopt;
  for (int64_t shared = Gcd(c, n); shared > 1; shared = Gcd(c, n)) n /= shared;
  LinearSum rest = known.sum;
  rest.RemoveTerm(s);
  const auto has_range = [&](const Term& term) { return HasSymbol(term.atom, range); };
  if (n == 1 || llvm::any_of(rest.terms(), has_range)) return std::nullopt;
  Variables ranges(map.ranges());
  AffineExpr remainder;
  if (known.residue) {
    remainder = Constant(*known.residue, context);
  } else {
    remainder = mlir::getAffineSymbolExpr(ranges.size(), context);
    ranges.push_back({Interval::OfSize(n), {}});
  }
  const AffineExpr residue =
      Scale(Sub(remainder, rest.ToExpr(context)), n == 0 ? c : InverseModulo(c, n));
  llvm::SmallVector<AffineExpr, 4> values(map.num_ranges());
  values[range] = Add(residue, Scale(s, n));
  const AffineExpr quotient = n == 0 ? Constant(0, context) : FloorDiv(Sub(s, residue), n);
  if (!values[range] || !quotient) return std::nullopt;
  llvm::SmallVector<Interval, 4> bounds(map.SymbolBounds());
  bounds.resize(ranges.size(), ranges.back().bounds);
  ranges[range].bounds = ExprSimplifier(context, map.DimBounds(), bounds).Range(quotient);
  std::optional<IndexingMap> replaced =
      ReplaceVariables(map, Variables(map.dims()), std::move(ranges), {}, {}, values);
  if (!replaced) return std::nullopt;
  replaced->AddConstraint(kPartsFit, values[range], map.ranges()[range].bounds);
  return ChangedVariables{*std::move(replaced), std::move(values)};
}

// What (c*s + e) mod m, of which no residue is known, has of s: with g = gcd(c, m) that is
// (c*s/g + floor(e/g)) mod (m/g), where g divides the coefficients of e.
ResidueOfSum WithoutFactor(const ResidueOfSum& known, int64_t c) {
  const int64_t g = Gcd(c, known.modulus);
  LinearSum sum(FloorDiv(known.sum.constant(), g));
  for (const Term& term : known.sum.terms()) {
    if (term.coefficient % g == 0) sum.AddTerm(term.atom, term.coefficient / g);
  }
  return {std::move(sum), known.modulus / g, std::nullopt};
}

// What the equality sum = value says of a range variable with the smallest coefficient c, if that is 1 or
// -1, or else of the others modulo c.
std::optional<ResidueOfSum> ResidueOfEquality(LinearSum sum, int64_t value) {
  int64_t least = 0;
  AffineExpr variable;
  for (const Term& term : sum.terms()) {
    if (term.atom.getKind() != AffineExprKind::SymbolId || term.coefficient == kInt64Min) continue;
    const int64_t c = std::abs(term.coefficient);
    if (least != 0 && least <= c) continue;
    variable = term.atom;
    least = c;
  }
  if (least == 0) return std::nullopt;
  if (least == 1) return ResidueOfSum{std::move(sum), 0, value};
  sum.RemoveTerm(variable);
  return ResidueOfSum{std::move(sum), least, FloorMod(value, least)};
}

// One variable replaced by what a constraint says of it, or else by the digits that it speaks of.
std::optional<ChangedVariables> ReplaceByConstraint(const Constraint& constraint,
                                                    const IndexingMap& map) {
  llvm::SmallVector<ResidueOfSum, 4> known;
  const std::optional<ResidueFact> fact = ResidueFactOf(constraint);
  if (fact) {
    known.push_back({fact->sum, fact->residues.modulus(), fact->residues.residue()});
  } else if (constraint.interval.IsPoint()) {
    std::optional<ResidueOfSum> residue =
        ResidueOfEquality(LinearSum::FromExpr(constraint.expr), constraint.interval.lower());
    if (residue) known.push_back(*std::move(residue));
  }
  constraint.expr.walk([&](AffineExpr part) {  // what is in other divisions first
    const auto division = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(part);
    if (!division || (fact && part == constraint.expr)) return;
    if (part.getKind() != AffineExprKind::Mod && part.getKind() != AffineExprKind::FloorDiv) return;
    const int64_t divisor = llvm::cast<mlir::AffineConstantExpr>(division.getRHS()).getValue();
    known.push_back({LinearSum::FromExpr(division.getLHS()), divisor, std::nullopt});
  });
  for (const ResidueOfSum& residue : known) {
    if (!residue.sum.valid()) continue;
    for (int range = 0; range < map.num_ranges(); ++range) {
      const int64_t c = residue.sum.CoefficientOf(mlir::getAffineSymbolExpr(range, map.context()));
      if (c == 0) continue;
      const ResidueOfSum reduced = residue.residue ? residue : WithoutFactor(residue, c);
      if (std::optional<ChangedVariables> next = ReplaceBy(reduced, range, map)) return next;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ChangedVariables> WithoutEqualities(const IndexingMap& map) {
  std::optional<ChangedVariables> result;
  for (int i = 0; i < kMaxChangedVariables; ++i) {
    const IndexingMap& last = result ? result->map : map;
    std::optional<ChangedVariables> next;
    for (const Constraint& constraint : last.constraints()) {
      next = ReplaceByConstraint(constraint, last);
      if (next) break;
    }
    if (!next) break;
    next->map.Simplify({.keep_variables = true});
    if (next->map.IsKnownEmpty()) break;
    for (auto [j, value] : llvm::enumerate(next->values)) {
      if (!value) value = mlir::getAffineSymbolExpr(j, map.context());
    }
    if (result) {
      for (AffineExpr& value : result->values) value = Substitute(value, {}, next->values);
      next->values = std::move(result->values);
    }
    result = std::move(next);
  }
  return result;
}

}  // namespace xla_indexing::internal

// Equalities between the variables of a domain make expressions on it shorter.
//
// Mathematics. A constraint  S in [k, k]  on a sum S = c_1*a_1 + .. + c_n*a_n of variables, floors
// and mods says that S - k is 0. At every point of the domain therefore, for each i,
//
//   e = e - q*(S - k)                       where e = q*c_i*a_i + ..: a_i is not in e any more
//   c*(Y mod m) = c*Y - c*m*floor(Y/m)      where a_i = floor(Y/m), which then goes
//   a_i = r (mod g)                         g = the gcd of the other coefficients, c_i*r = k (mod g)
//
// The first two hold in the dividends of e too. Each gives one form of e, in which a_i is replaced
// wherever its coefficient is a multiple of c_i, and forms in which a_i has a smaller coefficient in
// e itself; all equalities together give one more, from which a variable is eliminated for each of
// them. The forms are simplified, and the least of them takes the place of e as long as it is less:
// shorter (affine/expr/expr_size.h), or as long and before it in the order of summands, where
// dimensions stand before symbols and variables by their numbers. This ends, and what has ended
// stays.
//
// Example: under d0 - d1 in [0, 0], (d0 + d1) floordiv 2 is d0; so are d1 and d1 * 7 - d0 * 6. Under
// d0 * 2 - d1 * 3 in [0, 0], d0 * 4 - d1 * 5 is d1, and d0 mod 3 is 0.

#ifndef XLA_INDEXING_MAP_SIMPLIFY_EQUALITIES_H_
#define XLA_INDEXING_MAP_SIMPLIFY_EQUALITIES_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

class Equalities {
 public:
  // Those among the constraints, which are in normal form, that `may_use` accepts.
  Equalities(llvm::ArrayRef<Constraint> constraints,
             llvm::function_ref<bool(const Constraint&)> may_use);

  bool empty() const { return sums_.empty(); }

  // The least form of an expression that is in normal form.
  mlir::AffineExpr Least(mlir::AffineExpr e, ExprSimplifier* simplifier) const;

  // Puts the least form into the place of a constraint that is none of the equalities. What state
  // it has then, and what its forms narrow, is as for NormalizeConstraint. Nothing may be assumed
  // in `simplifier` that comes from the constraint itself.
  ConstraintState Shorten(
      Constraint* constraint, ExprSimplifier* simplifier,
      llvm::function_ref<void(mlir::AffineExpr variable, Interval interval)> narrow) const;

  // Tells a simplifier the residue classes of single variables, floors and mods.
  void AssumeResidues(ExprSimplifier* simplifier) const;

 private:
  // The forms of e that one replacement, or the elimination of all, gives.
  llvm::SmallVector<mlir::AffineExpr, 8> FormsOf(mlir::AffineExpr e) const;

  llvm::SmallVector<LinearSum, 2> sums_;  // each is 0
  // The equalities in which what is eliminated by those before does not occur, and what each
  // eliminates.
  struct Elimination {
    LinearSum sum;
    mlir::AffineExpr atom;
  };
  llvm::SmallVector<Elimination, 2> eliminations_;
};

// Whether the constraint is an equality of several variables, and not one on residues alone.
bool IsEquality(const Constraint& constraint);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SIMPLIFY_EQUALITIES_H_

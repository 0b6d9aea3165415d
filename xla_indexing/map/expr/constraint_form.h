// The normal form of one constraint  expr in interval.
//
// Mathematics. With the normal form of affine/normal_form/simplifier.h for expressions, each rule an
// equivalence over the points of the variables' intervals:
//
//   e + c in [a, b]           e in [a - c, b - c]
//   g*e in [a, b]             e in [ceil(a/g), floor(b/g)]     g the gcd of the coefficients
//   -e in [a, b]              e in [-b, -a]                    so that the first coefficient is > 0
//   floor(Y/m) in [a, b]      Y in [a*m, b*m + m - 1]
//   X mod n in [a, b]         (X - a) mod n in [0, b - a]      0 <= a <= b < n
//   e in [a, b]               e in [a, b] meet range(e)        so that equal domains look equal
//   c*x + R in [a, b]         x in ([a, b] - range(R)) / c     besides
//   c*x + R in [a, b]         (b - r - c*x) mod g in [0, b - a]   besides; R = r (mod g) and
//                             b - a < g - 1: x begins and ends at a solution
//   R + k*floor(Y/m) in [a, b]  m*R + k*Y in [m*a, m*b] + k*[0, m - 1]   besides, for its variables
//   (c*x + d) mod n in [a, b] x begins and ends at a solution  besides
//   e in [a, b]               a and b move to values of e      where e is in a known residue class
//   e = r (mod m), e = s (mod n)   e = t (mod lcm(m, n))       by the Chinese remainder theorem
//
// Intervals are held in 128 bits on the way (base/numbers/wide_interval.h); where the numbers of a
// rule do not fit int64 in the end, the constraint stays what it was.
//
// A constraint that every point satisfies goes, one that no point satisfies empties the domain.
// What the other constraints say of residue classes (ExprSimplifier::Assume) is used; a constraint
// may speak only of those before it, so that two do not go because of each other.
#ifndef XLA_INDEXING_MAP_EXPR_CONSTRAINT_FORM_H_
#define XLA_INDEXING_MAP_EXPR_CONSTRAINT_FORM_H_

#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

enum class ConstraintState { kImplied, kUnsatisfiable, kKept };

// Puts `constraint` into normal form over the variables of `simplifier`. `narrow(variable,
// interval)` is called for variables whose intervals the constraint narrows; the constraint is kept
// in addition to them unless the intervals say all of it.
ConstraintState NormalizeConstraint(
    ExprSimplifier& simplifier, Constraint& constraint,
    llvm::function_ref<void(mlir::AffineExpr variable, Interval interval)> narrow);

// sum = r (mod n): what a constraint  X mod n in [r, r]  says. The sum has no constant.
struct ResidueFact {
  LinearSum sum;
  Congruence residues;
};
std::optional<ResidueFact> ResidueFactOf(const Constraint& constraint);

// The constraint  (sum - r) mod n in [0, 0]; nullopt if its numbers do not fit.
std::optional<Constraint> ConstraintOf(const ResidueFact& fact, mlir::MLIRContext* context);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_EXPR_CONSTRAINT_FORM_H_

// The values of an expression as an arithmetic progression, where its form alone says so.
//
// Mathematics. Where every variable occurs once, the parts of an expression take their values
// independently of one another. With {a + i*g : i < n} for the values of a part,
//
//   c * x                 {c*a + i*c*g}              from the other end for c < 0
//   x + y                 steps g and h = k*g, k <= n: the windows of neighbouring y leave no gap
//   floor(x / m)          all from end to end where g <= m; steps of g/m where m divides g
//   x mod m               steps of gcd(g, m) where x has all residues; as x where it does not wrap
//
// Expressions of other forms have no answer here; map/sets/project.h and enumeration answer for
// more.
//
// Example: d0 * 2 + s0, d0 in [0, 9], s0 in [0, 4] has the values {i : i < 23}; with s0 in [0, 0]
// {2*i : i < 10}.
#ifndef XLA_INDEXING_MAP_COUNT_PROGRESSION_OF_VALUES_H_
#define XLA_INDEXING_MAP_COUNT_PROGRESSION_OF_VALUES_H_

#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/progression.h"

namespace xla_indexing::internal {

// The values of `expr`, where `values_of(variable)` gives those of a dimension or symbol, never an
// empty or infinite progression. nullopt if a variable occurs twice, the values of one are not known,
// the values of the expression are no progression, or numbers do not fit int64.
std::optional<Progression> ProgressionOfValues(
    mlir::AffineExpr expr,
    llvm::function_ref<std::optional<Progression>(mlir::AffineExpr variable)> values_of);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_COUNT_PROGRESSION_OF_VALUES_H_

// A map without what its constraints say of residues and equalities, by a change of range variables.
//
// Mathematics. A range variable s is replaced by its value, with an integer t in its place:
//
//   c*s + e = r (mod m)                   s = c'*(r - e) + n*t, where n is the part of m that has no
//                                         factor in common with c, and c*c' = 1 (mod n)
//   s + e = r                             s = r - e
//   c*s + e = r                           e = r (mod c), as above
//   anything of (c*s + e) floordiv m      as the first, with one more range variable r in [0, m - 1]: the
//   or of (c*s + e) mod m                 remainder, while t is the quotient
//
// where e does not have s. Then there is nothing left to say modulo n, or an equality has smaller numbers.
// Where c and m have a common divisor the last is done with both divided by it.
//
// Example: (d0)[s0] -> (s0 floordiv 3), domain: s0 in [2, 23], (s0 + 1) mod 3 in [0, 0]
// is       (d0)[s0] -> (s0), domain: s0 in [0, 7]   with s0 * 3 + 2 for s0.
#ifndef XLA_INDEXING_MAP_SETS_CHANGE_OF_VARIABLES_H_
#define XLA_INDEXING_MAP_SETS_CHANGE_OF_VARIABLES_H_

#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

inline constexpr int kMaxChangedVariables = 8;

// A map over other range variables, of which there may be more, and the value of each range variable of
// the first map in terms of them. At every point of one domain there is a point of the other.
struct ChangedVariables {
  IndexingMap map;  // simplified
  llvm::SmallVector<mlir::AffineExpr, 4> values;
};

// Replaces at most kMaxChangedVariables. Nullopt if no range variable can be replaced. `map` has no runtime variables. A value is null if it
// would pass a bound of affine/expr/build.h.
std::optional<ChangedVariables> WithoutEqualities(const IndexingMap& map);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SETS_CHANGE_OF_VARIABLES_H_

// The results of a map as a set of their own: a projection.
//
// Mathematics. With known variables k and unknown ones u, f(k, u) = r over a domain is the set
//
//   { (k, r) : some u, f(k, u) = r, (k, u) in the domain }.
//
// Each u that the results determine (map/sets/solve.h) is replaced by its value over (k, r),
// and its interval becomes a constraint on that value. The equations stay as constraints;
// simplification drops those that always hold. An equation is written so that u can be eliminated
// from it:
//
//   r = c + g*U           (r - c) mod g in [0, 0],  U = floor((r - c) / g)
//   r = floor(Y / m)      Y - m*r in [0, m - 1]
//   r = X mod n           (X - r) mod n in [0, 0],  r in [0, n - 1]
//
// The u that are left are eliminated by map/simplify/existential.h where it can. Where none is
// left, the set is written without "some u", and questions about it are questions about domains
// (map/sets/domain.h).
//
// Example. (d0)[s0, s1] -> (d0 * 8 + s0 + s1), s0 in [0, 3], s1 in [0, 2]. With d0 known, and d1
// standing for the result: d0 in .., d1 - d0 * 8 in [0, 5]. With d0 in [0, 9] unknown as well, and
// d0 standing for the result: d0 in [0, 77], d0 mod 8 in [0, 5].
#ifndef XLA_INDEXING_MAP_SETS_PROJECT_H_
#define XLA_INDEXING_MAP_SETS_PROJECT_H_

#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// Which variables are known. Range variables never are.
struct KnownVariables {
  bool dims;
  bool runtimes;
};

struct Projection {
  // Dimensions: the known variables, then one for each result. Range variables: the unknown ones
  // that could not be left out. No results.
  IndexingMap set;
  // For each range variable of the map its value over those dimensions; null if the results do
  // not determine it.
  llvm::SmallVector<mlir::AffineExpr, 4> values;

  // Whether `set` says which (k, r) are meant without range variables.
  bool IsExplicit() const { return set.num_ranges() == 0; }
};

struct Projected {
  // The map, simplified, with its known variables as dimensions (dimensions, then runtime
  // variables) and the others as range variables (dimensions, ranges, then runtime variables).
  IndexingMap map;
  std::optional<Projection> projection;  // nullopt if an expression cannot be written
};

// Nullopt if not even the map can be written so.
std::optional<Projected> ProjectOntoResults(const IndexingMap& map, KnownVariables known);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SETS_PROJECT_H_

// Constraints on the residues of one sum X become one.
//
//   X = r (mod m) and X = s (mod n)             X = t (mod lcm(m, n)), or no point: the Chinese
//                                               remainder theorem
//   X mod n in [a, b] and (X + c) mod n in [d, e]   one interval of residues, taken in a circle,
//                                               where their intersection is one; no point where it
//                                               is empty; both stay where it is two
//
// Example: d0 mod 8 in [1, 5] and d0 mod 8 in [3, 7] are (d0 - 3) mod 8 in [0, 2].
#ifndef XLA_INDEXING_MAP_SIMPLIFY_COMBINE_RESIDUES_H_
#define XLA_INDEXING_MAP_SIMPLIFY_COMBINE_RESIDUES_H_

#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

enum class Combined { kNothing, kSome, kUnsatisfiable };

// Constraints are in the normal form of map/expr/constraint_form.h. Each becomes part of the
// first that it combines with.
Combined CombineResidues(Constraints& constraints, mlir::MLIRContext* context);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SIMPLIFY_COMBINE_RESIDUES_H_

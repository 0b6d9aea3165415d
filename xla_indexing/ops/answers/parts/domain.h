// The domain of a map under construction: variables with their intervals, and constraints.

#ifndef XLA_INDEXING_OPS_ANSWERS_PARTS_DOMAIN_H_
#define XLA_INDEXING_OPS_ANSWERS_PARTS_DOMAIN_H_

#include <cstdint>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

struct Domain {
  Variables dims;
  Variables ranges;
  Variables runtimes;
  Constraints constraints;

  static Domain Of(const IndexingMap& map);

  // The interval of a variable; null for all other expressions.
  Interval* BoundsOf(mlir::AffineExpr variable);

  // Restricts the domain to the points with `expr` in the interval. A constraint that holds
  // everywhere is left out; one on a multiple of one variable plus a constant narrows that
  // variable. False where `expr` is null.
  bool Constrain(mlir::AffineExpr expr, const Interval& interval);
  // Restricts the domain to the points with `expr mod modulus in residues`, likewise; modulus >= 1.
  bool ConstrainResidue(mlir::AffineExpr expr, int64_t modulus, const Interval& residues);

  // A map with this domain.
  IndexingMap MakeMap(llvm::ArrayRef<mlir::AffineExpr> results, mlir::MLIRContext* context) const;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_ANSWERS_PARTS_DOMAIN_H_

// What follows from the atoms of a piece: values of expressions at its points.
//
// Facts are the intervals of the variables, narrowed by what sums leave of them; bounds of differences
// of two variables, closed (map/union/difference_bounds.h); residue classes; and for other expressions
// each atom, a multiple of which may be taken out:
//
//   e = q*a + r, a in P, r in R      e in q*P + R
//
// Example: d0 - s0 in [1, 3], s0 in [0, 4] and d0 in {0, 2, ..} leave d0 in {2, 4, 6}, and d0*2 - s0*2
// in [2, 6].
#ifndef XLA_INDEXING_MAP_UNION_FACTS_H_
#define XLA_INDEXING_MAP_UNION_FACTS_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/map/union/difference_bounds.h"
#include "xla_indexing/map/union/piece.h"

namespace xla_indexing::internal {

class Facts {
 public:
  explicit Facts(const Piece& piece);

  // Whether the piece is known to have no points; nothing may be asked of it then.
  bool IsEmpty() const { return is_empty_; }
  // Values that contain those of the expression, whose further symbols are not known.
  Progression ValuesOf(const LinearSum& sum);
  Progression ValuesOf(mlir::AffineExpr expr) { return ValuesOf(LinearSum::FromExpr(expr)); }
  std::optional<int64_t> ValueOfVariable(mlir::AffineExpr variable) const;
  bool IsZero(const LinearSum& sum);
  // Whether all values are in these, where that is known.
  bool AreIn(mlir::AffineExpr expr, const Progression& values);
  // Whether two expressions of the piece's variables are seen to differ at one of its points.
  bool DifferSomewhere(mlir::AffineExpr a, mlir::AffineExpr b) const;
  // The sum over atoms in normal form.
  LinearSum Simplify(const LinearSum& sum);

 private:
  struct Known {
    LinearSum sum;
    Progression values;
  };
  // The coordinate of a variable in the difference bounds.
  int CoordinateOf(mlir::AffineExpr variable) const;
  // x - y + c as coordinates and c; nullopt if it is not that, or they have no bounds.
  struct Difference {
    int from = 0;
    int to = 0;
    int64_t constant = 0;
  };
  std::optional<Difference> AsDifference(const LinearSum& sum) const;

  // Knows the intervals of the variables, and the residue classes of variables and sums.
  ExprSimplifier& simplifier();
  // What the intervals and classes of variables and sums alone say of a valid sum.
  Progression InBox(const LinearSum& sum);
  // Null if the atom is not a variable of the piece.
  const Progression* OfVariable(mlir::AffineExpr atom) const;
  void Narrow(int variable, const Progression& values);
  void NarrowBySums();
  void CloseDifferences();

  int num_dims_;
  bool is_empty_ = false;
  llvm::SmallVector<Progression, 8> variables_;
  llvm::SmallVector<Known, 4> sums_;
  std::optional<DifferenceBounds> differences_;
  llvm::SmallVector<int64_t, 8> corner_;  // the least point, if that is evident; otherwise empty
  mlir::MLIRContext* context_;
  std::optional<ExprSimplifier> simplifier_;  // made when it is asked for
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_UNION_FACTS_H_

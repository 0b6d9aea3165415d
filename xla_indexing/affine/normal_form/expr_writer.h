// Writes atoms and quasi-affine sums as expressions.
//
// The expression of an atom is built when it is first asked for and kept with the atom. Where the
// expression that a sum came from is the one that would be built, looking at it finds that out:
// making expressions is most of the time that short sums take.
#ifndef XLA_INDEXING_AFFINE_NORMAL_FORM_EXPR_WRITER_H_
#define XLA_INDEXING_AFFINE_NORMAL_FORM_EXPR_WRITER_H_

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/normal_form/atom_table.h"

namespace xla_indexing::internal {

class ExprWriter {
 public:
  // Tells `atoms` what the expressions are that it builds.
  ExprWriter(mlir::MLIRContext* context, AtomTable* atoms) : context_(context), atoms_(atoms) {}

  mlir::MLIRContext* context() const { return context_; }

  // Null past the bounds of affine/expr/build.h, and for an invalid sum.
  mlir::AffineExpr Write(const Atom* atom);
  // The sum is in summand order.
  mlir::AffineExpr Write(const QuasiAffineSum& sorted);
  // Returns `from`, which may be null, where it is the result.
  mlir::AffineExpr Write(const QuasiAffineSum& sorted, mlir::AffineExpr from);
  // The sum over the expressions of its atoms.
  LinearSum WriteAtoms(const QuasiAffineSum& sum);

  // Whether summands of the sum are  e + floor(e / m) * -m, one after the other, of which MLIR
  // makes e mod m, in a place that is not a mod's.
  bool ShowsMod(const QuasiAffineSum& sorted);

  // Gives the atom that `sum` consists of the expression `division`, where it would be written so.
  static void KeepExpr(const QuasiAffineSum& sum, mlir::AffineExpr division);

 private:
  mlir::AffineExpr WriteDividend(const Atom* atom);

  mlir::MLIRContext* context_;
  AtomTable* atoms_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_NORMAL_FORM_EXPR_WRITER_H_

// Builds the indexing map of an operation, variable by variable.
//
// Variables of a single value: dimension and runtime variables stay variables, unless the builder is
// told otherwise; range variables are not made, and the value stands in their place.
//
// Where a number would pass int64, Build() gives every element of the tensor, over-approximate.
//
// Example, the operand of a slice of f32[10] at [2:8:3], from input to output:
//
//   MapBuilder builder(operand_shape, output_shape, context);
//   AffineExpr i = builder.ExactQuotient(Sub(builder.Dim(0), builder.Value(2)), 3, 2);
//   builder.Build({i})   // (d0) -> ((d0 - 2) floordiv 3), domain: d0 in [2, 5],
//                        //     (d0 - 2) mod 3 in [0, 0]

#ifndef XLA_INDEXING_OPS_ANSWERS_MAP_BUILDER_H_
#define XLA_INDEXING_OPS_ANSWERS_MAP_BUILDER_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/domain.h"
#include "xla_indexing/ops/answers/parts/exactness.h"

namespace xla_indexing::internal {

// What stands in expressions for a dimension or a runtime variable of one value: the variable, as in
// the definitions of operations, or the value, as in the normal form.
enum class OneValued : uint8_t { kVariables, kValues };

// The indices of an axis: [0, size - 1], [0, inf] where the size has no bound.
Interval IndicesOfAxis(int64_t size);

class MapBuilder {
 public:
  // A map from the indices of an array `from` to those of an array `to`, with a dimension variable
  // for each dimension of `from`. Keeps references to both.
  MapBuilder(const Shape& from, const Shape& to, mlir::MLIRContext* context,
             OneValued one_valued = OneValued::kVariables);

  mlir::AffineExpr Dim(int64_t i) const;
  mlir::AffineExpr Value(int64_t value) const;

  // Adds a range variable and returns it; where it has only one value, returns that instead. All
  // range variables have to be added before the first runtime variable.
  mlir::AffineExpr AddRange(const Interval& interval);
  mlir::AffineExpr AddRangeOverAxis(int64_t size) { return AddRange(IndicesOfAxis(size)); }
  // Adds a runtime variable in the interval that the value function gives, and returns it or its
  // value.
  mlir::AffineExpr AddRuntime(RuntimeVarIndexing binding);

  // Restricts the domain. A constraint that holds everywhere is left out; one on a multiple of one
  // variable plus a constant narrows the variable.
  void Constrain(mlir::AffineExpr expr, const Interval& interval);
  void ConstrainDim(int64_t i, const Interval& interval);
  // Restricts the domain to the points with `expr mod modulus in residues`, likewise.
  void ConstrainResidue(mlir::AffineExpr expr, int64_t modulus, const Interval& residues);

  // numerator / divisor. Restricts the domain to where that is an integer in the interval:
  // numerator in interval * divisor, numerator mod divisor = 0. divisor >= 1.
  mlir::AffineExpr ExactQuotient(mlir::AffineExpr numerator, int64_t divisor,
                                 const Interval& interval);
  // The quotient as an index of an axis of this size.
  mlir::AffineExpr ExactQuotient(mlir::AffineExpr numerator, int64_t divisor, int64_t size) {
    return ExactQuotient(numerator, divisor, IndicesOfAxis(size));
  }

  // Brings expressions into normal form over the domain's intervals.
  void Simplify(llvm::MutableArrayRef<mlir::AffineExpr> exprs) const;

  // Whether some number in the domain, or in one of these results, would not fit int64.
  bool IsTooLarge(llvm::ArrayRef<mlir::AffineExpr> results) const;

  // The map with these results, one for each dimension of `to`.
  OperandIndexing Build(llvm::ArrayRef<mlir::AffineExpr> results,
                        ExactnessLabel label = ExactnessLabel::Exact()) const;

 private:
  mlir::MLIRContext* context_;
  const Shape* from_;
  const Shape* to_;
  Domain domain_;
  RuntimeVarIndexings bindings_;
  OneValued one_valued_;
  bool too_large_ = false;
};

// Every element of `to` for every element of `from`, with this label.
OperandIndexing EveryElement(const Shape& from, const Shape& to, ExactnessLabel label,
                             mlir::MLIRContext* context);

// Every element of `to` for every element of `from`, over-approximate with this reason: the answer
// for an operation that is not analysed, and what a map that grew too large is widened to.
// Dimensions of `from` are the map's dimensions; each dimension of `to` with more than one element
// has a range variable.
OperandIndexing WholeTensorIndexing(const Shape& from, const Shape& to, std::string reason,
                                    mlir::MLIRContext* context);

// (d0, d1, ..) -> (d0, d1, ..) over the indices of an array.
OperandIndexing IdentityIndexing(const Shape& shape, mlir::MLIRContext* context,
                                 OneValued one_valued = OneValued::kVariables);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_ANSWERS_MAP_BUILDER_H_

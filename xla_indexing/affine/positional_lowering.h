// Positional numbers as affine expressions.
//
//   PositionalLowering lowering(&algebra, &simplifier, {d0, d1});
//   lowering.Lower(number)   // its normal form (affine/simplifier.h)
//
// A number of digits of variables, moved and scaled or not, of no variable two, is written as it
// stands, sum and digits: that is its normal form. Of others the simplifier finds it. Shared
// sources are lowered once. What is longer than kMaxSimplifiedDigits, those of its sources counted
// as often as they occur, is written as the digits are, with normal forms inside; a number longer
// than kMaxLoweredDigits has no expression.
#ifndef XLA_INDEXING_AFFINE_POSITIONAL_LOWERING_H_
#define XLA_INDEXING_AFFINE_POSITIONAL_LOWERING_H_

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/digit_sum.h"
#include "xla_indexing/affine/linear_sum.h"
#include "xla_indexing/affine/positional.h"
#include "xla_indexing/affine/simplifier.h"

namespace xla_indexing {

inline constexpr size_t kMaxSimplifiedDigits = 5;
inline constexpr size_t kMaxLoweredDigits = 512;

class PositionalLowering {
 public:
  // variables[i] is what variable i of the algebra is. Keeps references.
  PositionalLowering(const PositionalAlgebra* algebra, ExprSimplifier* simplifier,
                     llvm::ArrayRef<mlir::AffineExpr> variables);

  // Null where it is too long.
  mlir::AffineExpr Lower(const Number& number);

 private:
  // Whether the digit is all of a linear source.
  bool IsLinear(const Digit& digit) const;
  // Whether no variable is in the number twice, nor one of those there are, and all else is linear.
  bool AddDistinctVariables(const Number& number, llvm::SmallVectorImpl<uint32_t>& variables) const;
  // x, x floordiv place, x mod size or (x floordiv place) mod size.
  mlir::AffineExpr DigitOfVariable(const Digit& digit);
  DigitSum Sum(const Number& number);
  const DigitSum& ValueOf(uint32_t source);
  DigitSum ValueOf(const Digit& digit);
  // The same without the normal form; invalid and null past the bounds of affine/build.h.
  LinearSum WrittenSum(const Number& number);
  mlir::AffineExpr Written(const Digit& digit);
  // A source as all of its digits have it for a dividend.
  struct Dividend {
    mlir::AffineExpr expr;
    bool is_small;  // under one more division too (affine/build.h)
  };
  Dividend WrittenSource(uint32_t source);

  const PositionalAlgebra& algebra_;
  ExprSimplifier& simplifier_;
  llvm::SmallVector<mlir::AffineExpr, 8> variables_;
  llvm::DenseMap<uint32_t, DigitSum> sources_;
  llvm::DenseMap<std::tuple<uint32_t, int64_t, int64_t>, DigitSum> digits_;
  llvm::DenseMap<uint32_t, Dividend> written_sources_;
  llvm::DenseMap<std::tuple<uint32_t, int64_t, int64_t>, mlir::AffineExpr> written_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_AFFINE_POSITIONAL_LOWERING_H_

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
#include <memory>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/digit_sum.h"
#include "xla_indexing/affine/linear_sum.h"
#include "xla_indexing/affine/number.h"
#include "xla_indexing/affine/positional.h"
#include "xla_indexing/affine/recycled.h"
#include "xla_indexing/affine/simplifier.h"

namespace xla_indexing {

// What digits, and whole sources, have been found to be: in normal form, and as they are written.
struct ValueOfDigit {
  Digit digit;  // not flipped; of a whole source its number alone
  DigitSum value;

  size_t hash = 0;
  ValueOfDigit* next = nullptr;
};
struct WrittenDigit {
  Digit digit;
  mlir::AffineExpr expr;
  bool is_small = false;  // under one more division too (affine/build.h)

  size_t hash = 0;
  WrittenDigit* next = nullptr;
};
struct LoweringMemory {
  Recycled<ValueOfDigit> values;
  Recycled<WrittenDigit> written;
  HashedChains<ValueOfDigit> value_table;
  HashedChains<WrittenDigit> written_table;

  void Reset() {
    values.Reset();
    written.Reset();
    value_table.Clear();
    written_table.Clear();
  }
};

inline constexpr size_t kMaxSimplifiedDigits = 5;
inline constexpr size_t kMaxLoweredDigits = 512;

class PositionalLowering {
 public:
  // variables[i] is what variable i of the algebra is. Keeps references.
  PositionalLowering(const PositionalAlgebra* algebra, ExprSimplifier* simplifier,
                     llvm::ArrayRef<mlir::AffineExpr> variables);
  ~PositionalLowering();
  PositionalLowering(const PositionalLowering&) = delete;
  PositionalLowering& operator=(const PositionalLowering&) = delete;

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
  const DigitSum& ValueOf(const Digit& digit);
  // The same without the normal form; invalid and null past the bounds of affine/build.h.
  LinearSum WrittenSum(const Number& number);
  mlir::AffineExpr Written(const Digit& digit);
  const WrittenDigit& WrittenSource(uint32_t source);

  const PositionalAlgebra& algebra_;
  ExprSimplifier& simplifier_;
  llvm::ArrayRef<mlir::AffineExpr> variables_;
  std::unique_ptr<LoweringMemory> memory_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_AFFINE_POSITIONAL_LOWERING_H_

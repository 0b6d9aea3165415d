// Positional numbers as affine expressions.
//
//   PositionalLowering lowering(&algebra, &simplifier, {d0, d1});
//   lowering.Lower(number)   // its normal form (affine/normal_form/simplifier.h)
//
// A number of digits of variables, moved and scaled or not, of no variable two, is written as it
// stands, sum and digits: that is its normal form. Of others the simplifier finds it. What is
// longer than kMaxSimplifiedDigits, the digits of its sources counted as often as they occur, is
// written as the digits are; a number that is longer than kMaxSummands when it is written
// (affine/expr/build.h), or whose sources nest deeper than kMaxLoweredDepth, has no expression.
// Digits are lowered once.
//
// The algebra keeps of a run no more than a digit depends on. What it depends on is written with
// fewer divisions where variables are whole, so runs are made longer before: with a digit (v, p, s)
// of a variable v least or greatest in the run Y, L = v mod p and H = floor(v / (p*s)),
//
//   floor(Y/a) = floor((p*Y + L) / (p*a))                      a > 1
//   floor(Y/a) mod n = floor((Y + size*H) / a) mod n           a*n divides the size of Y
//   c + b*(Y mod n) = (c + b*Y) mod (b*n)                      c and the least digit of Y join
//   floor(Y/a) + (size/a)*h = floor((Y + size*h) / a)          the greatest digit of Y and h join
#ifndef XLA_INDEXING_AFFINE_MIXED_RADIX_POSITIONAL_LOWERING_H_
#define XLA_INDEXING_AFFINE_MIXED_RADIX_POSITIONAL_LOWERING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/positional.h"
#include "xla_indexing/affine/normal_form/simplifier.h"

namespace xla_indexing::internal {

inline constexpr size_t kMaxSimplifiedDigits = 5;
inline constexpr int kMaxLoweredDepth = 512;

class PositionalLowering {
 public:
  // variables[i] is what variable i of the algebra is. Keeps references.
  PositionalLowering(const PositionalAlgebra* algebra, ExprSimplifier* simplifier,
                     llvm::ArrayRef<mlir::AffineExpr> variables);
  ~PositionalLowering();
  PositionalLowering(const PositionalLowering&) = delete;
  PositionalLowering& operator=(const PositionalLowering&) = delete;

  // Null if it is too long.
  mlir::AffineExpr Lower(const Number& number);

 private:
  // Whether the digit is all of a linear source.
  bool IsLinear(const Digit& digit) const;
  // Whether no variable is in the number twice, nor one of those there are, and all else is linear.
  bool AddDistinctVariables(const Number& number, llvm::SmallVectorImpl<uint32_t>& variables) const;
  // Whether a digit of the number, or of a linear source in it, is flipped.
  bool HasFlipped(const Number& number) const;
  // x, x floordiv factor, x mod size or (x floordiv factor) mod size.
  mlir::AffineExpr DigitOfVariable(const Digit& digit);

  // factor * number + offset.
  struct Dividend {
    Number number;
    int64_t factor = 1;
    int64_t offset = 0;

    friend bool operator==(const Dividend& a, const Dividend& b) {
      return a.factor == b.factor && a.offset == b.offset && a.number == b.number;
    }
    template <typename H>
    friend H AbslHashValue(H h, const Dividend& dividend) {
      return H::combine(std::move(h), HashOf(dividend.number), dividend.factor, dividend.offset);
    }
  };
  struct WrittenDividend {
    mlir::AffineExpr expr;
    bool is_small = false;  // under one more division too (affine/expr/build.h)
  };
  // floor((factor * number + offset) / lower_factor) mod extent, or without the mod.
  struct Quotient {
    Number number;
    int64_t factor = 1;
    int64_t offset = 0;
    int64_t lower_factor = 1;
    int64_t extent = 1;
    bool has_mod = false;
    Digit key = {};  // in the tables
  };
  bool IsVariable(const Digit& digit) const;
  // What a digit of a run or of a linear source is.
  Quotient QuotientOf(const Digit& digit) const;
  // The digit that the two are together, not flipped, where a digit of a run takes in one of a
  // variable, below it or above.
  std::optional<Quotient> JoinedBelow(const Digit& low, const Digit& high) const;
  std::optional<Quotient> JoinedAbove(const Digit& low, const Digit& high) const;
  // Takes in what is below the least digit, and above the greatest.
  void ExtendBottom(Quotient& quotient) const;
  void WidenTop(Quotient& quotient) const;
  // Calls add(digit, quotient, size, stride) for the digits of the number, those that join
  // together. The quotient, of digits that are neither constant nor of a variable, is null for
  // others; it is not flipped where the digit is.
  template <typename Add>
  void ForEachDigit(const Number& number, Add add) const;

  QuasiAffineSum Sum(const Number& number);
  const QuasiAffineSum& ValueOf(const Quotient& quotient);
  const QuasiAffineSum& ValueOfVariable(const Digit& digit);
  // The sum of the digits as written, without normal form; invalid and null past the bounds of
  // affine/expr/build.h.
  LinearSum WrittenSum(const Number& number);
  mlir::AffineExpr Written(const Quotient& quotient);
  WrittenDividend WriteDividend(const Dividend& dividend);

  const PositionalAlgebra& algebra_;
  ExprSimplifier& simplifier_;
  llvm::ArrayRef<mlir::AffineExpr> variables_;
  // What was written already. Digits are not flipped. One that has been joined with a digit below it
  // has the lower factor of that, negated, and one that has been joined with a digit above it an
  // extent that its source does not have room for.
  struct Memory {
    absl::flat_hash_map<Digit, QuasiAffineSum> values;  // in normal form
    absl::flat_hash_map<Digit, mlir::AffineExpr> exprs;
    absl::flat_hash_map<Dividend, WrittenDividend> dividends;
  };
  std::unique_ptr<Memory> memory_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_MIXED_RADIX_POSITIONAL_LOWERING_H_

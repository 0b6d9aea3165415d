// Expressions as sums of digits of single variables.
//
// Mathematics. A *digit* of a variable v is
//
//   D = ((v + shift) floordiv low) mod count          without `mod` where the count is infinite
//
// Results of indexing maps are, nearly always, sums constant + sum_i k_i * D_i. With P the period low *
// count (low where the count is infinite), and for each a and a multiple n of m,
//
//   a + floor((v + s) / b) = floor((v + s + a*b) / b)
//   floor(floor((v + s) / b) / m) = floor((v + s) / (b*m))
//   floor((Q mod n) / m) = floor(Q / m) mod (n/m)          (Q mod n) mod m = Q mod m
//   floor((a - D) / m) = -1 - floor((D - a - 1) / m)       (a - D) mod m = m - 1 - ((D - a - 1) mod m)
//
// so that digits of digits are digits, and digits of -v are those of v but for sign and constant. Each
// digit is written with a shift in [0, P - 1], which is unique.
//
// Example: -(d0 floordiv 3) + 9 is 9 - D, D = d0 floordiv 3; (-d0 + 29) mod 3 is 2 - D, D = d0 mod 3;
// (d0 * 2 + d1) floordiv 3 is no sum of digits.
#ifndef XLA_INDEXING_MAP_EXPR_DIGIT_VIEW_H_
#define XLA_INDEXING_MAP_EXPR_DIGIT_VIEW_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"

namespace xla_indexing::internal {

struct VariableDigit {
  int variable = -1;  // numbered as by VariablesOf (map/expr/expr_util.h)
  int64_t shift = 0;
  int64_t low = 1;
  int64_t count = 0;  // 0: infinite

  // Whether it is the variable itself.
  bool IsPlain() const { return low == 1 && count == 0; }
  // What v + shift can grow by without changing the digit, but for a constant: P.
  int64_t Period() const { return count == 0 ? low : low * count; }
};

struct DigitTerm {
  VariableDigit digit;
  int64_t coefficient = 1;
};

struct DigitSum {
  int64_t constant = 0;
  llvm::SmallVector<DigitTerm, 4> terms;  // in the order of the summands
};

// nullopt if the expression is no sum of digits, or numbers do not fit int64. Dimension i is variable i,
// symbol j variable num_dims + j.
std::optional<DigitSum> DigitSumOf(mlir::AffineExpr expr, int num_dims);

// The shift S with which each of the digits of one variable is, but for a constant, a digit of v + S: they
// are digits of one number then. nullopt if there is none. Plain digits have any shift.
std::optional<int64_t> CommonShift(llvm::ArrayRef<VariableDigit> digits);

// The constant that the digit is more than ((v + shift) floordiv low) mod count with such a shift.
std::optional<int64_t> ConstantAtShift(const VariableDigit& digit, int64_t shift);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_EXPR_DIGIT_VIEW_H_

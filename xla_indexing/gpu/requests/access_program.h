// Addresses ready to be enumerated: expressions over variables whose ranges can be narrowed.
//
// Mathematics. Expressions are put into normal form (affine/normal_form/simplifier.h) and compiled to one
// program (map/expr/expr_program.h). The steps of the program, the subexpressions, have values at a
// point; here they have ranges, sets of variables and shifts (map/expr/shift.h), too. Ranges follow the
// variables:
//
//   floor(D / m) = q,  D mod m = D - q*m                    D in [q*m, q*m + m - 1]
//
// so a division may have one value, or a remainder one quotient, for some values of the variables and
// not for others. A variable is *divided* in an expression where a division with it has more values
// than one, and *added* with a coefficient.
//
// Numbers. Whatever the variables are in their intervals, no sum leaves [-2^62, 2^62]; for expressions
// of which that is not so the program fails: ok() is false, and only its divisions have a meaning.
//
// Example. (d0 + 64*d1 + 32*d2) floordiv 700 has, for d0 in [0, 31], d1 = 0 and d2 in [0, 1], one value.
#ifndef XLA_INDEXING_GPU_REQUESTS_ACCESS_PROGRAM_H_
#define XLA_INDEXING_GPU_REQUESTS_ACCESS_PROGRAM_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/expr_program.h"
#include "xla_indexing/map/expr/shift.h"

namespace xla_indexing::internal {

// A set of variables, by their numbers.
using VariableSet = uint64_t;

// The values from `lower` to `upper`.
struct ValueRange {
  int64_t lower = 0;
  int64_t upper = 0;

  bool IsPoint() const { return lower == upper; }
  // How many they are; 2^63 - 1 where they are more.
  int64_t Size() const {
    const Int128 size = Int128{upper} - lower + 1;
    return size > kInt64Max ? kInt64Max : static_cast<int64_t>(size);
  }
  friend bool operator==(const ValueRange& a, const ValueRange& b) = default;
};

class AccessProgram {
 public:
  static constexpr int kMaxVariables = 64;
  // Values, coefficients and divisors have at most this magnitude.
  static constexpr int64_t kLimit = int64_t{1} << 62;

  AccessProgram() : program_({}) {}
  // Dimensions of expressions are the variables, with these values. Fails past kMaxVariables, and
  // where an expression is null.
  AccessProgram(llvm::ArrayRef<mlir::AffineExpr> exprs, llvm::ArrayRef<ValueRange> variables);

  bool ok() const { return ok_; }
  // The expressions in normal form; none past kMaxVariables, and where one is null.
  llvm::ArrayRef<mlir::AffineExpr> exprs() const { return exprs_; }
  const ExprProgram& program() const { return program_; }
  llvm::ArrayRef<ExprProgram::Division> divisions() const { return divisions_; }

  int num_variables() const { return static_cast<int>(variables_.size()); }
  const ValueRange& variable(int i) const { return variables_[i]; }
  // Gives a variable another range, within the one that it had when it was made.
  void Narrow(int variable, ValueRange range) {
    variables_[variable] = range;
    narrowed_ |= VariableSet{1} << variable;
  }
  // Gives the steps the ranges that follow from those of the variables.
  void UpdateRanges();

  // --- By the number of a step

  struct StepValues {
    ValueRange range;
    VariableSet divided = 0;
  };
  // A range that has all values; the least one for a sum of independent terms.
  const ValueRange& range(int step) const { return values_[step].range; }
  VariableSet VariablesOf(int step) const { return sets_[step]; }
  bool Has(int step, int variable) const { return (sets_[step] >> variable & 1) != 0; }
  VariableSet DividedVariablesOf(int step) const { return values_[step].divided; }
  // What a variable is multiplied by where it is added; 0 where it is not.
  int64_t CoefficientOf(int step, int variable) const { return coefficients_[variable][step]; }

  // The shift of each step as a function of the variable; nullopt where it does not fit int64.
  llvm::SmallVector<std::optional<Shift>, 0> ShiftsOf(int variable) const;

 private:
  bool ok_ = true;
  llvm::SmallVector<mlir::AffineExpr, 4> exprs_;
  ExprProgram program_;
  llvm::SmallVector<ValueRange, 8> variables_;
  VariableSet narrowed_ = 0;  // since the ranges of steps are known
  llvm::SmallVector<ExprProgram::Division, 8> divisions_;
  // By step.
  llvm::SmallVector<VariableSet, 0> sets_;
  llvm::SmallVector<StepValues, 0> values_;
  llvm::SmallVector<llvm::SmallVector<int64_t, 0>, 8> coefficients_;  // by variable and step
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_ACCESS_PROGRAM_H_

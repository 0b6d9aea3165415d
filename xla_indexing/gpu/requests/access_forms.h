// Addresses ready to be enumerated: sums of variables and of their quotients and remainders.
//
// Mathematics. A form is  c + sum_i k_i * t_i,  where a term t is a variable with a finite interval
// or a division, floor(D / m) or D mod m, whose dividend D is a form over earlier terms. Forms are
// read off expressions that are simplified already (affine/normal_form/simplifier.h); what is done
// here is what variables need that are written as sums of their digits, exact for all of their
// values:
//
//   floor((m*Q + R) / m) = Q + floor(R / m),  (m*Q + R) mod m = R mod m
//   floor(D / m) = q,  D mod m = D - q*m                    D in [q*m, q*m + m - 1]
//
// Ranges follow the variables, which can be narrowed: a division may have one value, or a remainder
// one quotient, for some values of the variables and not for others.
//
// A form as a function of one variable repeats itself, whatever the others are (map/expr/shift.h).
//
// Numbers. Whatever the variables are in their intervals, no sum leaves [-2^62, 2^62]; a form for
// which that is not so makes the algebra fail (ok() is false), after which no form has a meaning.
//
// Example. The expression (d0 + d1 * 32) floordiv 700 with d1 = 2*a + b is floor((d0 + 64*a + 32*b)
// / 700). d1 floordiv 2 is a, for b in [0, 1].
#ifndef XLA_INDEXING_GPU_REQUESTS_ACCESS_FORMS_H_
#define XLA_INDEXING_GPU_REQUESTS_ACCESS_FORMS_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/shift.h"

namespace xla_indexing::internal {

// A set of variables, by their numbers.
using VariableSet = uint64_t;

struct FormTerm {
  int id = 0;  // a variable, or kMaxVariables + the number of a division
  int64_t coefficient = 0;

  friend bool operator==(const FormTerm& a, const FormTerm& b) = default;
};

struct Form {
  int64_t constant = 0;
  llvm::SmallVector<FormTerm, 4> terms;  // by id; no coefficient is 0

  friend bool operator==(const Form& a, const Form& b) = default;
};

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

struct FormDivision {
  bool is_mod = false;
  Form dividend;
  int64_t divisor = 1;
  VariableSet variables = 0;
};

class FormAlgebra {
 public:
  static constexpr int kMaxVariables = 64;
  // Values, coefficients and divisors have at most this magnitude.
  static constexpr int64_t kLimit = int64_t{1} << 62;

  bool ok() const { return ok_; }
  int num_variables() const {
    assert(num_variables_ <= kMaxVariables);
    return static_cast<int>(num_variables_);
  }
  llvm::ArrayRef<FormDivision> divisions() const { return divisions_; }
  // The range of a variable, or of a division for the current ranges of the variables.
  const ValueRange& range(int id) const {
    assert(id >= 0);
    return id < kMaxVariables ? variables_[id] : division_ranges_[id - kMaxVariables];
  }

  // Adds a variable with these values, `lower` <= `upper`. Fails past kMaxVariables.
  Form AddVariable(int64_t lower, int64_t upper);

  static Form Constant(int64_t value);
  // a + factor * b.
  Form Add(const Form& a, const Form& b, int64_t factor = 1);
  // floor(form / divisor), or form mod divisor.
  Form Divide(const Form& form, int64_t divisor, bool is_mod);
  // The form of an expression whose dimensions are the given forms; it has no symbols.
  Form FromExpr(mlir::AffineExpr expr, llvm::ArrayRef<Form> dims);

  // A range that has all values of a form; the least one for a sum of independent terms.
  ValueRange RangeOf(const Form& form) const;
  VariableSet VariablesOf(const Form& form) const;
  // The variables of a form that occur in divisions.
  VariableSet DividedVariablesOf(const Form& form) const;

  // The shift of a variable that is read off the form; none where it does not fit int64.
  std::optional<Shift> ShiftOf(const Form& form, int variable) const;

  // Which divisions are part of these forms, of their dividends, and so on.
  llvm::SmallVector<bool, 16> DivisionsIn(llvm::ArrayRef<const Form*> forms) const;

  // Fails where one of these forms, or a dividend, may leave [-2^62, 2^62].
  void CheckRanges(llvm::ArrayRef<Form*> forms);

  // Drops the divisions that are not part of one of these forms; no other forms have a meaning
  // afterwards.
  void KeepOnly(llvm::ArrayRef<Form*> forms);

  // Gives a variable another range, within the one that it had when it was made, and the divisions
  // theirs. Forms must not be made while a range is narrowed.
  void Narrow(int variable, ValueRange range) {
    assert(variable >= 0 && variable < kMaxVariables);
    variables_[variable] = range;
  }
  void UpdateDivisionRanges();

 private:
  Form MakeDivision(bool is_mod, Form dividend, int64_t divisor);
  void AddTerm(Form* form, int id, Int128 coefficient);
  void AddConstant(Form* form, Int128 value);
  Int128 Magnitude(const Form& form) const;
  ValueRange RangeOfDivision(const FormDivision& division) const;

  bool ok_ = true;
  size_t num_variables_ = 0;
  ValueRange variables_[kMaxVariables];
  llvm::SmallVector<FormDivision, 8> divisions_;
  llvm::SmallVector<ValueRange, 8> division_ranges_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_ACCESS_FORMS_H_

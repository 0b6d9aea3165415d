#include "xla_indexing/map/expr/digit_view.h"

#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/expr_util.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// constant + D or constant - D.
struct SignedDigit {
  int64_t constant = 0;
  bool is_negative = false;
  VariableDigit digit;
};

// Adds to v + shift, in multiples of the digit's lower factor: D + c for an infinite count.
bool AddToDigit(int64_t c, VariableDigit* digit) {
  const std::optional<int64_t> shift = NarrowToInt64(Int128{c} * digit->low + digit->shift);
  digit->shift = shift.value_or(0);
  return shift.has_value();
}

// Takes the shift into [0, P - 1], and what that changes into the constant.
std::optional<SignedDigit> Normalized(SignedDigit value) {
  VariableDigit& digit = value.digit;
  const std::optional<int64_t> period =
      digit.count == 0 ? digit.low : CheckedMul(digit.low, digit.count);
  if (!period) return std::nullopt;
  const int64_t quotient = FloorDiv(digit.shift, *period);
  digit.shift = FloorMod(digit.shift, *period);
  if (digit.count != 0) return value;
  const std::optional<int64_t> constant = NarrowToInt64(
      Int128{value.constant} + (value.is_negative ? -Int128{quotient} : Int128{quotient}));
  if (!constant) return std::nullopt;
  value.constant = *constant;
  return value;
}

// Makes the value D or last - D, where the divisor divides last + 1; false if it cannot be written so. Takes
// the constant into a digit of infinite count; the count of any other has to be a multiple of the divisor.
bool TakeConstantIn(int64_t divisor, SignedDigit* value) {
  VariableDigit& digit = value->digit;
  if (digit.count == 0) {
    // a + D, and a - D = -1 - (D - a - 1).
    const std::optional<int64_t> added =
        value->is_negative ? CheckedSub(-1, value->constant) : value->constant;
    if (!added || !AddToDigit(*added, &digit)) return false;
    value->constant = value->is_negative ? -1 : 0;
    return true;
  }
  if (digit.count % divisor != 0) return false;
  return value->is_negative ? value->constant == -1 || value->constant == digit.count - 1
                            : value->constant == 0;
}

std::optional<SignedDigit> Quotient(SignedDigit value, int64_t divisor) {
  if (!TakeConstantIn(divisor, &value)) return std::nullopt;
  VariableDigit& digit = value.digit;
  const std::optional<int64_t> low = CheckedMul(digit.low, divisor);
  if (!low) return std::nullopt;
  digit.low = *low;
  // floor((last - D) / m) = (last + 1)/m - 1 - floor(D / m), where last + 1 is 0 or the count.
  if (value.is_negative && value.constant >= 0) value.constant = digit.count / divisor - 1;
  if (digit.count == 0) return Normalized(value);
  digit.count /= divisor;
  // X mod m is one value of floor(X / m), which leaves nothing of it.
  if (digit.count == 1) return std::nullopt;
  return Normalized(value);
}

std::optional<SignedDigit> Remainder(SignedDigit value, int64_t divisor) {
  if (divisor == 1 || !TakeConstantIn(divisor, &value)) return std::nullopt;
  value.digit.count = divisor;
  value.constant = value.is_negative ? divisor - 1 : 0;
  return Normalized(value);
}

std::optional<SignedDigit> SignedDigitOf(AffineExpr expr, int num_dims);

std::optional<SignedDigit> QuotientOrRemainderOf(AffineExpr expr, int num_dims) {
  const auto division = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  const std::optional<int64_t> divisor = ConstantIn(division.getRHS());
  if (!divisor || *divisor < 1) return std::nullopt;
  const std::optional<SignedDigit> dividend = SignedDigitOf(division.getLHS(), num_dims);
  if (!dividend) return std::nullopt;
  return expr.getKind() == AffineExprKind::Mod ? Remainder(*dividend, *divisor)
                                               : Quotient(*dividend, *divisor);
}

// A sum of one term with the coefficient 1 or -1. Expressions nest at most 256 deep.
std::optional<SignedDigit> SignedDigitOf(AffineExpr expr, int num_dims) {
  const LinearSum sum = LinearSum::FromExpr(expr);
  if (!sum.valid() || sum.terms().size() != 1) return std::nullopt;
  const Term& term = sum.terms()[0];
  if (term.coefficient != 1 && term.coefficient != -1) return std::nullopt;
  SignedDigit value;
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(term.atom)) {
    value.digit.variable = static_cast<int>(dim.getPosition());
  } else if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom)) {
    value.digit.variable = num_dims + static_cast<int>(symbol.getPosition());
  } else if (const auto division = QuotientOrRemainderOf(term.atom, num_dims)) {
    value = *division;
  } else {
    return std::nullopt;
  }
  const bool negates = term.coefficient < 0;
  const std::optional<int64_t> constant =
      NarrowToInt64((negates ? -Int128{value.constant} : Int128{value.constant}) + sum.constant());
  if (!constant) return std::nullopt;
  value.constant = *constant;
  value.is_negative = value.is_negative != negates;
  return value;
}

}  // namespace

std::optional<DigitSum> DigitSumOf(AffineExpr expr, int num_dims) {
  const LinearSum linear = LinearSum::FromExpr(expr);
  if (!linear.valid()) return std::nullopt;
  DigitSum sum;
  Int128 constant = linear.constant();
  for (const Term& term : linear.terms()) {
    const std::optional<SignedDigit> value = SignedDigitOf(term.atom, num_dims);
    if (!value || term.coefficient == kInt64Min) return std::nullopt;
    constant += Int128{value->constant} * term.coefficient;
    sum.terms.push_back({value->digit, value->is_negative ? -term.coefficient : term.coefficient});
  }
  const std::optional<int64_t> narrow = NarrowToInt64(constant);
  if (!narrow) return std::nullopt;
  sum.constant = *narrow;
  return sum;
}

std::optional<int64_t> CommonShift(llvm::ArrayRef<VariableDigit> digits) {
  // That of the longest period, of which the others are to divide the difference.
  int64_t shift = 0;
  int64_t period = 0;
  for (const VariableDigit& digit : digits) {
    if (digit.IsPlain() || digit.Period() <= period) continue;
    shift = digit.shift;
    period = digit.Period();
  }
  for (const VariableDigit& digit : digits) {
    if (!ConstantAtShift(digit, shift)) return std::nullopt;
  }
  return shift;
}

std::optional<int64_t> ConstantAtShift(const VariableDigit& digit, int64_t shift) {
  const std::optional<int64_t> added = CheckedSub(digit.shift, shift);
  if (!added || *added % digit.Period() != 0) return std::nullopt;
  return digit.count == 0 ? *added / digit.low : 0;
}

}  // namespace xla_indexing::internal

#include "xla_indexing/ops/values/integer_values.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/strings/string_view.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/expr_util.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

std::optional<ValueCases> CompareIntegers(const HloInstruction& instruction, AffineExpr difference,
                                          const Constraints& when,
                                          const ValueVariables& variables) {
  const absl::string_view direction = instruction.comparison_direction();
  AffineExpr yes = Constant(1, variables.context());
  AffineExpr no = Constant(0, variables.context());
  if (direction == "LT") return variables.Split(difference, -1, yes, no, when);
  if (direction == "LE") return variables.Split(difference, 0, yes, no, when);
  if (direction == "GT") return variables.Split(difference, 0, no, yes, when);
  if (direction == "GE") return variables.Split(difference, -1, no, yes, when);
  if (direction != "EQ" && direction != "NE") return std::nullopt;
  if (direction == "NE") std::swap(yes, no);
  // Below 0, then from 0 on, which is split at 0 again.
  const std::optional<ValueCases> parts = variables.Split(difference, -1, no, yes, when);
  if (!parts) return std::nullopt;
  ValueCases cases;
  for (const ValueCase& part : *parts) {
    std::optional<ValueCases> result = ValueCases{part};
    if (part.value == yes) result = variables.Split(difference, 0, yes, no, part.when);
    if (!result) return std::nullopt;
    cases.insert(cases.end(), result->begin(), result->end());
  }
  return cases;
}

// The quotient or remainder of division that rounds toward zero, with floors: x = -7, y = 3 has
// floor -3, rest 2 and the quotient -3 + 1.
std::optional<ValueCases> DivideIntegers(const HloInstruction& instruction, AffineExpr x,
                                         AffineExpr y, const Constraints& when,
                                         const ValueVariables& variables) {
  const int64_t divisor = ConstantIn(y).value_or(0);
  if (divisor == 0 || divisor == std::numeric_limits<int64_t>::min()) return std::nullopt;
  // A quotient by -c is that by c, negated; a remainder by -c is that by c.
  const int64_t c = std::abs(divisor);
  const bool is_quotient = instruction.opcode() == HloOpcode::kDivide;
  AffineExpr rest = Mod(x, c);
  AffineExpr floor = is_quotient ? FloorDiv(x, c) : rest;
  // Below 0, where division leaves a rest, the quotient toward zero is one more.
  AffineExpr above = floor && is_quotient ? Add(floor, Constant(1, variables.context()))
                     : floor              ? Sub(floor, Constant(c, variables.context()))
                                          : AffineExpr();
  const std::optional<ValueCases> parts = variables.Split(x, -1, above, floor, when);
  if (!parts) return std::nullopt;
  ValueCases cases;
  for (const ValueCase& part : *parts) {
    std::optional<ValueCases> result = ValueCases{part};
    if (part.value == above) result = variables.Split(rest, 0, floor, above, part.when);
    if (!result) return std::nullopt;
    llvm::append_range(cases, *result);
  }
  for (ValueCase& each : cases) {
    if (is_quotient && divisor < 0) each.value = Scale(each.value, -1);
    if (!each.value ||
        !variables.Fitting(each.value, instruction.shape().element_type(), each.when)) {
      return std::nullopt;
    }
  }
  return cases;
}

// The value of an operation that an affine expression of the operands' values x and y is, where
// nothing wraps; null for all others.
AffineExpr AffineValue(const HloInstruction& instruction, AffineExpr x, bool x_is_not_negative,
                       AffineExpr y) {
  const bool is_logical = IsPred(instruction.shape().element_type());
  // The divisor, the shift or the mask.
  const std::optional<int64_t> constant = ConstantIn(y);
  const int64_t c = constant.value_or(-1);
  const bool is_shift = c >= 0 && c <= 62;
  switch (instruction.opcode()) {
    case HloOpcode::kConvert:
      return x;
    case HloOpcode::kNegate:
      return Scale(x, -1);
    case HloOpcode::kAdd:
      return is_logical ? AffineExpr() : Add(x, y);
    case HloOpcode::kSubtract:
      return is_logical ? AffineExpr() : Sub(x, y);
    case HloOpcode::kMultiply: {
      if (constant) return Scale(x, *constant);
      const std::optional<int64_t> factor = ConstantIn(x);
      return factor ? Scale(y, *factor) : AffineExpr();
    }
    case HloOpcode::kShiftLeft:
      return is_shift ? Scale(x, int64_t{1} << c) : AffineExpr();
    case HloOpcode::kShiftRightArithmetic:
    case HloOpcode::kShiftRightLogical:
      return x_is_not_negative && is_shift ? FloorDiv(x, int64_t{1} << c) : AffineExpr();
    case HloOpcode::kAnd: {
      const bool is_mask = c >= 0 && c < kInt64Max && (c & (c + 1)) == 0;
      return x_is_not_negative && is_mask ? Mod(x, c + 1) : AffineExpr();
    }
    case HloOpcode::kNot:
      return is_logical ? Sub(Constant(1, x.getContext()), x) : AffineExpr();
    default:
      return {};
  }
}

}  // namespace

std::optional<ValueCases> ClampValue(AffineExpr lower, AffineExpr value, AffineExpr upper,
                                     const Constraints& when, const ValueVariables& variables) {
  const std::optional<ValueCases> at_least =
      variables.Split(Sub(lower, value), 0, value, lower, when);
  if (!at_least) return std::nullopt;
  ValueCases cases;
  for (const ValueCase& part : *at_least) {
    const std::optional<ValueCases> at_most =
        variables.Split(Sub(part.value, upper), 0, part.value, upper, part.when);
    if (!at_most) return std::nullopt;
    llvm::append_range(cases, *at_most);
  }
  return cases;
}

std::optional<ValueCases> ApplyToIntegers(const HloInstruction& instruction,
                                          llvm::ArrayRef<AffineExpr> values,
                                          const Constraints& when,
                                          const ValueVariables& variables) {
  const ElementType type = instruction.shape().element_type();
  AffineExpr x = values[0];
  AffineExpr y = values.size() > 1 ? values[1] : AffineExpr();
  const bool is_not_negative = variables.RangeOf(x, when).IsSubsetOf(Interval::AtLeast(0));
  switch (instruction.opcode()) {
    case HloOpcode::kCompare:
      return CompareIntegers(instruction, Sub(x, y), when, variables);
    case HloOpcode::kAbs:
      // The least value of a signed type has no absolute value in it.
      if (!is_not_negative && !variables.Fitting(Scale(x, -1), type, when)) return std::nullopt;
      return variables.Split(x, -1, Scale(x, -1), x, when);
    case HloOpcode::kOr:
      if (!IsPred(type)) return std::nullopt;
      [[fallthrough]];
    case HloOpcode::kMaximum:
      return variables.Split(Sub(x, y), 0, y, x, when);
    case HloOpcode::kSign: {
      const std::optional<ValueCases> parts = variables.Split(
          x, -1, Constant(-1, variables.context()), Constant(1, variables.context()), when);
      if (!parts) return std::nullopt;
      ValueCases cases;
      for (const ValueCase& part : *parts) {
        std::optional<ValueCases> result = ValueCases{part};
        if (part.value == Constant(1, variables.context())) {
          result = variables.Split(x, 0, Constant(0, variables.context()), part.value, part.when);
        }
        if (!result) return std::nullopt;
        llvm::append_range(cases, *result);
      }
      return cases;
    }
    case HloOpcode::kDivide:
    case HloOpcode::kRemainder:
      return DivideIntegers(instruction, x, y, when, variables);
    case HloOpcode::kMinimum:
      return variables.Split(Sub(x, y), 0, x, y, when);
    case HloOpcode::kClamp:
      return ClampValue(x, y, values[2], when, variables);
    case HloOpcode::kAnd:
      if (IsPred(type)) return variables.Split(Sub(x, y), 0, x, y, when);
      [[fallthrough]];
    default:
      return variables.Wrapping(AffineValue(instruction, x, is_not_negative, y), type, when);
  }
}

}  // namespace xla_indexing::internal

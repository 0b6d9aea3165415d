#include "xla_indexing/ops/values/cases/sure_values.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/values/cases/float_values.h"
#include "xla_indexing/ops/values/cases/numbers.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::APFloat;

enum class SureNumber : uint8_t { kNothing, kZero, kInfinity, kMinusInfinity };

SureNumber ClassOf(const APFloat& value) {
  if (value.isZero()) return SureNumber::kZero;
  if (!IsInfinite(value)) return SureNumber::kNothing;
  return value.isNegative() ? SureNumber::kMinusInfinity : SureNumber::kInfinity;
}

SureNumber ClassOf(const ValueCase& value, const ValueVariables& variables) {
  if (!value.value) return SureNumber::kNothing;
  if (value.floats == nullptr) return SureNumber::kNothing;
  const Interval keys = variables.RangeOf(value.value, value.when).Intersect(value.floats->Keys());
  if (keys.IsEmpty()) return SureNumber::kNothing;
  const SureNumber first = ClassOf(value.floats->At(keys.lower()));
  for (int64_t key = keys.lower(); key <= keys.upper(); ++key) {
    if (ClassOf(value.floats->At(key)) != first) return SureNumber::kNothing;
  }
  return first;
}

// The integer that decides the result of an operation, which is then the same; nothing if there is none.
std::optional<int64_t> DecisiveInteger(HloOpcode opcode, ElementType type) {
  const Interval values = ValuesOfElementType(type);
  const auto greatest = values.has_upper() ? std::optional(values.upper()) : std::nullopt;
  switch (opcode) {
    case HloOpcode::kAnd:
    case HloOpcode::kMultiply:
      return 0;
    case HloOpcode::kOr:
      return IsSignedIntegral(type) ? -1 : greatest;
    case HloOpcode::kMaximum:
      return greatest;
    case HloOpcode::kMinimum:
      return values.has_lower() ? std::optional(values.lower()) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// The class of a float; kNothing if it is not sure.
SureNumber SureFloat(HloOpcode opcode, llvm::ArrayRef<SureNumber> operands) {
  const auto has = [&](SureNumber number) { return llvm::is_contained(operands, number); };
  // Two infinite operands are left to arithmetic.
  const auto is_infinite = [](SureNumber number) {
    return number == SureNumber::kInfinity || number == SureNumber::kMinusInfinity;
  };
  const auto negated = [](SureNumber number) {
    return number == SureNumber::kInfinity ? SureNumber::kMinusInfinity : SureNumber::kInfinity;
  };
  const SureNumber first = operands[0];
  const SureNumber second = operands.size() > 1 ? operands[1] : SureNumber::kNothing;
  switch (opcode) {
    case HloOpcode::kMultiply:
      return has(SureNumber::kZero) ? SureNumber::kZero : SureNumber::kNothing;
    case HloOpcode::kAdd:
      return is_infinite(first) ? first : is_infinite(second) ? second : SureNumber::kNothing;
    case HloOpcode::kSubtract:
      return is_infinite(first)    ? first
             : is_infinite(second) ? negated(second)
                                   : SureNumber::kNothing;
    case HloOpcode::kDivide:
      return first == SureNumber::kZero || is_infinite(second) ? SureNumber::kZero
                                                               : SureNumber::kNothing;
    case HloOpcode::kMaximum:
      return has(SureNumber::kInfinity) ? SureNumber::kInfinity : SureNumber::kNothing;
    case HloOpcode::kMinimum:
      return has(SureNumber::kMinusInfinity) ? SureNumber::kMinusInfinity : SureNumber::kNothing;
    case HloOpcode::kExponential:
      return first == SureNumber::kMinusInfinity ? SureNumber::kZero : SureNumber::kNothing;
    default:
      return SureNumber::kNothing;
  }
}

const llvm::fltSemantics& SemanticsOfFloat(ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return APFloat::IEEEhalf();
    case ElementType::kBF16:
      return APFloat::BFloat();
    case ElementType::kF64:
      return APFloat::IEEEdouble();
    default:
      return APFloat::IEEEsingle();
  }
}

}  // namespace

bool IsInfinite(const APFloat& value) {
  if (value.isNaN()) return false;
  bool loses = false;
  APFloat size = value;
  size.convert(APFloat::IEEEdouble(), APFloat::rmTowardZero, &loses);
  size.clearSign();
  return size.convertToDouble() >= kInfinite;
}

std::optional<ValueCases> SureValue(const HloInstruction& instruction,
                                    llvm::ArrayRef<ValueCase> values, const Constraints& when,
                                    bool finite, const ValueVariables& variables) {
  const ElementType type = instruction.shape().element_type();
  if (!HoldsIntegers(type) && !HoldsFloats(type)) return std::nullopt;
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kClamp && (HoldsIntegers(type) || finite) &&
      IsAtLeast(values[0], values[2], when, variables)) {
    return ValueCases{{when, values[2].value, values[2].floats}};
  }
  if (HoldsIntegers(type)) {
    const std::optional<int64_t> decisive = DecisiveInteger(opcode, type);
    for (const auto [operand, value] : llvm::zip_equal(instruction.operands(), values)) {
      if (decisive && operand->shape().element_type() == type &&
          ConstantIn(value.value) == decisive) {
        return ValueCases{{when, value.value}};
      }
    }
    return std::nullopt;
  }
  if (!finite) return std::nullopt;
  // Where all operands are known there is arithmetic, but for that of functions.
  const bool has_unknown =
      llvm::any_of(values, [](const ValueCase& v) { return v.floats == nullptr; });
  if (!has_unknown && opcode != HloOpcode::kExponential) return std::nullopt;
  llvm::SmallVector<SureNumber, 3> operands;
  for (const auto [operand, value] : llvm::zip_equal(instruction.operands(), values)) {
    if (operand->shape().element_type() != type) return std::nullopt;
    ValueCase there = value;
    there.when = when;
    operands.push_back(ClassOf(there, variables));
  }
  const SureNumber result = SureFloat(opcode, operands);
  if (result == SureNumber::kNothing) return std::nullopt;
  const mlir::AffineExpr zero = Constant(0, variables.context());
  const llvm::fltSemantics& semantics = SemanticsOfFloat(type);
  const APFloat number = result == SureNumber::kZero
                             ? APFloat::getZero(semantics)
                             : APFloat::getInf(semantics, result == SureNumber::kMinusInfinity);
  return ValueCases{{when, zero, std::make_shared<const FloatTable>(FloatTable{0, {number}})}};
}

namespace {

ValueCases SplitIntegers(const ValueCase& value, int64_t at, const ValueVariables& variables) {
  const Interval range = variables.RangeOf(value.value, value.when);
  if (!range.Contains(at) || variables.HasUnknown(value.value)) return {value};
  ValueCases parts;
  const auto add = [&](const Interval& interval, mlir::AffineExpr is) {
    const Interval part = range.Intersect(interval);
    if (part.IsEmpty()) return;
    parts.push_back({value.when, is});
    if (!range.IsSubsetOf(part)) parts.back().when.push_back({value.value, part});
  };
  add(Interval::AtMost(at).Sub(1), value.value);
  add(Interval::Point(at), Constant(at, variables.context()));
  add(Interval::AtLeast(at).Add(1), value.value);
  return parts;
}

std::optional<ValueCases> SplitFloats(const ValueCase& value, const ValueVariables& variables) {
  constexpr size_t kMaxParts = 16;
  if (value.floats == nullptr) return ValueCases{value};
  const Interval keys = variables.RangeOf(value.value, value.when).Intersect(value.floats->Keys());
  if (keys.IsEmpty() || keys.IsPoint()) return ValueCases{value};
  ValueCases parts;
  for (int64_t first = keys.lower(); first <= keys.upper();) {
    const SureNumber number = ClassOf(value.floats->At(first));
    int64_t last = first;
    while (last < keys.upper() && ClassOf(value.floats->At(last + 1)) == number) ++last;
    if (first == keys.lower() && last == keys.upper()) return ValueCases{value};
    if (parts.size() == kMaxParts) return std::nullopt;
    parts.push_back(value);
    parts.back().when.push_back({value.value, Interval::Closed(first, last)});
    first = last + 1;
  }
  return parts;
}

}  // namespace

std::optional<ValueCases> SplitWhereSure(HloOpcode opcode, ElementType type, const ValueCase& value,
                                         bool finite, const ValueVariables& variables) {
  if (!value.value) return ValueCases{value};
  if (HoldsIntegers(type)) {
    const std::optional<int64_t> at = DecisiveInteger(opcode, type);
    return at ? SplitIntegers(value, *at, variables) : ValueCases{value};
  }
  if (!finite) return ValueCases{value};
  return SplitFloats(value, variables);
}

bool IsAtLeast(const ValueCase& a, const ValueCase& b, const Constraints& when,
               const ValueVariables& variables) {
  if (!a.value || !b.value || variables.HasUnknown(a.value) || variables.HasUnknown(b.value)) {
    return false;
  }
  if ((a.floats == nullptr) != (b.floats == nullptr)) return false;
  if (a.floats == nullptr) {
    return variables.RangeOf(Sub(a.value, b.value), when).IsSubsetOf(Interval::AtLeast(0));
  }
  const Interval keys_of_a = variables.RangeOf(a.value, when).Intersect(a.floats->Keys());
  const Interval keys_of_b = variables.RangeOf(b.value, when).Intersect(b.floats->Keys());
  if (keys_of_a.IsEmpty() || keys_of_b.IsEmpty()) return false;
  const auto is_least = [&](const APFloat& bound) {
    for (int64_t key = keys_of_b.lower(); key <= keys_of_b.upper(); ++key) {
      const APFloat::cmpResult order = bound.compare(b.floats->At(key));
      if (order != APFloat::cmpGreaterThan && order != APFloat::cmpEqual) return false;
    }
    return true;
  };
  for (int64_t key = keys_of_a.lower(); key <= keys_of_a.upper(); ++key) {
    if (!is_least(a.floats->At(key))) return false;
  }
  return true;
}

Answer AreSame(const ValueCase& a, const ValueCase& b, const Constraints& when, bool finite,
               const ValueVariables& variables) {
  if (!a.value || !b.value || variables.HasUnknown(a.value) || variables.HasUnknown(b.value) ||
      (a.floats == nullptr) != (b.floats == nullptr)) {
    return Answer::kNo;
  }
  if (a.value == b.value && a.floats == b.floats) return Answer::kYes;
  if (a.floats == nullptr) {
    const Interval difference = variables.RangeOf(Sub(a.value, b.value), when);
    if (difference == Interval::Point(0)) return Answer::kYes;
    return difference.Contains(0) ? Answer::kUndecided : Answer::kNo;
  }
  const auto class_of = [&](const ValueCase& value) {
    return ClassOf({when, value.value, value.floats}, variables);
  };
  if (finite && class_of(a) != SureNumber::kNothing && class_of(a) == class_of(b)) {
    return Answer::kYes;
  }
  const std::optional<int64_t> key_of_a = ConstantIn(a.value);
  const std::optional<int64_t> key_of_b = ConstantIn(b.value);
  if (!key_of_a || !key_of_b) return Answer::kUndecided;
  return a.floats->At(*key_of_a).bitwiseIsEqual(b.floats->At(*key_of_b)) ? Answer::kYes
                                                                         : Answer::kNo;
}

bool IsSurelyZero(const ValueCase& value, const ValueVariables& variables) {
  if (value.floats == nullptr) return ConstantIn(value.value) == 0;
  return ClassOf(value, variables) == SureNumber::kZero;
}

}  // namespace xla_indexing::internal

// The values of elementwise operations (ops/values/element_value.h), of which some may not be known.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/values/cases/float_values.h"
#include "xla_indexing/ops/values/cases/integer_values.h"
#include "xla_indexing/ops/values/cases/numbers.h"
#include "xla_indexing/ops/values/cases/sure_values.h"
#include "xla_indexing/ops/values/cases/value_cases.h"
#include "xla_indexing/ops/values/element_value.h"
#include "xla_indexing/ops/values/leaf_routes.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// An elementwise operation on values that are known.
std::optional<ValueCases> ApplyTo(const HloInstruction& instruction,
                                  llvm::ArrayRef<ValueCase> values, const Constraints& when,
                                  const ValueVariables& variables) {
  const auto is_float = [](const HloInstruction* value) {
    return HoldsFloats(value->shape().element_type());
  };
  if (is_float(&instruction) || llvm::any_of(instruction.operands(), is_float)) {
    return ApplyToFloats(instruction, values, when, variables);
  }
  llvm::SmallVector<AffineExpr, 3> integers;
  for (const ValueCase& value : values) integers.push_back(value.value);
  return ApplyToIntegers(instruction, integers, when, variables);
}

}  // namespace

std::optional<std::vector<ElementEvaluator::OperandValues>> ElementEvaluator::OperandsOf(
    const Element& element, const Constraints& when, int64_t without) {
  std::vector<OperandValues> all = {{when, {}}};
  for (const auto [number, operand] : llvm::enumerate(element.instruction->operands())) {
    if (!operand->shape().IsArray()) return std::nullopt;
    const ElementType type = operand->shape().element_type();
    if (!HoldsIntegers(type) && !HoldsFloats(type)) return std::nullopt;
    const Element source = element.OfOperand(static_cast<int64_t>(number));
    std::vector<OperandValues> extended;
    for (const OperandValues& before : all) {
      for (ValueCase& value_case : static_cast<int64_t>(number) == without
                                       ? Unknown(source, before.when)
                                       : OperandCases(*element.instruction, source, before.when)) {
        if (!value_case.value || RangeOf(value_case.value, value_case.when).IsEmpty()) continue;
        const bool is_unknown_float = HoldsFloats(type) && value_case.floats == nullptr;
        if (is_unknown_float && !KeepsPartialValues()) return std::nullopt;
        extended.push_back({std::move(value_case.when), before.values});
        extended.back().values.push_back(std::move(value_case));
      }
    }
    all = std::move(extended);
    if (all.size() > kMaxValueCases) return std::nullopt;
  }
  return all;
}

std::optional<ValueCases> ElementEvaluator::FollowArithmetic(const Element& element,
                                                             const Constraints& when,
                                                             Interval* range, int64_t without) {
  const std::optional<std::vector<OperandValues>> operands = OperandsOf(element, when, without);
  if (!operands) return std::nullopt;
  const bool is_partial = KeepsPartialValues();
  const auto is_float = [](const HloInstruction* value) {
    return HoldsFloats(value->shape().element_type());
  };
  const bool has_floats =
      HoldsFloats(element.type()) || llvm::any_of(element.instruction->operands(), is_float);
  const HloInstruction& instruction = *element.instruction;
  // What each of the cases may be, for where they cannot be followed together.
  const auto range_of_all = [&] {
    Interval all = Interval::Empty();
    for (const OperandValues& partial : *operands) {
      llvm::SmallVector<Interval, 3> ranges;
      for (const ValueCase& value : partial.values) {
        ranges.push_back(RangeOf(value.value, partial.when));
      }
      // Where two conditions never hold together there is nothing.
      if (!llvm::is_contained(ranges, Interval::Empty())) {
        all = all.Union(RangeOfIntegers(instruction, ranges));
      }
    }
    return all;
  };
  ValueCases cases;
  for (const OperandValues& partial : *operands) {
    std::optional<ValueCases> result =
        is_partial ? ApplyToPartial(element, partial.values, partial.when)
                   : ApplyTo(instruction, partial.values, partial.when, variables_);
    if (!result && !has_floats && range != nullptr) *range = range_of_all();
    if (!result) return std::nullopt;
    cases.insert(cases.end(), result->begin(), result->end());
  }
  return MergeCases(std::move(cases));
}

ValueCases ElementEvaluator::OperandCases(const HloInstruction& instruction, const Element& source,
                                          const Constraints& when) {
  ValueCases cases = EvaluateWhere(source, when);
  if (!KeepsPartialValues()) return cases;
  return SplitCases(instruction.opcode(), source, std::move(cases));
}

ValueCases ElementEvaluator::SplitCases(HloOpcode opcode, const Element& operand,
                                        ValueCases cases) {
  const bool is_finite = environment_.dependence() == Dependence::kFiniteValues;
  ValueCases parts;
  for (const ValueCase& each : cases) {
    const std::optional<ValueCases> split =
        SplitWhereSure(opcode, operand.type(), each, is_finite, variables_);
    if (!split || parts.size() + split->size() > kMaxValueCases) {
      SetMissed(*operand.instruction);
      return cases;
    }
    llvm::append_range(parts, *split);
  }
  return parts;
}

ValueCases ElementEvaluator::EvaluateFactor(const RuntimeVarIndexing& factor,
                                            const Constraints& when) {
  Element element = ElementOf(factor);
  element.is_factor = true;
  return SplitCases(HloOpcode::kMultiply, element, EvaluateWhere(element, when));
}

bool ElementEvaluator::IsFinite(const Element& element, const Constraints& when) {
  const PlacedValue source =
      Followed({{element.instruction, element.leaf}, {element.path.begin(), element.path.end()}});
  if (!environment_.MayBeMadeOfInfinite(*source.source.instruction)) return true;
  return llvm::all_of(EvaluateWhere(element, when), [&](const ValueCase& number) {
    return number.floats != nullptr && llvm::none_of(number.floats->values, IsInfinite);
  });
}

// For numbers that are finite, and not rounded to 0:
//
//   sine, sinh, tan, tanh, erf, sqrt, cbrt, exponential-minus-one, log-plus-one,
//   negate, abs                    0 exactly where the operand is
//   divide                         0 exactly where the dividend is
//   multiply                       0 exactly where one of the factors is
//   cosine, cosh, rsqrt, exponential, power of what is nowhere 0     nowhere 0
std::optional<ValueCases> ElementEvaluator::FollowFactor(const Element& element,
                                                         const Constraints& when) {
  const HloInstruction& instruction = *element.instruction;
  if (environment_.dependence() != Dependence::kFiniteValues || !HoldsFloats(element.type())) {
    return std::nullopt;
  }
  const auto operand = [&](int64_t i, bool is_factor) {
    Element source = element.OfOperand(i);
    source.is_factor = is_factor;
    return source;
  };
  const auto split = [&](int64_t i, const Constraints& where) {
    const Element factor = operand(i, /*is_factor=*/true);
    return SplitCases(HloOpcode::kMultiply, factor, EvaluateWhere(factor, where));
  };
  const auto is_finite = [&](int64_t i) { return IsFinite(operand(i, /*is_factor=*/false), when); };
  const auto is_known = [&](const ValueCase& value) {
    return value.floats != nullptr && !HasUnknown(value.value);
  };
  if (operand(0, /*is_factor=*/true).type() != element.type()) return std::nullopt;
  switch (instruction.opcode()) {
    case HloOpcode::kSine:
    case HloOpcode::kSinh:
    case HloOpcode::kTan:
    case HloOpcode::kTanh:
    case HloOpcode::kErf:
    case HloOpcode::kSqrt:
    case HloOpcode::kCbrt:
    case HloOpcode::kExponentialMinusOne:
    case HloOpcode::kLogPlusOne:
    case HloOpcode::kNegate:
    case HloOpcode::kAbs:
      return EvaluateWhere(operand(0, /*is_factor=*/true), when);
    case HloOpcode::kDivide:
      if (!is_finite(1)) return std::nullopt;
      return EvaluateWhere(operand(0, /*is_factor=*/true), when);
    case HloOpcode::kMultiply: {
      ValueCases cases;
      for (const ValueCase& a : split(0, when)) {
        if (IsZero(a)) {
          cases.push_back(a);
          continue;
        }
        for (ValueCase& b : split(1, a.when)) {
          const bool is_open = !is_known(a) && !IsZero(b);
          cases.push_back(is_open ? ValueCase{std::move(b.when), a.value, a.floats} : std::move(b));
        }
        if (cases.size() > kMaxValueCases) return std::nullopt;
      }
      return cases;
    }
    case HloOpcode::kCosine:
    case HloOpcode::kCosh:
      break;
    case HloOpcode::kRsqrt:
    case HloOpcode::kExponential:
      if (!is_finite(0)) return std::nullopt;
      break;
    case HloOpcode::kPower:
      if (!is_finite(0) || !is_finite(1) ||
          !llvm::all_of(split(0, when),
                        [&](const ValueCase& base) { return is_known(base) && !IsZero(base); })) {
        return std::nullopt;
      }
      break;
    default:
      return std::nullopt;
  }
  return FloatOfInteger(Constant(1, context()), element.type(), when, variables_);
}

bool ElementEvaluator::MayMeetBounds(const Element& element, llvm::ArrayRef<ValueCase> values,
                                     const Constraints& when) {
  const HloOpcode opcode = element.instruction->opcode();
  if (opcode != HloOpcode::kMinimum && opcode != HloOpcode::kMaximum) return false;
  const bool is_least = opcode == HloOpcode::kMinimum;
  const auto is_known = [&](const ValueCase& value, ElementType type) {
    return value.value && !HasUnknown(value.value) && (!HoldsFloats(type) || value.floats);
  };
  for (const int64_t i : {0, 1}) {
    const HloInstruction* inner = element.instruction->operand(i);
    const ValueCase& bound = values[1 - i];
    if (inner->opcode() != (is_least ? HloOpcode::kMaximum : HloOpcode::kMinimum) ||
        is_known(values[i], element.type()) || !is_known(bound, element.type())) {
      continue;
    }
    for (const HloInstruction* operand : inner->operands()) {
      for (const ValueCase& other : EvaluateWhere(element.Of(operand, 0, element.index), when)) {
        if (!is_known(other, element.type())) continue;
        if (IsAtLeast(is_least ? other : bound, is_least ? bound : other, other.when, variables_) ||
            !ConstantIn(other.value) || !ConstantIn(bound.value)) {
          return true;
        }
      }
    }
  }
  return false;
}

ValueCases ElementEvaluator::ApplyToPartial(const Element& element,
                                            llvm::ArrayRef<ValueCase> values,
                                            const Constraints& when) {
  const HloInstruction& instruction = *element.instruction;
  const bool is_finite = environment_.dependence() == Dependence::kFiniteValues;
  if (instruction.opcode() == HloOpcode::kSelect) {
    const Answer are_same = AreSame(values[1], values[2], when, is_finite, variables_);
    if (are_same == Answer::kYes) return {{when, values[1].value, values[1].floats}};
    if (are_same == Answer::kUndecided) SetMissed(instruction);
    return Unknown(element, when);
  }
  const Missed before = missed_;
  const bool may_meet = MayMeetBounds(element, values, when);
  missed_ = before;
  if (may_meet) SetMissed(instruction);
  std::optional<ValueCases> result = SureValue(instruction, values, when, is_finite, variables_);
  if (result) return *std::move(result);
  const bool has_unknown_float =
      llvm::any_of(llvm::zip_equal(instruction.operands(), values), [](const auto& each) {
        const auto& [operand, value] = each;
        return HoldsFloats(operand->shape().element_type()) && value.floats == nullptr;
      });
  if (!has_unknown_float) {
    result = ApplyTo(instruction, values, when, variables_);
    if (result) return *std::move(result);
  }
  // The result of operands that are all known could have been found. Cases are distinguished by integers: a float
  // that is made of an unknown one is as unknown as data.
  const bool is_float = HoldsFloats(element.type());
  const bool has_unknown = llvm::any_of(values, [&](const ValueCase& value) {
    return value.floats == nullptr && HasUnknown(value.value) &&
           (is_float || !MayTellApart(value.value));
  });
  if (!has_unknown) {
    if (auto listed = FollowArray(element, when)) return *std::move(listed);
    // A scalar that is made of unknown ones tells cases apart as they do.
    const bool is_unknown_scalar =
        element.IsScalar() && (is_float || llvm::any_of(values, [&](const ValueCase& value) {
                                 return HasUnknown(value.value);
                               }));
    if (!is_unknown_scalar) SetMissed(instruction);
  }
  return Unknown(element, when);
}

}  // namespace xla_indexing::internal

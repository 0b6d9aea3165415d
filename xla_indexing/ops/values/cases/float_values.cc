#include "xla_indexing/ops/values/cases/float_values.h"

#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/string_view.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/ops/values/cases/listed_values.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::APFloat;
using ::mlir::AffineExpr;

// A float, or an integer or predicate.
using Number = std::variant<APFloat, int64_t>;

const llvm::fltSemantics* SemanticsOf(ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return &APFloat::IEEEhalf();
    case ElementType::kBF16:
      return &APFloat::BFloat();
    case ElementType::kF32:
      return &APFloat::IEEEsingle();
    case ElementType::kF64:
      return &APFloat::IEEEdouble();
    default:
      return nullptr;
  }
}

APFloat FloatOf(int64_t value, ElementType type) {
  APFloat result(*SemanticsOf(type));
  result.convertFromAPInt(llvm::APInt(64, static_cast<uint64_t>(value)), /*IsSigned=*/true,
                          APFloat::rmNearestTiesToEven);
  return result;
}

// What a number is in another type.
std::optional<Number> ConvertNumber(const Number& number, ElementType type) {
  if (const auto* integer = std::get_if<int64_t>(&number)) return FloatOf(*integer, type);
  APFloat value = std::get<APFloat>(number);
  if (HoldsFloats(type)) {
    bool loses = false;
    value.convert(*SemanticsOf(type), APFloat::rmNearestTiesToEven, &loses);
    return value;
  }
  if (IsPred(type)) return int64_t{value.isZero() ? 0 : 1};
  llvm::APSInt integer(static_cast<unsigned>(BitWidth(type)), IsUnsignedIntegral(type));
  bool is_exact = false;
  if (value.convertToInteger(integer, APFloat::rmTowardZero, &is_exact) & APFloat::opInvalidOp) {
    return std::nullopt;
  }
  // Values of u64 from 2^63 on are not told apart.
  if (!integer.isRepresentableByInt64()) return std::nullopt;
  return integer.getExtValue();
}

std::optional<Number> CompareFloats(const APFloat& a, const APFloat& b,
                                    absl::string_view direction) {
  const APFloat::cmpResult order = a.compare(b);
  const bool less = order == APFloat::cmpLessThan;
  const bool equal = order == APFloat::cmpEqual;
  const bool greater = order == APFloat::cmpGreaterThan;
  if (direction == "LT") return int64_t{less};
  if (direction == "LE") return int64_t{less || equal};
  if (direction == "GT") return int64_t{greater};
  if (direction == "GE") return int64_t{greater || equal};
  if (direction == "EQ") return int64_t{equal};
  if (direction == "NE") return int64_t{!equal};
  return std::nullopt;
}

APFloat Rounded(APFloat value, APFloat::roundingMode mode) {
  value.roundToIntegral(mode);
  return value;
}

// The operation on floats of one type, or a conversion.
std::optional<Number> ApplyToNumbers(const HloInstruction& instruction,
                                     llvm::ArrayRef<Number> numbers) {
  if (instruction.opcode() == HloOpcode::kConvert) {
    return ConvertNumber(numbers[0], instruction.shape().element_type());
  }
  llvm::SmallVector<APFloat, 3> values;
  for (const Number& number : numbers) {
    const auto* value = std::get_if<APFloat>(&number);
    if (value == nullptr) return std::nullopt;
    values.push_back(*value);
  }
  constexpr APFloat::roundingMode kNearest = APFloat::rmNearestTiesToEven;
  APFloat x = values[0];
  switch (instruction.opcode()) {
    case HloOpcode::kAbs:
      x.clearSign();
      return x;
    case HloOpcode::kAdd:
      x.add(values[1], kNearest);
      return x;
    case HloOpcode::kCeil:
      return Rounded(x, APFloat::rmTowardPositive);
    case HloOpcode::kClamp:
      return llvm::minimum(llvm::maximum(x, values[1]), values[2]);
    case HloOpcode::kCompare:
      return CompareFloats(x, values[1], instruction.comparison_direction());
    case HloOpcode::kDivide:
      x.divide(values[1], kNearest);
      return x;
    case HloOpcode::kFloor:
      return Rounded(x, APFloat::rmTowardNegative);
    case HloOpcode::kIsFinite:
      return int64_t{x.isFinite()};
    case HloOpcode::kMaximum:
      return llvm::maximum(x, values[1]);
    case HloOpcode::kMinimum:
      return llvm::minimum(x, values[1]);
    case HloOpcode::kMultiply:
      x.multiply(values[1], kNearest);
      return x;
    case HloOpcode::kNegate:
      x.changeSign();
      return x;
    case HloOpcode::kRemainder:
      x.mod(values[1]);
      return x;
    case HloOpcode::kRoundNearestAfz:
      return Rounded(x, APFloat::rmNearestTiesToAway);
    case HloOpcode::kRoundNearestEven:
      return Rounded(x, kNearest);
    case HloOpcode::kSign: {
      if (x.isNaN() || x.isZero()) return x;
      APFloat one = FloatOf(x.isNegative() ? -1 : 1, instruction.shape().element_type());
      return one;
    }
    case HloOpcode::kSubtract:
      x.subtract(values[1], kNearest);
      return x;
    default:
      return std::nullopt;
  }
}

std::optional<ValueCases> OfTable(std::vector<APFloat> values, int64_t first, AffineExpr key,
                                  const Constraints& when) {
  if (!key || llvm::any_of(values, [](const APFloat& value) { return value.isDenormal(); })) {
    return std::nullopt;
  }
  return ValueCases{
      {when, key, std::make_shared<const FloatTable>(FloatTable{first, std::move(values)})}};
}

// The keys of several operands as one key: what differs among them are its digits.
class JointKey {
 public:
  // False where there are too many keys.
  bool AddOperands(llvm::ArrayRef<ValueCase> values, const Constraints& when,
                   const ValueVariables& variables) {
    for (const ValueCase& value : values) {
      const Interval range = variables.RangeOf(value.value, when);
      if (!range.IsFinite() || range.IsEmpty()) return false;
      if (value.floats != nullptr && !range.IsSubsetOf(value.floats->Keys())) return false;
      operands_.push_back(OperandOf(value.value, range, when, variables));
    }
    count_ = 1;
    for (const Digit& digit : llvm::reverse(digits_)) {
      const Int128 size = Int128{digit.range.upper()} - digit.range.lower() + 1;
      if (size < 1 || size > kMaxFloats / count_) return false;
      count_ *= static_cast<int64_t>(size);
    }
    return true;
  }

  int64_t count() const { return count_; }

  // The key, which is in [0, count() - 1].
  AffineExpr Key(mlir::MLIRContext* context) const {
    AffineExpr key = Constant(0, context);
    for (const Digit& digit : digits_) {
      key = Add(Scale(key, SizeOf(digit)), Sub(digit.expr, Constant(digit.range.lower(), context)));
    }
    return key;
  }

  // The keys of the operands where the joint one is `key`.
  llvm::SmallVector<int64_t, 3> OperandsAt(int64_t key) const {
    llvm::SmallVector<int64_t, 3> digits(digits_.size());
    for (size_t i = digits_.size(); i-- > 0;) {
      digits[i] = digits_[i].range.lower() + key % SizeOf(digits_[i]);
      key /= SizeOf(digits_[i]);
    }
    llvm::SmallVector<int64_t, 3> keys;
    for (const Operand& operand : operands_) {
      keys.push_back(operand.offset + (operand.digit ? digits[*operand.digit] : 0));
    }
    return keys;
  }

 private:
  struct Digit {
    AffineExpr expr;
    Interval range;
  };
  // The sum of a digit, where there is one, and a constant.
  struct Operand {
    std::optional<size_t> digit;
    int64_t offset;
  };

  static int64_t SizeOf(const Digit& digit) {
    return digit.range.upper() - digit.range.lower() + 1;
  }

  Operand OperandOf(AffineExpr expr, const Interval& range, const Constraints& when,
                    const ValueVariables& variables) {
    if (range.IsPoint()) return {std::nullopt, range.lower()};
    for (size_t i = 0; i < digits_.size(); ++i) {
      const Interval distance = variables.RangeOf(Sub(expr, digits_[i].expr), when);
      if (!distance.IsPoint()) continue;
      // Both ranges hold.
      digits_[i].range = digits_[i].range.Intersect(range.Sub(distance.lower()));
      return {i, distance.lower()};
    }
    digits_.push_back({expr, range});
    return {digits_.size() - 1, 0};
  }

  llvm::SmallVector<Digit, 2> digits_;
  llvm::SmallVector<Operand, 3> operands_;
  int64_t count_ = 1;
};

}  // namespace

bool HoldsFloats(ElementType type) {
  return !IsOff(Engine::kFloatTables) && SemanticsOf(type) != nullptr;
}

APFloat FloatAt(const Literal& literal, int64_t position) {
  const ElementType type = literal.shape().element_type();
  const llvm::APInt bits(static_cast<unsigned>(BitWidth(type)), literal.BitsAt(position));
  return {*SemanticsOf(type), bits};
}

std::optional<ValueCases> FloatOfInteger(AffineExpr value, ElementType type,
                                         const Constraints& when, const ValueVariables& variables) {
  const Interval range = variables.RangeOf(value, when);
  if (!value || !range.IsFinite() || range.IsEmpty() ||
      Int128{range.upper()} - range.lower() >= kMaxFloats) {
    return std::nullopt;
  }
  std::vector<APFloat> values;
  for (int64_t i = 0; i <= range.upper() - range.lower(); ++i) {
    values.push_back(FloatOf(range.lower() + i, type));
  }
  return OfTable(std::move(values), range.lower(), value, when);
}

std::optional<ValueCases> FloatOfLiteral(const Literal& literal, AffineExpr position,
                                         const Constraints& when, const ValueVariables& variables) {
  const Interval range =
      variables.RangeOf(position, when).Intersect(Interval::OfSize(literal.ElementCount()));
  if (!position || range.IsEmpty() || range.upper() - range.lower() >= kMaxFloats) {
    return std::nullopt;
  }
  std::vector<APFloat> values;
  for (int64_t i = range.lower(); i <= range.upper(); ++i) {
    values.push_back(FloatAt(literal, i));
  }
  return OfTable(std::move(values), range.lower(), position, when);
}

std::optional<ValueCases> ApplyToFloats(const HloInstruction& instruction,
                                        llvm::ArrayRef<ValueCase> values, const Constraints& when,
                                        const ValueVariables& variables) {
  const ElementType type = instruction.shape().element_type();
  JointKey joint;
  if (!joint.AddOperands(values, when, variables)) return std::nullopt;
  std::vector<APFloat> floats;
  std::vector<int64_t> integers;
  for (int64_t key = 0; key < joint.count(); ++key) {
    llvm::SmallVector<Number, 3> numbers;
    for (const auto [value, own] : llvm::zip_equal(values, joint.OperandsAt(key))) {
      if (value.floats != nullptr) {
        numbers.emplace_back(value.floats->At(own));
      } else {
        numbers.emplace_back(own);
      }
    }
    std::optional<Number> result = ApplyToNumbers(instruction, numbers);
    if (!result || std::holds_alternative<APFloat>(*result) != HoldsFloats(type)) {
      return std::nullopt;
    }
    if (HoldsFloats(type)) {
      floats.push_back(std::get<APFloat>(*std::move(result)));
    } else {
      integers.push_back(std::get<int64_t>(*result));
    }
  }
  AffineExpr key = joint.Key(variables.context());
  if (HoldsFloats(type)) return OfTable(std::move(floats), 0, key, when);
  return ListedValue(integers, type, key, when, variables);
}

}  // namespace xla_indexing::internal

#include "xla_indexing/ops/values/cases/float_values.h"

#include <memory>
#include <utility>
#include <variant>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/ops/values/cases/listed_values.h"
#include "xla_indexing/ops/values/cases/numbers.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::APFloat;
using ::mlir::AffineExpr;

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

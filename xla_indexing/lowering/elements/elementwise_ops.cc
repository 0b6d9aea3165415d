#include "xla_indexing/lowering/elements/elementwise_ops.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/lowering/elements/element_types.h"

namespace xla_indexing::internal {
namespace {

using mlir::Value;
namespace arith = mlir::arith;
namespace math = mlir::math;
using Predicate = arith::CmpIPredicate;
using FloatPredicate = arith::CmpFPredicate;

// Makes operations at one place. Values of the operations of a class are null if it has none of an
// opcode.
class ElementEmitter {
 public:
  ElementEmitter(mlir::OpBuilder& builder, mlir::Location loc) : builder_(builder), loc_(loc) {}

  Value EmitUnary(HloOpcode opcode, ElementType type, Value a) {
    if (IsFloatingPoint(type)) return EmitFloatUnary(opcode, a);
    switch (opcode) {
      case HloOpcode::kAbs:
        return IsSignedIntegral(type) ? Make<math::AbsIOp>(a) : a;
      case HloOpcode::kCountLeadingZeros:
        return Make<math::CountLeadingZerosOp>(a);
      case HloOpcode::kNegate:
        return Make<arith::SubIOp>(Integer(a, 0), a);
      case HloOpcode::kNot:
        return Make<arith::XOrIOp>(a, Integer(a, -1));
      case HloOpcode::kPopcnt:
        return Make<math::CtPopOp>(a);
      case HloOpcode::kSign:
        return EmitIntegerSign(type, a);
      default:
        return nullptr;
    }
  }

  Value EmitBinary(HloOpcode opcode, ElementType type, Value a, Value b) {
    if (IsFloatingPoint(type)) return EmitFloatBinary(opcode, a, b);
    if (IsPred(type)) return EmitPredBinary(opcode, a, b);
    switch (opcode) {
      case HloOpcode::kAdd:
        return Make<arith::AddIOp>(a, b);
      case HloOpcode::kAnd:
        return Make<arith::AndIOp>(a, b);
      case HloOpcode::kDivide:
      case HloOpcode::kRemainder:
        return EmitDivision(opcode == HloOpcode::kDivide, IsSignedIntegral(type), a, b);
      case HloOpcode::kMaximum:
        return IsSignedIntegral(type) ? Make<arith::MaxSIOp>(a, b) : Make<arith::MaxUIOp>(a, b);
      case HloOpcode::kMinimum:
        return IsSignedIntegral(type) ? Make<arith::MinSIOp>(a, b) : Make<arith::MinUIOp>(a, b);
      case HloOpcode::kMultiply:
        return Make<arith::MulIOp>(a, b);
      case HloOpcode::kOr:
        return Make<arith::OrIOp>(a, b);
      case HloOpcode::kShiftLeft:
      case HloOpcode::kShiftRightArithmetic:
      case HloOpcode::kShiftRightLogical:
        return EmitShift(opcode, a, b);
      case HloOpcode::kSubtract:
        return Make<arith::SubIOp>(a, b);
      case HloOpcode::kXor:
        return Make<arith::XOrIOp>(a, b);
      default:
        return nullptr;
    }
  }

  // Null for a direction that is not known.
  Value EmitCompare(absl::string_view direction, ElementType type, Value a, Value b) {
    struct Row {
      absl::string_view direction;
      Predicate of_signed;
      Predicate of_unsigned;
      FloatPredicate of_floats;
    };
    static constexpr Row kRows[] = {{"EQ", Predicate::eq, Predicate::eq, FloatPredicate::OEQ},
                                    {"NE", Predicate::ne, Predicate::ne, FloatPredicate::UNE},
                                    {"LT", Predicate::slt, Predicate::ult, FloatPredicate::OLT},
                                    {"LE", Predicate::sle, Predicate::ule, FloatPredicate::OLE},
                                    {"GT", Predicate::sgt, Predicate::ugt, FloatPredicate::OGT},
                                    {"GE", Predicate::sge, Predicate::uge, FloatPredicate::OGE}};
    for (const Row& row : kRows) {
      if (row.direction != direction) continue;
      if (IsFloatingPoint(type)) return Make<arith::CmpFOp>(row.of_floats, a, b);
      return Make<arith::CmpIOp>(IsSignedIntegral(type) ? row.of_signed : row.of_unsigned, a, b);
    }
    return nullptr;
  }

  Value EmitConverted(Value value, ElementType from, ElementType to, mlir::Type to_type) {
    if (IsPred(to)) {
      if (!IsFloatingPoint(from)) {
        return IsPred(from) ? value : Make<arith::CmpIOp>(Predicate::ne, value, Integer(value, 0));
      }
      return Make<arith::CmpFOp>(FloatPredicate::UNE, value, Float(value, 0));
    }
    if (IsFloatingPoint(from)) {
      return IsFloatingPoint(to) ? EmitFloatToFloat(value, to_type)
                                 : EmitFloatToInteger(value, IsSignedIntegral(to), to_type);
    }
    if (IsFloatingPoint(to)) {
      return IsSignedIntegral(from) ? Make<arith::SIToFPOp>(to_type, value)
                                    : Make<arith::UIToFPOp>(to_type, value);
    }
    const unsigned width = to_type.getIntOrFloatBitWidth();
    const unsigned from_width = value.getType().getIntOrFloatBitWidth();
    if (width < from_width) return Make<arith::TruncIOp>(to_type, value);
    if (width == from_width) return value;
    return IsSignedIntegral(from) ? Make<arith::ExtSIOp>(to_type, value)
                                  : Make<arith::ExtUIOp>(to_type, value);
  }

  Value EmitFloatToFloat(Value value, mlir::Type to) {
    if (value.getType() == to) return value;
    const unsigned from_width = WidthOf(value);
    const unsigned width = to.getIntOrFloatBitWidth();
    if (from_width == width) {  // f16 and bf16
      value = Make<arith::ExtFOp>(builder_.getF32Type(), value);
      return Make<arith::TruncFOp>(to, value);
    }
    // By way of f32, as integers become bf16.
    if (to.isBF16() && from_width == 64)
      value = Make<arith::TruncFOp>(builder_.getF32Type(), value);
    return from_width < width ? Make<arith::ExtFOp>(to, value) : Make<arith::TruncFOp>(to, value);
  }

  Value EmitClamp(ElementType type, Value low, Value value, Value high) {
    return EmitBinary(HloOpcode::kMinimum, type, EmitBinary(HloOpcode::kMaximum, type, value, low),
                      high);
  }

  template <typename Op, typename... Arguments>
  Value Make(Arguments&&... arguments) {
    return builder_.createOrFold<Op>(loc_, std::forward<Arguments>(arguments)...);
  }

 private:
  // Constants of the type of another value.
  Value Integer(Value like, int64_t value) {
    return arith::ConstantOp::create(builder_, loc_,
                                     builder_.getIntegerAttr(like.getType(), value));
  }
  Value Bits(Value like, const llvm::APInt& bits) {
    return arith::ConstantOp::create(builder_, loc_, builder_.getIntegerAttr(like.getType(), bits));
  }
  Value Float(Value like, double value) {
    return arith::ConstantOp::create(builder_, loc_, builder_.getFloatAttr(like.getType(), value));
  }
  static unsigned WidthOf(Value value) { return value.getType().getIntOrFloatBitWidth(); }

  Value EmitFloatUnary(HloOpcode opcode, Value a) {
    // Several operations, of 16 bits, round once.
    if ((opcode == HloOpcode::kLogistic || opcode == HloOpcode::kRsqrt) && WidthOf(a) < 32) {
      const Value wide = Make<arith::ExtFOp>(builder_.getF32Type(), a);
      return Make<arith::TruncFOp>(a.getType(), EmitFloatUnary(opcode, wide));
    }
    switch (opcode) {
      case HloOpcode::kAbs:
        return Make<math::AbsFOp>(a);
      case HloOpcode::kAcos:
        return Make<math::AcosOp>(a);
      case HloOpcode::kAcosh:
        return Make<math::AcoshOp>(a);
      case HloOpcode::kAsin:
        return Make<math::AsinOp>(a);
      case HloOpcode::kAsinh:
        return Make<math::AsinhOp>(a);
      case HloOpcode::kAtanh:
        return Make<math::AtanhOp>(a);
      case HloOpcode::kCbrt:
        return Make<math::CbrtOp>(a);
      case HloOpcode::kCeil:
        return Make<math::CeilOp>(a);
      case HloOpcode::kCosine:
        return Make<math::CosOp>(a);
      case HloOpcode::kCosh:
        return Make<math::CoshOp>(a);
      case HloOpcode::kErf:
        return Make<math::ErfOp>(a);
      case HloOpcode::kExponential:
        return Make<math::ExpOp>(a);
      case HloOpcode::kExponentialMinusOne:
        return Make<math::ExpM1Op>(a);
      case HloOpcode::kFloor:
        return Make<math::FloorOp>(a);
      case HloOpcode::kIsFinite:
        return Make<arith::CmpFOp>(FloatPredicate::OLT, Make<math::AbsFOp>(a),
                                   Float(a, std::numeric_limits<double>::infinity()));
      case HloOpcode::kLog:
        return Make<math::LogOp>(a);
      case HloOpcode::kLogPlusOne:
        return Make<math::Log1pOp>(a);
      case HloOpcode::kLogistic:
        return Make<arith::DivFOp>(
            Float(a, 1),
            Make<arith::AddFOp>(Float(a, 1), Make<math::ExpOp>(Make<arith::NegFOp>(a))));
      case HloOpcode::kNegate:
        return Make<arith::NegFOp>(a);
      case HloOpcode::kRoundNearestAfz:
        return Make<math::RoundOp>(a);
      case HloOpcode::kRoundNearestEven:
        return Make<math::RoundEvenOp>(a);
      case HloOpcode::kRsqrt:
        return Make<arith::DivFOp>(Float(a, 1), Make<math::SqrtOp>(a));
      case HloOpcode::kSign:
        // NaN, 0 and -0 are themselves.
        return Make<arith::SelectOp>(Make<arith::CmpFOp>(FloatPredicate::ONE, a, Float(a, 0)),
                                     Make<math::CopySignOp>(Float(a, 1), a), a);
      case HloOpcode::kSine:
        return Make<math::SinOp>(a);
      case HloOpcode::kSinh:
        return Make<math::SinhOp>(a);
      case HloOpcode::kSqrt:
        return Make<math::SqrtOp>(a);
      case HloOpcode::kTan:
        return Make<math::TanOp>(a);
      case HloOpcode::kTanh:
        return Make<math::TanhOp>(a);
      default:
        return nullptr;
    }
  }

  Value EmitFloatBinary(HloOpcode opcode, Value a, Value b) {
    switch (opcode) {
      case HloOpcode::kAdd:
        return Make<arith::AddFOp>(a, b);
      case HloOpcode::kAtan2:
        return Make<math::Atan2Op>(a, b);
      case HloOpcode::kDivide:
        return Make<arith::DivFOp>(a, b);
      case HloOpcode::kMaximum:
        return Make<arith::MaximumFOp>(a, b);
      case HloOpcode::kMinimum:
        return Make<arith::MinimumFOp>(a, b);
      case HloOpcode::kMultiply:
        return Make<arith::MulFOp>(a, b);
      case HloOpcode::kPower:
        return Make<math::PowFOp>(a, b);
      case HloOpcode::kRemainder:
        return Make<arith::RemFOp>(a, b);
      case HloOpcode::kSubtract:
        return Make<arith::SubFOp>(a, b);
      default:
        return nullptr;
    }
  }

  // As numbers modulo 2, where all that is not 0 is true.
  Value EmitPredBinary(HloOpcode opcode, Value a, Value b) {
    switch (opcode) {
      case HloOpcode::kAdd:
      case HloOpcode::kMaximum:
      case HloOpcode::kOr:
        return Make<arith::OrIOp>(a, b);
      case HloOpcode::kAnd:
      case HloOpcode::kMinimum:
      case HloOpcode::kMultiply:
        return Make<arith::AndIOp>(a, b);
      case HloOpcode::kXor:
        return Make<arith::XOrIOp>(a, b);
      default:
        return nullptr;
    }
  }

  Value EmitIntegerSign(ElementType type, Value a) {
    const Value zero = Integer(a, 0);
    const Value is_zero = Make<arith::CmpIOp>(Predicate::eq, a, zero);
    const Value sign = Make<arith::SelectOp>(is_zero, zero, Integer(a, 1));
    if (!IsSignedIntegral(type)) return sign;
    return Make<arith::SelectOp>(Make<arith::CmpIOp>(Predicate::slt, a, zero), Integer(a, -1),
                                 sign);
  }

  // The divisor is replaced by 1 where `arith` leaves the quotient open.
  Value EmitDivision(bool is_quotient, bool is_signed, Value a, Value b) {
    const Value is_zero = Make<arith::CmpIOp>(Predicate::eq, b, Integer(b, 0));
    Value is_open = is_zero;
    if (is_signed) {
      const Value overflows = Make<arith::AndIOp>(
          Make<arith::CmpIOp>(Predicate::eq, a,
                              Bits(a, llvm::APInt::getSignedMinValue(WidthOf(a)))),
          Make<arith::CmpIOp>(Predicate::eq, b, Integer(b, -1)));
      is_open = Make<arith::OrIOp>(is_zero, overflows);
    }
    const Value divisor = Make<arith::SelectOp>(is_open, Integer(b, 1), b);
    if (is_quotient) {
      const Value quotient =
          is_signed ? Make<arith::DivSIOp>(a, divisor) : Make<arith::DivUIOp>(a, divisor);
      return Make<arith::SelectOp>(is_zero, Integer(a, -1), quotient);
    }
    const Value remainder =
        is_signed ? Make<arith::RemSIOp>(a, divisor) : Make<arith::RemUIOp>(a, divisor);
    return Make<arith::SelectOp>(is_zero, a, remainder);
  }

  Value EmitShift(HloOpcode opcode, Value a, Value by) {
    const Value is_in = Make<arith::CmpIOp>(Predicate::ult, by, Integer(by, WidthOf(by)));
    const Value zero = Integer(a, 0);
    if (opcode == HloOpcode::kShiftRightArithmetic) {
      const Value most = Make<arith::SelectOp>(is_in, by, Integer(by, WidthOf(by) - 1));
      return Make<arith::ShRSIOp>(a, most);
    }
    const Value bits = Make<arith::SelectOp>(is_in, by, zero);
    const Value shifted = opcode == HloOpcode::kShiftLeft ? Make<arith::ShLIOp>(a, bits)
                                                          : Make<arith::ShRUIOp>(a, bits);
    return Make<arith::SelectOp>(is_in, shifted, zero);
  }

  Value EmitFloatToInteger(Value value, bool is_signed, mlir::Type to) {
    // Powers of two up to 2^64 are numbers of f32, and not of f16.
    if (WidthOf(value) < 32) value = Make<arith::ExtFOp>(builder_.getF32Type(), value);
    const unsigned width = to.getIntOrFloatBitWidth();
    const int bits = static_cast<int>(is_signed ? width - 1 : width);
    const llvm::APInt least =
        is_signed ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getZero(width);
    const llvm::APInt most =
        is_signed ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
    const auto constant = [&](const llvm::APInt& number) -> Value {
      return arith::ConstantOp::create(builder_, loc_, builder_.getIntegerAttr(to, number));
    };
    const Value inside =
        is_signed ? Make<arith::FPToSIOp>(to, value) : Make<arith::FPToUIOp>(to, value);
    const Value is_low = Make<arith::CmpFOp>(FloatPredicate::OLE, value,
                                             Float(value, is_signed ? -std::ldexp(1.0, bits) : 0));
    const Value is_high =
        Make<arith::CmpFOp>(FloatPredicate::OGE, value, Float(value, std::ldexp(1.0, bits)));
    const Value is_nan = Make<arith::CmpFOp>(FloatPredicate::UNO, value, value);
    Value result = Make<arith::SelectOp>(is_low, constant(least), inside);
    result = Make<arith::SelectOp>(is_high, constant(most), result);
    return Make<arith::SelectOp>(is_nan, constant(llvm::APInt::getZero(width)), result);
  }

  mlir::OpBuilder& builder_;
  mlir::Location loc_;
};

absl::Status NotLowered(const HloInstruction& instruction) {
  return absl::UnimplementedError(absl::StrCat(instruction.name(), ": ", instruction.opcode_name(),
                                               " of ", instruction.shape().ToString(),
                                               " is not lowered"));
}

constexpr int kMaxCalls = 64;

}  // namespace

bool IsLoweredElementwise(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kBitcastConvert:
    case HloOpcode::kClamp:
    case HloOpcode::kCompare:
    case HloOpcode::kConvert:
    case HloOpcode::kMap:
    case HloOpcode::kSelect:
      return true;
    case HloOpcode::kCopy:
      return false;
    default:
      return IsElementwise(instruction.opcode());
  }
}

Value EmitOfFloats(mlir::OpBuilder& builder, mlir::Location loc, HloOpcode opcode, Value a, Value b,
                   mlir::Type result) {
  ElementEmitter emitter(builder, loc);
  mlir::Type type = result;
  if (a.getType() != type || b.getType() != type) {
    const bool is_f64 = type.isF64() || a.getType().isF64() || b.getType().isF64();
    type = is_f64 ? builder.getF64Type() : builder.getF32Type();
  }
  const Value value =
      emitter.EmitBinary(opcode, ElementType::kF64, emitter.EmitFloatToFloat(a, type),
                         emitter.EmitFloatToFloat(b, type));
  return emitter.EmitFloatToFloat(value, result);
}

absl::StatusOr<Value> EmitConvert(mlir::OpBuilder& builder, mlir::Location loc, Value value,
                                  ElementType from, ElementType to) {
  const absl::StatusOr<mlir::Type> type = MlirElementType(to, builder.getContext());
  if (!type.ok()) return type.status();
  return ElementEmitter(builder, loc).EmitConverted(value, from, to, *type);
}

absl::StatusOr<Value> EmitElementwise(mlir::OpBuilder& builder, mlir::Location loc,
                                      const HloInstruction& instruction,
                                      mlir::ValueRange operands) {
  ElementEmitter emitter(builder, loc);
  const ElementType type = instruction.shape().element_type();
  Value value;
  switch (instruction.opcode()) {
    case HloOpcode::kBitcastConvert: {
      const absl::StatusOr<mlir::Type> to = MlirElementType(type, builder.getContext());
      if (!to.ok()) return to.status();
      if (to->getIntOrFloatBitWidth() != operands[0].getType().getIntOrFloatBitWidth()) break;
      value = emitter.Make<arith::BitcastOp>(*to, operands[0]);
      break;
    }
    case HloOpcode::kClamp:
      value = emitter.EmitClamp(type, operands[0], operands[1], operands[2]);
      break;
    case HloOpcode::kCompare:
      if (instruction.GetText(AttributeKey::kComparisonType) == "TOTALORDER") break;
      value = emitter.EmitCompare(instruction.comparison_direction(),
                                  instruction.operand(0)->shape().element_type(), operands[0],
                                  operands[1]);
      break;
    case HloOpcode::kConvert:
      return EmitConvert(builder, loc, operands[0], instruction.operand(0)->shape().element_type(),
                         type);
    case HloOpcode::kIsFinite:
      value = emitter.EmitUnary(instruction.opcode(),
                                instruction.operand(0)->shape().element_type(), operands[0]);
      break;
    case HloOpcode::kMap: {
      const auto values = EmitScalarComputation(builder, loc, *instruction.to_apply(), operands);
      if (!values.ok()) return values.status();
      return values->front();
    }
    case HloOpcode::kSelect:
      value = emitter.Make<arith::SelectOp>(operands[0], operands[1], operands[2]);
      break;
    default:
      if (operands.size() == 1) {
        value = emitter.EmitUnary(instruction.opcode(), type, operands[0]);
      } else if (operands.size() == 2) {
        value = emitter.EmitBinary(instruction.opcode(), type, operands[0], operands[1]);
      }
  }
  if (!value) return NotLowered(instruction);
  return value;
}

absl::StatusOr<llvm::SmallVector<Value, 4>> EmitMultiplyAdd(mlir::OpBuilder& builder,
                                                            mlir::Location loc,
                                                            const HloInstruction& product,
                                                            mlir::ValueRange arguments) {
  const ElementType type = product.shape().element_type();
  ElementEmitter emitter(builder, loc);
  llvm::SmallVector<Value, 2> factors;
  for (const int i : {0, 1}) {
    const absl::StatusOr<Value> factor = EmitConvert(
        builder, loc, arguments[1 + i], product.operand(i)->shape().element_type(), type);
    if (!factor.ok()) return factor.status();
    factors.push_back(*factor);
  }
  const Value multiplied = emitter.EmitBinary(HloOpcode::kMultiply, type, factors[0], factors[1]);
  const Value sum = emitter.EmitBinary(HloOpcode::kAdd, type, arguments[0], multiplied);
  return llvm::SmallVector<Value, 4>({sum});
}

absl::StatusOr<llvm::SmallVector<Value, 4>> EmitScalarComputation(mlir::OpBuilder& builder,
                                                                  mlir::Location loc,
                                                                  const HloComputation& computation,
                                                                  mlir::ValueRange arguments,
                                                                  int depth) {
  absl::flat_hash_map<const HloInstruction*, llvm::SmallVector<Value, 4>> values;
  for (const HloInstruction* instruction : computation.instructions()) {
    llvm::SmallVector<Value, 4> operands;
    for (const HloInstruction* operand : instruction->operands()) {
      operands.append(values[operand]);
    }
    llvm::SmallVector<Value, 4>& result = values[instruction];
    const bool is_tuple = instruction->opcode() == HloOpcode::kTuple;
    if (!is_tuple && !(instruction->shape().IsArray() && instruction->shape().rank() == 0) &&
        instruction->inlined_computation() == nullptr) {
      return NotLowered(*instruction);
    }
    if (is_tuple) {
      result = operands;
    } else if (instruction->opcode() == HloOpcode::kParameter) {
      result.push_back(arguments[instruction->parameter_number()]);
    } else if (instruction->opcode() == HloOpcode::kGetTupleElement) {
      const Shape& tuple = instruction->operand(0)->shape();
      result.push_back(operands[tuple.FirstLeafOfElement(instruction->tuple_index())]);
    } else if (instruction->opcode() == HloOpcode::kConstant) {
      const auto element = MlirElement(*instruction->literal(), 0, builder.getContext());
      if (!element.ok()) return element.status();
      result.push_back(arith::ConstantOp::create(builder, loc, *element));
    } else if (const HloComputation* called = instruction->inlined_computation()) {
      if (depth >= kMaxCalls) return NotLowered(*instruction);
      auto inlined = EmitScalarComputation(builder, loc, *called, operands, depth + 1);
      if (!inlined.ok()) return inlined.status();
      result = *std::move(inlined);
    } else if (instruction->opcode() == HloOpcode::kCopy) {
      result = operands;
    } else {
      const absl::StatusOr<Value> value = EmitElementwise(builder, loc, *instruction, operands);
      if (!value.ok()) return value.status();
      result.push_back(*value);
    }
  }
  return values[computation.root_instruction()];
}

}  // namespace xla_indexing::internal

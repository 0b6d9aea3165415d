#include "xla_indexing/lowering/elements/elementwise_ops.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/lowering/elements/element_types.h"
#include "xla_indexing/lowering/index/apply_indexing.h"

namespace xla_indexing::internal {
namespace {

using mlir::Value;
namespace arith = mlir::arith;
namespace complex = mlir::complex;
namespace math = mlir::math;
using Predicate = arith::CmpIPredicate;
using FloatPredicate = arith::CmpFPredicate;

// Narrower floats are computed with in f32.
constexpr unsigned kLeastComputed = 16;

// Complex numbers are not folded: `complex` folds a - b + b to a, which rounding does not.
template <typename Op, typename... Values>
Value EmitComplex(mlir::ImplicitLocOpBuilder& builder, Values... values) {
  return Op::create(builder, values...);
}
template <typename Op>
Value EmitOne(mlir::ImplicitLocOpBuilder& builder, Value a) {
  return builder.createOrFold<Op>(a);
}
using UnaryEmitter = Value (*)(mlir::ImplicitLocOpBuilder&, Value);
// Null if MLIR has no single operation, or none that is accurate: its complex log1p of -1 is 0.
struct Function {
  HloOpcode opcode;
  UnaryEmitter of_floats = nullptr;
  UnaryEmitter of_complex = nullptr;
};
constexpr Function kFunctions[] = {
    {HloOpcode::kAbs, EmitOne<math::AbsFOp>, EmitComplex<complex::AbsOp>},
    {HloOpcode::kAcos, EmitOne<math::AcosOp>},
    {HloOpcode::kAcosh, EmitOne<math::AcoshOp>},
    {HloOpcode::kAsin, EmitOne<math::AsinOp>},
    {HloOpcode::kAsinh, EmitOne<math::AsinhOp>},
    {HloOpcode::kAtanh, EmitOne<math::AtanhOp>},
    {HloOpcode::kCbrt, EmitOne<math::CbrtOp>},
    {HloOpcode::kCeil, EmitOne<math::CeilOp>},
    {HloOpcode::kCosine, EmitOne<math::CosOp>, EmitComplex<complex::CosOp>},
    {HloOpcode::kCosh, EmitOne<math::CoshOp>},
    {HloOpcode::kErf, EmitOne<math::ErfOp>},
    {HloOpcode::kExponential, EmitOne<math::ExpOp>, EmitComplex<complex::ExpOp>},
    {HloOpcode::kExponentialMinusOne, EmitOne<math::ExpM1Op>},
    {HloOpcode::kFloor, EmitOne<math::FloorOp>},
    {HloOpcode::kImag, nullptr, EmitComplex<complex::ImOp>},
    {HloOpcode::kLog, EmitOne<math::LogOp>, EmitComplex<complex::LogOp>},
    {HloOpcode::kLogPlusOne, EmitOne<math::Log1pOp>},
    {HloOpcode::kNegate, EmitOne<arith::NegFOp>, EmitComplex<complex::NegOp>},
    {HloOpcode::kReal, nullptr, EmitComplex<complex::ReOp>},
    {HloOpcode::kRoundNearestAfz, EmitOne<math::RoundOp>},
    {HloOpcode::kRoundNearestEven, EmitOne<math::RoundEvenOp>},
    {HloOpcode::kSine, EmitOne<math::SinOp>, EmitComplex<complex::SinOp>},
    {HloOpcode::kSinh, EmitOne<math::SinhOp>},
    {HloOpcode::kSqrt, EmitOne<math::SqrtOp>, EmitComplex<complex::SqrtOp>},
    {HloOpcode::kTan, EmitOne<math::TanOp>},
    {HloOpcode::kTanh, EmitOne<math::TanhOp>, EmitComplex<complex::TanhOp>}};

template <typename Op>
Value EmitTwo(mlir::ImplicitLocOpBuilder& builder, Value a, Value b) {
  return builder.createOrFold<Op>(a, b);
}
using BinaryEmitter = Value (*)(mlir::ImplicitLocOpBuilder&, Value, Value);
// One for each class of element types; null if MLIR has no single operation. Preds are numbers
// modulo 2, where all that is not 0 is true.
struct BinaryOperation {
  HloOpcode opcode;
  BinaryEmitter of_floats = nullptr;
  BinaryEmitter of_signed = nullptr;
  BinaryEmitter of_unsigned = nullptr;
  BinaryEmitter of_preds = nullptr;
  BinaryEmitter of_complex = nullptr;
};
constexpr BinaryEmitter kAndBits = EmitTwo<arith::AndIOp>;
constexpr BinaryEmitter kOrBits = EmitTwo<arith::OrIOp>;
constexpr BinaryEmitter kXorBits = EmitTwo<arith::XOrIOp>;
constexpr BinaryOperation kBinaryOperations[] = {
    {HloOpcode::kAdd, EmitTwo<arith::AddFOp>, EmitTwo<arith::AddIOp>, EmitTwo<arith::AddIOp>,
     kOrBits, EmitComplex<complex::AddOp>},
    {HloOpcode::kAnd, nullptr, kAndBits, kAndBits, kAndBits},
    {HloOpcode::kAtan2, EmitTwo<math::Atan2Op>},
    {HloOpcode::kDivide, EmitTwo<arith::DivFOp>, nullptr, nullptr, nullptr,
     EmitComplex<complex::DivOp>},
    {HloOpcode::kMaximum, EmitTwo<arith::MaximumFOp>, EmitTwo<arith::MaxSIOp>,
     EmitTwo<arith::MaxUIOp>, kOrBits},
    {HloOpcode::kMinimum, EmitTwo<arith::MinimumFOp>, EmitTwo<arith::MinSIOp>,
     EmitTwo<arith::MinUIOp>, kAndBits},
    {HloOpcode::kMultiply, EmitTwo<arith::MulFOp>, EmitTwo<arith::MulIOp>, EmitTwo<arith::MulIOp>,
     kAndBits, EmitComplex<complex::MulOp>},
    {HloOpcode::kOr, nullptr, kOrBits, kOrBits, kOrBits},
    {HloOpcode::kPower, EmitTwo<math::PowFOp>},
    {HloOpcode::kRemainder, EmitTwo<arith::RemFOp>},
    {HloOpcode::kSubtract, EmitTwo<arith::SubFOp>, EmitTwo<arith::SubIOp>, EmitTwo<arith::SubIOp>,
     nullptr, EmitComplex<complex::SubOp>},
    {HloOpcode::kXor, nullptr, kXorBits, kXorBits, kXorBits}};

// Makes operations at one place. Values of the operations of a class are null if it has none of an
// opcode.
class ElementEmitter {
 public:
  explicit ElementEmitter(mlir::ImplicitLocOpBuilder& builder) : builder_(builder) {}

  Value EmitUnary(HloOpcode opcode, ElementType type, Value a) {
    if (IsFloatingPoint(type)) return EmitFloatUnary(opcode, a);
    if (IsComplex(type)) return EmitFunction(opcode, &Function::of_complex, a);
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
    if (IsIntegral(type)) {
      switch (opcode) {
        case HloOpcode::kDivide:
        case HloOpcode::kRemainder:
          return EmitDivision(opcode == HloOpcode::kDivide, IsSignedIntegral(type), a, b);
        case HloOpcode::kMulhi:
          return EmitHighProduct(IsSignedIntegral(type), a, b);
        case HloOpcode::kPower:
          return EmitIntegerPower(IsSignedIntegral(type), a, b);
        case HloOpcode::kShiftLeft:
        case HloOpcode::kShiftRightArithmetic:
        case HloOpcode::kShiftRightLogical:
          return EmitShift(opcode, a, b);
        default:
          break;
      }
    }
    for (const BinaryOperation& row : kBinaryOperations) {
      if (row.opcode != opcode) continue;
      const BinaryEmitter emit = IsFloatingPoint(type)    ? row.of_floats
                                 : IsComplex(type)        ? row.of_complex
                                 : IsPred(type)           ? row.of_preds
                                 : IsSignedIntegral(type) ? row.of_signed
                                                          : row.of_unsigned;
      return emit == nullptr ? nullptr : emit(builder_, a, b);
    }
    return nullptr;
  }

  // Null for a direction that is not known. In the total order of floats -NaN < -inf < -0 < 0 < NaN.
  Value EmitCompare(absl::string_view direction, bool is_total, ElementType type, Value a,
                    Value b) {
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
    if (IsComplex(type)) {
      if (direction == "EQ") return Make<complex::EqualOp>(a, b);
      if (direction == "NE") return Make<complex::NotEqualOp>(a, b);
      return nullptr;
    }
    for (const Row& row : kRows) {
      if (row.direction != direction) continue;
      if (is_total && IsFloatingPoint(type))
        return Make<arith::CmpIOp>(row.of_signed, EmitRank(a), EmitRank(b));
      if (IsFloatingPoint(type)) return Make<arith::CmpFOp>(row.of_floats, a, b);
      return Make<arith::CmpIOp>(IsSignedIntegral(type) ? row.of_signed : row.of_unsigned, a, b);
    }
    return nullptr;
  }

  // Signed integers in the total order of floats: the bits, but for the sign those of negative ones
  // inverted.
  Value EmitRank(Value value) {
    const unsigned width = WidthOf(value);
    const Value bits = Make<arith::BitcastOp>(builder_.getIntegerType(width), value);
    const Value is_negative = Make<arith::CmpIOp>(Predicate::slt, bits, Integer(bits, 0));
    const Value inverted =
        Make<arith::XOrIOp>(bits, Bits(bits, llvm::APInt::getSignedMaxValue(width)));
    return Make<arith::SelectOp>(is_negative, inverted, bits);
  }

  Value EmitConverted(Value value, ElementType from, ElementType to, mlir::Type to_type) {
    if (IsComplex(from) || IsComplex(to)) {
      if (value.getType() == to_type) return value;
      const auto complex_type = llvm::dyn_cast<mlir::ComplexType>(to_type);
      const mlir::Type part = complex_type ? complex_type.getElementType() : to_type;
      const auto convert = [&](Value of_part) {
        return EmitConverted(of_part, ComplexComponentType(from), ComplexComponentType(to), part);
      };
      const Value real = convert(IsComplex(from) ? Make<complex::ReOp>(value) : value);
      if (!complex_type) return real;
      return Make<complex::CreateOp>(
          to_type, real, IsComplex(from) ? convert(Make<complex::ImOp>(value)) : Float(real, 0));
    }
    if (IsFloatingPoint(from) && IsFloatingPoint(to)) return EmitFloatToFloat(value, to_type);
    if (IsFloatingPoint(from) && WidthOf(value) < kLeastComputed) {
      value = Make<arith::ExtFOp>(builder_.getF32Type(), value);
    }
    if (IsFloatingPoint(to) && to_type.getIntOrFloatBitWidth() < kLeastComputed) {
      return EmitFloatToFloat(EmitConverted(value, from, ElementType::kF32, builder_.getF32Type()),
                              to_type);
    }
    if (IsPred(to)) {
      if (!IsFloatingPoint(from)) {
        return IsPred(from) ? value : Make<arith::CmpIOp>(Predicate::ne, value, Integer(value, 0));
      }
      return Make<arith::CmpFOp>(FloatPredicate::UNE, value, Float(value, 0));
    }
    if (IsFloatingPoint(from)) return EmitFloatToInteger(value, IsSignedIntegral(to), to_type);
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

  // The float type that operations on all of these are done in; null if none is a float.
  mlir::Type FloatFor(mlir::TypeRange types) {
    mlir::Type common;
    for (const mlir::Type type : types) {
      if (!llvm::isa<mlir::FloatType>(type) || type == common) continue;
      const bool is_f64 = type.isF64() || (common && common.isF64());
      if (!common && type.getIntOrFloatBitWidth() >= kLeastComputed) {
        common = type;
      } else {
        common = is_f64 ? builder_.getF64Type() : builder_.getF32Type();
      }
    }
    return common;
  }

  Value EmitFloatToFloat(Value value, mlir::Type to) {
    if (value.getType() == to) return value;
    const unsigned from_width = WidthOf(value);
    const unsigned width = to.getIntOrFloatBitWidth();
    if (from_width <= 16 && width <= 16) {  // of which none holds all of another
      value = Make<arith::ExtFOp>(builder_.getF32Type(), value);
      return Make<arith::TruncFOp>(to, value);
    }
    // By way of f32, as integers become bf16.
    if (to.isBF16() && from_width == 64)
      value = Make<arith::TruncFOp>(builder_.getF32Type(), value);
    return from_width < width ? Make<arith::ExtFOp>(to, value) : Make<arith::TruncFOp>(to, value);
  }

  // Rounds to the nearest, or even, number of so many bits; where the exponent has too few, to an
  // infinity or 0. NaN stays as it is. Null for numbers of bits that no float has.
  Value EmitReducePrecision(Value value, int64_t exponent_bits, int64_t mantissa_bits) {
    const auto type = llvm::cast<mlir::FloatType>(value.getType());
    const unsigned width = WidthOf(value);
    if (exponent_bits < 1 || mantissa_bits < 0 || width < kLeastComputed) return nullptr;
    const unsigned mantissa = llvm::APFloat::semanticsPrecision(type.getFloatSemantics()) - 1;
    const unsigned exponent = width - 1 - mantissa;
    const llvm::APInt exponents = llvm::APInt::getBitsSet(width, mantissa, width - 1);
    const Value before = Make<arith::BitcastOp>(builder_.getIntegerType(width), value);
    Value bits = before;
    if (mantissa_bits < mantissa) {
      const unsigned lost = mantissa - mantissa_bits;
      const Value is_odd =
          Make<arith::AndIOp>(Make<arith::ShRUIOp>(bits, Integer(bits, lost)), Integer(bits, 1));
      const Value half = Bits(bits, llvm::APInt::getLowBitsSet(width, lost - 1));
      const Value rounded = Make<arith::AddIOp>(bits, Make<arith::AddIOp>(half, is_odd));
      bits = Make<arith::AndIOp>(rounded,
                                 Bits(bits, llvm::APInt::getHighBitsSet(width, width - lost)));
    }
    if (exponent_bits < exponent) {
      const uint64_t middle = (uint64_t{1} << (exponent - 1)) - 1;
      const uint64_t reach = (uint64_t{1} << (exponent_bits - 1)) - 1;
      const auto bound = [&](uint64_t number) {
        return Bits(bits, llvm::APInt(width, number).shl(mantissa));
      };
      const Value its_exponent = Make<arith::AndIOp>(bits, Bits(bits, exponents));
      const Value sign = Make<arith::AndIOp>(bits, Bits(bits, llvm::APInt::getSignMask(width)));
      const Value is_over =
          Make<arith::CmpIOp>(Predicate::ugt, its_exponent, bound(middle + reach));
      const Value is_under =
          Make<arith::CmpIOp>(Predicate::ule, its_exponent, bound(middle - reach));
      const Value infinity = Make<arith::OrIOp>(sign, Bits(bits, exponents));
      bits = Make<arith::SelectOp>(is_over, infinity, bits);
      bits = Make<arith::SelectOp>(is_under, sign, bits);
    }
    const Value is_nan = Make<arith::CmpFOp>(FloatPredicate::UNO, value, value);
    return Make<arith::SelectOp>(is_nan, value, Make<arith::BitcastOp>(type, bits));
  }

  Value EmitClamp(ElementType type, Value low, Value value, Value high) {
    return EmitBinary(HloOpcode::kMinimum, type, EmitBinary(HloOpcode::kMaximum, type, value, low),
                      high);
  }

  template <typename Op, typename... Arguments>
  Value Make(Arguments&&... arguments) {
    return builder_.createOrFold<Op>(std::forward<Arguments>(arguments)...);
  }

 private:
  // Constants of the type of another value.
  Value Integer(Value like, int64_t value) {
    return arith::ConstantOp::create(builder_, builder_.getIntegerAttr(like.getType(), value));
  }
  Value Bits(Value like, const llvm::APInt& bits) {
    return arith::ConstantOp::create(builder_, builder_.getIntegerAttr(like.getType(), bits));
  }
  Value Float(Value like, double value) {
    return arith::ConstantOp::create(builder_, builder_.getFloatAttr(like.getType(), value));
  }
  static unsigned WidthOf(Value value) { return value.getType().getIntOrFloatBitWidth(); }

  Value EmitFloatUnary(HloOpcode opcode, Value a) {
    // Several operations, of 16 bits, round once.
    if ((opcode == HloOpcode::kLogistic || opcode == HloOpcode::kRsqrt) && WidthOf(a) < 32) {
      const Value wide = Make<arith::ExtFOp>(builder_.getF32Type(), a);
      return Make<arith::TruncFOp>(a.getType(), EmitFloatUnary(opcode, wide));
    }
    switch (opcode) {
      case HloOpcode::kImag:
        return Float(a, 0);
      case HloOpcode::kReal:
        return a;
      case HloOpcode::kIsFinite:
        return Make<arith::CmpFOp>(FloatPredicate::OLT, Make<math::AbsFOp>(a),
                                   Float(a, std::numeric_limits<double>::infinity()));
      case HloOpcode::kLogistic:
        return Make<arith::DivFOp>(
            Float(a, 1),
            Make<arith::AddFOp>(Float(a, 1), Make<math::ExpOp>(Make<arith::NegFOp>(a))));
      case HloOpcode::kRsqrt:
        return Make<arith::DivFOp>(Float(a, 1), Make<math::SqrtOp>(a));
      case HloOpcode::kSign:
        // NaN, 0 and -0 are themselves.
        return Make<arith::SelectOp>(Make<arith::CmpFOp>(FloatPredicate::ONE, a, Float(a, 0)),
                                     Make<math::CopySignOp>(Float(a, 1), a), a);
      default:
        break;
    }
    return EmitFunction(opcode, &Function::of_floats, a);
  }

  Value EmitFunction(HloOpcode opcode, UnaryEmitter Function::* emitter, Value a) {
    for (const Function& row : kFunctions) {
      if (row.opcode == opcode && row.*emitter != nullptr) return (row.*emitter)(builder_, a);
    }
    return nullptr;
  }

  Value EmitIntegerSign(ElementType type, Value a) {
    const Value zero = Integer(a, 0);
    const Value is_zero = Make<arith::CmpIOp>(Predicate::eq, a, zero);
    const Value sign = Make<arith::SelectOp>(is_zero, zero, Integer(a, 1));
    if (!IsSignedIntegral(type)) return sign;
    return Make<arith::SelectOp>(Make<arith::CmpIOp>(Predicate::slt, a, zero), Integer(a, -1),
                                 sign);
  }

  Value EmitHighProduct(bool is_signed, Value a, Value b) {
    const mlir::Type wide = builder_.getIntegerType(2 * WidthOf(a));
    const auto extend = [&](Value value) {
      return is_signed ? Make<arith::ExtSIOp>(wide, value) : Make<arith::ExtUIOp>(wide, value);
    };
    const Value product = Make<arith::MulIOp>(extend(a), extend(b));
    return Make<arith::TruncIOp>(a.getType(),
                                 Make<arith::ShRUIOp>(product, Integer(product, WidthOf(a))));
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

  // By squares, from the lowest bit of the exponent on. One that is negative gives 0, but 1 of 1.
  Value EmitIntegerPower(bool is_signed, Value base, Value exponent) {
    const auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder_, value);
    };
    const Value one = Integer(base, 1);
    auto loop = mlir::scf::ForOp::create(builder_, index(0), index(WidthOf(base)), index(1),
                                         mlir::ValueRange{one, base, exponent});
    {
      const mlir::OpBuilder::InsertionGuard back(builder_);
      builder_.setInsertionPointToStart(loop.getBody());
      const Value power = loop.getRegionIterArgs()[0];
      const Value square = loop.getRegionIterArgs()[1];
      const Value bits = loop.getRegionIterArgs()[2];
      const Value is_odd =
          Make<arith::CmpIOp>(Predicate::ne, Make<arith::AndIOp>(bits, one), Integer(base, 0));
      const Value next = Make<arith::SelectOp>(is_odd, Make<arith::MulIOp>(power, square), power);
      mlir::scf::YieldOp::create(
          builder_, mlir::ValueRange{next, Make<arith::MulIOp>(square, square),
                                     EmitShift(HloOpcode::kShiftRightLogical, bits, one)});
    }
    if (!is_signed) return loop.getResult(0);
    const Value is_one = Make<arith::CmpIOp>(Predicate::eq, base, one);
    return Make<arith::SelectOp>(Make<arith::CmpIOp>(Predicate::slt, exponent, Integer(base, 0)),
                                 Make<arith::SelectOp>(is_one, one, Integer(base, 0)),
                                 loop.getResult(0));
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
      return arith::ConstantOp::create(builder_, builder_.getIntegerAttr(to, number));
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

  mlir::ImplicitLocOpBuilder& builder_;
};

}  // namespace

bool IsLoweredElementwise(const HloInstruction& instruction) {
  return instruction.opcode() != HloOpcode::kCopy && instruction.opcode() != HloOpcode::kMap &&
         IsElementwise(instruction.opcode());
}

Value EmitBinary(mlir::ImplicitLocOpBuilder& builder, HloOpcode opcode, ElementType type, Value a,
                 Value b, mlir::Type result) {
  ElementEmitter emitter(builder);
  const mlir::Type wide = emitter.FloatFor({result, a.getType(), b.getType()});
  const Value value = emitter.EmitBinary(opcode, type, EmitFloatAs(builder, a, wide),
                                         EmitFloatAs(builder, b, wide));
  return EmitFloatAs(builder, value, result);
}

absl::StatusOr<Value> EmitConvert(mlir::ImplicitLocOpBuilder& builder, Value value,
                                  ElementType from, ElementType to) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type type, MlirElementType(to, builder.getContext()));
  return ElementEmitter(builder).EmitConverted(value, from, to, type);
}

Value EmitFloatAs(mlir::ImplicitLocOpBuilder& builder, Value value, mlir::Type type) {
  const bool are_floats =
      llvm::isa<mlir::FloatType>(value.getType()) && llvm::isa_and_nonnull<mlir::FloatType>(type);
  return are_floats ? ElementEmitter(builder).EmitFloatToFloat(value, type) : value;
}

absl::StatusOr<Value> EmitBitcast(mlir::ImplicitLocOpBuilder& builder,
                                  const HloInstruction& instruction, Value value) {
  const ElementType from = instruction.operand(0)->shape().element_type();
  const ElementType to = instruction.shape().element_type();
  if (from == to) return value;
  const bool has_width = StorageBitWidth(from) == StorageBitWidth(to);
  if (!has_width || IsComplex(from) || IsComplex(to)) return NotLoweredInstruction(instruction);
  return EmitFromBits(builder, EmitBits(builder, value, from), to);
}

Value EmitOrder(mlir::ImplicitLocOpBuilder& builder, absl::string_view direction, ElementType type,
                Value a, Value b) {
  return ElementEmitter(builder).EmitCompare(direction, /*is_total=*/true, type, a, b);
}

Value EmitBits(mlir::ImplicitLocOpBuilder& builder, Value value, ElementType type) {
  const mlir::Type bits = builder.getIntegerType(StorageBitWidth(type));
  if (IsPred(type)) return builder.createOrFold<arith::ExtUIOp>(bits, value);
  return builder.createOrFold<arith::BitcastOp>(bits, value);
}

absl::StatusOr<Value> EmitFromBits(mlir::ImplicitLocOpBuilder& builder, Value bits,
                                   ElementType type) {
  if (IsPred(type)) return EmitConvert(builder, bits, ElementType::kU8, type);
  XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type to, MlirElementType(type, builder.getContext()));
  return builder.createOrFold<arith::BitcastOp>(to, bits);
}

absl::StatusOr<Value> EmitElementwise(mlir::ImplicitLocOpBuilder& builder,
                                      const HloInstruction& instruction, mlir::ValueRange given) {
  ElementEmitter emitter(builder);
  const ElementType type = instruction.shape().element_type();
  XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type result,
                                MlirElementType(type, builder.getContext()));
  const HloOpcode opcode = instruction.opcode();
  const auto from = [&](int64_t operand) {
    return instruction.operand(operand)->shape().element_type();
  };
  if (opcode == HloOpcode::kConvert) return EmitConvert(builder, given[0], from(0), type);
  if (opcode == HloOpcode::kBitcast || opcode == HloOpcode::kBitcastConvert) {
    return EmitBitcast(builder, instruction, given[0]);
  }
  llvm::SmallVector<mlir::Type, 4> types(mlir::TypeRange{given});
  types.push_back(result);
  const bool is_chosen = opcode == HloOpcode::kSelect || opcode == HloOpcode::kReducePrecision;
  const mlir::Type wide = is_chosen ? result : emitter.FloatFor(types);
  MlirValues operands;
  for (const Value operand : given) operands.push_back(EmitFloatAs(builder, operand, wide));
  Value value;
  switch (opcode) {
    case HloOpcode::kClamp:
      value = emitter.EmitClamp(type, operands[0], operands[1], operands[2]);
      break;
    case HloOpcode::kCompare:
      value =
          emitter.EmitCompare(instruction.comparison_direction(),
                              instruction.GetText(AttributeKey::kComparisonType) == "TOTALORDER",
                              from(0), operands[0], operands[1]);
      break;
    case HloOpcode::kComplex:
      value = emitter.Make<complex::CreateOp>(result, operands[0], operands[1]);
      break;
    case HloOpcode::kReducePrecision:
      value = emitter.EmitReducePrecision(
          operands[0], instruction.GetInteger(AttributeKey::kExponentBits).value_or(0),
          instruction.GetInteger(AttributeKey::kMantissaBits).value_or(-1));
      break;
    case HloOpcode::kSelect:
      value = emitter.Make<arith::SelectOp>(operands[0], operands[1], operands[2]);
      break;
    default:
      if (operands.size() == 1) value = emitter.EmitUnary(opcode, from(0), operands[0]);
      if (operands.size() == 2) value = emitter.EmitBinary(opcode, type, operands[0], operands[1]);
  }
  if (!value) return NotLoweredInstruction(instruction);
  return EmitFloatAs(builder, value, result);
}

}  // namespace xla_indexing::internal

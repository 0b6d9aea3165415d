#include "xla_indexing/lowering/index/expr_emitter.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {
namespace {

using mlir::AffineExpr;
using mlir::AffineExprKind;
using mlir::Value;
namespace arith = mlir::arith;

bool IsNotNegative(const Interval& range) { return range.IsSubsetOf(Interval::AtLeast(0)); }

std::string ExprText(AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  expr.print(stream);
  return text;
}

absl::Status DoesNotFit(AffineExpr expr, const Interval& range, mlir::Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return absl::OutOfRangeError(absl::StrCat(ExprText(expr), " is in ", range.ToString(), ", which ",
                                            name, " does not hold"));
}

// nsw, and nuw of numbers that are not negative.
arith::IntegerOverflowFlags NoWrap(const Interval& a, const Interval& b) {
  const auto nsw = arith::IntegerOverflowFlags::nsw;
  return IsNotNegative(a) && IsNotNegative(b) ? nsw | arith::IntegerOverflowFlags::nuw : nsw;
}

}  // namespace

Interval NumbersOfType(mlir::Type type) {
  if (type.isInteger(32)) {
    return Interval::Closed(std::numeric_limits<int32_t>::min(),
                            std::numeric_limits<int32_t>::max());
  }
  if (type.isIndex() || type.isInteger(64)) {
    return Interval::Closed(std::numeric_limits<int64_t>::min(),
                            std::numeric_limits<int64_t>::max());
  }
  return Interval::Empty();
}

Interval NumbersOnTheWay(const IndexingMap& map, AffineExpr expr) {
  Interval numbers;
  expr.walk([&](AffineExpr part) { numbers = numbers.Union(RangeOf(map, part)); });
  return numbers;
}

ExprEmitter::ExprEmitter(mlir::OpBuilder& builder, mlir::Location loc, const IndexingMap& domain,
                         mlir::Type type, mlir::ValueRange dims, mlir::ValueRange symbols)
    : builder_(builder),
      loc_(loc),
      domain_(domain),
      type_(type),
      dims_(dims.begin(), dims.end()),
      symbols_(symbols.begin(), symbols.end()) {}

Value ExprEmitter::EmitConstant(int64_t value) {
  return arith::ConstantOp::create(builder_, loc_, builder_.getIntegerAttr(type_, value));
}

Interval ExprEmitter::RangeOfNumber(AffineExpr expr) {
  const auto [at, is_new] = ranges_.try_emplace(expr);
  if (is_new) at->second = RangeOf(domain_, expr);
  return at->second;
}

absl::StatusOr<Value> ExprEmitter::Emit(AffineExpr expr) {
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) return dims_[dim.getPosition()];
  if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    return symbols_[symbol.getPosition()];
  }
  if (const Value known = emitted_.lookup(expr)) return known;
  const Interval range = RangeOfNumber(expr);
  // Nothing is computed where the domain is empty, so that any value will do.
  if (range.IsEmpty()) return EmitConstant(0);
  if (!range.IsSubsetOf(NumbersOfType(type_))) return DoesNotFit(expr, range, type_);
  absl::StatusOr<Value> value;
  if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) {
    value = EmitConstant(constant.getValue());
  } else {
    value = EmitBinary(llvm::cast<mlir::AffineBinaryOpExpr>(expr));
  }
  if (value.ok()) emitted_[expr] = *value;
  return value;
}

absl::StatusOr<Value> ExprEmitter::EmitBinary(mlir::AffineBinaryOpExpr expr) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const Value lhs, Emit(expr.getLHS()));
  XLA_INDEXING_ASSIGN_OR_RETURN(const Value rhs, Emit(expr.getRHS()));
  const Interval range = RangeOfNumber(expr.getLHS());
  const auto flags = NoWrap(range, RangeOfNumber(expr.getRHS()));
  switch (expr.getKind()) {
    case AffineExprKind::Add:
      return builder_.createOrFold<arith::AddIOp>(loc_, lhs, rhs, flags);
    case AffineExprKind::Mul:
      return builder_.createOrFold<arith::MulIOp>(loc_, lhs, rhs, flags);
    case AffineExprKind::FloorDiv:
      return EmitFloorDiv(lhs, rhs, !IsNotNegative(range));
    case AffineExprKind::Mod:
      return EmitMod(lhs, rhs, !IsNotNegative(range));
    default:
      return absl::InvalidArgumentError(
          absl::StrCat(ExprText(expr), " is no sum, product, floordiv or mod"));
  }
}

Value ExprEmitter::EmitFloorDiv(Value dividend, Value divisor, bool is_signed) {
  if (!is_signed) return builder_.createOrFold<arith::DivUIOp>(loc_, dividend, divisor);
  const Value zero = EmitConstant(0);
  const Value minus_one = EmitConstant(-1);
  const auto complement = [&](Value value) {
    return builder_.createOrFold<arith::SubIOp>(loc_, minus_one, value);
  };
  const Value is_negative =
      builder_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt, dividend, zero);
  const Value magnitude =
      builder_.createOrFold<arith::SelectOp>(loc_, is_negative, complement(dividend), dividend);
  const Value quotient = builder_.createOrFold<arith::DivUIOp>(loc_, magnitude, divisor);
  return builder_.createOrFold<arith::SelectOp>(loc_, is_negative, complement(quotient), quotient);
}

Value ExprEmitter::EmitMod(Value dividend, Value divisor, bool is_signed) {
  if (!is_signed) return builder_.createOrFold<arith::RemUIOp>(loc_, dividend, divisor);
  const Value remainder = builder_.createOrFold<arith::RemSIOp>(loc_, dividend, divisor);
  const Value is_negative = builder_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt,
                                                                 remainder, EmitConstant(0));
  const Value moved = builder_.createOrFold<arith::AddIOp>(loc_, remainder, divisor);
  return builder_.createOrFold<arith::SelectOp>(loc_, is_negative, moved, remainder);
}

Value ExprEmitter::EmitAnd(Value a, Value b) {
  if (!a || !b) return a ? a : b;
  return builder_.createOrFold<arith::AndIOp>(loc_, a, b);
}

Value ExprEmitter::EmitIsIn(Value value, const Interval& range, const Interval& interval) {
  if (range.IsSubsetOf(interval)) return nullptr;
  if (range.Intersect(interval).IsEmpty()) {
    return arith::ConstantOp::create(builder_, loc_, builder_.getBoolAttr(false));
  }
  // Here each end that the range passes is within the range, and so within the type.
  Value holds;
  if (interval.has_lower() && !range.IsSubsetOf(Interval::AtLeast(interval.lower()))) {
    holds = builder_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sge, value,
                                                 EmitConstant(interval.lower()));
  }
  if (interval.has_upper() && !range.IsSubsetOf(Interval::AtMost(interval.upper()))) {
    holds =
        EmitAnd(holds, builder_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, value,
                                                            EmitConstant(interval.upper())));
  }
  return holds;
}

absl::StatusOr<Value> ExprEmitter::EmitHolds(const Constraint& constraint) {
  const Interval range = RangeOfNumber(constraint.expr);
  if (range.IsSubsetOf(constraint.interval)) return Value();
  XLA_INDEXING_ASSIGN_OR_RETURN(Value value, Emit(constraint.expr));
  return EmitIsIn(value, range, constraint.interval);
}

}  // namespace xla_indexing::internal

#include "xla_indexing/lowering/index/apply_indexing.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/lowering/index/expr_emitter.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using mlir::Value;

// The type of the arguments of a map.
absl::StatusOr<mlir::Type> TypeOfArguments(mlir::OpBuilder& builder, const IndexingMap& map,
                                           mlir::ValueRange dims, mlir::ValueRange symbols) {
  if (static_cast<int>(dims.size()) != map.num_dims() ||
      static_cast<int>(symbols.size()) != map.num_symbols()) {
    return absl::InvalidArgumentError(absl::StrCat(dims.size(), " dimensions and ", symbols.size(),
                                                   " symbols for a map of ", map.num_dims(),
                                                   " and ", map.num_symbols()));
  }
  if (builder.getContext() != map.context()) {
    return absl::InvalidArgumentError("the map is of another MLIRContext than the builder");
  }
  mlir::Type type = builder.getIndexType();
  if (!dims.empty()) {
    type = dims.front().getType();
  } else if (!symbols.empty()) {
    type = symbols.front().getType();
  }
  for (const mlir::ValueRange& values : {dims, symbols}) {
    for (const Value value : values) {
      if (value.getType() != type) {
        return absl::InvalidArgumentError("the arguments of a map are of several types");
      }
    }
  }
  if (internal::NumbersOfType(type).IsEmpty()) {
    return absl::InvalidArgumentError("the arguments of a map are of no type index, i32 or i64");
  }
  return type;
}

// The intervals of the map with what is known of the arguments, without the map's own constraints.
absl::StatusOr<IndexingMap> KnownBox(const IndexingMap& map, const IndexingMap* known,
                                     const Interval& of_type) {
  if (known != nullptr &&
      (known->num_dims() != map.num_dims() || known->num_symbols() != map.num_symbols())) {
    return absl::InvalidArgumentError("what is known of the arguments is over other variables");
  }
  const auto meet = [&](const Variable& variable, const Variable* other) {
    const Interval bounds = variable.bounds.Intersect(of_type);
    return Variable{other == nullptr ? bounds : bounds.Intersect(other->bounds), {}};
  };
  Variables dims;
  Variables symbols;
  for (int i = 0; i < map.num_dims(); ++i) {
    dims.push_back(meet(map.dims()[i], known == nullptr ? nullptr : &known->dims()[i]));
  }
  for (int i = 0; i < map.num_symbols(); ++i) {
    symbols.push_back(meet(map.symbol(i), known == nullptr ? nullptr : &known->symbol(i)));
  }
  return IndexingMap::Create(mlir::AffineMap::get(map.num_dims(), map.num_symbols(), map.context()),
                             std::move(dims), std::move(symbols), {},
                             known == nullptr ? Constraints() : Constraints(known->constraints()));
}

// Checks the intervals of variables, and clamps the values that constraints speak of to them.
class BoundsChecker {
 public:
  BoundsChecker(mlir::OpBuilder& builder, mlir::Location loc, internal::ExprEmitter& emitter,
                const IndexingMap& map)
      : builder_(builder),
        loc_(loc),
        emitter_(emitter),
        is_constrained_(map.num_dims() + map.num_symbols()) {
    for (const Constraint& constraint : map.constraints()) {
      for (const int variable : internal::VariablesOf(constraint.expr, map.num_dims())) {
        is_constrained_[variable] = true;
      }
    }
  }

  void Check(int variable, Value* value, const Interval& range, const Interval& bounds) {
    holds_ = emitter_.EmitAnd(holds_, emitter_.EmitIsIn(*value, range, bounds));
    const Interval inside = range.Intersect(bounds);
    if (inside.IsEmpty() || !is_constrained_[variable]) return;
    if (range.lower() < inside.lower()) {
      *value = builder_.createOrFold<mlir::arith::MaxSIOp>(loc_, *value,
                                                           emitter_.EmitConstant(inside.lower()));
    }
    if (range.upper() > inside.upper()) {
      *value = builder_.createOrFold<mlir::arith::MinSIOp>(loc_, *value,
                                                           emitter_.EmitConstant(inside.upper()));
    }
  }

  Value holds() const { return holds_; }

 private:
  mlir::OpBuilder& builder_;
  mlir::Location loc_;
  internal::ExprEmitter& emitter_;
  llvm::SmallVector<bool, 8> is_constrained_;  // by variable: dimensions, then symbols
  Value holds_;
};

Value EmitBool(mlir::OpBuilder& builder, mlir::Location loc, bool value) {
  return mlir::arith::ConstantOp::create(builder, loc, builder.getBoolAttr(value));
}

MlirValues ApplyAffine(mlir::OpBuilder& builder, mlir::Location loc, const IndexingMap& map,
                       mlir::ValueRange dims, mlir::ValueRange symbols) {
  llvm::SmallVector<Value, 8> operands(dims.begin(), dims.end());
  operands.append(symbols.begin(), symbols.end());
  MlirValues values;
  for (const mlir::AffineExpr result : map.results()) {
    values.push_back(builder.createOrFold<mlir::affine::AffineApplyOp>(
        loc, mlir::AffineMap::get(map.num_dims(), map.num_symbols(), result), operands));
  }
  return values;
}

}  // namespace

absl::StatusOr<MlirValues> ApplyIndexing(mlir::OpBuilder& builder, mlir::Location loc,
                                         const IndexingMap& map, mlir::ValueRange dims,
                                         mlir::ValueRange symbols, IndexArithmetic arithmetic) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type type,
                                TypeOfArguments(builder, map, dims, symbols));
  internal::ExprEmitter emitter(builder, loc, map, type, dims, symbols);
  if (arithmetic == IndexArithmetic::kAffine) {
    if (!type.isIndex()) {
      return absl::InvalidArgumentError("affine.apply takes arguments of type index");
    }
    for (const mlir::AffineExpr result : map.results()) {
      const Interval numbers = internal::NumbersOnTheWay(map, result);
      if (!numbers.IsSubsetOf(internal::NumbersOfType(type))) {
        return absl::OutOfRangeError(
            absl::StrCat("a result has numbers in ", numbers.ToString(), " on the way"));
      }
    }
    return ApplyAffine(builder, loc, map, dims, symbols);
  }
  MlirValues values;
  for (const mlir::AffineExpr result : map.results()) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value value, emitter.Emit(result));
    values.push_back(value);
  }
  return values;
}

absl::StatusOr<Value> CheckDomain(mlir::OpBuilder& builder, mlir::Location loc,
                                  const IndexingMap& map, mlir::ValueRange dims,
                                  mlir::ValueRange symbols, const IndexingMap* known) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type type,
                                TypeOfArguments(builder, map, dims, symbols));
  const Interval of_type = internal::NumbersOfType(type);
  XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap box, KnownBox(map, known, of_type));
  if (map.IsKnownEmpty() || box.IsKnownEmpty()) return EmitBool(builder, loc, false);
  MlirValues clamped_dims(dims);
  MlirValues clamped_symbols(symbols);
  internal::ExprEmitter of_arguments(builder, loc, box, type, dims, symbols);
  BoundsChecker checker(builder, loc, of_arguments, map);
  const auto range = [&](const Interval* bounds) {
    return bounds == nullptr ? of_type : of_type.Intersect(*bounds);
  };
  for (int i = 0; i < map.num_dims(); ++i) {
    checker.Check(i, &clamped_dims[i], range(known == nullptr ? nullptr : &known->dims()[i].bounds),
                  map.dims()[i].bounds);
  }
  for (int i = 0; i < map.num_symbols(); ++i) {
    checker.Check(map.num_dims() + i, &clamped_symbols[i],
                  range(known == nullptr ? nullptr : &known->symbol(i).bounds),
                  map.symbol(i).bounds);
  }
  // What else is known of the arguments need not hold of clamped ones.
  const IndexingMap intervals(kPartsFit, box.affine_map(), Variables(box.dims()),
                              Variables(box.ranges()), {});
  internal::ExprEmitter emitter(builder, loc, checker.holds() ? intervals : box, type, clamped_dims,
                                clamped_symbols);
  Value holds = checker.holds();
  for (const Constraint& constraint : map.constraints()) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value each, emitter.EmitHolds(constraint));
    holds = emitter.EmitAnd(holds, each);
  }
  return holds ? holds : EmitBool(builder, loc, true);
}

absl::StatusOr<mlir::Type> NarrowestIndexType(const IndexingMap& map) {
  const IndexingMap box(kPartsFit, map.affine_map(), Variables(map.dims()), Variables(map.ranges()),
                        Variables(map.runtimes()));
  Interval numbers;
  for (const mlir::AffineExpr result : map.results()) {
    numbers = numbers.Union(internal::NumbersOnTheWay(box, result));
  }
  for (const Constraint& constraint : map.constraints()) {
    numbers = numbers.Union(internal::NumbersOnTheWay(box, constraint.expr));
  }
  for (const unsigned width : {32, 64}) {
    const mlir::Type type = mlir::IntegerType::get(map.context(), width);
    if (numbers.IsSubsetOf(internal::NumbersOfType(type))) return type;
  }
  return absl::OutOfRangeError(
      absl::StrCat("numbers on the way are in ", numbers.ToString(), ", which i64 does not hold"));
}

}  // namespace xla_indexing

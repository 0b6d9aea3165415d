// Affine expressions as operations of `arith`.
//
// Mathematics. Every number on the way, e.g. d0 * 4 of d0 * 4 + d1, is in the range that the domain of
// a map gives it (RangeOf of map/common_maps.h). That range decides
//
//   whether the type holds it   OutOfRange where it does not: never a wrong value
//   nsw                         always: no number wraps
//   nuw                         where both operands are not negative
//   e floordiv c, e mod c       divui, remui where e is not negative; otherwise, with n = e < 0,
//                                 floor(e / c) = n ? -1 - (-1 - e) / c : e / c
//                                 e mod c      = r < 0 ? r + c : r,  r = remsi(e, c)
//
// so the values are right, and none is poison, at the points of the domain alone.
#ifndef XLA_INDEXING_LOWERING_INDEX_EXPR_EMITTER_H_
#define XLA_INDEXING_LOWERING_INDEX_EXPR_EMITTER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// The numbers that index, i32 or i64 holds (index: those of 64 bits); empty for other types.
Interval NumbersOfType(mlir::Type type);

// The hull of the numbers on the way to the value of `expr` in the domain of `map`, itself and
// constants included.
Interval NumbersOnTheWay(const IndexingMap& map, mlir::AffineExpr expr);

class ExprEmitter {
 public:
  // `dims` and `symbols`, all of `type`, are a point of the domain of `domain`, which has to outlive
  // this.
  ExprEmitter(mlir::OpBuilder& builder, mlir::Location loc, const IndexingMap& domain,
              mlir::Type type, mlir::ValueRange dims, mlir::ValueRange symbols);

  // Each subexpression is emitted once. OutOfRange, naming the expression and its range.
  absl::StatusOr<mlir::Value> Emit(mlir::AffineExpr expr);

  // Whether a value of range `range` is in `interval`, by the comparisons that the range leaves open. Null if it
  // always is, a constant false if it never is.
  mlir::Value EmitIsIn(mlir::Value value, const Interval& range, const Interval& interval);
  // Likewise of the value of an expression.
  absl::StatusOr<mlir::Value> EmitHolds(const Constraint& constraint);
  // `a` and `b`, each of which may be null: it holds.
  mlir::Value EmitAnd(mlir::Value a, mlir::Value b);

  mlir::Value EmitConstant(int64_t value);
  Interval RangeOfNumber(mlir::AffineExpr expr);

 private:
  absl::StatusOr<mlir::Value> EmitBinary(mlir::AffineBinaryOpExpr expr);
  mlir::Value EmitFloorDiv(mlir::Value dividend, mlir::Value divisor, bool is_signed);
  mlir::Value EmitMod(mlir::Value dividend, mlir::Value divisor, bool is_signed);

  mlir::OpBuilder& builder_;
  mlir::Location loc_;
  const IndexingMap& domain_;
  mlir::Type type_;
  llvm::SmallVector<mlir::Value, 8> dims_;
  llvm::SmallVector<mlir::Value, 8> symbols_;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> emitted_;
  llvm::DenseMap<mlir::AffineExpr, Interval> ranges_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LOWERING_INDEX_EXPR_EMITTER_H_

#include "xla_indexing/lowering/index/emit_loop_nest.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/lowering/index/expr_emitter.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using mlir::AffineExpr;
using mlir::Value;

// A constraint that is a bound of a range variable: lower <= s and s < upper, either null.
struct LoopBound {
  AffineExpr lower;
  AffineExpr upper;
};

class LoopNestEmitter {
 public:
  LoopNestEmitter(mlir::OpBuilder& builder, mlir::Location loc, const IndexingMap& map,
                  mlir::ValueRange dims, mlir::ValueRange runtimes, LoopBody body)
      : builder_(builder),
        loc_(loc),
        map_(map),
        intervals_(kPartsFit, map.affine_map(), Variables(map.dims()), Variables(map.ranges()),
                   Variables(map.runtimes())),
        dims_(dims.begin(), dims.end()),
        runtimes_(runtimes.begin(), runtimes.end()),
        body_(body),
        bounds_(map.num_ranges()),
        guards_(map.num_ranges() + 1) {
    for (const Constraint& constraint : map.constraints()) Place(constraint);
  }

  // The loops from number `loop` on, and the guards before them.
  absl::StatusOr<MlirValues> Emit(int loop, mlir::ValueRange carried) {
    internal::ExprEmitter emitter = EmitterOutside();
    Value holds;
    for (const Constraint& guard : guards_[loop]) {
      XLA_INDEXING_ASSIGN_OR_RETURN(const Value each, emitter.EmitHolds(guard));
      holds = emitter.EmitAnd(holds, each);
    }
    if (!holds) return EmitUnguarded(loop, carried);
    return EmitIf(builder_, loc_, holds, carried, [&] { return EmitUnguarded(loop, carried); });
  }

 private:
  // Puts a constraint where it is looked at.
  void Place(const Constraint& constraint) {
    int outside = 0;  // the first loop outside of which all its variables are known
    for (const int variable : internal::VariablesOf(constraint.expr, map_.num_dims())) {
      const int range = variable - map_.num_dims();
      if (range >= 0 && range < map_.num_ranges()) outside = std::max(outside, range + 1);
    }
    if (outside > 0) {
      if (const std::optional<LoopBound> bound = BoundOf(constraint, outside - 1)) {
        bounds_[outside - 1].push_back(*bound);
        return;
      }
    }
    guards_[outside].push_back(constraint);
  }

  // What s + e in [lo, hi], or -s + e, says of s. Nothing if a number may not fit.
  std::optional<LoopBound> BoundOf(const Constraint& constraint, int range) const {
    const AffineExpr s = mlir::getAffineSymbolExpr(range, map_.context());
    internal::LinearSum rest = internal::LinearSum::FromExpr(constraint.expr);
    const int64_t sign = rest.valid() ? rest.CoefficientOf(s) : 0;
    if (sign != 1 && sign != -1) return std::nullopt;
    rest.RemoveTerm(s);
    const AffineExpr e = rest.ToExpr(map_.context());
    if (!e || internal::HasSymbol(e, range)) return std::nullopt;
    // s >= from and s <= to, in terms of  sign * (end - e).
    const auto solve = [&](int64_t end) {
      return internal::Scale(internal::Sub(internal::Constant(end, map_.context()), e), sign);
    };
    LoopBound bound;
    AffineExpr& from = sign == 1 ? bound.lower : bound.upper;
    AffineExpr& to = sign == 1 ? bound.upper : bound.lower;
    const Interval& interval = constraint.interval;
    // An end that no point is beyond is no bound.
    const Interval known = RangeOf(intervals_, constraint.expr);
    if (interval.has_lower() && !known.IsSubsetOf(Interval::AtLeast(interval.lower()))) {
      from = solve(interval.lower());
      if (!Fits(from)) return std::nullopt;
    }
    if (interval.has_upper() && !known.IsSubsetOf(Interval::AtMost(interval.upper()))) {
      to = solve(interval.upper());
      if (!Fits(to)) return std::nullopt;
    }
    if (bound.upper) {
      bound.upper = internal::Add(bound.upper, internal::Constant(1, map_.context()));
      if (!Fits(bound.upper)) return std::nullopt;
    }
    return bound;
  }

  bool Fits(AffineExpr expr) const {
    return expr && internal::NumbersOnTheWay(intervals_, expr)
                       .IsSubsetOf(internal::NumbersOfType(builder_.getIndexType()));
  }

  internal::ExprEmitter EmitterOutside() {
    llvm::SmallVector<Value, 8> symbols(ranges_.begin(), ranges_.end());
    symbols.resize(map_.num_ranges());
    symbols.append(runtimes_.begin(), runtimes_.end());
    return internal::ExprEmitter(builder_, loc_, intervals_, builder_.getIndexType(), dims_,
                                 symbols);
  }

  absl::StatusOr<MlirValues> EmitUnguarded(int loop, mlir::ValueRange carried) {
    if (loop == map_.num_ranges()) return body_(ranges_, carried);
    internal::ExprEmitter emitter = EmitterOutside();
    const Interval& interval = map_.ranges()[loop].bounds;
    Value from = emitter.EmitConstant(interval.lower());
    Value to = emitter.EmitConstant(interval.upper() + 1);
    for (const LoopBound& bound : bounds_[loop]) {
      if (bound.lower) {
        XLA_INDEXING_ASSIGN_OR_RETURN(const Value lower, emitter.Emit(bound.lower));
        from = builder_.createOrFold<mlir::arith::MaxSIOp>(loc_, from, lower);
      }
      if (bound.upper) {
        XLA_INDEXING_ASSIGN_OR_RETURN(const Value upper, emitter.Emit(bound.upper));
        to = builder_.createOrFold<mlir::arith::MinSIOp>(loc_, to, upper);
      }
    }
    if (interval.IsPoint() && bounds_[loop].empty()) return EmitInside(loop, from, carried);
    auto nest =
        mlir::scf::ForOp::create(builder_, loc_, from, to, emitter.EmitConstant(1), carried);
    const mlir::OpBuilder::InsertionGuard back(builder_);
    builder_.setInsertionPointToStart(nest.getBody());
    absl::StatusOr<MlirValues> next =
        EmitInside(loop, nest.getInductionVar(), nest.getRegionIterArgs());
    if (!next.ok() || carried.empty()) return next;
    builder_.setInsertionPointToEnd(nest.getBody());
    mlir::scf::YieldOp::create(builder_, loc_, *next);
    return MlirValues(nest.getResults());
  }

  absl::StatusOr<MlirValues> EmitInside(int loop, Value range, mlir::ValueRange carried) {
    ranges_.push_back(range);
    absl::StatusOr<MlirValues> values = Emit(loop + 1, carried);
    ranges_.pop_back();
    return values;
  }

  mlir::OpBuilder& builder_;
  mlir::Location loc_;
  const IndexingMap& map_;
  const IndexingMap intervals_;
  MlirValues dims_;
  MlirValues runtimes_;
  LoopBody body_;
  llvm::SmallVector<llvm::SmallVector<LoopBound, 1>, 4> bounds_;  // by loop
  llvm::SmallVector<Constraints, 4> guards_;  // by the loop that they are outside of
  MlirValues ranges_;                         // of the loops around
};

}  // namespace

absl::StatusOr<MlirValues> EmitLoopNest(mlir::OpBuilder& builder, mlir::Location loc,
                                        const IndexingMap& map, mlir::ValueRange dims,
                                        mlir::ValueRange runtimes, mlir::ValueRange inits,
                                        LoopBody body) {
  if (static_cast<int>(dims.size()) != map.num_dims() ||
      static_cast<int>(runtimes.size()) != map.num_runtimes()) {
    return absl::InvalidArgumentError(absl::StrCat(dims.size(), " dimensions and ", runtimes.size(),
                                                   " runtime values for a map of ", map.num_dims(),
                                                   " and ", map.num_runtimes()));
  }
  for (const mlir::ValueRange& values : {dims, runtimes}) {
    if (llvm::any_of(values, [](Value value) { return !value.getType().isIndex(); })) {
      return absl::InvalidArgumentError("loops take arguments of type index");
    }
  }
  if (map.IsKnownEmpty()) return MlirValues(inits);
  for (int i = 0; i < map.num_ranges(); ++i) {
    const Interval& bounds = map.ranges()[i].bounds;
    if (!bounds.IsFinite() || bounds.upper() == INT64_MAX) {
      return absl::InvalidArgumentError(absl::StrCat(
          "range variable ", i, " is in ", bounds.ToString(), ", over which no loop can go"));
    }
  }
  return LoopNestEmitter(builder, loc, map, dims, runtimes, body).Emit(0, inits);
}

absl::StatusOr<MlirValues> EmitIf(mlir::OpBuilder& builder, mlir::Location loc, Value holds,
                                  mlir::ValueRange otherwise,
                                  absl::FunctionRef<absl::StatusOr<MlirValues>()> then) {
  if (mlir::matchPattern(holds, mlir::m_One())) return then();
  if (mlir::matchPattern(holds, mlir::m_Zero())) return MlirValues(otherwise);
  auto branch = mlir::scf::IfOp::create(builder, loc, otherwise.getTypes(), holds,
                                        /*withElseRegion=*/!otherwise.empty());
  const mlir::OpBuilder::InsertionGuard back(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  absl::StatusOr<MlirValues> values = then();
  if (!values.ok() || otherwise.empty()) return values;
  builder.setInsertionPointToEnd(branch.thenBlock());
  mlir::scf::YieldOp::create(builder, loc, *values);
  builder.setInsertionPointToEnd(branch.elseBlock());
  mlir::scf::YieldOp::create(builder, loc, otherwise);
  return MlirValues(branch.getResults());
}

}  // namespace xla_indexing

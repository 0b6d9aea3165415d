#include "xla_indexing/map/simplify/window_sums.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/wide_interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/expr/replace_variables.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// factor * s + rest in interval, factor > 0.
struct WindowConstraint {
  int64_t factor;
  LinearSum rest;
  Interval interval;
};

class Joining {
 public:
  Joining(const IndexingMap& map, llvm::ArrayRef<LinearSum> results, int high, int low)
      : map_(map),
        results_(results),
        symbols_{high, low},
        high_(mlir::getAffineSymbolExpr(high, map.context())),
        low_(mlir::getAffineSymbolExpr(low, map.context())),
        joined_(map) {}

  // The map with `low` for sign * (n * high + low) + offset; nullopt if that is not to be done.
  std::optional<IndexingMap> Join() {
    if (!FindSum() || HasHopelessWindow() || !Replace() || !EliminateHigh() ||
        kept_.size() > map_.constraints().size()) {
      return std::nullopt;
    }
    return IndexingMap(kPartsFit, joined_.affine_map(), Variables(joined_.dims()),
                       Variables(joined_.ranges()), Variables(joined_.runtimes()),
                       std::move(kept_));
  }

 private:
  bool HasHigh(AffineExpr expr) const { return HasSymbol(expr, symbols_[0]); }
  bool HasEither(AffineExpr expr) const { return HasHigh(expr) || HasSymbol(expr, symbols_[1]); }
  // Finds n, and what the new variable is. No result has just one of the two.
  bool FindSum();
  bool HasBothOrNone(const LinearSum& sum);
  // Whether it is evident that EliminateHigh() would not be done, before anything is replaced.
  bool HasHopelessWindow() const;
  // Brings in the new variable, and tells the constraints on `high` from the others.
  bool Replace();
  // The sum that the expression is, in which `high` is in no dividend, if possible.
  LinearSum WithHighApart(AffineExpr expr);
  bool Add(LinearSum sum, const Interval& interval);
  bool EliminateHigh();
  bool Meet(const WindowConstraint& a, const WindowConstraint& b);
  bool Keep(LinearSum sum, const Interval& interval);
  void Narrow(AffineExpr variable, const Interval& interval);

  const IndexingMap& map_;
  const llvm::ArrayRef<LinearSum> results_;
  const int symbols_[2];
  const AffineExpr high_;
  const AffineExpr low_;
  IndexingMap joined_;  // its constraints count for nothing
  int64_t n_ = 0;
  // Where a result is the sum alone, the new variable is this result.
  int64_t sign_ = 1;
  int64_t offset_ = 0;
  llvm::SmallVector<WindowConstraint, 4> windows_;               // of `high`
  llvm::SmallVector<std::pair<LinearSum, Interval>, 4> others_;  // constraints without it
  Constraints kept_;
  std::optional<ExprSimplifier> simplifier_;
};

bool Joining::FindSum() {
  if (!llvm::all_of(results_, [&](const LinearSum& sum) { return HasBothOrNone(sum); }) ||
      n_ == 0) {
    return false;
  }
  for (const LinearSum& sum : results_) {
    const int64_t of_low = sum.CoefficientOf(low_);
    if (sum.terms().size() != 2 || (of_low != 1 && of_low != -1) ||
        sum.CoefficientOf(high_) != of_low * n_) {
      continue;
    }
    sign_ = of_low;
    offset_ = sum.constant();
    break;
  }
  return true;
}

bool Joining::HasBothOrNone(const LinearSum& sum) {
  const int64_t of_low = sum.CoefficientOf(low_);
  const int64_t of_high = sum.CoefficientOf(high_);
  if (!sum.valid() || (of_low == 0) != (of_high == 0)) return false;
  if (of_low != 0 && n_ == 0) {
    if (of_high == kInt64Min || of_high % of_low != 0) return false;
    n_ = of_high / of_low;
  }
  return llvm::all_of(sum.terms(), [&](const Term& term) {
    const auto division = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(term.atom);
    return !division || !HasEither(division) ||
           HasBothOrNone(LinearSum::FromExpr(division.getLHS()));
  });
}

bool Joining::HasHopelessWindow() const {
  // c*high + e has windows of at least c values that are not one, where high is no variable any more.
  const auto is_hopeless = [](int64_t factor, const Interval& interval) {
    const std::optional<int64_t> size = interval.Size();
    return factor != 0 && size && (*size == 1 || *size < factor || *size < -factor);
  };
  if (is_hopeless(1, map_.ranges()[symbols_[0]].bounds) ||
      is_hopeless(n_, map_.ranges()[symbols_[1]].bounds)) {
    return true;
  }
  return llvm::any_of(map_.constraints(), [&](const Constraint& constraint) {
    if (!HasEither(constraint.expr)) return false;
    const LinearSum sum = LinearSum::FromExpr(constraint.expr);
    const auto in_division = [&](AffineExpr variable, int symbol) {
      return llvm::any_of(sum.terms(), [&](const Term& term) {
        return term.atom != variable && HasSymbol(term.atom, symbol);
      });
    };
    if (in_division(low_, symbols_[1])) return false;
    // The division does not change, and is in normal form.
    if (in_division(high_, symbols_[0])) return true;
    const std::optional<int64_t> of_low = CheckedMul(sum.CoefficientOf(low_), n_);
    const std::optional<int64_t> factor =
        of_low ? CheckedSub(sum.CoefficientOf(high_), *of_low) : std::nullopt;
    return factor && is_hopeless(*factor, constraint.interval);
  });
}

bool Joining::Replace() {
  const Interval of_high = map_.ranges()[symbols_[0]].bounds;
  const Interval of_low = map_.ranges()[symbols_[1]].bounds;
  const WideInterval sums = WideInterval(of_high).Mul(n_).Add(WideInterval(of_low)).Mul(sign_);
  const std::optional<Interval> range = sums.Add(WideInterval(Interval::Point(offset_))).Narrow();
  LinearSum value_of_low = LinearSum::Of(low_, sign_);
  value_of_low.AddScaled(LinearSum(offset_), -sign_);
  value_of_low.AddScaled(LinearSum::Of(high_, n_), -1);
  llvm::SmallVector<AffineExpr, 8> values(map_.num_symbols());
  values[symbols_[1]] = value_of_low.ToExpr(map_.context());
  if (!range || !range->IsFinite() || range->IsEmpty() || !values[symbols_[1]]) return false;
  Variables ranges(map_.ranges());
  ranges[symbols_[1]].bounds = *range;
  std::optional<IndexingMap> replaced = ReplaceVariables(
      map_, Variables(map_.dims()), std::move(ranges), Variables(map_.runtimes()), {}, values);
  if (!replaced) return false;
  joined_ = *std::move(replaced);
  simplifier_.emplace(map_.context(), joined_.DimBounds(), joined_.SymbolBounds());
  llvm::SmallVector<AffineExpr, 4> results;
  for (const AffineExpr result : joined_.results()) {
    LinearSum sum = WithHighApart(result);
    results.push_back(sum.ToExpr(map_.context()));
    if (!results.back() || HasHigh(results.back())) return false;
  }
  if (!Add(LinearSum::Of(high_), of_high) || !Add(std::move(value_of_low), of_low)) return false;
  for (const Constraint& constraint : joined_.constraints()) {
    if (!Add(WithHighApart(constraint.expr), constraint.interval)) return false;
  }
  joined_ = IndexingMap(
      kPartsFit, mlir::AffineMap::get(map_.num_dims(), map_.num_symbols(), results, map_.context()),
      Variables(joined_.dims()), Variables(joined_.ranges()), Variables(joined_.runtimes()));
  constexpr size_t kManyWindows = 8;
  return windows_.size() <= kManyWindows;
}

LinearSum Joining::WithHighApart(AffineExpr expr) {
  LinearSum sum = LinearSum::FromExpr(expr);
  const bool is_apart = llvm::none_of(
      sum.terms(), [&](const Term& term) { return term.atom != high_ && HasHigh(term.atom); });
  return is_apart ? sum : LinearSum::FromExpr(simplifier_->Simplify(expr));
}

bool Joining::Add(LinearSum sum, const Interval& interval) {
  const int64_t factor = sum.CoefficientOf(high_);
  if (!sum.valid() || factor == kInt64Min) return false;
  sum.RemoveTerm(high_);
  if (llvm::any_of(sum.terms(), [&](const Term& term) { return HasHigh(term.atom); })) return false;
  if (factor == 0) {
    others_.emplace_back(std::move(sum), interval);
    return true;
  }
  std::optional<Interval> of_window = interval;
  if (factor < 0) {
    sum.Scale(-1);
    of_window = WideInterval(interval).Neg().Narrow();
  }
  if (!of_window || !sum.valid()) return false;
  windows_.push_back({factor < 0 ? -factor : factor, std::move(sum), *of_window});
  return true;
}

bool Joining::EliminateHigh() {
  for (const WindowConstraint& window : windows_) {
    const std::optional<int64_t> size = window.interval.Size();
    if (size && (*size < window.factor || *size == 1)) return false;
  }
  for (auto& [sum, interval] : others_) {
    if (!Keep(std::move(sum), interval)) return false;
  }
  for (size_t i = 0; i < windows_.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!Meet(windows_[j], windows_[i])) return false;
    }
  }
  return true;
}

// a.factor * b.rest - b.factor * a.rest in an interval says that the two leave some real number.
bool Joining::Meet(const WindowConstraint& a, const WindowConstraint& b) {
  LinearSum sum = b.rest;
  sum.Scale(a.factor);
  LinearSum of_a = a.rest;
  of_a.Scale(b.factor);
  sum.AddScaled(of_a, -1);
  WideInterval interval =
      WideInterval(b.interval).Mul(a.factor).Add(WideInterval(a.interval).Mul(b.factor).Neg());
  if (!sum.valid() || !of_a.valid()) return false;
  if (a.factor == 1 || b.factor == 1) {
    const std::optional<Interval> narrow = interval.Narrow();
    return narrow && Keep(std::move(sum), *narrow);
  }
  // Between two multiples there may be none of s, unless there is room.
  const Int128 room = (Int128{a.factor} - 1) * (Int128{b.factor} - 1);
  interval = interval.Intersect(interval.Sub(room)).Intersect(interval.Sub(-room));
  const AffineExpr expr = sum.ToExpr(map_.context());
  return expr && WideInterval(simplifier_->Range(expr)).IsSubsetOf(interval);
}

bool Joining::Keep(LinearSum sum, const Interval& interval) {
  Constraint constraint{sum.ToExpr(map_.context()), interval};
  if (!constraint.expr) return false;
  const ConstraintState state =
      NormalizeConstraint(*simplifier_, constraint,
                          [&](AffineExpr variable, Interval bounds) { Narrow(variable, bounds); });
  if (state != ConstraintState::kKept) return state == ConstraintState::kImplied;
  auto* const same =
      llvm::find_if(kept_, [&](const Constraint& other) { return other.expr == constraint.expr; });
  if (same != kept_.end()) {
    same->interval = same->interval.Intersect(constraint.interval);
    return !same->interval.IsEmpty();
  }
  kept_.push_back(constraint);
  // What is kept may say those that come later.
  simplifier_->Assume(LinearSum::FromExpr(constraint.expr), constraint.interval);
  return true;
}

void Joining::Narrow(AffineExpr variable, const Interval& interval) {
  Interval* bounds = nullptr;
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable)) {
    bounds = &joined_.mutable_dim(static_cast<int>(dim.getPosition())).bounds;
  } else {
    const auto symbol =
        static_cast<int>(llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition());
    bounds = symbol < joined_.num_ranges()
                 ? &joined_.mutable_range(symbol).bounds
                 : &joined_.mutable_runtime(symbol - joined_.num_ranges()).bounds;
  }
  *bounds = bounds->Intersect(interval);
}

}  // namespace

bool JoinWindows(IndexingMap* map) {
  if (IsOff(Engine::kRangeWindows)) return false;
  if (map->IsKnownEmpty()) return false;
  bool changed = false;
  for (bool again = true; again && !QuestionBudget::IsSpent();) {
    again = false;
    llvm::SmallVector<LinearSum, 4> results;
    for (const AffineExpr result : map->results()) results.push_back(LinearSum::FromExpr(result));
    // Range variables that a result is not by itself, nor a multiple of.
    llvm::SmallVector<int, 8> in_sums;
    for (int range = 0; range < map->num_ranges(); ++range) {
      const AffineExpr variable = mlir::getAffineSymbolExpr(range, map->context());
      if (llvm::any_of(results, [&](const LinearSum& sum) {
            return llvm::any_of(sum.terms(), [&](const Term& term) {
              return term.atom == variable ? sum.terms().size() > 1 : HasSymbol(term.atom, range);
            });
          })) {
        in_sums.push_back(range);
      }
    }
    for (const int high : in_sums) {
      for (const int low : in_sums) {
        if (high == low || again) continue;
        if (std::optional<IndexingMap> joined = Joining(*map, results, high, low).Join()) {
          *map = *std::move(joined);
          again = true;
        }
      }
    }
    changed = changed || again;
  }
  return changed;
}

}  // namespace xla_indexing::internal

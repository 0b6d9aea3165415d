#include "xla_indexing/map/internal/window_sums.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/internal/wide_interval.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/internal/constraint_form.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// factor * s + rest in interval, factor > 0.
struct Window {
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

  // The map with `low` in the place of n * high + low; none where that is not to be done.
  std::optional<IndexingMap> Join() {
    if (!FindFactor() || !ReplaceInResults() || !CollectWindows() || !EliminateHigh() ||
        kept_.size() > map_.constraints().size()) {
      return std::nullopt;
    }
    return IndexingMap(kPartsFit, joined_.affine_map(), Variables(joined_.dims()),
                       Variables(joined_.ranges()), Variables(joined_.runtimes()),
                       std::move(kept_));
  }

 private:
  bool OnlyInSums(const LinearSum& sum) const {
    return sum.valid() && llvm::none_of(symbols_, [&](int symbol) {
             return llvm::any_of(sum.terms(), [symbol](const Term& term) {
               return !llvm::isa<mlir::AffineSymbolExpr>(term.atom) &&
                      term.atom.isFunctionOfSymbol(symbol);
             });
           });
  }
  bool FindFactor();
  bool ReplaceInResults();
  bool CollectWindows();
  bool EliminateHigh();
  bool Meet(const Window& a, const Window& b);
  bool Keep(LinearSum sum, const Interval& interval);
  void Narrow(AffineExpr variable, const Interval& interval);

  const IndexingMap& map_;
  const llvm::ArrayRef<LinearSum> results_;
  const int symbols_[2];
  const AffineExpr high_;
  const AffineExpr low_;
  IndexingMap joined_;  // its constraints count for nothing
  int64_t n_ = 0;
  llvm::SmallVector<Window, 4> windows_;                         // of `high`
  llvm::SmallVector<std::pair<LinearSum, Interval>, 4> others_;  // constraints without it
  Constraints kept_;
  std::optional<ExprSimplifier> simplifier_;
};

// n, by which the results have n * high + low and nothing else of the two.
bool Joining::FindFactor() {
  for (const LinearSum& sum : results_) {
    const int64_t of_low = sum.CoefficientOf(low_);
    const int64_t of_high = sum.CoefficientOf(high_);
    if (of_low == 0 && of_high == 0) continue;
    if (of_low == 0 || of_high == 0 || of_high == kInt64Min || of_high % of_low != 0) return false;
    const int64_t n = of_high / of_low;
    if (n < 1 || (n_ != 0 && n != n_)) return false;
    n_ = n;
  }
  return n_ != 0 && llvm::all_of(results_, [&](const LinearSum& sum) { return OnlyInSums(sum); });
}

bool Joining::ReplaceInResults() {
  const Interval of_high = map_.ranges()[symbols_[0]].bounds;
  const Interval of_low = map_.ranges()[symbols_[1]].bounds;
  const std::optional<Interval> sums =
      WideInterval(of_high).Mul(n_).Add(WideInterval(of_low)).Narrow();
  const std::optional<Interval> minus_low = WideInterval(of_low).Neg().Narrow();
  if (!sums || !minus_low || !sums->IsFinite() || sums->IsEmpty()) return false;
  llvm::SmallVector<AffineExpr, 4> results;
  for (LinearSum sum : results_) {
    sum.RemoveTerm(high_);
    results.push_back(sum.ToExpr(map_.context()));
    if (!results.back()) return false;
  }
  joined_ = IndexingMap(
      kPartsFit, mlir::AffineMap::get(map_.num_dims(), map_.num_symbols(), results, map_.context()),
      Variables(map_.dims()), Variables(map_.ranges()), Variables(map_.runtimes()));
  joined_.mutable_range(symbols_[1]).bounds = *sums;
  windows_.push_back({1, LinearSum(0), of_high});
  windows_.push_back({n_, LinearSum::Of(low_, -1), *minus_low});
  return true;
}

// Tells the constraints on `high` from the others, once `low` is the sum of both.
bool Joining::CollectWindows() {
  for (const Constraint& constraint : map_.constraints()) {
    LinearSum sum = LinearSum::FromExpr(constraint.expr);
    const int64_t of_low = sum.CoefficientOf(low_);
    if (!OnlyInSums(sum) || of_low == kInt64Min) return false;
    sum.AddScaled(LinearSum::Of(high_, n_), -of_low);
    const int64_t factor = sum.CoefficientOf(high_);
    if (!sum.valid() || factor == kInt64Min) return false;
    if (factor == 0) {
      others_.emplace_back(std::move(sum), constraint.interval);
      continue;
    }
    sum.RemoveTerm(high_);
    std::optional<Interval> interval = constraint.interval;
    if (factor < 0) {
      sum.Scale(-1);
      interval = WideInterval(*interval).Neg().Narrow();
    }
    if (!interval || !sum.valid()) return false;
    windows_.push_back({factor < 0 ? -factor : factor, std::move(sum), *interval});
  }
  constexpr size_t kManyWindows = 8;
  return windows_.size() <= kManyWindows;
}

bool Joining::EliminateHigh() {
  for (const Window& window : windows_) {
    const std::optional<int64_t> size = window.interval.Size();
    if (size && *size < window.factor) return false;
  }
  simplifier_.emplace(map_.context(), joined_.DimBounds(), joined_.SymbolBounds());
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
bool Joining::Meet(const Window& a, const Window& b) {
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
  if (map->IsKnownEmpty()) return false;
  bool changed = false;
  for (bool again = true; again && !QuestionBudget::IsSpent();) {
    again = false;
    llvm::SmallVector<LinearSum, 4> results;
    for (const AffineExpr result : map->results()) results.push_back(LinearSum::FromExpr(result));
    // Range variables that stand in a sum of a result with others.
    llvm::SmallVector<int, 8> in_sums;
    for (const LinearSum& sum : results) {
      if (sum.terms().size() < 2) continue;
      for (const Term& term : sum.terms()) {
        const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom);
        if (!symbol || static_cast<int>(symbol.getPosition()) >= map->num_ranges()) continue;
        if (const auto position = static_cast<int>(symbol.getPosition());
            !llvm::is_contained(in_sums, position)) {
          in_sums.push_back(position);
        }
      }
    }
    llvm::sort(in_sums);
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

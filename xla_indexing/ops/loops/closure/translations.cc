#include "xla_indexing/ops/loops/closure/translations.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/loops/body/timed_map.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// What an iteration does to each dimension: it adds a number, or (none) replaces it.
using Shifts = llvm::SmallVector<std::optional<int64_t>, 4>;

// The difference of two expressions where the domain of the map makes it constant.
std::optional<int64_t> Difference(AffineExpr a, AffineExpr b, const IndexingMap& map) {
  const AffineExpr difference = Sub(a, b);
  if (const auto constant = ConstantIn(difference)) return constant;
  // Where e = c, multiples of e - c may be added.
  for (const Constraint& constraint : map.constraints()) {
    if (!constraint.interval.IsPoint()) continue;
    const AffineExpr zero =
        Sub(constraint.expr, Constant(constraint.interval.lower(), map.context()));
    for (const int64_t factor : {1, -1}) {
      if (const auto constant = ConstantIn(Add(difference, Scale(zero, factor)))) return constant;
    }
  }
  return std::nullopt;
}

// How an expression changes along shifts.
enum class Change : uint8_t { kNone, kUp, kDown, kAnyhow };

Change Opposite(Change change) {
  if (change == Change::kUp) return Change::kDown;
  return change == Change::kDown ? Change::kUp : change;
}

// How much an expression of dimensions grows in each step; nullopt if that differs.
std::optional<int64_t> GrowthOf(AffineExpr expr, const Shifts& shifts) {
  const LinearSum sum = LinearSum::FromExpr(expr);
  if (!sum.valid()) return std::nullopt;
  Int128 growth = 0;
  for (const Term& term : sum.terms()) {
    const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(term.atom);
    if (!dim) {
      if (llvm::isa<mlir::AffineSymbolExpr>(term.atom)) continue;
      return std::nullopt;
    }
    const std::optional<int64_t>& shift = shifts[dim.getPosition()];
    if (!shift) return std::nullopt;
    growth += static_cast<Int128>(term.coefficient) * *shift;
  }
  return NarrowToInt64(growth);
}

// How much e mod n grows in each step until it wraps around: less than n, up or down; 0 for any other
// expression, or where e does not change.
int64_t GrowthOfRemainder(AffineExpr atom, const Shifts& shifts) {
  const auto division = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(atom);
  if (!division || atom.getKind() != mlir::AffineExprKind::Mod) return 0;
  const std::optional<int64_t> size = ConstantIn(division.getRHS());
  const std::optional<int64_t> growth = GrowthOf(division.getLHS(), shifts);
  return size && growth && -*size < *growth && *growth < *size ? *growth : 0;
}

// As long as no remainder wraps around, if there may be such.
Change ChangeOf(AffineExpr expr, const Shifts& shifts, bool may_have_remainders = true) {
  const LinearSum sum = LinearSum::FromExpr(expr);
  if (!sum.valid()) return Change::kAnyhow;
  Int128 slope = 0;
  Change all = Change::kNone;
  const auto add = [&](Change change) {
    if (change == Change::kNone || all == change) return;
    all = all == Change::kNone ? change : Change::kAnyhow;
  };
  for (const Term& term : sum.terms()) {
    if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(term.atom)) {
      const std::optional<int64_t>& shift = shifts[dim.getPosition()];
      if (!shift) return Change::kAnyhow;
      slope += static_cast<Int128>(term.coefficient) * *shift;
    } else if (const int64_t growth = GrowthOfRemainder(term.atom, shifts); growth != 0) {
      if (!may_have_remainders) return Change::kAnyhow;
      slope += static_cast<Int128>(term.coefficient) * growth;
    } else if (const auto division = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(term.atom)) {
      const Change change = ChangeOf(division.getLHS(), shifts, /*may_have_remainders=*/false);
      if (change == Change::kNone) continue;
      if (term.atom.getKind() != mlir::AffineExprKind::FloorDiv) return Change::kAnyhow;
      add(term.coefficient > 0 ? change : Opposite(change));
    }
  }
  if (slope != 0) add(slope > 0 ? Change::kUp : Change::kDown);
  return all;
}

// The remainders of constraints that change from step to step.
llvm::SmallVector<AffineExpr, 2> RemaindersThatChange(const IndexingMap& map,
                                                      const Shifts& shifts) {
  llvm::SmallVector<AffineExpr, 2> remainders;
  for (const Constraint& constraint : map.constraints()) {
    const LinearSum sum = LinearSum::FromExpr(constraint.expr);
    for (const Term& term : sum.terms()) {
      if (GrowthOfRemainder(term.atom, shifts) != 0 && !llvm::is_contained(remainders, term.atom)) {
        remainders.push_back(term.atom);
      }
    }
  }
  return remainders;
}

// Whether some constraint does not hold before a remainder wraps around, or after it: with
// c * (e mod n) + rest, e growing by g, e mod n is in the last g of its numbers before and in the
// first g after, or the other way round.
bool StopsBeforeGoingRound(AffineExpr remainder, const IndexingMap& map, const Shifts& shifts) {
  const int64_t growth = GrowthOfRemainder(remainder, shifts);
  const int64_t size = *ConstantIn(llvm::cast<mlir::AffineBinaryOpExpr>(remainder).getRHS());
  const int64_t steps = growth < 0 ? -growth : growth;
  const Interval first = Interval::OfSize(steps);
  const Interval last = Interval::Closed(size - steps, size - 1);
  ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
  return llvm::any_of(map.constraints(), [&](const Constraint& constraint) {
    const LinearSum sum = LinearSum::FromExpr(constraint.expr);
    const int64_t coefficient = sum.valid() ? sum.CoefficientOf(remainder) : 0;
    if (coefficient == 0) return false;
    const AffineExpr rest = Sub(constraint.expr, Scale(remainder, coefficient));
    if (!rest) return false;
    const Interval values = simplifier.Range(rest);
    return llvm::any_of(std::initializer_list<Interval>{first, last}, [&](const Interval& end) {
      return values.Add(end.Mul(coefficient)).Intersect(constraint.interval).IsEmpty();
    });
  });
}

// The shifts of a piece whose powers have the closed form above.
std::optional<Shifts> ShiftsOf(const OperandIndexing& piece) {
  const IndexingMap& map = piece.map();
  const int num_dims = map.num_dims();
  if (map.num_results() != num_dims || !HasFixedValues(piece) || piece.replica_map() != nullptr) {
    return std::nullopt;
  }
  Shifts shifts;
  ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
  for (int i = 0; i < num_dims; ++i) {
    shifts.push_back(Difference(map.results()[i], mlir::getAffineDimExpr(i, map.context()), map));
  }
  const auto is_known = [&](int variable) { return variable >= num_dims || shifts[variable]; };
  for (int i = 0; i < num_dims; ++i) {
    if (shifts[i]) continue;
    const AffineExpr result = map.results()[i];
    if (!llvm::all_of(VariablesOf(result, num_dims), is_known) ||
        !simplifier.Range(result).IsSubsetOf(map.dims()[i].bounds)) {
      return std::nullopt;
    }
  }
  if (!shifts[0] || *shifts[0] == 0) return std::nullopt;
  for (const Constraint& constraint : map.constraints()) {
    if (MentionsOnly(constraint.expr, num_dims, num_dims, num_dims + map.num_symbols())) continue;
    // A range variable has another value in each iteration.
    const auto is_range = [&](int variable) {
      return variable >= num_dims && variable < num_dims + map.num_ranges();
    };
    if (llvm::any_of(VariablesOf(constraint.expr, num_dims), is_range) ||
        ChangeOf(constraint.expr, shifts) == Change::kAnyhow) {
      return std::nullopt;
    }
  }
  const auto stops = [&](AffineExpr remainder) {
    return StopsBeforeGoingRound(remainder, map, shifts);
  };
  if (!llvm::all_of(RemaindersThatChange(map, shifts), stops)) return std::nullopt;
  return shifts;
}

// `expr` after so many steps, in which no remainder of it wraps around; null if that passes a bound.
AffineExpr AfterSteps(AffineExpr expr, AffineExpr steps, const Shifts& shifts) {
  const LinearSum sum = LinearSum::FromExpr(expr);
  llvm::SmallVector<AffineExpr, 4> dims;
  for (size_t i = 0; i < shifts.size(); ++i) {
    const AffineExpr dim = mlir::getAffineDimExpr(i, expr.getContext());
    dims.push_back(Add(dim, Scale(steps, shifts[i].value_or(0))));
  }
  AffineExpr after = Constant(sum.constant(), expr.getContext());
  for (const Term& term : sum.terms()) {
    const int64_t growth = GrowthOfRemainder(term.atom, shifts);
    const AffineExpr atom =
        growth != 0 ? Add(term.atom, Scale(steps, growth)) : Substitute(term.atom, dims, {});
    after = Add(after, Scale(atom, term.coefficient));
  }
  return after;
}

}  // namespace

std::optional<OperandIndexing> CloseTranslation(const OperandIndexing& piece) {
  // The map of what is unknown has no time.
  if (IsOff(Engine::kTranslations) || piece.IsUnknown()) return std::nullopt;
  const std::optional<Shifts> shifts = ShiftsOf(piece);
  if (!shifts) return std::nullopt;
  const IndexingMap& map = piece.map();
  mlir::MLIRContext* context = map.context();
  Renaming renaming;
  renaming.dims = Variables(map.dims());
  renaming.ranges = Variables(map.ranges());
  const AffineExpr times = mlir::getAffineSymbolExpr(map.num_ranges(), context);
  renaming.ranges.push_back({Interval::AtLeast(1), {}});
  for (int i = 0; i < map.num_ranges(); ++i) {
    renaming.for_symbols.push_back(mlir::getAffineSymbolExpr(i, context));
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    renaming.runtimes.push_back(i);
    renaming.for_symbols.push_back(mlir::getAffineSymbolExpr(map.num_ranges() + 1 + i, context));
  }
  const auto renamed = [&](AffineExpr expr) { return Substitute(expr, {}, renaming.for_symbols); };
  renaming.results_dropped = map.num_results();
  const AffineExpr before_last = Sub(times, Constant(1, context));
  const auto constrain_last = [&](AffineExpr expr, const Interval& interval) {
    const AffineExpr then = AfterSteps(expr, before_last, *shifts);
    if (then) renaming.constraints_added.push_back({then, interval});
    return static_cast<bool>(then);
  };
  // Where the last step starts from.
  llvm::SmallVector<AffineExpr, 4> at_last;
  for (int i = 0; i < map.num_dims(); ++i) {
    const AffineExpr dim = mlir::getAffineDimExpr(i, context);
    at_last.push_back(Add(dim, Scale(before_last, (*shifts)[i].value_or(0))));
  }
  for (int i = 0; i < map.num_dims(); ++i) {
    const AffineExpr dim = mlir::getAffineDimExpr(i, context);
    const int64_t shift = (*shifts)[i].value_or(0);
    const AffineExpr result = (*shifts)[i]
                                  ? Add(dim, Scale(times, shift))
                                  : Substitute(map.results()[i], at_last, renaming.for_symbols);
    if (!result) return std::nullopt;
    renaming.results_added.push_back(result);
    if (shift != 0 && !constrain_last(dim, map.dims()[i].bounds)) return std::nullopt;
  }
  for (const Constraint& constraint : map.constraints()) {
    if (ChangeOf(constraint.expr, *shifts) == Change::kNone) continue;
    if (!constrain_last(renamed(constraint.expr), constraint.interval)) return std::nullopt;
  }
  for (const AffineExpr remainder : RemaindersThatChange(map, *shifts)) {
    const auto size = ConstantIn(llvm::cast<mlir::AffineBinaryOpExpr>(remainder).getRHS());
    if (!constrain_last(renamed(remainder), Interval::OfSize(*size))) return std::nullopt;
  }
  OperandIndexing closed = Renamed(piece, std::move(renaming));
  if (closed.IsUnknown()) return std::nullopt;
  closed.Simplify();
  return closed;
}

}  // namespace xla_indexing::internal

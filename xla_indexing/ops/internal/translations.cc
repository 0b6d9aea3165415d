#include "xla_indexing/ops/internal/translations.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/map/internal/expr_util.h"
#include "xla_indexing/ops/internal/leaf_relation.h"
#include "xla_indexing/ops/internal/periods.h"
#include "xla_indexing/ops/internal/timed_map.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// What an iteration does to each dimension: it adds a number, or (none) leaves nothing of it.
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

Change ChangeOf(AffineExpr expr, const Shifts& shifts) {
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
    } else if (const auto division = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(term.atom)) {
      const Change change = ChangeOf(division.getLHS(), shifts);
      if (change == Change::kNone) continue;
      if (term.atom.getKind() != mlir::AffineExprKind::FloorDiv) return Change::kAnyhow;
      add(term.coefficient > 0 ? change : Opposite(change));
    }
  }
  if (slope != 0) add(slope > 0 ? Change::kUp : Change::kDown);
  return all;
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
    const AffineExpr result = map.results()[i];
    shifts.push_back(Difference(result, mlir::getAffineDimExpr(i, map.context()), map));
    if (shifts.back()) continue;
    if (!MentionsOnly(result, num_dims, num_dims, num_dims + map.num_symbols()) ||
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
  return shifts;
}

// p^m for m >= 1, a range variable; nothing where a piece is none of this kind.
std::optional<OperandIndexing> CloseShifting(const OperandIndexing& piece) {
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
  llvm::SmallVector<AffineExpr, 4> at_last;
  for (int i = 0; i < map.num_dims(); ++i) {
    const AffineExpr dim = mlir::getAffineDimExpr(i, context);
    const int64_t shift = (*shifts)[i].value_or(0);
    renaming.results_added.push_back((*shifts)[i] ? Add(dim, Scale(times, shift))
                                                  : renamed(map.results()[i]));
    at_last.push_back(Add(dim, Scale(Sub(times, Constant(1, context)), shift)));
    if (!at_last.back()) return std::nullopt;
    if (shift != 0) renaming.constraints_added.push_back({at_last.back(), map.dims()[i].bounds});
  }
  for (const Constraint& constraint : map.constraints()) {
    if (ChangeOf(constraint.expr, *shifts) == Change::kNone) continue;
    renaming.constraints_added.push_back(
        {Substitute(renamed(constraint.expr), at_last, {}), constraint.interval});
  }
  OperandIndexing closed = Renamed(piece, std::move(renaming));
  if (closed.IsUnknown()) return std::nullopt;
  closed.Simplify();
  return closed;
}

}  // namespace

std::optional<OperandIndexingSet> ClosePiece(const OperandIndexing& piece) {
  // The map of what is unknown has no time.
  if (piece.IsUnknown()) return std::nullopt;
  return CloseByPeriod(OperandIndexingSet(piece),
                       [](const OperandIndexingSet& power) -> std::optional<OperandIndexingSet> {
                         std::optional<OperandIndexing> closed = CloseShifting(power.maps()[0]);
                         if (!closed) return std::nullopt;
                         return OperandIndexingSet(*std::move(closed));
                       });
}

}  // namespace xla_indexing::internal

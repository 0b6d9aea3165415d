#include "xla_indexing/map/simplify/existential.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/wide_interval.h"
#include "xla_indexing/map/expr/components.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/sets/has_integer_point.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// sum = c * variable + rest, where the rest does not mention the variable.
struct SplitSymbol {
  int64_t coefficient;
  LinearSum rest;
};
std::optional<SplitSymbol> SplitOff(AffineExpr expr, unsigned symbol) {
  LinearSum sum = LinearSum::FromExpr(expr);
  if (!sum.valid()) return std::nullopt;
  const AffineExpr variable = mlir::getAffineSymbolExpr(symbol, expr.getContext());
  const int64_t coefficient = sum.CoefficientOf(variable);
  if (coefficient == 0 || coefficient == kInt64Min) return std::nullopt;
  sum.RemoveTerm(variable);
  for (const Term& term : sum.terms()) {
    if (HasSymbol(term.atom, symbol)) return std::nullopt;
  }
  return SplitSymbol{coefficient, std::move(sum)};
}

// some s in `bounds`: rest + c*s in `window`.
std::optional<Constraint> EliminateFromSum(const SplitSymbol& split, const Interval& bounds,
                                           const Interval& window, mlir::MLIRContext* context) {
  const int64_t c = split.coefficient;
  const std::optional<int64_t> width = window.Size();
  if (width && *width < (c < 0 ? -c : c) && !bounds.IsPoint()) return std::nullopt;
  const std::optional<Interval> interval =
      WideInterval(window).Add(WideInterval(bounds).Mul(c).Neg()).Narrow();
  LinearSum rest = split.rest;
  const AffineExpr expr = rest.ToExpr(context);
  if (!interval || !expr) return std::nullopt;
  return Constraint{expr, *interval};
}

// some s in `bounds`: (rest + c*s) mod n in `window`.
std::optional<Constraint> EliminateFromMod(const SplitSymbol& split, int64_t n,
                                           const Interval& bounds, const Interval& window,
                                           mlir::MLIRContext* context) {
  const int64_t g = Gcd(split.coefficient, n);
  const std::optional<int64_t> size = bounds.Size();
  const Interval residues = window.Intersect(Interval::OfSize(n));
  if ((size && *size < n / g) || residues.IsEmpty()) return std::nullopt;
  LinearSum shifted = split.rest;
  shifted.SubtractConstant(residues.lower());
  const AffineExpr expr = Mod(shifted.ToExpr(context), g);
  if (!expr) return std::nullopt;
  return Constraint{expr, residues.Sub(residues.lower())};
}

std::optional<Constraint> Eliminate(const Constraint& constraint, unsigned symbol,
                                    const Interval& bounds) {
  mlir::MLIRContext* context = constraint.expr.getContext();
  if (std::optional<SplitSymbol> split = SplitOff(constraint.expr, symbol)) {
    return EliminateFromSum(*split, bounds, constraint.interval, context);
  }
  if (constraint.expr.getKind() != AffineExprKind::Mod) return std::nullopt;
  auto mod = cast<AffineBinaryOpExpr>(constraint.expr);
  const auto n = llvm::dyn_cast<AffineConstantExpr>(mod.getRHS());
  std::optional<SplitSymbol> split = SplitOff(mod.getLHS(), symbol);
  if (!n || n.getValue() < 1 || !split) return std::nullopt;
  return EliminateFromMod(*split, n.getValue(), bounds, constraint.interval, context);
}

// Constraints that only `free` range variables occur in, and in all that they are tied to: gone
// where they have a point.
bool DropClosedGroups(const IndexingMap& map, const llvm::SmallBitVector& free,
                      Constraints& constraints) {
  llvm::SmallVector<llvm::SmallVector<int, 4>, 4> variables;
  for (const Constraint& constraint : constraints) {
    variables.push_back(VariablesOf(constraint.expr, map.num_dims()));
  }
  const llvm::SmallVector<int, 8> numbers =
      ClassesByVariables(variables, map.num_dims() + map.num_symbols());
  llvm::SmallBitVector is_open(static_cast<unsigned>(constraints.size()));
  for (const auto [list, number] : llvm::zip_equal(variables, numbers)) {
    const bool is_closed = llvm::all_of(list, [&](int variable) {
      const int symbol = variable - map.num_dims();
      return symbol >= 0 && symbol < map.num_ranges() && free.test(symbol);
    });
    if (!is_closed) is_open.set(number);
  }
  Constraints inside;
  Constraints outside;
  for (const auto [constraint, number] : llvm::zip_equal(constraints, numbers)) {
    (is_open.test(number) ? outside : inside).push_back(constraint);
  }
  if (inside.empty() || HasIntegerPointWithoutPresburger(map.DimBounds(), map.SymbolBounds(),
                                                         inside) != Answer::kYes) {
    return false;
  }
  constraints = std::move(outside);
  return true;
}

// The map with each symbol replaced by an expression of symbols in the new intervals; false,
// unchanged, where that passes a bound.
bool ReplaceRanges(llvm::ArrayRef<AffineExpr> replacements, Variables ranges, IndexingMap* map) {
  // The intervals come first: a constraint that has become one on a variable narrows its interval.
  const IndexingMap in_new_intervals(kPartsFit, map->affine_map(), Variables(map->dims()),
                                     std::move(ranges), Variables(map->runtimes()),
                                     Constraints(map->constraints()));
  absl::StatusOr<IndexingMap> replaced = in_new_intervals.Substitute({}, replacements);
  if (!replaced.ok()) return false;
  *map = *std::move(replaced);
  return true;
}

}  // namespace

bool EliminateRangeVariables(IndexingMap* map) {
  if (IsOff(Engine::kExistentialRanges)) return false;
  if (map->constraints().empty() || map->IsKnownEmpty()) return false;
  llvm::BitVector in_results(map->num_ranges());
  for (const AffineExpr result : map->results()) MarkSymbols(result, &in_results);
  if (in_results.all()) return false;
  llvm::SmallBitVector free(map->num_ranges(), true);
  for (const unsigned symbol : in_results.set_bits()) free.reset(symbol);

  Constraints constraints(map->constraints());
  const auto ranges_of = [&](const Constraint& constraint) {
    llvm::BitVector ranges(map->num_ranges());
    MarkSymbols(constraint.expr, &ranges);
    return ranges;
  };
  std::vector<llvm::BitVector> used;
  for (const Constraint& constraint : constraints) used.push_back(ranges_of(constraint));
  bool changed = false;
  // Eliminating one variable may leave another one alone in its constraint.
  for (bool progress = true; progress;) {
    progress = false;
    for (const unsigned symbol : free.set_bits()) {
      if (llvm::count_if(used, [&](const auto& ranges) { return ranges.test(symbol); }) != 1) {
        continue;
      }
      const auto only = static_cast<size_t>(
          llvm::find_if(used, [&](const auto& ranges) { return ranges.test(symbol); }) -
          used.begin());
      if (std::optional<Constraint> without =
              Eliminate(constraints[only], symbol, map->ranges()[symbol].bounds)) {
        constraints[only] = *without;
        used[only] = ranges_of(*without);
        progress = true;
      }
    }
    changed |= progress;
  }
  changed |= DropClosedGroups(*map, free, constraints);
  if (!changed) return false;
  *map = IndexingMap(kPartsFit, map->affine_map(), Variables(map->dims()), Variables(map->ranges()),
                     Variables(map->runtimes()), std::move(constraints));
  return true;
}

bool RescaleRangeVariables(IndexingMap* map) {
  if (IsOff(Engine::kExistentialRanges)) return false;
  mlir::MLIRContext* context = map->context();
  llvm::SmallVector<AffineExpr, 4> replacements(map->num_symbols());
  Variables ranges(map->ranges());
  bool changed = false;
  for (const Constraint& constraint : map->constraints()) {
    const std::optional<ResidueFact> fact = ResidueFactOf(constraint);
    if (!fact || fact->sum.terms().size() != 1 || fact->sum.terms()[0].coefficient != 1) continue;
    const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(fact->sum.terms()[0].atom);
    if (!symbol || static_cast<int>(symbol.getPosition()) >= map->num_ranges()) continue;
    Interval& bounds = ranges[symbol.getPosition()].bounds;
    const int64_t m = fact->residues.modulus();
    if (m < 2 || replacements[symbol.getPosition()] || !bounds.has_lower() ||
        !fact->residues.Contains(bounds.lower()) || bounds.lower() == kInt64Min) {
      continue;
    }
    const std::optional<Interval> steps =
        WideInterval(bounds).Sub(bounds.lower()).FloorDiv(m).Narrow();
    if (!steps) continue;
    replacements[symbol.getPosition()] = Add(Scale(symbol, m), Constant(bounds.lower(), context));
    bounds = *steps;
    changed = true;
  }
  if (!changed) return false;
  return ReplaceRanges(replacements, std::move(ranges), map);
}

}  // namespace xla_indexing::internal

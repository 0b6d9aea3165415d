#include "xla_indexing/map/simplify/range_quotients.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/wide_interval.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/expr/replace_variables.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// x floordiv m, and what a result adds to it that is nothing else.
struct ResultQuotient {
  AffineExpr division;
  LinearSum dividend;
  int64_t divisor = 0;
  int64_t added = 0;
};

// The quotient, but for a constant, that is all that results have of a symbol.
std::optional<ResultQuotient> OnlyQuotientOf(const IndexingMap& map, unsigned symbol) {
  std::optional<ResultQuotient> only;
  for (const AffineExpr result : map.results()) {
    if (!HasSymbol(result, symbol)) continue;
    const LinearSum sum = LinearSum::FromExpr(result);
    for (const Term& term : sum.terms()) {
      if (!HasSymbol(term.atom, symbol)) continue;
      const auto division = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(term.atom);
      if (!division || division.getKind() != mlir::AffineExprKind::FloorDiv) return std::nullopt;
      const auto divisor = llvm::dyn_cast<mlir::AffineConstantExpr>(division.getRHS());
      if (!divisor) return std::nullopt;
      ResultQuotient quotient{division, LinearSum::FromExpr(division.getLHS()), divisor.getValue()};
      if (sum.terms().size() == 1 && term.coefficient == 1) quotient.added = sum.constant();
      if (only) {
        LinearSum difference = quotient.dividend;
        difference.AddScaled(only->dividend, -1);
        if (quotient.divisor != only->divisor || !difference.valid() ||
            !difference.terms().empty() || difference.constant() % only->divisor != 0) {
          return std::nullopt;
        }
      }
      only = std::move(quotient);
    }
  }
  return only;
}

// The remainder of x, if it is always the same.
std::optional<int64_t> RemainderOf(const ResultQuotient& quotient, AffineExpr variable,
                                   const ResidueFact& fact) {
  const int64_t m = quotient.divisor;
  const int64_t in_dividend = quotient.dividend.CoefficientOf(variable);
  const int64_t in_fact = fact.sum.CoefficientOf(variable);
  if (fact.residues.modulus() != m || m < 2) return std::nullopt;
  // Multiples of m leave the division, and what is left may be known.
  if (llvm::any_of(quotient.dividend.terms(), [m](const Term& term) {
        return term.coefficient <= -m || term.coefficient >= m;
      })) {
    return std::nullopt;
  }
  if ((in_dividend != 1 && in_dividend != -1) ||
      (in_fact % m != 1 && in_fact % m != m - 1 && in_fact % m != -1 && in_fact % m != 1 - m)) {
    return std::nullopt;
  }
  const bool is_one = in_fact % m == 1 || in_fact % m == 1 - m;
  const int64_t scale = is_one ? in_dividend : -in_dividend;
  LinearSum difference = quotient.dividend;
  difference.AddScaled(fact.sum, -scale);
  difference.AddConstant(scale * fact.residues.residue());
  if (!difference.valid() || llvm::any_of(difference.terms(), [&](const Term& term) {
        return term.coefficient % m != 0;
      })) {
    return std::nullopt;
  }
  return FloorMod(difference.constant(), m);
}

// A range variable as a function of the quotient that takes its place.
struct QuotientVariable {
  unsigned symbol = 0;
  AffineExpr value;
  Interval quotients;
};

// What the quotient can be: of a sum of variables the hull of its values.
WideInterval QuotientsOf(const ResultQuotient& quotient, const IndexingMap& map) {
  WideInterval values(quotient.dividend.constant(), quotient.dividend.constant());
  for (const Term& term : quotient.dividend.terms()) {
    const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(term.atom);
    const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom);
    if (!dim && !symbol) {
      ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
      return WideInterval(simplifier.Range(quotient.division));
    }
    const Variable& variable =
        dim ? map.dims()[dim.getPosition()] : map.symbols()[symbol.getPosition()];
    values = values.Add(WideInterval(variable.bounds).Mul(term.coefficient));
  }
  return values.FloorDiv(quotient.divisor);
}

// Nullopt if there is no constant remainder, or a number does not fit.
std::optional<QuotientVariable> ByQuotient(const IndexingMap& map, unsigned symbol,
                                           const ResidueFact& fact) {
  const AffineExpr variable = mlir::getAffineSymbolExpr(symbol, map.context());
  const std::optional<ResultQuotient> quotient = OnlyQuotientOf(map, symbol);
  if (!quotient) return std::nullopt;
  const std::optional<int64_t> remainder = RemainderOf(*quotient, variable, fact);
  if (!remainder) return std::nullopt;
  const int64_t sign = quotient->dividend.CoefficientOf(variable);
  // s = sign * (m*(t - added) + r - e) where the dividend is sign * s + e.
  LinearSum value = quotient->dividend;
  value.RemoveTerm(variable);
  value.Scale(-1);
  value.AddConstant(*remainder);
  LinearSum exact = LinearSum::Of(variable);
  exact.SubtractConstant(quotient->added);
  value.AddScaled(exact, quotient->divisor);
  value.Scale(sign);
  QuotientVariable replacement{symbol, value.ToExpr(map.context()), {}};
  if (!replacement.value) return std::nullopt;
  llvm::BitVector used(map.num_symbols());
  MarkSymbols(replacement.value, &used);
  if (used.find_last() >= map.num_ranges()) return std::nullopt;
  const std::optional<Interval> range =
      QuotientsOf(*quotient, map).Sub(-Int128{quotient->added}).Narrow();
  if (!range) return std::nullopt;
  replacement.quotients = *range;
  return replacement;
}

// The variables that quotients can replace at once: none is in the value of another one. Of two that
// have one quotient in common it is the first.
llvm::SmallVector<QuotientVariable, 4> Replacements(const IndexingMap& map) {
  llvm::SmallVector<QuotientVariable, 4> found;
  for (const Constraint& constraint : map.constraints()) {
    const std::optional<ResidueFact> fact = ResidueFactOf(constraint);
    if (!fact) continue;
    for (const Term& term : fact->sum.terms()) {
      const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom);
      if (!symbol || static_cast<int>(symbol.getPosition()) >= map.num_ranges()) continue;
      const unsigned position = symbol.getPosition();
      const bool is_open = llvm::none_of(found, [position](const QuotientVariable& other) {
        return HasSymbol(other.value, position);
      });
      std::optional<QuotientVariable> replacement =
          is_open ? ByQuotient(map, position, *fact) : std::nullopt;
      if (replacement) found.push_back(*replacement);
    }
  }
  return found;
}

}  // namespace

bool ReplaceByQuotient(IndexingMap* map) {
  if (IsOff(Engine::kRangeQuotients)) return false;
  if (map->IsKnownEmpty()) return false;
  const llvm::SmallVector<QuotientVariable, 4> replacements = Replacements(*map);
  if (replacements.empty()) return false;
  Variables ranges(map->ranges());
  llvm::SmallVector<AffineExpr, 8> values(map->num_symbols());
  for (const QuotientVariable& replacement : replacements) {
    ranges[replacement.symbol].bounds = replacement.quotients;
    values[replacement.symbol] = replacement.value;
  }
  std::optional<IndexingMap> replaced = ReplaceVariables(
      *map, Variables(map->dims()), std::move(ranges), Variables(map->runtimes()), {}, values);
  if (!replaced) return false;
  for (const QuotientVariable& replacement : replacements) {
    replaced->AddConstraint(kPartsFit, replacement.value, map->ranges()[replacement.symbol].bounds);
  }
  *map = *std::move(replaced);
  return true;
}

}  // namespace xla_indexing::internal

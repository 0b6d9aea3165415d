#include "xla_indexing/map/simplify/determined_ranges.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/expr/replace_variables.h"
#include "xla_indexing/map/sets/solve.h"
#include "xla_indexing/map/simplify/equalities.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The value of a range variable. What else the constraint says, it says once it has that value.
struct Determined {
  int range;
  AffineExpr value;
};

// sum = e + coefficient*s in the constraint's interval: s is a quotient of e.
std::optional<Determined> QuotientOf(const Constraint& constraint, const LinearSum& sum, int range,
                                     int64_t coefficient, Determination by,
                                     mlir::MLIRContext* context) {
  const Interval& interval = constraint.interval;
  if (!interval.has_lower() || !interval.has_upper()) return std::nullopt;
  if (by != Determination::kConstraint && !interval.IsPoint()) return std::nullopt;
  const std::optional<int64_t> width = CheckedSub(interval.upper(), interval.lower());
  const int64_t divisor = coefficient < 0 ? -coefficient : coefficient;
  if (!width || *width >= divisor) return std::nullopt;
  if (divisor > 1 && by == Determination::kUndividedEquality) return std::nullopt;
  LinearSum rest = sum;
  rest.RemoveTerm(mlir::getAffineSymbolExpr(range, context));
  rest.SubtractConstant(coefficient < 0 ? interval.lower() : interval.upper());
  if (coefficient > 0) rest.Scale(-1);
  const AffineExpr dividend = rest.ToExpr(context);
  if (!dividend) return std::nullopt;
  return Determined{range, FloorDiv(dividend, divisor)};
}

// fact.sum = e + coefficient*s: s is the value with the residue that e leaves to it.
std::optional<Determined> ResidueOf(const ResidueFact& fact, int range, int64_t coefficient,
                                    const Interval& bounds, mlir::MLIRContext* context) {
  const int64_t modulus = fact.residues.modulus();
  if (Gcd(coefficient, modulus) != 1) return std::nullopt;
  LinearSum rest = fact.sum;
  rest.RemoveTerm(mlir::getAffineSymbolExpr(range, context));
  rest.SubtractConstant(fact.residues.residue());
  rest.Scale(-1);
  ResidueValue residue;
  residue.Know(coefficient, modulus, rest.ToExpr(context));
  return Determined{range, residue.In(bounds)};
}

// Whether results have the variable, but only in multiples of `coefficient`, that of a constraint's sum.
// What they have of the sum is then a remainder of the quotient, which would be longer.
bool IsInMultiplesOnly(int range, int64_t coefficient, const IndexingMap& map) {
  const AffineExpr variable = mlir::getAffineSymbolExpr(range, map.context());
  bool is_in_result = false;
  for (const AffineExpr result : map.results()) {
    if (!HasSymbol(result, range)) continue;
    is_in_result = true;
    LinearSum sum = LinearSum::FromExpr(result);
    if (sum.CoefficientOf(variable) % coefficient != 0) return false;
    sum.RemoveTerm(variable);
    if (llvm::any_of(sum.terms(), [&](const Term& term) { return HasSymbol(term.atom, range); })) {
      return false;
    }
  }
  return is_in_result;
}

// The value of a range variable, the last one where there are several, that a constraint gives.
std::optional<Determined> DeterminedBy(const Constraint& constraint, const IndexingMap& map,
                                       const DeterminedOptions& options) {
  if (constraint.interval.IsEmpty()) return std::nullopt;
  std::optional<ResidueFact> fact;
  if (options.by == Determination::kConstraint) fact = ResidueFactOf(constraint);
  const LinearSum sum = fact ? fact->sum : LinearSum::FromExpr(constraint.expr);
  if (!sum.valid()) return std::nullopt;
  for (int range = map.num_ranges() - 1; range >= 0; --range) {
    const int64_t coefficient = sum.CoefficientOf(mlir::getAffineSymbolExpr(range, map.context()));
    if (coefficient == 0 || coefficient == kInt64Min) continue;
    std::optional<Determined> determined =
        fact ? ResidueOf(*fact, range, coefficient, map.ranges()[range].bounds, map.context())
             : QuotientOf(constraint, sum, range, coefficient, options.by, map.context());
    if (!determined || !determined->value) continue;
    const bool is_quotient = !fact && !constraint.interval.IsPoint();
    if (is_quotient && IsInMultiplesOnly(range, coefficient, map)) continue;
    llvm::BitVector used(map.num_symbols());
    MarkSymbols(determined->value, &used);
    const int last_used = used.find_last();
    if (used.test(range) || (last_used >= map.num_ranges() && !options.may_use_runtimes)) continue;
    return determined;
  }
  return std::nullopt;
}

// Nullopt if a number does not fit int64 or a bound of affine/expr/build.h is passed.
std::optional<IndexingMap> Replace(const Determined& determined, const IndexingMap& map) {
  llvm::SmallVector<AffineExpr, 8> symbols(map.num_symbols());
  symbols[determined.range] = determined.value;
  std::optional<IndexingMap> replaced = ReplaceVariables(
      map, Variables(map.dims()), Variables(map.ranges()), Variables(map.runtimes()), {}, symbols);
  if (replaced) {
    replaced->AddConstraint(kPartsFit, determined.value, map.ranges()[determined.range].bounds);
  }
  return replaced;
}

// How often symbol `i` occurs in an expression.
int64_t Occurrences(AffineExpr expr, unsigned i) {
  int64_t count = 0;
  expr.walk([&](AffineExpr e) {
    const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(e);
    if (symbol && symbol.getPosition() == i) ++count;
  });
  return count;
}

// Whether the variable is a name for something long that stands in many places: without it, the map
// would be longer by more than this many divisions.
bool IsShorterNamed(const Determined& determined, const IndexingMap& map) {
  constexpr int64_t kMaxMoreDivisions = 32;
  constexpr int64_t kFewDivisions = 2;
  const int64_t divisions = SizeOf(determined.value).divisions;
  if (divisions <= kFewDivisions) return false;
  int64_t occurrences = -1;  // besides that in the constraint that gives it
  for (const AffineExpr result : map.results())
    occurrences += Occurrences(result, determined.range);
  for (const Constraint& constraint : map.constraints()) {
    occurrences += Occurrences(constraint.expr, determined.range);
  }
  return occurrences > 1 && divisions * (occurrences - 1) > kMaxMoreDivisions;
}

// Whether an equality has the variable, which gives it another value: that of the reader, which
// results may not have.
bool IsInEquality(int range, const IndexingMap& map) {
  return llvm::any_of(map.constraints(), [&](const Constraint& constraint) {
    return IsEquality(constraint) && HasSymbol(constraint.expr, range);
  });
}

// Whether one of the first `count` results would come to depend on the last dimension.
bool TakesLastDim(const Determined& determined, const IndexingMap& map, int count) {
  if (!determined.value.isFunctionOfDim(map.num_dims() - 1)) return false;
  return llvm::any_of(map.results().take_front(count),
                      [&](AffineExpr result) { return HasSymbol(result, determined.range); });
}

}  // namespace

bool ReplaceDeterminedRanges(IndexingMap* map, const DeterminedOptions& options) {
  if (IsOff(Engine::kDeterminedRanges)) return false;
  const std::optional<int> without_last_dim = options.without_last_dim;
  bool changed = false;
  // Each replacement leaves a variable without use.
  for (size_t i = 0; i < map->constraints().size();) {
    const std::optional<Determined> determined = DeterminedBy(map->constraints()[i], *map, options);
    std::optional<IndexingMap> replaced;
    if (determined && !IsShorterNamed(*determined, *map) &&
        (IsEquality(map->constraints()[i]) || !IsInEquality(determined->range, *map)) &&
        !(without_last_dim && TakesLastDim(*determined, *map, *without_last_dim))) {
      replaced = Replace(*determined, *map);
    }
    if (!replaced) {
      ++i;
      continue;
    }
    *map = *std::move(replaced);
    changed = true;
    i = 0;
  }
  return changed;
}

}  // namespace xla_indexing::internal

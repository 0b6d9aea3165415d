#include "xla_indexing/map/simplify/range_digits.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/expr/replace_variables.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineExpr;

// A quotient or remainder by a constant.
struct DivisionByConstant {
  bool is_mod = false;
  LinearSum dividend;
  int64_t divisor = 0;
};

std::optional<DivisionByConstant> DivisionOf(AffineExpr atom) {
  const auto division = llvm::dyn_cast<AffineBinaryOpExpr>(atom);
  if (!division) return std::nullopt;
  const bool is_mod = division.getKind() == mlir::AffineExprKind::Mod;
  if (!is_mod && division.getKind() != mlir::AffineExprKind::FloorDiv) return std::nullopt;
  const auto divisor = llvm::dyn_cast<mlir::AffineConstantExpr>(division.getRHS());
  if (!divisor || divisor.getValue() < 1) return std::nullopt;
  return DivisionByConstant{is_mod, LinearSum::FromExpr(division.getLHS()), divisor.getValue()};
}

// Which digits of a symbol s expressions are functions of.
struct UsedDigits {
  bool remainder = false;  // s mod m
  bool quotient = false;   // s floordiv m
  bool both = false;       // at once, or s in another way
};

// How a symbol s occurs.
class DigitsOf {
 public:
  DigitsOf(unsigned symbol, int64_t m) : symbol_(symbol), m_(m) {}

  void AddUsed(AffineExpr expr, UsedDigits* used) const {
    if (!HasSymbol(expr, symbol_)) return;
    const LinearSum sum = LinearSum::FromExpr(expr);
    if (IsOfRemainder(sum, 0)) {
      used->remainder = true;
    } else if (IsOfQuotient(sum)) {
      used->quotient = true;
    } else {
      used->both = true;
    }
  }

 private:
  bool IsVariable(AffineExpr atom) const {
    const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(atom);
    return symbol && symbol.getPosition() == symbol_;
  }

  // Whether a sum, modulo b unless that is 0, is a function of s mod m.
  bool IsOfRemainder(const LinearSum& sum, int64_t b) const {
    return sum.valid() && llvm::all_of(sum.terms(), [&](const Term& term) {
             if (!HasSymbol(term.atom, symbol_)) return true;
             if (IsVariable(term.atom)) {
               const std::optional<int64_t> step = CheckedMul(term.coefficient, m_);
               return b != 0 && step && *step % b == 0;
             }
             const std::optional<DivisionByConstant> division = DivisionOf(term.atom);
             if (!division) return false;
             if (division->is_mod) return IsOfRemainder(division->dividend, division->divisor);
             // c * q modulo b is known from q modulo b, which is known from a * q + r modulo a * b.
             const std::optional<int64_t> modulus = CheckedMul(division->divisor, b);
             return modulus && IsOfRemainder(division->dividend, *modulus);
           });
  }

  // Whether a sum is a function of s floordiv m.
  bool IsOfQuotient(const LinearSum& sum) const {
    return sum.valid() && llvm::all_of(sum.terms(), [&](const Term& term) {
             if (!HasSymbol(term.atom, symbol_)) return true;
             const std::optional<DivisionByConstant> division = DivisionOf(term.atom);
             if (!division) return false;
             return IsOfQuotient(division->dividend) ||
                    (!division->is_mod && division->divisor % m_ == 0 &&
                     IsVariableAndMultiples(division->dividend));
           });
  }

  // s and multiples of m that do not depend on it.
  bool IsVariableAndMultiples(const LinearSum& sum) const {
    return sum.valid() && sum.constant() % m_ == 0 &&
           llvm::all_of(sum.terms(), [&](const Term& term) {
             if (IsVariable(term.atom)) return term.coefficient == 1;
             return term.coefficient % m_ == 0 && !HasSymbol(term.atom, symbol_);
           });
  }

  unsigned symbol_;
  int64_t m_;
};

// The numbers that may part the digits of the symbol in an expression that is taken modulo `modulus`:
// what quotients and remainders divide by, and for a remainder of a quotient the product.
void CollectDivisors(AffineExpr expr, unsigned symbol, int64_t modulus,
                     llvm::SmallVectorImpl<int64_t>* divisors) {
  if (!HasSymbol(expr, symbol)) return;
  const LinearSum sum = LinearSum::FromExpr(expr);
  for (const Term& term : sum.terms()) {
    const std::optional<DivisionByConstant> division = DivisionOf(term.atom);
    if (!division) continue;
    int64_t inner = division->divisor;
    divisors->push_back(inner);
    if (!division->is_mod) {
      inner = CheckedMul(inner, modulus).value_or(inner);
      divisors->push_back(inner);
    }
    CollectDivisors(llvm::cast<AffineBinaryOpExpr>(term.atom).getLHS(), symbol, inner, divisors);
  }
}

UsedDigits DigitsIn(const IndexingMap& map, unsigned symbol, int64_t m) {
  const DigitsOf digits(symbol, m);
  UsedDigits used;
  for (const AffineExpr result : map.results()) digits.AddUsed(result, &used);
  for (const Constraint& constraint : map.constraints()) digits.AddUsed(constraint.expr, &used);
  return used;
}

// The t of the values m*t + u, u in [0, m - 1], that `values` has, or has as far as those digits can tell;
// nullopt if they tell of others.
std::optional<Interval> RoundedQuotients(const Interval& values, int64_t m,
                                         const UsedDigits& used) {
  const Interval quotients =
      Interval::Closed(FloorDiv(values.lower(), m), FloorDiv(values.upper(), m));
  const bool are_full_multiples =
      FloorMod(values.lower(), m) == 0 && FloorMod(values.upper(), m) == m - 1;
  if (are_full_multiples && !used.both) return quotients;
  const bool has_all_remainders = values.upper() - values.lower() >= m - 1;
  const bool is_rounded = (used.remainder && !used.quotient && has_all_remainders) ||
                          (used.quotient && !used.remainder);
  return is_rounded && !used.both ? std::make_optional(quotients) : std::nullopt;
}

// The map with m*t + u for the symbol; nullopt if a number does not fit.
std::optional<IndexingMap> WithDigits(const IndexingMap& map, unsigned symbol, int64_t m,
                                      const Interval& quotients) {
  mlir::MLIRContext* context = map.context();
  const int num_ranges = map.num_ranges();
  Variables ranges(map.ranges());
  ranges[symbol].bounds = quotients;
  ranges.push_back({Interval::OfSize(m), {}});
  llvm::SmallVector<AffineExpr, 8> symbols(map.num_symbols());
  symbols[symbol] = Add(Scale(mlir::getAffineSymbolExpr(symbol, context), m),
                        mlir::getAffineSymbolExpr(num_ranges, context));
  if (!symbols[symbol]) return std::nullopt;
  for (int i = num_ranges; i < map.num_symbols(); ++i) {
    symbols[i] = mlir::getAffineSymbolExpr(i + 1, context);
  }
  return ReplaceVariables(map, Variables(map.dims()), std::move(ranges), Variables(map.runtimes()),
                          {}, symbols);
}

// (e + c*s) mod n, where s takes the place of each remainder once.
struct Rotation {
  LinearSum e;
  int64_t c = 1;
  int64_t n = 1;
};

// The first such remainder in the expression, where s has n values and neither it nor a runtime variable
// is in e.
std::optional<Rotation> RotationIn(AffineExpr expr, int symbol, const IndexingMap& map) {
  const std::optional<uint64_t> size = map.ranges()[symbol].bounds.Size();
  const AffineExpr s = mlir::getAffineSymbolExpr(symbol, map.context());
  std::optional<Rotation> found;
  expr.walk([&](AffineExpr part) {
    std::optional<DivisionByConstant> division = DivisionOf(part);
    if (found || !division || !division->is_mod || !division->dividend.valid() ||
        static_cast<uint64_t>(division->divisor) != size) {
      return;
    }
    LinearSum& e = division->dividend;
    const int64_t c = e.CoefficientOf(s);
    e.RemoveTerm(s);
    const auto has_other = [&](const Term& term) {
      llvm::BitVector used(map.num_symbols());
      MarkSymbols(term.atom, &used);
      return used.test(symbol) || used.find_last() >= map.num_ranges();
    };
    if (c == 0 || Gcd(c, division->divisor) != 1 || llvm::any_of(e.terms(), has_other)) return;
    found = {std::move(e), c, division->divisor};
  });
  return found;
}

// The map with (t - e) / c modulo n for s; nullopt if a number does not fit.
std::optional<IndexingMap> WithRemainder(const IndexingMap& map, int symbol, Rotation rotation) {
  mlir::MLIRContext* context = map.context();
  Variables ranges(map.ranges());
  ranges[symbol].bounds = Interval::OfSize(rotation.n);
  llvm::SmallVector<AffineExpr, 8> symbols(map.num_symbols());
  symbols[symbol] =
      Scale(Sub(mlir::getAffineSymbolExpr(symbol, context), rotation.e.ToExpr(context)),
            InverseModulo(rotation.c, rotation.n));
  if (!symbols[symbol]) return std::nullopt;
  return ReplaceVariables(map, Variables(map.dims()), std::move(ranges), Variables(map.runtimes()),
                          {}, symbols);
}

}  // namespace

bool SplitRangeVariable(IndexingMap* map) {
  if (IsOff(Engine::kRangeDigits)) return false;
  if (map->IsKnownEmpty()) return false;
  for (int symbol = 0; symbol < map->num_ranges(); ++symbol) {
    const Interval values = map->ranges()[symbol].bounds;
    if (values.IsEmpty() || !values.Size()) continue;
    llvm::SmallVector<int64_t, 4> divisors;
    for (const AffineExpr result : map->results()) CollectDivisors(result, symbol, 1, &divisors);
    for (const int64_t m : divisors) {
      if (m < 2 || values.IsSubsetOf(Interval::OfSize(m))) continue;
      const std::optional<Interval> quotients =
          RoundedQuotients(values, m, DigitsIn(*map, symbol, m));
      if (!quotients) continue;
      std::optional<IndexingMap> split = WithDigits(*map, symbol, m, *quotients);
      if (!split) continue;
      *map = *std::move(split);
      return true;
    }
  }
  return false;
}

bool ReplaceByRemainder(IndexingMap* map) {
  if (IsOff(Engine::kRangeDigits)) return false;
  if (map->IsKnownEmpty()) return false;
  for (int symbol = 0; symbol < map->num_ranges(); ++symbol) {
    const auto* const first =
        llvm::find_if(map->results(), [&](AffineExpr result) { return HasSymbol(result, symbol); });
    if (first == map->results().end()) continue;
    const std::optional<Rotation> rotation = RotationIn(*first, symbol, *map);
    if (!rotation) continue;
    const UsedDigits used = DigitsIn(*map, symbol, rotation->n);
    if (used.quotient || used.both) continue;
    std::optional<IndexingMap> replaced = WithRemainder(*map, symbol, *rotation);
    if (!replaced) continue;
    *map = *std::move(replaced);
    return true;
  }
  return false;
}

}  // namespace xla_indexing::internal

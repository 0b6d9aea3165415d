#include "xla_indexing/map/internal/range_digits.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/map/internal/expr_util.h"
#include "xla_indexing/map/internal/replace_variables.h"

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

// How a symbol s in [m*l, m*k - 1] occurs.
class DigitsOf {
 public:
  DigitsOf(unsigned symbol, int64_t m) : symbol_(symbol), m_(m) {}

  bool IsOfEither(AffineExpr expr) const {
    if (!HasSymbol(expr, symbol_)) return true;
    const LinearSum sum = LinearSum::FromExpr(expr);
    return sum.valid() && (IsOfRemainder(sum, 0) || IsOfQuotient(sum));
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

bool IsOfDigits(const IndexingMap& map, unsigned symbol, int64_t m) {
  const DigitsOf digits(symbol, m);
  return llvm::all_of(map.results(), [&](AffineExpr expr) { return digits.IsOfEither(expr); }) &&
         llvm::all_of(map.constraints(), [&](const Constraint& constraint) {
           return digits.IsOfEither(constraint.expr);
         });
}

// The map with m*t + u for the symbol; none where a number does not fit.
std::optional<IndexingMap> WithDigits(const IndexingMap& map, unsigned symbol, int64_t m) {
  mlir::MLIRContext* context = map.context();
  const int num_ranges = map.num_ranges();
  Variables ranges(map.ranges());
  const Interval values = ranges[symbol].bounds;
  ranges[symbol].bounds = Interval::Closed(values.lower() / m, values.upper() / m);
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

}  // namespace

bool SplitRangeVariable(IndexingMap* map) {
  if (map->IsKnownEmpty()) return false;
  for (int symbol = 0; symbol < map->num_ranges(); ++symbol) {
    const Interval values = map->ranges()[symbol].bounds;
    if (values.IsEmpty() || !values.Size() || values.lower() < 0) continue;
    llvm::SmallVector<int64_t, 4> divisors;
    for (const AffineExpr result : map->results()) CollectDivisors(result, symbol, 1, &divisors);
    for (const int64_t m : divisors) {
      if (m < 2 || values.lower() % m != 0 || *values.Size() % m != 0 || *values.Size() == m ||
          !IsOfDigits(*map, symbol, m)) {
        continue;
      }
      std::optional<IndexingMap> split = WithDigits(*map, symbol, m);
      if (!split) continue;
      *map = *std::move(split);
      return true;
    }
  }
  return false;
}

}  // namespace xla_indexing::internal

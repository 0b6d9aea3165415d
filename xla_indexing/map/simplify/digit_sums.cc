#include "xla_indexing/map/simplify/digit_sums.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/map/expr/expr_program.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/expr/shift.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// factor * the sum of s, plus terms without s.
struct SumOccurrence {
  LinearSum others;
  int64_t factor = 0;
};

// How the expressions of a map have a range variable, if they have it in multiples of one sum alone.
class OneSum {
 public:
  OneSum(int symbol, const IndexingMap& map) : symbol_(symbol), num_dims_(map.num_dims()) {}

  // Takes note of an expression; false where it has the variable in another way.
  bool Add(AffineExpr expr) {
    SumOccurrence& occurrence = occurrences_.emplace_back();
    if (!HasSymbol(expr, symbol_)) return true;
    const LinearSum whole = LinearSum::FromExpr(expr);
    LinearSum part;
    occurrence.others.AddConstant(whole.constant());
    for (const Term& term : whole.terms()) {
      if (!HasSymbol(term.atom, symbol_)) {
        occurrence.others.AddTerm(term.atom, term.coefficient);
      } else if (IsVariable(term.atom) || VariablesOf(term.atom, num_dims_).size() == 1) {
        part.AddTerm(term.atom, term.coefficient);
      } else {
        return false;
      }
    }
    return whole.valid() && AddMultiple(std::move(part), &occurrence.factor);
  }

  // Without a common factor, and so that the first multiple of it is positive.
  const LinearSum& sum() const { return sum_; }
  llvm::ArrayRef<SumOccurrence> occurrences() const { return occurrences_; }

  // Whether a counter says it in a shorter way: of divisions, or of -s without other variables.
  bool IsLonger() const {
    const auto is_variable = [](const Term& term) { return IsVariable(term.atom); };
    if (!llvm::all_of(sum_.terms(), is_variable)) return true;
    return !sum_.IsConstant() && sum_.terms().front().coefficient < 0 &&
           llvm::all_of(
               occurrences_,
               [](const SumOccurrence& occurrence) {
                 return occurrence.factor == 0 || occurrence.others.IsConstant();
               });
  }

 private:
  bool AddMultiple(LinearSum part, int64_t* factor) {
    const auto is_least = [](const Term& term) { return term.coefficient == kInt64Min; };
    *factor = part.CoefficientGcd();
    if (*factor == 0 || llvm::any_of(part.terms(), is_least)) return false;
    part.Sort();
    part.DivideExactly(*factor);
    if (sum_.IsConstant()) sum_ = part;
    if (part == sum_) return true;
    part.Scale(-1);
    *factor = -*factor;
    return part == sum_;
  }

  int symbol_;
  int num_dims_;
  LinearSum sum_;
  llvm::SmallVector<SumOccurrence, 4> occurrences_;
};

// s has few values, or a digit that a sum has in any way few.
constexpr int64_t kFewValues = 64;

std::optional<Shift> ShiftOfSum(const LinearSum& sum);

// The shift of a variable, or of a division of sums over it; nullopt if a number does not fit int64.
std::optional<Shift> ShiftOfAtom(AffineExpr atom) {
  const auto division = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(atom);
  if (!division) return Shift{1, 1};
  const std::optional<Shift> dividend = ShiftOfSum(LinearSum::FromExpr(division.getLHS()));
  if (!dividend) return std::nullopt;
  const int64_t m = llvm::cast<mlir::AffineConstantExpr>(division.getRHS()).getValue();
  return dividend->Divided(m, atom.getKind() == mlir::AffineExprKind::Mod);
}

std::optional<Shift> ShiftOfSum(const LinearSum& sum) {
  std::optional<Shift> shift = Shift();
  for (const Term& term : sum.terms()) {
    const std::optional<Shift> of_term = ShiftOfAtom(term.atom);
    if (of_term) shift = shift->Plus(*of_term, term.coefficient);
    if (!of_term || !shift) return std::nullopt;
  }
  return shift;
}

// The m of an expression s floordiv m, 1 of s; none for others.
std::optional<int64_t> DivisorOfFloor(AffineExpr expr) {
  if (expr.getKind() == mlir::AffineExprKind::SymbolId) return 1;
  if (expr.getKind() != mlir::AffineExprKind::FloorDiv) return std::nullopt;
  const auto division = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  const std::optional<int64_t> inner = DivisorOfFloor(division.getLHS());
  const auto divisor = llvm::cast<mlir::AffineConstantExpr>(division.getRHS());
  return inner ? CheckedMul(*inner, divisor.getValue()) : std::nullopt;
}

// coefficient * (s floordiv divisor).
struct FloorTerm {
  int64_t divisor;
  int64_t coefficient;
};

// A sum over one variable s as one of floors of s, by divisor, and a function of s mod p.
class FloorSum {
 public:
  // Adds a multiple of an atom; false where that is neither.
  bool Add(const Term& term) {
    if (const std::optional<int64_t> divisor = DivisorOfFloor(term.atom)) {
      return AddFloor(*divisor, term.coefficient);
    }
    // With a step, it is as many times the floor by its period, plus what repeats.
    const std::optional<Shift> shift = ShiftOfAtom(term.atom);
    if (!shift || shift->period > kFewValues) return false;
    period_ = std::lcm(period_, shift->period);
    const std::optional<int64_t> coefficient = CheckedMul(term.coefficient, shift->change);
    return period_ <= kFewValues && coefficient && AddFloor(shift->period, *coefficient) &&
           AddFloor(period_, 0);
  }

  // The p above.
  int64_t period() const { return period_; }

  // The values of the digits of s from s floordiv p on: the sum is the sum of these and a function of s mod p.
  // nullopt if they do not take all their values independently of each other and of s mod p.
  std::optional<std::vector<Progression>> DigitsAbovePeriod(const Interval& values) const {
    std::vector<Progression> digits;
    Int128 coefficient = 0;  // of s in units of the digit: the sum of those of floors so far
    int64_t unit = 1;
    const auto add = [&](const Interval& digit_values) {
      if (coefficient == 0 || unit < period_) return NarrowToInt64(coefficient).has_value();
      const std::optional<int64_t> narrow = NarrowToInt64(coefficient);
      const std::optional<Progression> multiples =
          narrow ? ExactMul(Progression::Of(digit_values, Congruence::All()), *narrow)
                 : std::nullopt;
      if (multiples) digits.push_back(*multiples);
      return multiples.has_value();
    };
    for (const FloorTerm& floor : floors_) {
      if (floor.divisor % unit != 0) return std::nullopt;
      const int64_t size = floor.divisor / unit;
      if (size > 1 && !add(Interval::OfSize(size))) return std::nullopt;
      coefficient = coefficient * size + floor.coefficient;
      unit = floor.divisor;
    }
    if (FloorMod(values.lower(), unit) != 0 || FloorMod(values.upper(), unit) != unit - 1 ||
        !add(values.FloorDiv(unit))) {
      return std::nullopt;
    }
    return digits;
  }

 private:
  bool AddFloor(int64_t divisor, int64_t coefficient) {
    auto* const term =
        llvm::find_if(floors_, [&](const FloorTerm& known) { return known.divisor >= divisor; });
    if (term == floors_.end() || term->divisor != divisor) {
      floors_.insert(term, {divisor, coefficient});
      return true;
    }
    const std::optional<int64_t> sum = CheckedAdd(term->coefficient, coefficient);
    term->coefficient = sum.value_or(0);
    return sum.has_value();
  }

  llvm::SmallVector<FloorTerm, 4> floors_;
  int64_t period_ = 1;
};

// Adds digits whose sums are these values less the least one, if they are the sums of some.
bool AddDigitsOf(llvm::SmallVectorImpl<int64_t>& values, std::vector<Progression>* digits) {
  llvm::sort(values);
  values.erase(llvm::unique(values), values.end());
  while (values.size() > 1) {
    const std::optional<int64_t> step = CheckedSub(values[1], values[0]);
    const auto continues = [&](size_t i) { return CheckedSub(values[i], values[i - 1]) == step; };
    size_t run = 1;
    while (run < values.size() && continues(run)) ++run;
    // All in runs of this length: then the first of each are left.
    if (!step || values.size() % run != 0) return false;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i % run != 0 && !continues(i)) return false;
    }
    for (size_t i = 0; i < values.size(); i += run) values[i / run] = values[i];
    values.truncate(values.size() / run);
    const std::optional<Progression> digit =
        Progression::FromSteps(0, static_cast<int64_t>(run), *step);
    if (!digit) return false;
    digits->push_back(*digit);
  }
  return true;
}

// The values of a sum over a range variable in an interval, where they are equally spaced.
std::optional<Progression> EquallySpacedValues(LinearSum sum, int symbol, const Interval& interval,
                                               mlir::MLIRContext* context) {
  // The values that are computed, beside which there are digits.
  Interval computed = interval;
  std::vector<Progression> digits;
  if (interval.Size().value_or(kInt64Max) > kFewValues) {
    llvm::SmallVector<Interval, 4> bounds(symbol + 1, Interval::All());
    bounds[symbol] = interval;
    ExprSimplifier simplifier(context, {}, bounds);
    sum = simplifier.Written(ModFreeForm(simplifier.Evaluate(sum)));
    FloorSum floors;
    if (!sum.valid() || !llvm::all_of(sum.terms(), [&](const Term& t) { return floors.Add(t); })) {
      return std::nullopt;
    }
    std::optional<std::vector<Progression>> above = floors.DigitsAbovePeriod(interval);
    if (!above) return std::nullopt;
    digits = *std::move(above);
    computed = Interval::OfSize(floors.period());
  }
  const AffineExpr expr = sum.ToExpr(context);
  if (!expr) return std::nullopt;
  const ExprProgram program{llvm::ArrayRef(expr)};
  ExprProgram::Workspace workspace;
  llvm::SmallVector<int64_t, 8> symbols(symbol + 1);
  llvm::SmallVector<int64_t, kFewValues> values;
  for (int64_t i = 0; i < *computed.Size(); ++i) {
    symbols[symbol] = computed.lower() + i;
    if (!program.Evaluate({}, symbols, &workspace).ok()) return std::nullopt;
    values.push_back(program.Result(workspace, 0));
  }
  if (!AddDigitsOf(values, &digits)) return std::nullopt;
  if (digits.empty()) return std::nullopt;
  return ExactSum(values.front(), digits);
}

// others + factor * (first + step * t).
AffineExpr WithCounter(const SumOccurrence& occurrence, const Progression& values, AffineExpr t) {
  const std::optional<int64_t> constant = CheckedMul(occurrence.factor, values.first());
  const std::optional<int64_t> coefficient = CheckedMul(occurrence.factor, values.step());
  if (!constant || !coefficient) return {};
  LinearSum sum = occurrence.others;
  sum.AddConstant(*constant);
  sum.AddTerm(t, *coefficient);
  return sum.ToExpr(t.getContext());
}

// The map with a counter for the range variable; nullopt if it has no place for one.
std::optional<IndexingMap> WithCounterFor(int symbol, const IndexingMap& map) {
  const Interval values = map.ranges()[symbol].bounds;
  if (values.IsEmpty() || !values.IsFinite()) return std::nullopt;
  OneSum use(symbol, map);
  for (const AffineExpr result : map.results()) {
    if (!use.Add(result)) return std::nullopt;
  }
  for (const Constraint& constraint : map.constraints()) {
    if (!use.Add(constraint.expr)) return std::nullopt;
  }
  if (!use.IsLonger()) return std::nullopt;
  const std::optional<Progression> counted =
      EquallySpacedValues(use.sum(), symbol, values, map.context());
  const std::optional<int64_t> size = counted ? NarrowToInt64(*counted->Count()) : std::nullopt;
  if (!size) return std::nullopt;

  const AffineExpr t = mlir::getAffineSymbolExpr(symbol, map.context());
  llvm::SmallVector<AffineExpr, 4> exprs;
  for (const auto& [i, occurrence] : llvm::enumerate(use.occurrences())) {
    const auto results = static_cast<size_t>(map.num_results());
    const AffineExpr given = i < results ? map.results()[i] : map.constraints()[i - results].expr;
    exprs.push_back(occurrence.factor == 0 ? given : WithCounter(occurrence, *counted, t));
    if (!exprs.back()) return std::nullopt;
  }
  Variables ranges(map.ranges());
  ranges[symbol].bounds = Interval::OfSize(*size);
  Constraints constraints;
  for (const auto [expr, constraint] :
       llvm::zip_equal(llvm::ArrayRef(exprs).drop_front(map.num_results()), map.constraints())) {
    constraints.push_back({expr, constraint.interval});
  }
  exprs.truncate(map.num_results());
  return IndexingMap(
      kPartsFit, mlir::AffineMap::get(map.num_dims(), map.num_symbols(), exprs, map.context()),
      Variables(map.dims()), std::move(ranges), Variables(map.runtimes()), std::move(constraints));
}

// The s of c*s + d with a negative c, s the symbol of a range variable.
std::optional<unsigned> ReversedSymbol(AffineExpr expr) {
  auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == mlir::AffineExprKind::Add &&
      llvm::isa<mlir::AffineConstantExpr>(binary.getRHS())) {
    binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(binary.getLHS());
  }
  if (!binary || binary.getKind() != mlir::AffineExprKind::Mul) return std::nullopt;
  const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(binary.getLHS());
  const auto factor = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getRHS());
  if (!symbol || !factor || factor.getValue() >= 0) return std::nullopt;
  return symbol.getPosition();
}

// The range variables that some result has in a division or reversed: without looking closer, nearly all
// maps have none.
llvm::BitVector Candidates(const IndexingMap& map) {
  llvm::BitVector candidates(map.num_ranges());
  for (const AffineExpr result : map.results()) {
    if (IsVariable(result)) continue;
    result.walk([&](AffineExpr part) {
      if (part.getKind() == mlir::AffineExprKind::FloorDiv ||
          part.getKind() == mlir::AffineExprKind::Mod) {
        MarkSymbols(part, &candidates);
      }
    });
    const std::optional<unsigned> reversed = ReversedSymbol(result);
    if (reversed && *reversed < candidates.size()) candidates.set(*reversed);
  }
  return candidates;
}

}  // namespace

bool CountDigitSums(IndexingMap* map) {
  if (IsOff(Engine::kRangeDigits) || map->IsKnownEmpty()) return false;
  bool changed = false;
  const llvm::BitVector candidates = Candidates(*map);
  for (const unsigned candidate : candidates.set_bits()) {
    const auto symbol = static_cast<int>(candidate);
    std::optional<IndexingMap> counted = WithCounterFor(symbol, *map);
    if (!counted) continue;
    *map = *std::move(counted);
    changed = true;
  }
  return changed;
}

}  // namespace xla_indexing::internal

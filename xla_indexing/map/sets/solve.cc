#include "xla_indexing/map/sets/solve.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/sets/change_of_variables.h"

namespace xla_indexing::internal {
using ::mlir::AffineExpr;

void ResidueValue::Know(int64_t c, int64_t g, AffineExpr value) {
  const int64_t divisor = Gcd(c, g);
  const int64_t modulus = g / divisor;
  if (modulus > 1) residues_.push_back({c / divisor, modulus, value, divisor});
}

ResidueValue::Combined ResidueValue::Combine(llvm::function_ref<bool(int64_t)> suffices) const {
  // The residues that are needed are found before any expression is made.
  llvm::SmallVector<const Residue*, 2> needed;
  llvm::SmallVector<int64_t, 3> moduli = {1};
  for (const Residue& residue : residues_) {
    if (suffices(moduli.back())) break;
    const int64_t step = residue.modulus / Gcd(moduli.back(), residue.modulus);
    const std::optional<int64_t> lcm = CheckedMul(moduli.back(), step);
    if (step == 1 || !lcm) continue;
    needed.push_back(&residue);
    moduli.push_back(*lcm);
  }
  if (needed.empty() || !suffices(moduli.back())) return {};
  AffineExpr value = Constant(0, residues_.front().value.getContext());
  for (const auto& [residue, modulus] : llvm::zip(needed, moduli)) {
    const int64_t shared = Gcd(modulus, residue->modulus);
    const int64_t step = residue->modulus / shared;
    const AffineExpr other = Scale(FloorDiv(residue->value, residue->divisor),
                                   InverseModulo(residue->factor, residue->modulus));
    const AffineExpr multiple = Mod(
        Scale(FloorDiv(Sub(other, value), shared), InverseModulo(modulus / shared, step)), step);
    value = Add(value, Scale(multiple, modulus));
  }
  return {value, moduli.back()};
}

AffineExpr ResidueValue::In(const Interval& interval) const {
  const std::optional<int64_t> size = interval.Size();
  if (!size || *size == 0) return {};
  const Combined x = Combine([&](int64_t modulus) { return *size <= modulus; });
  if (!x.value) return {};
  const AffineExpr least = Constant(interval.lower(), x.value.getContext());
  return Add(least, Mod(Sub(x.value, least), x.modulus));
}

AffineExpr ResidueValue::Modulo(int64_t m) const {
  return Mod(Combine([&](int64_t modulus) { return modulus % m == 0; }).value, m);
}

namespace {

// sum = value: a sum of atoms that contain unknowns, and what it is.
struct Equation {
  LinearSum sum;
  AffineExpr value;
};

bool IsUnknown(AffineExpr atom) { return atom.getKind() == mlir::AffineExprKind::SymbolId; }

Int128 Magnitude(int64_t value) { return value < 0 ? -Int128{value} : Int128{value}; }

// The intervals of the dimensions, then those of the results.
llvm::SmallVector<Interval, 8> BoundsOfDimsAndResults(const IndexingMap& map,
                                                      ExprSimplifier& simplifier) {
  llvm::SmallVector<Interval, 8> bounds(map.DimBounds());
  for (const AffineExpr result : map.results()) bounds.push_back(simplifier.Range(result));
  return bounds;
}

class Solver {
 public:
  explicit Solver(const IndexingMap& map)
      : map_(map),
        unknowns_(map.context(), map.DimBounds(), map.SymbolBounds()),
        values_(map.context(), BoundsOfDimsAndResults(map, unknowns_), {}),
        solved_(map.num_ranges()) {
    for (const Constraint& constraint : map.constraints()) {
      if (std::optional<ResidueFact> fact = ResidueFactOf(constraint)) {
        unknowns_.Assume(fact->sum, fact->residues);
      }
    }
    for (int i = 0; i < map.num_ranges(); ++i) {
      const Interval& bounds = map.ranges()[i].bounds;
      if (bounds.IsPoint()) solved_[i] = Constant(bounds.lower(), map.context());
    }
    for (int i = 0; i < map.num_results(); ++i) {
      const AffineExpr result = mlir::getAffineDimExpr(map.num_dims() + i, map.context());
      Learn(unknowns_.Evaluate(map.results()[i]), result);
    }
    for (const Constraint& constraint : map.constraints()) LearnFrom(constraint);
  }

  llvm::SmallVector<AffineExpr, 4> Solve() {
    for (int round = 0; round < kMaxSolverRounds && !AllSolved(); ++round) {
      const size_t known = seen_.size();
      Eliminate();
      for (size_t i = 0; i < equations_.size() && !AllSolved(); ++i) {
        Separate(Equation(equations_[i]));  // a copy: equations_ grows
      }
      if (AllSolved()) break;
      LearnFromResidues();
      MoveKnownParts();
      if (seen_.size() == known) break;
    }
    return solved_;
  }

 private:
  bool AllSolved() const {
    return llvm::all_of(solved_, [](AffineExpr value) { return static_cast<bool>(value); });
  }

  // Whether every unknown in `e` is solved.
  bool IsKnown(AffineExpr e) const {
    for (int i = 0; i < map_.num_ranges(); ++i) {
      if (!solved_[i] && HasSymbol(e, i)) return false;
    }
    return true;
  }

  // The sum as a sum of digits.
  QuasiAffineSum DigitsOf(const LinearSum& sum) {
    LinearSum written = sum;
    const AffineExpr expr = written.ToExpr(map_.context());
    return expr ? unknowns_.Evaluate(expr) : QuasiAffineSum::Invalid();
  }

  void Learn(const LinearSum& sum, AffineExpr value) { Learn(DigitsOf(sum), value); }

  // c*s + e in [a, b], where b - a < c, as  s - floor((b - e)/c) = 0.
  void LearnFrom(const Constraint& constraint) {
    const Interval& interval = constraint.interval;
    if (!interval.IsFinite()) return;
    const LinearSum sum = LinearSum::FromExpr(constraint.expr);
    for (const Term& term : sum.terms()) {
      const int64_t c = term.coefficient;
      const bool is_quotient = Int128{interval.upper()} - interval.lower() < Magnitude(c);
      if (c == kInt64Min || !IsUnknown(term.atom) || !is_quotient) continue;
      LinearSum dividend = sum;
      dividend.RemoveTerm(term.atom);
      dividend.SubtractConstant(c > 0 ? interval.upper() : interval.lower());
      if (c > 0) dividend.Scale(-1);
      const AffineExpr quotient = FloorDiv(dividend.ToExpr(map_.context()), c > 0 ? c : -c);
      const AffineExpr difference = Sub(term.atom, quotient);
      if (difference) Learn(unknowns_.Evaluate(difference), Constant(0, map_.context()));
    }
  }

  // Adds the equation  digits = value, where it says anything new.
  void Learn(const QuasiAffineSum& digits, AffineExpr value) {
    if (!digits.valid() || equations_.size() >= kMaxSolverEquations) return;
    const LinearSum sum = unknowns_.Written(ModFreeForm(digits));
    if (!sum.valid()) return;
    // The known terms go to the other side.
    LinearSum unknown;
    value = Sub(value, Constant(sum.constant(), map_.context()));
    for (const Term& term : sum.terms()) {
      if (IsKnown(term.atom)) {
        value = Sub(value, Scale(Substitute(term.atom, {}, solved_), term.coefficient));
      } else {
        unknown.AddTerm(term.atom, term.coefficient);
      }
    }
    if (!value || !unknown.valid() || unknown.IsConstant()) return;
    const AffineExpr sum_expr = unknown.ToExpr(map_.context());
    if (!sum_expr || !seen_.insert(sum_expr).second) return;
    value = values_.Simplify(value);
    equations_.push_back({unknown, value});
    if (unknown.terms().size() == 1 && IsUnknown(unknown.terms()[0].atom)) {
      const int64_t coefficient = unknown.terms()[0].coefficient;
      const unsigned position =
          llvm::cast<mlir::AffineSymbolExpr>(unknown.terms()[0].atom).getPosition();
      solved_[position] = DivideExactly(value, coefficient);
    }
  }

  // value / coefficient, where that is an integer.
  AffineExpr DivideExactly(AffineExpr value, int64_t coefficient) {
    const std::optional<int64_t> negated = CheckedNeg(coefficient);
    if (coefficient < 0) {
      if (!negated) return {};
      value = Scale(value, -1);
      coefficient = *negated;
    }
    const AffineExpr quotient = FloorDiv(value, coefficient);
    return quotient ? values_.Simplify(quotient) : quotient;
  }

  void MoveKnownParts() {
    for (size_t i = 0; i < equations_.size(); ++i) {
      const Equation equation = equations_[i];
      if (llvm::any_of(equation.sum.terms(), [&](const Term& t) { return IsKnown(t.atom); })) {
        Learn(equation.sum, equation.value);
      }
    }
  }

  // Gauss-Jordan elimination; each row that results is learnt in addition to those that are there.
  void Eliminate() {
    llvm::SmallVector<Equation, 16> rows(equations_.begin(), equations_.end());
    llvm::SmallVector<AffineExpr, 16> columns;
    llvm::DenseSet<AffineExpr> in_columns;
    for (const Equation& row : rows) {
      for (const Term& term : row.sum.terms()) {
        if (in_columns.insert(term.atom).second) columns.push_back(term.atom);
      }
    }
    llvm::stable_sort(columns, [](AffineExpr a, AffineExpr b) {
      const int depth_a = DivisionDepth(a);
      const int depth_b = DivisionDepth(b);
      return depth_a != depth_b ? depth_a > depth_b : SummandLess(a, b);
    });
    size_t num_pivots = 0;
    for (const AffineExpr column : columns) {
      size_t pivot = rows.size();
      for (size_t i = num_pivots; i < rows.size(); ++i) {
        const int64_t c = rows[i].sum.CoefficientOf(column);
        if (c == 0 || c == kInt64Min) continue;
        if (pivot == rows.size() ||
            Magnitude(c) < Magnitude(rows[pivot].sum.CoefficientOf(column))) {
          pivot = i;
        }
      }
      if (pivot == rows.size()) continue;
      std::swap(rows[num_pivots], rows[pivot]);
      for (size_t i = 0; i < rows.size(); ++i) {
        if (i == num_pivots || rows[i].sum.CoefficientOf(column) == 0) continue;
        if (std::optional<Equation> rest = Cancel(rows[i], rows[num_pivots], column)) {
          rows[i] = *std::move(rest);
        }
      }
      ++num_pivots;
    }
    for (const Equation& row : rows) Learn(row.sum, row.value);
  }

  // A combination of two equations without the atom.
  static std::optional<Equation> Cancel(const Equation& row, const Equation& pivot,
                                        AffineExpr atom) {
    const int64_t a = row.sum.CoefficientOf(atom);
    const int64_t b = pivot.sum.CoefficientOf(atom);
    const int64_t g = Gcd(a, b);
    if (a == kInt64Min || b == kInt64Min) return std::nullopt;
    const int64_t row_factor = b > 0 ? b / g : -(b / g);
    const int64_t pivot_factor = b > 0 ? -(a / g) : a / g;
    Equation result = row;
    result.sum.Scale(row_factor);
    result.sum.AddScaled(pivot.sum, pivot_factor);
    result.value = Add(Scale(row.value, row_factor), Scale(pivot.value, pivot_factor));
    if (!result.sum.valid() || !result.value) return std::nullopt;
    return result;
  }

  // Learns the digits that an equation separates into, in one of the ways to write it.
  void Separate(Equation equation) {
    const AffineExpr expr = equation.sum.ToExpr(map_.context());
    if (!expr) return;
    if (SeparateDigits({LinearSum::FromExpr(unknowns_.Simplify(expr)), equation.value})) return;
    for (const LinearSum& way : WaysToWrite(equation.sum)) {
      if (SeparateDigits({way, equation.value})) return;
    }
  }

  // Whether the terms of the sum part.
  bool SeparateDigits(Equation digits) {
    if (!digits.sum.valid()) return false;
    bool parted = digits.sum.terms().size() == 1;
    llvm::SmallVector<Equation, 4> pending = {std::move(digits)};
    while (!pending.empty()) {
      Equation whole = pending.pop_back_val();
      whole.value = Sub(whole.value, Constant(whole.sum.constant(), map_.context()));
      if (!whole.value || !DropConstant(whole.sum)) continue;
      if (std::optional<std::pair<Equation, Equation>> parts = Split(whole)) {
        parted = true;
        pending.push_back(std::move(parts->first));
        pending.push_back(std::move(parts->second));
      } else if (whole.sum.terms().size() == 1) {
        LearnAtom(whole.sum.terms()[0].atom,
                  DivideExactly(whole.value, whole.sum.terms()[0].coefficient));
      } else if (parted) {
        Learn(whole.sum, whole.value);
      }
    }
    return parted;
  }

  // atom = value. Where the dividend of a mod takes each residue once, it is known too.
  void LearnAtom(AffineExpr atom, AffineExpr value) {
    if (!value) return;
    Learn(unknowns_.Evaluate(atom), value);
    const Atom* mod = unknowns_.AtomOf(atom);
    if (mod == nullptr || !mod->IsMod()) return;
    const Interval range = unknowns_.RangeOf(mod->dividend);
    const std::optional<int64_t> size = range.Size();
    if (!size || *size == 0 || *size > mod->divisor) return;
    const AffineExpr least = Constant(range.lower(), map_.context());
    Learn(mod->dividend, Add(least, Mod(Sub(value, least), mod->divisor)));
  }

  // Learns the atoms that equations say enough of, modulo what divides their other summands.
  void LearnFromResidues() {
    llvm::MapVector<AffineExpr, ResidueValue> atoms;
    for (const Equation& equation : equations_) {
      for (const Term& term : equation.sum.terms()) {
        LinearSum others = equation.sum;
        others.RemoveTerm(term.atom);
        ResidueValue& residue = atoms[term.atom];
        const int64_t g = others.CoefficientGcd();
        if (g > 1) residue.Know(term.coefficient, g, equation.value);
      }
    }
    for (const auto& [atom, residue] : atoms) {
      if (const AffineExpr value = residue.In(unknowns_.Range(atom))) {
        Learn(LinearSum::Of(atom), value);
      }
      LearnRemainder(atom, atoms);
    }
  }

  // Learns Y - m*T where T = floor(Y/m) and the residue of Y is known.
  void LearnRemainder(AffineExpr atom, const llvm::MapVector<AffineExpr, ResidueValue>& residues) {
    const Atom* floor = unknowns_.AtomOf(atom);
    if (floor == nullptr || !floor->IsFloor()) return;
    const int64_t m = floor->divisor;
    LinearSum remainder = unknowns_.Written(floor->dividend_mod_free_form);
    AffineExpr value = Constant(remainder.constant(), map_.context());
    for (const Term& term : remainder.terms()) {
      const auto* const residue = residues.find(term.atom);
      const AffineExpr part = IsKnown(term.atom) ? Substitute(term.atom, {}, solved_)
                              : residue == residues.end()
                                  ? AffineExpr()
                                  : residue->second.Modulo(m / Gcd(term.coefficient, m));
      value = Add(value, Scale(part, term.coefficient));
    }
    remainder.AddTerm(atom, -m);
    if (remainder.valid() && value) Learn(remainder, Mod(value, m));
  }

  // A sum of floors in digits: for each floor T = floor(X/n) in it, with v*X among the other terms,
  //   v*X = v*(X mod n) + v*n*T.
  llvm::SmallVector<LinearSum, 8> WaysToWrite(const LinearSum& mod_free_form) {
    llvm::SmallVector<std::pair<int64_t, AffineExpr>, 4> floors;  // by divisor
    for (const Term& term : mod_free_form.terms()) {
      const Atom* floor = unknowns_.AtomOf(term.atom);
      if (floor != nullptr && floor->IsFloor()) floors.push_back({floor->divisor, term.atom});
    }
    llvm::stable_sort(floors, llvm::less_first());
    constexpr size_t kMaxWays = 24;
    llvm::SmallVector<LinearSum, 8> ways = {mod_free_form};
    for (const auto& [divisor, floor] : floors) {
      for (size_t i = ways.size(); i-- > 0;) {
        for (const auto& [below, n] : DigitsBelow(floor, ways[i])) {
          for (const int64_t v : Multiples(below, ways[i])) {
            LinearSum way = ways[i];
            const std::optional<int64_t> minus_v = CheckedNeg(v);
            const std::optional<int64_t> multiple = CheckedMul(v, n);
            if (!minus_v || !multiple || ways.size() == kMaxWays) continue;
            way.AddScaled(below, *minus_v);
            way.AddScaled(unknowns_.Written(unknowns_.Modulo(DigitsOf(below), n)), v);
            way.AddTerm(floor, *multiple);
            if (way.valid()) ways.push_back(std::move(way));
          }
        }
      }
    }
    return ways;
  }

  // The X and n with floor = floor(X/n) that a sum can have: the dividend, and finer floors of it.
  llvm::SmallVector<std::pair<LinearSum, int64_t>, 2> DigitsBelow(AffineExpr floor,
                                                                  const LinearSum& sum) {
    const Atom& whole = *unknowns_.AtomOf(floor);
    llvm::SmallVector<std::pair<LinearSum, int64_t>, 2> below;
    for (const Term& term : sum.terms()) {
      const Atom* finer = unknowns_.AtomOf(term.atom);
      if (finer != nullptr && finer->IsFloor() && finer->divisor < whole.divisor &&
          whole.divisor % finer->divisor == 0 &&
          finer->dividend_mod_free_form == whole.dividend_mod_free_form) {
        below.push_back({LinearSum::Of(term.atom), whole.divisor / finer->divisor});
      }
    }
    below.push_back({unknowns_.Written(whole.dividend_mod_free_form), whole.divisor});
    return below;
  }

  // The v for which sum - v*part has fewer terms of the part.
  static llvm::SmallVector<int64_t, 4> Multiples(const LinearSum& part, const LinearSum& sum) {
    llvm::SmallVector<int64_t, 4> multiples;
    for (const Term& term : part.terms()) {
      const int64_t coefficient = sum.CoefficientOf(term.atom);
      if (coefficient == 0 || coefficient == kInt64Min || coefficient % term.coefficient != 0) {
        continue;
      }
      const int64_t v = coefficient / term.coefficient;
      if (!llvm::is_contained(multiples, v)) multiples.push_back(v);
    }
    return multiples;
  }

  static bool DropConstant(LinearSum& sum) {
    const std::optional<int64_t> negated = CheckedNeg(sum.constant());
    if (!negated) return false;
    sum.AddConstant(*negated);
    return true;
  }

  // Two equations for a sum without a constant whose terms part into multiples of some g and what
  // takes fewer than g values in a row.
  std::optional<std::pair<Equation, Equation>> Split(const Equation& whole) {
    llvm::SmallVector<Term, 8> terms(whole.sum.terms());
    llvm::stable_sort(terms, [](const Term& a, const Term& b) {
      return Magnitude(a.coefficient) > Magnitude(b.coefficient);
    });
    LinearSum high;
    for (size_t k = 0; k + 1 < terms.size(); ++k) {
      high.AddTerm(terms[k].atom, terms[k].coefficient);
      LinearSum low;
      for (const Term& term : llvm::ArrayRef(terms).drop_front(k + 1)) {
        low.AddTerm(term.atom, term.coefficient);
      }
      const int64_t g = high.CoefficientGcd();
      const Interval range = unknowns_.RangeOf(DigitsOf(low));
      const std::optional<int64_t> size = range.Size();
      if (!size || *size == 0 || *size > g) continue;
      const AffineExpr least = Constant(range.lower(), map_.context());
      const AffineExpr low_value = Add(least, Mod(Sub(whole.value, least), g));
      const AffineExpr high_value = Sub(whole.value, low_value);
      if (!low_value || !high_value) continue;
      return std::pair(Equation{high, values_.Simplify(high_value)},
                       Equation{low, values_.Simplify(low_value)});
    }
    return std::nullopt;
  }

  const IndexingMap& map_;
  ExprSimplifier unknowns_;  // of expressions over the map's variables
  ExprSimplifier values_;    // of expressions over dimensions and results
  llvm::SmallVector<AffineExpr, 4> solved_;
  llvm::SmallVector<Equation, 16> equations_;
  llvm::DenseSet<AffineExpr> seen_;  // the sums of all equations
};

}  // namespace

llvm::SmallVector<AffineExpr, 4> SolveForRanges(const IndexingMap& map) {
  llvm::SmallVector<AffineExpr, 4> solved = Solver(map).Solve();
  if (!llvm::is_contained(solved, AffineExpr())) return solved;
  const std::optional<ChangedVariables> substituted = WithoutEqualities(map);
  if (!substituted) return solved;
  const llvm::SmallVector<AffineExpr, 4> others = Solver(substituted->map).Solve();
  for (auto [value, expr] : llvm::zip_equal(solved, substituted->values)) {
    const auto is_open = [&, expr = expr](int i) { return !others[i] && HasSymbol(expr, i); };
    if (value || !expr || llvm::any_of(llvm::seq(substituted->map.num_ranges()), is_open)) continue;
    value = Substitute(expr, {}, others);
  }
  return solved;
}

}  // namespace xla_indexing::internal

// floor(sum / m) and sum mod m. In all rules the dividend is m * quotient + rest, both sums of
// digits, so that floor(dividend / m) = quotient + floor(rest / m) and dividend mod m = rest mod m.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

// c mod m in (-m/2, m/2].
int64_t SymmetricResidue(int64_t c, int64_t m) {
  int64_t residue = FloorMod(c, m);
  return residue > m - residue ? residue - m : residue;
}

// Leaves residue(term) of the coefficient of every term in the rest; what is taken away must be a
// multiple of m and goes to the quotient, unless the numbers do not fit int64. Whether any was.
template <typename Residue>
bool MoveToQuotient(QuasiAffineSum& rest, QuasiAffineSum& quotient, int64_t m, Residue residue) {
  return rest.ReplaceCoefficients([&](const DigitTerm& term) {
    const int64_t left = residue(term);
    if (left == term.coefficient) return left;
    const Int128 taken = static_cast<Int128>(term.coefficient) - left;
    if (!NarrowToInt64(-taken)) return term.coefficient;
    const std::optional<int64_t> narrow = NarrowToInt64(taken);
    quotient.AddTerm(term.atom, narrow ? *narrow / m : static_cast<int64_t>(taken / m));
    return left;
  });
}

}  // namespace

// Leaves a constant that is less by amount*m in the rest, unless the numbers do not fit int64.
void ExprSimplifier::MoveConstantToQuotient(Division& division, int64_t amount, int64_t m) {
  if (amount == 0) return;
  std::optional<int64_t> taken = NarrowToInt64(-static_cast<Int128>(amount) * m);
  if (!taken || !CheckedAdd(division.rest.constant(), *taken)) return;
  division.quotient.AddConstant(amount);
  division.rest.AddConstant(*taken);
  if (division.range) division.range = division.range->Add(*taken);
}

// floor((m*Q + R) / m) = Q + floor(R / m): terms whose coefficient is a multiple of m are Q.
void ExprSimplifier::ExtractMultiples(Division& division, int64_t m) {
  const bool moved = MoveToQuotient(
      division.rest, division.quotient, m,
      [m](const DigitTerm& term) { return term.coefficient % m == 0 ? 0 : term.coefficient; });
  if (moved) division.MakeOther();
  MoveConstantToQuotient(division, FloorDiv(division.rest.constant(), m), m);
}

// Reduces every coefficient to a residue in (-m/2, m/2], which makes the range of the rest
// smallest, and moves the multiples of m to the quotient. A floor atom may keep -m/2: unnesting it
// with its sign finds the division that it was made from. Returns whether any coefficient changed.
bool ExprSimplifier::ReduceResidues(Division& division, int64_t m) {
  const bool moved =
      MoveToQuotient(division.rest, division.quotient, m, [m](const DigitTerm& term) {
        const int64_t residue = SymmetricResidue(term.coefficient, m);
        const bool keeps_sign =
            residue > 0 && residue == m - residue && term.coefficient < 0 && term.atom->IsFloor();
        return keeps_sign ? -residue : residue;
      });
  if (moved) division.MakeOther();
  return moved;
}

// c * (X mod n) + R = c*X + R' with R' = R - c*n*floor(X / n), where the terms of floor(X / n) are
// multiples of m in R', as they are wherever m divides c*n: they leave the division, in which the
// mod of a coarser digit is of no use.
bool ExprSimplifier::DropCoarserMods(Division& division, int64_t m) {
  if (!HasMod(division.rest)) return false;
  QuasiAffineSum rest = division.rest;
  bool found = false;
  for (const DigitTerm& term : division.rest.terms()) {
    const DigitAtom* mod = term.atom;
    if (!mod->IsMod()) continue;
    // The quotient of a mod that has left may have others.
    const int64_t coefficient = rest.CoefficientOf(mod);
    const Int128 step = static_cast<Int128>(coefficient) * mod->divisor;
    if (coefficient == 0 || !NarrowToInt64(-step)) continue;
    QuasiAffineSum without = rest;
    without.RemoveTerm(mod);
    without.AddScaled(mod->dividend, coefficient);
    without.AddScaled(mod->quotient, static_cast<int64_t>(-step));
    const bool leaves =
        without.valid() && llvm::all_of(mod->quotient.terms(), [&](const DigitTerm& of_quotient) {
          return without.CoefficientOf(of_quotient.atom) % m == 0;
        });
    if (!leaves) continue;
    rest = std::move(without);
    found = true;
  }
  if (!found) return false;
  division.rest = std::move(rest);
  Join(division.rest);
  division.MakeOther();
  ExtractMultiples(division, m);
  return true;
}

// The range of the rest.
const Interval& ExprSimplifier::RangeOfRest(Division& division) {
  if (!division.range) division.range = RangeOf(division.rest);
  return *division.range;
}

// Moves to the quotient what can be moved; finds a split of the rest if there is one, and
// otherwise leaves the rest with reduced coefficients. The digits are tried first as they come:
// they have the ranges that whoever made them had in mind.
bool ExprSimplifier::Normalize(Division& division, int64_t m, DivisionSplit& split) {
  ExtractMultiples(division, m);
  if (SplitWithoutCarry(division, m, split)) return true;
  bool same = true;  // as it was when the multiples had been moved
  if (!IsLinear(division.rest)) {
    const bool is_shortest = IsOfDistinctNumbers(division.rest);
    const QuasiAffineSum mod_free_form =
        is_shortest ? QuasiAffineSum() : ModFreeForm(division.rest);
    if (mod_free_form.valid() && HasFloorAtom(mod_free_form)) {
      const QuasiAffineSum& digits = WayOfDigits(mod_free_form);
      if (digits.terms().size() <= division.rest.terms().size() && !(digits == division.rest)) {
        same = false;
        division.rest = digits;
        division.MakeOther();
        ExtractMultiples(division, m);
        if (SplitWithoutCarry(division, m, split)) return true;
      }
    }
    if (DropCoarserMods(division, m)) {
      same = false;
      if (SplitWithoutCarry(division, m, split)) return true;
    }
  }
  if (ReduceResidues(division, m)) {
    same = false;
    if (SplitWithoutCarry(division, m, split)) return true;
  }
  division.is_normal = same || IsLinear(division.rest);
  return false;
}

// X mod m where X has floors and mods: which digits X was made of does not tell its mod. All mods
// go, c*(X mod n) = c*X - c*n*floor(X/n), coefficients become their residues, and those mods come
// back which take all of X and its floor along. Whether that is another sum.
bool ExprSimplifier::ChooseMods(Division& division, int64_t m) {
  if (IsLinear(division.rest)) return false;
  // A floor alone is what it is.
  const DigitTerm& first = division.rest.terms()[0];
  if (division.rest.terms().size() == 1 && first.atom->IsFloor() && first.coefficient > 0) {
    return false;
  }
  Division chosen{ModFreeForm(division.rest)};
  QuasiAffineSum& rest = chosen.rest;
  const auto reduce = [&] {
    MoveToQuotient(rest, chosen.quotient, m,
                   [m](const DigitTerm& term) { return SymmetricResidue(term.coefficient, m); });
  };
  reduce();
  const QuasiAffineSum floors = rest;
  for (const DigitTerm& term : floors.terms()) {
    const DigitAtom* floor = term.atom;
    if (!floor->IsFloor() || !IsLinear(floor->dividend)) continue;
    const DigitTerm& leading = floor->dividend.terms()[0];
    const int64_t c = rest.CoefficientOf(leading.atom);
    if (c == 0 || leading.coefficient != 1) continue;
    const auto goes = [&](const DigitTerm& part, Int128 amount) {
      return (rest.CoefficientOf(part.atom) - amount) % m == 0;
    };
    const bool all_go = goes(term, -static_cast<Int128>(c) * floor->divisor) &&
                        llvm::all_of(floor->dividend.terms(), [&](const DigitTerm& part) {
                          return goes(part, static_cast<Int128>(c) * part.coefficient);
                        });
    if (!all_go) continue;
    QuasiAffineSum with_mod = rest;
    with_mod.RemoveTerm(floor);
    for (const DigitTerm& part : floor->dividend.terms()) with_mod.RemoveTerm(part.atom);
    with_mod.AddScaled(QuasiAffineSum(floor->dividend.constant()), -c);
    with_mod.AddScaled(Modulo(floor->dividend, floor->divisor), c);
    if (!with_mod.valid()) continue;
    rest = std::move(with_mod);
    reduce();
  }
  if (!rest.valid()) return false;
  MoveConstantToQuotient(chosen, FloorDiv(rest.constant(), m), m);
  if (rest.terms().size() > division.rest.terms().size() || rest == division.rest) return false;
  // The quotient does not count: what went with the mod is a multiple of m.
  division.rest = std::move(rest);
  division.MakeOther();
  return true;
}

// floor((R + floor(Y/a)) / m) = floor((a*R + Y) / (a*m)), and for a summand -floor(Y/a), which is
// floor((-Y - 1) / a) + 1, likewise. The first such summand in summand order is unnested.
bool ExprSimplifier::UnnestDivision(const Division& division, int64_t m, QuasiAffineSum& result) {
  // A split may undo an unnesting, which may then be undone again.
  constexpr int kMaxUnnesting = 4;
  if (unnesting_ >= kMaxUnnesting || !HasFloorAtom(division.rest)) return false;
  ++unnesting_;
  const absl::Cleanup leave = [this] { --unnesting_; };
  for (const DigitTerm& term : division.rest.terms()) {
    if (term.coefficient != 1 && term.coefficient != -1) continue;
    const DigitAtom* floor = term.atom;
    if (!floor->IsFloor()) continue;
    std::optional<int64_t> divisor = CheckedMul(floor->divisor, m);
    if (!divisor) continue;
    QuasiAffineSum dividend = division.rest;
    dividend.RemoveTerm(term.atom);
    dividend.Scale(floor->divisor);
    dividend.AddScaled(floor->dividend, term.coefficient);
    if (term.coefficient == -1) dividend.AddConstant(floor->divisor - 1);
    if (!dividend.valid()) continue;
    Join(dividend);
    QuasiAffineSum unnested = FloorDivide(dividend, *divisor);
    unnested.AddScaled(division.quotient, 1);
    if (!unnested.valid()) continue;
    result = std::move(unnested);
    return true;
  }
  return false;
}

// floor(-X / m) = -floor((X - 1) / m) - 1 and (-X) mod m = m - 1 - (X - 1) mod m. A split of one is
// a split of the other, -(g*H + L) - 1 = g*(-H - 1) + (g - 1 - L).
void ExprSimplifier::Negate(Division& division) {
  division.rest.Scale(-1);
  division.rest.AddConstant(-1);
  if (division.range) division.range = division.range->Mul(-1).Add(-1);
  division.quotient.Scale(-1);
  division.negated = !division.negated;
}

// The sign of the dividend and the residues of its coefficients, from the residues alone. Where the
// symmetric ones can all be positive they are. Otherwise all coefficients are brought into [0, m -
// 1], with the sign that makes their sum smaller, or the first of them greater: strides come
// greatest first.
void ExprSimplifier::NormalizeSignAndResidues(Division& division, int64_t m) {
  // A coefficient m/2 has no sign of its own: m/2 and -m/2 are the same residue. Only floor atoms
  // keep the sign of such a coefficient; they decide where there is no other.
  division.rest.Sort();
  // As they nearly always are: nothing is to be done.
  if (llvm::all_of(division.rest.terms(), [m](const DigitTerm& term) {
        return term.coefficient > 0 && term.coefficient <= m - term.coefficient;
      })) {
    return;
  }
  auto is_half = [m](const DigitTerm& term) {
    const Int128 twice = static_cast<Int128>(term.coefficient) * 2;
    return twice == m || twice == -static_cast<Int128>(m);
  };
  const DigitTerm* leading = llvm::find_if_not(division.rest.terms(), is_half);
  if (leading == division.rest.terms().end()) {
    leading = llvm::find_if(division.rest.terms(),
                            [](const DigitTerm& term) { return term.atom->IsFloor(); });
  }
  if (leading != division.rest.terms().end() && leading->coefficient < 0) Negate(division);
  ReduceResidues(division, m);  // m/2 may have become -m/2
  auto is_negative = [](const DigitTerm& term) { return term.coefficient < 0; };
  if (llvm::none_of(division.rest.terms(), is_negative)) return;

  division.rest.Sort();
  Int128 sum = 0;
  Int128 negated_sum = 0;
  int first_greater = 0;  // where the coefficients differ first
  for (const DigitTerm& term : division.rest.terms()) {
    const int64_t residue = FloorMod(term.coefficient, m);
    sum += residue;
    negated_sum += m - residue;
    if (first_greater == 0 && residue != m - residue) {
      first_greater = residue > m - residue ? 1 : -1;
    }
  }
  if (negated_sum < sum || (negated_sum == sum && first_greater < 0)) Negate(division);
  MoveToQuotient(division.rest, division.quotient, m,
                 [m](const DigitTerm& term) { return FloorMod(term.coefficient, m); });
  division.MakeOther();
}

// A constant that is a multiple of m leaves the rest; any other is shifted by a multiple of m so
// that the least value of the rest is in [0, m - 1], or itself is where there is no least value.
void ExprSimplifier::ShiftConstant(Division& division, int64_t m) {
  int64_t constant = division.rest.constant();
  int64_t amount = FloorDiv(constant, m);
  if (constant % m != 0) {
    const Interval& range = RangeOfRest(division);
    if (range.has_lower()) amount = FloorDiv(range.lower(), m);
  }
  MoveConstantToQuotient(division, amount, m);
}

// f(x) = f(l) + (f(l + 1) - f(l)) * (x - l) for x in [l, l + 1]: what depends on nothing but a
// variable of two values is linear. Whether that is so.
bool ExprSimplifier::LinearInTwoValues(const QuasiAffineSum& digits,
                                       llvm::function_ref<int64_t(int64_t)> f,
                                       QuasiAffineSum& result) {
  if (!IsOfTwoValues(digits)) return false;
  const DigitTerm& term = digits.terms()[0];
  const Interval& range = term.atom->range;
  const auto at = [&](int64_t x) {
    return NarrowToInt64(static_cast<Int128>(term.coefficient) * x + digits.constant());
  };
  const std::optional<int64_t> first = at(range.lower());
  const std::optional<int64_t> second = at(range.upper());
  if (!first || !second) return false;
  const std::optional<int64_t> step = CheckedSub(f(*second), f(*first));
  const std::optional<int64_t> start =
      step ? NarrowToInt64(f(*first) - static_cast<Int128>(*step) * range.lower()) : std::nullopt;
  if (!start) return false;
  result.AddConstant(*start);
  result.AddTerm(term.atom, *step);
  return true;
}

QuasiAffineSum ExprSimplifier::FloorDivide(const QuasiAffineSum& digits, int64_t m) {
  if (m == 1 || !digits.valid()) return digits;
  if (digits.IsConstant()) return QuasiAffineSum(FloorDiv(digits.constant(), m));
  QuasiAffineSum result;
  const char* rule = FloorDivideByRule(digits, m, result);
  if (trace_) TraceDivision(mlir::AffineExprKind::FloorDiv, digits, m, rule, result);
  return result;
}

const char* ExprSimplifier::FloorDivideByRule(const QuasiAffineSum& digits, int64_t m,
                                              QuasiAffineSum& result) {
  if (const DigitAtom* known = FindIrreducible(DigitAtom::Kind::kFloor, digits, m)) {
    result.AddNewTerm(known, 1);
    return nullptr;
  }
  const auto quotient = [m](int64_t x) { return ::xla_indexing::internal::FloorDiv(x, m); };
  if (LinearInTwoValues(digits, quotient, result)) {
    Join(result);
    return "of two values: linear";
  }
  if (!MayWork(digits.terms().size()) || recursion_ >= kMaxRecursion) {
    result = QuasiAffineSum::Invalid();
    return nullptr;
  }
  ++recursion_;
  const absl::Cleanup leave = [this] { --recursion_; };
  Division division{digits};
  DivisionSplit split;
  const bool is_split = Normalize(division, m, split);
  const char* rule = "floor((g*H + L) / m) = floor((H + t) / (m/g))";
  if (is_split) {
    result = FloorDivide(split.high, m / split.radix);
    result.AddScaled(division.quotient, 1);
    Join(result);
  } else {
    rule = FloorOfNormal(division, m, result);
  }
  const DigitAtom* atom = LoneAtom(result);
  const bool is_irreducible = atom != nullptr && atom->is_irreducible && atom->dividend == digits;
  if (is_irreducible) return rule;  // the atom says how
  if (KnownDivision* known = RememberDivision(digits, m, is_split)) {
    if (is_split) {
      known->split = std::move(split);
    } else {
      known->division = std::move(division);
    }
  }
  return rule;
}

// The floor of a division whose rest has no split.
const char* ExprSimplifier::FloorOfNormal(Division& division, int64_t m, QuasiAffineSum& result) {
  division.rest.Sort();
  ReduceToResidue(division, m);
  if (UnnestDivision(division, m, result)) {
    Join(result);
    return "floor((R + floor(Y/a)) / m) = floor((a*R + Y) / (a*m))";
  }
  result = std::move(division.quotient);
  division.quotient = QuasiAffineSum();
  // floor((Z + 1) / 2) = Z - floor(Z / 2): no sign of Z is better than the other, but one constant
  // is.
  if (m == 2 && division.rest.constant() == 1) {
    division.rest.AddConstant(-1);
    result.AddScaled(division.rest, 1);
    result.AddScaled(FloorDivide(division.rest, 2), -1);
    Join(result);
    return "floor((Z + 1) / 2) = Z - floor(Z / 2)";
  }
  NormalizeSignAndResidues(division, m);
  ReduceToResidue(division, m);
  ShiftConstant(division, m);
  const DigitAtom* floor = MakeFloorAtom(division, m);
  if (floor == nullptr) {
    result = QuasiAffineSum::Invalid();
    return nullptr;
  }
  const int sign = division.negated ? -1 : 1;
  result.AddTerm(floor, sign);
  result.AddScaled(division.quotient, sign);
  if (division.negated) result.AddConstant(-1);
  Join(result);
  return "floor((m*Q + R) / m) = Q + floor(R / m)";
}

QuasiAffineSum ExprSimplifier::Modulo(const QuasiAffineSum& digits, int64_t m) {
  if (m == 1) return QuasiAffineSum();
  if (!digits.valid()) return digits;
  if (digits.IsConstant()) return QuasiAffineSum(FloorMod(digits.constant(), m));
  QuasiAffineSum result;
  const char* rule = ModuloByRule(digits, m, result);
  if (trace_) TraceDivision(mlir::AffineExprKind::Mod, digits, m, rule, result);
  return result;
}

const char* ExprSimplifier::ModuloByRule(const QuasiAffineSum& digits, int64_t m,
                                         QuasiAffineSum& result) {
  if (const DigitAtom* known = FindIrreducible(DigitAtom::Kind::kMod, digits, m)) {
    result.AddNewTerm(known, 1);
    return nullptr;
  }
  const auto remainder = [m](int64_t x) { return FloorMod(x, m); };
  if (LinearInTwoValues(digits, remainder, result)) {
    Join(result);
    return "of two values: linear";
  }
  if (!facts_.empty()) {
    if (const std::optional<int64_t> residue = ResiduesOf(digits).ResidueModulo(m)) {
      result.AddConstant(*residue);
      return "X mod m = r where X = r (mod m)";
    }
  }
  if (!MayWork(digits.terms().size()) || recursion_ >= kMaxRecursion) {
    result = QuasiAffineSum::Invalid();
    return nullptr;
  }
  ++recursion_;
  const absl::Cleanup leave = [this] { --recursion_; };
  if (FindIrreducible(DigitAtom::Kind::kFloor, digits, m) != nullptr) {
    Division same{digits, QuasiAffineSum(), {}, true};
    return ModuloOfNormal(same, m, result);
  }
  if (KnownDivision* known = FindDivision(digits, m)) {
    return known->is_split ? ModuloOfSplit(known->split, m, result)
                           : ModuloOfNormal(known->division, m, result);
  }
  Division division{digits};
  DivisionSplit split;
  if (Normalize(division, m, split)) return ModuloOfSplit(split, m, result);
  if (ChooseMods(division, m)) {
    if (SplitWithoutCarry(division, m, split)) return ModuloOfSplit(split, m, result);
    division.is_normal = IsLinear(division.rest);
  }
  if (m == 2 && division.rest.constant() == 1) {
    division.rest.AddConstant(-1);
    division.MakeOther();
    division.negated = true;
  } else {
    NormalizeSignAndResidues(division, m);
    ShiftConstant(division, m);
  }
  return ModuloOfNormal(division, m, result);
}

const char* ExprSimplifier::ModuloOfSplit(const DivisionSplit& split, int64_t m,
                                          QuasiAffineSum& result) {
  result = Modulo(split.high, m / split.radix);
  result.Scale(split.radix);
  result.AddScaled(split.low, 1);
  Join(result);
  return "(g*H + L) mod m = g*((H + t) mod (m/g)) + L - t*g";
}

// The mod of a division whose rest is the dividend of an atom.
const char* ExprSimplifier::ModuloOfNormal(Division& division, int64_t m, QuasiAffineSum& result) {
  const DigitAtom* mod = MakeModAtom(division, m);
  if (mod == nullptr) {
    result = QuasiAffineSum::Invalid();
  } else if (division.negated) {
    result.AddNewTerm(mod, -1);
    result.AddConstant(m - 1);
  } else {
    result.AddNewTerm(mod, 1);
  }
  return division.negated ? "(-X) mod m = m - 1 - (X - 1) mod m" : "(m*Q + R) mod m = R mod m";
}

}  // namespace xla_indexing::internal

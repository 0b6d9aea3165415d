// floor(sum / m) and sum mod m. In all rules the dividend is m * quotient + rest, both sums of
// digits, so that floor(dividend / m) = quotient + floor(rest / m) and dividend mod m = rest mod m.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/build.h"
#include "xla_indexing/affine/simplifier.h"
#include "xla_indexing/base/checked.h"

namespace xla_indexing {
namespace {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// c mod m in (-m/2, m/2].
int64_t SymmetricResidue(int64_t c, int64_t m) {
  int64_t residue = FloorMod(c, m);
  return residue > m - residue ? residue - m : residue;
}

// Leaves `residue` of the coefficient of a term in the rest; what is taken away must be a multiple
// of m and goes to the quotient, unless the numbers do not fit int64.
void MoveToQuotient(LinearSum& rest, LinearSum& quotient, Term term, int64_t residue, int64_t m) {
  Int128 taken = static_cast<Int128>(term.coefficient) - residue;
  if (taken == 0 || !NarrowToInt64(-taken)) return;
  quotient.AddTerm(term.atom, static_cast<int64_t>(taken / m));
  rest.AddTerm(term.atom, static_cast<int64_t>(-taken));
}

// The same for the constant.
void MoveConstantToQuotient(LinearSum& rest, LinearSum& quotient, int64_t amount, int64_t m) {
  std::optional<int64_t> taken = NarrowToInt64(-static_cast<Int128>(amount) * m);
  if (!taken || !CheckedAdd(rest.constant(), *taken)) return;
  quotient.AddConstant(amount);
  rest.AddConstant(*taken);
}

// All gcds of m with the coefficients, and of pairs of those, above 1, greatest first.
llvm::SmallVector<int64_t, 8> RadixCandidates(const LinearSum& sum, int64_t m) {
  llvm::SmallVector<int64_t, 8> candidates;
  for (const Term& term : sum.terms()) candidates.push_back(Gcd(m, term.coefficient));
  size_t num_terms = candidates.size();
  int64_t all = m;
  for (size_t i = 0; i < num_terms; ++i) {
    all = Gcd(all, candidates[i]);
    for (size_t j = i + 1; j < std::min<size_t>(num_terms, 16); ++j) {
      candidates.push_back(Gcd(candidates[i], candidates[j]));
    }
  }
  candidates.push_back(all);
  llvm::sort(candidates, std::greater<>());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  while (!candidates.empty() && candidates.back() <= 1) candidates.pop_back();
  return candidates;
}

}  // namespace

// floor((m*Q + R) / m) = Q + floor(R / m): terms whose coefficient is a multiple of m are Q.
void ExprSimplifier::ExtractMultiples(Division& division, int64_t m) {
  llvm::SmallVector<Term, 4> terms(division.rest.terms().begin(), division.rest.terms().end());
  for (const Term& term : terms) {
    if (term.coefficient % m == 0) MoveToQuotient(division.rest, division.quotient, term, 0, m);
  }
  MoveConstantToQuotient(division.rest, division.quotient, FloorDiv(division.rest.constant(), m),
                         m);
}

// The same with the rest of every coefficient in (-m/2, m/2], which makes its range the smallest. A
// floor atom may keep -m/2: unnesting it with its sign finds the division that it was made from.
void ExprSimplifier::ReduceResidues(Division& division, int64_t m) {
  llvm::SmallVector<Term, 4> terms(division.rest.terms().begin(), division.rest.terms().end());
  for (const Term& term : terms) {
    int64_t residue = SymmetricResidue(term.coefficient, m);
    bool keeps_sign = residue == m - residue && term.coefficient < 0 &&
                      term.atom.getKind() == AffineExprKind::FloorDiv;
    MoveToQuotient(division.rest, division.quotient, term, keeps_sign ? -residue : residue, m);
  }
}

// floor((c * (X mod n) + R) / m) = floor((c*X + R) / m) - (c*n/m) * floor(X / n) where m divides
// c*n: the mod of a coarser digit is of no use below a division.
bool ExprSimplifier::DropCoarserMods(Division& division, int64_t m) {
  LinearSum rest = division.rest;
  LinearSum quotient = division.quotient;
  bool found = false;
  for (const Term& term : division.rest.terms()) {
    const ModAtom* mod = LookUpModAtom(term.atom);
    if (!mod) continue;
    Int128 dropped = static_cast<Int128>(term.coefficient) * mod->modulus;
    if (dropped % m != 0 || !NarrowToInt64(-(dropped / m))) continue;
    rest.AddTerm(term.atom, -term.coefficient);
    rest.AddScaled(mod->dividend, term.coefficient);
    quotient.AddScaled(mod->quotient, static_cast<int64_t>(-(dropped / m)));
    found = true;
  }
  if (!found || !rest.valid() || !quotient.valid()) return false;
  division.rest = Join(std::move(rest));
  division.quotient = std::move(quotient);
  ExtractMultiples(division, m);
  return true;
}

// Carry and radix such that low in [carry * radix, carry * radix + radix - 1].
ExprSimplifier::Split ExprSimplifier::MakeSplit(LinearSum high, LinearSum low, int64_t carry,
                                                int64_t radix) {
  high.AddConstant(carry);
  low.AddConstant(static_cast<int64_t>(-static_cast<Int128>(carry) * radix));
  return Split{std::move(high), std::move(low), radix};
}

// rest = g*H + L where g divides m and L in [t*g, t*g + g - 1]: the low part never carries into H.
// The greatest g that works is taken, first m itself; what is left splits further.
std::optional<ExprSimplifier::Split> ExprSimplifier::SplitWithoutCarry(const LinearSum& rest,
                                                                       int64_t m) {
  Interval whole = RangeOf(rest).FloorDiv(m);
  if (whole.IsPoint() && NarrowToInt64(static_cast<Int128>(whole.lower()) * m)) {
    return MakeSplit(LinearSum(), rest, whole.lower(), m);
  }
  return SplitByRadix(rest, m);
}

std::optional<ExprSimplifier::Split> ExprSimplifier::SplitByRadix(const LinearSum& rest,
                                                                  int64_t m) {
  for (int64_t g : RadixCandidates(rest, m)) {
    LinearSum high;
    LinearSum low(rest.constant());
    for (const Term& term : rest.terms()) {
      bool is_multiple = term.coefficient % g == 0;
      (is_multiple ? high : low).AddTerm(term.atom, term.coefficient);
    }
    Interval carry = RangeOf(low).FloorDiv(g);
    if (!carry.IsPoint() || !NarrowToInt64(static_cast<Int128>(carry.lower()) * g)) continue;
    high.DivideExactly(g);
    return MakeSplit(std::move(high), std::move(low), carry.lower(), g);
  }
  return std::nullopt;
}

// Moves to the quotient what can be moved; returns a split of the rest if there is one, and
// otherwise leaves the rest with reduced coefficients. The digits are tried first as they come:
// they have the ranges that whoever made them had in mind.
std::optional<ExprSimplifier::Split> ExprSimplifier::Normalize(Division& division, int64_t m) {
  ExtractMultiples(division, m);
  if (auto split = SplitWithoutCarry(division.rest, m)) return split;
  LinearSum floor_form = FloorForm(division.rest);
  if (floor_form.valid() && HasFloorAtom(floor_form)) {
    LinearSum digits = ViewsOf(floor_form).digits;
    if (digits.terms().size() <= division.rest.terms().size() && !(digits == division.rest)) {
      division.rest = std::move(digits);
      ExtractMultiples(division, m);
      if (auto split = SplitWithoutCarry(division.rest, m)) return split;
    }
  }
  if (DropCoarserMods(division, m)) {
    if (auto split = SplitWithoutCarry(division.rest, m)) return split;
  }
  LinearSum before = division.rest;
  ReduceResidues(division, m);
  if (before == division.rest) return std::nullopt;
  return SplitWithoutCarry(division.rest, m);
}

// floor((R + floor(Y/a)) / m) = floor((a*R + Y) / (a*m)), and for a summand -floor(Y/a), which is
// floor((-Y - 1) / a) + 1, likewise. The first such summand in summand order is unnested.
std::optional<LinearSum> ExprSimplifier::UnnestDivision(const Division& division, int64_t m) {
  // A split may undo an unnesting, which may then be undone again.
  constexpr int kMaxUnnesting = 4;
  if (unnesting_ >= kMaxUnnesting) return std::nullopt;
  ++unnesting_;
  llvm::scope_exit leave([this] { --unnesting_; });
  for (const Term& term : division.rest.terms()) {
    if (term.coefficient != 1 && term.coefficient != -1) continue;
    const FloorAtom* floor = LookUpFloorAtom(term.atom);
    if (!floor) continue;
    std::optional<int64_t> divisor = CheckedMul(floor->divisor, m);
    if (!divisor) continue;
    LinearSum dividend = division.rest;
    dividend.AddTerm(term.atom, -term.coefficient);
    dividend.Scale(floor->divisor);
    dividend.AddScaled(floor->dividend, term.coefficient);
    if (term.coefficient == -1) dividend.AddConstant(floor->divisor - 1);
    if (!dividend.valid()) continue;
    LinearSum result = FloorDivide(Join(std::move(dividend)), *divisor);
    result.AddScaled(division.quotient, 1);
    if (result.valid()) return result;
  }
  return std::nullopt;
}

// floor(-X / m) = -floor((X - 1) / m) - 1 and (-X) mod m = m - 1 - (X - 1) mod m.
void ExprSimplifier::Negate(Division& division) {
  division.rest.Scale(-1);
  division.rest.AddConstant(-1);
  division.quotient.Scale(-1);
  division.negated = !division.negated;
}

// The sign of the dividend and the residues of its coefficients, from the residues alone. Where the
// symmetric ones can all be positive they are. Otherwise all coefficients are brought into [0, m -
// 1], with the sign that makes their sum smaller, or the first of them greater: strides come
// greatest first.
void ExprSimplifier::Orient(Division& division, int64_t m) {
  // A coefficient m/2 has no sign of its own: m/2 and -m/2 are the same residue. Only floor atoms
  // keep the sign of such a coefficient; they decide where there is no other.
  division.rest.Sort();
  auto is_half = [m](const Term& term) {
    const Int128 twice = static_cast<Int128>(term.coefficient) * 2;
    return twice == m || twice == -static_cast<Int128>(m);
  };
  const Term* leading = llvm::find_if_not(division.rest.terms(), is_half);
  if (leading == division.rest.terms().end()) {
    leading = llvm::find_if(division.rest.terms(), [](const Term& term) {
      return term.atom.getKind() == AffineExprKind::FloorDiv;
    });
  }
  if (leading != division.rest.terms().end() && leading->coefficient < 0) Negate(division);
  ReduceResidues(division, m);  // m/2 may have become -m/2
  auto is_negative = [](const Term& term) { return term.coefficient < 0; };
  if (llvm::none_of(division.rest.terms(), is_negative)) return;

  division.rest.Sort();
  Int128 sum = 0;
  Int128 negated_sum = 0;
  int first_greater = 0;  // where the coefficients differ first
  for (const Term& term : division.rest.terms()) {
    const int64_t residue = FloorMod(term.coefficient, m);
    sum += residue;
    negated_sum += m - residue;
    if (first_greater == 0 && residue != m - residue) {
      first_greater = residue > m - residue ? 1 : -1;
    }
  }
  if (negated_sum < sum || (negated_sum == sum && first_greater < 0)) Negate(division);
  llvm::SmallVector<Term, 4> terms(division.rest.terms().begin(), division.rest.terms().end());
  for (const Term& term : terms) {
    MoveToQuotient(division.rest, division.quotient, term, FloorMod(term.coefficient, m), m);
  }
}

// A constant that is a multiple of m leaves the rest; any other is shifted by a multiple of m so
// that the least value of the rest is in [0, m - 1], or itself is where there is no least value.
void ExprSimplifier::ShiftConstant(Division& division, int64_t m) {
  int64_t constant = division.rest.constant();
  int64_t amount = FloorDiv(constant, m);
  if (constant % m != 0) {
    Interval range = RangeOf(division.rest);
    if (range.has_lower()) amount = FloorDiv(range.lower(), m);
  }
  MoveConstantToQuotient(division.rest, division.quotient, amount, m);
}

LinearSum ExprSimplifier::FloorDivide(const LinearSum& digits, int64_t m) {
  if (m == 1 || !digits.valid()) return digits;
  if (digits.IsConstant()) return LinearSum(FloorDiv(digits.constant(), m));
  if (++work_ > kMaxWork || recursion_ >= kMaxRecursion) return LinearSum::Invalid();
  ++recursion_;
  llvm::scope_exit leave([this] { --recursion_; });
  Division division{digits, {}};
  if (auto split = Normalize(division, m)) {
    LinearSum result = FloorDivide(split->high, m / split->radix);
    result.AddScaled(division.quotient, 1);
    return Join(std::move(result));
  }
  division.rest.Sort();
  ReduceToResidue(division, m);
  if (auto result = UnnestDivision(division, m)) return Join(*std::move(result));
  LinearSum result = std::move(division.quotient);
  division = Division{std::move(division.rest), {}};
  // floor((Z + 1) / 2) = Z - floor(Z / 2): no sign of Z is better than the other, but one constant
  // is.
  if (m == 2 && division.rest.constant() == 1) {
    division.rest.AddConstant(-1);
    result.AddScaled(division.rest, 1);
    result.AddScaled(FloorDivide(division.rest, 2), -1);
    return Join(std::move(result));
  }
  Orient(division, m);
  ReduceToResidue(division, m);
  ShiftConstant(division, m);
  LinearSum part = MakeFloorAtom(division.rest, m);
  part.AddScaled(division.quotient, 1);
  if (division.negated) part.AddConstant(1);
  result.AddScaled(part, division.negated ? -1 : 1);
  return Join(std::move(result));
}

LinearSum ExprSimplifier::Modulo(const LinearSum& digits, int64_t m) {
  if (m == 1) return LinearSum();
  if (!digits.valid()) return digits;
  if (digits.IsConstant()) return LinearSum(FloorMod(digits.constant(), m));
  if (!facts_.empty()) {
    if (const std::optional<int64_t> residue = ResiduesOf(digits).ResidueModulo(m)) {
      return LinearSum(*residue);
    }
  }
  if (++work_ > kMaxWork || recursion_ >= kMaxRecursion) return LinearSum::Invalid();
  ++recursion_;
  llvm::scope_exit leave([this] { --recursion_; });
  Division division{digits, {}};
  if (auto split = Normalize(division, m)) {
    LinearSum result = Modulo(split->high, m / split->radix);
    result.Scale(split->radix);
    result.AddScaled(split->low, 1);
    return Join(std::move(result));
  }
  bool has_floor = llvm::any_of(division.rest.terms(), [](const Term& term) {
    return term.atom.getKind() == AffineExprKind::FloorDiv;
  });
  if (m == 2 && division.rest.constant() == 1 && !has_floor) {  // (Z + 1) mod 2 = 1 - Z mod 2
    division.rest.AddConstant(-1);
    division.negated = true;
  } else {
    Orient(division, m);
    ShiftConstant(division, m);
  }
  LinearSum result = MakeModAtom(division.rest, m);
  if (division.negated) {
    result.Scale(-1);
    result.AddConstant(m - 1);
  }
  return result;
}

// The expression of an atom. MLIR folds a floordiv or mod whose dividend shows a multiple of m; the
// shortest way to write the dividend may, its digits never do.
AffineExpr ExprSimplifier::AtomExpr(AffineExprKind kind, const LinearSum& dividend,
                                    const LinearSum& dividend_floor_form, int64_t m) {
  auto build = [&](LinearSum sum) {
    AffineExpr e = sum.ToExpr(context_);
    AffineExpr atom = kind == AffineExprKind::Mod ? Mod(e, m) : ::xla_indexing::FloorDiv(e, m);
    return atom && atom.getKind() == kind ? atom : AffineExpr();
  };
  if (!HasFloorAtom(dividend_floor_form)) return build(dividend_floor_form);
  AffineExpr atom = build(ViewsOf(dividend_floor_form).shortest);
  return atom ? atom : build(dividend);
}

LinearSum ExprSimplifier::MakeFloorAtom(const LinearSum& dividend, int64_t m) {
  LinearSum floor_form = FloorForm(dividend);
  AffineExpr atom = AtomExpr(AffineExprKind::FloorDiv, dividend, floor_form, m);
  if (!atom) return LinearSum::Invalid();
  if (!floor_atoms_.contains(atom)) {
    Interval range = RangeOf(dividend).FloorDiv(m);
    floor_atoms_[atom] = &floor_atom_storage_.emplace_back(
        FloorAtom{dividend, std::move(floor_form), m, range, ResiduesOf(dividend).FloorDiv(m)});
    evaluated_[atom] = &evaluated_storage_.emplace_back(LinearSum::Of(atom));
  }
  return LinearSum::Of(atom);
}

LinearSum ExprSimplifier::MakeModAtom(const LinearSum& dividend, int64_t m) {
  LinearSum floor_form = FloorForm(dividend);
  AffineExpr atom = AtomExpr(AffineExprKind::Mod, dividend, floor_form, m);
  if (!atom) return LinearSum::Invalid();
  if (!mod_atoms_.contains(atom)) {
    LinearSum quotient = FloorDivide(dividend, m);
    floor_form.AddScaled(FloorForm(quotient), -m);
    if (!floor_form.valid()) return floor_form;
    const Congruence residues = ResiduesOf(dividend).Mod(m);
    mod_atoms_[atom] = &mod_atom_storage_.emplace_back(
        ModAtom{dividend, std::move(quotient), std::move(floor_form), m,
                residues.Tighten(Interval::OfSize(m)), residues});
    evaluated_[atom] = &evaluated_storage_.emplace_back(LinearSum::Of(atom));
  }
  return LinearSum::Of(atom);
}

}  // namespace xla_indexing

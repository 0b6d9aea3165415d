#include "xla_indexing/affine/spelling/spelling.h"

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

bool IsFloorOrMod(const Atom& atom) { return atom.IsFloor() || atom.IsMod(); }

// A multiple of a division, k * floor(Y / m) or k * (Y mod m), and the rest of the sum.
struct SpelledDivision {
  bool is_mod;
  int64_t divisor;
  LinearSum dividend;
  int64_t factor;
  LinearSum rest;
  bool is_exact = false;  // a quotient without remainder

  bool valid() const { return dividend.valid() && rest.valid() && factor != kInt64Min; }

  // The constant becomes its residue, and 0 where the dividend is in a residue class that allows it:
  // floor(Y / m) = floor((Y + j) / m) for Y = r (mod g), g | m, and j in [-r, g - 1 - r].
  void ReduceConstant(int64_t g, int64_t r) {
    int64_t constant = FloorMod(dividend.constant(), divisor);
    int64_t quotient = FloorDiv(dividend.constant(), divisor);
    if (constant <= r) {
      constant = 0;
    } else if (divisor - constant <= g - 1 - r) {
      constant = 0;
      ++quotient;
    }
    dividend.RemoveConstant();
    dividend.AddConstant(constant);
    if (!is_mod && quotient != 0) rest.AddScaled(LinearSum(quotient), factor);
  }

  // Whether floor(Y / m) is v floordiv m, and Y mod m v mod m.
  bool IsDigit() const {
    return dividend.constant() == 0 && dividend.terms().size() == 1 &&
           dividend.terms()[0].coefficient == 1;
  }

  // k*z*V + k*floor((a*V + ..) / m) = k*floor(((a + m*z)*V + ..) / m). Next to v itself a digit stays one.
  void TakeFromRest() {
    if (is_mod) return;
    LinearSum taken;
    for (const Term& term : dividend.terms()) {
      const int64_t there = rest.CoefficientOf(term.atom);
      if (there == 1 && IsDigit()) continue;
      taken.AddTerm(term.atom, ExactQuotient(there, factor).value_or(0));
    }
    dividend.AddScaled(taken, divisor);
    rest.SubtractScaled(taken, factor);
  }

  // The same with the constant of the sum for V, if the dividend has a constant. False if not.
  bool TakeConstant(LinearSum& sum) {
    const std::optional<int64_t> taken = ExactQuotient(sum.constant(), factor);
    if (is_mod || is_exact || dividend.constant() == 0 || !taken) return false;
    dividend.AddScaled(LinearSum(*taken), divisor);
    sum.RemoveConstant();
    return true;
  }

  // With the constant that stands next to it, as it would be without other divisions.
  SpelledDivision WithConstantTaken() const {
    SpelledDivision taken = *this;
    taken.TakeConstant(taken.rest);
    return taken;
  }

  // k*(Y mod m) = (k*Y) mod (k*m), where Y has no coefficient of 1 or -1 that becomes longer.
  void TakeFactor() {
    const auto is_one = [](const Term& term) {
      return term.coefficient == 1 || term.coefficient == -1;
    };
    const std::optional<int64_t> product = CheckedMul(factor, divisor);
    if (!is_mod || factor <= 1 || !product || llvm::any_of(dividend.terms(), is_one)) return;
    dividend.Scale(factor);
    divisor = *product;
    factor = 1;
  }

  // The coefficients become their residues in (-m/2, m/2].
  void TakeSymmetricResidues() {
    LinearSum left;
    for (const Term& term : dividend.terms()) {
      const int64_t residue = FloorMod(term.coefficient, divisor);
      const int64_t least = residue > divisor - residue ? residue - divisor : residue;
      left.AddTerm(term.atom, (least - term.coefficient) / divisor);
    }
    dividend.AddScaled(left, divisor);
    rest.SubtractScaled(left, factor);
  }

  // What decides between the two signs.
  auto Order() const {
    int64_t nodes = 0;
    int64_t minuses = factor < 0 ? 1 : 0;
    const auto count = [&](const LinearSum& sum) {
      for (const Term& term : sum.terms()) {
        nodes += term.coefficient == 1 ? 2 : 4;
        minuses += term.coefficient < 0 ? 1 : 0;
      }
      nodes += sum.constant() == 0 ? 0 : 2;
      minuses += sum.constant() < 0 ? 1 : 0;
    };
    count(dividend);
    count(rest);
    nodes += factor == 1 ? 0 : 2;
    const auto* leading = llvm::min_element(
        dividend.terms(), [](const Term& a, const Term& b) { return SummandLess(a.atom, b.atom); });
    return std::tuple(nodes, !IsDigit(), minuses, dividend.constant() != 0,
                      leading != dividend.terms().end() && leading->coefficient < 0);
  }

  // The division; null if MLIR makes something else of it.
  AffineExpr Write(mlir::MLIRContext* context) {
    const AffineExpr written = dividend.ToExpr(context);
    const AffineExpr division =
        is_mod ? Mod(written, divisor) : ::xla_indexing::internal::FloorDiv(written, divisor);
    const auto kind = is_mod ? mlir::AffineExprKind::Mod : mlir::AffineExprKind::FloorDiv;
    return division && division.getKind() == kind ? division : AffineExpr();
  }
};

void ReduceConstant(LinearSum& sum, int64_t modulus) {
  const int64_t constant = FloorMod(sum.constant(), modulus);
  sum.RemoveConstant();
  sum.AddConstant(constant);
}

// -Y - 1. In a mod coefficients are residues in [0, m - 1], but for -1 of divisions, and where all are -1.
QuasiAffineSum NegatedDividend(const Atom& division) {
  QuasiAffineSum negated = division.written.dividend;
  negated.Scale(-1);
  negated.AddConstant(-1);
  const auto is_minus_one = [](const AtomTerm& term) { return term.coefficient == -1; };
  const int64_t m = division.divisor;
  if (division.IsMod() && (m == 2 || !llvm::all_of(negated.terms(), is_minus_one))) {
    negated.ReplaceCoefficients([&](const AtomTerm& term) {
      return IsFloorOrMod(*term.atom) && is_minus_one(term) ? -1 : FloorMod(term.coefficient, m);
    });
  }
  return negated;
}

// What sums are spelled with.
struct Speller {
  const Assumptions& known;
  mlir::MLIRContext* context;

  // In the dividend of a mod the constant counts modulo its divisor; elsewhere the modulus is 0.
  LinearSum Spell(const QuasiAffineSum& sorted, int64_t modulus = 0) const {
    if (!sorted.valid()) return LinearSum::Invalid();
    LinearSum result(sorted.constant());
    for (const AtomTerm& term : sorted.terms()) {
      if (!IsFloorOrMod(*term.atom)) result.AddTerm(term.atom->written.expr, term.coefficient);
    }
    llvm::SmallVector<SpelledDivision, 4> divisions;
    for (const AtomTerm& term : sorted.terms()) {
      if (!IsFloorOrMod(*term.atom)) continue;
      divisions.push_back(ShorterSign(term, result, modulus));
      if (!divisions.back().valid()) return LinearSum::Invalid();
      result = divisions.back().rest;
    }
    // What all of them have left of the constant; that is no more than one of them takes.
    if (result.constant() != 0) {
      (void)llvm::any_of(divisions,
                         [&](SpelledDivision& each) { return each.TakeConstant(result); });
    }
    for (SpelledDivision& division : divisions) {
      const AffineExpr written = division.dividend.valid() ? division.Write(context) : AffineExpr();
      if (!written) return LinearSum::Invalid();
      result.AddTerm(written, division.factor);
    }
    return result;
  }

  // Y mod m = m - 1 - (-Y - 1) mod m, and floor(Y / m) = -1 - floor((-Y - 1) / m). Both signs are tried
  // where divisions do not nest deep, as this doubles the work for each of them.
  SpelledDivision ShorterSign(const AtomTerm& term, const LinearSum& rest, int64_t modulus) const {
    constexpr int kMostNested = 4;
    const Atom& atom = *term.atom;
    SpelledDivision positive =
        SpellDivision(term, atom.written.dividend, term.coefficient, rest, modulus);
    if (atom.written.depth > kMostNested || term.coefficient == kInt64Min) return positive;
    LinearSum with_rest = rest;
    with_rest.AddScaled(LinearSum(atom.IsMod() ? atom.divisor - 1 : -1), term.coefficient);
    SpelledDivision negative =
        SpellDivision(term, NegatedDividend(atom), -term.coefficient, with_rest, modulus);
    if (!negative.valid()) return positive;
    const bool is_negative_shorter = !positive.valid() || negative.WithConstantTaken().Order() <
                                                              positive.WithConstantTaken().Order();
    return is_negative_shorter ? negative : positive;
  }

  SpelledDivision SpellDivision(const AtomTerm& term, const QuasiAffineSum& dividend,
                                int64_t factor, const LinearSum& rest, int64_t modulus) const {
    const Atom& atom = *term.atom;
    SpelledDivision division{atom.IsMod(), atom.divisor,
                             Spell(dividend, atom.IsMod() ? atom.divisor : 0), factor, rest};
    if (!division.valid()) return division;
    int64_t g = 1;
    int64_t r = 0;
    if (known.HasFacts() && atom.IsFloor()) {
      const Congruence residues = known.ResiduesOf(dividend);
      if (!residues.IsEmpty()) g = Gcd(residues.modulus(), atom.divisor);
      r = FloorMod(residues.residue(), g);
    }
    division.ReduceConstant(g, r);
    if (modulus != 0) ReduceConstant(division.rest, modulus);
    // A quotient without remainder shows as one.
    division.is_exact = g == atom.divisor;
    if (division.is_exact) {
      division.TakeSymmetricResidues();
    } else {
      division.TakeFromRest();
      division.TakeFactor();
    }
    return division;
  }
};

}  // namespace

bool IsSpelledAsIs(const QuasiAffineSum& sum) {
  return llvm::all_of(sum.terms(), [&](const AtomTerm& term) {
    if (!IsFloorOrMod(*term.atom)) return true;
    const QuasiAffineSum& dividend = term.atom->written.dividend;
    const bool keeps_constant =
        dividend.constant() == 0 || (dividend.constant() > 0 && sum.constant() == 0 &&
                                     dividend.constant() < term.atom->divisor);
    const bool keeps_factor =
        term.atom->IsFloor() || term.coefficient == 1 ||
        llvm::any_of(dividend.terms(), [](const AtomTerm& part) { return part.coefficient == 1; });
    return term.coefficient > 0 && keeps_constant && keeps_factor && IsSpelledAsIs(dividend) &&
           llvm::none_of(dividend.terms(),
                         [&](const AtomTerm& part) { return sum.CoefficientOf(part.atom) != 0; });
  });
}

AffineExpr Spell(const QuasiAffineSum& sorted, const Assumptions& known,
                 mlir::MLIRContext* context) {
  LinearSum spelled = Speller{known, context}.Spell(sorted);
  return spelled.valid() ? spelled.ToExpr(context) : AffineExpr();
}

}  // namespace xla_indexing::internal

// Writing atoms and sums of digits as expressions. Where the expression that a sum came from is the
// one that would be built, it is found out by looking at it: making expressions is most of the time
// that short sums take.
#include <cstddef>
#include <cstdint>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/simplifier.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

bool IsConstant(AffineExpr e, int64_t value) {
  return e.getKind() == AffineExprKind::Constant && cast<AffineConstantExpr>(e).getValue() == value;
}

// Whether `e` is what ExprOfSum would build, of atoms that have expressions already.
bool IsWrittenAs(const QuasiAffineSum& sorted, AffineExpr e) {
  if (sorted.terms().empty()) return IsConstant(e, sorted.constant());
  if (sorted.constant() != 0) {
    if (e.getKind() != AffineExprKind::Add) return false;
    const auto sum = cast<AffineBinaryOpExpr>(e);
    if (!IsConstant(sum.getRHS(), sorted.constant())) return false;
    e = sum.getLHS();
  }
  for (size_t i = sorted.terms().size(); i-- > 0;) {
    AffineExpr summand = e;
    if (i > 0) {
      if (e.getKind() != AffineExprKind::Add) return false;
      const auto sum = cast<AffineBinaryOpExpr>(e);
      summand = sum.getRHS();
      e = sum.getLHS();
    }
    const DigitTerm& term = sorted.terms()[i];
    if (term.coefficient != 1) {
      if (summand.getKind() != AffineExprKind::Mul) return false;
      const auto product = cast<AffineBinaryOpExpr>(summand);
      if (!IsConstant(product.getRHS(), term.coefficient)) return false;
      summand = product.getLHS();
    }
    if (summand != term.atom->expr) return false;
  }
  return true;
}

}  // namespace

void ExprSimplifier::KeepExpr(const QuasiAffineSum& digits, AffineExpr e) {
  const DigitAtom* atom = LoneAtom(digits);
  if (atom == nullptr || atom->expr || (!atom->IsFloor() && !atom->IsMod())) return;
  const auto kind = atom->IsMod() ? AffineExprKind::Mod : AffineExprKind::FloorDiv;
  const auto division = cast<AffineBinaryOpExpr>(e);
  if (e.getKind() == kind && IsConstant(division.getRHS(), atom->divisor) &&
      IsWrittenAs(atom->written_dividend, division.getLHS())) {
    atom->expr = e;
  }
}

// The expression of a sum in summand order.
AffineExpr ExprSimplifier::ExprOfSum(const QuasiAffineSum& sorted) {
  if (!sorted.valid() || sorted.terms().size() > static_cast<size_t>(kMaxSummands)) return {};
  AffineExpr result;
  for (const DigitTerm& term : sorted.terms()) {
    AffineExpr summand = ExprOf(term.atom);
    if (!summand) return {};
    if (term.coefficient != 1) {
      summand = mlir::getAffineBinaryOpExpr(
          AffineExprKind::Mul, summand, mlir::getAffineConstantExpr(term.coefficient, context_));
    }
    result = result ? mlir::getAffineBinaryOpExpr(AffineExprKind::Add, result, summand) : summand;
  }
  if (!result) return mlir::getAffineConstantExpr(sorted.constant(), context_);
  if (sorted.constant() == 0) return result;
  return mlir::getAffineBinaryOpExpr(AffineExprKind::Add, result,
                                     mlir::getAffineConstantExpr(sorted.constant(), context_));
}

// Whether summands of the sum are  e + floor(e / m) * -m, one after the other, of which MLIR makes
// e mod m, in a place that is not a mod's.
bool ExprSimplifier::ShowsMod(const QuasiAffineSum& sorted) {
  const auto is_part_of_mod = [](const DigitTerm& term) {
    return term.atom->IsFloor() && term.coefficient == -term.atom->divisor;
  };
  if (!sorted.valid() || llvm::none_of(sorted.terms(), is_part_of_mod)) return false;
  QuasiAffineSum begin;
  for (const DigitTerm& term : sorted.terms()) {
    begin.AddTerm(term.atom, term.coefficient);
    if (!is_part_of_mod(term)) continue;
    const AffineExpr sum = ExprOfSum(begin);
    if (!sum) return false;
    const LinearSum written = LinearSum::FromExpr(sum);
    if (written.terms().size() != begin.terms().size()) return true;
  }
  return false;
}

// The dividend of an atom that is not written yet. That of a mod may be in its floor.
AffineExpr ExprSimplifier::ExprOfDividend(const DigitAtom* atom) {
  const DigitAtom* floor = atom->IsMod() ? LoneAtom(atom->quotient) : nullptr;
  if (floor != nullptr && floor->IsFloor() && floor->divisor == atom->divisor && floor->expr &&
      floor->expr.getKind() == AffineExprKind::FloorDiv &&
      floor->written_dividend == atom->written_dividend) {
    const auto division = cast<AffineBinaryOpExpr>(floor->expr);
    if (IsConstant(division.getRHS(), floor->divisor)) return division.getLHS();
  }
  return ExprOfSum(atom->written_dividend);
}

// The recursion ends, since divisions nest less deep in an atom's dividend than in the atom.
AffineExpr ExprSimplifier::ExprOf(const DigitAtom* atom) {
  if (!atom->expr) {
    const auto kind = atom->IsMod() ? AffineExprKind::Mod : AffineExprKind::FloorDiv;
    if (const AffineExpr dividend = ExprOfDividend(atom)) {
      atom->expr = mlir::getAffineBinaryOpExpr(
          kind, dividend, mlir::getAffineConstantExpr(atom->divisor, context_));
      // It is its own normal form.
      if (atom->expr.getKind() == kind) Remember(atom->expr, QuasiAffineSum::Of(atom));
    }
  }
  return atom->expr;
}

LinearSum ExprSimplifier::Written(const QuasiAffineSum& digits) {
  if (!digits.valid()) return LinearSum::Invalid();
  LinearSum sum(digits.constant());
  for (const DigitTerm& term : digits.terms()) {
    const AffineExpr atom = ExprOf(term.atom);
    if (!atom) return LinearSum::Invalid();
    sum.AddTerm(atom, term.coefficient);
  }
  return sum;
}

AffineExpr ExprSimplifier::ExprOfSum(const QuasiAffineSum& sorted, AffineExpr from) {
  return sorted.valid() && IsWrittenAs(sorted, from) ? from : ExprOfSum(sorted);
}

AffineExpr ExprSimplifier::ToExpr(const QuasiAffineSum& digits) {
  return ExprOfSum(AsWritten(digits));
}

}  // namespace xla_indexing::internal

#include "xla_indexing/affine/normal_form/expr_writer.h"

#include <cstddef>
#include <cstdint>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/write_sum.h"
#include "xla_indexing/affine/normal_form/rule_tracer.h"

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

// Whether `e` is what Write() would build, of atoms that have expressions already.
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
    const AtomTerm& term = sorted.terms()[i];
    if (term.coefficient != 1) {
      if (summand.getKind() != AffineExprKind::Mul) return false;
      const auto product = cast<AffineBinaryOpExpr>(summand);
      if (!IsConstant(product.getRHS(), term.coefficient)) return false;
      summand = product.getLHS();
    }
    if (summand != term.atom->written.expr) return false;
  }
  return true;
}

}  // namespace

void ExprWriter::KeepExpr(const QuasiAffineSum& sum, AffineExpr division) {
  const Atom* atom = LoneAtom(sum);
  if (atom == nullptr || atom->written.expr || (!atom->IsFloor() && !atom->IsMod())) return;
  const auto binary = cast<AffineBinaryOpExpr>(division);
  if (division.getKind() == ExprKindOf(atom->kind) && IsConstant(binary.getRHS(), atom->divisor) &&
      IsWrittenAs(atom->written.dividend, binary.getLHS())) {
    atom->written.expr = division;
  }
}

AffineExpr ExprWriter::Write(const QuasiAffineSum& sorted) {
  return WriteSum(sorted, context_, [this](const Atom* atom) { return Write(atom); });
}

AffineExpr ExprWriter::Write(const QuasiAffineSum& sorted, AffineExpr from) {
  return sorted.valid() && from && IsWrittenAs(sorted, from) ? from : Write(sorted);
}

// Divisions nest less deep in an atom's dividend than in the atom, so that the recursion ends.
AffineExpr ExprWriter::Write(const Atom* atom) {
  AffineExpr& expr = atom->written.expr;
  if (!expr) {
    if (const AffineExpr dividend = WriteDividend(atom)) {
      const AffineExprKind kind = ExprKindOf(atom->kind);
      expr = mlir::getAffineBinaryOpExpr(kind, dividend,
                                         mlir::getAffineConstantExpr(atom->divisor, context_));
      // It is its own normal form.
      if (expr.getKind() == kind) atoms_->SetEvaluated(expr, QuasiAffineSum::Of(atom));
    }
  }
  return expr;
}

// The dividend of an atom that is not written yet. That of a mod may be in its floor.
AffineExpr ExprWriter::WriteDividend(const Atom* atom) {
  const Atom* floor = atom->IsMod() ? LoneAtom(atom->quotient) : nullptr;
  if (floor != nullptr && floor->IsFloor() && floor->divisor == atom->divisor &&
      floor->written.expr && floor->written.expr.getKind() == AffineExprKind::FloorDiv &&
      floor->written.dividend == atom->written.dividend) {
    const auto division = cast<AffineBinaryOpExpr>(floor->written.expr);
    if (IsConstant(division.getRHS(), floor->divisor)) return division.getLHS();
  }
  return Write(atom->written.dividend);
}

LinearSum ExprWriter::WriteAtoms(const QuasiAffineSum& sum) {
  if (!sum.valid()) return LinearSum::Invalid();
  LinearSum result(sum.constant());
  for (const AtomTerm& term : sum.terms()) {
    const AffineExpr atom = Write(term.atom);
    if (!atom) return LinearSum::Invalid();
    result.AddTerm(atom, term.coefficient);
  }
  return result;
}

bool ExprWriter::ShowsMod(const QuasiAffineSum& sorted) {
  const auto is_part_of_mod = [](const AtomTerm& term) {
    return term.atom->IsFloor() && term.coefficient == -term.atom->divisor;
  };
  if (!sorted.valid() || llvm::none_of(sorted.terms(), is_part_of_mod)) return false;
  QuasiAffineSum begin;
  for (const AtomTerm& term : sorted.terms()) {
    begin.AddTerm(term.atom, term.coefficient);
    if (!is_part_of_mod(term)) continue;
    const AffineExpr sum = Write(begin);
    if (!sum) return false;
    const LinearSum written = LinearSum::FromExpr(sum);
    if (written.terms().size() != begin.terms().size()) return true;
  }
  return false;
}

}  // namespace xla_indexing::internal

#include "xla_indexing/affine/simplifier.h"

#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/build.h"

namespace xla_indexing {

using ::llvm::cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

ExprSimplifier::ExprSimplifier(mlir::MLIRContext* context, llvm::ArrayRef<Interval> dims,
                               llvm::ArrayRef<Interval> symbols)
    : context_(context), dims_(dims), symbols_(symbols) {}

AffineExpr ExprSimplifier::Simplify(AffineExpr e) {
  AffineExpr result = ToExpr(Evaluate(e));
  return result ? result : e;
}

Interval ExprSimplifier::Range(AffineExpr e) { return RangeOf(Evaluate(e)); }

LinearSum ExprSimplifier::Evaluate(AffineExpr e) {
  LinearSum flat = LinearSum::FromExpr(e);
  if (!flat.valid()) return flat;
  LinearSum result(flat.constant());
  for (const Term& term : flat.terms()) {
    result.AddScaled(EvaluateAtom(term.atom), term.coefficient);
  }
  return Join(std::move(result));
}

LinearSum ExprSimplifier::EvaluateAtom(AffineExpr atom) {
  if (atom.getKind() == AffineExprKind::DimId || atom.getKind() == AffineExprKind::SymbolId) {
    Interval range = RangeOfVariable(atom);
    return range.IsPoint() ? LinearSum(range.lower()) : LinearSum::Of(atom);
  }
  if (auto it = evaluated_.find(atom); it != evaluated_.end()) return *it->second;
  auto binary = cast<AffineBinaryOpExpr>(atom);
  auto divisor = llvm::dyn_cast<AffineConstantExpr>(binary.getRHS());
  LinearSum result = LinearSum::Invalid();
  if (divisor && divisor.getValue() >= 1) {
    LinearSum dividend = Evaluate(binary.getLHS());
    result = atom.getKind() == AffineExprKind::Mod ? Modulo(dividend, divisor.getValue())
                                                   : FloorDivide(dividend, divisor.getValue());
  }
  if (!result.valid()) result = OpaqueAtom(atom);
  evaluated_[atom] = &evaluated_storage_.emplace_back(result);
  return result;
}

// An expression whose normal form does not fit int64 stays as it is and counts as a variable.
LinearSum ExprSimplifier::OpaqueAtom(AffineExpr atom) {
  Interval range = Interval::All();
  auto binary = cast<AffineBinaryOpExpr>(atom);
  auto divisor = llvm::dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (atom.getKind() == AffineExprKind::Mod && divisor && divisor.getValue() >= 1) {
    range = Interval::OfSize(divisor.getValue());
  }
  opaque_atoms_[atom] = range;
  return LinearSum::Of(atom);
}

unsigned ExprSimplifier::AddSymbol(Interval range) {
  symbols_.push_back(range);
  return symbols_.size() - 1;
}

LinearSum ExprSimplifier::FloorForm(const LinearSum& digits) const {
  if (!digits.valid()) return digits;
  LinearSum result(digits.constant());
  for (const Term& term : digits.terms()) {
    if (const ModAtom* mod = LookUpModAtom(term.atom)) {
      result.AddScaled(mod->floor_form, term.coefficient);
    } else {
      result.AddTerm(term.atom, term.coefficient);
    }
  }
  return result;
}

const ExprSimplifier::FloorAtom* ExprSimplifier::LookUpFloorAtom(AffineExpr atom) const {
  if (atom.getKind() != AffineExprKind::FloorDiv) return nullptr;
  auto it = floor_atoms_.find(atom);
  return it != floor_atoms_.end() ? it->second : nullptr;
}

const ExprSimplifier::ModAtom* ExprSimplifier::LookUpModAtom(AffineExpr atom) const {
  if (atom.getKind() != AffineExprKind::Mod) return nullptr;
  auto it = mod_atoms_.find(atom);
  return it != mod_atoms_.end() ? it->second : nullptr;
}

}  // namespace xla_indexing

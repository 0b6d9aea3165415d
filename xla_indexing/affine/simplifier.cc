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

DigitSum ExprSimplifier::Evaluate(AffineExpr e) {
  const LinearSum flat = LinearSum::FromExpr(e);
  if (!flat.valid()) return DigitSum::Invalid();
  DigitSum result(flat.constant());
  for (const Term& term : flat.terms()) {
    result.AddScaled(EvaluateAtom(term.atom), term.coefficient);
  }
  return Join(std::move(result));
}

const DigitAtom* ExprSimplifier::AtomOf(AffineExpr e) {
  const DigitSum digits = Evaluate(e);
  const bool is_atom = digits.valid() && digits.constant() == 0 && digits.terms().size() == 1 &&
                       digits.terms()[0].coefficient == 1;
  return is_atom ? digits.terms()[0].atom : nullptr;
}

DigitSum ExprSimplifier::EvaluateVariable(AffineExpr variable) {
  const bool is_dim = variable.getKind() == AffineExprKind::DimId;
  const unsigned position = is_dim ? cast<mlir::AffineDimExpr>(variable).getPosition()
                                   : cast<mlir::AffineSymbolExpr>(variable).getPosition();
  llvm::SmallVector<const DigitAtom*, 8>& atoms = is_dim ? dim_atoms_ : symbol_atoms_;
  if (position >= atoms.size()) atoms.resize(position + 1);
  if (atoms[position] == nullptr) {
    DigitAtom& atom = atom_storage_.emplace_back();
    atom.kind = DigitAtom::Kind::kVariable;
    atom.summand_class = is_dim ? SummandClass::kDim : SummandClass::kSymbol;
    atom.position = position;
    atom.range = RangeOfVariable(variable);
    atom.expr = variable;
    atoms[position] = &atom;
  }
  const Interval& range = atoms[position]->range;
  return range.IsPoint() ? DigitSum(range.lower()) : DigitSum::Of(atoms[position]);
}

DigitSum ExprSimplifier::EvaluateAtom(AffineExpr atom) {
  if (atom.getKind() == AffineExprKind::DimId || atom.getKind() == AffineExprKind::SymbolId) {
    return EvaluateVariable(atom);
  }
  if (auto it = evaluated_.find(atom); it != evaluated_.end()) return *it->second;
  auto binary = cast<AffineBinaryOpExpr>(atom);
  auto divisor = llvm::dyn_cast<AffineConstantExpr>(binary.getRHS());
  DigitSum result = DigitSum::Invalid();
  if (divisor && divisor.getValue() >= 1) {
    DigitSum dividend = Evaluate(binary.getLHS());
    result = atom.getKind() == AffineExprKind::Mod ? Modulo(dividend, divisor.getValue())
                                                   : FloorDivide(dividend, divisor.getValue());
  }
  if (!result.valid()) result = OpaqueAtom(atom);
  evaluated_[atom] = &evaluated_storage_.emplace_back(result);
  return result;
}

// An expression whose normal form does not fit int64 stays as it is and counts as a variable.
DigitSum ExprSimplifier::OpaqueAtom(AffineExpr expr) {
  DigitAtom& atom = atom_storage_.emplace_back();
  atom.kind = DigitAtom::Kind::kOpaque;
  atom.summand_class = SummandClassOf(expr);
  atom.depth = DivisionDepth(expr);
  atom.summands = kMaxSummands / 8;  // not counted
  atom.divisions = 1;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto divisor = llvm::dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mod && divisor && divisor.getValue() >= 1) {
    atom.range = Interval::OfSize(divisor.getValue());
  }
  atom.expr = expr;
  return DigitSum::Of(&atom);
}

unsigned ExprSimplifier::AddSymbol(Interval range) {
  symbols_.push_back(range);
  return symbols_.size() - 1;
}

DigitSum ExprSimplifier::FloorForm(const DigitSum& digits) const {
  if (!digits.valid()) return digits;
  DigitSum result(digits.constant());
  for (const DigitTerm& term : digits.terms()) {
    if (term.atom->IsMod()) {
      result.AddScaled(term.atom->floor_form, term.coefficient);
    } else {
      result.AddTerm(term.atom, term.coefficient);
    }
  }
  return result;
}

}  // namespace xla_indexing

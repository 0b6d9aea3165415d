#include "xla_indexing/affine/normal_form/atom_table.h"

#include <cstdint>

#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

using ::llvm::cast;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

const Atom* AtomTable::Variable(AffineExpr variable, const Assumptions& known) {
  const bool is_dim = variable.getKind() == AffineExprKind::DimId;
  const unsigned position = is_dim ? cast<mlir::AffineDimExpr>(variable).getPosition()
                                   : cast<mlir::AffineSymbolExpr>(variable).getPosition();
  llvm::SmallVector<const Atom*, 8>& atoms = is_dim ? dims_ : symbols_;
  if (position >= atoms.size()) atoms.resize(position + 1);
  if (atoms[position] == nullptr) {
    Atom* atom = New();
    atom->kind = Atom::Kind::kVariable;
    atom->position = position;
    const Interval& range = atom->range = known.RangeOfVariable(variable);
    if (range.has_lower() && range.has_upper()) atom->corners = {range.lower(), range.upper()};
    atom->written.summand_class = is_dim ? SummandClass::kDim : SummandClass::kSymbol;
    atom->written.expr = variable;
    atoms[position] = atom;
  }
  return atoms[position];
}

const Atom* AtomTable::Opaque(AffineExpr division) {
  Atom* atom = New();
  atom->kind = Atom::Kind::kOpaque;
  const auto binary = cast<mlir::AffineBinaryOpExpr>(division);
  const auto divisor = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getRHS());
  if (division.getKind() == AffineExprKind::Mod && divisor && divisor.getValue() >= 1) {
    atom->range = Interval::OfSize(divisor.getValue());
  }
  atom->written.summand_class = SummandClassOf(division);
  atom->written.summands = kMaxSummands / 8;  // They are not counted.
  atom->written.divisions = 1;
  atom->written.depth = DivisionDepth(division);
  atom->written.expr = division;
  return atom;
}

const Atom* AtomTable::Find(Atom::Kind kind, const QuasiAffineSum& dividend_mod_free_form,
                            int64_t divisor) const {
  const auto found = divisions_.find(Key{kind, dividend_mod_free_form, divisor});
  return found != divisions_.end() ? *found : nullptr;
}

const Atom* AtomTable::FindIrreducible(Atom::Kind kind, const QuasiAffineSum& dividend,
                                       int64_t divisor) const {
  const Atom* known = Find(kind, dividend, divisor);
  return known != nullptr && known->is_irreducible ? known : nullptr;
}

const QuasiAffineSum* AtomTable::FindEvaluated(AffineExpr division) const {
  const auto found = evaluated_.find(division.getAsOpaquePointer());
  return found != evaluated_.end() ? &found->second : nullptr;
}

void AtomTable::SetEvaluated(AffineExpr division, const QuasiAffineSum& sum) {
  evaluated_[division.getAsOpaquePointer()] = sum;
}

void AtomTable::Forget() {
  divisions_.clear();
  evaluated_.clear();
}

void AtomTable::Clear() {
  Forget();
  dims_.clear();
  symbols_.clear();
  storage_.Clear();
}

}  // namespace xla_indexing::internal

#include "xla_indexing/affine/internal/simplifier.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/question_budget.h"

namespace xla_indexing::internal {

using ::llvm::cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

ExprSimplifier::ExprSimplifier(mlir::MLIRContext* context, llvm::ArrayRef<Interval> dims,
                               llvm::ArrayRef<Interval> symbols)
    : context_(context),
      dims_(dims),
      symbols_(symbols),
      memory_(InstancePool<SimplifierMemory>::Take()) {}

ExprSimplifier::~ExprSimplifier() { InstancePool<SimplifierMemory>::GiveBack(std::move(memory_)); }

namespace {

int DivisionsOf(const QuasiAffineSum& written) {
  int64_t divisions = 0;
  for (const DigitTerm& term : written.terms()) divisions += term.atom->divisions;
  return static_cast<int>(std::min<int64_t>(divisions, std::numeric_limits<int>::max()));
}

// Floordivs and mods in an expression, as often as they occur; no more than `most` are counted.
int CountDivisions(AffineExpr e, int most) {
  int count = 0;
  llvm::SmallVector<AffineExpr, 8> pending = {e};
  while (!pending.empty() && count < most) {
    auto binary = llvm::dyn_cast<AffineBinaryOpExpr>(pending.pop_back_val());
    if (!binary) continue;
    count +=
        binary.getKind() == AffineExprKind::FloorDiv || binary.getKind() == AffineExprKind::Mod;
    pending.push_back(binary.getLHS());
    if (binary.getKind() == AffineExprKind::Add) pending.push_back(binary.getRHS());
  }
  return count;
}

}  // namespace

bool ExprSimplifier::MayWork(size_t terms) {
  constexpr int64_t kTermsOfStep = 64;
  constexpr int64_t kStepsAtOnce = 8;
  const auto length = static_cast<int64_t>(terms) / kTermsOfStep;
  steps_ += 1 + length + length * length;
  if (++work_ > kMaxWork || is_spent_) return false;
  if (steps_ >= kStepsAtOnce) {
    is_spent_ = !QuestionBudget::Spend(steps_);
    steps_ = 0;
  }
  return !is_spent_;
}

AffineExpr ExprSimplifier::Simplify(AffineExpr e) {
  const QuasiAffineSum written = AsWritten(Evaluate(e));
  const AffineExpr result = ExprOfSum(written, e);
  if (!result || result == e) return e;
  // The form does not always have the fewest divisions; it is not taken for more than there were.
  constexpr int kMost = 8;
  const int divisions = std::min(DivisionsOf(written), kMost);
  if (divisions < 2 || divisions == kMost || CountDivisions(e, divisions) == divisions)
    return result;
  const AffineExpr same = WithShiftedConstants(e);
  if (!same || CountDivisions(same, divisions) >= divisions) return result;
  if (trace_) trace_->push_back({"the form has more divisions: as it was", result, same});
  return same;
}

// The expression as it is but for the constants of dividends, which are those of the normal form;
// null where it has variables of one value or numbers that do not fit. Divisions nest less deep
// than the bound on their number.
AffineExpr ExprSimplifier::WithShiftedConstants(AffineExpr e) {
  const LinearSum flat = LinearSum::FromExpr(e);
  if (!flat.valid()) return {};
  LinearSum result(flat.constant());
  for (const Term& term : flat.terms()) {
    auto division = llvm::dyn_cast<AffineBinaryOpExpr>(term.atom);
    if (!division) {
      if (RangeOfVariable(term.atom).IsPoint()) return {};
      result.AddTerm(term.atom, term.coefficient);
      continue;
    }
    auto divisor = llvm::dyn_cast<AffineConstantExpr>(division.getRHS());
    const AffineExpr dividend = WithShiftedConstants(division.getLHS());
    if (!divisor || divisor.getValue() < 1 || !dividend) return {};
    const int64_t m = divisor.getValue();
    LinearSum shifted = LinearSum::FromExpr(dividend);
    int64_t amount = ::xla_indexing::internal::FloorDiv(shifted.constant(), m);
    if (const Interval range = Range(dividend); shifted.constant() % m != 0 && range.has_lower()) {
      amount = ::xla_indexing::internal::FloorDiv(range.lower(), m);
    }
    const std::optional<int64_t> taken = NarrowToInt64(-static_cast<Int128>(amount) * m);
    if (!taken) return {};
    shifted.AddConstant(*taken);
    const bool is_mod = term.atom.getKind() == AffineExprKind::Mod;
    const AffineExpr written = shifted.ToExpr(context_);
    const AffineExpr quotient =
        is_mod ? Mod(written, m) : ::xla_indexing::internal::FloorDiv(written, m);
    if (!quotient) return {};
    LinearSum part = LinearSum::FromExpr(quotient);
    if (!is_mod) part.AddConstant(amount);
    result.AddScaled(part, term.coefficient);
  }
  return result.ToExpr(context_);
}

Interval ExprSimplifier::Range(AffineExpr e) { return RangeOf(Evaluate(e)); }

QuasiAffineSum ExprSimplifier::Evaluate(AffineExpr e) {
  if (IsVariable(e)) {
    QuasiAffineSum result;
    AddVariable(result, {e, 1});
    return result;
  }
  if (e.getKind() == AffineExprKind::FloorDiv || e.getKind() == AffineExprKind::Mod) {
    return EvaluateAtom(e);
  }
  return Evaluate(LinearSum::FromExpr(e));
}

QuasiAffineSum ExprSimplifier::Evaluate(const LinearSum& flat) {
  if (!flat.valid()) return QuasiAffineSum::Invalid();
  QuasiAffineSum result(flat.constant());
  for (const Term& term : flat.terms()) {
    if (IsVariable(term.atom)) {
      AddVariable(result, term);
    } else {
      result.AddScaled(EvaluateAtom(term.atom), term.coefficient);
    }
  }
  Join(result);
  return result;
}

const DigitAtom* ExprSimplifier::AtomOf(AffineExpr e) { return LoneAtom(Evaluate(e)); }

void ExprSimplifier::AddVariable(QuasiAffineSum& sum, const Term& term) {
  const bool is_dim = term.atom.getKind() == AffineExprKind::DimId;
  const unsigned position = is_dim ? cast<mlir::AffineDimExpr>(term.atom).getPosition()
                                   : cast<mlir::AffineSymbolExpr>(term.atom).getPosition();
  llvm::SmallVector<const DigitAtom*, 8>& atoms =
      is_dim ? memory_->dim_atoms : memory_->symbol_atoms;
  if (position >= atoms.size()) atoms.resize(position + 1);
  if (atoms[position] == nullptr) {
    DigitAtom& atom = *NewAtom(DigitAtom::Kind::kVariable);
    atom.summand_class = is_dim ? SummandClass::kDim : SummandClass::kSymbol;
    atom.position = position;
    atom.range = RangeOfVariable(term.atom);
    if (atom.range.has_lower() && atom.range.has_upper()) {
      atom.at_ends = {atom.range.lower(), atom.range.upper()};
    }
    atom.expr = term.atom;
    atoms[position] = &atom;
  }
  const Interval& range = atoms[position]->range;
  if (range.IsPoint()) {
    sum.AddScaled(QuasiAffineSum(range.lower()), term.coefficient);
  } else {
    sum.AddTerm(atoms[position], term.coefficient);
  }
}

QuasiAffineSum ExprSimplifier::EvaluateAtom(AffineExpr atom) {
  for (const EvaluatedExpr* known = memory_->evaluated_table.First(hash_value(atom));
       known != nullptr; known = known->next) {
    if (known->expr == atom) return known->sum;
  }
  auto binary = cast<AffineBinaryOpExpr>(atom);
  auto divisor = llvm::dyn_cast<AffineConstantExpr>(binary.getRHS());
  QuasiAffineSum result = QuasiAffineSum::Invalid();
  if (divisor && divisor.getValue() >= 1) {
    const QuasiAffineSum dividend = EvaluateDividend(binary.getLHS());
    result = atom.getKind() == AffineExprKind::Mod ? Modulo(dividend, divisor.getValue())
                                                   : FloorDivide(dividend, divisor.getValue());
  }
  if (!result.valid()) result = OpaqueAtom(atom);
  KeepExpr(result, atom);
  Remember(atom, result);
  return result;
}

// Indices of one position have one dividend. What is evaluated on the way to it comes before it.
QuasiAffineSum ExprSimplifier::EvaluateDividend(AffineExpr dividend) {
  if (dividend == memory_->last_dividend) return memory_->last_evaluated;
  QuasiAffineSum sum = Evaluate(dividend);
  if (dividend.getKind() == AffineExprKind::Add) {
    memory_->last_dividend = dividend;
    memory_->last_evaluated = sum;
  }
  return sum;
}

void ExprSimplifier::Remember(AffineExpr atom, const QuasiAffineSum& sum) {
  EvaluatedExpr* evaluated = memory_->evaluated.New();
  evaluated->expr = atom;
  evaluated->sum = sum;
  memory_->evaluated_table.Insert(hash_value(atom), evaluated);
}

DigitAtom* ExprSimplifier::NewAtom(DigitAtom::Kind kind) {
  DigitAtom* atom = memory_->atoms.New();
  atom->kind = kind;
  atom->range = Interval::All();
  atom->residues = Congruence::All();
  atom->at_ends.reset();
  atom->summands = 1;
  atom->divisions = 0;
  atom->is_irreducible = false;
  atom->is_digit = false;
  atom->number = nullptr;
  atom->depth = 0;
  atom->expr = {};
  return atom;
}

// An expression whose normal form does not fit int64 stays as it is and counts as a variable.
QuasiAffineSum ExprSimplifier::OpaqueAtom(AffineExpr expr) {
  DigitAtom& atom = *NewAtom(DigitAtom::Kind::kOpaque);
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
  return QuasiAffineSum::Of(&atom);
}

QuasiAffineSum ExprSimplifier::ModFreeForm(const QuasiAffineSum& digits) const {
  QuasiAffineSum eliminated;
  return ModFreeForm(digits, eliminated);
}

// What has no mods is its own mod-free form, itself and not a copy.
// NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter)
const QuasiAffineSum& ExprSimplifier::ModFreeForm(const QuasiAffineSum& digits,
                                                  QuasiAffineSum& eliminated) {
  if (!digits.valid() || !HasMod(digits)) return digits;
  eliminated = QuasiAffineSum(digits.constant());
  for (const DigitTerm& term : digits.terms()) {
    if (term.atom->IsMod()) {
      eliminated.AddScaled(term.atom->mod_free_form, term.coefficient);
    } else {
      eliminated.AddTerm(term.atom, term.coefficient);
    }
  }
  return eliminated;
}

}  // namespace xla_indexing::internal

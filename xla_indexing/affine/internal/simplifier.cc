#include "xla_indexing/affine/internal/simplifier.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/instance_pool.h"
#include "xla_indexing/affine/internal/rules.h"
#include "xla_indexing/affine/internal/simplifier_state.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {

using ::llvm::cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

ExprSimplifier::ExprSimplifier(mlir::MLIRContext* context, llvm::ArrayRef<Interval> dims,
                               llvm::ArrayRef<Interval> symbols)
    : context_(context), state_(InstancePool<SimplifierState>::Take()) {
  state_->Start(context, dims, symbols);
}

ExprSimplifier::~ExprSimplifier() { InstancePool<SimplifierState>::GiveBack(std::move(state_)); }

namespace {

int DivisionsOf(const QuasiAffineSum& written) {
  int64_t divisions = 0;
  for (const AtomTerm& term : written.terms()) divisions += term.atom->written.divisions;
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

AffineExpr ExprSimplifier::Simplify(AffineExpr e) {
  const QuasiAffineSum written = FormToWrite(*state_, Evaluate(e));
  const AffineExpr result = state_->writer.Write(written, e);
  if (!result || result == e) return e;
  // The form does not always have the fewest divisions; it is not taken for more than there were.
  constexpr int kMost = 8;
  const int divisions = std::min(DivisionsOf(written), kMost);
  if (divisions < 2 || divisions == kMost || CountDivisions(e, divisions) == divisions) {
    return result;
  }
  const AffineExpr same = WithShiftedConstants(e);
  if (!same || CountDivisions(same, divisions) >= divisions) return result;
  if (state_->tracer.is_on()) {
    state_->tracer.AddStep({"the form has more divisions: as it was", result, same});
  }
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
      if (state_->known.RangeOfVariable(term.atom).IsPoint()) return {};
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

Congruence ExprSimplifier::Residues(AffineExpr e) { return ResiduesOf(Evaluate(e)); }

// Atoms and sums that were made without the assumption are not in normal form any more.
void ExprSimplifier::Assume(const LinearSum& sum, const Congruence& residues) {
  if (residues.IsAll()) return;
  if (state_->known.Add(Evaluate(sum), residues)) state_->Forget();
}

void ExprSimplifier::Assume(const LinearSum& sum, const Interval& interval) {
  if (interval.IsAll() || interval.IsEmpty()) return;
  if (state_->known.Add(Evaluate(sum), interval)) state_->Forget();
}

void ExprSimplifier::TraceTo(RuleTrace* trace) { state_->tracer.TraceTo(trace); }

QuasiAffineSum ExprSimplifier::Evaluate(AffineExpr e) {
  if (e.getKind() == AffineExprKind::FloorDiv || e.getKind() == AffineExprKind::Mod) {
    return EvaluateDivision(e);
  }
  return Evaluate(IsVariable(e) ? LinearSum::Of(e) : LinearSum::FromExpr(e));
}

QuasiAffineSum ExprSimplifier::Evaluate(const LinearSum& flat) {
  if (!flat.valid()) return QuasiAffineSum::Invalid();
  QuasiAffineSum result(flat.constant());
  for (const Term& term : flat.terms()) {
    if (!IsVariable(term.atom)) {
      result.AddScaled(EvaluateDivision(term.atom), term.coefficient);
      continue;
    }
    const Atom* variable = state_->atoms.Variable(term.atom, state_->known);
    if (variable->range.IsPoint()) {
      result.AddScaled(QuasiAffineSum(variable->range.lower()), term.coefficient);
    } else {
      result.AddTerm(variable, term.coefficient);
    }
  }
  Join(*state_, result);
  return result;
}

QuasiAffineSum ExprSimplifier::EvaluateDivision(AffineExpr division) {
  if (const QuasiAffineSum* known = state_->atoms.FindEvaluated(division)) return *known;
  const auto binary = cast<AffineBinaryOpExpr>(division);
  const auto divisor = llvm::dyn_cast<AffineConstantExpr>(binary.getRHS());
  QuasiAffineSum result = QuasiAffineSum::Invalid();
  if (divisor && divisor.getValue() >= 1) {
    const QuasiAffineSum dividend = EvaluateDividend(binary.getLHS());
    result = division.getKind() == AffineExprKind::Mod ? Modulo(dividend, divisor.getValue())
                                                       : FloorDivide(dividend, divisor.getValue());
  }
  if (!result.valid()) result = QuasiAffineSum::Of(state_->atoms.Opaque(division));
  ExprWriter::KeepExpr(result, division);
  state_->atoms.SetEvaluated(division, result);
  return result;
}

// Indices of one position have one dividend. What is evaluated on the way to it comes before it.
QuasiAffineSum ExprSimplifier::EvaluateDividend(AffineExpr dividend) {
  if (dividend == state_->last_dividend) return state_->last_evaluated;
  QuasiAffineSum sum = Evaluate(dividend);
  if (dividend.getKind() == AffineExprKind::Add) {
    state_->last_dividend = dividend;
    state_->last_evaluated = sum;
  }
  return sum;
}

AffineExpr ExprSimplifier::ToExpr(const QuasiAffineSum& sum) {
  return state_->writer.Write(FormToWrite(*state_, sum));
}

Interval ExprSimplifier::RangeOf(const QuasiAffineSum& sum) {
  return ::xla_indexing::internal::RangeOf(*state_, sum);
}

WideInterval ExprSimplifier::WideRangeOf(const QuasiAffineSum& sum) {
  return ::xla_indexing::internal::WideRangeOf(*state_, sum);
}

Congruence ExprSimplifier::ResiduesOf(const QuasiAffineSum& sum) const {
  return state_->known.ResiduesOf(sum);
}

LinearSum ExprSimplifier::Written(const QuasiAffineSum& sum) {
  return state_->writer.WriteAtoms(sum);
}

const Atom* ExprSimplifier::AtomOf(AffineExpr e) { return LoneAtom(Evaluate(e)); }

QuasiAffineSum ExprSimplifier::FloorDivide(const QuasiAffineSum& sum, int64_t divisor) {
  return ::xla_indexing::internal::FloorDivide(*state_, sum, divisor);
}

QuasiAffineSum ExprSimplifier::Modulo(const QuasiAffineSum& sum, int64_t divisor) {
  return ::xla_indexing::internal::Modulo(*state_, sum, divisor);
}

}  // namespace xla_indexing::internal

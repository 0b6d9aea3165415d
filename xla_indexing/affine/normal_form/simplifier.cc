#include "xla_indexing/affine/normal_form/simplifier.h"

#include <cstdint>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/affine/normal_form/rules.h"
#include "xla_indexing/affine/normal_form/simplifier_state.h"
#include "xla_indexing/base/memory/instance_pool.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {

using ::llvm::cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

namespace {

// Whether an expression mentions a variable that the form of it does not.
bool MentionsMore(AffineExpr e, AffineExpr form) {
  bool mentions_more = false;
  e.walk([&](AffineExpr part) {
    if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(part)) {
      mentions_more = mentions_more || !form.isFunctionOfDim(dim.getPosition());
    } else if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(part)) {
      mentions_more = mentions_more || !form.isFunctionOfSymbol(symbol.getPosition());
    }
  });
  return mentions_more;
}

}  // namespace

ExprSimplifier::ExprSimplifier(mlir::MLIRContext* context, llvm::ArrayRef<Interval> dims,
                               llvm::ArrayRef<Interval> symbols)
    : context_(context), state_(InstancePool<SimplifierState>::Take()) {
  state_->Start(context, dims, symbols);
}

ExprSimplifier::~ExprSimplifier() { InstancePool<SimplifierState>::GiveBack(std::move(state_)); }

AffineExpr ExprSimplifier::Simplify(AffineExpr e) {
  // A form is final when it evaluates to the sum that it was written from, as nearly all do at once.
  // Others have divisions that can be written in a shorter way once all divisions are known.
  constexpr int kMaxTimes = 6;
  for (int i = 0; i < kMaxTimes; ++i) {
    const QuasiAffineSum sum = Evaluate(e);
    const AffineExpr result = WriteCanonically(*state_, sum, e);
    if (!result || result == e) return e;
    if (const AffineExpr kept = ShorterAsItWas(e, sum, result)) return kept;
    if (Evaluate(result) == sum) return result;
    e = result;
  }
  return e;
}

// The expression as it is, with its summands in order, where it has fewer divisions than the result, or is
// shorter than a result that another sum is made of; otherwise null.
AffineExpr ExprSimplifier::ShorterAsItWas(AffineExpr e, const QuasiAffineSum& sum,
                                          AffineExpr result) {
  const ExprSize size = SizeOf(result);
  const ExprSize given = SizeOf(e);
  // With constraints, divisions in divisions can be equal and not have one sum.
  const auto may_be_kept = [&](const ExprSize& kept) {
    return kept < size || (kept == size && !state_->known.IsBox() && DivisionDepth(result) > 1);
  };
  if (!may_be_kept(given) || MentionsMore(e, result) ||
      (given.divisions == size.divisions && Evaluate(result) == sum)) {
    return {};
  }
  AffineExpr same = Sorted(e);
  // MLIR may make two divisions of one that it is shown.
  if (!same || SizeOf(same).divisions > given.divisions) same = e;
  // The value of a variable that has only one may be a greater constant.
  if (!may_be_kept(SizeOf(same)) || !ComesBefore(same, result)) return {};
  if (state_->tracer.is_on()) {
    state_->tracer.AddStep({"the form is longer: as it was", result, same});
  }
  return same;
}

// The expression as it is but for the order of summands, and variables of one value, which are that
// value; null if numbers do not fit. Divisions nest less deep than the bound on their number.
AffineExpr ExprSimplifier::Sorted(AffineExpr e) {
  const LinearSum flat = LinearSum::FromExpr(e);
  if (!flat.valid()) return {};
  LinearSum result(flat.constant());
  for (const Term& term : flat.terms()) {
    auto division = llvm::dyn_cast<AffineBinaryOpExpr>(term.atom);
    if (!division) {
      const Interval range = state_->known.RangeOfVariable(term.atom);
      if (range.IsPoint()) {
        result.AddScaled(LinearSum(range.lower()), term.coefficient);
      } else {
        result.AddTerm(term.atom, term.coefficient);
      }
      continue;
    }
    auto divisor = llvm::dyn_cast<AffineConstantExpr>(division.getRHS());
    if (!divisor || divisor.getValue() < 1) return {};
    const AffineExpr dividend = Sorted(division.getLHS());
    const AffineExpr sorted =
        term.atom.getKind() == AffineExprKind::Mod
            ? Mod(dividend, divisor.getValue())
            : ::xla_indexing::internal::FloorDiv(dividend, divisor.getValue());
    if (!sorted) return {};
    result.AddScaled(LinearSum::FromExpr(sorted), term.coefficient);
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
  return WriteCanonically(*state_, sum, {});
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

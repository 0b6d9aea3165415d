// How forms go on with one variable: FormAlgebra::ShiftOf and MoveOf.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/gpu/internal/access_forms.h"

namespace xla_indexing::internal {
namespace {

std::optional<int64_t> CheckedLcm(int64_t a, int64_t b) { return CheckedMul(a / Gcd(a, b), b); }

}  // namespace

std::optional<Shift> FormAlgebra::Combine(const Shift& a, const Shift& b, int64_t factor) {
  const std::optional<int64_t> period = CheckedLcm(a.period, b.period);
  if (!period) return std::nullopt;
  const Int128 of_b = Int128{b.change} * (*period / b.period);
  if (of_b < -kLimit || of_b > kLimit) return std::nullopt;
  const std::optional<int64_t> change =
      NarrowToInt64(Int128{a.change} * (*period / a.period) + of_b * factor);
  if (!change) return std::nullopt;
  return Shift{*period, *change};
}

std::optional<Shift> FormAlgebra::ShiftOf(const Form& form, int variable,
                                          llvm::SmallVectorImpl<int64_t>* periods) const {
  const VariableSet bit = VariableSet{1} << variable;
  // The shifts of the divisions that have the variable; a division comes before those it is part
  // of.
  llvm::SmallVector<Shift, 8> shifts(divisions_.size());
  const auto of_form = [&](const Form& f) -> std::optional<Shift> {
    std::optional<Shift> sum = Shift{};
    for (const FormTerm& term : f.terms) {
      Shift shift{1, term.id == variable ? 1 : 0};
      if (term.id >= kMaxVariables) shift = shifts[term.id - kMaxVariables];
      sum = Combine(*sum, shift, term.coefficient);
      if (!sum) return std::nullopt;
    }
    return sum;
  };
  int last = -1;
  for (const FormTerm& term : form.terms) {
    if (term.id >= kMaxVariables) last = std::max(last, term.id - kMaxVariables);
  }
  for (int i = 0; i <= last; ++i) {
    const FormDivision& division = divisions_[i];
    if ((division.variables & bit) == 0 || division_ranges_[i].IsPoint()) continue;
    const std::optional<Shift> dividend = of_form(division.dividend);
    if (!dividend) return std::nullopt;
    const int64_t times = division.divisor / Gcd(division.divisor, dividend->change);
    const std::optional<int64_t> period = CheckedMul(dividend->period, times);
    const std::optional<int64_t> change = CheckedMul(dividend->change, times);
    if (!period || !change) return std::nullopt;
    shifts[i] = {*period, division.is_mod ? 0 : *change / division.divisor};
    if (periods != nullptr) periods->push_back(*period);
  }
  return of_form(form);
}

std::optional<FormAlgebra::Move> FormAlgebra::SumOfMoves(
    const Form& form, int variable, llvm::ArrayRef<std::optional<Move>> of_divisions) const {
  Int128 linear = 0;
  int64_t other = 0;
  for (const FormTerm& term : form.terms) {
    Move move;
    if (term.id == variable) move.step = variables_[variable].Size();
    if (term.id >= kMaxVariables) {
      if (!of_divisions[term.id - kMaxVariables]) return std::nullopt;
      move = *of_divisions[term.id - kMaxVariables];
    }
    const Int128 step = Int128{move.step} * term.coefficient;
    if (step < -kLimit || step > kLimit) return std::nullopt;
    if (move.is_linear) {
      linear += step;
    } else {
      other = Gcd(other, static_cast<int64_t>(step));
    }
  }
  if (linear < -kLimit || linear > kLimit) return std::nullopt;
  const auto step = static_cast<int64_t>(linear);
  return other == 0 ? Move{step, true} : Move{Gcd(step, other), false};
}

std::optional<int64_t> FormAlgebra::MoveOf(const Form& form, int variable) const {
  // The moves of divisions; a division comes before those it is part of.
  llvm::SmallVector<std::optional<Move>, 8> moves(divisions_.size(), Move{});
  int last = -1;
  for (const FormTerm& term : form.terms) {
    if (term.id >= kMaxVariables) last = std::max(last, term.id - kMaxVariables);
  }
  for (int i = 0; i <= last; ++i) {
    const FormDivision& division = divisions_[i];
    if ((division.variables >> variable & 1) == 0) continue;
    const int64_t m = division.divisor;
    moves[i] = SumOfMoves(division.dividend, variable, moves);
    if (!moves[i] || moves[i]->step == 0) continue;
    if (moves[i]->step % m == 0) {
      moves[i] = division.is_mod ? Move{} : Move{moves[i]->step / m, moves[i]->is_linear};
      continue;
    }
    const int64_t k = Gcd(moves[i]->step, m);
    const ValueRange values = RangeOf(division.dividend);
    if (FloorDiv(values.lower, k) != FloorDiv(values.upper, k)) {
      moves[i] = std::nullopt;
    } else {
      moves[i] = Move{division.is_mod ? k : 1, false};
    }
  }
  const std::optional<Move> sum = SumOfMoves(form, variable, moves);
  if (!sum) return std::nullopt;
  return sum->step;
}

}  // namespace xla_indexing::internal

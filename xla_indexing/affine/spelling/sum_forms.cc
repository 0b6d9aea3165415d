// The ways to write a sum without mods. With T = floor(X / n) the definition of mod is a unimodular
// change of basis, a step that any multiple of X allows:
//
//   v*X = v*(X mod n) + v*n*T                                      T is in the sum, v divides what
//                                                                  X has there
//
// The forms that come from such steps are compared: the shortest is the one with the fewest floors
// and mods, those in dividends counted, then the fewest summands, then the smallest coefficients.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/normal_form/rules.h"
#include "xla_indexing/affine/spelling/spelling.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

struct Cost {
  size_t summands = 0;
  size_t divisions = 0;
  int mods = 0;
  double magnitude = 0;

  // Shorter forms come first.
  std::tuple<size_t, size_t, double> Length() const { return {divisions, summands, magnitude}; }
  // Forms with fewer summands come first, and of those the ones with more mods.
  std::tuple<size_t, int, double> DigitOrder() const { return {summands, -mods, magnitude}; }
};

Cost CostOf(const QuasiAffineSum& sum) {
  Cost cost;
  cost.summands = sum.terms().size();
  for (const AtomTerm& term : sum.terms()) {
    cost.divisions += term.atom->written.divisions;
    cost.mods += term.atom->IsMod() ? 1 : 0;
    cost.magnitude += std::abs(static_cast<double>(term.coefficient));
  }
  return cost;
}

using Forms = llvm::SmallVector<QuasiAffineSum, 8>;

// Looks for the forms of a sum without mods.
class FormSearch {
 public:
  FormSearch(SimplifierState* state, const QuasiAffineSum& mod_free_form)
      : state_(*state), forms_({mod_free_form}) {
    for (const AtomTerm& term : mod_free_form.terms()) {
      if (term.atom->IsFloor()) floors_.push_back(term.atom);
    }
    // The least divisor comes first, so that digits are split off from the low end.
    llvm::sort(floors_, [](const Atom* a, const Atom* b) {
      return a->divisor != b->divisor ? a->divisor < b->divisor : AtomLess(a, b);
    });
    Search();
  }

  SumForms Best() const {
    SumForms best;
    const QuasiAffineSum* digits = nullptr;
    const QuasiAffineSum* shortest = nullptr;
    Cost digits_cost;
    Cost shortest_cost;
    const auto take_if_shorter = [&](const QuasiAffineSum& form, const Cost& cost) {
      if (shortest != nullptr && cost.Length() >= shortest_cost.Length()) return;
      shortest = &form;
      shortest_cost = cost;
    };
    for (const QuasiAffineSum& form : forms_) {
      best.range = best.range.Intersect(state_.known.SumOfRanges(form));
      const Cost cost = CostOf(form);
      if (digits == nullptr || cost.DigitOrder() < digits_cost.DigitOrder()) {
        digits = &form;
        digits_cost = cost;
      }
      take_if_shorter(form, cost);
    }
    for (const QuasiAffineSum& form : without_floor_) take_if_shorter(form, CostOf(form));
    best.digits = *digits;
    best.shortest = *shortest;
    return best;
  }

 private:
  // Every form found so far is taken on to the next floor.
  void Search() {
    constexpr size_t kMaxForms = 48;
    for (const Atom* floor : floors_) {
      const size_t num_forms = forms_.size();
      for (size_t i = 0; i < num_forms && forms_.size() < kMaxForms; ++i) {
        if (forms_[i].CoefficientOf(floor) == 0 || !state_.work.Take(forms_[i].terms().size())) {
          continue;
        }
        SplitDigit(QuasiAffineSum(forms_[i]), floor);
      }
    }
  }

  // The floor T = floor(X / n) of a step, and its digit X mod n once it was asked for.
  struct Step {
    const Atom* floor;
    QuasiAffineSum value;  // X
    int64_t modulus;       // n
    QuasiAffineSum digit = {};
    llvm::SmallVector<int64_t, 4> factors = {};  // that were tried
  };

  // X and n such that `floor` is floor(X / n). In general X is its dividend Y and n its divisor a.
  // Where there is the next lower digit T' = floor(Y' / a') of one expression, so that floor(Y / a')
  // = P + T' or P - T', X is that sum and n = a / a'.
  Step StepOf(const Atom* floor, const QuasiAffineSum& sum) {
    for (const Atom* lower : llvm::reverse(floors_)) {
      if (lower->divisor >= floor->divisor || floor->divisor % lower->divisor != 0 ||
          sum.CoefficientOf(lower) == 0) {
        continue;
      }
      QuasiAffineSum quotient = ModFreeForm(FloorDivide(state_, floor->dividend, lower->divisor));
      const int64_t link = quotient.CoefficientOf(lower);
      if (quotient.valid() && (link == 1 || link == -1)) {
        return {floor, std::move(quotient), floor->divisor / lower->divisor};
      }
    }
    return {floor, floor->dividend_mod_free_form, floor->divisor};
  }

  // Adds the forms that steps of one floor lead to. X and the sum are compared as mod-free forms and
  // as digits.
  void SplitDigit(const QuasiAffineSum& sum, const Atom* floor) {
    Step step = StepOf(floor, sum);
    TakeSteps(sum, step.value, step);
    if (!HasFloorAtom(step.value)) return;
    const QuasiAffineSum& digits = FormOfDigits(state_, step.value);
    if (!(digits == step.value)) TakeSteps(sum, digits, step);
  }

  // The steps  v*X = v*(X mod n) + v*n*T  that cancel a summand of X, which is written as `value`.
  void TakeSteps(const QuasiAffineSum& sum, const QuasiAffineSum& value, Step& step) {
    // The digit may be the only new atom of the sum.
    const auto is_there = [&](const AtomTerm& term) {
      return term.atom == step.floor || sum.CoefficientOf(term.atom) != 0;
    };
    if (!llvm::all_of(value.terms(), is_there)) return;
    for (const AtomTerm& term : value.terms()) {
      const int64_t coefficient = sum.CoefficientOf(term.atom);
      const std::optional<int64_t> factor = ExactQuotient(coefficient, term.coefficient);
      if (coefficient != 0 && factor) TakeStep(sum, value, *factor, step, forms_);
    }
    // The floor itself goes where -v*n is what multiplies it; all summands stay.
    const int64_t coefficient = sum.CoefficientOf(step.floor);
    if (coefficient % step.modulus != 0) return;
    TakeStep(sum, value, -(coefficient / step.modulus), step, without_floor_);
  }

  void TakeStep(const QuasiAffineSum& sum, const QuasiAffineSum& value, int64_t factor, Step& step,
                llvm::SmallVectorImpl<QuasiAffineSum>& found) {
    if (llvm::is_contained(step.factors, factor)) return;
    step.factors.push_back(factor);
    if (step.digit.terms().empty()) step.digit = Modulo(state_, step.value, step.modulus);
    QuasiAffineSum form = sum;
    form.SubtractScaled(value, factor);
    form.AddScaled(step.digit, factor);
    form.AddScaled(QuasiAffineSum::Of(step.floor, step.modulus), factor);
    if (form.valid() && form.terms().size() <= sum.terms().size() + 1) {
      found.push_back(std::move(form));
    }
  }

  SimplifierState& state_;
  llvm::SmallVector<const Atom*, 4> floors_;
  Forms forms_;
  // Forms that came from a step in which the floor itself went.
  llvm::SmallVector<QuasiAffineSum, 2> without_floor_;
};

const SumForms& FormsOf(SimplifierState& state, const QuasiAffineSum& mod_free_form) {
  if (const auto known = state.forms.find(mod_free_form); known != state.forms.end()) {
    return known->second;
  }
  SumForms forms = FormSearch(&state, mod_free_form).Best();
  return state.forms.try_emplace(mod_free_form, std::move(forms)).first->second;
}

// --- Whether there are other forms

// Whether T = floor(X / n) is replaced by the step v*X = v*(X mod n) + v*n*T, or by its inverse.
bool IsMultipleOfDivisor(const AtomTerm& floor) {
  return floor.coefficient % floor.atom->divisor == 0;
}

// Whether there is a step for a floor of a mod-free form; has_step(floor) tells it where all
// summands of the floor's dividend, none of them a floor, are added to it.
template <typename HasStep>
bool MayHaveStep(const QuasiAffineSum& mod_free_form, HasStep has_step) {
  return llvm::any_of(mod_free_form.terms(), [&](const AtomTerm& term) {
    const Atom* floor = term.atom;
    if (!floor->IsFloor()) return false;
    const QuasiAffineSum& dividend = floor->dividend_mod_free_form;
    const auto is_lower = [floor](const AtomTerm& other) {
      return other.atom->IsFloor() && other.atom->divisor < floor->divisor &&
             floor->divisor % other.atom->divisor == 0;
    };
    const auto is_beside = [&](const AtomTerm& part) {
      return mod_free_form.CoefficientOf(part.atom) != 0;
    };
    return HasFloorAtom(dividend) || llvm::any_of(mod_free_form.terms(), is_lower) ||
           (llvm::all_of(dividend.terms(), is_beside) && has_step(term));
  });
}

// Whether there may be another form; if not, no step finds anything to cancel.
bool MayHaveOtherForms(const QuasiAffineSum& mod_free_form) {
  return MayHaveStep(mod_free_form, [&](const AtomTerm& floor) {
    return IsMultipleOfDivisor(floor) ||
           llvm::any_of(floor.atom->dividend_mod_free_form.terms(), [&](const AtomTerm& part) {
             return ExactQuotient(mod_free_form.CoefficientOf(part.atom), part.coefficient)
                 .has_value();
           });
  });
}

// Whether there may be another form with as few divisions. A step adds a mod, so that it has to
// remove a floor; with facts it may add less.
bool MayHaveShorterForm(const SimplifierState& state, const QuasiAffineSum& mod_free_form) {
  return state.known.IsBox() ? MayHaveStep(mod_free_form, IsMultipleOfDivisor)
                             : MayHaveOtherForms(mod_free_form);
}

// A digit alone is the shorter one of the two ways to write its mod-free form.
bool IsDigitAlone(const QuasiAffineSum& sum) {
  return sum.terms().size() == 1 && sum.terms()[0].atom->is_digit;
}

}  // namespace

// NOLINTBEGIN(bugprone-return-const-ref-from-parameter)
const QuasiAffineSum& ShortestForm(SimplifierState& state, const QuasiAffineSum& mod_free_form) {
  return MayHaveShorterForm(state, mod_free_form) ? FormsOf(state, mod_free_form).shortest
                                                  : mod_free_form;
}

const QuasiAffineSum& FormOfDigits(SimplifierState& state, const QuasiAffineSum& mod_free_form) {
  return MayHaveOtherForms(mod_free_form) ? FormsOf(state, mod_free_form).digits : mod_free_form;
}
// NOLINTEND(bugprone-return-const-ref-from-parameter)

Interval RangeOfForms(SimplifierState& state, const QuasiAffineSum& mod_free_form) {
  return MayHaveOtherForms(mod_free_form) ? FormsOf(state, mod_free_form).range
                                          : state.known.SumOfRanges(mod_free_form);
}

QuasiAffineSum FormToWrite(SimplifierState& state, const QuasiAffineSum& sum) {
  if (!sum.valid()) return sum;
  QuasiAffineSum best = sum;
  if (!IsOff(Engine::kSumForms) && !IsLinear(sum) && !IsDigitAlone(sum) &&
      !IsOfDistinctNumbers(sum)) {
    QuasiAffineSum storage;
    const QuasiAffineSum& mod_free_form = ModFreeForm(sum, storage);
    if (!mod_free_form.valid()) return mod_free_form;
    const bool has_floor = HasFloorAtom(mod_free_form);
    const QuasiAffineSum& shortest = has_floor ? ShortestForm(state, mod_free_form) : mod_free_form;
    const bool is_longer = has_floor && CostOf(sum).Length() < CostOf(shortest).Length();
    if (&shortest != &sum && !is_longer) best = shortest;
  }
  if (state.tracer.is_on()) state.tracer.AddSum("the shortest way to write the sum", sum, best);
  best.Sort();
  return best;
}

mlir::AffineExpr WriteCanonically(SimplifierState& state, const QuasiAffineSum& sum,
                                  mlir::AffineExpr from) {
  const QuasiAffineSum best = FormToWrite(state, sum);
  if (!best.valid() || (!state.known.HasFacts() && IsSpelledAsIs(best)))
    return state.writer.Write(best, from);
  const mlir::AffineExpr spelled = Spell(best, state.known, state.writer.context());
  if (!spelled) return state.writer.Write(best, from);
  if (state.tracer.is_on()) {
    state.tracer.AddWritten("the spelling of divisions", best, spelled);
  }
  return spelled;
}

}  // namespace xla_indexing::internal

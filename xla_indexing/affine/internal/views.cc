// Ways to write a mod-free form. With T = floor(X / n) the definition of mod reads X = (X mod n) + n *
// T, a unimodular change of basis: wherever a sum has the floor atom T beside a multiple v of X, v
// * X may be written as v * (X mod n) + v*n * T. `ViewsOf` looks through the ways to write a sum
// that come from such steps and keeps the shortest one, the one with the most digits, and the least
// of their ranges.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {

// Least divisor first, so that digits are split off from the low end.
llvm::SmallVector<const DigitAtom*, 4> ExprSimplifier::FloorAtomsOf(
    const QuasiAffineSum& sum) const {
  llvm::SmallVector<const DigitAtom*, 4> atoms;
  for (const DigitTerm& term : sum.terms()) {
    if (term.atom->IsFloor()) atoms.push_back(term.atom);
  }
  llvm::sort(atoms, [](const DigitAtom* a, const DigitAtom* b) {
    return a->divisor != b->divisor ? a->divisor < b->divisor : AtomLess(a, b);
  });
  return atoms;
}

// X and n such that `floor_atom` = floor(X / n). In general X is the dividend Y and n the divisor
// a. Where `atoms` has the next lower digit T' = floor(Y' / a') of the same expression, so that
// floor(Y / a') = P + T' or P - T', X is that sum and n = a / a'.
std::pair<QuasiAffineSum, int64_t> ExprSimplifier::DigitBelow(
    const DigitAtom* floor_atom, const QuasiAffineSum& sum,
    llvm::ArrayRef<const DigitAtom*> atoms) {
  const DigitAtom& floor = *floor_atom;
  for (const DigitAtom* lower_atom : llvm::reverse(atoms)) {
    const DigitAtom& lower = *lower_atom;
    if (lower.divisor >= floor.divisor || floor.divisor % lower.divisor != 0 ||
        sum.CoefficientOf(lower_atom) == 0) {
      continue;
    }
    QuasiAffineSum quotient = ModFreeForm(FloorDivide(floor.dividend, lower.divisor));
    int64_t link = quotient.CoefficientOf(lower_atom);
    if (quotient.valid() && (link == 1 || link == -1)) {
      return {std::move(quotient), floor.divisor / lower.divisor};
    }
  }
  return {floor.dividend_mod_free_form, floor.divisor};
}

// Appends to `ways` every v * X -> v * (X mod n) + v*n * T on `sum` that cancels a summand of X,
// where X and the sum are compared as mod-free forms and as digits.
void ExprSimplifier::SplitDigit(const QuasiAffineSum& sum, const DigitAtom* floor_atom,
                                llvm::ArrayRef<const DigitAtom*> atoms,
                                llvm::SmallVectorImpl<QuasiAffineSum>& ways,
                                llvm::SmallVectorImpl<QuasiAffineSum>& swapped) {
  auto [value, modulus] = DigitBelow(floor_atom, sum, atoms);
  QuasiAffineSum digit;
  llvm::SmallVector<int64_t, 4> factors;
  auto try_shape = [&](const QuasiAffineSum& shape) {
    // Nothing but the digit may be new in the sum.
    if (!llvm::all_of(shape.terms(), [&](const DigitTerm& term) {
          return term.atom == floor_atom || sum.CoefficientOf(term.atom) != 0;
        })) {
      return;
    }
    const auto split_off = [&](int64_t factor, llvm::SmallVectorImpl<QuasiAffineSum>& found) {
      if (llvm::is_contained(factors, factor)) return;
      factors.push_back(factor);
      if (digit.terms().empty()) digit = Modulo(value, modulus);
      QuasiAffineSum way = sum;
      way.SubtractScaled(shape, factor);
      way.AddScaled(digit, factor);
      way.AddScaled(QuasiAffineSum::Of(floor_atom, modulus), factor);
      if (way.valid() && way.terms().size() <= sum.terms().size() + 1) {
        found.push_back(std::move(way));
      }
    };
    for (const DigitTerm& term : shape.terms()) {
      int64_t coefficient = sum.CoefficientOf(term.atom);
      const std::optional<int64_t> factor = ExactQuotient(coefficient, term.coefficient);
      if (coefficient != 0 && factor) split_off(*factor, ways);
    }
    // The floor itself goes where -factor*modulus is what multiplies it; all summands stay.
    const int64_t coefficient = sum.CoefficientOf(floor_atom);
    if (coefficient % modulus != 0) return;
    const int64_t quotient = coefficient / modulus;
    if (llvm::is_contained(factors, -quotient)) return;
    const auto factor = -static_cast<double>(quotient);
    double growth = std::abs(factor) - std::abs(static_cast<double>(coefficient));
    for (const DigitTerm& term : shape.terms()) {
      const auto before = static_cast<double>(sum.CoefficientOf(term.atom));
      growth +=
          std::abs(before - factor * static_cast<double>(term.coefficient)) - std::abs(before);
    }
    if (growth < 0) split_off(-quotient, swapped);
  };
  try_shape(value);
  if (!HasFloorAtom(value)) return;
  const QuasiAffineSum& digits = WayOfDigits(value);
  if (!(digits == value)) try_shape(digits);
}

namespace {

struct Cost {
  size_t summands = 0;
  size_t divisions = 0;
  int mods = 0;
  double magnitude = 0;

  // Shorter ways to write a sum come first.
  std::tuple<size_t, size_t, double> Order() const { return {divisions, summands, magnitude}; }
  std::pair<size_t, size_t> Size() const { return {divisions, summands}; }
  // So do ways with as few summands and more digits.
  std::tuple<size_t, int, double> DigitOrder() const { return {summands, -mods, magnitude}; }
};

Cost CostOf(const QuasiAffineSum& sum) {
  Cost cost;
  cost.summands = sum.terms().size();
  for (const DigitTerm& term : sum.terms()) {
    cost.divisions += term.atom->divisions;
    cost.mods += term.atom->IsMod() ? 1 : 0;
    cost.magnitude += std::abs(static_cast<double>(term.coefficient));
  }
  return cost;
}

// Whether T = floor(X / n) is replaced by the step of a digit, v * X -> v * (X mod n) + v*n * T, or
// by its inverse.
bool IsMultipleOfDivisor(const DigitTerm& floor) {
  return floor.coefficient % floor.atom->divisor == 0;
}

}  // namespace

// Whether there is a step for a floor of a mod-free form, `has_step` telling it of a floor with all
// summands of its dividend, none of them a floor, beside it.
bool ExprSimplifier::MayHaveStep(const QuasiAffineSum& mod_free_form,
                                 llvm::function_ref<bool(const DigitTerm&)> has_step) {
  return llvm::any_of(mod_free_form.terms(), [&](const DigitTerm& term) {
    const DigitAtom* floor = term.atom;
    if (!floor->IsFloor()) return false;
    const QuasiAffineSum& dividend = floor->dividend_mod_free_form;
    const auto is_lower = [floor](const DigitTerm& other) {
      return other.atom->IsFloor() && other.atom->divisor < floor->divisor &&
             floor->divisor % other.atom->divisor == 0;
    };
    const auto is_beside = [&](const DigitTerm& part) {
      return mod_free_form.CoefficientOf(part.atom) != 0;
    };
    return HasFloorAtom(dividend) || llvm::any_of(mod_free_form.terms(), is_lower) ||
           (llvm::all_of(dividend.terms(), is_beside) && has_step(term));
  });
}

// Whether a mod-free form may have another way to be written; if not, no step finds anything to
// cancel.
bool ExprSimplifier::MayHaveOtherWays(const QuasiAffineSum& mod_free_form) {
  return MayHaveStep(mod_free_form, [&](const DigitTerm& floor) {
    return IsMultipleOfDivisor(floor) ||
           llvm::any_of(floor.atom->dividend_mod_free_form.terms(), [&](const DigitTerm& part) {
             return ExactQuotient(mod_free_form.CoefficientOf(part.atom), part.coefficient)
                 .has_value();
           });
  });
}

// Whether a mod-free form may have another way to be written with as few divisions. A step adds a mod,
// so that it has to remove a floor; with facts it may add less.
bool ExprSimplifier::MayHaveShorterWay(const QuasiAffineSum& mod_free_form) const {
  return HasNoAssumptions() ? MayHaveStep(mod_free_form, IsMultipleOfDivisor)
                            : MayHaveOtherWays(mod_free_form);
}

// What has no other way is the way that is asked for, itself and not a copy.
// NOLINTBEGIN(bugprone-return-const-ref-from-parameter)
const QuasiAffineSum& ExprSimplifier::ShortestWay(const QuasiAffineSum& mod_free_form) {
  return MayHaveShorterWay(mod_free_form) ? ViewsOf(mod_free_form).shortest : mod_free_form;
}

const QuasiAffineSum& ExprSimplifier::WayOfDigits(const QuasiAffineSum& mod_free_form) {
  return MayHaveOtherWays(mod_free_form) ? ViewsOf(mod_free_form).digits : mod_free_form;
}
// NOLINTEND(bugprone-return-const-ref-from-parameter)

Interval ExprSimplifier::RangeOfWays(const QuasiAffineSum& mod_free_form) {
  return MayHaveOtherWays(mod_free_form) ? ViewsOf(mod_free_form).range
                                         : SumOfRanges(mod_free_form);
}

const SumViews& ExprSimplifier::ViewsOf(const QuasiAffineSum& mod_free_form) {
  const size_t hash = mod_free_form.Hash();
  for (const SumViews* known = memory_->view_table.First(hash); known != nullptr;
       known = known->next) {
    if (known->hash == hash && known->mod_free_form == mod_free_form) return *known;
  }
  const llvm::SmallVector<const DigitAtom*, 4> atoms = FloorAtomsOf(mod_free_form);
  // Low digits first; every way found so far is taken on to the next floor atom.
  llvm::SmallVector<QuasiAffineSum, 8> ways = {mod_free_form};
  llvm::SmallVector<QuasiAffineSum, 2> swapped;
  constexpr size_t kMaxWays = 48;
  for (const DigitAtom* atom : atoms) {
    size_t num_ways = ways.size();
    for (size_t i = 0; i < num_ways && ways.size() < kMaxWays; ++i) {
      if (ways[i].CoefficientOf(atom) == 0 || !MayWork(ways[i].terms().size())) continue;
      QuasiAffineSum way = ways[i];
      SplitDigit(way, atom, atoms, ways, swapped);
    }
  }
  SumViews* views = memory_->views.New();
  views->range = Interval::All();
  const QuasiAffineSum* digits = nullptr;
  const QuasiAffineSum* shortest = nullptr;
  Cost digits_cost;
  Cost shortest_cost;
  for (const QuasiAffineSum& way : ways) {
    views->range = views->range.Intersect(SumOfRanges(way));
    Cost cost = CostOf(way);
    if (!digits || cost.DigitOrder() < digits_cost.DigitOrder()) {
      digits = &way;
      digits_cost = cost;
    }
    if (!shortest || cost.Order() < shortest_cost.Order()) {
      shortest = &way;
      shortest_cost = cost;
    }
  }
  for (const QuasiAffineSum& way : swapped) {
    const Cost cost = CostOf(way);
    if (cost.Order() < shortest_cost.Order()) {
      shortest = &way;
      shortest_cost = cost;
    }
  }
  views->digits = *digits;
  views->shortest = *shortest;
  views->mod_free_form = mod_free_form;
  memory_->view_table.Insert(hash, views);
  return *views;
}

// A digit alone: of the two ways to write its mod-free form it is the shorter one.
bool IsDigitAlone(const QuasiAffineSum& digits) {
  return digits.terms().size() == 1 && digits.terms()[0].atom->is_digit;
}

QuasiAffineSum ExprSimplifier::AsWritten(const QuasiAffineSum& digits) {
  if (!digits.valid()) return digits;
  QuasiAffineSum best = digits;
  if (!IsLinear(digits) && !IsDigitAlone(digits) && !IsOfDistinctNumbers(digits)) {
    QuasiAffineSum eliminated;
    const QuasiAffineSum& mod_free_form = ModFreeForm(digits, eliminated);
    if (!mod_free_form.valid()) return mod_free_form;
    const bool has_floor = HasFloorAtom(mod_free_form);
    const QuasiAffineSum& shortest = has_floor ? ShortestWay(mod_free_form) : mod_free_form;
    const bool is_longer =
        &shortest != &digits && !(has_floor && CostOf(digits).Order() < CostOf(shortest).Order());
    if (is_longer) best = shortest;
  }
  if (trace_) TraceSum("the shortest way to write the sum", digits, best);
  best.Sort();
  return best;
}

}  // namespace xla_indexing::internal

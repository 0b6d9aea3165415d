#include "xla_indexing/gpu/internal/lane_forms.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

// An inner variable that tells points apart.
struct Axis {
  int variable;
  int64_t stride;  // Point numbers of two values, one after the other.
};

}  // namespace

LaneForms::LaneForms(const LaunchAccess& access, llvm::ArrayRef<int> constraint_ids, int variable)
    : width(access.width) {
  const FormAlgebra& forms = access.algebra;
  const auto num_divisions = static_cast<int>(forms.divisions().size());
  // Those that have several values and are part of a form that counts.
  llvm::SmallVector<bool, 8> is_used(num_divisions, false);
  const auto use = [&](const Form& form) {
    const ValueRange range = forms.RangeOf(form);
    fits &= range.lower >= -kMaxNumber && range.upper <= kMaxNumber;
    for (const FormTerm& term : form.terms) {
      if (term.id >= FormAlgebra::kMaxVariables && !forms.range(term.id).IsPoint()) {
        is_used[term.id - FormAlgebra::kMaxVariables] = true;
      }
    }
  };
  use(access.address);
  for (const int i : constraint_ids) use(access.constraints[i].form);
  for (int i = num_divisions; i-- > 0;) {
    if (is_used[i]) use(forms.divisions()[i].dividend);
  }
  if (!fits) return;

  // Divisions with v are digits; the others are values of the points.
  llvm::SmallVector<int, 8> digit_of(num_divisions, -1);
  llvm::SmallVector<int, 4> of_points;
  llvm::SmallVector<const Form*, 8> sources;
  for (int i = 0; i < num_divisions; ++i) {
    if (!is_used[i]) continue;
    const FormDivision& division = forms.divisions()[i];
    if ((division.variables >> variable & 1) == 0) {
      of_points.push_back(i);
      continue;
    }
    digit_of[i] = static_cast<int>(digits.size());
    digits.push_back({{}, division.divisor, division.is_mod});
    sources.push_back(&division.dividend);
  }
  for (const int i : constraint_ids) {
    constraints.push_back({{}, access.constraints[i].interval});
    sources.push_back(&access.constraints[i].form);
  }
  sources.push_back(&access.address);
  llvm::SmallVector<LaneSum*, 8> sums;
  for (LaneDigit& digit : digits) sums.push_back(&digit.dividend);
  for (LaneConstraint& constraint : constraints) sums.push_back(&constraint.sum);
  sums.push_back(&address);
  AddPoints(access, variable, sources, sums, digit_of, of_points);
}

// What does not depend on v, at every point.
void LaneForms::AddPoints(const LaunchAccess& access, int variable,
                          llvm::ArrayRef<const Form*> sources, llvm::ArrayRef<LaneSum*> sums,
                          llvm::ArrayRef<int> digit_of, llvm::ArrayRef<int> of_points) {
  const FormAlgebra& forms = access.algebra;
  llvm::SmallVector<int64_t, 80> values(FormAlgebra::kMaxVariables + digit_of.size());
  VariableSet not_only_added = 0;
  for (const Form* source : sources.drop_back()) not_only_added |= forms.VariablesOf(*source);
  for (const int i : of_points) not_only_added |= forms.divisions()[i].variables;
  llvm::SmallVector<Axis, 4> inner;
  for (int v = 0; v < forms.num_variables(); ++v) {
    values[v] = forms.range(v).lower;
    if ((access.inner >> v & 1) == 0 || forms.range(v).IsPoint()) continue;
    const int64_t size = forms.range(v).Size();
    const auto* term =
        llvm::find_if(access.address.terms, [&](const FormTerm& t) { return t.id == v; });
    if ((not_only_added >> v & 1) == 0 && term != access.address.terms.end()) {
      if (term->coefficient == width && elements.empty()) {
        width *= size;
      } else {
        elements.push_back({term->coefficient, size});
      }
      continue;
    }
    inner.push_back({v, 1});
    num_points *= size;
  }
  // Elements of a vector one after the other: they mostly lie so.
  for (size_t i = inner.size(); i-- > 1;) {
    inner[i - 1].stride = inner[i].stride * forms.range(inner[i].variable).Size();
  }
  for (size_t i = 0; i < digit_of.size(); ++i) {
    values[FormAlgebra::kMaxVariables + i] =
        forms.range(FormAlgebra::kMaxVariables + static_cast<int>(i)).lower;
  }
  llvm::SmallVector<llvm::SmallVector<FormTerm, 2>, 8> terms(sums.size());  // that differ by point
  are_in_line = of_points.empty();
  for (size_t i = 0; i < sums.size(); ++i) {
    LaneSum& sum = *sums[i];
    sum.constant = sources[i]->constant;
    for (const FormTerm& term : sources[i]->terms) {
      const int digit = term.id < FormAlgebra::kMaxVariables
                            ? -1
                            : digit_of[term.id - FormAlgebra::kMaxVariables];
      if (term.id == variable) {
        sum.slope = term.coefficient;
      } else if (digit >= 0) {
        sum.digits.push_back({digit, term.coefficient});
      } else {
        terms[i].push_back(term);
      }
    }
    const auto step_of = [&](const Axis& axis) {
      const auto* term =
          llvm::find_if(terms[i], [&](const FormTerm& t) { return t.id == axis.variable; });
      return term == terms[i].end() ? 0 : term->coefficient;
    };
    if (!inner.empty()) sum.step = step_of(inner.back());
    are_in_line = are_in_line && llvm::all_of(inner, [&](const Axis& axis) {
                    return step_of(axis) == Int128{sum.step} * axis.stride;
                  });
  }
  const auto value_of = [&](llvm::ArrayRef<FormTerm> of) {
    int64_t value = 0;
    for (const FormTerm& term : of) value += term.coefficient * values[term.id];
    return value;
  };
  if (are_in_line) {
    for (size_t i = 0; i < sums.size(); ++i) {
      LaneSum& sum = *sums[i];
      sum.constant += value_of(terms[i]);
      const int64_t last = sum.step * static_cast<int64_t>(num_points - 1);
      sum.low = std::min<int64_t>(last, 0);
      sum.high = std::max<int64_t>(last, 0);
    }
    return;
  }
  for (size_t point = 0; point < num_points; ++point) {
    for (const int i : of_points) {
      const FormDivision& division = forms.divisions()[i];
      const int64_t dividend = division.dividend.constant + value_of(division.dividend.terms);
      values[FormAlgebra::kMaxVariables + i] = division.is_mod
                                                   ? FloorMod(dividend, division.divisor)
                                                   : FloorDiv(dividend, division.divisor);
    }
    for (size_t i = 0; i < sums.size(); ++i) sums[i]->added.push_back(value_of(terms[i]));
    for (const Axis& axis : llvm::reverse(inner)) {
      if (values[axis.variable]++ < forms.range(axis.variable).upper) break;
      values[axis.variable] = forms.range(axis.variable).lower;
    }
  }
  for (LaneSum* sum : sums) {
    const int64_t at_first = sum->added[0];
    sum->constant += at_first;
    for (int64_t& value : sum->added) {
      value -= at_first;
      sum->low = std::min(sum->low, value);
      sum->high = std::max(sum->high, value);
    }
  }
}

}  // namespace xla_indexing::internal

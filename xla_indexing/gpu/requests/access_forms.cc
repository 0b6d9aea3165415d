#include "xla_indexing/gpu/requests/access_forms.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::cast;
using ::mlir::AffineExprKind;

}  // namespace

Form FormAlgebra::AddVariable(int64_t lower, int64_t upper) {
  Form form;
  if (num_variables_ == kMaxVariables || lower < -kLimit || upper > kLimit) {
    ok_ = false;
    return form;
  }
  variables_[num_variables_] = {lower, upper};
  if (lower == upper) {
    form.constant = lower;
  } else {
    form.terms.push_back({static_cast<int>(num_variables_), 1});
  }
  ++num_variables_;
  return form;
}

Form FormAlgebra::Constant(int64_t value) {
  Form form;
  form.constant = value;
  return form;
}

void FormAlgebra::AddConstant(Form* form, Int128 value) {
  value += form->constant;
  if (value < -kLimit || value > kLimit) {
    ok_ = false;
    return;
  }
  form->constant = static_cast<int64_t>(value);
}

void FormAlgebra::AddTerm(Form* form, int id, Int128 coefficient) {
  auto* it = llvm::lower_bound(form->terms, id,
                               [](const FormTerm& term, int other) { return term.id < other; });
  const bool is_there = it != form->terms.end() && it->id == id;
  if (is_there) coefficient += it->coefficient;
  if (coefficient < -kLimit || coefficient > kLimit) {
    ok_ = false;
    return;
  }
  const auto narrow = static_cast<int64_t>(coefficient);
  if (narrow == 0) {
    if (is_there) form->terms.erase(it);
  } else if (is_there) {
    it->coefficient = narrow;
  } else {
    form->terms.insert(it, {id, narrow});
  }
}

Form FormAlgebra::Add(const Form& a, const Form& b, int64_t factor) {
  Form sum = a;
  AddConstant(&sum, Int128{b.constant} * factor);
  for (const FormTerm& term : b.terms) AddTerm(&sum, term.id, Int128{term.coefficient} * factor);
  return sum;
}

// What the terms add up to at most if none is less than 0; past the limit, something past it.
Int128 FormAlgebra::Magnitude(const Form& form) const {
  Int128 most = form.constant < 0 ? -Int128{form.constant} : Int128{form.constant};
  for (const FormTerm& term : form.terms) {
    const ValueRange& values = range(term.id);
    const Int128 a = Int128{term.coefficient} * values.lower;
    const Int128 b = Int128{term.coefficient} * values.upper;
    most += std::max(a < 0 ? -a : a, b < 0 ? -b : b);
    if (most > kLimit) break;  // Before it passes Int128.
  }
  return most;
}

void FormAlgebra::CheckRanges(llvm::ArrayRef<Form*> forms) {
  for (const Form* form : forms) ok_ = ok_ && Magnitude(*form) <= kLimit;
  for (const FormDivision& division : divisions_) {
    ok_ = ok_ && Magnitude(division.dividend) <= kLimit;
  }
}

ValueRange FormAlgebra::RangeOf(const Form& form) const {
  Int128 lower = form.constant;
  Int128 upper = form.constant;
  for (const FormTerm& term : form.terms) {
    const ValueRange& values = range(term.id);
    const bool up = term.coefficient > 0;
    lower += Int128{term.coefficient} * (up ? values.lower : values.upper);
    upper += Int128{term.coefficient} * (up ? values.upper : values.lower);
  }
  const auto narrow = [](Int128 value) {
    return static_cast<int64_t>(std::clamp<Int128>(value, -kLimit, kLimit));
  };
  return {narrow(lower), narrow(upper)};
}

ValueRange FormAlgebra::RangeOfDivision(const FormDivision& division) const {
  const ValueRange dividend = RangeOf(division.dividend);
  const int64_t m = division.divisor;
  const int64_t first = FloorDiv(dividend.lower, m);
  const int64_t last = FloorDiv(dividend.upper, m);
  if (!division.is_mod) return {first, last};
  if (first != last) return {0, m - 1};
  return {dividend.lower - first * m, dividend.upper - first * m};
}

void FormAlgebra::UpdateDivisionRanges() {
  for (size_t i = 0; i < divisions_.size(); ++i) {
    division_ranges_[i] = RangeOfDivision(divisions_[i]);
  }
}

VariableSet FormAlgebra::VariablesOf(const Form& form) const {
  VariableSet variables = 0;
  for (const FormTerm& term : form.terms) {
    variables |= term.id < kMaxVariables ? VariableSet{1} << term.id
                                         : divisions_[term.id - kMaxVariables].variables;
  }
  return variables;
}

VariableSet FormAlgebra::DividedVariablesOf(const Form& form) const {
  VariableSet variables = 0;
  for (const FormTerm& term : form.terms) {
    if (term.id >= kMaxVariables && !range(term.id).IsPoint()) {
      variables |= divisions_[term.id - kMaxVariables].variables;
    }
  }
  return variables;
}

Form FormAlgebra::MakeDivision(bool is_mod, Form dividend, int64_t divisor) {
  int id = kMaxVariables;
  for (const FormDivision& known : divisions_) {
    if (known.is_mod == is_mod && known.divisor == divisor && known.dividend == dividend) break;
    ++id;
  }
  if (id == kMaxVariables + static_cast<int>(divisions_.size())) {
    const VariableSet variables = VariablesOf(dividend);
    divisions_.push_back({is_mod, std::move(dividend), divisor, variables});
    division_ranges_.push_back(RangeOfDivision(divisions_.back()));
  }
  Form form;
  form.terms.push_back({id, 1});
  return form;
}

Form FormAlgebra::Divide(const Form& form, int64_t divisor, bool is_mod) {
  if (divisor < 1 || divisor > kLimit / 2) {
    ok_ = false;
    return Form();
  }
  // Multiples of the divisor leave the dividend.
  Form quotient = Constant(FloorDiv(form.constant, divisor));
  Form rest = Constant(FloorMod(form.constant, divisor));
  for (const auto& [id, coefficient] : form.terms) {
    const int64_t multiple = coefficient / divisor;
    if (multiple != 0) quotient.terms.push_back({id, multiple});
    if (coefficient % divisor != 0) rest.terms.push_back({id, coefficient % divisor});
  }
  const ValueRange values = RangeOf(rest);
  const int64_t first = FloorDiv(values.lower, divisor);
  if (first == FloorDiv(values.upper, divisor)) {
    return is_mod ? Add(rest, Constant(divisor), -first) : Add(quotient, Constant(first));
  }
  Form division = MakeDivision(is_mod, std::move(rest), divisor);
  return is_mod ? division : Add(quotient, division);
}

Form FormAlgebra::FromExpr(mlir::AffineExpr expr, llvm::ArrayRef<Form> dims) {
  Form sum;
  // Sums nest to the left.
  while (true) {
    mlir::AffineExpr term = expr;
    const bool is_sum = expr.getKind() == AffineExprKind::Add;
    if (is_sum) {
      term = cast<mlir::AffineBinaryOpExpr>(expr).getRHS();
      expr = cast<mlir::AffineBinaryOpExpr>(expr).getLHS();
    }
    switch (term.getKind()) {
      case AffineExprKind::Constant:
        AddConstant(&sum, cast<mlir::AffineConstantExpr>(term).getValue());
        break;
      case AffineExprKind::DimId:
        sum = Add(sum, dims[cast<mlir::AffineDimExpr>(term).getPosition()]);
        break;
      default: {
        const auto binary = cast<mlir::AffineBinaryOpExpr>(term);
        const auto rhs = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getRHS());
        const Form lhs = FromExpr(binary.getLHS(), dims);
        if (term.getKind() == AffineExprKind::Add) {
          sum = Add(sum, Add(lhs, FromExpr(binary.getRHS(), dims)));
        } else if (!rhs) {
          ok_ = false;  // No map that verifies has it.
        } else if (term.getKind() == AffineExprKind::Mul) {
          sum = Add(sum, lhs, rhs.getValue());
        } else if (term.getKind() == AffineExprKind::CeilDiv) {
          sum = Add(sum, Divide(Add(Form(), lhs, -1), rhs.getValue(), /*is_mod=*/false), -1);
        } else {
          sum = Add(sum, Divide(lhs, rhs.getValue(), term.getKind() == AffineExprKind::Mod));
        }
      }
    }
    if (!is_sum) break;
  }
  return sum;
}

llvm::SmallVector<bool, 16> FormAlgebra::DivisionsIn(llvm::ArrayRef<const Form*> forms) const {
  llvm::SmallVector<bool, 16> used(divisions_.size(), false);
  const auto use = [&](const Form& form) {
    for (const FormTerm& term : form.terms) {
      if (term.id >= kMaxVariables) used[term.id - kMaxVariables] = true;
    }
  };
  for (const Form* form : forms) use(*form);
  for (size_t i = divisions_.size(); i-- > 0;) {
    if (used[i]) use(divisions_[i].dividend);
  }
  return used;
}

void FormAlgebra::KeepOnly(llvm::ArrayRef<Form*> forms) {
  const llvm::SmallVector<bool, 16> used =
      DivisionsIn(llvm::SmallVector<const Form*, 8>(forms.begin(), forms.end()));
  llvm::SmallVector<int, 16> new_index(divisions_.size(), -1);
  const auto renumber = [&](Form* form) {
    for (FormTerm& term : form->terms) {
      if (term.id >= kMaxVariables) term.id = kMaxVariables + new_index[term.id - kMaxVariables];
    }
  };
  int kept = 0;
  for (size_t i = 0; i < divisions_.size(); ++i) {
    if (!used[i]) continue;
    renumber(&divisions_[i].dividend);
    new_index[i] = kept;
    division_ranges_[kept] = division_ranges_[i];
    if (kept != static_cast<int>(i)) divisions_[kept] = std::move(divisions_[i]);
    ++kept;
  }
  divisions_.truncate(kept);
  division_ranges_.truncate(kept);
  for (Form* form : forms) renumber(form);
}

std::optional<Shift> FormAlgebra::ShiftOf(const Form& form, int variable) const {
  const VariableSet bit = VariableSet{1} << variable;
  // The shifts of the divisions that have the variable; a division comes before those it is part
  // of.
  llvm::SmallVector<Shift, 8> shifts(divisions_.size());
  const auto of_form = [&](const Form& f) -> std::optional<Shift> {
    std::optional<Shift> sum = Shift{};
    for (const FormTerm& term : f.terms) {
      Shift shift{1, term.id == variable ? 1 : 0};
      if (term.id >= kMaxVariables) shift = shifts[term.id - kMaxVariables];
      sum = sum->Plus(shift, term.coefficient);
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
    const std::optional<Shift> shift = dividend->Divided(division.divisor, division.is_mod);
    if (!shift) return std::nullopt;
    shifts[i] = *shift;
  }
  return of_form(form);
}

}  // namespace xla_indexing::internal

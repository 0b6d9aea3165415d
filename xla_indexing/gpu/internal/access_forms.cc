#include "xla_indexing/gpu/internal/access_forms.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/internal/checked.h"

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

bool FormAlgebra::PlusTerm(Form* form, int id, Int128 coefficient) {
  auto* it = llvm::lower_bound(form->terms, id,
                               [](const FormTerm& term, int other) { return term.id < other; });
  const bool is_there = it != form->terms.end() && it->id == id;
  if (is_there) coefficient += it->coefficient;
  if (coefficient < -kLimit || coefficient > kLimit) return false;
  const auto narrow = static_cast<int64_t>(coefficient);
  if (narrow == 0) {
    if (is_there) form->terms.erase(it);
  } else if (is_there) {
    it->coefficient = narrow;
  } else {
    form->terms.insert(it, {id, narrow});
  }
  return true;
}

Form FormAlgebra::Add(const Form& a, const Form& b, int64_t factor) {
  Form sum = a;
  AddConstant(&sum, Int128{b.constant} * factor);
  for (const FormTerm& term : b.terms) AddTerm(&sum, term.id, Int128{term.coefficient} * factor);
  JoinDigits(&sum);
  CheckRange(sum);
  return sum;
}

void FormAlgebra::JoinDigits(Form* form) {
  while (ok_ && JoinTwo(form)) {
  }
}

// Looks for k*(D mod m) and a term with k*m that goes on where it ends.
bool FormAlgebra::JoinTwo(Form* form) {
  for (const FormTerm low : form->terms) {
    if (low.id < kMaxVariables || !divisions_[low.id - kMaxVariables].is_mod) continue;
    const FormDivision& digit = divisions_[low.id - kMaxVariables];
    const int64_t m = digit.divisor;
    const auto is_quotient = [&](const FormTerm& term) {
      if (term.id < kMaxVariables) return false;
      const FormDivision& other = divisions_[term.id - kMaxVariables];
      return !other.is_mod && other.divisor == m && other.dividend == digit.dividend;
    };
    for (const FormTerm high : form->terms) {
      if (high.id < kMaxVariables || high.coefficient != Int128{low.coefficient} * m) continue;
      Form joined = digit.dividend;
      if (!is_quotient(high)) {
        // (Q + floor(D / m)) mod n goes on as well: together (m*Q + D) mod m*n.
        const FormDivision& other = divisions_[high.id - kMaxVariables];
        const auto* quotient = llvm::find_if(other.dividend.terms, is_quotient);
        const std::optional<int64_t> product = CheckedMul(m, other.divisor);
        if (!other.is_mod || quotient == other.dividend.terms.end() || quotient->coefficient != 1 ||
            !product || *product > kLimit / 2 || Magnitude(other.dividend) > kLimit / 2 / m - m) {
          continue;
        }
        joined.constant += m * other.dividend.constant;
        for (const FormTerm& term : other.dividend.terms) {
          if (term != *quotient) AddTerm(&joined, term.id, Int128{m} * term.coefficient);
        }
        joined = Modulo(Form(joined), *product);
      }
      AddTerm(form, low.id, -Int128{low.coefficient});
      AddTerm(form, high.id, -Int128{high.coefficient});
      AddConstant(form, Int128{joined.constant} * low.coefficient);
      for (const FormTerm& term : joined.terms) {
        AddTerm(form, term.id, Int128{term.coefficient} * low.coefficient);
      }
      return true;
    }
  }
  return false;
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

void FormAlgebra::CheckRange(const Form& form) { ok_ = ok_ && Magnitude(form) <= kLimit; }

ValueRange FormAlgebra::RangeOf(const Form& form) const {
  ValueRange result{form.constant, form.constant};
  for (const FormTerm& term : form.terms) {
    const ValueRange& values = range(term.id);
    const bool up = term.coefficient > 0;
    result.lower += term.coefficient * (up ? values.lower : values.upper);
    result.upper += term.coefficient * (up ? values.upper : values.lower);
  }
  return result;
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

FormAlgebra::Divided FormAlgebra::Divide(const Form& form, int64_t divisor, bool wants_mod) {
  Divided result;
  if (!ok_ || divisor < 1 || divisor > kLimit / 2) {
    ok_ = false;
    return result;
  }
  // Multiples of the divisor leave the dividend.
  Form rest;
  for (const FormTerm& term : form.terms) {
    const int64_t multiple = term.coefficient / divisor;
    if (multiple != 0) result.quotient.terms.push_back({term.id, multiple});
    if (term.coefficient != multiple * divisor) {
      rest.terms.push_back({term.id, term.coefficient - multiple * divisor});
    }
  }
  result.quotient.constant = FloorDiv(form.constant, divisor);
  rest.constant = FloorMod(form.constant, divisor);
  CheckRange(rest);
  if (!ok_) return result;
  const ValueRange values = RangeOf(rest);
  if (FloorDiv(values.lower, divisor) == FloorDiv(values.upper, divisor)) {
    const int64_t quotient = FloorDiv(values.lower, divisor);
    result.quotient.constant += quotient;
    result.remainder = std::move(rest);
    result.remainder.constant -= quotient * divisor;
    return result;
  }
  // The largest g that splits the dividend without a carry.
  int64_t best = 1;
  int64_t carry = 0;
  for (const FormTerm& candidate : rest.terms) {
    const int64_t g = Gcd(candidate.coefficient, divisor);
    if (g <= best) continue;
    Form low = Constant(rest.constant);
    for (const FormTerm& term : rest.terms) {
      if (term.coefficient % g != 0) low.terms.push_back(term);
    }
    const ValueRange low_values = RangeOf(low);
    if (FloorDiv(low_values.lower, g) != FloorDiv(low_values.upper, g)) continue;
    best = g;
    carry = FloorDiv(low_values.lower, g);
  }
  if (best > 1) {
    Form high = Constant(carry);
    Form low = Constant(rest.constant - carry * best);
    for (const FormTerm& term : rest.terms) {
      if (term.coefficient % best == 0) {
        high.terms.push_back({term.id, term.coefficient / best});
      } else {
        low.terms.push_back(term);
      }
    }
    const Divided of_high = Divide(high, divisor / best, wants_mod);
    if (wants_mod) {
      result.remainder = Add(low, of_high.remainder, best);
    } else {
      result.quotient = Add(result.quotient, of_high.quotient);
    }
    return result;
  }
  if (wants_mod) {
    result.remainder = MakeDivision(true, std::move(rest), divisor);
    return result;
  }
  // A quotient of a quotient.
  if (rest.constant == 0 && rest.terms.size() == 1 && rest.terms[0].coefficient == 1 &&
      rest.terms[0].id >= kMaxVariables) {
    const FormDivision& inner = divisions_[rest.terms[0].id - kMaxVariables];
    if (const auto product = CheckedMul(inner.divisor, divisor); !inner.is_mod && product) {
      result.quotient = Add(result.quotient, MakeDivision(false, Form(inner.dividend), *product));
      return result;
    }
  }
  result.quotient = Add(result.quotient, MakeDivision(false, std::move(rest), divisor));
  return result;
}

Form FormAlgebra::FloorDivide(const Form& form, int64_t divisor) {
  return Divide(form, divisor, /*wants_mod=*/false).quotient;
}

Form FormAlgebra::Modulo(const Form& form, int64_t divisor) {
  return Divide(form, divisor, /*wants_mod=*/true).remainder;
}

Form FormAlgebra::FromExpr(mlir::AffineExpr expr, llvm::ArrayRef<Form> dims,
                           llvm::ArrayRef<Form> symbols) {
  Form sum;
  // Sums nest to the left.
  while (ok_) {
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
      case AffineExprKind::SymbolId:
        sum = Add(sum, symbols[cast<mlir::AffineSymbolExpr>(term).getPosition()]);
        break;
      default: {
        const auto binary = cast<mlir::AffineBinaryOpExpr>(term);
        const Form lhs = FromExpr(binary.getLHS(), dims, symbols);
        const auto rhs = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getRHS());
        if (!rhs || term.getKind() == AffineExprKind::Add) {
          // No map that verifies has it; a sum to the right is no map's either, but means itself.
          if (term.getKind() != AffineExprKind::Add) ok_ = false;
          sum = Add(sum, Add(lhs, FromExpr(binary.getRHS(), dims, symbols)));
          break;
        }
        const int64_t value = rhs.getValue();
        if (term.getKind() == AffineExprKind::Mul) {
          sum = Add(sum, lhs, value);
        } else if (term.getKind() == AffineExprKind::FloorDiv) {
          sum = Add(sum, FloorDivide(lhs, value));
        } else if (term.getKind() == AffineExprKind::Mod) {
          sum = Add(sum, Modulo(lhs, value));
        } else {
          sum = Add(sum, FloorDivide(Add(Form(), lhs, -1), value), -1);
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
  llvm::SmallVector<int, 16> places(divisions_.size(), -1);
  const auto renumber = [&](Form* form) {
    for (FormTerm& term : form->terms) {
      if (term.id >= kMaxVariables) term.id = kMaxVariables + places[term.id - kMaxVariables];
    }
  };
  int kept = 0;
  for (size_t i = 0; i < divisions_.size(); ++i) {
    if (!used[i]) continue;
    renumber(&divisions_[i].dividend);
    places[i] = kept;
    division_ranges_[kept] = division_ranges_[i];
    if (kept != static_cast<int>(i)) divisions_[kept] = std::move(divisions_[i]);
    ++kept;
  }
  divisions_.truncate(kept);
  division_ranges_.truncate(kept);
  for (Form* form : forms) renumber(form);
}

std::optional<Shift> FormAlgebra::Combine(const Shift& a, const Shift& b, int64_t factor) {
  const std::optional<int64_t> period = CheckedMul(a.period / Gcd(a.period, b.period), b.period);
  if (!period) return std::nullopt;
  const Int128 of_b = Int128{b.change} * (*period / b.period);
  if (of_b < -kLimit || of_b > kLimit) return std::nullopt;
  const std::optional<int64_t> change =
      NarrowToInt64(Int128{a.change} * (*period / a.period) + of_b * factor);
  if (!change) return std::nullopt;
  return Shift{*period, *change};
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
  }
  return of_form(form);
}

}  // namespace xla_indexing::internal

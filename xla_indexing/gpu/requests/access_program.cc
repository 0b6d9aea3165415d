#include "xla_indexing/gpu/requests/access_program.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using Division = ExprProgram::Division;

constexpr int64_t kLimit = AccessProgram::kLimit;

// Sums and products, as near as they are in int64. Only programs that are not ok() have others.
int64_t NearSum(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? -kInt64Max : kInt64Max;
  return sum;
}
int64_t NearProduct(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) != (b < 0) ? -kInt64Max : kInt64Max;
  return product;
}

// The variables that are in each step.
struct VariablesDomain {
  llvm::SmallVectorImpl<Division>* divisions;

  static VariableSet Constant(int64_t /*value*/) { return 0; }
  static VariableSet Variable(int position) { return VariableSet{1} << position; }
  static VariableSet Add(VariableSet a, VariableSet b) { return a | b; }
  static VariableSet Multiply(VariableSet a, int64_t /*factor*/) { return a; }
  VariableSet Divide(const Division& division, VariableSet dividend) const {
    divisions->push_back(division);
    return dividend;
  }
};

// What a variable is multiplied by.
struct CoefficientDomain {
  int variable;

  static int64_t Constant(int64_t /*value*/) { return 0; }
  int64_t Variable(int position) const { return position == variable ? 1 : 0; }
  static int64_t Add(int64_t a, int64_t b) { return NearSum(a, b); }
  static int64_t Multiply(int64_t a, int64_t factor) { return NearProduct(a, factor); }
  static int64_t Divide(const Division& /*division*/, int64_t /*dividend*/) { return 0; }
};

// The ranges of steps, and the variables that are in divisions with several values.
struct StepDomain {
  using Values = AccessProgram::StepValues;
  llvm::ArrayRef<ValueRange> variables;
  llvm::ArrayRef<VariableSet> sets;

  static Values Constant(int64_t value) { return {{value, value}}; }
  Values Variable(int position) const { return {variables[position]}; }
  static Values Add(const Values& a, const Values& b) {
    return {{NearSum(a.range.lower, b.range.lower), NearSum(a.range.upper, b.range.upper)},
            a.divided | b.divided};
  }
  static Values Multiply(const Values& a, int64_t factor) {
    const int64_t at_lower = NearProduct(a.range.lower, factor);
    const int64_t at_upper = NearProduct(a.range.upper, factor);
    return {{std::min(at_lower, at_upper), std::max(at_lower, at_upper)}, a.divided};
  }
  Values Divide(const Division& division, const Values& dividend) const {
    const auto [lower, upper] = dividend.range;
    const int64_t m = division.divisor;
    const int64_t first = FloorDiv(lower, m);
    const int64_t last = FloorDiv(upper, m);
    ValueRange range{first, last};
    if (division.is_mod) {
      range =
          first != last ? ValueRange{0, m - 1} : ValueRange{lower - first * m, upper - first * m};
    }
    return {range, range.IsPoint() ? 0 : sets[division.step]};
  }
};

// What the terms add up to at most if none is less than 0; past the limit, something past it.
struct MagnitudeDomain {
  llvm::ArrayRef<ValueRange> variables;
  llvm::ArrayRef<AccessProgram::StepValues> values;

  static constexpr Int128 kTooLarge = Int128{kLimit} + 1;
  static Int128 Absolute(Int128 value) { return value < 0 ? -value : value; }
  static Int128 Constant(int64_t value) { return Absolute(value); }
  static Int128 Most(const ValueRange& range) {
    return std::max(Absolute(range.lower), Absolute(range.upper));
  }
  Int128 Variable(int position) const { return Most(variables[position]); }
  static Int128 Add(Int128 a, Int128 b) { return std::min(a + b, kTooLarge); }
  static Int128 Multiply(Int128 a, int64_t factor) {
    return std::min(a * Absolute(factor), kTooLarge);
  }
  Int128 Divide(const Division& division, Int128 /*dividend*/) const {
    return division.divisor > kLimit / 2 ? kTooLarge : Most(values[division.step].range);
  }
};

struct ShiftDomain {
  int variable;
  llvm::ArrayRef<AccessProgram::StepValues> values;

  using MaybeShift = std::optional<Shift>;
  static MaybeShift Constant(int64_t /*value*/) { return Shift{}; }
  MaybeShift Variable(int position) const { return Shift{1, position == variable ? 1 : 0}; }
  static MaybeShift Add(const MaybeShift& a, const MaybeShift& b) {
    return a && b ? a->Plus(*b, 1) : std::nullopt;
  }
  static MaybeShift Multiply(const MaybeShift& a, int64_t factor) {
    return a ? Shift{}.Plus(*a, factor) : std::nullopt;
  }
  MaybeShift Divide(const Division& division, const MaybeShift& dividend) const {
    if (values[division.step].range.IsPoint()) return Shift{};
    return dividend ? dividend->Divided(division.divisor, division.is_mod) : std::nullopt;
  }
};

// The normal forms of the expressions; none where there are too many variables, or where an
// expression is null.
llvm::SmallVector<mlir::AffineExpr, 4> NormalForms(llvm::ArrayRef<mlir::AffineExpr> exprs,
                                                   llvm::ArrayRef<ValueRange> variables) {
  if (variables.size() > AccessProgram::kMaxVariables ||
      llvm::is_contained(exprs, mlir::AffineExpr())) {
    return {};
  }
  llvm::SmallVector<Interval, 8> intervals;
  for (const auto& [lower, upper] : variables) intervals.push_back(Interval::Closed(lower, upper));
  ExprSimplifier simplifier(exprs.front().getContext(), intervals, {});
  llvm::SmallVector<mlir::AffineExpr, 4> forms;
  for (const mlir::AffineExpr expr : exprs) {
    const mlir::AffineExpr form = simplifier.ToExpr(simplifier.Evaluate(expr));
    forms.push_back(form ? form : expr);
  }
  return forms;
}

}  // namespace

AccessProgram::AccessProgram(llvm::ArrayRef<mlir::AffineExpr> exprs,
                             llvm::ArrayRef<ValueRange> variables)
    : exprs_(NormalForms(exprs, variables)), program_(exprs_), variables_(variables) {
  ok_ = exprs_.size() == exprs.size();
  if (!ok_) return;
  const auto all = [](int) { return true; };
  program_.Interpret(VariablesDomain{&divisions_}, all, &sets_);
  coefficients_.resize(variables.size());
  for (int v = 0; v < num_variables(); ++v) {
    // 0 in steps without the variable.
    const auto has_variable = [&](int step) { return (sets_[step] >> v & 1) != 0; };
    program_.Interpret(CoefficientDomain{v}, has_variable, &coefficients_[v]);
  }
  program_.Interpret(StepDomain{variables_, sets_}, all, &values_);
  llvm::SmallVector<Int128, 0> magnitudes;
  program_.Interpret(MagnitudeDomain{variables_, values_}, all, &magnitudes);
  for (const ValueRange& range : variables_) magnitudes.push_back(MagnitudeDomain::Most(range));
  ok_ = llvm::all_of(magnitudes, [](Int128 magnitude) { return magnitude <= kLimit; });
}

void AccessProgram::UpdateRanges() {
  program_.Interpret(
      StepDomain{variables_, sets_}, [&](int step) { return (sets_[step] & narrowed_) != 0; },
      &values_);
  narrowed_ = 0;
}

llvm::SmallVector<std::optional<Shift>, 0> AccessProgram::ShiftsOf(int variable) const {
  llvm::SmallVector<std::optional<Shift>, 0> shifts(program_.num_steps(), Shift{});
  program_.Interpret(
      ShiftDomain{variable, values_}, [&](int step) { return Has(step, variable); }, &shifts);
  return shifts;
}

}  // namespace xla_indexing::internal

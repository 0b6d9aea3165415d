#include "xla_indexing/ops/values/cases/value_cases.h"

#include <utility>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/expr_util.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// How often a value may have wrapped.
constexpr int64_t kMaxTurns = 4;

// `when` and one more condition; an expression stands there once.
Constraints And(Constraints when, AffineExpr expr, const Interval& interval) {
  for (Constraint& constraint : when) {
    if (constraint.expr != expr) continue;
    constraint.interval = constraint.interval.Intersect(interval);
    return when;
  }
  when.push_back({expr, interval});
  return when;
}

// Where both conditions are the same but for the interval of one expression, and the two intervals
// are one without a gap: the condition that one of the two holds.
std::optional<Constraints> EitherOf(const Constraints& a, const Constraints& b) {
  if (a.size() != b.size()) return std::nullopt;
  std::optional<size_t> other;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (other || a[i].expr != b[i].expr) return std::nullopt;
    other = i;
  }
  if (!other) return a;
  const Interval& x = a[*other].interval;
  const Interval& y = b[*other].interval;
  if (x.Add(1).Intersect(y).IsEmpty() && y.Add(1).Intersect(x).IsEmpty() &&
      x.Intersect(y).IsEmpty()) {
    return std::nullopt;
  }
  Constraints either = a;
  either[*other].interval = x.Union(y);
  if (either[*other].interval == Interval::All()) either.erase(either.begin() + *other);
  return either;
}

}  // namespace

ValueCases MergeCases(ValueCases cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (cases[i].value != cases[k].value || cases[i].floats != cases[k].floats) continue;
      std::optional<Constraints> either = EitherOf(cases[k].when, cases[i].when);
      if (!either) continue;
      cases[k].when = *std::move(either);
      cases.erase(cases.begin() + static_cast<std::ptrdiff_t>(i));
      // The larger case may be one with others.
      i = 0;
      break;
    }
  }
  return cases;
}

ValueVariables::ValueVariables(Domain domain, mlir::MLIRContext* context)
    : domain_(std::move(domain)),
      context_(context),
      first_unknown_(domain_.ranges.size() + domain_.runtimes.size()) {
  domain_.constraints.clear();
}

AffineExpr ValueVariables::SymbolOf(RuntimeVarIndexing unknown, const Interval& values) {
  const auto [known, is_new] = places_of_unknowns_.try_emplace(unknown, unknowns_.size());
  const size_t place = known->second;
  if (is_new) {
    unknowns_.push_back(std::move(unknown));
    values_of_unknowns_.push_back(values);
  } else {
    const Interval either = values_of_unknowns_[place].Union(values);
    if (std::exchange(values_of_unknowns_[place], either) != either) ranges_.clear();
  }
  return mlir::getAffineSymbolExpr(first_unknown_ + place, context_);
}

Interval ValueVariables::BoundsOf(const RuntimeVarIndexing& unknown) const {
  const Interval values = unknown.ValueRange();
  const auto known = places_of_unknowns_.find(unknown);
  if (known == places_of_unknowns_.end()) return values;
  return values.Intersect(values_of_unknowns_[known->second]);
}

bool ValueVariables::HasUnknown(AffineExpr expr) const {
  llvm::BitVector used(first_unknown_ + unknowns_.size());
  MarkSymbols(expr, &used);
  return used.find_next(static_cast<int>(first_unknown_) - 1) >= 0;
}

bool ValueVariables::MayTellApart(AffineExpr expr) const {
  if (!HasUnknown(expr)) return true;
  if (!outside_of_) return false;
  llvm::BitVector used(first_unknown_ + unknowns_.size());
  MarkSymbols(expr, &used);
  for (size_t i = 0; i < unknowns_.size(); ++i) {
    if (!used.test(first_unknown_ + i)) continue;
    if (llvm::is_contained(unknowns_[i].call_path, *outside_of_) ||
        !llvm::all_of(unknowns_[i].element,
                      [](AffineExpr index) { return ConstantIn(index).has_value(); })) {
      return false;
    }
  }
  return true;
}

Domain ValueVariables::DomainOf(AffineExpr expr, const Constraints& when) const {
  llvm::BitVector used(first_unknown_ + unknowns_.size());
  MarkSymbols(expr, &used);
  for (const Constraint& constraint : when) MarkSymbols(constraint.expr, &used);
  Domain domain = domain_;
  for (int i = static_cast<int>(first_unknown_); i <= used.find_last(); ++i) {
    const RuntimeVarIndexing& unknown = unknowns_[i - first_unknown_];
    domain.runtimes.push_back({used.test(i) ? ValuesOf(unknown) : Interval::All(), {}});
  }
  return domain;
}

AffineExpr ValueVariables::Simplified(AffineExpr expr) const {
  const IndexingMap map = DomainOf(expr, {}).MakeMap({expr}, context_);
  return ExprSimplifier(context_, map.DimBounds(), map.SymbolBounds()).Simplify(map.results()[0]);
}

Interval ValueVariables::RangeOf(AffineExpr expr, const Constraints& when) const {
  if (!expr) return Interval::All();
  if (when.empty()) {
    if (const std::optional<int64_t> value = ConstantIn(expr)) return Interval::Point(*value);
    const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr);
    if (symbol && symbol.getPosition() >= first_unknown_) {
      return ValuesOf(unknowns_[symbol.getPosition() - first_unknown_]);
    }
  }
  if (when.empty()) return RangeOfAnew(expr, when);
  Conditional key = {expr.getAsOpaquePointer(), {}};
  key.second.reserve(when.size());
  for (const auto& [condition, interval] : when) {
    key.second.emplace_back(condition.getAsOpaquePointer(), interval);
  }
  if (const auto known = ranges_.find(key); known != ranges_.end()) return known->second;
  const Interval range = RangeOfAnew(expr, when);
  ranges_.emplace(std::move(key), range);
  return range;
}

Interval ValueVariables::RangeOfAnew(AffineExpr expr, const Constraints& when) const {
  Domain domain = DomainOf(expr, when);
  for (const Constraint& constraint : when) {
    if (!domain.Constrain(constraint.expr, constraint.interval)) return Interval::All();
  }
  IndexingMap map = domain.MakeMap({expr}, context_);
  if (!map.constraints().empty()) map.Simplify({.keep_variables = true});
  if (map.IsKnownEmpty()) return Interval::Empty();
  ExprSimplifier simplifier(context_, map.DimBounds(), map.SymbolBounds());
  Interval range = simplifier.Range(map.results()[0]);
  // What is said of e holds of e + c and c - e, however they are simplified. Where nothing is left, `when` never
  // holds, and the range is as good as any.
  for (const Constraint& constraint : when) {
    Interval said = Interval::All();
    if (const auto more = ConstantIn(Sub(expr, constraint.expr))) {
      said = constraint.interval.Add(*more);
    } else if (const auto sum = ConstantIn(Add(expr, constraint.expr))) {
      said = constraint.interval.Neg().Add(*sum);
    }
    const Interval both = range.Intersect(said);
    if (!both.IsEmpty()) range = both;
  }
  return range;
}

std::optional<ValueCases> ValueVariables::Split(AffineExpr expr, int64_t bound, AffineExpr low,
                                                AffineExpr high, const Constraints& when) const {
  if (!expr || !low || !high) return std::nullopt;
  const Interval range = RangeOf(expr, when);
  if (range.IsSubsetOf(Interval::AtMost(bound))) return ValueCases{{when, low}};
  const Interval above =
      Interval::AtMost(bound).IsEmpty() ? Interval::All() : Interval::AtLeast(bound).Add(1);
  if (range.IsSubsetOf(above)) return ValueCases{{when, high}};
  if (!MayTellApart(expr)) return std::nullopt;
  return ValueCases{{And(when, expr, Interval::AtMost(bound)), low},
                    {And(when, expr, above), high}};
}

std::optional<ValueCases> ValueVariables::Fitting(AffineExpr value, ElementType type,
                                                  const Constraints& when) const {
  if (!value || !HoldsIntegers(type)) return std::nullopt;
  // A sum of values of u64 may pass 2^64 where it passes 2^63, the end of what can be distinguished.
  const Interval fitting =
      ValuesOfElementType(type).Intersect(Interval::Closed(kInt64Min, kInt64Max));
  if (!RangeOf(value, when).IsSubsetOf(fitting)) return std::nullopt;
  return ValueCases{{when, value}};
}

std::optional<ValueCases> ValueVariables::Wrapping(AffineExpr value, ElementType type,
                                                   const Constraints& when) const {
  if (std::optional<ValueCases> fits = Fitting(value, type, when)) return fits;
  if (!value || !IsIntegral(type) || !HasUnknown(value) || !MayTellApart(value)) {
    return std::nullopt;
  }
  const Interval values = ValuesOfElementType(type);
  const std::optional<int64_t> period = values.Size();
  if (!period) return std::nullopt;
  const Interval from_lowest = RangeOf(value, when).Sub(values.lower());
  if (!from_lowest.IsFinite() || from_lowest.IsEmpty()) return std::nullopt;
  const int64_t first = FloorDiv(from_lowest.lower(), *period);
  const int64_t last = FloorDiv(from_lowest.upper(), *period);
  if (last - first >= kMaxTurns) return std::nullopt;
  ValueCases cases;
  for (int64_t turn = first; turn <= last; ++turn) {
    const std::optional<int64_t> turned = CheckedMul(turn, *period);
    if (!turned) return std::nullopt;
    const AffineExpr wrapped = Sub(value, Constant(*turned, context_));
    if (!wrapped) return std::nullopt;
    cases.push_back({And(when, value, values.Add(*turned)), wrapped});
  }
  return cases;
}

}  // namespace xla_indexing::internal

#include "xla_indexing/query/utilization/determined_variables.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/count/count_points.h"
#include "xla_indexing/map/expr/components.h"
#include "xla_indexing/map/expr/expr_util.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::SmallBitVector;
using ::mlir::AffineExpr;

Int128 AbsoluteValue(int64_t coefficient) {
  return coefficient < 0 ? -Int128{coefficient} : Int128{coefficient};
}

// Whether there are fewer of the one than of the other.
bool IsLess(const Interval& count, const Interval& other) {
  if (!count.has_upper()) return false;
  return !other.has_upper() || count.upper() < other.upper();
}

}  // namespace

DeterminedVariables::DeterminedVariables(const IndexingMap& map,
                                         std::vector<SmallBitVector> read_at)
    : map_(map), read_at_(std::move(read_at)) {
  for (const Constraint& constraint : map.constraints()) {
    LinearSum sum = LinearSum::FromExpr(constraint.expr);
    if (sum.valid() && constraint.interval.IsFinite() && !constraint.interval.IsEmpty()) {
      constraints_.push_back({std::move(sum), constraint.interval});
    }
  }
}

bool DeterminedVariables::IsKnown(int variable, const SmallBitVector& known) const {
  const auto count = static_cast<int>(known.size());
  if (variable < count) return known.test(variable);
  SmallBitVector missing = read_at_[variable - count];
  return missing.reset(known).none();
}

DeterminedVariables::UnknownTerms DeterminedVariables::TermsToDetermine(
    const LinearSum& sum, const SmallBitVector& known, const SmallBitVector& among) const {
  UnknownTerms terms;
  for (const Term& term : sum.terms()) {
    const llvm::SmallVector<int, 4> variables = VariablesOf(term.atom, map_.num_dims());
    if (llvm::all_of(variables, [&](int variable) { return IsKnown(variable, known); })) continue;
    const bool is_wanted = IsVariable(term.atom) && variables[0] < static_cast<int>(among.size()) &&
                           among.test(variables[0]);
    if (!is_wanted) return {};
    terms.push_back({variables[0], term.coefficient});
  }
  llvm::sort(terms, [](const UnknownTerm& a, const UnknownTerm& b) {
    return AbsoluteValue(a.coefficient) < AbsoluteValue(b.coefficient);
  });
  Int128 reached = 0;
  for (const UnknownTerm& term : terms) {
    const std::optional<int64_t> size = BoundsOf(map_, term.variable).Size();
    if (AbsoluteValue(term.coefficient) <= reached || !size) return {};
    reached += AbsoluteValue(term.coefficient) * (*size > 0 ? *size - 1 : 0);
    if (reached > kInt64Max) return {};
  }
  return terms;
}

Interval DeterminedVariables::ValuesOf(const UnknownTerms& terms) const {
  Interval values = Interval::Point(1);
  for (const UnknownTerm& term : terms) values = values.Mul(CountOf(BoundsOf(map_, term.variable)));
  return values;
}

Interval DeterminedVariables::MostValuesOf(const SmallBitVector& wanted) const {
  SmallBitVector known(wanted.size());
  Interval most = Interval::Point(1);
  while (true) {
    SmallBitVector left = wanted;
    left.reset(known);
    if (left.none()) return most;
    UnknownTerms next;
    Interval next_values = Interval::All();
    for (const auto& [sum, interval] : constraints_) {
      const UnknownTerms terms = TermsToDetermine(sum, known, wanted);
      if (terms.empty()) continue;
      int64_t gcd = terms[0].coefficient;
      for (const UnknownTerm& term : terms) gcd = Gcd(gcd, term.coefficient);
      const Interval values =
          CountOf((Int128{interval.upper()} - interval.lower()) / AbsoluteValue(gcd) + 1);
      if (IsLess(values, ValuesOf(terms)) && IsLess(values, next_values)) {
        next = terms;
        next_values = values;
      }
    }
    if (next.empty()) {
      // The variable that nothing else can determine, or else the one of the fewest values.
      bool next_waits = true;
      for (const unsigned variable : left.set_bits()) {
        const auto number = static_cast<int>(variable);
        const Interval values = CountOf(BoundsOf(map_, number));
        const bool waits = llvm::any_of(constraints_, [&](const BoundedSum& bounded) {
          return llvm::any_of(bounded.sum.terms(), [&](const Term& term) {
            return IsVariable(term.atom) && VariablesOf(term.atom, map_.num_dims())[0] == number &&
                   IsLess(CountOf(bounded.interval), values);
          });
        });
        if (next.empty() || (next_waits && !waits) ||
            (next_waits == waits && IsLess(values, next_values))) {
          next = {{number, 1}};
          next_values = values;
          next_waits = waits;
        }
      }
    }
    most = most.Mul(next_values);
    for (const UnknownTerm& term : next) known.set(term.variable);
  }
}

Interval DeterminedVariables::MostValues(bool with_dims) const {
  const int count = map_.num_dims() + map_.num_ranges();
  SmallBitVector wanted(count);
  if (with_dims) wanted.set(0, map_.num_dims());
  for (const AffineExpr result : map_.results()) {
    for (const int variable : VariablesOf(result, map_.num_dims())) {
      if (variable < count) {
        wanted.set(variable);
      } else {
        wanted |= read_at_[variable - count];
      }
    }
  }
  // Where other variables have their values as well, there are more, but more constraints hold.
  return CountUpTo(MostValuesOf(wanted))
      .Intersect(CountUpTo(MostValuesOf(SmallBitVector(count, true))));
}

bool DeterminedVariables::ResultsDetermine(SmallBitVector given,
                                           const SmallBitVector& wanted) const {
  std::vector<LinearSum> sums;
  for (const AffineExpr result : map_.results()) sums.push_back(LinearSum::FromExpr(result));
  for (const BoundedSum& bounded : constraints_) {
    if (bounded.interval.IsPoint()) sums.push_back(bounded.sum);
  }
  const SmallBitVector all(static_cast<unsigned>(given.size()), true);
  bool is_more_known = true;
  while (is_more_known) {
    is_more_known = false;
    for (const LinearSum& sum : sums) {
      if (!sum.valid()) continue;
      for (const UnknownTerm& term : TermsToDetermine(sum, given, all)) {
        given.set(term.variable);
        is_more_known = true;
      }
    }
  }
  SmallBitVector missing = wanted;
  return missing.reset(given).none();
}

}  // namespace xla_indexing::internal

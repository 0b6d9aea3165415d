#include "xla_indexing/ops/unions/range_choices.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

namespace {

// A map with its device as a result like any other, and the reader as a dimension.
struct WithDevice {
  explicit WithDevice(const OperandIndexing& indexing)
      : results(indexing.map().results()),
        constraints(indexing.map().constraints()),
        dims(indexing.map().DimBounds()) {
    const ReplicaMap* devices = indexing.replica_map();
    if (devices == nullptr) return;
    results.push_back(devices->device);
    constraints.append(devices->constraints.begin(), devices->constraints.end());
    dims.push_back(devices->readers);
  }

  llvm::SmallVector<AffineExpr, 8> results;
  Constraints constraints;
  llvm::SmallVector<Interval, 4> dims;
};

// Choices of the range variables of one map, a, as expressions of the variables of another, b, by
// which the results of a, and what its runtime variables are bound to, are those of b.
class RangeChoices {
 public:
  // The ranges of a are numbered behind the symbols of b, and its runtime variables are these symbols
  // of b.
  RangeChoices(const IndexingMap& a, const IndexingMap& b, llvm::ArrayRef<unsigned> runtimes)
      : first_(b.num_symbols()), chosen_(first_ + a.num_ranges()) {
    for (int i = 0; i < a.num_ranges(); ++i) {
      renumbered_.push_back(mlir::getAffineSymbolExpr(first_ + i, a.context()));
    }
    for (const unsigned symbol : runtimes) {
      renumbered_.push_back(mlir::getAffineSymbolExpr(symbol, a.context()));
    }
    // Where a dimension of b has one value, b may be written with that value.
    for (const Variable& dim : b.dims()) {
      points_.push_back(dim.bounds.IsPoint() ? Constant(dim.bounds.lower(), a.context())
                                             : AffineExpr());
    }
  }

  // An expression of a for what is chosen so far.
  AffineExpr Chosen(AffineExpr expr) const {
    return Substitute(Substitute(expr, {}, renumbered_), {}, chosen_);
  }
  // Whether an expression of chosen ranges has others.
  bool HasOpen(AffineExpr expr) const {
    llvm::BitVector used(chosen_.size());
    if (expr) MarkSymbols(expr, &used);
    return used.find_next(first_ - 1) >= 0;
  }
  // Null where none was chosen.
  AffineExpr OfRange(int range) const { return chosen_[first_ + range]; }

  // Whether the result of a is that of b, perhaps by choosing one more range, whose coefficient
  // divides all others.
  bool MakeEqual(AffineExpr of_a, AffineExpr of_b) {
    const AffineExpr missing = Substitute(Sub(of_b, Chosen(of_a)), points_, {});
    if (!missing) return false;
    if (ConstantIn(missing) == 0) return true;
    const LinearSum sum = LinearSum::FromExpr(missing);
    if (!sum.valid()) return false;
    for (const Term& term : sum.terms()) {
      const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom);
      if (!symbol || static_cast<int>(symbol.getPosition()) < first_) continue;
      // missing = coefficient * s + rest is 0 for s = -rest / coefficient.
      const AffineExpr quotient = MinusRestDividedBy(sum, term);
      if (!quotient) continue;
      if (HasOpen(quotient)) return false;
      chosen_[symbol.getPosition()] = quotient;
      return true;
    }
    return false;
  }

 private:
  // What the other terms add up to, divided by the negated coefficient of `by`; null where that does
  // not divide them.
  AffineExpr MinusRestDividedBy(const LinearSum& sum, const Term& by) const {
    const auto divided = [&](int64_t number) -> std::optional<int64_t> {
      // Negated first, so that the quotient of the least number fits.
      const std::optional<int64_t> negated = CheckedSub(0, number);
      if (!negated || by.coefficient == -1) return negated ? std::optional(number) : std::nullopt;
      if (*negated % by.coefficient != 0) return std::nullopt;
      return *negated / by.coefficient;
    };
    const std::optional<int64_t> constant = divided(sum.constant());
    if (!constant) return {};
    AffineExpr quotient = Constant(*constant, by.atom.getContext());
    for (const Term& term : sum.terms()) {
      if (term.atom == by.atom) continue;
      const std::optional<int64_t> coefficient = divided(term.coefficient);
      if (!coefficient) return {};
      quotient = Add(quotient, Scale(term.atom, *coefficient));
    }
    return quotient;
  }

  const int first_;
  llvm::SmallVector<AffineExpr, 4> points_;
  llvm::SmallVector<AffineExpr, 8> renumbered_;
  llvm::SmallVector<AffineExpr, 8> chosen_;
};

// The values of an expression, as far as ranges and constraints on it alone, shifted or turned round,
// say.
Interval KnownValuesOf(AffineExpr expr, llvm::ArrayRef<Constraint> constraints,
                       ExprSimplifier* simplifier) {
  if (expr) expr = simplifier->Simplify(expr);
  if (!expr) return Interval::All();
  Interval values = simplifier->Range(expr);
  for (const Constraint& constraint : constraints) {
    for (const int64_t sign : {1, -1}) {
      const auto shift = ConstantIn(Sub(expr, Scale(constraint.expr, sign)));
      if (shift) values = values.Intersect(constraint.interval.Mul(sign).Add(*shift));
    }
  }
  return values;
}

// The intervals of dimensions, of ranges, of runtime variables, and of constraints, in this order.
using Intervals = llvm::SmallVector<Interval, 8>;

Intervals IntervalsOf(const IndexingMap& map) {
  Intervals intervals;
  for (const Variable& variable : map.dims()) intervals.push_back(variable.bounds);
  for (const Variable& variable : map.ranges()) intervals.push_back(variable.bounds);
  for (const Variable& variable : map.runtimes()) intervals.push_back(variable.bounds);
  for (const Constraint& constraint : map.constraints()) intervals.push_back(constraint.interval);
  return intervals;
}

OperandIndexing WithIntervals(const OperandIndexing& indexing, const Intervals& intervals) {
  const IndexingMap& map = indexing.map();
  Variables dims(map.dims());
  Variables ranges(map.ranges());
  Variables runtimes(map.runtimes());
  Constraints constraints(map.constraints());
  const Interval* next = intervals.begin();
  for (Variable& variable : dims) variable.bounds = *next++;
  for (Variable& variable : ranges) variable.bounds = *next++;
  for (Variable& variable : runtimes) variable.bounds = *next++;
  for (Constraint& constraint : constraints) constraint.interval = *next++;
  OperandIndexing result(
      kPartsFit,
      IndexingMap(kPartsFit, map.affine_map(), std::move(dims), std::move(ranges),
                  std::move(runtimes), std::move(constraints)),
      RuntimeVarIndexings(indexing.bindings().begin(), indexing.bindings().end()),
      indexing.label());
  result.Simplify();
  return result;
}

// What `whole` has and `part` has not, where that is one interval.
std::optional<Interval> OneSideOf(const Interval& whole, const Interval& part) {
  if (part.IsEmpty() || whole == part) return std::nullopt;
  const bool same_lower =
      part.has_lower() == whole.has_lower() && (!part.has_lower() || part.lower() == whole.lower());
  const bool same_upper =
      part.has_upper() == whole.has_upper() && (!part.has_upper() || part.upper() == whole.upper());
  if (same_lower == same_upper) return std::nullopt;
  return whole.Intersect(same_lower ? Interval::AtLeast(part.upper()).Add(1)
                                    : Interval::AtMost(part.lower()).Sub(1));
}

// Whether maps have the same results, of dimensions only, and every point of the domain of `a` is one
// of that of `b`: what b asks for cannot fail in a.
bool IsWithin(const OperandIndexing& a, const OperandIndexing& b) {
  const IndexingMap& map = b.map();
  if (a.map().affine_map() != map.affine_map() || map.num_symbols() > 0) return false;
  const auto cannot_be = [&](AffineExpr expr, const Interval& values) {
    if (values.IsEmpty()) return true;
    OperandIndexing outside = a;
    if (!outside.AddConstraint(expr, values).ok()) return false;
    outside.Simplify();
    return outside.IsKnownEmpty();
  };
  const auto cannot_leave = [&](AffineExpr expr, const Interval& values) {
    if (values.IsEmpty()) return false;
    return (!values.has_lower() || cannot_be(expr, Interval::AtMost(values.lower()).Sub(1))) &&
           (!values.has_upper() || cannot_be(expr, Interval::AtLeast(values.upper()).Add(1)));
  };
  for (int i = 0; i < map.num_dims(); ++i) {
    const Interval& values = map.dims()[i].bounds;
    if (!a.map().dims()[i].bounds.IsSubsetOf(values) &&
        !cannot_leave(mlir::getAffineDimExpr(i, map.context()), values)) {
      return false;
    }
  }
  return llvm::all_of(map.constraints(), [&](const Constraint& constraint) {
    return cannot_leave(constraint.expr, constraint.interval);
  });
}

// Whether the runtime variables of two maps are read from the same elements, wherever in the maps.
bool ReadTheSameValues(const OperandIndexing& a, const OperandIndexing& b) {
  return a.bindings() == b.bindings() &&
         llvm::all_of(a.bindings(), [&](const RuntimeVarIndexing& binding) {
           return !binding.device && llvm::all_of(binding.element, [](AffineExpr index) {
             return ConstantIn(index).has_value();
           });
         });
}

// Whether every pair of `b` is one of `a`, as far as choices of a's range variables show, where each
// runtime variable of a is that one of b. What a asks for has to hold for them.
bool CoversWith(const OperandIndexing& a, const OperandIndexing& b,
                llvm::ArrayRef<unsigned> runtimes) {
  const IndexingMap& map_a = a.map();
  const IndexingMap& map_b = b.map();
  const WithDevice all_a(a);
  const WithDevice all_b(b);
  RangeChoices choices(map_a, map_b, runtimes);
  std::vector<std::pair<AffineExpr, AffineExpr>> equations;
  for (size_t i = 0; i < runtimes.size(); ++i) {
    const auto& of_b = b.bindings()[runtimes[i] - map_b.num_ranges()].element;
    for (const auto [x, y] : llvm::zip_equal(a.bindings()[i].element, of_b)) {
      equations.emplace_back(x, y);
    }
  }
  for (const auto [x, y] : llvm::zip_equal(all_a.results, all_b.results)) {
    equations.emplace_back(x, y);
  }
  // One with several ranges that are not chosen yet waits until others are.
  for (size_t open = equations.size(); open > 0;) {
    std::erase_if(equations,
                  [&](const auto& each) { return choices.MakeEqual(each.first, each.second); });
    if (equations.size() == open) return false;
    open = equations.size();
  }
  for (size_t i = 0; i < runtimes.size(); ++i) {
    if (!map_b.SymbolBounds()[runtimes[i]].IsSubsetOf(map_a.runtimes()[i].bounds)) return false;
  }
  ExprSimplifier simplifier(map_b.context(), all_b.dims, map_b.SymbolBounds());
  const auto is_known_to_be_in = [&](AffineExpr expr, const Interval& interval) {
    return KnownValuesOf(expr, all_b.constraints, &simplifier).IsSubsetOf(interval);
  };
  for (int i = 0; i < map_a.num_ranges(); ++i) {
    // One in no result would have to be chosen as well.
    if (!choices.OfRange(i)) return false;
    if (!is_known_to_be_in(choices.OfRange(i), map_a.ranges()[i].bounds)) return false;
  }
  return llvm::all_of(all_a.constraints, [&](const Constraint& constraint) {
    return is_known_to_be_in(choices.Chosen(constraint.expr), constraint.interval);
  });
}

// How many ways are tried in which the runtime variables of one map can be those of another.
constexpr int kMaxMatches = 16;

}  // namespace

bool Covers(const OperandIndexing& a, const OperandIndexing& b) {
  if (IsOff(Engine::kCovers)) return false;
  if (a.IsUnknown() || b.IsUnknown() ||
      (a.replica_map() == nullptr) != (b.replica_map() == nullptr)) {
    return false;
  }
  const IndexingMap& map_a = a.map();
  const IndexingMap& map_b = b.map();
  if (map_a.num_results() != map_b.num_results()) return false;
  for (const auto [of_a, of_b] : llvm::zip_equal(WithDevice(a).dims, WithDevice(b).dims)) {
    if (!of_b.IsSubsetOf(of_a)) return false;
  }
  // The runtime variables of b that read the same array as each one of a.
  std::vector<llvm::SmallVector<unsigned, 2>> same(map_a.num_runtimes());
  for (int i = 0; i < map_a.num_runtimes(); ++i) {
    const RuntimeVarIndexing& of_a = a.bindings()[i];
    for (int k = 0; k < map_b.num_runtimes(); ++k) {
      const RuntimeVarIndexing& of_b = b.bindings()[k];
      if (CompareSources(of_a, of_b) == 0 && of_a.value == of_b.value && !of_a.device &&
          !of_b.device) {
        same[i].push_back(static_cast<unsigned>(map_b.num_ranges() + k));
      }
    }
    if (same[i].empty()) return false;
  }
  llvm::SmallVector<size_t, 4> choice(same.size(), 0);
  for (int tried = 0; tried < kMaxMatches; ++tried) {
    llvm::SmallVector<unsigned, 4> runtimes;
    for (size_t i = 0; i < same.size(); ++i) runtimes.push_back(same[i][choice[i]]);
    if (CoversWith(a, b, runtimes)) return true;
    size_t next = 0;
    while (next < same.size() && ++choice[next] == same[next].size()) choice[next++] = 0;
    if (next == same.size()) return false;
  }
  return false;
}

bool MayHaveValue(const IndexingMap& a, AffineExpr expr, int64_t value, const IndexingMap& b) {
  if (a.num_runtimes() > 0) return true;
  RangeChoices choices(a, b, {});
  for (const auto [of_a, of_b] : llvm::zip_equal(a.results(), b.results())) {
    if (!choices.MakeEqual(of_a, of_b)) return false;
  }
  const auto constant_in = [](AffineExpr chosen) {
    return chosen ? ConstantIn(chosen) : std::nullopt;
  };
  for (int i = 0; i < a.num_ranges(); ++i) {
    const std::optional<int64_t> chosen = constant_in(choices.OfRange(i));
    if (chosen && !a.ranges()[i].bounds.Contains(*chosen)) return false;
  }
  const AffineExpr chosen = choices.Chosen(expr);
  const std::optional<int64_t> constant = constant_in(chosen);
  // A range variable that is in no result may have any value.
  return constant ? *constant == value : choices.HasOpen(chosen);
}

std::optional<OperandIndexing> JoinedAlongOne(const OperandIndexing& a, const OperandIndexing& b) {
  if (a.replica_map() != nullptr || b.replica_map() != nullptr || !ReadTheSameValues(a, b)) {
    return std::nullopt;
  }
  const IndexingMap& map_a = a.map();
  const IndexingMap& map_b = b.map();
  llvm::SmallVector<unsigned, 4> runtimes;
  for (int i = 0; i < map_b.num_runtimes(); ++i) runtimes.push_back(map_b.num_ranges() + i);
  RangeChoices choices(map_a, map_b, runtimes);
  for (const auto [of_a, of_b] : llvm::zip_equal(map_a.results(), map_b.results())) {
    if (!choices.MakeEqual(of_a, of_b)) return std::nullopt;
  }
  const Intervals of_a = IntervalsOf(map_a);
  Intervals joined = of_a;
  Interval* next = joined.begin();
  const auto add = [&](const Interval& interval) {
    *next = next->Union(interval);
    ++next;
  };
  ExprSimplifier simplifier(map_b.context(), map_b.DimBounds(), map_b.SymbolBounds());
  for (const Variable& dim : map_b.dims()) add(dim.bounds);
  for (int i = 0; i < map_a.num_ranges(); ++i) {
    if (!choices.OfRange(i)) return std::nullopt;
    add(KnownValuesOf(choices.OfRange(i), map_b.constraints(), &simplifier));
  }
  for (const Variable& runtime : map_b.runtimes()) add(runtime.bounds);
  for (const Constraint& constraint : map_a.constraints()) {
    add(KnownValuesOf(choices.Chosen(constraint.expr), map_b.constraints(), &simplifier));
  }
  for (size_t i = 0; i < joined.size(); ++i) {
    const std::optional<Interval> added = OneSideOf(joined[i], of_a[i]);
    if (!added) continue;
    Intervals part = joined;
    part[i] = *added;
    const OperandIndexing beyond = WithIntervals(a, part);
    if (!OperandIndexing::IdenticalRelation(beyond, b) && !IsWithin(beyond, b)) continue;
    part[i] = of_a[i];
    const OperandIndexing before = WithIntervals(a, part);
    if (OperandIndexing::IdenticalRelation(before, a) || IsWithin(before, a)) {
      return WithIntervals(a, joined);
    }
  }
  return std::nullopt;
}

}  // namespace xla_indexing::internal

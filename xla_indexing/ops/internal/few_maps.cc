#include "xla_indexing/ops/internal/few_maps.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/internal/expr_util.h"
#include "xla_indexing/ops/internal/leaf_relation.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

namespace {

constexpr int64_t kMaxFactor = int64_t{1} << 31;

// `map` with a number in the place of a range variable.
Renaming WithRangeAt(const IndexingMap& map, int range, int64_t value) {
  Renaming renaming;
  renaming.dims = Variables(map.dims());
  renaming.ranges = Variables(map.ranges());
  renaming.ranges[range].bounds = Interval::Point(value);
  renaming.for_symbols.resize(map.num_symbols());
  renaming.for_symbols[range] = Constant(value, map.context());
  for (int i = 0; i < map.num_runtimes(); ++i) renaming.runtimes.push_back(i);
  return renaming;
}

// Whether an expression has a symbol.
bool HasSymbol(AffineExpr expr, int symbol) {
  return expr.isFunctionOfSymbol(static_cast<unsigned>(symbol));
}

// Whether results, replica map or elements of bindings have a range variable.
bool IsInResults(const OperandIndexing& indexing, int range) {
  const auto has = [&](AffineExpr expr) { return HasSymbol(expr, range); };
  return indexing.replica_map() != nullptr || llvm::any_of(indexing.map().results(), has) ||
         llvm::any_of(indexing.bindings(), [&](const RuntimeVarIndexing& binding) {
           return llvm::any_of(binding.element, has);
         });
}

// The value that is as good as any other for every restriction on a range variable that is in no
// result, where one end of its interval is.
std::optional<int64_t> BestEnd(const OperandIndexing& indexing, int range) {
  const IndexingMap& map = indexing.map();
  if (IsInResults(indexing, range)) return std::nullopt;
  const AffineExpr symbol = mlir::getAffineSymbolExpr(range, map.context());
  ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
  bool wants_small = false;
  bool wants_large = false;
  for (const Constraint& constraint : map.constraints()) {
    if (!HasSymbol(constraint.expr, range)) continue;
    const LinearSum sum = LinearSum::FromExpr(constraint.expr);
    if (!sum.valid()) return std::nullopt;
    for (const Term& term : sum.terms()) {
      if (term.atom != symbol && HasSymbol(term.atom, range)) return std::nullopt;
    }
    const bool grows = sum.CoefficientOf(symbol) > 0;
    const Interval values = simplifier.Range(constraint.expr);
    const Interval& interval = constraint.interval;
    if (interval.IsEmpty() || values.IsEmpty()) return std::nullopt;
    if (interval.has_upper() && !values.IsSubsetOf(Interval::AtMost(interval.upper()))) {
      (grows ? wants_small : wants_large) = true;
    }
    if (interval.has_lower() && !values.IsSubsetOf(Interval::AtLeast(interval.lower()))) {
      (grows ? wants_large : wants_small) = true;
    }
  }
  const Interval& bounds = map.ranges()[range].bounds;
  if (bounds.IsEmpty() || (wants_small && wants_large)) return std::nullopt;
  if (!wants_large && bounds.has_lower()) return bounds.lower();
  if (!wants_small && bounds.has_upper()) return bounds.upper();
  return std::nullopt;
}

// The second rule.
OperandIndexing WithRangesAtBestEnds(OperandIndexing indexing) {
  for (int range = indexing.map().num_ranges(); range-- > 0;) {
    if (indexing.map().IsKnownEmpty() || range >= indexing.map().num_ranges()) continue;
    const std::optional<int64_t> value = BestEnd(indexing, range);
    if (!value) continue;
    OperandIndexing without = Renamed(indexing, WithRangeAt(indexing.map(), range, *value));
    if (without.IsUnknown()) continue;
    without.Simplify();
    indexing = std::move(without);
  }
  return indexing;
}

// The fourth rule, for the first range that it applies to.
std::optional<OperandIndexing> WithoutCountingRange(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  for (int range = 0; range < map.num_ranges(); ++range) {
    if (IsInResults(indexing, range)) continue;
    std::optional<size_t> only;
    size_t count = 0;
    for (size_t i = 0; i < map.constraints().size(); ++i) {
      if (!HasSymbol(map.constraints()[i].expr, range)) continue;
      only = i;
      ++count;
    }
    if (count != 1 || !map.constraints()[*only].interval.IsPoint()) continue;
    // rest + factor * s = value
    const Constraint& equality = map.constraints()[*only];
    const AffineExpr symbol = mlir::getAffineSymbolExpr(range, map.context());
    const LinearSum sum = LinearSum::FromExpr(equality.expr);
    if (!sum.valid()) continue;
    const int64_t factor = sum.CoefficientOf(symbol);
    const AffineExpr rest = Sub(equality.expr, Scale(symbol, factor));
    if (factor == 0 || factor < -kMaxFactor || factor > kMaxFactor || !rest ||
        HasSymbol(rest, range)) {
      continue;
    }
    const Interval& bounds = map.ranges()[range].bounds;
    const int64_t value = equality.interval.lower();
    const Interval values = bounds.Mul(-factor).Add(value);
    const AffineExpr remainder =
        Mod(Sub(rest, Constant(value, map.context())), factor < 0 ? -factor : factor);
    // Past int64 an end would be lost.
    if (!remainder || bounds.IsEmpty() || !bounds.has_lower() ||
        (!values.has_lower() || !values.has_upper()) != !bounds.has_upper()) {
      continue;
    }
    Renaming renaming = WithRangeAt(map, range, bounds.lower());
    renaming.constraints_added = {{rest, values}, {remainder, Interval::Point(0)}};
    Constraints others(map.constraints());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*only));
    OperandIndexing without(
        kPartsFit,
        IndexingMap(kPartsFit, map.affine_map(), Variables(map.dims()), Variables(map.ranges()),
                    Variables(map.runtimes()), std::move(others)),
        RuntimeVarIndexings(indexing.bindings().begin(), indexing.bindings().end()),
        indexing.label());
    without = Renamed(without, std::move(renaming));
    if (without.IsUnknown()) continue;
    without.Simplify();
    return without;
  }
  return std::nullopt;
}

// The third rule, for the first two ranges that it applies to.
std::optional<OperandIndexing> WithSumInResults(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  if (indexing.replica_map() != nullptr || !indexing.bindings().empty()) return std::nullopt;
  for (int s = 0; s < map.num_ranges(); ++s) {
    for (int t = 0; t < map.num_ranges(); ++t) {
      const AffineExpr first = mlir::getAffineSymbolExpr(s, map.context());
      const AffineExpr second = mlir::getAffineSymbolExpr(t, map.context());
      const auto is_joined = [&](AffineExpr expr) {
        if (!HasSymbol(expr, s) && !HasSymbol(expr, t)) return true;
        const LinearSum sum = LinearSum::FromExpr(expr);
        return sum.valid() && sum.CoefficientOf(first) == sum.CoefficientOf(second) &&
               llvm::all_of(sum.terms(), [&](const Term& term) {
                 return IsVariable(term.atom) ||
                        (!HasSymbol(term.atom, s) && !HasSymbol(term.atom, t));
               });
      };
      if (s == t || !IsInResults(indexing, s) || !llvm::all_of(map.results(), is_joined)) continue;
      // t is s + t from now on.
      Renaming renaming;
      renaming.dims = Variables(map.dims());
      renaming.ranges = Variables(map.ranges());
      renaming.ranges[t].bounds = map.ranges()[s].bounds.Add(map.ranges()[t].bounds);
      renaming.for_symbols.resize(map.num_symbols());
      renaming.for_symbols[t] = Sub(second, first);
      renaming.constraints_added.push_back({Sub(second, first), map.ranges()[t].bounds});
      OperandIndexing joined = Renamed(indexing, std::move(renaming));
      if (joined.IsUnknown()) continue;
      joined.Simplify();
      const int num_ranges = joined.map().num_ranges();
      joined = WithRangesAtBestEnds(std::move(joined));
      if (joined.map().num_ranges() < num_ranges && num_ranges <= map.num_ranges()) return joined;
    }
  }
  return std::nullopt;
}

}  // namespace

OperandIndexing WithSumsJoined(OperandIndexing indexing) {
  if (indexing.IsUnknown()) return indexing;
  indexing = WithRangesAtBestEnds(std::move(indexing));
  if (std::optional<OperandIndexing> without = WithoutCountingRange(indexing)) {
    return WithSumsJoined(*std::move(without));
  }
  const IndexingMap& map = indexing.map();
  if (map.num_ranges() < 2 || map.IsKnownEmpty() || indexing.replica_map() != nullptr) {
    return indexing;
  }
  if (std::optional<OperandIndexing> joined = WithSumInResults(indexing)) {
    return WithSumsJoined(*std::move(joined));
  }
  llvm::SmallVector<LinearSum, 8> sums;
  llvm::BitVector in_divisions(map.num_symbols());
  const auto add = [&](AffineExpr expr) {
    sums.push_back(LinearSum::FromExpr(expr));
    for (const Term& term : sums.back().terms()) {
      if (!IsVariable(term.atom)) MarkSymbols(term.atom, &in_divisions);
    }
  };
  llvm::for_each(map.results(), add);
  for (const Constraint& constraint : map.constraints()) add(constraint.expr);
  for (const RuntimeVarIndexing& binding : indexing.bindings()) {
    llvm::for_each(binding.element, add);
  }
  for (int s = 0; s < map.num_ranges(); ++s) {
    for (int t = s + 1; t < map.num_ranges(); ++t) {
      const AffineExpr first = mlir::getAffineSymbolExpr(s, map.context());
      const AffineExpr second = mlir::getAffineSymbolExpr(t, map.context());
      if (in_divisions.test(s) || in_divisions.test(t) ||
          !llvm::all_of(sums, [&](const LinearSum& sum) {
            return sum.valid() && sum.CoefficientOf(first) == sum.CoefficientOf(second);
          })) {
        continue;
      }
      Renaming renaming;
      renaming.dims = Variables(map.dims());
      renaming.ranges = Variables(map.ranges());
      renaming.ranges[s].bounds = map.ranges()[s].bounds.Add(map.ranges()[t].bounds);
      renaming.ranges[t].bounds = Interval::Point(0);
      for (int i = 0; i < map.num_symbols(); ++i) {
        renaming.for_symbols.push_back(i == t ? Constant(0, map.context()) : AffineExpr());
      }
      for (int i = 0; i < map.num_runtimes(); ++i) renaming.runtimes.push_back(i);
      OperandIndexing joined = Renamed(indexing, std::move(renaming));
      joined.Simplify();
      return WithSumsJoined(std::move(joined));
    }
  }
  return indexing;
}

namespace {

// Every range variable s that makes a result c + s or c - s by itself becomes that result.
OperandIndexing WithRangesAsResults(OperandIndexing indexing) {
  const IndexingMap& map = indexing.map();
  if (indexing.IsUnknown() || map.IsKnownEmpty()) return indexing;
  Renaming renaming;
  renaming.for_symbols.resize(map.num_symbols());
  renaming.ranges = Variables(map.ranges());
  bool changes = false;
  for (const AffineExpr result : map.results()) {
    const LinearSum sum = LinearSum::FromExpr(result);
    if (!sum.valid() || sum.terms().size() != 1) continue;
    const Term& term = sum.terms()[0];
    const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom);
    if (!symbol || static_cast<int>(symbol.getPosition()) >= map.num_ranges() ||
        (term.coefficient != 1 && term.coefficient != -1) ||
        renaming.for_symbols[symbol.getPosition()]) {
      continue;
    }
    // result = k * s + c, so that s = k * (result - c).
    const AffineExpr constant = Constant(sum.constant(), map.context());
    renaming.for_symbols[symbol.getPosition()] = Scale(Sub(symbol, constant), term.coefficient);
    Interval& bounds = renaming.ranges[symbol.getPosition()].bounds;
    bounds = bounds.Mul(term.coefficient).Add(sum.constant());
    changes = changes || term.coefficient != 1 || sum.constant() != 0;
  }
  if (!changes) return indexing;
  renaming.dims = Variables(map.dims());
  for (int i = 0; i < map.num_runtimes(); ++i) renaming.runtimes.push_back(i);
  OperandIndexing renamed = Renamed(indexing, std::move(renaming));
  if (renamed.IsUnknown()) return indexing;
  renamed.Simplify();
  return renamed;
}

// Whether a symbol is the number of an iteration.
bool IsIteration(AffineExpr symbol, const OperandIndexing& indexing) {
  return llvm::any_of(indexing.bindings(), [&](const RuntimeVarIndexing& binding) {
    return llvm::is_contained(
        llvm::ArrayRef(binding.element).take_front(static_cast<size_t>(binding.NumLoops())),
        symbol);
  });
}

// A range variable that is in no result and is no number of an iteration, but makes one c + s or
// c - s, with other variables in c, becomes that number.
OperandIndexing WithRangesAsIterations(OperandIndexing indexing) {
  const IndexingMap& map = indexing.map();
  if (indexing.IsUnknown() || map.IsKnownEmpty()) return indexing;
  for (const RuntimeVarIndexing& binding : indexing.bindings()) {
    for (int64_t i = 0; i < binding.NumLoops(); ++i) {
      const LinearSum sum = LinearSum::FromExpr(binding.element[i]);
      if (!sum.valid() || IsVariable(binding.element[i])) continue;
      for (const Term& term : sum.terms()) {
        const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom);
        if (!symbol || static_cast<int>(symbol.getPosition()) >= map.num_ranges() ||
            (term.coefficient != 1 && term.coefficient != -1) || IsIteration(symbol, indexing) ||
            llvm::any_of(map.results(), [&](AffineExpr result) {
              return HasSymbol(result, static_cast<int>(symbol.getPosition()));
            })) {
          continue;
        }
        const AffineExpr rest = Sub(binding.element[i], Scale(symbol, term.coefficient));
        const AffineExpr value = Scale(Sub(symbol, rest), term.coefficient);
        if (!rest || !value || HasSymbol(rest, static_cast<int>(symbol.getPosition()))) continue;
        Renaming renaming;
        renaming.dims = Variables(map.dims());
        renaming.ranges = Variables(map.ranges());
        for (int k = 0; k < map.num_runtimes(); ++k) renaming.runtimes.push_back(k);
        renaming.for_symbols.resize(map.num_symbols());
        renaming.for_symbols[symbol.getPosition()] = value;
        renaming.constraints_added.push_back({value, map.ranges()[symbol.getPosition()].bounds});
        renaming.ranges[symbol.getPosition()].bounds = Interval::AtLeast(0);
        OperandIndexing renamed = Renamed(indexing, std::move(renaming));
        if (renamed.IsUnknown()) continue;
        renamed.Simplify();
        return WithRangesAsIterations(std::move(renamed));
      }
    }
  }
  return indexing;
}

// Whether `a` can be `b` with a variable or a constraint in one point, at a glance: a dimension is
// there, or a range variable is gone, and results whose other variables are the same have the
// constants that they have then.
bool MayProlong(const IndexingMap& b, int place, int64_t point, const IndexingMap& a) {
  if (place < b.num_dims()) return a.dims()[place].bounds == Interval::Point(point);
  for (int i = 0; i < b.num_dims(); ++i) {
    if (!a.dims()[i].bounds.IsSubsetOf(b.dims()[i].bounds)) return false;
  }
  if (a.num_ranges() >= b.num_ranges()) return false;
  if (place >= b.num_dims() + b.num_ranges()) return true;
  const AffineExpr range = mlir::getAffineSymbolExpr(place - b.num_dims(), b.context());
  for (int i = 0; i < b.num_results(); ++i) {
    const LinearSum of_a = LinearSum::FromExpr(a.results()[i]);
    const LinearSum of_b = LinearSum::FromExpr(b.results()[i]);
    const auto moved = CheckedMul(of_b.CoefficientOf(range), point);
    const auto constant = moved ? CheckedAdd(of_b.constant(), *moved) : std::nullopt;
    if (!of_a.valid() || !of_b.valid() || constant != of_a.constant()) return false;
  }
  return true;
}

// How far apart the values of a dimension are that a restriction such as (d + c) mod k = 0 leaves;
// 1 where there is none.
int64_t StrideOf(const IndexingMap& map, int dim) {
  const AffineExpr atom = mlir::getAffineDimExpr(dim, map.context());
  for (const Constraint& constraint : map.constraints()) {
    const auto mod = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(constraint.expr);
    if (!mod || mod.getKind() != mlir::AffineExprKind::Mod || !constraint.interval.IsPoint()) {
      continue;
    }
    const LinearSum sum = LinearSum::FromExpr(mod.getLHS());
    const std::optional<int64_t> modulus = ConstantIn(mod.getRHS());
    if (!sum.valid() || !modulus || sum.terms().size() != 1 || sum.terms()[0].atom != atom) {
      continue;
    }
    if (std::abs(sum.terms()[0].coefficient) == 1) return *modulus;
  }
  return 1;
}

// `b` with one of its intervals longer by one, where what that adds is `a`.
std::optional<OperandIndexing> Prolonged(const OperandIndexing& b, const OperandIndexing& a) {
  const IndexingMap& map = b.map();
  const int num_dims = map.num_dims();
  const int num_variables = num_dims + map.num_ranges();
  const auto with = [&](int place, const Interval& interval) {
    Renaming renaming;
    renaming.dims = Variables(map.dims());
    renaming.ranges = Variables(map.ranges());
    for (int i = 0; i < map.num_runtimes(); ++i) renaming.runtimes.push_back(i);
    if (place < num_dims) {
      renaming.dims[place].bounds = interval;
    } else if (place < num_variables) {
      renaming.ranges[place - num_dims].bounds = interval;
    }
    IndexingMap with_interval(kPartsFit, map.affine_map(), std::move(renaming.dims),
                              std::move(renaming.ranges), Variables(map.runtimes()),
                              Constraints(map.constraints()));
    if (place >= num_variables) {
      Constraints constraints(map.constraints());
      constraints[place - num_variables].interval = interval;
      with_interval =
          IndexingMap(kPartsFit, map.affine_map(), Variables(map.dims()), Variables(map.ranges()),
                      Variables(map.runtimes()), std::move(constraints));
    }
    OperandIndexing result(kPartsFit, std::move(with_interval),
                           RuntimeVarIndexings(b.bindings().begin(), b.bindings().end()),
                           b.label());
    if (b.replica_map() != nullptr) result.SetReplicaMap(kPartsFit, *b.replica_map());
    result.Simplify();
    return result;
  };
  const int num_places = num_variables + static_cast<int>(map.constraints().size());
  for (int place = 0; place < num_places; ++place) {
    const Interval interval = place < num_dims ? map.dims()[place].bounds
                              : place < num_variables
                                  ? map.ranges()[place - num_dims].bounds
                                  : map.constraints()[place - num_variables].interval;
    for (const bool is_lower : {true, false}) {
      if (interval.IsEmpty() || !(is_lower ? interval.has_lower() : interval.has_upper())) continue;
      const int64_t stride = place < num_dims ? StrideOf(map, place) : 1;
      const Interval added = is_lower ? Interval::Point(interval.lower()).Sub(stride)
                                      : Interval::Point(interval.upper()).Add(stride);
      if (added.IsEmpty() || !added.IsPoint() || !MayProlong(map, place, added.lower(), a.map())) {
        continue;
      }
      if (!OperandIndexing::IdenticalRelation(with(place, added), a)) continue;
      return with(place, interval.Union(added));
    }
  }
  return std::nullopt;
}

// Two maps of one row each, rows beside one another, as one map of both, where their results differ
// by constants.
std::optional<OperandIndexing> RowsJoined(const OperandIndexing& a, const OperandIndexing& b) {
  const IndexingMap& first = a.map();
  const IndexingMap& second = b.map();
  std::optional<int> row;
  for (int i = 0; i < first.num_dims(); ++i) {
    const Interval& bounds = first.dims()[i].bounds;
    if (bounds == second.dims()[i].bounds) continue;
    if (row || !bounds.IsPoint() || second.dims()[i].bounds != bounds.Add(1)) return std::nullopt;
    row = i;
  }
  if (!row || first.SymbolBounds() != second.SymbolBounds() || a.bindings() != b.bindings() ||
      first.constraints() != second.constraints() || a.replica_map() != nullptr) {
    return std::nullopt;
  }
  mlir::MLIRContext* context = first.context();
  const AffineExpr dim = mlir::getAffineDimExpr(*row, context);
  const AffineExpr from_first = Sub(dim, Constant(first.dims()[*row].bounds.lower(), context));
  Renaming renaming;
  renaming.dims = Variables(first.dims());
  renaming.dims[*row].bounds = first.dims()[*row].bounds.Union(second.dims()[*row].bounds);
  renaming.ranges = Variables(first.ranges());
  for (int i = 0; i < first.num_runtimes(); ++i) renaming.runtimes.push_back(i);
  renaming.results_dropped = first.num_results();
  for (int i = 0; i < first.num_results(); ++i) {
    const auto step = ConstantIn(Sub(second.results()[i], first.results()[i]));
    if (!step) return std::nullopt;
    renaming.results_added.push_back(Add(first.results()[i], Scale(from_first, *step)));
  }
  OperandIndexing joined = Renamed(a, std::move(renaming));
  if (joined.IsUnknown()) return std::nullopt;
  joined.Simplify();
  return joined;
}

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
  // The ranges of a are numbered from `first` on, behind the symbols of b, and its runtime variables
  // are these symbols of b.
  RangeChoices(int first, int num_ranges, llvm::ArrayRef<unsigned> runtimes,
               mlir::MLIRContext* context)
      : first_(first), chosen_(first + num_ranges) {
    for (int i = 0; i < num_ranges; ++i) {
      renumbered_.push_back(mlir::getAffineSymbolExpr(first + i, context));
    }
    for (const unsigned symbol : runtimes) {
      renumbered_.push_back(mlir::getAffineSymbolExpr(symbol, context));
    }
  }

  // An expression of a for what is chosen so far.
  AffineExpr Chosen(AffineExpr expr) const {
    return Substitute(Substitute(expr, {}, renumbered_), {}, chosen_);
  }
  // Null where none was chosen.
  AffineExpr OfRange(int range) const { return chosen_[first_ + range]; }

  // Whether the result of a is that of b, perhaps by choosing one more range, which occurs with
  // coefficient 1 or -1.
  bool MakeEqual(AffineExpr of_a, AffineExpr of_b) {
    const AffineExpr missing = Sub(of_b, Chosen(of_a));
    if (!missing) return false;
    if (ConstantIn(missing) == 0) return true;
    const LinearSum sum = LinearSum::FromExpr(missing);
    if (!sum.valid()) return false;
    for (const Term& term : sum.terms()) {
      const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom);
      if (!symbol || static_cast<int>(symbol.getPosition()) < first_ ||
          (term.coefficient != 1 && term.coefficient != -1)) {
        continue;
      }
      // missing = coefficient * s + rest is 0 for s = -rest / coefficient.
      const AffineExpr rest = Sub(missing, Scale(term.atom, term.coefficient));
      llvm::BitVector used(chosen_.size());
      if (!rest) return false;
      MarkSymbols(rest, &used);
      if (used.find_next(first_ - 1) >= 0) return false;
      chosen_[symbol.getPosition()] = Scale(rest, -term.coefficient);
      return true;
    }
    return false;
  }

 private:
  const int first_;
  llvm::SmallVector<AffineExpr, 8> renumbered_;
  llvm::SmallVector<AffineExpr, 8> chosen_;
};

// Whether ranges, or one of the constraints, shifted or turned round, say that the expression is in
// the interval.
bool IsKnownToBeIn(AffineExpr expr, const Interval& interval, const Constraints& constraints,
                   ExprSimplifier* simplifier) {
  if (expr) expr = simplifier->Simplify(expr);
  if (!expr) return false;
  const Interval range = simplifier->Range(expr);
  if (range.IsSubsetOf(interval)) return true;
  for (const Constraint& constraint : constraints) {
    for (const int64_t sign : {1, -1}) {
      const auto shift = ConstantIn(Sub(expr, Scale(constraint.expr, sign)));
      if (shift &&
          constraint.interval.Mul(sign).Add(*shift).Intersect(range).IsSubsetOf(interval)) {
        return true;
      }
    }
  }
  return false;
}

// Whether every pair of `b` is one of `a`, as far as choices of a's range variables show, where each
// runtime variable of a is that one of b. What a asks for has to hold for them.
bool CoversWith(const OperandIndexing& a, const OperandIndexing& b,
                llvm::ArrayRef<unsigned> runtimes) {
  const IndexingMap& map_a = a.map();
  const IndexingMap& map_b = b.map();
  const WithDevice all_a(a);
  const WithDevice all_b(b);
  RangeChoices choices(map_b.num_symbols(), map_a.num_ranges(), runtimes, map_a.context());
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
  ExprSimplifier simplifier(map_b.context(), all_b.dims, map_b.SymbolBounds());
  for (size_t i = 0; i < runtimes.size(); ++i) {
    if (!map_b.SymbolBounds()[runtimes[i]].IsSubsetOf(map_a.runtimes()[i].bounds)) return false;
  }
  for (int i = 0; i < map_a.num_ranges(); ++i) {
    // One in no result would have to be chosen as well.
    if (!IsKnownToBeIn(choices.OfRange(i), map_a.ranges()[i].bounds, all_b.constraints,
                       &simplifier)) {
      return false;
    }
  }
  return llvm::all_of(all_a.constraints, [&](const Constraint& constraint) {
    return IsKnownToBeIn(choices.Chosen(constraint.expr), constraint.interval, all_b.constraints,
                         &simplifier);
  });
}

// How many ways are tried in which the runtime variables of one map can be those of another.
constexpr int kMaxMatches = 16;

}  // namespace

bool Covers(const OperandIndexing& a, const OperandIndexing& b) {
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

void WriteWithFewMaps(OperandIndexingSet* set) {
  set->Simplify();
  std::vector<OperandIndexing> maps;
  for (const OperandIndexing& map : *set) {
    maps.push_back(WithRangesAsIterations(WithRangesAsResults(WithSumsJoined(map))));
  }
  const auto same_kind = [](const OperandIndexing& a, const OperandIndexing& b) {
    return !a.IsUnknown() && !b.IsUnknown() && a.label() == b.label() &&
           (a.replica_map() == nullptr) == (b.replica_map() == nullptr);
  };
  // Where two maps contain each other, the exact one stays.
  const auto covers = [](const OperandIndexing& a, const OperandIndexing& b) {
    return !a.IsUnknown() && !b.IsUnknown() && Covers(a, b) &&
           (a.IsExact() || !b.IsExact() || !Covers(b, a));
  };
  const auto reduce = [&](auto absorbed) {
    for (size_t i = 0; i < maps.size(); ++i) {
      for (size_t j = 0; j < maps.size() && QuestionBudget::Spend(); ++j) {
        if (i == j || !absorbed(maps[i], maps[j])) continue;
        maps.erase(maps.begin() + static_cast<std::ptrdiff_t>(j));
        // What was compared before may be more now.
        i = 0;
        j = static_cast<size_t>(-1);
      }
    }
  };
  // What is left out changes none of the others.
  for (size_t i = 0; i < maps.size(); ++i) {
    for (size_t j = 0; j < maps.size() && QuestionBudget::Spend();) {
      if (i == j || !covers(maps[i], maps[j])) {
        ++j;
        continue;
      }
      maps.erase(maps.begin() + static_cast<std::ptrdiff_t>(j));
      if (j < i) --i;
    }
  }
  reduce([&](OperandIndexing& a, const OperandIndexing& b) {
    if (!same_kind(a, b)) return false;
    std::optional<OperandIndexing> longer = Prolonged(a, b);
    if (!longer) longer = RowsJoined(a, b);
    if (!longer) return false;
    a = *std::move(longer);
    return true;
  });
  OperandIndexingSet tidied;
  for (OperandIndexing& map : maps) tidied.Add(std::move(map));
  tidied.Simplify();
  *set = std::move(tidied);
}

}  // namespace xla_indexing::internal

#include "xla_indexing/ops/unions/few_ranges.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/leaf_relation.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

namespace {

// `map` with a number instead of a range variable.
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

llvm::SmallVector<AffineExpr, 8> RangesOf(const IndexingMap& map) {
  llvm::SmallVector<AffineExpr, 8> ranges;
  for (int i = 0; i < map.num_ranges(); ++i) {
    ranges.push_back(mlir::getAffineSymbolExpr(i, map.context()));
  }
  return ranges;
}

// The symbols that results and elements of bindings have; all where there is a replica map.
llvm::BitVector SymbolsInResults(const OperandIndexing& indexing) {
  llvm::BitVector used(indexing.map().num_symbols(), indexing.replica_map() != nullptr);
  for (const AffineExpr result : indexing.map().results()) MarkSymbols(result, &used);
  for (const RuntimeVarIndexing& binding : indexing.bindings()) {
    for (const AffineExpr index : binding.element) MarkSymbols(index, &used);
  }
  return used;
}

// The value that is as good as any other for every restriction on a range variable that is in no
// result, where one end of its interval is.
std::optional<int64_t> BestEnd(const OperandIndexing& indexing, int range) {
  const IndexingMap& map = indexing.map();
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

// Rule 2.
OperandIndexing WithRangesAtBestEnds(OperandIndexing indexing) {
  llvm::BitVector in_results = SymbolsInResults(indexing);
  for (int range = indexing.map().num_ranges(); range-- > 0;) {
    if (indexing.map().IsKnownEmpty() || range >= indexing.map().num_ranges()) continue;
    if (in_results.test(range)) continue;
    const std::optional<int64_t> value = BestEnd(indexing, range);
    if (!value) continue;
    OperandIndexing without = Renamed(indexing, WithRangeAt(indexing.map(), range, *value));
    if (without.IsUnknown()) continue;
    without.Simplify();
    indexing = std::move(without);
    in_results = SymbolsInResults(indexing);
  }
  return indexing;
}

// `indexing` without a range variable, where these constraints say what those that mention it did.
OperandIndexing WithoutRange(const OperandIndexing& indexing, int range, int64_t value,
                             Constraints constraints) {
  const IndexingMap& map = indexing.map();
  Renaming renaming = WithRangeAt(map, range, value);
  renaming.constraints_added = std::move(constraints);
  Constraints others;
  for (const Constraint& constraint : map.constraints()) {
    if (!HasSymbol(constraint.expr, range)) others.push_back(constraint);
  }
  const OperandIndexing without(
      kPartsFit,
      IndexingMap(kPartsFit, map.affine_map(), Variables(map.dims()), Variables(map.ranges()),
                  Variables(map.runtimes()), std::move(others)),
      RuntimeVarIndexings(indexing.bindings().begin(), indexing.bindings().end()),
      indexing.label());
  return Renamed(without, std::move(renaming));
}

// {x - y : x in a, y in b}; nullopt if an end is past int64.
std::optional<Interval> DifferenceOf(const Interval& a, const Interval& b) {
  const Interval difference = a.Sub(b);
  if (a.IsEmpty() || b.IsEmpty() || difference.has_lower() != (a.has_lower() && b.has_upper()) ||
      difference.has_upper() != (a.has_upper() && b.has_lower())) {
    return std::nullopt;
  }
  return difference;
}

// Rule 4, for the first range that it applies to.
std::optional<OperandIndexing> WithoutRangeBetween(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  if (indexing.replica_map() != nullptr) return std::nullopt;
  const llvm::BitVector in_results = SymbolsInResults(indexing);
  for (int range = 0; range < map.num_ranges(); ++range) {
    if (in_results.test(range)) continue;
    const AffineExpr symbol = mlir::getAffineSymbolExpr(range, map.context());
    const Interval& bounds = map.ranges()[range].bounds;
    // s + rest in an interval
    Constraints added;
    bool applies = bounds.has_lower();
    int count = 0;
    for (const Constraint& constraint : map.constraints()) {
      if (!applies) break;
      if (!HasSymbol(constraint.expr, range)) continue;
      const LinearSum sum = LinearSum::FromExpr(constraint.expr);
      const int64_t sign = sum.valid() ? sum.CoefficientOf(symbol) : 0;
      const AffineExpr rest =
          sign == 1 || sign == -1 ? Sub(Scale(constraint.expr, sign), symbol) : AffineExpr();
      applies = rest && !HasSymbol(rest, range) && ++count <= 2;
      if (applies) added.push_back({rest, constraint.interval.Mul(sign)});
    }
    if (!applies || count != 2) continue;
    const std::optional<Interval> apart = DifferenceOf(added[0].interval, added[1].interval);
    const AffineExpr difference = Sub(added[0].expr, added[1].expr);
    const std::optional<Interval> first = DifferenceOf(added[0].interval, bounds);
    const std::optional<Interval> second = DifferenceOf(added[1].interval, bounds);
    if (!apart || !difference || !first || !second) continue;
    added[0].interval = *first;
    added[1].interval = *second;
    added.push_back({difference, *apart});
    OperandIndexing without = WithoutRange(indexing, range, bounds.lower(), std::move(added));
    if (without.IsUnknown()) continue;
    without.Simplify();
    return without;
  }
  return std::nullopt;
}

// Rule 3, for the first two ranges that it applies to.
std::optional<OperandIndexing> WithSumInResults(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  if (indexing.replica_map() != nullptr || !indexing.bindings().empty()) return std::nullopt;
  const llvm::BitVector in_results = SymbolsInResults(indexing);
  const llvm::SmallVector<AffineExpr, 8> ranges = RangesOf(map);
  for (int s = 0; s < map.num_ranges(); ++s) {
    if (!in_results.test(s)) continue;
    for (int t = 0; t < map.num_ranges(); ++t) {
      const AffineExpr first = ranges[s];
      const AffineExpr second = ranges[t];
      const auto is_joined = [&](AffineExpr expr) {
        if (!HasSymbol(expr, s) && !HasSymbol(expr, t)) return true;
        const LinearSum sum = LinearSum::FromExpr(expr);
        return sum.valid() && sum.CoefficientOf(first) == sum.CoefficientOf(second) &&
               llvm::all_of(sum.terms(), [&](const Term& term) {
                 return IsVariable(term.atom) ||
                        (!HasSymbol(term.atom, s) && !HasSymbol(term.atom, t));
               });
      };
      if (s == t || !llvm::all_of(map.results(), is_joined)) continue;
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

// Rule 1, for the first two ranges that it applies to.
std::optional<OperandIndexing> WithSumAsRange(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
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
  if (const ReplicaMap* replica_map = indexing.replica_map()) {
    add(replica_map->device);
    for (const Constraint& constraint : replica_map->constraints) add(constraint.expr);
  }
  const llvm::SmallVector<AffineExpr, 8> ranges = RangesOf(map);
  for (int s = 0; s < map.num_ranges(); ++s) {
    for (int t = s + 1; t < map.num_ranges(); ++t) {
      if (in_divisions.test(s) || in_divisions.test(t)) continue;
      const auto occur_as = [&](int64_t factor) {
        return llvm::all_of(sums, [&](const LinearSum& sum) {
          return sum.valid() &&
                 sum.CoefficientOf(ranges[t]) == factor * sum.CoefficientOf(ranges[s]);
        });
      };
      const bool is_difference = occur_as(-1);
      if (!is_difference && !occur_as(1)) continue;
      const Interval& added = map.ranges()[t].bounds;
      Renaming renaming;
      renaming.dims = Variables(map.dims());
      renaming.ranges = Variables(map.ranges());
      renaming.ranges[s].bounds = map.ranges()[s].bounds.Add(is_difference ? added.Neg() : added);
      renaming.ranges[t].bounds = Interval::Point(0);
      for (int i = 0; i < map.num_symbols(); ++i) {
        renaming.for_symbols.push_back(i == t ? Constant(0, map.context()) : AffineExpr());
      }
      for (int i = 0; i < map.num_runtimes(); ++i) renaming.runtimes.push_back(i);
      OperandIndexing joined = Renamed(indexing, std::move(renaming));
      joined.Simplify();
      return joined;
    }
  }
  return std::nullopt;
}

// Whether a symbol is the number of an iteration.
bool IsIteration(AffineExpr symbol, const OperandIndexing& indexing) {
  return llvm::any_of(indexing.bindings(), [&](const RuntimeVarIndexing& binding) {
    return llvm::is_contained(
        llvm::ArrayRef(binding.element).take_front(static_cast<size_t>(binding.NumLoops())),
        symbol);
  });
}

}  // namespace

OperandIndexing WithSumsJoined(OperandIndexing indexing) {
  if (IsOff(Engine::kFewRanges)) return indexing;
  if (indexing.IsUnknown()) return indexing;
  indexing = WithRangesAtBestEnds(std::move(indexing));
  if (std::optional<OperandIndexing> without = WithoutRangeBetween(indexing)) {
    return WithSumsJoined(*std::move(without));
  }
  const IndexingMap& map = indexing.map();
  if (map.num_ranges() < 2 || map.IsKnownEmpty()) return indexing;
  if (std::optional<OperandIndexing> joined = WithSumInResults(indexing)) {
    return WithSumsJoined(*std::move(joined));
  }
  if (std::optional<OperandIndexing> joined = WithSumAsRange(indexing)) {
    return WithSumsJoined(*std::move(joined));
  }
  return indexing;
}

OperandIndexing WithConstrainedResultsAsRanges(OperandIndexing indexing) {
  if (IsOff(Engine::kResultsAsRanges)) return indexing;
  if (indexing.IsUnknown() || !indexing.bindings().empty() || indexing.replica_map() != nullptr) {
    return indexing;
  }
  const IndexingMap& map = indexing.map();
  for (int s = 0; s < map.num_ranges(); ++s) {
    const AffineExpr symbol = mlir::getAffineSymbolExpr(s, map.context());
    const auto has = [&](AffineExpr expr) { return HasSymbol(expr, s); };
    const auto on_symbol = [&](const Constraint& constraint) { return has(constraint.expr); };
    if (llvm::count_if(map.results(), has) != 1 ||
        llvm::count_if(map.constraints(), on_symbol) != 1) {
      continue;
    }
    const AffineExpr result = *llvm::find_if(map.results(), has);
    const Constraint& constraint = *llvm::find_if(map.constraints(), on_symbol);
    const LinearSum sum = LinearSum::FromExpr(result);
    const int64_t factor = sum.valid() ? sum.CoefficientOf(symbol) : 0;
    if (result == symbol || (factor != 1 && factor != -1)) continue;
    const AffineExpr rest = Sub(result, Scale(symbol, factor));
    if (!rest || has(rest)) continue;
    for (const int64_t sign : {1, -1}) {
      // result = sign * constraint + shift
      const auto shift = ConstantIn(Sub(result, Scale(constraint.expr, sign)));
      if (!shift) continue;
      Renaming renaming;
      renaming.dims = Variables(map.dims());
      renaming.ranges = Variables(map.ranges());
      renaming.ranges[s].bounds = constraint.interval.Mul(sign).Add(*shift);
      renaming.for_symbols.resize(map.num_symbols());
      renaming.for_symbols[s] = Scale(Sub(symbol, rest), factor);
      renaming.constraints_added.push_back({renaming.for_symbols[s], map.ranges()[s].bounds});
      OperandIndexing renamed = Renamed(indexing, std::move(renaming));
      if (renamed.IsUnknown()) return indexing;
      renamed.Simplify();
      return renamed;
    }
  }
  return indexing;
}

OperandIndexing WithRangesAsResults(OperandIndexing indexing) {
  if (IsOff(Engine::kFewRanges)) return indexing;
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

namespace {

// How many numbers of iterations are no variables.
int64_t NumComputedIterations(const OperandIndexing& indexing) {
  int64_t count = 0;
  for (const RuntimeVarIndexing& binding : indexing.bindings()) {
    const auto loops = llvm::ArrayRef(binding.element).take_front(binding.NumLoops());
    count += llvm::count_if(loops, [](AffineExpr number) { return !IsVariable(number); });
  }
  return count;
}

}  // namespace

OperandIndexing WithRangesAsIterations(OperandIndexing indexing) {
  if (IsOff(Engine::kFewRanges)) return indexing;
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
        // The normal form may prefer what there was, so that this would not end.
        if (NumComputedIterations(renamed) >= NumComputedIterations(indexing)) continue;
        return WithRangesAsIterations(std::move(renamed));
      }
    }
  }
  return indexing;
}

}  // namespace xla_indexing::internal

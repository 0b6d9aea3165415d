#include "xla_indexing/map/simplify/joined_relation.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/compare.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/expr/replace_variables.h"
#include "xla_indexing/map/simplify/determined_ranges.h"
#include "xla_indexing/map/simplify/existential.h"
#include "xla_indexing/map/simplify/range_digits.h"
#include "xla_indexing/map/simplify/range_quotients.h"
#include "xla_indexing/map/simplify/window_sums.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

int JoinedRelation::num_without_reader() const {
  int count = num_results_;
  for (const RuntimeDefinition& definition : definitions_) count += definition.num_indices;
  return count;
}

llvm::ArrayRef<AffineExpr> JoinedRelation::Element(int i) const {
  int first = num_results_;
  for (int j = 0; j < i; ++j) first += definitions_[j].num_indices;
  return map_.results().slice(first, definitions_[i].num_indices);
}

AffineExpr JoinedRelation::Device(int i) const {
  if (!definitions_[i].has_device) return {};
  int position = num_without_reader();
  for (int j = 0; j < i; ++j) position += definitions_[j].has_device ? 1 : 0;
  const AffineExpr device = map_.results()[position];
  return device == mlir::getAffineDimExpr(map_.num_dims() - 1, map_.context()) ? AffineExpr()
                                                                               : device;
}

bool JoinedRelation::DependsOnReader(AffineExpr expr) const {
  return has_reader_ && expr.isFunctionOfDim(map_.num_dims() - 1);
}

bool JoinedRelation::SimplifyFunction(RuleTrace* trace) {
  // What range variables are is for other rules to say. Where a runtime variable is read may not come
  // to depend on that variable, and nothing may come to depend on the reader. What an expression has
  // already may go.
  return map_.SimplifyFunction({.num_dims = map_.num_dims() - (has_reader_ ? 1 : 0),
                                .ranges = false,
                                .runtimes = definitions_.empty(),
                                .trace = trace});
}

bool JoinedRelation::Simplify(RuleTrace* trace) {
  bool changed = false;
  bool again = false;
  do {
    for (const auto [i, definition] : llvm::enumerate(definitions_)) {
      Interval& bounds = map_.mutable_runtime(static_cast<int>(i)).bounds;
      bounds = bounds.Intersect(definition.values);
    }
    // What a division without remainder is known to be need not be brought into normal form.
    changed = ReplaceByQuotient(&map_) || changed;
    changed = SimplifyFunction(trace) || changed;
    changed = (map_.num_ranges() > 0 && SimplifyRangeVariables(trace)) || changed;
    if (map_.IsKnownEmpty()) return changed;
    const int num_symbols = map_.num_symbols();
    DropUnusedSymbols();
    const Reordered order = OrderRangeVariables();
    changed = changed || map_.num_symbols() < num_symbols || order != Reordered::kNone;
    again = order == Reordered::kTogether && !again;
  } while (OrderRuntimeVariables() || again);
  return changed;
}

bool JoinedRelation::SimplifyRangeVariables(RuleTrace* trace) {
  DeterminedOptions options{.may_use_runtimes = definitions_.empty()};
  if (has_reader_) options.without_last_dim = num_without_reader();
  const auto used = [trace](bool is_used, const char* rule) {
    if (is_used && trace) trace->push_back({rule});
    return is_used;
  };
  const auto replace_determined = [&](Determination by) {
    options.by = by;
    return used(ReplaceDeterminedRanges(&map_, options),
                "a constraint gives the value of a range variable");
  };
  // Each returns whether it changed the map, whose expressions are simplified then.
  const auto apply = [&](int step) {
    switch (step) {
      // Values without divisions first, which leave fewer of them.
      case 0:
        return replace_determined(Determination::kUndividedEquality);
      case 1:
        return replace_determined(Determination::kEquality);
      case 2: {
        const bool eliminated = used(EliminateRangeVariables(&map_),
                                     "constraints only say that a range variable has a value");
        const bool rescaled = used(RescaleRangeVariables(&map_),
                                   "a range variable counts the values of its residue class");
        const bool divided =
            used(ReplaceByQuotient(&map_), "a quotient without remainder is a range variable");
        const bool split = used(SplitRangeVariable(&map_), "a range variable is its digits");
        const bool rotated =
            used(ReplaceByRemainder(&map_), "a remainder with every value is a range variable");
        return eliminated || rescaled || divided || split || rotated;
      }
      case 3:
        return used(JoinWindows(&map_), "range variables are windows of one sum");
      default:
        return replace_determined(Determination::kConstraint);
    }
  };
  // A change by one rule may allow another one. Nearly always one round is enough, and the next one
  // ends where the last change was made: the rules after it have seen what it left.
  constexpr int kSteps = 5;
  constexpr int kMaxRounds = 4;
  int since_change = 0;
  bool changed = false;
  for (int i = 0; i < kMaxRounds * kSteps && since_change < kSteps; ++i, ++since_change) {
    if (!apply(i % kSteps)) continue;
    SimplifyFunction(trace);
    changed = true;
    since_change = -1;
  }
  return changed;
}

JoinedRelation::Selection JoinedRelation::AllSymbols() const {
  Selection all;
  for (int i = 0; i < map_.num_ranges(); ++i) all.ranges.push_back(i);
  for (int i = 0; i < map_.num_runtimes(); ++i) all.runtimes.push_back({i});
  return all;
}

void JoinedRelation::Select(const Selection& selection) {
  Variables ranges;
  Variables runtimes;
  std::vector<RuntimeDefinition> definitions;
  llvm::SmallVector<AffineExpr, 8> symbols(map_.num_symbols());
  const auto next_symbol = [&] {
    return mlir::getAffineSymbolExpr(ranges.size() + runtimes.size(), map_.context());
  };
  for (const int range : selection.ranges) {
    symbols[range] = next_symbol();
    ranges.push_back(map_.ranges()[range]);
  }
  // What remains of the results once the elements and devices of the other variables are gone.
  llvm::SmallVector<AffineExpr, 8> results(map_.results().take_front(num_results_));
  llvm::SmallVector<AffineExpr, 4> devices;
  for (const llvm::SmallVector<int, 2>& group : selection.runtimes) {
    Variable variable = map_.runtimes()[group.front()];
    for (const int runtime : group) {
      symbols[map_.num_ranges() + runtime] = next_symbol();
      variable.bounds = variable.bounds.Intersect(map_.runtimes()[runtime].bounds);
    }
    runtimes.push_back(variable);
    if (definitions_.empty()) continue;
    definitions.push_back(definitions_[group.front()]);
    llvm::append_range(results, Element(group.front()));
    const AffineExpr device = Device(group.front());
    definitions.back().has_device = static_cast<bool>(device);
    if (device) devices.push_back(device);
  }
  llvm::append_range(results, devices);
  if (has_reader_) results.push_back(map_.results().back());
  const IndexingMap remaining(
      kPartsFit, mlir::AffineMap::get(map_.num_dims(), map_.num_symbols(), results, map_.context()),
      Variables(map_.dims()), Variables(map_.ranges()), Variables(map_.runtimes()),
      Constraints(map_.constraints()));
  std::optional<IndexingMap> selected = ReplaceVariables(
      remaining, Variables(map_.dims()), std::move(ranges), std::move(runtimes), {}, symbols);
  if (!selected) return;
  map_ = *std::move(selected);
  definitions_ = std::move(definitions);
}

void JoinedRelation::DropUnusedSymbols() {
  if (map_.num_symbols() == 0) return;
  const int num_ranges = map_.num_ranges();
  llvm::BitVector used(map_.num_symbols());
  for (const AffineExpr expr : map_.results().take_front(num_results_)) MarkSymbols(expr, &used);
  if (has_reader_) MarkSymbols(map_.results().back(), &used);
  for (const Constraint& constraint : map_.constraints()) MarkSymbols(constraint.expr, &used);
  // A variable stands after those that its element reads.
  for (int i = map_.num_runtimes() - 1; i >= 0; --i) {
    // Nothing is known of a variable without a definition.
    if (definitions_.empty() || !definitions_[i].values.IsSubsetOf(map_.runtimes()[i].bounds)) {
      used.set(num_ranges + i);
    }
    if (definitions_.empty() || !used.test(num_ranges + i)) continue;
    for (const AffineExpr expr : Element(i)) MarkSymbols(expr, &used);
    if (const AffineExpr device = Device(i)) MarkSymbols(device, &used);
  }
  if (used.all()) return;
  Selection selection;
  for (int i = 0; i < num_ranges; ++i) {
    if (used.test(i)) selection.ranges.push_back(i);
  }
  for (int i = 0; i < map_.num_runtimes(); ++i) {
    if (used.test(num_ranges + i)) selection.runtimes.push_back({i});
  }
  Select(selection);
}

namespace {

// How a range variable occurs, in terms that do not depend on the numbers of symbols: the first
// expression that uses it, and, where that is the first one of other range variables too, that
// expression with the variable and all other symbols alike.
struct RangeUse {
  int first_use;
  AffineExpr shape;
  Interval bounds;
  int position;
};

bool UsedBefore(const RangeUse& a, const RangeUse& b) {
  if (a.first_use != b.first_use) return a.first_use < b.first_use;
  if (a.shape && b.shape) {
    if (const int c = CompareExprs(a.shape, b.shape)) return c < 0;
  }
  if (const int c = CompareIntervals(a.bounds, b.bounds)) return c < 0;
  return a.position < b.position;
}

// `expr` with symbol `symbol` as a dimension after all others, and every other symbol as symbol 0.
AffineExpr Occurrence(int symbol, AffineExpr expr, const IndexingMap& map) {
  llvm::SmallVector<AffineExpr, 8> symbols(map.num_symbols(),
                                           mlir::getAffineSymbolExpr(0, map.context()));
  symbols[symbol] = mlir::getAffineDimExpr(map.num_dims() + 1, map.context());
  return Substitute(expr, {}, symbols);
}

}  // namespace

llvm::SmallVector<AffineExpr, 8> JoinedRelation::ExprsInOrderOfUse() const {
  llvm::SmallVector<AffineExpr, 8> exprs(map_.results().take_front(num_results_));
  for (const Constraint& constraint : map_.constraints()) {
    if (!DependsOnReader(constraint.expr)) exprs.push_back(constraint.expr);
  }
  llvm::append_range(exprs, map_.results().drop_front(num_results_));
  for (const Constraint& constraint : map_.constraints()) {
    if (DependsOnReader(constraint.expr)) exprs.push_back(constraint.expr);
  }
  return exprs;
}

JoinedRelation::Reordered JoinedRelation::OrderRangeVariables() {
  if (map_.num_ranges() < 2) return Reordered::kNone;
  const llvm::SmallVector<AffineExpr, 8> exprs = ExprsInOrderOfUse();
  const auto num_exprs = static_cast<int>(exprs.size());
  std::vector<RangeUse> uses(map_.num_ranges());
  for (int i = 0; i < map_.num_ranges(); ++i) {
    uses[i] = {num_exprs, AffineExpr(), map_.ranges()[i].bounds, i};
  }
  bool together = false;                    // some expression has several
  llvm::BitVector seen(map_.num_ranges());  // in the expressions so far
  for (int e = 0; e < num_exprs; ++e) {
    llvm::BitVector used(map_.num_ranges());
    MarkSymbols(exprs[e], &used);
    together = together || used.count() > 1;
    used.reset(seen);
    seen |= used;
    const bool several = used.count() > 1;
    for (const unsigned i : used.set_bits()) {
      uses[i].first_use = e;
      if (several) uses[i].shape = Occurrence(static_cast<int>(i), exprs[e], map_);
    }
  }
  llvm::sort(uses, UsedBefore);
  Selection selection = AllSymbols();
  llvm::SmallVector<int, 4> order;
  for (const RangeUse& use : uses) order.push_back(use.position);
  if (order == selection.ranges) return Reordered::kNone;
  selection.ranges = std::move(order);
  Select(selection);
  return together ? Reordered::kTogether : Reordered::kAlone;
}

struct JoinedRelation::Defined {
  const RuntimeDefinition* definition = nullptr;
  llvm::SmallVector<AffineExpr, 2> element;
  AffineExpr device;
};

JoinedRelation::Defined JoinedRelation::DefinedWith(int i,
                                                    llvm::ArrayRef<AffineExpr> symbols) const {
  Defined defined{&definitions_[i], {}, Device(i)};
  const auto replace = [&](AffineExpr expr) {
    const AffineExpr replaced = Substitute(expr, {}, symbols);
    return replaced ? replaced : expr;
  };
  for (const AffineExpr expr : Element(i)) defined.element.push_back(replace(expr));
  if (defined.device) defined.device = replace(defined.device);
  return defined;
}

int JoinedRelation::CompareDefined(const Defined& a, const Defined& b) {
  if (const int c = CompareValues(a.definition->source, b.definition->source)) return c;
  for (const auto [expr_a, expr_b] : llvm::zip_equal(a.element, b.element)) {
    if (const int c = CompareExprs(expr_a, expr_b)) return c;
  }
  if (const int c = CompareValues(a.definition->function, b.definition->function)) return c;
  // What is read on the device of the reader comes first.
  if (!a.device || !b.device) return CompareValues(!!a.device, !!b.device);
  return CompareExprs(a.device, b.device);
}

// The topological order that CompareDefined makes unique, equal variables in one group.
std::vector<llvm::SmallVector<int, 2>> JoinedRelation::RuntimesInOrder() const {
  const int num_ranges = map_.num_ranges();
  const int count = map_.num_runtimes();
  std::vector<llvm::BitVector> reads;
  for (int i = 0; i < count; ++i) {
    reads.emplace_back(map_.num_symbols());
    for (const AffineExpr expr : Element(i)) MarkSymbols(expr, &reads.back());
    if (const AffineExpr device = Device(i)) MarkSymbols(device, &reads.back());
    reads.back().reset(0, num_ranges);
  }
  std::vector<llvm::SmallVector<int, 2>> order;
  std::vector<Defined> placed;  // over the new numbers
  llvm::SmallVector<AffineExpr, 8> symbols(map_.num_symbols());
  llvm::BitVector open(map_.num_symbols());
  open.set(num_ranges, map_.num_symbols());
  while (open.any()) {
    int best = -1;
    Defined best_defined;
    for (int i = 0; i < count; ++i) {
      if (!open.test(num_ranges + i) || reads[i].anyCommon(open)) continue;
      Defined defined = DefinedWith(i, symbols);
      if (best < 0 || CompareDefined(defined, best_defined) < 0) {
        best = i;
        best_defined = std::move(defined);
      }
    }
    // Variables that read each other have no order; they stay as they are.
    if (best < 0) return AllSymbols().runtimes;
    open.reset(num_ranges + best);
    const auto same = llvm::find_if(
        placed, [&](const Defined& other) { return CompareDefined(other, best_defined) == 0; });
    const auto index = static_cast<size_t>(same - placed.begin());
    if (same == placed.end()) {
      placed.push_back(std::move(best_defined));
      order.emplace_back();
    }
    order[index].push_back(best);
    symbols[num_ranges + best] =
        mlir::getAffineSymbolExpr(num_ranges + static_cast<unsigned>(index), map_.context());
  }
  return order;
}

bool JoinedRelation::OrderRuntimeVariables() {
  if (definitions_.size() < 2) return false;
  const size_t count = definitions_.size();
  Selection selection = AllSymbols();
  std::vector<llvm::SmallVector<int, 2>> order = RuntimesInOrder();
  if (order == selection.runtimes) return false;
  selection.runtimes = std::move(order);
  Select(selection);
  return definitions_.size() < count;
}

}  // namespace xla_indexing::internal

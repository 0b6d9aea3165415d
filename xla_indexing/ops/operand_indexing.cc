#include "xla_indexing/ops/operand_indexing.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/affine/build.h"
#include "xla_indexing/map/existential.h"
#include "xla_indexing/map/variable_names.h"
#include "xla_indexing/ops/determined_ranges.h"
#include "xla_indexing/ops/expr_util.h"

namespace xla_indexing {
namespace {

using ::mlir::AffineExpr;
using ExprVector = llvm::SmallVector<AffineExpr, 8>;

// The map with the elements of the bindings as further results, so that whatever rewrites the map
// rewrites them too.
IndexingMap WithElements(const IndexingMap& map, absl::Span<const RuntimeVarIndexing> bindings) {
  ExprVector results(map.results().begin(), map.results().end());
  for (const RuntimeVarIndexing& binding : bindings) {
    results.append(binding.element.begin(), binding.element.end());
  }
  return IndexingMap(
      mlir::AffineMap::get(map.num_dims(), map.num_symbols(), results, map.context()),
      Variables(map.dims()), Variables(map.ranges()), Variables(map.runtimes()),
      Constraints(map.constraints()));
}

// Takes the elements that WithElements added off again.
IndexingMap WithoutElements(const IndexingMap& map, size_t num_results,
                            absl::Span<RuntimeVarIndexing> bindings) {
  size_t next = num_results;
  for (RuntimeVarIndexing& binding : bindings) {
    for (AffineExpr& expr : binding.element) expr = map.results()[next++];
  }
  return IndexingMap(mlir::AffineMap::get(map.num_dims(), map.num_symbols(),
                                          map.results().take_front(num_results), map.context()),
                     Variables(map.dims()), Variables(map.ranges()), Variables(map.runtimes()),
                     Constraints(map.constraints()));
}

// Replaces symbol i in the element by symbols[i]; false where a bound of affine/build.h is passed.
bool ReplaceSymbols(llvm::ArrayRef<AffineExpr> symbols, RuntimeVarIndexing* binding) {
  for (AffineExpr& expr : binding->element) {
    expr = Substitute(expr, {}, symbols);
    if (!expr) return false;
  }
  return true;
}

// Which variables a map keeps: range variables by their positions in the new order, and for every
// runtime variable of the new order the ones that become it.
struct SymbolSelection {
  llvm::SmallVector<int, 4> ranges;
  std::vector<llvm::SmallVector<int, 2>> runtimes;

  static SymbolSelection All(const IndexingMap& map) {
    SymbolSelection all;
    for (int i = 0; i < map.num_ranges(); ++i) all.ranges.push_back(i);
    for (int i = 0; i < map.num_runtimes(); ++i) all.runtimes.push_back({i});
    return all;
  }
};

// The expressions that the old symbols become; null for those that are dropped.
ExprVector NewSymbols(const IndexingMap& map, const SymbolSelection& selection) {
  ExprVector symbols(map.num_symbols());
  unsigned next = 0;
  for (const int range : selection.ranges) {
    symbols[range] = mlir::getAffineSymbolExpr(next++, map.context());
  }
  for (const llvm::SmallVector<int, 2>& group : selection.runtimes) {
    for (const int runtime : group) {
      symbols[map.num_ranges() + runtime] = mlir::getAffineSymbolExpr(next, map.context());
    }
    ++next;
  }
  return symbols;
}

// Renumbers, merges and drops symbols; leaves everything as it is where an expression would pass a
// bound of affine/build.h.
void Select(const SymbolSelection& selection, IndexingMap* map, RuntimeVarIndexings* bindings) {
  const ExprVector symbols = NewSymbols(*map, selection);
  ExprVector results;
  for (AffineExpr expr : map->results()) {
    results.push_back(Substitute(expr, {}, symbols));
    if (!results.back()) return;
  }
  Constraints constraints;
  for (const Constraint& constraint : map->constraints()) {
    constraints.push_back({Substitute(constraint.expr, {}, symbols), constraint.interval});
    if (!constraints.back().expr) return;
  }
  Variables ranges;
  for (const int range : selection.ranges) ranges.push_back(map->ranges()[range]);
  Variables runtimes;
  RuntimeVarIndexings kept;
  for (const llvm::SmallVector<int, 2>& group : selection.runtimes) {
    Variable variable = map->runtimes()[group.front()];
    for (const int runtime : group) {
      variable.bounds = variable.bounds.Intersect(map->runtimes()[runtime].bounds);
    }
    runtimes.push_back(variable);
    kept.push_back((*bindings)[group.front()]);
    if (!ReplaceSymbols(symbols, &kept.back())) return;
  }
  const mlir::AffineMap affine_map = mlir::AffineMap::get(
      map->num_dims(), ranges.size() + runtimes.size(), results, map->context());
  *map = IndexingMap(affine_map, Variables(map->dims()), std::move(ranges), std::move(runtimes),
                     std::move(constraints));
  *bindings = std::move(kept);
}

// How a range variable occurs, in terms that do not depend on the numbers of symbols: the first
// expression that uses it, and that expression with the variable and all other symbols alike.
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
  const std::string bounds_a = a.bounds.ToString();
  const std::string bounds_b = b.bounds.ToString();
  if (bounds_a != bounds_b) return bounds_a < bounds_b;
  return a.position < b.position;
}

// `expr` with symbol `symbol` as a new dimension and every other symbol as symbol 0.
AffineExpr OccurrenceOf(int symbol, AffineExpr expr, const IndexingMap& map) {
  ExprVector symbols(map.num_symbols(), mlir::getAffineSymbolExpr(0, map.context()));
  symbols[symbol] = mlir::getAffineDimExpr(map.num_dims(), map.context());
  return Substitute(expr, {}, symbols);
}

llvm::SmallVector<int, 4> RangesInOrderOfUse(const IndexingMap& map,
                                             const RuntimeVarIndexings& bindings) {
  ExprVector exprs(map.results().begin(), map.results().end());
  for (const Constraint& constraint : map.constraints()) exprs.push_back(constraint.expr);
  for (const RuntimeVarIndexing& binding : bindings) {
    exprs.append(binding.element.begin(), binding.element.end());
  }
  std::vector<RangeUse> uses(map.num_ranges());
  for (int i = 0; i < map.num_ranges(); ++i) {
    uses[i] = {static_cast<int>(exprs.size()), AffineExpr(), map.ranges()[i].bounds, i};
  }
  for (int e = static_cast<int>(exprs.size()) - 1; e >= 0; --e) {
    llvm::BitVector used(map.num_ranges());
    MarkSymbols(exprs[e], &used);
    const bool several = used.count() > 1;
    for (const unsigned i : used.set_bits()) {
      uses[i].first_use = e;
      uses[i].shape = several ? OccurrenceOf(static_cast<int>(i), exprs[e], map) : AffineExpr();
    }
  }
  std::sort(uses.begin(), uses.end(), UsedBefore);
  llvm::SmallVector<int, 4> order;
  for (const RangeUse& use : uses) order.push_back(use.position);
  return order;
}

// The topological order of runtime variables that CompareBindings makes unique, equal ones in one
// group.
std::vector<llvm::SmallVector<int, 2>> RuntimesInOrder(const IndexingMap& map,
                                                       const RuntimeVarIndexings& bindings) {
  const int num_ranges = map.num_ranges();
  const int count = map.num_runtimes();
  std::vector<llvm::SmallVector<int, 2>> order;
  std::vector<RuntimeVarIndexing> placed;  // elements over the new numbers
  ExprVector symbols(map.num_symbols());
  std::vector<llvm::BitVector> reads;
  for (const RuntimeVarIndexing& binding : bindings) {
    reads.emplace_back(map.num_symbols());
    for (AffineExpr expr : binding.element) MarkSymbols(expr, &reads.back());
  }
  llvm::BitVector done(count);
  while (!done.all()) {
    int best = -1;
    RuntimeVarIndexing best_binding;
    for (int i = 0; i < count; ++i) {
      if (done.test(i)) continue;
      bool ready = true;
      for (int j = 0; j < count; ++j) {
        if (reads[i].test(num_ranges + j) && !done.test(j)) ready = false;
      }
      if (!ready) continue;
      RuntimeVarIndexing binding = bindings[i];
      if (!ReplaceSymbols(symbols, &binding)) binding = bindings[i];
      if (best < 0 || CompareBindings(binding, best_binding) < 0) {
        best = i;
        best_binding = std::move(binding);
      }
    }
    if (best < 0) {  // Bindings that read each other have no order; they stay as they are.
      return SymbolSelection::All(map).runtimes;
    }
    done.set(best);
    size_t place = std::find(placed.begin(), placed.end(), best_binding) - placed.begin();
    if (place == placed.size()) {
      placed.push_back(std::move(best_binding));
      order.emplace_back();
    }
    order[place].push_back(best);
    symbols[num_ranges + best] =
        mlir::getAffineSymbolExpr(num_ranges + static_cast<unsigned>(place), map.context());
  }
  return order;
}

}  // namespace

OperandIndexing::OperandIndexing(IndexingMap map, RuntimeVarIndexings bindings,
                                 ExactnessLabel label)
    : map_(std::move(map)), bindings_(std::move(bindings)), label_(std::move(label)) {}

OperandIndexing OperandIndexing::Unknown(mlir::MLIRContext* context, std::string reason) {
  return OperandIndexing(IndexingMap(context), {}, ExactnessLabel::Unknown(std::move(reason)));
}

void OperandIndexing::Weaken(const ExactnessLabel& label) {
  label_ = ExactnessLabel::Weaker(label_, label);
}

bool OperandIndexing::MergeAndOrderRuntimeVariables() {
  if (bindings_.size() < 2) return false;
  const int count = map_.num_runtimes();
  SymbolSelection selection = SymbolSelection::All(map_);
  std::vector<llvm::SmallVector<int, 2>> order = RuntimesInOrder(map_, bindings_);
  if (order == selection.runtimes) return false;
  selection.runtimes = std::move(order);
  Select(selection, &map_, &bindings_);
  return map_.num_runtimes() < count;
}

void OperandIndexing::OrderRuntimeVariables() { MergeAndOrderRuntimeVariables(); }

void OperandIndexing::DropUnusedSymbols() {
  const int num_ranges = map_.num_ranges();
  llvm::BitVector used(map_.num_symbols());
  for (AffineExpr expr : map_.results()) MarkSymbols(expr, &used);
  for (const Constraint& constraint : map_.constraints()) MarkSymbols(constraint.expr, &used);
  for (int i = 0; i < map_.num_runtimes(); ++i) {
    // An interval that excludes values restricts the domain.
    if (!bindings_[i].ValueRange().IsSubsetOf(map_.runtimes()[i].bounds)) used.set(num_ranges + i);
  }
  // A variable stands after those that its element reads.
  for (int i = map_.num_runtimes() - 1; i >= 0; --i) {
    if (!used.test(num_ranges + i)) continue;
    for (AffineExpr expr : bindings_[i].element) MarkSymbols(expr, &used);
  }
  if (used.all()) return;
  SymbolSelection selection;
  for (int i = 0; i < num_ranges; ++i) {
    if (used.test(i)) selection.ranges.push_back(i);
  }
  for (int i = 0; i < map_.num_runtimes(); ++i) {
    if (used.test(num_ranges + i)) selection.runtimes.push_back({i});
  }
  Select(selection, &map_, &bindings_);
}

void OperandIndexing::OrderRangeVariables() {
  if (map_.num_ranges() < 2) return;
  SymbolSelection selection = SymbolSelection::All(map_);
  llvm::SmallVector<int, 4> order = RangesInOrderOfUse(map_, bindings_);
  if (order == selection.ranges) return;
  selection.ranges = std::move(order);
  Select(selection, &map_, &bindings_);
}

bool OperandIndexing::Simplify() {
  if (IsUnknown()) return false;
  const OperandIndexing before = *this;
  const int num_results = map_.num_results();
  bool merged = true;
  while (merged) {
    for (int i = 0; i < map_.num_runtimes(); ++i) {
      Interval& bounds = map_.mutable_runtime(i).bounds;
      bounds = bounds.Intersect(bindings_[i].ValueRange());
    }
    IndexingMap all = WithElements(map_, bindings_);
    all.Simplify();
    if (ReplaceDeterminedRanges(&all)) all.Simplify();
    const bool eliminated = EliminateRangeVariables(&all);
    const bool rescaled = RescaleRangeVariables(&all);
    if (eliminated || rescaled) all.Simplify();
    if (all.IsKnownEmpty()) {
      map_ = IndexingMap::MakeEmpty(map_.context(), map_.num_dims(), 0, 0, num_results);
      bindings_.clear();
      label_ = ExactnessLabel::Exact();
      break;
    }
    map_ = WithoutElements(all, num_results, absl::MakeSpan(bindings_));
    DropUnusedSymbols();
    OrderRangeVariables();
    merged = MergeAndOrderRuntimeVariables();
  }
  return *this != before;
}

IndexingMap OperandIndexing::ElementMap(int i) const {
  const RuntimeVarIndexing& binding = bindings_[i];
  mlir::MLIRContext* context = map_.context();
  llvm::BitVector used(map_.num_symbols());
  bool is_constant = true;
  for (AffineExpr expr : binding.element) {
    MarkSymbols(expr, &used);
    is_constant = is_constant && llvm::isa<mlir::AffineConstantExpr>(expr);
  }
  const VariableNames names = NamesOf(map_);
  ExprVector symbols(map_.num_symbols());
  Variables ranges;
  Variables runtimes;
  for (const unsigned symbol : used.set_bits()) {
    const bool is_range = static_cast<int>(symbol) < map_.num_ranges();
    Variable variable = map_.symbol(static_cast<int>(symbol));
    variable.name = mlir::StringAttr::get(context, names.symbols[symbol]);
    symbols[symbol] = mlir::getAffineSymbolExpr(ranges.size() + runtimes.size(), context);
    (is_range ? ranges : runtimes).push_back(variable);
  }
  ExprVector results;
  for (AffineExpr expr : binding.element) results.push_back(Substitute(expr, {}, symbols));
  Constraints constraints;
  for (const Constraint& constraint : map_.constraints()) {
    llvm::BitVector mentioned(map_.num_symbols());
    MarkSymbols(constraint.expr, &mentioned);
    // Of use are constraints on what the element is a function of.
    if (is_constant || mentioned.test(used)) continue;
    constraints.push_back({Substitute(constraint.expr, {}, symbols), constraint.interval});
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(map_.num_dims(), ranges.size() + runtimes.size(), results, context);
  return IndexingMap(affine_map, Variables(map_.dims()), std::move(ranges), std::move(runtimes),
                     std::move(constraints));
}

std::string OperandIndexing::MapToString() const {
  if (IsUnknown()) return absl::StrCat("unknown: ", label_.reason);
  std::string text = map_.ToString();
  if (!IsExact()) {
    absl::StrAppend(&text, "  (", ExactnessName(label_.exactness), ": ", label_.reason, ")");
  }
  return text;
}

std::string OperandIndexing::BindingToString(int i, const HloComputation* analysed) const {
  const VariableNames names = NamesOf(map_);
  return absl::StrCat(names.symbols[map_.num_ranges() + i], ": ", bindings_[i].YieldedBy(analysed),
                      ", ", bindings_[i].value.ToString(), "; ", ElementMap(i).ToString());
}

std::string OperandIndexing::ToString(const HloComputation* analysed) const {
  std::string text = MapToString();
  for (int i = 0; i < map_.num_runtimes(); ++i) {
    absl::StrAppend(&text, "\n  ", BindingToString(i, analysed));
  }
  return text;
}

bool operator==(const OperandIndexing& a, const OperandIndexing& b) {
  return OperandIndexing::SameRelation(a, b) && a.label_ == b.label_;
}

absl::StatusOr<OperandIndexing> ComposeOperandIndexing(const OperandIndexing& first,
                                                       const OperandIndexing& second) {
  const ExactnessLabel label = ExactnessLabel::Weaker(first.label(), second.label());
  if (first.IsUnknown() || second.IsUnknown()) {
    return OperandIndexing::Unknown(first.map().context(), label.reason);
  }
  const IndexingMap& map = first.map();
  absl::StatusOr<IndexingMap> all =
      ComposeIndexingMaps(map, WithElements(second.map(), second.bindings()));
  if (!all.ok()) return all.status();

  RuntimeVarIndexings bindings(second.bindings().begin(), second.bindings().end());
  IndexingMap composed =
      WithoutElements(*all, second.map().num_results(), absl::MakeSpan(bindings));
  // The symbols of `first` stand after those of `second`, range variables and runtime variables
  // apart.
  ExprVector symbols;
  for (int i = 0; i < map.num_symbols(); ++i) {
    const int skipped =
        i < map.num_ranges() ? second.map().num_ranges() : second.map().num_symbols();
    symbols.push_back(mlir::getAffineSymbolExpr(skipped + i, map.context()));
  }
  for (RuntimeVarIndexing binding : first.bindings()) {
    if (!ReplaceSymbols(symbols, &binding)) {
      return absl::OutOfRangeError(
          absl::StrCat("the element of ", binding.YieldedBy(nullptr), " is too large"));
    }
    bindings.push_back(std::move(binding));
  }
  OperandIndexing result(std::move(composed), std::move(bindings), label);
  if (result.IsKnownEmpty()) {
    return OperandIndexing(
        IndexingMap::MakeEmpty(map.context(), map.num_dims(), 0, 0, second.map().num_results()));
  }
  result.OrderRuntimeVariables();
  return result;
}

}  // namespace xla_indexing

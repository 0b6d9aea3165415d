#include "xla_indexing/ops/operand_indexing.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
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
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/map/internal/existential.h"
#include "xla_indexing/map/internal/variable_names.h"
#include "xla_indexing/ops/internal/determined_ranges.h"
#include "xla_indexing/ops/internal/expr_util.h"

namespace xla_indexing {
namespace {

using internal::CompareExprs;
using internal::Constant;
using internal::EliminateRangeVariables;
using internal::ExprSimplifier;
using internal::JoinRangeVariables;
using internal::MarkDims;
using internal::MarkSymbols;
using internal::NamesOf;
using internal::ReplaceDeterminedRanges;
using internal::RescaleRangeVariables;
using internal::Substitute;
using internal::VariableNames;
using ::mlir::AffineExpr;
using ExprVector = llvm::SmallVector<AffineExpr, 8>;

// Whatever is rewritten together with a map, as one map: after its results the elements of the
// bindings, and where there is a replica map, over one more dimension, the devices of the bindings
// that have one and the device of the replica map.
IndexingMap Join(const IndexingMap& map, absl::Span<const RuntimeVarIndexing> bindings,
                 const ReplicaMap* replica_map) {
  ExprVector results(map.results().begin(), map.results().end());
  for (const RuntimeVarIndexing& binding : bindings) {
    results.append(binding.element.begin(), binding.element.end());
  }
  Variables dims(map.dims());
  Constraints constraints(map.constraints());
  if (replica_map != nullptr) {
    for (const RuntimeVarIndexing& binding : bindings) {
      if (binding.device) results.push_back(binding.device);
    }
    results.push_back(replica_map->device);
    dims.push_back({replica_map->readers, {}});
    constraints.append(replica_map->constraints.begin(), replica_map->constraints.end());
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(dims.size(), map.num_symbols(), results, map.context());
  return IndexingMap(kPartsFit, affine_map, std::move(dims), Variables(map.ranges()),
                     Variables(map.runtimes()), std::move(constraints));
}

bool MentionsDim(AffineExpr expr, int dim) {
  llvm::BitVector dims(dim + 1);
  MarkDims(expr, &dims);
  return dims.test(dim);
}

// A map that Join put together, taken apart again.
struct MapParts {
  IndexingMap map;
  RuntimeVarIndexings bindings;
  std::shared_ptr<const ReplicaMap> replica_map;
};

// None where a result or an element has come to depend on the reader, which only the replica map
// can say.
std::optional<MapParts> TakeApart(const IndexingMap& joined, size_t num_results,
                                  RuntimeVarIndexings bindings, bool has_replica_map) {
  mlir::MLIRContext* context = joined.context();
  const int num_dims = joined.num_dims() - (has_replica_map ? 1 : 0);
  size_t next = num_results;
  for (RuntimeVarIndexing& binding : bindings) {
    for (AffineExpr& expr : binding.element) expr = joined.results()[next++];
  }
  Variables dims(joined.dims());
  Constraints constraints(joined.constraints());
  std::shared_ptr<ReplicaMap> replica_map;
  if (has_replica_map) {
    for (AffineExpr expr : joined.results().take_front(next)) {
      if (MentionsDim(expr, num_dims)) return std::nullopt;
    }
    AffineExpr reader = mlir::getAffineDimExpr(num_dims, context);
    for (RuntimeVarIndexing& binding : bindings) {
      if (binding.device) binding.device = joined.results()[next++];
      if (binding.device == reader) binding.device = {};
    }
    replica_map = std::make_shared<ReplicaMap>();
    replica_map->device = joined.results()[next];
    replica_map->readers = dims.pop_back_val().bounds;
    constraints.clear();
    for (const Constraint& constraint : joined.constraints()) {
      (MentionsDim(constraint.expr, num_dims) ? replica_map->constraints : constraints)
          .push_back(constraint);
    }
  }
  IndexingMap map(kPartsFit,
                  mlir::AffineMap::get(num_dims, joined.num_symbols(),
                                       joined.results().take_front(num_results), context),
                  std::move(dims), Variables(joined.ranges()), Variables(joined.runtimes()),
                  std::move(constraints));
  return MapParts{std::move(map), std::move(bindings), std::move(replica_map)};
}

// Replaces symbol i in element and device by symbols[i]; false where a bound of
// affine/internal/build.h is passed.
bool ReplaceSymbols(llvm::ArrayRef<AffineExpr> symbols, RuntimeVarIndexing* binding) {
  for (AffineExpr& expr : binding->element) {
    expr = Substitute(expr, {}, symbols);
    if (!expr) return false;
  }
  if (binding->device) {
    binding->device = Substitute(binding->device, {}, symbols);
    if (!binding->device) return false;
  }
  return true;
}

bool ReplaceSymbols(llvm::ArrayRef<AffineExpr> symbols, ReplicaMap* replica_map) {
  replica_map->device = Substitute(replica_map->device, {}, symbols);
  if (!replica_map->device) return false;
  for (Constraint& constraint : replica_map->constraints) {
    constraint.expr = Substitute(constraint.expr, {}, symbols);
    if (!constraint.expr) return false;
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
// bound of affine/internal/build.h.
void Select(const SymbolSelection& selection, IndexingMap* map, RuntimeVarIndexings* bindings,
            std::shared_ptr<const ReplicaMap>* replica_map) {
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
  std::shared_ptr<ReplicaMap> selected;
  if (*replica_map != nullptr) {
    selected = std::make_shared<ReplicaMap>(**replica_map);
    if (!ReplaceSymbols(symbols, selected.get())) return;
  }
  const mlir::AffineMap affine_map = mlir::AffineMap::get(
      map->num_dims(), ranges.size() + runtimes.size(), results, map->context());
  *map = IndexingMap(kPartsFit, affine_map, Variables(map->dims()), std::move(ranges),
                     std::move(runtimes), std::move(constraints));
  *bindings = std::move(kept);
  *replica_map = std::move(selected);
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
  // The dimension after those of the map is the reader.
  symbols[symbol] = mlir::getAffineDimExpr(map.num_dims() + 1, map.context());
  return Substitute(expr, {}, symbols);
}

llvm::SmallVector<int, 4> RangesInOrderOfUse(const IndexingMap& map,
                                             const RuntimeVarIndexings& bindings,
                                             const ReplicaMap* replica_map) {
  ExprVector exprs(map.results().begin(), map.results().end());
  for (const Constraint& constraint : map.constraints()) exprs.push_back(constraint.expr);
  for (const RuntimeVarIndexing& binding : bindings) {
    exprs.append(binding.element.begin(), binding.element.end());
  }
  if (replica_map != nullptr) {
    for (const RuntimeVarIndexing& binding : bindings) {
      if (binding.device) exprs.push_back(binding.device);
    }
    exprs.push_back(replica_map->device);
    for (const Constraint& constraint : replica_map->constraints) exprs.push_back(constraint.expr);
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
    if (binding.device) MarkSymbols(binding.device, &reads.back());
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

absl::Status InPart(absl::string_view part, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(part, ": ", status.message()));
}

// Whether the binding of runtime variable `i` of a map is one.
absl::Status VerifyBinding(const RuntimeVarIndexing& binding, int i, const IndexingMap& map,
                           bool has_replica_map) {
  const std::string part = absl::StrCat("the binding of rt", i);
  const auto error = [&](const auto&... parts) {
    return InPart(part, absl::InvalidArgumentError(absl::StrCat(parts...)));
  };
  if (binding.instruction == nullptr || llvm::is_contained(binding.call_path, nullptr)) {
    return error("an instruction is null");
  }
  const Shape& shape = binding.instruction->shape();
  if (binding.leaf < 0 || binding.leaf >= shape.LeafCount()) {
    return error(binding.instruction->name(), " has no leaf ", binding.leaf, " of ",
                 shape.LeafCount());
  }
  if (!binding.shape().IsArray() ||
      static_cast<int64_t>(binding.element.size()) != binding.shape().rank()) {
    return error("an element of ", binding.element.size(), " indices in ",
                 binding.shape().ToStringWithoutLayout());
  }
  if (binding.value.lower() > binding.value.upper()) {
    return error("its values are in no interval, [", binding.value.lower(), ", ",
                 binding.value.upper(), "]");
  }
  if (binding.device && !has_replica_map) return error("a device, and there is no replica map");
  // An element may depend on runtime variables before its own.
  const int num_symbols = map.num_ranges() + i;
  for (AffineExpr expr : binding.element) {
    absl::Status status = IndexingMap::VerifyExpr(expr, map.num_dims(), num_symbols, map.context());
    if (!status.ok()) return InPart(part, status);
  }
  if (!binding.device) return absl::OkStatus();
  return InPart(part, IndexingMap::VerifyExpr(binding.device, map.num_dims() + 1, num_symbols,
                                              map.context()));
}

absl::Status VerifyReplicaMap(const ReplicaMap& replica_map, const IndexingMap& map) {
  const auto verify = [&](AffineExpr expr) {
    return InPart("the replica map", IndexingMap::VerifyExpr(expr, map.num_dims() + 1,
                                                             map.num_symbols(), map.context()));
  };
  absl::Status status = verify(replica_map.device);
  for (const Constraint& constraint : replica_map.constraints)
    status.Update(verify(constraint.expr));
  return status;
}

// The normal form of a map, with those range variables eliminated that can be.
void SimplifyWithRanges(IndexingMap* map, std::optional<int> without_reader) {
  map->Simplify();
  if (map->num_ranges() == 0) return;
  if (ReplaceDeterminedRanges(map, without_reader)) map->Simplify();
  const bool eliminated = EliminateRangeVariables(map);
  const bool rescaled = RescaleRangeVariables(map);
  if (eliminated || rescaled) map->Simplify();
  if (JoinRangeVariables(map)) map->Simplify();
}

}  // namespace

OperandIndexing::OperandIndexing(PartsFit, IndexingMap map, RuntimeVarIndexings bindings,
                                 ExactnessLabel label)
    : map_(std::move(map)), bindings_(std::move(bindings)), label_(std::move(label)) {
  Check(static_cast<size_t>(map_.num_runtimes()) == bindings_.size(),
        "OperandIndexing: the map has another number of runtime variables than there are bindings");
}

absl::StatusOr<OperandIndexing> OperandIndexing::Create(IndexingMap map,
                                                        RuntimeVarIndexings bindings,
                                                        ExactnessLabel label,
                                                        std::optional<ReplicaMap> replica_map) {
  absl::Status status = map.Verify();
  if (!status.ok()) return status;
  if (static_cast<size_t>(map.num_runtimes()) != bindings.size()) {
    return absl::InvalidArgumentError(absl::StrCat("a map with ", map.num_runtimes(),
                                                   " runtime variables and ", bindings.size(),
                                                   " bindings: ", map.ToString()));
  }
  for (size_t i = 0; i < bindings.size(); ++i) {
    status = VerifyBinding(bindings[i], static_cast<int>(i), map, replica_map.has_value());
    if (!status.ok()) return status;
  }
  if (replica_map) {
    status = VerifyReplicaMap(*replica_map, map);
    if (!status.ok()) return status;
  }
  OperandIndexing indexing(kPartsFit, std::move(map), std::move(bindings), std::move(label));
  if (replica_map) indexing.SetReplicaMap(kPartsFit, *std::move(replica_map));
  return indexing;
}

OperandIndexing OperandIndexing::Unknown(mlir::MLIRContext* context, std::string reason) {
  return OperandIndexing(kPartsFit, IndexingMap(context), {},
                         ExactnessLabel::Unknown(std::move(reason)));
}

absl::Status OperandIndexing::AddConstraint(AffineExpr expr, Interval interval) {
  is_simplified_ = false;
  return map_.AddConstraint(expr, interval);
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
  Select(selection, &map_, &bindings_, &replica_map_);
  return map_.num_runtimes() < count;
}

void OperandIndexing::OrderRuntimeVariables() {
  is_simplified_ = false;
  MergeAndOrderRuntimeVariables();
}

void OperandIndexing::DropUnusedSymbols() {
  const int num_ranges = map_.num_ranges();
  llvm::BitVector used(map_.num_symbols());
  for (AffineExpr expr : map_.results()) MarkSymbols(expr, &used);
  for (const Constraint& constraint : map_.constraints()) MarkSymbols(constraint.expr, &used);
  if (replica_map_ != nullptr) {
    MarkSymbols(replica_map_->device, &used);
    for (const Constraint& constraint : replica_map_->constraints) {
      MarkSymbols(constraint.expr, &used);
    }
  }
  for (int i = 0; i < map_.num_runtimes(); ++i) {
    // An interval that excludes values restricts the domain.
    if (!bindings_[i].ValueRange().IsSubsetOf(map_.runtimes()[i].bounds)) used.set(num_ranges + i);
  }
  // A variable stands after those that its element reads.
  for (int i = map_.num_runtimes() - 1; i >= 0; --i) {
    if (!used.test(num_ranges + i)) continue;
    for (AffineExpr expr : bindings_[i].element) MarkSymbols(expr, &used);
    if (bindings_[i].device) MarkSymbols(bindings_[i].device, &used);
  }
  if (used.all()) return;
  SymbolSelection selection;
  for (int i = 0; i < num_ranges; ++i) {
    if (used.test(i)) selection.ranges.push_back(i);
  }
  for (int i = 0; i < map_.num_runtimes(); ++i) {
    if (used.test(num_ranges + i)) selection.runtimes.push_back({i});
  }
  Select(selection, &map_, &bindings_, &replica_map_);
}

void OperandIndexing::OrderRangeVariables() {
  if (map_.num_ranges() < 2) return;
  SymbolSelection selection = SymbolSelection::All(map_);
  llvm::SmallVector<int, 4> order = RangesInOrderOfUse(map_, bindings_, replica_map_.get());
  if (order == selection.ranges) return;
  selection.ranges = std::move(order);
  Select(selection, &map_, &bindings_, &replica_map_);
}

void OperandIndexing::Simplify() {
  if (IsSimplified()) return;
  // A map by itself is what most are.
  if (bindings_.empty() && replica_map_ == nullptr) {
    SimplifyWithRanges(&map_, std::nullopt);
    if (map_.IsKnownEmpty()) {
      MakeEmpty();
    } else if (map_.num_ranges() > 0) {
      DropUnusedSymbols();
      OrderRangeVariables();
    }
  } else {
    SimplifyTogether();
  }
  is_simplified_ = true;
}

void OperandIndexing::MakeEmpty() {
  map_ = IndexingMap::MakeEmpty(map_.context(), map_.num_dims(), 0, 0, map_.num_results());
  bindings_.clear();
  replica_map_ = nullptr;
  label_ = ExactnessLabel::Exact();
}

void OperandIndexing::SimplifyTogether() {
  const int num_results = map_.num_results();
  bool merged = true;
  while (merged) {
    for (int i = 0; i < map_.num_runtimes(); ++i) {
      Interval& bounds = map_.mutable_runtime(i).bounds;
      bounds = bounds.Intersect(bindings_[i].ValueRange());
    }
    IndexingMap all = Join(map_, bindings_, replica_map_.get());
    // Results and elements do not depend on the reader, the last dimension.
    std::optional<int> without_reader;
    if (replica_map_ != nullptr) {
      without_reader = num_results;
      for (const RuntimeVarIndexing& binding : bindings_) {
        *without_reader += static_cast<int>(binding.element.size());
      }
    }
    SimplifyWithRanges(&all, without_reader);
    if (all.IsKnownEmpty()) return MakeEmpty();
    std::optional<MapParts> parts = TakeApart(all, num_results, bindings_, replica_map_ != nullptr);
    if (!parts) return;
    map_ = std::move(parts->map);
    bindings_ = std::move(parts->bindings);
    replica_map_ = std::move(parts->replica_map);
    DropUnusedSymbols();
    OrderRangeVariables();
    merged = MergeAndOrderRuntimeVariables();
  }
}

namespace {

// The map from the dimensions of `map`, all its dimensions and those symbols that `exprs` use, to
// `exprs`. Variables keep the names that they have in `named`.
IndexingMap MapTo(llvm::ArrayRef<AffineExpr> exprs, const IndexingMap& map,
                  const IndexingMap& named) {
  mlir::MLIRContext* context = map.context();
  llvm::BitVector used(map.num_symbols());
  bool is_constant = true;
  for (AffineExpr expr : exprs) {
    MarkSymbols(expr, &used);
    is_constant = is_constant && llvm::isa<mlir::AffineConstantExpr>(expr);
  }
  const VariableNames names = NamesOf(named);
  ExprVector symbols(map.num_symbols());
  Variables ranges;
  Variables runtimes;
  for (const unsigned symbol : used.set_bits()) {
    const bool is_range = static_cast<int>(symbol) < map.num_ranges();
    Variable variable = map.symbol(static_cast<int>(symbol));
    variable.name = mlir::StringAttr::get(context, names.symbols[symbol]);
    symbols[symbol] = mlir::getAffineSymbolExpr(ranges.size() + runtimes.size(), context);
    (is_range ? ranges : runtimes).push_back(variable);
  }
  ExprVector results;
  for (AffineExpr expr : exprs) results.push_back(Substitute(expr, {}, symbols));
  Constraints constraints;
  for (const Constraint& constraint : map.constraints()) {
    llvm::BitVector mentioned(map.num_symbols());
    MarkSymbols(constraint.expr, &mentioned);
    // Only constraints on the variables that the element depends on are useful.
    if (is_constant || mentioned.test(used)) continue;
    constraints.push_back({Substitute(constraint.expr, {}, symbols), constraint.interval});
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(map.num_dims(), ranges.size() + runtimes.size(), results, context);
  return IndexingMap(kPartsFit, affine_map, Variables(map.dims()), std::move(ranges),
                     std::move(runtimes), std::move(constraints));
}

}  // namespace

AffineExpr OperandIndexing::Reader() const {
  return mlir::getAffineDimExpr(map_.num_dims(), map_.context());
}

bool OperandIndexing::HasNoReaders() const {
  if (replica_map_ == nullptr) return false;
  if (replica_map_->readers.IsEmpty()) return true;
  return llvm::any_of(replica_map_->constraints,
                      [](const Constraint& constraint) { return constraint.interval.IsEmpty(); });
}

Interval OperandIndexing::DevicesRead() const {
  if (IsKnownEmpty()) return Interval::Empty();
  llvm::SmallVector<Interval, 4> dims = map_.DimBounds();
  Check(replica_map_ != nullptr, "OperandIndexing::DevicesRead() without a replica map");
  dims.push_back(replica_map_->readers);
  return ExprSimplifier(map_.context(), dims, map_.SymbolBounds()).Range(replica_map_->device);
}

IndexingMap OperandIndexing::ElementMap(int i) const {
  Check(i >= 0 && i < map_.num_runtimes(),
        "OperandIndexing::ElementMap() of a runtime variable that is not there");
  return MapTo(bindings_[i].element, map_, map_);
}

IndexingMap OperandIndexing::ElementDeviceMap(int i) const {
  Check(replica_map_ != nullptr && i >= 0 && i < map_.num_runtimes() && bindings_[i].device,
        "OperandIndexing::ElementDeviceMap() of a binding without a device");
  return MapTo(bindings_[i].device, Join(map_, {}, replica_map_.get()), map_);
}

IndexingMap OperandIndexing::DeviceMap() const {
  Check(replica_map_ != nullptr, "OperandIndexing::DeviceMap() without a replica map");
  const IndexingMap joined = Join(map_, {}, replica_map_.get());
  return IndexingMap(kPartsFit,
                     mlir::AffineMap::get(joined.num_dims(), joined.num_symbols(),
                                          joined.results().take_back(1), joined.context()),
                     Variables(joined.dims()), Variables(joined.ranges()),
                     Variables(joined.runtimes()), Constraints(joined.constraints()));
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
  Check(i >= 0 && i < map_.num_runtimes(),
        "OperandIndexing::BindingToString() of a runtime variable that is not there");
  const VariableNames names = NamesOf(map_);
  std::string text =
      absl::StrCat(names.symbols[map_.num_ranges() + i], ": ", bindings_[i].YieldedBy(analysed),
                   ", ", bindings_[i].value.ToString(), "; ", ElementMap(i).ToString());
  if (bindings_[i].device) {
    absl::StrAppend(&text, "; replica: ", ElementDeviceMap(i).ToString());
  }
  return text;
}

std::string OperandIndexing::ReplicaToString() const {
  if (replica_map_ == nullptr) return "";
  return absl::StrCat("replica: ", DeviceMap().ToString());
}

std::string OperandIndexing::ToString(const HloComputation* analysed) const {
  std::string text = MapToString();
  for (int i = 0; i < map_.num_runtimes(); ++i) {
    absl::StrAppend(&text, "\n  ", BindingToString(i, analysed));
  }
  if (replica_map_ != nullptr) absl::StrAppend(&text, "\n  ", ReplicaToString());
  return text;
}

bool operator==(const OperandIndexing& a, const OperandIndexing& b) {
  return OperandIndexing::IdenticalRelation(a, b) && a.label_ == b.label_;
}

OperandIndexing OnAnyDevice(const OperandIndexing& indexing, const Interval& readers,
                            const Interval& devices) {
  const IndexingMap& map = indexing.map();
  ReplicaMap replica_map;
  replica_map.readers = readers;
  if (devices.IsPoint()) {
    replica_map.device = Constant(devices.lower(), map.context());
    OperandIndexing result = indexing;
    result.SetReplicaMap(kPartsFit, std::move(replica_map));
    return result;
  }
  replica_map.device = mlir::getAffineSymbolExpr(map.num_ranges(), map.context());
  Variables ranges(map.ranges());
  ranges.push_back({devices, {}});
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(map.num_dims(), ranges.size(), map.results(), map.context());
  OperandIndexing result(kPartsFit,
                         IndexingMap(kPartsFit, affine_map, Variables(map.dims()),
                                     std::move(ranges), {}, Constraints(map.constraints())),
                         {}, indexing.label());
  result.SetReplicaMap(kPartsFit, std::move(replica_map));
  return result;
}

OperandIndexing OnDevicesOf(const OperandIndexing& first, const OperandIndexing& second,
                            const OperandIndexing& whole) {
  if (first.replica_map() == nullptr && second.replica_map() == nullptr) return whole;
  const OperandIndexing& begin = first.replica_map() != nullptr ? first : second;
  const OperandIndexing& last = second.replica_map() != nullptr ? second : first;
  return OnAnyDevice(whole, begin.replica_map()->readers, last.DevicesRead());
}

namespace {

// The replica map that stands for no replica map.
ReplicaMap SameDevice(const OperandIndexing& indexing) {
  return {Interval::All(), indexing.Reader(), {}};
}

}  // namespace

absl::StatusOr<OperandIndexing> ComposeOperandIndexing(const OperandIndexing& first,
                                                       const OperandIndexing& second) {
  if (first.map().context() != second.map().context()) {
    return absl::InvalidArgumentError(
        absl::StrCat("maps of two MLIRContexts cannot be composed: ", first.MapToString(), " and ",
                     second.MapToString()));
  }
  const ExactnessLabel label = ExactnessLabel::Weaker(first.label(), second.label());
  if (first.IsUnknown() || second.IsUnknown()) {
    return OperandIndexing::Unknown(first.map().context(), label.reason);
  }
  const IndexingMap& map = first.map();
  const bool has_replica_map = first.replica_map() != nullptr || second.replica_map() != nullptr;
  RuntimeVarIndexings bindings(second.bindings().begin(), second.bindings().end());
  absl::StatusOr<IndexingMap> all(absl::UnknownError(""));
  if (has_replica_map) {
    // What `second` reads on its reader, the composition reads on the device that `first` names.
    for (RuntimeVarIndexing& binding : bindings) {
      if (!binding.device) binding.device = second.Reader();
    }
    const ReplicaMap first_devices =
        first.replica_map() == nullptr ? SameDevice(first) : *first.replica_map();
    const ReplicaMap second_devices =
        second.replica_map() == nullptr ? SameDevice(second) : *second.replica_map();
    all = ComposeIndexingMaps(Join(map, {}, &first_devices),
                              Join(second.map(), bindings, &second_devices));
  } else {
    all = ComposeIndexingMaps(map, Join(second.map(), bindings, nullptr));
  }
  if (!all.ok()) return all.status();
  std::optional<MapParts> parts =
      TakeApart(*all, second.map().num_results(), std::move(bindings), has_replica_map);
  if (!parts) return absl::InternalError("an index depends on the device");

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
    parts->bindings.push_back(std::move(binding));
  }
  OperandIndexing result(kPartsFit, std::move(parts->map), std::move(parts->bindings), label);
  if (parts->replica_map != nullptr) result.SetReplicaMap(kPartsFit, *parts->replica_map);
  if (result.IsKnownEmpty()) {
    return OperandIndexing(kPartsFit, IndexingMap::MakeEmpty(map.context(), map.num_dims(), 0, 0,
                                                             second.map().num_results()));
  }
  result.OrderRuntimeVariables();
  return result;
}

}  // namespace xla_indexing

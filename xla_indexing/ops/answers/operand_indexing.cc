#include "xla_indexing/ops/answers/operand_indexing.h"

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
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/memory/remembered.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/simplify/joined_relation.h"
#include "xla_indexing/map/variable_names.h"
#include "xla_indexing/ops/answers/remembered_maps.h"

namespace xla_indexing {
namespace {

using internal::Constant;
using internal::ExprSimplifier;
using internal::JoinedRelation;
using internal::MarkSymbols;
using internal::NamesOf;
using internal::RuntimeDefinition;
using internal::Substitute;
using internal::VariableNames;
using ::mlir::AffineExpr;
using ExprVector = llvm::SmallVector<AffineExpr, 8>;

// What JoinedRelation needs to know of a list of bindings: a binding's source and value function as
// their places among those of the list.
std::vector<RuntimeDefinition> DefinitionsOf(absl::Span<const RuntimeVarIndexing> bindings) {
  std::vector<RuntimeDefinition> definitions;
  for (const RuntimeVarIndexing& binding : bindings) {
    RuntimeDefinition& definition = definitions.emplace_back();
    definition.id = static_cast<int>(definitions.size()) - 1;
    for (const RuntimeVarIndexing& other : bindings) {
      definition.source += CompareSources(other, binding) < 0 ? 1 : 0;
      definition.function += other.value < binding.value ? 1 : 0;
    }
    definition.num_indices = static_cast<int>(binding.element.size());
    definition.has_device = static_cast<bool>(binding.device);
    definition.values = binding.ValueRange();
  }
  return definitions;
}

// A map with bindings and replica map as the results of one map: its own results, elements, and
// with a replica map, whose reader is the dimension after its own, devices. After these dimensions
// there are `num_further` of any values.
IndexingMap Join(const IndexingMap& map, absl::Span<const RuntimeVarIndexing> bindings,
                 const ReplicaMap* replica_map, int num_further = 0) {
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
  dims.append(num_further, {Interval::All(), {}});
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(dims.size(), map.num_symbols(), results, map.context());
  return IndexingMap(kPartsFit, affine_map, std::move(dims), Variables(map.ranges()),
                     Variables(map.runtimes()), std::move(constraints));
}

// The relation as an answer of this label; `bindings` are those that the ids of its definitions
// name. Nullopt if a result or an element has come to depend on the reader, which only the replica
// map can say.
std::optional<OperandIndexing> TakeApart(const JoinedRelation& relation,
                                         absl::Span<const RuntimeVarIndexing> bindings,
                                         const ExactnessLabel& label) {
  const IndexingMap& joined = relation.map();
  Variables dims(joined.dims());
  Constraints constraints(joined.constraints());
  ReplicaMap replica_map;
  if (relation.has_reader()) {
    const auto depends_on_reader = [&](AffineExpr expr) { return relation.DependsOnReader(expr); };
    if (llvm::any_of(joined.results().take_front(relation.num_without_reader()),
                     depends_on_reader)) {
      return std::nullopt;
    }
    replica_map.device = joined.results().back();
    replica_map.readers = dims.pop_back_val().bounds;
    constraints.clear();
    for (const Constraint& constraint : joined.constraints()) {
      (depends_on_reader(constraint.expr) ? replica_map.constraints : constraints)
          .push_back(constraint);
    }
  }
  RuntimeVarIndexings kept;
  for (const auto [i, definition] : llvm::enumerate(relation.definitions())) {
    const int variable = static_cast<int>(i);
    RuntimeVarIndexing& binding = kept.emplace_back(bindings[definition.id]);
    llvm::copy(relation.Element(variable), binding.element.begin());
    binding.device = relation.Device(variable);
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(dims.size(), joined.num_symbols(),
                           joined.results().take_front(relation.num_results()), joined.context());
  OperandIndexing indexing(
      kPartsFit,
      IndexingMap(kPartsFit, affine_map, std::move(dims), Variables(joined.ranges()),
                  Variables(joined.runtimes()), std::move(constraints)),
      std::move(kept), label);
  if (relation.has_reader()) indexing.SetReplicaMap(kPartsFit, std::move(replica_map));
  return indexing;
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
      static_cast<int64_t>(binding.element.size()) != binding.NumLoops() + binding.shape().rank()) {
    return error("an element of ", binding.element.size(), " indices in ",
                 binding.shape().ToStringWithoutLayout(), " and ", binding.NumLoops(), " loops");
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

}  // namespace

OperandIndexing::OperandIndexing(PartsFit, IndexingMap map, RuntimeVarIndexings bindings,
                                 ExactnessLabel label)
    : OperandIndexing(CopyOnWrite<Parts>(std::in_place, std::move(map), std::move(bindings),
                                         std::move(label), nullptr, /*is_simplified=*/false)) {}

OperandIndexing::OperandIndexing(CopyOnWrite<Parts> parts) : parts_(std::move(parts)) {
  Check(static_cast<size_t>(parts_->map.num_runtimes()) == parts_->bindings.size(),
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
  return PartsToChange().map.AddConstraint(expr, interval);
}

OperandIndexing OperandIndexing::Renamed(
    PartsFit, llvm::function_ref<void(RuntimeVarIndexing* binding)> rename) const {
  OperandIndexing renamed = *this;
  if (bindings().empty()) return renamed;
  for (RuntimeVarIndexing& binding : renamed.parts_.Mutable().bindings) {
    rename(&binding);
  }
  return renamed;
}

void OperandIndexing::Weaken(const ExactnessLabel& label) {
  if (label.exactness <= this->label().exactness) return;
  parts_.Mutable().label = label;
}

namespace {

// Names are not compared, so that maps with names are not remembered.
bool HasNamedVariables(const IndexingMap& map) {
  const auto has_name = [](const Variable& variable) { return static_cast<bool>(variable.name); };
  return llvm::any_of(map.dims(), has_name) || llvm::any_of(map.ranges(), has_name) ||
         llvm::any_of(map.runtimes(), has_name);
}

}  // namespace

void OperandIndexing::Simplify() {
  if (IsSimplified()) return;
  if (internal::IsOff(internal::Engine::kRememberedForms) || !RememberedForms::IsOpen() ||
      HasNamedVariables(map())) {
    SimplifyAnew();
    return;
  }
  *this = RememberedForms::Of(*this, [&] {
    OperandIndexing simplified = *this;
    simplified.SimplifyAnew();
    return simplified;
  });
}

void OperandIndexing::SimplifyAnew() {
  Parts& parts = parts_.Mutable();
  // A map by itself is what most are.
  if (parts.bindings.empty() && parts.replica_map == nullptr) {
    parts.map.Simplify();
  } else {
    JoinedRelation relation(Join(parts.map, parts.bindings, parts.replica_map.get()),
                            parts.map.num_results(), DefinitionsOf(parts.bindings),
                            parts.replica_map != nullptr);
    // Without constraints and bindings, what simplifying leaves as it is need not be taken apart.
    const bool has_results_only = parts.bindings.empty() && parts.map.constraints().empty() &&
                                  parts.replica_map->constraints.empty();
    const bool changed = relation.Simplify();
    if (relation.map().IsKnownEmpty()) {
      parts.map = IndexingMap::MakeEmpty(parts.map.context(), parts.map.num_dims(), 0, 0,
                                         parts.map.num_results());
      parts.bindings.clear();
      parts.replica_map = nullptr;
    } else if (changed || !has_results_only) {
      if (auto simplified = TakeApart(relation, parts.bindings, parts.label)) {
        parts = std::move(simplified->parts_.Mutable());
      }
    }
  }
  if (parts.map.IsKnownEmpty()) parts.label = ExactnessLabel::Exact();
  parts.is_simplified = true;
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
  return mlir::getAffineDimExpr(map().num_dims(), map().context());
}

bool OperandIndexing::HasNoReaders() const {
  if (replica_map() == nullptr) return false;
  if (replica_map()->readers.IsEmpty()) return true;
  return llvm::any_of(replica_map()->constraints,
                      [](const Constraint& constraint) { return constraint.interval.IsEmpty(); });
}

Interval OperandIndexing::DevicesRead() const {
  if (IsKnownEmpty()) return Interval::Empty();
  llvm::SmallVector<Interval, 4> dims = map().DimBounds();
  Check(replica_map() != nullptr, "OperandIndexing::DevicesRead() without a replica map");
  dims.push_back(replica_map()->readers);
  return ExprSimplifier(map().context(), dims, map().SymbolBounds()).Range(replica_map()->device);
}

IndexingMap OperandIndexing::ElementMap(int i) const {
  Check(i >= 0 && i < map().num_runtimes(),
        "OperandIndexing::ElementMap() of a runtime variable that is not there");
  return MapTo(bindings()[i].element, map(), map());
}

IndexingMap OperandIndexing::ElementDeviceMap(int i) const {
  Check(replica_map() != nullptr && i >= 0 && i < map().num_runtimes() && bindings()[i].device,
        "OperandIndexing::ElementDeviceMap() of a binding without a device");
  return MapTo(bindings()[i].device, Join(map(), {}, replica_map()), map());
}

IndexingMap OperandIndexing::DeviceMap() const {
  Check(replica_map() != nullptr, "OperandIndexing::DeviceMap() without a replica map");
  const IndexingMap joined = Join(map(), {}, replica_map());
  return IndexingMap(kPartsFit,
                     mlir::AffineMap::get(joined.num_dims(), joined.num_symbols(),
                                          joined.results().take_back(1), joined.context()),
                     Variables(joined.dims()), Variables(joined.ranges()),
                     Variables(joined.runtimes()), Constraints(joined.constraints()));
}

std::string OperandIndexing::MapToString() const {
  if (IsUnknown()) return absl::StrCat("unknown: ", label().reason);
  std::string text = map().ToString();
  if (!IsExact()) {
    absl::StrAppend(&text, "  (", ExactnessName(label().exactness), ": ", label().reason, ")");
  }
  return text;
}

std::string OperandIndexing::BindingToString(int i, const HloComputation* analysed) const {
  Check(i >= 0 && i < map().num_runtimes(),
        "OperandIndexing::BindingToString() of a runtime variable that is not there");
  const VariableNames names = NamesOf(map());
  std::string text =
      absl::StrCat(names.symbols[map().num_ranges() + i], ": ", bindings()[i].YieldedBy(analysed),
                   ", ", bindings()[i].value.ToString(), "; ", ElementMap(i).ToString());
  if (bindings()[i].device) {
    absl::StrAppend(&text, "; replica: ", ElementDeviceMap(i).ToString());
  }
  return text;
}

std::string OperandIndexing::ReplicaToString() const {
  if (replica_map() == nullptr) return "";
  return absl::StrCat("replica: ", DeviceMap().ToString());
}

std::string OperandIndexing::ToString(const HloComputation* analysed) const {
  std::string text = MapToString();
  for (int i = 0; i < map().num_runtimes(); ++i) {
    absl::StrAppend(&text, "\n  ", BindingToString(i, analysed));
  }
  if (replica_map() != nullptr) absl::StrAppend(&text, "\n  ", ReplicaToString());
  return text;
}

bool operator==(const OperandIndexing& a, const OperandIndexing& b) {
  return OperandIndexing::IdenticalRelation(a, b) && a.label() == b.label();
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

// `first` followed by `second`, with the elements and devices of both. Those of `first` are further
// results of it, which pass through `second` as further dimensions. `*bindings` is set to the
// bindings of both, in the order of the runtime variables of the composition.
absl::StatusOr<JoinedRelation> ComposeJoined(const OperandIndexing& first,
                                             const OperandIndexing& second, bool has_reader,
                                             RuntimeVarIndexings* bindings) {
  mlir::MLIRContext* context = first.map().context();
  const auto join = [&](const OperandIndexing& indexing, absl::Span<const RuntimeVarIndexing> list,
                        int num_passed) {
    if (!has_reader) return Join(indexing.map(), list, nullptr, num_passed);
    const ReplicaMap replica_map =
        indexing.replica_map() == nullptr ? SameDevice(indexing) : *indexing.replica_map();
    return Join(indexing.map(), list, &replica_map, num_passed);
  };
  // What `second` starts from comes first: the results of `first` and the device that it maps to.
  const IndexingMap from = join(first, first.bindings(), 0);
  const int num_joined = first.map().num_results() + (has_reader ? 1 : 0);
  ExprVector results(from.results().begin(), from.results().end());
  if (has_reader) std::rotate(results.begin() + num_joined - 1, results.end() - 1, results.end());
  const IndexingMap first_joined(
      kPartsFit, mlir::AffineMap::get(from.num_dims(), from.num_symbols(), results, context),
      Variables(from.dims()), Variables(from.ranges()), Variables(from.runtimes()),
      Constraints(from.constraints()));

  bindings->assign(second.bindings().begin(), second.bindings().end());
  for (RuntimeVarIndexing& binding : *bindings) {
    // What `second` reads on its reader, the composition reads on the device that `first` names.
    if (has_reader && !binding.device) binding.device = second.Reader();
  }
  bindings->insert(bindings->end(), first.bindings().begin(), first.bindings().end());
  const auto passed =
      llvm::MutableArrayRef<RuntimeVarIndexing>(*bindings).drop_front(second.bindings().size());
  auto next = static_cast<unsigned>(num_joined);
  for (RuntimeVarIndexing& binding : passed) {
    for (AffineExpr& expr : binding.element) expr = mlir::getAffineDimExpr(next++, context);
  }
  for (RuntimeVarIndexing& binding : passed) {
    if (binding.device) binding.device = mlir::getAffineDimExpr(next++, context);
  }
  absl::StatusOr<IndexingMap> composed = ComposeIndexingMaps(
      first_joined, join(second, *bindings, static_cast<int>(next) - num_joined));
  if (!composed.ok()) return composed.status();
  return JoinedRelation(*std::move(composed), second.map().num_results(), DefinitionsOf(*bindings),
                        has_reader);
}

OperandIndexing EmptyAnswer(const OperandIndexing& first, const OperandIndexing& second) {
  return OperandIndexing(kPartsFit,
                         IndexingMap::MakeEmpty(first.map().context(), first.map().num_dims(), 0, 0,
                                                second.map().num_results()));
}

absl::StatusOr<OperandIndexing> ComposeAnew(const OperandIndexing& first,
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
  if (first.map().num_results() != second.map().num_dims()) {
    return ComposeIndexingMaps(first.map(), second.map()).status();
  }
  const bool has_reader = first.replica_map() != nullptr || second.replica_map() != nullptr;
  const bool has_bindings = !first.bindings().empty() || !second.bindings().empty();
  if (!has_reader && !has_bindings) {
    absl::StatusOr<IndexingMap> map = ComposeIndexingMaps(first.map(), second.map());
    if (!map.ok()) return map.status();
    if (map->IsKnownEmpty()) return EmptyAnswer(first, second);
    return OperandIndexing(kPartsFit, *std::move(map), {}, label);
  }
  RuntimeVarIndexings bindings;
  absl::StatusOr<JoinedRelation> relation = ComposeJoined(first, second, has_reader, &bindings);
  if (!relation.ok()) return relation.status();
  if (relation->map().IsKnownEmpty()) return EmptyAnswer(first, second);
  relation->OrderRuntimeVariables();
  std::optional<OperandIndexing> result = TakeApart(*relation, bindings, label);
  if (!result) return absl::InternalError("an index depends on the device");
  return *std::move(result);
}

}  // namespace

absl::StatusOr<OperandIndexing> ComposeOperandIndexing(const OperandIndexing& first,
                                                       const OperandIndexing& second) {
  if (internal::IsOff(internal::Engine::kRememberedCompositions) ||
      !RememberedCompositions::IsOpen() || HasNamedVariables(first.map()) ||
      HasNamedVariables(second.map())) {
    return ComposeAnew(first, second);
  }
  return RememberedCompositions::Of({first, second}, [&] { return ComposeAnew(first, second); });
}

}  // namespace xla_indexing

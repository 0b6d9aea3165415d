#include "tests/reference/judge/library_relation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/dependence.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/answers/parts/value_function.h"

namespace xla_indexing::reference {
namespace {

using internal::kInt64Max;

int64_t ElementCount(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape.dimensions()) count *= size;
  return count;
}

std::string IndexText(const Shape& shape, int64_t position) {
  const int64_t count = ElementCount(shape);
  std::string text =
      absl::StrCat("(", absl::StrJoin(IndexAt(shape.dimensions(), position % count), ", "), ")");
  if (position >= count) absl::StrAppend(&text, " of device ", position / count);
  return text;
}

// Dimension and range variables, then runtime variables, some of which (u64) exceed int64.
struct Point {
  llvm::SmallVector<Integer, 8> dims;
  llvm::SmallVector<Integer, 8> symbols;
};

Integer FloorDiv(Integer a, Integer b) { return a / b - (a % b < 0 ? 1 : 0); }

// The value of an expression whose divisors are positive, as IndexingMap::Verify() has it. Maps of
// small modules are neither deep nor large.
Integer Evaluate(mlir::AffineExpr expr, const Point& point) {
  if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) return constant.getValue();
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) return point.dims[dim.getPosition()];
  if (auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    return point.symbols[symbol.getPosition()];
  }
  const auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  const Integer lhs = Evaluate(binary.getLHS(), point);
  const Integer rhs = Evaluate(binary.getRHS(), point);
  switch (expr.getKind()) {
    case mlir::AffineExprKind::Add:
      return lhs + rhs;
    case mlir::AffineExprKind::Mul:
      return lhs * rhs;
    case mlir::AffineExprKind::FloorDiv:
      return FloorDiv(lhs, rhs);
    case mlir::AffineExprKind::CeilDiv:
      return -FloorDiv(-lhs, rhs);
    default:
      return lhs - FloorDiv(lhs, rhs) * rhs;
  }
}

bool Contains(const Interval& interval, Integer value) {
  return !interval.IsEmpty() && (!interval.has_lower() || interval.lower() <= value) &&
         (!interval.has_upper() || value <= interval.upper());
}

// min(max(value, lower), upper) and the like, whatever the size of the value.
Integer Apply(const ValueFunction& function, Integer value) {
  switch (function.kind()) {
    case ValueFunction::Kind::kAsIs:
    case ValueFunction::Kind::kIterations:
      return value;
    case ValueFunction::Kind::kIsNotZero:
      return value != 0 ? 1 : 0;
    case ValueFunction::Kind::kClamp:
      return std::min(std::max<Integer>(value, function.lower()), Integer(function.upper()));
    case ValueFunction::Kind::kInRangeElseLast:
      return value >= 0 && value <= function.upper() ? value : Integer(function.upper());
  }
  return value;
}

// The coordinates, or nothing where they are outside the array.
std::optional<Index> IndexInside(llvm::ArrayRef<mlir::AffineExpr> expressions, const Point& point,
                                 absl::Span<const int64_t> sizes) {
  Index index;
  for (size_t d = 0; d < expressions.size(); ++d) {
    const Integer coordinate = Evaluate(expressions[d], point);
    if (coordinate < 0 || coordinate >= sizes[d]) return std::nullopt;
    index.push_back(static_cast<int64_t>(coordinate));
  }
  return index;
}

// Reads the values of one runtime variable.
class RuntimeReader {
 public:
  // An error where the binding names nothing that was executed.
  static absl::StatusOr<RuntimeReader> Make(const RuntimeVarIndexing& binding,
                                            const Devices& devices) {
    if (static_cast<int64_t>(binding.element.size()) !=
        binding.NumLoops() + binding.shape().rank()) {
      return absl::InternalError(absl::StrCat("the element of ", binding.YieldedBy(nullptr),
                                              " has ", binding.element.size(), " coordinates"));
    }
    RuntimeReader reader(binding);
    for (size_t p = 0; p < devices.count(); ++p) {
      reader.executions_.push_back(&devices[p]);
      if (binding.NumLoops() > 0) continue;
      const absl::StatusOr<std::optional<Integer>> any = reader.ValueAt(devices[p], {}, {});
      if (!any.ok()) return any.status();
    }
    return reader;
  }

  // The variable's value at a point of reader `device`; nothing where the element is outside its
  // array, or its device none, or its loop has no such iteration.
  std::optional<Integer> Read(const Point& point, int64_t device) const {
    if (binding_->device) {
      const Integer named = Evaluate(binding_->device, point);
      if (named < 0 || named >= static_cast<int64_t>(executions_.size())) return std::nullopt;
      device = static_cast<int64_t>(named);
    }
    std::vector<Integer> element;
    for (const mlir::AffineExpr expr : binding_->element) element.push_back(Evaluate(expr, point));
    const auto loops = static_cast<size_t>(binding_->NumLoops());
    const absl::StatusOr<std::optional<Integer>> value =
        ValueAt(*executions_[device], llvm::ArrayRef(element).take_front(loops),
                llvm::ArrayRef(element).drop_front(loops));
    if (!value.ok() || !*value) return std::nullopt;
    return Apply(binding_->value, **value);
  }

  // Leaves values of range variables out that are numbers of iterations which no loop has.
  void BoundIterations(Variables* ranges) const {
    for (int64_t i = 0; i < binding_->NumLoops(); ++i) {
      const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(binding_->element[i]);
      if (!symbol || symbol.getPosition() >= ranges->size()) continue;
      Interval& bounds = (*ranges)[symbol.getPosition()].bounds;
      bounds = bounds.Intersect(Interval::Closed(0, kMaxIterations));
    }
  }

 private:
  explicit RuntimeReader(const RuntimeVarIndexing& binding) : binding_(&binding) {}

  // The value in iterations of these numbers; nothing where one of them, or the element, is not there.
  absl::StatusOr<std::optional<Integer>> ValueAt(const Execution& execution,
                                                 llvm::ArrayRef<Integer> iterations,
                                                 llvm::ArrayRef<Integer> element) const {
    const Execution* inner = &execution;
    for (size_t i = 0; i < binding_->call_path.size(); ++i) {
      const HloInstruction* caller = binding_->call_path[i];
      const HloInstruction* within =
          i + 1 < binding_->call_path.size() ? binding_->call_path[i + 1] : binding_->instruction;
      const bool is_loop = caller->opcode() == HloOpcode::kWhile;
      const auto it = inner->calls.find({caller, within->parent()});
      if (it == inner->calls.end()) {
        // A loop that has no iteration.
        if (is_loop) return std::nullopt;
        return absl::InternalError(absl::StrCat("no call ", caller->name(), " on the path of ",
                                                binding_->YieldedBy(nullptr)));
      }
      inner = it->second.get();
      if (!is_loop) continue;
      const Integer k = iterations.front();
      iterations = iterations.drop_front();
      if (k < 0 || k >= inner->runs) return std::nullopt;
      if (k < inner->runs - 1) inner = inner->earlier[static_cast<size_t>(k)].get();
    }
    if (binding_->value.kind() == ValueFunction::Kind::kIterations) {
      const HloInstruction* loop = binding_->instruction;
      const auto body = inner->calls.find({loop, loop->while_body()});
      return Integer{body == inner->calls.end() ? 0 : body->second->runs};
    }
    const auto it = inner->values.find(binding_->instruction);
    if (it == inner->values.end() || binding_->leaf >= static_cast<int64_t>(it->second.size())) {
      return absl::InternalError(absl::StrCat("nothing yields ", binding_->YieldedBy(nullptr)));
    }
    const Array& array = it->second[binding_->leaf];
    if (element.size() != static_cast<size_t>(array.rank())) {
      for (const Element& each : array.elements()) {
        if (each.value.has_value()) continue;
        return absl::InternalError(
            absl::StrCat(binding_->YieldedBy(nullptr), " holds no integers"));
      }
      return std::nullopt;
    }
    Index index;
    for (size_t d = 0; d < element.size(); ++d) {
      if (element[d] < 0 || element[d] >= array.sizes()[d]) return std::nullopt;
      index.push_back(static_cast<int64_t>(element[d]));
    }
    const Element& found = array.at(index);
    if (!found.value.has_value()) {
      return absl::InternalError(absl::StrCat(binding_->YieldedBy(nullptr), " holds no integers"));
    }
    return *found.value;
  }

  const RuntimeVarIndexing* binding_;
  // By device.
  std::vector<const Execution*> executions_;
};

// The dimension and range variables of a map as the sizes and first values of a box.
struct Box {
  Index lower;
  Index sizes;
};

absl::Status AppendVariables(llvm::ArrayRef<Variable> variables, int64_t max_points, Box* box) {
  for (const Variable& variable : variables) {
    const Interval& bounds = variable.bounds;
    if (!bounds.IsFinite()) {
      return absl::InternalError(absl::StrCat("infinite interval ", bounds.ToString()));
    }
    box->lower.push_back(bounds.IsEmpty() ? 0 : bounds.lower());
    box->sizes.push_back(bounds.Size().value_or(kInt64Max));
  }
  int64_t count = 1;
  for (int64_t size : box->sizes) {
    if (count > 0 && size > max_points / count) {
      return absl::ResourceExhaustedError("too many points");
    }
    count *= size;
  }
  return absl::OkStatus();
}

// Most relations are sorted as they come.
void Sort(Relation& pairs) {
  if (!absl::c_is_sorted(pairs)) absl::c_sort(pairs);
}

// Evaluates a map point by point.
class Enumerator {
 public:
  Enumerator(const OperandIndexing& indexing, const MapEnds& ends, int64_t device_count,
             std::vector<RuntimeReader> runtimes)
      : map_(indexing.map()),
        replica_map_(indexing.replica_map()),
        ends_(ends),
        device_count_(device_count),
        runtimes_(std::move(runtimes)) {}

  absl::StatusOr<Relation> Run(int64_t max_points) const {
    Box box;
    absl::Status status = AppendVariables(map_.dims(), max_points, &box);
    Variables ranges(map_.ranges());
    for (const RuntimeReader& runtime : runtimes_) runtime.BoundIterations(&ranges);
    if (status.ok()) status = AppendVariables(ranges, max_points, &box);
    if (!status.ok()) return status;
    Relation pairs;
    ForEachIndex(box.sizes, [&](const Index& index) {
      if (!status.ok()) return;
      Point point;
      for (size_t v = 0; v < index.size(); ++v) {
        const bool is_dim = v < map_.dims().size();
        (is_dim ? point.dims : point.symbols).push_back(box.lower[v] + index[v]);
      }
      for (int64_t reader = 0; reader < device_count_ && status.ok(); ++reader) {
        status = Visit(point, reader, &pairs);
      }
    });
    if (!status.ok()) return status;
    Sort(pairs);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    return pairs;
  }

 private:
  // Adds the pair of a point of dimension and range variables, if it is in the domain.
  absl::Status Visit(Point point, int64_t reader, Relation* pairs) const {
    const Index from(point.dims.begin(), point.dims.end());
    if (replica_map_ != nullptr) {
      if (!Contains(replica_map_->readers, reader)) return absl::OkStatus();
      point.dims.push_back(reader);
    }
    for (int i = 0; i < map_.num_runtimes(); ++i) {
      const std::optional<Integer> value = runtimes_[i].Read(point, reader);
      if (!value.has_value() || !Contains(map_.runtimes()[i].bounds, *value)) {
        return absl::OkStatus();
      }
      point.symbols.push_back(*value);
    }
    if (!AllHold(map_.constraints(), point)) return absl::OkStatus();
    Integer device = reader;
    if (replica_map_ != nullptr) {
      if (!AllHold(replica_map_->constraints, point)) return absl::OkStatus();
      device = Evaluate(replica_map_->device, point);
    }
    const std::optional<Index> to = IndexInside(map_.results(), point, ends_.to.dimensions());
    if (!IsInside(ends_.from.dimensions(), from) || !to.has_value() || device < 0 ||
        device >= device_count_) {
      return absl::InternalError(absl::StrCat("at (", absl::StrJoin(from, ", "), ") of device ",
                                              reader, " it leaves ", ends_.from.ToString(), " or ",
                                              ends_.to.ToString(), " or the devices"));
    }
    pairs->emplace_back(
        reader * ElementCount(ends_.from) + PositionOf(ends_.from.dimensions(), from),
        static_cast<int64_t>(device) * ElementCount(ends_.to) +
            PositionOf(ends_.to.dimensions(), *to));
    return absl::OkStatus();
  }

  static bool AllHold(llvm::ArrayRef<Constraint> constraints, const Point& point) {
    return std::all_of(constraints.begin(), constraints.end(), [&](const Constraint& constraint) {
      return Contains(constraint.interval, Evaluate(constraint.expr, point));
    });
  }

  const IndexingMap& map_;
  const ReplicaMap* replica_map_;
  const MapEnds& ends_;
  int64_t device_count_;
  std::vector<RuntimeReader> runtimes_;
};

// An error that names the first pair of `part` that `whole` lacks; OK if there is none. Both are sorted.
absl::Status CheckContains(const Relation& whole, const Relation& part, const MapEnds& ends,
                           absl::string_view what) {
  auto at = whole.begin();
  for (const auto& pair : part) {
    while (at != whole.end() && *at < pair) ++at;
    if (at != whole.end() && *at == pair) continue;
    return absl::InternalError(absl::StrCat(IndexText(ends.from, pair.first), " -> ",
                                            IndexText(ends.to, pair.second), " ", what));
  }
  return absl::OkStatus();
}

absl::Status WithContext(const absl::Status& status, absl::string_view context) {
  return status.ok() ? status
                     : absl::Status(status.code(), absl::StrCat(context, "\n", status.message()));
}

std::string MapsText(const OperandIndexingSet& maps) {
  std::string text;
  for (const OperandIndexing& map : maps) absl::StrAppend(&text, "\n", map.ToString());
  return text;
}

}  // namespace

absl::StatusOr<Relation> RelationOf(const OperandIndexing& indexing, const MapEnds& ends,
                                    const Devices& devices, int64_t max_points) {
  const IndexingMap& map = indexing.map();
  if (map.num_dims() != ends.from.rank() || map.num_results() != ends.to.rank() ||
      static_cast<size_t>(map.num_runtimes()) != indexing.bindings().size()) {
    return absl::InternalError(absl::StrCat("a map from ", ends.from.ToString(), " to ",
                                            ends.to.ToString(), " cannot be ",
                                            indexing.MapToString()));
  }
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  if (indexing.replica_map() != nullptr) {
    if (absl::Status status = indexing.DeviceMap().Verify(); !status.ok()) return status;
  }
  std::vector<RuntimeReader> runtimes;
  for (const RuntimeVarIndexing& binding : indexing.bindings()) {
    absl::StatusOr<RuntimeReader> reader = RuntimeReader::Make(binding, devices);
    if (!reader.ok()) return reader.status();
    runtimes.push_back(*std::move(reader));
  }
  return Enumerator(indexing, ends, static_cast<int64_t>(devices.count()), std::move(runtimes))
      .Run(max_points);
}

absl::Status CheckMaps(const OperandIndexingSet& maps, const Relation& truth, const MapEnds& ends,
                       const Devices& devices, Overlap overlap, int64_t max_points) {
  Relation all;
  for (const OperandIndexing& map : maps) {
    if (map.IsUnknown()) return absl::OkStatus();
    const absl::StatusOr<Relation> relation = RelationOf(map, ends, devices, max_points);
    if (!relation.ok()) return WithContext(relation.status(), map.ToString());
    if (map.IsExact()) {
      const absl::Status status =
          CheckContains(truth, *relation, ends, "is said by an exact map and is not so");
      if (!status.ok()) return WithContext(status, map.ToString());
    }
    all.insert(all.end(), relation->begin(), relation->end());
  }
  Sort(all);
  // No map has a pair twice.
  const auto twice = absl::c_adjacent_find(all);
  if (overlap == Overlap::kNone && twice != all.end()) {
    return absl::InternalError(absl::StrCat(IndexText(ends.from, twice->first), " -> ",
                                            IndexText(ends.to, twice->second),
                                            " is said by two maps:", MapsText(maps)));
  }
  return WithContext(CheckContains(all, truth, ends, "is missing from the maps"),
                     absl::StrCat("maps:", MapsText(maps)));
}

absl::Status CheckEntries(const InstructionIndexing& entries, Direction direction,
                          const Dependence& truth, const Shape& result,
                          absl::Span<const HloInstruction* const> operands, const Devices& devices,
                          Overlap overlap, std::optional<int64_t> max_points) {
  const std::vector<const Shape*> result_leaves = result.Leaves();
  std::set<LeafPair> seen;
  for (const IndexingEntry& entry : entries) {
    const LeafPair leaves = {entry.output_leaf, entry.operand, entry.operand_leaf};
    const std::string context = absl::StrCat("output ", entry.output_leaf, " operand ",
                                             entry.operand, " leaf ", entry.operand_leaf);
    const auto it = truth.find(leaves);
    if (it == truth.end()) return absl::InternalError(absl::StrCat(context, ": no such leaves"));
    if (!seen.insert(leaves).second) return absl::InternalError(absl::StrCat(context, ": twice"));
    const Shape& output = *result_leaves[entry.output_leaf];
    const Shape& operand = operands[entry.operand]->shape().Leaf(entry.operand_leaf);
    const bool forward = direction == Direction::kInputToOutput;
    const MapEnds ends = forward ? MapEnds{operand, output} : MapEnds{output, operand};
    const Relation relation = forward ? Converse(it->second) : it->second;
    const absl::Status status = CheckMaps(entry.indexing, relation, ends, devices, overlap,
                                          max_points.value_or(kMaxPoints));
    if (max_points && absl::IsResourceExhausted(status)) continue;
    if (!status.ok()) return WithContext(status, context);
  }
  for (const auto& [leaves, relation] : truth) {
    if (relation.empty() || seen.contains(leaves)) continue;
    const MapEnds ends = {*result_leaves[leaves.output_leaf],
                          operands[leaves.operand]->shape().Leaf(leaves.operand_leaf)};
    return WithContext(
        CheckContains({}, relation, ends, "(output to operand) is missing with its entry"),
        absl::StrCat("output ", leaves.output_leaf, " operand ", leaves.operand, " leaf ",
                     leaves.operand_leaf));
  }
  return absl::OkStatus();
}

}  // namespace xla_indexing::reference

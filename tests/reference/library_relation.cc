#include "tests/reference/library_relation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
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
#include "mlir/IR/AffineExpr.h"
#include "tests/reference/dependence.h"
#include "tests/reference/execute.h"
#include "tests/reference/value.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/map/expr_program.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/exactness.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/ops/operand_indexing.h"
#include "xla_indexing/ops/operand_indexing_set.h"
#include "xla_indexing/ops/runtime_var_indexing.h"

namespace xla_indexing::reference {
namespace {

constexpr int64_t kMaxPoints = int64_t{1} << 24;

std::string IndexText(const Shape& shape, int64_t position) {
  return absl::StrCat("(", absl::StrJoin(IndexAt(shape.dimensions(), position), ", "), ")");
}

int64_t SaturatedInt64(Integer value) {
  const Integer least = std::numeric_limits<int64_t>::min();
  const Integer greatest = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::max(least, std::min(greatest, value)));
}

// Reads the values of one runtime variable.
class RuntimeReader {
 public:
  // An error where the binding names nothing that was executed.
  static absl::StatusOr<RuntimeReader> Make(const RuntimeVarIndexing& binding,
                                            const Execution& execution) {
    const Execution* inner = &execution;
    for (const HloInstruction* caller : binding.call_path) {
      const auto it = inner->calls.find(caller);
      if (it == inner->calls.end()) {
        return absl::InternalError(absl::StrCat("no call ", caller->name(), " on the path of ",
                                                binding.YieldedBy(nullptr)));
      }
      inner = it->second.get();
    }
    const auto it = inner->values.find(binding.instruction);
    if (it == inner->values.end() || binding.leaf >= static_cast<int64_t>(it->second.size())) {
      return absl::InternalError(absl::StrCat("nothing yields ", binding.YieldedBy(nullptr)));
    }
    const Array& array = it->second[binding.leaf];
    if (static_cast<int64_t>(binding.element.size()) != array.rank()) {
      return absl::InternalError(absl::StrCat("the element of ", binding.YieldedBy(nullptr),
                                              " has ", binding.element.size(), " coordinates"));
    }
    return RuntimeReader(binding, array);
  }

  // The variable's value at a point; nothing where the element is outside its array.
  absl::StatusOr<std::optional<int64_t>> Read(llvm::ArrayRef<int64_t> dims,
                                              llvm::ArrayRef<int64_t> symbols) const {
    ExprProgram::Workspace workspace;
    if (absl::Status status = element_.Evaluate(dims, symbols, &workspace); !status.ok()) {
      return status;
    }
    Index index;
    for (int i = 0; i < element_.num_results(); ++i) {
      index.push_back(element_.Result(workspace, i));
    }
    if (!IsInside(array_->sizes(), index)) return std::optional<int64_t>();
    const Element& element = array_->at(index);
    if (!element.value.has_value()) {
      return absl::InternalError(absl::StrCat(binding_->YieldedBy(nullptr), " holds no integers"));
    }
    return std::optional<int64_t>(binding_->value.Apply(SaturatedInt64(*element.value)));
  }

 private:
  RuntimeReader(const RuntimeVarIndexing& binding, const Array& array)
      : binding_(&binding), array_(&array), element_(binding.element) {}

  const RuntimeVarIndexing* binding_;
  const Array* array_;
  ExprProgram element_;
};

// The dimension and range variables of a map as the sizes and first values of a box.
struct Box {
  Index lower;
  Index sizes;
};

absl::Status AppendVariables(llvm::ArrayRef<Variable> variables, Box* box) {
  for (const Variable& variable : variables) {
    const Interval& bounds = variable.bounds;
    if (!bounds.IsFinite()) {
      return absl::InternalError(absl::StrCat("infinite interval ", bounds.ToString()));
    }
    box->lower.push_back(bounds.IsEmpty() ? 0 : bounds.lower());
    box->sizes.push_back(bounds.IsEmpty() ? 0 : bounds.upper() - bounds.lower() + 1);
  }
  int64_t count = 1;
  for (int64_t size : box->sizes) {
    count *= size;
    if (count > kMaxPoints) return absl::ResourceExhaustedError("too many points");
  }
  return absl::OkStatus();
}

// Evaluates a map point by point.
class Enumerator {
 public:
  Enumerator(const IndexingMap& map, const MapEnds& ends, std::vector<RuntimeReader> runtimes)
      : map_(map), ends_(ends), runtimes_(std::move(runtimes)), program_(Expressions(map)) {}

  absl::StatusOr<Relation> Run() const {
    Box box;
    if (absl::Status status = AppendVariables(map_.dims(), &box); !status.ok()) return status;
    if (absl::Status status = AppendVariables(map_.ranges(), &box); !status.ok()) return status;
    std::set<std::pair<int64_t, int64_t>> pairs;
    absl::Status status;
    ForEachIndex(box.sizes, [&](const Index& index) {
      if (!status.ok()) return;
      llvm::SmallVector<int64_t, 8> dims;
      llvm::SmallVector<int64_t, 8> symbols;
      for (size_t v = 0; v < index.size(); ++v) {
        const bool is_dim = v < map_.dims().size();
        (is_dim ? dims : symbols).push_back(box.lower[v] + index[v]);
      }
      status = Visit(dims, &symbols, &pairs);
    });
    if (!status.ok()) return status;
    return Relation(pairs.begin(), pairs.end());
  }

 private:
  // The constraints, then the results.
  static llvm::SmallVector<mlir::AffineExpr, 8> Expressions(const IndexingMap& map) {
    llvm::SmallVector<mlir::AffineExpr, 8> expressions;
    for (const Constraint& constraint : map.constraints()) expressions.push_back(constraint.expr);
    expressions.append(map.results().begin(), map.results().end());
    return expressions;
  }

  // Adds the pair of a point of dimension and range variables, if it is in the domain.
  absl::Status Visit(llvm::ArrayRef<int64_t> dims, llvm::SmallVector<int64_t, 8>* symbols,
                     std::set<std::pair<int64_t, int64_t>>* pairs) const {
    for (int i = 0; i < map_.num_runtimes(); ++i) {
      const absl::StatusOr<std::optional<int64_t>> value = runtimes_[i].Read(dims, *symbols);
      if (!value.ok()) return value.status();
      if (!value->has_value() || !map_.runtimes()[i].bounds.Contains(**value)) {
        return absl::OkStatus();
      }
      symbols->push_back(**value);
    }
    ExprProgram::Workspace workspace;
    if (absl::Status status = program_.Evaluate(dims, *symbols, &workspace); !status.ok()) {
      return status;
    }
    int next = 0;
    for (const Constraint& constraint : map_.constraints()) {
      if (!constraint.interval.Contains(program_.Result(workspace, next++))) {
        return absl::OkStatus();
      }
    }
    const Index from(dims.begin(), dims.end());
    Index to;
    while (next < program_.num_results()) to.push_back(program_.Result(workspace, next++));
    if (!IsInside(ends_.from.dimensions(), from) || !IsInside(ends_.to.dimensions(), to)) {
      return absl::InternalError(absl::StrCat("(", absl::StrJoin(from, ", "), ") -> (",
                                              absl::StrJoin(to, ", "), ") leaves ",
                                              ends_.from.ToString(), " or ", ends_.to.ToString()));
    }
    pairs->emplace(PositionOf(ends_.from.dimensions(), from),
                   PositionOf(ends_.to.dimensions(), to));
    return absl::OkStatus();
  }

  const IndexingMap& map_;
  const MapEnds& ends_;
  std::vector<RuntimeReader> runtimes_;
  ExprProgram program_;
};

// An error that names the first pair of `part` that `whole` lacks; OK if there is none.
absl::Status CheckContains(const Relation& whole, const Relation& part, const MapEnds& ends,
                           absl::string_view what) {
  for (const auto& pair : part) {
    if (absl::c_binary_search(whole, pair)) continue;
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
                                    const Execution& execution) {
  const IndexingMap& map = indexing.map();
  if (map.num_dims() != ends.from.rank() || map.num_results() != ends.to.rank() ||
      static_cast<size_t>(map.num_runtimes()) != indexing.bindings().size()) {
    return absl::InternalError(absl::StrCat("a map from ", ends.from.ToString(), " to ",
                                            ends.to.ToString(), " cannot be ",
                                            indexing.MapToString()));
  }
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  std::vector<RuntimeReader> runtimes;
  for (const RuntimeVarIndexing& binding : indexing.bindings()) {
    absl::StatusOr<RuntimeReader> reader = RuntimeReader::Make(binding, execution);
    if (!reader.ok()) return reader.status();
    runtimes.push_back(*std::move(reader));
  }
  return Enumerator(map, ends, std::move(runtimes)).Run();
}

absl::Status CheckMaps(const OperandIndexingSet& maps, const Relation& truth, const MapEnds& ends,
                       const Execution& execution) {
  Relation all;
  for (const OperandIndexing& map : maps) {
    if (map.IsUnknown()) return absl::OkStatus();
    const absl::StatusOr<Relation> relation = RelationOf(map, ends, execution);
    if (!relation.ok()) return WithContext(relation.status(), map.ToString());
    if (map.IsExact()) {
      const absl::Status status =
          CheckContains(truth, *relation, ends, "is said by an exact map and is not so");
      if (!status.ok()) return WithContext(status, map.ToString());
    }
    all.insert(all.end(), relation->begin(), relation->end());
  }
  absl::c_sort(all);
  return WithContext(CheckContains(all, truth, ends, "is missing from the maps"),
                     absl::StrCat("maps:", MapsText(maps)));
}

absl::Status CheckEntries(const InstructionIndexing& entries, Direction direction,
                          const Dependence& truth, const Shape& result,
                          absl::Span<const HloInstruction* const> operands,
                          const Execution& execution) {
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
    const absl::Status status = CheckMaps(entry.indexing, relation, ends, execution);
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

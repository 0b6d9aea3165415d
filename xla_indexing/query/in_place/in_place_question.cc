#include "xla_indexing/query/in_place/in_place_question.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/sets/inverse.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/query/in_place/buffers/buffer_places.h"
#include "xla_indexing/query/in_place/order_conflicts.h"

namespace xla_indexing::internal {
namespace {

constexpr int64_t kInPlaceSteps = int64_t{1} << 22;
constexpr size_t kMaxRelations = 4096;

// What computes the elements of an array, one after the other: the elements themselves, the iterations of
// a kernel, or the bytes of the buffer.
struct IterationSpace {
  std::vector<CoordinateKind> kinds;
  // From iterations to elements, and back; nullopt if iterations are elements.
  std::optional<OperandIndexing> elements = std::nullopt;
  std::optional<OperandIndexing> iteration_of = std::nullopt;

  // The element that an iteration computes; empty where a number is too large.
  std::vector<int64_t> ElementAt(llvm::ArrayRef<int64_t> coordinates) const {
    if (!elements) return coordinates.vec();
    return ValuesAt(*elements, elements->map().results(), coordinates);
  }
};

// One iteration for each element.
IterationSpace SpaceOfElements(const Shape& array) {
  return {std::vector<CoordinateKind>(array.rank(), CoordinateKind::kLoop)};
}

// InvalidArgument where the map does not lead to elements of the array; Unimplemented where it is not known
// which iteration computes an element.
absl::StatusOr<IterationSpace> IterationsOf(const IterationMap& iterations, const Shape& array) {
  const IndexingMap& map = iterations.elements;
  if (map.num_results() != array.rank() || map.num_runtimes() != 0 ||
      absl::c_any_of(iterations.together, [&](int i) { return i < 0 || i >= map.num_ranges(); })) {
    return absl::InvalidArgumentError(
        absl::StrCat("in place: iterations ", map.ToString(), " are none of ", array.ToString()));
  }
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  IterationSpace space;
  space.kinds.assign(map.num_dims(), CoordinateKind::kParallel);
  for (int i = 0; i < map.num_ranges(); ++i) {
    const bool is_together = absl::c_linear_search(iterations.together, i);
    space.kinds.push_back(is_together ? CoordinateKind::kTogether : CoordinateKind::kLoop);
  }
  space.elements = OperandIndexing(kPartsFit, map.ConvertRangeVariablesToDimensions());
  absl::StatusOr<IndexingMap> inverse = Inverse(space.elements->map());
  if (!inverse.ok()) {
    return absl::UnimplementedError(absl::StrCat(
        "which iteration computes an element is not known: ", inverse.status().message()));
  }
  space.iteration_of = OperandIndexing(kPartsFit, *std::move(inverse));
  return space;
}

// Elements narrower than a byte are written with the others of their byte: iterations are (index, the
// row's byte), in loops, and the elements of one byte are together. Unimplemented where rows along the
// most minor dimension are no whole bytes, or the layout is not known.
//
// Example, s4[6,4]: (d0, d1, d2) -> (d0, d1 * 2 + d2), with d2 in [0, 1] together.
absl::StatusOr<IterationSpace> BytesOf(const Shape& array, mlir::MLIRContext* context) {
  const absl::StatusOr<PhysicalLayout> layout = PhysicalLayoutOf(array);
  if (!layout.ok()) return absl::UnimplementedError(layout.status().message());
  const int64_t in_byte = 8 / layout->width;
  const int64_t rank = array.rank();
  const int64_t minor = rank == 0 ? -1 : layout->major_to_minor.back();
  if (!layout->tilings.empty() || rank == 0 || array.dimension(minor) % in_byte != 0) {
    return absl::UnimplementedError("elements are narrower than a byte, and rows no whole bytes");
  }
  Variables loops;
  llvm::SmallVector<mlir::AffineExpr, 4> results;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t size = array.dimension(i);
    loops.push_back({Interval::OfSize(i == minor ? size / in_byte : size), {}});
    results.push_back(mlir::getAffineSymbolExpr(i, context));
  }
  loops.push_back({Interval::OfSize(in_byte), {}});
  results[minor] = Add(Scale(results[minor], in_byte), mlir::getAffineSymbolExpr(rank, context));
  const mlir::AffineMap map = mlir::AffineMap::get(0, loops.size(), results, context);
  return IterationsOf(
      {IndexingMap(kPartsFit, map, {}, std::move(loops), {}), {static_cast<int>(rank)}}, array);
}

// The loops over all dimensions, upwards, in the order of memory.
LoopOrder OrderOfMemory(const Shape& array) {
  LoopOrder order;
  const absl::StatusOr<PhysicalLayout> layout = PhysicalLayoutOf(array);
  for (int64_t i = 0; i < array.rank(); ++i) {
    order.push_back({static_cast<int>(layout.ok() ? layout->major_to_minor[i] : i), false});
  }
  return order;
}

LoopOrder Reversed(LoopOrder order) {
  for (DirectedLoop& loop : order) loop.is_descending = !loop.is_descending;
  return order;
}

// `first` and then `second`, simplified.
absl::StatusOr<OperandIndexing> Chain(const OperandIndexing& first, const OperandIndexing& second) {
  absl::StatusOr<OperandIndexing> chain = ComposeOperandIndexing(first, second);
  if (chain.ok()) chain->Simplify();
  return chain;
}

// From d to (f(d), d).
OperandIndexing WithDimsAsResults(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  llvm::SmallVector<mlir::AffineExpr, 8> results(map.results());
  for (int i = 0; i < map.num_dims(); ++i) {
    results.push_back(mlir::getAffineDimExpr(i, map.context()));
  }
  return WithResults(indexing, results);
}

// A question in one space of iterations.
class InPlaceDecision {
 public:
  InPlaceDecision(const InPlaceQuestion& question, IterationSpace space)
      : question_(question),
        leaves_(question.leaves),
        space_(std::move(space)),
        budget_(kInPlaceSteps) {
    const absl::Status status = FindConflicts();
    if (!status.ok()) doubt_ = std::string(status.message());
  }

  bool IsSafeInAnyOrder() {
    return doubt_.empty() && conflicts_->IsSafeInAnyOrder() == Answer::kYes;
  }

  // In one order of loops, or in one that is looked for.
  InPlaceSafety Decide(const std::optional<LoopOrder>& order) {
    if (!doubt_.empty()) return Undecided();
    if (IsSafeInAnyOrder()) return InPlaceSafety::AnyOrder();
    const FoundOrder found =
        order ? FoundOrder{conflicts_->IsSafeIn(*order), *order} : conflicts_->FindOrder();
    if (found.is_safe == Answer::kUndecided) return Undecided();
    InPlaceSafety safety;
    const LoopOrder memory = OrderOfMemory(leaves_.output());
    safety.conflict = ConflictIn(order.value_or(memory));
    if (!safety.conflict && !order) safety.conflict = ConflictIn({});
    if (found.is_safe == Answer::kYes) {
      safety.answer = InPlaceAnswer::kInOrder;
      safety.order = found.loops;
    } else if (safety.conflict) {
      safety.answer = InPlaceAnswer::kUnsafe;
    } else {
      return Undecided();
    }
    AddConditions(order.value_or(LoopOrder()), &safety);
    if (order || found.is_safe == Answer::kYes || memory.empty()) return safety;
    for (const LoopOrder& natural : {memory, Reversed(memory)}) AddConditions(natural, &safety);
    return safety;
  }

 private:
  InPlaceSafety Undecided() const {
    if (QuestionBudget::IsSpent()) {
      return InPlaceSafety::Undecided(std::string(QuestionBudget::Reason()));
    }
    if (!doubt_.empty()) return InPlaceSafety::Undecided(doubt_);
    const std::string& why = conflicts_->why_undecided();
    return InPlaceSafety::Undecided(why.empty() ? "no two elements were found that meet" : why);
  }

  // The conflicts between iterations of the space, through each read and each part that changes.
  absl::Status FindConflicts() {
    const auto& [leaves, reads, place, parts, answer] = question_;
    if (reads.size() * parts.size() > kMaxRelations) {
      return absl::UnimplementedError(absl::StrCat("there are ", reads.size(), " maps and ",
                                                   parts.size(), " parts that change"));
    }
    const Shape& root = leaves.computation.root_instruction()->shape();
    std::vector<ConflictRelation> relations;
    for (const bool is_outside : {false, true}) {
      // From an element of the operand to what writes at its place, and it itself.
      std::vector<OperandIndexing> writers;
      for (const ChangedPart& part : parts) {
        absl::StatusOr<OperandIndexing> writer = Chain(*place, part.elements);
        if (writer.ok() && space_.elements && !is_outside) {
          writer = Chain(*writer, *space_.iteration_of);
        }
        if (!writer.ok()) return writer.status();
        writers.push_back(WithDimsAsResults(*writer));
      }
      for (const InPlaceQuestion::Read& read : reads) {
        if (is_outside == SameDimensions(root.Leaf(read.output_leaf), leaves.output())) continue;
        absl::StatusOr<OperandIndexing> map = read.map;
        if (space_.elements && !is_outside) map = ComposeOperandIndexing(*space_.elements, *map);
        if (!map.ok()) return map.status();
        for (size_t i = 0; i < parts.size(); ++i) {
          absl::StatusOr<OperandIndexing> chain = Chain(*map, writers[i]);
          if (!chain.ok()) return chain.status();
          if (chain->IsKnownEmpty()) continue;
          const std::string& why_of_part = parts[i].why_not_certain;
          relations.push_back({*std::move(chain),
                               why_of_part.empty() ? read.map.label().reason : why_of_part,
                               is_outside});
          leaf_of_.push_back(read.output_leaf);
        }
      }
    }
    conflicts_.emplace(std::move(relations), space_.kinds, &budget_);
    return absl::OkStatus();
  }

  std::optional<InPlaceConflict> ConflictIn(const LoopOrder& order) {
    const auto found = conflicts_->FindConflict(order);
    if (!found) return std::nullopt;
    const auto& [relation, is_certain, is_outside] = conflicts_->relations()[found->relation];
    const llvm::ArrayRef<int64_t> all = found->point;
    const std::vector<int64_t> ends = ValuesAt(relation, relation.map().results(), all);
    if (ends.size() != relation.map().results().size()) return std::nullopt;
    const auto operand_rank = static_cast<size_t>(leaves_.operand().rank());
    InPlaceConflict conflict;
    // What reads from outside of the space and what it meets are elements.
    const IterationSpace& space = is_outside ? SpaceOfElements(leaves_.output()) : space_;
    conflict.reader = space.ElementAt(all.take_front(relation.map().num_dims()));
    conflict.writer = space.ElementAt(llvm::ArrayRef<int64_t>(ends).drop_back(operand_rank));
    conflict.operand.assign(ends.end() - operand_rank, ends.end());
    if (leaf_of_[found->relation] != leaves_.output_leaf) {
      conflict.reader_leaf = leaf_of_[found->relation];
    }
    const std::optional<int64_t> byte =
        FirstSharedByte(leaves_.output(), conflict.writer, leaves_.operand(), conflict.operand);
    if (!byte) return std::nullopt;
    conflict.byte = *byte;
    const llvm::ArrayRef<int64_t> values = all.take_back(relation.bindings().size());
    for (size_t i = 0; i < values.size(); ++i) {
      const RuntimeVarIndexing& binding = relation.bindings()[i];
      std::pair value(
          NameOfValue(binding, ValuesAt(relation, binding.element, all), &leaves_.computation),
          values[i]);
      if (!absl::c_linear_search(conflict.runtime_values, value)) {
        conflict.runtime_values.push_back(std::move(value));
      }
    }
    return conflict;
  }

  void AddConditions(const LoopOrder& order, InPlaceSafety* safety) {
    for (RuntimeCondition& condition :
         ConditionsOf(*conflicts_, order, &leaves_.computation, &budget_)) {
      // Where any order is safe, so is this one.
      const bool is_known = absl::c_any_of(safety->conditions, [&](const RuntimeCondition& known) {
        return (known.order.empty() || known.order == condition.order) &&
               known.runtime == condition.runtime && known.unsafe == condition.unsafe;
      });
      if (!is_known) safety->conditions.push_back(std::move(condition));
    }
  }

  const InPlaceQuestion& question_;
  const SharedLeaves& leaves_;
  const IterationSpace space_;
  StepBudget budget_;
  std::string doubt_;
  std::vector<int64_t> leaf_of_;  // that reads, of each relation
  std::optional<OrderConflicts> conflicts_;
};

}  // namespace

absl::StatusOr<InPlaceQuestion> AskInPlace(const SharedLeaves& leaves,
                                           absl::Span<const IndexingEntry* const> reads,
                                           HloIndexers* indexers) {
  InPlaceQuestion question{leaves};
  absl::StatusOr<OperandIndexing> place =
      PlacesIn(leaves.operand(), leaves.output(), indexers->context());
  if (!place.ok()) return place.status();
  const auto undecided = [&](std::string why) {
    question.answer = InPlaceSafety::Undecided(std::move(why));
    return question;
  };
  if (!place->IsExact()) {
    return undecided(absl::StrCat("where elements lie is not known: ", place->label().reason));
  }
  question.place = *std::move(place);
  for (const IndexingEntry* entry : reads) {
    for (const OperandIndexing& map : entry->indexing) {
      if (map.replica_map() != nullptr) return undecided("an element of another device is read");
      if (map.IsUnknown()) return undecided(map.label().reason);
      question.reads.push_back({entry->output_leaf, map});
    }
  }
  question.parts = ChangedPartsOf(leaves, *question.place, &indexers->exact());
  return question;
}

InPlaceSafety Decide(const InPlaceQuestion& question, const std::optional<LoopOrder>& order) {
  if (question.answer) return *question.answer;
  const Shape& output = question.leaves.output();
  InPlaceDecision of_elements(question, SpaceOfElements(output));
  // What is safe for elements in any order is so for bytes.
  if (BitsOfElement(output) >= 8 || of_elements.IsSafeInAnyOrder()) {
    return of_elements.Decide(order);
  }
  absl::StatusOr<IterationSpace> bytes = BytesOf(output, question.place->map().context());
  if (!bytes.ok()) return InPlaceSafety::Undecided(std::string(bytes.status().message()));
  return InPlaceDecision(question, *std::move(bytes)).Decide(order);
}

absl::StatusOr<InPlaceSafety> DecideUnder(const InPlaceQuestion& question,
                                          const IterationMap& iterations) {
  absl::StatusOr<IterationSpace> space = IterationsOf(iterations, question.leaves.output());
  if (!space.ok() && !absl::IsUnimplemented(space.status())) return space.status();
  if (question.answer) return *question.answer;
  if (!space.ok()) return InPlaceSafety::Undecided(std::string(space.status().message()));
  LoopOrder loops;
  for (size_t i = 0; i < space->kinds.size(); ++i) {
    if (space->kinds[i] == CoordinateKind::kLoop) loops.push_back({static_cast<int>(i), false});
  }
  InPlaceSafety safety = InPlaceDecision(question, *std::move(space)).Decide(loops);
  if (safety.answer == InPlaceAnswer::kInOrder) safety.answer = InPlaceAnswer::kAnyOrder;
  safety.order.clear();
  for (RuntimeCondition& condition : safety.conditions) condition.order.clear();
  return safety;
}

}  // namespace xla_indexing::internal

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
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/query/in_place/buffers/buffer_places.h"
#include "xla_indexing/query/in_place/buffers/element_parts.h"
#include "xla_indexing/query/in_place/order/free_values.h"
#include "xla_indexing/query/in_place/runtime_conditions.h"

namespace xla_indexing::internal {
namespace {

constexpr int64_t kInPlaceSteps = int64_t{1} << 22;
constexpr size_t kMaxRelations = 4096;

LoopOrder Reversed(LoopOrder order) {
  for (DirectedLoop& loop : order) loop.is_descending = !loop.is_descending;
  return order;
}

}  // namespace

InPlaceQuestion::InPlaceQuestion(const SharedLeaves& leaves, HloIndexer* indexer,
                                 mlir::MLIRContext* context)
    : leaves_(leaves),
      indexer_(*indexer),
      context_(context),
      budget_(kInPlaceSteps),
      space_(ElementsOf(leaves.output())) {}

absl::Status InPlaceQuestion::Prepare(absl::Span<const IndexingEntry* const> reads) {
  absl::StatusOr<OperandIndexing> place = PlacesIn(leaves_.operand(), leaves_.output(), context_);
  if (!place.ok()) return place.status();
  place_ = *std::move(place);
  if (!place_->IsExact()) {
    Doubt(absl::StrCat("where elements lie is not known: ", place_->label().reason));
    return absl::OkStatus();
  }
  for (const IndexingEntry* entry : reads) {
    for (const OperandIndexing& map : entry->indexing) {
      if (map.IsUnknown()) Doubt(map.label().reason);
      if (map.replica_map() != nullptr) Doubt("an element of another device is read");
      if (!doubt_.empty()) return absl::OkStatus();
    }
  }
  for (const IndexingEntry* entry : reads) {
    for (const OperandIndexing& map : entry->indexing) reads_.push_back({entry->output_leaf, map});
  }
  parts_ = ChangedPartsOf(leaves_, *place_, &indexer_);
  return absl::OkStatus();
}

absl::StatusOr<InPlaceSafety> InPlaceQuestion::Decide() {
  if (absl::Status status = SetSpaceOfElements(); !status.ok()) return status;
  BuildConflicts();
  return DecideOrder();
}

absl::StatusOr<InPlaceSafety> InPlaceQuestion::DecideIn(const LoopOrder& order) {
  if (absl::Status status = SetSpaceOfElements(); !status.ok()) return status;
  BuildConflicts();
  return DecideOneOrder(order);
}

absl::StatusOr<InPlaceSafety> InPlaceQuestion::DecideUnder(const IterationMap& iterations) {
  if (absl::Status status = SetSpace(IterationsOf(iterations, leaves_.output())); !status.ok()) {
    return status;
  }
  BuildConflicts();
  InPlaceSafety safety = DecideOneOrder(space_.Loops());
  if (safety.answer == InPlaceAnswer::kInOrder) safety.answer = InPlaceAnswer::kAnyOrder;
  safety.order.clear();
  for (RuntimeCondition& condition : safety.conditions) condition.order.clear();
  return safety;
}

InPlaceSafety InPlaceQuestion::Undecided() const {
  if (QuestionBudget::IsSpent()) {
    return InPlaceSafety::Undecided(std::string(QuestionBudget::Reason()));
  }
  if (!doubt_.empty()) return InPlaceSafety::Undecided(doubt_);
  const std::string why = conflicts_ ? conflicts_->why_undecided() : "";
  return InPlaceSafety::Undecided(why.empty() ? "no two elements were found that meet" : why);
}

bool InPlaceQuestion::IsOfSizesOfOutput(int64_t leaf) const {
  const Shape& root = leaves_.computation.root_instruction()->shape();
  return SameDimensions(root.Leaf(leaf), leaves_.output());
}

bool InPlaceQuestion::ReadsInPlaceOnly() const {
  return absl::c_all_of(reads_, [&](const Read& read) {
    if (!IsOfSizesOfOutput(read.output_leaf)) return false;
    absl::StatusOr<OperandIndexing> places = ComposeOperandIndexing(read.map, *place_);
    if (!places.ok()) return false;
    places->Simplify();
    if (places->IsKnownEmpty()) return true;
    for (int i = 0; i < places->map().num_results(); ++i) {
      if (places->map().results()[i] != mlir::getAffineDimExpr(i, context_)) return false;
    }
    return true;
  });
}

absl::Status InPlaceQuestion::SetSpaceOfElements() {
  if (!doubt_.empty() || BitsOfElement(leaves_.output()) >= 8 || ReadsInPlaceOnly()) {
    return absl::OkStatus();
  }
  return SetSpace(BytesOf(leaves_.output(), context_));
}

absl::Status InPlaceQuestion::SetSpace(absl::StatusOr<IterationSpace> space) {
  if (absl::IsUnimplemented(space.status())) {
    Doubt(std::string(space.status().message()));
    return absl::OkStatus();
  }
  if (!space.ok()) return space.status();
  space_ = *std::move(space);
  return absl::OkStatus();
}

// More conflicts do not make an order safe. So one map decides for all where what it reads is in conflict
// in every order: from outside of the space with what changes, or inside with no loop that can come next.
// Maps that read several elements are looked at first, and few where there are few in all.
bool InPlaceQuestion::IsDecidedByOne() {
  constexpr size_t kFew = 8;
  constexpr int kMostLooks = 4;
  const bool are_many = reads_.size() * parts_.size() > kFew;
  int looks = 0;
  for (size_t read = 0; read < reads_.size(); ++read) {
    const bool is_outside = IsOutside(read);
    const OperandIndexing& map = reads_[read].map;
    if (!map.IsExact() || map.map().num_runtimes() > 0) continue;
    if (!is_outside && (!are_many || map.map().num_ranges() == 0 || looks >= kMostLooks)) continue;
    for (size_t part = 0; part < parts_.size(); ++part) {
      if (!parts_[part].why_not_certain.empty()) continue;
      if (!is_outside) ++looks;
      std::vector<ConflictRelation> relations;
      sources_.clear();
      if (!AddRelation(read, part, &relations).ok() || relations.empty()) continue;
      if (!relations.front().why_not_free.empty() ||
          relations.front().writers.map().num_runtimes() > 0) {
        continue;
      }
      conflicts_.emplace(std::move(relations), space_.kinds, &budget_);
      if (conflicts_->FindOrder().is_safe == Answer::kNo) return true;
      conflicts_.reset();
    }
  }
  sources_.clear();
  return false;
}

absl::Status InPlaceQuestion::AddRelation(size_t read, size_t part,
                                          std::vector<ConflictRelation>* relations) {
  absl::StatusOr<OperandIndexing> writers = Chain(read, part, /*with_operand=*/false);
  if (!writers.ok()) return writers.status();
  writers->Simplify();
  if (writers->IsKnownEmpty()) return absl::OkStatus();
  std::string why_not_free = WhyNotFree(*writers);
  const std::string& why_of_part = parts_[part].why_not_certain;
  relations->push_back({*std::move(writers),
                        why_of_part.empty() ? reads_[read].map.label().reason : why_of_part,
                        std::move(why_not_free), IsOutside(read)});
  sources_.push_back({read, part});
  return absl::OkStatus();
}

void InPlaceQuestion::BuildConflicts() {
  if (!doubt_.empty() || IsDecidedByOne()) return;
  if (reads_.size() * parts_.size() > kMaxRelations) {
    Doubt(absl::StrCat("there are ", reads_.size(), " maps and ", parts_.size(),
                       " parts that change"));
    return;
  }
  std::vector<ConflictRelation> relations;
  for (size_t read = 0; read < reads_.size(); ++read) {
    for (size_t part = 0; part < parts_.size(); ++part) {
      const absl::Status status = AddRelation(read, part, &relations);
      if (!status.ok()) return Doubt(std::string(status.message()));
    }
  }
  conflicts_.emplace(std::move(relations), space_.kinds, &budget_);
}

absl::StatusOr<OperandIndexing> InPlaceQuestion::Chain(size_t read, size_t part,
                                                       bool with_operand) const {
  const OperandIndexing& reads = reads_[read].map;
  const bool is_of_space = space_.elements && !IsOutside(read);
  absl::StatusOr<OperandIndexing> chain =
      is_of_space ? ComposeOperandIndexing(*space_.elements, reads) : reads;
  llvm::SmallVector<OperandIndexing, 3> steps = {*place_, parts_[part].elements};
  if (is_of_space) steps.push_back(*space_.iteration_of);
  if (with_operand) {
    const Variables operand(place_->map().dims());
    steps[0] = WithDimsAsResults(steps[0]);
    for (size_t i = 1; i < steps.size(); ++i) steps[i] = WithMoreDims(steps[i], operand);
  }
  for (const OperandIndexing& step : steps) {
    if (!chain.ok()) break;
    chain = ComposeOperandIndexing(*chain, step);
    if (chain.ok()) chain->Simplify();
    if (chain.ok() && chain->IsKnownEmpty()) break;
  }
  return chain;
}

InPlaceSafety InPlaceQuestion::DecideOrder() {
  if (!doubt_.empty()) return Undecided();
  if (conflicts_->IsSafeInAnyOrder() == Answer::kYes) return InPlaceSafety::AnyOrder();
  const FoundOrder found = conflicts_->FindOrder();
  if (found.is_safe == Answer::kUndecided) return Undecided();
  InPlaceSafety safety;
  safety.conflict = AnyConflict();
  if (found.is_safe == Answer::kYes) {
    safety.answer = InPlaceAnswer::kInOrder;
    safety.order = found.loops;
  } else if (safety.conflict) {
    safety.answer = InPlaceAnswer::kUnsafe;
  } else {
    return Undecided();
  }
  safety.conditions = Conditions(found.is_safe == Answer::kNo);
  return safety;
}

InPlaceSafety InPlaceQuestion::DecideOneOrder(const LoopOrder& order) {
  if (!doubt_.empty()) return Undecided();
  InPlaceSafety safety;
  switch (conflicts_->IsSafeIn(order)) {
    case Answer::kYes:
      if (order.empty() || conflicts_->IsSafeInAnyOrder() == Answer::kYes) {
        return InPlaceSafety::AnyOrder();
      }
      safety.answer = InPlaceAnswer::kInOrder;
      safety.order = order;
      return safety;
    case Answer::kNo:
      safety.conflict = ConflictIn(order);
      if (!safety.conflict) break;
      safety.answer = InPlaceAnswer::kUnsafe;
      safety.conditions = ConditionsOf(*conflicts_, order, &leaves_.computation, &budget_);
      return safety;
    case Answer::kUndecided:
      break;
  }
  return Undecided();
}

std::optional<InPlaceConflict> InPlaceQuestion::ConflictIn(const LoopOrder& order) {
  const auto found = conflicts_->FindConflict(order);
  if (!found) return std::nullopt;
  const auto& [relation, cell] = *found;
  const auto [read, part] = sources_[relation];
  const bool is_outside = IsOutside(read);
  absl::StatusOr<OperandIndexing> chain = Chain(read, part, /*with_operand=*/true);
  if (!chain.ok() || chain->IsKnownEmpty()) return std::nullopt;
  const std::optional<IndexingMap> domain = RestrictTo(cell, chain->map());
  if (!domain) return std::nullopt;
  const auto point = LeastPointThatOccurs(*chain, *domain, &budget_);
  if (!point) return std::nullopt;
  const llvm::ArrayRef<int64_t> all = *point;
  const auto num_dims = static_cast<size_t>(domain->num_dims());
  const auto results = domain->Evaluate(all.take_front(num_dims), all.drop_front(num_dims));
  if (!results.ok()) return std::nullopt;
  const llvm::ArrayRef<int64_t> ends = *results;
  const llvm::ArrayRef<int64_t> reader = all.take_front(num_dims);
  const auto operand_rank = static_cast<size_t>(leaves_.operand().rank());
  InPlaceConflict conflict;
  // What reads from outside of the space and what it meets are elements.
  const IterationSpace& space = is_outside ? ElementsOf(leaves_.output()) : space_;
  conflict.reader = space.ElementAt(reader);
  conflict.writer = space.ElementAt(ends.drop_back(operand_rank));
  if (reads_[read].output_leaf != leaves_.output_leaf) {
    conflict.reader_leaf = reads_[read].output_leaf;
  }
  const llvm::ArrayRef<int64_t> element = ends.take_back(operand_rank);
  conflict.operand.assign(element.begin(), element.end());
  const std::optional<int64_t> byte =
      FirstSharedByte(leaves_.output(), conflict.writer, leaves_.operand(), conflict.operand);
  if (!byte) return std::nullopt;
  conflict.byte = *byte;
  const llvm::ArrayRef<int64_t> values = all.take_back(chain->bindings().size());
  for (size_t i = 0; i < values.size(); ++i) {
    const RuntimeVarIndexing& binding = chain->bindings()[i];
    std::pair value(
        NameOfValue(binding, ValuesAt(chain->map(), binding.element, all), &leaves_.computation),
        values[i]);
    if (!absl::c_linear_search(conflict.runtime_values, value)) {
      conflict.runtime_values.push_back(std::move(value));
    }
  }
  return conflict;
}

std::optional<InPlaceConflict> InPlaceQuestion::AnyConflict() {
  std::optional<InPlaceConflict> conflict = ConflictIn(OrderOfMemory(leaves_.output()));
  return conflict ? conflict : ConflictIn({});
}

std::vector<RuntimeCondition> InPlaceQuestion::Conditions(bool is_unsafe) {
  std::vector<RuntimeCondition> all = ConditionsOf(*conflicts_, {}, &leaves_.computation, &budget_);
  if (!is_unsafe || leaves_.output().rank() == 0) return all;
  const LoopOrder natural = OrderOfMemory(leaves_.output());
  for (const LoopOrder& order : {natural, Reversed(natural)}) {
    for (RuntimeCondition& condition :
         ConditionsOf(*conflicts_, order, &leaves_.computation, &budget_)) {
      // Where any order is safe, so is this one.
      const bool is_known = absl::c_any_of(all, [&](const RuntimeCondition& any) {
        return any.runtime == condition.runtime && any.unsafe == condition.unsafe;
      });
      if (!is_known) all.push_back(std::move(condition));
    }
  }
  return all;
}

}  // namespace xla_indexing::internal

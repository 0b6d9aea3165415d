#include "xla_indexing/query/equivalence/equivalence.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/values/fold_runtime.h"
#include "xla_indexing/query/equivalence/compare_relations.h"
#include "xla_indexing/query/equivalence/leaf_comparison.h"
#include "xla_indexing/query/equivalence/meeting_elements.h"
#include "xla_indexing/query/equivalence/same_values.h"

namespace xla_indexing {
namespace {

using internal::CompareRelations;
using internal::FindMeetingElements;
using internal::MeetingElements;
using internal::ValueNumbers;
using ::mlir::AffineExpr;

using LeafPair = std::tuple<int64_t, int64_t, int64_t>;  // output leaf, parameter, its leaf
using Entries = std::map<LeafPair, OperandIndexingSet>;

// Equal values have equal bindings where data movement is all that is between them.
void RebindToSources(OperandIndexingSet* set) {
  if (!internal::HasRuntimeVariables(*set)) return;
  internal::FoldOptions to_sources;
  to_sources.rebind_through_data_movement = true;
  *set = internal::FoldRuntimeVariables(*set, to_sources);
  set->Simplify();
}

// A computation as it is compared: calls and fusions are replaced by what they compute, where that is
// possible for both.
struct Compared {
  const HloComputation* computation;
  // By parameter of `computation`, what it is: leaf `operand_leaf` of parameter `operand` of the
  // original and what follows it.
  std::vector<OperandLeaf> parameters;

  OperandLeaf OriginalOf(int64_t parameter, int64_t leaf) const {
    return {parameters[parameter].operand, parameters[parameter].operand_leaf + leaf};
  }
  ValueNumbers::Arguments Arguments() const {
    ValueNumbers::Arguments arguments;
    for (const HloInstruction* parameter : computation->parameters()) {
      const OperandLeaf& leaf = parameters[parameter->parameter_number()];
      arguments.push_back({leaf.operand, leaf.operand_leaf, parameter->shape().IsTuple() ? 1 : 0});
    }
    return arguments;
  }
};

Compared AsItIs(const HloComputation& computation) {
  Compared compared{&computation, {}};
  for (size_t i = 0; i < computation.parameters().size(); ++i) {
    compared.parameters.push_back({static_cast<int64_t>(i), 0});
  }
  return compared;
}

// Nullopt if something that is read from outside is no part of a parameter.
std::optional<Compared> AsView(const FusionView& view) {
  Compared compared{&view.computation(), {}};
  for (const HloInstruction* operand : view.operands()) {
    OperandLeaf leaf;
    while (operand->opcode() == HloOpcode::kGetTupleElement) {
      const HloInstruction* tuple = operand->operand(0);
      leaf.operand_leaf += tuple->shape().FirstLeafOfElement(operand->tuple_index());
      operand = tuple;
    }
    if (operand->opcode() != HloOpcode::kParameter) return std::nullopt;
    leaf.operand = operand->parameter_number();
    compared.parameters.push_back(leaf);
  }
  return compared;
}

// The entries of one leaf of the result, or of all leaves.
absl::StatusOr<Entries> EntriesOf(const Compared& compared, HloIndexers& indexers, bool exact,
                                  std::optional<int64_t> output_leaf) {
  std::optional<OperandLeaf> from;
  if (output_leaf) from = OperandLeaf{0, *output_leaf};
  HloIndexer& indexer = exact ? indexers.exact() : indexers.usual();
  const absl::StatusOr<SharedIndexing> shared =
      indexer.Index(*compared.computation, Direction::kOutputToInput, from);
  if (!shared.ok()) return shared.status();
  InstructionIndexing entries = **shared;
  Entries by_leaves;
  bool is_exact = true;
  for (IndexingEntry& entry : entries) {
    is_exact &= entry.indexing.label().IsExact();
    RebindToSources(&entry.indexing);
    const OperandLeaf leaf = compared.OriginalOf(entry.operand, entry.operand_leaf);
    by_leaves[{entry.output_leaf, leaf.operand, leaf.operand_leaf}].Add(entry.indexing);
  }
  if (is_exact || exact) return by_leaves;
  return EntriesOf(compared, indexers, /*exact=*/true, output_leaf);
}

int64_t ParameterLeaves(const HloComputation& computation) {
  int64_t leaves = 0;
  for (const HloInstruction* parameter : computation.parameters()) {
    leaves += parameter->shape().LeafCount();
  }
  return leaves;
}

// The leaves of the result that are compared by themselves, because the entries of all would be too
// many to have at once; or all of them together.
std::vector<std::optional<int64_t>> PartsOf(const HloComputation& computation) {
  const int64_t output_leaves = computation.root_instruction()->shape().LeafCount();
  if (output_leaves * ParameterLeaves(computation) <= kMaxComparedPairs) return {std::nullopt};
  std::vector<std::optional<int64_t>> leaves;
  leaves.reserve(output_leaves);
  for (int64_t leaf = 0; leaf < output_leaves; ++leaf) leaves.push_back(leaf);
  return leaves;
}

std::string ShapesDiffer(absl::string_view what, const Shape& a, const Shape& b) {
  const std::vector<const Shape*> of_a = a.Leaves();
  const std::vector<const Shape*> of_b = b.Leaves();
  bool same = of_a.size() == of_b.size();
  for (size_t i = 0; same && i < of_a.size(); ++i) same = SameDimensions(*of_a[i], *of_b[i]);
  if (same) return "";
  return absl::StrCat(what, " is ", a.ToStringWithoutLayout(), " in one and ",
                      b.ToStringWithoutLayout(), " in the other");
}

std::string SignaturesDiffer(const HloComputation& a, const HloComputation& b) {
  if (a.parameters().size() != b.parameters().size()) {
    return absl::StrCat("one has ", a.parameters().size(), " parameters, the other ",
                        b.parameters().size());
  }
  for (size_t i = 0; i < a.parameters().size(); ++i) {
    std::string difference = ShapesDiffer(absl::StrCat("parameter ", i), a.parameters()[i]->shape(),
                                          b.parameters()[i]->shape());
    if (!difference.empty()) return difference;
  }
  return ShapesDiffer("the result", a.root_instruction()->shape(), b.root_instruction()->shape());
}

// The weaker of the answers.
Answer All(llvm::ArrayRef<LeafComparison> comparisons) {
  Answer all = Answer::kYes;
  for (const LeafComparison& comparison : comparisons) all = And(all, comparison.same);
  return all;
}

class ProgramComparison {
 public:
  ProgramComparison(const Compared& a, const Compared& b, HloIndexers& indexers, int64_t max_steps)
      : a_(a),
        b_(b),
        options_(indexers.options()),
        max_steps_(max_steps),
        indexers_(indexers),
        numbers_(*a.computation, a.Arguments(), *b.computation, b.Arguments()) {}

  absl::StatusOr<EquivalenceReport> Report() {
    const auto root = [&](const Compared& compared) {
      return numbers_.NumberOf({}, *compared.computation->root_instruction());
    };
    same_roots_ = root(a_) == root(b_);
    for (const std::optional<int64_t>& part : PartsOf(*a_.computation)) {
      absl::Status status = CompareReadsOf(part);
      if (!status.ok()) return status;
    }
    report_.reads = All(report_.leaves);
    if (!same_roots_ && report_.not_compared > 0) {
      report_.reads = And(report_.reads, Answer::kUndecided);
    }
    if (same_roots_) {
      report_.meets = Answer::kYes;
    } else if (report_.reads == Answer::kYes) {
      absl::Status status = CompareMeetings();
      if (!status.ok()) return status;
    } else {
      report_.meets_reason = "what is read is not known to be the same";
    }
    report_.same = And(report_.reads, report_.meets);
    return std::move(report_);
  }

 private:
  const Shape& Output(int64_t leaf) const {
    return a_.computation->root_instruction()->shape().Leaf(leaf);
  }

  absl::Status CompareReadsOf(std::optional<int64_t> output_leaf) {
    if (static_cast<int64_t>(report_.leaves.size()) >= kMaxComparedPairs) {
      report_.not_compared += ParameterLeaves(*a_.computation);
      return absl::OkStatus();
    }
    absl::StatusOr<Entries> of_a = EntriesOf(a_, indexers_, options_.indexing.exact, output_leaf);
    if (!of_a.ok()) return of_a.status();
    absl::StatusOr<Entries> of_b =
        same_roots_ ? of_a : EntriesOf(b_, indexers_, options_.indexing.exact, output_leaf);
    if (!of_b.ok()) return of_b.status();
    std::set<LeafPair> all_leaves;
    for (const auto& [leaves, set] : *of_a) all_leaves.insert(leaves);
    for (const auto& [leaves, set] : *of_b) all_leaves.insert(leaves);
    for (const LeafPair& leaves : all_leaves) {
      LeafComparison& comparison = report_.leaves.emplace_back();
      std::tie(comparison.output_leaf, comparison.parameter, comparison.parameter_leaf) = leaves;
      if (same_roots_) {
        comparison.same = Answer::kYes;
        continue;
      }
      CompareRelations((*of_a)[leaves], (*of_b)[leaves], Output(comparison.output_leaf), numbers_,
                       max_steps_, &comparison);
    }
    return absl::OkStatus();
  }

  using Place = MeetingElements::Place;
  using Meetings = std::map<Place, OperandIndexingSet>;
  // By leaf of the output, number of the value and leaf.
  using Opaque = std::map<std::tuple<int64_t, int64_t, int64_t>, OperandIndexingSet>;

  absl::Status CompareMeetings() {
    Meetings meetings[2];
    Opaque opaque[2];
    for (int side = 0; side < 2; ++side) {
      absl::Status status = FindMeetings(side == 0 ? a_ : b_, &meetings[side], &opaque[side]);
      if (!status.ok() || !report_.meets_reason.empty()) return status;
    }
    if (!AreSame(opaque[0], opaque[1])) {
      report_.meets_reason = "what meets in an instruction is not known";
      return absl::OkStatus();
    }
    std::set<Place> places;
    for (const Meetings& of_side : meetings) {
      for (const auto& [place, maps] : of_side) places.insert(place);
    }
    for (const Place& place : places) {
      const auto& [output_leaf, first, second] = place;
      LeafComparison comparison;
      comparison.output_leaf = output_leaf;
      comparison.parameter = first.operand;
      comparison.parameter_leaf = first.operand_leaf;
      comparison.other = second;
      CompareRelations(meetings[0][place], meetings[1][place], Output(output_leaf), numbers_,
                       max_steps_, &comparison);
      if (comparison.difference) SplitPair(first, &*comparison.difference);
      // Every element meets itself.
      const bool says_something = first != second || comparison.same != Answer::kYes;
      if (says_something) report_.pairs.push_back(std::move(comparison));
    }
    report_.meets = All(report_.pairs);
    return absl::OkStatus();
  }

  // Puts what the first element meets in its place.
  void SplitPair(const OperandLeaf& first, PairOfOne* pair) const {
    size_t rank = 0;
    for (size_t i = 0; i < a_.parameters.size(); ++i) {
      const Shape& shape = a_.computation->parameters()[i]->shape();
      const int64_t leaf = first.operand_leaf - a_.parameters[i].operand_leaf;
      if (a_.parameters[i].operand != first.operand || leaf < 0 || leaf >= shape.LeafCount()) {
        continue;
      }
      rank = shape.Leaf(leaf).rank();
    }
    const auto begin = pair->operand_element.begin() + static_cast<int64_t>(rank);
    pair->other_element.emplace(begin, pair->operand_element.end());
    pair->operand_element.erase(begin, pair->operand_element.end());
  }

  absl::Status FindMeetings(const Compared& compared, Meetings* meetings, Opaque* opaque) {
    HloIndexer& indexer = options_.indexing.exact ? indexers_.exact() : indexers_.usual();
    absl::StatusOr<MeetingElements> found =
        FindMeetingElements(*compared.computation, indexer, indexers_.context(), options_.indexing);
    if (!found.ok()) return found.status();
    report_.meets_reason = found->failure;
    for (auto& [place, maps] : found->maps) {
      auto [output_leaf, first, second] = place;
      first = compared.OriginalOf(first.operand, first.operand_leaf);
      second = compared.OriginalOf(second.operand, second.operand_leaf);
      RebindToSources(&maps);
      // Parameters of a view are in another order.
      if (second < first) {
        maps = Swapped(maps, compared, std::get<1>(place));
        std::swap(first, second);
      }
      (*meetings)[{output_leaf, first, second}].Add(maps);
    }
    for (MeetingElements::Opaque& read : found->opaque) {
      const std::optional<int64_t> number = numbers_.NumberOf({}, *read.instruction);
      RebindToSources(&read.maps);
      (*opaque)[{read.output_leaf, *number, read.leaf}].Add(read.maps);
    }
    return absl::OkStatus();
  }

  // The maps with the results of the first element after those of the second.
  static OperandIndexingSet Swapped(const OperandIndexingSet& maps, const Compared& compared,
                                    const OperandLeaf& first) {
    const HloInstruction& parameter = *compared.computation->parameters()[first.operand];
    const auto rank = static_cast<size_t>(parameter.shape().Leaf(first.operand_leaf).rank());
    OperandIndexingSet swapped;
    for (const OperandIndexing& indexing : maps) {
      const llvm::ArrayRef<AffineExpr> both = indexing.map().results();
      llvm::SmallVector<AffineExpr, 8> results(both.drop_front(rank));
      results.append(both.begin(), both.begin() + rank);
      swapped.Add(internal::WithResults(indexing, results));
    }
    return swapped;
  }

  // Whether the same elements of the same values are read.
  bool AreSame(const Opaque& a, const Opaque& b) {
    if (a.size() != b.size()) return false;
    for (const auto& [place, maps] : a) {
      const auto other = b.find(place);
      if (other == b.end()) return false;
      LeafComparison comparison;
      CompareRelations(maps, other->second, Output(std::get<0>(place)), numbers_, max_steps_,
                       &comparison);
      if (comparison.same != Answer::kYes) return false;
    }
    return true;
  }

  const Compared& a_;
  const Compared& b_;
  const FusionOptions& options_;
  const int64_t max_steps_;
  HloIndexers& indexers_;
  ValueNumbers numbers_;
  bool same_roots_ = false;
  EquivalenceReport report_;
};

}  // namespace

absl::StatusOr<EquivalenceReport> CompareReads(const HloComputation& a, const HloComputation& b,
                                               mlir::MLIRContext* context,
                                               const FusionOptions& options, int64_t max_steps) {
  HloIndexers indexers(context, options);
  return CompareReads(a, b, indexers, max_steps);
}

absl::StatusOr<EquivalenceReport> CompareReads(const HloComputation& a, const HloComputation& b,
                                               HloIndexers& indexers, int64_t max_steps) {
  if (absl::Status status = VerifyModule(*a.parent()); !status.ok()) return status;
  if (absl::Status status = VerifyModule(*b.parent()); !status.ok()) return status;
  const QuestionBudget question;
  EquivalenceReport report;
  report.difference = SignaturesDiffer(a, b);
  if (!report.difference.empty()) {
    report.same = Answer::kNo;
    report.reads = Answer::kNo;
    return report;
  }
  Compared compared_a = AsItIs(a);
  Compared compared_b = AsItIs(b);
  const absl::StatusOr<FusionView> view_of_a = FusionView::OfComputation(a);
  const absl::StatusOr<FusionView> view_of_b = FusionView::OfComputation(b);
  if (view_of_a.ok() && view_of_b.ok()) {
    std::optional<Compared> viewed_a = AsView(*view_of_a);
    std::optional<Compared> viewed_b = AsView(*view_of_b);
    if (viewed_a && viewed_b) {
      compared_a = *std::move(viewed_a);
      compared_b = *std::move(viewed_b);
    }
  }
  return ProgramComparison(compared_a, compared_b, indexers, max_steps).Report();
}

}  // namespace xla_indexing

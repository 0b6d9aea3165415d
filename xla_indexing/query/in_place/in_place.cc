#include "xla_indexing/query/in_place/in_place.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/query/in_place/buffer_writers.h"
#include "xla_indexing/query/in_place/buffers/buffer_places.h"
#include "xla_indexing/query/in_place/buffers/changed_parts.h"
#include "xla_indexing/query/in_place/in_place_question.h"
#include "xla_indexing/query/in_place/iteration_space.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

// For the number of elements that are written, of which there are bounds where that does not suffice.
constexpr int64_t kCountSteps = int64_t{1} << 18;

// As many pairs as possible of left and right things, each in one at most: the right thing of each left
// one, or -1. `edges` has the right things, numbers below `num_right`, that each left thing may be paired
// with. Each left thing in turn is paired, where need be by moving others along a path.
//
// Source: H. W. Kuhn, "The Hungarian Method for the Assignment Problem", 1955.
std::vector<int> MaximumMatching(const std::vector<std::vector<int>>& edges, int num_right) {
  std::vector<int> left_of(num_right, -1);
  for (size_t left = 0; left < edges.size(); ++left) {
    std::vector<bool> is_seen(num_right, false);
    const std::function<bool(int)> enlarge = [&](int from) {
      for (const int right : edges[from]) {
        if (is_seen[right]) continue;
        is_seen[right] = true;
        if (left_of[right] < 0 || enlarge(left_of[right])) {
          left_of[right] = from;
          return true;
        }
      }
      return false;
    };
    enlarge(static_cast<int>(left));
  }
  std::vector<int> right_of(edges.size(), -1);
  for (int right = 0; right < num_right; ++right) {
    if (left_of[right] >= 0) right_of[left_of[right]] = right;
  }
  return right_of;
}

}  // namespace

class InPlaceAnalysis::Impl {
 public:
  // An operand, and the parameter of the view that it is, if any.
  struct Operand {
    const HloInstruction* instruction;
    std::optional<int64_t> parameter;
  };

  Impl(FusionView view, const std::vector<Operand>& operands, std::shared_ptr<HloIndexers> indexers)
      : view_(std::move(view)), indexers_(std::move(indexers)) {
    for (const auto& [instruction, parameter] : operands) {
      operand_shapes_.push_back(instruction->shape());
      parameter_of_.push_back(parameter);
      // The parameters of a computation are none.
      const bool is_constant = instruction->opcode() == HloOpcode::kConstant;
      constants_.push_back(is_constant ? instruction : nullptr);
    }
  }

  const Shape& output() const { return view_.computation().root_instruction()->shape(); }
  const std::vector<Shape>& operands() const { return operand_shapes_; }

  absl::Status CheckLeaves(const SharedBuffer& buffer) const {
    if (buffer.output_leaf < 0 || buffer.output_leaf >= output().LeafCount() ||
        !output().Leaf(buffer.output_leaf).IsArray()) {
      return absl::InvalidArgumentError(absl::StrCat("in place: there is no array that is leaf ",
                                                     buffer.output_leaf, " of the output ",
                                                     output().ToString()));
    }
    const auto& [operand, leaf] = buffer.operand;
    if (operand < 0 || operand >= static_cast<int64_t>(operand_shapes_.size()) || leaf < 0 ||
        leaf >= operand_shapes_[operand].LeafCount() ||
        !operand_shapes_[operand].Leaf(leaf).IsArray()) {
      return absl::InvalidArgumentError(
          absl::StrCat("in place: there is no array that is leaf ", leaf, " of operand ", operand));
    }
    return absl::OkStatus();
  }

  const Shape& OutputLeaf(const SharedBuffer& buffer) const {
    return output().Leaf(buffer.output_leaf);
  }
  const Shape& OperandLeafShape(const SharedBuffer& buffer) const {
    return operand_shapes_[buffer.operand.operand].Leaf(buffer.operand.operand_leaf);
  }

  // The answer about a pair where it takes no maps.
  std::optional<InPlaceSafety> AnswerWithoutMaps(const SharedBuffer& buffer) const {
    std::string why_not = internal::WhyNotOneBuffer(OutputLeaf(buffer), OperandLeafShape(buffer));
    if (!why_not.empty()) return InPlaceSafety::Unsafe(std::move(why_not));
    if (const HloInstruction* constant = constants_[buffer.operand.operand]) {
      return InPlaceSafety::Unsafe(absl::StrCat(constant->name(), " is a constant"));
    }
    if (loop_ != nullptr) return AskLoop(buffer);
    // Nothing reads the operand.
    if (!parameter_of_[buffer.operand.operand]) return InPlaceSafety::AnyOrder();
    return std::nullopt;
  }

  // The question about a pair that takes maps, prepared; the last one is kept.
  absl::StatusOr<const internal::InPlaceQuestion*> Prepared(const SharedBuffer& buffer) {
    if (prepared_ && prepared_->first == buffer) return &prepared_->second;
    prepared_.reset();
    const std::pair<int64_t, int64_t> leaf = {*parameter_of_[buffer.operand.operand],
                                              buffer.operand.operand_leaf};
    internal::InPlaceQuestion question(
        internal::SharedLeaves{view_.computation(), buffer.output_leaf, leaf.first, leaf.second},
        &indexers_->exact(), indexers_->context());
    if (absl::Status status = question.Prepare(reads_of_[leaf]); !status.ok()) return status;
    return &prepared_.emplace(buffer, std::move(question)).second;
  }

  // `decide(question)`, or the answer where there is nothing to ask.
  template <typename Decide>
  absl::StatusOr<InPlaceSafety> Answer(const SharedBuffer& buffer, Decide decide) {
    if (absl::Status status = CheckLeaves(buffer); !status.ok()) return status;
    if (std::optional<InPlaceSafety> answer = AnswerWithoutMaps(buffer)) return *std::move(answer);
    if (absl::Status status = ReadMaps(); !status.ok()) return status;
    const QuestionBudget budget;
    const absl::StatusOr<const internal::InPlaceQuestion*> prepared = Prepared(buffer);
    if (!prepared.ok()) return prepared.status();
    internal::InPlaceQuestion question = **prepared;
    return decide(question);
  }

  // Finds the maps of all pairs, once, with a budget of their own.
  absl::Status ReadMaps() {
    if (entries_) return absl::OkStatus();
    const QuestionBudget budget;
    absl::StatusOr<SharedIndexing> entries =
        indexers_->exact().Index(view_.computation(), Direction::kOutputToInput);
    if (!entries.ok()) return entries.status();
    entries_ = *std::move(entries);
    for (const IndexingEntry& entry : *entries_) {
      reads_of_[{entry.operand, entry.operand_leaf}].push_back(&entry);
    }
    return absl::OkStatus();
  }

  // What a while carries as one leaf is in one buffer, that of this leaf of its operand.
  InPlaceSafety AskLoop(const SharedBuffer& buffer) const {
    const QuestionBudget budget;
    if (buffer.output_leaf != buffer.operand.operand_leaf) {
      return InPlaceSafety::Unsafe(absl::StrCat(loop_->name(), " carries it in the buffer of leaf ",
                                                buffer.output_leaf, " of its operand"));
    }
    return internal::SafetyOfCarried(*loop_, buffer.output_leaf, indexers_.get());
  }

  FusionView view_;
  std::vector<Shape> operand_shapes_;
  std::vector<std::optional<int64_t>> parameter_of_;
  std::shared_ptr<HloIndexers> indexers_;
  const HloInstruction* loop_ = nullptr;  // that is asked about
  SharedIndexing entries_;
  std::map<std::pair<int64_t, int64_t>, std::vector<const IndexingEntry*>> reads_of_;
  std::optional<std::pair<SharedBuffer, internal::InPlaceQuestion>> prepared_;
  // By operand: the constant that it is, if any.
  std::vector<const HloInstruction*> constants_;
};

InPlaceAnalysis::InPlaceAnalysis(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InPlaceAnalysis::InPlaceAnalysis(InPlaceAnalysis&& other) noexcept = default;
InPlaceAnalysis& InPlaceAnalysis::operator=(InPlaceAnalysis&& other) noexcept = default;
InPlaceAnalysis::~InPlaceAnalysis() = default;

namespace {

// The indexers of somebody else.
std::shared_ptr<HloIndexers> Kept(HloIndexers& indexers) {
  return {std::shared_ptr<HloIndexers>(), &indexers};
}

}  // namespace

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::Of(const HloComputation& computation,
                                                    std::shared_ptr<HloIndexers> indexers) {
  absl::StatusOr<FusionView> view = FusionView::OfComputation(computation);
  if (!view.ok()) return view.status();
  std::vector<Impl::Operand> operands;
  for (const HloInstruction* parameter : computation.parameters()) {
    operands.push_back({parameter, view->ParameterOf(*parameter)});
  }
  return InPlaceAnalysis(std::make_unique<Impl>(*std::move(view), operands, std::move(indexers)));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::Of(const HloInstruction& instruction,
                                                    std::shared_ptr<HloIndexers> indexers) {
  // With constants, which may say where an update goes.
  absl::StatusOr<FusionView> view =
      FusionView::Create({&instruction}, [&](const HloInstruction& i) {
        return &i == &instruction || i.opcode() == HloOpcode::kConstant;
      });
  if (!view.ok()) return view.status();
  std::vector<Impl::Operand> operands;
  for (const HloInstruction* operand : instruction.operands()) {
    operands.push_back({operand, view->ParameterOf(*operand)});
  }
  auto impl = std::make_unique<Impl>(*std::move(view), operands, std::move(indexers));
  if (instruction.opcode() == HloOpcode::kWhile && instruction.while_body() != nullptr) {
    impl->loop_ = &instruction;
  }
  return InPlaceAnalysis(std::move(impl));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::Of(FusionView view,
                                                    std::shared_ptr<HloIndexers> indexers) {
  std::vector<Impl::Operand> operands;
  for (const HloInstruction* parameter : view.computation().parameters()) {
    operands.push_back({parameter, parameter->parameter_number()});
  }
  return InPlaceAnalysis(std::make_unique<Impl>(std::move(view), operands, std::move(indexers)));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfComputation(const HloComputation& computation,
                                                               mlir::MLIRContext* context) {
  return Of(computation, std::make_shared<HloIndexers>(context));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfComputation(const HloComputation& computation,
                                                               HloIndexers& indexers) {
  return Of(computation, Kept(indexers));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfInstruction(const HloInstruction& instruction,
                                                               mlir::MLIRContext* context) {
  return Of(instruction, std::make_shared<HloIndexers>(context));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfInstruction(const HloInstruction& instruction,
                                                               HloIndexers& indexers) {
  return Of(instruction, Kept(indexers));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfView(FusionView view,
                                                        mlir::MLIRContext* context) {
  return Of(std::move(view), std::make_shared<HloIndexers>(context));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfView(FusionView view, HloIndexers& indexers) {
  return Of(std::move(view), Kept(indexers));
}

namespace {

// The bytes of the buffer of an array that has any; 0 of anything else.
int64_t KnownBytesOf(const Shape& leaf) {
  const auto bytes = leaf.IsArray() ? BufferBytesOf(leaf) : std::nullopt;
  return bytes && bytes->IsPoint() ? bytes->lower() : int64_t{0};
}

// A leaf of an operand, and its number among all leaves of all operands.
struct NumberedLeaf {
  OperandLeaf leaf;
  int64_t number = 0;
};

// By their bytes, in order.
std::map<int64_t, std::vector<NumberedLeaf>> LeavesByBytes(const std::vector<Shape>& operands,
                                                           const PairFilter& filter) {
  std::map<int64_t, std::vector<NumberedLeaf>> by_bytes;
  int64_t number = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (int64_t leaf = 0; leaf < operands[i].LeafCount(); ++leaf, ++number) {
      const auto operand = static_cast<int64_t>(i);
      if (filter.operand.value_or(operand) != operand) continue;
      const int64_t bytes = KnownBytesOf(operands[i].Leaf(leaf));
      if (bytes > 0) by_bytes[bytes].push_back({{operand, leaf}, number});
    }
  }
  return by_bytes;
}

// The leaves of the output that are asked about, with the leaves of operands that have as many bytes.
template <typename Visit>
void ForEachOutput(const Shape& output, const std::vector<Shape>& operands,
                   const PairFilter& filter, Visit visit) {
  const auto by_bytes = LeavesByBytes(operands, filter);
  for (int64_t leaf = 0; leaf < output.LeafCount(); ++leaf) {
    if (filter.output_leaf.value_or(leaf) != leaf) continue;
    const auto it = by_bytes.find(KnownBytesOf(output.Leaf(leaf)));
    if (it != by_bytes.end()) visit(leaf, it->second);
  }
}

}  // namespace

std::vector<SharedBuffer> InPlaceAnalysis::Candidates(const PairFilter& filter) const {
  std::vector<SharedBuffer> candidates;
  for (const bool are_same : {true, false}) {
    ForEachOutput(impl_->output(), impl_->operands(), filter,
                  [&](int64_t output_leaf, const std::vector<NumberedLeaf>& leaves) {
                    for (const auto& [leaf, number] : leaves) {
                      if (static_cast<int64_t>(candidates.size()) >= filter.max_pairs) return;
                      if ((number == output_leaf) == are_same) {
                        candidates.push_back({output_leaf, leaf});
                      }
                    }
                  });
  }
  return candidates;
}

int64_t InPlaceAnalysis::CountCandidates(const PairFilter& filter) const {
  int64_t count = 0;
  ForEachOutput(impl_->output(), impl_->operands(), filter,
                [&](int64_t, const std::vector<NumberedLeaf>& leaves) {
                  count += static_cast<int64_t>(leaves.size());
                });
  return count;
}

bool InPlaceAnalysis::IsCandidate(const SharedBuffer& buffer) const {
  if (!impl_->CheckLeaves(buffer).ok()) return false;
  const int64_t bytes = KnownBytesOf(impl_->OutputLeaf(buffer));
  return bytes > 0 && bytes == KnownBytesOf(impl_->OperandLeafShape(buffer));
}

absl::StatusOr<InPlaceSafety> InPlaceAnalysis::Safety(const SharedBuffer& buffer) {
  return impl_->Answer(buffer, [](internal::InPlaceQuestion& asked) { return asked.Decide(); });
}

absl::StatusOr<InPlaceSafety> InPlaceAnalysis::SafetyIn(const SharedBuffer& buffer,
                                                        const LoopOrder& order) {
  if (absl::Status status = impl_->CheckLeaves(buffer); !status.ok()) return status;
  std::vector<bool> is_used(impl_->OutputLeaf(buffer).rank(), false);
  for (const DirectedLoop& loop : order) {
    if (loop.dimension < 0 || loop.dimension >= static_cast<int>(is_used.size()) ||
        is_used[loop.dimension]) {
      return absl::InvalidArgumentError(absl::StrCat("in place: an order of the loops of ",
                                                     impl_->OutputLeaf(buffer).ToString(),
                                                     " has no second dimension ", loop.dimension));
    }
    is_used[loop.dimension] = true;
  }
  return impl_->Answer(buffer,
                       [&](internal::InPlaceQuestion& asked) { return asked.DecideIn(order); });
}

absl::StatusOr<InPlaceSafety> InPlaceAnalysis::SafetyUnder(const SharedBuffer& buffer,
                                                           const IterationMap& iterations) {
  if (absl::Status status = impl_->CheckLeaves(buffer); !status.ok()) return status;
  absl::Status fits = internal::IterationsOf(iterations, impl_->OutputLeaf(buffer)).status();
  if (!fits.ok() && !absl::IsUnimplemented(fits)) return fits;
  return impl_->Answer(
      buffer, [&](internal::InPlaceQuestion& asked) { return asked.DecideUnder(iterations); });
}

absl::StatusOr<WrittenElements> InPlaceAnalysis::Written(const SharedBuffer& buffer) {
  if (absl::Status status = impl_->CheckLeaves(buffer); !status.ok()) return status;
  const internal::InPlaceQuestion* question = nullptr;
  const bool takes_maps = !impl_->AnswerWithoutMaps(buffer);
  if (takes_maps) {
    if (absl::Status status = impl_->ReadMaps(); !status.ok()) return status;
  }
  const QuestionBudget budget;
  if (takes_maps) {
    const absl::StatusOr<const internal::InPlaceQuestion*> prepared = impl_->Prepared(buffer);
    if (!prepared.ok()) return prepared.status();
    question = *prepared;
  }
  const Shape& output = impl_->OutputLeaf(buffer);
  WrittenElements written;
  if (question != nullptr && question->doubt().empty()) {
    for (const internal::ChangedPart& part : question->parts()) {
      OperandIndexing elements = part.elements;
      if (!part.why_not_certain.empty())
        elements.Weaken(ExactnessLabel::OverApproximate(part.why_not_certain));
      written.elements.Add(std::move(elements));
    }
  } else {
    const absl::StatusOr<OperandIndexing> all =
        internal::PlacesIn(output, output, impl_->indexers_->context());
    if (!all.ok()) return all.status();
    written.elements.Add(*all);
  }
  written.elements.Simplify();
  written.elements.DropSubsumed(output);
  const absl::StatusOr<Utilization> count =
      ComputeUtilization(written.elements, output, output, kCountSteps);
  if (!count.ok()) return count.status();
  written.count = count->elements_read;
  written.of = output.ElementCount().value_or(0);
  return written;
}

absl::StatusOr<BufferSharing> InPlaceAnalysis::Share() {
  const QuestionBudget question;
  const std::vector<SharedBuffer> candidates = Candidates();
  std::vector<OperandLeaf> operands;
  std::vector<LoopOrder> orders = {{}};
  std::vector<InPlaceSafety> safeties;
  std::vector<int> right_of;
  for (const SharedBuffer& candidate : candidates) {
    absl::StatusOr<InPlaceSafety> safety = Safety(candidate);
    if (!safety.ok()) return safety.status();
    if (safety->answer == InPlaceAnswer::kInOrder &&
        !absl::c_linear_search(orders, safety->order)) {
      orders.push_back(safety->order);
    }
    safeties.push_back(*std::move(safety));
    auto it = absl::c_find(operands, candidate.operand);
    right_of.push_back(static_cast<int>(it - operands.begin()));
    if (it == operands.end()) operands.push_back(candidate.operand);
  }
  BufferSharing best;
  for (const LoopOrder& order : orders) {
    std::vector<std::vector<int>> edges(impl_->output().LeafCount());
    for (size_t i = 0; i < candidates.size(); ++i) {
      bool is_safe = safeties[i].answer == InPlaceAnswer::kAnyOrder;
      if (!is_safe && !order.empty() && safeties[i].answer == InPlaceAnswer::kInOrder) {
        const absl::StatusOr<InPlaceSafety> in_order = SafetyIn(candidates[i], order);
        is_safe = in_order.ok() && in_order->IsSafe();
      }
      if (is_safe) edges[candidates[i].output_leaf].push_back(right_of[i]);
    }
    const std::vector<int> matching = MaximumMatching(edges, static_cast<int>(operands.size()));
    BufferSharing sharing;
    sharing.order = order;
    for (size_t leaf = 0; leaf < matching.size(); ++leaf) {
      if (matching[leaf] < 0) continue;
      sharing.shared.push_back({static_cast<int64_t>(leaf), operands[matching[leaf]]});
    }
    if (sharing.shared.size() > best.shared.size()) best = std::move(sharing);
  }
  return best;
}

}  // namespace xla_indexing

#include "xla_indexing/query/in_place/in_place.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/query/in_place/buffer_writers.h"
#include "xla_indexing/query/in_place/buffers/buffer_places.h"
#include "xla_indexing/query/in_place/in_place_question.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

using internal::InPlaceQuestion;

// For the number of elements that are written, of which there are bounds where that does not suffice.
constexpr int64_t kCountSteps = int64_t{1} << 18;

// As many pairs as possible of an output leaf and a buffer that it may have, with each leaf and each
// buffer in one pair at most. Each output in turn gets a buffer, where need be by moving others along
// a path.
//
// Source: H. W. Kuhn, "The Hungarian Method for the Assignment Problem", 1955.
std::vector<SharedBuffer> MaximumMatching(
    const std::map<int64_t, std::vector<OperandLeaf>>& buffers_of) {
  std::map<OperandLeaf, int64_t> output_in;
  std::set<OperandLeaf> seen;
  const std::function<bool(int64_t)> place = [&](int64_t output) {
    for (const OperandLeaf& buffer : buffers_of.at(output)) {
      if (!seen.insert(buffer).second) continue;
      const auto it = output_in.find(buffer);
      if (it != output_in.end() && !place(it->second)) continue;
      output_in[buffer] = output;
      return true;
    }
    return false;
  };
  for (const auto& [output, buffers] : buffers_of) {
    seen.clear();
    place(output);
  }
  std::vector<SharedBuffer> pairs;
  pairs.reserve(output_in.size());
  for (const auto& [buffer, output] : output_in) pairs.push_back({output, buffer});
  absl::c_sort(pairs, [](const SharedBuffer& a, const SharedBuffer& b) {
    return a.output_leaf < b.output_leaf;
  });
  return pairs;
}

// The bytes of the buffer of an array that has any; 0 of anything else.
int64_t KnownBytesOf(const Shape& leaf) {
  const auto bytes = leaf.IsArray() ? BufferBytesOf(leaf) : std::nullopt;
  return bytes && bytes->IsPoint() ? bytes->lower() : int64_t{0};
}

// The indexers of somebody else.
std::shared_ptr<HloIndexers> Kept(HloIndexers& indexers) {
  return {std::shared_ptr<HloIndexers>(), &indexers};
}

}  // namespace

class InPlaceAnalysis::Impl {
 public:
  Impl(FusionView view, absl::Span<const HloInstruction* const> operands,
       std::shared_ptr<HloIndexers> indexers, const HloInstruction* loop)
      : view_(std::move(view)),
        operands_(operands.begin(), operands.end()),
        indexers_(std::move(indexers)),
        loop_(loop) {}

  const Shape& output() const { return view_.computation().root_instruction()->shape(); }

  absl::Status CheckLeaves(const SharedBuffer& buffer) const {
    const auto is_array = [](const Shape& shape, int64_t leaf) {
      return leaf >= 0 && leaf < shape.LeafCount() && shape.Leaf(leaf).IsArray();
    };
    if (!is_array(output(), buffer.output_leaf)) {
      return absl::InvalidArgumentError(absl::StrCat("in place: there is no array that is leaf ",
                                                     buffer.output_leaf, " of the output ",
                                                     output().ToString()));
    }
    const auto& [operand, leaf] = buffer.operand;
    if (operand < 0 || operand >= static_cast<int64_t>(operands_.size()) ||
        !is_array(operands_[operand]->shape(), leaf)) {
      return absl::InvalidArgumentError(
          absl::StrCat("in place: there is no array that is leaf ", leaf, " of operand ", operand));
    }
    return absl::OkStatus();
  }

  const Shape& OutputLeaf(const SharedBuffer& buffer) const {
    return output().Leaf(buffer.output_leaf);
  }
  const Shape& OperandLeafShape(const SharedBuffer& buffer) const {
    return operands_[buffer.operand.operand]->shape().Leaf(buffer.operand.operand_leaf);
  }

  // Calls `visit`, until it returns false, with the pairs of equally many bytes: those of one number
  // first.
  template <typename Visit>
  void ForEachCandidate(const PairFilter& filter, Visit visit) const {
    std::vector<std::pair<OperandLeaf, int64_t>> leaves;  // with their bytes
    for (int64_t i = 0; i < static_cast<int64_t>(operands_.size()); ++i) {
      const Shape& shape = operands_[i]->shape();
      for (int64_t leaf = 0; leaf < shape.LeafCount(); ++leaf) {
        const bool is_asked = filter.operand.value_or(i) == i;
        leaves.push_back({{i, leaf}, is_asked ? KnownBytesOf(shape.Leaf(leaf)) : 0});
      }
    }
    std::map<int64_t, std::vector<int64_t>> numbers_of_bytes;
    for (size_t number = 0; number < leaves.size(); ++number) {
      if (leaves[number].second > 0) numbers_of_bytes[leaves[number].second].push_back(number);
    }
    for (const bool are_same : {true, false}) {
      for (int64_t leaf = 0; leaf < output().LeafCount(); ++leaf) {
        if (filter.output_leaf.value_or(leaf) != leaf) continue;
        const auto it = numbers_of_bytes.find(KnownBytesOf(output().Leaf(leaf)));
        if (it == numbers_of_bytes.end()) continue;
        for (const int64_t number : it->second) {
          if ((number == leaf) != are_same) continue;
          if (!visit(SharedBuffer{leaf, leaves[number].first})) return;
        }
      }
    }
  }

  // The answer about a pair where it takes no maps.
  std::optional<InPlaceSafety> AnswerWithoutMaps(const SharedBuffer& buffer) const {
    std::string why_not = internal::WhyNotOneBuffer(OutputLeaf(buffer), OperandLeafShape(buffer));
    if (!why_not.empty()) return InPlaceSafety::Unsafe(std::move(why_not));
    const HloInstruction& operand = *operands_[buffer.operand.operand];
    if (operand.opcode() == HloOpcode::kConstant) {
      return InPlaceSafety::Unsafe(absl::StrCat(operand.name(), " is a constant"));
    }
    if (loop_ != nullptr) return AskLoop(buffer);
    // Nothing reads the operand.
    if (!view_.ParameterOf(operand)) return InPlaceSafety::AnyOrder();
    return std::nullopt;
  }

  // `use(question)` about a pair, which is prepared; the last one that takes maps is kept.
  template <typename Use>
  std::invoke_result_t<Use, const InPlaceQuestion&> Ask(const SharedBuffer& buffer, Use use) {
    if (absl::Status status = CheckLeaves(buffer); !status.ok()) return status;
    internal::SharedLeaves leaves{view_.computation(), buffer.output_leaf};
    if (std::optional<InPlaceSafety> answer = AnswerWithoutMaps(buffer)) {
      const QuestionBudget budget;
      return use({.leaves = leaves, .answer = std::move(answer)});
    }
    leaves.parameter = *view_.ParameterOf(*operands_[buffer.operand.operand]);
    leaves.parameter_leaf = buffer.operand.operand_leaf;
    if (absl::Status status = ReadMaps(); !status.ok()) return status;
    const QuestionBudget budget;
    if (!prepared_ || prepared_->first != buffer) {
      prepared_.reset();
      absl::StatusOr<InPlaceQuestion> question = internal::AskInPlace(
          leaves, reads_of_[{leaves.parameter, leaves.parameter_leaf}], indexers_.get());
      if (!question.ok()) return question.status();
      prepared_.emplace(buffer, *std::move(question));
    }
    return use(prepared_->second);
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
    const auto body = internal::BufferWriters::OfBody(*loop_->while_body(), indexers_.get());
    return body->CheckCarried(*loop_, buffer.output_leaf).safety;
  }

  FusionView view_;
  const std::vector<const HloInstruction*> operands_;
  const std::shared_ptr<HloIndexers> indexers_;
  const HloInstruction* const loop_;  // the while that is asked about, if it is one
  SharedIndexing entries_;
  std::map<OperandLeaf, std::vector<const IndexingEntry*>> reads_of_;
  std::optional<std::pair<SharedBuffer, InPlaceQuestion>> prepared_;
};

InPlaceAnalysis::InPlaceAnalysis(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InPlaceAnalysis::InPlaceAnalysis(InPlaceAnalysis&& other) noexcept = default;
InPlaceAnalysis& InPlaceAnalysis::operator=(InPlaceAnalysis&& other) noexcept = default;
InPlaceAnalysis::~InPlaceAnalysis() = default;

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::Of(
    absl::StatusOr<FusionView> view, absl::Span<const HloInstruction* const> operands,
    std::shared_ptr<HloIndexers> indexers, const HloInstruction* loop) {
  if (!view.ok()) return view.status();
  return InPlaceAnalysis(
      std::make_unique<Impl>(*std::move(view), operands, std::move(indexers), loop));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::Of(const HloInstruction& instruction,
                                                    std::shared_ptr<HloIndexers> indexers) {
  // With constants, which may say where an update goes.
  const auto is_inside = [&](const HloInstruction& i) {
    return &i == &instruction || i.opcode() == HloOpcode::kConstant;
  };
  const bool is_loop =
      instruction.opcode() == HloOpcode::kWhile && instruction.while_body() != nullptr;
  return Of(FusionView::Create({&instruction}, is_inside), instruction.operands(),
            std::move(indexers), is_loop ? &instruction : nullptr);
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfComputation(const HloComputation& computation,
                                                               mlir::MLIRContext* context) {
  return Of(FusionView::OfComputation(computation), computation.parameters(),
            std::make_shared<HloIndexers>(context));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfComputation(const HloComputation& computation,
                                                               HloIndexers& indexers) {
  return Of(FusionView::OfComputation(computation), computation.parameters(), Kept(indexers));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfInstruction(const HloInstruction& instruction,
                                                               mlir::MLIRContext* context) {
  return Of(instruction, std::make_shared<HloIndexers>(context));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfInstruction(const HloInstruction& instruction,
                                                               HloIndexers& indexers) {
  return Of(instruction, Kept(indexers));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfView(FusionView view, HloIndexers& indexers) {
  const std::vector<const HloInstruction*> operands(view.operands().begin(), view.operands().end());
  return Of(std::move(view), operands, Kept(indexers));
}

std::vector<SharedBuffer> InPlaceAnalysis::Candidates(const PairFilter& filter) const {
  std::vector<SharedBuffer> candidates;
  impl_->ForEachCandidate(filter, [&](const SharedBuffer& buffer) {
    if (static_cast<int64_t>(candidates.size()) >= filter.max_pairs) return false;
    candidates.push_back(buffer);
    return true;
  });
  return candidates;
}

int64_t InPlaceAnalysis::CountCandidates(const PairFilter& filter) const {
  int64_t count = 0;
  impl_->ForEachCandidate(filter, [&](const SharedBuffer& /*buffer*/) { return ++count > 0; });
  return count;
}

bool InPlaceAnalysis::IsCandidate(const SharedBuffer& buffer) const {
  if (!impl_->CheckLeaves(buffer).ok()) return false;
  const int64_t bytes = KnownBytesOf(impl_->OutputLeaf(buffer));
  return bytes > 0 && bytes == KnownBytesOf(impl_->OperandLeafShape(buffer));
}

absl::StatusOr<InPlaceSafety> InPlaceAnalysis::Safety(const SharedBuffer& buffer) {
  return impl_->Ask(buffer, [](const InPlaceQuestion& question) {
    return absl::StatusOr<InPlaceSafety>(internal::Decide(question, std::nullopt));
  });
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
  return impl_->Ask(buffer, [&](const InPlaceQuestion& question) {
    return absl::StatusOr<InPlaceSafety>(internal::Decide(question, order));
  });
}

absl::StatusOr<InPlaceSafety> InPlaceAnalysis::SafetyUnder(const SharedBuffer& buffer,
                                                           const IterationMap& iterations) {
  return impl_->Ask(buffer, [&](const InPlaceQuestion& question) {
    return internal::DecideUnder(question, iterations);
  });
}

absl::StatusOr<WrittenElements> InPlaceAnalysis::Written(const SharedBuffer& buffer) {
  return impl_->Ask(
      buffer, [&](const InPlaceQuestion& question) -> absl::StatusOr<WrittenElements> {
        const Shape& output = question.leaves.output();
        WrittenElements written;
        if (question.answer) {
          written.elements.Add(internal::IdentityIndexing(output, impl_->indexers_->context()));
        }
        for (const internal::ChangedPart& part : question.parts) {
          OperandIndexing elements = part.elements;
          if (!part.why_not_certain.empty()) {
            elements.Weaken(ExactnessLabel::OverApproximate(part.why_not_certain));
          }
          written.elements.Add(std::move(elements));
        }
        written.elements.Simplify();
        written.elements.DropSubsumed(output);
        const absl::StatusOr<Utilization> count =
            ComputeUtilization(written.elements, output, output, kCountSteps);
        if (!count.ok()) return count.status();
        written.count = count->elements_read;
        written.of = output.ElementCount().value_or(0);
        return written;
      });
}

absl::StatusOr<BufferSharing> InPlaceAnalysis::Share() {
  const QuestionBudget question;
  std::vector<std::pair<SharedBuffer, InPlaceSafety>> safe;
  std::vector<LoopOrder> orders = {{}};
  for (const SharedBuffer& candidate : Candidates()) {
    absl::StatusOr<InPlaceSafety> safety = Safety(candidate);
    if (!safety.ok()) return safety.status();
    if (!safety->IsSafe()) continue;
    if (!absl::c_linear_search(orders, safety->order)) orders.push_back(safety->order);
    safe.emplace_back(candidate, *std::move(safety));
  }
  BufferSharing best;
  for (const LoopOrder& order : orders) {
    std::map<int64_t, std::vector<OperandLeaf>> buffers_of;
    for (const auto& [candidate, safety] : safe) {
      if (safety.answer == InPlaceAnswer::kInOrder) {
        if (order.empty()) continue;
        const absl::StatusOr<InPlaceSafety> in_order = SafetyIn(candidate, order);
        if (!in_order.ok() || !in_order->IsSafe()) continue;
      }
      buffers_of[candidate.output_leaf].push_back(candidate.operand);
    }
    std::vector<SharedBuffer> shared = MaximumMatching(buffers_of);
    if (shared.size() > best.shared.size()) best = {std::move(shared), order};
  }
  return best;
}

}  // namespace xla_indexing

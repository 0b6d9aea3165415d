#include "xla_indexing/tools/answers/module_bounds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/tools/answers/report.h"

namespace xla_indexing {
namespace {

using internal::Int128;

// No subject weighs more, so that sums over modules fit.
constexpr int64_t kMaxWeight = 1'000'000;
// A loop weighs twice as much with so many leaves, three times with twice as many, and no more.
constexpr int64_t kManyLeaves = 64;
constexpr int64_t kMostTimes = 3;

// `amount` * part / all, where `part` is no more than `all`.
int64_t PartOf(int64_t amount, int64_t part, int64_t all) {
  return static_cast<int64_t>(Int128{amount} * part / std::max<int64_t>(all, 1));
}

}  // namespace

int64_t UnitShare::StepsOfNext(Direction direction) const {
  const int64_t left = steps_[static_cast<size_t>(direction)];
  const size_t next = next_[static_cast<size_t>(direction)];
  int64_t part = left / 3 * 2;
  if (next < weights_.size()) {
    const int64_t rest = std::accumulate(weights_.begin() + next, weights_.end(), int64_t{0});
    part = std::max(part, PartOf(left, weights_[next], rest));
  }
  return std::min(QuestionBudget::kDefaultSteps, ModuleBounds::kStepsOfSubject + part);
}

void UnitShare::SpendSteps(Direction direction, int64_t steps) {
  int64_t& left = steps_[static_cast<size_t>(direction)];
  left -= std::clamp<int64_t>(steps - ModuleBounds::kStepsOfSubject, 0, left);
  ++next_[static_cast<size_t>(direction)];
}

bool UnitShare::MayListMore(Direction direction, int64_t listed) const {
  return pairs_[static_cast<size_t>(direction)] > 0 || listed < ModuleBounds::kPairsOfSubject;
}

void UnitShare::ListPairs(Direction direction, int64_t pairs) {
  int64_t& left = pairs_[static_cast<size_t>(direction)];
  left -= std::min(left, pairs);
}

ModuleBounds::ModuleBounds(const HloModule& module, absl::Span<const Subject> subjects) {
  // Computations that are called come first.
  for (const HloComputation* computation : module.computations()) {
    int64_t instructions = 0;
    for (const HloInstruction* instruction : computation->instructions()) {
      ++instructions;
      for (const HloComputation* called : instruction->called_computations()) {
        if (called != nullptr) instructions += instructions_[called];
      }
      instructions = std::min(instructions, kMaxWeight);
    }
    instructions_[computation] = instructions;
  }
  all_ = WeightOf(subjects);
}

int64_t ModuleBounds::StepsWeightOf(const Subject& subject) const {
  const auto instructions_of = [&](const HloComputation* computation) {
    const auto known = instructions_.find(computation);
    return known == instructions_.end() ? 0 : known->second;
  };
  if (subject.is_fusion) return 1 + instructions_of(&subject.computation());
  int64_t weight = 1;
  for (const HloComputation* called : subject.instruction->called_computations()) {
    weight = std::min(weight + instructions_of(called), kMaxWeight);
  }
  if (subject.instruction->opcode() == HloOpcode::kWhile) {
    // The body is walked over from each leaf of the state.
    weight *= std::min(1 + subject.instruction->shape().LeafCount() / kManyLeaves, kMostTimes);
  }
  return weight;
}

ModuleBounds::Weight ModuleBounds::WeightOf(absl::Span<const Subject> subjects) const {
  Weight sum;
  for (const Subject& subject : subjects) {
    sum.steps += StepsWeightOf(subject);
    sum.pairs += MostPairs(subject);
  }
  return sum;
}

UnitShare ModuleBounds::ShareOf(absl::Span<const Subject> subjects) const {
  const Weight weight = WeightOf(subjects);
  std::vector<int64_t> weights;
  for (const Subject& subject : subjects) weights.push_back(StepsWeightOf(subject));
  return {PartOf(kSteps, weight.steps, all_.steps), PartOf(kPairs, weight.pairs, all_.pairs),
          std::move(weights)};
}

std::string ModuleBounds::WhyNotListed() {
  return absl::StrCat("more than ", kPairs, " pairs of leaves");
}

}  // namespace xla_indexing

// What all questions about one module in one direction together may take.
//
// A question is about a subject in a direction and has a budget of its own (base/question_budget.h),
// so that its answer is the same whether the other direction is asked for too. The pairs of leaves of
// an answer are listed one by one. A module may have thousands of instructions, each of which may
// cost as much as one question may, and an instruction of 1,000 operands and 1,000 results has a
// million pairs. So the sum over the module is bounded.
//
// Shares. A module has kSteps and kPairs in each direction. Its subjects are divided into units,
// each of which one thread works on from the first subject to the last. A unit's share of the steps
// is proportional to its weight, and its share of the pairs to the most pairs that it may have. A
// subject's weight is the number of instructions that its computations hold, with those that they
// call; a loop of 64 leaves, from each of which its body is walked over, weighs twice as much, and one
// of 128 and more three times. Which unit an instruction is in does not depend on the number of threads, and neither do
// the answers.
//
// In a unit. In each direction a subject may spend two thirds of the steps that are left of the
// share, so that an expensive subject leaves some to those after it; more where its part of them by
// weight is more; and in addition kStepsOfSubject that come out of no share. Pairs are listed until the share of a direction is
// used up. After that, subjects of at most kPairsOfSubject pairs still list theirs; for the others
// the answer says how many there may be.
//
// Example: for a custom call with 4,500 operands and as many results, which each read all operands,
// 265,500 pairs are listed (59 whole leaves) and 19,984,500 are reported as not listed.
#ifndef XLA_INDEXING_TOOLS_ANSWERS_MODULE_BOUNDS_H_
#define XLA_INDEXING_TOOLS_ANSWERS_MODULE_BOUNDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {

// What is left of a unit's share.
class UnitShare {
 public:
  UnitShare() = default;
  // Those of each direction, for subjects of these weights in their order.
  UnitShare(int64_t steps, int64_t pairs, std::vector<int64_t> weights = {})
      : steps_{steps, steps}, pairs_{pairs, pairs}, weights_(std::move(weights)) {}

  // The steps of the budget of the next question in that direction. SpendSteps() takes those that it
  // has used.
  int64_t StepsOfNext(Direction direction) const;
  void SpendSteps(Direction direction, int64_t steps);

  // Whether a subject that has listed so many pairs in that direction may list more.
  bool MayListMore(Direction direction, int64_t listed) const;
  void ListPairs(Direction direction, int64_t pairs);

 private:
  // By direction.
  int64_t steps_[2] = {0, 0};
  int64_t pairs_[2] = {0, 0};
  size_t next_[2] = {0, 0};
  std::vector<int64_t> weights_;
};

class ModuleBounds {
 public:
  static constexpr int64_t kSteps = 12'000'000;
  static constexpr int64_t kStepsOfSubject = 1'000;
  static constexpr int64_t kPairs = int64_t{1} << 18;
  static constexpr int64_t kPairsOfSubject = 1'000;

  // The bounds for these subjects of the module.
  ModuleBounds(const HloModule& module, absl::Span<const Subject> subjects);

  // The share of a unit of these subjects; each subject is in one share.
  UnitShare ShareOf(absl::Span<const Subject> subjects) const;

  // Why pairs are not listed: `more than 262144 pairs of leaves`.
  static std::string WhyNotListed();

 private:
  // What a subject may take, or the sum for several.
  struct Weight {
    int64_t steps = 0;
    int64_t pairs = 0;
  };
  int64_t StepsWeightOf(const Subject& subject) const;
  Weight WeightOf(absl::Span<const Subject> subjects) const;

  absl::flat_hash_map<const HloComputation*, int64_t> instructions_;
  Weight all_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_MODULE_BOUNDS_H_

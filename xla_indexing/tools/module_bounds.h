// What all questions about one module together may take.
//
// A question has a budget of its own (base/question_budget.h), and the pairs of leaves of an answer
// are listed one by one. A module may have thousands of instructions, each of which may cost as
// much as one may, and an instruction of 1,000 operands and 1,000 results has a million pairs: what
// bounds a module is the sum.
//
// Shares. A module has kSteps and kPairs. A unit of its subjects, which one thread works on from
// the first to the last, gets of the steps what the unit's weight is of all subjects' weights, and
// of the pairs what the most pairs that it may have are of all. A subject's weight is the number of
// instructions that its computations hold, with those that they call. Which unit an instruction is
// in does not depend on the number of threads, and neither do the answers.
//
// In a unit. A subject may spend two thirds of the steps that are left of the share, so that one
// that is expensive leaves some to those behind it, and kStepsOfSubject that come out of no share.
// Pairs are listed until the share of a direction is used up; behind that, subjects of no more than
// kPairsOfSubject still list theirs, and of the others it is said how many there may be.
//
// Example: of a custom call with 4,500 operands and as many results, which each read all, 524,288
// pairs are listed (whole leaves at a time) and 19,984,500 said to be not.
#ifndef XLA_INDEXING_TOOLS_MODULE_BOUNDS_H_
#define XLA_INDEXING_TOOLS_MODULE_BOUNDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "xla_indexing/fusion/internal/reindexing.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/tools/subject.h"

namespace xla_indexing {

// What is left of a unit's share.
class UnitShare {
 public:
  UnitShare() = default;
  UnitShare(int64_t steps, int64_t pairs) : steps_(steps), pairs_{pairs, pairs} {}

  // The steps of the next subject's budget, and those that it has spent of them.
  int64_t StepsOfNext() const;
  void SpendSteps(int64_t steps);

  // Whether a subject that has listed so many pairs in that direction may list more.
  bool MayListMore(Direction direction, int64_t listed) const;
  void ListPairs(Direction direction, int64_t pairs);

 private:
  int64_t steps_ = 0;
  int64_t pairs_[2] = {0, 0};  // by direction
};

class ModuleBounds {
 public:
  static constexpr int64_t kSteps = 6'000'000;
  static constexpr int64_t kStepsOfSubject = 1'000;
  static constexpr int64_t kPairs = int64_t{1} << 18;
  static constexpr int64_t kPairsOfSubject = 1'000;

  // Of these subjects of the module.
  ModuleBounds(const HloModule& module, absl::Span<const Subject> subjects);

  // Of some of them, each of which is in one share.
  UnitShare ShareOf(absl::Span<const Subject> subjects) const;

  // Why pairs are not listed: `more than 262144 pairs of leaves`.
  static std::string WhyNotListed();

 private:
  // A subject's, or the sum of several.
  struct Weight {
    int64_t steps = 0;
    int64_t pairs = 0;
  };
  Weight WeightOf(absl::Span<const Subject> subjects) const;

  absl::flat_hash_map<const HloComputation*, int64_t> instructions_;
  Weight all_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODULE_BOUNDS_H_

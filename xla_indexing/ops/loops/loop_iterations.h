// All iterations of a while, in one direction: the maps of one iteration (ops/loops/body/loop_body.h)
// composed as often as the loop runs.
//
// Composition stops where another iteration changes nothing; past kMaxSingleIterations iterations
// the maps are squared, f^(2j) = f^j f^j, so that a body that translates, permutes or repeats
// itself is exact however often it runs. Where the number is not known, or all iterations have too
// many maps, the answer is the union over all numbers of iterations, exact only where it is the
// same for all; where that has too many maps as well it is whole leaves, all those that are
// reachable. A loop that comes there from one leaf comes there from every leaf that leads to it,
// which is not tried again: models have loops with hundreds of leaves.
#ifndef XLA_INDEXING_OPS_LOOPS_LOOP_ITERATIONS_H_
#define XLA_INDEXING_OPS_LOOPS_LOOP_ITERATIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/loops/body/loop_body.h"
#include "xla_indexing/ops/loops/body/loop_memo.h"

namespace xla_indexing::internal {

// For one leaf no more maps than this are composed; a state may have hundreds of leaves, each of
// which is asked for.
inline constexpr int64_t kMaxComposed = 256;

// Takes maps from an array of shape `from` to leaves of the state through iterations. One object is
// one attempt at an answer, which ends where it has composed too many maps; what it gives then has
// no meaning.
class IterationComposer {
 public:
  // Keeps a reference.
  explicit IterationComposer(const LoopBody& body, int64_t max_composed = kMaxComposed)
      : body_(body), budget_(max_composed) {}

  // Through one iteration, or any one where there is no number.
  LeafSets Through(const LeafSets& sets, const Shape& from, std::optional<int64_t> iteration);
  // Through several, which lead from a leaf to others with the maps maps_from(leaf).
  LeafSets Through(const LeafSets& sets, const Shape& from,
                   llvm::function_ref<const LeafSets&(int64_t leaf)> maps_from);

  // Whether so many maps were composed, or a leaf has so many, that this attempt is to be given up.
  bool IsTooMuch(const LeafSets& sets) const;
  bool IsExceeded() const { return is_exceeded_; }
  // Whether the number made a difference when one iteration was last composed.
  bool depends_on_number() const { return depends_on_number_; }
  // Why what leads to a leaf is larger than what is read, where it is.
  const std::map<int64_t, ExactnessLabel>& inexact() const { return inexact_; }

 private:
  // A map of the body, one of LoopBody::EntriesOf(), in one iteration.
  OperandIndexingSet InIteration(const OperandIndexing& map, std::optional<int64_t> iteration);
  // Counts compositions; false where there are too many.
  bool Take(size_t num_maps, size_t num_steps);
  void SimplifyAll(LeafSets* sets) const;

  const LoopBody& body_;
  StepBudget budget_;
  bool is_exceeded_ = false;
  bool depends_on_number_ = false;
  std::map<int64_t, ExactnessLabel> inexact_;
  std::map<const OperandIndexing*, OperandIndexingSet> timed_;
};

// Adds the maps of `from` to those of `to`.
void AddAll(const LoopBody& body, const LeafSets& from, LeafSets* to);

struct IteratedSets {
  LeafSets sets;
  // Whether they are all of every leaf that they lead to and that the body changes.
  bool are_whole_leaves = false;
};

// From an array of shape `from`, where `start` leads to leaves of the state after all iterations
// (backwards) or before them, to those at the other end.
IteratedSets AllIterations(const LoopBody& body, const LeafSets& start, const Shape& from);

// The union over all numbers of iterations.
IteratedSets AnyIterations(const LoopBody& body, const LeafSets& start, const Shape& from);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_LOOP_ITERATIONS_H_

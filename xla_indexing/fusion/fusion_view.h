// Instructions seen as one computation, as a fusion of them would be, without changing their
// module.
//
// A view is a computation of its own in a module of its own. It computes its *roots* from its
// *operands*: the arrays that are read from outside. Its instructions are copies of those of the
// original, its parameters stand for the operands. So whatever takes a computation takes
// `view.computation()`: HloIndexer in both directions, ComputeUtilization, tiling, CompareReads. The
// maps are those of a walk over the whole, in which chains of reindexings cancel.
//
// What is in a view. Going from the roots to operands, every instruction that is met and that is
// inside. What is not inside becomes a parameter, and so do parameters of the computation that the
// roots are in. On the way
//
//   - fusions and calls are replaced by what they compute. They stay calls where they nest more
//     than 64 deep, where they have more than kMaxInlined instructions together, and where the
//     budget of an open question (base/question_budget.h) is spent;
//   - a get-tuple-element of a tuple is replaced by the tuple's operand;
//   - where a value takes another layout at the border of a fusion there is a copy;
//   - control predecessors are left out, since they say nothing of values.
//
// Order. Copies stand in the order of the computation, what a fusion computes in its place.
// Parameters are numbered in the order of their first use by the copies in this order, operand by
// operand, and then by the roots. Each array is one parameter, also where it is read through
// several get-tuple-elements. One root is the root of the view; several are the operands of a
// tuple, the root, in the order in which they were given.
//
// Heroes. Indexing starts and ends at any instruction by a view that begins or ends there. With the
// view of a fusion, and h the copy of its hero in it (CopiesOf):
//
//   FusionView::Between({h}, {root})       from the root to the hero, and, input to output, from
//                                          the hero to the root: the epilogue
//   FusionView::Between({}, {h->operand(0)})  from what the hero reads to the parameters
//
// Example, `n = negate(p)`, `t = transpose(n)` of f32[2,3], which no fusion contains:
//
//   absl::StatusOr<FusionView> view = FusionView::OfProducerConsumer(*n, *t);
//   indexer.Index(view->computation(), Direction::kOutputToInput);  // (d0, d1) -> (d1, d0)
//   view->operand(0);                                               // p
//
// Views that say the same, such as those of one layer after another, share their maps where they are
// asked about through one HloIndexer, each of which may end before the next one is made.
//
// The original has to verify (hlo/verify/verifier.h), and to outlive the correspondence; the computation
// of the view needs it no more.
//
// Cost: linear in the instructions of the view, in the computations that they call, which are
// copied, and, for sets, in what its operands are computed from after the first of the set.
//
// Errors. InvalidArgument, naming the instructions: no roots, null, instructions of different
// computations, and copies that do not verify, such as an all-reduce-done without the
// all-reduce-start that decides on its shape.
#ifndef XLA_INDEXING_FUSION_FUSION_VIEW_H_
#define XLA_INDEXING_FUSION_FUSION_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

class FusionView {
 public:
  using Instructions = absl::Span<const HloInstruction* const>;
  // The numbers of iterations of loops one in another, the outermost first.
  using Iterations = absl::InlinedVector<int64_t, 1>;

  static constexpr int64_t kMaxInlined = 20000;

  // What the roots, of one computation, are computed from by instructions that are inside. It is
  // asked about instructions of that computation alone. All other makers are cases of this one.
  static absl::StatusOr<FusionView> Create(
      Instructions roots, absl::FunctionRef<bool(const HloInstruction&)> is_inside);

  // What the roots are computed from, going no further than to `from`. A root that is in `from` is a
  // parameter and the root; an instruction of `from` that no root is computed from is none.
  static absl::StatusOr<FusionView> Between(Instructions from, Instructions roots);

  // Instructions as one. A fusion of them has to be possible: no instruction outside is computed
  // from one of them and an operand of another. Get-tuple-elements between them need not be given;
  // parameters may be. The roots are those that are used outside, or by none, in the order of the
  // computation.
  static absl::StatusOr<FusionView> OfInstructions(Instructions instructions);

  // A fusion; also any other instruction, by itself.
  static absl::StatusOr<FusionView> OfFusion(const HloInstruction& fusion);
  static absl::StatusOr<FusionView> OfComputation(const HloComputation& computation);
  // A computation whose loops are replaced by their iterations, where the number of these is known and depends
  // on no data, as far as there are no more than kMaxInlined instructions. What counts is a constant in each.
  static absl::StatusOr<FusionView> OfIterations(const HloComputation& computation,
                                                 mlir::MLIRContext* context);

  // A consumer with one of its producers fused into it, whoever else uses the producer. Either may
  // be a fusion. The roots are the consumer and, where it is an output too, the producer. An error
  // where the consumer reads it through an instruction in between, or not at all.
  enum class ProducerIs { kInternal, kOutput };
  static absl::StatusOr<FusionView> OfProducerConsumer(
      const HloInstruction& producer, const HloInstruction& consumer,
      ProducerIs producer_is = ProducerIs::kInternal);

  // The module has nothing but the computation, its entry, and those that it calls.
  const HloModule& module() const { return *module_; }
  const HloComputation& computation() const { return *module_->entry_computation(); }

  // The roots as they were given or found; of several, the i-th is the i-th operand of the root of
  // the view.
  Instructions roots() const { return roots_; }
  // What parameter i stands for: the instruction outside that was met first. There are as many as
  // the computation has parameters.
  Instructions operands() const { return operands_; }
  const HloInstruction* operand(int64_t parameter) const { return operands_[parameter]; }
  // The number of the parameter that stands for an instruction outside.
  std::optional<int64_t> ParameterOf(const HloInstruction& operand) const;

  // The instructions of the view that have the value of an instruction of the original, in the order
  // of the view. There are several where it was met in several calls of its computation, and none
  // where it is not in the view. A fusion has the copy of its root, a parameter of a fused
  // computation what is passed, and an operand the parameter that stands for it.
  Instructions CopiesOf(const HloInstruction& original) const;
  // What an instruction of the view is a copy of, or stands for; null for the tuple of several
  // roots, and for what is not in the view.
  const HloInstruction* OriginalOf(const HloInstruction& copy) const;
  // The iterations that a copy is of; none outside of the loops that were replaced.
  Iterations IterationsOf(const HloInstruction& copy) const;

 private:
  friend class FusionViewBuilder;

  explicit FusionView(std::unique_ptr<HloModule> module) : module_(std::move(module)) {}

  std::unique_ptr<HloModule> module_;
  std::vector<const HloInstruction*> roots_;
  std::vector<const HloInstruction*> operands_;
  std::vector<const HloInstruction*> originals_;  // by position of the copy
  std::unordered_map<const HloInstruction*, Iterations> iterations_;
  std::unordered_map<const HloInstruction*, absl::InlinedVector<const HloInstruction*, 1>> copies_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_FUSION_VIEW_H_

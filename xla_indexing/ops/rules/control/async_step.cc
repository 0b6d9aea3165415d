// Async-start and async-update: the steps that begin a computation f that runs at the same time as others. A step binds
// operands to parameters of f (hlo/model/async_steps.h), an update those that come after the n that its
// state, operand 0, has bound. The result is a tuple,
//
//   {0}:       the operands that are bound, those of the state first,
//   {1}:       f(operands) where the step binds the last of them, nothing if it binds others; the
//              state's where it binds none,
//   {2}, ..:   contexts, made from nothing, and passed on.

#include <cstdint>
#include <optional>
#include <utility>

#include "xla_indexing/hlo/model/async_steps.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

class AsyncStepMaps {
 public:
  explicit AsyncStepMaps(BuildContext& build)
      : build_(build),
        step_(build.instruction),
        is_update_(step_.opcode() == HloOpcode::kAsyncUpdate),
        binds_(!is_update_ || step_.operand_count() > 1),
        state_(is_update_ ? &step_.operand(0)->shape() : nullptr),
        bound_before_(is_update_ ? BoundOperands(*state_) : 0),
        first_result_(step_.shape().tuple_element(0).LeafCount()),
        first_context_(first_result_ + step_.shape().tuple_element(1).LeafCount()) {
    const auto called = step_.called_computations();
    if (!called.empty()) computation_ = called[0];
    // Where the start is not to be seen, the operation may begin.
    begins_ = binds_ && (computation_ == nullptr ||
                         BoundOperands(step_.shape()) ==
                             static_cast<int64_t>(computation_->parameters().size()));
  }

  void Read(int64_t output_leaf) {
    if (output_leaf < first_result_) {
      const OperandLeaf passed = OperandOfBound(output_leaf);
      Pass(output_leaf, passed.operand, passed.operand_leaf);
    } else if (output_leaf >= first_context_) {
      if (is_update_) Pass(output_leaf, 0, output_leaf - first_context_ + FirstContextOfState());
    } else if (begins_) {
      ReadOfComputation(output_leaf);
    } else if (!binds_) {
      Pass(output_leaf, 0, output_leaf - first_result_ + FirstResultOfState());
    }
  }

  void Reach(int64_t operand, int64_t operand_leaf) {
    if (!is_update_ || operand > 0) {
      Pass(step_.shape().tuple_element(0).FirstLeafOfElement(ParameterOf(operand)) + operand_leaf,
           operand, operand_leaf);
    } else if (operand_leaf < FirstResultOfState()) {
      Pass(operand_leaf, 0, operand_leaf);
    } else if (operand_leaf < FirstContextOfState()) {
      // What is there before the last operand is bound is no result.
      if (!binds_) Pass(operand_leaf - FirstResultOfState() + first_result_, 0, operand_leaf);
      return;
    } else {
      Pass(operand_leaf - FirstContextOfState() + first_context_, 0, operand_leaf);
      return;
    }
    if (begins_) ReachOfComputation(operand, operand_leaf);
  }

 private:
  int64_t FirstResultOfState() const { return state_->tuple_element(0).LeafCount(); }
  int64_t FirstContextOfState() const {
    return FirstResultOfState() + state_->tuple_element(1).LeafCount();
  }

  void Pass(int64_t output_leaf, int64_t operand, int64_t operand_leaf) {
    build_.Add(output_leaf, operand, operand_leaf,
               IdentityIndexing(step_.shape().Leaf(output_leaf), build_.mlir_context));
  }

  // The parameter that an operand of this step is bound to, and the operand that has a parameter's value.
  int64_t ParameterOf(int64_t operand) const {
    return is_update_ ? bound_before_ + operand - 1 : operand;
  }
  OperandLeaf OperandOf(int64_t parameter, int64_t leaf) const {
    if (!is_update_) return {parameter, leaf};
    if (parameter >= bound_before_) return {parameter - bound_before_ + 1, leaf};
    return {0, state_->tuple_element(0).FirstLeafOfElement(parameter) + leaf};
  }

  // What a leaf of element {0} is.
  OperandLeaf OperandOfBound(int64_t output_leaf) const {
    const Shape& bound = step_.shape().tuple_element(0);
    auto parameter = static_cast<int64_t>(bound.tuple_elements().size()) - 1;
    while (bound.FirstLeafOfElement(parameter) > output_leaf) --parameter;
    return OperandOf(parameter, output_leaf - bound.FirstLeafOfElement(parameter));
  }

  bool IsLookedInto() const {
    return build_.options.computations != nullptr && computation_ != nullptr;
  }
  CalledComputation Called() const {
    CalledComputation called = {step_, *computation_};
    if (is_update_) called.first_operand = std::nullopt;
    return called;
  }

  void ReadOfComputation(int64_t output_leaf) {
    if (IsLookedInto()) {
      AddResults(build_.ReadOf(Called(), output_leaf - first_result_));
      return;
    }
    for (int64_t operand = 0; operand < step_.operand_count(); ++operand) {
      const bool is_state = is_update_ && operand == 0;
      const int64_t count =
          is_state ? FirstResultOfState() : step_.operand(operand)->shape().LeafCount();
      for (int64_t leaf = 0; leaf < count; ++leaf) {
        AddUnanalysed(build_, Direction::kOutputToInput, output_leaf, operand, leaf);
      }
    }
  }

  void ReachOfComputation(int64_t operand, int64_t operand_leaf) {
    if (!IsLookedInto()) {
      for (int64_t leaf = first_result_; leaf < first_context_; ++leaf) {
        AddUnanalysed(build_, Direction::kInputToOutput, leaf, operand, operand_leaf);
      }
      return;
    }
    OperandLeaf parameter = {ParameterOf(operand), operand_leaf};
    if (is_update_ && operand == 0) {
      const Shape& bound = state_->tuple_element(0);
      parameter.operand = bound_before_ - 1;
      while (bound.FirstLeafOfElement(parameter.operand) > operand_leaf) --parameter.operand;
      parameter.operand_leaf = operand_leaf - bound.FirstLeafOfElement(parameter.operand);
    }
    AddResults(build_.ReachOf(Called(), parameter));
  }

  // Entries of the computation as entries of the step.
  void AddResults(InstructionIndexing entries) {
    for (IndexingEntry& entry : entries) {
      const OperandLeaf operand = OperandOf(entry.operand, entry.operand_leaf);
      build_.Add(first_result_ + entry.output_leaf, operand.operand, operand.operand_leaf,
                 std::move(entry.indexing));
    }
  }

  BuildContext& build_;
  const HloInstruction& step_;
  const bool is_update_;
  const bool binds_;          // Whether operands may be bound; otherwise the state is passed on.
  const Shape* const state_;  // of operand 0; null for a start
  const int64_t bound_before_;
  const int64_t first_result_;   // The first leaf of element {1},
  const int64_t first_context_;  // and the one behind its last.
  const HloComputation* computation_ = nullptr;
  // Whether all operands are bound now, and were not before, as far as that is known.
  bool begins_ = false;
};

}  // namespace

void AsyncStepOutputToInput(BuildContext& build, int64_t output_leaf) {
  AsyncStepMaps(build).Read(output_leaf);
}

void AsyncStepInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  AsyncStepMaps(build).Reach(operand, operand_leaf);
}

}  // namespace xla_indexing::internal

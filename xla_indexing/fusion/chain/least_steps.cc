#include "xla_indexing/fusion/chain/least_steps.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/fusion/chain/reindexing.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

// 0 where it is no array, or nobody knows.
int64_t ElementsOf(const Shape& shape) {
  if (!shape.IsArray()) return 0;
  const absl::StatusOr<int64_t> count = shape.ElementCount();
  return count.ok() ? *count : 0;
}

Reached OfAll(Reached from, Reached then) {
  return from == Reached::kAll ? then : Reached::kNothing;
}

// The same of an array of so many elements.
Reached OfSoMany(Reached reached, int64_t elements) {
  return reached == Reached::kSome && elements == 1 ? Reached::kAll : reached;
}

// Any element of the result is computed from all of an operand that has no other dimensions than the
// contracted ones.
Reached ThroughDot(const HloInstruction& dot, int64_t operand, bool backward, Reached from) {
  if (!backward || operand > 1) return from;
  const DotDimensionNumbers& numbers = dot.dot_dimension_numbers();
  int64_t others = ElementsOf(dot.operand(operand)->shape());
  for (const int64_t dim :
       operand == 0 ? numbers.lhs_contracting_dims : numbers.rhs_contracting_dims) {
    others /= dot.operand(operand)->shape().dimension(dim);
  }
  return others == 1 ? Reached::kAll : from;
}

}  // namespace

Reached ReachedThrough(const HloInstruction& instruction, int64_t operand, Direction direction,
                       Reached from) {
  const bool backward = direction == Direction::kOutputToInput;
  const Shape& result = instruction.shape();
  const Shape& read = instruction.operand(operand)->shape();
  if (from == Reached::kNothing || ElementsOf(result) == 0 || ElementsOf(read) == 0) {
    return Reached::kNothing;
  }
  switch (instruction.opcode()) {
    case HloOpcode::kDot:
      return ThroughDot(instruction, operand, backward, from);
    case HloOpcode::kConcatenate:
      return backward ? OfAll(from, Reached::kAll) : Reached::kSome;
    case HloOpcode::kSlice:
      return backward ? Reached::kSome : OfAll(from, Reached::kAll);
    case HloOpcode::kDynamicSlice:
      if (operand > 0) return Reached::kAll;
      return backward ? Reached::kSome : OfAll(from, Reached::kAll);
    case HloOpcode::kDynamicUpdateSlice:
      if (operand > 1) return Reached::kAll;
      if (operand == 1) return backward ? OfAll(from, Reached::kAll) : Reached::kSome;
      return ElementsOf(instruction.operand(1)->shape()) < ElementsOf(result)
                 ? OfAll(from, Reached::kSome)
                 : Reached::kNothing;
    case HloOpcode::kReshape:
    case HloOpcode::kTranspose:
    case HloOpcode::kReverse:
    case HloOpcode::kBroadcast:
    case HloOpcode::kReduce:
      return IsReindexing(instruction, operand) ? from : Reached::kNothing;
    default:
      return IsElementwise(instruction.opcode()) && IsReindexing(instruction, operand)
                 ? from
                 : Reached::kNothing;
  }
}

namespace {

// Computations of no more instructions are passed over where they are called.
constexpr size_t kSmall = 64;

// Whether each operand has its parameter, which is not so in every module that does not verify.
bool HasParameters(const HloInstruction& caller) {
  const HloComputation& called = *caller.inlined_computation();
  const auto parameters = called.parameters();
  return called.root_instruction() != nullptr &&
         static_cast<int64_t>(parameters.size()) == caller.operand_count() &&
         absl::c_all_of(parameters,
                        [](const HloInstruction* parameter) { return parameter != nullptr; });
}

class LeastStepsCounter {
 public:
  LeastStepsCounter(const HloComputation& computation, Direction direction,
                    StepsThrough steps_through, std::vector<Reached>* reached)
      : computation_(computation),
        is_backward_(direction == Direction::kOutputToInput),
        direction_(direction),
        steps_through_(steps_through),
        reached_(*reached) {}

  int64_t Count(int64_t enough) {
    const auto instructions = computation_.instructions();
    for (size_t n = 0; n < instructions.size() && steps_ <= enough; ++n) {
      const size_t position = is_backward_ ? instructions.size() - 1 - n : n;
      if (reached_[position] == Reached::kNothing) continue;
      const HloInstruction& instruction = *instructions[position];
      const Reached from = OfSoMany(reached_[position], ElementsOf(instruction.shape()));
      is_backward_ ? StepToOperands(instruction, from) : StepToUsers(instruction, from);
    }
    return steps_;
  }

 private:
  void Reach(const HloInstruction& next, Reached more) {
    Reached& known = reached_[next.index_in_computation()];
    known = std::max(known, more);
  }
  void StepToUsers(const HloInstruction& instruction, Reached from) {
    for (const HloInstruction::Use& use : instruction.uses()) {
      if (const HloComputation* called = use.user->inlined_computation()) {
        if (!HasParameters(*use.user)) continue;
        const std::vector<Reached> inner =
            Through(*use.user, *called->parameter(use.operand), from);
        if (!inner.empty()) {
          Reach(*use.user, inner[called->root_instruction()->index_in_computation()]);
        }
        continue;
      }
      ++steps_;
      Reach(*use.user, ReachedThrough(*use.user, use.operand, direction_, from));
    }
  }
  void StepToOperands(const HloInstruction& instruction, Reached from) {
    const HloComputation* called = instruction.inlined_computation();
    if (called != nullptr && !HasParameters(instruction)) return;
    const std::vector<Reached> inner =
        called == nullptr ? std::vector<Reached>()
                          : Through(instruction, *called->root_instruction(), from);
    if (called != nullptr && inner.empty()) return;
    for (int64_t operand = 0; operand < instruction.operand_count(); ++operand) {
      const HloInstruction& read = *instruction.operand(operand);
      // Nothing is computed from: a constant, an iota.
      if (read.operand_count() == 0 && read.opcode() != HloOpcode::kParameter) continue;
      const Reached more = called == nullptr
                               ? ReachedThrough(instruction, operand, direction_, from)
                               : inner[called->parameter(operand)->index_in_computation()];
      if (more == Reached::kNothing) continue;
      if (called == nullptr) ++steps_;
      Reach(read, more);
    }
  }
  // What is reached in the computation that is called, from there; empty where that is not known.
  std::vector<Reached> Through(const HloInstruction& caller, const HloInstruction& start,
                               Reached from) {
    const HloComputation& called = *caller.inlined_computation();
    const size_t size = called.instructions().size();
    if (size > kSmall || !start.shape().IsArray() || !caller.shape().IsArray() ||
        !steps_through_(caller)) {
      return {};
    }
    std::vector<Reached> inner(size, Reached::kNothing);
    inner[start.index_in_computation()] = from;
    steps_ += LeastSteps(
        called, direction_, std::numeric_limits<int64_t>::max(),
        [](const HloInstruction&) { return false; }, &inner);
    return inner;
  }

  const HloComputation& computation_;
  const bool is_backward_;
  const Direction direction_;
  const StepsThrough steps_through_;
  std::vector<Reached>& reached_;
  int64_t steps_ = 0;
};

}  // namespace

int64_t LeastSteps(const HloComputation& computation, Direction direction, int64_t enough,
                   StepsThrough steps_through, std::vector<Reached>* reached) {
  if (IsOff(Engine::kLeastSteps)) return 0;
  return LeastStepsCounter(computation, direction, steps_through, reached).Count(enough);
}

}  // namespace xla_indexing::internal

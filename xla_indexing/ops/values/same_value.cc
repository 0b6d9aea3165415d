#include "xla_indexing/ops/values/same_value.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/values/leaf_routes.h"

namespace xla_indexing::internal {
namespace {

// Pairs of values that are compared.
constexpr int kMaxComparedValues = 64;
// Values of which it is asked what they are computed of.
constexpr int kMaxFollowedValues = 256;
// Pairs of arrays of two computations that are compared; an array that is used twice is compared twice.
constexpr int kMaxComparedFunctions = 1024;

// Elided elements may be any.
bool AreSameConstants(const HloInstruction& a, const HloInstruction& b) {
  return a.literal() != nullptr && b.literal() != nullptr && !a.literal()->IsElided() &&
         *a.literal() == *b.literal();
}

// Whether what an operation makes of scalars depends on nothing but its opcode, its type and the
// direction of a comparison.
bool IsFunctionOfOperands(const HloInstruction& instruction) {
  return instruction.shape().IsArray() && instruction.shape().rank() == 0 &&
         IsElementwise(instruction.opcode()) && instruction.operand_count() > 0 &&
         instruction.opcode() != HloOpcode::kRngBitGenerator;
}

bool IsSame(const PlacedValue& x, const PlacedValue& y, int* left) {
  const PlacedValue a = Followed(x);
  const PlacedValue b = Followed(y);
  const HloInstruction& of_a = *a.source.instruction;
  const HloInstruction& of_b = *b.source.instruction;
  if (&of_a == &of_b && a.source.leaf == b.source.leaf && a.callers == b.callers) return true;
  if (--*left <= 0 || of_a.opcode() != of_b.opcode() || of_a.shape() != of_b.shape()) return false;
  if (of_a.opcode() == HloOpcode::kConstant) return AreSameConstants(of_a, of_b);
  if (!IsFunctionOfOperands(of_a) || of_a.operand_count() != of_b.operand_count() ||
      of_a.comparison_direction() != of_b.comparison_direction()) {
    return false;
  }
  for (int64_t i = 0; i < of_a.operand_count(); ++i) {
    if (!IsSame({{of_a.operand(i), 0}, a.callers}, {{of_b.operand(i), 0}, b.callers}, left)) {
      return false;
    }
  }
  return true;
}

// Whether an operation makes the same of the same operands whenever it is done, and does nothing else;
// no for those that call computations.
bool IsFunction(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kConstant:
    case HloOpcode::kDot:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kGather:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kIota:
    case HloOpcode::kPad:
    case HloOpcode::kReduce:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kSort:
    case HloOpcode::kTranspose:
    case HloOpcode::kTuple:
      return true;
    default:
      return IsElementwise(opcode) && opcode != HloOpcode::kRngBitGenerator &&
             opcode != HloOpcode::kStochasticConvert;
  }
}

// Compares what is computed of parameters.
class SameFunctions {
 public:
  bool Holds(const PlacedValue& x, const PlacedValue& y) {
    const PlacedValue a = Followed(x);
    const PlacedValue b = Followed(y);
    const HloInstruction& of_a = *a.source.instruction;
    const HloInstruction& of_b = *b.source.instruction;
    if (a.source.leaf != b.source.leaf || of_a.opcode() != of_b.opcode()) return false;
    if (of_a.opcode() == HloOpcode::kParameter) {
      return a.callers.empty() && b.callers.empty() &&
             of_a.parameter_number() == of_b.parameter_number();
    }
    if (of_a.opcode() == HloOpcode::kConstant) {
      return EqualIgnoringLayout(of_a.shape(), of_b.shape()) && AreSameConstants(of_a, of_b);
    }
    if (--left_ < 0 || depth_ == kMaxDepth) return false;
    ++depth_;
    const bool holds = AreSame(a, b);
    --depth_;
    return holds;
  }

 private:
  static constexpr int kMaxDepth = 256;

  bool AreSame(const PlacedValue& x, const PlacedValue& y) {
    const HloInstruction& a = *x.source.instruction;
    const HloInstruction& b = *y.source.instruction;
    const auto called_by_a = a.called_computations();
    const auto called_by_b = b.called_computations();
    if (!IsFunction(a.opcode()) || !SameOperation(a, b) || a.operand_count() != b.operand_count() ||
        called_by_a.size() != called_by_b.size()) {
      return false;
    }
    for (size_t i = 0; i < called_by_a.size(); ++i) {
      if (called_by_a[i] == called_by_b[i]) continue;
      if (called_by_a[i] == nullptr || called_by_b[i] == nullptr) return false;
      if (!AreAllLeavesSame(called_by_a[i]->root_instruction(), {},
                            called_by_b[i]->root_instruction(), {})) {
        return false;
      }
    }
    for (int64_t i = 0; i < a.operand_count(); ++i) {
      if (!AreAllLeavesSame(a.operand(i), x.callers, b.operand(i), y.callers)) return false;
    }
    return true;
  }

  using Callers = decltype(PlacedValue::callers);
  bool AreAllLeavesSame(const HloInstruction* a, const Callers& of_a, const HloInstruction* b,
                        const Callers& of_b) {
    if (a == nullptr || b == nullptr) return false;
    const int64_t leaf_count = a->shape().LeafCount();
    if (leaf_count != b->shape().LeafCount()) return false;
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      if (!Holds({{a, leaf}, of_a}, {{b, leaf}, of_b})) return false;
    }
    return true;
  }

  int left_ = kMaxComparedFunctions;
  int depth_ = 0;
};

// Looks at all that a value is computed of inside the body of a loop.
class OfPassedLeaves {
 public:
  OfPassedLeaves(const HloInstruction& loop, const std::vector<bool>& passes_through)
      : loop_(loop), passes_through_(passes_through) {}

  bool Holds(const PlacedValue& value) {
    if (--left_ < 0) return false;
    const PlacedValue from = Followed(value);
    const HloInstruction& instruction = *from.source.instruction;
    if (instruction.opcode() == HloOpcode::kParameter) {
      if (from.callers.size() != 1 || from.callers.back() != &loop_) return false;
      return passes_through_[from.source.leaf];
    }
    if (!IsFunction(instruction.opcode())) return false;
    return llvm::all_of(instruction.operands(), [&](const HloInstruction* operand) {
      const int64_t leaf_count = operand->shape().LeafCount();
      for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
        if (!Holds({{operand, leaf}, from.callers})) return false;
      }
      return true;
    });
  }

 private:
  const HloInstruction& loop_;
  const std::vector<bool>& passes_through_;
  int left_ = kMaxFollowedValues;
};

}  // namespace

bool IsSameInAllIterations(const RuntimeVarIndexing& value, const HloInstruction& loop,
                           const std::vector<bool>& passes_through) {
  if (IsOff(Engine::kSameScalar)) return false;
  const auto is_call = [](const HloInstruction* caller) {
    return caller->inlined_computation() != nullptr;
  };
  if (value.call_path.empty() || value.call_path.front() != &loop ||
      !llvm::all_of(llvm::drop_begin(value.call_path), is_call)) {
    return false;
  }
  return OfPassedLeaves(loop, passes_through)
      .Holds({{value.instruction, value.leaf}, {value.call_path.begin(), value.call_path.end()}});
}

bool IsSameFunction(const PlacedValue& a, const PlacedValue& b) {
  return SameFunctions().Holds(a, b);
}

bool IsSameScalar(const RuntimeVarIndexing& a, const RuntimeVarIndexing& b) {
  if (IsOff(Engine::kSameScalar)) return false;
  if (a.shape().rank() != 0 || b.shape().rank() != 0) return false;
  int left = kMaxComparedValues;
  return IsSame({{a.instruction, a.leaf}, {a.call_path.begin(), a.call_path.end()}},
                {{b.instruction, b.leaf}, {b.call_path.begin(), b.call_path.end()}}, &left);
}

}  // namespace xla_indexing::internal

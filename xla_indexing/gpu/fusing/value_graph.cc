#include "xla_indexing/gpu/fusing/value_graph.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla_indexing/gpu/threads/emitter_hero.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

constexpr int64_t kMaxInlinedSize = 20'000;
constexpr int64_t kMaxInlinedDepth = 64;
constexpr int64_t kMaxGrowth = 500'000;
// Values of one opcode, shape and operands that a new one is compared with.
constexpr size_t kMaxCompared = 8;

// Whether a value of the one shape is one of the other: layouts may be left out.
bool IsPassedAsItIs(const Shape& a, const Shape& b) {
  if (a == b) return true;
  if (!EqualIgnoringLayout(a, b)) return false;
  const std::vector<const Shape*> of_a = a.Leaves();
  return absl::c_equal(of_a, b.Leaves(), [](const Shape* x, const Shape* y) {
    return x->LayoutOrRowMajor() == y->LayoutOrRowMajor();
  });
}

// Arrays may take another layout where they are passed.
bool CanBePassed(const Shape& from, const Shape& to) {
  return from.IsArray() || IsPassedAsItIs(from, to);
}

bool CanBeInlined(const HloInstruction& call) {
  if (call.opcode() != HloOpcode::kCall) return false;
  const HloComputation& called = *call.to_apply();
  for (int64_t i = 0; i < call.operand_count(); ++i) {
    if (!CanBePassed(call.operand(i)->shape(), called.parameter(i)->shape())) return false;
  }
  return CanBePassed(called.root_instruction()->shape(), call.shape());
}

bool LiesRowMajor(const Shape& shape) {
  return !shape.has_layout() || *shape.layout() == RowMajorLayout(shape.rank());
}

// Whether every element stays in its place in memory.
bool IsAnotherName(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kBitcast) return true;
  if (instruction.opcode() == HloOpcode::kReshape) {
    return LiesRowMajor(instruction.shape()) && LiesRowMajor(instruction.operand(0)->shape());
  }
  const std::optional<JoinedTranspose> joined = JoinTranspose(instruction);
  return joined && joined->permutation.size() < 2;
}

// Whether the transpose of a dot's result exchanges the dimensions of its sides, behind the batch
// dimensions and each side in its order: a library writes one as well as the other.
bool ExchangesSides(const HloInstruction& transpose, const HloInstruction& dot) {
  const auto batch = static_cast<int64_t>(dot.GetIntegers(AttributeKey::kLhsBatchDims).size());
  const auto contracted =
      static_cast<int64_t>(dot.GetIntegers(AttributeKey::kLhsContractingDims).size());
  const int64_t rank = dot.shape().rank();
  const int64_t behind_left = dot.operand(0)->shape().rank() - contracted;
  const absl::Span<const int64_t> permutation = transpose.dimensions();
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t from = i < batch                        ? i
                         : i < batch + rank - behind_left ? i + behind_left - batch
                                                          : i - (rank - behind_left);
    if (permutation[i] != from) return false;
  }
  return true;
}

bool IsFusible(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kBitcastConvert:
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kGather:
    case HloOpcode::kIota:
    case HloOpcode::kPad:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kScatter:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return instruction.shape().IsArray();
    case HloOpcode::kDot:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
      return true;
    case HloOpcode::kMap:
    case HloOpcode::kStochasticConvert:
      return false;
    default:
      return IsElementwise(instruction.opcode()) && instruction.shape().IsArray();
  }
}

ValueRole RoleOf(const HloInstruction& instruction) {
  for (const Shape* leaf : instruction.shape().Leaves()) {
    if (!leaf->IsStatic()) return ValueRole::kMemory;
  }
  if (instruction.opcode() == HloOpcode::kConstant) {
    return instruction.shape().IsScalar() ? ValueRole::kFree : ValueRole::kMemory;
  }
  if (instruction.shape().IsArray() && IsAnotherName(instruction)) return ValueRole::kFree;
  return IsFusible(instruction) ? ValueRole::kFusible : ValueRole::kMemory;
}

// Whether making the value says nothing but the value, so that one of two that are equal is enough.
bool IsPure(const Value& value) {
  return value.role != ValueRole::kMemory || value.opcode() == HloOpcode::kConstant ||
         value.opcode() == HloOpcode::kGetTupleElement;
}

// Whether what is made is not all that happens, or may be not.
bool DoesMore(const Value& value) {
  return value.role == ValueRole::kMemory && !IsPure(value) &&
         value.opcode() != HloOpcode::kTuple && value.opcode() != HloOpcode::kConvolution;
}

class ValueGraphMaker {
 public:
  explicit ValueGraphMaker(const InlinedCalls& inlined) : inlined_(inlined) {}

  int AddComputation(const HloComputation& computation, absl::InlinedVector<int, 2> arguments) {
    std::vector<int> of_position;
    of_position.reserve(computation.instruction_count());
    for (const HloInstruction* instruction : computation.instructions()) {
      if (instruction->opcode() == HloOpcode::kParameter) {
        of_position.push_back(InShapeOf(*instruction, arguments[instruction->parameter_number()]));
        continue;
      }
      absl::InlinedVector<int, 2> operands;
      for (const HloInstruction* operand : instruction->operands()) {
        operands.push_back(of_position[operand->index_in_computation()]);
      }
      of_position.push_back(Add(*instruction, std::move(operands)));
    }
    return of_position[computation.root_instruction()->index_in_computation()];
  }

  int AddValue(const HloInstruction& instruction, absl::InlinedVector<int, 2> operands) {
    Value value{&instruction, std::move(operands), RoleOf(instruction)};
    for (const Shape* leaf : instruction.shape().Leaves()) {
      const absl::StatusOr<int64_t> elements = leaf->ElementCount();
      if (!elements.ok() || *elements > (int64_t{1} << 50)) {
        value.role = ValueRole::kMemory;
        continue;
      }
      value.elements = std::max(value.elements, *elements);
      value.bytes += *elements * BitsOfElement(*leaf) / 8;
    }
    // Another name of another name is one of the value itself.
    if (value.role == ValueRole::kFree && !value.operands.empty()) {
      const Value& named = values[value.operands[0]];
      if (named.role == ValueRole::kFree && !named.operands.empty()) {
        value.operands[0] = named.operands[0];
      }
    }
    values.push_back(std::move(value));
    return static_cast<int>(values.size()) - 1;
  }

  std::vector<Value> values;

 private:
  int Add(const HloInstruction& instruction, absl::InlinedVector<int, 2> operands) {
    if (inlined_.Has(instruction)) {
      return InShapeOf(instruction, AddComputation(*instruction.to_apply(), std::move(operands)));
    }
    if (instruction.opcode() == HloOpcode::kGetTupleElement &&
        values[operands[0]].opcode() == HloOpcode::kTuple) {
      return values[operands[0]].operands[instruction.tuple_index()];
    }
    const int added = AddValue(instruction, std::move(operands));
    if (!IsPure(values[added])) return added;
    const Value& value = values[added];
    std::vector<int>& equal = known_[absl::HashOf(value.opcode(), value.shape(), value.operands)];
    const auto same =
        absl::c_find_if(equal, [&](int known) { return IsSame(values[known], value); });
    if (same != equal.end()) {
      const int known = *same;
      values.pop_back();
      return known;
    }
    if (equal.size() < kMaxCompared) equal.push_back(added);
    return added;
  }

  // A value in the layout of an instruction that stands for it.
  int InShapeOf(const HloInstruction& instruction, int value) {
    if (IsPassedAsItIs(values[value].shape(), instruction.shape())) return value;
    const int copy = AddValue(instruction, {value});
    values[copy].is_relayout = true;
    values[copy].role = instruction.shape().IsStatic() ? ValueRole::kFusible : ValueRole::kMemory;
    return copy;
  }

  static bool IsSame(const Value& a, const Value& b) {
    return a.operands == b.operands && a.shape() == b.shape() &&
           absl::c_equal(a.instruction->called_computations(),
                         b.instruction->called_computations()) &&
           SameOperation(*a.instruction, *b.instruction);
  }

  const InlinedCalls& inlined_;
  absl::flat_hash_map<size_t, std::vector<int>> known_;
};

}  // namespace

InlinedCalls::InlinedCalls(const HloModule& module) {
  struct Size {
    int64_t instructions = 0;
    int64_t depth = 1;
  };
  absl::flat_hash_map<const HloComputation*, Size> sizes;
  int64_t growth = 0;
  for (const HloComputation* computation : module.computations()) {
    Size size{computation->instruction_count()};
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!CanBeInlined(*instruction)) continue;
      const Size called = sizes[instruction->to_apply()];
      if (called.instructions > kMaxInlinedSize || called.depth >= kMaxInlinedDepth ||
          growth + called.instructions > kMaxGrowth) {
        continue;
      }
      calls_.insert(instruction);
      growth += called.instructions;
      size.instructions += called.instructions;
      size.depth = std::max(size.depth, called.depth + 1);
    }
    sizes[computation] = size;
  }
}

ValueGraph::ValueGraph(const HloComputation& computation, const InlinedCalls& inlined) {
  ValueGraphMaker maker(inlined);
  absl::InlinedVector<int, 2> parameters;
  for (const HloInstruction* parameter : computation.parameters()) {
    parameters.push_back(maker.AddValue(*parameter, {}));
  }
  root = maker.AddComputation(computation, parameters);
  // What is used, and its positions among what is.
  std::vector<bool> is_used(maker.values.size());
  is_used[root] = true;
  for (size_t i = maker.values.size(); i-- > 0;) {
    const Value& value = maker.values[i];
    if (i < parameters.size() || DoesMore(value)) is_used[i] = true;
    if (!is_used[i]) continue;
    for (const int operand : value.operands) is_used[operand] = true;
  }
  std::vector<int> positions(maker.values.size(), -1);
  for (size_t i = 0; i < maker.values.size(); ++i) {
    if (!is_used[i]) continue;
    positions[i] = static_cast<int>(values.size());
    for (int& operand : maker.values[i].operands) operand = positions[operand];
    values.push_back(std::move(maker.values[i]));
  }
  root = positions[root];
  ChooseLayoutsOfDots();
}

void ValueGraph::ChooseLayoutsOfDots() {
  std::vector<int> readers(values.size());
  ++readers[root];
  for (const Value& value : values) {
    for (const int operand : value.operands) ++readers[operand];
  }
  for (Value& value : values) {
    if (value.opcode() != HloOpcode::kTranspose || value.role != ValueRole::kFusible) continue;
    Value& dot = values[value.operands[0]];
    if (dot.opcode() != HloOpcode::kDot || dot.role != ValueRole::kFusible ||
        readers[value.operands[0]] != 1 || !LiesRowMajor(value.shape()) ||
        !LiesRowMajor(dot.shape()) || !ExchangesSides(*value.instruction, *dot.instruction)) {
      continue;
    }
    const auto permutation = value.instruction->dimensions();
    Layout layout;
    layout.minor_to_major.assign(permutation.rbegin(), permutation.rend());
    dot.in_layout = dot.shape();
    dot.in_layout->SetLayout(std::move(layout));
    value.role = ValueRole::kFree;
  }
}

int ValueGraph::Behind(int value) const {
  while (values[value].role == ValueRole::kFree) {
    if (values[value].operands.empty()) return -1;
    value = values[value].operands[0];
  }
  return value;
}

}  // namespace xla_indexing::internal

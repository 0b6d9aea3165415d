#include "tests/reference/execute/execute.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/integers.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/devices/collective.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {
namespace {

using internal::IsCollective;

Value Single(Array array) {
  Value value;
  value.push_back(std::move(array));
  return value;
}

// The operands' leaves one after another.
Value Tuple(Operands operands) {
  Value value;
  for (const Value* operand : operands) {
    value.insert(value.end(), operand->begin(), operand->end());
  }
  return value;
}

Value GetTupleElement(const HloInstruction& instruction, Operands operands) {
  const int64_t first =
      instruction.operand(0)->shape().FirstLeafOfElement(instruction.tuple_index());
  const auto begin = operands[0]->begin() + first;
  return Value(begin, begin + instruction.shape().LeafCount());
}

// The parameters, by number, that each result of a combiner is computed from.
absl::StatusOr<std::vector<SourceSet>> SourcesOfCombiner(const HloComputation& combiner) {
  std::vector<Value> arguments;
  for (const HloInstruction* parameter : combiner.parameters()) {
    arguments.push_back(MakeValue(parameter->shape()));
    arguments.back()[0].elements()[0].sources.Add(parameter->parameter_number());
    FillIntegers(0, &arguments.back());
  }
  std::vector<const Value*> pointers;
  pointers.reserve(arguments.size());
  for (const Value& argument : arguments) pointers.push_back(&argument);
  const absl::StatusOr<Execution> execution = Execute(combiner, pointers, 0);
  if (!execution.ok()) return execution.status();
  std::vector<SourceSet> sources;
  for (const Array& leaf : execution->ValueOf(combiner.root_instruction())) {
    sources.push_back(leaf.elements()[0].sources);
  }
  return sources;
}

absl::StatusOr<Value> ExecuteScatter(const HloInstruction& instruction, Operands operands,
                                     const ExecutionOptions& options) {
  const absl::StatusOr<std::vector<SourceSet>> combiner =
      SourcesOfCombiner(*instruction.to_apply());
  if (!combiner.ok()) return combiner.status();
  return Scatter(instruction, operands, *combiner, options.drops_whole_windows);
}

// The value of an instruction that calls nothing and is no parameter.
absl::StatusOr<Value> ExecuteOperation(const HloInstruction& instruction, Operands operands,
                                       const ExecutionOptions& options) {
  switch (instruction.opcode()) {
    case HloOpcode::kAfterAll:
    case HloOpcode::kGetDimensionSize:
    case HloOpcode::kInfeed:
    case HloOpcode::kOutfeed:
    case HloOpcode::kPartitionId:
    case HloOpcode::kRecv:
    case HloOpcode::kReplicaId:
    case HloOpcode::kRngGetAndUpdateState:
    case HloOpcode::kSendDone:
      return MakeValue(instruction.shape());
    case HloOpcode::kAsyncDone:
      return AsyncDone(instruction, operands);
    case HloOpcode::kBatchNormGrad:
      return BatchNormGrad(instruction, operands);
    case HloOpcode::kBatchNormInference:
      return Single(BatchNormInference(instruction, operands));
    case HloOpcode::kBatchNormTraining:
      return BatchNormTraining(instruction, operands);
    case HloOpcode::kBitcast: {
      absl::StatusOr<Array> array = Bitcast(instruction, operands);
      if (!array.ok()) return array.status();
      return Single(*std::move(array));
    }
    case HloOpcode::kBitcastConvert:
      return Single(BitcastConvert(instruction, operands));
    case HloOpcode::kBroadcast:
      return Single(Broadcast(instruction, operands));
    case HloOpcode::kCholesky:
      return Single(Cholesky(instruction, operands));
    case HloOpcode::kConcatenate:
      return Single(Concatenate(instruction, operands));
    case HloOpcode::kConstant:
      return Constant(instruction);
    case HloOpcode::kConvolution:
      return Single(Convolution(instruction, operands));
    case HloOpcode::kAddDependency:
    case HloOpcode::kCopy:
    case HloOpcode::kDomain:
    case HloOpcode::kOptBarrier:
      return *operands[0];
    case HloOpcode::kCopyDone:
      return CopyDone(instruction, operands);
    case HloOpcode::kCopyStart:
      return CopyStart(operands);
    case HloOpcode::kCustomCall:
      return CustomCall(instruction, operands);
    case HloOpcode::kDot:
      return Single(Dot(instruction, operands));
    case HloOpcode::kDynamicReshape:
    case HloOpcode::kSetDimensionSize:
      return Single(WithSizes(instruction, operands));
    case HloOpcode::kDynamicSlice:
      return Single(DynamicSlice(instruction, operands));
    case HloOpcode::kDynamicUpdateSlice:
      return Single(DynamicUpdateSlice(instruction, operands));
    case HloOpcode::kFft:
      return Fft(instruction, operands);
    case HloOpcode::kGather:
      return Single(Gather(instruction, operands));
    case HloOpcode::kGetTupleElement:
      return GetTupleElement(instruction, operands);
    case HloOpcode::kIota:
      return Single(Iota(instruction, operands));
    case HloOpcode::kMap:
      return Single(Map(instruction, operands));
    case HloOpcode::kPad:
      return Single(Pad(instruction, operands));
    case HloOpcode::kRaggedDot:
      return Single(RaggedDot(instruction, operands));
    case HloOpcode::kRecvDone:
      return RecvDone(instruction, operands);
    case HloOpcode::kReduce:
      return Reduce(instruction, operands);
    case HloOpcode::kReduceWindow:
      return ReduceWindow(instruction, operands);
    case HloOpcode::kReshape:
      return Single(Reshape(instruction, operands));
    case HloOpcode::kReverse:
      return Single(Reverse(instruction, operands));
    case HloOpcode::kRng:
    case HloOpcode::kRngBitGenerator:
      return RandomNumbers(instruction, operands);
    case HloOpcode::kScaledDot:
      return Single(ScaledDot(instruction, operands));
    case HloOpcode::kScatter:
      return ExecuteScatter(instruction, operands, options);
    case HloOpcode::kSelectAndScatter:
      return Single(SelectAndScatter(instruction, operands));
    case HloOpcode::kSend:
      return Send(instruction, operands);
    case HloOpcode::kSlice:
      return Single(Slice(instruction, operands));
    case HloOpcode::kSort:
      return Sort(instruction, operands);
    case HloOpcode::kTopk:
      return Topk(instruction, operands);
    case HloOpcode::kTranspose:
      return Single(Transpose(instruction, operands));
    case HloOpcode::kTriangularSolve:
      return Single(TriangularSolve(instruction, operands));
    case HloOpcode::kTuple:
      return Tuple(operands);
    default:
      if (IsCollective(instruction.opcode())) {
        const DeviceOperands only = {std::vector<const Value*>(operands.begin(), operands.end())};
        return ExecuteCollective(instruction, only)[0];
      }
      if (IsElementwise(instruction.opcode())) return Single(Elementwise(instruction, operands));
      return absl::UnimplementedError(absl::StrCat(instruction.name(), ": no definition of ",
                                                   OpcodeName(instruction.opcode())));
  }
}

uint64_t SeedOf(const HloInstruction& instruction, const Execution& execution) {
  return MixBits(execution.seed ^ MixBits(instruction.index_in_computation()));
}

// Whether what an operation makes of integers is arbitrary only as far as they are: it has no other
// operands, and makes the same of the same ones.
bool IsFunctionOfIntegers(const HloInstruction& instruction, Operands operands) {
  if (operands.empty() || instruction.opcode() == HloOpcode::kRng ||
      instruction.opcode() == HloOpcode::kCustomCall || IsCollective(instruction.opcode())) {
    return false;
  }
  return absl::c_all_of(operands, [](const Value* operand) {
    return absl::c_all_of(*operand, [](const Array& array) {
      return absl::c_all_of(array.elements(),
                            [](const Element& element) { return element.value.has_value(); });
    });
  });
}

uint64_t SeedOfOperands(const HloInstruction& instruction, Operands operands) {
  uint64_t seed = MixBits(instruction.index_in_computation());
  for (const Value* operand : operands) {
    for (const Array& array : *operand) {
      for (const Element& element : array.elements()) {
        seed = MixBits(seed ^ absl::Int128Low64(*element.value));
      }
    }
  }
  return seed;
}

void FillFromSources(HloOpcode opcode, Value* value) {
  for (Array& array : *value) {
    const ElementType type = array.shape().element_type();
    if (!IsIntegral(type) && !IsPred(type)) continue;
    for (size_t i = 0; i < array.elements().size(); ++i) {
      Element& element = array.elements()[i];
      if (element.value.has_value()) continue;
      uint64_t bits = MixBits(i ^ MixBits(static_cast<uint64_t>(opcode)));
      element.sources.ForEach(
          [&](int64_t source) { bits = MixBits(bits ^ static_cast<uint64_t>(source)); });
      element.value = WrapInteger(type, static_cast<Integer>(bits % 13) - 3);
      element.is_arbitrary = true;
    }
  }
}

bool IsOfModule(const Array& array) {
  return std::all_of(array.elements().begin(), array.elements().end(),
                     [](const Element& element) { return element.is_of_module; });
}

// Whether an array of a value is computed of nothing but constants and iotas.
bool IsOfModule(const HloInstruction& instruction, Operands operands, const Array& array) {
  switch (instruction.opcode()) {
    case HloOpcode::kConstant:
    case HloOpcode::kIota:
      return true;
    case HloOpcode::kCall:
    case HloOpcode::kConditional:
    case HloOpcode::kFusion:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kOptBarrier:
    case HloOpcode::kParameter:
    case HloOpcode::kTuple:
    case HloOpcode::kWhile:
      return IsOfModule(array);
    default:
      return !operands.empty() &&
             std::all_of(operands.begin(), operands.end(), [](const Value* operand) {
               return std::all_of(operand->begin(), operand->end(),
                                  [](const Array& each) { return IsOfModule(each); });
             });
  }
}

// What is computed of nothing but the module is fixed where an operation defines it; so are scalars of
// integers, which are of data otherwise.
void SetFixed(const HloInstruction& instruction, Operands operands, const ExecutionOptions& options,
              Value* value) {
  for (Array& array : *value) {
    const ElementType type = array.shape().element_type();
    const bool is_scalar =
        (array.rank() == 0 || options.data_decides) && (IsIntegral(type) || IsPred(type));
    const bool is_of_module = IsOfModule(instruction, operands, array);
    for (Element& element : array.elements()) {
      element.is_of_module = is_of_module;
      const bool is_defined = is_of_module && element.value.has_value() && !element.is_arbitrary;
      if (element.is_fixed || !(is_defined || is_scalar)) continue;
      element.is_fixed = true;
      element.is_scalar = !is_defined;
    }
  }
}

// What a loop changes is not fixed, but for scalars.
void ClearChanged(const HloComputation& body, Value* state) {
  const HloInstruction& root = *body.root_instruction();
  for (size_t leaf = 0; leaf < state->size(); ++leaf) {
    const HloInstruction* next =
        root.opcode() == HloOpcode::kTuple ? root.operand(static_cast<int64_t>(leaf)) : &root;
    const bool is_passed_on = next->opcode() == HloOpcode::kGetTupleElement &&
                              next->operand(0)->opcode() == HloOpcode::kParameter &&
                              next->tuple_index() == static_cast<int64_t>(leaf);
    if (is_passed_on || (*state)[leaf].rank() == 0) continue;
    for (Element& element : (*state)[leaf].elements()) {
      element.is_fixed = element.is_of_module = false;
    }
  }
}

// The value, and the executions of the computations that are called.
absl::StatusOr<Value> ExecuteWithCalls(const HloInstruction& instruction, Operands operands,
                                       const Execution& execution, Execution::Calls* calls) {
  const uint64_t seed = SeedOf(instruction, execution);
  const auto run = [&](const HloComputation& computation, Operands arguments,
                       int64_t number) -> absl::StatusOr<Value> {
    std::vector<Value> states;
    if (execution.options.decides && instruction.opcode() == HloOpcode::kWhile) {
      for (const Value* state : arguments) {
        states.push_back(*state);
        ClearChanged(*instruction.while_body(), &states.back());
      }
    }
    std::vector<const Value*> changed;
    for (const Value& state : states) changed.push_back(&state);
    absl::StatusOr<Execution> inner = Execute(computation, states.empty() ? arguments : changed,
                                              seed + MixBits(number), execution.options);
    if (!inner.ok()) return inner.status();
    Value value = inner->ValueOf(computation.root_instruction());
    std::unique_ptr<Execution>& last = (*calls)[{&instruction, &computation}];
    inner->runs = last == nullptr ? 1 : last->runs + 1;
    if (last != nullptr && instruction.opcode() == HloOpcode::kWhile) {
      inner->earlier = std::move(last->earlier);
      inner->earlier.push_back(std::move(last));
    }
    last = std::make_unique<Execution>(*std::move(inner));
    return value;
  };
  absl::StatusOr<Value> value = [&]() -> absl::StatusOr<Value> {
    switch (instruction.opcode()) {
      case HloOpcode::kAsyncStart:
        return AsyncStart(instruction, operands, run);
      case HloOpcode::kAsyncUpdate:
        return AsyncUpdate(instruction, operands, run);
      case HloOpcode::kCall:
      case HloOpcode::kFusion:
        return Call(instruction, operands, run);
      case HloOpcode::kConditional:
        return Conditional(instruction, operands, run);
      case HloOpcode::kScan:
        return Scan(instruction, operands, run);
      case HloOpcode::kWhile:
        return While(instruction, operands, run);
      default:
        return ExecuteOperation(instruction, operands, execution.options);
    }
  }();
  if (!value.ok()) return value.status();
  if (absl::Status status = SetShape(instruction, &*value); !status.ok()) return status;
  if (execution.options.values_of_sources) FillFromSources(instruction.opcode(), &*value);
  const bool of_operands = IsFunctionOfIntegers(instruction, operands);
  FillIntegers(of_operands ? SeedOfOperands(instruction, operands) : seed, &*value);
  if (execution.options.decides) {
    if (instruction.opcode() == HloOpcode::kWhile) ClearChanged(*instruction.while_body(), &*value);
    SetFixed(instruction, operands, execution.options, &*value);
  }
  return value;
}

}  // namespace

absl::Status SetShape(const HloInstruction& instruction, Value* value) {
  const std::vector<const Shape*> leaves = instruction.shape().Leaves();
  bool is_same = value->size() == leaves.size();
  for (size_t leaf = 0; is_same && leaf < leaves.size(); ++leaf) {
    is_same = SameDimensions((*value)[leaf].shape(), *leaves[leaf]);
    (*value)[leaf].SetShape(*leaves[leaf]);
  }
  if (is_same) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(instruction.name(), ": no definition of ",
                                               instruction.shape().ToString(), " as its result"));
}

void FillIntegers(uint64_t seed, Value* value) {
  Random random(seed);
  for (Array& array : *value) {
    const ElementType type = array.shape().element_type();
    if (!IsIntegral(type) && !IsPred(type)) continue;
    for (Element& element : array.elements()) {
      // Drawn for every element, so that one element's value does not depend on the others'.
      Integer arbitrary = random.Between(-3, 9);
      if (random.OneIn(16)) {
        arbitrary = random.OneIn(2) ? LeastInteger(type) : GreatestInteger(type);
      }
      if (element.value.has_value()) continue;
      element.value = WrapInteger(type, arbitrary);
      element.is_arbitrary = true;
    }
  }
}

std::vector<const Value*> OperandValues(const HloInstruction& instruction,
                                        const Execution& execution) {
  std::vector<const Value*> values;
  for (const HloInstruction* operand : instruction.operands()) {
    values.push_back(&execution.ValueOf(operand));
  }
  return values;
}

absl::StatusOr<Value> ExecuteInstruction(const HloInstruction& instruction, Operands operands,
                                         const Execution& execution, Execution::Calls* calls) {
  Execution::Calls not_asked_for;
  return ExecuteWithCalls(instruction, operands, execution,
                          calls == nullptr ? &not_asked_for : calls);
}

absl::StatusOr<Execution> Execute(const HloComputation& computation, Operands arguments,
                                  uint64_t seed, const ExecutionOptions& options) {
  Execution execution;
  execution.seed = seed;
  execution.options = options;
  for (const HloInstruction* instruction : computation.instructions()) {
    if (instruction->opcode() == HloOpcode::kParameter) {
      Value& value = execution.values[instruction];
      value = *arguments[instruction->parameter_number()];
      if (absl::Status status = SetShape(*instruction, &value); !status.ok()) return status;
      if (options.decides) SetFixed(*instruction, {}, options, &value);
      continue;
    }
    const std::vector<const Value*> operands = OperandValues(*instruction, execution);
    absl::StatusOr<Value> value =
        ExecuteWithCalls(*instruction, operands, execution, &execution.calls);
    if (!value.ok()) return value.status();
    execution.values.emplace(instruction, *std::move(value));
  }
  return execution;
}

}  // namespace xla_indexing::reference

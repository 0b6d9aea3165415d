// Operations that run computations on whole values.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/async_steps.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {

absl::StatusOr<Value> Call(const HloInstruction& instruction, Operands operands, Run run) {
  return run(*instruction.called_computations()[0], operands, 0);
}

namespace {

void AppendArrays(const Value& arrays, Value* value) {
  value->insert(value->end(), arrays.begin(), arrays.end());
}

Value TupleElementOf(const Shape& tuple, int64_t element, const Value& value) {
  const auto begin = value.begin() + tuple.FirstLeafOfElement(element);
  return Value(begin, begin + tuple.tuple_element(element).LeafCount());
}

// What the computation yields if these are all operands that it takes.
absl::StatusOr<Value> ResultOfAsync(const HloComputation& computation, const Shape& result,
                                    const std::vector<Value>& bound, Run run) {
  if (bound.size() != computation.parameters().size()) return MakeValue(result);
  std::vector<const Value*> operands;
  for (const Value& operand : bound) operands.push_back(&operand);
  return run(computation, operands, 0);
}

}  // namespace

// ((operands..), what the computation yields, contexts..)
absl::StatusOr<Value> AsyncStart(const HloInstruction& instruction, Operands operands, Run run) {
  std::vector<Value> bound;
  for (const Value* operand : operands) bound.push_back(*operand);
  const Shape& shape = instruction.shape();
  absl::StatusOr<Value> result =
      ResultOfAsync(*instruction.calls(), shape.tuple_element(1), bound, run);
  if (!result.ok()) return result;
  Value value;
  for (const Value& operand : bound) AppendArrays(operand, &value);
  AppendArrays(*result, &value);
  for (size_t i = 2; i < shape.tuple_elements().size(); ++i) {
    AppendArrays(MakeValue(shape.tuple_element(i)), &value);
  }
  return value;
}

// The state with more operands; with the last of them the computation runs.
absl::StatusOr<Value> AsyncUpdate(const HloInstruction& instruction, Operands operands, Run run) {
  if (operands.size() == 1) return *operands[0];
  const Shape& before = instruction.operand(0)->shape();
  const Shape& shape = instruction.shape();
  const HloInstruction* start = AsyncStartOf(instruction);
  if (start == nullptr) {
    return absl::UnimplementedError("an async-update whose async-start is not to be seen");
  }
  std::vector<Value> bound;
  const Shape& operands_before = before.tuple_element(0);
  const Value values_before = TupleElementOf(before, 0, *operands[0]);
  for (int64_t i = 0; i < static_cast<int64_t>(operands_before.tuple_elements().size()); ++i) {
    bound.push_back(TupleElementOf(operands_before, i, values_before));
  }
  for (const Value* operand : operands.subspan(1)) bound.push_back(*operand);
  absl::StatusOr<Value> result = ResultOfAsync(*start->calls(), shape.tuple_element(1), bound, run);
  if (!result.ok()) return result;
  Value value;
  for (const Value& operand : bound) AppendArrays(operand, &value);
  AppendArrays(*result, &value);
  for (size_t i = 2; i < shape.tuple_elements().size(); ++i) {
    AppendArrays(TupleElementOf(before, i, *operands[0]), &value);
  }
  return value;
}

// The branch that operand 0 chooses, applied to its argument. True chooses the first of two; an
// index that is no branch's chooses the last one.
absl::StatusOr<Value> Conditional(const HloInstruction& instruction, Operands operands, Run run) {
  const auto branches = instruction.branch_computations();
  const Element& choice = operands[0]->front().elements()[0];
  const Integer count = static_cast<int64_t>(branches.size());
  Integer chosen = *choice.value;
  if (IsPred(instruction.operand(0)->shape().element_type())) {
    chosen = chosen == 1 ? 0 : 1;
  } else if (chosen < 0 || chosen >= count) {
    chosen = count - 1;
  }
  const auto run_branch = [&](size_t b) {
    return run(*branches[b], {operands[b + 1]}, static_cast<int64_t>(b));
  };
  for (size_t b = 0; b < branches.size(); ++b) {
    if (static_cast<Integer>(b) == chosen) continue;
    if (absl::StatusOr<Value> value = run_branch(b); !value.ok()) return value;
  }
  absl::StatusOr<Value> result = run_branch(static_cast<size_t>(chosen));
  if (!result.ok()) return result;
  for (Array& array : *result) {
    for (Element& element : array.elements()) element.sources.AddAll(choice.sources);
  }
  return result;
}

}  // namespace xla_indexing::reference

// Operations that run computations on whole values.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {

absl::StatusOr<Value> Call(const HloInstruction& instruction, Operands operands, Run run) {
  return run(*instruction.called_computations()[0], operands, 0);
}

// ((operands..), what the computation yields, contexts..)
absl::StatusOr<Value> AsyncStart(const HloInstruction& instruction, Operands operands, Run run) {
  absl::StatusOr<Value> result = run(*instruction.calls(), operands, 0);
  if (!result.ok()) return result;
  Value value;
  for (const Value* operand : operands) value.insert(value.end(), operand->begin(), operand->end());
  value.insert(value.end(), result->begin(), result->end());
  const auto elements = instruction.shape().tuple_elements();
  for (size_t i = 2; i < elements.size(); ++i) {
    const Value context = MakeValue(elements[i]);
    value.insert(value.end(), context.begin(), context.end());
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

// Custom calls of the targets that the library has rules for.

#include <cstddef>
#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::reference {

bool HandsOnItsOperand(absl::string_view target) {
  constexpr absl::string_view kTargets[] = {"Sharding",
                                            "SPMDFullToShardShape",
                                            "SPMDShardToFullShape",
                                            "annotate_device_placement",
                                            "MoveToHost",
                                            "MoveToDevice",
                                            "LayoutConstraint",
                                            "Pin",
                                            "Unpin",
                                            "xla.sdy.FuncResultSharding",
                                            "xla.sdy.PropagationBarrier"};
  return absl::c_linear_search(kTargets, target);
}

Value CustomCall(const HloInstruction& instruction, Operands operands) {
  const absl::string_view target = instruction.custom_call_target();
  if (HandsOnItsOperand(target)) return *operands[0];
  Value result = MakeValue(instruction.shape());
  for (Array& array : result) {
    ForEachIndex(array.sizes(), [&](const Index& index) {
      for (const Value* operand : operands) {
        for (const Array& read : *operand) {
          ForEachIndex(read.sizes(), [&](const Index& other) {
            // TopK keeps all dimensions but the last.
            for (int64_t d = 0; target == "TopK" && d + 1 < read.rank(); ++d) {
              if (other[d] != index[d]) return;
            }
            array.at(index).sources.AddAll(read.at(other).sources);
          });
        }
      }
    });
  }
  return result;
}

}  // namespace xla_indexing::reference

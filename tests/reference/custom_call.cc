// Custom calls of the targets that the library has rules for.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "tests/reference/operations.h"
#include "tests/reference/value.h"
#include "xla_indexing/hlo/instruction.h"

namespace xla_indexing::reference {

Value CustomCall(const HloInstruction& instruction, Operands operands) {
  const absl::string_view target = instruction.custom_call_target();
  if (target == "Sharding" || target == "MoveToHost") return *operands[0];
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

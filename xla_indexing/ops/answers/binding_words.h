// What a runtime variable is, in words for people.
//
//   rt0: indices, clamp [0, 7]; (d0, d1) -> (d0, 0)   element (d0, 0) of indices, clamped to [0, 7]
//   rt0: c, in [0, 1], else 1; (d0) -> ()             the value of c, or 1 where that is not in [0, 1]
//   rt0: w/body/row, as is; (d0)[s0] -> (s0)          the value of row in iteration s0 of the loop w
//   rt0: w, iterations; (d0) -> ()                    how often the loop w runs
//
// Loops around a loop follow, from the inside out.

#ifndef XLA_INDEXING_OPS_ANSWERS_BINDING_WORDS_H_
#define XLA_INDEXING_OPS_ANSWERS_BINDING_WORDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing {

// Describes runtime variable `i`, which has to be there. The text does not have its name. `source` is
// what the instruction that it is read from is called there; empty: its name.
std::string BindingInWords(const OperandIndexing& indexing, int i, absl::string_view source = "");

// The computation that the call path of a binding begins in; for an empty path, the one that the
// instruction is in.
const HloComputation* BeginOfPath(const RuntimeVarIndexing& binding);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_ANSWERS_BINDING_WORDS_H_

// Whether the aliases that a module states are safe: `input_output_alias` of its header, and
// `output_to_operand_aliasing` of its instructions.
//
// What writes. An output of the entry is followed from the root through tuples, their elements,
// bitcasts and loops to the instructions that write into its buffer: the last of them computes it,
// and one in the body of a while updates what it carries (query/in_place/buffer_writers.h). All
// other readers of what a writer overwrites have to come before it: in a module with a schedule
// (`is_scheduled=true`) in the order of its instructions, otherwise in some order. What the writer
// reads itself is a question about it alone (query/in_place/in_place.h), as is an alias of an instruction.
// Custom calls answer for their aliases themselves: only sizes are compared.
//
// Example: ENTRY e, input_output_alias={ {}: (0, {}, may-alias) }, with the root reverse(p) of
// parameter 0 is unsafe: element {0} is written before element {3} reads element {0} ..
#ifndef XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_ALIASES_H_
#define XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_ALIASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/query/in_place/in_place_answer.h"

namespace xla_indexing {

struct CheckedAlias {
  const HloInstruction* instruction = nullptr;  // that states it; null: the module's header
  std::string output;                           // the shape index as it is written, `{0}`
  int64_t operand = 0;                          // or the parameter's number
  std::string operand_index;                    // the shape index in it, `{}`
  InPlaceSafety safety;
  // The instruction that the answer is about, for an alias of the header; null where nothing writes.
  const HloInstruction* writer = nullptr;

  // `update`, `body/update` where it is not in the entry, or nothing.
  std::string WriterName() const;
  // `alias of the module: output {} in parameter 0 {}, written by r: unsafe: ..`.
  std::string ToString() const;
};

// All aliases, those of the header first, then by instruction. Aliases of text that cannot be read,
// and of leaves that there are not or that have other numbers of bytes, are unsafe, and say why as
// the reason. Answers about more than `max_aliases` are left out.
std::vector<CheckedAlias> CheckAliases(const HloModule& module, mlir::MLIRContext* context,
                                       int64_t max_aliases = 4096);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_ALIASES_H_

// Whether values may lie in buffers of others: the aliases that a module states, `input_output_alias` of
// its header and `output_to_operand_aliasing` of its instructions, and what somebody plans.
//
// One law holds for all of them. What is written over another value comes after that and after
// everything else that reads it, also under other names (bitcasts, tuples): in a module with a
// schedule (`is_scheduled=true`) in the order of its instructions, otherwise in some order that
// does for all aliases of the computation. What is an output, a constant, or a parameter of the
// entry that nobody donates (by `input_output_alias` or `buffer_donor`) is not overwritten. What
// the writer reads itself is a question about it alone (query/in_place/in_place.h).
//
// An output of the entry is followed from the root through tuples, their elements, bitcasts and loops to
// the instructions that write into its buffer: the last of them computes it, and one in the body of a
// while updates what it carries. Custom calls answer for what they read themselves.
//
// Example: ENTRY e, input_output_alias={ {}: (0, {}, may-alias) }, with the root reverse(p) of
// parameter 0 is unsafe: element {0} is written before element {3} reads element {0} ..
#ifndef XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_ALIASES_H_
#define XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_ALIASES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/query/in_place/buffer_value.h"
#include "xla_indexing/query/in_place/in_place_answer.h"

namespace xla_indexing {

// What the module's header states: `input_output_alias`, and `buffer_donor`, which names no output.
struct DonatedLeaf {
  BufferValue parameter;
  std::optional<int64_t> output_leaf;
};
std::vector<DonatedLeaf> DonatedLeaves(const HloModule& module);

struct CheckedAlias {
  const HloInstruction* instruction = nullptr;  // that states it; null: the module's header
  std::string output;                           // the shape index as it is written, `{0}`
  int64_t operand = 0;                          // or the parameter's number
  std::string operand_index;                    // the shape index in it, `{}`
  InPlaceSafety safety;
  // The instruction that the answer is about, where it is not `instruction`; null if nothing writes.
  const HloInstruction* writer = nullptr;

  // `update`, `body/update` where it is not in the entry, or nothing.
  std::string WriterName() const;
  // `alias of the module: output {} in parameter 0 {}, written by r: unsafe: ..`.
  std::string ToString() const;
};

// All aliases, those of the header first, then by instruction. Aliases of text that cannot be read,
// and of leaves that there are not, have other numbers of bytes or are in other memory spaces, are unsafe,
// and say why as the reason. Answers about more than `max_aliases` are left out.
std::vector<CheckedAlias> CheckAliases(const HloModule& module, mlir::MLIRContext* context,
                                       int64_t max_aliases = 4096);

// Whether one value may be written over another in its buffer.
struct CheckedValue {
  BufferValue value;
  BufferValue before;  // what the buffer holds before
  InPlaceSafety safety;
  // The instruction that the answer is about; null if nothing is written.
  const HloInstruction* writer = nullptr;

  std::string WriterName() const;  // as that of an alias
  // `final over mid: any order`; with `, written by body/u` where that is another instruction.
  std::string ToString() const;
};

// Whether values of one computation may lie in one buffer, one after the other: the first, say a
// parameter, which is taken to be donated, or whatever has a buffer to give, and those that are written
// over it. One answer for each but the first; the values have a place together where all are safe. Also
// what instructions of the computation state is kept; `input_output_alias` does not count.
//
// Example: x is donated, mid = exp(x), a loop reads mid, final = mid + the loop's sum: {x, mid, final}.
//
// Errors. InvalidArgument for fewer than two values, for those of several computations, and for leaves
// that there are not or that are no arrays.
absl::StatusOr<std::vector<CheckedValue>> CheckOneBuffer(absl::Span<const BufferValue> values,
                                                         mlir::MLIRContext* context);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_ALIASES_H_

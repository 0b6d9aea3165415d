// The aliases that `input_output_alias`, `output_to_operand_aliasing` and `buffer_donor` state.
//
// Example: `{ {1}: (0, {}, may-alias) }` is output {1} in the buffer of parameter 0, all of it.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_ALIAS_TEXT_H_
#define XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_ALIAS_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// A shape index as it is written, and what it leads to, from a leaf on; null if it leads nowhere.
struct StatedIndex {
  std::string text;
  const Shape* shape = nullptr;
  int64_t leaf = 0;
};

struct StatedAlias {
  StatedIndex output;  // of an item of `buffer_donor`: nothing
  int64_t operand = 0;
  StatedIndex operand_index;
};

// The items of the text about results of this shape, or about none, `buffer_donor={ (2, {}), (3, {0}) }`,
// if that is null, and about these operands. Nullopt if the text is no list of such items.
std::optional<std::vector<StatedAlias>> ParseAliases(
    absl::string_view text, const Shape* output, absl::Span<const HloInstruction* const> operands);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_ALIAS_TEXT_H_

// The text of `input_output_alias`, `output_to_operand_aliasing` and `buffer_donor`.
//
// Example: `{ {1}: (0, {}, may-alias) }` is output {1} in the buffer of parameter 0, all of it.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_ALIAS_TEXT_H_
#define XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_ALIAS_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

struct StatedAlias {
  std::string output;  // the shape indices as they are written
  std::string operand_index;
  std::vector<int64_t> output_path;
  int64_t operand = 0;
  std::vector<int64_t> operand_path;
};

// Nullopt if the text is no list of aliases.
std::optional<std::vector<StatedAlias>> ParseAliases(absl::string_view text);

// The items of `buffer_donor={ (2, {}), (3, {0}) }`, leaves of parameters, or all below them, whose
// buffers are given up, as aliases of no output. Nullopt if the text is no list of them.
std::optional<std::vector<StatedAlias>> ParseDonors(absl::string_view text);

// The number of the first leaf of what a shape index leads to; nullopt if it leads nowhere.
std::optional<int64_t> LeafAt(const Shape& shape, const std::vector<int64_t>& path);

// That, which has to be there.
const Shape& ShapeAt(const Shape& shape, const std::vector<int64_t>& path);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_ALIAS_TEXT_H_

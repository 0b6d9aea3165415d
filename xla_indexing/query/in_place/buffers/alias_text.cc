#include "xla_indexing/query/in_place/buffers/alias_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

// `{1, 0}` in a shape, if there is one; nullopt if the text is none, or a number in it is too large.
std::optional<StatedIndex> IndexIn(absl::string_view text, const Shape* shape) {
  StatedIndex index{std::string(text), shape};
  if (!absl::ConsumePrefix(&text, "{") || !absl::ConsumeSuffix(&text, "}")) return std::nullopt;
  if (absl::StripAsciiWhitespace(text).empty()) return index;
  for (const absl::string_view number : absl::StrSplit(text, ',')) {
    size_t i = 0;
    if (!absl::SimpleAtoi(number, &i)) return std::nullopt;
    if (index.shape == nullptr) continue;
    if (!index.shape->IsTuple() || i >= index.shape->tuple_elements().size()) {
      index.shape = nullptr;
      continue;
    }
    index.leaf += index.shape->FirstLeafOfElement(i);
    index.shape = &index.shape->tuple_element(i);
  }
  return index;
}

// The text before the first `mark`, without spaces around it, which is taken off `text` with the mark;
// nullopt if there is none.
std::optional<absl::string_view> TakeUntil(char mark, absl::string_view* text) {
  const size_t end = text->find(mark);
  if (end == absl::string_view::npos) return std::nullopt;
  const absl::string_view before = text->substr(0, end);
  text->remove_prefix(end + 1);
  return absl::StripAsciiWhitespace(before);
}

// `{1}: (0, {}, may-alias)`, or `(0, {})` where there is no output, taken off the text.
std::optional<StatedAlias> TakeAlias(absl::string_view* text, const Shape* output,
                                     absl::Span<const HloInstruction* const> operands) {
  StatedAlias alias;
  std::optional<absl::string_view> before = TakeUntil('(', text);
  if (!before) return std::nullopt;
  if (output != nullptr) {
    if (!absl::ConsumeSuffix(&*before, ":")) return std::nullopt;
    std::optional<StatedIndex> index = IndexIn(absl::StripAsciiWhitespace(*before), output);
    if (!index) return std::nullopt;
    alias.output = *std::move(index);
  } else if (!before->empty()) {
    return std::nullopt;
  }
  std::optional<absl::string_view> inside = TakeUntil(')', text);
  const std::optional<absl::string_view> number = inside ? TakeUntil(',', &*inside) : std::nullopt;
  uint32_t operand = 0;
  if (!number || !absl::SimpleAtoi(*number, &operand)) return std::nullopt;
  alias.operand = operand;
  // What follows the index, may-alias or must-alias, says nothing of where it is.
  std::optional<StatedIndex> index =
      IndexIn(absl::StripAsciiWhitespace(inside->substr(0, inside->find('}') + 1)),
              operand < operands.size() ? &operands[operand]->shape() : nullptr);
  if (!index) return std::nullopt;
  alias.operand_index = *std::move(index);
  return alias;
}

}  // namespace

std::optional<std::vector<StatedAlias>> ParseAliases(
    absl::string_view text, const Shape* output, absl::Span<const HloInstruction* const> operands) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, "{") || !absl::ConsumeSuffix(&text, "}")) return std::nullopt;
  std::vector<StatedAlias> aliases;
  for (text = absl::StripAsciiWhitespace(text); !text.empty();
       text = absl::StripLeadingAsciiWhitespace(text)) {
    if (!aliases.empty() && !absl::ConsumePrefix(&text, ",")) return std::nullopt;
    std::optional<StatedAlias> alias = TakeAlias(&text, output, operands);
    if (!alias) return std::nullopt;
    aliases.push_back(*std::move(alias));
  }
  return aliases;
}

}  // namespace xla_indexing::internal

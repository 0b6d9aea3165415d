#include "xla_indexing/query/in_place/buffers/alias_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace xla_indexing::internal {
namespace {

// `{1, 0}` at the beginning of the text, which is taken away.
bool ConsumePath(absl::string_view* text, std::string* written, std::vector<int64_t>* path) {
  *text = absl::StripLeadingAsciiWhitespace(*text);
  const size_t end = text->find('}');
  if (!absl::ConsumePrefix(text, "{") || end == text->npos) return false;
  const absl::string_view inside = text->substr(0, end - 1);
  *written = absl::StrCat("{", inside, "}");
  text->remove_prefix(end);
  if (absl::StripAsciiWhitespace(inside).empty()) return true;
  for (const absl::string_view number : absl::StrSplit(inside, ',')) {
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(number), &path->emplace_back())) return false;
  }
  return true;
}

bool ConsumeSymbol(absl::string_view* text, absl::string_view symbol) {
  *text = absl::StripLeadingAsciiWhitespace(*text);
  return absl::ConsumePrefix(text, symbol);
}

// `(1, {0}, may-alias)` at the beginning of the text, which is taken away: a number and a path.
bool ConsumeOperand(absl::string_view* text, StatedAlias* alias) {
  if (!ConsumeSymbol(text, "(")) return false;
  *text = absl::StripLeadingAsciiWhitespace(*text);
  const size_t digits = text->find_first_not_of("0123456789");
  if (digits == text->npos || !absl::SimpleAtoi(text->substr(0, digits), &alias->operand)) {
    return false;
  }
  text->remove_prefix(digits);
  if (!ConsumeSymbol(text, ",") ||
      !ConsumePath(text, &alias->operand_index, &alias->operand_path)) {
    return false;
  }
  const size_t end = text->find(')');
  if (end == text->npos) return false;
  text->remove_prefix(end + 1);
  return true;
}

std::optional<std::vector<StatedAlias>> ParseItems(absl::string_view text, bool have_outputs) {
  std::vector<StatedAlias> items;
  if (!ConsumeSymbol(&text, "{")) return std::nullopt;
  while (!ConsumeSymbol(&text, "}")) {
    StatedAlias item;
    if (!items.empty() && !ConsumeSymbol(&text, ",")) return std::nullopt;
    if (have_outputs &&
        (!ConsumePath(&text, &item.output, &item.output_path) || !ConsumeSymbol(&text, ":"))) {
      return std::nullopt;
    }
    if (!ConsumeOperand(&text, &item)) return std::nullopt;
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace

std::optional<std::vector<StatedAlias>> ParseAliases(absl::string_view text) {
  return ParseItems(text, /*have_outputs=*/true);
}

std::optional<std::vector<StatedAlias>> ParseDonors(absl::string_view text) {
  return ParseItems(text, /*have_outputs=*/false);
}

std::optional<int64_t> LeafAt(const Shape& shape, const std::vector<int64_t>& path) {
  const Shape* at = &shape;
  int64_t leaf = 0;
  for (const int64_t index : path) {
    if (!at->IsTuple() || index < 0 || index >= static_cast<int64_t>(at->tuple_elements().size())) {
      return std::nullopt;
    }
    leaf += at->FirstLeafOfElement(index);
    at = &at->tuple_element(index);
  }
  return leaf;
}

const Shape& ShapeAt(const Shape& shape, const std::vector<int64_t>& path) {
  const Shape* at = &shape;
  for (const int64_t index : path) at = &at->tuple_element(index);
  return *at;
}

}  // namespace xla_indexing::internal

#include "xla_indexing/query/in_place/buffers/alias_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Regex.h"

namespace xla_indexing::internal {
namespace {

// `{1, 0}` in a shape, if there is one; nullopt where a number is too large.
std::optional<StatedIndex> IndexIn(llvm::StringRef text, const Shape* shape) {
  StatedIndex index{text.str(), shape};
  const absl::string_view inside(text.data() + 1, text.size() - 2);
  if (absl::StripAsciiWhitespace(inside).empty()) return index;
  for (const absl::string_view number : absl::StrSplit(inside, ',')) {
    size_t i = 0;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(number), &i)) return std::nullopt;
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

}  // namespace

std::optional<std::vector<StatedAlias>> ParseAliases(
    absl::string_view text, const Shape* output, absl::Span<const HloInstruction* const> operands) {
  // `{1}: (0, {}, may-alias)`, or `(0, {})`.
  constexpr const char* kSpace = "[[:space:]]*";
  constexpr const char* kIndex = R"((\{[0-9,[:space:]]*\}))";
  const llvm::Regex item(absl::StrCat("^", kSpace, "(", kIndex, kSpace, ":", kSpace, ")?\\(",
                                      kSpace, "([0-9]+)", kSpace, ",", kSpace, kIndex, "[^)]*\\)",
                                      kSpace));
  text = absl::StripAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, "{") || !absl::ConsumeSuffix(&text, "}")) return std::nullopt;
  std::vector<StatedAlias> aliases;
  text = absl::StripAsciiWhitespace(text);
  while (!text.empty()) {
    if (!aliases.empty() && !absl::ConsumePrefix(&text, ",")) return std::nullopt;
    llvm::SmallVector<llvm::StringRef, 5> found;
    if (!item.match(llvm::StringRef(text.data(), text.size()), &found)) return std::nullopt;
    StatedAlias& alias = aliases.emplace_back();
    if (found[1].empty() != (output == nullptr)) return std::nullopt;
    if (!absl::SimpleAtoi(absl::string_view(found[3].data(), found[3].size()), &alias.operand)) {
      return std::nullopt;
    }
    const bool is_there = alias.operand < static_cast<int64_t>(operands.size());
    const auto operand_index =
        IndexIn(found[4], is_there ? &operands[alias.operand]->shape() : nullptr);
    const auto output_index = output == nullptr ? StatedIndex() : IndexIn(found[2], output);
    if (!operand_index || !output_index) return std::nullopt;
    alias.operand_index = *operand_index;
    alias.output = *output_index;
    text.remove_prefix(found[0].size());
  }
  return aliases;
}

}  // namespace xla_indexing::internal

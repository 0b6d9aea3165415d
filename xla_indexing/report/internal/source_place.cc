#include "xla_indexing/report/internal/source_place.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/attribute.h"
#include "xla_indexing/hlo/computation.h"

namespace xla_indexing::internal {
namespace {

// The value of `key=` in `{op_name="a" source_line=3}`, without quotes and escapes.
std::string MetadataValue(absl::string_view metadata, absl::string_view key) {
  const std::string start = absl::StrCat(key, "=");
  bool is_in_string = false;
  for (size_t i = 0; i < metadata.size(); ++i) {
    if (is_in_string) {
      if (metadata[i] == '\\') ++i;
      if (i < metadata.size() && metadata[i] == '"') is_in_string = false;
      continue;
    }
    if (metadata[i] == '"') is_in_string = true;
    const bool begins_word = i == 0 || metadata[i - 1] == ' ' || metadata[i - 1] == '{';
    if (!begins_word || metadata.substr(i, start.size()) != start) continue;
    std::string value;
    const size_t first = i + start.size();
    const bool is_quoted = first < metadata.size() && metadata[first] == '"';
    for (size_t j = first + (is_quoted ? 1 : 0); j < metadata.size(); ++j) {
      const char c = metadata[j];
      if (is_quoted ? c == '"' : c == ' ' || c == '}' || c == ',') break;
      if (is_quoted && c == '\\' && j + 1 < metadata.size()) {
        value.push_back(metadata[++j]);
      } else {
        value.push_back(c);
      }
    }
    return value;
  }
  return "";
}

}  // namespace

SourcePlace SourceOf(const HloInstruction& instruction) {
  const HloInstruction* described = &instruction;
  absl::string_view metadata = instruction.GetText(AttributeKey::kMetadata);
  if (metadata.empty() && instruction.inlined_computation() != nullptr) {
    described = instruction.inlined_computation()->root_instruction();
    metadata = described->GetText(AttributeKey::kMetadata);
  }
  SourcePlace place;
  place.op_name = MetadataValue(metadata, "op_name");
  place.file = MetadataValue(metadata, "source_file");
  int64_t line = 0;
  if (absl::SimpleAtoi(MetadataValue(metadata, "source_line"), &line) && line > 0) {
    place.line = line;
  }
  return place;
}

}  // namespace xla_indexing::internal

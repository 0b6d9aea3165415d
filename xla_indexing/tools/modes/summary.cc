#include "xla_indexing/tools/modes/summary.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace xla_indexing {

void Summary::Add(HloOpcode opcode, Direction direction,
                  const std::vector<ReportedEntry>& entries) {
  Counts& counts = counts_[static_cast<size_t>(direction)];
  for (const ReportedEntry& entry : entries) {
    ++counts.entries;
    if (entry.label.IsExact()) {
      ++counts.exact;
    } else {
      ++counts.others[{opcode, entry.label.exactness, entry.label.reason}];
    }
  }
}

void Summary::AddNotListed(HloOpcode opcode, Direction direction, int64_t entries,
                           const std::string& reason) {
  Counts& counts = counts_[static_cast<size_t>(direction)];
  counts.entries += entries;
  counts.others[{opcode, Exactness::kUnknown, reason}] += entries;
}

void Summary::Add(const Summary& other) {
  for (size_t i = 0; i < counts_.size(); ++i) {
    counts_[i].entries += other.counts_[i].entries;
    counts_[i].exact += other.counts_[i].exact;
    for (const auto& [what, count] : other.counts_[i].others) counts_[i].others[what] += count;
  }
}

std::string Summary::ToText() const {
  std::string text;
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    const Counts& counts = counts_[static_cast<size_t>(direction)];
    if (counts.entries == 0) continue;
    absl::StrAppendFormat(
        &text, "%s: %d entries, %d exact (%.2f%%)\n",
        direction == Direction::kOutputToInput ? "output-to-input" : "input-to-output",
        counts.entries, counts.exact, 100.0 * counts.exact / counts.entries);
    std::vector<std::pair<int64_t, std::string>> lines;
    for (const auto& [what, count] : counts.others) {
      const auto& [opcode, exactness, reason] = what;
      lines.emplace_back(
          count, absl::StrCat(OpcodeName(opcode), ": ", ExactnessName(exactness), ": ", reason));
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [count, line] : lines) absl::StrAppend(&text, "  ", count, " ", line, "\n");
  }
  return text;
}

}  // namespace xla_indexing

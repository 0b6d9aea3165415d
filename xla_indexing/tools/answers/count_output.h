// Counts of queries, which may be intervals, as text and as JSON.

#ifndef XLA_INDEXING_TOOLS_ANSWERS_COUNT_OUTPUT_H_
#define XLA_INDEXING_TOOLS_ANSWERS_COUNT_OUTPUT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/tools/answers/json_writer.h"

namespace xla_indexing {

// A number, or [least, most].
std::string CountText(const Interval& count);

// A field: a number, or {"least": N, "most": N}, where a most that is past int64 is null.
void WriteCount(absl::string_view key, const Interval& count, JsonWriter* json);

// The value of such a field alone.
void WriteCountValue(const Interval& count, JsonWriter* json);

// A field: a number or null.
void WriteRatio(absl::string_view key, const std::optional<double>& ratio, JsonWriter* json);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_COUNT_OUTPUT_H_

// Counts of queries, which may be intervals, as text.

#ifndef XLA_INDEXING_TOOLS_ANSWERS_COUNT_OUTPUT_H_
#define XLA_INDEXING_TOOLS_ANSWERS_COUNT_OUTPUT_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing {

// A number, or [least, most].
inline std::string CountText(const Interval& count) {
  return count.IsPoint() ? absl::StrCat(count.lower()) : count.ToString();
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_COUNT_OUTPUT_H_

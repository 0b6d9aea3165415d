// Counts of queries, which may be intervals, as text.

#ifndef XLA_INDEXING_TOOLS_ANSWERS_COUNT_OUTPUT_H_
#define XLA_INDEXING_TOOLS_ANSWERS_COUNT_OUTPUT_H_

#include <string>

#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing {

// A number, or [least, most].
std::string CountText(const Interval& count);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_COUNT_OUTPUT_H_

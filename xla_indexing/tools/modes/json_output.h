// The JSON form of print-indexing: one object a module, one line each. docs/command-line.md
// describes it.

#ifndef XLA_INDEXING_TOOLS_MODES_JSON_OUTPUT_H_
#define XLA_INDEXING_TOOLS_MODES_JSON_OUTPUT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "xla_indexing/tools/answers/report.h"
#include "xla_indexing/tools/input/subject.h"
#include "xla_indexing/tools/modes/queries.h"

namespace xla_indexing {

// The entries as JSON objects, `, ` before each but the first in `out`.
void AppendJson(const Subject& subject, Direction direction,
                const std::vector<ReportedEntry>& entries, std::string* out);

// An object that says how many entries are not listed.
void AppendNotListedJson(const Subject& subject, Direction direction, int64_t pairs,
                         std::string* out);

// The line of a module: what stands before its entries, as AppendJson writes them with `, ` between
// its parts, and what stands behind them, with the totals of queries.
std::string ModuleJsonBegin(absl::string_view name);
std::string ModuleJsonEnd(const QueryTotals& totals);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODES_JSON_OUTPUT_H_

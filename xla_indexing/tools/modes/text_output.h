// The text form of print-indexing. docs/command-line.md describes it.
//
//   Output 0 operand 1 leaf 2:
//   (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]
//     rt0: of, clamp [0, 6]; (d0) -> (), domain: d0 in [0, 3]

#ifndef XLA_INDEXING_TOOLS_MODES_TEXT_OUTPUT_H_
#define XLA_INDEXING_TOOLS_MODES_TEXT_OUTPUT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "xla_indexing/tools/answers/report.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {

// `module NAME:`
void AppendModuleHeading(absl::string_view name, std::string* out);
// `computation/instruction:`
void AppendSubjectHeading(const Subject& subject, std::string* out);
// Each entry with its heading. Leaves of operands are numbered where the operand is a tuple; with
// --names operands have their names behind their numbers.
void AppendText(const Subject& subject, Direction direction, const CommandLine& line,
                const std::vector<ReportedEntry>& entries, std::string* out);

// `Output to input: 19984500 pairs of leaves not listed (unknown: more than 262144 pairs of
// leaves)`
void AppendNotListed(Direction direction, int64_t pairs, std::string* out);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODES_TEXT_OUTPUT_H_

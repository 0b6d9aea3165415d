// `--query=tiling`: its flag, its answers, and how they are printed.
//
//   tile: offsets (0, 0), sizes (4, 8), strides (1, 1); exact
//     offset (k0)[t0] -> ((k0 * t0) floordiv 8, (k0 * t0) mod 8)
//     ..
#ifndef XLA_INDEXING_TOOLS_ANSWERS_TILING_OUTPUT_H_
#define XLA_INDEXING_TOOLS_ANSWERS_TILING_OUTPUT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tools/answers/report.h"
#include "xla_indexing/tools/answers/tiling_report.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {

// Whether some array that maps of the subject start from has tiles of the sizes that the command
// line gives; where none has, the error says why not for the first.
absl::Status CheckTileSizes(const Subject& subject, const CommandLine& line);

// Fills in the answers of all maps of the entries.
void AnswerTiling(const Subject& subject, Direction direction, const CommandLine& line,
                  const absl::StatusOr<SubjectTiling>& tiling, std::vector<ReportedEntry>* entries);

// Lines, each with this before it and a line feed after it.
void AppendTile(const ReportedTile& tile, absl::string_view indent, std::string* out);

// The fields of an object.
void WriteTile(const ReportedTile& tile, internal::JsonWriter* json);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_TILING_OUTPUT_H_

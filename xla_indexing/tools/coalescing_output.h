// `--query=coalescing`: its flags, its answers, and how they are printed.

#ifndef XLA_INDEXING_TOOLS_COALESCING_OUTPUT_H_
#define XLA_INDEXING_TOOLS_COALESCING_OUTPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/tools/command_line.h"
#include "xla_indexing/tools/json_writer.h"
#include "xla_indexing/tools/report.h"
#include "xla_indexing/tools/subject.h"

namespace xla_indexing {

// Whether the options and the thread map of the command line are any.
absl::Status CheckLaunchFlags(const LaunchFlags& flags);

// Whether some leaf of the output that the command line asks for can be computed by its launch; of
// none, why not the first.
absl::Status CheckLaunch(const Subject& subject, const CommandLine& line);

// How the leaves of a subject's output are written.
struct ReportedWrites {
  int64_t output_leaf = 0;
  ReportedCoalescing writes;
};

// Fills in the answers of all maps of entries from output to input; returns those of the output's
// leaves, or of the one that the command line asks for, where the subject writes its result.
std::vector<ReportedWrites> AnswerCoalescing(const Subject& subject, const CommandLine& line,
                                             mlir::MLIRContext* context,
                                             std::vector<ReportedEntry>* entries);

// Lines, each with this before it and a line feed after it. `factor` is the margin by which
// accesses were called coalesced.
void AppendCoalescing(const ReportedCoalescing& coalescing, double factor, absl::string_view indent,
                      std::string* out);
void AppendWrites(const std::vector<ReportedWrites>& writes, double factor, std::string* out);

void WriteCoalescing(const ReportedCoalescing& coalescing, JsonWriter* json);
// The objects of the field "outputs" of a module; `, ` before each but the first in `out`.
void AppendWritesJson(const Subject& subject, const std::vector<ReportedWrites>& writes,
                      std::string* out);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_COALESCING_OUTPUT_H_

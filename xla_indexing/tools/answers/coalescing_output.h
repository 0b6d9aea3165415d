// `--query=coalescing`: its flags, its answers, and how they are printed.

#ifndef XLA_INDEXING_TOOLS_ANSWERS_COALESCING_OUTPUT_H_
#define XLA_INDEXING_TOOLS_ANSWERS_COALESCING_OUTPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tools/answers/report.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {

// Whether some leaf of the output that the command line asks for can be computed by its launch;
// where none can, the error says why not for the first.
absl::Status CheckLaunch(const Subject& subject, const CommandLine& line);

// The answer with the addresses of its worst request; `indexing` is null for writes.
ReportedCoalescing ReportOf(const CoalescingAnalysis& analysis, Coalescing coalescing,
                            const OperandIndexing* indexing, const Shape& accessed);

// How the leaves of a subject's output are written.
struct ReportedWrites {
  int64_t output_leaf = 0;
  ReportedCoalescing writes;
};

// The answers about one subject, output to input.
class CoalescingAnswers {
 public:
  // Keeps references.
  CoalescingAnswers(const Subject& subject, const CommandLine& line, mlir::MLIRContext* context);
  ~CoalescingAnswers();

  // Fills in the answers for all maps of the entries.
  void AnswerReads(std::vector<ReportedEntry>* entries);
  // The answers for the output's leaves, or for the one that the command line asks for, where the
  // subject writes its result.
  std::vector<ReportedWrites> AnswerWrites();

 private:
  const absl::StatusOr<CoalescingAnalysis>& AnalysisOfLeaf(int64_t leaf);

  const Subject& subject_;
  const CommandLine& line_;
  mlir::MLIRContext* context_;
  // The accesses of one leaf, shared by consecutive entries of that leaf.
  int64_t leaf_ = -1;
  absl::StatusOr<CoalescingAnalysis> analysis_;
};

// Appends lines, each with `indent` before it and a line feed after it. `factor` is the margin
// within which accesses counted as coalesced.
void AppendCoalescing(const ReportedCoalescing& coalescing, double factor, absl::string_view indent,
                      std::string* out);
void AppendWrites(const std::vector<ReportedWrites>& writes, double factor, std::string* out);

// The fields of an object.
void WriteCoalescing(const ReportedCoalescing& coalescing, internal::JsonWriter* json);
void WriteWrites(const Subject& subject, const ReportedWrites& leaf, internal::JsonWriter* json);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_COALESCING_OUTPUT_H_

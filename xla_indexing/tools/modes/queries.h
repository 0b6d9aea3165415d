// `--query=LIST`: what is reported about maps in addition to the maps themselves.
//
// A query has a member of Queries and a row of the table in command_line.cc, an answer in
// ReportedEntry (or ReportedMap), which QueryAnswers fills in and text_output.cc and
// json_output.cc print below the maps, and, where it has sums of a computation, a part of
// QueryTotals.

#ifndef XLA_INDEXING_TOOLS_MODES_QUERIES_H_
#define XLA_INDEXING_TOOLS_MODES_QUERIES_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tools/answers/coalescing_output.h"
#include "xla_indexing/tools/answers/in_place_output.h"
#include "xla_indexing/tools/answers/indices_output.h"
#include "xla_indexing/tools/answers/kernel_output.h"
#include "xla_indexing/tools/answers/report.h"
#include "xla_indexing/tools/answers/tiling_report.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {

// Sums over the subjects of each computation of a module, in the order of the computations. They
// have no text and no JSON where there was no query for them.
class QueryTotals {
 public:
  void AddTraffic(const Subject& subject, const Traffic& traffic);
  // An object of a list of the module, whose fields `write` writes.
  enum List { kOutputs, kTilings, kKernels, kIndices, kAliases, kOneBuffer, kNumLists };
  void AddObject(List list, absl::FunctionRef<void(internal::JsonWriter* json)> write) {
    internal::AppendObject(write, &lists_[list]);
  }
  // The aliases that a module states.
  void AddAliases(const std::vector<CheckedAlias>& aliases);
  // What the command line asks about one buffer.
  void AddOneBuffer(const std::vector<CheckedValue>& values);
  void Add(const QueryTotals& other);

  // `Total of main: ..`, a line for each computation.
  void AppendText(std::string* out) const;
  // The lists that are not empty, and the field "totals".
  void WriteJson(internal::JsonWriter* json) const;

 private:
  struct Row {
    std::string computation;
    bool is_fusion = false;
    Traffic traffic;
  };
  void AddRow(const Row& row);

  std::vector<Row> rows_;
  std::string aliases_text_;
  std::string lists_[kNumLists];  // of JSON objects, with ", " between them
};

// The queries of the command line about one subject, whose entries come in parts.
class QueryAnswers {
 public:
  // Keeps references.
  QueryAnswers(const Subject& subject, Direction direction, const CommandLine& line,
               SubjectIndexer* indexer);

  // Answers for the entries of a part.
  void Answer(const ReportPart& part, std::vector<ReportedEntry>* entries);
  // Says that some part's entries are not listed.
  void LeaveOut() { has_all_entries_ = false; }
  // Called after all parts: adds to the totals and, as text, to `out`, what concerns the subject and
  // not one of its maps.
  void Finish(QueryTotals* totals, std::string* out);

 private:
  void AnswerUtilization(const ReportPart& part, std::vector<ReportedEntry>* entries);
  // What is said of the tiles of the whole.
  void FinishTiling(QueryTotals* totals, std::string* out);

  const Subject& subject_;
  const Direction direction_;
  const CommandLine& line_;
  SubjectIndexer& indexer_;
  const bool is_to_input_;
  bool has_all_entries_ = true;
  absl::StatusOr<SubjectTiling> tiling_;
  UtilizationCounter utilization_;
  CoalescingAnswers coalescing_;
  InPlaceAnswers in_place_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODES_QUERIES_H_

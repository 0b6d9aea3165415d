// `--query=in-place` as text and as JSON: whether outputs may be written into the buffers of operands
// of equal size in bytes. docs/command-line.md describes both.
//
//   in place: in order d0 descending; otherwise unsafe: element {1} is written before ..
//   in place, by these threads: safe
//   written in place: 3 of 4 elements
#ifndef XLA_INDEXING_TOOLS_ANSWERS_IN_PLACE_OUTPUT_H_
#define XLA_INDEXING_TOOLS_ANSWERS_IN_PLACE_OUTPUT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/query/in_place/in_place.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tools/answers/report.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {

// The answers about one subject.
class InPlaceAnswers {
 public:
  // Keeps references.
  InPlaceAnswers(const Subject& subject, const CommandLine& line, mlir::MLIRContext* context)
      : subject_(subject), line_(line), context_(context) {}

  // For the entries of leaves that are as large.
  void Answer(std::vector<ReportedEntry>* entries);

 private:
  const Subject& subject_;
  const CommandLine& line_;
  mlir::MLIRContext* context_;
  std::optional<absl::StatusOr<InPlaceAnalysis>> analysis_;
};

// Lines, indented by two spaces.
void AppendInPlace(const ReportedInPlace& in_place, std::string* out);
// A line.
void AppendAlias(const CheckedAlias& alias, std::string* out);
void AppendCheckedValue(const CheckedValue& value, std::string* out);
// `--one_buffer=x,mid,w#2`: instructions of a computation, with leaves of tuples. InvalidArgument for what
// there is not.
absl::StatusOr<std::vector<BufferValue>> ReadOneBuffer(absl::string_view list,
                                                       const HloComputation& computation);
// The fields of an object.
void WriteInPlace(const ReportedInPlace& in_place, internal::JsonWriter* json);
void WriteAlias(const CheckedAlias& alias, internal::JsonWriter* json);
void WriteCheckedValue(const CheckedValue& value, internal::JsonWriter* json);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_IN_PLACE_OUTPUT_H_

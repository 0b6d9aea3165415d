#include "xla_indexing/tools/modes/text_output.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "xla_indexing/tools/answers/coalescing_output.h"
#include "xla_indexing/tools/answers/in_place_output.h"
#include "xla_indexing/tools/answers/module_bounds.h"
#include "xla_indexing/tools/answers/tiling_output.h"
#include "xla_indexing/tools/answers/utilization_output.h"

namespace xla_indexing {
namespace {

void AppendEntryHeading(const Subject& subject, Direction direction, bool names,
                        const ReportedEntry& entry, std::string* out) {
  const bool to_input = direction == Direction::kOutputToInput;
  if (to_input) {
    absl::StrAppend(out, "Output ", entry.output_leaf, " operand ", entry.operand);
  } else {
    absl::StrAppend(out, "Input ", entry.operand);
  }
  if (names) absl::StrAppend(out, " (", subject.OperandName(entry.operand), ")");
  if (subject.operands()[entry.operand]->shape().IsTuple()) {
    absl::StrAppend(out, " leaf ", entry.operand_leaf);
  }
  if (!to_input) absl::StrAppend(out, " output ", entry.output_leaf);
  absl::StrAppend(out, ":\n");
}

}  // namespace

void AppendModuleHeading(absl::string_view name, std::string* out) {
  absl::StrAppend(out, "module ", name, ":\n");
}

void AppendSubjectHeading(const Subject& subject, std::string* out) {
  absl::StrAppend(out, subject.computation().name(), "/", subject.instruction->name(), ":\n");
}

void AppendText(const Subject& subject, Direction direction, const CommandLine& line,
                const std::vector<ReportedEntry>& entries, std::string* out) {
  for (const ReportedEntry& entry : entries) {
    AppendEntryHeading(subject, direction, line.names, entry, out);
    if (entry.maps.empty()) absl::StrAppend(out, "(nothing read)\n");
    for (const ReportedMap& map : entry.maps) {
      absl::StrAppend(out, map.line, "\n");
      for (const std::string& binding : map.bindings) absl::StrAppend(out, "  ", binding, "\n");
      if (!map.replica.empty()) absl::StrAppend(out, "  ", map.replica, "\n");
      if (map.coalescing) {
        AppendCoalescing(*map.coalescing, line.launch.options.factor, "  ", out);
      }
      if (map.tile) AppendTile(*map.tile, "  ", out);
    }
    if (entry.utilization) {
      absl::StrAppend(out, "  utilization: ", UtilizationText(*entry.utilization), "\n");
    }
    if (entry.in_place) AppendInPlace(*entry.in_place, out);
  }
}

void AppendNotListed(Direction direction, int64_t pairs, std::string* out) {
  absl::StrAppend(
      out, direction == Direction::kOutputToInput ? "Output to input" : "Input to output", ": ",
      pairs, " pairs of leaves not listed (unknown: ", ModuleBounds::WhyNotListed(), ")\n");
}

}  // namespace xla_indexing

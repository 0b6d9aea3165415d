#include "xla_indexing/tools/modes/map_mode.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/base/parallel.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/rule_step_text.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/tools/input/files.h"

namespace xla_indexing {
namespace {

using internal::ParallelFor;

// How many bytes of text, up to the end of a line, one context is used for: expressions stay in
// memory as long as their context.
constexpr size_t kBytesPerContext = size_t{1} << 18;

// Whole lines of the text, and what they print.
struct TextPart {
  size_t begin = 0;
  size_t end = 0;
  int64_t first_line = 1;
  std::string output;
  std::string errors;
  std::string warning;
};

std::vector<TextPart> SplitIntoParts(absl::string_view text) {
  constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::vector<TextPart> parts;
  int64_t line = 1;
  for (size_t begin = absl::StartsWith(text, kByteOrderMark) ? kByteOrderMark.size() : 0;
       begin < text.size();) {
    const size_t newline = text.find('\n', std::min(begin + kBytesPerContext, text.size() - 1));
    const size_t end = newline == text.npos ? text.size() : newline + 1;
    parts.push_back({begin, end, line, "", "", ""});
    line += std::count(text.begin() + begin, text.begin() + end, '\n');
    begin = end;
  }
  return parts;
}

// Appends the pieces of a map, simplified, one a line, without those that have no point; of a map
// without any point the last. With the steps that led to it below each, where they are to be
// explained.
void SimplifyPieces(std::vector<IndexingMap> pieces, const CommandLine& line, std::string* output) {
  const size_t begin = output->size();
  for (IndexingMap& piece : pieces) {
    RuleTrace steps;
    const IndexingMap given = piece;
    piece.Simplify(
        {.keep_variables = line.keep_variables, .trace = line.explain ? &steps : nullptr});
    if (piece.IsKnownEmpty() && &piece != &pieces.back()) continue;
    if (piece.IsKnownEmpty() && output->size() != begin) continue;
    absl::StrAppend(output, piece.ToString(), "\n");
    for (const RuleStep& step : steps) {
      absl::StrAppend(output, "  ", ToString(step, given), "\n");
    }
  }
}

void SimplifyPart(const SourceText& source, const CommandLine& command_line, TextPart* part) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::string_view text = source.text;
  // The lines of a part are one question: what comes when its steps are spent is printed as it is.
  const QuestionBudget question;
  int64_t line_number = part->first_line;
  for (size_t begin = part->begin; begin < part->end; ++line_number) {
    const size_t end = std::min(text.find('\n', begin), part->end);
    const absl::string_view line = text.substr(begin, end - begin);
    if (!absl::StripAsciiWhitespace(line).empty()) {
      MapParseError error;
      absl::StatusOr<std::vector<IndexingMap>> pieces =
          ParseIndexingMapPieces(line, &context, &error);
      if (pieces.ok()) {
        SimplifyPieces(*std::move(pieces), command_line, &part->output);
        if (QuestionBudget::IsSpent() && part->warning.empty()) {
          part->warning = absl::StrCat(
              source.filename, ":", line_number,
              ": warning: from here on maps may not be simplified as far as possible: ",
              QuestionBudget::Reason());
        }
      } else {
        const SourcePosition position{line_number, static_cast<int64_t>(error.offset) + 1};
        absl::StrAppend(
            &part->errors,
            FormatDiagnostic(source.filename, text, begin + error.offset, position, error.message),
            "\n");
      }
    }
    begin = end + 1;
  }
}

}  // namespace

int PrintSimplifiedMaps(const CommandLine& line) {
  absl::StatusOr<SourceText> source = ReadSource(line.map_file);
  if (!source.ok()) {
    const bool is_map = absl::StrContains(line.map_file, "->");
    WriteError(absl::StrCat(source.status().message(),
                            is_map ? "; --map=- reads maps from standard input" : ""));
    return 1;
  }
  constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (absl::StartsWith(source->text, kByteOrderMark)) source->text.erase(0, kByteOrderMark.size());
  std::vector<TextPart> parts = SplitIntoParts(source->text);
  ParallelFor(line.jobs, parts.size(), [&](size_t i) { SimplifyPart(*source, line, &parts[i]); });
  bool all_read = true;
  for (const TextPart& part : parts) {
    WriteOutput(part.output);
    if (!part.warning.empty()) WriteError(part.warning);
    if (!part.errors.empty()) {
      all_read = false;
      WriteError(absl::string_view(part.errors).substr(0, part.errors.size() - 1));
    }
  }
  return all_read ? 0 : 1;
}

}  // namespace xla_indexing

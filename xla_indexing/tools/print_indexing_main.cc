// print-indexing: prints the indexing maps of HLO modules. `print-indexing --help` and
// docs/command-line.md say how.

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/tools/answers/indices_output.h"
#include "xla_indexing/tools/emit/mlir_mode.h"
#include "xla_indexing/tools/help.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/files.h"
#include "xla_indexing/tools/modes/broadcast_mode.h"
#include "xla_indexing/tools/modes/compare_mode.h"
#include "xla_indexing/tools/modes/explain_mode.h"
#include "xla_indexing/tools/modes/hlo_mode.h"
#include "xla_indexing/tools/modes/map_mode.h"
#include "xla_indexing/tools/modes/picture_mode.h"
#include "xla_indexing/tools/modes/report_mode.h"
#include "xla_indexing/tools/out_of_memory.h"
#include "xla_indexing/version.h"

namespace xla_indexing {
namespace {

int Run(const CommandLine& line) {
  switch (line.action) {
    case CommandLine::Action::kShowHelp:
      WriteOutput(HelpText());
      return 0;
    case CommandLine::Action::kShowVersion:
      WriteOutput("print-indexing " XLA_INDEXING_VERSION_STRING "\n");
      return 0;
    case CommandLine::Action::kPrintIndexing:
      return PrintHloIndexing(line);
    case CommandLine::Action::kPrintMaps:
      return PrintSimplifiedMaps(line);
    case CommandLine::Action::kBroadcast:
      return PrintBroadcast(line);
    case CommandLine::Action::kPicture:
      return DrawPicture(line);
    case CommandLine::Action::kReport:
      return PrintReport(line);
    case CommandLine::Action::kCompare:
      return PrintComparison(line);
    case CommandLine::Action::kExplain:
      return PrintExplanation(line);
    case CommandLine::Action::kEmitMlir:
      return PrintMlir(line);
    case CommandLine::Action::kRewrite:
      return PrintRewrittenModules(line);
  }
  return 0;
}

// The exit code of an error outside the command line. With --compare and --explain, 1 is an answer.
int ErrorCode(const CommandLine& line) {
  const bool answers =
      line.action == CommandLine::Action::kCompare || line.action == CommandLine::Action::kExplain;
  return answers ? 2 : 1;
}

int Main(int argc, char** argv) {
  const std::vector<absl::string_view> arguments(argv + 1, argv + argc);
  const absl::StatusOr<CommandLine> line = ParseCommandLine(arguments);
  if (!line.ok()) {
    return FailWith(absl::StrCat(line.status().message(), "\nTry 'print-indexing --help'."), 2);
  }
  EndWhenOutOfMemory(ErrorCode(*line));
  const int exit_code = Run(*line);
  if (const absl::Status status = FlushOutput(); !status.ok()) {
    return FailWith(status.message(), ErrorCode(*line));
  }
  return exit_code;
}

}  // namespace
}  // namespace xla_indexing

int main(int argc, char** argv) { return xla_indexing::Main(argc, argv); }

#include "xla_indexing/tools/hlo_mode.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/parallel.h"
#include "xla_indexing/tools/coalescing_output.h"
#include "xla_indexing/tools/files.h"
#include "xla_indexing/tools/json_output.h"
#include "xla_indexing/tools/queries.h"
#include "xla_indexing/tools/read_modules.h"
#include "xla_indexing/tools/report.h"
#include "xla_indexing/tools/subject.h"
#include "xla_indexing/tools/summary.h"
#include "xla_indexing/tools/text_output.h"
#include "xla_indexing/tools/tiling_output.h"

namespace xla_indexing {
namespace {

// Files are worked on together until they have this many bytes: enough to keep threads busy, few
// enough that memory does not grow with the number of files.
constexpr size_t kBytesPerBatch = size_t{1} << 23;
// How many instructions one context is used for at most: expressions stay in memory as long as
// their context.
constexpr size_t kSubjectsPerUnit = 256;
// Where there are several threads, into how many units a thread's share of a module is cut, so that
// none is left waiting for the last one for long; and how many instructions a context is made for.
constexpr size_t kUnitsPerJob = 8;
constexpr size_t kLeastSubjectsPerUnit = 32;

// What is done by one thread with one context: some of the subjects of a module.
struct Unit {
  absl::Span<const Subject> subjects;
  bool has_headings = false;
  std::string output;
  Summary summary;
  QueryTotals totals;
};

// A piece of a file: a module and what is selected of it, or errors.
struct Piece {
  ReadModule read;
  std::vector<Subject> subjects;
  bool has_headings = false;
  std::vector<Unit> units;
};

size_t SubjectsPerUnit(size_t subjects, int jobs) {
  if (jobs == 1) return kSubjectsPerUnit;
  return std::clamp(subjects / (kUnitsPerJob * static_cast<size_t>(jobs)), kLeastSubjectsPerUnit,
                    kSubjectsPerUnit);
}

std::vector<Piece> ReadPieces(SourceText source, const CommandLine& line) {
  std::vector<Piece> pieces;
  for (ReadModule& read : ReadModules(std::move(source), line.verify)) {
    Piece& piece = pieces.emplace_back();
    piece.read = std::move(read);
    if (piece.read.module == nullptr) continue;
    piece.subjects = SelectSubjects(*piece.read.module, piece.read.written.get(), line);
  }
  const bool are_several = pieces.size() > 1 || line.files.size() > 1 || line.all_instructions;
  for (Piece& piece : pieces) {
    piece.has_headings = are_several;
    const size_t per_unit = SubjectsPerUnit(piece.subjects.size(), line.jobs);
    for (size_t i = 0; i < piece.subjects.size(); i += per_unit) {
      piece.units.push_back({absl::MakeConstSpan(piece.subjects).subspan(i, per_unit),
                             are_several || piece.subjects.size() > 1,
                             "",
                             {},
                             {}});
    }
  }
  return pieces;
}

void Analyse(const CommandLine& line, Unit* unit) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const Subject& subject : unit->subjects) {
    const bool is_text = line.format == OutputFormat::kText;
    if (is_text && unit->has_headings && !line.summary)
      AppendSubjectHeading(subject, &unit->output);
    for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
      const bool is_asked_for =
          direction == Direction::kOutputToInput ? line.output_to_input : line.input_to_output;
      if (!is_asked_for) continue;
      std::vector<ReportedEntry> entries = ReportIndexing(subject, direction, line, &context);
      if (line.summary) {
        unit->summary.Add(subject.opcode(), direction, entries);
        continue;
      }
      const std::vector<ReportedWrites> writes =
          AnswerQueries(subject, direction, line, &context, &entries, &unit->totals);
      if (is_text) {
        AppendText(subject, direction, line, entries, &unit->output);
        AppendWrites(writes, line.launch.options.factor, &unit->output);
      } else {
        AppendJson(subject, direction, entries, &unit->output);
      }
    }
  }
}

std::string ModuleOutput(const CommandLine& line, Piece* piece) {
  std::vector<std::string> outputs;
  QueryTotals totals;
  for (Unit& unit : piece->units) {
    if (!unit.output.empty()) outputs.push_back(std::move(unit.output));
    totals.Add(unit.totals);
  }
  if (line.format == OutputFormat::kJson) {
    return ModuleJson(piece->read.module->name(), outputs, totals);
  }
  std::string text;
  if (piece->has_headings) AppendModuleHeading(piece->read.module->name(), &text);
  for (const std::string& output : outputs) text.append(output);
  totals.AppendText(&text);
  return text;
}

class HloPrinter {
 public:
  explicit HloPrinter(const CommandLine& line) : line_(line) {}

  int Run() {
    std::vector<SourceText> batch;
    size_t bytes = 0;
    for (const std::string& file : line_.files) {
      absl::StatusOr<SourceText> source = ReadSource(file);
      if (!source.ok()) {
        PrintBatch(std::exchange(batch, {}));
        bytes = 0;
        ReportBadInput(source.status().message());
        continue;
      }
      bytes += source->text.size();
      batch.push_back(*std::move(source));
      if (bytes >= kBytesPerBatch) {
        PrintBatch(std::exchange(batch, {}));
        bytes = 0;
      }
    }
    PrintBatch(std::move(batch));
    if (line_.summary) WriteOutput(summary_.ToText());
    return ExitCode();
  }

 private:
  // Whether a flag's value fits something that is selected.
  struct Fit {
    template <typename Check>
    void Try(absl::string_view flag, const Subject& subject, Check check) {
      if (fits) return;
      const absl::Status status = check();
      fits = status.ok();
      if (fits || !why_not.empty()) return;
      why_not = absl::StrCat(flag, ": ", subject.instruction->name(), ": ", status.message());
    }

    bool fits = false;
    std::string why_not;
  };

  void PrintBatch(std::vector<SourceText> sources) {
    std::vector<std::vector<Piece>> files(sources.size());
    ParallelFor(line_.jobs, sources.size(),
                [&](size_t i) { files[i] = ReadPieces(std::move(sources[i]), line_); });
    std::vector<Unit*> units;
    for (std::vector<Piece>& pieces : files) {
      for (Piece& piece : pieces) {
        for (Unit& unit : piece.units) units.push_back(&unit);
      }
    }
    ParallelFor(line_.jobs, units.size(), [&](size_t i) { Analyse(line_, units[i]); });
    for (std::vector<Piece>& pieces : files) {
      for (Piece& piece : pieces) PrintPiece(&piece);
    }
  }

  void PrintPiece(Piece* piece) {
    for (const std::string& error : piece->read.errors) ReportBadInput(error);
    for (const std::string& warning : piece->read.warnings) WriteError(warning);
    if (piece->read.module == nullptr) return;
    has_module_ = true;
    for (const Subject& subject : piece->subjects) {
      has_subject_ = true;
      has_output_ = has_output_ || !line_.output_id ||
                    *line_.output_id < subject.instruction->shape().LeafCount();
      has_operand_ = has_operand_ || !line_.operand_id ||
                     *line_.operand_id < static_cast<int64_t>(subject.operands().size());
      tiles_.Try("--tile_sizes", subject, [&] { return CheckTileSizes(subject, line_); });
      launch_.Try("--thread_map", subject, [&] { return CheckLaunch(subject, line_); });
    }
    if (line_.summary) {
      for (const Unit& unit : piece->units) summary_.Add(unit.summary);
      return;
    }
    held_back_ += ModuleOutput(line_, piece);
    // Until something is selected, the command line may turn out to be wrong.
    if (IsFound()) WriteOutput(std::exchange(held_back_, ""));
  }

  void ReportBadInput(absl::string_view message) {
    has_bad_input_ = true;
    WriteError(message);
  }

  bool IsSelected() const { return has_subject_ && has_output_ && has_operand_; }
  bool IsFound() const { return IsSelected() && tiles_.fits && launch_.fits; }

  int ExitCode() const {
    // What was asked for, or what sizes fit, may be in an input that could not be read.
    if (has_bad_input_) {
      if (IsSelected()) WriteOutput(held_back_);
      return 1;
    }
    if (!has_module_ || IsFound()) return 0;
    std::string message;
    if (!has_subject_) {
      message = line_.computation
                    ? absl::StrCat("there is no computation '", *line_.computation, "'")
                    : "";
      if (line_.instruction && !line_.all_instructions) {
        message = absl::StrCat("there is no instruction '", *line_.instruction, "'");
        if (line_.computation)
          absl::StrAppend(&message, " in a computation '", *line_.computation, "'");
      }
    } else if (!has_output_) {
      message = absl::StrCat("nothing selected has an output leaf ", *line_.output_id);
    } else if (!has_operand_) {
      message = absl::StrCat("nothing selected has an operand ", *line_.operand_id);
    } else {
      message = tiles_.fits ? launch_.why_not : tiles_.why_not;
    }
    WriteError(absl::StrCat("print-indexing: error: ", message));
    return 2;
  }

  const CommandLine& line_;
  Summary summary_;
  std::string held_back_;
  bool has_bad_input_ = false;
  bool has_module_ = false;
  // Whether there is what the command line names, in some module.
  bool has_subject_ = false;
  bool has_output_ = false;
  bool has_operand_ = false;
  Fit tiles_;
  Fit launch_;
};

}  // namespace

int PrintHloIndexing(const CommandLine& line) { return HloPrinter(line).Run(); }

}  // namespace xla_indexing

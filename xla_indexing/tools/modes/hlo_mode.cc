#include "xla_indexing/tools/modes/hlo_mode.h"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/parallel.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/tools/answers/coalescing_output.h"
#include "xla_indexing/tools/answers/module_bounds.h"
#include "xla_indexing/tools/answers/report.h"
#include "xla_indexing/tools/answers/tiling_output.h"
#include "xla_indexing/tools/input/files.h"
#include "xla_indexing/tools/input/read_modules.h"
#include "xla_indexing/tools/input/subject.h"
#include "xla_indexing/tools/modes/json_output.h"
#include "xla_indexing/tools/modes/queries.h"
#include "xla_indexing/tools/modes/summary.h"
#include "xla_indexing/tools/modes/text_output.h"

namespace xla_indexing {
namespace {

using internal::ParallelFor;

// Files are worked on together until they have this many bytes: enough to keep threads busy, few
// enough that memory does not grow with the number of files.
constexpr size_t kBytesPerBatch = size_t{1} << 23;
// How many instructions one context is used for at most: expressions stay in memory as long as
// their context. It does not depend on the number of threads: what a unit may take does not either.
constexpr size_t kSubjectsPerUnit = 256;

// What is done by one thread with one context: some of the subjects of a module.
struct Unit {
  absl::Span<const Subject> subjects;
  UnitShare share;
  bool has_headings = false;
  bool is_first = false;  // of its module
  std::string output;
  Summary summary;
  QueryTotals totals;
};

// A piece of a file: a module and what is selected of it, or errors.
struct FilePiece {
  ReadModule read;
  std::vector<Subject> subjects;
  bool has_headings = false;
  std::vector<Unit> units;
};

std::vector<FilePiece> ReadPieces(SourceText source, const CommandLine& line) {
  std::vector<FilePiece> pieces;
  for (ReadModule& read : ReadModules(std::move(source), line.verify)) {
    FilePiece& piece = pieces.emplace_back();
    piece.read = std::move(read);
    if (piece.read.module == nullptr) continue;
    piece.subjects = SelectSubjects(*piece.read.module, piece.read.written.get(), line);
  }
  const bool are_several = pieces.size() > 1 || line.files.size() > 1 || line.all_instructions;
  for (FilePiece& piece : pieces) {
    piece.has_headings = are_several;
    if (piece.subjects.empty()) continue;
    const ModuleBounds bounds(*piece.read.module, piece.subjects);
    for (size_t i = 0; i < piece.subjects.size(); i += kSubjectsPerUnit) {
      const auto subjects = absl::MakeConstSpan(piece.subjects).subspan(i, kSubjectsPerUnit);
      piece.units.push_back({subjects,
                             bounds.ShareOf(subjects),
                             are_several || piece.subjects.size() > 1,
                             i == 0,
                             "",
                             {},
                             {}});
    }
  }
  return pieces;
}

// Says that a subject has so many pairs more, at most.
void ReportNotListed(const Subject& subject, Direction direction, int64_t pairs,
                     const CommandLine& line, Unit* unit, QueryAnswers* queries) {
  queries->LeaveOut();
  if (line.summary) {
    unit->summary.AddNotListed(subject.opcode(), direction, pairs, ModuleBounds::WhyNotListed());
  } else if (line.format == OutputFormat::kText) {
    AppendNotListed(direction, pairs, &unit->output);
  } else {
    AppendNotListedJson(subject, direction, pairs, &unit->output);
  }
}

// The computation that --one_buffer is about.
const HloComputation& ComputationOfBuffer(const Subject& subject, const CommandLine& line) {
  const HloComputation& selected = subject.computation();
  return line.computation ? selected : *selected.parent()->entry_computation();
}

// `pass_on` is called between parts of the output, which it may take away.
void Analyse(const CommandLine& line, Unit* unit, absl::FunctionRef<void()> pass_on) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  SubjectIndexer indexer(line, &context);
  const bool is_text = line.format == OutputFormat::kText;
  if (line.queries.in_place && unit->is_first) {
    const HloModule& module = *unit->subjects.front().computation().parent();
    unit->totals.AddAliases(CheckAliases(module, &context));
    if (line.one_buffer) {
      const auto values =
          ReadOneBuffer(*line.one_buffer, ComputationOfBuffer(unit->subjects.front(), line));
      const auto checked = values.ok() ? CheckOneBuffer(*values, &context) : values.status();
      if (checked.ok()) unit->totals.AddOneBuffer(*checked);
    }
  }
  for (const Subject& subject : unit->subjects) {
    if (is_text && unit->has_headings && !line.summary)
      AppendSubjectHeading(subject, &unit->output);
    for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
      const bool is_asked_for =
          direction == Direction::kOutputToInput ? line.output_to_input : line.input_to_output;
      if (!is_asked_for) continue;
      const int64_t steps = unit->share.StepsOfNext(direction);
      const QuestionBudget budget(steps);
      QueryAnswers queries(subject, direction, line, &indexer);
      int64_t listed = 0;
      int64_t not_listed = 0;
      for (const ReportPart& part : PartsOf(subject, direction, line, &indexer)) {
        if (!unit->share.MayListMore(direction, listed)) {
          not_listed += MostPairsOf(subject, direction, part, line);
          continue;
        }
        std::vector<ReportedEntry> entries =
            ReportIndexing(subject, direction, part, line, &indexer);
        listed += static_cast<int64_t>(entries.size());
        unit->share.ListPairs(direction, static_cast<int64_t>(entries.size()));
        if (line.summary) {
          unit->summary.Add(subject.opcode(), direction, entries);
          continue;
        }
        queries.Answer(part, &entries);
        if (is_text) {
          AppendText(subject, direction, line, entries, &unit->output);
        } else {
          AppendJson(subject, direction, entries, &unit->output);
        }
        pass_on();
      }
      if (not_listed > 0) ReportNotListed(subject, direction, not_listed, line, unit, &queries);
      if (!line.summary) queries.Finish(&unit->totals, &unit->output);
      unit->share.SpendSteps(direction, steps - QuestionBudget::Left());
    }
  }
}

// Writes the modules of a batch in their order while they are worked on, so that no more of a large
// answer is held than what others have to be waited for.
class OrderedOutput {
 public:
  // Gives what it writes to `write`. Keeps references.
  OrderedOutput(const CommandLine& line, const std::vector<FilePiece*>& pieces,
                absl::FunctionRef<void(absl::string_view)> write)
      : line_(line), pieces_(pieces), write_(write) {
    for (const FilePiece* piece : pieces_) is_done_.emplace_back(piece->units.size(), false);
    WriteWhatIsDone();
  }

  // Takes what a unit has so far, where that is much: at once if it is its turn, and otherwise when
  // it is. Called by the thread that works on the unit.
  void PassOn(Unit* unit) {
    if (unit->output.size() < kBytesToPassOn) return;
    std::unique_lock<std::mutex> lock(mutex_);
    if (unit != Current()) {
      if (unit->output.size() < kMaxBytesHeld) return;
      turn_.wait(lock, [&] { return unit == Current(); });
    }
    WritePart(&unit->output);
  }

  // Called when a unit is worked on no more.
  void Finish(const Unit* unit, size_t piece) {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_done_[piece][static_cast<size_t>(unit - pieces_[piece]->units.data())] = true;
    WriteWhatIsDone();
    turn_.notify_all();
  }

 private:
  static constexpr size_t kBytesToPassOn = size_t{1} << 20;
  static constexpr size_t kMaxBytesHeld = size_t{1} << 25;

  Unit* Current() {
    return piece_ < pieces_.size() && unit_ < pieces_[piece_]->units.size()
               ? &pieces_[piece_]->units[unit_]
               : nullptr;
  }

  void Begin() {
    if (has_begun_) return;
    has_begun_ = true;
    const FilePiece& piece = *pieces_[piece_];
    if (line_.format == OutputFormat::kJson) {
      write_(ModuleJsonBegin(piece.read.module->name()));
    } else if (piece.has_headings) {
      std::string heading;
      AppendModuleHeading(piece.read.module->name(), &heading);
      write_(heading);
    }
  }

  void WritePart(std::string* text) {
    if (text->empty()) return;
    Begin();
    if (line_.format == OutputFormat::kJson && has_entries_) write_(", ");
    has_entries_ = true;
    write_(*text);
    text->clear();
  }

  void WriteWhatIsDone() {
    for (; piece_ < pieces_.size(); ++piece_, unit_ = 0) {
      FilePiece& piece = *pieces_[piece_];
      for (; unit_ < piece.units.size(); ++unit_) {
        if (!is_done_[piece_][unit_]) return;
        Unit& unit = piece.units[unit_];
        WritePart(&unit.output);
        totals_.Add(unit.totals);
      }
      Begin();
      std::string end;
      if (line_.format == OutputFormat::kJson) {
        end = ModuleJsonEnd(totals_);
      } else {
        totals_.AppendText(&end);
      }
      write_(end);
      totals_ = QueryTotals();
      has_begun_ = false;
      has_entries_ = false;
    }
  }

  const CommandLine& line_;
  const std::vector<FilePiece*>& pieces_;
  const absl::FunctionRef<void(absl::string_view)> write_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::vector<std::vector<bool>> is_done_;  // by piece and unit
  size_t piece_ = 0;
  size_t unit_ = 0;
  bool has_begun_ = false;
  bool has_entries_ = false;
  QueryTotals totals_;
};

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
    std::vector<std::vector<FilePiece>> files(sources.size());
    ParallelFor(line_.jobs, sources.size(),
                [&](size_t i) { files[i] = ReadPieces(std::move(sources[i]), line_); });
    std::vector<FilePiece*> pieces;               // the valid ones
    std::vector<std::pair<Unit*, size_t>> units;  // with the position of their piece
    for (std::vector<FilePiece>& of_file : files) {
      for (FilePiece& piece : of_file) {
        LookAt(piece);
        if (piece.read.module == nullptr) continue;
        for (Unit& unit : piece.units) units.push_back({&unit, pieces.size()});
        pieces.push_back(&piece);
      }
    }
    if (line_.summary) {
      ParallelFor(line_.jobs, units.size(),
                  [&](size_t i) { Analyse(line_, units[i].first, [] {}); });
      for (const auto& [unit, piece] : units) summary_.Add(unit->summary);
      return;
    }
    // Until something is selected, the command line may turn out to be wrong.
    if (IsFound()) WriteOutput(std::exchange(held_back_, ""));
    const auto write = [&](absl::string_view text) {
      if (IsFound()) {
        WriteOutput(text);
      } else {
        absl::StrAppend(&held_back_, text);
      }
    };
    OrderedOutput output(line_, pieces, write);
    ParallelFor(line_.jobs, units.size(), [&](size_t i) {
      const auto [unit, piece] = units[i];
      Analyse(line_, unit, [&, unit = unit] { output.PassOn(unit); });
      output.Finish(unit, piece);
    });
  }

  // Reports the errors and warnings of a piece, or notes what it has of what the command line
  // names.
  void LookAt(const FilePiece& piece) {
    for (const std::string& error : piece.read.errors) ReportBadInput(error);
    for (const std::string& warning : piece.read.warnings) WriteError(warning);
    if (piece.read.module == nullptr) return;
    has_module_ = true;
    for (const Subject& subject : piece.subjects) {
      has_subject_ = true;
      has_output_ = has_output_ || !line_.output_id ||
                    *line_.output_id < subject.instruction->shape().LeafCount();
      has_operand_ = has_operand_ || !line_.operand_id ||
                     *line_.operand_id < static_cast<int64_t>(subject.operands().size());
      tiles_.Try("--tile_sizes", subject, [&] { return CheckTileSizes(subject, line_); });
      one_buffer_.Try("--one_buffer", subject, [&] {
        if (!line_.one_buffer) return absl::OkStatus();
        return ReadOneBuffer(*line_.one_buffer, ComputationOfBuffer(subject, line_)).status();
      });
      launch_.Try("--thread_map", subject, [&] { return CheckLaunch(subject, line_); });
    }
  }

  void ReportBadInput(absl::string_view message) {
    has_bad_input_ = true;
    WriteError(message);
  }

  bool IsSelected() const { return has_subject_ && has_output_ && has_operand_; }
  bool IsFound() const { return IsSelected() && tiles_.fits && launch_.fits && one_buffer_.fits; }

  int ExitCode() const {
    // The instruction that was asked for, or one that the sizes fit, may be in an input that could
    // not be read.
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
      message = !tiles_.fits    ? tiles_.why_not
                : !launch_.fits ? launch_.why_not
                                : one_buffer_.why_not;
    }
    return FailWith(message, 2);
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
  Fit one_buffer_;
};

}  // namespace

int PrintHloIndexing(const CommandLine& line) {
#ifdef M_TRIM_THRESHOLD
  // Memory that one instruction's answer took is kept for the next one and not given back to the
  // system.
  mallopt(M_TRIM_THRESHOLD, 1 << 28);
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
#endif
  return HloPrinter(line).Run();
}

}  // namespace xla_indexing

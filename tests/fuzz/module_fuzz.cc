// Whatever a module says, the library's answers about it agree with one another.
//
// An input is HLO text. It is parsed, printed and read again; where it verifies, every instruction
// and the entry as one fusion are asked for their maps, in both directions, as they are by default
// and exact, and every query is asked about them. Points of the maps, evaluated in mathematical
// integers (exact_map.h), tell whether
//
//   - maps lead from elements to elements and their text reads back;
//   - simplifying a set of maps changes nothing about what it names;
//   - what is said to be exact is part of whatever else is said of the same leaves: of the default
//     maps by the exact ones, of the maps in the other direction by those in this;
//   - counts, tiles and corresponding dimensions have the elements that are named.
//
// A module that the reference (tests/reference/) executes in a moment is executed by it, and maps
// of every instruction that ran and of the entry, compared with what depended on what, element for
// element.
//
// Runtime variables read tensors with arbitrary contents. What contradicts aborts, with both sides.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/Support/JSON.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fuzz/asked.h"
#include "tests/fuzz/check_maps.h"
#include "tests/fuzz/check_queries.h"
#include "tests/fuzz/check_tiles.h"
#include "tests/fuzz/exact_map.h"
#include "tests/fuzz/text_mutator.h"
#include "tests/reference/execute/can_execute.h"
#include "tests/reference/judge/check_module.h"
#include "tests/testing/entries.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/tools/answers/report.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/subject.h"
#include "xla_indexing/tools/modes/json_output.h"
#include "xla_indexing/tools/modes/queries.h"
#include "xla_indexing/tools/modes/text_output.h"

namespace xla_indexing::fuzz {
namespace {

// The most instructions of a module that are asked about.
constexpr size_t kMaxInstructions = 48;

// The program's own text and JSON.
void CheckOutput(const Asked& asked) {
  CommandLine line;
  line.input_to_output = true;
  const Subject subject{asked.result, asked.is_fusion};
  SubjectIndexer indexer(line, asked.context);
  std::string entries_json;
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    for (const ReportPart& part : PartsOf(subject, direction, line, &indexer)) {
      const std::vector<ReportedEntry> entries =
          ReportIndexing(subject, direction, part, line, &indexer);
      std::string text;
      AppendText(subject, direction, line, entries, &text);
      AppendJson(subject, direction, entries, &entries_json);
    }
  }
  const std::string json =
      absl::StrCat(ModuleJsonBegin("m"), entries_json, ModuleJsonEnd(QueryTotals()));
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(json);
  if (!value) Fail(asked, "the output is JSON", json, llvm::toString(value.takeError()));
}

absl::StatusOr<InstructionIndexing> IndexingOf(const Asked& asked, Direction direction,
                                               const FusionOptions& options) {
  return asked.is_fusion ? Entries(*asked.result->parent(), direction, asked.context, options)
                         : Entries(*asked.result, direction, asked.context, options);
}

// The maps in both directions, default and exact. False where there are none, for which an error
// says the reason.
bool AskForMaps(const Asked& asked, Answers* answers) {
  for (const bool forward : {false, true}) {
    for (const bool exact : {false, true}) {
      FusionOptions options;
      options.indexing.exact = exact;
      absl::StatusOr<InstructionIndexing> entries = IndexingOf(
          asked, forward ? Direction::kInputToOutput : Direction::kOutputToInput, options);
      if (!entries.ok()) {
        if (entries.status().message().empty()) Fail(asked, "an error has a message", "");
        return false;
      }
      (*answers)[forward][exact] = *std::move(entries);
    }
  }
  return true;
}

void Ask(const Asked& asked, Random& random) {
  Answers answers;
  if (!AskForMaps(asked, &answers)) return;
  CheckMaps(asked, answers, random);
  const InstructionIndexing& entries = answers[false][false];
  CheckCoalescing(asked, entries);
  size_t count = 0;
  for (const IndexingEntry& entry : entries) {
    if (++count > kMaxEntries) break;
    const Ends ends = EndsOf(asked, entry, false);
    CheckUtilization(asked, entry.indexing, ends, random);
    for (const OperandIndexing& map : entry.indexing) {
      if (!map.IsUnknown()) CheckTiles(asked, map, ends, random);
    }
  }
  if (!asked.is_fusion) CheckCorrespondingDims(asked, entries, random);
  CheckInPlace(asked);
  CheckIndices(asked);
  CheckOutput(asked);
}

// The module's text is the module.
void CheckText(const HloModule& module, bool verifies) {
  const std::string printed = module.ToString();
  const absl::StatusOr<std::unique_ptr<HloModule>> again = ParseModule(printed, "printed");
  std::string difference;
  if (!again.ok()) Contradiction("printed text is read", printed, again.status().message());
  if (!ModulesEqual(module, **again, &difference)) {
    Contradiction("printed text is the module", printed, difference);
  }
  if (const absl::Status status = VerifyModule(**again); status.ok() != verifies) {
    Contradiction("what verifies verifies again", printed, status.message());
  }
}

// Whether maps of the module are what the reference finds, which executes it.
void CheckExecuted(const HloModule& module, mlir::MLIRContext* context, Random& random) {
  if (!reference::CanExecute(module).ok()) return;
  reference::CheckOptions options;
  options.is_any_module = true;
  const absl::Status status = reference::CheckModule(module, random(), context, options);
  if (status.ok() || absl::IsUnimplemented(status) || absl::IsResourceExhausted(status)) return;
  Contradiction("the reference agrees", module.ToString(), status.message());
}

void CheckInput(std::string text) {
  Random random(text.size());
  for (const absl::StatusOr<std::unique_ptr<HloModule>>& module :
       ParseModules({"input", std::move(text)})) {
    if (!module.ok()) {
      if (module.status().message().empty()) Contradiction("an error has a message", "");
      continue;
    }
    const absl::Status status = VerifyModule(**module);
    CheckText(**module, status.ok());
    if (!status.ok()) {
      if (status.message().empty()) Contradiction("an error has a message", "");
      continue;
    }
    // Each module has a context of its own, because uniqued expressions are never freed.
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    size_t count = 0;
    for (const HloComputation* computation : (*module)->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        if (++count > kMaxInstructions) break;
        Ask({instruction, /*is_fusion=*/false, &context}, random);
      }
    }
    const HloComputation& entry = *(*module)->entry_computation();
    Ask({entry.root_instruction(), /*is_fusion=*/true, &context}, random);
    CheckComputation(entry, &context);
    CheckKernel(entry, &context);
    CheckModule(**module, &context);
    CheckExecuted(**module, &context, random);
  }
}

const Vocabulary& Words() {
  static const Vocabulary* const words = [] {
    auto* vocabulary = new Vocabulary();
    for (int i = 0; i < kOpcodeCount; ++i) {
      vocabulary->before_parenthesis.emplace_back(OpcodeName(static_cast<HloOpcode>(i)));
    }
    // Some that are not known, and steps of asynchronous operations.
    for (const char* opcode : {"frob", "frob-start", "frob-done", "negate-start",
                               "custom-call-start", "custom-call-update", "custom-call-done"}) {
      vocabulary->before_parenthesis.emplace_back(opcode);
    }
    vocabulary->before_bracket = {"f32", "s32", "pred", "bf16", "s4", "u8", "u64", "c64", "f8e5m2"};
    return vocabulary;
  }();
  return *words;
}

}  // namespace
}  // namespace xla_indexing::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return xla_indexing::fuzz::MutateInPlace(data, size, max_size, seed, xla_indexing::fuzz::Words());
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b,
                                            size_t b_size, uint8_t* out, size_t max_size,
                                            unsigned seed) {
  return xla_indexing::fuzz::CrossInPlace(a, a_size, b, b_size, out, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  xla_indexing::fuzz::CheckInput(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

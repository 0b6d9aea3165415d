#include "xla_indexing/tools/read_modules.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/verifier.h"

namespace xla_indexing {
namespace {

// Of one module, no more errors than this are shown.
constexpr int64_t kMaxErrors = 20;

std::string ErrorText(const VerificationError& error) {
  const SourceText* source = error.module->source();
  const bool has_place = error.instruction != nullptr &&
                         error.instruction->source_offset() != HloInstruction::kNoSourceOffset;
  return has_place ? error.ToString()
                   : FormatDiagnostic(source->filename, source->text, 0, error.message);
}

}  // namespace

std::vector<ReadModule> ReadModules(SourceText source) {
  std::vector<ReadModule> modules;
  for (absl::StatusOr<std::unique_ptr<HloModule>>& parsed : ParseModules(std::move(source))) {
    ReadModule& read = modules.emplace_back();
    if (!parsed.ok()) {
      read.errors.emplace_back(parsed.status().message());
      continue;
    }
    for (const VerificationError& error : FindErrors(**parsed, kMaxErrors)) {
      read.errors.push_back(ErrorText(error));
    }
    if (read.errors.empty()) read.module = *std::move(parsed);
  }
  return modules;
}

}  // namespace xla_indexing

#include "xla_indexing/tools/read_modules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/transforms/set_aside.h"
#include "xla_indexing/hlo/verifier.h"

namespace xla_indexing {
namespace {

// The most errors that are shown for one module.
constexpr int64_t kMaxErrors = 20;

std::string ErrorText(const VerificationError& error) {
  const SourceText* source = error.module->source();
  const bool has_place = error.instruction != nullptr &&
                         error.instruction->source_offset() != HloInstruction::kNoSourceOffset;
  return has_place ? error.ToString()
                   : FormatDiagnostic(source->filename, source->text, 0, error.message);
}

std::string WarningText(const SetAside& aside) {
  return aside.error.ToString(
      "warning", absl::StrCat(aside.error.message,
                              aside.is_call ? "; its maps are those of the computation that it "
                                              "calls, and lead to its parameters"
                                            : "; what it reads is unknown"));
}

// Replaces the module, which is not valid, by a copy in which its errors are set aside.
void SetAsideErrorsOf(std::unique_ptr<HloModule> module, ReadModule* read) {
  absl::StatusOr<ModuleWithErrorsAside> copy = SetErrorsAside(*module);
  // Without a copy the errors are reported as errors.
  if (!copy.ok()) return;
  read->errors.clear();
  read->module = std::move(copy->module);
  read->written = std::move(module);
  const size_t count = copy->set_aside.size();
  for (size_t i = 0; i < std::min<size_t>(count, kMaxErrors); ++i) {
    read->warnings.push_back(WarningText(copy->set_aside[i]));
  }
  if (count > kMaxErrors) {
    const SourceText& source = *read->written->source();
    read->warnings.push_back(absl::StrCat(source.filename, ": warning: ", count - kMaxErrors,
                                          " more instructions are not valid"));
  }
}

}  // namespace

std::vector<ReadModule> ReadModules(SourceText source, bool verify) {
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
    if (read.errors.empty()) {
      read.module = *std::move(parsed);
    } else if (!verify) {
      SetAsideErrorsOf(*std::move(parsed), &read);
    }
  }
  return modules;
}

}  // namespace xla_indexing

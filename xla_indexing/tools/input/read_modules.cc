#include "xla_indexing/tools/input/read_modules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/proto/proto_reader.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/transforms/set_aside.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/stablehlo/stablehlo_reader.h"
#include "xla_indexing/tools/input/files.h"

namespace xla_indexing {
namespace {

// The most errors that are shown for one module.
constexpr int64_t kMaxErrors = 20;

// `severity` and `message` at the place of an error in the text of `filename`; after the name alone
// where the module was no text.
std::string TextOf(const VerificationError& error, absl::string_view filename,
                   absl::string_view severity, absl::string_view message) {
  const SourceText* source = error.module->source();
  if (source == nullptr) return absl::StrCat(filename, ": ", severity, ": ", message);
  const bool has_place = error.instruction != nullptr &&
                         error.instruction->source_offset() != HloInstruction::kNoSourceOffset;
  return has_place ? error.ToString(severity, message)
                   : FormatDiagnostic(filename, source->text, 0, message, severity);
}

std::string ErrorText(const VerificationError& error, absl::string_view filename) {
  return TextOf(error, filename, "error", error.message);
}

std::string WarningText(const SetAside& aside, absl::string_view filename) {
  return TextOf(aside.error, filename, "warning",
                absl::StrCat(aside.error.message,
                             aside.is_call ? "; its maps are those of the computation that it "
                                             "calls, and lead to its parameters"
                                           : "; what it reads is unknown"));
}

// Whether each of these errors can be set aside (hlo/transforms/set_aside.h).
bool CanBeSetAside(const std::vector<VerificationError>& errors) {
  return absl::c_all_of(errors, [](const VerificationError& error) {
    return error.is_of_instruction_alone && error.instruction->opcode() != HloOpcode::kParameter;
  });
}

void AddWarnings(absl::string_view filename, ReadModule* read) {
  const std::vector<VerificationError> warnings =
      FindWarnings(*read->module, std::numeric_limits<int64_t>::max());
  for (size_t i = 0; i < std::min<size_t>(warnings.size(), kMaxErrors); ++i) {
    read->warnings.push_back(TextOf(warnings[i], filename, "warning", warnings[i].message));
  }
  if (warnings.size() > kMaxErrors) {
    read->warnings.push_back(absl::StrCat(filename, ": warning: ", warnings.size() - kMaxErrors,
                                          " more instructions have opcodes that are not known"));
  }
}

// Replaces the module, which is not valid, by a copy in which its errors are set aside.
void SetAsideErrorsOf(std::unique_ptr<HloModule> module, absl::string_view filename,
                      ReadModule* read) {
  absl::StatusOr<ModuleWithErrorsAside> copy = SetErrorsAside(*module);
  // Without a copy the errors are reported as errors.
  if (!copy.ok()) return;
  read->errors.clear();
  read->module = std::move(copy->module);
  read->written = std::move(module);
  const size_t count = copy->set_aside.size();
  for (size_t i = 0; i < std::min<size_t>(count, kMaxErrors); ++i) {
    read->warnings.push_back(WarningText(copy->set_aside[i], filename));
  }
  if (count > kMaxErrors) {
    read->warnings.push_back(absl::StrCat(filename, ": warning: ", count - kMaxErrors,
                                          " more instructions are not valid"));
  }
}

// The modules of text, or the one of a message or of StableHLO.
std::vector<absl::StatusOr<std::unique_ptr<HloModule>>> ReadByContent(SourceText source) {
  std::vector<absl::StatusOr<std::unique_ptr<HloModule>>> modules;
  if (LooksLikeHloModuleProto(source.text)) {
    modules.push_back(ReadHloModuleProto(source.text, source.filename));
  } else if (LooksLikeStableHlo(source.text)) {
    modules.push_back(ReadStableHlo(std::move(source)));
  } else {
    return ParseModules(std::move(source));
  }
  return modules;
}

}  // namespace

std::vector<ReadModule> ReadModules(SourceText source, bool verify) {
  std::vector<ReadModule> modules;
  const std::string filename = source.filename;
  for (absl::StatusOr<std::unique_ptr<HloModule>>& parsed : ReadByContent(std::move(source))) {
    ReadModule& read = modules.emplace_back();
    if (!parsed.ok()) {
      read.errors.emplace_back(parsed.status().message());
      continue;
    }
    const std::vector<VerificationError> errors = FindErrors(**parsed, kMaxErrors);
    for (const VerificationError& error : errors) {
      read.errors.push_back(ErrorText(error, filename));
    }
    if (verify && !errors.empty() && CanBeSetAside(errors)) {
      read.errors.push_back(absl::StrCat(
          filename, ": note: with --no-verify what is right in the module is analysed"));
    }
    if (read.errors.empty()) {
      read.module = *std::move(parsed);
      AddWarnings(filename, &read);
    } else if (!verify) {
      SetAsideErrorsOf(*std::move(parsed), filename, &read);
    }
  }
  return modules;
}

std::unique_ptr<HloModule> ReadOnlyModule(const std::string& file, absl::string_view flag) {
  absl::StatusOr<SourceText> source = ReadSource(file);
  if (!source.ok()) {
    WriteError(source.status().message());
    return nullptr;
  }
  std::vector<ReadModule> modules = ReadModules(*std::move(source));
  for (const ReadModule& module : modules) {
    for (const std::string& error : module.errors) WriteError(error);
  }
  if (modules.size() != 1) {
    FailWith(absl::StrCat(flag, " needs one module in ", file, ", which has ", modules.size()), 2);
    return nullptr;
  }
  return std::move(modules[0].module);
}

int PrintEachModule(
    absl::Span<const std::string> files,
    absl::FunctionRef<absl::StatusOr<std::string>(const HloModule& module)> text_of) {
  int exit_code = 0;
  const auto fail = [&](absl::string_view message) {
    WriteError(message);
    exit_code = 1;
  };
  for (const std::string& file : files) {
    absl::StatusOr<SourceText> source = ReadSource(file);
    if (!source.ok()) {
      fail(source.status().message());
      continue;
    }
    for (const ReadModule& read : ReadModules(*std::move(source))) {
      for (const std::string& error : read.errors) fail(error);
      if (read.module == nullptr) continue;
      const absl::StatusOr<std::string> text = text_of(*read.module);
      if (text.ok()) {
        WriteOutput(*text);
      } else {
        fail(absl::StrCat(file, ": error: ", text.status().message()));
      }
    }
  }
  return exit_code;
}

const HloComputation* FindNamedComputation(const HloModule& module,
                                           const std::optional<std::string>& name) {
  if (!name) return module.entry_computation();
  const HloComputation* computation = module.FindComputation(*name);
  if (computation == nullptr) {
    FailWith(absl::StrCat("there is no computation '", *name, "'"), 2);
  }
  return computation;
}

}  // namespace xla_indexing

// The modules of an input, parsed and verified.

#ifndef XLA_INDEXING_TOOLS_INPUT_READ_MODULES_H_
#define XLA_INDEXING_TOOLS_INPUT_READ_MODULES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

struct ReadModule {
  std::unique_ptr<HloModule> module;  // Null if it is not valid.
  std::vector<std::string> errors;    // Messages with their places.
  // Where a module is not valid and need not be: the module as it is written, of which `module` is
  // a copy with errors set aside (hlo/transforms/set_aside.h), and what is wrong, with its places.
  std::unique_ptr<HloModule> written = nullptr;
  std::vector<std::string> warnings = {};
};

// A module, or errors, for each piece of the input, in order. What the input is, its content says:
// HLO text, StableHLO text (stablehlo/stablehlo_reader.h), or the protocol buffer of one module
// (hlo/proto/proto_reader.h), of which errors name no line.
// Without `verify` errors of single instructions are set aside and reported as warnings.
std::vector<ReadModule> ReadModules(SourceText source, bool verify = true);

// The only module of a file; null, and its errors are reported, where there is none. `flag` is what
// needs it.
std::unique_ptr<HloModule> ReadOnlyModule(const std::string& file, absl::string_view flag);

// Writes the text of each module of the files, in their order. A file or a module that is bad, or
// has no text, is reported, and the others go on. Returns the exit code: 1 where there was one.
int PrintEachModule(
    absl::Span<const std::string> files,
    absl::FunctionRef<absl::StatusOr<std::string>(const HloModule& module)> text_of);

// The computation of that name, without `%`, or the ENTRY; null, and it is reported, where there is
// none.
const HloComputation* FindNamedComputation(const HloModule& module,
                                           const std::optional<std::string>& name);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_INPUT_READ_MODULES_H_

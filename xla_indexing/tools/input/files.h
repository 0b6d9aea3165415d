// Reading inputs and writing the output of print-indexing.

#ifndef XLA_INDEXING_TOOLS_INPUT_FILES_H_
#define XLA_INDEXING_TOOLS_INPUT_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

// What a file holds, under the name that messages call it by; `-` is standard input, `<stdin>`. What
// gzip compressed is decompressed. An input of more than 2^30 bytes, before or after that (also an
// endless one), is an error. The message of an error is `FILE: error: why`.
absl::StatusOr<SourceText> ReadSource(const std::string& file);

// Writes to standard output at once. An error is reported once, by FlushOutput.
void WriteOutput(absl::string_view text);
// Whether everything was written.
absl::Status FlushOutput();

// Writes a file that is made anew. The message of an error is `FILE: error: why`.
absl::Status WriteFile(const std::string& name, absl::string_view text);

// Writes a message and a line feed to standard error.
void WriteError(absl::string_view message);
// That the program fails, `print-indexing: error: why`; returns the exit code.
int FailWith(absl::string_view why, int exit_code);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_INPUT_FILES_H_

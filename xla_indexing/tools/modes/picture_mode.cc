#include "xla_indexing/tools/modes/picture_mode.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/query/aliases.h"
#include "xla_indexing/report/write/picture.h"
#include "xla_indexing/tools/input/files.h"
#include "xla_indexing/tools/input/read_modules.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {
namespace {

// Whether the picture is of a computation, from its root to its parameters. So is that of an entry
// whose root only names what other instructions compute, such as a tuple: by itself it would read
// the very element that is marked.
bool IsDrawnWithWhatComputesIt(const Subject& subject, const CommandLine& line) {
  return subject.is_fusion || (!line.instruction && IsAlias(*subject.instruction));
}

}  // namespace

int DrawPicture(const CommandLine& line) {
  const std::string& file = line.files.front();
  absl::StatusOr<SourceText> source = ReadSource(file);
  if (!source.ok()) {
    WriteError(source.status().message());
    return 1;
  }
  int exit_code = 2;
  for (const ReadModule& read : ReadModules(*std::move(source))) {
    for (const std::string& error : read.errors) {
      WriteError(error);
      exit_code = 1;
    }
    if (read.module == nullptr) continue;
    const std::vector<Subject> subjects = SelectSubjects(*read.module, read.written.get(), line);
    if (subjects.empty()) continue;
    const Subject& subject = subjects.front();
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const absl::StatusOr<Picture> picture =
        PictureOf(IsDrawnWithWhatComputesIt(subject, line) ? IndexingTarget(subject.computation())
                                                           : IndexingTarget(*subject.instruction),
                  &context, line.output_id);
    if (picture.ok() && line.picture_file == "-") {
      WriteOutput(picture->svg);
      return 0;
    }
    const absl::Status status = picture.ok() ? WriteFile(line.picture_file, picture->svg)
                                             : absl::InvalidArgumentError(absl::StrCat(
                                                   file, ": error: ", picture.status().message()));
    if (status.ok()) return 0;
    WriteError(status.message());
    return 1;
  }
  if (exit_code != 2) return exit_code;
  return FailWith("there is no such instruction or computation to draw", exit_code);
}

}  // namespace xla_indexing

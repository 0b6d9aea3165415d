#include "xla_indexing/tools/emit/mlir_mode.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/files.h"
#include "xla_indexing/tools/input/read_modules.h"

#ifdef XLA_INDEXING_HAS_LOWERING
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/lowering/emit_fusion.h"
#endif

namespace xla_indexing {
namespace {

#ifdef XLA_INDEXING_HAS_LOWERING
absl::StatusOr<std::string> MlirText(const HloComputation& computation) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto module = EmitFusion(computation, &context);
  if (!module.ok()) return module.status();
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::ModuleOp operation = **module;
  operation.print(stream);
  return absl::StrCat(text, "\n");
}
#else
absl::StatusOr<std::string> MlirText(const HloComputation& /*computation*/) {
  return absl::UnimplementedError("this program was built without lowering, which needs MLIR 22");
}
#endif

}  // namespace

int PrintMlir(const CommandLine& line) {
  int exit_code = 0;
  const auto fail = [&](absl::string_view message) {
    WriteError(message);
    exit_code = 1;
  };
  for (const std::string& file : line.files) {
    absl::StatusOr<SourceText> source = ReadSource(file);
    if (!source.ok()) {
      fail(source.status().message());
      continue;
    }
    for (const ReadModule& read : ReadModules(*std::move(source))) {
      for (const std::string& error : read.errors) fail(error);
      if (read.module == nullptr) continue;
      const absl::StatusOr<std::string> text = MlirText(*read.module->entry_computation());
      if (text.ok()) {
        WriteOutput(*text);
      } else {
        fail(absl::StrCat(file, ": error: ", text.status().message()));
      }
    }
  }
  return exit_code;
}

}  // namespace xla_indexing

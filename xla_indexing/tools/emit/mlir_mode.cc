#include "xla_indexing/tools/emit/mlir_mode.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/read_modules.h"

#ifdef XLA_INDEXING_HAS_LOWERING
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/lowering/emit_fusion.h"
#include "xla_indexing/lowering/emit_tiles.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"
#endif

namespace xla_indexing {
namespace {

#ifdef XLA_INDEXING_HAS_LOWERING
absl::StatusOr<std::string> MlirText(const HloComputation& computation, const CommandLine& line) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto choose = [&](const TiledComputation& tiled) -> absl::StatusOr<Tiling> {
    const auto sizes = tiled.space().ParseSizes(*line.tile_sizes);
    if (!sizes.ok()) return sizes.status();
    return Tiling{*sizes, {}};
  };
  const TiledLoops loops = line.one_pass ? TiledLoops::kOnePass : TiledLoops::kSeparate;
  const auto module = line.tile_sizes ? EmitTiles(computation, choose, &context, loops)
                                      : EmitFusion(computation, &context);
  if (!module.ok()) return module.status();
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::ModuleOp operation = **module;
  operation.print(stream);
  return absl::StrCat(text, "\n");
}
#else
absl::StatusOr<std::string> MlirText(const HloComputation& /*computation*/,
                                     const CommandLine& /*line*/) {
  return absl::UnimplementedError("this program was built without lowering, which needs MLIR 22");
}
#endif

}  // namespace

int PrintMlir(const CommandLine& line) {
  return PrintEachModule(line.files, [&](const HloModule& module) -> absl::StatusOr<std::string> {
    const HloComputation* computation =
        line.computation ? module.FindComputation(*line.computation) : module.entry_computation();
    if (computation == nullptr) {
      return absl::NotFoundError(absl::StrCat("there is no computation '", *line.computation, "'"));
    }
    return MlirText(*computation, line);
  });
}

}  // namespace xla_indexing

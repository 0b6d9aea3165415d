// The plugin of mlir-opt: its entry points, by the names that MLIR looks for.
//
// MLIR itself is that of the program that loads the plugin. Passes run on several threads at a time: a pass keeps nothing
// from one operation to the next, and what this library keeps on a thread begins anew with each question.
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "xla_indexing/lowering/dialect/indexing_dialect.h"
#include "xla_indexing/lowering/dialect/indexing_passes.h"
#include "xla_indexing/plugin/annotate_pass.h"
#include "xla_indexing/version.h"

#define XLA_INDEXING_TEXT_OF(number) #number
#define XLA_INDEXING_VERSION_TEXT(major, minor, patch) \
  XLA_INDEXING_TEXT_OF(major) "." XLA_INDEXING_TEXT_OF(minor) "." XLA_INDEXING_TEXT_OF(patch)

namespace {

constexpr const char* kName = "XlaIndexing";
constexpr const char* kVersion = XLA_INDEXING_VERSION_TEXT(
    XLA_INDEXING_VERSION_MAJOR, XLA_INDEXING_VERSION_MINOR, XLA_INDEXING_VERSION_PATCH);

}  // namespace

extern "C" __attribute__((visibility("default"))) mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, kVersion, [] {
            xla_indexing::RegisterIndexingPasses();
            xla_indexing::RegisterAnnotatePass();
          }};
}

extern "C" __attribute__((visibility("default"))) mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, kVersion, [](mlir::DialectRegistry* registry) {
            registry->insert<xla_indexing::dialect::IndexingDialect>();
          }};
}

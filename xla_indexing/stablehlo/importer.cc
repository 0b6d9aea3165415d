#include "xla_indexing/stablehlo/importer.h"

#include <memory>

#include "absl/status/statusor.h"
#include "mlir/IR/Operation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/stablehlo/module_importer.h"
#include "xla_indexing/stablehlo/op_rules.h"
#include "xla_indexing/stablehlo/text_places.h"

namespace xla_indexing {

absl::StatusOr<std::unique_ptr<HloModule>> ImportStableHlo(mlir::Operation* module) {
  const internal::TextPlaces no_text;
  return internal::ModuleImporter(no_text, internal::StableHloRules()).Import(*module);
}

}  // namespace xla_indexing

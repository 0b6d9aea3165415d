#include "xla_indexing/ops/instruction_indexing.h"

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/decisions/dependence.h"
#include "xla_indexing/ops/decisions/value_origins.h"
#include "xla_indexing/ops/rules/frame/operation_maps.h"
#include "xla_indexing/ops/values/fold_runtime.h"

namespace xla_indexing::internal {

absl::StatusOr<InstructionIndexing> ComputeIndexing(const HloInstruction& instruction,
                                                    Direction direction, mlir::MLIRContext* context,
                                                    const IndexingOptions& options,
                                                    std::optional<OperandLeaf> from,
                                                    OneValued one_valued) {
  absl::StatusOr<InstructionIndexing> entries =
      OperationMaps(instruction, direction, context, options, from, one_valued);
  if (!entries.ok()) return entries;
  std::optional<ValueOrigins> own;
  const auto origins = [&]() -> ValueOrigins& {
    if (options.origins != nullptr) return *options.origins;
    return own ? *own : own.emplace(options.dependence);
  };
  if (options.dependence != Dependence::kReads) {
    RestrictToDependence(instruction, direction, options.scatter_bounds, origins(), context,
                         &*entries);
  }
  if (!options.fold_runtime_variables) return entries;
  for (IndexingEntry& entry : *entries) {
    if (!HasRuntimeVariables(entry.indexing)) continue;
    const KnownArrays arrays(origins(), context);
    FoldOptions folding;
    folding.environment = &arrays;
    entry.indexing = FoldRuntimeVariables(entry.indexing, folding);
  }
  std::erase_if(*entries, [](const IndexingEntry& entry) { return entry.indexing.empty(); });
  return entries;
}

}  // namespace xla_indexing::internal

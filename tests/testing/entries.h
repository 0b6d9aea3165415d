// What a new indexer says of a target, as a value.
#ifndef XLA_INDEXING_TESTS_TESTING_ENTRIES_H_
#define XLA_INDEXING_TESTS_TESTING_ENTRIES_H_

#include <optional>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"

namespace xla_indexing {

inline absl::StatusOr<InstructionIndexing> Entries(IndexingTarget target, Direction direction,
                                                   mlir::MLIRContext* context,
                                                   const FusionOptions& options = {},
                                                   std::optional<OperandLeaf> from = std::nullopt) {
  const absl::StatusOr<SharedIndexing> entries =
      HloIndexer(context, options).Index(target, direction, from);
  if (!entries.ok()) return entries.status();
  return **entries;
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_ENTRIES_H_

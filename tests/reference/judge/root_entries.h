// All entries of a module's root.
#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_ROOT_ENTRIES_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_ROOT_ENTRIES_H_

#include <string>

#include "gtest/gtest.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing::reference {

// Calls `look` with every entry of the root of a module's entry computation, in both directions.
inline void ForEachEntryOfRoot(const std::string& text,
                               llvm::function_ref<void(const IndexingEntry& entry)> look) {
  const auto module = ParseAndVerifyModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  const HloInstruction& root = *(*module)->entry_computation()->root_instruction();
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    const auto entries = indexer.Index(root, direction);
    ASSERT_TRUE(entries.ok()) << entries.status();
    for (const IndexingEntry& entry : **entries) look(entry);
  }
}

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_ROOT_ENTRIES_H_

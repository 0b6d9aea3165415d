// The fusions of XLA's own tests of its emitters, which lie in a directory for each: they have the
// kind of kernel that they are there to test.

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/corpus.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {
namespace {

void CheckKindsIn(const std::string& directory, EmitterKind kind) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexers indexers(&context);
  // This is simplified: several elements of a small type are one of a larger.
  const std::set<std::string> others = {"packed_transpose_s16.hlo"};
  ForEachCorpusFile(
      [&](const std::string& name, const std::string& text) {
        const auto module = ParseAndVerifyModule(text);
        ASSERT_TRUE(module.ok()) << name << ": " << module.status();
        // The fusion by itself, or in a program.
        const HloComputation& entry = *(*module)->entry_computation();
        const HloInstruction& root = *entry.root_instruction();
        const auto view = root.opcode() == HloOpcode::kFusion ? FusionView::OfFusion(root)
                                                              : FusionView::OfComputation(entry);
        ASSERT_TRUE(view.ok()) << name << ": " << view.status();
        // One indexer serves many modules, each of which is gone when the next is asked about.
        const auto fusion = CoalescingOfFusion(view->computation(), indexers);
        ASSERT_TRUE(fusion.ok()) << name << ": " << fusion.status();
        const auto alone = CoalescingOfFusion(view->computation(), &context);
        ASSERT_TRUE(alone.ok()) << name << ": " << alone.status();
        EXPECT_EQ(fusion->Sectors(), alone->Sectors()) << name;
        EXPECT_EQ(fusion->accesses.size(), alone->accesses.size()) << name;
        EXPECT_EQ(fusion->mapping.kind == kind, !others.contains(name))
            << name << ": " << EmitterKindName(fusion->mapping.kind);
        for (const RootMapping& of_root : fusion->mapping.roots) {
          for (const ThreadedArray& array : of_root.reads) {
            const auto coverage = CoverageOf(array.mapping, array.shape());
            ASSERT_TRUE(coverage.ok()) << name << ": " << coverage.status();
            EXPECT_TRUE(coverage->IsOnce()) << name << ": " << array.mapping.map.ToString();
          }
        }
      },
      std::string(XLA_INDEXING_CORPUS) + "/" + directory);
}

TEST(FusionMappingCorpusTest, FusionsOfTheTestsOfEmittersAreTheirs) {
  const std::map<std::string, EmitterKind> kinds = {
      {"backends/gpu/codegen/emitters/tests/reduce_column", EmitterKind::kReduction},
      {"backends/gpu/codegen/emitters/tests/reduce_column_small", EmitterKind::kReduction},
      {"backends/gpu/codegen/emitters/tests/reduce_multirow", EmitterKind::kReduction},
      {"backends/gpu/codegen/emitters/tests/reduce_row", EmitterKind::kReduction},
      {"backends/gpu/codegen/emitters/tests/scatter", EmitterKind::kScatter},
      {"backends/gpu/codegen/emitters/tests/transpose", EmitterKind::kTranspose},
      {"codegen/emitters/tests/concatenate", EmitterKind::kConcatenate},
      {"codegen/emitters/tests/dynamic_update_slice", EmitterKind::kInPlaceUpdate}};
  for (const auto& [directory, kind] : kinds) {
    XLA_INDEXING_SKIP_WITHOUT(std::string(XLA_INDEXING_CORPUS) + "/" + directory);
    CheckKindsIn(directory, kind);
  }
}

}  // namespace
}  // namespace xla_indexing

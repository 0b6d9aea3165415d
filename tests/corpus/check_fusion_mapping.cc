// The fusions of XLA's own tests of its emitters, which lie in a directory for each: they have the kind of kernel
// that they are there to test.

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/corpus/corpus_check.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {
namespace {

const std::map<std::string, EmitterKind>& KindsByDirectory() {
  static const auto& kinds = *new std::map<std::string, EmitterKind>{
      {"backends/gpu/codegen/emitters/tests/reduce_column", EmitterKind::kReduction},
      {"backends/gpu/codegen/emitters/tests/reduce_column_small", EmitterKind::kReduction},
      {"backends/gpu/codegen/emitters/tests/reduce_multirow", EmitterKind::kReduction},
      {"backends/gpu/codegen/emitters/tests/reduce_row", EmitterKind::kReduction},
      {"backends/gpu/codegen/emitters/tests/scatter", EmitterKind::kScatter},
      {"backends/gpu/codegen/emitters/tests/transpose", EmitterKind::kTranspose},
      {"codegen/emitters/tests/concatenate", EmitterKind::kConcatenate},
      {"codegen/emitters/tests/dynamic_update_slice", EmitterKind::kInPlaceUpdate}};
  return kinds;
}

class FusionMappingCheck : public CorpusCheck {
 public:
  void CheckModule(const CorpusFile& file, const HloModule& module,
                   HloIndexers& /*indexers*/) override {
    if (file.corpus->id != CorpusId::kXla) return;
    const std::filesystem::path path = file.path;
    const auto kind = KindsByDirectory().find(path.parent_path().string());
    if (kind == KindsByDirectory().end()) return;
    seen_.insert(kind->first);
    // The fusion by itself, or in a program.
    const HloComputation& entry = *module.entry_computation();
    const HloInstruction& root = *entry.root_instruction();
    const auto view = root.opcode() == HloOpcode::kFusion ? FusionView::OfFusion(root)
                                                          : FusionView::OfComputation(entry);
    ASSERT_TRUE(view.ok()) << view.status();
    const auto fusion = CoalescingOfFusion(view->computation(), kept_);
    ASSERT_TRUE(fusion.ok()) << fusion.status();
    const auto alone = CoalescingOfFusion(view->computation(), &context_);
    ASSERT_TRUE(alone.ok()) << alone.status();
    EXPECT_EQ(fusion->Sectors(), alone->Sectors());
    EXPECT_EQ(fusion->accesses.size(), alone->accesses.size());
    // This is simplified: several elements of a small type are one of a larger.
    const bool is_other = path.filename() == "packed_transpose_s16.hlo";
    EXPECT_EQ(fusion->mapping.kind == kind->second, !is_other)
        << EmitterKindName(fusion->mapping.kind);
    for (const RootMapping& of_root : fusion->mapping.roots) {
      for (const ThreadedArray& array : of_root.reads) {
        const auto coverage = CoverageOf(array.mapping, array.shape());
        ASSERT_TRUE(coverage.ok()) << coverage.status();
        EXPECT_TRUE(coverage->IsOnce()) << array.mapping.map.ToString();
      }
    }
  }

  void CheckCounts(const Corpus& corpus) override {
    if (corpus.id == CorpusId::kXla) {
      EXPECT_EQ(seen_.size(), KindsByDirectory().size());
    }
  }

 private:
  // These serve many modules, each of which is gone when the next is asked about.
  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  HloIndexers kept_{&context_};
  std::set<std::string> seen_;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeFusionMappingCheck() {
  return std::make_unique<FusionMappingCheck>();
}

}  // namespace xla_indexing

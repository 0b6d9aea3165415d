// All instructions, in both directions: an answer for every one, and none that is unknown.

#include <cstdint>
#include <memory>

#include "gtest/gtest.h"
#include "tests/corpus/corpus_check.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/ops/answers/parts/exactness.h"

namespace xla_indexing {
namespace {

class IndexingCheck : public CorpusCheck {
 public:
  void CheckModule(const CorpusFile& /*file*/, const HloModule& module,
                   HloIndexers& indexers) override {
    for (const HloInstruction* instruction : InstructionsOf(module)) {
      for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
        const auto entries = indexers.usual().Index(*instruction, direction);
        ASSERT_TRUE(entries.ok()) << instruction->ToString() << ": " << entries.status();
        for (const IndexingEntry& entry : **entries) {
          EXPECT_NE(entry.indexing.label().exactness, Exactness::kUnknown)
              << instruction->ToString() << ": " << entry.indexing.label().reason;
        }
        entries_ += static_cast<int64_t>((*entries)->size());
      }
    }
  }

  void CheckCounts(const Corpus& /*corpus*/) override { EXPECT_GT(entries_, 0); }

 private:
  int64_t entries_ = 0;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeIndexingCheck() { return std::make_unique<IndexingCheck>(); }

}  // namespace xla_indexing

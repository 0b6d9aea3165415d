// Built again by HloBuilder, instruction by instruction, a module is the same.

#include <cstdint>
#include <memory>

#include "gtest/gtest.h"
#include "tests/corpus/corpus_check.h"
#include "tests/testing/rebuilder.h"
#include "xla_indexing/hlo/build/builder.h"

namespace xla_indexing {
namespace {

class BuilderCheck : public CorpusCheck {
 public:
  void CheckModule(const CorpusFile& /*file*/, const HloModule& module,
                   HloIndexers& /*indexers*/) override {
    const absl::Status built = CheckBuiltModule(module);
    EXPECT_TRUE(built.ok()) << built;
    const absl::Status status = Rebuilder(module, /*infers=*/true).Run();
    EXPECT_TRUE(status.ok()) << status;
    rebuilt_ += status.ok() ? 1 : 0;
  }

  void CheckCounts(const Corpus& corpus) override {
    if (corpus.id == CorpusId::kXla) {
      EXPECT_EQ(rebuilt_, 393);
    }
  }

 private:
  int64_t rebuilt_ = 0;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeBuilderCheck() { return std::make_unique<BuilderCheck>(); }

}  // namespace xla_indexing

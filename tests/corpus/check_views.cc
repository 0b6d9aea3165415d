// Every producer with each of its consumers, and every computation, as a view.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/corpus/corpus_check.h"
#include "xla_indexing/fusion/fusion_view.h"

namespace xla_indexing {
namespace {

class ViewsCheck : public CorpusCheck {
 public:
  void CheckModule(const CorpusFile& /*file*/, const HloModule& module,
                   HloIndexers& /*indexers*/) override {
    const std::string before = module.ToString();
    for (const HloComputation* computation : module.computations()) MakeViewsOf(*computation);
    EXPECT_EQ(module.ToString(), before);
  }

  void CheckCounts(const Corpus& corpus) override {
    EXPECT_LT(impossible_, pairs_ / 4);
    if (corpus.id != CorpusId::kXla) return;
    EXPECT_GT(pairs_, 50000);
    EXPECT_GT(computations_, 3000);
  }

 private:
  void MakeViewsOf(const HloComputation& computation) {
    const auto whole = FusionView::OfComputation(computation);
    ASSERT_TRUE(whole.ok()) << whole.status();
    // Layouts may be left out.
    EXPECT_TRUE(EqualIgnoringLayout(whole->computation().root_instruction()->shape(),
                                    computation.root_instruction()->shape()));
    ++computations_;
    for (const HloInstruction* producer : computation.instructions()) {
      if (producer->opcode() == HloOpcode::kParameter) continue;
      for (const HloInstruction* consumer : producer->users()) {
        const auto view = FusionView::OfProducerConsumer(*producer, *consumer);
        if (!view.ok()) {
          EXPECT_TRUE(absl::StrContains(view.status().message(), "would wait for itself") ||
                      absl::StrContains(view.status().message(), "(all-reduce-done) has shape"))
              << view.status();
          ++impossible_;
          continue;
        }
        EXPECT_EQ(view->computation().parameters().size(), view->operands().size());
        ++pairs_;
      }
    }
  }

  int64_t pairs_ = 0;
  int64_t impossible_ = 0;
  int64_t computations_ = 0;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeViewsCheck() { return std::make_unique<ViewsCheck>(); }

}  // namespace xla_indexing

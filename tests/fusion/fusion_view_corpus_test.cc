// Real HLO: every producer with each of its consumers, and every computation, as a view.

#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/testing/corpus.h"
#include "tests/testing/effort.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

struct ViewsMade {
  int64_t pairs = 0;
  int64_t impossible = 0;
  int64_t computations = 0;
};

void MakeViewsOf(const HloComputation& computation, ViewsMade* made) {
  const auto whole = FusionView::OfComputation(computation);
  ASSERT_TRUE(whole.ok()) << whole.status();
  // Layouts may be left out.
  EXPECT_TRUE(EqualIgnoringLayout(whole->computation().root_instruction()->shape(),
                                  computation.root_instruction()->shape()));
  ++made->computations;
  for (const HloInstruction* producer : computation.instructions()) {
    if (producer->opcode() == HloOpcode::kParameter) continue;
    for (const HloInstruction* consumer : producer->users()) {
      const auto view = FusionView::OfProducerConsumer(*producer, *consumer);
      if (!view.ok()) {
        EXPECT_TRUE(absl::StrContains(view.status().message(), "would wait for itself") ||
                    absl::StrContains(view.status().message(), "(all-reduce-done) has shape"))
            << view.status();
        ++made->impossible;
        continue;
      }
      EXPECT_EQ(view->computation().parameters().size(), view->operands().size());
      ++made->pairs;
    }
  }
}

TEST(FusionViewCorpusTest, ProducersAndConsumersAreViews) {
  XLA_INDEXING_SKIP_WITHOUT_CORPUS();
  ViewsMade made;
  ForEachCorpusFile([&](const std::string& name, const std::string& text) {
    if (text.size() > kLongestText) return;
    for (const auto& module : ParseModules({name, text})) {
      if (!module.ok() || !VerifyModule(**module).ok()) continue;
      const std::string before = (*module)->ToString();
      for (const HloComputation* computation : (*module)->computations()) {
        MakeViewsOf(*computation, &made);
      }
      EXPECT_EQ((*module)->ToString(), before) << name;
    }
  });
  EXPECT_GT(made.pairs, LongCases(50000));
  EXPECT_GT(made.computations, Cases(3000));
  EXPECT_LT(made.impossible, made.pairs / 4);
}

}  // namespace
}  // namespace xla_indexing

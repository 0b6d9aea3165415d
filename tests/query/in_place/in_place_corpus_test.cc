// Fusions of real HLO: which outputs may overwrite an operand, and what rules of opcodes say of them.
// The table of docs/queries.md is printed by this test.

#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/corpus.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/query/in_place/in_place.h"

namespace xla_indexing {
namespace {

// Whether all uses of a parameter, up to the root, are elementwise, of one shape, or an update of it.
bool ElementwiseRuleAllows(const HloComputation& fused, int64_t parameter) {
  std::set<const HloInstruction*> reached = {fused.parameters()[parameter]};
  for (const HloInstruction* i : fused.instructions()) {
    for (int64_t k = 0; k < i->operand_count(); ++k) {
      if (!reached.contains(i->operand(k))) continue;
      const bool is_update = i->opcode() == HloOpcode::kDynamicUpdateSlice && k == 0;
      const bool is_moved = i->opcode() == HloOpcode::kBitcast || i->opcode() == HloOpcode::kTuple;
      if (!is_update && !is_moved && !IsElementwise(i->opcode())) return false;
      if (i->opcode() == HloOpcode::kCopy) return false;
      reached.insert(i);
    }
  }
  return true;
}

// Whether the root updates the parameter, whatever else reads it.
bool UpdateRuleAllows(const HloComputation& fused, int64_t parameter, int64_t output_leaf) {
  const HloInstruction* root = fused.root_instruction();
  if (root->opcode() == HloOpcode::kTuple) {
    if (output_leaf >= root->operand_count()) return false;
    root = root->operand(output_leaf);
  }
  const auto through_bitcasts = [](const HloInstruction* i) {
    while (i->opcode() == HloOpcode::kBitcast) i = i->operand(0);
    return i;
  };
  root = through_bitcasts(root);
  return root->opcode() == HloOpcode::kDynamicUpdateSlice &&
         through_bitcasts(root->operand(0)) == fused.parameters()[parameter];
}

struct RuleTally {
  int64_t asked = 0;
  int64_t any_order = 0;
  int64_t in_order = 0;
  int64_t is_unsafe = 0;
  int64_t undecided = 0;
  int64_t safe_but_refused = 0;
  int64_t unsafe_but_allowed = 0;
  int64_t needs_order_but_allowed = 0;

  std::string Row() const {
    return absl::StrCat("| ", asked, " | ", any_order, " | ", in_order, " | ", is_unsafe, " | ",
                        undecided, " | ", safe_but_refused, " | ", needs_order_but_allowed, " | ",
                        unsafe_but_allowed, " |");
  }
};

void CountFusions(const HloModule& module, RuleTally* tally) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* fusion : computation->instructions()) {
      if (fusion->opcode() != HloOpcode::kFusion) continue;
      auto analysis = InPlaceAnalysis::OfInstruction(*fusion, &context);
      if (!analysis.ok()) continue;
      for (const SharedBuffer& buffer : analysis->Candidates(64)) {
        const auto safety = analysis->Safety(buffer);
        ASSERT_TRUE(safety.ok()) << safety.status();
        ++tally->asked;
        const bool is_allowed =
            ElementwiseRuleAllows(*fusion->calls(), buffer.operand.operand) ||
            UpdateRuleAllows(*fusion->calls(), buffer.operand.operand, buffer.output_leaf);
        tally->safe_but_refused += safety->IsSafe() && !is_allowed ? 1 : 0;
        switch (safety->answer) {
          case InPlaceAnswer::kAnyOrder:
            ++tally->any_order;
            break;
          case InPlaceAnswer::kInOrder:
            ++tally->in_order;
            tally->needs_order_but_allowed += is_allowed ? 1 : 0;
            break;
          case InPlaceAnswer::kUnsafe:
            ++tally->is_unsafe;
            tally->unsafe_but_allowed += is_allowed ? 1 : 0;
            break;
          case InPlaceAnswer::kUndecided:
            ++tally->undecided;
            break;
        }
      }
    }
  }
}

RuleTally CountDirectory(const std::string& directory) {
  RuleTally tally;
  ForEachCorpusFile(
      [&](const std::string& name, const std::string& text) {
        for (const auto& module : ParseModules({name, text})) {
          if (!module.ok() || !VerifyModule(**module).ok()) continue;
          CountFusions(**module, &tally);
        }
      },
      directory);
  return tally;
}

TEST(InPlaceCorpusTest, FusionsOfJaxProgramsAreDecided) {
  XLA_INDEXING_SKIP_WITHOUT(XLA_INDEXING_CORPUS_JAX);
  const RuleTally tally = CountDirectory(XLA_INDEXING_CORPUS_JAX);
  std::cout << tally.Row() << "\n";
  EXPECT_GT(tally.asked, 0);
  EXPECT_LT(tally.undecided * 20, tally.asked);
}

TEST(InPlaceCorpusTest, FusionsOfXlasTestsAreDecided) {
  XLA_INDEXING_SKIP_WITHOUT_CORPUS();
  const RuleTally tally = CountDirectory(XLA_INDEXING_CORPUS);
  std::cout << tally.Row() << "\n";
  EXPECT_GT(tally.asked, 0);
}

}  // namespace
}  // namespace xla_indexing

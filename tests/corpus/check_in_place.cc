// Fusions: which outputs may overwrite an operand, and what rules of opcodes say of them. The table of
// docs/queries.md is printed from the counts.

#include <cstdint>
#include <iostream>
#include <memory>
#include <set>

#include "gtest/gtest.h"
#include "tests/corpus/corpus_check.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/hlo/types/opcode.h"
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

class InPlaceCheck : public CorpusCheck {
 public:
  void CheckModule(const CorpusFile& /*file*/, const HloModule& module,
                   HloIndexers& indexers) override {
    for (const HloInstruction* fusion : InstructionsOf(module)) {
      if (fusion->opcode() == HloOpcode::kFusion) CheckFusion(*fusion, indexers);
    }
  }

  void CheckCounts(const Corpus& corpus) override {
    std::cout << "in place, " << corpus.name << ": | " << asked_ << " | " << any_order_ << " | "
              << in_order_ << " | " << unsafe_ << " | " << undecided_ << " | " << safe_but_refused_
              << " | " << needs_order_but_allowed_ << " | " << unsafe_but_allowed_ << " |\n";
    // Models before XLA's passes have no fusions.
    if (corpus.id == CorpusId::kModels) return;
    EXPECT_GT(asked_, 0);
    if (corpus.id == CorpusId::kJax) {
      EXPECT_LT(undecided_ * 20, asked_);
    }
  }

 private:
  void CheckFusion(const HloInstruction& fusion, HloIndexers& indexers) {
    auto analysis = InPlaceAnalysis::OfInstruction(fusion, indexers);
    if (!analysis.ok()) return;
    for (const SharedBuffer& buffer : analysis->Candidates({.max_pairs = 64})) {
      const auto safety = analysis->Safety(buffer);
      ASSERT_TRUE(safety.ok()) << safety.status();
      const int64_t operand = buffer.operand.operand;
      // Nobody overwrites a constant, which no rule is needed for.
      if (fusion.operand(operand)->opcode() == HloOpcode::kConstant) continue;
      Count(*safety, ElementwiseRuleAllows(*fusion.calls(), operand) ||
                         UpdateRuleAllows(*fusion.calls(), operand, buffer.output_leaf));
    }
  }

  void Count(const InPlaceSafety& safety, bool is_allowed) {
    ++asked_;
    safe_but_refused_ += safety.IsSafe() && !is_allowed ? 1 : 0;
    switch (safety.answer) {
      case InPlaceAnswer::kAnyOrder:
        ++any_order_;
        break;
      case InPlaceAnswer::kInOrder:
        ++in_order_;
        needs_order_but_allowed_ += is_allowed ? 1 : 0;
        break;
      case InPlaceAnswer::kUnsafe:
        ++unsafe_;
        unsafe_but_allowed_ += is_allowed ? 1 : 0;
        break;
      case InPlaceAnswer::kUndecided:
        ++undecided_;
        break;
    }
  }

  int64_t asked_ = 0;
  int64_t any_order_ = 0;
  int64_t in_order_ = 0;
  int64_t unsafe_ = 0;
  int64_t undecided_ = 0;
  int64_t safe_but_refused_ = 0;
  int64_t unsafe_but_allowed_ = 0;
  int64_t needs_order_but_allowed_ = 0;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeInPlaceCheck() { return std::make_unique<InPlaceCheck>(); }

}  // namespace xla_indexing

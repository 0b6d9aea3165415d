// Compares the answers of an HloIndexer with those that each instruction has for itself, found
// without anything that was asked before.

#ifndef XLA_INDEXING_TESTS_FUSION_OWN_ANSWERS_H_
#define XLA_INDEXING_TESTS_FUSION_OWN_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/cache/instruction_kind.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {

inline bool AreEqual(const InstructionIndexing& a, const InstructionIndexing& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].output_leaf != b[i].output_leaf || a[i].operand != b[i].operand ||
        a[i].operand_leaf != b[i].operand_leaf || a[i].indexing != b[i].indexing) {
      return false;
    }
  }
  return true;
}

// What an instruction has for itself, without anything that was found before.
inline InstructionIndexing Own(const HloInstruction& instruction, Direction direction,
                               mlir::MLIRContext* context, const FusionOptions& options) {
  const auto entries =
      internal::HasKind(instruction.opcode())
          ? internal::ComputeIndexing(instruction, direction, context, options.indexing)
          : Entries(instruction, direction, context, options);
  EXPECT_TRUE(entries.ok()) << entries.status();
  return entries.ok() ? *entries : InstructionIndexing();
}

// The number of instructions with operands that were given what another was given before, to the
// input. All have the maps that each has for itself, as they are defined and simplified. `indexer` may have been
// asked before; it has `context` and `options`.
inline int64_t CheckModule(const HloModule& module, HloIndexer& indexer, mlir::MLIRContext* context,
                           const FusionOptions& options) {
  // Is asked for simplified maps first.
  HloIndexer simplifying(context, options);
  // The first question is answered without regard to others.
  for (HloIndexer* each : {&indexer, &simplifying}) {
    const HloInstruction* root = module.entry_computation()->root_instruction();
    EXPECT_TRUE(each->Index(*root, Direction::kInputToOutput).ok());
  }
  std::set<SharedIndexing> given;
  int64_t shared = 0;
  for (const HloInstruction* instruction : InstructionsOf(module)) {
    for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
      const auto simplified = simplifying.IndexSimplified(*instruction, direction);
      const auto entries = indexer.Index(*instruction, direction);
      const auto simplified_later = indexer.IndexSimplified(*instruction, direction);
      EXPECT_TRUE(entries.ok() && simplified.ok() && simplified_later.ok());
      if (!entries.ok() || !simplified.ok() || !simplified_later.ok()) return shared;
      // What is found and simplified in one question may take no more than the indexer's question.
      const QuestionBudget question;
      InstructionIndexing own = Own(*instruction, direction, context, options);
      EXPECT_TRUE(AreEqual(**entries, own)) << instruction->ToString();
      for (IndexingEntry& entry : own) entry.indexing.Simplify();
      std::erase_if(own, [](const IndexingEntry& entry) { return entry.indexing.empty(); });
      EXPECT_TRUE(AreEqual(**simplified, own)) << instruction->ToString();
      EXPECT_TRUE(AreEqual(**simplified_later, own)) << instruction->ToString();
      if (instruction->operand_count() == 0 || direction == Direction::kInputToOutput) continue;
      shared += given.insert(*entries).second ? 0 : 1;
    }
  }
  return shared;
}

inline int64_t CheckModule(const HloModule& module, const FusionOptions& options = {}) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context, options);
  return CheckModule(module, indexer, &context, options);
}

inline std::unique_ptr<HloModule> Parse(const std::string& text) {
  auto module = ParseAndVerifyModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// A computation is called by others, as a branch, and as the body of a loop.
inline constexpr char kCallsOfCalls[] = R"(
    c0 { s = (s32[], f32[4,4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      x = f32[4,4] get-tuple-element(s), index=1
      t = f32[4,4] transpose(x), dimensions={1,0}
      ROOT r = (s32[], f32[4,4]) tuple(i, t) }
    c1 { s = (s32[], f32[4,4]) parameter(0)
      a = (s32[], f32[4,4]) call(s), to_apply=c0
      ROOT b = (s32[], f32[4,4]) call(a), to_apply=c0 }
    below { s = (s32[], f32[4,4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(3)
      ROOT l = pred[] compare(i, n), direction=LT }
    c2 { s = (s32[], f32[4,4]) parameter(0)
      a = (s32[], f32[4,4]) call(s), to_apply=c1
      ROOT b = (s32[], f32[4,4]) while(a), condition=below, body=c0 }
    ENTRY e {
      p = (s32[], f32[4,4]) parameter(0)
      k = s32[] parameter(1)
      a = (s32[], f32[4,4]) call(p), to_apply=c2
      b = (s32[], f32[4,4]) conditional(k, a, p, p), branch_computations={c0, c1, c2}
      w = (s32[], f32[4,4]) while(b), condition=below, body=c1
      f = (s32[], f32[4,4]) fusion(w), kind=kLoop, calls=c1
      ROOT c = (s32[], f32[4,4]) call(f), to_apply=c2
    })";

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_FUSION_OWN_ANSWERS_H_

// The instructions of a module on several threads: the same maps in the same order as one by one.

#include "xla_indexing/fusion/parallel_indexing.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/parser.h"

namespace xla_indexing {
namespace {

constexpr auto kNoThreading = mlir::MLIRContext::Threading::DISABLED;

// Cheap instructions with a few that cost more, so that threads finish out of order.
std::unique_ptr<HloModule> MakeModule() {
  std::string text = "ENTRY e {\n  x0 = f32[8,12] parameter(0)\n";
  for (int i = 1; i < 200; ++i) {
    absl::StrAppend(&text, "  x", i, " = f32[8,12] ");
    if (i % 20 == 0) {
      absl::StrAppend(&text, "pad(s", i - 1, ", c", i - 1, "), padding=1_1x1_2_1\n");
    } else {
      absl::StrAppend(&text, "add(x", i - 1, ", x", i / 2, ")\n");
    }
    absl::StrAppend(&text, "  c", i, " = f32[] constant(0)\n", "  s", i, " = f32[6,5] slice(x", i,
                    "), slice={[1:7], [", i % 4, ":", i % 4 + 5, "]}\n");
  }
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text + "}\n");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

std::string ToText(const absl::StatusOr<InstructionIndexing>& entries) {
  if (!entries.ok()) return entries.status().ToString();
  std::string text;
  for (const IndexingEntry& entry : *entries) {
    absl::StrAppend(&text, entry.output_leaf, " ", entry.operand, " ", entry.operand_leaf, "\n");
    for (const OperandIndexing& indexing : entry.indexing.maps()) {
      absl::StrAppend(&text, "  ", indexing.ToString(), "\n");
    }
  }
  return text;
}

std::string ToText(const absl::StatusOr<SharedIndexing>& entries) {
  if (!entries.ok()) return entries.status().ToString();
  return ToText(absl::StatusOr<InstructionIndexing>(**entries));
}

TEST(ParallelIndexing, GivesWhatOneThreadGivesInOrder) {
  const std::unique_ptr<HloModule> module = MakeModule();
  ASSERT_NE(module, nullptr);
  const std::vector<const HloInstruction*> instructions = InstructionsOf(*module);
  ASSERT_EQ(static_cast<int64_t>(instructions.size()), module->instruction_count());
  mlir::MLIRContext context(kNoThreading);
  for (const size_t threads : {1, 2, 5}) {
    std::vector<std::unique_ptr<mlir::MLIRContext>> owned;
    std::vector<mlir::MLIRContext*> contexts;
    for (size_t i = 0; i < threads; ++i) {
      contexts.push_back(
          owned.emplace_back(std::make_unique<mlir::MLIRContext>(kNoThreading)).get());
    }
    ParallelIndexingOptions options;
    options.input_to_output = true;
    size_t count = 0;
    ComputeIndexingInParallel(
        instructions, contexts, options, [&](const IndexedInstruction& result) {
          ASSERT_LT(count, instructions.size());
          ASSERT_EQ(result.instruction, instructions[count++]);
          EXPECT_EQ(ToText(result.output_to_input),
                    ToText(Entries(*result.instruction, Direction::kOutputToInput, &context)));
          EXPECT_EQ(ToText(result.input_to_output),
                    ToText(Entries(*result.instruction, Direction::kInputToOutput, &context)));
        });
    EXPECT_EQ(count, instructions.size());
  }
}

TEST(ParallelIndexing, MakesOnlyWhatIsAskedFor) {
  const std::unique_ptr<HloModule> module = MakeModule();
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(kNoThreading);
  const HloInstruction* root = module->entry_computation()->FindInstruction("x199");
  ComputeIndexingInParallel({root}, {&context}, {}, [&](const IndexedInstruction& result) {
    EXPECT_EQ(result.context, &context);
    ASSERT_TRUE(result.output_to_input.ok() && result.input_to_output.ok());
    EXPECT_EQ((*result.output_to_input)->size(), 2);
    EXPECT_TRUE((*result.input_to_output)->empty());
  });
}

TEST(ParallelIndexing, NoInstructionsHaveNoMaps) {
  mlir::MLIRContext context(kNoThreading);
  ComputeIndexingInParallel({}, {&context}, {}, [](const IndexedInstruction&) { ADD_FAILURE(); });
}

TEST(ParallelIndexingDeathTest, EachThreadHasAContextOfItsOwn) {
  mlir::MLIRContext context(kNoThreading);
  const auto compute = [](absl::Span<mlir::MLIRContext* const> contexts) {
    ComputeIndexingInParallel({}, contexts, {}, [](const IndexedInstruction&) {});
  };
  compute({&context});
  EXPECT_DEATH(compute({}), "without a context");
  EXPECT_DEATH(compute({&context, &context}), "null or there twice");
  EXPECT_DEATH(compute({&context, nullptr}), "null or there twice");
}

}  // namespace
}  // namespace xla_indexing

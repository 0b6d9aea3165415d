// The instructions of a module on several threads: the same maps as one by one.

#include "xla_indexing/fusion/parallel_indexing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

constexpr auto kNoThreading = mlir::MLIRContext::Threading::DISABLED;

struct Contexts {
  explicit Contexts(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      all.push_back(owned.emplace_back(std::make_unique<mlir::MLIRContext>(kNoThreading)).get());
    }
  }

  std::vector<std::unique_ptr<mlir::MLIRContext>> owned;
  std::vector<mlir::MLIRContext*> all;
};

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

TEST(ParallelIndexing, GivesWhatOneThreadGives) {
  const std::unique_ptr<HloModule> module = MakeModule();
  ASSERT_NE(module, nullptr);
  const std::vector<const HloInstruction*> instructions = InstructionsOf(*module);
  ASSERT_EQ(static_cast<int64_t>(instructions.size()), module->instruction_count());
  mlir::MLIRContext context(kNoThreading);
  for (const size_t threads : {1, 2, 4}) {
    const Contexts contexts(threads);
    ParallelIndexingOptions options;
    options.input_to_output = true;
    std::vector<std::string> to_input(instructions.size());
    std::vector<std::string> to_output(instructions.size());
    ASSERT_TRUE(
        ComputeIndexingInParallel(instructions, contexts.all, options,
                                  [&](const IndexedInstruction& result) {
                                    ASSERT_LT(result.position, instructions.size());
                                    EXPECT_EQ(result.instruction, instructions[result.position]);
                                    to_input[result.position] += ToText(result.output_to_input);
                                    to_output[result.position] += ToText(result.input_to_output);
                                  })
            .ok());
    for (size_t i = 0; i < instructions.size(); ++i) {
      EXPECT_EQ(to_input[i],
                ToText(Entries(*instructions[i], Direction::kOutputToInput, &context)));
      EXPECT_EQ(to_output[i],
                ToText(Entries(*instructions[i], Direction::kInputToOutput, &context)));
    }
  }
}

// Their maps cannot be shared, since each reason names its instruction. There are two instructions of
// each kind, in such an order that two threads go through the kinds from both ends: where they meet,
// one comes to a kind whose maps the other one is making.
TEST(ParallelIndexing, GivesEachInstructionAReasonOfItsOwn) {
  constexpr int kKinds = 300;
  constexpr int kRepetitions = 50;
  // The sizes of results that have no bound are not those of their operands.
  std::string text = "ENTRY e {\n  p = (f32[8]";
  for (int i = 1; i < kKinds; ++i) absl::StrAppend(&text, ", f32[", 8 + i, "]");
  absl::StrAppend(&text, ") parameter(0)\n");
  for (int i = 0; i < 2 * kKinds; ++i) {
    const int index = i < kKinds ? i : 2 * kKinds - 1 - i;
    absl::StrAppend(&text, "  a", i, " = f32[?] get-tuple-element(p), index=", index, "\n");
  }
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text + "}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto instructions =
      absl::MakeConstSpan((*module)->entry_computation()->instructions()).subspan(1);
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const Contexts contexts(2);
    std::atomic<int> count = 0;
    ASSERT_TRUE(ComputeIndexingInParallel(
                    instructions, contexts.all, {},
                    [&](const IndexedInstruction& result) {
                      ASSERT_TRUE(result.output_to_input.ok()) << result.output_to_input.status();
                      ASSERT_EQ((*result.output_to_input)->size(), 1);
                      EXPECT_THAT(
                          (**result.output_to_input)[0].indexing.label().reason,
                          ::testing::HasSubstr(absl::StrCat(result.instruction->name(), " ")));
                      ++count;
                    })
                    .ok());
    EXPECT_EQ(count, 2 * kKinds);
  }
}

TEST(ParallelIndexing, GivesTheMapsOfAContextInOrderOnOneThread) {
  const std::unique_ptr<HloModule> module = MakeModule();
  ASSERT_NE(module, nullptr);
  // So often that the other threads come before all is done.
  std::vector<const HloInstruction*> instructions;
  for (int i = 0; i < 30; ++i) {
    absl::c_copy(InstructionsOf(*module), std::back_inserter(instructions));
  }
  const Contexts contexts(3);
  struct Given {
    std::vector<size_t> positions;
    std::set<std::thread::id> threads;
  };
  std::vector<Given> given(3);
  ASSERT_TRUE(
      ComputeIndexingInParallel(instructions, contexts.all, {},
                                [&](const IndexedInstruction& result) {
                                  EXPECT_EQ(result.context, contexts.all[result.thread]);
                                  for (const IndexingEntry& entry : **result.output_to_input) {
                                    for (const OperandIndexing& map : entry.indexing) {
                                      EXPECT_EQ(map.map().context(), result.context);
                                    }
                                  }
                                  given[result.thread].positions.push_back(result.position);
                                  given[result.thread].threads.insert(std::this_thread::get_id());
                                })
          .ok());
  std::vector<size_t> all;
  for (const Given& of_context : given) {
    EXPECT_TRUE(absl::c_is_sorted(of_context.positions));
    EXPECT_LE(of_context.threads.size(), 1);
    all.insert(all.end(), of_context.positions.begin(), of_context.positions.end());
  }
  absl::c_sort(all);
  std::vector<size_t> each_once(instructions.size());
  absl::c_iota(each_once, 0);
  EXPECT_EQ(all, each_once);
}

// The entry has 50 instructions and `loops` loops.
std::unique_ptr<HloModule> MakeModuleWithLoops(int loops) {
  std::string text = R"(
body {
  p = (s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  ROOT next = (s32[]) tuple(i)
}
condition {
  p = (s32[]) parameter(0)
  ROOT no = pred[] constant(false)
}
ENTRY e {
  t0 = (s32[]) parameter(0)
)";
  for (int i = 1; i < 50; ++i) absl::StrAppend(&text, "  c", i, " = s32[] constant(0)\n");
  for (int i = 1; i <= loops; ++i) {
    absl::StrAppend(&text, "  t", i, " = (s32[]) while(t", i - 1,
                    "), condition=condition, body=body\n");
  }
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text + "}\n");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

TEST(ParallelIndexing, UsesAThreadForEvery128InstructionsAndForEveryLoop) {
  const std::unique_ptr<HloModule> module = MakeModule();
  ASSERT_NE(module, nullptr);
  std::vector<const HloInstruction*> instructions = InstructionsOf(*module);
  ASSERT_GE(instructions.size(), 512);
  instructions.resize(512);
  const auto first = [&](size_t count) { return absl::MakeConstSpan(instructions).first(count); };
  EXPECT_EQ(UsefulThreads({}, 4), 1);
  EXPECT_EQ(UsefulThreads(first(255), 4), 1);
  EXPECT_EQ(UsefulThreads(first(256), 4), 2);
  EXPECT_EQ(UsefulThreads(first(383), 4), 2);
  EXPECT_EQ(UsefulThreads(first(512), 4), 4);
  EXPECT_EQ(UsefulThreads(first(512), 3), 3);
  EXPECT_EQ(UsefulThreads(first(512), 0), 1);
  for (const int loops : {0, 1, 2, 3, 5}) {
    const std::unique_ptr<HloModule> with_loops = MakeModuleWithLoops(loops);
    ASSERT_NE(with_loops, nullptr);
    EXPECT_EQ(UsefulThreads(with_loops->entry_computation()->instructions(), 4),
              std::clamp(loops, 1, 4));
  }
}

TEST(ParallelIndexing, FewInstructionsAreDoneByTheCallingThread) {
  const std::unique_ptr<HloModule> module = MakeModule();
  ASSERT_NE(module, nullptr);
  std::vector<const HloInstruction*> instructions = InstructionsOf(*module);
  instructions.resize(255);
  const Contexts contexts(3);
  const std::thread::id caller = std::this_thread::get_id();
  ASSERT_TRUE(ComputeIndexingInParallel(instructions, contexts.all, {},
                                        [&](const IndexedInstruction& result) {
                                          EXPECT_EQ(result.thread, 0);
                                          EXPECT_EQ(std::this_thread::get_id(), caller);
                                        })
                  .ok());
}

TEST(ParallelIndexing, MakesOnlyWhatIsAskedFor) {
  const std::unique_ptr<HloModule> module = MakeModule();
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(kNoThreading);
  const HloInstruction* root = module->entry_computation()->FindInstruction("x199");
  ASSERT_TRUE(
      ComputeIndexingInParallel({root}, {&context}, {}, [&](const IndexedInstruction& result) {
        EXPECT_EQ(result.context, &context);
        ASSERT_TRUE(result.output_to_input.ok() && result.input_to_output.ok());
        EXPECT_EQ((*result.output_to_input)->size(), 2);
        EXPECT_TRUE((*result.input_to_output)->empty());
      }).ok());
}

TEST(ParallelIndexing, NoInstructionsHaveNoMaps) {
  mlir::MLIRContext context(kNoThreading);
  ASSERT_TRUE(ComputeIndexingInParallel({}, {&context}, {}, [](const IndexedInstruction&) {
                ADD_FAILURE();
              }).ok());
}

TEST(ParallelIndexing, EachThreadHasAContextOfItsOwn) {
  mlir::MLIRContext context(kNoThreading);
  mlir::MLIRContext other(kNoThreading);
  mlir::MLIRContext with_threads;
  const auto compute = [](absl::Span<mlir::MLIRContext* const> contexts) {
    return std::string(
        ComputeIndexingInParallel({}, contexts, {}, [](const IndexedInstruction&) {}).message());
  };
  EXPECT_EQ(compute({&context, &other}), "");
  EXPECT_EQ(compute({}), "no context: make one for each thread");
  EXPECT_EQ(compute({&context, &other, &context}),
            "contexts 0 and 2 are one, which several threads cannot use: make one for each thread");
  // A context with threads, too, gives its maps to one thread.
  EXPECT_EQ(compute({&with_threads, &with_threads}),
            "contexts 0 and 1 are one, which several threads cannot use: make one for each thread");
  EXPECT_EQ(compute({&context, nullptr}), "context 1 of 2 is null: make one for each thread");
}

TEST(AskInParallel, EachQuestionIsAskedOnceAndHasTheAnswerThatItHasAlone) {
  const std::unique_ptr<HloModule> module = MakeModule();
  ASSERT_NE(module, nullptr);
  const std::vector<const HloInstruction*> instructions = InstructionsOf(*module);
  const auto text = [](HloIndexer& indexer, const HloInstruction& instruction) {
    const auto entries = indexer.Index(instruction, Direction::kOutputToInput);
    std::string all;
    for (const IndexingEntry& entry : **entries) {
      for (const OperandIndexing& map : entry.indexing) absl::StrAppend(&all, map.ToString(), "\n");
    }
    return all;
  };
  for (const size_t threads : {1, 3}) {
    const Contexts contexts(threads);
    std::vector<std::string> texts(instructions.size());
    std::atomic<size_t> asked = 0;
    ASSERT_TRUE(
        AskInParallel(instructions.size(), contexts.all, {}, [&](size_t i, HloIndexers& indexers) {
          ++asked;
          texts[i] = text(indexers.usual(), *instructions[i]);
        }).ok());
    EXPECT_EQ(asked, instructions.size());
    mlir::MLIRContext context(kNoThreading);
    for (size_t i = 0; i < instructions.size(); ++i) {
      HloIndexer alone(&context);
      EXPECT_EQ(texts[i], text(alone, *instructions[i]));
    }
  }
}

TEST(AskInParallel, WithoutAContextNothingIsAsked) {
  const absl::Status status =
      AskInParallel(3, {}, {}, [](size_t, HloIndexers&) { ADD_FAILURE() << "asked"; });
  EXPECT_EQ(status.message(), "no context: make one for each thread");
}

}  // namespace
}  // namespace xla_indexing

#include "xla_indexing/fusion/chain/least_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/map_pairs.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/cache/called_computations.h"
#include "xla_indexing/fusion/cache/shared_answers.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing::internal {
namespace {

constexpr Direction kBothDirections[] = {Direction::kOutputToInput, Direction::kInputToOutput};

std::unique_ptr<HloModule> Parse(const std::string& text) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndVerifyModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  return module.ok() ? *std::move(module) : nullptr;
}

constexpr char kSum[] =
    "HloModule m\nsum {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
    " ROOT s = s32[] add(a, b)\n}\n";

// Operations with arrays of these sizes, k from 1 on.
std::vector<std::string> Operations(int n, int k) {
  const std::string x = absl::StrCat(" x = s32[", n, "] parameter(0)\n");
  const std::string sum = absl::StrCat(n + k);
  std::vector<std::string> operations = {
      absl::StrCat(x, "ROOT r = s32[", n, "] negate(x)"),
      absl::StrCat(x, "ROOT r = s32[", n, "] reverse(x), dimensions={0}"),
      absl::StrCat(x, "ROOT r = s32[1,", n, "] reshape(x)"),
      absl::StrCat(x, "ROOT r = s32[", n, ",", k, "] broadcast(x), dimensions={0}"),
      absl::StrCat(" x = s32[", n, ",", k,
                   "] parameter(0)\n c = s32[] parameter(1)\n ROOT r = s32[", n,
                   "] reduce(x, c), dimensions={1}, to_apply=sum"),
      absl::StrCat(" x = s32[", n, ",", k, "] parameter(0)\n ROOT r = s32[", k, ",", n,
                   "] transpose(x), dimensions={1,0}"),
      absl::StrCat(" x = s32[", n, ",", k, "] parameter(0)\n y = s32[", k,
                   ",2] parameter(1)\n ROOT r = s32[", n,
                   ",2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
      absl::StrCat(" x = s32[", n, ",", k, "] parameter(0)\n y = s32[", n, ",", k,
                   "] parameter(1)\n ROOT r = s32[", n, "] dot(x, y), lhs_batch_dims={0}, ",
                   "rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
      absl::StrCat(x, " y = s32[", k, "] parameter(1)\n ROOT r = s32[", sum,
                   "] concatenate(x, y), dimensions={0}"),
      absl::StrCat(" x = s32[", sum, "] parameter(0)\n ROOT r = s32[", n, "] slice(x), slice={[", k,
                   ":", sum, "]}"),
  };
  if (n >= k) {
    absl::StrAppend(&operations.emplace_back(), x, " i = s32[] parameter(1)\n ROOT r = s32[", k,
                    "] dynamic-slice(x, i), dynamic_slice_sizes={", k, "}");
    absl::StrAppend(&operations.emplace_back(), x, " u = s32[", k,
                    "] parameter(1)\n i = s32[] parameter(2)\n ROOT r = s32[", n,
                    "] dynamic-update-slice(x, u, i)");
  }
  return operations;
}

// What is on the other side of each element, by the value of the only runtime variable.
using Images = std::map<int64_t, std::map<PointOfMap, std::set<PointOfMap>>>;

Images ImagesOf(const HloInstruction& root, int64_t operand, Direction direction,
                int64_t most_offset) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  FusionOptions options;
  options.indexing.exact = true;
  HloIndexer indexer(&context, options);
  const auto entries = indexer.Index(root, direction);
  EXPECT_TRUE(entries.ok()) << entries.status();
  Images images;
  for (int64_t offset = 0; offset <= most_offset; ++offset) images[offset];
  if (!entries.ok()) return images;
  for (const IndexingEntry& entry : **entries) {
    if (entry.operand != operand) continue;
    for (const OperandIndexing& indexing : entry.indexing) {
      EXPECT_TRUE(indexing.IsExact());
      const IndexingMap& map = indexing.map();
      const auto status = map.ForEachPoint(
          100'000, [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                       llvm::ArrayRef<int64_t> results) {
            for (auto& [offset, image] : images) {
              if (!indexing.bindings().empty() && symbols.back() != offset) continue;
              image[PointOfMap(dims.begin(), dims.end())].emplace(results.begin(), results.end());
            }
          });
      EXPECT_TRUE(status.ok()) << status;
    }
  }
  return images;
}

int64_t ElementsIn(const HloInstruction& instruction) {
  return *instruction.shape().ElementCount();
}

// What is certain to be reached from any element, or from all together.
Reached ReachedByBruteForce(const Images& images, Reached from, int64_t starts, int64_t ends) {
  Reached least = Reached::kAll;
  const auto reach = [&](const std::set<PointOfMap>& to) {
    const auto count = static_cast<int64_t>(to.size());
    least = std::min(least, count == ends ? Reached::kAll
                            : count > 0   ? Reached::kSome
                                          : Reached::kNothing);
  };
  for (const auto& [offset, image] : images) {
    if (from == Reached::kSome) {
      for (const auto& [start, to] : image) reach(to);
      if (static_cast<int64_t>(image.size()) < starts) reach({});
      continue;
    }
    std::set<PointOfMap> all;
    for (const auto& [start, to] : image) all.insert(to.begin(), to.end());
    reach(all);
  }
  return least;
}

// Compares what is said with brute force; `is_plain` where nothing less is to be said than is so.
void ExpectReached(const HloInstruction& root, int64_t operand, Direction direction,
                   int64_t most_offset, bool is_plain) {
  const bool backward = direction == Direction::kOutputToInput;
  SCOPED_TRACE(absl::StrCat("operand ", operand, backward ? " backward" : " forward"));
  const Images images = ImagesOf(root, operand, direction, most_offset);
  const int64_t of_operand = ElementsIn(*root.operand(operand));
  const int64_t starts = backward ? ElementsIn(root) : of_operand;
  const int64_t ends = backward ? of_operand : ElementsIn(root);
  EXPECT_EQ(ReachedThrough(root, operand, direction, Reached::kNothing), Reached::kNothing);
  for (const Reached from : {Reached::kSome, Reached::kAll}) {
    const Reached said = ReachedThrough(root, operand, direction, from);
    if (starts == 0 || ends == 0) {
      EXPECT_EQ(said, Reached::kNothing);
      continue;
    }
    const Reached known = ReachedByBruteForce(images, from, starts, ends);
    EXPECT_LE(said, known);
    if (is_plain && known < Reached::kAll) {
      EXPECT_EQ(said, known);
    }
  }
}

// Nothing is said to be reached that may not be, and nothing less is said than is so where arrays have
// several elements.
TEST(LeastStepsTest, WhatIsReachedOnTheOtherSide) {
  int operations = 0;
  for (int n = 0; n <= 4; ++n) {
    for (int k = 1; k <= 3; ++k) {
      for (const std::string& operation : Operations(n, k)) {
        SCOPED_TRACE(operation);
        const auto module = Parse(absl::StrCat(kSum, "ENTRY e {\n", operation, "\n}\n"));
        ASSERT_NE(module, nullptr);
        const HloInstruction& root = *module->entry_computation()->root_instruction();
        for (int64_t operand = 0; operand < root.operand_count(); ++operand) {
          for (const Direction direction : kBothDirections) {
            ExpectReached(root, operand, direction, std::max(n - k, 0), n > k && k > 1);
          }
        }
        ++operations;
      }
    }
  }
  EXPECT_GT(operations, 150);
}

// The steps counted from all of what a walk starts from, in both directions, and those that the walk
// takes.
void ExpectSteps(const std::string& text, int64_t backward, int64_t forward) {
  SCOPED_TRACE(text);
  const auto module = Parse(text);
  ASSERT_NE(module, nullptr);
  const HloComputation& entry = *module->entry_computation();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  SharedAnswers shared;
  CalledComputations called(&context, FusionOptions(), &shared);
  for (const Direction direction : kBothDirections) {
    const HloInstruction& start =
        direction == Direction::kOutputToInput ? *entry.root_instruction() : *entry.parameter(0);
    std::vector<Reached> reached(entry.instructions().size(), Reached::kNothing);
    reached[start.index_in_computation()] = Reached::kAll;
    const int64_t steps = LeastSteps(
        entry, direction, /*enough=*/1'000'000, [](const HloInstruction&) { return true; },
        &reached);
    EXPECT_EQ(steps, direction == Direction::kOutputToInput ? backward : forward);
    const QuestionBudget budget;
    const absl::StatusOr<TraversalResult> walked =
        called.WalkFrom(entry, direction, {0, 0}, /*max_steps=*/1'000'000);
    ASSERT_TRUE(walked.ok()) << walked.status();
    EXPECT_LE(steps, walked->steps);
  }
}

TEST(LeastStepsTest, EveryOperandOnTheWayIsAStep) {
  // To a and b from the root, to b from c, and to a from b; forwards to b, to c and the root.
  ExpectSteps(
      "HloModule m\nENTRY e {\n a = f32[4] parameter(0)\n b = f32[4] negate(a)\n"
      " c = f32[4] exponential(b)\n ROOT d = f32[4] add(b, c)\n}\n",
      4, 4);
  // A constant leads nowhere.
  ExpectSteps(
      "HloModule m\nENTRY e {\n a = f32[4] parameter(0)\n z = f32[4] constant({0, 0, 0, 0})\n"
      " ROOT d = f32[4] add(a, z)\n}\n",
      1, 1);
}

// All of the sum of some is all of them again, so that the slice is reached.
TEST(LeastStepsTest, ArraysOfOneElement) {
  ExpectSteps(absl::StrCat(kSum, "ENTRY e {\n a = s32[4] parameter(0)\n z = s32[] constant(0)\n",
                           " c = s32[8] concatenate(a, a), dimensions={0}\n",
                           " s = s32[] reduce(c, z), dimensions={0}, to_apply=sum\n",
                           " b = s32[4] broadcast(s), dimensions={}\n",
                           " ROOT r = s32[2] slice(b), slice={[0:2]}\n}\n"),
              5, 5);
}

TEST(LeastStepsTest, SmallComputationsArePassedOverWhereTheyAreCalled) {
  ExpectSteps(
      "HloModule m\nf {\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n"
      " n = f32[4] negate(x)\n ROOT s = f32[4] add(n, x)\n}\nENTRY e {\n a = f32[4] parameter(0)\n"
      " b = f32[4] negate(a)\n u = f32[4] parameter(1)\n ROOT r = f32[4] call(b, u), "
      "to_apply=f\n}\n",
      4, 4);
}

}  // namespace
}  // namespace xla_indexing::internal

// Loops that say the same share their answers, and those that begin otherwise do not.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fusion/own_answers.h"
#include "tests/testing/entries.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {
namespace {

constexpr char kState[] = "(s32[], s32[], s32[], f32[8,4], f32[4])";

constexpr char kSameOffset[] = "offset = s32[] copy(at)";
constexpr char kSameRows[] = "later = f32[8,4] copy(rows)";

// A loop over (i, n, at, rows, sum) while i < n, which adds rows i and `offset` to the sum. `offset` is
// computed of `at`, and `later` are the rows of the next iteration.
std::string Computations(absl::string_view offset, absl::string_view later = kSameRows) {
  return absl::StrCat("body { p = ", kState, R"( parameter(0)
      i = s32[] get-tuple-element(p), index=0
      n = s32[] get-tuple-element(p), index=1
      at = s32[] get-tuple-element(p), index=2
      rows = f32[8,4] get-tuple-element(p), index=3
      sum = f32[4] get-tuple-element(p), index=4
      zero = s32[] constant(0)
      one = s32[] constant(1)
      next = s32[] add(i, one)
      own = f32[1,4] dynamic-slice(rows, i, zero), dynamic_slice_sizes={1,4}
      )",
                      offset, R"(
      other = f32[1,4] dynamic-slice(rows, offset, zero), dynamic_slice_sizes={1,4}
      both = f32[1,4] add(own, other)
      )",
                      later, R"(
      row = f32[4] reshape(both)
      more = f32[4] add(sum, row)
      ROOT t = )",
                      kState, R"( tuple(next, n, at, later, more) }
    condition { p = )",
                      kState, R"( parameter(0)
      i = s32[] get-tuple-element(p), index=0
      n = s32[] get-tuple-element(p), index=1
      ROOT less = pred[] compare(i, n), direction=LT }
    )");
}

// What loops may begin with: numbers, parameters, and what is computed of these.
constexpr char kBeginnings[] = R"(
      p = s32[] parameter(0)
      q = s32[] parameter(1)
      rows_a = f32[8,4] parameter(2)
      rows_b = f32[8,4] parameter(3)
      sum_a = f32[4] parameter(4)
      sum_b = f32[4] parameter(5)
      zero_a = s32[] constant(0)
      two = s32[] constant(2)
      five_a = s32[] constant(5)
      seven = s32[] constant(7)
      zero_b = s32[] constant(0)
      five_b = s32[] constant(5)
      minus_p = s32[] negate(p)
      minus_q = s32[] negate(q)
      twice_q = s32[] add(q, q)
)";

std::string TwoLoops(const std::string& computations, absl::string_view a, absl::string_view b) {
  std::string text = absl::StrCat(computations, "ENTRY e {", kBeginnings);
  for (const auto& [name, begin] : {std::pair("a", a), std::pair("b", b)}) {
    absl::StrAppend(&text, "      begin_", name, " = ", kState, " tuple(", begin, ", rows_", name,
                    ", sum_", name, ")\n      loop_", name, " = ", kState, " while(begin_", name,
                    "), condition=condition, body=body\n");
  }
  return absl::StrCat(text, "      ROOT r = (", kState, ", ", kState, ") tuple(loop_a, loop_b) }");
}

// The steps that a question takes, whose answer has to be that which the instruction has for itself.
int64_t StepsOf(HloIndexer& indexer, const HloInstruction& instruction, Direction direction,
                mlir::MLIRContext& context) {
  int64_t steps = 0;
  absl::StatusOr<SharedIndexing> entries = absl::InternalError("not asked");
  {
    const QuestionBudget budget;
    entries = indexer.Index(instruction, direction);
    steps = QuestionBudget::kDefaultSteps - QuestionBudget::Left();
  }
  const auto own = Entries(instruction, direction, &context);
  EXPECT_TRUE(entries.ok() && own.ok());
  if (entries.ok() && own.ok()) {
    EXPECT_TRUE(AreEqual(**entries, *own)) << instruction.ToString();
  }
  return steps;
}

// Whether loop_b of the module is answered by what is known of loop_a. Both have their own answers.
void CheckLoops(const std::string& text, bool are_shared) {
  SCOPED_TRACE(text);
  const auto module = Parse(text);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    HloIndexer indexer(&context);
    const HloComputation& entry = *module->entry_computation();
    const int64_t first = StepsOf(indexer, *entry.FindInstruction("loop_a"), direction, context);
    const int64_t second = StepsOf(indexer, *entry.FindInstruction("loop_b"), direction, context);
    EXPECT_EQ(second * 10 < first, are_shared) << first << " and " << second;
  }
}

TEST(SharedLoopsTest, LoopsThatBeginAlikeShareTheirAnswers) {
  // With numbers, names, and functions of names.
  CheckLoops(TwoLoops(Computations(kSameOffset), "zero_a, two, zero_a", "zero_a, two, zero_a"),
             true);
  CheckLoops(TwoLoops(Computations(kSameOffset), "zero_a, five_a, p", "zero_b, five_b, q"), true);
  CheckLoops(TwoLoops(Computations(kSameOffset), "zero_a, p, p", "zero_b, q, q"), true);
  CheckLoops(
      TwoLoops(Computations(kSameOffset), "zero_a, five_a, minus_p", "zero_b, five_b, minus_q"),
      true);
}

TEST(SharedLoopsTest, LoopsThatBeginOtherwiseDoNot) {
  CheckLoops(TwoLoops(Computations(kSameOffset), "zero_a, five_a, p", "two, five_b, q"), false);
  CheckLoops(TwoLoops(Computations(kSameOffset), "zero_a, five_a, p", "zero_b, seven, q"), false);
  CheckLoops(TwoLoops(Computations(kSameOffset), "zero_a, five_a, p", "zero_b, five_b, two"),
             false);
  CheckLoops(TwoLoops(Computations(kSameOffset), "zero_a, p, p", "zero_b, p, q"), false);
  CheckLoops(
      TwoLoops(Computations(kSameOffset), "zero_a, five_a, minus_p", "zero_b, five_b, twice_q"),
      false);
  CheckLoops(TwoLoops(Computations(kSameOffset), "zero_a, five_a, minus_p", "zero_b, five_b, q"),
             false);
}

TEST(SharedLoopsTest, ReasonsNameTheLoopThatIsAskedAbout) {
  const std::string computations =
      Computations("offset = s32[] custom-call(at), custom_call_target=\"next\"",
                   "later = f32[8,4] dynamic-update-slice(rows, both, offset, zero)");
  const std::string text = TwoLoops(computations, "zero_a, five_a, p", "zero_b, five_b, q");
  const auto module = Parse(text);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  for (const char* name : {"loop_a", "loop_b"}) {
    const HloInstruction& loop = *module->entry_computation()->FindInstruction(name);
    StepsOf(indexer, loop, Direction::kOutputToInput, context);
    const auto entries = indexer.Index(loop, Direction::kOutputToInput);
    ASSERT_TRUE(entries.ok());
    EXPECT_TRUE(absl::c_any_of(**entries, [&](const IndexingEntry& entry) {
      return absl::StrContains(entry.indexing.label().reason, name);
    }));
  }
}

// What the computation around a loop is passed decides what is known of the offset.
TEST(SharedLoopsTest, LoopsDependOnWhatIsPassedToTheComputationAroundThem) {
  std::string text = Computations(kSameOffset);
  for (const auto& [name, limit] : {std::pair("a", 3), std::pair("b", 6)}) {
    absl::StrAppend(&text, "outer_", name, " { s = ", kState, R"( parameter(0)
      j = s32[] get-tuple-element(s), index=0
      rows = f32[8,4] get-tuple-element(s), index=3
      sum = f32[4] get-tuple-element(s), index=4
      zero = s32[] constant(0)
      one = s32[] constant(1)
      five = s32[] constant(5)
      begin = )",
                    kState, " tuple(zero, five, j, rows, sum)\n      loop_", name, " = ", kState,
                    " while(begin), condition=condition, body=body\n      more = f32[4] "
                    "get-tuple-element(loop_",
                    name, R"(), index=4
      next = s32[] add(j, one)
      ROOT t = )",
                    kState, " tuple(next, zero, zero, rows, more) }\n    below_", name,
                    " { s = ", kState,
                    " parameter(0)\n      j = s32[] get-tuple-element(s), index=0\n      limit = "
                    "s32[] constant(",
                    limit, ")\n      ROOT less = pred[] compare(j, limit), direction=LT }\n    ");
  }
  absl::StrAppend(&text, "ENTRY e {", kBeginnings);
  absl::StrAppend(&text, "      begin = ", kState, " tuple(zero_a, p, q, rows_a, sum_a)\n");
  absl::StrAppend(&text, "      a = ", kState, " while(begin), condition=below_a, body=outer_a\n");
  absl::StrAppend(&text, "      ROOT b = ", kState, " while(a), condition=below_b, body=outer_b }");
  const auto module = Parse(text);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  for (const char* name : {"a", "b"}) {
    const HloComputation* outer = module->FindComputation(absl::StrCat("outer_", name));
    ASSERT_NE(outer, nullptr);
    StepsOf(indexer, *outer->FindInstruction(absl::StrCat("loop_", name)),
            Direction::kOutputToInput, context);
  }
}

// A scan shares its answers as well, also where it is in another module, which has ended.
TEST(SharedLoopsTest, ScansOfSeveralModulesShareTheirAnswers) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  std::optional<int64_t> first;
  for (const char* name : {"x", "y", "z"}) {
    const auto module = Parse(absl::StrCat(R"(
    running { x = f32[4] parameter(0)
      carry = f32[4] parameter(1)
      sum = f32[4] add(x, carry)
      ROOT t = (f32[4], f32[4]) tuple(sum, sum) }
    ENTRY e {
      )",
                                           name, R"( = f32[9,4] parameter(0)
      begin = f32[4] parameter(1)
      ROOT r = (f32[9,4], f32[4]) scan()",
                                           name,
                                           R"(, begin), dimensions={0}, num_carries=1,
          to_apply=running })"));
    ASSERT_NE(module, nullptr);
    const int64_t steps = StepsOf(indexer, *module->entry_computation()->root_instruction(),
                                  Direction::kOutputToInput, context);
    EXPECT_LT(first.has_value() ? steps * 10 : 0, first.value_or(steps));
    first = first.value_or(steps);
  }
}

}  // namespace
}  // namespace xla_indexing

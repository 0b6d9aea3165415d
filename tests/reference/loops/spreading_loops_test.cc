// Loops whose arrays spread, turn, wait for one another or stay where they are, and loops of which it
// is not known how often they run, executed step by step.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/reference/judge/root_entries.h"
#include "tests/testing/effort.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::reference {
namespace {

struct Loop {
  // The arrays x, y, .. of the state behind the counter i, and what the body makes of them.
  std::vector<std::string> shapes;
  std::string body;
  std::vector<std::string> next;
};

constexpr absl::string_view kNames[] = {"x", "y", "z"};

// The loop, as often as i < `limit`; `limit` of -1 is a value between 0 and 5 that the program reads.
std::string SpreadingText(const Loop& loop, int limit) {
  std::string state = absl::StrCat("(s32[], s32[], ", absl::StrJoin(loop.shapes, ", "), ")");
  std::string elements;
  std::string parameters;
  std::vector<std::string> names;
  for (size_t k = 0; k < loop.shapes.size(); ++k) {
    absl::StrAppend(&elements, " ", kNames[k], " = ", loop.shapes[k],
                    " get-tuple-element(p), index=", k + 2, "\n");
    absl::StrAppend(&parameters, " ", kNames[k], " = ", loop.shapes[k], " parameter(", k + 1,
                    ")\n");
    names.emplace_back(kNames[k]);
  }
  return absl::StrCat(
      "HloModule m\nsum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n",
      " ROOT s = f32[] add(a, b)\n}\nbody {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n",
      " n = s32[] get-tuple-element(p), index=1\n", elements,
      " one = s32[] constant(1)\n j = s32[] add(i, one)\n zero = f32[] constant(0)\n", loop.body,
      "\n ROOT t = ", state, " tuple(j, n, ", absl::StrJoin(loop.next, ", "),
      ")\n}\ncondition {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n",
      " n = s32[] get-tuple-element(p), index=1\n",
      " ROOT c = pred[] compare(i, n), direction=LT\n}\nENTRY e {\n start = s32[] constant(0)\n",
      " any = s32[] parameter(0)\n least = s32[] constant(0)\n most = s32[] constant(5)\n",
      limit < 0 ? " limit = s32[] clamp(least, any, most)\n"
                : absl::StrCat(" limit = s32[] constant(", limit, ")\n"),
      parameters, " s = ", state, " tuple(start, limit, ", absl::StrJoin(names, ", "),
      ")\n ROOT w = ", state, " while(s), condition=condition, body=body\n}\n");
}

// Limits as SpreadingText takes them.
std::vector<int> CommonLimits() {
  return IsFullEffort() ? std::vector<int>{0, 1, 2, 3, 5, 17, -1} : std::vector<int>{0, 3, -1};
}

// Checks the loop; all of its entries have to be exact.
void CheckSpreading(const Loop& loop, const std::vector<int>& limits = CommonLimits()) {
  // A program that reads its limit reads another one with each.
  const uint64_t seeds = IsFullEffort() ? 6 : 2;
  for (const int limit : limits) {
    const std::string text = SpreadingText(loop, limit);
    for (uint64_t seed = 0; seed < (limit < 0 ? seeds : 1); ++seed) {
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      const absl::Status status = CheckModule(text, seed, &context);
      ASSERT_TRUE(status.ok()) << status;
    }
    ForEachEntryOfRoot(text, [&](const IndexingEntry& entry) {
      EXPECT_TRUE(entry.indexing.label().IsExact())
          << limit << " iterations: " << entry.output_leaf << " " << entry.operand_leaf << " "
          << entry.indexing.label().reason << "\n"
          << text;
    });
  }
}

// x[i + by], 0 outside.
std::string Shifted(absl::string_view name, absl::string_view of, int size, int by) {
  const int rest = size - std::abs(by);
  return absl::StrCat(" ", name, "_part = f32[", rest, "] slice(", of, "), slice={[",
                      by > 0 ? by : 0, ":", by > 0 ? size : rest, "]}\n ", name, " = f32[", size,
                      "] pad(", name, "_part, zero), padding=", by > 0 ? 0 : -by, "_",
                      by > 0 ? by : 0, "\n");
}

// x[(i + by) mod size].
std::string Rolled(absl::string_view name, absl::string_view of, int size, int by) {
  return absl::StrCat(" ", name, "_a = f32[", size - by, "] slice(", of, "), slice={[", by, ":",
                      size, "]}\n ", name, "_b = f32[", by, "] slice(", of, "), slice={[0:", by,
                      "]}\n ", name, " = f32[", size, "] concatenate(", name, "_a, ", name,
                      "_b), dimensions={0}\n");
}

std::string SumOf(absl::string_view name, absl::string_view shape,
                  const std::vector<std::string>& terms) {
  std::string text;
  std::string sum = terms[0];
  for (size_t k = 1; k < terms.size(); ++k) {
    const std::string next = k + 1 == terms.size() ? std::string(name) : absl::StrCat(name, k);
    absl::StrAppend(&text, " ", next, " = ", shape, " add(", sum, ", ", terms[k], ")\n");
    sum = next;
  }
  return text;
}

TEST(SpreadingLoopsTest, Stencils) {
  for (const int size : {2, 3, 9}) {
    const std::string shape = absl::StrCat("f32[", size, "]");
    const std::string sides = Shifted("l", "x", size, -1) + Shifted("r", "x", size, 1);
    CheckSpreading({{shape}, sides + SumOf("u", shape, {"x", "l", "r"}), {"u"}});
    // Every other element.
    CheckSpreading({{shape}, sides + SumOf("u", shape, {"l", "r"}), {"u"}});
    CheckSpreading({{shape}, sides + SumOf("u", shape, {"x", "r"}), {"u"}});
  }
}

TEST(SpreadingLoopsTest, StencilsOfRadiusTwo) {
  CheckSpreading({{"f32[11]"},
                  Shifted("a", "x", 11, -2) + Shifted("b", "x", 11, -1) + Shifted("c", "x", 11, 1) +
                      Shifted("d", "x", 11, 2) + SumOf("u", "f32[11]", {"x", "a", "b", "c", "d"}),
                  {"u"}});
}

// Each element is a sum of those in a window, in one map with a range variable.
TEST(SpreadingLoopsTest, Windows) {
  for (const auto& [shape, window] :
       std::vector<std::array<std::string, 2>>{{"f32[9]", "size=3 pad=1_1"},
                                               {"f32[9]", "size=3 pad=2_0"},
                                               {"f32[9]", "size=9 pad=8_0"},
                                               {"f32[9]", "size=3 pad=2_2 rhs_dilate=2"},
                                               {"f32[9]", "size=2 pad=1_1 rhs_dilate=2"},
                                               {"f32[4,3]", "size=3x3 pad=1_1x1_1"},
                                               {"f32[4,5]", "size=1x2 pad=0_0x1_0"}}) {
    CheckSpreading({{shape},
                    absl::StrCat(" u = ", shape, " reduce-window(x, zero), window={", window,
                                 "}, to_apply=sum\n"),
                    {"u"}},
                   {1, 2, 17, 40});
  }
}

// u[1:-1] is computed from its neighbours, u[0] and u[-1] stay.
TEST(SpreadingLoopsTest, StencilsWithinABorder) {
  CheckSpreading({{"f32[9]"},
                  " l = f32[7] slice(x), slice={[0:7]}\n m = f32[7] slice(x), slice={[1:8]}\n"
                  " r = f32[7] slice(x), slice={[2:9]}\n" +
                      SumOf("v", "f32[7]", {"l", "m", "r"}) +
                      " u = f32[9] dynamic-update-slice(x, v, one)\n",
                  {"u"}});
}

TEST(SpreadingLoopsTest, CrossesInTwoDimensions) {
  std::string body;
  for (const auto& [name, slice, part, padding] :
       std::vector<std::array<std::string, 4>>{{"a", "{[1:5], [0:4]}", "f32[4,4]", "0_1x0_0"},
                                               {"b", "{[0:4], [0:4]}", "f32[4,4]", "1_0x0_0"},
                                               {"c", "{[0:5], [1:4]}", "f32[5,3]", "0_0x0_1"},
                                               {"d", "{[0:5], [0:3]}", "f32[5,3]", "0_0x1_0"}}) {
    absl::StrAppend(&body, " ", name, "_part = ", part, " slice(x), slice=", slice, "\n ", name,
                    " = f32[5,4] pad(", name, "_part, zero), padding=", padding, "\n");
  }
  CheckSpreading({{"f32[5,4]"}, body + SumOf("u", "f32[5,4]", {"x", "a", "b", "c", "d"}), {"u"}});
}

// With borders that stay.
TEST(SpreadingLoopsTest, CrossesWithinABorder) {
  std::string body;
  for (const auto& [name, slice] :
       std::vector<std::array<std::string, 2>>{{"m", "{[1:5], [1:4]}"},
                                               {"a", "{[2:6], [1:4]}"},
                                               {"b", "{[0:4], [1:4]}"},
                                               {"c", "{[1:5], [2:5]}"},
                                               {"d", "{[1:5], [0:3]}"}}) {
    absl::StrAppend(&body, " ", name, " = f32[4,3] slice(x), slice=", slice, "\n");
  }
  CheckSpreading({{"f32[6,5]"},
                  body + SumOf("v", "f32[4,3]", {"m", "a", "b", "c", "d"}) +
                      " u = f32[6,5] dynamic-update-slice(x, v, one, one)\n",
                  {"u"}});
}

TEST(SpreadingLoopsTest, Rolls) {
  for (const int size : {2, 3, 13}) {
    const std::string shape = absl::StrCat("f32[", size, "]");
    CheckSpreading({{shape}, Rolled("u", "x", size, 1), {"u"}});
    const std::string sides = Rolled("l", "x", size, size - 1) + Rolled("r", "x", size, 1);
    CheckSpreading({{shape}, sides + SumOf("u", shape, {"x", "l", "r"}), {"u"}});
    CheckSpreading({{shape}, sides + SumOf("u", shape, {"l", "r"}), {"u"}});
  }
  CheckSpreading({{"f32[13]"}, Rolled("r", "x", 13, 3) + SumOf("u", "f32[13]", {"x", "r"}), {"u"}});
}

// Rotated and turned round, and dimensions that change places: every power of some number adds
// constants.
TEST(SpreadingLoopsTest, Turns) {
  const std::vector<int> limits = IsFullEffort() ? std::vector<int>{0, 1, 2, 3, 17, 64, 300, -1}
                                                 : std::vector<int>{1, 3, 17, -1};
  for (const int by : {1, 2}) {
    CheckSpreading(
        {{"f32[5]"}, Rolled("r", "x", 5, by) + " u = f32[5] reverse(r), dimensions={0}\n", {"u"}},
        limits);
  }
  const std::string rolled =
      " a = f32[2,3] slice(x), slice={[1:3], [0:3]}\n b = f32[1,3] slice(x), slice={[0:1], "
      "[0:3]}\n r = f32[3,3] concatenate(a, b), dimensions={0}\n";
  CheckSpreading({{"f32[3,3]"}, rolled + " u = f32[3,3] transpose(r), dimensions={1,0}\n", {"u"}},
                 limits);
  CheckSpreading({{"f32[3,3]"}, rolled + " u = f32[3,3] reverse(r), dimensions={1}\n", {"u"}},
                 limits);
  CheckSpreading({{"f32[3,3]"},
                  rolled + " v = f32[3,3] transpose(r), dimensions={1,0}\n"
                           " u = f32[3,3] reverse(v), dimensions={0}\n",
                  {"u"}},
                 limits);
}

// Windows of more steps than are taken one by one, and a cumulative sum in each iteration.
TEST(SpreadingLoopsTest, LongWindows) {
  for (const std::string window : {"size=70 pad=69_0", "size=66 pad=30_35"}) {
    CheckSpreading(
        {{"f32[70]"},
         absl::StrCat(" u = f32[70] reduce-window(x, zero), window={", window, "}, to_apply=sum\n"),
         {"u"}},
        {0, 1, 2, 17, 64});
  }
}

// Waves: what was two iterations ago is of the same array.
TEST(SpreadingLoopsTest, Waves) {
  CheckSpreading({{"f32[9]", "f32[9]"},
                  Shifted("l", "x", 9, -1) + Shifted("r", "x", 9, 1) +
                      SumOf("u", "f32[9]", {"x", "l", "r", "y"}),
                  {"u", "x"}});
  CheckSpreading(
      {{"f32[9]", "f32[9]"},
       Rolled("l", "x", 9, 8) + Rolled("r", "x", 9, 1) + SumOf("u", "f32[9]", {"x", "l", "r", "y"}),
       {"u", "x"}});
}

// A sum and what it was turned: leaves that wait for one another for one iteration or two.
TEST(SpreadingLoopsTest, LeavesThatWaitForOneAnother) {
  CheckSpreading(
      {{"f32[5]", "f32[5]"}, SumOf("u", "f32[5]", {"x", "y"}) + Rolled("v", "x", 5, 1), {"u", "v"}},
      {0, 1, 2, 3, 5});
}

// Each element is computed from two others, those before it from what was computed before.
TEST(SpreadingLoopsTest, ElementsThatAreWrittenFromOthersOfTheSameArray) {
  for (const int count : {1, 2, 6, 8, 9}) {
    CheckSpreading(
        {{"f32[10]"},
         " three = s32[] constant(3)\n ten = s32[] constant(10)\n k = s32[] add(i, three)\n"
         " m = s32[] remainder(k, ten)\n a = f32[1] dynamic-slice(x, j), dynamic_slice_sizes={1}\n"
         " b = f32[1] dynamic-slice(x, m), dynamic_slice_sizes={1}\n s = f32[1] add(a, b)\n"
         " u = f32[10] dynamic-update-slice(x, s, i)\n",
         {"u"}},
        {count});
  }
}

// Where only the program knows how often it runs, what does not depend on that is said without it, and
// the rest with it.
TEST(SpreadingLoopsTest, NumbersOfIterationsThatTheProgramReads) {
  const std::vector<int> not_known = {-1};
  CheckSpreading({{"f32[6]"}, " u = f32[6] negate(x)\n", {"u"}}, not_known);
  CheckSpreading({{"f32[6]"}, " u = f32[6] reverse(x), dimensions={0}\n", {"u"}}, not_known);
  CheckSpreading({{"f32[6]", "f32[6]"}, SumOf("u", "f32[6]", {"x", "y"}), {"u", "y"}}, not_known);
  CheckSpreading({{"f32[6]", "f32[6]"}, "", {"y", "y"}}, not_known);
  CheckSpreading({{"f32[6]"}, Shifted("u", "x", 6, 1), {"u"}}, not_known);
  // Rows are written one by one; the others are what they were.
  CheckSpreading({{"f32[6]", "f32[6]"},
                  " a = f32[1] dynamic-slice(y, i), dynamic_slice_sizes={1}\n"
                  " u = f32[6] dynamic-update-slice(x, a, i)\n",
                  {"u", "y"}},
                 not_known);
  // All of it in every iteration.
  CheckSpreading({{"f32[6]"},
                  " s = f32[] reduce(x, zero), dimensions={0}, to_apply=sum\n"
                  " u = f32[6] broadcast(s), dimensions={}\n",
                  {"u"}},
                 not_known);
}

}  // namespace
}  // namespace xla_indexing::reference

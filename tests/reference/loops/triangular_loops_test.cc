// Loops in loops, whose bounds are functions of the iteration around them, executed, against the maps of
// all their iterations: y[t] = sum of x[j] for the j that the inner loop runs through.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/reference/judge/root_entries.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing::reference {
namespace {

// An expression of t, the iteration around the loop, as lines that say what `name` is. `rows` is how
// often the outer loop runs.
std::string Lines(const std::string& name, const std::string& kind, int64_t rows) {
  const std::string value = absl::StrCat(name, " = s32[] ");
  if (kind == "0") return absl::StrCat(value, "constant(0)\n");
  if (kind == "t") return absl::StrCat(value, "copy(t)\n");
  const std::string constant = absl::StrCat(name, "_c = s32[] constant(");
  if (kind == "t+1") return absl::StrCat(constant, "1)\n ", value, "add(t, ", name, "_c)\n");
  if (kind == "t-2") return absl::StrCat(constant, "-2)\n ", value, "add(t, ", name, "_c)\n");
  if (kind == "max(t-2,0)") {
    return absl::StrCat(Lines(name + "_of", "t-2", rows), " ", Lines(name + "_at_least", "0", rows),
                        " ", value, "maximum(", name, "_of, ", name, "_at_least)\n");
  }
  if (kind == "min(t+1,3)") {
    return absl::StrCat(Lines(name + "_of", "t+1", rows), " ", name, "_most = s32[] constant(3)\n ",
                        value, "minimum(", name, "_of, ", name, "_most)\n");
  }
  if (kind == "n-t") {
    return absl::StrCat(constant, rows, ")\n ", value, "subtract(", name, "_c, t)\n");
  }
  return absl::StrCat(constant, "1)\n ", name, "_two = s32[] add(t, t)\n ", value, "add(", name,
                      "_two, ", name, "_c)\n");  // 2*t+1
}

struct Triangle {
  int64_t rows = 6;
  int64_t outer_step = 1;
  std::string first = "0";
  std::string bound = "t+1";
  int64_t step = 1;
  std::string direction = "LT";
};

std::string TriangleText(const Triangle& triangle) {
  return absl::StrReplaceAll(
      "HloModule m\n"
      "add {\n j = s32[] parameter(0)\n c = s32[] parameter(1)\n ROOT s = s32[] add(j, c)\n}\n"
      "inner {\n p = (s32[], s32[], f32[], f32[20]) parameter(0)\n"
      " j = s32[] get-tuple-element(p), index=0\n n = s32[] get-tuple-element(p), index=1\n"
      " a = f32[] get-tuple-element(p), index=2\n x = f32[20] get-tuple-element(p), index=3\n"
      " element = f32[1] dynamic-slice(x, j), dynamic_slice_sizes={1}\n"
      " e = f32[] reshape(element)\n b = f32[] add(a, e)\n"
      " c = s32[] constant(STEP)\n next = s32[] call(j, c), to_apply=add\n"
      " ROOT r = (s32[], s32[], f32[], f32[20]) tuple(next, n, b, x)\n}\n"
      "inner_condition {\n p = (s32[], s32[], f32[], f32[20]) parameter(0)\n"
      " j = s32[] get-tuple-element(p), index=0\n n = s32[] get-tuple-element(p), index=1\n"
      " ROOT go = pred[] compare(j, n), direction=DIRECTION\n}\n"
      "outer {\n p = (s32[], f32[20], f32[8]) parameter(0)\n"
      " t = s32[] get-tuple-element(p), index=0\n x = f32[20] get-tuple-element(p), index=1\n"
      " y = f32[8] get-tuple-element(p), index=2\n"
      " FIRST BOUND zero = f32[] constant(0)\n"
      " s = (s32[], s32[], f32[], f32[20]) tuple(first, bound, zero, x)\n"
      " w = (s32[], s32[], f32[], f32[20]) while(s), condition=inner_condition, body=inner\n"
      " sum = f32[] get-tuple-element(w), index=2\n row = f32[1] reshape(sum)\n"
      " z = f32[8] dynamic-update-slice(y, row, t)\n"
      " c = s32[] constant(OUTER)\n next = s32[] add(t, c)\n"
      " ROOT r = (s32[], f32[20], f32[8]) tuple(next, x, z)\n}\n"
      "condition {\n p = (s32[], f32[20], f32[8]) parameter(0)\n"
      " t = s32[] get-tuple-element(p), index=0\n n = s32[] constant(ROWS)\n"
      " ROOT go = pred[] compare(t, n), direction=LT\n}\n"
      "ENTRY e {\n x = f32[20] parameter(0)\n y = f32[8] parameter(1)\n t = s32[] constant(0)\n"
      " s = (s32[], f32[20], f32[8]) tuple(t, x, y)\n"
      " ROOT w = (s32[], f32[20], f32[8]) while(s), condition=condition, body=outer\n}\n",
      {{"STEP", absl::StrCat(triangle.step)},
       {"DIRECTION", triangle.direction},
       {"FIRST", Lines("first", triangle.first, triangle.rows)},
       {"BOUND", Lines("bound", triangle.bound, triangle.rows)},
       {"OUTER", absl::StrCat(triangle.outer_step)},
       {"ROWS", absl::StrCat(triangle.rows)}});
}

// Whether what the sums read of x is known exactly.
bool IsExact(const std::string& text) {
  bool is_exact = true;
  ForEachEntryOfRoot(text, [&](const IndexingEntry& entry) {
    is_exact = is_exact && entry.indexing.label().IsExact();
    for (const OperandIndexing& map : entry.indexing) is_exact = is_exact && map.bindings().empty();
  });
  return is_exact;
}

TEST(TriangularLoopsTest, AgreeWithTheReferenceAndAreExact) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  CasesInTurn cases;
  for (const char* const bound : {"t", "t+1", "n-t", "2*t+1", "t-2", "min(t+1,3)"}) {
    for (const char* const first : {"0", "t", "max(t-2,0)"}) {
      for (const int64_t step : {1, 2}) {
        for (const char* const direction : {"LT", "LE"}) {
          for (const int64_t rows : {1, 5, 7}) {
            if (!cases.IsNextTried()) continue;
            const std::string text = TriangleText({.rows = rows,
                                                   .first = first,
                                                   .bound = bound,
                                                   .step = step,
                                                   .direction = direction});
            const absl::Status status = CheckModule(text, /*seed=*/0, &context);
            ASSERT_TRUE(status.ok()) << status;
            EXPECT_TRUE(IsExact(text)) << text;
          }
        }
      }
    }
  }
}

// Down from a function of t.
TEST(TriangularLoopsTest, CountedDownAgreeWithTheReferenceAndAreExact) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const char* const first : {"t", "n-t", "2*t+1"}) {
    for (const int64_t step : {-1, -2}) {
      const std::string text = TriangleText({.rows = 7,
                                             .first = first,
                                             .bound = "0",
                                             .step = step,
                                             .direction = step == -1 ? "GE" : "GT"});
      const absl::Status status = CheckModule(text, /*seed=*/0, &context);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(IsExact(text)) << text;
    }
  }
}

// Anything at all, exact or not, also with steps around of two.
TEST(TriangularLoopsTest, RandomOnesAgreeWithTheReference) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const std::vector<std::string> exprs = {"0",     "t",   "t+1",        "n-t",
                                          "2*t+1", "t-2", "max(t-2,0)", "min(t+1,3)"};
  for (int seed = 0; seed < LongCases(400); ++seed) {
    Random random(seed);
    const auto some = [&] { return exprs[random.Between(0, 7)]; };
    Triangle triangle;
    triangle.rows = random.Between(0, 8);
    triangle.outer_step = random.Between(1, 3);
    triangle.first = some();
    triangle.bound = some();
    const bool is_down = random.OneIn(3);
    triangle.step = random.Between(1, 3) * (is_down ? -1 : 1);
    triangle.direction = is_down ? (random.OneIn(2) ? "GT" : "GE") : random.OneIn(2) ? "LT" : "LE";
    const absl::Status status =
        CheckModule(TriangleText(triangle), static_cast<uint64_t>(seed), &context);
    ASSERT_TRUE(status.ok()) << status;
  }
}

}  // namespace
}  // namespace xla_indexing::reference

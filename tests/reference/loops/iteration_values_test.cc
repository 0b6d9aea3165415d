// Loops whose steps depend on values that they compute: which branch is taken, which row is read or
// written, executed step by step.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/reference/judge/root_entries.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::reference {
namespace {

constexpr absl::string_view kComputations = R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
stay {
  q = (f32[5], f32[5]) parameter(0)
  ROOT x = f32[5] get-tuple-element(q), index=0
}
add_all {
  q = (f32[5], f32[5]) parameter(0)
  x = f32[5] get-tuple-element(q), index=0
  y = f32[5] get-tuple-element(q), index=1
  zero = f32[] constant(0)
  all = f32[] reduce(y, zero), dimensions={0}, to_apply=sum
  row = f32[5] broadcast(all), dimensions={}
  ROOT r = f32[5] add(x, row)
}
add_each {
  q = (f32[5], f32[5]) parameter(0)
  x = f32[5] get-tuple-element(q), index=0
  y = f32[5] get-tuple-element(q), index=1
  ROOT r = f32[5] add(x, y)
}
)";

// A loop over (i, n, m, x, y, first) that makes u of x and y, where m is a number that each iteration
// computes of the one before, from `first` between 0 and 5 on. `limit` of -1 is a value between 0 and 5 that the program reads.
std::string LoopWithValues(absl::string_view body, int limit) {
  const std::string state = "(s32[], s32[], s32[], f32[5], f32[5], s32[])";
  const std::string elements = R"(
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  m = s32[] get-tuple-element(p), index=2
  x = f32[5] get-tuple-element(p), index=3
  y = f32[5] get-tuple-element(p), index=4
  first = s32[] get-tuple-element(p), index=5
  one = s32[] constant(1)
  two = s32[] constant(2)
  five = s32[] constant(5)
  seven = s32[] constant(7)
)";
  return absl::StrCat(
      kComputations, "body {\n  p = ", state, " parameter(0)", elements, R"(
  j = s32[] add(i, one)
  m5 = s32[] multiply(m, five)
  m6 = s32[] add(m5, i)
  k = s32[] and(m6, seven)
)",
      body, "\n  ROOT t = ", state, " tuple(j, n, k, u, y, first)\n}\ncondition {\n  p = ", state,
      " parameter(0)", elements, "  ROOT c = pred[] compare(i, n), direction=LT\n}\n",
      "ENTRY e {\n  least = s32[] constant(0)\n  most = s32[] constant(5)\n",
      "  any = s32[] parameter(0)\n  first = s32[] parameter(1)\n",
      "  x = f32[5] parameter(2)\n  y = f32[5] parameter(3)\n",
      limit < 0 ? "  limit = s32[] clamp(least, any, most)\n"
                : absl::StrCat("  limit = s32[] constant(", limit, ")\n"),
      "  m = s32[] clamp(least, first, most)\n  s = ", state,
      " tuple(least, limit, m, x, y, first)\n  ROOT w = ", state,
      " while(s), condition=condition, body=body\n}\n");
}

// Checks the loop against its execution; where `is_exact`, what it says of x and y has to be exact.
void CheckValues(absl::string_view body, bool is_exact,
                 const std::vector<int>& limits = {0, 1, 2, 3, 17, -1}, uint64_t seeds = 4) {
  for (const int limit : limits) {
    // Maps with the number of iterations as a variable that is in no element are not enumerated.
    if (limit < 0 && !is_exact) continue;
    const std::string text = LoopWithValues(body, limit);
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      const absl::Status status = CheckModule(text, seed, &context);
      ASSERT_TRUE(status.ok()) << status;
    }
    ForEachEntryOfRoot(text, [&](const IndexingEntry& entry) {
      EXPECT_TRUE(!is_exact || entry.indexing.label().IsExact())
          << limit << " iterations: " << entry.output_leaf << " " << entry.operand_leaf << " "
          << entry.indexing.label().reason << "\n"
          << text;
    });
  }
}

constexpr absl::string_view kBothDirections = "  both = (f32[5], f32[5]) tuple(x, y)\n";

// y is read where some iteration takes the branch.
TEST(IterationValuesTest, BranchesThatAddToWhatIsThere) {
  for (const absl::string_view branch : {"add_all", "add_each"}) {
    CheckValues(absl::StrCat(kBothDirections, "  c = pred[] compare(m, five), direction=LT\n",
                             "  u = f32[5] conditional(c, both, both), true_computation=stay, ",
                             "false_computation=", branch),
                /*is_exact=*/true);
  }
}

TEST(IterationValuesTest, BranchesThatBothAdd) {
  CheckValues(absl::StrCat(kBothDirections, "  c = pred[] compare(m, five), direction=LT\n",
                           "  u = f32[5] conditional(c, both, both), true_computation=add_all, ",
                           "false_computation=add_each"),
              /*is_exact=*/true);
}

TEST(IterationValuesTest, RowsThatAreAddedToAtComputedPlaces) {
  CheckValues(
      "  old = f32[2] dynamic-slice(x, m), dynamic_slice_sizes={2}\n"
      "  add = f32[2] dynamic-slice(y, m), dynamic_slice_sizes={2}\n"
      "  new = f32[2] add(old, add)\n  u = f32[5] dynamic-update-slice(x, new, m)",
      /*is_exact=*/true);
  // Read and written at indices that are computed twice in one way.
  CheckValues(
      "  a = s32[] subtract(m, two)\n  b = s32[] subtract(m, two)\n"
      "  old = f32[1] dynamic-slice(x, a), dynamic_slice_sizes={1}\n"
      "  add = f32[1] dynamic-slice(y, m), dynamic_slice_sizes={1}\n"
      "  new = f32[1] add(old, add)\n  u = f32[5] dynamic-update-slice(x, new, b)",
      /*is_exact=*/true);
}

TEST(IterationValuesTest, RowsThatAreReadAtComputedPlaces) {
  CheckValues(
      "  row = f32[1] dynamic-slice(y, m), dynamic_slice_sizes={1}\n"
      "  flat = f32[] reshape(row)\n  wide = f32[5] broadcast(flat), dimensions={}\n"
      "  u = f32[5] add(x, wide)",
      /*is_exact=*/true);
}

// Row m + i, with m as the loop begins with it, is another one in every iteration.
TEST(IterationValuesTest, RowsThatAreOverwrittenFromAPlaceOn) {
  for (const absl::string_view place : {"add(first, i)", "subtract(first, i)", "add(first, two)"}) {
    for (const absl::string_view row : {"y, i", "y, at"}) {
      CheckValues(absl::StrCat("  at = s32[] ", place, "\n  new = f32[1] dynamic-slice(", row,
                               "), dynamic_slice_sizes={1}\n",
                               "  u = f32[5] dynamic-update-slice(x, new, at)"),
                  /*is_exact=*/true, /*limits=*/{0, 1, 3}, /*seeds=*/2);
    }
  }
}

// Where a row is computed of what the loop leaves as it is, it is one row.
TEST(IterationValuesTest, OneComputedRowThatIsOverwritten) {
  CheckValues(
      "  square = s32[] multiply(first, first)\n  at = s32[] and(square, seven)\n"
      "  new = f32[1] dynamic-slice(y, i), dynamic_slice_sizes={1}\n"
      "  u = f32[5] dynamic-update-slice(x, new, at)",
      /*is_exact=*/true);
}

// The blocks of a model that decodes: a block is two layers, each of which writes a place of its row of a
// cache, which the loop does not know, and adds all of the row to `h`. The places are another array of
// the state, of which each block leaves its own as one more.
TEST(IterationValuesTest, LayersThatWriteTheirCachesAtPlacesOfTheirOwn) {
  const std::string state = "(s32[], f32[2], f32[3,4], s32[3], f32[3,4], s32[3])";
  const auto layer = [](int k, absl::string_view h, absl::string_view next) {
    return absl::StrCat(
        "  c", k, " = f32[3,4] get-tuple-element(p), index=", 2 * k, "\n  n", k,
        " = s32[3] get-tuple-element(p), index=", 2 * k + 1, "\n  r", k,
        " = f32[1,4] dynamic-slice(c", k, ", i, zero), dynamic_slice_sizes={1,4}\n  row", k,
        " = f32[4] reshape(r", k, ")\n  a", k, " = s32[1] dynamic-slice(n", k,
        ", i), dynamic_slice_sizes={1}\n  at", k, " = s32[] reshape(a", k, ")\n  new", k,
        " = f32[1] slice(", h, "), slice={[0:1]}\n  w", k, " = f32[4] dynamic-update-slice(row", k,
        ", new", k, ", at", k, ")\n  w1", k, " = f32[1,4] reshape(w", k, ")\n  d", k,
        " = f32[3,4] dynamic-update-slice(c", k, ", w1", k, ", i, zero)\n  one", k,
        " = s32[1] broadcast(one), dimensions={}\n  b", k, " = s32[1] add(a", k, ", one", k,
        ")\n  m", k, " = s32[3] dynamic-update-slice(n", k, ", b", k, ", i)\n  all", k,
        " = f32[] reduce(w", k, ", none), dimensions={0}, to_apply=sum\n  wide", k,
        " = f32[2] broadcast(all", k, "), dimensions={}\n  ", next, " = f32[2] add(", h, ", wide",
        k, ")\n");
  };
  const std::string text = absl::StrCat(
      kComputations, "body {\n  p = ", state,
      " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n",
      "  h = f32[2] get-tuple-element(p), index=1\n  zero = s32[] constant(0)\n",
      "  one = s32[] constant(1)\n  none = f32[] constant(0)\n  j = s32[] add(i, one)\n",
      layer(1, "h", "h1"), layer(2, "h1", "h2"), "  ROOT t = ", state,
      " tuple(j, h2, d1, m1, d2, m2)\n}\ncondition {\n  p = ", state,
      " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(3)\n",
      "  ROOT c = pred[] compare(i, n), direction=LT\n}\nENTRY e {\n  zero = s32[] constant(0)\n",
      "  h = f32[2] parameter(0)\n  c1 = f32[3,4] parameter(1)\n  n1 = s32[3] parameter(2)\n",
      "  c2 = f32[3,4] parameter(3)\n  n2 = s32[3] parameter(4)\n  s = ", state,
      " tuple(zero, h, c1, n1, c2, n2)\n  ROOT w = ", state,
      " while(s), condition=condition, body=body\n}\n");
  for (uint64_t seed = 0; seed < 8; ++seed) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const absl::Status status = CheckModule(text, seed, &context);
    ASSERT_TRUE(status.ok()) << status;
  }
  // What a cache reads of others depends on two places, which is not known exactly.
  ForEachEntryOfRoot(text, [](const IndexingEntry& entry) {
    const bool is_cache = entry.output_leaf == 2 || entry.output_leaf == 4;
    EXPECT_TRUE(is_cache || entry.indexing.label().IsExact())
        << entry.output_leaf << " " << entry.operand_leaf << " " << entry.indexing.label().reason;
  });
}

// What later iterations overwrite is not known; the maps name it, and say so.
TEST(IterationValuesTest, RowsThatAreOverwrittenAtComputedPlaces) {
  CheckValues(
      "  new = f32[1] dynamic-slice(y, i), dynamic_slice_sizes={1}\n"
      "  u = f32[5] dynamic-update-slice(x, new, m)",
      /*is_exact=*/false);
}

TEST(IterationValuesTest, BranchesThatReplaceWhatIsThere) {
  CheckValues(absl::StrCat("  both = (f32[5], f32[5]) tuple(x, y)\n",
                           "  other = (f32[5], f32[5]) tuple(y, y)\n",
                           "  c = pred[] compare(m, five), direction=LT\n",
                           "  u = f32[5] conditional(c, both, other), true_computation=stay, ",
                           "false_computation=stay"),
              /*is_exact=*/false);
}

}  // namespace
}  // namespace xla_indexing::reference

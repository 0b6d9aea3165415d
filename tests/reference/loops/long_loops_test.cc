// Loops of more iterations than are followed one after another, whose maps have to have a closed form.
// Loops of many leaves, as over the layers of a model.

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/reference/judge/root_entries.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::reference {
namespace {

using Names = std::vector<std::string>;

// (i + 1, `next`) of (i, leaves..), arrays of 5 numbers, as long as i < `count`. Returns the module.
std::string CheckLoop(const Names& leaves, const std::string& body, const Names& next, int count) {
  std::string state = "(s32[]";
  std::string elements;
  std::string parameters;
  for (size_t k = 0; k < leaves.size(); ++k) {
    absl::StrAppend(&state, ", f32[5]");
    absl::StrAppend(&elements, " ", leaves[k], " = f32[5] get-tuple-element(p), index=", k + 1,
                    "\n");
    absl::StrAppend(&parameters, " ", leaves[k], " = f32[5] parameter(", k, ")\n");
  }
  state.push_back(')');
  const std::string text = absl::StrCat(
      "HloModule m\nbody {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n", elements,
      " one = s32[] constant(1)\n j = s32[] add(i, one)\n zero = f32[1] constant({0})\n", body,
      "\n ROOT t = ", state, " tuple(j, ", absl::StrJoin(next, ", "),
      ")\n}\ncondition {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n n = s32[] constant(", count,
      ")\n ROOT c = pred[] compare(i, n), direction=LT\n}\nENTRY e {\n",
      " zero = s32[] constant(0)\n", parameters, " s = ", state, " tuple(zero, ",
      absl::StrJoin(leaves, ", "), ")\n ROOT w = ", state,
      " while(s), condition=condition, body=body\n}\n");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(text, /*seed=*/0, &context);
  EXPECT_TRUE(status.ok()) << status;
  return text;
}

void CheckLoop(const std::string& body, const Names& next, int count) {
  CheckLoop({"x", "y", "z"}, body, next, count);
}

// As a model writes tokens: each iteration writes a row of two caches and reads all of them.
TEST(LongLoopsTest, CachesAreWrittenRowByRowAndReadWhole) {
  for (const int count : {0, 1, 2, 4, 5}) {
    const std::string text =
        CheckLoop({"k", "v", "x"},
                  " a = f32[1] slice(x), slice={[0:1]}\n b = f32[1] slice(x), slice={[1:2]}\n"
                  " k2 = f32[5] dynamic-update-slice(k, a, i)\n"
                  " v2 = f32[5] dynamic-update-slice(v, b, i)\n"
                  " d = f32[] dot(k2, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
                  " all = f32[5] broadcast(d), dimensions={}\n y = f32[5] multiply(all, v2)",
                  {"k2", "v2", "y"}, count);
    ForEachEntryOfRoot(text, [&](const IndexingEntry& entry) {
      EXPECT_TRUE(entry.indexing.label().IsExact())
          << count << ": " << entry.output_leaf << " of " << entry.operand_leaf << " "
          << entry.indexing.label().reason;
    });
  }
}

// The same in one layer after another: each adds what it reads of its cache to what the next one gets.
TEST(LongLoopsTest, CachesOfManyLayersAreExact) {
  constexpr int kLayers = 10;
  Names leaves;
  Names next;
  std::string body;
  for (int k = 0; k < kLayers; ++k) {
    const std::string x = k == 0 ? "x" : absl::StrCat("x", k);
    const std::string cache = absl::StrCat("c", k);
    absl::StrAppend(&body, " a", k, " = f32[1] slice(", x, "), slice={[0:1]}\n n", k,
                    " = f32[5] dynamic-update-slice(", cache, ", a", k, ", i)\n d", k,
                    " = f32[] dot(n", k, ", ", x,
                    "), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n all", k,
                    " = f32[5] broadcast(d", k, "), dimensions={}\n x", k + 1, " = f32[5] add(", x,
                    ", all", k, ")\n");
    leaves.push_back(cache);
    next.push_back(absl::StrCat("n", k));
  }
  leaves.push_back("x");
  next.push_back(absl::StrCat("x", kLayers));
  for (const int count : {1, 5}) {
    const std::string text = CheckLoop(leaves, body, next, count);
    ForEachEntryOfRoot(text, [&](const IndexingEntry& entry) {
      EXPECT_TRUE(entry.indexing.label().IsExact())
          << count << ": " << entry.output_leaf << " of " << entry.operand_leaf << " "
          << entry.indexing.label().reason;
    });
  }
}

// x[j] = x[j] + x[i], as in elimination: every iteration reads its row beside each element.
TEST(LongLoopsTest, TheRowOfTheIterationIsReadBesideEachElement) {
  for (const int count : {0, 1, 2, 4, 5, 12, 64, 300}) {
    const std::string text = CheckLoop({"x"},
                                       " r = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}\n"
                                       " n = f32[] reshape(r)\n all = f32[5] broadcast(n), "
                                       "dimensions={}\n u = f32[5] add(x, all)",
                                       {"u"}, count);
    ForEachEntryOfRoot(text, [&](const IndexingEntry& entry) {
      EXPECT_TRUE(entry.indexing.label().IsExact()) << count << entry.indexing.label().reason;
    });
  }
}

// As a model that reads what it has written: each iteration writes a row of a cache, and goes on with
// what it computes of all of it. Rows that no iteration has written yet are read, too.
TEST(LongLoopsTest, WhatIsReadFromACacheIsWrittenToIt) {
  for (const int count : {0, 1, 2, 4, 5, 12, 64}) {
    const std::string text =
        CheckLoop({"k", "x"},
                  " d = f32[] dot(k, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
                  " a = f32[1] reshape(d)\n u = f32[5] dynamic-update-slice(k, a, i)\n"
                  " all = f32[5] broadcast(d), dimensions={}\n y = f32[5] multiply(all, u)",
                  {"u", "y"}, count);
    if (count > 5) continue;
    ForEachEntryOfRoot(text, [&](const IndexingEntry& entry) {
      EXPECT_TRUE(entry.indexing.label().IsExact())
          << count << ": " << entry.output_leaf << " of " << entry.operand_leaf << " "
          << entry.indexing.label().reason;
    });
  }
}

TEST(LongLoopsTest, LeavesChangePlaces) {
  for (const int count : {257, 258, 259, 300}) {
    CheckLoop(" r = f32[5] reverse(x), dimensions={0}", {"y", "z", "r"}, count);
  }
}

TEST(LongLoopsTest, ElementsRotate) {
  for (const int count : {257, 263}) {
    CheckLoop(
        " a = f32[1] slice(x), slice={[0:1]}\n b = f32[4] slice(x), slice={[1:5]}\n"
        " r = f32[5] concatenate(b, a), dimensions={0}",
        {"r", "y", "x"}, count);
  }
}

TEST(LongLoopsTest, ElementsLeave) {
  CheckLoop(
      " b = f32[4] slice(x), slice={[1:5]}\n"
      " r = f32[5] concatenate(b, zero), dimensions={0}\n a = f32[5] add(y, z)",
      {"r", "a", "z"}, 257);
}

TEST(LongLoopsTest, AFewIterationsAreFollowedOneAfterAnother) {
  for (const int count : {63, 64, 65}) {
    CheckLoop(" r = f32[5] reverse(x), dimensions={0}", {"y", "z", "r"}, count);
  }
}

// From some iteration on both rows are clamped, so that the maps of the first ones are not those of
// all.
TEST(LongLoopsTest, RowsAreClampedFromSomeIterationOn) {
  for (const int count : {4, 5, 6, 12, 257, 300}) {
    CheckLoop(
        " last = s32[] constant(4)\n from_end = s32[] subtract(last, i)\n"
        " r = f32[1] dynamic-slice(x, from_end), dynamic_slice_sizes={1}\n"
        " u = f32[5] dynamic-update-slice(x, r, i)",
        {"u", "y", "z"}, count);
  }
}

TEST(LongLoopsTest, TheRowThatAllBecomeIsClampedFromSomeIterationOn) {
  for (const int count : {3, 12, 64, 300}) {
    CheckLoop(
        " last = s32[] constant(4)\n from_end = s32[] subtract(last, i)\n"
        " r = f32[1] dynamic-slice(x, from_end), dynamic_slice_sizes={1}\n"
        " n = f32[] reshape(r)\n u = f32[5] broadcast(n), dimensions={}",
        {"u", "y", "z"}, count);
  }
}

// With so many leaves, each of which is computed from all, too many maps are composed for any leaf.
// Every leaf then says so, whichever leaves were asked for before.
TEST(LongLoopsTest, ManyLeavesDependOnAll) {
  for (const int count : {12, 257, 300}) {
    Names leaves;
    std::string sums = " s0 = f32[5] copy(x0)\n";
    for (int k = 0; k < 16; ++k) {
      leaves.push_back(absl::StrCat("x", k));
      if (k > 0) absl::StrAppend(&sums, " s", k, " = f32[5] add(s", k - 1, ", x", k, ")\n");
    }
    CheckLoop(leaves, sums, Names(leaves.size(), "s15"), count);
  }
}

// A loop over the layers of a model, which reads a row of each of its weights and writes a row of
// what it keeps of each for the gradient: (i + 1, f(x, w0[i], .., ), w0, .., g0, ..), arrays of 2 and
// of 4 by 2 numbers.
std::string LoopOverLayers(int weights, int count) {
  std::string state = "(s32[], f32[2]";
  std::string elements;
  std::string body;
  std::string kept;
  std::string passed;
  std::string names;
  std::string parameters;
  for (int k = 0; k < 2 * weights; ++k) {
    const bool is_weight = k < weights;
    const std::string name = absl::StrCat(is_weight ? "w" : "g", is_weight ? k : k - weights);
    absl::StrAppend(&state, ", f32[4,2]");
    absl::StrAppend(&elements, " ", name, " = f32[4,2] get-tuple-element(p), index=", k + 2, "\n");
    absl::StrAppend(&parameters, " ", name, " = f32[4,2] parameter(", k + 1, ")\n");
    absl::StrAppend(&names, ", ", name);
  }
  state.push_back(')');
  for (int k = 0; k < weights; ++k) {
    absl::StrAppend(&passed, ", w", k);
    absl::StrAppend(&kept, ", n", k);
    absl::StrAppend(&body, " a", k, " = f32[1,2] dynamic-slice(w", k,
                    ", i, zero), dynamic_slice_sizes={1,2}\n b", k, " = f32[2] reshape(a", k,
                    ")\n c", k, " = f32[2] multiply(x", k, ", b", k, ")\n d", k,
                    " = f32[] reduce(c", k, ", none), dimensions={0}, to_apply=sum\n e", k,
                    " = f32[2] broadcast(d", k, "), dimensions={}\n x", k + 1, " = f32[2] add(x", k,
                    ", e", k, ")\n h", k, " = f32[1,2] reshape(c", k, ")\n n", k,
                    " = f32[4,2] dynamic-update-slice(g", k, ", h", k, ", i, zero)\n");
  }
  return absl::StrCat(
      "HloModule m\nsum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n",
      " ROOT s = f32[] add(a, b)\n}\nbody {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n",
      " x0 = f32[2] get-tuple-element(p), index=1\n", elements,
      " one = s32[] constant(1)\n zero = s32[] constant(0)\n none = f32[] constant(0)\n",
      " j = s32[] add(i, one)\n", body, " ROOT t = ", state, " tuple(j, x", weights, passed, kept,
      ")\n}\ncondition {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n n = s32[] constant(", count,
      ")\n ROOT c = pred[] compare(i, n), direction=LT\n}\nENTRY e {\n",
      " zero = s32[] constant(0)\n x0 = f32[2] parameter(0)\n", parameters, " s = ", state,
      " tuple(zero, x0", names, ")\n ROOT w = ", state,
      " while(s), condition=condition, body=body\n}\n");
}

TEST(LongLoopsTest, LayersAgreeWithTheReference) {
  for (const int count : {0, 1, 4}) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const absl::Status status =
        reference::CheckModule(LoopOverLayers(/*weights=*/3, count), /*seed=*/0, &context);
    EXPECT_TRUE(status.ok()) << status;
  }
}

// However many leaves there are, all of what a loop over layers does is known.
TEST(LongLoopsTest, ManyWeightsOfLayersAreExact) {
  reference::ForEachEntryOfRoot(LoopOverLayers(/*weights=*/60, /*count=*/4),
                                [&](const IndexingEntry& entry) {
                                  EXPECT_TRUE(entry.indexing.label().IsExact())
                                      << entry.output_leaf << " of " << entry.operand_leaf << ": "
                                      << entry.indexing.label().reason;
                                });
}

}  // namespace
}  // namespace xla_indexing::reference

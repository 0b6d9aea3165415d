// Loops that go on as long as what they compute asks for it, executed, against the maps of all their
// iterations: what the condition reads wholly is read wholly, and exactly so, by all that changes.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::reference {
namespace {

constexpr char kSumAndMost[] =
    "HloModule m\nsum {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
    " ROOT s = s32[] add(a, b)\n}\nmost {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
    " ROOT s = s32[] maximum(a, b)\n}\n";

// A loop over (i, t, w, v) with i from 0 as long as i < 3 and all of t is less than `limit`. `body`
// computes `next` from them, arrays of 4, 6 and 3 numbers, and may say what the next `v` is.
std::string DecidedLoop(const std::string& body, int limit, const std::string& next_v = "v") {
  const std::string state = "(s32[], s32[4], s32[6], s32[3])";
  const std::string elements = absl::StrCat(
      " p = ", state, " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n",
      " t = s32[4] get-tuple-element(p), index=1\n w = s32[6] get-tuple-element(p), index=2\n",
      " v = s32[3] get-tuple-element(p), index=3\n zero = s32[] constant(0)\n");
  return absl::StrCat(
      kSumAndMost, "body {\n", elements, " one = s32[] constant(1)\n j = s32[] add(i, one)\n", body,
      "\n ROOT r = ", state, " tuple(j, next, w, ", next_v, ")\n}\ncondition {\n", elements,
      " greatest = s32[] reduce(t, zero), dimensions={0}, to_apply=most\n",
      " limit = s32[] constant(", limit, ")\n three = s32[] constant(3)\n",
      " a = pred[] compare(greatest, limit), direction=LT\n",
      " b = pred[] compare(i, three), direction=LT\n ROOT go = pred[] and(a, b)\n}\n",
      "ENTRY e {\n zero = s32[] constant(0)\n t = s32[4] parameter(0)\n w = s32[6] parameter(1)\n",
      " v = s32[3] parameter(2)\n s = ", state, " tuple(zero, t, w, v)\n ROOT l = ", state,
      " while(s), condition=condition, body=body\n}\n");
}

// A row of t becomes what is computed of an element of t and of `part` of w, or of v.
std::string RowOfPart(const std::string& part) {
  return absl::StrCat(part,
                      " all = s32[] reduce(part, zero), dimensions={0}, to_apply=sum\n"
                      " row = s32[1] reshape(all)\n next = s32[4] dynamic-update-slice(t, row, i)");
}

using LeafPair = std::pair<int64_t, int64_t>;

// The pairs of a leaf of the result and one of the loop's operand whose maps are not exact, in one
// of the directions.
std::set<LeafPair> LeavesNotExact(const std::string& text, const FusionOptions& options = {}) {
  std::set<LeafPair> not_exact;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto module = ParseAndVerifyModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return not_exact;
  HloIndexer indexer(&context, options);
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    const auto entries =
        indexer.Index(*(*module)->entry_computation()->root_instruction(), direction);
    EXPECT_TRUE(entries.ok()) << entries.status();
    if (!entries.ok()) continue;
    for (const IndexingEntry& entry : **entries) {
      if (!entry.indexing.label().IsExact()) {
        not_exact.insert({entry.output_leaf, entry.operand_leaf});
      }
    }
  }
  return not_exact;
}

// Loops of 0, 1 and more iterations, which the contents decide.
void CheckDecidedLoop(const std::string& body, const std::string& next_v = "v") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const int limit : {-100, 0, 3, 1000}) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      const absl::Status status =
          reference::CheckModule(DecidedLoop(body, limit, next_v), seed, &context);
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

TEST(WholeLeavesTest, OfWhatTheBodyReadsWholly) {
  const std::string body = RowOfPart(" part = s32[6] copy(w)\n");
  CheckDecidedLoop(body);
  EXPECT_TRUE(LeavesNotExact(DecidedLoop(body, 3)).empty());
}

TEST(WholeLeavesTest, OfWhatTheBodyReadsInParts) {
  const std::string body = RowOfPart(
      " a = s32[2] slice(w), slice={[0:2]}\n b = s32[4] slice(w), slice={[2:6]}\n"
      " c = s32[6] reverse(w), dimensions={0}\n d = s32[6] concatenate(b, a), dimensions={0}\n"
      " part = s32[6] multiply(c, d)\n");
  CheckDecidedLoop(body);
  EXPECT_TRUE(LeavesNotExact(DecidedLoop(body, 3)).empty());
}

// Half of w is read: not the other half.
TEST(WholeLeavesTest, NotOfHalfOfALeaf) {
  CheckDecidedLoop(RowOfPart(" part = s32[3] slice(w), slice={[0:3]}\n"));
}

// The element of w is not known, so that not all of it is.
TEST(WholeLeavesTest, NotOfAnElementAtARuntimeOffset) {
  CheckDecidedLoop(
      RowOfPart(" first = s32[1] slice(t), slice={[0:1]}\n at = s32[] reshape(first)\n"
                " part = s32[1] dynamic-slice(w, at), dynamic_slice_sizes={1}\n"));
}

// Whichever row is read, it is all of w.
TEST(WholeLeavesTest, OfARowAtARuntimeOffsetWhereRowsAreAlike) {
  const std::string body = RowOfPart(
      " first = s32[1] slice(t), slice={[0:1]}\n at = s32[] reshape(first)\n"
      " rows = s32[4,6] broadcast(w), dimensions={1}\n"
      " one_row = s32[1,6] dynamic-slice(rows, at, zero), dynamic_slice_sizes={1,6}\n"
      " part = s32[6] reshape(one_row)\n");
  CheckDecidedLoop(body);
  EXPECT_TRUE(LeavesNotExact(DecidedLoop(body, 3)).empty());
}

// v changes, and the condition depends on all of it after an iteration; without one v is itself.
TEST(WholeLeavesTest, OfALeafThatChanges) {
  const std::string body = absl::StrCat(" turned = s32[3] reverse(v), dimensions={0}\n",
                                        RowOfPart(" part = s32[3] copy(v)\n"));
  CheckDecidedLoop(body, "turned");
  EXPECT_TRUE(LeavesNotExact(DecidedLoop(body, 3, "turned")).empty());
}

// The condition depends on part of v at first and on all of it an iteration later.
TEST(WholeLeavesTest, NotOfALeafThatIsReadInPartBefore) {
  const std::string text = DecidedLoop(absl::StrCat(" turned = s32[3] reverse(v), dimensions={0}\n",
                                                    RowOfPart(" part = s32[3] copy(v)\n")),
                                       5, "turned");
  const std::string from = " b = pred[] compare(i, three), direction=LT\n";
  std::string changed = text;
  changed.replace(changed.find(from), from.size(),
                  " first = s32[1] slice(v), slice={[0:1]}\n f = s32[] reshape(first)\n"
                  " b1 = pred[] compare(i, three), direction=LT\n"
                  " b2 = pred[] compare(f, limit), direction=LT\n b = pred[] and(b1, b2)\n");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const absl::Status status = reference::CheckModule(changed, seed, &context);
    EXPECT_TRUE(status.ok()) << status;
  }
}

// A model of several layers that writes one token after another until one is the last: tokens, a
// cache with a row for each token and layer, and three weights for each layer, 2 by 2 numbers.
std::string GenerationLoop(int layers, int limit) {
  const std::string weights = [&] {
    std::string types;
    for (int k = 0; k < 3 * layers; ++k) absl::StrAppend(&types, ", s32[2,2]");
    return types;
  }();
  const std::string state = absl::StrCat("(s32[], s32[4], s32[", layers, ",4,2]", weights, ")");
  std::string body;
  std::string names;
  std::string parameters;
  std::string rows;
  for (int k = 0; k < layers; ++k) {
    for (int j = 0; j < 3; ++j) {
      const std::string name = absl::StrCat("w", k, "_", j);
      absl::StrAppend(&body, " ", name, " = s32[2,2] get-tuple-element(p), index=", 3 + 3 * k + j,
                      "\n");
      absl::StrAppend(&names, ", ", name);
      absl::StrAppend(&parameters, " ", name, " = s32[2,2] parameter(", 2 + 3 * k + j, ")\n");
    }
    const std::string x = absl::StrCat("x", k);
    const auto line = [&](const std::string& name, const std::string& value) {
      absl::StrAppend(&body, " ", name, k, " = ", value, "\n");
    };
    const auto of = [&](const std::string& name) { return absl::StrCat(name, k); };
    const auto weight = [&](int j) { return absl::StrCat("w", k, "_", j); };
    const std::string by_rows = "), lhs_contracting_dims={0}, rhs_contracting_dims={0}";
    line("key", absl::StrCat("s32[2] dot(", x, ", ", weight(0), by_rows));
    line("row", absl::StrCat("s32[1,1,2] reshape(", of("key"), ")"));
    line("old",
         absl::StrCat("s32[1,4,2] slice(cache), slice={[", k, ":", k + 1, "], [0:4], [0:2]}"));
    line("new", absl::StrCat("s32[1,4,2] dynamic-update-slice(", of("old"), ", ", of("row"),
                             ", zero, i, zero)"));
    line("keys", absl::StrCat("s32[4,2] reshape(", of("new"), ")"));
    line("query", absl::StrCat("s32[2] dot(", x, ", ", weight(1), by_rows));
    line("scores", absl::StrCat("s32[4] dot(", of("keys"), ", ", of("query"),
                                "), lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
    line("values", absl::StrCat("s32[2] dot(", of("scores"), ", ", of("keys"), by_rows));
    line("out", absl::StrCat("s32[2] dot(", of("values"), ", ", weight(2), by_rows));
    absl::StrAppend(&body, " x", k + 1, " = s32[2] add(", x, ", ", of("out"), ")\n");
    absl::StrAppend(&rows, k > 0 ? ", " : "", of("new"));
  }
  const std::string common =
      absl::StrCat(" p = ", state, " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n",
                   " t = s32[4] get-tuple-element(p), index=1\n zero = s32[] constant(0)\n");
  return absl::StrCat(
      kSumAndMost, "body {\n", common, " cache = s32[", layers,
      ",4,2] get-tuple-element(p), index=2\n one = s32[] constant(1)\n j = s32[] add(i, one)\n",
      " token = s32[1] dynamic-slice(t, i), dynamic_slice_sizes={1}\n",
      " number = s32[] reshape(token)\n x0 = s32[2] broadcast(number), dimensions={}\n", body,
      " last = s32[] reduce(x", layers, ", zero), dimensions={0}, to_apply=sum\n",
      " word = s32[1] reshape(last)\n next = s32[4] dynamic-update-slice(t, word, j)\n",
      " filled = s32[", layers, ",4,2] concatenate(", rows, "), dimensions={0}\n ROOT r = ", state,
      " tuple(j, next, filled", names, ")\n}\ncondition {\n", common,
      " greatest = s32[] reduce(t, zero), dimensions={0}, to_apply=most\n",
      " limit = s32[] constant(", limit, ")\n three = s32[] constant(3)\n",
      " a = pred[] compare(greatest, limit), direction=LT\n",
      " b = pred[] compare(i, three), direction=LT\n ROOT go = pred[] and(a, b)\n}\n",
      "ENTRY e {\n zero = s32[] constant(0)\n t = s32[4] parameter(0)\n cache = s32[", layers,
      ",4,2] parameter(1)\n", parameters, " s = ", state, " tuple(zero, t, cache", names,
      ")\n ROOT l = ", state, " while(s), condition=condition, body=body\n}\n");
}

TEST(WholeLeavesTest, GenerationOfTokensAgreesWithTheReference) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const int limit : {-1000, 3, 1'000'000'000}) {
    const absl::Status status =
        reference::CheckModule(GenerationLoop(/*layers=*/2, limit), /*seed=*/0, &context);
    EXPECT_TRUE(status.ok()) << status;
  }
}

// Every weight of every layer is read wholly by everything that changes, however many there are.
// Rows of the cache that are written before they are read keep their reason.
TEST(WholeLeavesTest, GenerationOfTokensReadsAllWeights) {
  for (const int layers : {2, 24, 96}) {
    for (const LeafPair& leaves : LeavesNotExact(GenerationLoop(layers, 1000))) {
      EXPECT_EQ(leaves.second, 2) << layers << " layers, leaf " << leaves.first;
    }
  }
}

}  // namespace
}  // namespace xla_indexing::reference

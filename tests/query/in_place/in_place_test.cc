#include "xla_indexing/query/in_place/in_place.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::Property;
using ::testing::StartsWith;

class InPlaceTest : public ::testing::Test {
 protected:
  InPlaceAnalysis AnalysisOf(absl::string_view instructions) {
    auto module = ParseAndVerifyModule(absl::StrCat(
        "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n",
        "keep { ROOT a = f32[] parameter(0) b = f32[] parameter(1) }\n",
        "erase { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] constant(7) }\n",
        "ENTRY e {\n", instructions, "\n}\n"));
    EXPECT_TRUE(module.ok()) << module.status();
    modules_.push_back(*std::move(module));
    auto analysis =
        InPlaceAnalysis::OfComputation(*modules_.back()->entry_computation(), indexers_);
    EXPECT_TRUE(analysis.ok()) << analysis.status();
    return *std::move(analysis);
  }
  InPlaceSafety SafetyOf(absl::string_view instructions, const SharedBuffer& buffer = {}) {
    InPlaceAnalysis analysis = AnalysisOf(instructions);
    const auto safety = analysis.Safety(buffer);
    EXPECT_TRUE(safety.ok()) << safety.status();
    return *safety;
  }
  std::string Of(absl::string_view instructions, const SharedBuffer& buffer = {}) {
    return SafetyOf(instructions, buffer).ToString();
  }
  std::string WrittenOf(absl::string_view instructions) {
    InPlaceAnalysis analysis = AnalysisOf(instructions);
    const auto written = analysis.Written({});
    EXPECT_TRUE(written.ok()) << written.status();
    std::string text = absl::StrCat(written->count.ToString(), " of ", written->of);
    for (const OperandIndexing& map : written->elements) {
      absl::StrAppend(&text, "; ", map.MapToString());
    }
    return text;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  HloIndexers indexers_{&context_};
  std::vector<std::unique_ptr<HloModule>> modules_;
};

// The program of a miscompilation: an update is the array itself, moved by one.
constexpr absl::string_view kOverlap = R"(p = s32[4,1,1] parameter(0)
    b = s32[1,4,1] bitcast(p)
    s = s32[3,1,1] slice(p), slice={[0:3], [0:1], [0:1]}
    u = s32[1,3,1] bitcast(s)
    zero = s32[] constant(0)
    one = s32[] constant(1)
    ROOT r = s32[1,4,1] dynamic-update-slice(b, u, zero, one, zero))";

TEST_F(InPlaceTest, AnUpdateThatIsTheArrayMovedByOneIsSafeDownwardsOnly) {
  const InPlaceSafety safety = SafetyOf(kOverlap);
  EXPECT_EQ(safety.answer, InPlaceAnswer::kInOrder);
  EXPECT_THAT(safety.order, ElementsAre(DirectedLoop{1, true}));
  ASSERT_TRUE(safety.conflict);
  EXPECT_THAT(safety.conflict->writer, ElementsAre(0, 1, 0));
  EXPECT_THAT(safety.conflict->reader, ElementsAre(0, 2, 0));
  EXPECT_THAT(safety.conflict->operand, ElementsAre(1, 0, 0));
  EXPECT_EQ(safety.conflict->byte, 4);
  EXPECT_EQ(safety.ToString(),
            "in order d1 descending; otherwise unsafe: element {0,1,0} is written before element "
            "{0,2,0} reads element {1,0,0} of the operand, at byte 4");

  InPlaceAnalysis analysis = AnalysisOf(kOverlap);
  EXPECT_EQ(analysis.SafetyIn({}, {{1, false}})->answer, InPlaceAnswer::kUnsafe);
  EXPECT_EQ(analysis.SafetyIn({}, {{1, true}})->answer, InPlaceAnswer::kInOrder);
  EXPECT_EQ(analysis.SafetyIn({}, {{0, false}, {1, true}})->answer, InPlaceAnswer::kInOrder);
  EXPECT_FALSE(analysis.SafetyIn({}, {{1, true}, {1, false}}).ok());
  EXPECT_FALSE(analysis.SafetyIn({}, {{3, true}}).ok());
}

TEST_F(InPlaceTest, WhatReadsItsOwnPlaceAloneIsSafe) {
  EXPECT_EQ(Of("p = f32[20,30] parameter(0) ROOT n = f32[20,30] negate(p)"), "any order");
  // Also where indices differ and places do not.
  EXPECT_EQ(Of("p = f32[20,30] parameter(0) t = f32[30,20]{0,1} transpose(p), dimensions={1,0} "
               "ROOT n = f32[30,20]{0,1} negate(t)"),
            "any order");
  // The same indices are not the same places in another layout.
  EXPECT_THAT(Of("p = f32[2,3] parameter(0) ROOT n = f32[2,3]{0,1} copy(p)"),
              HasSubstr("unsafe: element {"));
}

TEST_F(InPlaceTest, ElementsThatExchangePlacesAreUnsafeInEveryOrder) {
  // Element f reads 999999 - f, which is before it where f is at least 500000.
  EXPECT_EQ(Of("p = f32[1000000] parameter(0) ROOT r = f32[1000000] reverse(p), dimensions={0}"),
            "unsafe: element {499999} is written before element {500000} reads element {499999} of "
            "the operand, at byte 1999996");
  EXPECT_THAT(Of("p = f32[512,512] parameter(0) t = f32[512,512] transpose(p), dimensions={1,0} "
                 "ROOT a = f32[512,512] add(p, t)"),
              HasSubstr("unsafe: element {0,1} is written before element {1,0} reads"));
}

TEST_F(InPlaceTest, ADependenceOfSeveralLoopsNeedsTheOutermostOfThem) {
  // Element (i, j) reads (i - 1, j + 1): rows downwards, or else columns upwards.
  const std::string moved = R"(p = f32[8,8] parameter(0)
      s = f32[7,7] slice(p), slice={[0:7], [1:8]}
      one = s32[] constant(1)
      zero = s32[] constant(0)
      ROOT r = f32[8,8] dynamic-update-slice(p, s, one, zero))";
  EXPECT_THAT(Of(moved), HasSubstr("in order d0 descending; otherwise unsafe"));
  InPlaceAnalysis analysis = AnalysisOf(moved);
  EXPECT_TRUE(analysis.SafetyIn({}, {{1, false}})->IsSafe());
  EXPECT_FALSE(analysis.SafetyIn({}, {{1, true}})->IsSafe());
  EXPECT_FALSE(analysis.SafetyIn({}, {{0, false}, {1, false}})->IsSafe());
}

TEST_F(InPlaceTest, ARuntimeStartDecidesAndTheConditionSaysWhere) {
  const std::string update = R"(p = f32[100] parameter(0)
      start = s32[] parameter(1)
      s = f32[10] slice(p), slice={[0:10]}
      n = f32[10] negate(s)
      ROOT r = f32[100] dynamic-update-slice(p, n, start))";
  const InPlaceSafety safety = SafetyOf(update);
  EXPECT_THAT(safety.order, ElementsAre(DirectedLoop{0, true}));
  EXPECT_THAT(safety.conditions,
              ElementsAre(Property(&RuntimeCondition::ToString, "start <= 0 or start >= 10")));
  ASSERT_TRUE(safety.conflict);
  EXPECT_THAT(safety.conflict->runtime_values, ElementsAre(Pair("start", 1)));
}

TEST_F(InPlaceTest, WhereNoOrderIsSafeForAllStartsEachSaysForWhich) {
  // Element f of [start, start + 10) reads element f - start + 5.
  const InPlaceSafety safety = SafetyOf(R"(p = f32[100] parameter(0)
      start = s32[] parameter(1)
      s = f32[10] slice(p), slice={[5:15]}
      ROOT r = f32[100] dynamic-update-slice(p, s, start))");
  EXPECT_EQ(safety.answer, InPlaceAnswer::kUnsafe);
  EXPECT_THAT(safety.ToString(),
              HasSubstr("; any order where start >= 15; in order d0 ascending where start <= 5 or "
                        "start >= 15; in order d0 descending where start >= 5"));
}

TEST_F(InPlaceTest, ADistanceOfTwoStartsIsACondition) {
  EXPECT_THAT(Of(R"(p = f32[100] parameter(0)
                    from = s32[] parameter(1)
                    to = s32[] parameter(2)
                    s = f32[10] dynamic-slice(p, from), dynamic_slice_sizes={10}
                    ROOT r = f32[100] dynamic-update-slice(p, s, to))"),
              HasSubstr("from = 0 and to = 1; any order where from - to <= -10 or from - to >= 10; "
                        "in order d0 ascending where from - to <= -10 or from - to >= 0; "
                        "in order d0 descending where from - to <= 0 or from - to >= 10"));
}

TEST_F(InPlaceTest, EitherOfTwoStartsIsEnough) {
  const InPlaceSafety safety = SafetyOf(R"(p = f32[8,8] parameter(0)
      i = s32[] parameter(1)
      j = s32[] parameter(2)
      s = f32[2,3] slice(p), slice={[0:2], [0:3]}
      n = f32[2,3] negate(s)
      ROOT r = f32[8,8] dynamic-update-slice(p, n, i, j))");
  EXPECT_THAT(safety.ToString(),
              AllOf(HasSubstr("; any order where i >= 2"), HasSubstr("; any order where j >= 3")));
}

// Element f of [to, to + m) of n elements reads f - to + from, and all of these change, or where elements
// are only moved, those that move. The pairs (reader, writer) in conflict.
std::vector<std::pair<int, int>> ConflictsOfUpdate(int from, int to, int m, bool is_moved) {
  std::vector<std::pair<int, int>> conflicts;
  for (int f = to; f < to + m; ++f) {
    const int e = f - to + from;
    const bool changes = e >= to && e < to + m && !(is_moved && from == to);
    if (changes && e != f) conflicts.emplace_back(f, e);
  }
  return conflicts;
}

bool IsSafeUpdate(const LoopOrder& order, const std::vector<std::pair<int, int>>& conflicts) {
  for (const auto& [reader, writer] : conflicts) {
    if (order.empty() || (order[0].is_descending ? writer > reader : writer < reader)) return false;
  }
  return true;
}

TEST_F(InPlaceTest, ConditionsAreTheLeastForAllSmallUpdates) {
  int conditions = 0;
  for (int n = 1; n <= 5; ++n) {
    for (int m = 1; m <= n; ++m) {
      for (int from = -1; from + m <= n; ++from) {  // -1: a parameter, too
        for (const bool is_moved : {false, true}) {
          const std::string array = absl::StrCat("f32[", n, "]");
          const std::string piece = absl::StrCat("f32[", m, "]");
          const std::string slice =
              from < 0 ? absl::StrCat("dynamic-slice(p, from), dynamic_slice_sizes={", m, "}")
                       : absl::StrCat("slice(p), slice={[", from, ":", from + m, "]}");
          const InPlaceSafety safety = SafetyOf(absl::StrCat(
              "p = ", array, " parameter(0) from = s32[] parameter(1) to = s32[] parameter(2) s = ",
              piece, " ", slice, " n = ", piece, is_moved ? " copy(s)" : " negate(s)",
              " ROOT r = ", array, " dynamic-update-slice(p, n, to)"));
          for (const RuntimeCondition& condition : safety.conditions) {
            SCOPED_TRACE(absl::StrCat("n ", n, " m ", m, " from ", from, ": ", safety.ToString()));
            ++conditions;
            bool is_low_unsafe = false;
            bool is_high_unsafe = false;
            for (int a = from < 0 ? 0 : from; a <= (from < 0 ? n - m : from); ++a) {
              for (int to = 0; to + m <= n; ++to) {
                const int64_t value = condition.runtime == "to"     ? to
                                      : condition.runtime == "from" ? a
                                                                    : a - to;
                const bool is_safe =
                    IsSafeUpdate(condition.order, ConflictsOfUpdate(a, to, m, is_moved));
                EXPECT_TRUE(is_safe || condition.unsafe.Contains(value)) << a << " " << to;
                is_low_unsafe |= !is_safe && value == condition.unsafe.lower();
                is_high_unsafe |= !is_safe && value == condition.unsafe.upper();
              }
            }
            EXPECT_TRUE(is_low_unsafe && is_high_unsafe);
          }
        }
      }
    }
  }
  EXPECT_GT(conditions, 50);
}

TEST_F(InPlaceTest, AnOutputThatIsLargerIsUnsafe) {
  EXPECT_EQ(Of("p = f32[4] parameter(0) b = f32[2,4] broadcast(p), dimensions={1} "
               "ROOT n = f32[2,4] negate(b)"),
            "unsafe: the output has 32 bytes and the operand 16");
}

TEST_F(InPlaceTest, ValuesThatAreComputedLeaveItUndecided) {
  EXPECT_EQ(Of(R"(p = f32[100] parameter(0)
                  q = f32[] parameter(1)
                  start = s32[] convert(q)
                  s = f32[10] slice(p), slice={[0:10]}
                  ROOT r = f32[100] dynamic-update-slice(p, s, start))"),
            "in order d0 descending; any order where start <= 0 or start >= 10");
  EXPECT_THAT(Of(R"(p = f32[100] parameter(0)
                    q = f32[] parameter(1)
                    start = s32[] convert(q)
                    s = f32[10] slice(p), slice={[50:60]}
                    ROOT r = f32[100] dynamic-update-slice(p, s, start))"),
              HasSubstr("undecided: it depends on the values of start, which are computed"));
}

TEST_F(InPlaceTest, LocationsAreBytes) {
  // Each s32 is read for four bytes, the first of which is written before the last is computed.
  EXPECT_EQ(Of("p = s32[6] parameter(0) b = u8[6,4] bitcast-convert(p) "
               "ROOT n = u8[6,4] not(b)"),
            "unsafe: element {0,0} is written before element {0,1} reads element {0} of the "
            "operand, at byte 0");
  EXPECT_EQ(Of("p = u8[6,4] parameter(0) ROOT b = s32[6] bitcast-convert(p)"), "any order");
  // Two elements of a byte are written at once; bytes that are exchanged are not.
  EXPECT_EQ(Of("p = s4[6,2] parameter(0) ROOT r = s4[6,2] reverse(p), dimensions={1}"),
            "any order");
  EXPECT_THAT(Of("p = s4[6,4] parameter(0) ROOT r = s4[6,4] reverse(p), dimensions={1}"),
              HasSubstr("unsafe"));
  EXPECT_EQ(Of("p = s4[7,3] parameter(0) ROOT n = s4[7,3] negate(p)"), "any order");
  EXPECT_EQ(Of("p = s4[7,3] parameter(0) ROOT r = s4[7,3] reverse(p), dimensions={1}"),
            "undecided: elements are narrower than a byte, and rows no whole bytes");
}

TEST_F(InPlaceTest, TilesAreExact) {
  EXPECT_EQ(Of("p = f32[8,256]{1,0:T(8,128)} parameter(0) "
               "ROOT n = f32[8,256]{1,0:T(8,128)} negate(p)"),
            "any order");
  EXPECT_THAT(Of("p = f32[8,256]{1,0:T(8,128)} parameter(0) ROOT n = f32[8,256]{1,0} copy(p)"),
              HasSubstr("unsafe: element {0,128} is written before"));
}

TEST_F(InPlaceTest, AnotherOutputOfEqualSizesIsComputedAtOnce) {
  const std::string two = R"(p = f32[8] parameter(0)
      q = f32[8] parameter(1)
      n = f32[8] negate(p)
      a = f32[8] add(p, q)
      ROOT t = (f32[8], f32[8]) tuple(n, a))";
  EXPECT_EQ(Of(two), "any order");
  InPlaceAnalysis analysis = AnalysisOf(two);
  EXPECT_THAT(analysis.Candidates().size(), 4);
  const auto sharing = analysis.Share();
  ASSERT_TRUE(sharing.ok());
  // Output 0 fits both; output 1, too.
  EXPECT_EQ(sharing->shared.size(), 2);
  EXPECT_THAT(sharing->order, IsEmpty());
}

TEST_F(InPlaceTest, AnOutputOfOtherSizesReadsAtAnyTime) {
  EXPECT_THAT(Of(R"(p = f32[8] parameter(0)
                    zero = f32[] constant(0)
                    n = f32[8] negate(p)
                    s = f32[] reduce(p, zero), dimensions={0}, to_apply=add
                    ROOT t = (f32[8], f32[]) tuple(n, s))"),
              HasSubstr("is written before element {} of output 1 reads element {0}"));
}

TEST_F(InPlaceTest, MatchingGivesEachOutputABufferOfItsOwn) {
  // Both outputs may only be in p, since they read q elsewhere.
  InPlaceAnalysis analysis = AnalysisOf(R"(p = f32[8] parameter(0)
      q = f32[8] parameter(1)
      r = f32[8] reverse(q), dimensions={0}
      n = f32[8] add(p, r)
      ROOT t = (f32[8], f32[8]) tuple(n, n))");
  const auto sharing = analysis.Share();
  ASSERT_TRUE(sharing.ok());
  EXPECT_THAT(sharing->shared, ElementsAre(SharedBuffer{0, {0, 0}}));
}

TEST_F(InPlaceTest, OnlyWhatChangesIsWritten) {
  EXPECT_EQ(WrittenOf(kOverlap),
            "[3, 3] of 4; (d0, d1, d2) -> (0, d1, 0), domain: d0 in [0, 0], d1 in [1, 3], d2 in "
            "[0, 0]");
  EXPECT_EQ(WrittenOf("p = f32[9] parameter(0) q = f32[4] parameter(1) "
                      "s = f32[5] slice(p), slice={[0:5]} "
                      "ROOT c = f32[9] concatenate(s, q), dimensions={0}"),
            "[4, 4] of 9; (d0) -> (d0), domain: d0 in [5, 8]");
  EXPECT_EQ(WrittenOf("p = f32[9] parameter(0) z = f32[] constant(0) "
                      "ROOT c = f32[9] pad(p, z), padding=-2_2"),
            "[9, 9] of 9; (d0) -> (d0), domain: d0 in [0, 8]");
  EXPECT_EQ(WrittenOf("p = f32[9] parameter(0) z = f32[] constant(0) "
                      "s = f32[7] slice(p), slice={[0:7]} ROOT c = f32[9] pad(s, z), padding=0_2"),
            "[2, 2] of 9; (d0) -> (d0), domain: d0 in [7, 8]");
  EXPECT_EQ(WrittenOf("p = f32[9] parameter(0) ROOT c = f32[9] copy(p)"), "[0, 0] of 9");
  EXPECT_THAT(WrittenOf(R"(p = f32[9] parameter(0)
                           i = s32[2,1] parameter(1)
                           u = f32[2] parameter(2)
                           ROOT s = f32[9] scatter(p, i, u), update_window_dims={},
                             inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
                             index_vector_dim=1, to_apply=add)"),
              HasSubstr("d0 - rt0 in [0, 0]"));
}

TEST_F(InPlaceTest, UpdatesThatChangeNothingAreNotWritten) {
  const auto scatter = [&](absl::string_view indices, absl::string_view updates,
                           absl::string_view combiner = "add") {
    return WrittenOf(absl::StrCat(
        "x = f32[8,3] parameter(0) ", indices, " ", updates,
        " ROOT s = f32[8,3] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=",
        combiner));
  };
  const std::string two = "u = f32[2,3] parameter(1)";
  EXPECT_EQ(scatter("i = s32[0,1] parameter(2)", "u = f32[0,3] parameter(1)"), "[0, 0] of 24");
  EXPECT_EQ(scatter("i = s32[2,1] constant({{8},{-1}})", two), "[0, 0] of 24");
  EXPECT_THAT(scatter("i = s32[2,1] constant({{8},{5}})", two), StartsWith("[3, 3] of 24"));
  EXPECT_THAT(scatter("i = s32[2,1] constant({{5},{5}})", two), StartsWith("[3, 3] of 24"));
  EXPECT_EQ(scatter("i = s32[2,1] parameter(2)", two, "keep"), "[0, 0] of 24");
  // What replaces elements by a value of the combiner's own: where, is not followed.
  EXPECT_THAT(scatter("i = s32[2,1] parameter(2)", two, "erase"), StartsWith("[0, 24] of 24"));
  EXPECT_EQ(WrittenOf("x = f32[8,3] parameter(0) u = f32[0,3] parameter(1) i = s32[] parameter(2) "
                      "ROOT s = f32[8,3] dynamic-update-slice(x, u, i, i)"),
            "[0, 0] of 24");
  EXPECT_EQ(WrittenOf("x = f32[8,3] parameter(0) i = s32[] parameter(1) z = s32[] constant(0) "
                      "v = f32[2,3] dynamic-slice(x, i, z), dynamic_slice_sizes={2,3} "
                      "ROOT s = f32[8,3] dynamic-update-slice(x, v, i, z)"),
            "[0, 0] of 24");
  EXPECT_EQ(WrittenOf("x = f32[8,3] parameter(0) a = f32[8,3] reverse(x), dimensions={0} "
                      "ROOT s = f32[8,3] reverse(a), dimensions={0}"),
            "[0, 0] of 24");
  EXPECT_EQ(WrittenOf("x = f32[8,3] parameter(0) y = f32[0,3] parameter(1) "
                      "ROOT s = f32[8,3] concatenate(y, x), dimensions={0}"),
            "[0, 0] of 24");
  EXPECT_EQ(WrittenOf("x = f32[8,3] parameter(0) z = f32[] parameter(1) "
                      "ROOT s = f32[8,3] pad(x, z), padding=0_0x0_0"),
            "[0, 0] of 24");
}

TEST_F(InPlaceTest, RowsReadAtValuesThatAreReadAtOthersMayAllChange) {
  // Row d is row at[at[d]] of the reverse: where `at` is {0, 1} both rows change.
  EXPECT_THAT(WrittenOf(R"(x = f32[2,3] parameter(0)
                           at = s32[2,1] parameter(1)
                           r = f32[2,3] reverse(x), dimensions={0}
                           g = f32[2,3] gather(r, at), offset_dims={1}, collapsed_slice_dims={0},
                             start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
                           ROOT h = f32[2,3] gather(g, at), offset_dims={1}, collapsed_slice_dims={0},
                             start_index_map={0}, index_vector_dim=1, slice_sizes={1,3})"),
              StartsWith("[0, 6] of 6"));
}

TEST_F(InPlaceTest, AScatterChangesNoMoreThanItHasUpdates) {
  const auto scatter = [&](absl::string_view indices, absl::string_view size,
                           absl::string_view dims) {
    return WrittenOf(absl::StrCat("x = f32[1000] parameter(0) ", indices, " u = ", size,
                                  " parameter(1) ROOT s = f32[1000] scatter(x, i, u), ", dims,
                                  ", scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
                                  "to_apply=add"));
  };
  const std::string scalars = "update_window_dims={}, inserted_window_dims={0}";
  const std::string windows = "update_window_dims={1}, inserted_window_dims={}";
  const std::string three = "i = s32[3,1] parameter(2)";
  EXPECT_THAT(scatter(three, "f32[3]", scalars), StartsWith("[0, 3] of 1000"));
  EXPECT_THAT(scatter(three, "f32[3,5]", windows), StartsWith("[0, 15] of 1000"));
  EXPECT_THAT(scatter("i = s32[1,1] parameter(2)", "f32[1,5]", windows),
              StartsWith("[0, 5] of 1000"));
  EXPECT_THAT(scatter("i = s32[3,1] constant({{0},{3},{900}})", "f32[3,5]", windows),
              StartsWith("[13, 13] of 1000"));
}

TEST_F(InPlaceTest, CandidatesOfTheSamePositionComeFirst) {
  InPlaceAnalysis analysis = AnalysisOf(R"(p = f32[8] parameter(0)
      q = (f32[8], f32[2]) parameter(1)
      r = f32[8] parameter(2)
      a = f32[8] negate(p)
      b = f32[8] get-tuple-element(q), index=0
      ROOT t = (f32[8], f32[8]) tuple(a, b))");
  EXPECT_THAT(analysis.Candidates(), ElementsAre(SharedBuffer{0, {0, 0}}, SharedBuffer{1, {1, 0}},
                                                 SharedBuffer{0, {1, 0}}, SharedBuffer{0, {2, 0}},
                                                 SharedBuffer{1, {0, 0}}, SharedBuffer{1, {2, 0}}));
  EXPECT_THAT(analysis.Candidates({.output_leaf = 1, .operand = 2}),
              ElementsAre(SharedBuffer{1, {2, 0}}));
  EXPECT_THAT(analysis.Candidates({.max_pairs = 2}),
              ElementsAre(SharedBuffer{0, {0, 0}}, SharedBuffer{1, {1, 0}}));
  EXPECT_EQ(analysis.CountCandidates({.max_pairs = 2}), 6);
  EXPECT_EQ(analysis.CountCandidates({.operand = 1}), 2);
  EXPECT_TRUE(analysis.IsCandidate({1, {2, 0}}));
  EXPECT_FALSE(analysis.IsCandidate({1, {1, 1}}));
  EXPECT_FALSE(analysis.IsCandidate({1, {3, 0}}));
}

TEST_F(InPlaceTest, WhereWidthsChangePartsOfElementsAreLeftInPlace) {
  // The bytes of each element, as they are, and in another order.
  EXPECT_EQ(WrittenOf("p = s32[6] parameter(0) ROOT b = u8[6,4] bitcast-convert(p)"),
            "[0, 0] of 24");
  EXPECT_EQ(WrittenOf("p = u8[6,4] parameter(0) ROOT b = s32[6] bitcast-convert(p)"),
            "[0, 0] of 6");
  EXPECT_EQ(WrittenOf("p = s32[6] parameter(0) b = u8[6,4] bitcast-convert(p) "
                      "ROOT r = u8[6,4] reverse(b), dimensions={1}"),
            "[24, 24] of 24; (d0, d1) -> (d0, d1), domain: d0 in [0, 5], d1 in [0, 3]");
  // The middle of three halves stays, so that elements 0 and 2 change, and those of one width do.
  EXPECT_THAT(WrittenOf("p = u16[3,2] parameter(0) h = s32[3] bitcast-convert(p) "
                        "ROOT r = s32[3] reverse(h), dimensions={0}"),
              StartsWith("[2, 2] of 3"));
  // Two of four bytes are new: every element changes.
  EXPECT_THAT(WrittenOf("p = s32[3] parameter(0) b = u16[3,2] bitcast-convert(p) "
                        "q = u16[3,1] parameter(1) z = s32[] constant(0) "
                        "u = u16[3,2] dynamic-update-slice(b, q, z, z) "
                        "ROOT r = s32[3] bitcast-convert(u)"),
              StartsWith("[3, 3] of 3"));
}

TEST_F(InPlaceTest, ThreadsRunInAnyOrderAndLoopsUpwards) {
  const std::string moved = R"(p = f32[8,8] parameter(0)
      s = f32[7,8] slice(p), slice={[1:8], [0:8]}
      zero = s32[] constant(0)
      ROOT r = f32[8,8] dynamic-update-slice(p, s, zero, zero))";
  InPlaceAnalysis analysis = AnalysisOf(moved);
  const auto under = [&](const std::string& text, llvm::SmallVector<int, 1> together = {}) {
    const auto map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status();
    const auto safety = analysis.SafetyUnder({}, {*map, together});
    return safety.ok() ? safety->answer : InPlaceAnswer::kUndecided;
  };
  // A thread for each column goes down it, reading the next row before it is written.
  EXPECT_EQ(under("(d0)[s0] -> (s0, d0), domain: d0 in [0, 7], s0 in [0, 7]"),
            InPlaceAnswer::kAnyOrder);
  EXPECT_EQ(under("(d0)[s0] -> (7 - s0, d0), domain: d0 in [0, 7], s0 in [0, 7]"),
            InPlaceAnswer::kUnsafe);
  EXPECT_EQ(under("(d0)[s0] -> (d0, s0), domain: d0 in [0, 7], s0 in [0, 7]"),
            InPlaceAnswer::kUnsafe);
  // Two rows are read at once before they are written, in either order.
  EXPECT_EQ(under("(d0)[s0, s1] -> (s0 * 2 + s1, d0), domain: d0 in [0, 7], s0 in [0, 3], "
                  "s1 in [0, 1]",
                  {1}),
            InPlaceAnswer::kAnyOrder);
  EXPECT_EQ(under("(d0)[s0] -> (s0 * 0, d0), domain: d0 in [0, 7], s0 in [0, 7]"),
            InPlaceAnswer::kUndecided);
  EXPECT_FALSE(
      analysis.SafetyUnder({}, {*ParseIndexingMap("(d0) -> (d0), domain: d0 in [0, 7]", &context_)})
          .ok());
}

TEST_F(InPlaceTest, LeavesThatThereAreNotAreErrors) {
  InPlaceAnalysis analysis = AnalysisOf("p = f32[2] parameter(0) ROOT n = f32[2] negate(p)");
  EXPECT_FALSE(analysis.Safety({1, {0, 0}}).ok());
  EXPECT_FALSE(analysis.Safety({0, {1, 0}}).ok());
  EXPECT_FALSE(analysis.Written({0, {0, -1}}).ok());
}

TEST_F(InPlaceTest, AnOperandThatNothingReadsMayBeOverwritten) {
  EXPECT_EQ(Of("p = f32[8] parameter(0) c = f32[] constant(1) "
               "ROOT b = f32[8] broadcast(c), dimensions={}"),
            "any order");
}

TEST_F(InPlaceTest, NothingIsReadOrWrittenOfArraysWithoutElements) {
  EXPECT_EQ(Of("p = f32[0,3] parameter(0) ROOT r = f32[0,3] reverse(p), dimensions={1}"),
            "any order");
  EXPECT_EQ(Of("p = f32[] parameter(0) ROOT r = f32[] negate(p)"), "any order");
  EXPECT_EQ(Of("p = f32[9223372036854775807] parameter(0) "
               "ROOT r = f32[9223372036854775807] negate(p)"),
            "any order");
}

TEST_F(InPlaceTest, BuffersOfOtherMemorySpacesAreNotShared) {
  const std::string other = "unsafe: the output is in memory space 0 and the operand in ";
  EXPECT_EQ(Of("x = f32[64]{0:S(5)} parameter(0) u = f32[4]{0} parameter(1) i = s32[] parameter(2) "
               "ROOT d = f32[64]{0} dynamic-update-slice(x, u, i)"),
            other + "5");
  EXPECT_EQ(WrittenOf("x = f32[64]{0:S(5)} parameter(0) ROOT c = f32[64]{0} copy(x)"),
            "[64, 64] of 64; (d0) -> (d0), domain: d0 in [0, 63]");
  EXPECT_EQ(Of("x = f32[64] parameter(0) ROOT n = s32[64] bitcast-convert(x)"), "any order");
  InPlaceAnalysis analysis = AnalysisOf(
      "x = f32[64]{0:S(5)} parameter(0) y = f32[64] parameter(1) ROOT n = f32[64] add(x, y)");
  const auto sharing = analysis.Share();
  ASSERT_TRUE(sharing.ok());
  EXPECT_THAT(sharing->shared, ElementsAre(SharedBuffer{0, {1, 0}}));
}

}  // namespace
}  // namespace xla_indexing

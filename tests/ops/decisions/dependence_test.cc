// What decides that elements do not matter, operation by operation.

#include "xla_indexing/ops/decisions/dependence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tests/ops/decisions/dependence_pairs.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {
namespace {

TEST_F(DependenceTest, SelectDependsOnTheValueThatIsChosen) {
  const std::string text = Entry(Triangle("f32") + "  ROOT r = f32[4,6] select(chosen, x, mask)");
  EXPECT_EQ(DependsOn(text, Dependence::kValues), Where(4, 6, IsInTriangle));
  EXPECT_EQ(DependsOn(text, Dependence::kReads),
            Where(4, 6, [](int64_t, int64_t) { return true; }));
}

TEST_F(DependenceTest, FloatsTimesZeroAreZeroIfTheyAreFinite) {
  const std::string text = Entry(Triangle("f32") + "  ROOT r = f32[4,6] multiply(x, mask)");
  EXPECT_EQ(DependsOn(text, Dependence::kFiniteValues), Where(4, 6, IsInTriangle));
  // 0 * infinity is not a number.
  EXPECT_EQ(DependsOn(text, Dependence::kValues),
            Where(4, 6, [](int64_t, int64_t) { return true; }));
}

TEST_F(DependenceTest, WhatIsAddedToAnInfiniteNumberDoesNotMatter) {
  for (const char* large : {"-inf", "-1e30", "-1e9", "inf"}) {
    const std::string text = Entry(Triangle("f32") + absl::StrCat(R"(
  large = f32[] constant()",
                                                                  large, R"()
  larges = f32[4,6] broadcast(large), dimensions={}
  zero = f32[] constant(0)
  zeros = f32[4,6] broadcast(zero), dimensions={}
  bias = f32[4,6] select(chosen, zeros, larges)
  ROOT r = f32[4,6] add(bias, x))"));
    EXPECT_EQ(DependsOn(text, Dependence::kFiniteValues), Where(4, 6, IsInTriangle)) << large;
  }
  const std::string text = Entry(Triangle("f32") + R"(
  middle = f32[] constant(-1e8)
  middles = f32[4,6] broadcast(middle), dimensions={}
  bias = f32[4,6] multiply(mask, middles)
  ROOT r = f32[4,6] add(bias, x))");
  EXPECT_EQ(DependsOn(text, Dependence::kFiniteValues),
            Where(4, 6, [](int64_t, int64_t) { return true; }));
}

TEST_F(DependenceTest, FactorsOfAnExponentialOfMinusInfinityDoNotMatter) {
  // softmax(where(chosen, y, -inf)) times rows of x: row i depends on rows k <= i + 1.
  const std::string text = R"(
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[6,2] parameter(0)
  y = f32[4,6] parameter(1))" +
                           Triangle("f32") +
                           R"(
  infinity = f32[] constant(-inf)
  infinities = f32[4,6] broadcast(infinity), dimensions={}
  zero = f32[] constant(0)
  scores = f32[4,6] select(chosen, y, infinities)
  greatest = f32[4] reduce(scores, infinity), dimensions={1}, to_apply=max
  all = f32[4,6] broadcast(greatest), dimensions={0}
  below = f32[4,6] subtract(scores, all)
  powers = f32[4,6] exponential(below)
  total = f32[4] reduce(powers, zero), dimensions={1}, to_apply=sum
  totals = f32[4,6] broadcast(total), dimensions={0}
  shares = f32[4,6] divide(powers, totals)
  ROOT r = f32[4,2] dot(shares, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
  PairSet expected;
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      for (int64_t k = 0; k < 6; ++k) {
        if (IsInTriangle(i, k)) expected.insert({{i, j}, {k, j}});
      }
    }
  }
  EXPECT_EQ(DependsOn(text, Dependence::kFiniteValues), expected);
}

TEST_F(DependenceTest, AnAllMaskedRowDependsOnNothing) {
  const std::string text = Entry(Triangle("s32") + R"(
  two = s32[] constant(2)
  twos = s32[4,6] broadcast(two), dimensions={}
  some = pred[4,6] compare(i, twos), direction=LT
  both = pred[4,6] and(chosen, some)
  zero = f32[] constant(0)
  zeros = f32[4,6] broadcast(zero), dimensions={}
  ROOT r = f32[4,6] select(both, x, zeros))");
  EXPECT_EQ(DependsOn(text, Dependence::kValues),
            Where(4, 6, [](int64_t i, int64_t k) { return IsInTriangle(i, k) && i < 2; }));
}

TEST_F(DependenceTest, ConstantMasksOfAnyShapeOfRuns) {
  const std::string masks[] = {
      "{{1,0,0,0,0,0},{1,1,0,0,0,0},{1,1,1,0,0,0},{1,1,1,1,0,0}}",
      "{{1,1,0,0,0,0},{1,1,0,0,0,0},{0,0,1,1,0,0},{0,0,0,0,1,1}}",
      "{{1,0,0,0,0,0},{1,1,1,1,0,0},{1,1,0,0,0,0},{1,1,1,0,0,0}}",
      "{{0,0,0,0,0,0},{1,1,1,1,1,1},{0,1,0,1,0,1},{1,0,1,0,1,0}}",
  };
  for (const std::string& mask : masks) {
    std::vector<bool> bits;
    for (const char c : mask) {
      if (c == '0' || c == '1') bits.push_back(c == '1');
    }
    const std::string text = Entry(absl::StrCat(R"(
  zero = f32[] constant(0)
  zeros = f32[4,6] broadcast(zero), dimensions={}
  m = pred[4,6] constant()",
                                                mask, R"()
  ROOT r = f32[4,6] select(m, x, zeros))"));
    EXPECT_EQ(DependsOn(text, Dependence::kValues),
              Where(4, 6, [&](int64_t i, int64_t k) { return bits[i * 6 + k]; }))
        << mask;
  }
}

TEST_F(DependenceTest, TwoCallsWithDifferentMasksDoNotShareAnswers) {
  const std::string text = R"(
inner { m = pred[4,6] parameter(0)  a = f32[4,6] parameter(1)  z = f32[] constant(0)
  zs = f32[4,6] broadcast(z), dimensions={}  ROOT s = f32[4,6] select(m, a, zs) }
first { a = f32[4,6] parameter(0)  m = pred[4,6] parameter(1)
  ROOT c = f32[4,6] call(m, a), to_apply=inner }
second { a = f32[4,6] parameter(0)  m = pred[4,6] parameter(1)
  ROOT c = f32[4,6] call(m, a), to_apply=inner }
ENTRY e {
  x = f32[4,6] parameter(0))" +
                           Triangle("f32") +
                           R"(
  others = pred[4,6] not(chosen)
  a = f32[4,6] call(x, chosen), to_apply=first
  ROOT b = f32[4,6] call(a, others), to_apply=second
})";
  EXPECT_EQ(DependsOn(text, Dependence::kValues), PairSet());
}

// Three iterations that each add the sum of what a mask leaves of x.
std::string SumOfMasked(const std::string& number) {
  return absl::StrCat(
      "body", number,
      " {\n  s = (s32[], f32[], f32[4,6], pred[4,6]) parameter(0)\n"
      "  i = s32[] get-tuple-element(s), index=0\n  a = f32[] get-tuple-element(s), index=1\n"
      "  x = f32[4,6] get-tuple-element(s), index=2\n  m = pred[4,6] get-tuple-element(s), "
      "index=3\n"
      "  one = s32[] constant(1)\n  next = s32[] add(i, one)\n  zero = f32[] constant(0)\n"
      "  zeros = f32[4,6] broadcast(zero), dimensions={}\n  c = f32[4,6] select(m, x, zeros)\n"
      "  new = f32[] reduce(c, a), dimensions={0,1}, to_apply=sum\n"
      "  ROOT t = (s32[], f32[], f32[4,6], pred[4,6]) tuple(next, new, x, m)\n}\n"
      "until",
      number,
      " {\n  s = (s32[], f32[], f32[4,6], pred[4,6]) parameter(0)\n"
      "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(3)\n"
      "  ROOT c = pred[] compare(i, n), direction=LT\n}\n");
}

// Two of these loops, of x with the masks `first` and `second`.
std::string TwoLoops(const std::string& first, const std::string& second) {
  return absl::StrCat(
      "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n",
      SumOfMasked("1"), SumOfMasked("2"), "ENTRY e {\n  x = f32[4,6] parameter(0)\n",
      Triangle("f32"),
      "  others = pred[4,6] not(chosen)\n  begin = s32[] constant(0)\n  zero = f32[] constant(0)\n"
      "  s1 = (s32[], f32[], f32[4,6], pred[4,6]) tuple(begin, zero, x, ",
      first,
      ")\n"
      "  w1 = (s32[], f32[], f32[4,6], pred[4,6]) while(s1), condition=until1, body=body1\n"
      "  s2 = (s32[], f32[], f32[4,6], pred[4,6]) tuple(begin, zero, x, ",
      second,
      ")\n"
      "  w2 = (s32[], f32[], f32[4,6], pred[4,6]) while(s2), condition=until2, body=body2\n"
      "  r1 = f32[] get-tuple-element(w1), index=1\n  r2 = f32[] get-tuple-element(w2), index=1\n"
      "  v1 = f32[1] reshape(r1)\n  v2 = f32[1] reshape(r2)\n"
      "  ROOT r = f32[2] concatenate(v1, v2), dimensions={0}\n}");
}

TEST_F(DependenceTest, EqualLoopsWithDifferentMasksDoNotShareAnswers) {
  PairSet expected;
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t k = 0; k < 6; ++k) {
      expected.insert({{IsInTriangle(i, k) ? 0 : 1}, {i, k}});
    }
  }
  EXPECT_EQ(DependsOn(TwoLoops("chosen", "others"), Dependence::kValues), expected);
}

// multiply(x, m) with a mask that a called computation is given.
std::string CalledTwice(const std::string& first, const std::string& second) {
  return absl::StrCat(
      "masked { a = f32[4,6] parameter(0)  m = f32[4,6] parameter(1)\n"
      "  ROOT c = f32[4,6] multiply(a, m) }\nENTRY e {\n  x = f32[4,6] parameter(0)\n",
      Triangle("f32"), "  others = pred[4,6] not(chosen)\n  other = f32[4,6] convert(others)\n",
      "  a = f32[4,6] call(x, ", first, "), to_apply=masked\n  b = f32[4,6] call(x, ", second,
      "), to_apply=masked\n  ROOT r = f32[4,6] add(a, b)\n}");
}

TEST_F(DependenceTest, CallersThatPassOneMaskAreFollowed) {
  EXPECT_EQ(DependsOn(CalledTwice("mask", "mask"), Dependence::kFiniteValues),
            Where(4, 6, IsInTriangle));
}

TEST_F(DependenceTest, AMaskThatComesFromFarIsNotSaidToBeData) {
  // Through more calls than are followed, one in another.
  std::string text =
      "c0 { a = f32[8] parameter(0)  m = f32[8] parameter(1)  ROOT r = f32[8] multiply(a, m) }\n";
  constexpr int kCalls = 300;
  for (int i = 1; i < kCalls; ++i) {
    absl::StrAppend(&text, "c", i, " { a = f32[8] parameter(0)  m = f32[8] parameter(1)\n",
                    "  ROOT r = f32[8] call(a, m), to_apply=c", i - 1, " }\n");
  }
  absl::StrAppend(&text, "ENTRY e { x = f32[8] parameter(0)  k = f32[8] iota(), iota_dimension=0\n",
                  "  ROOT r = f32[8] call(x, k), to_apply=c", kCalls - 1, " }");
  const auto module = ParseAndVerifyModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  FusionOptions options;
  options.indexing.dependence = Dependence::kFiniteValues;
  HloIndexer indexer(&context_, options);
  const auto entries = indexer.Index(*(*module)->FindComputation("c0"), Direction::kOutputToInput);
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_EQ((*entries)->front().indexing.label().exactness, Exactness::kOverApproximate);
}

TEST_F(DependenceTest, EachCallerHasItsOwnMask) {
  const auto is_in_last_row = [](int64_t i, int64_t) { return i == 3; };
  const std::string last_row = R"(
  rows = s32[4,6] iota(), iota_dimension=0
  three = s32[] constant(3)
  threes = s32[4,6] broadcast(three), dimensions={}
  is_last = pred[4,6] compare(rows, threes), direction=EQ
  last = f32[4,6] convert(is_last)
)";
  const auto text = [&](const std::string& first, const std::string& second) {
    return absl::StrReplaceAll(CalledTwice(first, second),
                               {{"  others = ", absl::StrCat(last_row, "  others = ")}});
  };
  EXPECT_EQ(DependsOn(text("mask", "last"), Dependence::kFiniteValues),
            Where(4, 6, [&](int64_t i, int64_t k) {
              return IsInTriangle(i, k) || is_in_last_row(i, k);
            }));
  EXPECT_EQ(ExactnessOf(text("mask", "last")), Exactness::kExact);
  EXPECT_EQ(DependsOn(text("last", "last"), Dependence::kFiniteValues),
            Where(4, 6, is_in_last_row));
}

TEST_F(DependenceTest, MasksThatAnUpdateIsWrittenToAreComputed) {
  const std::string text = Entry(R"(
  one = f32[] constant(1)
  zero = f32[] constant(0)
  ones = f32[4,6] broadcast(one), dimensions={}
  zeros = f32[2,6] broadcast(zero), dimensions={}
  at = s32[] constant(1)
  begin = s32[] constant(0)
  mask = f32[4,6] dynamic-update-slice(ones, zeros, at, begin)
  ROOT r = f32[4,6] multiply(x, mask))");
  EXPECT_EQ(DependsOn(text, Dependence::kFiniteValues),
            Where(4, 6, [](int64_t i, int64_t) { return i == 0 || i == 3; }));
}

// What is called with x and is added to.
std::string WithSum(const std::string& entry, const std::string& more = "") {
  return absl::StrCat(
      "sum { a = s32[] parameter(0)  b = s32[] parameter(1)\n"
      "  ROOT c = s32[] add(a, b) }\n",
      more, Entry(entry));
}

TEST_F(DependenceTest, MasksOfCumulativeSumsAreComputed) {
  // The sum of (1, 1, .., 1) up to column k is k + 1.
  const std::string text = WithSum(R"(
  one = s32[] constant(1)
  ones = s32[4,6] broadcast(one), dimensions={}
  zero = s32[] constant(0)
  sums = s32[4,6] reduce-window(ones, zero), window={size=1x6 pad=0_0x5_0}, to_apply=sum
  three = s32[] constant(3)
  threes = s32[4,6] broadcast(three), dimensions={}
  chosen = pred[4,6] compare(sums, threes), direction=LE
  none = f32[] constant(0)
  nones = f32[4,6] broadcast(none), dimensions={}
  ROOT r = f32[4,6] select(chosen, x, nones))");
  EXPECT_EQ(DependsOn(text, Dependence::kValues),
            Where(4, 6, [](int64_t, int64_t k) { return k + 1 <= 3; }));
}

TEST_F(DependenceTest, MasksThatALoopBuildsAreComputed) {
  // Row i of the mask is set in iteration i < 3.
  const std::string loop = R"(
body { s = (s32[], pred[4,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  m = pred[4,6] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  yes = pred[] constant(true)
  row = pred[1,6] broadcast(yes), dimensions={}
  zero = s32[] constant(0)
  new = pred[4,6] dynamic-update-slice(m, row, i, zero)
  ROOT t = (s32[], pred[4,6]) tuple(next, new) }
until { s = (s32[], pred[4,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
)";
  const std::string text = WithSum(R"(
  zero = s32[] constant(0)
  no = pred[] constant(false)
  nothing = pred[4,6] broadcast(no), dimensions={}
  state = (s32[], pred[4,6]) tuple(zero, nothing)
  looped = (s32[], pred[4,6]) while(state), condition=until, body=body
  chosen = pred[4,6] get-tuple-element(looped), index=1
  none = f32[] constant(0)
  nones = f32[4,6] broadcast(none), dimensions={}
  ROOT r = f32[4,6] select(chosen, x, nones))",
                                   loop);
  EXPECT_EQ(DependsOn(text, Dependence::kValues),
            Where(4, 6, [](int64_t i, int64_t) { return i < 3; }));
}

TEST_F(DependenceTest, ArraysOfTheModuleThatAreTooLargeAreSaidToBeMissed) {
  const std::string text = R"(
ENTRY e {
  x = s32[2048,1024] parameter(0)
  i = s32[2048,1024] iota(), iota_dimension=0
  zero = s32[] constant(0)
  zeros = s32[1,1024] broadcast(zero), dimensions={}
  mask = s32[2048,1024] dynamic-update-slice(i, zeros, zero, zero)
  ROOT r = s32[2048,1024] multiply(x, mask)
})";
  EXPECT_EQ(ExactnessOf(text), Exactness::kOverApproximate);
}

TEST_F(DependenceTest, ElementsThatUpdatesReplaceDoNotMatter) {
  const std::string text = R"(
replaced { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }
ENTRY e {
  x = f32[4,6] parameter(0)
  at = s32[3,1] constant({{0}, {2}, {9}})
  one = f32[] constant(1)
  ones = f32[3,6] broadcast(one), dimensions={}
  ROOT r = f32[4,6] scatter(x, at, ones), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=replaced
})";
  EXPECT_EQ(DependsOn(text, Dependence::kValues),
            Where(4, 6, [](int64_t i, int64_t) { return i == 1 || i == 3; }));
}

TEST_F(DependenceTest, BoundsOfAClampThatMeetDecide) {
  const std::string text = Entry(R"(
  i = s32[4,6] iota(), iota_dimension=1
  two = s32[] constant(2)
  twos = s32[4,6] broadcast(two), dimensions={}
  is_low = pred[4,6] compare(i, twos), direction=LT
  zero = f32[] constant(0)
  zeros = f32[4,6] broadcast(zero), dimensions={}
  one = f32[] constant(1)
  ones = f32[4,6] broadcast(one), dimensions={}
  greatest = f32[4,6] select(is_low, ones, zeros)
  ROOT r = f32[4,6] clamp(zeros, x, greatest))");
  EXPECT_EQ(DependsOn(text, Dependence::kFiniteValues),
            Where(4, 6, [](int64_t, int64_t k) { return k < 2; }));
}

// A convolution of a row of six elements with a kernel of three, one of which is masked.
struct MaskedConvolution {
  bool is_kernel_masked;
  std::vector<int> mask;  // of as many elements as what is masked
  int64_t stride;
  int64_t padding;  // on both sides
  int64_t kernel_dilation;
  int64_t input_dilation;
  bool is_reversed;

  int64_t outputs() const {
    const int64_t input = 5 * input_dilation + 1 + 2 * padding;
    return (input - 2 * kernel_dilation - 1) / stride + 1;
  }

  // The parameter that matters is what is not masked.
  std::string Text() const {
    const std::string masked = is_kernel_masked ? "f32[3]" : "f32[6]";
    return absl::StrCat("ENTRY e {\n  open = ", is_kernel_masked ? "f32[6]" : "f32[3]",
                        " parameter(0)\n  p = ", masked, " parameter(1)\n  m = ", masked,
                        " constant({", absl::StrJoin(mask, ", "), "})\n  masked = ", masked,
                        " multiply(p, m)\n  input = f32[1,6,1] reshape(",
                        is_kernel_masked ? "open" : "masked", ")\n  kernel = f32[3,1,1] reshape(",
                        is_kernel_masked ? "masked" : "open", ")\n  c = f32[1,", outputs(),
                        ",1] convolution(input, kernel), window={size=3 stride=", stride,
                        " pad=", padding, "_", padding, " lhs_dilate=", input_dilation,
                        " rhs_dilate=", kernel_dilation, " rhs_reversal=", is_reversed ? 1 : 0,
                        "}, dim_labels=b0f_0io->b0f\n  ROOT r = f32[", outputs(),
                        "] reshape(c)\n}");
  }

  // Which element of the input each output multiplies with which of the kernel, by definition.
  PairSet Expected() const {
    PairSet expected;
    for (int64_t o = 0; o < outputs(); ++o) {
      for (int64_t tap = 0; tap < 3; ++tap) {
        const int64_t in_kernel = is_reversed ? 2 - tap : tap;
        const int64_t at = o * stride - padding + tap * kernel_dilation;
        if (at < 0 || at % input_dilation != 0 || at / input_dilation >= 6) continue;
        const int64_t in_input = at / input_dilation;
        const int64_t other = is_kernel_masked ? in_kernel : in_input;
        if (mask[static_cast<size_t>(other)] == 0) continue;
        expected.insert({{o}, {is_kernel_masked ? in_input : in_kernel}});
      }
    }
    return expected;
  }
};

TEST_F(DependenceTest, ElementsOfAConvolutionThatMeetZerosDoNotMatter) {
  const std::vector<std::vector<int>> masks[] = {{{1, 0, 1, 0, 1, 0}, {0, 0, 1, 1, 1, 1}},
                                                 {{1, 1, 0}, {0, 0, 1}, {0, 1, 0}, {0, 0, 0}}};
  for (const bool is_kernel_masked : {false, true}) {
    for (const std::vector<int>& mask : masks[is_kernel_masked ? 1 : 0]) {
      for (int64_t code = 0; code < 48; ++code) {
        const MaskedConvolution c = {.is_kernel_masked = is_kernel_masked,
                                     .mask = mask,
                                     .stride = 1 + code % 2,
                                     .padding = code / 2 % 3,
                                     .kernel_dilation = 1 + code / 6 % 2,
                                     .input_dilation = 1 + code / 12 % 2,
                                     .is_reversed = code / 24 == 1};
        SCOPED_TRACE(c.Text());
        EXPECT_EQ(DependsOn(c.Text(), Dependence::kFiniteValues), c.Expected());
        // All is read.
        EXPECT_GE(DependsOn(c.Text(), Dependence::kReads).size(), c.Expected().size());
      }
    }
  }
}

TEST_F(DependenceTest, FiltersOfGroupsMeetFeaturesOfTheirOwn) {
  // The mask leaves features 1 and 2; group 0 has features 0 and 1, group 1 has 2 and 3.
  const std::string text = R"(
ENTRY e {
  w = f32[1,2,2] parameter(0)
  x = f32[4] parameter(1)
  m = f32[4] constant({0, 1, 1, 0})
  masked = f32[4] multiply(x, m)
  input = f32[1,1,4] reshape(masked)
  c = f32[1,1,2] convolution(input, w), window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=2
  ROOT r = f32[2] reshape(c)
})";
  EXPECT_EQ(DependsOn(text, Dependence::kFiniteValues),
            (PairSet{{{0}, {0, 1, 0}}, {{1}, {0, 0, 1}}}));
}

TEST_F(DependenceTest, BranchesThatTheNumberOfAnIterationChoosesAreFollowed) {
  // Iterations 0 to 5 read element i, 5 - i and 1 in turn: 0, 4, 1, 3, 1, 1.
  const std::string text = R"(
itself { ROOT i = s32[] parameter(0) }
back { i = s32[] parameter(0)  five = s32[] constant(5)  ROOT r = s32[] subtract(five, i) }
one { i = s32[] parameter(0)  ROOT r = s32[] constant(1) }
body {
  s = (s32[], f32[], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  sum = f32[] get-tuple-element(s), index=1
  x = f32[6] get-tuple-element(s), index=2
  three = s32[] constant(3)
  which = s32[] remainder(i, three)
  at = s32[] conditional(which, i, i, i), branch_computations={itself, back, one}
  slice = f32[1] dynamic-slice(x, at), dynamic_slice_sizes={1}
  element = f32[] reshape(slice)
  added = f32[] add(sum, element)
  step = s32[] constant(1)
  next = s32[] add(i, step)
  ROOT t = (s32[], f32[], f32[6]) tuple(next, added, x)
}
until {
  s = (s32[], f32[], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  six = s32[] constant(6)
  ROOT c = pred[] compare(i, six), direction=LT
}
ENTRY e {
  x = f32[6] parameter(0)
  zero = s32[] constant(0)
  begin = f32[] constant(0)
  s = (s32[], f32[], f32[6]) tuple(zero, begin, x)
  w = (s32[], f32[], f32[6]) while(s), condition=until, body=body
  ROOT r = f32[] get-tuple-element(w), index=1
})";
  for (const Dependence dependence : {Dependence::kReads, Dependence::kValues}) {
    EXPECT_EQ(DependsOn(text, dependence), (PairSet{{{}, {0}}, {{}, {1}}, {{}, {3}}, {{}, {4}}}));
  }
}

TEST_F(DependenceTest, KernelsOfGroupsStandAtTheirOwnFeatures) {
  // Features 0 and 1 are of group 0, and 2 and 3 of group 1; the kernel of output feature o takes the
  // feature of its group that the mask says.
  const std::string text = R"(
ENTRY e {
  x = f32[4] parameter(0)
  input = f32[1,1,4] reshape(x)
  w = f32[1,2,2] parameter(1)
  m = f32[1,2,2] constant({{{1, 0}, {0, 1}}})
  k = f32[1,2,2] multiply(w, m)
  c = f32[1,1,2] convolution(input, k), window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=2
  ROOT r = f32[2] reshape(c)
})";
  EXPECT_EQ(DependsOn(text, Dependence::kFiniteValues), (PairSet{{{0}, {0}}, {{1}, {3}}}));
}

TEST_F(DependenceTest, ABranchThatDataChoosesIsData) {
  const std::string text = R"(
first { p = f32[4] parameter(0)  ROOT c = f32[4] constant({1,0,1,0}) }
second { p = f32[4] parameter(0)  ROOT c = f32[4] constant({0,1,1,0}) }
ENTRY e {
  x = f32[4] parameter(0)
  data = s32[3] parameter(1)
  one = s32[1] slice(data), slice={[1:2]}
  which = s32[] reshape(one)
  mask = f32[4] conditional(which, x, x), branch_computations={first, second}
  ROOT r = f32[4] multiply(x, mask)
})";
  EXPECT_EQ(DependsOn(text, Dependence::kFiniteValues),
            (PairSet{{{0}, {0}}, {{1}, {1}}, {{2}, {2}}, {{3}, {3}}}));
}

TEST_F(DependenceTest, BucketsOfDistancesAreIndices) {
  // As T5 has them: distances as floats, which are converted back.
  const std::string text = R"(
ENTRY e {
  x = f32[8] parameter(0)
  far = f32[4,4] parameter(1)
  i = s32[4,4] iota(), iota_dimension=0
  k = s32[4,4] iota(), iota_dimension=1
  difference = s32[4,4] subtract(k, i)
  zero = s32[] constant(0)
  zeros = s32[4,4] broadcast(zero), dimensions={}
  least = s32[4,4] minimum(zeros, difference)
  distance = s32[4,4] negate(least)
  four = s32[] constant(4)
  fours = s32[4,4] broadcast(four), dimensions={}
  near = pred[4,4] compare(distance, fours), direction=LT
  float = f32[4,4] convert(distance)
  bucket = f32[4,4] select(near, float, far)
  index = s32[4,4] convert(bucket)
  indices = s32[4,4,1] reshape(index)
  ROOT r = f32[4,4] gather(x, indices), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1}
})";
  PairSet expected;
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t k = 0; k < 4; ++k) expected.insert({{i, k}, {std::max<int64_t>(i - k, 0)}});
  }
  EXPECT_EQ(DependsOn(text, Dependence::kReads), expected);
}

TEST_F(DependenceTest, BranchesThatAreOneComputationAreGivenDifferentMasks) {
  // Which branch is taken is not known, so that all elements matter.
  const std::string text = R"(
branch { t = (f32[4,6], f32[4,6]) parameter(0)  a = f32[4,6] get-tuple-element(t), index=0
  m = f32[4,6] get-tuple-element(t), index=1  ROOT c = f32[4,6] multiply(a, m) }
ENTRY e {
  x = f32[4,6] parameter(0)
  which = pred[] parameter(1))" +
                           Triangle("f32") +
                           R"(
  others = pred[4,6] not(chosen)
  other = f32[4,6] convert(others)
  first = (f32[4,6], f32[4,6]) tuple(x, mask)
  second = (f32[4,6], f32[4,6]) tuple(x, other)
  ROOT r = f32[4,6] conditional(which, first, second), true_computation=branch, false_computation=branch
})";
  const auto module = ParseAndVerifyModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  PairSet seen;
  for (const IndexingEntry& entry : EntriesOf(**module, Dependence::kFiniteValues)) {
    if (entry.operand != 0) continue;
    for (const OperandIndexing& indexing : entry.indexing) {
      IndexingMap map = indexing.map();
      for (int64_t i = 0; i < 4; ++i) {
        for (int64_t k = 0; k < 6; ++k) {
          for (const int64_t which : {0, 1}) {
            const std::vector<int64_t> symbols(map.num_symbols(), which);
            const auto is_inside = map.Contains({i, k}, symbols);
            ASSERT_TRUE(is_inside.ok());
            if (*is_inside) seen.insert({{i, k}, {i, k}});
          }
        }
      }
    }
  }
  EXPECT_EQ(seen, Where(4, 6, [](int64_t, int64_t) { return true; }));
}

TEST_F(DependenceTest, ElidedConstantsAndDataDecideNothing) {
  const std::string text = Entry(R"(
  zero = f32[] constant(0)
  zeros = f32[4,6] broadcast(zero), dimensions={}
  m = pred[4,6] constant({...})
  positive = pred[4,6] compare(x, zeros), direction=GT
  a = f32[4,6] select(m, x, zeros)
  ROOT r = f32[4,6] select(positive, a, zeros))");
  EXPECT_EQ(DependsOn(text, Dependence::kValues),
            Where(4, 6, [](int64_t, int64_t) { return true; }));
}

// while (some row of x has a sum below 10) { the rows that have are doubled }, or a variation of it.
struct LoopOverRows {
  std::string condition = "lt = pred[4] compare(sums, limits), direction=LT";
  std::string any = "or";
  std::string chosen = "doubled, x";
  std::string limits = "broadcast(limit), dimensions={}";
};

std::string LoopOverRowsText(const LoopOverRows& loop) {
  return absl::StrReplaceAll(
      R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
any { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] ANY(a, b) }
sums { x = f32[4,6] parameter(0)  zero = f32[] constant(0)
  ROOT r = f32[4] reduce(x, zero), dimensions={1}, to_apply=add }
body {
  x = f32[4,6] parameter(0)
  sums = f32[4] call(x), to_apply=sums
  limit = f32[] constant(10)
  limits = f32[4] broadcast(limit), dimensions={}
  lt = pred[4] compare(sums, limits), direction=LT
  chosen = pred[4,6] broadcast(lt), dimensions={0}
  doubled = f32[4,6] add(x, x)
  ROOT r = f32[4,6] select(chosen, CHOSEN)
}
condition {
  x = f32[4,6] parameter(0)
  zero = f32[] constant(0)
  sums = f32[4] reduce(x, zero), dimensions={1}, to_apply=add
  limit = f32[] constant(10)
  limits = f32[4] broadcast(limit), dimensions={}
  CONDITION
  false = pred[] constant(false)
  ROOT go = pred[] reduce(lt, false), dimensions={0}, to_apply=any
}
ENTRY e {
  x = f32[4,6] parameter(0)
  ROOT w = f32[4,6] while(x), condition=condition, body=body
})",
      {{"CONDITION", loop.condition},
       {"ANY", loop.any},
       {"CHOSEN", loop.chosen},
       {"broadcast(limit), dimensions={}", loop.limits}});
}

PairSet PairsOfRows(const std::function<bool(int64_t row, int64_t other)>& holds) {
  PairSet pairs;
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t row = 0; row < 4; ++row) {
      for (int64_t k = 0; k < 36 && holds(i, row); ++k) pairs.insert({{i, k / 6}, {row, k % 6}});
    }
  }
  return pairs;
}

TEST_F(DependenceTest, RowsThatStopByThemselvesDoNotDependOnHowLongOthersRun) {
  const auto own = [](int64_t row, int64_t other) { return row == other; };
  const auto all = [](int64_t, int64_t) { return true; };
  const std::string text = LoopOverRowsText({});
  EXPECT_EQ(DependsOn(text, Dependence::kValues), PairsOfRows(own));
  EXPECT_EQ(DependsOn(text, Dependence::kReads), PairsOfRows(all));
  // Rows that go on changing after they are to stop, until others do.
  for (const LoopOverRows& loop : {
           LoopOverRows{.condition = "lt = pred[4] compare(sums, limits), direction=LE"},
           LoopOverRows{.condition = "lt = pred[4] compare(limits, sums), direction=LT"},
           LoopOverRows{.any = "and"},
           LoopOverRows{.chosen = "x, doubled"},
           LoopOverRows{.limits = "constant({...})"},
       }) {
    EXPECT_EQ(DependsOn(LoopOverRowsText(loop), Dependence::kValues), PairsOfRows(all));
  }
}

}  // namespace
}  // namespace xla_indexing::internal

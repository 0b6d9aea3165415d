#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/entries.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ComputationIndexingTest : public ::testing::Test {
 protected:
  const HloComputation& Parse(const std::string& text) {
    auto module = ParseModule(text, "test.hlo");
    EXPECT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    return *module_->entry_computation();
  }

  // `output leaf / parameter / leaf: map`, one for each map.
  static std::vector<std::string> Lines(const absl::StatusOr<InstructionIndexing>& entries) {
    EXPECT_TRUE(entries.ok()) << entries.status();
    std::vector<std::string> lines;
    for (const IndexingEntry& entry : *entries) {
      for (const OperandIndexing& map : entry.indexing) {
        lines.push_back(absl::StrCat(entry.output_leaf, "/", entry.operand, "/", entry.operand_leaf,
                                     ": ", map.ToString()));
      }
    }
    return lines;
  }
  std::vector<std::string> OutputToInput(const std::string& text, FusionOptions options = {}) {
    return Lines(Entries(Parse(text), Direction::kOutputToInput, &context_, options));
  }
  std::vector<std::string> InputToOutput(const std::string& text, FusionOptions options = {}) {
    return Lines(Entries(Parse(text), Direction::kInputToOutput, &context_, options));
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
};

// The fusions of the indexing document.
TEST_F(ComputationIndexingTest, OneInputReadInTwoWays) {
  const std::string text = R"(f {
    p0 = f32[1000,1000] parameter(0)
    transpose_p0 = f32[1000,1000]{0,1} transpose(p0), dimensions={1,0}
    ROOT a0 = f32[1000,1000] add(p0, transpose_p0)
  })";
  EXPECT_THAT(OutputToInput(text),
              ElementsAre("0/0/0: (d0, d1) -> (d0, d1), domain: d0 in [0, 999], d1 in [0, 999]",
                          "0/0/0: (d0, d1) -> (d1, d0), domain: d0 in [0, 999], d1 in [0, 999]"));
  EXPECT_THAT(InputToOutput(text),
              ElementsAre("0/0/0: (d0, d1) -> (d0, d1), domain: d0 in [0, 999], d1 in [0, 999]",
                          "0/0/0: (d0, d1) -> (d1, d0), domain: d0 in [0, 999], d1 in [0, 999]"));
}

TEST_F(ComputationIndexingTest, EqualPathsCountOnce) {
  EXPECT_THAT(OutputToInput(R"(f {
    p0 = f32[20,10,50] parameter(0)
    lhs_transpose_1 = f32[10,20,50] transpose(p0), dimensions={1,0,2}
    lhs_e = f32[10,20,50] exponential(lhs_transpose_1)
    lhs_transpose_2 = f32[10,50,20] transpose(lhs_e), dimensions={0,2,1}
    rhs_transpose_1 = f32[50,10,20] transpose(p0), dimensions={2,1,0}
    rhs_log = f32[50,10,20] exponential(rhs_transpose_1)
    rhs_transpose_2 = f32[10,50,20] transpose(rhs_log), dimensions={1,0,2}
    ROOT add = f32[10,50,20] add(lhs_transpose_2, rhs_transpose_2)
  })"),
              ElementsAre("0/0/0: (d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 9], d1 in [0, "
                          "49], d2 in [0, 19]"));
}

// A round through a layout whose tiles pad every dimension is the identity without a condition.
TEST_F(ComputationIndexingTest, BitcastsBetweenTiledLayoutsCancel) {
  const std::string text = R"(f {
    p0 = bf16[3,500]{1,0:T(8,128)(2,1)} parameter(0)
    b0 = bf16[1,500,3]{1,2,0:T(8,128)(2,1)} bitcast(p0)
    n = bf16[1,500,3]{1,2,0:T(8,128)(2,1)} negate(b0)
    ROOT b2 = bf16[500,3]{0,1:T(8,128)(2,1)} bitcast(n)
  })";
  EXPECT_THAT(OutputToInput(text),
              ElementsAre("0/0/0: (d0, d1) -> (d1, d0), domain: d0 in [0, 499], d1 in [0, 2]"));
  EXPECT_THAT(InputToOutput(text),
              ElementsAre("0/0/0: (d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 499]"));
}

// Places 100 to 127 of each row of 128 are padding of the first array and elements of the second.
TEST_F(ComputationIndexingTest, BitcastsThroughPaddingKeepWhatIsThere) {
  const std::string text = R"(f {
    p0 = f32[8,100]{1,0:T(8,128)} parameter(0)
    b0 = f32[1024]{0:T(1024)} bitcast(p0)
    s = f32[512]{0:T(1024)} slice(b0), slice={[0:512]}
    ROOT b1 = f32[512]{0} reshape(s)
  })";
  EXPECT_THAT(OutputToInput(text),
              ElementsAre("0/0/0: (d0) -> (d0 floordiv 128, d0 mod 128), domain: d0 in [0, 483], "
                          "d0 mod 128 in [0, 99]"));
  EXPECT_THAT(
      InputToOutput(text),
      ElementsAre("0/0/0: (d0, d1) -> (d0 * 128 + d1), domain: d0 in [0, 3], d1 in [0, 99]"));
}

TEST_F(ComputationIndexingTest, Softmax) {
  EXPECT_THAT(OutputToInput(R"(HloModule softmax
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT m = f32[] maximum(a, b) }
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  p0 = f32[2,65,125] parameter(0)
  low = f32[] constant(-inf)
  max = f32[2,65] reduce(p0, low), dimensions={2}, to_apply=max
  max_b = f32[2,65,125] broadcast(max), dimensions={0,1}
  shifted = f32[2,65,125] subtract(p0, max_b)
  exp = f32[2,65,125] exponential(shifted)
  zero = f32[] constant(0)
  total = f32[2,65] reduce(exp, zero), dimensions={2}, to_apply=sum
  total_b = f32[2,65,125] broadcast(total), dimensions={0,1}
  ROOT softmax = f32[2,65,125] divide(exp, total_b)
})"),
              ElementsAre("0/0/0: (d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, "
                          "64], d2 in [0, 124]",
                          "0/0/0: (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 1], d1 in "
                          "[0, 64], d2 in [0, 124], s0 in [0, 124]"));
}

TEST_F(ComputationIndexingTest, ReshapesThatCancelAreTheIdentity) {
  EXPECT_THAT(OutputToInput(R"(f {
    p0 = f32[10,10,10] parameter(0)
    reshape1 = f32[50,20] reshape(p0)
    ROOT reshape2 = f32[10,10,10] reshape(reshape1)
  })"),
              ElementsAre("0/0/0: (d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, "
                          "9], d2 in [0, 9]"));
}

TEST_F(ComputationIndexingTest, TransposeCancelsAcrossUnalignedReshapes) {
  EXPECT_THAT(OutputToInput(R"(f {
    p0 = f32[6,35] parameter(0)
    a = f32[14,15] reshape(p0)
    b = f32[15,14] transpose(a), dimensions={1,0}
    c = f32[15,14] reverse(b), dimensions={0}
    d = f32[21,10] reshape(c)
    e = f32[21,10] negate(d)
    d1 = f32[15,14] reshape(e)
    c1 = f32[15,14] reverse(d1), dimensions={0}
    b1 = f32[14,15] transpose(c1), dimensions={1,0}
    ROOT a1 = f32[6,35] reshape(b1)
  })"),
              ElementsAre("0/0/0: (d0, d1) -> (d0, d1), domain: d0 in [0, 5], d1 in [0, 34]"));
}

// A concatenation's pieces have disjoint domains; what is sliced away again is not read.
TEST_F(ComputationIndexingTest, SliceOfConcatenateReadsOnePiece) {
  const std::string text = R"(f {
    p0 = f32[10] parameter(0)
    p1 = f32[20] parameter(1)
    c = f32[30] concatenate(p0, p1), dimensions={0}
    ROOT s = f32[5] slice(c), slice={[12:17]}
  })";
  EXPECT_THAT(OutputToInput(text), ElementsAre("0/1/0: (d0) -> (d0 + 2), domain: d0 in [0, 4]"));
  EXPECT_THAT(InputToOutput(text), ElementsAre("0/1/0: (d0) -> (d0 - 2), domain: d0 in [2, 6]"));
}

TEST_F(ComputationIndexingTest, TupleLeavesAreApart) {
  const std::string text = R"(f {
    p0 = f32[4,8] parameter(0)
    p1 = (f32[3], f32[5]) parameter(1)
    g = f32[5] get-tuple-element(p1), index=1
    t = f32[8,4] transpose(p0), dimensions={1,0}
    inner = (f32[5], f32[8,4]) tuple(g, t)
    ROOT r = ((f32[5], f32[8,4]), f32[4,8]) tuple(inner, p0)
  })";
  EXPECT_THAT(OutputToInput(text),
              ElementsAre("0/1/1: (d0) -> (d0), domain: d0 in [0, 4]",
                          "1/0/0: (d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]",
                          "2/0/0: (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]"));
  EXPECT_THAT(InputToOutput(text),
              ElementsAre("0/1/1: (d0) -> (d0), domain: d0 in [0, 4]",
                          "1/0/0: (d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]",
                          "2/0/0: (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]"));
}

// A multi-output fusion inside is entered at the output that is used.
TEST_F(ComputationIndexingTest, NestedFusionsAreEnteredAtTheirLeaf) {
  EXPECT_THAT(OutputToInput(R"(HloModule m
inner {
  a = f32[4,6] parameter(0)
  b = f32[6,4] parameter(1)
  t = f32[6,4] transpose(a), dimensions={1,0}
  ROOT r = (f32[6,4], f32[6,4]) tuple(b, t)
}
callee { x = f32[6,4] parameter(0)  ROOT y = f32[6,4] reverse(x), dimensions={0} }
ENTRY main {
  p = f32[4,6] parameter(0)
  q = f32[6,4] parameter(1)
  f = (f32[6,4], f32[6,4]) fusion(p, q), kind=kLoop, calls=inner
  g = f32[6,4] get-tuple-element(f), index=1
  ROOT c = f32[6,4] call(g), to_apply=callee
})"),
              ElementsAre("0/0/0: (d0, d1) -> (d1, -d0 + 5), domain: d0 in [0, 5], d1 in [0, 3]"));
}

// One value passed twice: each operand has the maps of its own parameter.
TEST_F(ComputationIndexingTest, OperandsOfAFusionKeepTheirOwnMaps) {
  const HloComputation& entry = Parse(R"(HloModule m
f {
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  t = f32[4,4] transpose(b), dimensions={1,0}
  ROOT s = f32[4,4] add(a, t)
}
ENTRY main {
  p = f32[4,4] parameter(0)
  ROOT r = f32[4,4] fusion(p, p), kind=kLoop, calls=f
})");
  EXPECT_THAT(Lines(Entries(*entry.root_instruction(), Direction::kOutputToInput, &context_)),
              ElementsAre("0/0/0: (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 3]",
                          "0/1/0: (d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 3]"));
  EXPECT_THAT(Lines(Entries(*entry.root_instruction(), Direction::kInputToOutput, &context_)),
              ElementsAre("0/0/0: (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 3]",
                          "0/1/0: (d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 3]"));
}

// The offset is a parameter of the fusion: the binding names what the caller passes.
TEST_F(ComputationIndexingTest, BindingsNameTheCallersOperands) {
  const char* kModule = R"(HloModule m
f {
  a = f32[10] parameter(0)
  o = s32[] parameter(1)
  ROOT s = f32[4] dynamic-slice(a, o), dynamic_slice_sizes={4}
}
ENTRY main {
  p = f32[10] parameter(0)
  offset = s32[] %s
  ROOT r = f32[4] fusion(p, offset), kind=kLoop, calls=f
})";
  const auto module_with = [&](const std::string& offset) {
    std::string text = kModule;
    return text.replace(text.find("%s"), 2, offset);
  };
  const auto lines = [&](const HloComputation& entry) {
    return Lines(Entries(*entry.root_instruction(), Direction::kOutputToInput, &context_));
  };
  EXPECT_THAT(lines(Parse(module_with("parameter(1)"))),
              ElementsAre("0/0/0: (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]\n"
                          "  rt0: offset, clamp [0, 6]; (d0) -> (), domain: d0 in [0, 3]",
                          "0/1/0: (d0) -> (), domain: d0 in [0, 3]"));
  // Fixed by the module, and out of bounds: the clamp acts.
  EXPECT_THAT(lines(Parse(module_with("constant(8)"))),
              ElementsAre("0/0/0: (d0) -> (d0 + 6), domain: d0 in [0, 3]",
                          "0/1/0: (d0) -> (), domain: d0 in [0, 3]"));
}

TEST_F(ComputationIndexingTest, ParametersThatNothingReadsHaveNoEntry) {
  EXPECT_THAT(OutputToInput(R"(f {
    p0 = f32[4] parameter(0)
    p1 = f32[4] parameter(1)
    ROOT n = f32[4] negate(p1)
  })"),
              ElementsAre("0/1/0: (d0) -> (d0), domain: d0 in [0, 3]"));
}

TEST_F(ComputationIndexingTest, EmptyArraysReadNothing) {
  EXPECT_THAT(OutputToInput(R"(f {
    p0 = f32[0,4] parameter(0)
    r = f32[4,0] reshape(p0)
    ROOT n = f32[4,0] negate(r)
  })"),
              IsEmpty());
}

// Every step of this graph doubles the number of maps.
std::string Doubling(int steps) {
  std::string text = "f {\n  p = f32[4096] parameter(0)\n";
  std::string previous = "p";
  for (int i = 0; i < steps; ++i) {
    const int size = 4096 - (1 << (i + 1)) + 1;
    absl::StrAppend(&text, "  a", i, " = f32[", size, "] slice(", previous, "), slice={[0:", size,
                    "]}\n  b", i, " = f32[", size, "] slice(", previous, "), slice={[", 1 << i, ":",
                    size + (1 << i), "]}\n  c", i, " = f32[", size, "] add(a", i, ", b", i, ")\n");
    previous = absl::StrCat("c", i);
  }
  return absl::StrCat(text, "  ROOT r = f32[", 4096 - (1 << steps) + 1, "] copy(", previous,
                      ")\n}");
}

// x + y for every y that x becomes where digits 0 and 2 of the index in base 3 change places: as many
// maps as subsets of its digits, which are of different formulas. What an element reads, such as the
// elements 0, 2, 6 and 8 of nine, is no progression.
std::string Exchanges(int steps) {
  int size = 1;
  for (int i = 0; i < steps; ++i) size *= 3;
  std::string text = absl::StrCat("f {\n  x0 = f32[", size, "] parameter(0)\n");
  for (int i = 0, low = 1; i < steps; ++i, low *= 3) {
    const std::string digit = absl::StrCat("f32[", size / 3 / low, ",3,", low, "]");
    absl::StrAppend(&text, "  p", i, " = ", digit, " reshape(x", i, ")\n  q", i, " = ", digit,
                    " reverse(p", i, "), dimensions={1}\n  r", i, " = f32[", size, "] reshape(q", i,
                    ")\n  x", i + 1, " = f32[", size, "] add(x", i, ", r", i, ")\n");
  }
  return absl::StrCat(text, "  ROOT r = f32[", size, "] copy(x", steps, ")\n}");
}

TEST_F(ComputationIndexingTest, MapsPastTheBoundAreWidenedAndSaySo) {
  EXPECT_THAT(OutputToInput(Exchanges(5)), SizeIs(32));
  const std::vector<std::string> widened = OutputToInput(Exchanges(10));
  EXPECT_LE(widened.size(), 256);
  for (const std::string& line : widened) {
    EXPECT_THAT(line, HasSubstr("(over-approximate: whole tensor: more than 256 maps at "));
  }
  FusionOptions options;
  options.max_maps = 16;
  for (const std::string& line : OutputToInput(Exchanges(5), options)) {
    EXPECT_THAT(line, HasSubstr("more than 16 maps at "));
  }
}

// Maps that differ in a constant are one map before they would be too many.
TEST_F(ComputationIndexingTest, MapsPastTheBoundThatDifferInAConstantAreOneExactMap) {
  EXPECT_THAT(OutputToInput(Doubling(3)), SizeIs(8));
  EXPECT_THAT(OutputToInput(Doubling(5)),
              ElementsAre("0/0/0: (d0)[s0] -> (d0 + s0), domain: d0 in [0, 4064], s0 in [0, 31]"));
  EXPECT_THAT(
      OutputToInput(Doubling(10)),
      ElementsAre("0/0/0: (d0)[s0] -> (d0 + s0), domain: d0 in [0, 3072], s0 in [0, 1023]"));
  FusionOptions options;
  options.max_maps = 4;
  EXPECT_THAT(OutputToInput(Doubling(3), options), SizeIs(1));
}

// A row is broadcast, and its copies are put at even and at odd places: each reads the same of it.
TEST_F(ComputationIndexingTest, MapsOverResidueClassesOfADimensionAreOne) {
  EXPECT_THAT(OutputToInput(R"(f {
  row = f32[3] parameter(0)
  rows = f32[4,3] broadcast(row), dimensions={1}
  zero = f32[] constant(0)
  even = f32[8,3] pad(rows, zero), padding=0_1_1x0_0
  odd = f32[8,3] pad(rows, zero), padding=1_0_1x0_0
  ROOT sum = f32[8,3] add(even, odd)
})"),
              ElementsAre("0/0/0: (d0, d1) -> (d1), domain: d0 in [0, 7], d1 in [0, 2]"));
}

// x + rotate(x, 2^i) for i = 0 .. k-1 over 2^k elements: all rotations, which read all elements.
TEST_F(ComputationIndexingTest, ButterfliesReadEveryElementExactly) {
  for (const int steps : {8, 9, 10, 12}) {
    const int size = 1 << steps;
    std::string text = absl::StrCat("f {\n  x0 = f32[", size, "] parameter(0)\n");
    for (int i = 0; i < steps; ++i) {
      const int by = 1 << i;
      absl::StrAppend(&text, "  h", i, " = f32[", size - by, "] slice(x", i, "), slice={[", by, ":",
                      size, "]}\n  l", i, " = f32[", by, "] slice(x", i, "), slice={[0:", by,
                      "]}\n  r", i, " = f32[", size, "] concatenate(h", i, ", l", i,
                      "), dimensions={0}\n  x", i + 1, " = f32[", size, "] add(x", i, ", r", i,
                      ")\n");
    }
    absl::StrAppend(&text, "  ROOT r = f32[", size, "] copy(x", steps, ")\n}");
    const auto every_element = ElementsAre(absl::StrCat(
        "0/0/0: (d0)[s0] -> (s0), domain: d0 in [0, ", size - 1, "], s0 in [0, ", size - 1, "]"));
    EXPECT_THAT(OutputToInput(text), every_element);
    EXPECT_THAT(InputToOutput(text), every_element);
  }
}

// A row is read whole, and what an update leaves of it besides.
TEST_F(ComputationIndexingTest, AnApproximationThatAnExactMapCoversIsLeftOut) {
  EXPECT_THAT(OutputToInput(R"(HloModule m
    add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
    ENTRY e {
      x = f32[8,4] parameter(0)
      u = f32[2,2] constant({{1, 2}, {3, 4}})
      i = s32[] parameter(1)
      zero = f32[] constant(0)
      updated = f32[8,4] dynamic-update-slice(x, u, i, i)
      sum = f32[8] reduce(x, zero), dimensions={1}, to_apply=add
      sums = f32[8,4] broadcast(sum), dimensions={0}
      ROOT r = f32[8,4] add(updated, sums)
    })"),
              ElementsAre("0/0/0: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 7], d1 in [0, 3], "
                          "s0 in [0, 3]",
                          "0/1/0: (d0, d1) -> (), domain: d0 in [0, 7], d1 in [0, 3]"));
}

// What is reduced is free, and free again after the next reduction: paths to one row are one path.
TEST_F(ComputationIndexingTest, RowsThatAreReducedAgainAndAgainAreOnePath) {
  std::string text =
      "HloModule m\nadd { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] "
      "add(a, b) }\nENTRY f {\n  x0 = f32[8,16] parameter(0)\n  zero = f32[] constant(0)\n";
  constexpr int kLength = 200;
  for (int i = 0; i < kLength; ++i) {
    absl::StrAppend(&text, "  s", i, " = f32[8] reduce(x", i,
                    ", zero), dimensions={1}, to_apply=add\n  b", i, " = f32[8,16] broadcast(s", i,
                    "), dimensions={0}\n  x", i + 1, " = f32[8,16] subtract(x", i, ", b", i, ")\n");
  }
  absl::StrAppend(&text, "  ROOT r = f32[8,16] copy(x", kLength, ")\n}");
  FusionOptions options;
  options.max_steps = 8 * kLength;
  const auto expected = ElementsAre(
      "0/0/0: (d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 15]",
      "0/0/0: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 7], d1 in [0, 15], s0 in [0, 15]");
  EXPECT_THAT(OutputToInput(text, options), expected);
  EXPECT_THAT(InputToOutput(text, options), expected);
}

// Whatever part of a row was reduced, there is one way on from the result.
TEST_F(ComputationIndexingTest, WhatIsReducedOfPartsIsOnePath) {
  std::string text =
      "HloModule m\nadd { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] "
      "add(a, b) }\nENTRY f {\n  x0 = f32[8,16] parameter(0)\n  zero = f32[] constant(0)\n";
  constexpr int kLength = 50;
  for (int i = 0; i < kLength; ++i) {
    absl::StrAppend(&text, "  l", i, " = f32[8,5] slice(x", i, "), slice={[0:8], [0:5]}\n  h", i,
                    " = f32[8,4] slice(x", i, "), slice={[0:8], [12:16]}\n  s", i,
                    " = f32[8] reduce(l", i, ", zero), dimensions={1}, to_apply=add\n  t", i,
                    " = f32[8] reduce(h", i, ", zero), dimensions={1}, to_apply=add\n  u", i,
                    " = f32[8] add(s", i, ", t", i, ")\n  x", i + 1, " = f32[8,16] broadcast(u", i,
                    "), dimensions={0}\n");
  }
  absl::StrAppend(&text, "  ROOT r = f32[8,16] copy(x", kLength, ")\n}");
  FusionOptions options;
  options.max_steps = 16 * kLength;
  EXPECT_THAT(OutputToInput(text, options),
              ElementsAre("0/0/0: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 7], "
                          "d1 in [0, 15], s0 in [0, 4]",
                          "0/0/0: (d0, d1)[s0] -> (d0, s0 + 12), domain: d0 in [0, 7], "
                          "d1 in [0, 15], s0 in [0, 3]"));
  EXPECT_THAT(InputToOutput(text, options),
              ElementsAre("0/0/0: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 7], "
                          "d1 in [0, 4], s0 in [0, 15]",
                          "0/0/0: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 7], "
                          "d1 in [12, 15], s0 in [0, 15]"));
}

// Walks that are stopped answer by reachability what they have not come to.
TEST_F(ComputationIndexingTest, WalksPastTheBoundOfStepsAreWidenedAndSaySo) {
  const std::string text = R"(f {
    p0 = f32[4] parameter(0)
    p1 = f32[4] parameter(1)
    p2 = f32[4] parameter(2)
    a = f32[4] negate(p0)
    b = f32[4] negate(a)
    c = f32[4] reverse(b), dimensions={0}
    ROOT t = (f32[4], f32[4]) tuple(c, p1)
  })";
  FusionOptions options;
  options.max_steps = 7;
  const auto expected = ElementsAre(
      "0/0/0: (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3]  "
      "(over-approximate: whole tensor: it takes too many steps to compose the maps)",
      "1/1/0: (d0) -> (d0), domain: d0 in [0, 3]");
  EXPECT_THAT(OutputToInput(text, options), expected);
  EXPECT_THAT(InputToOutput(text, options), expected);
}

// What is computed from constants alone is no way to a parameter.
TEST_F(ComputationIndexingTest, OperandsThatLeadNowhereTakeNoSteps) {
  const std::string text = R"(
    add {
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT sum = f32[] add(a, b)
    }
    ENTRY f {
      p0 = f32[8] parameter(0)
      zero = f32[] constant(0)
      ROOT window = f32[4] reduce-window(p0, zero), window={size=2 stride=2}, to_apply=add
    })";
  FusionOptions options;
  // The map from the result to p0.
  options.max_steps = 1;
  EXPECT_THAT(OutputToInput(text, options),
              ElementsAre("0/0/0: (d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 3], s0 in [0, 1]"));
}

TEST_F(ComputationIndexingTest, StepsThatSomeLeavesLeaveOverAreForOthers) {
  const std::string text = R"(f {
    p0 = f32[4] parameter(0)
    p1 = f32[4] parameter(1)
    a = f32[4] negate(p0)
    b = f32[4] negate(a)
    c = f32[4] reverse(b), dimensions={0}
    ROOT t = (f32[4], f32[4], f32[4], f32[4], f32[4]) tuple(c, p1, p1, p1, p1)
  })";
  FusionOptions options;
  options.max_steps = 20;
  EXPECT_THAT(OutputToInput(text, options),
              Contains("0/0/0: (d0) -> (-d0 + 3), domain: d0 in [0, 3]"));
  options.max_steps = 6;
  EXPECT_THAT(OutputToInput(text, options), Contains(HasSubstr("too many steps")));
}

// rotate(x) + f(x) for an f that reads rows reads rows, however often: rotations alone, by 1, 2,
// .., would be a map for each part.
TEST_F(ComputationIndexingTest, MapsThatOthersCoverDoNotCountTowardsTheBound) {
  std::string text =
      "HloModule m\nadd { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] "
      "add(a, b) }\nENTRY f {\n  x0 = f32[8,16] parameter(0)\n  zero = f32[] constant(0)\n";
  for (int i = 0; i < 12; ++i) {
    absl::StrAppend(&text, "  v", i, " = f32[8,", i + 1, "] slice(x", i,
                    "), slice={[0:8], [0:", i + 1, "]}\n  w", i, " = f32[8,", 15 - i, "] slice(x",
                    i, "), slice={[0:8], [", i + 1, ":16]}\n  z", i, " = f32[8] reduce(x", i,
                    ", zero), dimensions={1}, to_apply=add\n  y", i, " = f32[8,16] broadcast(z", i,
                    "), dimensions={0}\n  r", i, " = f32[8,16] concatenate(w", i, ", v", i,
                    "), dimensions={1}\n  x", i + 1, " = f32[8,16] add(r", i, ", y", i, ")\n");
  }
  absl::StrAppend(&text, "  ROOT r = f32[8,16] copy(x12)\n}");
  FusionOptions options;
  options.max_maps = 8;
  const std::vector<std::string> lines = OutputToInput(text, options);
  EXPECT_THAT(lines, Contains("0/0/0: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 7], d1 in [0, "
                              "15], s0 in [0, 15]"));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("over-approximate"))));
}

// The index of a single element is constant.
TEST_F(ComputationIndexingTest, SingleElementsBesideOneAnotherAreOneMap) {
  const std::string text = R"(ENTRY e {
    x = f32[8] parameter(0)
    a = f32[1] slice(x), slice={[5:6]}
    b = f32[1] slice(x), slice={[6:7]}
    ROOT r = f32[2] concatenate(a, b), dimensions={0}
  })";
  EXPECT_THAT(OutputToInput(text), ElementsAre("0/0/0: (d0) -> (d0 + 5), domain: d0 in [0, 1]"));
  EXPECT_THAT(InputToOutput(text), ElementsAre("0/0/0: (d0) -> (d0 - 5), domain: d0 in [5, 6]"));
}

TEST_F(ComputationIndexingTest, DeepChainsAreOrdinary) {
  std::string text = "f {\n  x0 = f32[64,48] parameter(0)\n";
  constexpr int kDepth = 40000;
  for (int i = 1; i < kDepth; ++i) {
    absl::StrAppend(&text, "  x", i, " = f32[64,48] negate(x", i - 1, ")\n");
  }
  absl::StrAppend(&text, "  ROOT r = f32[48,64] transpose(x", kDepth - 1, "), dimensions={1,0}\n}");
  EXPECT_THAT(OutputToInput(text),
              ElementsAre("0/0/0: (d0, d1) -> (d1, d0), domain: d0 in [0, 47], d1 in [0, 63]"));
}

// A long chain of reindexings that do not cancel passes the bounds of expressions and is widened.
TEST_F(ComputationIndexingTest, HostileChainsEnd) {
  std::string text = "f {\n  x0 = f32[64,48] parameter(0)\n";
  const char* kShapes[] = {"3,1024", "1024,3", "6,16,32", "32,6,16", "12,256", "256,12", "64,48"};
  const char* kSteps[] = {"reshape", "transpose", "reshape", "transpose",
                          "reshape", "transpose", "reshape"};
  const char* kDimensions[] = {"", ", dimensions={1,0}", "", ", dimensions={2,0,1}",
                               "", ", dimensions={1,0}", ""};
  constexpr int kLength = 700;
  for (int i = 0; i < kLength; ++i) {
    absl::StrAppend(&text, "  x", i + 1, " = f32[", kShapes[i % 7], "] ", kSteps[i % 7], "(x", i,
                    ")", kDimensions[i % 7], "\n");
  }
  absl::StrAppend(&text, "  ROOT r = f32[64,48] copy(x", kLength, ")\n}");
  EXPECT_THAT(OutputToInput(text), SizeIs(1));
}

// Inlined whole, this would be 2^30 instructions.
TEST_F(ComputationIndexingTest, CallsThatDoubleSixtyTimesAreOneWalkEach) {
  std::string text =
      "HloModule m\nf0 { p = f32[4,4] parameter(0)  ROOT n = f32[4,4] transpose(p), "
      "dimensions={1,0} }\n";
  for (int i = 1; i <= 60; ++i) {
    absl::StrAppend(&text, i == 60 ? "ENTRY " : "", "f", i,
                    " { p = f32[4,4] parameter(0)  a = f32[4,4] ", "call(p), to_apply=f", i - 1,
                    "  ROOT b = f32[4,4] call(a), to_apply=f", i - 1, " }\n");
  }
  // It is transposed 2^60 times. Computations of up to so many instructions are walked where they
  // are called.
  for (const int64_t max_called_instructions : {0, 1, 100, 20'000}) {
    FusionOptions options;
    options.max_called_instructions = max_called_instructions;
    const auto identity =
        ElementsAre("0/0/0: (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 3]");
    EXPECT_THAT(OutputToInput(text, options), identity) << max_called_instructions;
    EXPECT_THAT(InputToOutput(text, options), identity) << max_called_instructions;
  }
}

TEST_F(ComputationIndexingTest, AQuestionWhoseBudgetIsSpentReadsWholeParameters) {
  const std::string text = R"(f {
    p = f32[4,8] parameter(0)
    q = f32[3] parameter(1)
    a = f32[8,4] transpose(p), dimensions={1,0}
    b = f32[4,8] transpose(a), dimensions={1,0}
    c = f32[4,8] negate(b)
    ROOT t = (f32[4,8], f32[3]) tuple(c, q)
  })";
  for (const int64_t steps : {0, 1, 4}) {
    const QuestionBudget budget(steps);
    const std::string why = absl::StrCat(
        "  (over-approximate: whole tensor: the question takes more than ", steps, " steps)");
    EXPECT_THAT(
        OutputToInput(text),
        ElementsAre(
            absl::StrCat("0/0/0: (d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 3], "
                         "d1 in [0, 7], s0 in [0, 3], s1 in [0, 7]",
                         why),
            absl::StrCat("1/1/0: (d0)[s0] -> (s0), domain: d0 in [0, 2], s0 in [0, 2]", why)));
    EXPECT_THAT(InputToOutput(text), SizeIs(2));
  }
}

TEST_F(ComputationIndexingTest, LeavesThatAreNotThereAreErrors) {
  const HloComputation& entry = Parse("f { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }");
  EXPECT_EQ(Entries(entry, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 1})
                .status()
                .message(),
            "the root n has 1 leaves, leaf 1 was asked for");
  EXPECT_EQ(Entries(entry, Direction::kInputToOutput, &context_, {}, OperandLeaf{3, 0})
                .status()
                .message(),
            "computation f has 1 parameters, parameter 3 was asked for");
}

}  // namespace
}  // namespace xla_indexing

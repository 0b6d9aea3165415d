// Emitted fusions, run in this process, against the values that their operations define.

#include "xla_indexing/lowering/emit_fusion.h"

#include <cstdint>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/lowering/support/check_run.h"
#include "tests/lowering/support/programs.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::Status CheckRun(const std::string& text, uint64_t seed) {
  return CheckRun(text, seed, EmitFusion, RandomFloats::kAll);
}

void ExpectRuns(const std::string& text) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const absl::Status status = CheckRun(text, seed);
    ASSERT_TRUE(status.ok()) << status.message();
  }
}

// Counts those that run; those that one side does not know are passed over.
class RandomRuns {
 public:
  void Check(const std::string& text, uint64_t seed) {
    const absl::Status status = CheckRun(text, seed);
    if (absl::IsUnimplemented(status)) {
      ++passed_over_;
      EXPECT_THAT(std::string(status.message()), Not(HasSubstr("does not verify"))) << text;
      return;
    }
    ++run_;
    EXPECT_TRUE(status.ok()) << status << "\n" << text;
  }
  int run() const { return run_; }
  int passed_over() const { return passed_over_; }

 private:
  int run_ = 0;
  int passed_over_ = 0;
};

TEST(EmitFusionTest, MatmulBiasGelu) { ExpectRuns(kMatmulBiasGelu); }

TEST(EmitFusionTest, Softmax) { ExpectRuns(absl::StrCat(kSoftmaxOfRows, kEntryOfSoftmax)); }

TEST(EmitFusionTest, Attention) { ExpectRuns(absl::StrCat(kSoftmaxOfRows, kEntryOfAttention)); }

TEST(EmitFusionTest, ConvolutionWithEpilogue) {
  ExpectRuns(kConvolutionWithEpilogue);
  // In two groups of features.
  ExpectRuns(absl::StrReplaceAll(kConvolutionWithEpilogue,
                                 {{"f32[3,2,4,6]", "f32[3,2,2,6]"},
                                  {"b01f_01io->b01f", "b01f_01io->b01f, feature_group_count=2"}}));
}

// With floats of 16 bits for those of 32.
std::vector<std::string> OfSixteenBits(const std::string& text) {
  return {absl::StrReplaceAll(text, {{"f32[", "f16["}}),
          absl::StrReplaceAll(text, {{"f32[", "bf16["}})};
}

TEST(EmitFusionTest, FloatsOfSixteenBits) {
  const std::string programs[] = {kMatmulBiasGelu, kConvolutionWithEpilogue,
                                  absl::StrCat(kSoftmaxOfRows, kEntryOfSoftmax),
                                  absl::StrCat(kSoftmaxOfRows, kEntryOfAttention)};
  for (const std::string& program : programs) {
    for (const std::string& text : OfSixteenBits(program)) ExpectRuns(text);
  }
}

// The sums of a product are those of its result, whose factors are of 16 bits.
TEST(EmitFusionTest, SumsOfSixteenBitsInF32) {
  const std::string text = R"(
    ENTRY e {
      a = f32[5,4]{0,1} parameter(0)
      b = f32[4,3] parameter(1)
      n = f32[4,3] logistic(b)
      ROOT d = F32[5,3] dot(a, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    })";
  for (const std::string& narrow : OfSixteenBits(text)) {
    ExpectRuns(absl::StrReplaceAll(narrow, {{"F32", "f32"}}));
  }
}

TEST(EmitFusionTest, EveryTypeBecomesEveryOther) {
  const std::string types[] = {
      "pred",       "s2",         "u2",     "s4",       "u4",     "s8",
      "u8",         "s16",        "u16",    "s32",      "u32",    "s64",
      "u64",        "f8e3m4",     "f8e4m3", "f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz",
      "f8e4m3fnuz", "f8e5m2fnuz", "f16",    "bf16",     "f32",    "f64"};
  for (const std::string& from : types) {
    std::string text = absl::StrCat("ENTRY e { p = ", from, "[40] parameter(0)");
    std::string shapes;
    std::string results;
    for (const std::string& to : types) {
      absl::StrAppend(&text, " to_", to, " = ", to, "[40] convert(p)");
      absl::StrAppend(&shapes, shapes.empty() ? "" : ", ", to, "[40]");
      absl::StrAppend(&results, results.empty() ? "" : ", ", "to_", to);
    }
    ExpectRuns(absl::StrCat(text, " ROOT t = (", shapes, ") tuple(", results, ") }"));
  }
}

TEST(EmitFusionTest, GatherOfARowAndDynamicUpdateSlice) {
  ExpectRuns(R"(
    ENTRY e {
      t = f32[7,3] parameter(0)
      i = s32[4,1] parameter(1)
      g = f32[4,3] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
      u = f32[2,3] parameter(2)
      at = u64[] parameter(3)
      z = u64[] constant(0)
      d = f32[4,3] dynamic-update-slice(g, u, at, z)
      ROOT n = f32[4,3] negate(d)
    })");
}

// Rows that go to one place are put there one after another; those that are partly outside are
// dropped.
TEST(EmitFusionTest, ScatterOfWindows) {
  ExpectRuns(R"(
    last { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
    ENTRY e {
      t = f32[7,5] parameter(0)
      i = u64[6,1] parameter(1)
      u = f32[6,3,2] parameter(2)
      n = f32[7,5] negate(t)
      v = f32[6,3,2] exponential(u)
      ROOT s = f32[7,5] scatter(n, i, v), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=last
    })");
}

TEST(EmitFusionTest, ScatterOfTwoArrays) {
  ExpectRuns(R"(
    best {
      a = f32[] parameter(0)
      i = s32[] parameter(1)
      b = f32[] parameter(2)
      j = s32[] parameter(3)
      g = pred[] compare(b, a), direction=GT
      m = f32[] select(g, b, a)
      k = s32[] select(g, j, i)
      ROOT t = (f32[], s32[]) tuple(m, k)
    }
    ENTRY e {
      x = f32[2,3] parameter(0)
      z = s32[] constant(-1)
      n = s32[2,3] broadcast(z), dimensions={}
      i = s8[2,9] parameter(1)
      u = f32[2,9] parameter(2)
      k = s32[2,9] iota(), iota_dimension=1
      s = (f32[2,3], s32[2,3]) scatter(x, n, i, u, k), update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=2, to_apply=best
      g = s32[2,3] get-tuple-element(s), index=1
      ROOT d = s32[2,3] multiply(g, g)
    })");
}

// The body reads elements of what it has written, exchanges two arrays, and hands one on.
constexpr char kLoop[] = R"(
    less {
      s = (s32[], f32[4], f32[4]{0}, f32[4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(5)
      ROOT c = pred[] compare(i, n), direction=LT
    }
    step {
      s = (s32[], f32[4], f32[4], f32[4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      x = f32[4] get-tuple-element(s), index=1
      y = f32[4] get-tuple-element(s), index=2
      k = f32[4] get-tuple-element(s), index=3
      one = s32[] constant(1)
      j = s32[] add(i, one)
      r = f32[4] reverse(x), dimensions={0}
      a = f32[4] add(r, k)
      m = f32[4] subtract(y, a)
      ROOT t = (s32[], f32[4], f32[4], f32[4]) tuple(j, m, x, k)
    })";

TEST(EmitFusionTest, LoopsAreAsOftenAsTheirConditionsSay) {
  ExpectRuns(absl::StrCat(kLoop, R"(
    ENTRY e {
      i = s32[] parameter(0)
      x = f32[4] parameter(1)
      k = f32[4] parameter(2)
      n = f32[4] negate(x)
      t = (s32[], f32[4], f32[4], f32[4]) tuple(i, x, n, k)
      w = (s32[], f32[4], f32[4], f32[4]) while(t), condition=less, body=step
      y = f32[4] get-tuple-element(w), index=1
      z = f32[4] get-tuple-element(w), index=2
      ROOT d = f32[4] add(y, z)
    })"));
}

// Loops in a branch in a loop, with calls in its body.
TEST(EmitFusionTest, LoopsAndBranchesInOneAnother) {
  ExpectRuns(absl::StrCat(kLoop, R"(
    inner {
      x = f32[4] parameter(0)
      zero = s32[] constant(3)
      e = f32[4] exponential(x)
      t = (s32[], f32[4], f32[4], f32[4]) tuple(zero, x, x, e)
      w = (s32[], f32[4], f32[4], f32[4]) while(t), condition=less, body=step
      ROOT y = f32[4] get-tuple-element(w), index=1
    }
    same { ROOT x = f32[4] parameter(0) }
    twice { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }
    called { x = f32[4] parameter(0) ROOT y = f32[4] call(x), to_apply=inner }
    goes_on {
      s = (s8[], f32[4]) parameter(0)
      i = s8[] get-tuple-element(s), index=0
      n = s8[] constant(4)
      ROOT c = pred[] compare(i, n), direction=LT
    }
    outer {
      s = (s8[], f32[4]) parameter(0)
      i = s8[] get-tuple-element(s), index=0
      x = f32[4] get-tuple-element(s), index=1
      one = s8[] constant(1)
      j = s8[] add(i, one)
      b = s32[] convert(i)
      n = f32[4] negate(x)
      y = f32[4] conditional(b, x, n, n), branch_computations={same, called, twice}
      ROOT t = (s8[], f32[4]) tuple(j, y)
    }
    ENTRY e {
      x = f32[4] parameter(0)
      i = s8[] constant(-1)
      t = (s8[], f32[4]) tuple(i, x)
      ROOT w = (s8[], f32[4]) while(t), condition=goes_on, body=outer
    })"));
}

TEST(EmitFusionTest, TheFirstBranchIsThatForTrue) {
  ExpectRuns(R"(
    pair {
      p = (s32[3], s32[3]) parameter(0)
      a = s32[3] get-tuple-element(p), index=0
      b = s32[3] get-tuple-element(p), index=1
      ROOT t = (s32[3], s32[3]) tuple(b, a)
    }
    same { ROOT p = (s32[3], s32[3]) parameter(0) }
    ENTRY e {
      p = pred[] parameter(0)
      x = s32[3] parameter(1)
      i = s32[3] iota(), iota_dimension=0
      t = (s32[3], s32[3]) tuple(x, i)
      ROOT c = (s32[3], s32[3]) conditional(p, t, t), true_computation=same, false_computation=pair
    })");
}

TEST(EmitFusionTest, ConcatenatePadReverse) {
  ExpectRuns(R"(
    ENTRY e {
      a = s32[2,3] parameter(0)
      b = s32[2,2] parameter(1)
      z = s32[] parameter(2)
      c = s32[2,7] concatenate(a, b, b), dimensions={1}
      p = s32[5,14] pad(c, z), padding=1_2x2_-1_1
      r = s32[5,14] reverse(p), dimensions={0,1}
      ROOT t = s32[14,5] transpose(r), dimensions={1,0}
    })");
}

TEST(EmitFusionTest, ReduceWindowOfBytes) {
  ExpectRuns(R"(
    add { a = s8[] parameter(0) b = s8[] parameter(1) ROOT m = s8[] add(a, b) }
    ENTRY e {
      x = s8[9] parameter(0)
      i = s8[] parameter(1)
      ROOT r = s8[5] reduce-window(x, i), window={size=3 stride=2 pad=2_2 rhs_dilate=2 lhs_dilate=1}, to_apply=add
    })");
}

TEST(EmitFusionTest, SelectAndScatterWithPaddingAndOverlap) {
  const std::string text = R"(
    ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
    ENTRY e {
      x = f32[6,7] parameter(0)
      y = f32[6,7] exponential(x)
      s = f32[3,4] parameter(1)
      z = f32[] parameter(2)
      ROOT r = f32[6,7] select-and-scatter(y, s, z), window={size=3x2 stride=2x2 pad=1_0x0_1}, select=ge, scatter=add
    })";
  ExpectRuns(text);
  // The first of the elements that are least; and windows that are all padding.
  ExpectRuns(
      absl::StrReplaceAll(text, {{"GE", "LE"}, {"exponential", "floor"}, {"1_0x", "5_-4x"}}));
  ExpectRuns(absl::StrReplaceAll(text, {{"s = f32", "s = bf16"}, {"z = f32", "z = f16"}}));
}

TEST(EmitFusionTest, SortIsStable) {
  for (const int64_t size : {0, 1, 2, 3, 8, 13}) {
    ExpectRuns(absl::StrReplaceAll(R"(
      less {
        a = s32[] parameter(0)
        b = s32[] parameter(1)
        i = u8[] parameter(2)
        j = u8[] parameter(3)
        three = s32[] constant(3)
        x = s32[] and(a, three)
        y = s32[] and(b, three)
        ROOT r = pred[] compare(x, y), direction=LT
      }
      ENTRY e {
        x = s32[2,SIZE,3] parameter(0)
        i = u8[2,SIZE,3] iota(), iota_dimension=1
        n = s32[2,SIZE,3] negate(x)
        ROOT r = (s32[2,SIZE,3], u8[2,SIZE,3]) sort(n, i), dimensions={1}, is_stable=true, to_apply=less
      })",
                                   {{"SIZE", absl::StrCat(size)}}));
  }
}

TEST(EmitFusionTest, TopkTakesTheFirstOfEqualElements) {
  for (const std::string type : {"s8", "u32", "pred", "bf16", "f32", "f64"}) {
    for (const std::string k : {"0", "1", "4", "9"}) {
      const std::string text = absl::StrReplaceAll(R"(
        ENTRY e {
          x = TYPE[2,9,3] parameter(0)
          t = TYPE[2,3,9] transpose(x), dimensions={0,2,1}
          b = (TYPE[2,3,K], s32[2,3,K]) topk(t), k=K, largest=true
          i = s32[2,3,K] get-tuple-element(b), index=1
          n = s32[2,3,K] negate(i)
          v = TYPE[2,3,K] get-tuple-element(b), index=0
          ROOT r = (TYPE[2,3,K], s32[2,3,K]) tuple(v, n)
        })",
                                                   {{"TYPE", type}, {"K", k}});
      ExpectRuns(text);
      ExpectRuns(absl::StrReplaceAll(text, {{"largest=true", "largest=false"}}));
    }
  }
}

TEST(EmitFusionTest, PowersOfIntegers) {
  for (const std::string type : {"s4", "u8", "s16", "s32", "u32", "s64", "u64"}) {
    ExpectRuns(absl::StrReplaceAll(R"(
      ENTRY e {
        a = TYPE[60] parameter(0)
        i = s8[60] parameter(1)
        b = TYPE[60] convert(i)
        ROOT p = TYPE[60] power(a, b)
      })",
                                   {{"TYPE", type}}));
  }
}

TEST(EmitFusionTest, CompareInTheTotalOrder) {
  for (const std::string type : {"f8e4m3fn", "bf16", "f32", "f64"}) {
    for (const std::string direction : {"LT", "LE", "EQ", "GT"}) {
      ExpectRuns(absl::StrCat("ENTRY e { a = ", type, "[6,40] parameter(0) b = ", type,
                              "[6,40] parameter(1) ROOT c = pred[6,40] compare(a, b), direction=",
                              direction, ", type=TOTALORDER }"));
    }
  }
}

TEST(EmitFusionTest, ReducePrecision) {
  for (const std::string type : {"f16", "bf16", "f32", "f64"}) {
    for (const std::string bits :
         {"5, mantissa_bits=10", "8, mantissa_bits=7", "8, mantissa_bits=23", "2, mantissa_bits=0",
          "1, mantissa_bits=3"}) {
      ExpectRuns(absl::StrCat("ENTRY e { a = ", type, "[60] parameter(0) x = ", type,
                              "[60] exponential(a) ROOT r = ", type,
                              "[60] reduce-precision(x), exponent_bits=", bits, " }"));
    }
  }
}

TEST(EmitFusionTest, BitsOfWideAndNarrowNumbers) {
  for (const auto& [wide, narrow, count] :
       std::vector<std::tuple<std::string, std::string, int>>{{"f32", "bf16", 2},
                                                              {"s64", "u8", 8},
                                                              {"u16", "s4", 4},
                                                              {"f64", "f32", 2},
                                                              {"s8", "u2", 4},
                                                              {"f16", "f8e5m2", 2},
                                                              {"u32", "pred", 4}}) {
    const std::string text =
        absl::StrReplaceAll(R"(
      ENTRY e {
        w = WIDE[3,5] parameter(0)
        n = NARROW[3,5,COUNT]{0,2,1} parameter(1)
        c = WIDE[3,5] copy(w)
        d = NARROW[3,5,COUNT]{0,2,1} copy(n)
        a = NARROW[3,5,COUNT]{0,2,1} bitcast-convert(c)
        b = WIDE[3,5] bitcast-convert(d)
        ROOT t = (NARROW[3,5,COUNT]{0,2,1}, WIDE[3,5]) tuple(a, b)
      })",
                            {{"WIDE", wide}, {"NARROW", narrow}, {"COUNT", absl::StrCat(count)}});
    ExpectRuns(text);
    ExpectRuns(absl::StrReplaceAll(text, {{"{0,2,1}", "{2,1,0}"}, {"bitcast-convert", "bitcast"}}));
  }
}

TEST(EmitFusionTest, ComplexFunctions) {
  for (const std::string type : {"c64", "c128"}) {
    for (const std::string function :
         {"cosine", "exponential", "log", "negate", "sine", "sqrt", "tanh"}) {
      ExpectRuns(absl::StrCat("ENTRY e { p = ", type, "[60] parameter(0) ROOT r = ", type, "[60] ",
                              function, "(p) }"));
    }
    for (const std::string function : {"add", "divide", "multiply", "subtract"}) {
      ExpectRuns(absl::StrCat("ENTRY e { a = ", type, "[60] parameter(0) b = ", type,
                              "[60] parameter(1) ROOT r = ", type, "[60] ", function, "(a, b) }"));
    }
  }
}

TEST(EmitFusionTest, ComplexNumbersAndTheirParts) {
  const std::string text = R"(
    ENTRY e {
      x = c64[4,6] parameter(0)
      y = f32[4,6] parameter(1)
      i = s8[4,6] parameter(2)
      re = f32[4,6] real(x)
      im = f32[4,6] imag(x)
      abs = f32[4,6] abs(x)
      turned = c64[4,6] complex(im, re)
      of_y = c64[4,6] convert(y)
      of_i = c64[4,6] convert(i)
      wide = c128[4,6] convert(turned)
      same = pred[4,6] compare(turned, of_i), direction=EQ
      other = pred[4,6] compare(x, of_y), direction=NE
      chosen = c64[4,6] select(other, x, of_i)
      none = f32[4,6] imag(y)
      all = f32[4,6] real(y)
      k = c64[3] constant({(1, -2), (0.5, 0), (-inf, 3)})
      one = c64[] constant((0, 1))
      ones = c64[4,6]{0,1} broadcast(one), dimensions={}
      moved = c64[4,6]{0,1} subtract(chosen, ones)
      padded = c64[4,9] pad(moved, one), padding=0_0x1_2
      j = c64[4,9] iota(), iota_dimension=1
      last = c64[8,9] concatenate(padded, j), dimensions={0}
      ROOT t = (f32[4,6], f32[4,6], f32[4,6], c128[4,6], pred[4,6], c64[8,9], c64[3], f32[4,6], f32[4,6]) tuple(re, im, abs, wide, same, last, k, none, all)
    })";
  ExpectRuns(text);
  ExpectRuns(absl::StrReplaceAll(text, {{"f32", "f64"}, {"c64", "c128"}, {"c128", "c64"}}));
}

TEST(EmitFusionTest, SumsAndProductsOfComplexNumbers) {
  ExpectRuns(kComplexSums);
  ExpectRuns(absl::StrReplaceAll(kComplexSums, {{"c64", "c128"}}));
}

// Floats of 32 bits are complex numbers, where the verifier takes that.
TEST(EmitFusionTest, RandomOperationsOnComplexNumbers) {
  const std::vector<HloOpcode> opcodes = LoweredOpcodes();
  RandomRuns runs;
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(Cases(20000)) && !HasFailure(); ++seed) {
    const std::string text =
        absl::StrReplaceAll(RandomOperationModule(opcodes[seed % opcodes.size()], seed, opcodes),
                            {{"f32[", seed % 3 == 0 ? "c128[" : "c64["}});
    const bool is_complex = text.find(" c64[") != text.find(" c128[");
    if (is_complex && ParseAndVerifyModule(text).ok()) runs.Check(text, seed);
  }
  std::cout << runs.run() << " run, " << runs.passed_over() << " passed over\n";
  EXPECT_GT(runs.run(), Cases(500));
}

// Each float of 32 bits is one of another precision, at random, where the verifier takes it.
TEST(EmitFusionTest, FloatsOfSeveralTypesInOneComputation) {
  const std::vector<HloOpcode> opcodes = LoweredOpcodes();
  RandomRuns runs;
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(Cases(20000)) && !HasFailure(); ++seed) {
    Random random(seed);
    std::string text;
    const std::vector<std::string> parts = absl::StrSplit(
        RandomOperationModule(opcodes[seed % opcodes.size()], seed, opcodes), "f32[");
    for (const std::string& part : parts) {
      const char* const types[] = {"f32[", "f32[", "bf16[", "f16[", "f64[", "f8e5m2["};
      absl::StrAppend(&text, text.empty() ? "" : types[random.Between(0, 5)], part);
    }
    if (parts.size() > 2 && ParseAndVerifyModule(text).ok()) runs.Check(text, seed);
  }
  std::cout << runs.run() << " run, " << runs.passed_over() << " passed over\n";
  EXPECT_GT(runs.run(), Cases(1000));
}

TEST(EmitFusionTest, ArgmaxIsAReduceOfTwoResults) { ExpectRuns(kArgmax); }

// Each step has two uses, so that there are 2^60 paths.
TEST(EmitFusionTest, ManyUsesAreNotManyTimesTheCode) {
  std::string text = "ENTRY e {\n  v0 = s32[3,3] parameter(0)\n";
  for (int i = 1; i <= 60; ++i) {
    absl::StrAppend(&text, "  t", i, " = s32[3,3] transpose(v", i - 1, "), dimensions={1,0}\n  ",
                    i == 60 ? "ROOT " : "", "v", i, " = s32[3,3] add(v", i - 1, ", t", i, ")\n");
  }
  ExpectRuns(text + "}");
}

TEST(EmitFusionTest, LongChainsAreNoDeepRecursion) {
  std::string text = "ENTRY e {\n  v0 = s32[3] parameter(0)\n";
  for (int i = 1; i <= 500; ++i) {
    absl::StrAppend(&text, "  ", i == 500 ? "ROOT " : "", "v", i, " = s32[3] negate(v", i - 1,
                    ")\n");
  }
  ExpectRuns(text + "}");
}

TEST(EmitFusionTest, ResultsThatAreParametersConstantsAndTwiceTheSame) {
  ExpectRuns(R"(
    ENTRY e {
      p = (s32[2], (pred[2,2]{0,1}, f64[])) parameter(0)
      a = s32[2] get-tuple-element(p), index=0
      q = (pred[2,2]{0,1}, f64[]) get-tuple-element(p), index=1
      b = pred[2,2]{0,1} get-tuple-element(q), index=0
      n = s32[2] negate(a)
      c = s32[3] constant({4, 5, 6})
      o = f32[2] constant({1, 1})
      e = s32[0] parameter(1)
      ROOT t = (s32[2], s32[2], s32[2], s32[3], f32[2], pred[2,2]{0,1}, s32[0]) tuple(n, a, n, c, o, b, e)
    })");
}

std::string EmitError(const std::string& text) {
  const auto module = ParseAndVerifyModule(text);
  if (!module.ok()) return std::string(module.status().message());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto emitted = EmitFusion(*(*module)->entry_computation(), &context);
  return std::string(emitted.status().message());
}

// A reducer that calls another twice, 40 deep, has 2^40 instructions when it is inlined.
TEST(EmitFusionTest, ReducersThatDoubleAreAnError) {
  std::string text =
      "HloModule m\nf0 { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) "
      "}\n";
  for (int i = 1; i <= 40; ++i) {
    absl::StrAppend(&text, "f", i, " { a = s32[] parameter(0) b = s32[] parameter(1) ",
                    "c = s32[] call(a, b), to_apply=f", i - 1, " ROOT d = s32[] call(c, b), ",
                    "to_apply=f", i - 1, " }\n");
  }
  absl::StrAppend(&text, "ENTRY e { p = s32[4] parameter(0) zero = s32[] constant(0) ",
                  "ROOT r = s32[] reduce(p, zero), dimensions={0}, to_apply=f40 }");
  EXPECT_THAT(EmitError(text), HasSubstr("is not lowered in this form"));
}

TEST(EmitFusionTest, ErrorsNameTheInstruction) {
  EXPECT_THAT(EmitError("ENTRY e { p = f32[4,4] parameter(0) ROOT c = f32[4,4] cholesky(p), "
                        "lower=true }"),
              HasSubstr("c: cholesky"));
  EXPECT_THAT(EmitError("f { p = f32[4,4] parameter(0) ROOT c = f32[4,4] cholesky(p), lower=true } "
                        "ENTRY e { p = f32[4,4] parameter(0) i = s32[] parameter(1) "
                        "ROOT r = f32[4,4] conditional(i, p), branch_computations={f} }"),
              HasSubstr("r: c: cholesky"));
  EXPECT_THAT(EmitError("ENTRY e { p = f8e8m0fnu[4] parameter(0) ROOT n = f8e8m0fnu[4] copy(p) }"),
              HasSubstr("p: elements of type f8e8m0fnu"));
  EXPECT_THAT(EmitError("ENTRY e { p = c64[4] parameter(0) ROOT n = c64[4] cbrt(p) }"),
              HasSubstr("n: cbrt is not lowered"));
  EXPECT_THAT(EmitError("ENTRY e { p = f32[4,2] parameter(0) ROOT b = c64[4] bitcast(p) }"),
              HasSubstr("b: bitcast"));
  EXPECT_THAT(EmitError("ENTRY e { p = f32[4,2]{0,1} parameter(0) ROOT b = f64[4] bitcast(p) }"),
              HasSubstr("b: bitcast"));
  EXPECT_THAT(EmitError("ENTRY e { p = f32[<=4] parameter(0) ROOT n = f32[<=4] negate(p) }"),
              HasSubstr("p: arrays like f32[<=4]"));
}

// Each computation calls the one before twice, in branches that are not inlined.
TEST(EmitFusionTest, CodeThatGrowsWithTheWaysThatLeadToItIsAnError) {
  for (const bool is_deep : {false, true}) {
    std::string text = "f0 { p = s32[] parameter(0) ROOT n = s32[] negate(p) }\n";
    for (int i = 1; i <= 60; ++i) {
      const std::string called = absl::StrCat("f", i - 1);
      absl::StrAppend(&text, "f", i, " { p = s32[] parameter(0) ROOT c = s32[] conditional(p, p",
                      is_deep ? "" : ", p", "), branch_computations={", called,
                      is_deep ? "" : absl::StrCat(", ", called), "} }\n");
    }
    for (const bool is_too_much : {false, true}) {
      const std::string called = is_too_much ? "f60" : "f10";
      const std::string error = EmitError(
          absl::StrCat(text,
                       "ENTRY e { p = s32[] parameter(0) ROOT c = s32[] conditional(p, p), "
                       "branch_computations={",
                       called, "} }"));
      EXPECT_THAT(error, is_too_much ? HasSubstr("computations that are called") : HasSubstr(""));
      EXPECT_EQ(error.empty(), !is_too_much) << error;
    }
  }
}

TEST(EmitFusionTest, RandomFusionsHaveTheValuesOfTheirDefinition) {
  const std::vector<HloOpcode> opcodes = LoweredOpcodes();
  RandomRuns runs;
  for (uint64_t seed = 0; runs.run() < Cases(3000) && !HasFailure(); ++seed) {
    ASSERT_LT(seed, static_cast<uint64_t>(Cases(60000)));
    std::string text = RandomFusionModule(opcodes, seed, opcodes);
    // Some bitcasts and constants need 32 bits.
    const std::string narrow = OfSixteenBits(text)[seed / 2 % 2];
    if (seed % 2 == 0 && ParseAndVerifyModule(narrow).ok()) text = narrow;
    runs.Check(text, seed);
  }
  std::cout << runs.run() << " run, " << runs.passed_over() << " passed over\n";
}

TEST(EmitFusionTest, RandomOperationsHaveTheValuesOfTheirDefinition) {
  const std::vector<HloOpcode> opcodes = LoweredOpcodes();
  RandomRuns runs;
  for (const HloOpcode opcode : opcodes) {
    const int before = runs.run();
    for (uint64_t seed = 0; seed < static_cast<uint64_t>(Cases(100)) && !HasFailure(); ++seed) {
      runs.Check(RandomOperationModule(opcode, seed, opcodes), seed);
    }
    const bool calls = opcode == HloOpcode::kConditional || opcode == HloOpcode::kWhile;
    if (calls || opcode == HloOpcode::kScatter) {
      EXPECT_GT(runs.run() - before, Cases(20)) << OpcodeName(opcode);
    }
  }
  std::cout << runs.run() << " run, " << runs.passed_over() << " passed over\n";
  EXPECT_GT(runs.run(), Cases(2000));
}

}  // namespace
}  // namespace xla_indexing

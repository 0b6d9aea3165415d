// Emitted graphs of tiles, run in this process, against the values that the operations define.

#include "xla_indexing/lowering/emit_tiles.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/lowering/support/check_run.h"
#include "tests/lowering/support/programs.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"
#include "xla_indexing/tiling/kernel/tiling_space.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

// Sums of one pass are rounded at other places: those of positive terms differ by a few units in the last
// place for each step.
absl::Status RunTiled(const std::string& text, uint64_t seed, ChooseTiling choose,
                      TiledLoops loops = TiledLoops::kSeparate, int64_t one_pass_ulps = 64) {
  return CheckRun(
      text, seed,
      [&](const HloComputation& computation, mlir::MLIRContext* context) {
        return EmitTiles(computation, choose, context, loops);
      },
      RandomFloats::kQuarters, loops == TiledLoops::kOnePass ? one_pass_ulps : 4);
}

// Sizes that divide the dimensions, other ones, whole dimensions and more than that.
Tiling RandomTiling(const TilingSpace& space, Random* random) {
  Tiling tiling;
  for (int i = 0; i < space.num_dims(); ++i) {
    const int64_t size = space.dims()[i].size;
    tiling.sizes.push_back(
        std::max<int64_t>(1, random->Pick(std::vector<int64_t>{1, 2, size, size + 1, (size + 1) / 2,
                                                               random->Between(1, size + 2)})));
    if (space.IsParallel(i) && random->OneIn(4)) tiling.loops.push_back(i);
  }
  random->Shuffle(&tiling.loops);
  return tiling;
}

// With these sizes and with random ones. `at_least` of the random tilings have to be possible.
void ExpectTilesRun(const std::string& text, const std::vector<std::string>& sizes, int at_least,
                    TiledLoops loops = TiledLoops::kSeparate, int64_t one_pass_ulps = 64) {
  for (const std::string& given : sizes) {
    const absl::Status status = RunTiled(
        text, 1,
        [&](const TiledComputation& tiled) -> absl::StatusOr<Tiling> {
          const auto parsed = tiled.space().ParseSizes(given);
          if (!parsed.ok()) return parsed.status();
          return Tiling{*parsed, {}};
        },
        loops, one_pass_ulps);
    EXPECT_TRUE(status.ok()) << given << ": " << status.message();
  }
  int run = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    std::string tried;
    const absl::Status status = RunTiled(
        text, seed,
        [&](const TiledComputation& tiled) {
          const Tiling tiling = RandomTiling(tiled.space(), &random);
          tried = absl::StrCat(absl::StrJoin(tiling.sizes, ","), " loops ",
                               absl::StrJoin(tiling.loops, ","));
          return absl::StatusOr<Tiling>(tiling);
        },
        loops, one_pass_ulps);
    if (absl::IsFailedPrecondition(status)) continue;
    ++run;
    ASSERT_TRUE(status.ok()) << tried << ": " << status.message();
  }
  EXPECT_GE(run, at_least);
}

TEST(EmitTilesTest, MatmulBiasGelu) {
  ExpectTilesRun(kMatmulBiasGelu, {"4,3,4", "7,6", "2,4,5", "1,1,1", "16,16,16"}, 20);
}

TEST(EmitTilesTest, Softmax) {
  ExpectTilesRun(absl::StrCat(kSoftmaxOfRows, kEntryOfSoftmax), {"2,6", "5,4", "3,2,4,3", "1,1"},
                 20);
}

TEST(EmitTilesTest, Attention) {
  ExpectTilesRun(absl::StrCat(kSoftmaxOfRows, kEntryOfAttention), {"2,4", "5,3", "2,2"}, 20);
}

TEST(EmitTilesTest, SumsAndProductsOfComplexNumbers) {
  ExpectTilesRun(kComplexSums, {"2,2", "5,3", "1,1"}, 10);
}

// Query i reads the keys after it: the last one reads none, others none of the first tiles.
constexpr char kMaskedAttention[] = R"(
    max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] add(a, b) }
    ENTRY e {
      q = f32[6,3] parameter(0)
      k = f32[6,3] parameter(1)
      v = f32[6,4]{0,1} parameter(2)
      weight = f32[6,4] abs(v)
      least = f32[] constant(-inf)
      zero = f32[] constant(0)
      one = f32[] constant(1)
      query = s32[6,6] iota(), iota_dimension=0
      key = s32[6,6] iota(), iota_dimension=1
      is_after = pred[6,6] compare(key, query), direction=GT
      dots = f32[6,6] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
      masked = f32[6,6] broadcast(least), dimensions={}
      s = f32[6,6] select(is_after, dots, masked)
      m = f32[6] reduce(s, least), dimensions={1}, to_apply=max
      mb = f32[6,6] broadcast(m), dimensions={0}
      t = f32[6,6] subtract(s, mb)
      x = f32[6,6] exponential(t)
      d = f32[6] reduce(x, zero), dimensions={1}, to_apply=add
      db = f32[6,6] broadcast(d), dimensions={0}
      p = f32[6,6] divide(x, db)
      ROOT o = f32[6,4] dot(p, weight), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    })";

TEST(EmitTilesTest, OnePass) {
  ExpectTilesRun(absl::StrCat(kSoftmaxOfRows, kEntryOfSoftmax),
                 {"2,6,4", "5,4,1", "3,2,3", "1,1,6"}, 20, TiledLoops::kOnePass);
  ExpectTilesRun(kMaskedAttention, {"2,4,2,3", "6,4,4,1", "3,2,1,3", "1,1,6,2"}, 20,
                 TiledLoops::kOnePass);
  const std::string reciprocals = absl::StrReplaceAll(
      kMaskedAttention,
      {{"broadcast(d)", "broadcast(r)"},
       {"db =", "ones = f32[6] broadcast(one), dimensions={}\n r = f32[6] divide(ones, d)\n db ="},
       {"divide(x, db)", "multiply(x, db)"}});
  ExpectTilesRun(reciprocals, {"2,4,2,3", "6,4,4,1"}, 20, TiledLoops::kOnePass);
  // The maximum of what is subtracted from, with its dimensions in other places.
  const std::string moved = absl::StrReplaceAll(
      kMaskedAttention,
      {{" m = f32[6] reduce(s, least), dimensions={1}",
        "st = f32[1,6,6] reshape(s)\n sm = f32[6,1,6] transpose(st), dimensions={2,0,1}\n"
        " mt = f32[1,6] reduce(sm, least), dimensions={0}"},
       {"to_apply=max\n", "to_apply=max\n m = f32[6] reshape(mt)\n"}});
  ExpectTilesRun(moved, {"2,4,2,3", "6,4,4,1"}, 20, TiledLoops::kOnePass);
}

// Maxima of 16 bits, with sums of 32 or of as many; the result is rounded to 16.
TEST(EmitTilesTest, OnePassOfSixteenBits) {
  const std::string mixed = absl::StrReplaceAll(
      kMaskedAttention,
      {{"max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[]",
        "max { a = F[] parameter(0) b = F[] parameter(1) ROOT m = F[]"},
       {"least = f32[]", "least = F[]"},
       {"dots = f32[", "dots = F["},
       {"masked = f32[", "masked = F["},
       {" s = f32[", " s = F["},
       {" m = f32[6]", " m = F[6]"},
       {" mb = f32[", " mb = F["},
       {" t = f32[", " t = F["},
       {"x = f32[6,6] exponential(t)", "e = F[6,6] exponential(t)\n x = f32[6,6] convert(e)"},
       {"ROOT o = f32", "o = f32"},
       {"dot(p, weight), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "dot(p, weight), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "ROOT r = F[6,4] convert(o)"}});
  const std::string narrow = absl::StrReplaceAll(kMaskedAttention, {{"f32[", "F["}});
  // Reductions of 32 bits whose results are converted back, as JAX writes a softmax of 16 bits.
  const std::string back = absl::StrReplaceAll(
      kMaskedAttention,
      {{"dots = f32[", "dots = F["},
       {"masked = f32[6,6] broadcast(least)",
        "lowest = F[] constant(-inf)\n masked = F[6,6] broadcast(lowest)"},
       {" s = f32[", " s = F["},
       {" m = f32[6] reduce(s,", "sw = f32[6,6] convert(s)\n m = f32[6] reduce(sw,"},
       {" mb = f32[6,6] broadcast(m)", "mn = F[6] convert(m)\n mb = F[6,6] broadcast(mn)"},
       {" t = f32[", " t = F["},
       {" x = f32[", " x = F["},
       {" d = f32[6] reduce(x,", "xw = f32[6,6] convert(x)\n d = f32[6] reduce(xw,"},
       {" db = f32[6,6] broadcast(d)", "dn = F[6] convert(d)\n db = F[6,6] broadcast(dn)"},
       {" p = f32[6,6] divide(x, db)", "pn = F[6,6] divide(x, db)\n p = f32[6,6] convert(pn)"},
       {"ROOT o = f32", "o = f32"},
       {"dot(p, weight), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "dot(p, weight), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "ROOT r = F[6,4] convert(o)"}});
  for (const char* const type : {"f16[", "bf16["}) {
    ExpectTilesRun(absl::StrReplaceAll(mixed, {{"F[", type}}),
                   {"2,4,2,3", "6,4,4,1", "3,2,1,3", "1,1,6,2"}, 20, TiledLoops::kOnePass, 2);
    ExpectTilesRun(absl::StrReplaceAll(back, {{"F[", type}}),
                   {"2,4,2,3", "6,4,4,1", "3,2,1,3", "1,1,6,2"}, 20, TiledLoops::kOnePass, 6);
    ExpectTilesRun(absl::StrReplaceAll(narrow, {{"F[", type}}),
                   {"2,4,2,3", "6,4,4,1", "3,2,1,3", "1,1,6,2"}, 20, TiledLoops::kOnePass, 6);
  }
}

TEST(EmitTilesTest, SumsOverNoDimension) {
  ExpectTilesRun(R"(
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
    ENTRY e {
      p = f32[5] parameter(0)
      q = f32[2,5,3] parameter(1)
      v = f32[4] parameter(2)
      one = f32[] constant(1)
      outer = f32[5,4] dot(p, v), lhs_contracting_dims={}, rhs_contracting_dims={}
      shifted = f32[5,4] reduce(outer, one), dimensions={}, to_apply=add
      sums = f32[5] reduce(q, one), dimensions={0,2}, to_apply=add
      products = f32[5,4] dot(sums, shifted), lhs_batch_dims={0}, rhs_batch_dims={0}
      ROOT r = f32[5,4] add(products, outer)
    })",
                 {"2,4", "5,4,2,1", "3,3", "1,1"}, 20);
}

TEST(EmitTilesTest, ConvolutionWithEpilogue) {
  ExpectTilesRun(kConvolutionWithEpilogue, {"1,1,6,6", "2,3,6,4", "1,2,1,3"}, 10);
}

TEST(EmitTilesTest, ReductionsAndTheirIndices) {
  ExpectTilesRun(kArgmax, {"2,2", "3,5", "4,3"}, 20);
  ExpectTilesRun(R"(
    add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT m = s32[] add(a, b) }
    ENTRY e {
      x = s32[3,4,5] parameter(0)
      i = s32[] parameter(1)
      r = s32[4] reduce(x, i), dimensions={2,0}, to_apply=add
      w = s32[4] reduce-window(r, i), window={size=3 pad=1_1}, to_apply=add
      ROOT t = (s32[4], s32[4]) tuple(w, r)
    })",
                 {}, 10);
}

TEST(EmitTilesTest, PiecesThatAreReadInPartOfTheTiles) {
  ExpectTilesRun(R"(
    ENTRY e {
      a = s32[3,4] parameter(0)
      b = s32[5,4] parameter(1)
      z = s32[] parameter(2)
      n = s32[3,4] negate(a)
      c = s32[8,4] concatenate(n, b), dimensions={0}
      p = s32[11,6] pad(c, z), padding=1_2x2_0
      r = s32[11,6] reverse(p), dimensions={0}
      ROOT t = s32[6,11] transpose(r), dimensions={1,0}
    })",
                 {"6,1", "2,11"}, 10);
}

TEST(EmitTilesTest, TilesThatIndicesMove) {
  ExpectTilesRun(R"(
    ENTRY e {
      x = s32[9,6] parameter(0)
      i = s32[] parameter(1)
      j = s32[] constant(1)
      k = s32[] add(i, j)
      d = s32[5,4] dynamic-slice(x, k, j), dynamic_slice_sizes={5,4}
      ROOT n = s32[5,4] negate(d)
    })",
                 {"2,3", "5,4"}, 10);
  ExpectTilesRun(R"(
    ENTRY e {
      t = f32[7,3] parameter(0)
      i = s32[4,1] parameter(1)
      g = f32[4,3] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
      ROOT n = f32[4,3] negate(g)
    })",
                 {"1,3", "1,2"}, 3);
}

std::string ErrorOf(const std::string& text) {
  const auto whole = [](const TiledComputation& tiled) -> absl::StatusOr<Tiling> {
    return Tiling{tiled.space().DimSizes(), {}};
  };
  return std::string(RunTiled(text, 0, whole).message());
}

TEST(EmitTilesTest, ErrorsNameTheInstruction) {
  EXPECT_THAT(ErrorOf("ENTRY e { p = f32[4,4] parameter(0) ROOT c = f32[4,4] cholesky(p), "
                      "lower=true }"),
              HasSubstr("c: cholesky"));
  EXPECT_THAT(ErrorOf("ENTRY e { p = f8e8m0fnu[4] parameter(0) ROOT n = f8e8m0fnu[4] copy(p) }"),
              HasSubstr("p: elements of type f8e8m0fnu"));
}

TEST(EmitTilesTest, RandomFusionsHaveTheValuesOfTheirDefinition) {
  const std::vector<HloOpcode> opcodes = LoweredOpcodes();
  int run = 0;
  int not_lowered = 0;
  int not_tiled = 0;
  for (uint64_t seed = 0; run < Cases(1000) && !HasFailure(); ++seed) {
    ASSERT_LT(seed, static_cast<uint64_t>(Cases(20000)));
    const std::string text = RandomFusionModule(opcodes, seed);
    Random random(seed);
    std::string tried;
    const absl::Status status = RunTiled(text, seed, [&](const TiledComputation& tiled) {
      const Tiling tiling = RandomTiling(tiled.space(), &random);
      tried = absl::StrCat(absl::StrJoin(tiling.sizes, ","), " loops ",
                           absl::StrJoin(tiling.loops, ","));
      return absl::StatusOr<Tiling>(tiling);
    });
    if (absl::IsUnimplemented(status)) {
      ++not_lowered;
    } else if (absl::IsFailedPrecondition(status) || absl::IsInvalidArgument(status)) {
      ++not_tiled;
    } else {
      ++run;
      EXPECT_TRUE(status.ok()) << seed << ", " << tried << ": " << status << "\n" << text;
    }
  }
  std::cout << run << " run, " << not_lowered << " not lowered, " << not_tiled << " not tiled\n";
}

}  // namespace
}  // namespace xla_indexing

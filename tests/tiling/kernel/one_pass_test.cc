#include "xla_indexing/tiling/kernel/one_pass.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kReducers[] = R"(
  max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
  min { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] minimum(a, b) }
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(b, a) }
)";

constexpr char kAttention[] = R"(
  ENTRY e {
    q = f32[8,4] parameter(0)
    k = f32[8,4] parameter(1)
    v = f32[8,4] parameter(2)
    other = f32[8,8] parameter(3)
    lowest = f32[] constant(-inf)
    zero = f32[] constant(0)
    s = f32[8,8] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
    m = f32[8] reduce(s, lowest), dimensions={1}, to_apply=max
    mb = f32[8,8] broadcast(m), dimensions={0}
    t = f32[8,8] subtract(s, mb)
    x = f32[8,8] exponential(t)
    d = f32[8] reduce(x, zero), dimensions={1}, to_apply=add
    db = f32[8,8] broadcast(d), dimensions={0}
    w = f32[8,8] divide(x, db)
    ROOT o = f32[8,4] dot(w, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  })";

class OnePassTest : public ::testing::Test {
 protected:
  TiledComputation Tiled(const std::string& text, TiledLoops loops = TiledLoops::kOnePass) {
    SCOPED_TRACE(text);
    auto module = ParseAndVerifyModule(absl::StrCat(kReducers, text));
    EXPECT_TRUE(module.ok()) << module.status();
    modules_.push_back(*std::move(module));
    auto tiled =
        TiledComputation::Create(*modules_.back()->entry_computation(), &context_, {}, loops);
    EXPECT_TRUE(tiled.ok()) << tiled.status();
    return *std::move(tiled);
  }

  // The contractions that share a dimension.
  std::vector<std::string> SharedBy(const std::string& text) {
    const TiledComputation tiled = Tiled(text);
    std::vector<std::string> names;
    for (const TilingDimension& dim : tiled.space().dims()) {
      if (dim.joined.empty()) continue;
      names.push_back(dim.owner_name);
      for (const TilingDimension::Joined& joined : dim.joined) names.push_back(joined.owner_name);
    }
    return names;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::unique_ptr<HloModule>> modules_;
};

std::string Changed(const std::vector<std::pair<absl::string_view, absl::string_view>>& changes) {
  std::string text = kAttention;
  for (const auto& [from, to] : changes) {
    EXPECT_THAT(text, HasSubstr(std::string(from)));
    text = absl::StrReplaceAll(text, {{from, to}});
  }
  return text;
}

TEST_F(OnePassTest, AnAttentionHasOneLoopOverItsKeys) {
  EXPECT_THAT(SharedBy(kAttention), ElementsAre("o", "d", "m"));
  const TiledComputation tiled = Tiled(kAttention);
  const auto graph = tiled.Instantiate(*tiled.space().ParseSizes("4,4,k0=2,k1=4"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->ToString(),
            "grid d0: 2, d1: 1\n"
            "  q: parameter, offset (d0 * 4, 0), size (4, 4)\n"
            "  lowest: constant, offset (), size ()\n"
            "  zero: constant, offset (), size ()\n"
            "  loop k0: 4, accumulates m, d, o\n"
            "    k: parameter, offset (k0 * 2, 0), size (2, 4)\n"
            "    v: parameter, offset (k0 * 2, 0), size (2, 4)\n"
            "    s: dot, offset (d0 * 4, k0 * 2), size (4, 2)\n"
            "    m: accumulates this step\n"
            "    mb: broadcast, offset (d0 * 4, k0 * 2), size (4, 2)\n"
            "    t: subtract, offset (d0 * 4, k0 * 2), size (4, 2)\n"
            "    x: exponential, offset (d0 * 4, k0 * 2), size (4, 2)\n"
            "    d: multiplied by exp(m before - m), then accumulates this step\n"
            "    w: divide, offset (d0 * 4, k0 * 2), size (4, 2); without its divisor\n"
            "    o: multiplied by exp(m before - m), then accumulates this step\n"
            "  m: reduce, offset (d0 * 4), size (4)\n"
            "  d: reduce, offset (d0 * 4), size (4)\n"
            "  o: dot, offset (d0 * 4, 0), size (4, 4); divided by d; stored\n");
  ASSERT_THAT(graph->regions()[1].rescales, SizeIs(3));
  std::vector<std::string> rescales;
  for (const TileRescale& rescale : graph->regions()[1].rescales) {
    rescales.push_back(absl::StrCat(graph->nodes()[rescale.accumulator].array->name,
                                    rescale.kind == TileRescale::Kind::kMaximum ? " with " : " by ",
                                    graph->nodes()[rescale.by].array->name, " of ",
                                    rescale.elements.num_dims(), " to ",
                                    rescale.elements.num_results()));
  }
  EXPECT_THAT(rescales,
              ElementsAre("d with m of 1 to 1", "o by d of 2 to 1", "o with m of 2 to 1"));
}

TEST_F(OnePassTest, LoopsAreSeparateUnlessOnePassIsAskedFor) {
  EXPECT_EQ(Tiled(kAttention, TiledLoops::kSeparate).space().num_dims(), 6);
  EXPECT_EQ(Tiled(kAttention).space().num_dims(), 4);
}

TEST_F(OnePassTest, VariantsThatTheLawCovers) {
  // Without the division; the other operand of the dot; a negated numerator; scaled values.
  EXPECT_THAT(SharedBy(Changed({{"dot(w, v)", "dot(x, v)"}})), ElementsAre("o", "m"));
  EXPECT_THAT(SharedBy(Changed({{"ROOT o = f32[8,4] dot(w, v), lhs_contracting_dims={1}, "
                                 "rhs_contracting_dims={0}",
                                 "ROOT o = f32[4,8] dot(v, w), lhs_contracting_dims={0}, "
                                 "rhs_contracting_dims={1}"}})),
              ElementsAre("o", "d", "m"));
  EXPECT_THAT(SharedBy(Changed({{"divide(x, db)", "divide(x1, db)"},
                                {"w =", "x1 = f32[8,8] multiply(other, x)\n    w ="}})),
              ElementsAre("o", "d", "m"));
  // The maximum with -inf, as JAX writes it.
  EXPECT_THAT(SharedBy(Changed({{"broadcast(m), dimensions={0}", "broadcast(ml), dimensions={0}"},
                                {"mb =",
                                 "l = f32[8] broadcast(lowest), dimensions={}\n    "
                                 "ml = f32[8] maximum(l, m)\n    mb ="}})),
              ElementsAre("o", "d", "m"));
  // The product with a reciprocal, as XLA writes a division by what is broadcast.
  for (const char* const product : {"multiply(x, db)", "multiply(db, x)"}) {
    EXPECT_THAT(SharedBy(Changed({{"broadcast(d), dimensions={0}", "broadcast(r), dimensions={0}"},
                                  {"divide(x, db)", product},
                                  {"db =",
                                   "one = f32[] constant(1)\n    "
                                   "ones = f32[8] broadcast(one), dimensions={}\n    "
                                   "r = f32[8] divide(ones, d)\n    db ="}})),
                ElementsAre("o", "d", "m"));
  }
  // The maximum of the same numbers moved, or converted to more bits, and moved or converted back.
  EXPECT_THAT(
      SharedBy(Changed({{"reduce(s, lowest), dimensions={1}", "reduce(st, lowest), dimensions={0}"},
                        {"m =", "st = f32[8,8] transpose(s), dimensions={1,0}\n    m ="}})),
      ElementsAre("o", "d", "m"));
  const auto of_bits = [](absl::string_view narrow, absl::string_view lowest) {
    const std::string numbers = absl::StrCat(narrow, "[8,8]");
    return Changed(
        {{"constant(-inf)", lowest},
         {"s = f32[8,8]", absl::StrCat("s = ", numbers)},
         {"reduce(s,", "reduce(sw,"},
         {"m =", "sw = f32[8,8] convert(s)\n    m ="},
         {"mb = f32[8,8] broadcast(m)",
          absl::StrCat("mn = ", narrow, "[8] convert(m)\n    mb = ", numbers, " broadcast(mn)")},
         {"t = f32[8,8]", absl::StrCat("t = ", numbers)},
         {"x = f32[8,8]", absl::StrCat("x = ", numbers)},
         {"reduce(x,", "reduce(xw,"},
         {"d =", "xw = f32[8,8] convert(x)\n    d ="},
         {"db = f32[8,8] broadcast(d)",
          absl::StrCat("dn = ", narrow, "[8] convert(d)\n    db = ", numbers, " broadcast(dn)")},
         {"w = f32[8,8]", absl::StrCat("w = ", numbers)},
         {"v = f32[8,4]", absl::StrCat("v = ", narrow, "[8,4]")}});
  };
  for (const char* const narrow : {"bf16", "f16"}) {
    EXPECT_THAT(SharedBy(of_bits(narrow, "constant(-inf)")), ElementsAre("o", "d", "m"));
    // Such a bound may be no number of fewer bits.
    EXPECT_THAT(SharedBy(of_bits(narrow, "constant(0.1)")), IsEmpty());
  }
  // A maximum with a bound from below.
  EXPECT_THAT(SharedBy(Changed({{"constant(-inf)", "constant(-100)"}})),
              ElementsAre("o", "d", "m"));
}

TEST_F(OnePassTest, WhatTheLawDoesNotCoverHasItsOwnLoop) {
  const struct {
    const char* what;
    std::string text;
    std::vector<std::string> shared;
  } cases[] = {
      {"the maximum with a number",
       Changed({{"broadcast(m), dimensions={0}", "broadcast(ml), dimensions={0}"},
                {"mb =",
                 "l = f32[8] broadcast(zero), dimensions={}\n    ml = f32[8] maximum(m, l)\n    "
                 "mb ="}}),
       {}},
      {"a minimum",
       Changed({{"dimensions={1}, to_apply=max", "dimensions={1}, to_apply=min"}}),
       {}},
      {"the maximum of another array",
       Changed({{"reduce(s, lowest)", "reduce(other, lowest)"}}),
       {}},
      {"the maximum of rounded numbers",
       Changed({{"reduce(s,", "reduce(sw,"},
                {"m =", "sn = bf16[8,8] convert(s)\n    sw = f32[8,8] convert(sn)\n    m ="}}),
       {}},
      {"a rounded maximum",
       Changed({{"broadcast(m), dimensions={0}", "broadcast(mw), dimensions={0}"},
                {"mb =", "mn = bf16[8] convert(m)\n    mw = f32[8] convert(mn)\n    mb ="}}),
       {}},
      {"a divisor that is rounded to fewer bits than the quotient has",
       Changed({{"broadcast(d), dimensions={0}", "broadcast(dw), dimensions={0}"},
                {"db =", "dn = bf16[8] convert(d)\n    dw = f32[8] convert(dn)\n    db ="}}),
       {"d", "m"}},
      {"the maximum of columns",
       Changed({{"reduce(s, lowest), dimensions={1}", "reduce(s, lowest), dimensions={0}"}}),
       {}},
      {"the maximum of another row",
       Changed({{"broadcast(m), dimensions={0}", "broadcast(mr), dimensions={0}"},
                {"mb =", "mr = f32[8] reverse(m), dimensions={0}\n    mb ="}}),
       {}},
      {"the maximum along columns",
       Changed({{"broadcast(m), dimensions={0}", "broadcast(m), dimensions={1}"}}),
       {}},
      {"maximum - s", Changed({{"subtract(s, mb)", "subtract(mb, s)"}}), {}},
      {"s + maximum", Changed({{"subtract(s, mb)", "add(s, mb)"}}), {}},
      {"another function than exp", Changed({{"exponential(t)", "tanh(t)"}}), {}},
      {"a scaled exponent",
       Changed({{"exponential(t)", "exponential(t2)"},
                {"x =", "t2 = f32[8,8] multiply(t, other)\n    x ="}}),
       {}},
      {"a sum that begins with 1", Changed({{"constant(0)", "constant(1)"}}), {}},
      {"a sum of squares",
       Changed({{"reduce(x, zero)", "reduce(xx, zero)"},
                {"d =", "xx = f32[8,8] multiply(x, x)\n    d ="}}),
       {}},
      {"a sum over queries",
       Changed({{"reduce(x, zero), dimensions={1}", "reduce(x, zero), dimensions={0}"}}),
       {}},
      {"terms that depend on the maximum in another way",
       Changed(
           {{"dot(w, v)", "dot(wm, v)"}, {"ROOT o", "wm = f32[8,8] multiply(w, mb)\n    ROOT o"}}),
       {"d", "m"}},
      {"a divisor that is no sum of exponentials alone",
       Changed({{"broadcast(d), dimensions={0}", "broadcast(d2), dimensions={0}"},
                {"db =", "d2 = f32[8] add(d, d)\n    db ="}}),
       {"d", "m"}},
      {"a product with the sum", Changed({{"divide(x, db)", "multiply(x, db)"}}), {"d", "m"}},
      {"a product with twice the reciprocal",
       Changed({{"broadcast(d), dimensions={0}", "broadcast(r), dimensions={0}"},
                {"divide(x, db)", "multiply(x, db)"},
                {"db =",
                 "two = f32[] constant(2)\n    twos = f32[8] broadcast(two), dimensions={}\n    "
                 "r = f32[8] divide(twos, d)\n    db ="}}),
       {"d", "m"}},
      {"a divisor of each key, for which the maximum is read in two ways",
       Changed({{"broadcast(d), dimensions={0}", "broadcast(d), dimensions={1}"}}),
       {}},
      {"keys in another order",
       Changed({{"dot(w, v)", "dot(wr, v)"},
                {"ROOT o", "wr = f32[8,8] reverse(w), dimensions={1}\n    ROOT o"}}),
       {"d", "m"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    EXPECT_EQ(SharedBy(c.text), c.shared);
  }
}

TEST_F(OnePassTest, ContractionsThatAreReadInSeveralWaysHaveSeparateLoops) {
  EXPECT_THAT(SharedBy(Changed({{"ROOT o", "o"},
                                {"rhs_contracting_dims={0}\n  }",
                                 "rhs_contracting_dims={0}\n    m0 = f32[8,4] broadcast(m), "
                                 "dimensions={0}\n    r = f32[8] reverse(m), dimensions={0}\n    "
                                 "m1 = f32[8,4] broadcast(r), dimensions={0}\n    y = f32[8,4] "
                                 "add(m0, m1)\n    ROOT z = f32[8,4] add(o, y)\n  }"}})),
              IsEmpty());
}

TEST_F(OnePassTest, StepsAreCombinedAsTheReductionSays) {
  const auto combiner_of = [&](const std::string& type, const std::string& combine) {
    auto module = ParseAndVerifyModule(absl::StrCat(
        "c { a = ", type, "[] parameter(0) b = ", type, "[] parameter(1) ROOT r = ", type, "[] ",
        combine, "(a, b) } ENTRY e { p = ", type, "[4] parameter(0) z = ", type,
        "[] constant(1) ROOT r = ", type, "[] reduce(p, z), dimensions={0}, to_apply=c }"));
    EXPECT_TRUE(module.ok()) << module.status();
    modules_.push_back(*std::move(module));
    return CombinerOf(*modules_.back()->entry_computation()->root_instruction());
  };
  using Neutral = TileCombiner::Neutral;
  EXPECT_EQ(combiner_of("f32", "add"), (TileCombiner{HloOpcode::kAdd, Neutral::kZero}));
  EXPECT_EQ(combiner_of("s32", "multiply"), (TileCombiner{HloOpcode::kMultiply, Neutral::kOne}));
  EXPECT_EQ(combiner_of("f32", "maximum"), (TileCombiner{HloOpcode::kMaximum, Neutral::kLowest}));
  EXPECT_EQ(combiner_of("s8", "minimum"), (TileCombiner{HloOpcode::kMinimum, Neutral::kGreatest}));
  EXPECT_EQ(combiner_of("u32", "and"), (TileCombiner{HloOpcode::kAnd, Neutral::kAllOnes}));
  EXPECT_EQ(combiner_of("u32", "or"), (TileCombiner{HloOpcode::kOr, Neutral::kZero}));
  EXPECT_EQ(combiner_of("f32", "subtract"), std::nullopt);
}

}  // namespace
}  // namespace xla_indexing::internal

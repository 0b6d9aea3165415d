// Graphs of tiles, executed on numbers of double precision from what their public headers say, and
// compared with the untiled computation: loops one after another, and in one pass.
//
// Bound. With u = 2^-53, n terms in a sum, T steps of its loop and values of magnitude at most M, a
// sum of exp(s - m) * y over the sum of exp(s - m) is, tiled as untiled, a quotient of two sums of n
// products each, in which every term is rounded at most n + 4 times (the sum, the exponential, the
// product, the quotient). One pass multiplies each sum by T factors exp(old - new), of which each has a
// rounding of the difference, whose magnitude is at most 2 M, one of the exponential and one of the
// product: (2 M + 2) u each. So both differ by at most 2 (n + 4 + T (2 M + 2)) * 2 u times the sum of
// the magnitudes of the terms over the sum, which is at most the largest |y|. Sums without exponentials
// and elementwise functions are well within that.
#include "tests/reference/judge/tile_values.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace xla_indexing::reference {
namespace {

constexpr double kPlusInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostMagnitude = 64;

constexpr char kReducers[] = R"(
  max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
)";

// Numbers that are often far apart, so that maxima grow by much.
FloatArray RandomFloats(const Shape& shape, Random* random) {
  FloatArray values;
  for (int64_t i = 0; i < *shape.ElementCount(); ++i) {
    values.push_back(static_cast<double>(random->Between(-300, 300)) / 100);
  }
  return values;
}

bool AreClose(double a, double b, double bound) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= bound;
}

struct ValueTally {
  int made = 0;
  int one_pass = 0;  // graphs with rescaled accumulators
};

class Judge {
 public:
  // `adjust` changes the arguments after they are drawn.
  Judge(const std::string& text, uint64_t seed,
        std::function<void(std::vector<FloatArray>*)> adjust)
      : random_(seed) {
    auto module = ParseAndVerifyModule(absl::StrCat(kReducers, text));
    EXPECT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    for (const HloInstruction* parameter : entry().parameters()) {
      arguments_.push_back(RandomFloats(parameter->shape(), &random_));
    }
    if (adjust) adjust(&arguments_);
    const auto numbered = NumberedComputation::Create(entry(), seed);
    EXPECT_TRUE(numbered.ok()) << numbered.status();
    const auto value = UntiledValue(entry(), **numbered, arguments_);
    EXPECT_TRUE(value.ok()) << value.status();
    expected_ = *value;
  }

  const HloComputation& entry() const { return *module_->entry_computation(); }
  const FloatArray& expected() const { return expected_; }

  void Check(TiledLoops loops, int count, ValueTally* tally) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const auto tiled = TiledComputation::Create(entry(), &context, {}, loops);
    ASSERT_TRUE(tiled.ok()) << tiled.status();
    for (int i = 0; i < count; ++i) {
      Tiling tiling;
      for (int dim = 0; dim < tiled->space().num_dims(); ++dim) {
        const int64_t size = tiled->space().dims()[dim].size;
        tiling.sizes.push_back(random_.Between(1, size + 1));
        if (tiled->space().IsParallel(dim) && random_.OneIn(4)) tiling.loops.push_back(dim);
      }
      const auto graph = tiled->Instantiate(tiling);
      if (!graph.ok()) {
        ASSERT_EQ(graph.status().code(), absl::StatusCode::kFailedPrecondition) << graph.status();
        continue;
      }
      SCOPED_TRACE(absl::StrCat("sizes ", absl::StrJoin(tiling.sizes, ", "), "\n",
                                tiled->space().ToString(), graph->ToString()));
      CheckGraph(*graph, tally);
      if (testing::Test::HasFailure()) return;
    }
  }

 private:
  void CheckGraph(const TileGraph& graph, ValueTally* tally) {
    ++tally->made;
    int64_t steps = 1;
    for (const TilingDimension& dim : graph.space().dims()) steps += dim.size;
    bool is_one_pass = false;
    for (const TileRegion& region : graph.regions()) {
      is_one_pass = is_one_pass || !region.rescales.empty();
    }
    tally->one_pass += is_one_pass ? 1 : 0;
    const auto value = ValueOfTiles(graph, arguments_);
    ASSERT_TRUE(value.ok()) << value.status();
    ASSERT_EQ(value->root.size(), expected_.size());
    // n and T are at most `steps`.
    const double bound = 4 * std::ldexp(1, -53) * kMostMagnitude * static_cast<double>(steps) *
                         (4 + 2 * kMostMagnitude + 2);
    for (size_t i = 0; i < expected_.size(); ++i) {
      ASSERT_TRUE(AreClose(value->root[i], expected_[i], bound))
          << "element " << i << " is " << value->root[i] << ", not " << expected_[i];
    }
    const TileCost cost = graph.Cost();
    ASSERT_TRUE(cost.is_exact);
    ASSERT_EQ(value->bytes, cost.moved_bytes);
  }

  Random random_;
  std::unique_ptr<HloModule> module_;
  std::vector<FloatArray> arguments_;
  FloatArray expected_;
};

ValueTally CheckTileValues(const std::string& text, TiledLoops loops, int count,
                           std::function<void(std::vector<FloatArray>*)> adjust = nullptr) {
  SCOPED_TRACE(text);
  ValueTally tally;
  for (uint64_t seed = 0; seed < 3 && !testing::Test::HasFailure(); ++seed) {
    Judge judge(text, seed, adjust);
    if (testing::Test::HasFailure()) break;
    judge.Check(loops, count, &tally);
  }
  EXPECT_GT(tally.made, 0);
  return tally;
}

// --- Loops one after another ---

TEST(TileValuesTest, StepsAreFollowedInTheOrderThatTheGraphSays) {
  for (const char* text : {
           // A matmul with bias and an activation; two layers.
           R"(ENTRY e {
             x = f32[5,6] parameter(0)  w = f32[6,7] parameter(1)  b = f32[7] parameter(2)
             d = f32[5,7] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
             bb = f32[5,7] broadcast(b), dimensions={1}
             y = f32[5,7] add(d, bb)
             t = f32[5,7] tanh(y)
             ROOT r = f32[5,7] multiply(y, t) })",
           R"(ENTRY e {
             x = f32[3,4] parameter(0)  w = f32[4,5] parameter(1)  u = f32[5,2] parameter(2)
             h = f32[3,5] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
             t = f32[3,5] tanh(h)
             ROOT r = f32[3,2] dot(t, u), lhs_contracting_dims={1}, rhs_contracting_dims={0} })",
           // Dimensions that the attributes name in another order than the array has them.
           R"(ENTRY e {
             x = f32[3,4,5] parameter(0)  z = f32[] constant(1)
             ROOT r = f32[4] reduce(x, z), dimensions={2,0}, to_apply=add })",
           R"(ENTRY e {
             x = f32[3,4,5] parameter(0)  y = f32[5,2,3] parameter(1)
             ROOT r = f32[4,2] dot(x, y), lhs_contracting_dims={2,0}, rhs_contracting_dims={0,2} })",
           R"(ENTRY e {
             x = f32[2,3,6] parameter(0)  k = f32[3,4,3] parameter(1)
             ROOT r = f32[2,4,4] convolution(x, k), window={size=3}, dim_labels=bf0_io0->bf0 })",
           R"(ENTRY e {
             x = f32[5,7] parameter(0)  z = f32[] constant(0)
             ROOT r = f32[5,7] reduce-window(x, z), window={size=3x2 pad=1_1x0_1}, to_apply=max })",
       }) {
    CheckTileValues(text, TiledLoops::kSeparate, 10);
  }
}

// --- One pass ---

constexpr char kSoftmax[] = R"(
  ENTRY e {
    p = f32[4,13] parameter(0)
    lowest = f32[] constant(-inf)
    zero = f32[] constant(0)
    m = f32[4] reduce(p, lowest), dimensions={1}, to_apply=max
    mb = f32[4,13] broadcast(m), dimensions={0}
    s = f32[4,13] subtract(p, mb)
    x = f32[4,13] exponential(s)
    d = f32[4] reduce(x, zero), dimensions={1}, to_apply=add
    db = f32[4,13] broadcast(d), dimensions={0}
    ROOT q = f32[4,13] divide(x, db)
  })";

// Four heads of queries on two of keys and values, a scale, a bias and a mask that is added.
constexpr char kAttention[] = R"(
  ENTRY e {
    q = f32[2,2,5,3] parameter(0)
    k = f32[2,7,3] parameter(1)
    v = f32[2,7,3] parameter(2)
    bias = f32[5,7] parameter(3)
    mask = f32[7] parameter(4)
    lowest = f32[] constant(-inf)
    zero = f32[] constant(0)
    scale = f32[] constant(0.57735)
    kb = f32[2,2,7,3] broadcast(k), dimensions={0,2,3}
    vb = f32[2,2,7,3] broadcast(v), dimensions={0,2,3}
    dots = f32[2,2,5,7] dot(q, kb), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={3}
    scales = f32[2,2,5,7] broadcast(scale), dimensions={}
    scaled = f32[2,2,5,7] multiply(dots, scales)
    biases = f32[2,2,5,7] broadcast(bias), dimensions={2,3}
    biased = f32[2,2,5,7] add(scaled, biases)
    masks = f32[2,2,5,7] broadcast(mask), dimensions={3}
    s = f32[2,2,5,7] add(biased, masks)
    m = f32[2,2,5] reduce(s, lowest), dimensions={3}, to_apply=max
    m1 = f32[2,2,5,1] reshape(m)
    m3 = f32[2,2,5] reshape(m1)
    lows = f32[2,2,5] broadcast(lowest), dimensions={}
    m2 = f32[2,2,5] maximum(lows, m3)
    mb = f32[2,2,5,7] broadcast(m2), dimensions={0,1,2}
    t = f32[2,2,5,7] subtract(s, mb)
    x = f32[2,2,5,7] exponential(t)
    d = f32[2,2,5] reduce(x, zero), dimensions={3}, to_apply=add
    db = f32[2,2,5,7] broadcast(d), dimensions={0,1,2}
    w = f32[2,2,5,7] divide(x, db)
    ROOT o = f32[2,2,5,3] dot(w, vb), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={2}
  })";

TEST(OnePassValuesTest, SoftmaxHasTheValuesOfTheUntiledComputation) {
  const ValueTally tally = CheckTileValues(kSoftmax, TiledLoops::kOnePass, 20);
  EXPECT_GT(tally.one_pass, 20);
}

TEST(OnePassValuesTest, AttentionHasTheValuesOfTheUntiledComputation) {
  const ValueTally tally = CheckTileValues(kAttention, TiledLoops::kOnePass, 20);
  EXPECT_GT(tally.one_pass, 20);
}

// With the reciprocals of the sums, as XLA writes divisions by what is broadcast.
const std::string& AttentionWithReciprocals() {
  static const auto* const text = new std::string(
      absl::StrReplaceAll(kAttention, {{"db = f32[2,2,5,7] broadcast(d)", R"(one = f32[] constant(1)
    ones = f32[2,2,5] broadcast(one), dimensions={}
    r = f32[2,2,5] divide(ones, d)
    db = f32[2,2,5,7] broadcast(r))"},
                                       {"divide(x, db)", "multiply(db, x)"}}));
  return *text;
}

TEST(OnePassValuesTest, ReciprocalsOfSumsAreDivisorsAfterTheLoop) {
  const ValueTally tally = CheckTileValues(AttentionWithReciprocals(), TiledLoops::kOnePass, 20);
  EXPECT_GT(tally.one_pass, 20);
}

TEST(OnePassValuesTest, RowsOfMinusInfinityAreNaNAsInTheUntiledComputation) {
  // Some queries have no key, others none among the first keys or the last ones; one has infinity.
  const auto mask_rows = [](std::vector<FloatArray>* arguments) {
    FloatArray& bias = (*arguments)[3];
    for (int64_t key = 0; key < 7; ++key) {
      bias[0 * 7 + key] = -kPlusInfinity;
      if (key < 5) bias[1 * 7 + key] = -kPlusInfinity;
      if (key > 1) bias[2 * 7 + key] = -kPlusInfinity;
      bias[3 * 7 + key] = key == 3 ? -1e9 : -kPlusInfinity;
    }
    bias[4 * 7 + 2] = kPlusInfinity;
  };
  const ValueTally attention = CheckTileValues(kAttention, TiledLoops::kOnePass, 20, mask_rows);
  EXPECT_GT(attention.one_pass, 20);
  CheckTileValues(AttentionWithReciprocals(), TiledLoops::kOnePass, 20, mask_rows);
  Judge judge(kAttention, 0, mask_rows);
  EXPECT_TRUE(std::isnan(judge.expected()[0]));
  EXPECT_FALSE(std::isnan(judge.expected()[3]));
  // A row without anything in a softmax, and one with nothing at first.
  CheckTileValues(kSoftmax, TiledLoops::kOnePass, 20, [](std::vector<FloatArray>* arguments) {
    for (int i = 0; i < 13; ++i) arguments->front()[i] = -kPlusInfinity;
    for (int i = 13; i < 24; ++i) arguments->front()[i] = -kPlusInfinity;
  });
}

// What bytes a flash attention moves that was written by hand, for `heads` heads of n queries and keys
// and d features of f32: with blocks of b queries, each program loads its queries (b d) and stores
// its results (b d) once, and loads all keys and values (2 n d). n / b programs of each head:
//
//   4 heads (2 n d + n / b * 2 n d)
//
// It holds b (2 d + 2) floats of queries, results, maxima and sums, and 2 d of each key and value in a
// block. With 64 KiB, d = 64 and blocks that are powers of two, b = 64: 64 * 130 floats are 33,280
// bytes, and 128 rows would be 66,560.
TEST(OnePassValuesTest, AttentionMovesTheBytesOfAFlashAttention) {
  constexpr int64_t kHeads = 8;
  constexpr int64_t kRows = 1024;
  constexpr int64_t kFeatures = 64;
  constexpr int64_t kBlock = 64;
  constexpr int64_t by_hand =
      4 * kHeads * (2 * kRows * kFeatures + kRows / kBlock * 2 * kRows * kFeatures);
  const auto module = ParseAndVerifyModule(absl::StrCat(kReducers, R"(
    ENTRY e {
      q = f32[8,1024,64] parameter(0)
      k = f32[8,1024,64] parameter(1)
      v = f32[8,1024,64] parameter(2)
      lowest = f32[] constant(-inf)
      zero = f32[] constant(0)
      s = f32[8,1024,1024] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
      m = f32[8,1024] reduce(s, lowest), dimensions={2}, to_apply=max
      mb = f32[8,1024,1024] broadcast(m), dimensions={0,1}
      t = f32[8,1024,1024] subtract(s, mb)
      x = f32[8,1024,1024] exponential(t)
      d = f32[8,1024] reduce(x, zero), dimensions={2}, to_apply=add
      db = f32[8,1024,1024] broadcast(d), dimensions={0,1}
      w = f32[8,1024,1024] divide(x, db)
      ROOT o = f32[8,1024,64] dot(w, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
    })"));
  ASSERT_TRUE(module.ok()) << module.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto tiled =
      TiledComputation::Create(*(*module)->entry_computation(), &context, {}, TiledLoops::kOnePass);
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  TilingSearchOptions options;
  options.max_resident_bytes = 64 << 10;
  const TilingSearch search = tiled->FindTilings(options);
  ASSERT_FALSE(search.tilings.empty());
  EXPECT_LE(static_cast<double>(search.tilings.front().cost.moved_bytes), 1.1 * by_hand);
  // The hand-written blocks, to the byte.
  const auto graph = tiled->Instantiate(*tiled->space().ParseSizes("1,64,64,k0=32,k1=64"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->Cost().moved_bytes, by_hand);
  EXPECT_LE(graph->Cost().resident_bytes, options.max_resident_bytes);
}

}  // namespace
}  // namespace xla_indexing::reference

// Stretches of random addresses, against the requests of all their values, one by one.
#include "xla_indexing/gpu/requests/stretch.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/random_access.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/gpu/requests/access_program.h"
#include "xla_indexing/gpu/requests/launch_variables.h"

namespace xla_indexing::reference {
namespace {

using internal::AccessProgram;
using internal::LaunchAccess;
using internal::Stretch;
using internal::StretchAt;

Stretch StretchFrom(LaunchAccess* access, int64_t value, const std::vector<int>& open,
                    int64_t modulus) {
  access->program.Narrow(0, {value, value});
  access->program.UpdateRanges();
  const auto used = access->program.program().StepsOf(access->StepsOf(open));
  return StretchAt(*access, /*variable=*/0, used, open, modulus);
}

// Along a stretch, requests are moved by its slope, or there are none.
TEST(StretchTest, RequestsMoveAlongAStretch) {
  int longer = 0;
  const int cases = Cases(250);
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    RandomAccess random(i, {40, 100, 300});
    ASSERT_TRUE(random.access().program.ok());
    LaunchAccess access = random.access();
    const auto [lower, upper] = random.values();
    for (int64_t v = lower; v <= upper;) {
      const Stretch stretch = StretchFrom(&access, v, random.open(), random.modulus());
      ASSERT_GE(stretch.length, 1);
      longer += stretch.length > 1;
      const BitAddresses first = random.RequestAt(v);
      if (!stretch.is_active) {
        EXPECT_TRUE(first.empty());
      }
      const int64_t end = std::min(stretch.length, upper - v + 1);
      for (int64_t x = 1; x < end; ++x) {
        BitAddresses moved = first;
        for (int64_t& bit : moved) bit += x * stretch.slope;
        ASSERT_EQ(random.RequestAt(v + x), random.InFirstPeriod(moved)) << v << " + " << x;
      }
      v += end;
    }
  }
  EXPECT_GT(longer, cases / 4);
}

// The example of the header: 32 * (e mod 700 + 1000 * floor(e / 700)), e = 32*v + lane.
TEST(StretchTest, RowsThatAreNoMultiplesOfAWarp) {
  mlir::MLIRContext context;
  const auto e = mlir::getAffineDimExpr(0, &context) * 32 + mlir::getAffineDimExpr(1, &context);
  LaunchAccess access;
  access.program = AccessProgram({(e % 700) * 32 + e.floorDiv(700) * 32000}, {{0, 174}, {0, 31}});
  access.address = access.program.program().StepOf(0);
  access.inner = 2;
  access.width = 32;
  const Stretch row = StretchFrom(&access, 0, {}, 4096);
  EXPECT_EQ(row.length, 21);
  EXPECT_EQ(row.slope, 1024);
  EXPECT_EQ(StretchFrom(&access, 21, {}, 4096).length, 1);
  // 700 * 2 = 32 * 43 + 24: from warp 22 to warp 42.
  EXPECT_EQ(StretchFrom(&access, 22, {}, 4096).length, 21);
  // 700 * 8 = 32 * 175: the last row ends with a warp.
  EXPECT_EQ(StretchFrom(&access, 154, {}, 4096).length, 21);
}

// Where all lanes are past a constraint, there is nothing until it begins to hold.
TEST(StretchTest, ConstraintsEndAStretch) {
  mlir::MLIRContext context;
  const auto e = mlir::getAffineDimExpr(0, &context) * 32 + mlir::getAffineDimExpr(1, &context);
  LaunchAccess access;
  access.program = AccessProgram({e * 8, e}, {{0, 99}, {0, 31}});
  access.address = access.program.program().StepOf(0);
  access.inner = 2;
  access.width = 8;
  access.constraints.push_back({access.program.program().StepOf(1), {100, 1000}});
  // Warps 0 to 2 are below 100, warp 3 has it, warps 4 to 30 are between, warp 31 has 1000.
  EXPECT_FALSE(StretchFrom(&access, 0, {0}, 1024).is_active);
  EXPECT_EQ(StretchFrom(&access, 0, {0}, 1024).length, 3);
  EXPECT_EQ(StretchFrom(&access, 3, {0}, 1024).length, 1);
  EXPECT_EQ(StretchFrom(&access, 3, {0}, 1024).open.size(), 1);
  EXPECT_EQ(StretchFrom(&access, 4, {0}, 1024).length, 27);
  EXPECT_EQ(StretchFrom(&access, 4, {0}, 1024).open.size(), 0);
  EXPECT_EQ(StretchFrom(&access, 31, {0}, 1024).length, 1);
  EXPECT_FALSE(StretchFrom(&access, 32, {0}, 1024).is_active);
}

}  // namespace
}  // namespace xla_indexing::reference

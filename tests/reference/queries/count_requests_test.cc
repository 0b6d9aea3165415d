// Counts of the requests of random launches, against all of them, one by one.

#include "xla_indexing/gpu/requests/count_requests.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/random_access.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/gpu/requests/access_program.h"
#include "xla_indexing/gpu/requests/request_meter.h"

namespace xla_indexing::reference {
namespace {

using internal::AccessProgram;
using internal::CountRequests;
using internal::IsWorse;
using internal::LaunchAccess;
using internal::RequestBounds;
using internal::RequestTotals;
using internal::SectorMeter;
using internal::ValueRange;

// What chunks of this many bits have one of the bits, which ascend, moved on.
int64_t ChunksOf(const BitAddresses& bits, int64_t size, int64_t move) {
  int64_t chunks = 0;
  int64_t last = -1;
  for (const int64_t bit : bits) {
    const int64_t chunk = (bit + move) / size;
    chunks += chunk != last;
    last = chunk;
  }
  return chunks;
}

// Sectors are half as long as lines.
RequestCost CostOf(const BitAddresses& bits, int64_t line_bits, int64_t move) {
  const int64_t sector_bytes = line_bits / 16;
  return {ChunksOf(bits, line_bits / 2, move),
          (ChunksOf(bits, 8, move) + sector_bytes - 1) / sector_bytes,
          ChunksOf(bits, line_bits, move)};
}

TEST(CountRequestsTest, RequestsAreThoseOfAllValues) {
  int with_movers = 0;
  const int cases = Cases(120);
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    RandomAccess random(i, {300, 1000, 2500});
    const int64_t movers = random.random().Between(1, 3);
    const int64_t factor = random.random().Pick(std::vector<int64_t>{8, 24, 64, 1, 128});
    const int mover = random.AddMover(movers, factor);
    with_movers += movers > 1;
    ASSERT_TRUE(random.access().program.ok());
    const int64_t line = random.modulus();
    const SectorMeter meter(line / 16, line / 8);
    const RequestTotals said = CountRequests(random.access(), meter, int64_t{1} << 40);

    RequestCost sums;
    int64_t requests = 0;
    std::optional<RequestCost> worst;
    int64_t worst_value = 0;
    for (int64_t v = random.values().lower; v <= random.values().upper; ++v) {
      const BitAddresses bits = random.RequestAt(v);
      if (bits.empty()) continue;
      for (int64_t w = 0; w < movers; ++w) {
        const RequestCost cost = CostOf(bits, line, w * factor);
        ++requests;
        sums = {sums.units + cost.units, sums.least + cost.least, sums.other + cost.other};
        if (!worst || cost.units * worst->least > worst->units * cost.least ||
            (cost.units * worst->least == worst->units * cost.least && cost.units > worst->units)) {
          worst = cost;
          worst_value = v;
        }
      }
    }
    const auto is = [](const RequestBounds& bounds, int64_t count) {
      return bounds.least == count && bounds.most == count;
    };
    ASSERT_TRUE(is(said.requests, requests) && is(said.units, sums.units) &&
                is(said.least, sums.least) && is(said.other, sums.other));
    ASSERT_EQ(said.worst.has_value(), worst.has_value());
    if (!worst) continue;
    EXPECT_EQ(said.worst->cost.units, worst->units);
    EXPECT_EQ(said.worst->cost.least, worst->least);
    // The first of those that are as bad, where v is the last variable that is counted.
    EXPECT_LE(worst_value, said.worst->values[0]);
    EXPECT_EQ(
        CostOf(random.RequestAt(said.worst->values[0]), line, said.worst->values[mover] * factor),
        said.worst->cost);
  }
  EXPECT_GT(with_movers, cases / 2);
}

// Images of rows, some channels of them, one after the other, with e = 32*v + lane: what is
// accessed depends on row, place in it and channel, which all repeat after another number of
// values.
TEST(CountRequestsTest, ImagesAreThoseOfAllValues) {
  const std::vector<int64_t> channel_counts = {1, 3, 5, 6, 7, 12};
  const std::vector<int64_t> factors = {0, 1, 2, 5, 9, 16, 20, 33, -3};
  const SectorMeter meter(/*sector_bytes=*/8, /*line_bytes=*/16);
  const int cases = Cases(2000);
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    Random random(i);
    const int64_t length = random.Between(2, 15);
    const int64_t rows = random.Between(1, 9);
    const int64_t channels = random.Pick(channel_counts);
    const std::array<int64_t, 3> by = {random.Pick(factors), random.Pick(factors),
                                       random.Pick(factors)};
    const int64_t width = random.Between(1, 4);  // in bytes
    const int64_t begin = random.Between(0, 20);
    const int64_t end = begin + random.Pick(std::vector<int64_t>{50, 150, 400});

    mlir::MLIRContext context;
    LaunchAccess access;
    access.inner = 2;
    access.width = 8 * width;
    const auto e = mlir::getAffineDimExpr(0, &context) * 32 + mlir::getAffineDimExpr(1, &context);
    const auto row = e.floorDiv(length);
    const std::array<mlir::AffineExpr, 3> place = {e % length, row % rows,
                                                   row.floorDiv(rows) % channels};
    const std::array<int64_t, 3> sizes = {length, rows, channels};
    std::array<ValueRange, 3> bounds;
    std::vector<mlir::AffineExpr> exprs = {mlir::getAffineConstantExpr(8 * 100000, &context)};
    for (int d = 0; d < 3; ++d) {
      exprs[0] = exprs[0] + place[d] * (8 * by[d]);
      bounds[d] = {0, sizes[d] - 1};
      if (!random.OneIn(3)) continue;
      bounds[d] = {random.Between(0, 1), random.Between(1, sizes[d])};
      exprs.push_back(place[d]);
      access.constraints.push_back({0, bounds[d]});
    }
    access.program = AccessProgram(exprs, {{begin, end - 1}, {0, 31}});
    ASSERT_TRUE(access.program.ok());
    access.address = access.program.program().StepOf(0);
    for (size_t c = 0; c < access.constraints.size(); ++c) {
      access.constraints[c].step = access.program.program().StepOf(static_cast<int>(c) + 1);
    }
    const RequestTotals said = CountRequests(access, meter, int64_t{1} << 40);

    RequestCost sums;
    int64_t requests = 0;
    int64_t worst_value = -1;
    RequestCost worst;
    for (int64_t value = begin; value < end; ++value) {
      BitAddresses bits;
      for (int64_t x = 32 * value; x < 32 * value + 32; ++x) {
        const std::array<int64_t, 3> at = {x % length, x / length % rows,
                                           x / length / rows % channels};
        int64_t byte = 100000;
        bool is_active = true;
        for (int d = 0; d < 3; ++d) {
          byte += by[d] * at[d];
          is_active = is_active && bounds[d].lower <= at[d] && at[d] <= bounds[d].upper;
        }
        for (int64_t b = 0; is_active && b < width; ++b) bits.push_back(8 * (byte + b));
      }
      if (bits.empty()) continue;
      std::sort(bits.begin(), bits.end());
      const RequestCost cost = CostOf(bits, 128, 0);
      ++requests;
      sums = {sums.units + cost.units, sums.least + cost.least, sums.other + cost.other};
      if (worst_value >= 0 && !IsWorse(cost, worst)) continue;
      worst = cost;
      worst_value = value;
    }
    const auto is = [](const RequestBounds& bounds, int64_t count) {
      return bounds.least == count && bounds.most == count;
    };
    ASSERT_TRUE(is(said.requests, requests) && is(said.units, sums.units) &&
                is(said.least, sums.least) && is(said.other, sums.other))
        << length << " " << rows << " " << channels;
    ASSERT_EQ(said.worst.has_value(), requests > 0);
    if (requests == 0) continue;
    EXPECT_EQ(said.worst->cost, worst);
    EXPECT_EQ(said.worst->values[0], worst_value);
  }
}

}  // namespace
}  // namespace xla_indexing::reference

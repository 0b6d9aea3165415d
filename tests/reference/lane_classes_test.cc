// Classes of random addresses are those of all values, one by one.

#include "xla_indexing/gpu/internal/lane_classes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/reference/random_access.h"
#include "tests/testing/effort.h"
#include "xla_indexing/gpu/internal/launch_variables.h"

namespace xla_indexing::reference {
namespace {

using internal::Form;
using internal::FormAlgebra;
using internal::LaneBits;
using internal::LaneClass;
using internal::LaneClasses;
using internal::LaunchAccess;

void AddTo(const RandomAccess& random, LaneClasses* classes, std::map<Bits, int64_t>* requests) {
  for (const LaneClass& lane_class : classes->classes()) {
    const LaneBits::Trains& trains = classes->BitsOf(lane_class.pattern);
    if (trains.empty()) continue;
    EXPECT_GE(trains[0].first.begin, 0);
    EXPECT_LT(trains[0].first.begin, random.modulus());
    Bits bits;
    for (const auto& [first, step, count] : trains) {
      // They ascend and do not overlap, as their runs do.
      EXPECT_TRUE(bits.empty() || bits.back() < first.begin + lane_class.residue);
      EXPECT_TRUE(count == 1 || step >= first.end - first.begin);
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t bit = first.begin; bit < first.end; ++bit) {
          bits.push_back(bit + i * step + lane_class.residue);
        }
      }
    }
    bits = random.InFirstPeriod(std::move(bits));
    EXPECT_EQ(bits, random.RequestAt(lane_class.first));
    (*requests)[bits] += 2 * lane_class.counts[0] + lane_class.counts[1];
  }
}

TEST(LaneClassesTest, AreTheRequestsOfAllValues) {
  int with_sharing = 0;
  const int cases = Cases(1000);
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    RandomAccess random(i, {40, 100, 300});
    ASSERT_TRUE(random.access().algebra.ok());
    const size_t max_classes = random.random().OneIn(2) ? random.random().Between(1, 20) : 1000;
    LaneClasses classes(random.access(), random.open(), /*variable=*/0, random.modulus(),
                        max_classes);
    ASSERT_TRUE(classes.fits());
    // All of them or as many as a few places have; those of part 0 twice.
    const auto [lower, upper] = random.values();
    const int64_t middle = random.random().Between(lower, upper);
    const bool is_enough = !random.random().OneIn(4);
    int64_t places = is_enough ? 1000000 : random.random().Between(1, 20);
    std::map<Bits, int64_t> actual;
    int64_t next = lower;
    while (next <= upper && places > 0) {
      if (next < middle) next = classes.Add({next, middle - 1}, 0, &places);
      if (next >= middle) next = classes.Add({next, upper}, 1, &places);
      AddTo(random, &classes, &actual);
      with_sharing += std::any_of(classes.classes().begin(), classes.classes().end(),
                                  [](const LaneClass& lane_class) {
                                    return lane_class.counts[0] + lane_class.counts[1] > 1;
                                  });
      classes.Clear();
    }
    ASSERT_TRUE(is_enough ? next == upper + 1 : next <= upper + 1);
    std::map<Bits, int64_t> expected;
    for (int64_t v = lower; v < next; ++v) {
      const Bits bits = random.RequestAt(v);
      if (!bits.empty()) expected[bits] += v < middle ? 2 : 1;
    }
    ASSERT_EQ(actual, expected);
  }
  EXPECT_GT(with_sharing, cases / 3);
}

TEST(LaneClassesTest, AStretchIsOnePlace) {
  // The example of the header: 32 * (e mod 700 + 1000 * floor(e / 700)), e = 32*v + lane.
  LaunchAccess access;
  FormAlgebra& algebra = access.algebra;
  const Form v = algebra.AddVariable(0, 174);
  const Form lane = algebra.AddVariable(0, 31);
  access.inner = 2;
  access.width = 32;
  const Form e = algebra.Add(lane, v, 32);
  access.address = algebra.Add(algebra.Add(Form(), algebra.Modulo(e, 700), 32),
                               algebra.FloorDivide(e, 700), 32000);
  LaneClasses classes(access, {}, /*variable=*/0, 1024);
  int64_t places = 100;
  // 21 values without a carry, one with it.
  EXPECT_EQ(classes.Add({0, 21}, 0, &places), 22);
  EXPECT_EQ(places, 98);
  ASSERT_EQ(classes.classes().size(), 2);
  EXPECT_EQ(classes.classes()[0].counts[0], 21);
  EXPECT_EQ(classes.classes()[1].counts[0], 1);
  // 175 warps are 8 rows: 7 ends of rows within a warp, the eighth between two.
  EXPECT_EQ(classes.Add({22, 174}, 0, &places), 175);
  EXPECT_EQ(places, 100 - 7 - 8);
  EXPECT_EQ(classes.num_patterns(), 8);
}

// Numbers near 2^62 are not for classes.
TEST(LaneClassesTest, LargeNumbersDoNotFit) {
  LaunchAccess access;
  FormAlgebra& algebra = access.algebra;
  const Form v = algebra.AddVariable(0, int64_t{1} << 55);
  const Form lane = algebra.AddVariable(0, 31);
  access.inner = 2;
  access.width = 8;
  access.address = algebra.Add(algebra.Modulo(algebra.Add(lane, v, 32), 37), v, 64);
  ASSERT_TRUE(algebra.ok());
  EXPECT_FALSE(LaneClasses(access, {}, /*variable=*/0, 1024).fits());
}

}  // namespace
}  // namespace xla_indexing::reference

// Indices that are read at indices: every runtime variable is bound to the element that yields it,
// through slices, gathers and loops on the way. Each module is executed with many contents of its
// index operands, in and out of bounds.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"

namespace xla_indexing::reference {
namespace {

constexpr uint64_t kContents = 60;

void CheckForManyContents(const std::string& text) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (uint64_t seed = 0; seed < kContents; ++seed) {
    const absl::Status status = CheckModule(text, seed, &context);
    ASSERT_TRUE(status.ok()) << status;
  }
}

TEST(ChainsTest, ASliceOfAGather) {
  CheckForManyContents(R"(HloModule m
ENTRY e {
  x = f32[7,3] parameter(0)
  i = s32[5] parameter(1)
  g = f32[5,2,3] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0},
    index_vector_dim=1, slice_sizes={2,3}
  ROOT s = f32[2,1,3] slice(g), slice={[1:4:2], [1:2], [0:3]}
})");
}

TEST(ChainsTest, AGatherOfAGather) {
  CheckForManyContents(R"(HloModule m
ENTRY e {
  x = f32[7] parameter(0)
  i = s32[4] parameter(1)
  j = s32[3] parameter(2)
  g = f32[4] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1}
  ROOT h = f32[3,2] gather(g, j), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0},
    index_vector_dim=1, slice_sizes={2}
})");
}

TEST(ChainsTest, AGatherAtIndicesThatAreGathered) {
  CheckForManyContents(R"(HloModule m
ENTRY e {
  x = f32[7] parameter(0)
  i = s32[5] parameter(1)
  j = s32[3] parameter(2)
  g = s32[3] gather(i, j), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1}
  ROOT h = f32[3] gather(x, g), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1}
})");
}

TEST(ChainsTest, TwoDynamicSlices) {
  CheckForManyContents(R"(HloModule m
ENTRY e {
  x = f32[6,5] parameter(0)
  a = s32[] parameter(1)
  b = s32[] parameter(2)
  s = f32[4,5] dynamic-slice(x, a, b), dynamic_slice_sizes={4,5}
  ROOT t = f32[2,3] dynamic-slice(s, b, a), dynamic_slice_sizes={2,3}
})");
}

TEST(ChainsTest, ADynamicSliceWhoseStartIsSliced) {
  CheckForManyContents(R"(HloModule m
ENTRY e {
  x = f32[9] parameter(0)
  i = s32[6] parameter(1)
  a = s32[] parameter(2)
  s = s32[2] dynamic-slice(i, a), dynamic_slice_sizes={2}
  last = s32[1] slice(s), slice={[1:2]}
  start = s32[] reshape(last)
  ROOT t = f32[3] dynamic-slice(x, start), dynamic_slice_sizes={3}
})");
}

TEST(ChainsTest, AGatherOfAnUpdateAtADynamicPlace) {
  CheckForManyContents(R"(HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  u = f32[3] parameter(1)
  a = s32[] parameter(2)
  i = s32[4] parameter(3)
  d = f32[8] dynamic-update-slice(x, u, a)
  ROOT g = f32[4,2] gather(d, i), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0},
    index_vector_dim=1, slice_sizes={2}
})");
}

TEST(ChainsTest, StartsThatComeThroughFusionsAndTuples) {
  CheckForManyContents(R"(HloModule m
pick {
  t = (f32[8], s32[4]) parameter(0)
  k = s32[] parameter(1)
  x = f32[8] get-tuple-element(t), index=0
  i = s32[4] get-tuple-element(t), index=1
  one = s32[1] dynamic-slice(i, k), dynamic_slice_sizes={1}
  start = s32[] reshape(one)
  s = f32[3] dynamic-slice(x, start), dynamic_slice_sizes={3}
  ROOT r = (f32[3], s32[]) tuple(s, start)
}
ENTRY e {
  x = f32[8] parameter(0)
  i = s32[4] parameter(1)
  k = s32[] parameter(2)
  t = (f32[8], s32[4]) tuple(x, i)
  f = (f32[3], s32[]) fusion(t, k), kind=kLoop, calls=pick
  s = f32[3] get-tuple-element(f), index=0
  n = s32[] get-tuple-element(f), index=1
  ROOT d = f32[2] dynamic-slice(s, n), dynamic_slice_sizes={2}
})");
}

// The prefixes of a scan, and one whose carry moves.
TEST(ChainsTest, ADynamicSliceOfAScan) {
  CheckForManyContents(R"(HloModule m
step {
  x = f32[3] parameter(0)
  c = f32[3] parameter(1)
  r = f32[3] reverse(c), dimensions={0}
  s = f32[3] add(x, r)
  ROOT t = (f32[3], f32[3]) tuple(r, s)
}
ENTRY e {
  x = f32[3,5] parameter(0)
  init = f32[3] parameter(1)
  k = s32[] parameter(2)
  s = (f32[3,5], f32[3]) scan(x, init), dimensions={1}, num_carries=1, to_apply=step
  o = f32[3,5] get-tuple-element(s), index=0
  ROOT d = f32[2,2] dynamic-slice(o, k, k), dynamic_slice_sizes={2,2}
})");
}

}  // namespace
}  // namespace xla_indexing::reference

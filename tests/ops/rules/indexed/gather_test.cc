// Gathers that the indexing document has no example of. Expected maps are worked out by hand from
// the definitions.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;

class GatherTest : public IndexingTest {};

TEST_F(GatherTest, GatherWithBatchingDimensions) {
  const HloInstruction* gather = Entry(R"(
    a = f32[5,20,6] parameter(0)
    i = s32[3,5,1] parameter(1)
    ROOT r = f32[3,5,4] gather(a, i), offset_dims={2}, collapsed_slice_dims={2},
      operand_batching_dims={0}, start_indices_batching_dims={1}, start_index_map={1},
      index_vector_dim=2, slice_sizes={1,4,1})");
  const std::string dims = "d0 in [0, 2], d1 in [0, 4], d2 in [0, 3]";
  EXPECT_THAT(OutputToInput(gather),
              ElementsAre("0.0.0 (d0, d1, d2){rt0} -> (d1, d2 + rt0, 0), domain: " + dims +
                              ", rt0 in [0, 16]\n  rt0: i, clamp [0, 16]; (d0, d1, d2) -> "
                              "(d0, d1, 0), domain: " +
                              dims,
                          "0.1.0 (d0, d1, d2) -> (d0, d1, 0), domain: " + dims));
  // Element (b, x, 0) is in the slices of all batch indices (s0, b) that cover it.
  EXPECT_THAT(
      InputToOutput(gather),
      ElementsAre("0.0.0 (d0, d1, d2)[s0]{rt0} -> (s0, d0, d1 - rt0), domain: d0 in [0, 4], "
                  "d1 in [0, 19], d2 in [0, 0], s0 in [0, 2], rt0 in [0, 16], "
                  "d1 - rt0 in [0, 3]\n  rt0: i, clamp [0, 16]; (d0, d1, d2)[s0] -> "
                  "(s0, d0, 0), domain: d0 in [0, 4], d1 in [0, 19], d2 in [0, 0], "
                  "s0 in [0, 2]",
                  "0.1.0 (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 2], "
                  "d1 in [0, 4], d2 in [0, 0], s0 in [0, 3]"));
}

// The rows that are read may be those of the batch, of the start, or of their sum.
TEST_F(GatherTest, ADimensionThatIsBatchingAndIndexedIsReadWhole) {
  const HloInstruction* gather = Entry(R"(
    a = f32[4,2] parameter(0)
    i = s32[4,5,2] parameter(1)
    ROOT r = f32[4,5,2] gather(a, i), offset_dims={2}, collapsed_slice_dims={},
      start_index_map={0,1}, operand_batching_dims={0}, start_indices_batching_dims={0},
      index_vector_dim=2, slice_sizes={1,2})");
  const std::string why = "  (over-approximate: dimension 0 is batching and indexed)";
  EXPECT_THAT(OutputToInput(gather)[0],
              ::testing::StartsWith("0.0.0 (d0, d1, d2)[s0]{rt0} -> (s0, d2 + rt0), domain: "
                                    "d0 in [0, 3], d1 in [0, 4], d2 in [0, 1], s0 in [0, 3], "
                                    "rt0 in [0, 0]" +
                                    why));
  // Element (0, 0) of batch 3 may be read for every index.
  EXPECT_THAT(InputToOutput(gather)[0],
              ::testing::StartsWith("0.0.0 (d0, d1)[s0, s1, s2]{rt0} -> (s0, s1, d1 - rt0)"));
}

TEST_F(GatherTest, GatherOfScalarIndices) {
  const HloInstruction* gather = Entry(R"(
    a = f32[20] parameter(0)
    i = s32[3] parameter(1)
    ROOT r = f32[3] gather(a, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
      index_vector_dim=1, slice_sizes={1})");
  EXPECT_THAT(OutputToInput(gather),
              ElementsAre("0.0.0 (d0){rt0} -> (rt0), domain: d0 in [0, 2], rt0 in [0, 19]\n"
                          "  rt0: i, clamp [0, 19]; (d0) -> (d0), domain: d0 in [0, 2]",
                          "0.1.0 (d0) -> (d0), domain: d0 in [0, 2]"));
}

TEST_F(GatherTest, GatherOfSlicesWithoutElementsReadsNoneOfTheOperand) {
  const HloInstruction* gather = Entry(R"(
    a = f32[20] parameter(0)
    i = s32[3] parameter(1)
    ROOT r = f32[3] gather(a, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
      index_vector_dim=1, slice_sizes={0})");
  EXPECT_THAT(OutputToInput(gather), ElementsAre("0.1.0 (d0) -> (d0), domain: d0 in [0, 2]"));
  EXPECT_THAT(InputToOutput(gather), ElementsAre("0.1.0 (d0) -> (d0), domain: d0 in [0, 2]"));
}

}  // namespace
}  // namespace xla_indexing::internal

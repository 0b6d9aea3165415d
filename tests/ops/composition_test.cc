// Operations that are compositions of others have the maps of these. Expected maps are worked out
// by hand from the definitions.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/ops/values/fold_runtime.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;

class CompositionTest : public IndexingTest {
 protected:
  // What the chain of instructions from `root` down first operands to a parameter reads of it.
  OperandIndexingSet ReadByChain(const HloInstruction* root) {
    OperandIndexingSet maps(IdentityIndexing(root->shape(), &context_));
    while (root->operand_count() > 0) {
      const absl::StatusOr<InstructionIndexing> entries =
          ComputeIndexing(*root, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 0});
      EXPECT_TRUE(entries.ok());
      const absl::StatusOr<OperandIndexingSet> composed =
          ComposeOperandIndexingSets(maps, entries->front().indexing);
      EXPECT_TRUE(composed.ok());
      maps = FoldRuntimeVariables(*composed, {.rebind_through_data_movement = true});
      maps.Simplify();
      root = root->operand(0);
    }
    return maps;
  }

  static std::vector<std::string> Text(const OperandIndexingSet& maps) {
    std::vector<std::string> lines;
    for (const OperandIndexing& map : maps) lines.push_back(map.ToString());
    return lines;
  }
};

TEST_F(CompositionTest, BitcastIsTransposeReshapeTranspose) {
  const HloInstruction* bitcast = Entry(R"(
    p = f32[4,6,10]{0,2,1} parameter(0)
    ROOT r = f32[3,8,10]{1,0,2} bitcast(p))");
  // Most major first the operand is [6,10,4], the result [10,3,8].
  const HloInstruction* chain = Entry(R"(
    p = f32[4,6,10] parameter(0)
    t = f32[6,10,4] transpose(p), dimensions={1,2,0}
    s = f32[10,3,8] reshape(t)
    ROOT r = f32[3,8,10] transpose(s), dimensions={1,2,0})");
  EXPECT_EQ(Text(ReadByChain(bitcast)), Text(ReadByChain(chain)));
}

TEST_F(CompositionTest, ReduceWindowIsAPlainWindowAfterAPad) {
  const HloInstruction* padded = Root(R"(
    add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
    ENTRY e {
      p = f32[4,7] parameter(0)
      i = f32[] constant(0)
      ROOT r = f32[6,2] reduce-window(p, i),
        window={size=3x2 stride=2x3 pad=1_2x1_-1 lhs_dilate=3x1 rhs_dilate=1x2}, to_apply=add
    })");
  const HloInstruction* chain = Root(R"(
    add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
    ENTRY e {
      p = f32[4,7] parameter(0)
      i = f32[] constant(0)
      w = f32[13,7] pad(p, i), padding=1_2_2x1_-1_0
      ROOT r = f32[6,2] reduce-window(w, i),
        window={size=3x2 stride=2x3 rhs_dilate=1x2}, to_apply=add
    })");
  EXPECT_EQ(Text(ReadByChain(padded)), Text(ReadByChain(chain)));
}

TEST_F(CompositionTest, AGeneralGatherIsASimpleGatherAndReshapes) {
  const HloInstruction* general = Entry(R"(
    p = f32[33,76,70] parameter(0)
    i = s32[2,6,5] parameter(1)
    ROOT r = f32[6,7,5,8] gather(p, i), offset_dims={1,3}, collapsed_slice_dims={2},
      start_index_map={1,0}, index_vector_dim=0, slice_sizes={7,8,1})");
  // Indices as rows of starts in the order of the operand's dimensions; the batch dimensions as
  // one.
  const HloInstruction* chain = Entry(R"(
    p = f32[33,76,70] parameter(0)
    i = s32[2,6,5] parameter(1)
    order = s32[2,6,5] reverse(i), dimensions={0}
    last = s32[6,5,2] transpose(order), dimensions={1,2,0}
    rows = s32[30,2] reshape(last)
    g = f32[30,7,8,1] gather(p, rows), offset_dims={1,2,3}, collapsed_slice_dims={},
      start_index_map={0,1}, index_vector_dim=1, slice_sizes={7,8,1}
    s = f32[6,5,7,8] reshape(g)
    ROOT r = f32[6,7,5,8] transpose(s), dimensions={0,2,1,3})");
  EXPECT_EQ(Text(ReadByChain(general)), Text(ReadByChain(chain)));
}

TEST_F(CompositionTest, ChainedReshapesThatCancelAreTheIdentity) {
  const HloInstruction* chain = Entry(R"(
    p0 = f32[10, 10, 10] parameter(0)
    reshape1 = f32[50, 20] reshape(p0)
    ROOT reshape2 = f32[10, 10, 10] reshape(reshape1))");
  EXPECT_THAT(Text(ReadByChain(chain)),
              ElementsAre("(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], "
                          "d2 in [0, 9]"));
}

TEST_F(CompositionTest, SliceAndPadAreInverse) {
  const HloInstruction* chain = Entry(R"(
    p = f32[10] parameter(0)
    v = f32[] constant(0)
    w = f32[24] pad(p, v), padding=3_2_1
    ROOT r = f32[10] slice(w), slice={[3:23:2]})");
  EXPECT_THAT(Text(ReadByChain(chain)), ElementsAre("(d0) -> (d0), domain: d0 in [0, 9]"));
}

}  // namespace
}  // namespace xla_indexing::internal

#include "xla_indexing/query/dims/corresponding_dims.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/transforms/batching_dims.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CorrespondingDimsTest : public ::testing::Test {
 protected:
  CorrespondingDimsTest() : context_(mlir::MLIRContext::Threading::DISABLED) {}

  std::vector<std::string> Groups(const HloInstruction& instruction) {
    const auto groups = FindCorrespondingDims(instruction, &context_);
    EXPECT_TRUE(groups.ok()) << groups.status();
    std::vector<std::string> lines;
    if (!groups.ok()) return lines;
    // An indexer that was asked about all instructions before gives the same groups.
    const auto kept = FindCorrespondingDims(instruction, indexer_);
    EXPECT_TRUE(kept.ok() && *kept == *groups);
    for (const CorrespondingDims& group : *groups) lines.push_back(group.ToString());
    return lines;
  }

  // The groups of the root of a module, or of the lines of an entry.
  std::vector<std::string> OfModule(const std::string& text) {
    auto module = ParseAndVerifyModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return {};
    modules_.push_back(*std::move(module));
    return Groups(*modules_.back()->entry_computation()->root_instruction());
  }
  std::vector<std::string> OfEntry(const std::string& lines) {
    return OfModule(
        absl::StrCat("add { a = f32[] parameter(0) b = f32[] parameter(1) "
                     "ROOT r = f32[] add(a, b) }\nENTRY e {\n",
                     lines, "\n}\n"));
  }

  mlir::MLIRContext context_;
  HloIndexer indexer_{&context_};
  std::vector<std::unique_ptr<HloModule>> modules_;
};

TEST_F(CorrespondingDimsTest, BatchAndFreeDimensionsOfDot) {
  EXPECT_THAT(OfEntry(R"(
                a = f32[5,8,3] parameter(0)
                b = f32[5,3,7] parameter(1)
                ROOT r = f32[5,8,7] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0},
                  lhs_contracting_dims={2}, rhs_contracting_dims={1})"),
              ElementsAre("size 5: result 0 dim 0, operand 0 dim 0, operand 1 dim 0  (batch)",
                          "size 8: result 0 dim 1, operand 0 dim 1",
                          "size 7: result 0 dim 2, operand 1 dim 2"));
}

constexpr char kGather[] = R"(
ENTRY main {
  operand = s32[2,3,4,5] parameter(0)
  start_indices = s64[7,2,3,2] parameter(1)
  ROOT result = s32[7,2,3,2,5] gather(operand, start_indices), offset_dims={3,4},
    collapsed_slice_dims={1}, operand_batching_dims={0}, start_indices_batching_dims={1},
    start_index_map={2,1}, index_vector_dim=3, slice_sizes={1,1,2,5}
}
)";

TEST_F(CorrespondingDimsTest, BatchingDimensionsOfGather) {
  // The other batch dimensions are of result and indices, a window that is whole of the operand.
  EXPECT_THAT(OfModule(kGather),
              ElementsAre("size 7: result 0 dim 0, operand 1 dim 0",
                          "size 2: result 0 dim 1, operand 0 dim 0, operand 1 dim 1  (batch)",
                          "size 3: result 0 dim 2, operand 1 dim 2",
                          "size 5: result 0 dim 4, operand 0 dim 3"));
}

TEST_F(CorrespondingDimsTest, BatchingDimensionsOfScatter) {
  EXPECT_THAT(OfEntry(R"(
                a = f32[2,3,4,5] parameter(0)
                i = s64[7,2,3,2] parameter(1)
                u = f32[7,2,3,2,5] parameter(2)
                ROOT r = f32[2,3,4,5] scatter(a, i, u), update_window_dims={3,4},
                  inserted_window_dims={1}, input_batching_dims={0},
                  scatter_indices_batching_dims={1}, scatter_dims_to_operand_dims={2,1},
                  index_vector_dim=3, to_apply=add)"),
              ElementsAre("size 2: result 0 dim 0, operand 0 dim 0, operand 1 dim 1, "
                          "operand 2 dim 1  (batch)",
                          "size 3: result 0 dim 1, operand 0 dim 1",
                          "size 4: result 0 dim 2, operand 0 dim 2",
                          "size 5: result 0 dim 3, operand 0 dim 3, operand 2 dim 4"));
}

TEST_F(CorrespondingDimsTest, BatchingDimensionsThatAnIotaStandsFor) {
  // In a fusion of the operand and the indices.
  constexpr char kFusion[] = R"(
    f { operand = s32[2,3,4,5] parameter(0)
        start_indices = s64[7,2,3,2] parameter(1)
        iota = s64[7,2,3,1] iota(), iota_dimension=1
        indices = s64[7,2,3,3] concatenate(iota, start_indices), dimensions={3}
        ROOT g = s32[7,2,3,2,5] gather(operand, indices), offset_dims={3,4},
          collapsed_slice_dims={0,1}, start_index_map={0,2,1}, index_vector_dim=3,
          slice_sizes={1,1,2,5} }
    ENTRY main {
      operand = s32[2,3,4,5] parameter(0)
      start_indices = s64[7,2,3,2] parameter(1)
      ROOT r = s32[7,2,3,2,5] fusion(operand, start_indices), kind=kLoop, calls=f
    })";
  EXPECT_EQ(OfModule(kFusion), OfModule(kGather));
}

TEST_F(CorrespondingDimsTest, DimensionsThatStayAsTheyAre) {
  EXPECT_THAT(OfEntry("a = f32[4,6] parameter(0) ROOT r = f32[6,4] transpose(a), dimensions={1,0}"),
              ElementsAre("size 6: result 0 dim 0, operand 0 dim 1  (batch)",
                          "size 4: result 0 dim 1, operand 0 dim 0  (batch)"));
  // A scalar is on hand everywhere.
  EXPECT_THAT(OfEntry(R"(
                a = f32[4,6] parameter(0)
                i = f32[] parameter(1)
                ROOT r = f32[4] reduce(a, i), dimensions={1}, to_apply=add)"),
              ElementsAre("size 4: result 0 dim 0, operand 0 dim 0  (batch)"));
  EXPECT_THAT(OfEntry(R"(
                a = f32[4,6] parameter(0)
                b = f32[4,2] parameter(1)
                ROOT r = f32[4,8] concatenate(a, b), dimensions={1})"),
              ElementsAre("size 4: result 0 dim 0, operand 0 dim 0, operand 1 dim 0  (batch)"));
  // Parts of dimensions, and turned ones, are others; so are pieces that are moved.
  EXPECT_THAT(OfEntry("a = f32[4,6] parameter(0) ROOT r = f32[4,3] slice(a), slice={[0:4], [0:3]}"),
              ElementsAre("size 4: result 0 dim 0, operand 0 dim 0  (batch)"));
  EXPECT_THAT(OfEntry("a = f32[4] parameter(0) ROOT r = f32[4] reverse(a), dimensions={0}"),
              IsEmpty());
  EXPECT_THAT(OfEntry("a = f32[4,6] parameter(0) ROOT r = f32[24] reshape(a)"), IsEmpty());
  EXPECT_THAT(OfEntry("a = f32[4,6,2] parameter(0) ROOT r = f32[4,12] reshape(a)"),
              ElementsAre("size 4: result 0 dim 0, operand 0 dim 0  (batch)"));
}

TEST_F(CorrespondingDimsTest, GroupsGoThroughSeveralResults) {
  EXPECT_THAT(OfModule(R"(
    both { a = f32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2)
           d = s32[] parameter(3) ROOT r = (f32[], s32[]) tuple(a, b) }
    ENTRY e {
      a = f32[4,6] parameter(0)
      b = s32[4,6] parameter(1)
      i = f32[] parameter(2)
      j = s32[] parameter(3)
      ROOT r = (f32[4], s32[4]) reduce(a, b, i, j), dimensions={1}, to_apply=both
    })"),
              ElementsAre("size 4: result 0 dim 0, result 1 dim 0, operand 0 dim 0, operand 1 "
                          "dim 0  (batch)"));
  // A tuple passes leaves on; each is a group of its own, and none is a batch of them all.
  EXPECT_THAT(OfModule(R"(
    ENTRY e {
      p = (f32[4], f32[4]) parameter(0)
      ROOT r = (f32[4], f32[4]) copy(p)
    })"),
              ElementsAre("size 4: result 0 dim 0, operand 0 dim 0",
                          "size 4: result 1 dim 0, operand 0#1 dim 0"));
}

TEST_F(CorrespondingDimsTest, AScalarResultOfAllElementsIsNoBatch) {
  EXPECT_THAT(OfModule(R"(
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
    f { a = f32[4] parameter(0)
        zero = f32[] constant(0)
        sum = f32[] reduce(a, zero), dimensions={0}, to_apply=add
        n = f32[4] negate(a)
        ROOT t = (f32[4], f32[]) tuple(n, sum) }
    ENTRY e {
      a = f32[4] parameter(0)
      ROOT r = (f32[4], f32[]) fusion(a), kind=kLoop, calls=f
    })"),
              ElementsAre("size 4: result 0 dim 0, operand 0 dim 0"));
}

TEST_F(CorrespondingDimsTest, SizesOfOneAndNone) {
  EXPECT_THAT(OfEntry("a = f32[1,0] parameter(0) ROOT r = f32[1,0] negate(a)"), IsEmpty());
  EXPECT_THAT(OfEntry("a = f32[1,?] parameter(0) ROOT r = f32[1,?] negate(a)"),
              ElementsAre("size ?: result 0 dim 1, operand 0 dim 1  (batch)"));
}

}  // namespace
}  // namespace xla_indexing

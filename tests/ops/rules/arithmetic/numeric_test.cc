// Maps of the operations that mix whole rows, of random numbers, of triangular matrices and of
// scaled dots, worked out by hand from the definitions.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {
namespace {

using internal::ComputeIndexing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NumericTest : public IndexingTest {
 protected:
  // The maps without the lines of their bindings.
  static std::vector<std::string> Maps(std::vector<std::string> lines) {
    for (std::string& line : lines) line = line.substr(0, line.find('\n'));
    return lines;
  }
};

TEST_F(NumericTest, SortReadsRowsOfAllOperands) {
  const HloInstruction* sort = Root(R"(
    less { a = f32[] parameter(0)  b = f32[] parameter(1)  c = s32[] parameter(2)
           d = s32[] parameter(3)  ROOT r = pred[] compare(a, b), direction=LT }
    ENTRY e {
      k = f32[3,5] parameter(0)
      v = s32[3,5] parameter(1)
      ROOT r = (f32[3,5], s32[3,5]) sort(k, v), dimensions={1}, to_apply=less
    })");
  const std::string rows =
      "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 2], d1 in [0, 4], s0 in [0, 4]";
  EXPECT_THAT(OutputToInput(sort),
              ElementsAre("0.0.0 " + rows, "0.1.0 " + rows, "1.0.0 " + rows, "1.1.0 " + rows));
  EXPECT_THAT(InputToOutput(sort), testing::ElementsAreArray(OutputToInput(sort)));
}

TEST_F(NumericTest, TopkReadsTheLastDimension) {
  const HloInstruction* topk = Entry(R"(
    x = f32[3,9] parameter(0)
    ROOT r = (f32[3,2], s32[3,2]) topk(x), k=2, largest=true)");
  const std::string read =
      "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 2], d1 in [0, 1], s0 in [0, 8]";
  const std::string reached =
      "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 2], d1 in [0, 8], s0 in [0, 1]";
  EXPECT_THAT(OutputToInput(topk), ElementsAre("0.0.0 " + read, "1.0.0 " + read));
  EXPECT_THAT(InputToOutput(topk), ElementsAre("0.0.0 " + reached, "1.0.0 " + reached));
}

TEST_F(NumericTest, FftReadsTheLastDimensions) {
  const HloInstruction* fft = Entry(R"(
    x = f32[2,3,8] parameter(0)
    ROOT r = c64[2,3,5] fft(x), fft_type=RFFT, fft_length={3,8})");
  EXPECT_THAT(OutputToInput(fft),
              ElementsAre("0.0.0 (d0, d1, d2)[s0, s1] -> (d0, s0, s1), domain: d0 in [0, 1], "
                          "d1 in [0, 2], d2 in [0, 4], s0 in [0, 2], s1 in [0, 7]"));
  EXPECT_THAT(InputToOutput(fft),
              ElementsAre("0.0.0 (d0, d1, d2)[s0, s1] -> (d0, s0, s1), domain: d0 in [0, 1], "
                          "d1 in [0, 2], d2 in [0, 7], s0 in [0, 2], s1 in [0, 4]"));
}

TEST_F(NumericTest, BatchNormTrainingReadsSlicesOfFeatures) {
  const HloInstruction* norm = Entry(R"(
    x = f32[2,3] parameter(0)
    scale = f32[3] parameter(1)
    offset = f32[3] parameter(2)
    ROOT r = (f32[2,3], f32[3], f32[3]) batch-norm-training(x, scale, offset), epsilon=0.1,
      feature_index=1)");
  const std::string vector = "(d0, d1) -> (d1), domain: d0 in [0, 1], d1 in [0, 2]";
  const std::string slice = "(d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 1]";
  EXPECT_THAT(
      OutputToInput(norm),
      ElementsAre("0.0.0 (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 1], d1 in [0, 2], "
                  "s0 in [0, 1]",
                  "0.1.0 " + vector, "0.2.0 " + vector, "1.0.0 " + slice, "2.0.0 " + slice));
  EXPECT_THAT(
      InputToOutput(norm),
      ElementsAre("0.0.0 (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 1], d1 in [0, 2], "
                  "s0 in [0, 1]",
                  "0.1.0 " + slice, "0.2.0 " + slice, "1.0.0 " + vector, "2.0.0 " + vector));
}

TEST_F(NumericTest, BatchNormInferenceIsElementwiseButForTheVectors) {
  const HloInstruction* norm = Entry(R"(
    x = f32[2,3] parameter(0)
    v = f32[2] parameter(1)
    ROOT r = f32[2,3] batch-norm-inference(x, v, v, v, v), epsilon=0.1, feature_index=0)");
  const std::string vector = "(d0, d1) -> (d0), domain: d0 in [0, 1], d1 in [0, 2]";
  const std::string slice = "(d0)[s0] -> (d0, s0), domain: d0 in [0, 1], s0 in [0, 2]";
  const std::string identity = "(d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 2]";
  EXPECT_THAT(OutputToInput(norm),
              ElementsAre("0.0.0 " + identity, "0.1.0 " + vector, "0.2.0 " + vector,
                          "0.3.0 " + vector, "0.4.0 " + vector));
  EXPECT_THAT(InputToOutput(norm),
              ElementsAre("0.0.0 " + identity, "0.1.0 " + slice, "0.2.0 " + slice, "0.3.0 " + slice,
                          "0.4.0 " + slice));
}

TEST_F(NumericTest, BatchNormGradOfScaleAndOffset) {
  const HloInstruction* norm = Entry(R"(
    x = f32[2,3] parameter(0)
    scale = f32[3] parameter(1)
    mean = f32[3] parameter(2)
    variance = f32[3] parameter(3)
    g = f32[2,3] parameter(4)
    ROOT r = (f32[2,3], f32[3], f32[3]) batch-norm-grad(x, scale, mean, variance, g), epsilon=0.1,
      feature_index=1)");
  const std::string slice = "(d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 1]";
  const std::string same = "(d0) -> (d0), domain: d0 in [0, 2]";
  EXPECT_THAT(
      Lines(ComputeIndexing(*norm, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 1})),
      ElementsAre("1.0.0 " + slice, "1.2.0 " + same, "1.3.0 " + same, "1.4.0 " + slice));
  EXPECT_THAT(
      Lines(ComputeIndexing(*norm, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 2})),
      ElementsAre("2.4.0 " + slice));
  // The scale reaches the operand's gradient only.
  EXPECT_THAT(
      Lines(ComputeIndexing(*norm, Direction::kInputToOutput, &context_, {}, OperandLeaf{1, 0})),
      ElementsAre("0.1.0 " + slice));
}

TEST_F(NumericTest, RandomNumbersReadTheirParametersAndState) {
  const HloInstruction* rng = Entry(R"(
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT r = f32[4] rng(a, b), distribution=rng_uniform)");
  EXPECT_THAT(OutputToInput(rng), ElementsAre("0.0.0 (d0) -> (), domain: d0 in [0, 3]",
                                              "0.1.0 (d0) -> (), domain: d0 in [0, 3]"));
  EXPECT_THAT(InputToOutput(rng), ElementsAre("0.0.0 ()[s0] -> (s0), domain: s0 in [0, 3]",
                                              "0.1.0 ()[s0] -> (s0), domain: s0 in [0, 3]"));
  const HloInstruction* generator = Entry(R"(
    s = u64[2] parameter(0)
    ROOT r = (u64[2], u32[5]) rng-bit-generator(s), algorithm=rng_default)");
  EXPECT_THAT(OutputToInput(generator),
              ElementsAre("0.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 1]",
                          "1.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 4], s0 in [0, 1]"));
  EXPECT_THAT(InputToOutput(generator),
              ElementsAre("0.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 1]",
                          "1.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 4]"));
}

// L[i, j] reads A[i, q] with q <= j < i, and A[p, q] with q <= p <= j <= i.
TEST_F(NumericTest, CholeskyReadsTriangles) {
  const HloInstruction* lower = Entry(R"(
    a = f32[4,4] parameter(0)
    ROOT r = f32[4,4] cholesky(a), lower=true)");
  const std::string dims = "domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 3]";
  EXPECT_THAT(OutputToInput(lower),
              ElementsAre("0.0.0 (d0, d1)[s0] -> (d0, s0), " + dims +
                              ", d0 - d1 in [1, inf], d1 - s0 in [0, inf]",
                          "0.0.0 (d0, d1)[s0, s1] -> (s0, s1), " + dims +
                              ", s1 in [0, 3], d0 - d1 in [0, inf], d1 - s0 in [0, inf], "
                              "s0 - s1 in [0, inf]"));
  EXPECT_THAT(InputToOutput(lower),
              ElementsAre("0.0.0 (d0, d1)[s0] -> (d0, s0), " + dims +
                              ", d0 - s0 in [1, inf], -d1 + s0 in [0, inf]",
                          "0.0.0 (d0, d1)[s0, s1] -> (s0, s1), " + dims +
                              ", s1 in [0, 3], -d0 + s1 in [0, inf], d0 - d1 in [0, inf], "
                              "s0 - s1 in [0, inf]"));
  // Rows and columns exchanged.
  const HloInstruction* upper = Entry(R"(
    a = f32[2,4,4] parameter(0)
    ROOT r = f32[2,4,4] cholesky(a), lower=false)");
  EXPECT_EQ(OutputToInput(upper).front(),
            "0.0.0 (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 1], d1 in [0, 3], "
            "d2 in [0, 3], s0 in [0, 3], -d1 + d2 in [1, inf], d1 - s0 in [0, inf]");
}

TEST_F(NumericTest, CholeskyOfANumberIsElementwise) {
  const HloInstruction* cholesky = Entry(R"(
    a = f32[5,1,1] parameter(0)
    ROOT r = f32[5,1,1] cholesky(a), lower=true)");
  // The row before the diagonal is empty.
  EXPECT_THAT(OutputToInput(cholesky).size(), 1u);
}

TEST_F(NumericTest, TriangularSolveReadsWhatWasSolvedBefore) {
  const std::string dims = "domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 3]";
  const std::string columns = "domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 3], s1 in [0, 2]";
  const HloInstruction* lower = Entry(R"(
    a = f32[4,4] parameter(0)
    b = f32[4,3] parameter(1)
    ROOT r = f32[4,3] triangular-solve(a, b), left_side=true, lower=true, unit_diagonal=false,
      transpose_a=NO_TRANSPOSE)");
  EXPECT_THAT(OutputToInput(lower),
              ElementsAre("0.0.0 (d0, d1)[s0, s1] -> (s0, s1), " + dims +
                              ", s1 in [0, 3], d0 - s0 in [0, inf], s0 - s1 in [0, inf]",
                          "0.1.0 (d0, d1)[s0] -> (s0, d1), " + dims + ", d0 - s0 in [0, inf]"));
  EXPECT_THAT(InputToOutput(lower),
              ElementsAre("0.0.0 (d0, d1)[s0, s1] -> (s0, s1), " + columns +
                              ", -d0 + s0 in [0, inf], d0 - d1 in [0, inf]",
                          "0.1.0 (d0, d1)[s0] -> (s0, d1), " + dims + ", -d0 + s0 in [0, inf]"));
  // The transpose of a lower matrix is upper: rows are solved from the last up. The diagonal is
  // not read.
  const HloInstruction* transposed = Entry(R"(
    a = f32[4,4] parameter(0)
    b = f32[4,3] parameter(1)
    ROOT r = f32[4,3] triangular-solve(a, b), left_side=true, lower=true, unit_diagonal=true,
      transpose_a=TRANSPOSE)");
  EXPECT_THAT(OutputToInput(transposed),
              ElementsAre("0.0.0 (d0, d1)[s0, s1] -> (s0, s1), " + dims +
                              ", s1 in [0, 3], -d0 + s1 in [0, inf], s0 - s1 in [1, inf]",
                          "0.1.0 (d0, d1)[s0] -> (s0, d1), " + dims + ", -d0 + s0 in [0, inf]"));
  // X A = B with A lower: the last column of X is solved first.
  const HloInstruction* right = Entry(R"(
    a = f32[4,4] parameter(0)
    b = f32[3,4] parameter(1)
    ROOT r = f32[3,4] triangular-solve(a, b), left_side=false, lower=true, unit_diagonal=false,
      transpose_a=NO_TRANSPOSE)");
  const std::string rows = "domain: d0 in [0, 2], d1 in [0, 3], s0 in [0, 3]";
  EXPECT_THAT(OutputToInput(right),
              ElementsAre("0.0.0 (d0, d1)[s0, s1] -> (s0, s1), " + rows +
                              ", s1 in [0, 3], -d1 + s1 in [0, inf], s0 - s1 in [0, inf]",
                          "0.1.0 (d0, d1)[s0] -> (d0, s0), " + rows + ", -d1 + s0 in [0, inf]"));
}

// Blocks of 4 along k; blocks of 3, 3 and 1 along n; one scale for all of m.
TEST_F(NumericTest, ScaledDotReadsTheScalesOfBlocks) {
  const HloInstruction* dot = Entry(R"(
    a = f32[5,8] parameter(0)
    b = f32[8,7] parameter(1)
    as = f32[1,2] parameter(2)
    bs = f32[8,3] parameter(3)
    ROOT r = f32[5,7] scaled-dot(a, b, as, bs), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
  const std::string dims = "domain: d0 in [0, 4], d1 in [0, 6], ";
  EXPECT_THAT(OutputToInput(dot),
              ElementsAre("0.0.0 (d0, d1)[s0] -> (d0, s0), " + dims + "s0 in [0, 7]",
                          "0.1.0 (d0, d1)[s0] -> (s0, d1), " + dims + "s0 in [0, 7]",
                          "0.2.0 (d0, d1)[s0] -> (0, s0), " + dims + "s0 in [0, 1]",
                          "0.3.0 (d0, d1)[s0] -> (s0, d1 floordiv 3), " + dims + "s0 in [0, 7]"));
  EXPECT_THAT(
      Lines(ComputeIndexing(*dot, Direction::kInputToOutput, &context_, {}, OperandLeaf{2, 0})),
      ElementsAre("0.2.0 (d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 0], "
                  "d1 in [0, 1], s0 in [0, 4], s1 in [0, 6]"));
  EXPECT_THAT(
      Lines(ComputeIndexing(*dot, Direction::kInputToOutput, &context_, {}, OperandLeaf{3, 0})),
      ElementsAre("0.3.0 (d0, d1)[s0, s1] -> (s0, d1 * 3 + s1), domain: d0 in [0, 7], "
                  "d1 in [0, 2], s0 in [0, 4], s1 in [0, 2], d1 * 3 + s1 in [0, 6]"));
}

// Two blocks of 2 hold all 4 elements: the third scale belongs to none.
TEST_F(NumericTest, AScaleWithoutABlockIsNotRead) {
  const HloInstruction* dot = Entry(R"(
    a = f32[4] parameter(0)
    b = f32[] parameter(1)
    as = f32[3] parameter(2)
    bs = f32[] parameter(3)
    ROOT r = f32[4] scaled-dot(a, b, as, bs))");
  EXPECT_EQ(OutputToInputMap(dot, 2).ToString(), "(d0) -> (d0 floordiv 2), domain: d0 in [0, 3]");
  EXPECT_EQ(InputToOutputMap(dot, 2).ToString(),
            "(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 1], s0 in [0, 1]");
}

TEST_F(NumericTest, ScaledDotOverNothingReadsNothing) {
  const HloInstruction* dot = Entry(R"(
    a = f32[4,0] parameter(0)
    b = f32[0] parameter(1)
    s = f32[] parameter(2)
    ROOT r = f32[4] scaled-dot(a, b, s, s), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
  EXPECT_THAT(OutputToInput(dot), IsEmpty());
  EXPECT_THAT(InputToOutput(dot), IsEmpty());
}

// Rows 0 .. s0 - 1 are of group 0, rows s0 .. s0 + s1 - 1 of group 1, and the rest is of none.
TEST_F(NumericTest, RaggedDotReadsTheGroupOfItsRow) {
  const HloInstruction* dot = Entry(R"(
    a = f32[7,4] parameter(0)
    b = f32[2,4,3] parameter(1)
    sizes = s32[2] parameter(2)
    ROOT r = f32[7,3] ragged-dot(a, b, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1},
      lhs_ragged_dims={0}, rhs_group_dims={0})");
  EXPECT_THAT(Maps(OutputToInput(dot)),
              ElementsAre("0.0.0 (d0, d1)[s0]{rt0, rt1} -> (d0, s0), domain: d0 in [0, 6], "
                          "d1 in [0, 2], s0 in [0, 3], rt0 in [0, 7], rt1 in [0, 7], "
                          "d0 - rt0 - rt1 in [-inf, -1]",
                          "0.1.0 (d0, d1)[s0]{rt0} -> (0, s0, d1), domain: d0 in [0, 6], "
                          "d1 in [0, 2], s0 in [0, 3], rt0 in [0, 7], d0 - rt0 in [-inf, -1]",
                          "0.1.0 (d0, d1)[s0]{rt0, rt1} -> (1, s0, d1), domain: d0 in [0, 6], "
                          "d1 in [0, 2], s0 in [0, 3], rt0 in [0, 7], rt1 in [0, 7], "
                          "d0 - rt0 in [0, inf], d0 - rt0 - rt1 in [-inf, -1]",
                          "0.2.0 (d0, d1) -> (0), domain: d0 in [0, 6], d1 in [0, 2]",
                          "0.2.0 (d0, d1){rt0} -> (1), domain: d0 in [0, 6], d1 in [0, 2], "
                          "rt0 in [0, 7], d0 - rt0 in [0, inf]"));
  EXPECT_THAT(Maps(InputToOutput(dot)),
              ElementsAre("0.0.0 (d0, d1)[s0]{rt0, rt1} -> (d0, s0), domain: d0 in [0, 6], "
                          "d1 in [0, 3], s0 in [0, 2], rt0 in [0, 7], rt1 in [0, 7], "
                          "d0 - rt0 - rt1 in [-inf, -1]",
                          "0.1.0 (d0, d1, d2)[s0]{rt0} -> (s0, d2), domain: d0 in [0, 0], "
                          "d1 in [0, 3], d2 in [0, 2], s0 in [0, 6], rt0 in [0, 7], "
                          "s0 - rt0 in [-inf, -1]",
                          "0.1.0 (d0, d1, d2)[s0]{rt0, rt1} -> (s0, d2), domain: d0 in [1, 1], "
                          "d1 in [0, 3], d2 in [0, 2], s0 in [0, 6], rt0 in [0, 7], "
                          "rt1 in [0, 7], s0 - rt0 in [0, inf], s0 - rt0 - rt1 in [-inf, -1]",
                          "0.2.0 (d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 0], s0 in [0, 6], "
                          "s1 in [0, 2]",
                          "0.2.0 (d0)[s0, s1]{rt0} -> (s0, s1), domain: d0 in [1, 1], "
                          "s0 in [0, 6], s1 in [0, 2], rt0 in [0, 7], s0 - rt0 in [0, inf]"));
  EXPECT_EQ(OutputToInputMap(dot, 0).BindingToString(1),
            "rt1: sizes, clamp [0, 7]; (d0, d1) -> (1), domain: d0 in [0, 6], d1 in [0, 2]");
}

// Group 1 has no rows.
TEST_F(NumericTest, RaggedDotOfKnownSizes) {
  const HloInstruction* dot = Entry(R"(
    a = f32[7,4] parameter(0)
    b = f32[3,4,3] parameter(1)
    sizes = s32[3] constant({2, 0, 4})
    ROOT r = f32[7,3] ragged-dot(a, b, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1},
      lhs_ragged_dims={0}, rhs_group_dims={0})");
  absl::StatusOr<InstructionIndexing> entries =
      ComputeIndexing(*dot, Direction::kOutputToInput, &context_);
  ASSERT_TRUE(entries.ok());
  for (IndexingEntry& entry : *entries) entry.indexing.Simplify();
  EXPECT_THAT(
      Lines(entries),
      ElementsAre(
          "0.0.0 (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 5], d1 in [0, 2], s0 in [0, 3]",
          "0.1.0 (d0, d1)[s0] -> (0, s0, d1), domain: d0 in [0, 1], d1 in [0, 2], "
          "s0 in [0, 3]",
          "0.1.0 (d0, d1)[s0] -> (2, s0, d1), domain: d0 in [2, 5], d1 in [0, 2], "
          "s0 in [0, 3]",
          "0.2.0 (d0, d1) -> (0), domain: d0 in [0, 6], d1 in [0, 2]",
          "0.2.0 (d0, d1) -> (1), domain: d0 in [2, 6], d1 in [0, 2]",
          "0.2.0 (d0, d1) -> (2), domain: d0 in [2, 6], d1 in [0, 2]"));
}

TEST_F(NumericTest, RaggedDotWithAContractingRaggedDimension) {
  const HloInstruction* dot = Entry(R"(
    a = f32[4,7] parameter(0)
    b = f32[7,3] parameter(1)
    sizes = s32[2] parameter(2)
    ROOT r = f32[2,4,3] ragged-dot(a, b, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={0},
      lhs_ragged_dims={1})");
  EXPECT_THAT(
      Maps(Lines(
          ComputeIndexing(*dot, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 0}))),
      ElementsAre(
          "0.0.0 (d0, d1, d2)[s0]{rt0} -> (d1, s0), domain: d0 in [0, 0], d1 in [0, 3], "
          "d2 in [0, 2], s0 in [0, 6], rt0 in [0, 7], s0 - rt0 in [-inf, -1]",
          "0.0.0 (d0, d1, d2)[s0]{rt0, rt1} -> (d1, s0), domain: d0 in [1, 1], d1 in [0, 3], "
          "d2 in [0, 2], s0 in [0, 6], rt0 in [0, 7], rt1 in [0, 7], s0 - rt0 in [0, inf], "
          "s0 - rt0 - rt1 in [-inf, -1]",
          "0.1.0 (d0, d1, d2)[s0]{rt0} -> (s0, d2), domain: d0 in [0, 0], d1 in [0, 3], "
          "d2 in [0, 2], s0 in [0, 6], rt0 in [0, 7], s0 - rt0 in [-inf, -1]",
          "0.1.0 (d0, d1, d2)[s0]{rt0, rt1} -> (s0, d2), domain: d0 in [1, 1], d1 in [0, 3], "
          "d2 in [0, 2], s0 in [0, 6], rt0 in [0, 7], rt1 in [0, 7], s0 - rt0 in [0, inf], "
          "s0 - rt0 - rt1 in [-inf, -1]",
          "0.2.0 (d0, d1, d2)[s0] -> (s0), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 2], "
          "s0 in [0, 1], d0 - s0 in [0, inf]"));
}

TEST_F(NumericTest, RaggedDotWithABatchRaggedDimensionIsADot) {
  const HloInstruction* dot = Entry(R"(
    a = f32[5,4,7] parameter(0)
    b = f32[5,7,3] parameter(1)
    sizes = s32[2] parameter(2)
    ROOT r = f32[5,4,3] ragged-dot(a, b, sizes), lhs_batch_dims={0}, rhs_batch_dims={0},
      lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={0})");
  const std::string dims = "domain: d0 in [0, 4], d1 in [0, 3], d2 in [0, 2], s0 in [0, 6]";
  EXPECT_THAT(OutputToInput(dot), ElementsAre("0.0.0 (d0, d1, d2)[s0] -> (d0, d1, s0), " + dims,
                                              "0.1.0 (d0, d1, d2)[s0] -> (d0, s0, d2), " + dims));
}

TEST_F(NumericTest, RaggedDotOfManyGroupsDoesNotTellThemApart) {
  const HloInstruction* dot = Entry(R"(
    a = f32[7,4] parameter(0)
    b = f32[33,4,3] parameter(1)
    sizes = s32[33] parameter(2)
    ROOT r = f32[7,3] ragged-dot(a, b, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1},
      lhs_ragged_dims={0}, rhs_group_dims={0})");
  EXPECT_EQ(OutputToInputMap(dot, 1).ToString(),
            "(d0, d1)[s0, s1] -> (s0, s1, d1), domain: d0 in [0, 6], d1 in [0, 2], "
            "s0 in [0, 32], s1 in [0, 3]  (over-approximate: rows of all groups: more than 32 "
            "groups)");
}

}  // namespace
}  // namespace xla_indexing

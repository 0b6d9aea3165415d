#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/verify/check_instruction.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

// The example of the StableHLO specification with batching dimensions.
constexpr char kGather[] =
    "gather(p0, p1), offset_dims={3,4}, collapsed_slice_dims={1}, operand_batching_dims={0}, "
    "start_indices_batching_dims={1}, start_index_map={2,1}, index_vector_dim=3, "
    "slice_sizes={1,1,2,2}";
std::vector<std::string> GatherOperands() { return {"s32[2,3,4,2]", "s64[2,2,3,2]"}; }

TEST(GatherShapeTest, TheExampleOfTheSpecification) {
  EXPECT_EQ(CheckInstruction(GatherOperands(), kGather), "s32[2,2,3,2,2]");
}

TEST(GatherShapeTest, OffsetDimensionsMayStandAnywhere) {
  // Windows of sizes 8 and 5 (in the order of the operand), indices of sizes 3 and 4.
  EXPECT_EQ(CheckInstruction({"f32[8,7,5]", "s32[2,3,4]"},
                             "gather(p0, p1), offset_dims={0,2}, collapsed_slice_dims={1}, "
                             "start_index_map={0,1}, index_vector_dim=0, slice_sizes={8,1,5}"),
            "f32[8,3,5,4]");
}

TEST(GatherShapeTest, WithoutAnIndexVectorDimensionEachIndexIsAVectorOfOne) {
  EXPECT_EQ(CheckInstruction({"f32[8,7]", "s32[3,4]"},
                             "gather(p0, p1), offset_dims={2}, collapsed_slice_dims={0}, "
                             "start_index_map={0}, index_vector_dim=2, slice_sizes={1,7}"),
            "f32[3,4,7]");
  EXPECT_EQ(CheckInstruction({"f32[8,7]", "s32[]"},
                             "gather(p0, p1), offset_dims={0}, collapsed_slice_dims={0}, "
                             "start_index_map={0}, index_vector_dim=0, slice_sizes={1,7}"),
            "f32[7]");
}

// A text that one constraint of the specification does not allow.
struct Violation {
  int constraint;
  std::vector<std::string> operands;
  std::string text;
  std::string error;
};

// Every violation has an error of its own, and every constraint up to `count` has one.
void ExpectErrors(const std::vector<Violation>& violations, int count) {
  std::set<int> constraints;
  std::set<std::string> errors;
  for (const Violation& violation : violations) {
    const std::string error = CheckInstruction(violation.operands, violation.text, kFunctions);
    EXPECT_THAT(error, HasSubstr(violation.error))
        << "(C" << violation.constraint << ") " << violation.text;
    constraints.insert(violation.constraint);
    errors.insert(error);
  }
  for (int c = 1; c <= count; ++c) EXPECT_TRUE(constraints.contains(c)) << "(C" << c << ")";
  EXPECT_EQ(errors.size(), violations.size());
}

std::string Replace(absl::string_view text, absl::string_view what, absl::string_view with) {
  EXPECT_THAT(text, HasSubstr(std::string(what)));
  return absl::StrReplaceAll(text, {{what, with}});
}

// Two collapsed dimensions.
constexpr char kCollapsing[] =
    "gather(p0, p1), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, "
    "index_vector_dim=0, slice_sizes={1,1}";
std::vector<std::string> CollapsingOperands() { return {"f32[8,7]", "s32[2,3]"}; }

// Two batching dimensions of equal sizes.
constexpr char kBatchedGather[] =
    "gather(p0, p1), offset_dims={}, operand_batching_dims={0,1}, "
    "start_indices_batching_dims={0,1}, start_index_map={}, index_vector_dim=2, "
    "slice_sizes={1,1}";
std::vector<std::string> BatchedOperands() { return {"f32[8,8]", "s32[8,8,0]"}; }

TEST(GatherShapeTest, EachConstraintOfTheSpecificationHasItsError) {
  EXPECT_EQ(CheckInstruction(CollapsingOperands(), kCollapsing), "f32[3]");
  EXPECT_EQ(CheckInstruction(BatchedOperands(), kBatchedGather), "f32[8,8]");
  const auto edit = [](int constraint, absl::string_view what, absl::string_view with,
                       std::string error) {
    return Violation{constraint, GatherOperands(), Replace(kGather, what, with), std::move(error)};
  };
  ExpectErrors(
      {
          edit(1, "offset_dims={3,4}", "offset_dims={3}",
               "offset_dims, collapsed_slice_dims and operand_batching_dims name 3 dimensions "
               "together; the operand has 4"),
          edit(2, "index_vector_dim=3", "index_vector_dim=5",
               "index_vector_dim=5 is not from 0 to 4"),
          edit(2, "index_vector_dim=3", "index_vector_dim=-1",
               "index_vector_dim=-1 is not from 0 to 4"),
          edit(3, "start_index_map={2,1}", "start_index_map={2}",
               "start_index_map={2} names 1 dimensions for index vectors of size 2"),
          edit(3, "index_vector_dim=3", "index_vector_dim=4",
               "start_index_map={2,1} names 2 dimensions for index vectors of size 1"),
          edit(4, "offset_dims={3,4}", "offset_dims={4,4}",
               "offset_dims={4,4}: dimension 4 is there twice"),
          edit(4, "offset_dims={3,4}", "offset_dims={4,3}",
               "offset_dims={4,3} is not in ascending order"),
          edit(5, "offset_dims={3,4}", "offset_dims={3,5}",
               "offset_dims={3,5}: 5 is not a dimension of an array of rank 5"),
          edit(6, "collapsed_slice_dims={1}", "collapsed_slice_dims={0}",
               "dimension 0 is in both collapsed_slice_dims={0} and operand_batching_dims={0}"),
          {6, CollapsingOperands(), Replace(kCollapsing, "slice_dims={0,1}", "slice_dims={1,1}"),
           "collapsed_slice_dims={1,1}: dimension 1 is there twice"},
          {6, BatchedOperands(),
           Replace(kBatchedGather, "operand_batching_dims={0,1}", "operand_batching_dims={1,1}"),
           "operand_batching_dims={1,1}: dimension 1 is there twice"},
          {7, CollapsingOperands(), Replace(kCollapsing, "slice_dims={0,1}", "slice_dims={1,0}"),
           "collapsed_slice_dims={1,0} is not in ascending order"},
          edit(8, "collapsed_slice_dims={1}", "collapsed_slice_dims={4}",
               "collapsed_slice_dims={4}: 4 is not a dimension of an array of rank 4"),
          edit(9, "slice_sizes={1,1,2,2}", "slice_sizes={1,2,2,2}",
               "the size of dimension 1, in collapsed_slice_dims, is more than 1"),
          {10, BatchedOperands(),
           Replace(kBatchedGather, "operand_batching_dims={0,1}", "operand_batching_dims={1,0}"),
           "operand_batching_dims={1,0} is not in ascending order"},
          edit(11, "operand_batching_dims={0}", "operand_batching_dims={-1}",
               "operand_batching_dims={-1}: -1 is not a dimension of an array of rank 4"),
          edit(12, "slice_sizes={1,1,2,2}", "slice_sizes={2,1,2,2}",
               "the size of dimension 0, in operand_batching_dims, is more than 1"),
          {13, BatchedOperands(),
           Replace(kBatchedGather, "indices_batching_dims={0,1}", "indices_batching_dims={1,1}"),
           "start_indices_batching_dims={1,1}: dimension 1 is there twice"},
          edit(14, "indices_batching_dims={1}", "indices_batching_dims={4}",
               "start_indices_batching_dims={4}: 4 is not a dimension of an array of rank 4"),
          edit(15, "indices_batching_dims={1}", "indices_batching_dims={3}",
               "start_indices_batching_dims={3} holds the index_vector_dim 3"),
          edit(16, "start_indices_batching_dims={1}, ", "",
               "operand_batching_dims={0} and start_indices_batching_dims={} are not pairs"),
          edit(17, "indices_batching_dims={1}", "indices_batching_dims={2}",
               "batching dimensions 0 of the operand and 2 of the indices differ in size: 2 and 3"),
          edit(18, "start_index_map={2,1}", "start_index_map={2,2}",
               "start_index_map={2,2}: dimension 2 is there twice"),
          edit(19, "start_index_map={2,1}", "start_index_map={4,1}",
               "start_index_map={4,1}: 4 is not a dimension of an array of rank 4"),
          edit(20, "slice_sizes={1,1,2,2}", "slice_sizes={1,1,2}",
               "slice_sizes={1,1,2} are 3 sizes for an operand of rank 4"),
          edit(21, "slice_sizes={1,1,2,2}", "slice_sizes={1,1,5,2}",
               "slice_sizes={1,1,5,2}: 5 is no size of a slice of dimension 2"),
          edit(21, "slice_sizes={1,1,2,2}", "slice_sizes={1,1,-1,2}",
               "slice_sizes={1,1,-1,2}: -1 is no size of a slice of dimension 2"),
          edit(22, "gather(", "s32[2,2,3,2,3] gather(",
               "has shape s32[2,2,3,2,3] but its operands and attributes give s32[2,2,3,2,2]"),
          edit(23, "gather(", "f32[2,2,3,2,2] gather(",
               "has shape f32[2,2,3,2,2] but its operands and attributes give s32[2,2,3,2,2]"),
      },
      23);
}

TEST(GatherShapeTest, OperandsAndAttributesThatAreNotThere) {
  EXPECT_THAT(CheckInstruction(GatherOperands(), Replace(kGather, ", slice_sizes={1,1,2,2}", "")),
              HasSubstr("there is no slice_sizes"));
  EXPECT_THAT(CheckInstruction(GatherOperands(), Replace(kGather, "index_vector_dim=3, ", "")),
              HasSubstr("there is no index_vector_dim"));
  EXPECT_THAT(CheckInstruction({"s32[2,3,4,2]", "f32[2,2,3,2]"}, kGather),
              HasSubstr("the indices are not integers"));
  EXPECT_THAT(CheckInstruction({"s32[2,3,4,2]", "()"}, kGather),
              HasSubstr("operand 1 is not an array"));
}

// The scatter that goes with the gather above.
constexpr char kScatter[] =
    "scatter(p0, p1, p2), update_window_dims={3,4}, inserted_window_dims={1}, "
    "input_batching_dims={0}, scatter_indices_batching_dims={1}, "
    "scatter_dims_to_operand_dims={2,1}, index_vector_dim=3, to_apply=add_s32";
std::vector<std::string> ScatterOperands() {
  return {"s32[2,3,4,2]", "s64[2,2,3,2]", "s32[2,2,3,2,2]"};
}

TEST(ScatterShapeTest, TheExampleOfTheSpecification) {
  EXPECT_EQ(CheckInstruction(ScatterOperands(), kScatter, kFunctions), "s32[2,3,4,2]");
}

TEST(ScatterShapeTest, WindowsMayBeSmallerThanTheOperand) {
  EXPECT_EQ(CheckInstruction({"f32[8,7]", "s32[3]", "f32[3,2,5]"},
                             "scatter(p0, p1, p2), update_window_dims={1,2}, "
                             "inserted_window_dims={}, scatter_dims_to_operand_dims={1}, "
                             "index_vector_dim=1, to_apply=add_f32",
                             kFunctions),
            "f32[8,7]");
}

// Two operands.
constexpr char kPairs[] =
    "scatter(p0, p1, p2, p3, p4), update_window_dims={}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=pair";

TEST(ScatterShapeTest, SeveralOperandsGiveATuple) {
  EXPECT_EQ(
      CheckInstruction({"f32[8]", "s32[8]", "s32[3]", "f32[3]", "s32[3]"}, kPairs, kFunctions),
      "(f32[8], s32[8])");
}

// Two inserted dimensions, and two batching ones of equal sizes.
constexpr char kInserting[] =
    "scatter(p0, p1, p2), update_window_dims={}, inserted_window_dims={0,1}, "
    "scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=add_f32";
std::vector<std::string> InsertingOperands() { return {"f32[8,7]", "s32[2,3]", "f32[3]"}; }
constexpr char kBatchedScatter[] =
    "scatter(p0, p1, p2), update_window_dims={}, input_batching_dims={0,1}, "
    "scatter_indices_batching_dims={0,1}, scatter_dims_to_operand_dims={}, index_vector_dim=2, "
    "to_apply=add_f32";
std::vector<std::string> BatchedScatterOperands() { return {"f32[8,8]", "s32[8,8,0]", "f32[8,8]"}; }

TEST(ScatterShapeTest, EachConstraintOfTheSpecificationHasItsError) {
  EXPECT_EQ(CheckInstruction(InsertingOperands(), kInserting, kFunctions), "f32[8,7]");
  EXPECT_EQ(CheckInstruction(BatchedScatterOperands(), kBatchedScatter, kFunctions), "f32[8,8]");
  const auto edit = [](int constraint, absl::string_view what, absl::string_view with,
                       std::string error) {
    return Violation{constraint, ScatterOperands(), Replace(kScatter, what, with),
                     std::move(error)};
  };
  const auto operands = [](int constraint, std::vector<std::string> shapes, std::string error) {
    return Violation{constraint, std::move(shapes), kScatter, std::move(error)};
  };
  ExpectErrors(
      {
          {1,
           {"f32[8]", "s32[7]", "s32[3]", "f32[3]", "s32[3]"},
           kPairs,
           "operands 0 and 1 differ in size"},
          {2,
           {"s32[2,3,4,2]", "s64[2,2,3,2]", "s32[2,2,3,2]"},
           Replace(kScatter, "update_window_dims={3,4}", "update_window_dims={3}"),
           "update_window_dims, inserted_window_dims and input_batching_dims name 3 dimensions "
           "together; the operand has 4"},
          {3,
           {"f32[8]", "s32[8]", "s32[3]", "f32[3]", "s32[4]"},
           kPairs,
           "updates 0 and 1 differ in size"},
          operands(4, {"s32[2,3,4,2]", "s64[2,2,3,2]", "s32[2,2,3,2,3]"},
                   "dimension 4 of the updates is larger than dimension 3 of the operand: 3 and 2"),
          operands(
              4, {"s32[2,3,4,2]", "s64[2,2,3,2]", "s32[2,2,2,2,2]"},
              "dimension 2 of the updates and dimension 2 of the indices differ in size: 2 and 3"),
          operands(4, {"s32[2,3,4,2]", "s64[2,2,3,2]", "s32[2,2,3,2]"},
                   "the updates have rank 4 and should have one dimension for each of the 5"),
          {5,
           {"s32[2]", "s32[1]"},
           Replace(kScatter, ", p2", ""),
           "takes some operands, the indices and as many updates, not 2 operands"},
          {5, {"s32[1]"}, Replace(kScatter, "p0, p1, p2", "p0"), "as many updates, not 1 operands"},
          operands(6, {"s32[2,3,4,2]", "s64[2,2,3,2]", "f32[2,2,3,2,2]"},
                   "operand 0 and its update differ in element type"),
          edit(7, "update_window_dims={3,4}", "update_window_dims={3,3}",
               "update_window_dims={3,3}: dimension 3 is there twice"),
          edit(7, "update_window_dims={3,4}", "update_window_dims={4,3}",
               "update_window_dims={4,3} is not in ascending order"),
          edit(8, "update_window_dims={3,4}", "update_window_dims={3,5}",
               "update_window_dims={3,5}: 5 is not a dimension of an array of rank 5"),
          edit(9, "inserted_window_dims={1}", "inserted_window_dims={0}",
               "dimension 0 is in both inserted_window_dims={0} and input_batching_dims={0}"),
          {9, InsertingOperands(), Replace(kInserting, "window_dims={0,1}", "window_dims={1,1}"),
           "inserted_window_dims={1,1}: dimension 1 is there twice"},
          {9, BatchedScatterOperands(),
           Replace(kBatchedScatter, "input_batching_dims={0,1}", "input_batching_dims={1,1}"),
           "input_batching_dims={1,1}: dimension 1 is there twice"},
          {10, InsertingOperands(), Replace(kInserting, "window_dims={0,1}", "window_dims={1,0}"),
           "inserted_window_dims={1,0} is not in ascending order"},
          edit(11, "inserted_window_dims={1}", "inserted_window_dims={4}",
               "inserted_window_dims={4}: 4 is not a dimension of an array of rank 4"),
          {12, BatchedScatterOperands(),
           Replace(kBatchedScatter, "input_batching_dims={0,1}", "input_batching_dims={1,0}"),
           "input_batching_dims={1,0} is not in ascending order"},
          edit(13, "input_batching_dims={0}", "input_batching_dims={4}",
               "input_batching_dims={4}: 4 is not a dimension of an array of rank 4"),
          {14, BatchedScatterOperands(),
           Replace(kBatchedScatter, "indices_batching_dims={0,1}", "indices_batching_dims={1,1}"),
           "scatter_indices_batching_dims={1,1}: dimension 1 is there twice"},
          edit(15, "indices_batching_dims={1}", "indices_batching_dims={-1}",
               "scatter_indices_batching_dims={-1}: -1 is not a dimension of an array of rank 4"),
          edit(16, "indices_batching_dims={1}", "indices_batching_dims={3}",
               "scatter_indices_batching_dims={3} holds the index_vector_dim 3"),
          edit(17, "scatter_indices_batching_dims={1}, ", "",
               "input_batching_dims={0} and scatter_indices_batching_dims={} are not pairs"),
          edit(18, "indices_batching_dims={1}", "indices_batching_dims={2}",
               "batching dimensions 0 of the operand and 2 of the indices differ in size: 2 and 3"),
          edit(19, "operand_dims={2,1}", "operand_dims={2}",
               "scatter_dims_to_operand_dims={2} names 1 dimensions for index vectors of size 2"),
          edit(20, "operand_dims={2,1}", "operand_dims={1,1}",
               "scatter_dims_to_operand_dims={1,1}: dimension 1 is there twice"),
          edit(20, "operand_dims={2,1}", "operand_dims={0,1}",
               "dimension 0 is in both scatter_dims_to_operand_dims={0,1} and "
               "input_batching_dims={0}"),
          edit(21, "operand_dims={2,1}", "operand_dims={2,4}",
               "scatter_dims_to_operand_dims={2,4}: 4 is not a dimension of an array of rank 4"),
          edit(22, "index_vector_dim=3", "index_vector_dim=5",
               "index_vector_dim=5 is not from 0 to 4"),
          edit(23, "to_apply=add_s32", "to_apply=negate_f32",
               "should take 2 parameters and takes 1"),
          edit(23, "to_apply=add_s32", "to_apply=add_f32",
               "parameter 0 of computation 'add_f32' is f32[] and should be s32[]"),
          edit(24, "scatter(p0", "s32[2,3,4,3] scatter(p0",
               "has shape s32[2,3,4,3] but its operands and attributes give s32[2,3,4,2]"),
          edit(25, "scatter(p0", "f32[2,3,4,2] scatter(p0",
               "has shape f32[2,3,4,2] but its operands and attributes give s32[2,3,4,2]"),
      },
      25);
}

TEST(ScatterShapeTest, OperandsAndAttributesThatAreNotThere) {
  EXPECT_THAT(
      CheckInstruction(ScatterOperands(), Replace(kScatter, ", to_apply=add_s32", ""), kFunctions),
      HasSubstr("there is no to_apply"));
  EXPECT_THAT(CheckInstruction(ScatterOperands(), Replace(kScatter, "index_vector_dim=3, ", ""),
                               kFunctions),
              HasSubstr("there is no index_vector_dim"));
  EXPECT_THAT(
      CheckInstruction({"s32[2,3,4,2]", "pred[2,2,3,2]", "s32[2,2,3,2,2]"}, kScatter, kFunctions),
      HasSubstr("the indices are not integers"));
  EXPECT_THAT(CheckInstruction({"s32[2,3,4,2]", "s64[2,2,3,2]", "()"}, kScatter, kFunctions),
              HasSubstr("operand 2 is not an array"));
}

TEST(ScatterShapeTest, TheCombinerYieldsWhatItTakes) {
  constexpr char kText[] =
      "scatter(p0, p1, p2), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=FUNCTION";
  const std::vector<std::string> operands = {"f32[8]", "s32[3]", "f32[3]"};
  const auto check = [&](const char* function) {
    return CheckInstruction(operands, absl::StrReplaceAll(kText, {{"FUNCTION", function}}),
                            kFunctions);
  };
  EXPECT_EQ(check("add_f32"), "f32[8]");
  EXPECT_EQ(check("add_bf16"), "bf16[8]");
  EXPECT_THAT(check("to_s32"),
              HasSubstr("computation 'to_s32' yields (s32[]) and should yield (f32[])"));
  EXPECT_THAT(check("add_vectors"),
              HasSubstr("parameter 0 of computation 'add_vectors' is f32[2]"));
}

}  // namespace
}  // namespace xla_indexing

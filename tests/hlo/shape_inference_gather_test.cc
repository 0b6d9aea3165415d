#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/check_instruction.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

// An edit of an instruction's text: what is there, and what is put in its place.
struct Edit {
  const char* what;
  const char* with;
  const char* error;
};

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

TEST(GatherShapeTest, EachConstraintOfTheSpecificationIsChecked) {
  const Edit edits[] = {
      {"offset_dims={3,4}", "offset_dims={3}",
       "offset_dims, collapsed_slice_dims and operand_batching_dims name 3 dimensions together; "
       "the operand has 4"},  // (C1)
      {"index_vector_dim=3", "index_vector_dim=5",
       "index_vector_dim=5 is not from 0 to 4"},  // (C2)
      {"index_vector_dim=3", "index_vector_dim=-1", "index_vector_dim=-1 is not from 0 to 4"},
      {"start_index_map={2,1}", "start_index_map={2}",
       "start_index_map={2} names 1 dimensions for index vectors of size 2"},  // (C3)
      {"index_vector_dim=3", "index_vector_dim=4",
       "start_index_map={2,1} names 2 dimensions for index vectors of size 1"},
      {"offset_dims={3,4}", "offset_dims={4,4}", "dimension 4 is there twice"},  // (C4)
      {"offset_dims={3,4}", "offset_dims={4,3}", "offset_dims={4,3} is not in ascending order"},
      {"offset_dims={3,4}", "offset_dims={3,5}",
       "5 is not a dimension of an array of rank 5"},  // (C5)
      {"collapsed_slice_dims={1}", "collapsed_slice_dims={0}",
       "dimension 0 is in both collapsed_slice_dims={0} and operand_batching_dims={0}"},  // (C6)
      {"collapsed_slice_dims={1}", "collapsed_slice_dims={4}",
       "collapsed_slice_dims={4}: 4 is not a dimension"},  // (C8)
      {"slice_sizes={1,1,2,2}", "slice_sizes={1,2,2,2}",
       "the size of dimension 1, in collapsed_slice_dims, is more than 1"},  // (C9)
      {"operand_batching_dims={0}", "operand_batching_dims={-1}",
       "operand_batching_dims={-1}: -1 is not a dimension"},  // (C11)
      {"slice_sizes={1,1,2,2}", "slice_sizes={2,1,2,2}",
       "the size of dimension 0, in operand_batching_dims, is more than 1"},  // (C12)
      {"indices_batching_dims={1}", "indices_batching_dims={4}",
       "start_indices_batching_dims={4}: 4 is not a dimension"},  // (C14)
      {"indices_batching_dims={1}", "indices_batching_dims={3}",
       "start_indices_batching_dims={3} holds the index_vector_dim 3"},  // (C15)
      {"start_indices_batching_dims={1}, ", "", "are not pairs"},        // (C16)
      {"indices_batching_dims={1}", "indices_batching_dims={2}",
       "batching dimensions 0 of the operand and 2 of the indices differ in size"},      // (C17)
      {"start_index_map={2,1}", "start_index_map={2,2}", "dimension 2 is there twice"},  // (C18)
      {"start_index_map={2,1}", "start_index_map={2,0}",
       "dimension 0 is in both start_index_map={2,0} and operand_batching_dims={0}"},
      {"start_index_map={2,1}", "start_index_map={4,1}",
       "start_index_map={4,1}: 4 is not a dimension"},  // (C19)
      {"slice_sizes={1,1,2,2}", "slice_sizes={1,1,2}",
       "slice_sizes={1,1,2} are 3 sizes for an operand of rank 4"},  // (C20)
      {"slice_sizes={1,1,2,2}", "slice_sizes={1,1,5,2}",
       "5 is no size of a slice of dimension 2"},  // (C21)
      {"slice_sizes={1,1,2,2}", "slice_sizes={1,1,-1,2}", "-1 is no size of a slice"},
      {", slice_sizes={1,1,2,2}", "", "there is no slice_sizes"},
      {"index_vector_dim=3, ", "", "there is no index_vector_dim"},
  };
  for (const Edit& edit : edits) {
    EXPECT_THAT(
        CheckInstruction(GatherOperands(), absl::StrReplaceAll(kGather, {{edit.what, edit.with}})),
        HasSubstr(edit.error))
        << edit.with;
  }
  EXPECT_THAT(CheckInstruction({"s32[2,3,4,2]", "f32[2,2,3,2]"}, kGather),
              HasSubstr("the indices are not integers"));
  EXPECT_THAT(CheckInstruction({"s32[2,3,4,2]", "()"}, kGather),
              HasSubstr("operand 1 is not an array"));
  EXPECT_THAT(
      CheckInstruction(GatherOperands(), absl::StrCat("f32[2,2,3,2,2] ", kGather)),  // (C23)
      HasSubstr("has shape f32[2,2,3,2,2] but its operands and attributes give "
                "s32[2,2,3,2,2]"));
}

TEST(GatherShapeTest, ListsThatShouldBeAscendingAre) {
  constexpr char kText[] =
      "gather(p0, p1), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, "
      "index_vector_dim=0, slice_sizes={1,1}";
  EXPECT_EQ(CheckInstruction({"f32[8,7]", "s32[2,3]"}, kText), "f32[3]");
  EXPECT_THAT(  // (C7)
      CheckInstruction({"f32[8,7]", "s32[2,3]"},
                       absl::StrReplaceAll(kText, {{"dims={0,1}", "dims={1,0}"}})),
      HasSubstr("collapsed_slice_dims={1,0} is not in ascending order"));
  constexpr char kBatched[] =
      "gather(p0, p1), offset_dims={}, operand_batching_dims={0,1}, "
      "start_indices_batching_dims={0,1}, start_index_map={}, index_vector_dim=2, "
      "slice_sizes={1,1}";
  EXPECT_EQ(CheckInstruction({"f32[8,8]", "s32[8,8,0]"}, kBatched), "f32[8,8]");
  EXPECT_THAT(  // (C10)
      CheckInstruction({"f32[8,8]", "s32[8,8,0]"},
                       absl::StrReplaceAll(kBatched, {{"operand_batching_dims={0,1}",
                                                       "operand_batching_dims={1,0}"}})),
      HasSubstr("operand_batching_dims={1,0} is not in ascending order"));
  EXPECT_THAT(  // (C13)
      CheckInstruction({"f32[8,8]", "s32[8,8,0]"},
                       absl::StrReplaceAll(kBatched, {{"indices_batching_dims={0,1}",
                                                       "indices_batching_dims={1,1}"}})),
      HasSubstr("dimension 1 is there twice"));
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

TEST(ScatterShapeTest, SeveralOperandsGiveATuple) {
  constexpr char kText[] =
      "scatter(p0, p1, p2, p3, p4), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=pair";
  EXPECT_EQ(CheckInstruction({"f32[8]", "s32[8]", "s32[3]", "f32[3]", "s32[3]"}, kText, kFunctions),
            "(f32[8], s32[8])");
  EXPECT_THAT(
      CheckInstruction({"f32[8]", "s32[7]", "s32[3]", "f32[3]", "s32[3]"}, kText, kFunctions),
      HasSubstr("operands 0 and 1 differ in size"));
  EXPECT_THAT(
      CheckInstruction({"f32[8]", "s32[8]", "s32[3]", "f32[3]", "s32[4]"}, kText, kFunctions),
      HasSubstr("updates 0 and 1 differ in size"));
  EXPECT_THAT(
      CheckInstruction({"f32[8]", "s32[8]", "s32[3]", "f32[3]", "f32[3]"}, kText, kFunctions),
      HasSubstr("operand 1 and its update differ in element type"));
}

TEST(ScatterShapeTest, EachConstraintOfTheSpecificationIsChecked) {
  const Edit edits[] = {
      {"update_window_dims={3,4}", "update_window_dims={3}",
       "name 3 dimensions together; the operand has 4"},  // (C2)
      {"update_window_dims={3,4}", "update_window_dims={3,3}",
       "dimension 3 is there twice"},  // (C7)
      {"update_window_dims={3,4}", "update_window_dims={4,3}",
       "update_window_dims={4,3} is not in ascending order"},
      {"update_window_dims={3,4}", "update_window_dims={3,5}", "5 is not a dimension"},  // (C8)
      {"inserted_window_dims={1}", "inserted_window_dims={0}",
       "dimension 0 is in both inserted_window_dims={0} and input_batching_dims={0}"},  // (C9)
      {"inserted_window_dims={1}", "inserted_window_dims={4}",
       "inserted_window_dims={4}: 4 is not a dimension"},  // (C11)
      {"input_batching_dims={0}", "input_batching_dims={4}",
       "input_batching_dims={4}: 4 is not a dimension"},  // (C13)
      {"indices_batching_dims={1}", "indices_batching_dims={-1}",
       "scatter_indices_batching_dims={-1}: -1 is not a dimension"},  // (C15)
      {"indices_batching_dims={1}", "indices_batching_dims={3}",
       "holds the index_vector_dim 3"},                              // (C16)
      {"scatter_indices_batching_dims={1}, ", "", "are not pairs"},  // (C17)
      {"indices_batching_dims={1}", "indices_batching_dims={2}",
       "batching dimensions 0 of the operand and 2 of the indices differ in size"},  // (C18)
      {"operand_dims={2,1}", "operand_dims={2}",
       "names 1 dimensions for index vectors of size 2"},                          // (C19)
      {"operand_dims={2,1}", "operand_dims={1,1}", "dimension 1 is there twice"},  // (C20)
      {"operand_dims={2,1}", "operand_dims={0,1}", "dimension 0 is in both"},
      {"operand_dims={2,1}", "operand_dims={2,4}", "4 is not a dimension"},                 // (C21)
      {"index_vector_dim=3", "index_vector_dim=5", "is not from 0 to 4"},                   // (C22)
      {"to_apply=add_s32", "to_apply=negate_f32", "should take 2 parameters and takes 1"},  // (C23)
      {"to_apply=add_s32", "to_apply=add_f32",
       "parameter 0 of computation 'add_f32' is f32[] and should be s32[]"},
      {", to_apply=add_s32", "", "there is no to_apply"},
      {"index_vector_dim=3, ", "", "there is no index_vector_dim"},
  };
  for (const Edit& edit : edits) {
    EXPECT_THAT(
        CheckInstruction(ScatterOperands(), absl::StrReplaceAll(kScatter, {{edit.what, edit.with}}),
                         kFunctions),
        HasSubstr(edit.error))
        << edit.with;
  }
  const std::pair<std::vector<std::string>, const char*> operands[] = {
      {{"s32[2,3,4,2]", "s64[2,2,3,2]", "s32[2,2,3,2,3]"},  // (C4)
       "dimension 4 of the updates is larger than dimension 3 of the operand"},
      {{"s32[2,3,4,2]", "s64[2,2,3,2]", "s32[2,2,2,2,2]"},
       "dimension 2 of the updates and dimension 2 of the indices differ in size"},
      {{"s32[2,3,4,2]", "s64[2,2,3,2]", "s32[2,2,3,2]"}, "the updates have rank 4"},
      {{"s32[2,3,4,2]", "s64[2,2,3,2]", "f32[2,2,3,2,2]"},  // (C6)
       "operand 0 and its update differ in element type"},
      {{"s32[2,3,4,2]", "pred[2,2,3,2]", "s32[2,2,3,2,2]"}, "the indices are not integers"},
      {{"s32[2,3,4,2]", "s64[2,2,3,2]", "()"}, "operand 2 is not an array"},
  };
  for (const auto& [shapes, error] : operands) {
    EXPECT_THAT(CheckInstruction(shapes, kScatter, kFunctions), HasSubstr(error));
  }
  EXPECT_THAT(CheckInstruction({"s32[2]", "s32[1]"},  // (C5)
                               absl::StrReplaceAll(kScatter, {{", p2", ""}}), kFunctions),
              HasSubstr("as many updates, not 2 operands"));
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

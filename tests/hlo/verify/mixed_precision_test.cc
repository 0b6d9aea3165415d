// Floating point types may differ between the operands and the result of every operation that
// computes or moves elements, as in programs of mixed precision.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/verify/check_instruction.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Operation {
  std::vector<std::string> parameters;
  std::string shape;  // of the result, without its element type
  std::string rest;
};

const std::vector<Operation>& OperationsOnF32() {
  static const auto* const operations = new std::vector<Operation>{
      {{"f32[4,6]"}, "[4,6]", "copy(p0)"},
      {{"f32[4,6]"}, "[4,6]", "negate(p0)"},
      {{"f32[4,6]"}, "[4,6]", "convert(p0)"},
      {{"f32[4,6]"}, "[24]", "reshape(p0)"},
      {{"f32[4]"}, "[4,6]", "broadcast(p0), dimensions={0}"},
      {{"f32[4,6]"}, "[6,4]", "transpose(p0), dimensions={1,0}"},
      {{"f32[4,6]"}, "[4,6]", "reverse(p0), dimensions={0}"},
      {{"f32[4,6]"}, "[2,6]", "slice(p0), slice={[0:2], [0:6]}"},
      {{"f32[4,6]", "s32[]"}, "[2,6]", "dynamic-slice(p0, p1, p1), dynamic_slice_sizes={2,6}"},
      {{"f32[4,6]", "s32[3]"},
       "[3,6]",
       "gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
       "index_vector_dim=1, slice_sizes={1,6}"},
      {{"f32[4,4]"}, "[4,4]", "cholesky(p0), lower=true"},
      {{"f32[4,6]", "f32[6,2]"},
       "[4,2]",
       "dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {{"f32[4,6]"}, "[8,6]", "all-gather(p0), dimensions={0}, replica_groups={{0,1}}"},
      {{"f32[4,6]"}, "[4,6]", "all-to-all(p0), dimensions={0}, replica_groups={{0,1}}"},
      {{"f32[4,6]"}, "[4,6]", "collective-permute(p0), source_target_pairs={{0,1}}"},
      {{"f32[4,6]"}, "[4,6]", "collective-broadcast(p0), replica_groups={{0,1}}"},
  };
  return *operations;
}

TEST(MixedPrecisionTest, AFloatingPointResultMayHaveAnotherFloatingPointType) {
  for (const Operation& operation : OperationsOnF32()) {
    for (const std::string type : {"f32", "bf16", "f64", "f8e4m3fn"}) {
      const std::string shape = type + operation.shape;
      EXPECT_EQ(CheckInstruction(operation.parameters, absl::StrCat(shape, " ", operation.rest)),
                shape)
          << operation.rest;
    }
  }
}

TEST(MixedPrecisionTest, AFloatingPointResultHasNoOtherKindOfType) {
  for (const Operation& operation : OperationsOnF32()) {
    // A conversion, and the accumulation of a product, have the type that they are given.
    if (operation.rest.starts_with("convert") || operation.rest.starts_with("dot")) continue;
    EXPECT_THAT(CheckInstruction(operation.parameters,
                                 absl::StrCat("s32", operation.shape, " ", operation.rest)),
                StartsWith("error: "))
        << operation.rest;
  }
}

TEST(MixedPrecisionTest, OperationsThatPassAValueOnKeepItsType) {
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "(bf16[4]) tuple(p0)"), HasSubstr("(f32[4])"));
  EXPECT_THAT(CheckInstruction({"(f32[4])"}, "bf16[4] get-tuple-element(p0), index=0"),
              HasSubstr("give f32[4]"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "bf16[4] opt-barrier(p0)"), HasSubstr("give f32[4]"));
}

}  // namespace
}  // namespace xla_indexing

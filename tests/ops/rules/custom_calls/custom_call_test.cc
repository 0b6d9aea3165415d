// Custom calls: the library's rules and a program's; and operations on dynamic sizes. Expected maps
// follow from the definitions.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/ops/rules/custom_calls/custom_call_registry.h"

namespace xla_indexing {
namespace {

using internal::ComputeIndexing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CustomCallTest : public IndexingTest {};

TEST_F(CustomCallTest, AnnotationsAreTheirOperands) {
  for (const char* target :
       {"Sharding", "SPMDFullToShardShape", "annotate_device_placement", "MoveToHost",
        "MoveToDevice", "xla.sdy.FuncResultSharding", "xla.sdy.PropagationBarrier"}) {
    const HloInstruction* call = Entry(absl::StrCat(R"(
      a = (f32[4], s32[]) parameter(0)
      ROOT r = (f32[4], s32[]) custom-call(a), custom_call_target=")",
                                                    target, "\""));
    EXPECT_THAT(OutputToInput(call),
                ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]", "1.0.1 () -> ()"));
    EXPECT_EQ(InputToOutput(call), OutputToInput(call));
  }
}

TEST_F(CustomCallTest, ShardsAreReadWhole) {
  const HloInstruction* call = Entry(R"(
    a = f32[4] parameter(0)
    ROOT r = f32[2] custom-call(a), custom_call_target="SPMDFullToShardShape")");
  EXPECT_THAT(OutputToInput(call),
              ElementsAre("0.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 3]"
                          "  (over-approximate: whole operand: custom-call is not analysed: "
                          "SPMDFullToShardShape)"));
}

// A target is any text.
TEST_F(CustomCallTest, TheReasonNamesTheTarget) {
  const HloInstruction* call = Entry(R"(
    a = f32[4] parameter(0)
    ROOT r = f32[4] custom-call(a), custom_call_target="a\033[31m\n)" +
                                     std::string(100, 'b') + "\"");
  EXPECT_THAT(OutputToInput(call),
              ElementsAre(testing::EndsWith(absl::StrCat(
                  "custom-call is not analysed: a\\033[31m\\n", std::string(73, 'b'), ")"))));
}

// Leaf i of the operands, one after another, is leaf i of the result; where sizes differ, all of it.
TEST_F(CustomCallTest, ArraysBetweenAllDevicesAndOneAreLeafByLeaf) {
  for (const char* target : {"xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"}) {
    const HloInstruction* call = Entry(absl::StrCat(R"(
      a = f32[4] parameter(0)
      b = (s32[], f32[6]) parameter(1)
      ROOT r = (f32[4], s32[], f32[3]) custom-call(a, b), custom_call_target=")",
                                                    target, "\""));
    const std::string reason = absl::StrCat(
        "  (over-approximate: which part of the array it is differs from device to device: ",
        target, ")");
    EXPECT_THAT(OutputToInput(call),
                ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]", "1.1.0 () -> ()",
                            "2.1.1 (d0)[s0] -> (s0), domain: d0 in [0, 2], s0 in [0, 5]" + reason));
    EXPECT_THAT(InputToOutput(call),
                ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]", "1.1.0 () -> ()",
                            "2.1.1 (d0)[s0] -> (s0), domain: d0 in [0, 5], s0 in [0, 2]" + reason));
  }
  const HloInstruction* of_another_number = Entry(R"(
    a = f32[4] parameter(0)
    ROOT r = (f32[4], f32[4]) custom-call(a), custom_call_target="xla.sdy.GlobalToLocalShape")");
  EXPECT_THAT(OutputToInput(of_another_number),
              ElementsAre(HasSubstr("custom-call is not analysed"),
                          HasSubstr("custom-call is not analysed")));
}

// Each matrix of a batch by itself, and all of it.
TEST_F(CustomCallTest, RoutinesOnMatricesKeepTheDimensionsOfTheBatch) {
  const HloInstruction* all = Entry(R"(
    a = f32[5,3,2] parameter(0)
    ROOT r = (f32[5,3,2], f32[5,2], s32[5]) custom-call(a), custom_call_target="lapack_sgesdd_ffi")");
  EXPECT_THAT(
      OutputToInput(all),
      ElementsAre("0.0.0 (d0, d1, d2)[s0, s1] -> (d0, s0, s1), domain: d0 in [0, 4], d1 in [0, 2], "
                  "d2 in [0, 1], s0 in [0, 2], s1 in [0, 1]",
                  "1.0.0 (d0, d1)[s0, s1] -> (d0, s0, s1), domain: d0 in [0, 4], d1 in [0, 1], "
                  "s0 in [0, 2], s1 in [0, 1]",
                  "2.0.0 (d0)[s0, s1] -> (d0, s0, s1), domain: d0 in [0, 4], s0 in [0, 2], "
                  "s1 in [0, 1]"));
  const HloInstruction* some = Entry(R"(
    a = f64[5,3] parameter(0)
    b = f64[5,3] parameter(1)
    c = f64[5,3] parameter(2)
    d = f64[5,3,1] parameter(3)
    ROOT r = f64[5,3,1] custom-call(a, b, c, d), custom_call_target="lapack_dgtsv_ffi")");
  const std::string reason =
      "  (over-approximate: whole matrices: which of their elements gtsv reads is not looked at)";
  EXPECT_THAT(InputToOutput(some),
              testing::Each(
                  testing::AllOf(HasSubstr(" -> (d0, s0, 0), domain: d0 in [0, 4], d1 in [0, 2], "),
                                 testing::EndsWith("s0 in [0, 2]" + reason))));
  const HloInstruction* of_other_batches = Entry(R"(
    a = f32[5,3,3] parameter(0)
    b = f32[4,3,1] parameter(1)
    ROOT r = f32[5,3,1] custom-call(a, b), custom_call_target="lapack_strsm_ffi")");
  EXPECT_THAT(OutputToInput(of_other_batches),
              testing::Each(HasSubstr("custom-call is not analysed")));
}

// A library's matrix product is the dot that its configuration describes, plus what is added.
TEST_F(CustomCallTest, MatrixProductsAreDots) {
  const HloInstruction* call = Entry(R"(
    a = f32[2,4,8] parameter(0)
    b = f32[2,8,5] parameter(1)
    c = f32[2,4,5] parameter(2)
    bias = f32[5] parameter(3)
    ROOT r = (f32[2,4,5], s8[64]) custom-call(a, b, c, bias),
      custom_call_target="__cublas$lt$matmul",
      backend_config={"gemm_backend_config":{"alpha_real":1,"beta":1,"dot_dimension_numbers":{
        "lhs_contracting_dimensions":["2"],"rhs_contracting_dimensions":["1"],
        "lhs_batch_dimensions":["0"],"rhs_batch_dimensions":["0"]},"epilogue":"BIAS"}})");
  const std::string dims = ", domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 4]";
  EXPECT_THAT(OutputToInput(call),
              ElementsAre("0.0.0 (d0, d1, d2)[s0] -> (d0, d1, s0)" + dims + ", s0 in [0, 7]",
                          "0.1.0 (d0, d1, d2)[s0] -> (d0, s0, d2)" + dims + ", s0 in [0, 7]",
                          "0.2.0 (d0, d1, d2) -> (d0, d1, d2)" + dims,
                          "0.3.0 (d0, d1, d2) -> (d2)" + dims));
  EXPECT_THAT(
      InputToOutput(call),
      ElementsAre("0.0.0 (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 1], d1 in [0, 3], d2 "
                  "in [0, 7], s0 in [0, 4]",
                  "0.1.0 (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 1], d1 in [0, 7], d2 "
                  "in [0, 4], s0 in [0, 3]",
                  "0.2.0 (d0, d1, d2) -> (d0, d1, d2)" + dims,
                  "0.3.0 (d0)[s0, s1] -> (s0, s1, d0), domain: d0 in [0, 4], s0 in [0, 1], s1 in "
                  "[0, 3]"));
}

TEST_F(CustomCallTest, ConfigurationsMayBeStrings) {
  const HloInstruction* call = Entry(R"(
    a = f32[4,8] parameter(0)
    b = f32[8,5] parameter(1)
    ROOT r = f32[4,5] custom-call(a, b), custom_call_target="__cublas$gemm",
      backend_config="{\"beta\":0,\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[1],\"rhs_contracting_dimensions\":[0]}}")");
  EXPECT_THAT(OutputToInput(call),
              ElementsAre("0.0.0 (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 4], s0 "
                          "in [0, 7]",
                          "0.1.0 (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 4], s0 "
                          "in [0, 7]"));
}

// Nothing is claimed about a call that does not fit its configuration, or whose configuration says
// more.
TEST_F(CustomCallTest, MatrixProductsThatAreNoneAreReadWhole) {
  for (
      const char* config :
      {R"({"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":[0],"rhs_contracting_dimensions":[0]}})",
       R"({"beta":1,"dot_dimension_numbers":{"lhs_contracting_dimensions":[1],"rhs_contracting_dimensions":[0]}})",
       R"({"epilogue":"GELU_AUX","dot_dimension_numbers":{"lhs_contracting_dimensions":[1],"rhs_contracting_dimensions":[0]}})",
       R"({"dot_dimension_numbers":{"lhs_contracting_dimensions":["x"]}})", "{1", R"({"a":1})"}) {
    const HloInstruction* call = Entry(absl::StrCat(R"(
      a = f32[4,8] parameter(0)
      b = f32[8,5] parameter(1)
      ROOT r = f32[4,5] custom-call(a, b), custom_call_target="__cublas$gemm", backend_config=)",
                                                    config[1] == '1' ? "\"{1\"" : config));
    EXPECT_THAT(OutputToInput(call),
                testing::Each(HasSubstr("whole operand: custom-call is not analysed")))
        << config;
  }
}

TEST_F(CustomCallTest, LibraryConvolutionsAreConvolutions) {
  const char kOperands[] = R"(
    a = f32[2,9,9,3] parameter(0)
    b = f32[3,3,3,4] parameter(1)
    ROOT r = )";
  const char kAttributes[] = "window={size=3x3 stride=2x1 pad=1_1x0_0}, dim_labels=b01f_01io->b01f";
  const HloInstruction* call =
      Entry(absl::StrCat(kOperands, "(f32[2,5,7,4], u8[0]) custom-call(a, b), ", kAttributes,
                         ", custom_call_target=\"__cudnn$convForward\""));
  const std::vector<std::string> backward = OutputToInput(call);
  const std::vector<std::string> forward = InputToOutput(call);
  const HloInstruction* convolution =
      Entry(absl::StrCat(kOperands, "f32[2,5,7,4] convolution(a, b), ", kAttributes));
  EXPECT_EQ(backward, OutputToInput(convolution));
  EXPECT_EQ(forward, InputToOutput(convolution));
}

// Every tensor of a convolution as the result of a call, and the others as its operands: exactly
// the elements that some product has both of. Products are those with i = 2x + w - 1 in [0, 7], in
// each of two groups of features.
TEST_F(CustomCallTest, LibraryConvolutionsRelateWhatIsMultiplied) {
  using Index = std::vector<int64_t>;
  const std::string shapes[] = {"f32[2,8,6]", "f32[3,3,4]", "f32[2,4,4]"};
  std::set<std::vector<Index>> products;  // (input, kernel, output)
  for (int64_t point = 0; point < 2 * 3 * 4 * 4 * 3; ++point) {
    const int64_t b = point % 2, c = point / 2 % 3, f = point / 6 % 4, x = point / 24 % 4,
                  w = point / 96, i = 2 * x + w - 1, group = f / 2;
    if (i >= 0 && i < 8) products.insert({{b, i, group * 3 + c}, {w, c, f}, {b, x, f}});
  }
  struct Call {
    const char* target;
    int tensors[3];  // result, operands
  };
  for (const Call& call :
       {Call{"__cudnn$convForward", {2, 0, 1}}, Call{"__cudnn$convBackwardInput", {0, 2, 1}},
        Call{"__cudnn$convBackwardFilter", {1, 0, 2}}}) {
    const HloInstruction* instruction = Entry(absl::StrCat(
        "p = ", shapes[call.tensors[1]], " parameter(0)\n q = ", shapes[call.tensors[2]],
        " parameter(1)\n ROOT r = (", shapes[call.tensors[0]],
        ", u8[0]) custom-call(p, q), window={size=3 stride=2 pad=1_0}, dim_labels=b0f_0io->b0f, "
        "feature_group_count=2, custom_call_target=\"",
        call.target, "\""));
    for (int64_t operand = 0; operand < 2; ++operand) {
      for (const bool forward : {false, true}) {
        std::set<std::vector<Index>> expected;
        for (const std::vector<Index>& product : products) {
          const Index& result = product[call.tensors[0]];
          const Index& read = product[call.tensors[1 + operand]];
          expected.insert(forward ? std::vector{read, result} : std::vector{result, read});
        }
        const auto entries = forward ? ComputeIndexing(*instruction, Direction::kInputToOutput,
                                                       &context_, {}, OperandLeaf{operand, 0})
                                     : ComputeIndexing(*instruction, Direction::kOutputToInput,
                                                       &context_, {}, OperandLeaf{0, 0});
        ASSERT_TRUE(entries.ok()) << entries.status();
        std::set<std::vector<Index>> actual;
        for (const IndexingEntry& entry : *entries) {
          if (entry.operand != operand) continue;
          EXPECT_TRUE(entry.indexing.label().IsExact());
          for (const OperandIndexing& map : entry.indexing) {
            const absl::Status status =
                map.map().ForEachPoint(100000, [&](auto dims, auto /*symbols*/, auto results) {
                  actual.insert(
                      {Index(dims.begin(), dims.end()), Index(results.begin(), results.end())});
                });
            ASSERT_TRUE(status.ok()) << status;
          }
        }
        EXPECT_EQ(actual, expected) << call.target << " operand " << operand;
      }
    }
  }
}

TEST_F(CustomCallTest, PaddedAndSliced) {
  const HloInstruction* pad = Entry(R"(
    a = f32[<=4] parameter(0)
    ROOT r = (f32[4], s32[]) custom-call(a), custom_call_target="PadToStatic")");
  EXPECT_THAT(OutputToInput(pad), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]"));
  EXPECT_EQ(InputToOutput(pad), OutputToInput(pad));
  const HloInstruction* slice = Entry(R"(
    a = f32[4] parameter(0)
    n = s32[] parameter(1)
    ROOT r = f32[<=4] custom-call(a, n), custom_call_target="SliceToDynamic")");
  EXPECT_THAT(OutputToInput(slice), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]",
                                                "0.1.0 (d0) -> (), domain: d0 in [0, 3]"));
  EXPECT_THAT(InputToOutput(slice), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]",
                                                "0.1.0 ()[s0] -> (s0), domain: s0 in [0, 3]"));
}

TEST_F(CustomCallTest, TopKReadsTheLastDimension) {
  const HloInstruction* call = Entry(R"(
    a = f32[2,9] parameter(0)
    ROOT r = (f32[2,3], s32[2,3]) custom-call(a), custom_call_target="TopK")");
  const std::string reads =
      "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 2], s0 in [0, 8]";
  EXPECT_THAT(OutputToInput(call),
              ElementsAre(absl::StrCat("0.0.0 ", reads), absl::StrCat("1.0.0 ", reads)));
  const std::string reaches =
      "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 8], s0 in [0, 2]";
  EXPECT_THAT(InputToOutput(call),
              ElementsAre(absl::StrCat("0.0.0 ", reaches), absl::StrCat("1.0.0 ", reaches)));
}

constexpr char kFlip[] = R"(
  a = f32[4] parameter(0)
  ROOT r = f32[4] custom-call(a), custom_call_target="flip")";

TEST_F(CustomCallTest, AProgramsRuleIsFollowed) {
  const CustomCallRule::Builder flip = [&](const CustomCallLeaf& leaf) {
    EXPECT_EQ(leaf.instruction.custom_call_target(), "flip");
    return InstructionIndexing{
        {0, 0, 0,
         OperandIndexingSet(OperandIndexing(kPartsFit, Map("(d0) -> (-d0 + 3), domain: "
                                                           "d0 in [0, 3]")))}};
  };
  CustomCallRegistry registry = CustomCallRegistry::Default();
  registry.Add("flip", {flip, flip});
  IndexingOptions options;
  options.custom_calls = &registry;
  const HloInstruction* call = Entry(kFlip);
  EXPECT_THAT(OutputToInput(call, options),
              ElementsAre("0.0.0 (d0) -> (-d0 + 3), domain: d0 in [0, 3]"));
  EXPECT_THAT(InputToOutput(call, options),
              ElementsAre("0.0.0 (d0) -> (-d0 + 3), domain: d0 in [0, 3]"));
  EXPECT_EQ(CustomCallRegistry::Default().Find("flip"), nullptr);
}

TEST_F(CustomCallTest, ARuleThatDoesNotSpeakOfACallLeavesItWhole) {
  const CustomCallRule::Builder nothing =
      [](const CustomCallLeaf&) -> absl::StatusOr<std::optional<InstructionIndexing>> {
    return std::nullopt;
  };
  CustomCallRegistry registry;
  registry.Add("flip", {nothing, nothing});
  IndexingOptions options;
  options.custom_calls = &registry;
  EXPECT_THAT(OutputToInput(Entry(kFlip), options), ElementsAre(HasSubstr("is not analysed")));
}

TEST_F(CustomCallTest, ErrorsOfRulesAreErrors) {
  const CustomCallRule::Builder fails =
      [](const CustomCallLeaf&) -> absl::StatusOr<std::optional<InstructionIndexing>> {
    return absl::NotFoundError("no config");
  };
  const CustomCallRule::Builder wrong = [&](const CustomCallLeaf&) {
    return InstructionIndexing{
        {0, 0, 0, OperandIndexingSet(OperandIndexing(kPartsFit, Map("() -> ()")))}};
  };
  CustomCallRegistry registry;
  registry.Add("flip", {fails, wrong});
  IndexingOptions options;
  options.custom_calls = &registry;
  const HloInstruction* call = Entry(kFlip);
  EXPECT_EQ(
      ComputeIndexing(*call, Direction::kOutputToInput, &context_, options).status().message(),
      "no config");
  EXPECT_EQ(
      ComputeIndexing(*call, Direction::kInputToOutput, &context_, options).status().message(),
      "the rule for flip says of r something between output leaf 0 and leaf 0 of operand 0: "
      "a map of 0 dimensions and 0 results from f32[4] to f32[4]: () -> ()");
}

TEST_F(CustomCallTest, SizesOfDimensions) {
  const HloInstruction* get = Entry(R"(
    a = f32[<=4] parameter(0)
    ROOT r = s32[] get-dimension-size(a), dimensions={0})");
  EXPECT_THAT(OutputToInput(get), IsEmpty());
  EXPECT_THAT(InputToOutput(get), IsEmpty());
  const HloInstruction* set = Entry(R"(
    a = f32[4] parameter(0)
    n = s32[] parameter(1)
    ROOT r = f32[<=4] set-dimension-size(a, n), dimensions={0})");
  EXPECT_THAT(OutputToInput(set), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]",
                                              "0.1.0 (d0) -> (), domain: d0 in [0, 3]"));
  EXPECT_THAT(InputToOutput(set), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]",
                                              "0.1.0 ()[s0] -> (s0), domain: s0 in [0, 3]"));
}

TEST_F(CustomCallTest, DynamicReshape) {
  const HloInstruction* fixed = Entry(R"(
    a = f32[6] parameter(0)
    n = s32[] parameter(1)
    ROOT r = f32[2,3] dynamic-reshape(a, n, n))");
  EXPECT_THAT(OutputToInput(fixed),
              ElementsAre("0.0.0 (d0, d1) -> (d0 * 3 + d1), domain: d0 in [0, 1], d1 in [0, 2]",
                          "0.1.0 (d0, d1) -> (), domain: d0 in [0, 1], d1 in [0, 2]",
                          "0.2.0 (d0, d1) -> (), domain: d0 in [0, 1], d1 in [0, 2]"));
  const HloInstruction* dynamic = Entry(R"(
    a = f32[<=6] parameter(0)
    n = s32[] parameter(1)
    ROOT r = f32[2,<=3] dynamic-reshape(a, n, n))");
  EXPECT_THAT(InputToOutput(dynamic),
              ElementsAre("0.0.0 (d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 5], s0 in [0, 1], "
                          "s1 in [0, 2]  (over-approximate: whole operand: a reshape of sizes "
                          "known at run time)",
                          "0.1.0 ()[s0, s1] -> (s0, s1), domain: s0 in [0, 1], s1 in [0, 2]",
                          "0.2.0 ()[s0, s1] -> (s0, s1), domain: s0 in [0, 1], s1 in [0, 2]"));
}

}  // namespace
}  // namespace xla_indexing

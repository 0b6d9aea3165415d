// Tuples and their leaves, and operations without maps of their own. Expected maps are worked out
// by hand from the definitions.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;

class StructureTest : public IndexingTest {};

TEST_F(StructureTest, TuplesRouteLeaves) {
  const HloInstruction* tuple = Entry(R"(
    a = f32[2] parameter(0)
    b = (f32[3], (token[], f32[4])) parameter(1)
    ROOT r = (f32[2], (f32[3], (token[], f32[4])), f32[2]) tuple(a, b, a))");
  EXPECT_THAT(OutputToInput(tuple), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 1]",
                                                "1.1.0 (d0) -> (d0), domain: d0 in [0, 2]",
                                                "2.1.1 (d0) -> (d0), domain: d0 in [0, 3]",
                                                "3.2.0 (d0) -> (d0), domain: d0 in [0, 1]"));
  EXPECT_THAT(InputToOutput(tuple), testing::ElementsAreArray(OutputToInput(tuple)));
  EXPECT_THAT(
      Lines(ComputeIndexing(*tuple, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 2})),
      ElementsAre("2.1.1 (d0) -> (d0), domain: d0 in [0, 3]"));
  EXPECT_THAT(
      Lines(ComputeIndexing(*tuple, Direction::kInputToOutput, &context_, {}, OperandLeaf{1, 1})),
      ElementsAre("2.1.1 (d0) -> (d0), domain: d0 in [0, 3]"));
}

TEST_F(StructureTest, GetTupleElementReadsOneElement) {
  const HloInstruction* element = Entry(R"(
    t = (f32[2], (f32[3], f32[4]), f32[5]) parameter(0)
    ROOT r = (f32[3], f32[4]) get-tuple-element(t), index=1)");
  EXPECT_THAT(OutputToInput(element), ElementsAre("0.0.1 (d0) -> (d0), domain: d0 in [0, 2]",
                                                  "1.0.2 (d0) -> (d0), domain: d0 in [0, 3]"));
  const auto entries = ComputeIndexing(*element, Direction::kOutputToInput, &context_);
  ASSERT_TRUE(entries.ok());
  EXPECT_THAT(UnreadOperandLeaves(element->operands(), *entries),
              ElementsAre(OperandLeaf{0, 0}, OperandLeaf{0, 3}));
}

TEST_F(StructureTest, CopiesOfTuplesPassTheirLeavesOn) {
  const HloInstruction* copy = Entry(R"(
    t = (f32[2], f32[3]) parameter(0)
    ROOT r = (f32[2], f32[3]) opt-barrier(t))");
  EXPECT_THAT(OutputToInput(copy), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 1]",
                                               "1.0.1 (d0) -> (d0), domain: d0 in [0, 2]"));
}

TEST_F(StructureTest, OperationsWithoutABuilderReadTheirWholeOperands) {
  const HloInstruction* custom = Entry(R"(
    a = f32[2,1] parameter(0)
    ROOT r = f32[3] custom-call(a), custom_call_target="mystery")");
  EXPECT_THAT(
      OutputToInput(custom),
      ElementsAre("0.0.0 (d0)[s0] -> (s0, 0), domain: d0 in [0, 2], s0 in [0, 1]"
                  "  (over-approximate: whole operand: custom-call is not analysed: mystery)"));
  EXPECT_THAT(
      InputToOutput(custom),
      ElementsAre("0.0.0 (d0, d1)[s0] -> (s0), domain: d0 in [0, 1], d1 in [0, 0], "
                  "s0 in [0, 2]"
                  "  (over-approximate: whole operand: custom-call is not analysed: mystery)"));
}

TEST_F(StructureTest, LeavesThatAreNotThereAreErrors) {
  const HloInstruction* negate = Entry(R"(
    a = f32[2] parameter(0)
    ROOT r = f32[2] negate(a))");
  EXPECT_EQ(ComputeIndexing(*negate, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 1})
                .status()
                .message(),
            "r has 1 output leaves, there is no leaf 1");
  EXPECT_EQ(ComputeIndexing(*negate, Direction::kInputToOutput, &context_, {}, OperandLeaf{1, 0})
                .status()
                .message(),
            "r has 1 operands, there is no operand 1");
  EXPECT_EQ(ComputeIndexing(*negate, Direction::kInputToOutput, &context_, {}, OperandLeaf{0, 2})
                .status()
                .message(),
            "operand 0 of r has 1 leaves, there is no leaf 2");
}

TEST_F(StructureTest, OpcodesThatAreNotKnownReadTheirWholeOperands) {
  const auto root = [&](absl::string_view header, absl::string_view attributes) {
    return Root(absl::StrCat("HloModule m", header, R"(
      ENTRY e {
        a = f32[2] parameter(0)
        b = s32[] parameter(1)
        ROOT r = (f32[3], f32[]) frobnicate(a, b))",
                             attributes, "\n}"));
  };
  const std::string why = "  (over-approximate: whole operand: the opcode frobnicate is not known)";
  EXPECT_THAT(
      OutputToInput(root("", ", level=3")),
      ElementsAre("0.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 2], s0 in [0, 1]" + why,
                  "0.1.0 (d0) -> (), domain: d0 in [0, 2]" + why,
                  "1.0.0 ()[s0] -> (s0), domain: s0 in [0, 1]" + why, "1.1.0 () -> ()" + why));
  EXPECT_THAT(InputToOutput(root("", "")),
              ElementsAre("0.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 2]" + why,
                          "0.1.0 ()[s0] -> (s0), domain: s0 in [0, 2]" + why,
                          "1.0.0 (d0) -> (), domain: d0 in [0, 1]" + why, "1.1.0 () -> ()" + why));
  // It may be an operation across replicas.
  const std::string other =
      "unknown: the opcode frobnicate is not known and may read other devices";
  EXPECT_THAT(OutputToInput(root(", replica_count=2", "")),
              ::testing::Each(::testing::HasSubstr(other)));
  EXPECT_THAT(OutputToInput(root("", ", replica_groups={{0}}")),
              ::testing::Each(::testing::HasSubstr(other)));
}

}  // namespace
}  // namespace xla_indexing::internal

#include "xla_indexing/fusion/internal/instruction_reads.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/parser.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;

constexpr char kModule[] = R"(
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
  ENTRY e {
    p = f32[4,8] parameter(0)
    zero = f32[] constant(0)
    unused = f32[4,8] negate(p)
    x = f32[4,8] exponential(p)
    s = f32[4] reduce(x, zero), dimensions={1}, to_apply=add
    t = f32[8,4] transpose(x), dimensions={1,0}
    sb = f32[8,4] broadcast(s), dimensions={1}
    d = f32[8,4] divide(t, sb)
    ROOT r = (f32[8,4], f32[4]) tuple(d, s)
  })";

class InstructionReadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto module = ParseModule(kModule);
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
  }

  // The printed maps by instruction, and the instructions in their order.
  std::map<std::string, std::vector<std::string>> Reads(int64_t leaf,
                                                        std::vector<std::string>* order) {
    std::map<std::string, std::vector<std::string>> texts;
    const auto reads = ComputeInstructionReads(*module_->entry_computation(), leaf, &context_);
    EXPECT_TRUE(reads.ok()) << reads.status();
    for (const InstructionReads& read : *reads) {
      const std::string name(read.instruction->name());
      order->push_back(name);
      for (const OperandIndexing& map : read.indexing) texts[name].push_back(map.ToString());
    }
    return texts;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
};

TEST_F(InstructionReadsTest, EachInstructionHasTheMapsOfAllPathsToIt) {
  std::vector<std::string> order;
  auto reads = Reads(0, &order);
  const std::string domain = ", domain: d0 in [0, 7], d1 in [0, 3]";
  EXPECT_THAT(reads["r"], ElementsAre("(d0, d1) -> (d0, d1)" + domain));
  EXPECT_THAT(reads["t"], ElementsAre("(d0, d1) -> (d0, d1)" + domain));
  EXPECT_THAT(reads["s"], ElementsAre("(d0, d1) -> (d1)" + domain));
  EXPECT_THAT(reads["zero"], ElementsAre("(d0, d1) -> ()" + domain));
  // In its own place, and whole rows for the sum.
  EXPECT_THAT(reads["x"], ElementsAre("(d0, d1) -> (d1, d0)" + domain,
                                      "(d0, d1)[s0] -> (d1, s0)" + domain + ", s0 in [0, 7]"));
  EXPECT_EQ(reads["p"], reads["x"]);
  EXPECT_EQ(reads.count("unused"), 0);
  // Users before what they use.
  EXPECT_EQ(order.front(), "r");
  EXPECT_EQ(order.back(), "p");
}

TEST_F(InstructionReadsTest, ParametersHaveTheMapsOfTheComputation) {
  for (const int64_t leaf : {0, 1}) {
    const HloComputation& entry = *module_->entry_computation();
    const auto reads = ComputeInstructionReads(entry, leaf, &context_);
    const auto maps =
        Entries(entry, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, leaf});
    ASSERT_TRUE(reads.ok() && maps.ok());
    ASSERT_EQ(maps->size(), 1);
    EXPECT_EQ(reads->back().instruction, entry.parameter(0));
    EXPECT_EQ(reads->back().indexing, maps->front().indexing);
  }
}

TEST_F(InstructionReadsTest, ALeafThatIsNotThereIsAnError) {
  for (const int64_t leaf : {-1, 2}) {
    EXPECT_EQ(
        ComputeInstructionReads(*module_->entry_computation(), leaf, &context_).status().code(),
        absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(InstructionReadsTest, PastTheStepsThereIsNoAnswer) {
  FusionOptions options;
  options.max_steps = 1;
  EXPECT_EQ(
      ComputeInstructionReads(*module_->entry_computation(), 0, &context_, options).status().code(),
      absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace xla_indexing::internal

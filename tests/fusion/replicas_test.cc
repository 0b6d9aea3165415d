// Replica maps in compositions: chains of operations across replicas, and what comes between them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing::internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ReplicasTest : public ::testing::Test {
 protected:
  // The maps of parameter 0, from a body of a module of 8 partitions whose parameters are x and y.
  std::vector<std::string> MapsOfX(const std::string& body, FusionOptions options = {}) {
    auto module = ParseModule(absl::StrCat(
        "HloModule m, num_partitions=8\n"
        "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }\n"
        "ENTRY e {\nx = f32[8] parameter(0)\ny = s32[] parameter(1)\n",
        body, "\n}\n"));
    EXPECT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    const auto entries =
        Entries(*module_->entry_computation(), Direction::kOutputToInput, &context_, options);
    EXPECT_TRUE(entries.ok()) << entries.status();
    std::vector<std::string> maps;
    for (const IndexingEntry& entry : *entries) {
      if (entry.operand != 0) continue;
      for (const OperandIndexing& map : entry.indexing) maps.push_back(map.ToString());
    }
    return maps;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
};

constexpr char kRing[] =
    "source_target_pairs={{0,1},{1,2},{2,3},{3,4},{4,5},{5,6},{6,7},{7,0}}, channel_id=1";

TEST_F(ReplicasTest, PermutesCompose) {
  EXPECT_THAT(
      MapsOfX(absl::StrCat("a = f32[8] collective-permute(x), ", kRing,
                           "\nb = f32[8] negate(a)\n"
                           "c = f32[8] collective-permute(b), ",
                           kRing, "\nROOT d = f32[8] reverse(c), dimensions={0}")),
      ElementsAre("(d0) -> (-d0 + 7), domain: d0 in [0, 7]\n"
                  "  replica: (d0, d1) -> ((d1 + 6) mod 8), domain: d0 in [0, 7], d1 in [0, "
                  "7]"));
}

// A local operation after one across replicas keeps its device, and so does one before it.
TEST_F(ReplicasTest, LocalOperationsKeepTheDevice) {
  EXPECT_THAT(
      MapsOfX("n = f32[8] negate(x)\n"
              "g = f32[16] all-gather(n), dimensions={0}, channel_id=1, "
              "use_global_device_ids=true, replica_groups=[4,2]<=[8]\n"
              "ROOT s = f32[8] slice(g), slice={[0:16:2]}"),
      ElementsAre("(d0) -> ((d0 mod 4) * 2), domain: d0 in [0, 7]\n"
                  "  replica: (d0, d1) -> (d0 floordiv 4 + (d1 floordiv 2) * 2), domain: d0 "
                  "in [0, 7], d1 in [0, 7]"));
}

// reduce-scatter and then all-gather is an all-reduce.
TEST_F(ReplicasTest, AGatherOfAScatterIsAReduction) {
  EXPECT_THAT(MapsOfX("s = f32[2] reduce-scatter(x), dimensions={0}, to_apply=add, channel_id=1, "
                      "use_global_device_ids=true, replica_groups=[2,4]<=[8]\n"
                      "ROOT g = f32[8] all-gather(s), dimensions={0}, channel_id=1, "
                      "use_global_device_ids=true, replica_groups=[2,4]<=[8]"),
              SizeIs(1));
}

TEST_F(ReplicasTest, TwoWaysThatDifferInTheDeviceAreTwoMaps) {
  EXPECT_THAT(
      MapsOfX(
          absl::StrCat("a = f32[8] collective-permute(x), ", kRing, "\nROOT b = f32[8] add(a, x)")),
      ElementsAre("(d0) -> (d0), domain: d0 in [0, 7]",
                  "(d0) -> (d0), domain: d0 in [0, 7]\n"
                  "  replica: (d0, d1) -> ((d1 + 7) mod 8), domain: d0 in [0, 7], d1 in [0, "
                  "7]"));
}

// One start, read on two devices, is two variables.
TEST_F(ReplicasTest, AValueOfTwoDevicesIsTwoVariables) {
  EXPECT_THAT(MapsOfX(absl::StrCat(
                  "a = f32[6] dynamic-slice(x, y), dynamic_slice_sizes={6}\n"
                  "b = f32[6] collective-permute(a), ",
                  kRing, "\nROOT c = f32[4] dynamic-slice(b, y), dynamic_slice_sizes={4}")),
              ElementsAre(AllOf(
                  HasSubstr("(d0){rt0, rt1} -> (d0 + rt0 + rt1)"),
                  HasSubstr("rt0: y, clamp [0, 2]; (d0) -> (), domain: d0 in [0, 3]\n"),
                  HasSubstr("rt1: y, clamp [0, 2]; (d0) -> (), domain: d0 in [0, 3]; replica: "
                            "(d0, d1) -> ((d1 + 7) mod 8), domain: d0 in [0, 3], d1 in [0, "
                            "7]\n"))));
}

// Widening stays on the devices that were there.
TEST_F(ReplicasTest, TooManyMapsAreAnyElementOfThoseDevices) {
  FusionOptions options;
  options.max_maps = 1;
  EXPECT_THAT(MapsOfX(absl::StrCat("a = f32[8] collective-permute(x), ", kRing,
                                   "\nb = f32[8] reverse(a), dimensions={0}\n"
                                   "c = f32[8] add(a, b)\nd = f32[8] add(x, c)\n"
                                   "ROOT e = f32[8] negate(d)"),
                      options),
              ElementsAre(AllOf(HasSubstr("(d0)[s0] -> (s0)"), HasSubstr("more than 1 maps")),
                          AllOf(HasSubstr("(d0)[s0, s1] -> (s0)"), HasSubstr("more than 1 maps"),
                                HasSubstr("replica: (d0, d1)[s0, s1] -> (s1)"))));
}

// The condition reads all of leaf 0 on both devices, and decides about everything that changes. Of
// the body the maps are too many, whole leaves; those are of the same device.
TEST_F(ReplicasTest, ConditionsOfLoopsAreReadOnOtherDevicesBesideWholeLeaves) {
  auto module = ParseModule(R"(HloModule m, replica_count=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
cond {
  p = (f32[8], f32[8]) parameter(0)
  x = f32[8] get-tuple-element(p), index=0
  z = f32[] constant(0)
  r = f32[] reduce(x, z), dimensions={0}, to_apply=add
  q = f32[] all-reduce(r), replica_groups={{0,1}}, to_apply=add
  c = f32[] constant(7)
  ROOT l = pred[] compare(q, c), direction=LT
}
body {
  p = (f32[8], f32[8]) parameter(0)
  x = f32[8] get-tuple-element(p), index=0
  y = f32[8] get-tuple-element(p), index=1
  h = f32[5] slice(x), slice={[3:8]}
  k = f32[3] slice(y), slice={[0:3]}
  u = f32[8] concatenate(h, k), dimensions={0}
  v = f32[8] reverse(x), dimensions={0}
  w = f32[8] add(u, v)
  s = f32[8] add(w, y)
  n = f32[8] reverse(s), dimensions={0}
  ROOT t = (f32[8], f32[8]) tuple(s, u)
}
ENTRY e {
  t = (f32[8], f32[8]) parameter(0)
  ROOT w = (f32[8], f32[8]) while(t), condition=cond, body=body
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const HloInstruction& loop = *(*module)->entry_computation()->root_instruction();
  const auto reads = Entries(loop, Direction::kOutputToInput, &context_, {});
  const auto reached = Entries(loop, Direction::kInputToOutput, &context_, {});
  ASSERT_TRUE(reads.ok()) << reads.status();
  ASSERT_TRUE(reached.ok()) << reached.status();
  for (const InstructionIndexing* entries : {&*reads, &*reached}) {
    for (const int64_t output_leaf : {0, 1}) {
      int leading_to_both = 0;
      for (const IndexingEntry& entry : *entries) {
        if (entry.output_leaf != output_leaf || entry.operand_leaf != 0) continue;
        for (const OperandIndexing& map : entry.indexing) {
          if (map.replica_map() == nullptr) continue;
          leading_to_both += map.DevicesRead() == Interval::OfSize(2) ? 1 : 0;
        }
      }
      EXPECT_EQ(leading_to_both, 1) << output_leaf;
    }
  }
}

}  // namespace
}  // namespace xla_indexing::internal

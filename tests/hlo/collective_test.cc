#include "xla_indexing/hlo/collective.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/check_instruction.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/replica_groups.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

IotaGroups IotaOf(absl::string_view text) {
  const absl::StatusOr<ReplicaGroups> groups = ParseReplicaGroups(text);
  EXPECT_TRUE(groups.ok()) << groups.status();
  if (!groups.ok()) return {};
  EXPECT_EQ(groups->form, ReplicaGroups::Form::kIota) << text;
  return groups->iota;
}

std::string GroupsErrorOf(absl::string_view text) {
  return std::string(ParseReplicaGroups(text).status().message());
}

TEST(ReplicaGroupsTest, Lists) {
  const auto groups = ParseReplicaGroups("{{0, 2},{1,3}}");
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(groups->form, ReplicaGroups::Form::kLists);
  EXPECT_THAT(groups->lists, ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_EQ(groups->IdCount(), 4);
  EXPECT_EQ(ParseReplicaGroups("{}")->form, ReplicaGroups::Form::kAll);
  EXPECT_EQ(ParseReplicaGroups("{{}}")->form, ReplicaGroups::Form::kAll);
  EXPECT_THAT(GroupsErrorOf("{{0},{}}"), HasSubstr("a group without devices"));
  EXPECT_THAT(GroupsErrorOf("{{0},{0}}"), HasSubstr("device 0 is in two places"));
  EXPECT_THAT(GroupsErrorOf("{{0}} x"), HasSubstr("the end of the replica groups"));
}

TEST(ReplicaGroupsTest, Iota) {
  const IotaGroups plain = IotaOf("[2,4]<=[8]");
  EXPECT_EQ(plain.group_count, 2);
  EXPECT_EQ(plain.group_size, 4);
  EXPECT_THAT(plain.sizes, ElementsAre(8));
  EXPECT_THAT(plain.permutation, ElementsAre(0));
  const IotaGroups transposed = IotaOf("[4,2]<=[2,4]T(1,0)");
  EXPECT_THAT(transposed.sizes, ElementsAre(2, 4));
  EXPECT_THAT(transposed.permutation, ElementsAre(1, 0));
}

// The axes that groups lie along come last, those taken in part are cut.
TEST(ReplicaGroupsTest, AMeshIsAnIota) {
  const IotaGroups along_first = IotaOf("mesh['x'=2,'y'=4] {'x'}");
  EXPECT_EQ(along_first.group_count, 4);
  EXPECT_EQ(along_first.group_size, 2);
  EXPECT_THAT(along_first.sizes, ElementsAre(2, 4));
  EXPECT_THAT(along_first.permutation, ElementsAre(1, 0));

  const IotaGroups turned = IotaOf("mesh['x'=2,'y'=4] {'y','x'}");
  EXPECT_EQ(turned.group_count, 1);
  EXPECT_THAT(turned.permutation, ElementsAre(1, 0));

  const IotaGroups middle = IotaOf("mesh['x'=12] {'x':(2)3}");
  EXPECT_EQ(middle.group_count, 4);
  EXPECT_EQ(middle.group_size, 3);
  EXPECT_THAT(middle.sizes, ElementsAre(2, 3, 2));
  EXPECT_THAT(middle.permutation, ElementsAre(0, 2, 1));

  const IotaGroups two_parts = IotaOf("mesh['x'=8] {'x':(4)2,'x':(1)2}");
  EXPECT_THAT(two_parts.sizes, ElementsAre(2, 2, 2));
  EXPECT_THAT(two_parts.permutation, ElementsAre(1, 2, 0));

  const IotaGroups none = IotaOf("mesh['x'=2,'y'=4] {}");
  EXPECT_EQ(none.group_count, 8);
  EXPECT_EQ(none.group_size, 1);

  EXPECT_THAT(GroupsErrorOf("mesh['x'=8] {'x','x'}"), HasSubstr("taken twice"));
  EXPECT_THAT(GroupsErrorOf("mesh['x'=12] {'x':(1)3,'x':(2)2}"), HasSubstr("cut in two ways"));
  EXPECT_THAT(GroupsErrorOf("mesh['x'=4294967296,'y'=4294967296] {'x'}"),
              HasSubstr("does not fit 64 bits"));
}

TEST(ReplicaGroupsTest, AnOrderOfDevicesOfAMeshIsNotRead) {
  const auto groups = ParseReplicaGroups("mesh['x'=2,device_ids=(1,0)] {'x'}");
  ASSERT_TRUE(groups.ok()) << groups.status();
  EXPECT_EQ(groups->form, ReplicaGroups::Form::kOpaque);
  EXPECT_EQ(groups->IdCount(), 2);
}

TEST(SourceTargetPairsTest, Pairs) {
  const auto pairs = ParseSourceTargetPairs("{{0,1},{1,2}}");
  ASSERT_TRUE(pairs.ok());
  EXPECT_THAT(*pairs, ElementsAre(SourceTargetPair{0, 1}, SourceTargetPair{1, 2}));
  EXPECT_THAT(*ParseSourceTargetPairs("{}"), IsEmpty());
  const auto error = [](absl::string_view text) {
    return std::string(ParseSourceTargetPairs(text).status().message());
  };
  EXPECT_THAT(error("{{0,1,2}}"), HasSubstr("expected a source and a target, found 3 devices"));
  EXPECT_THAT(error("{{0,1},{2,1}}"), HasSubstr("device 1 receives twice"));
  EXPECT_THAT(error("{{0,1},{0,2}}"), HasSubstr("device 0 sends twice"));
  EXPECT_THAT(error("{{0,-1}}"), HasSubstr("device -1 is negative"));
}

TEST(SourceTargetPairsTest, ErrorsHaveTheirPlace) {
  EXPECT_THAT(
      CheckInstruction({"f32[4]"}, "collective-permute(p0), source_target_pairs={{0,1},{0}}"),
      HasSubstr("expected a source and a target, found 1 devices"));
}

// The root of a module with this header and this instruction on p0 = f32[4].
class CollectiveGroupsTest : public ::testing::Test {
 protected:
  const HloInstruction& Root(absl::string_view header, absl::string_view instruction) {
    auto module = ParseModule(
        absl::StrCat("HloModule m", header, "\n", kFunctions,
                     "\nENTRY e {\np0 = f32[4] parameter(0)\nROOT r = ", instruction, "\n}\n"));
    EXPECT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    return *module_->entry_computation()->root_instruction();
  }

  CollectiveGroups Groups(absl::string_view header, absl::string_view instruction) {
    const auto groups = CollectiveGroupsOf(Root(header, instruction));
    EXPECT_TRUE(groups.ok()) << groups.status();
    return groups.ok() ? *groups : CollectiveGroups();
  }

 private:
  std::unique_ptr<HloModule> module_;
};

TEST_F(CollectiveGroupsTest, AttributesSayWhatIdsAreOf) {
  const char kHeader[] = ", replica_count=2, num_partitions=3";
  const auto reduce = [&](absl::string_view attributes) {
    return Groups(kHeader, absl::StrCat("f32[4] all-reduce(p0), to_apply=add_f32", attributes));
  };
  EXPECT_EQ(reduce("").space, DeviceIdSpace::kReplicas);
  EXPECT_EQ(*reduce("").GroupSize(), 2);
  EXPECT_EQ(reduce(", channel_id=1").space, DeviceIdSpace::kReplicasWithPartitions);
  EXPECT_EQ(*reduce(", channel_id=1").GroupSize(), 6);
  const CollectiveGroups devices =
      reduce(", channel_id=1, use_global_device_ids=true, replica_groups=[3,2]<=[6]");
  EXPECT_EQ(devices.space, DeviceIdSpace::kDevices);
  EXPECT_EQ(*devices.GroupSize(), 2);
  EXPECT_EQ(devices.DeviceCount(), 6);
  const CollectiveGroups partitions =
      Groups(kHeader, "f32[4] collective-broadcast(p0), channel_id=1, replica_groups={{2,0}}");
  EXPECT_EQ(partitions.space, DeviceIdSpace::kPartitions);
  EXPECT_EQ(reduce(", mode=cross_partition").space, DeviceIdSpace::kPartitions);
  EXPECT_EQ(reduce(", mode=cross_replica").space, DeviceIdSpace::kReplicas);
  EXPECT_EQ(reduce(", mode=flattened_id").space, DeviceIdSpace::kDevices);
  EXPECT_EQ(reduce(", mode=cross_replica_and_partition").space,
            DeviceIdSpace::kReplicasWithPartitions);
}

TEST_F(CollectiveGroupsTest, CountsThatTheHeaderDoesNotGiveAreWhatIsAskedFor) {
  EXPECT_EQ(Groups("", "f32[4] all-reduce(p0), to_apply=add_f32").DeviceCount(), 1);
  EXPECT_EQ(Groups("", "f32[12] all-gather(p0), dimensions={0}").replica_count, 3);
  const CollectiveGroups both =
      Groups("", "f32[24] all-gather(p0), dimensions={0}, channel_id=1, replica_groups={{1,0}}");
  EXPECT_EQ(both.replica_count, 2);
  EXPECT_EQ(both.partition_count, 3);
  const CollectiveGroups partitions =
      Groups(", num_partitions=4",
             "f32[4] all-reduce(p0), to_apply=add_f32, channel_id=1, use_global_device_ids=true, "
             "replica_groups=[1,8]<=[8]");
  EXPECT_EQ(partitions.replica_count, 2);
  EXPECT_EQ(partitions.partition_count, 4);
  EXPECT_EQ(Groups("",
                   "f32[4] all-to-all(p0), dimensions={0}, channel_id=1, "
                   "replica_groups={{1,2},{3,0}}")
                .partition_count,
            4);
}

TEST_F(CollectiveGroupsTest, PairsAreOfReplicasOrPartitions) {
  const auto pairs = CollectivePairsOf(
      Root("", "f32[4] collective-permute(p0), channel_id=1, source_target_pairs={{0,3}}"));
  ASSERT_TRUE(pairs.ok());
  EXPECT_EQ(pairs->space, DeviceIdSpace::kPartitions);
  EXPECT_EQ(pairs->partition_count, 4);
  EXPECT_THAT(pairs->pairs, ElementsAre(SourceTargetPair{0, 3}));
}

// The message of a module with this header, whose root is this instruction on p0 = f32[4].
std::string ErrorWithHeader(absl::string_view header, absl::string_view instruction) {
  const auto module = ParseModule(
      absl::StrCat("HloModule m", header, "\n", kFunctions,
                   "\nENTRY e {\np0 = f32[4] parameter(0)\nROOT r = ", instruction, "\n}\n"));
  absl::Status status = module.status();
  if (status.ok()) status = VerifyModule(**module);
  return std::string(status.message());
}

TEST(CollectiveErrorsTest, GroupsThatCannotBe) {
  const std::string reduce = "f32[4] all-reduce(p0), to_apply=add_f32, replica_groups=";
  EXPECT_THAT(
      ErrorWithHeader("", reduce + "{{0,2}}"),
      HasSubstr("r: all-reduce of f32[4]: its replica groups name 2 of 3 replicas: replica 1 "
                "is missing"));
  EXPECT_THAT(ErrorWithHeader(", replica_count=8", reduce + "{{0,1},{2,3}}"),
              HasSubstr("its replica groups name 4 of 8 replicas: replica 4 is missing"));
  EXPECT_THAT(ErrorWithHeader(", replica_count=2", reduce + "{{0,1},{2,3}}"),
              HasSubstr("its replica groups name replica 3, and there are 2"));
  EXPECT_THAT(ErrorWithHeader(", num_partitions=4", reduce + "{{0}}, use_global_device_ids=true"),
              HasSubstr("use_global_device_ids needs a channel_id"));
  EXPECT_EQ(ErrorWithHeader("", reduce + "{{0},{1,2}}"), "");
  EXPECT_THAT(
      ErrorWithHeader("", "f32[4] all-to-all(p0), dimensions={0}, replica_groups={{0},{1,2}}"),
      HasSubstr("its replica groups have 1 and 2 devices and should be equally large"));
  EXPECT_THAT(
      ErrorWithHeader("", "f32[4] all-to-all(p0), dimensions={0}, replica_groups={{0,1,2}}"),
      HasSubstr("dimension 0 of f32[4] cannot be split among 3 devices"));
  EXPECT_THAT(ErrorWithHeader("", "(f32[4]) all-to-all(p0), replica_groups={{0,1}}"),
              HasSubstr("takes 1 operands, and its replica groups have 2 devices"));
  EXPECT_THAT(
      ErrorWithHeader("", "f32[8] all-gather(p0), dimensions={0}, replica_groups=[1,4]<=[4]"),
      HasSubstr("f32[8] is 2 times f32[4] in dimension 0, and its replica groups have 4 devices"));
  EXPECT_THAT(ErrorWithHeader("",
                              "f32[2] reduce-scatter(p0), dimensions={0}, to_apply=add_f32, "
                              "replica_groups=[1,4]<=[4]"),
              HasSubstr("f32[4] is 2 times f32[2] in dimension 0, and its replica groups have 4"));
  EXPECT_EQ(ErrorWithHeader(", replica_count=8",
                            "f32[4] collective-broadcast(p0), "
                            "replica_groups={{3,1}}"),
            "");
  EXPECT_THAT(ErrorWithHeader(", replica_count=2",
                              "f32[4] collective-permute(p0), source_target_pairs={{0,2}}"),
              HasSubstr("its source-target pairs name replica 2, and there are 2"));
  EXPECT_THAT(ErrorWithHeader(", num_partitions=4611686018427387904",
                              reduce + "[1,4611686018427387904]<=[4611686018427387904]"),
              HasSubstr("are more devices than 64 bits count"));
}

TEST(CollectiveStartTest, LeavesOfStartsAndDones) {
  const auto leaves = [](absl::string_view start, absl::string_view done) {
    const auto module =
        ParseModule(absl::StrCat(kFunctions, "\nENTRY e {\np0 = f32[4] parameter(0)\ns = ", start,
                                 "\nROOT d = ", done, "\n}\n"));
    EXPECT_TRUE(module.ok()) << module.status();
    const HloInstruction& root = *(*module)->entry_computation()->root_instruction();
    const StartLeaves of_start = LeavesOfStart(*root.operand(0));
    return std::vector<int64_t>{of_start.operand_count, of_start.result_begin,
                                of_start.result_count, ResultElementOfDone(root).value_or(-1)};
  };
  EXPECT_THAT(
      leaves("(f32[4], f32[8]) all-gather-start(p0), dimensions={0}", "f32[8] all-gather-done(s)"),
      ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(leaves("f32[8] all-gather-start(p0), dimensions={0}", "f32[8] all-gather-done(s)"),
              ElementsAre(0, 0, 1, -1));
  EXPECT_THAT(leaves("((f32[4], f32[4]), (f32[4], f32[4]), u32[]) collective-permute-start(p0, p0)",
                     "(f32[4], f32[4]) collective-permute-done(s)"),
              ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(leaves("(f32[4], f32[4]) all-reduce-start(p0, p0), to_apply=add_f32",
                     "(f32[4], f32[4]) all-reduce-done(s)"),
              ElementsAre(0, 0, 2, -1));
}

}  // namespace
}  // namespace xla_indexing

#include "xla_indexing/hlo/devices/collective.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/verify/check_instruction.h"
#include "xla_indexing/hlo/devices/device_lists.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/replica_groups.h"

namespace xla_indexing::internal {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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
  EXPECT_THAT(GroupsErrorOf("{{9223372036854775807}}"),
              HasSubstr("would be one of more devices than 64 bits count"));
  EXPECT_THAT(GroupsErrorOf("{{0}} x"), HasSubstr("the end of the replica groups"));
}

TEST(ReplicaGroupsTest, Iota) {
  const IotaGroups plain = IotaOf("[2,4]<=[8]");
  EXPECT_EQ(plain.group_count, 2);
  EXPECT_EQ(plain.group_size, 4);
  ASSERT_THAT(plain.orders, SizeIs(1));
  EXPECT_THAT(plain.orders[0].sizes, ElementsAre(8));
  EXPECT_THAT(plain.orders[0].permutation, ElementsAre(0));
  const IotaGroups transposed = IotaOf("[4,2]<=[2,4]T(1,0)");
  ASSERT_THAT(transposed.orders, SizeIs(1));
  EXPECT_THAT(transposed.orders[0].sizes, ElementsAre(2, 4));
  EXPECT_THAT(transposed.orders[0].permutation, ElementsAre(1, 0));
}

using Lists = std::vector<std::vector<int64_t>>;

// The places of an array of these sizes, its dimensions permuted, in row-major order.
std::vector<int64_t> Transposed(const std::vector<int64_t>& sizes,
                                const std::vector<int64_t>& permutation) {
  std::vector<int64_t> places = {0};
  for (const int64_t dimension : permutation) {
    int64_t stride = 1;
    for (size_t d = dimension + 1; d < sizes.size(); ++d) stride *= sizes[d];
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      for (int64_t i = 0; i < sizes[dimension]; ++i) next.push_back(place + i * stride);
    }
    places = std::move(next);
  }
  return places;
}

Lists CutUp(const std::vector<int64_t>& ids, int64_t size) {
  Lists lists;
  for (auto id = ids.begin(); id != ids.end(); id += size) lists.emplace_back(id, id + size);
  return lists;
}

// The groups that a text stands for, as lists.
Lists GroupsOf(absl::string_view text) {
  const absl::StatusOr<ReplicaGroups> groups = ParseReplicaGroups(text);
  EXPECT_TRUE(groups.ok()) << groups.status();
  if (!groups.ok() || groups->form == ReplicaGroups::Form::kLists) return groups->lists;
  std::vector<int64_t> ids(groups->IdCount());
  std::iota(ids.begin(), ids.end(), 0);
  for (const IotaOrder& order : groups->iota.orders) {
    const std::vector<int64_t> before = std::exchange(ids, {});
    for (const int64_t place : Transposed(order.sizes, order.permutation)) {
      ids.push_back(before[place]);
    }
  }
  return CutUp(ids, groups->iota.group_size);
}

TEST(ReplicaGroupsTest, AMeshHasGroupsAlongItsAxes) {
  EXPECT_THAT(
      GroupsOf("mesh['x'=2,'y'=4] {'x'}"),
      ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(3, 7)));
  EXPECT_THAT(GroupsOf("mesh[x=2,y=2] {y}"), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(GroupsOf("mesh['x'=2,'y'=2] {'y','x'}"), ElementsAre(ElementsAre(0, 2, 1, 3)));
  EXPECT_THAT(GroupsOf("mesh['x'=12] {'x':(2)3}"),
              ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3, 5), ElementsAre(6, 8, 10),
                          ElementsAre(7, 9, 11)));
  EXPECT_THAT(GroupsOf("mesh['x'=3] {}"),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  // The devices stand in the order 0, 2, 4, 6, 1, 3, 5, 7.
  EXPECT_THAT(GroupsOf("mesh['x'=4,'y'=2], device_ids=([4,2]T(1,0)) {'x'}"),
              ElementsAre(ElementsAre(0, 4, 1, 5), ElementsAre(2, 6, 3, 7)));
  EXPECT_THAT(GroupsOf("mesh['x'=2,'y'=2], device_ids=(3,1,0,2) {'x'}"),
              ElementsAre(ElementsAre(3, 0), ElementsAre(1, 2)));
}

TEST(ReplicaGroupsTest, MeshesThatAreNone) {
  EXPECT_THAT(GroupsErrorOf("mesh['x'=8] {'x','x'}"), HasSubstr("taken twice"));
  EXPECT_THAT(GroupsErrorOf("mesh['x'=12] {'x':(1)3,'x':(2)2}"), HasSubstr("cut in two ways"));
  EXPECT_THAT(GroupsErrorOf("mesh['x'=4294967296,'y'=4294967296] {'x','y'}"),
              HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(GroupsErrorOf("mesh['x'=4], device_ids=([3]) {'x'}"),
              HasSubstr("this list has 3 devices, not 4"));
  EXPECT_THAT(GroupsErrorOf("mesh['x'=4], device_ids=(0,1,2) {'x'}"),
              HasSubstr("this list has 3 devices, not 4"));
  EXPECT_THAT(GroupsErrorOf("mesh['x'=2], device_ids=(1,1) {'x'}"),
              HasSubstr("device 1 is in two places"));
  EXPECT_THAT(GroupsErrorOf("mesh['x'=2], device_ids=(1,9223372036854775807) {'x'}"),
              HasSubstr("more devices than 64 bits count"));
  EXPECT_THAT(GroupsErrorOf("mesh['x'=2], device_ids=([2] {'x'}"), HasSubstr("expected ')'"));
  EXPECT_THAT(GroupsErrorOf("mesh['x'=2,device_ids=(1,0)] {'x'}"),
              HasSubstr("expected the size of an axis"));
}

// Some digit of the coordinate along an axis of a mesh: `size` values behind `before` of them.
struct Part {
  size_t axis;
  int64_t before;
  int64_t size;
};

// The groups of a mesh by their definition: devices are in one group if they differ in the parts
// alone, and stand in it as their digits in the parts say. Groups stand in the order of the
// coordinates of their first devices.
Lists GroupsByDefinition(const std::vector<int64_t>& axes, const std::vector<int64_t>& devices,
                         const std::vector<Part>& parts) {
  std::map<int64_t, std::map<int64_t, int64_t>> groups;
  for (size_t position = 0; position < devices.size(); ++position) {
    int64_t first = static_cast<int64_t>(position);
    int64_t place = 0;
    for (const Part& part : parts) {
      int64_t stride = axes[part.axis] / (part.before * part.size);
      for (size_t axis = part.axis + 1; axis < axes.size(); ++axis) stride *= axes[axis];
      const int64_t digit = static_cast<int64_t>(position) / stride % part.size;
      first -= digit * stride;
      place = place * part.size + digit;
    }
    groups[first][place] = devices[position];
  }
  Lists lists;
  for (const auto& [first, group] : groups) {
    lists.emplace_back();
    for (const auto& [place, device] : group) lists.back().push_back(device);
  }
  return lists;
}

TEST(ReplicaGroupsTest, OrdersOfDevicesDecideTheGroupsOfAMesh) {
  const std::vector<std::vector<int64_t>> meshes = {{12}, {6, 2}, {2, 6}, {3, 4}, {2, 1, 6}};
  const std::vector<std::vector<int64_t>> orders = {{12}, {4, 3}, {2, 6}, {3, 2, 2}};
  for (const std::vector<int64_t>& axes : meshes) {
    std::vector<std::vector<Part>> choices = {{}};
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      std::vector<std::vector<Part>> more;
      for (const std::vector<Part>& taken : choices) {
        for (int64_t before = 1; before <= axes[axis]; ++before) {
          for (int64_t size = 2; before * size <= axes[axis]; ++size) {
            if (axes[axis] % (before * size) != 0) continue;
            more.push_back(taken);
            more.back().push_back({axis, before, size});
            more.push_back(taken);
            more.back().insert(more.back().begin(), {axis, before, size});
          }
        }
      }
      choices.insert(choices.end(), more.begin(), more.end());
    }
    std::vector<std::string> names;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      names.push_back(absl::StrCat("'a", axis, "'=", axes[axis]));
    }
    for (const std::vector<int64_t>& sizes : orders) {
      std::vector<int64_t> permutation(sizes.size());
      std::iota(permutation.begin(), permutation.end(), 0);
      do {
        const std::vector<int64_t> devices = Transposed(sizes, permutation);
        const std::string iota = absl::StrCat("[", absl::StrJoin(sizes, ","), "]T(",
                                              absl::StrJoin(permutation, ","), ")");
        for (const std::vector<Part>& parts : choices) {
          const std::string along =
              absl::StrJoin(parts, ",", [&](std::string* text, const Part& part) {
                absl::StrAppend(text, "'a", part.axis, "'");
                if (part.size == axes[part.axis]) return;
                absl::StrAppend(text, ":(", part.before, ")", part.size);
              });
          const Lists expected = GroupsByDefinition(axes, devices, parts);
          for (const std::string& list : {iota, absl::StrJoin(devices, ",")}) {
            const std::string text = absl::StrCat("mesh[", absl::StrJoin(names, ","),
                                                  "], device_ids=(", list, ") {", along, "}");
            EXPECT_EQ(GroupsOf(text), expected) << text;
          }
        }
      } while (std::next_permutation(permutation.begin(), permutation.end()));
    }
  }
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
  EXPECT_THAT(error("{{0,-1}}"), HasSubstr("device -1 is negative"));
  EXPECT_THAT(error("{{0,9223372036854775807}}"),
              HasSubstr("would be one of more devices than 64 bits count"));
}

// Once for each slice that is permuted in place.
TEST(SourceTargetPairsTest, DevicesSendAndReceiveOnce) {
  const auto check = [](absl::string_view pairs) {
    return CheckInstruction({"f32[4]"},
                            absl::StrCat("collective-permute(p0), source_target_pairs=", pairs));
  };
  EXPECT_EQ(check("{{0,1},{1,0}}"), "f32[4]");
  EXPECT_THAT(check("{{0,1},{2,1}}"), HasSubstr("device 1 receives twice"));
  EXPECT_THAT(check("{{0,1},{0,2}}"), HasSubstr("device 0 sends twice"));
  const auto check_slices = [](absl::string_view pairs, absl::string_view sizes) {
    return CheckInstruction({"f32[4]", "((s32[]), (s32[]))"},
                            absl::StrCat("collective-permute(p0, p0, p1, p1), source_target_pairs=",
                                         pairs, ", slice_sizes=", sizes));
  };
  EXPECT_EQ(check_slices("{{0,1},{0,2}}", "{{1},{1}}"), "f32[4]");
  EXPECT_THAT(check_slices("{{0,1},{0,2}}", "{{1}}"), HasSubstr("device 0 sends twice"));
  EXPECT_THAT(check_slices("{{0,1},{0,2},{0,3}}", "{{1},{1}}"),
              HasSubstr("device 0 sends more often than there are slices"));
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

// Whatever the ids, the module's counts and the operation: sizes are refused where 64 bits do not
// hold them, and ids that no list of a few characters can complete are missing.
TEST(CollectiveErrorsTest, NumbersAtTheEndOf64Bits) {
  const std::string collectives[] = {
      "f32[4] all-reduce(p0), to_apply=add_f32",
      "f32[4] all-reduce-start(p0), to_apply=add_f32",
      "f32[8] all-gather(p0), dimensions={0}",
      "(f32[4], f32[8]) all-gather-start(p0), dimensions={0}",
      "f32[2] reduce-scatter(p0), dimensions={0}, to_apply=add_f32",
      "f32[4] all-to-all(p0), dimensions={0}",
  };
  for (const std::string& collective : collectives) {
    for (const std::string attributes : {"", ", channel_id=1"}) {
      EXPECT_THAT(ErrorWithHeader(
                      "", collective + attributes + ", replica_groups={{0,9223372036854775807}}"),
                  HasSubstr("would be one of more devices than 64 bits count"));
      EXPECT_THAT(
          ErrorWithHeader("", collective + attributes +
                                  ", replica_groups={{0,2,4,6},{1,9223372036854775806,5,7}}"),
          HasSubstr("name 8 of 9223372036854775807 "));
      for (const std::string count : {"replica_count", "num_partitions"}) {
        EXPECT_THAT(ErrorWithHeader(absl::StrCat(", ", count, "=9223372036854775807"),
                                    collective + attributes + ", replica_groups={{0,1}}"),
                    AnyOf(HasSubstr("more devices than 64 bits count"), HasSubstr("is missing")))
            << collective << attributes << count;
      }
    }
  }
  const std::string devices =
      "f32[4] all-reduce(p0), to_apply=add_f32, channel_id=1, use_global_device_ids=true";
  EXPECT_THAT(ErrorWithHeader(", replica_count=4294967296, num_partitions=4294967296", devices),
              HasSubstr("are more devices than 64 bits count"));
  // 2^63 - 2 devices are no multiple of 2^62 replicas, and 2^63 would be one too many.
  EXPECT_THAT(ErrorWithHeader(", replica_count=4611686018427387904",
                              devices + ", replica_groups={{9223372036854775805}}"),
              HasSubstr("are more devices than 64 bits count"));
  EXPECT_EQ(ErrorWithHeader("",
                            "f32[4] collective-broadcast(p0), replica_groups={{0,5},"
                            "{9223372036854775806}}"),
            "");
  EXPECT_EQ(ErrorWithHeader(
                "", "f32[4] collective-permute(p0), source_target_pairs={{0,9223372036854775806}}"),
            "");
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
}  // namespace xla_indexing::internal

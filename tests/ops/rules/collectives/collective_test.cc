// The maps of operations across replicas. Expected devices are those of the groups, written out in
// the comments.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/ops/values/cases/fit_sequence.h"

namespace xla_indexing::internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CollectiveTest : public IndexingTest {
 protected:
  // The root of a module with this header, whose parameters p0, p1, .. have these shapes.
  const HloInstruction* OnDevices(absl::string_view header,
                                  const std::vector<std::string>& parameters,
                                  absl::string_view instruction) {
    std::string text = absl::StrCat(
        "HloModule m, ", header,
        "\nadd { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }\n"
        "add_arrays { a = f32[2,2] parameter(0)  b = f32[2,2] parameter(1)  "
        "ROOT r = f32[2,2] add(a, b) }\n"
        "transpose_arrays { a = f32[2,2] parameter(0)  b = f32[2,2] parameter(1)  "
        "ROOT r = f32[2,2] transpose(a), dimensions={1,0} }\n"
        "ENTRY e {\n");
    for (size_t i = 0; i < parameters.size(); ++i) {
      absl::StrAppend(&text, "p", i, " = ", parameters[i], " parameter(", i, ")\n");
    }
    return Root(absl::StrCat(text, "ROOT r = ", instruction, "\n}\n"));
  }
};

// Groups {0,4}, {1,5}, {2,6}, {3,7}.
TEST_F(CollectiveTest, AllGather) {
  const HloInstruction* root =
      OnDevices("num_partitions=8", {"f32[3,5]"},
                "f32[3,10] all-gather(p0), dimensions={1}, channel_id=1, "
                "use_global_device_ids=true, replica_groups=[4,2]<=[2,4]T(1,0)");
  EXPECT_THAT(OutputToInput(root),
              ElementsAre("0.0.0 (d0, d1) -> (d0, d1 mod 5), domain: d0 in [0, 2], d1 in [0, 9]\n"
                          "  replica: (d0, d1, d2) -> ((d1 floordiv 5) * 4 + d2 mod 4), domain: d0 "
                          "in [0, 2], d1 in [0, 9], d2 in [0, 7]"));
  EXPECT_THAT(
      InputToOutput(root),
      ElementsAre("0.0.0 (d0, d1)[s0, s1] -> (d0, d1 + s0 * 5), domain: d0 in [0, 2], d1 in "
                  "[0, 4], s0 in [0, 1], s1 in [0, 1]\n"
                  "  replica: (d0, d1, d2)[s0, s1] -> (d2 mod 4 + s1 * 4), domain: d0 in "
                  "[0, 2], d1 in [0, 4], d2 in [0, 7], s0 in [0, 1], s1 in [0, 1], d2 "
                  "floordiv 4 - s0 in [0, 0]"));
}

// A mesh is the same as its iota, and lists that are one print as one.
TEST_F(CollectiveTest, WaysToWriteGroups) {
  const auto maps = [&](absl::string_view groups) {
    return OutputToInput(
        OnDevices("num_partitions=8", {"f32[5]"},
                  absl::StrCat("f32[10] all-gather(p0), dimensions={0}, channel_id=1, "
                               "use_global_device_ids=true, replica_groups=",
                               groups)));
  };
  const std::vector<std::string> iota = maps("[4,2]<=[2,4]T(1,0)");
  EXPECT_THAT(iota, SizeIs(1));
  EXPECT_EQ(maps("mesh['x'=2,'y'=4] {'x'}"), iota);
  EXPECT_EQ(maps("mesh['x'=8] {'x':(1)2}"), iota);
  EXPECT_EQ(maps("{{0,4},{1,5},{2,6},{3,7}}"), iota);
  // The order of the groups does not matter, but a formula must be found.
  EXPECT_EQ(maps("{{3,7},{2,6},{1,5},{0,4}}"), iota);
  // The devices of the meshes stand in the orders 0, 1, .., then 0, 4, 1, 5, .. and 0, 2, 4, 6, 1,
  // ..
  EXPECT_EQ(maps("mesh['x'=2,'y'=4], device_ids=([8]) {'x'}"), iota);
  EXPECT_EQ(maps("mesh['x'=4,'y'=2], device_ids=([2,4]T(1,0)) {'y'}"), iota);
  EXPECT_EQ(maps("mesh['x'=4,'y'=2], device_ids=(0,4,1,5,2,6,3,7) {'y'}"), iota);
  EXPECT_EQ(maps("mesh['x'=2,'y'=2,'z'=2], device_ids=([4,2]T(1,0)) {'y'}"), iota);
}

// A mesh of 24 axes of two devices each, which stand in the reverse order of its axes: the groups
// are known, and no formula of them is.
TEST_F(CollectiveTest, GroupsOfManyDimensionsAreOfAnyDevice) {
  std::vector<std::string> axes;
  std::vector<std::string> sizes;
  std::vector<std::string> reversed;
  for (int i = 0; i < 24; ++i) {
    axes.push_back(absl::StrCat("'a", i, "'=2"));
    sizes.push_back("2");
    reversed.push_back(absl::StrCat(23 - i));
  }
  EXPECT_THAT(
      OutputToInput(OnDevices(
          "num_partitions=16777216", {"f32[]"},
          absl::StrCat("f32[] all-reduce(p0), to_apply=add, channel_id=1, "
                       "use_global_device_ids=true, replica_groups=mesh[",
                       absl::StrJoin(axes, ","), "], device_ids=([", absl::StrJoin(sizes, ","),
                       "]T(", absl::StrJoin(reversed, ","), ")) {'a0','a2','a7'}"))),
      ElementsAre("0.0.0 ()[s0] -> (), domain: s0 in [0, 16777215]  (over-approximate: the device "
                  "is not known: the groups are those of an array of 48 dimensions, more than 32)\n"
                  "  replica: (d0)[s0] -> (s0), domain: d0 in [0, 16777215], s0 in [0, 16777215]"));
}

TEST_F(CollectiveTest, IdSpaces) {
  const auto maps = [&](absl::string_view attributes) {
    return OutputToInput(OnDevices("replica_count=2, num_partitions=3", {"f32[]"},
                                   absl::StrCat("f32[] all-reduce(p0), to_apply=add", attributes)));
  };
  // Replicas: {0,3}, {1,4}, {2,5}.
  EXPECT_THAT(maps(""), ElementsAre("0.0.0 ()[s0] -> (), domain: s0 in [0, 1]\n"
                                    "  replica: (d0)[s0] -> (d0 mod 3 + s0 * 3), domain: d0 in [0, "
                                    "5], s0 in [0, 1]"));
  // Replicas with all their partitions: all devices.
  EXPECT_THAT(maps(", channel_id=1"),
              ElementsAre("0.0.0 ()[s0] -> (), domain: s0 in [0, 5]\n"
                          "  replica: (d0)[s0] -> (s0), domain: d0 in [0, 5], s0 in [0, 5]"));
  // .. of one replica.
  EXPECT_THAT(
      maps(", channel_id=1, replica_groups={{0},{1}}"),
      ElementsAre("0.0.0 ()[s0] -> (), domain: s0 in [0, 2]\n"
                  "  replica: (d0)[s0] -> ((d0 floordiv 3) * 3 + s0), domain: d0 in [0, 5], "
                  "s0 in [0, 2]"));
  EXPECT_THAT(
      maps(", channel_id=1, use_global_device_ids=true, replica_groups=[3,2]<=[6]"),
      ElementsAre("0.0.0 ()[s0] -> (), domain: s0 in [0, 1]\n"
                  "  replica: (d0)[s0] -> ((d0 floordiv 2) * 2 + s0), domain: d0 in [0, 5], "
                  "s0 in [0, 1]"));
  // Groups of one: everybody reads what is there already.
  EXPECT_THAT(maps(", replica_groups={{1},{0}}"), ElementsAre("0.0.0 () -> ()"));
}

// Groups {0,1,2}, {3,4}, {5,6,7} differ in size: a piece for each.
TEST_F(CollectiveTest, AllReduceOfUnequalGroups) {
  const HloInstruction* root =
      OnDevices("replica_count=8", {"f32[4]"},
                "f32[4] all-reduce(p0), to_apply=add, replica_groups={{0,1,2},{3,4},{5,6,7}}");
  const std::vector<std::string> maps = {
      "0.0.0 (d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 2]\n"
      "  replica: (d0, d1)[s0] -> (s0), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 2]",
      "0.0.0 (d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 1]\n"
      "  replica: (d0, d1)[s0] -> (s0 + 3), domain: d0 in [0, 3], d1 in [3, 4], s0 in [0, 1]",
      "0.0.0 (d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 2]\n"
      "  replica: (d0, d1)[s0] -> (s0 + 5), domain: d0 in [0, 3], d1 in [5, 7], s0 in [0, 2]"};
  EXPECT_EQ(OutputToInput(root), maps);
  EXPECT_EQ(InputToOutput(root), maps);
}

TEST_F(CollectiveTest, ReduceScatter) {
  const HloInstruction* root = OnDevices(
      "replica_count=8", {"f32[16]"},
      "f32[4] reduce-scatter(p0), dimensions={0}, to_apply=add, replica_groups=[2,4]<=[8]");
  EXPECT_THAT(
      OutputToInput(root),
      ElementsAre("0.0.0 (d0)[s0, s1] -> (d0 + s0 * 4), domain: d0 in [0, 3], s0 in [0, 3], "
                  "s1 in [0, 3]\n"
                  "  replica: (d0, d1)[s0, s1] -> ((d1 floordiv 4) * 4 + s1), domain: d0 in "
                  "[0, 3], d1 in [0, 7], s0 in [0, 3], s1 in [0, 3], d1 mod 4 - s0 in [0, "
                  "0]"));
  EXPECT_THAT(
      InputToOutput(root),
      ElementsAre("0.0.0 (d0) -> (d0 mod 4), domain: d0 in [0, 15]\n"
                  "  replica: (d0, d1) -> (d0 floordiv 4 + (d1 floordiv 4) * 4), domain: d0 "
                  "in [0, 15], d1 in [0, 7]"));
}

TEST_F(CollectiveTest, AllToAll) {
  const HloInstruction* root = OnDevices(
      "num_partitions=4", {"f32[6]"},
      "f32[6] all-to-all(p0), dimensions={0}, channel_id=1, replica_groups={{0,2},{1,3}}");
  const std::vector<std::string> maps = {
      "0.0.0 (d0)[s0] -> (d0 mod 3 + s0 * 3), domain: d0 in [0, 5], s0 in [0, 1]\n"
      "  replica: (d0, d1)[s0] -> ((d0 floordiv 3) * 2 + d1 mod 2), domain: d0 in [0, 5], d1 in "
      "[0, "
      "3], s0 in [0, 1], d1 floordiv 2 - s0 in [0, 0]"};
  EXPECT_EQ(OutputToInput(root), maps);
  EXPECT_EQ(InputToOutput(root), maps);
}

// Element j of the result is operand P of the device at position j, P the reader's position.
TEST_F(CollectiveTest, AllToAllOfATuple) {
  const HloInstruction* root =
      OnDevices("replica_count=2", {"f32[]", "f32[]"}, "(f32[], f32[]) all-to-all(p0, p1)");
  EXPECT_THAT(OutputToInput(root),
              ElementsAre("0.0.0 () -> ()\n  replica: (d0) -> (0), domain: d0 in [0, 0]",
                          "0.1.0 () -> ()\n  replica: (d0) -> (0), domain: d0 in [1, 1]",
                          "1.0.0 () -> ()\n  replica: (d0) -> (1), domain: d0 in [0, 0]",
                          "1.1.0 () -> ()\n  replica: (d0) -> (1), domain: d0 in [1, 1]"));
  EXPECT_THAT(InputToOutput(root),
              ElementsAre("0.0.0 () -> ()\n  replica: (d0) -> (0), domain: d0 in [0, 0]",
                          "0.1.0 () -> ()\n  replica: (d0) -> (1), domain: d0 in [0, 0]",
                          "1.0.0 () -> ()\n  replica: (d0) -> (0), domain: d0 in [1, 1]",
                          "1.1.0 () -> ()\n  replica: (d0) -> (1), domain: d0 in [1, 1]"));
}

TEST_F(CollectiveTest, CollectivePermute) {
  const auto permute = [&](absl::string_view pairs) {
    return OnDevices("num_partitions=8", {"f32[4]"},
                     absl::StrCat("f32[4] collective-permute(p0), channel_id=1, "
                                  "source_target_pairs=",
                                  pairs));
  };
  const HloInstruction* line = permute("{{0,1},{1,2},{2,3}}");
  EXPECT_THAT(OutputToInput(line),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]\n"
                          "  replica: (d0, d1) -> (d1 - 1), domain: d0 in [0, 3], d1 in [1, 3]"));
  EXPECT_THAT(InputToOutput(line),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]\n"
                          "  replica: (d0, d1) -> (d1 + 1), domain: d0 in [0, 3], d1 in [0, 2]"));
  // Two rings of four.
  EXPECT_THAT(OutputToInput(permute("{{0,1},{1,2},{2,3},{3,0},{4,5},{5,6},{6,7},{7,4}}")),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]\n"
                          "  replica: (d0, d1) -> ((d1 floordiv 4) * 4 + (d1 + 3) mod 4), domain: "
                          "d0 in [0, 3], d1 in [0, 7]"));
  EXPECT_THAT(OutputToInput(permute("{}")), IsEmpty());
  EXPECT_THAT(InputToOutput(permute("{}")), IsEmpty());
}

TEST_F(CollectiveTest, CollectiveBroadcast) {
  const HloInstruction* root = OnDevices(
      "replica_count=8", {"f32[4]"}, "f32[4] collective-broadcast(p0), replica_groups={{5,6,7}}");
  EXPECT_THAT(OutputToInput(root),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]\n"
                          "  replica: (d0, d1) -> (5), domain: d0 in [0, 3], d1 in [5, 7]"));
  EXPECT_THAT(
      InputToOutput(root),
      ElementsAre("0.0.0 (d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 2]\n"
                  "  replica: (d0, d1)[s0] -> (s0 + 5), domain: d0 in [0, 3], d1 in [5, 5], "
                  "s0 in [0, 2]"));
}

// The result of device 1 is undefined: it may be made of all that is read.
TEST_F(CollectiveTest, CollectiveReduceIsAnAllReduceForTheRoot) {
  const HloInstruction* root =
      OnDevices("replica_count=8", {"f32[4]"},
                "f32[4] collective-reduce(p0), replica_groups={{0,1}}, to_apply=add");
  const std::string map =
      "0.0.0 (d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 1]  "
      "(over-approximate: elsewhere than on the root the result is undefined)\n"
      "  replica: (d0, d1)[s0] -> (s0), domain: d0 in [0, 3], d1 in [0, 1], s0 in [0, 1]";
  EXPECT_THAT(OutputToInput(root), ElementsAre(map));
  EXPECT_THAT(InputToOutput(root), ElementsAre(map));
}

TEST_F(CollectiveTest, TheRootMayBeAValue) {
  const HloInstruction* root =
      OnDevices("replica_count=4", {"f32[4]", "f32[]", "s32[2]"},
                "(f32[4], f32[]) collective-broadcast(p0, p1, p2), replica_groups={{0,1}}, "
                "has_dynamic_root=true");
  constexpr char kWhy[] = "  (over-approximate: which device is the root is a value)\n";
  EXPECT_THAT(
      OutputToInput(root),
      ElementsAre(absl::StrCat("0.0.0 (d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 1]", kWhy,
                               "  replica: (d0, d1)[s0] -> (s0), domain: d0 in [0, 3], "
                               "d1 in [0, 1], s0 in [0, 1]"),
                  "0.2.0 (d0) -> (0), domain: d0 in [0, 3]\n"
                  "  replica: (d0, d1) -> (d1), domain: d0 in [0, 3], d1 in [0, 1]",
                  absl::StrCat("1.1.0 ()[s0] -> (), domain: s0 in [0, 1]", kWhy,
                               "  replica: (d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 1]"),
                  "1.2.0 () -> (1)\n  replica: (d0) -> (d0), domain: d0 in [0, 1]"));
  EXPECT_THAT(InputToOutput(root).back(),
              "1.2.0 (d0) -> (), domain: d0 in [1, 1]\n"
              "  replica: (d0, d1) -> (d1), domain: d0 in [1, 1], d1 in [0, 1]");
}

TEST_F(CollectiveTest, AFunctionOfArraysGoesElementByElementOrMayReadAll) {
  const auto root = [&](const std::string& line) {
    return OnDevices("replica_count=2", {"f32[2,2]"}, "f32[2,2] all-reduce(p0), to_apply=" + line);
  };
  EXPECT_THAT(OutputToInput(root("add_arrays")),
              ElementsAre("0.0.0 (d0, d1)[s0] -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 1], "
                          "s0 in [0, 1]\n  replica: (d0, d1, d2)[s0] -> (s0), domain: "
                          "d0 in [0, 1], d1 in [0, 1], d2 in [0, 1], s0 in [0, 1]"));
  EXPECT_THAT(OutputToInput(root("transpose_arrays")),
              ElementsAre(::testing::HasSubstr(
                  "whole tensor: transpose_arrays does not go element by element")));
}

// A device may send once for each slice.
TEST_F(CollectiveTest, PermuteOfSeveralSlicesInPlace) {
  const HloInstruction* root =
      OnDevices("replica_count=3", {"f32[4]", "((s32[]), (s32[]))"},
                "f32[4] collective-permute(p0, p0, p1, p1), source_target_pairs={{0,1},{0,2}}, "
                "slice_sizes={{1},{2}}");
  constexpr char kWhole[] =
      "  (over-approximate: whole operand: the places of slices of a collective-permute in place "
      "are not analysed)\n";
  EXPECT_EQ(absl::StrCat(InputToOutput(root)[0], "\n", InputToOutput(root)[1]),
            absl::StrCat("0.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3]", kWhole,
                         "  replica: (d0, d1)[s0] -> (1), domain: d0 in [0, 3], d1 in [0, 0], "
                         "s0 in [0, 3]\n",
                         "0.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3]", kWhole,
                         "  replica: (d0, d1)[s0] -> (2), domain: d0 in [0, 3], d1 in [0, 0], "
                         "s0 in [0, 3]"));
}

// These groups would need more than 64 pieces: they are pairs of 256 devices in the order of
// triangular numbers.
TEST_F(CollectiveTest, GroupsWithoutAFormulaAreAnyDevice) {
  std::vector<int> order(256);
  for (int i = 0; i < 256; ++i) order[i] = (i * (i + 1) / 2 * 5 + 3) % 256;
  std::string groups = "{";
  for (int i = 0; i < 256; i += 2) {
    absl::StrAppend(&groups, i == 0 ? "{" : ",{", order[i], ",", order[i + 1], "}");
  }
  const HloInstruction* root =
      OnDevices("replica_count=256", {"f32[4]"},
                absl::StrCat("f32[4] all-reduce(p0), to_apply=add, replica_groups=", groups, "}"));
  EXPECT_THAT(
      OutputToInput(root),
      ElementsAre("0.0.0 (d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 255]  "
                  "(over-approximate: the device is not known: the groups have more than 64 "
                  "pieces with a formula each)\n"
                  "  replica: (d0, d1)[s0] -> (s0), domain: d0 in [0, 3], d1 in [0, 255], "
                  "s0 in [0, 255]"));
}

TEST_F(CollectiveTest, StartsAreTheOperandsAndTheResult) {
  const HloInstruction* root = OnDevices("replica_count=2", {"f32[4]"},
                                         "(f32[4], f32[8]) all-gather-start(p0), dimensions={0}");
  EXPECT_THAT(OutputToInput(root),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]",
                          "1.0.0 (d0) -> (d0 mod 4), domain: d0 in [0, 7]\n"
                          "  replica: (d0, d1) -> (d0 floordiv 4), domain: d0 in [0, 7], d1 in [0, "
                          "1]"));
  EXPECT_THAT(InputToOutput(root), SizeIs(2));
}

TEST_F(CollectiveTest, DonesAreTheResultOfTheirStart) {
  EXPECT_THAT(OutputToInput(
                  OnDevices("replica_count=2", {"(f32[4], f32[8])"}, "f32[8] all-gather-done(p0)")),
              ElementsAre("0.0.1 (d0) -> (d0), domain: d0 in [0, 7]"));
  EXPECT_THAT(OutputToInput(OnDevices("replica_count=2", {"f32[8]"}, "f32[8] all-gather-done(p0)")),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 7]"));
}

TEST_F(CollectiveTest, RaggedAllToAll) {
  const HloInstruction* root =
      OnDevices("replica_count=2", {"f32[6]", "f32[9]", "s32[2]", "s32[2]", "s32[2]", "s32[2]"},
                "f32[9] ragged-all-to-all(p0, p1, p2, p3, p4, p5)");
  EXPECT_THAT(
      OutputToInputMap(root, 0).ToString(),
      AllOf(HasSubstr("(d0)[s0, s1]{rt0, rt1, rt2} -> (d0 + rt0 - rt1), domain:"),
            HasSubstr("d0 + rt0 - rt1 in [0, 5], d0 - rt1 in [0, inf], d0 - rt1 - rt2 in [-inf, "
                      "-1]\n"),
            HasSubstr("  rt0: p2, as is; (d0)[s0] -> (s0), domain: d0 in [0, 8], s0 in [0, 1]; "
                      "replica: (d0, d1)[s1] -> (s1), domain: d0 in [0, 8], d1 in [0, 1], s1 in "
                      "[0, 1]\n"),
            HasSubstr("  rt2: p5, as is; (d0)[s1] -> (s1), domain: d0 in [0, 8], s1 in [0, 1]\n"),
            HasSubstr("d1 - s0 in [0, 0]")));
  EXPECT_THAT(OutputToInputMap(root, 1).ToString(),
              HasSubstr("(over-approximate: rows that a device sends are not read)"));
}

TEST_F(CollectiveTest, SizesWithoutBoundAreWholeTensors) {
  const HloInstruction* root =
      OnDevices("replica_count=2", {"f32[?]"}, "f32[?] all-gather(p0), dimensions={0}");
  EXPECT_THAT(
      OutputToInput(root),
      ElementsAre(AllOf(HasSubstr("(d0)[s0, s1] -> (s0)"),
                        HasSubstr("(over-approximate: whole tensor: the size of a shard has "
                                  "no bound)"),
                        HasSubstr("[s0, s1] -> (s1)"))));
}

class FitSequenceTest : public IndexingTest {
 protected:
  std::string Fit(const std::vector<int64_t>& values) {
    const mlir::AffineExpr expr = FitSequence(values, mlir::getAffineDimExpr(0, &context_));
    if (!expr) return "none";
    for (size_t i = 0; i < values.size(); ++i) {
      const IndexingMap map = IndexingMap::FromTensorSizes(mlir::AffineMap::get(1, 0, expr),
                                                           {static_cast<int64_t>(values.size())})
                                  .value();
      EXPECT_EQ((*map.Evaluate({static_cast<int64_t>(i)}, {}))[0], values[i]) << i;
    }
    std::string text;
    llvm::raw_string_ostream(text) << expr;
    return text;
  }
};

TEST_F(FitSequenceTest, Forms) {
  EXPECT_EQ(Fit({7}), "7");
  EXPECT_EQ(Fit({3, 5, 7}), "d0 * 2 + 3");
  EXPECT_EQ(Fit({1, 2, 3, 0}), "(d0 + 1) mod 4");
  EXPECT_EQ(Fit({2, 0, 1}), "(d0 + 2) mod 3");
  EXPECT_EQ(Fit({0, 4, 1, 5}), "d0 floordiv 2 + (d0 mod 2) * 4");
  EXPECT_EQ(Fit({1, 0, 3, 2}), "-((d0 + 2) mod 4) + 3");
  EXPECT_EQ(Fit({0, 1, 3, 2}), "none");
  EXPECT_EQ(Fit({0, int64_t{1} << 60}), "none");
  EXPECT_EQ(Fit({}), "none");
}

// Every transpose of every small array.
TEST_F(FitSequenceTest, EveryTransposeHasAFormula) {
  const std::vector<int64_t> sizes = {2, 3, 4};
  std::vector<int64_t> order = {0, 1, 2};
  do {
    std::vector<int64_t> values;
    for (int64_t a = 0; a < sizes[order[0]]; ++a) {
      for (int64_t b = 0; b < sizes[order[1]]; ++b) {
        for (int64_t c = 0; c < sizes[order[2]]; ++c) {
          std::vector<int64_t> index(3);
          index[order[0]] = a;
          index[order[1]] = b;
          index[order[2]] = c;
          values.push_back((index[0] * sizes[1] + index[1]) * sizes[2] + index[2]);
        }
      }
    }
    EXPECT_NE(Fit(values), "none");
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace xla_indexing::internal

#include "xla_indexing/fusion/cache/instruction_kind.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/hlo/model/computation.h"

namespace xla_indexing::internal {
namespace {

class InstructionKindTest : public IndexingTest {
 protected:
  // Reads the instructions of an entry, to be named in what follows.
  void Read(absl::string_view text) { entry_ = Entry(text)->parent(); }
  InstructionKind Find(absl::string_view name) { return KindOf(*entry_->FindInstruction(name)); }
  bool AreOfOneKind(absl::string_view a, absl::string_view b) {
    return !Find(a).empty() && Find(a) == Find(b);
  }

  const HloComputation* entry_ = nullptr;
};

TEST_F(InstructionKindTest, WhatReadsIndicesIsOfAKindOfItsOwn) {
  Read(R"(
    x = f32[8,8] parameter(0)
    i = s32[] parameter(1)
    a = f32[4,4] dynamic-slice(x, i, i), dynamic_slice_sizes={4,4}
    b = f32[4,4] dynamic-slice(x, i, i), dynamic_slice_sizes={4,4}
    c = f32[4,4] slice(x), slice={[0:4], [0:4]}
    d = f32[4,4] slice(x), slice={[0:4], [0:4]}
    ROOT r = f32[8,8] negate(x))");
  EXPECT_TRUE(Find("a").empty());
  EXPECT_NE(OwnKind(*entry_->FindInstruction("a")), OwnKind(*entry_->FindInstruction("b")));
  EXPECT_TRUE(AreOfOneKind("c", "d"));
}

TEST_F(InstructionKindTest, WindowsLabelsAndLongTextsAreComparedByWhatTheySay) {
  std::string groups = "{";
  for (int i = 0; i < 64; i += 2) absl::StrAppend(&groups, i == 0 ? "{" : ",{", i, ",", i + 1, "}");
  absl::StrAppend(&groups, "}");
  std::string others = groups;
  others.replace(others.find("{62,63}"), 7, "{63,62}");
  const HloInstruction* root = Root(absl::StrCat(R"(HloModule m, num_partitions=64
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
    sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(b, a) }
    ENTRY e {
      x = f32[8,8] parameter(0)
      z = f32[] constant(0)
      w0 = f32[7,8] reduce-window(x, z), window={size=2x1}, to_apply=add
      w1 = f32[7,8] reduce-window(x, z), window={size=2x1}, to_apply=sum
      w2 = f32[7,8] reduce-window(x, z), window={size=3x1 pad=1_0x0_0}, to_apply=sum
      c0 = f32[8,8] all-reduce(x), channel_id=1, replica_groups=)",
                                                 groups,
                                                 R"(, use_global_device_ids=true, to_apply=add
      c1 = f32[8,8] all-reduce(x), channel_id=2, replica_groups=)",
                                                 groups,
                                                 R"(, use_global_device_ids=true, to_apply=sum
      c2 = f32[8,8] all-reduce(x), channel_id=3, replica_groups=)",
                                                 others,
                                                 R"(, use_global_device_ids=true, to_apply=add
      ROOT r = f32[8,8] negate(x) })"));
  ASSERT_NE(root, nullptr);
  entry_ = root->parent();
  EXPECT_TRUE(AreOfOneKind("w0", "w1"));
  EXPECT_FALSE(AreOfOneKind("w0", "w2"));
  EXPECT_TRUE(AreOfOneKind("c0", "c1"));
  EXPECT_FALSE(AreOfOneKind("c0", "c2"));
}

TEST_F(InstructionKindTest, WhatLooksIntoComputationsHasNoKind) {
  const HloInstruction* root = Root(R"(
    f { a = f32[4] parameter(0) ROOT r = f32[4] negate(a) }
    ENTRY e {
      x = f32[4] parameter(0)
      n = f32[4] negate(x)
      ROOT r = f32[4] call(n), to_apply=f
    })");
  ASSERT_NE(root, nullptr);
  EXPECT_TRUE(KindOf(*root).empty());
  EXPECT_FALSE(HasKind(root->opcode()));
  EXPECT_FALSE(KindOf(*root->operand(0)).empty());
}

}  // namespace
}  // namespace xla_indexing::internal

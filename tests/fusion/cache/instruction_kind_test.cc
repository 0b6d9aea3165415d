#include "xla_indexing/fusion/cache/instruction_kind.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/hlo/model/computation.h"

namespace xla_indexing::internal {
namespace {

class InstructionKindTest : public IndexingTest {
 protected:
  InstructionKindTest() : finder_(&context_) {}

  // Reads the instructions of an entry, to be named in what follows.
  void Read(absl::string_view text) { entry_ = Entry(text)->parent(); }
  NamedKind Find(absl::string_view name, bool fold = true) {
    return finder_.Find(*entry_->FindInstruction(name), fold);
  }
  bool AreOfOneKind(absl::string_view a, absl::string_view b, bool fold = true) {
    const NamedKind of_a = Find(a, fold);
    return !of_a.kind.empty() && of_a.kind == Find(b, fold).kind;
  }
  std::vector<std::string> NamesOf(absl::string_view name, bool fold = true) {
    std::vector<std::string> names;
    for (const HloInstruction* each : Find(name, fold).names) names.emplace_back(each->name());
    return names;
  }

  KindFinder finder_;
  const HloComputation* entry_ = nullptr;
};

using Names = std::vector<std::string>;

TEST_F(InstructionKindTest, OffsetsAreNumbersNamesOrTheInstructionsThemselves) {
  Read(R"(
    x = f32[8,8] parameter(0)
    i = s32[] parameter(1)
    j = s32[] parameter(2)
    zero = s32[] constant(0)
    nil = s32[] constant(0)
    one = s32[] constant(1)
    sum = s32[] add(zero, nil)
    flag = pred[] parameter(3)
    bit = s32[] convert(flag)
    next = s32[] add(bit, one)
    copied = s32[] copy(i)
    a = f32[4,4] dynamic-slice(x, i, zero), dynamic_slice_sizes={4,4}
    b = f32[4,4] dynamic-slice(x, j, nil), dynamic_slice_sizes={4,4}
    c = f32[4,4] dynamic-slice(x, j, sum), dynamic_slice_sizes={4,4}
    d = f32[4,4] dynamic-slice(x, j, one), dynamic_slice_sizes={4,4}
    e = f32[4,4] dynamic-slice(x, zero, j), dynamic_slice_sizes={4,4}
    f = f32[4,4] dynamic-slice(x, next, zero), dynamic_slice_sizes={4,4}
    g = f32[4,4] dynamic-slice(a, i, zero), dynamic_slice_sizes={4,4}
    h = f32[4,4] dynamic-slice(x, copied, zero), dynamic_slice_sizes={4,4}
    k = f32[8,8] dynamic-update-slice(x, b, i, zero)
    l = f32[8,8] dynamic-update-slice(k, c, j, zero)
    n = f32[4,4] dynamic-slice(x, next, i), dynamic_slice_sizes={4,4}
    ROOT r = f32[8,8] negate(x))");
  EXPECT_TRUE(AreOfOneKind("a", "b"));
  EXPECT_TRUE(AreOfOneKind("a", "c")) << "numbers are numbers, whatever they come from";
  EXPECT_FALSE(AreOfOneKind("a", "d")) << "another number";
  EXPECT_FALSE(AreOfOneKind("a", "e")) << "another order";
  EXPECT_FALSE(AreOfOneKind("a", "f")) << "folding makes flag + 1 of next";
  EXPECT_FALSE(AreOfOneKind("a", "g")) << "another shape";
  EXPECT_TRUE(AreOfOneKind("a", "h")) << "a copy is not looked through";
  EXPECT_TRUE(AreOfOneKind("k", "l"));
  EXPECT_EQ(NamesOf("a"), Names({"i"}));
  EXPECT_EQ(NamesOf("b"), Names({"j"}));
  EXPECT_EQ(NamesOf("f"), Names());
  EXPECT_TRUE(Find("f").has_instructions);
  EXPECT_EQ(NamesOf("n"), Names()) << "where one stands for itself, all do";
  // Where nothing is folded, numbers are names as well.
  EXPECT_TRUE(AreOfOneKind("a", "d", /*fold=*/false));
  EXPECT_EQ(NamesOf("a", /*fold=*/false), Names({"i", "zero"}));
  EXPECT_FALSE(AreOfOneKind("a", "e", /*fold=*/false)) << "zero stands behind j";
}

TEST_F(InstructionKindTest, OrderAndEqualityOfNamesAreOfTheKind) {
  Read(R"(
    x = f32[8,8] parameter(0)
    i = s32[] parameter(1)
    j = s32[] parameter(2)
    k = s32[] parameter(3)
    ij = f32[4,4] dynamic-slice(x, i, j), dynamic_slice_sizes={4,4}
    ik = f32[4,4] dynamic-slice(x, i, k), dynamic_slice_sizes={4,4}
    kj = f32[4,4] dynamic-slice(x, k, j), dynamic_slice_sizes={4,4}
    ii = f32[4,4] dynamic-slice(x, i, i), dynamic_slice_sizes={4,4}
    kk = f32[4,4] dynamic-slice(x, k, k), dynamic_slice_sizes={4,4}
    ROOT r = f32[8,8] negate(x))");
  EXPECT_TRUE(AreOfOneKind("ij", "ik"));
  EXPECT_FALSE(AreOfOneKind("ij", "kj"));
  EXPECT_FALSE(AreOfOneKind("ij", "ii"));
  EXPECT_TRUE(AreOfOneKind("ii", "kk"));
  EXPECT_EQ(NamesOf("kj"), Names({"j", "k"}));
}

TEST_F(InstructionKindTest, ArraysOfIndicesAreNamesWhereTheyAreNotFollowed) {
  Read(R"(
    x = f32[8,8] parameter(0)
    p = s32[5,1] parameter(1)
    q = s32[5,1] parameter(2)
    t = s32[5,1] copy(p)
    a = f32[5,8] gather(x, p), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1,8}
    b = f32[5,8] gather(x, q), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1,8}
    c = f32[5,8] gather(x, t), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1,8}
    d = f32[5,8] gather(x, t), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1,8}
    ROOT r = f32[8,8] negate(x))");
  EXPECT_TRUE(AreOfOneKind("a", "b"));
  EXPECT_FALSE(AreOfOneKind("a", "c"));
  EXPECT_TRUE(AreOfOneKind("c", "d"));
}

// Pieces that differ in their formulas stand in one order, whatever the names.
TEST_F(InstructionKindTest, PiecesAroundAnUpdateAreThoseOfTheirKind) {
  Read(R"(
    x = f32[8] parameter(0)
    u = f32[2] parameter(1)
    i = s32[] parameter(2)
    j = s32[] parameter(3)
    a = f32[8] dynamic-update-slice(x, u, j)
    ROOT b = f32[8] dynamic-update-slice(x, u, i))");
  const HloInstruction& a = *entry_->FindInstruction("a");
  const HloInstruction& b = *entry_->FindInstruction("b");
  const NamedKind of_a = Find("a");
  ASSERT_EQ(of_a.kind, Find("b").kind);
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    const auto entries = ComputeIndexing(a, direction, &context_, {});
    ASSERT_TRUE(entries.ok()) << entries.status();
    EXPECT_EQ(entries->front().indexing.size(), 2);
    EXPECT_TRUE(AreOfKind(a, *entries, of_a));
    EXPECT_EQ(Lines(WithNames(*entries, of_a.names, Find("b").names)),
              Lines(ComputeIndexing(b, direction, &context_, {})));
  }
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
  EXPECT_TRUE(finder_.Find(*root, true).kind.empty());
  EXPECT_FALSE(finder_.Find(*root->operand(0), true).kind.empty());
}

}  // namespace
}  // namespace xla_indexing::internal

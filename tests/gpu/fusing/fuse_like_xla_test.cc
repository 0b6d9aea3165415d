#include "xla_indexing/gpu/fusing/fuse_like_xla.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr absl::string_view kSumOfTwo =
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n";

class FuseLikeXlaTest : public ::testing::Test {
 protected:
  // Fuses the entry with these lines, after these computations.
  void Fuse(absl::string_view entry, absl::string_view computations = "") {
    const auto module = ParseAndVerifyModule(
        absl::StrCat("HloModule m\n", kSumOfTwo, computations, "ENTRY e {\n", entry, "\n}"));
    ASSERT_TRUE(module.ok()) << module.status();
    auto fused = FuseLikeXla(**module);
    ASSERT_TRUE(fused.ok()) << fused.status();
    fused_ = *std::move(fused);
  }

  // What each kernel of the computation computes, by names; bitcasts, constants and tuples left out.
  std::vector<std::string> Kernels(absl::string_view computation = "e") const {
    std::vector<std::string> kernels;
    for (const HloInstruction* instruction : fused_->FindComputation(computation)->instructions()) {
      if (instruction->opcode() == HloOpcode::kFusion) {
        kernels.push_back(NamesOf(instruction->calls()->instructions()));
      } else {
        const std::string name = NamesOf({&instruction, 1});
        if (!name.empty()) kernels.push_back(name);
      }
    }
    return kernels;
  }

  static std::string NamesOf(absl::Span<const HloInstruction* const> instructions) {
    std::vector<absl::string_view> names;
    for (const HloInstruction* instruction : instructions) {
      switch (instruction->opcode()) {
        case HloOpcode::kBitcast:
        case HloOpcode::kConstant:
        case HloOpcode::kGetTupleElement:
        case HloOpcode::kParameter:
        case HloOpcode::kTuple:
          break;
        default:
          names.push_back(instruction->name());
      }
    }
    std::sort(names.begin(), names.end());
    return absl::StrJoin(names, " ");
  }

  // The sizes of a transpose of [2,3,3,5,5].
  static std::string SizesOf(absl::string_view dimensions) {
    constexpr int64_t kSizes[] = {2, 3, 3, 5, 5};
    std::vector<int64_t> sizes;
    for (const char c : dimensions) {
      if (c != ',') sizes.push_back(kSizes[c - '0']);
    }
    return absl::StrJoin(sizes, ",");
  }

  std::unique_ptr<HloModule> fused_;
};

// As an optimizer reads the gradient of a weight.
TEST_F(FuseLikeXlaTest, ADotIsWrittenInTheOrderInWhichItIsRead) {
  Fuse(R"(x = f32[128,64] parameter(0)
          y = f32[128,32] parameter(1)
          w = f32[32,64] parameter(2)
          d = f32[64,32] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
          t = f32[32,64] transpose(d), dimensions={1,0}
          s = f32[32,64] multiply(t, w)
          ROOT r = (f32[32,64], f32[32,64]) tuple(s, t))");
  EXPECT_THAT(Kernels(), ElementsAre("d", "s"));
  const HloInstruction& dot = *fused_->entry_computation()->FindInstruction("d");
  EXPECT_THAT(dot.shape().layout()->minor_to_major, ElementsAre(0, 1));
  EXPECT_EQ(fused_->entry_computation()->FindInstruction("t")->opcode(), HloOpcode::kBitcast);
}

// JAX states layouts in which a transpose is free; the optimizer would read weights in columns.
TEST_F(FuseLikeXlaTest, LayoutsThatNoPassHasAssignedAreNotKept) {
  constexpr absl::string_view kUpdate = R"(x = f32[128,64]{1,0} parameter(0)
          y = f32[128,32]{1,0} parameter(1)
          w = f32[32,64]{1,0} parameter(2)
          d = f32[64,32]{1,0} dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
          t = f32[32,64]{0,1} transpose(d), dimensions={1,0}
          s = f32[32,64]{0,1} multiply(t, w)
          )";
  Fuse(absl::StrCat(kUpdate, "ROOT r = (f32[32,64]{0,1}, f32[32,64]{0,1}) tuple(s, t)"));
  EXPECT_EQ(fused_->entry_computation()->root_instruction()->shape().ToString(),
            "(f32[32,64]{1,0}, f32[32,64]{1,0})");
  EXPECT_THAT(fused_->entry_computation()->FindInstruction("d")->shape().layout()->minor_to_major,
              ElementsAre(0, 1));
  // What a pass has written says that layouts are assigned.
  Fuse(absl::StrCat(kUpdate, R"(b = f32[64,32]{1,0} bitcast(t)
          ROOT r = (f32[32,64]{0,1}, f32[64,32]{1,0}) tuple(s, b))"));
  EXPECT_EQ(fused_->entry_computation()->root_instruction()->shape().ToString(),
            "(f32[32,64]{0,1}, f32[64,32]{1,0})");
}

// Several dimensions on each side and in front of them; then in an order that is not that of the sides,
// with another reader, and in a layout that no pass has assigned.
TEST_F(FuseLikeXlaTest, OnlyTheSidesOfADotAreExchanged) {
  struct Case {
    absl::string_view dimensions, more, layout;
    bool is_free;
  };
  for (const Case& c :
       std::vector<Case>{{"0,3,4,1,2", "", "", true},
                         {"0,3,4,2,1", "", "", false},
                         {"0,4,3,1,2", "", "", false},
                         {"3,4,1,2,0", "", "", false},
                         {"0,3,4,1,2", "other = f32[2,3,3,5,5] negate(d)", "", false},
                         {"0,3,4,1,2", "", "{0,1,2,3,4}", true}}) {
    SCOPED_TRACE(absl::StrCat(c.dimensions, " ", c.more, " ", c.layout));
    Fuse(absl::StrCat(R"(x = f32[2,7,3,3] parameter(0)
          y = f32[2,5,5,7] parameter(1)
          d = f32[2,3,3,5,5]{4,3,2,1,0} dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0},
            lhs_contracting_dims={1}, rhs_contracting_dims={3}
          )",
                      c.more, "\n t = f32[", SizesOf(c.dimensions), "]", c.layout,
                      " transpose(d), dimensions={", c.dimensions, "}\n",
                      c.more.empty() ? "ROOT r = " : "o = ", "f32[", SizesOf(c.dimensions), "]",
                      c.layout, " exponential(t)\n",
                      c.more.empty() ? ""
                                     : absl::StrCat("ROOT r = (f32[", SizesOf(c.dimensions),
                                                    "], f32[2,3,3,5,5]) tuple(o, other)")));
    const HloInstruction* dot = nullptr;
    for (const HloComputation* computation : fused_->computations()) {
      if (dot == nullptr) dot = computation->FindInstruction("d");
    }
    ASSERT_NE(dot, nullptr);
    EXPECT_EQ(dot->shape().layout()->minor_to_major == RowMajorLayout(5).minor_to_major,
              !c.is_free);
  }
}

TEST_F(FuseLikeXlaTest, AChainIsOneKernel) {
  Fuse(R"(p = f32[64,32] parameter(0)
    n = f32[64,32] negate(p)
    r = f32[2048] reshape(n)
    ROOT x = f32[2048] exponential(r), metadata={op_name="the root"})");
  EXPECT_THAT(Kernels(), ElementsAre("n x"));
  const HloInstruction& root = *fused_->entry_computation()->root_instruction();
  EXPECT_EQ(root.name(), "x_fusion");
  EXPECT_EQ(root.fusion_kind(), "kLoop");
  EXPECT_EQ(root.metadata().op_name, "the root");
}

// The kernel of `r` would be named as another computation is.
TEST_F(FuseLikeXlaTest, NamesOfKernelsAreNew) {
  Fuse(
      "p = f32[8] parameter(0)\n z = f32[] constant(0)\n n = f32[8] negate(p)\n"
      "ROOT r = f32[] reduce(n, z), dimensions={0}, to_apply=fused_r",
      "fused_r { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n");
  EXPECT_THAT(Kernels(), SizeIs(1));
}

TEST_F(FuseLikeXlaTest, WhatIsCheapIsComputedInEveryReader) {
  Fuse(R"(p = f32[1000000] parameter(0)
    n = f32[1000000] negate(p)
    s = f32[500000] slice(n), slice={[0:500000]}
    r = f32[1000000] reverse(n), dimensions={0}
    ROOT t = (f32[500000], f32[1000000]) tuple(s, r))");
  EXPECT_THAT(Kernels(), ElementsAre("n s", "n r"));
}

// Ten exponentials for each of 10^8 elements take longer than to write and read 1024 numbers.
TEST_F(FuseLikeXlaTest, WhatIsDearIsNotComputedAgain) {
  std::string chain = "p = f32[1024] parameter(0)\n x0 = f32[1024] exponential(p)\n";
  for (int i = 1; i < 10; ++i) {
    absl::StrAppend(&chain, "x", i, " = f32[1024] exponential(x", i - 1, ")\n");
  }
  Fuse(chain + "ROOT b = f32[1024,100000] broadcast(x9), dimensions={0}");
  EXPECT_THAT(Kernels(), ElementsAre("x0 x1 x2 x3 x4 x5 x6 x7 x8 x9", "b"));
  Fuse(
      "p = f32[1024] parameter(0) n = f32[1024] negate(p)\n"
      "ROOT b = f32[1024,100000] broadcast(n), dimensions={0}");
  EXPECT_THAT(Kernels(), ElementsAre("b n"));
}

TEST_F(FuseLikeXlaTest, AReductionTakesWhatItReadsAndWhatFollowsInOrder) {
  Fuse(R"(p = f32[128,1024] parameter(0)
    zero = f32[] constant(0)
    x = f32[128,1024] exponential(p)
    r = f32[128] reduce(x, zero), dimensions={1}, to_apply=add
    l = f32[128] log(r)
    b = f32[128,1024] broadcast(l), dimensions={0}
    ROOT d = f32[128,1024] subtract(p, b))");
  EXPECT_THAT(Kernels(), ElementsAre("l r x", "b d"));
  EXPECT_EQ(fused_->FindComputation("e")->FindInstruction("l_fusion")->fusion_kind(), "kInput");
}

TEST_F(FuseLikeXlaTest, AReductionIsNotMadeALoop) {
  // An operation of two operands on the sums would be computed by the threads of a loop, each of which
  // reads a row.
  Fuse(R"(p = f32[256,4096] parameter(0)
    zero = f32[] constant(0)
    sums = f32[256] reduce(p, zero), dimensions={1}, to_apply=add
    one = f32[] constant(1)
    ones = f32[256] broadcast(one), dimensions={}
    ROOT m = f32[256] maximum(sums, ones))");
  EXPECT_THAT(Kernels(), ElementsAre("sums", "m ones"));
  Fuse(R"(p = f32[256,4096] parameter(0)
    zero = f32[] constant(0)
    sums = f32[256] reduce(p, zero), dimensions={1}, to_apply=add
    n = f32[256] negate(sums)
    ROOT h = f16[256] convert(n))");
  EXPECT_THAT(Kernels(), ElementsAre("h n sums"));
}

TEST_F(FuseLikeXlaTest, TwoReductionsAreNotOneAfterTheOther) {
  Fuse(R"(p = f32[64,32,32] parameter(0)
    zero = f32[] constant(0)
    r = f32[64,32] reduce(p, zero), dimensions={2}, to_apply=add
    ROOT q = f32[64] reduce(r, zero), dimensions={1}, to_apply=add)");
  EXPECT_THAT(Kernels(), ElementsAre("r", "q"));
  // Columns of 20 are no work for the emitter of reductions.
  Fuse(R"(p = f32[20,64] parameter(0)
    zero = f32[] constant(0)
    r = f32[64] reduce(p, zero), dimensions={0}, to_apply=add
    ROOT q = f32[] reduce(r, zero), dimensions={0}, to_apply=add)");
  EXPECT_THAT(Kernels(), ElementsAre("r", "q"));
}

// To add 32 numbers twice would take no time, but the kernel would be a loop.
TEST_F(FuseLikeXlaTest, AReductionIsNotReadOutOfOrder) {
  Fuse(R"(p = f32[64,32] parameter(0)
    zero = f32[] constant(0)
    r = f32[64] reduce(p, zero), dimensions={1}, to_apply=add
    ROOT b = f32[64,2] broadcast(r), dimensions={0})");
  EXPECT_THAT(Kernels(), ElementsAre("r", "b"));
}

TEST_F(FuseLikeXlaTest, SiblingsAreOneKernel) {
  Fuse(R"(p = f32[128,1024] parameter(0)
    zero = f32[] constant(0)
    m = f32[128,1024] multiply(p, p)
    r = f32[128] reduce(m, zero), dimensions={1}, to_apply=add
    s = f32[128] reduce(p, zero), dimensions={1}, to_apply=add
    c = f32[1024] reduce(p, zero), dimensions={0}, to_apply=add
    ROOT t = (f32[128], f32[128], f32[1024]) tuple(r, s, c))");
  EXPECT_THAT(Kernels(), ElementsAre("m r s", "c"));
}

// The second reads the row sums that the first makes, so that they cannot run together.
TEST_F(FuseLikeXlaTest, WhatWaitsIsNoSibling) {
  Fuse(R"(p = f32[128,1024] parameter(0)
    zero = f32[] constant(0)
    r = f32[128] reduce(p, zero), dimensions={1}, to_apply=add
    b = f32[128,1024] broadcast(r), dimensions={0}
    m = f32[128,1024] multiply(p, b)
    s = f32[128] reduce(m, zero), dimensions={1}, to_apply=add
    ROOT t = (f32[128], f32[128]) tuple(r, s))");
  EXPECT_THAT(Kernels(), ElementsAre("r", "b m s"));
}

// The step of an optimizer: its moments are results, and are read again.
TEST_F(FuseLikeXlaTest, AResultThatIsReadInOrderIsOfTheSameKernel) {
  Fuse(R"(w = f32[4096] parameter(0)
    g = f32[4096] parameter(1)
    m = f32[4096] parameter(2)
    n = f32[4096] add(m, g)
    u = f32[4096] subtract(w, n)
    ROOT t = (f32[4096], f32[4096]) tuple(n, u))");
  EXPECT_THAT(Kernels(), ElementsAre("n u"));
}

// Kernels of a and b, and of c and d, would wait for one another: b reads c, and d reads a.
TEST_F(FuseLikeXlaTest, PairsAreNoCircle) {
  Fuse(R"(p = f32[4096] parameter(0)
    q = f32[64] parameter(1)
    a = f32[4096] exponential(p)
    c = f32[64] exponential(q)
    w = f32[64,64] broadcast(c), dimensions={0}
    v = f32[4096] reshape(w)
    b = f32[4096] add(a, v)
    s = f32[64] slice(a), slice={[0:64]}
    d = f32[64] add(c, s)
    ROOT t = (f32[4096], f32[64], f32[4096], f32[64]) tuple(a, c, b, d))");
  EXPECT_THAT(Kernels(), ElementsAre("c", "a b w", "d s"));
}

TEST_F(FuseLikeXlaTest, WhatIsUpdatedInPlaceIsNotComputedThere) {
  Fuse(R"(p = f32[1024] parameter(0)
    u = f32[16] parameter(1)
    i = s32[] parameter(2)
    n = f32[1024] negate(p)
    x = f32[16] exponential(u)
    ROOT d = f32[1024] dynamic-update-slice(n, x, i))");
  EXPECT_THAT(Kernels(), ElementsAre("n", "d x"));
}

// A thread might read what another has written already.
TEST_F(FuseLikeXlaTest, AnUpdateDoesNotReadElsewhereWhatItWrites) {
  Fuse(R"(p = f32[1024] parameter(0)
    i = s32[] parameter(1)
    s = f32[16] slice(p), slice={[32:48]}
    ROOT d = f32[1024] dynamic-update-slice(p, s, i))");
  EXPECT_THAT(Kernels(), ElementsAre("s", "d"));
}

TEST_F(FuseLikeXlaTest, AScatterIsTheLastOfItsKernel) {
  Fuse(R"(p = f32[64] parameter(0)
    i = s32[8,1] parameter(1)
    u = f32[8] parameter(2)
    x = f32[8] exponential(u)
    s = f32[64] scatter(p, i, x), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
    ROOT n = f32[64] negate(s))");
  EXPECT_THAT(Kernels(), ElementsAre("s x", "n"));
}

TEST_F(FuseLikeXlaTest, ADotTakesAWideningOperandAndABias) {
  Fuse(R"(a = bf16[64,256] parameter(0)
    b = f32[256,128] parameter(1)
    bias = f32[128] parameter(2)
    w = f32[64,256] convert(a)
    d = f32[64,128] dot(w, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    v = f32[64,128] broadcast(bias), dimensions={1}
    s = f32[64,128] add(d, v)
    x = f32[64,128] exponential(s)
    ROOT t = (f32[64,128], f32[64,128]) tuple(s, x))");
  EXPECT_THAT(Kernels(), ElementsAre("d s v w", "x"));
  EXPECT_EQ(fused_->FindComputation("e")->FindInstruction("s_fusion")->fusion_kind(), "kCustom");
}

// Its readers become one kernel, but not before it is decided.
TEST_F(FuseLikeXlaTest, ADotThatTwoOperationsReadStandsAlone) {
  Fuse(R"(a = f32[64,256] parameter(0)
    b = f32[256,128] parameter(1)
    d = f32[64,128] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    l = f32[64,128] logistic(d)
    ROOT m = f32[64,128] multiply(d, l))");
  EXPECT_THAT(Kernels(), ElementsAre("d", "l m"));
}

TEST_F(FuseLikeXlaTest, BoundariesStandAlone) {
  Fuse(R"(p = f32[64] parameter(0)
    n = f32[64] negate(p)
    c = f32[64] custom-call(n), custom_call_target="f"
    ROOT x = f32[64] exponential(c))");
  EXPECT_THAT(Kernels(), ElementsAre("n", "c", "x"));
}

TEST_F(FuseLikeXlaTest, CallsAreInlinedAndLoopsAreFusedByThemselves) {
  Fuse(R"(p = f32[64] parameter(0)
    zero = s32[] constant(0)
    t = (s32[], f32[64]) tuple(zero, p)
    w = (s32[], f32[64]) while(t), condition=cond, body=body
    r = f32[64] get-tuple-element(w), index=1
    c = f32[64] call(r), to_apply=square
    ROOT n = f32[64] negate(c))",
       R"(square { q = f32[64] parameter(0) ROOT m = f32[64] multiply(q, q) }
    cond { s = (s32[], f32[64]) parameter(0) i = s32[] get-tuple-element(s), index=0
      ten = s32[] constant(10) ROOT lt = pred[] compare(i, ten), direction=LT }
    body { s = (s32[], f32[64]) parameter(0) i = s32[] get-tuple-element(s), index=0
      x = f32[64] get-tuple-element(s), index=1 one = s32[] constant(1) j = s32[] add(i, one)
      y = f32[64] call(x), to_apply=square z = f32[64] negate(y)
      ROOT r = (s32[], f32[64]) tuple(j, z) }
    )");
  EXPECT_THAT(Kernels(), ElementsAre("w", "m n"));
  EXPECT_THAT(Kernels("body"), ElementsAre("j", "m z"));
  EXPECT_EQ(fused_->FindComputation("square"), nullptr);
}

TEST_F(FuseLikeXlaTest, EqualAndUnusedValuesAreComputedOnceAndNever) {
  Fuse(R"(p = f32[64] parameter(0)
    a = f32[64] exponential(p)
    b = f32[64] exponential(p)
    c = f32[64] negate(p)
    ROOT t = (f32[64], f32[64]) tuple(a, b))");
  EXPECT_THAT(Kernels(), ElementsAre("a"));
}

// ---- Bounds. Each takes a moment.

TEST_F(FuseLikeXlaTest, AKernelHasABoundedNumberOfOperands) {
  std::string entry = "p0 = f32[64] parameter(0)\n s0 = f32[64] negate(p0)\n";
  for (int i = 1; i < 300; ++i) {
    absl::StrAppend(&entry, "p", i, " = f32[64] parameter(", i, ")\ns", i, " = f32[64] add(s",
                    i - 1, ", p", i, ")\n");
  }
  Fuse(entry);
  for (const HloInstruction* instruction : fused_->entry_computation()->instructions()) {
    EXPECT_LE(instruction->operand_count(), 96);
  }
  // 300 parameters and what is handed on, 95 and one result each at most.
  EXPECT_GE(Kernels().size(), 4U);
  EXPECT_LE(Kernels().size(), 10U);
}

TEST_F(FuseLikeXlaTest, ALongChainIsCutIntoKernels) {
  std::string entry = "s0 = f32[64] parameter(0)\n";
  for (int i = 1; i <= 100'000; ++i) {
    absl::StrAppend(&entry, "s", i, " = f32[64] negate(s", i - 1, ")\n");
  }
  Fuse(entry);
  EXPECT_GE(Kernels().size(), 10U);  // 10,000 operations each at most
  EXPECT_LE(Kernels().size(), 1000U);
}

TEST_F(FuseLikeXlaTest, AProducerMayHaveManyReaders) {
  std::string entry = "p = f32[64] parameter(0)\nx = f32[64] exponential(p)\n";
  std::vector<std::string> names;
  std::vector<std::string> shapes;
  for (int i = 0; i < 50'000; ++i) {
    absl::StrAppend(&entry, "c", i, " = f32[] constant(", i, ")\nb", i, " = f32[64] broadcast(c", i,
                    "), dimensions={}\na", i, " = f32[64] add(x, b", i, ")\n");
    names.push_back(absl::StrCat("a", i));
    shapes.push_back("f32[64]");
  }
  Fuse(absl::StrCat(entry, "ROOT t = (", absl::StrJoin(shapes, ","), ") tuple(",
                    absl::StrJoin(names, ","), ")"));
  EXPECT_LE(Kernels().size(), 50'001U);
}

// 2^40 multiplications, were all calls inlined.
TEST_F(FuseLikeXlaTest, CallsThatDoubleAreNotAllInlined) {
  std::string computations = "f0 { p = f32[64] parameter(0) ROOT n = f32[64] negate(p) }\n";
  for (int i = 1; i <= 40; ++i) {
    absl::StrAppend(
        &computations, "f", i, " { p = f32[64] parameter(0) a = f32[64] call(p), to_apply=f", i - 1,
        " b = f32[64] call(a), to_apply=f", i - 1, " ROOT m = f32[64] multiply(a, b) }\n");
  }
  Fuse("p = f32[64] parameter(0) ROOT c = f32[64] call(p), to_apply=f40", computations);
  EXPECT_LE(fused_->instruction_count(), 1'000'000);
}

}  // namespace
}  // namespace xla_indexing

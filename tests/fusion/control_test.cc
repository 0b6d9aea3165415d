// Operations that run computations, looked into: async-start, conditional and while. Expected maps
// were worked out by hand from the definitions.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/computation_indexing.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/verifier.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ControlTest : public ::testing::Test {
 protected:
  const HloInstruction& Root(const std::string& text) {
    auto module = ParseModule(text, "test.hlo");
    EXPECT_TRUE(module.ok()) << module.status();
    EXPECT_TRUE(VerifyModule(**module).ok()) << VerifyModule(**module);
    module_ = *std::move(module);
    return *module_->entry_computation()->root_instruction();
  }

  static std::vector<std::string> Lines(const absl::StatusOr<InstructionIndexing>& entries) {
    std::vector<std::string> lines;
    EXPECT_TRUE(entries.ok()) << entries.status();
    if (!entries.ok()) return lines;
    for (const IndexingEntry& entry : *entries) {
      for (const OperandIndexing& map : entry.indexing) {
        lines.push_back(absl::StrCat(entry.output_leaf, ".", entry.operand, ".", entry.operand_leaf,
                                     " ", map.ToString()));
      }
    }
    return lines;
  }
  // `output leaf.operand.operand leaf MAP` of the root of the entry.
  std::vector<std::string> OutputToInput(const std::string& text) {
    return Lines(ComputeOutputToInputIndexingThroughCalls(Root(text), &context_));
  }
  std::vector<std::string> InputToOutput(const std::string& text) {
    return Lines(ComputeInputToOutputIndexingThroughCalls(Root(text), &context_));
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
};

constexpr char kAsyncStart[] = R"(
  f {
    p = f32[4] parameter(0)
    q = f32[] parameter(1)
    s = f32[2] slice(p), slice={[1:3]}
    ROOT r = (f32[2], f32[]) tuple(s, q)
  }
  ENTRY e {
    a = f32[4] parameter(0)
    b = f32[] parameter(1)
    ROOT s = ((f32[4], f32[]), (f32[2], f32[]), u32[]) async-start(a, b), calls=f
  })";

TEST_F(ControlTest, AsyncStartReadsWhatItsComputationReads) {
  EXPECT_THAT(OutputToInput(kAsyncStart),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]", "1.1.0 () -> ()",
                          "2.0.0 (d0) -> (d0 + 1), domain: d0 in [0, 1]", "3.1.0 () -> ()"));
  EXPECT_THAT(InputToOutput(kAsyncStart),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 3]", "1.1.0 () -> ()",
                          "2.0.0 (d0) -> (d0 - 1), domain: d0 in [1, 2]", "3.1.0 () -> ()"));
}

constexpr char kBranches[] = R"(
  first {
    p = (f32[4], s32[]) parameter(0)
    x = f32[4] get-tuple-element(p), index=0
    i = s32[] get-tuple-element(p), index=1
    ROOT s = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
  }
  second {
    p = f32[2] parameter(0)
    ROOT r = f32[2] reverse(p), dimensions={0}
  })";

// Within, the start is bound to `i`; outside it is leaf 1 of the argument.
TEST_F(ControlTest, BranchesAreReadWhereTheyAreChosen) {
  const std::string text = absl::StrCat(kBranches, R"(
    ENTRY e {
      k = s32[] parameter(0)
      a = (f32[4], s32[]) parameter(1)
      b = f32[2] parameter(2)
      ROOT c = f32[2] conditional(k, a, b), branch_computations={first, second}
    })");
  EXPECT_THAT(
      OutputToInput(text),
      ElementsAre("0.0.0 (d0) -> (), domain: d0 in [0, 1]",
                  "0.1.0 (d0){rt0, rt1} -> (d0 + rt1), domain: d0 in [0, 1], rt0 in [0, 0], "
                  "rt1 in [0, 2]\n"
                  "  rt0: k, in [0, 1], else 1; (d0) -> (), domain: d0 in [0, 1]\n"
                  "  rt1: a#1, clamp [0, 2]; (d0) -> (), domain: d0 in [0, 1]",
                  "0.1.1 (d0){rt0} -> (), domain: d0 in [0, 1], rt0 in [0, 0]\n"
                  "  rt0: k, in [0, 1], else 1; (d0) -> (), domain: d0 in [0, 1]",
                  "0.2.0 (d0){rt0} -> (-d0 + 1), domain: d0 in [0, 1], rt0 in [1, 1]\n"
                  "  rt0: k, in [0, 1], else 1; (d0) -> (), domain: d0 in [0, 1]"));
  EXPECT_THAT(
      InputToOutput(text),
      ElementsAre("0.0.0 ()[s0] -> (s0), domain: s0 in [0, 1]",
                  "0.1.0 (d0){rt0, rt1} -> (d0 - rt1), domain: d0 in [0, 3], rt0 in [0, 0], "
                  "rt1 in [0, 2], d0 - rt1 in [0, 1]\n"
                  "  rt0: k, in [0, 1], else 1; (d0) -> (), domain: d0 in [0, 3]\n"
                  "  rt1: a#1, clamp [0, 2]; (d0) -> (), domain: d0 in [0, 3]",
                  "0.1.1 ()[s0]{rt0} -> (s0), domain: s0 in [0, 1], rt0 in [0, 0]\n"
                  "  rt0: k, in [0, 1], else 1; () -> ()",
                  "0.2.0 (d0){rt0} -> (-d0 + 1), domain: d0 in [0, 1], rt0 in [1, 1]\n"
                  "  rt0: k, in [0, 1], else 1; (d0) -> (), domain: d0 in [0, 1]"));
}

TEST_F(ControlTest, TrueChoosesTheFirstBranch) {
  EXPECT_THAT(OutputToInput(R"(
    yes { p = f32[] parameter(0) ROOT r = f32[] negate(p) }
    no { p = f32[] parameter(0) ROOT r = f32[] sine(p) }
    ENTRY e {
      k = pred[] parameter(0)
      a = f32[] parameter(1)
      b = f32[] parameter(2)
      ROOT c = f32[] conditional(k, a, b), true_computation=yes, false_computation=no
    })"),
              ElementsAre("0.0.0 () -> ()",
                          "0.1.0 (){rt0} -> (), domain: rt0 in [1, 1]\n"
                          "  rt0: k, in [0, 1], else 1; () -> ()",
                          "0.2.0 (){rt0} -> (), domain: rt0 in [0, 0]\n"
                          "  rt0: k, in [0, 1], else 1; () -> ()"));
}

TEST_F(ControlTest, AKnownChoiceLeavesOneBranch) {
  EXPECT_THAT(OutputToInput(absl::StrCat(kBranches, R"(
    ENTRY e {
      k = s32[] constant(-5)
      a = (f32[4], s32[]) parameter(0)
      b = f32[2] parameter(1)
      ROOT c = f32[2] conditional(k, a, b), branch_computations={first, second}
    })")),
              ElementsAre("0.0.0 (d0) -> (), domain: d0 in [0, 1]",
                          "0.2.0 (d0) -> (-d0 + 1), domain: d0 in [0, 1]"));
}

TEST_F(ControlTest, TheOnlyBranchIsAlwaysChosen) {
  EXPECT_THAT(OutputToInput(R"(
    only { p = f32[2] parameter(0) ROOT r = f32[2] reverse(p), dimensions={0} }
    ENTRY e {
      k = s32[] parameter(0)
      b = f32[2] parameter(1)
      ROOT c = f32[2] conditional(k, b), branch_computations={only}
    })"),
              ElementsAre("0.0.0 (d0) -> (), domain: d0 in [0, 1]",
                          "0.1.0 (d0) -> (-d0 + 1), domain: d0 in [0, 1]"));
}

// Conditionals that call each other's callers twice: 2^30 ways to the innermost computation.
TEST_F(ControlTest, BranchesThatDoubleThirtyTimesEnd) {
  std::string text = "f0 { p = s32[] parameter(0) ROOT r = s32[] negate(p) }\n";
  for (int i = 1; i <= 30; ++i) {
    absl::StrAppend(&text, "f", i, " { p = s32[] parameter(0)\n",
                    "  ROOT r = s32[] conditional(p, p, p), branch_computations={f", i - 1, ", f",
                    i - 1, "} }\n");
  }
  EXPECT_THAT(OutputToInput(absl::StrCat(text, R"(
    ENTRY e { a = s32[] parameter(0) ROOT r = s32[] call(a), to_apply=f30 })")),
              ElementsAre("0.0.0 () -> ()"));
}

// A loop with the state (s32[], f32[4], f32[4]): a counter from 0 to 3, an array that is reversed
// each time, and one that is passed through.
constexpr char kReversedThreeTimes[] = R"(
  body {
    p = (s32[], f32[4], f32[4]) parameter(0)
    i = s32[] get-tuple-element(p), index=0
    x = f32[4] get-tuple-element(p), index=1
    y = f32[4] get-tuple-element(p), index=2
    one = s32[] constant(1)
    j = s32[] add(i, one)
    r = f32[4] reverse(x), dimensions={0}
    ROOT t = (s32[], f32[4], f32[4]) tuple(j, r, y)
  }
  condition {
    p = (s32[], f32[4], f32[4]) parameter(0)
    i = s32[] get-tuple-element(p), index=0
    n = s32[] constant(3)
    ROOT c = pred[] compare(i, n), direction=LT
  }
  ENTRY e {
    zero = s32[] constant(0)
    x = f32[4] parameter(0)
    y = f32[4] parameter(1)
    s = (s32[], f32[4], f32[4]) tuple(zero, x, y)
    ROOT w = (s32[], f32[4], f32[4]) while(s), condition=condition, body=body
  })";

TEST_F(ControlTest, CountedLoopsAreComposed) {
  EXPECT_THAT(OutputToInput(kReversedThreeTimes),
              ElementsAre("0.0.0 () -> ()", "1.0.0 (d0) -> (), domain: d0 in [0, 3]",
                          "1.0.1 (d0) -> (-d0 + 3), domain: d0 in [0, 3]",
                          "2.0.2 (d0) -> (d0), domain: d0 in [0, 3]"));
  EXPECT_THAT(InputToOutput(kReversedThreeTimes),
              ElementsAre("0.0.0 () -> ()", "1.0.0 ()[s0] -> (s0), domain: s0 in [0, 3]",
                          "1.0.1 (d0) -> (-d0 + 3), domain: d0 in [0, 3]",
                          "2.0.2 (d0) -> (d0), domain: d0 in [0, 3]"));
}

TEST_F(ControlTest, AStartThatIsTheCounterHasItsValues) {
  const std::string text = R"(
    body {
      p = (s32[], f32[1], f32[4]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      x = f32[1] get-tuple-element(p), index=1
      y = f32[4] get-tuple-element(p), index=2
      one = s32[] constant(1)
      j = s32[] add(one, i)
      d = f32[1] dynamic-slice(y, i), dynamic_slice_sizes={1}
      a = f32[1] add(x, d)
      ROOT t = (s32[], f32[1], f32[4]) tuple(j, a, y)
    }
    condition {
      p = (s32[], f32[1], f32[4]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      n = s32[] constant(2)
      ROOT c = pred[] compare(i, n), direction=LE
    }
    ENTRY e {
      zero = s32[] constant(0)
      x = f32[1] parameter(0)
      y = f32[4] parameter(1)
      s = (s32[], f32[1], f32[4]) tuple(zero, x, y)
      ROOT w = (s32[], f32[1], f32[4]) while(s), condition=condition, body=body
    })";
  EXPECT_THAT(OutputToInput(text), ElementsAre("0.0.0 () -> ()",  //
                                               "1.0.0 (d0) -> (), domain: d0 in [0, 0]",
                                               "1.0.1 (d0) -> (0), domain: d0 in [0, 0]",
                                               "1.0.2 (d0) -> (0), domain: d0 in [0, 0]",
                                               "1.0.2 (d0) -> (1), domain: d0 in [0, 0]",
                                               "1.0.2 (d0) -> (2), domain: d0 in [0, 0]",
                                               "2.0.2 (d0) -> (d0), domain: d0 in [0, 3]"));
}

TEST_F(ControlTest, WhereTheNumberOfIterationsIsNotKnownAllAreTaken) {
  const std::string reason = "  (over-approximate: the number of iterations of w is not known)";
  EXPECT_THAT(
      OutputToInput(R"(
    body {
      p = (s32[], f32[4], s32[]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      x = f32[4] get-tuple-element(p), index=1
      n = s32[] get-tuple-element(p), index=2
      one = s32[] constant(1)
      j = s32[] add(i, one)
      r = f32[4] reverse(x), dimensions={0}
      ROOT t = (s32[], f32[4], s32[]) tuple(j, r, n)
    }
    condition {
      p = (s32[], f32[4], s32[]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      n = s32[] get-tuple-element(p), index=2
      ROOT c = pred[] compare(i, n), direction=LT
    }
    ENTRY e {
      s = (s32[], f32[4], s32[]) parameter(0)
      ROOT w = (s32[], f32[4], s32[]) while(s), condition=condition, body=body
    })"),
      ElementsAre("0.0.0 () -> ()", "0.0.2 () -> ()", "1.0.0 (d0) -> (), domain: d0 in [0, 3]",
                  "1.0.1 (d0) -> (-d0 + 3), domain: d0 in [0, 3]" + reason,
                  "1.0.1 (d0) -> (d0), domain: d0 in [0, 3]" + reason,
                  "1.0.2 (d0) -> (), domain: d0 in [0, 3]", "2.0.2 () -> ()"));
}

}  // namespace
}  // namespace xla_indexing

// Operations that run computations, looked into: fusion, call, async-start, conditional and while.
// Expected maps were worked out by hand from the definitions.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;

class ControlTest : public ::testing::Test {
 protected:
  const HloInstruction& Root(const std::string& text) {
    auto module = ParseAndVerifyModule(text, "test.hlo");
    EXPECT_TRUE(module.ok()) << module.status();
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
    return Lines(Entries(Root(text), Direction::kOutputToInput, &context_));
  }
  std::vector<std::string> InputToOutput(const std::string& text) {
    return Lines(Entries(Root(text), Direction::kInputToOutput, &context_));
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
};

// A fusion runs what it `calls`, a call what it is `to_apply`, whatever else is named before that.
TEST_F(ControlTest, OtherComputationsThatAreNamedAreNotRun) {
  const std::string computations = R"(
    other { o = f32[] parameter(0) ROOT n = f32[] negate(o) }
    f { p = f32[4] parameter(0) ROOT r = f32[4] reverse(p), dimensions={0} }
    ENTRY e { a = f32[4] parameter(0) ROOT s = f32[4] )";
  for (const char* instruction :
       {"fusion(a), kind=kLoop, to_apply=other, calls=f }", "call(a), calls=other, to_apply=f }"}) {
    const std::string text = absl::StrCat(computations, instruction);
    const auto reversed = ElementsAre("0.0.0 (d0) -> (-d0 + 3), domain: d0 in [0, 3]");
    EXPECT_THAT(OutputToInput(text), reversed);
    EXPECT_THAT(InputToOutput(text), reversed);
    EXPECT_THAT(Lines(Entries(*module_->entry_computation(), Direction::kOutputToInput, &context_)),
                reversed);
  }
}

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

// The index is bound by the start, what it slices by the second update.
constexpr char kLateBinding[] = R"(
  f {
    i = s32[] parameter(0)
    p = f32[2] parameter(1)
    q = f32[9] parameter(2)
    s = f32[2] dynamic-slice(q, i), dynamic_slice_sizes={2}
    ROOT r = f32[2] add(s, p)
  }
  ENTRY e {
    i = s32[] parameter(0)
    p = f32[2] parameter(1)
    q = f32[9] parameter(2)
    s = ((s32[]), (), u32[]) async-start(i), calls=f
    b = ((s32[]), (), u32[]) opt-barrier(s)
    u = ((s32[], f32[2]), (), u32[]) async-update(b, p)
    v = ((s32[], f32[2], f32[9]), f32[2], u32[]) async-update(u, q)
    ROOT w = ((s32[], f32[2], f32[9]), f32[2], u32[]) async-update(v)
  })";

TEST_F(ControlTest, TheStepThatBindsTheLastOperandReadsWhatTheComputationReads) {
  const HloComputation& entry = *Root(kLateBinding).parent();
  const auto of = [&](absl::string_view name, Direction direction) {
    return Lines(Entries(*entry.FindInstruction(name), direction, &context_));
  };
  const std::string two = "domain: d0 in [0, 1]";
  EXPECT_THAT(of("s", Direction::kOutputToInput), ElementsAre("0.0.0 () -> ()"));
  EXPECT_THAT(of("u", Direction::kOutputToInput),
              ElementsAre("0.0.0 () -> ()", "1.1.0 (d0) -> (d0), " + two, "2.0.1 () -> ()"));
  // The start is seen from the entry: the instruction that was bound to it.
  const std::string bound = ", rt0 in [0, 7]\n  rt0: i, clamp [0, 7]; (d0) -> (), ";
  EXPECT_THAT(of("v", Direction::kOutputToInput),
              ElementsAre("0.0.0 () -> ()", "1.0.1 (d0) -> (d0), " + two,
                          "2.1.0 (d0) -> (d0), domain: d0 in [0, 8]", "3.0.0 (d0) -> (), " + two,
                          "3.0.1 (d0) -> (d0), " + two,
                          "3.1.0 (d0){rt0} -> (d0 + rt0), " + two + bound + two, "4.0.2 () -> ()"));
  EXPECT_THAT(
      of("v", Direction::kInputToOutput),
      ElementsAre("0.0.0 () -> ()", "1.0.1 (d0) -> (d0), " + two,
                  "2.1.0 (d0) -> (d0), domain: d0 in [0, 8]",
                  "3.0.0 ()[s0] -> (s0), domain: s0 in [0, 1]", "3.0.1 (d0) -> (d0), " + two,
                  "3.1.0 (d0){rt0} -> (d0 - rt0), domain: d0 in [0, 8]" +
                      std::string(", rt0 in [0, 7], d0 - rt0 in [0, 1]\n  rt0: i, clamp "
                                  "[0, 7]; (d0) -> (), domain: d0 in [0, 8]"),
                  "4.0.2 () -> ()"));
  EXPECT_THAT(of("w", Direction::kOutputToInput),
              ElementsAre("0.0.0 () -> ()", "1.0.1 (d0) -> (d0), " + two,
                          "2.0.2 (d0) -> (d0), domain: d0 in [0, 8]", "3.0.3 (d0) -> (d0), " + two,
                          "4.0.4 () -> ()"));
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

// While i < count, from 0, over a state (i, x, y) of these shapes: (i + 1, next_x, next_y) of
// `body`, whose instructions may use i, x and y.
std::string CountedLoop(const std::string& x, const std::string& y, const std::string& body,
                        const std::string& next_x, const std::string& next_y, int64_t count) {
  const std::string state = absl::StrCat("(s32[], ", x, ", ", y, ")");
  return absl::StrCat(
      "body {\n p = ", state, R"( parameter(0)
    i = s32[] get-tuple-element(p), index=0
    x = )",
      x, " get-tuple-element(p), index=1\n y = ", y, R"( get-tuple-element(p), index=2
    one = s32[] constant(1)
    j = s32[] add(i, one)
    )",
      body, "\n ROOT t = ", state, " tuple(j, ", next_x, ", ", next_y, R"()
  }
  condition {
    p = )",
      state, R"( parameter(0)
    i = s32[] get-tuple-element(p), index=0
    n = s32[] constant()",
      count, R"()
    ROOT c = pred[] compare(i, n), direction=LT
  }
  ENTRY e {
    zero = s32[] constant(0)
    x = )",
      x, " parameter(0)\n y = ", y, " parameter(1)\n s = ", state,
      " tuple(zero, x, y)\n ROOT w = ", state, " while(s), condition=condition, body=body\n}");
}

// Element i of x is copied to y in iteration i; `start` is where body says it is.
std::string Copies(int64_t count, const std::string& start, const std::string& body = "") {
  const std::string array = absl::StrCat("f32[", count, "]");
  return CountedLoop(array, array,
                     absl::StrCat(body, " e = f32[1] dynamic-slice(x, ", start,
                                  "), dynamic_slice_sizes={1}\n u = ", array,
                                  " dynamic-update-slice(y, e, ", start, ")"),
                     "x", "u", count);
}

TEST_F(ControlTest, CountedLoopsAreComposed) {
  const std::string reversed_three_times =
      CountedLoop("f32[4]", "f32[4]", "r = f32[4] reverse(x), dimensions={0}", "r", "y", 3);
  EXPECT_THAT(OutputToInput(reversed_three_times),
              ElementsAre("0.0.0 () -> ()", "1.0.0 (d0) -> (), domain: d0 in [0, 3]",
                          "1.0.1 (d0) -> (-d0 + 3), domain: d0 in [0, 3]",
                          "2.0.2 (d0) -> (d0), domain: d0 in [0, 3]"));
  EXPECT_THAT(InputToOutput(reversed_three_times),
              ElementsAre("0.0.0 () -> ()", "1.0.0 ()[s0] -> (s0), domain: s0 in [0, 3]",
                          "1.0.1 (d0) -> (-d0 + 3), domain: d0 in [0, 3]",
                          "2.0.2 (d0) -> (d0), domain: d0 in [0, 3]"));
}

// A million iterations, and one more: x and y change places each time and one is reversed, so that
// four iterations are none.
TEST_F(ControlTest, LongLoopsThatPermuteLeavesAreComposed) {
  const std::string text =
      CountedLoop("f32[4]", "f32[4]", "r = f32[4] reverse(x), dimensions={0}", "y", "r", 1000001);
  EXPECT_THAT(OutputToInput(text),
              ElementsAre("0.0.0 () -> ()", "1.0.0 (d0) -> (), domain: d0 in [0, 3]",
                          "1.0.2 (d0) -> (d0), domain: d0 in [0, 3]",
                          "2.0.0 (d0) -> (), domain: d0 in [0, 3]",
                          "2.0.1 (d0) -> (-d0 + 3), domain: d0 in [0, 3]"));
  EXPECT_THAT(InputToOutput(text),
              ElementsAre("0.0.0 () -> ()", "1.0.0 ()[s0] -> (s0), domain: s0 in [0, 3]",
                          "1.0.2 (d0) -> (d0), domain: d0 in [0, 3]",
                          "2.0.0 ()[s0] -> (s0), domain: s0 in [0, 3]",
                          "2.0.1 (d0) -> (-d0 + 3), domain: d0 in [0, 3]"));
}

// x moves by 3 elements in each of 1000 iterations, and zeros come in at the end.
TEST_F(ControlTest, LongLoopsThatTranslateAreComposed) {
  const std::string text =
      CountedLoop("f32[5000]", "f32[4]",
                  "z = f32[3] constant({0, 0, 0})\n rest = f32[4997] slice(x), slice={[3:5000]}\n"
                  "moved = f32[5000] concatenate(rest, z), dimensions={0}",
                  "moved", "y", 1000);
  EXPECT_THAT(OutputToInput(text),
              ElementsAre("0.0.0 () -> ()", "1.0.0 (d0) -> (), domain: d0 in [0, 4999]",
                          "1.0.1 (d0) -> (d0 + 3000), domain: d0 in [0, 1999]",
                          "2.0.2 (d0) -> (d0), domain: d0 in [0, 3]"));
}

TEST_F(ControlTest, AStartThatIsTheCounterHasItsValues) {
  const std::string text =
      CountedLoop("f32[1]", "f32[4]",
                  "d = f32[1] dynamic-slice(y, i), dynamic_slice_sizes={1}\n a = f32[1] add(x, d)",
                  "a", "y", 3);
  EXPECT_THAT(OutputToInput(text), ElementsAre("0.0.0 () -> ()",  //
                                               "1.0.0 (d0) -> (), domain: d0 in [0, 0]",
                                               "1.0.1 (d0) -> (0), domain: d0 in [0, 0]",
                                               "1.0.2 (d0)[s0] -> (s0), domain: d0 in [0, 0], "
                                               "s0 in [0, 2]",
                                               "2.0.2 (d0) -> (d0), domain: d0 in [0, 3]"));
}

TEST_F(ControlTest, WhereTheNumberOfIterationsIsNotKnownItIsARuntimeVariable) {
  const std::string number = "\n  rt0: w, iterations; (d0) -> (), domain: d0 in [0, 3]";
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
                  "1.0.1 (d0){rt0} -> (-d0 + 3), domain: d0 in [0, 3], rt0 in [1, inf], "
                  "(rt0 + 1) mod 2 in [0, 0]" +
                      number,
                  "1.0.1 (d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, inf], "
                  "rt0 mod 2 in [0, 0]" +
                      number,
                  "1.0.2 (d0) -> (), domain: d0 in [0, 3]", "2.0.2 () -> ()"));
}

// The reasons of the maps between leaves of the loop's result and its operand, without those that
// are exact.
class LoopReasonsTest : public ControlTest {
 protected:
  std::string Reason(const std::string& text, int64_t output_leaf, int64_t operand_leaf) {
    const auto entries = Entries(Root(text), Direction::kOutputToInput, &context_);
    EXPECT_TRUE(entries.ok()) << entries.status();
    for (const IndexingEntry& entry : *entries) {
      if (entry.output_leaf != output_leaf || entry.operand_leaf != operand_leaf) continue;
      return entry.indexing.label().reason;
    }
    return "nothing is read";
  }
};

constexpr char kAny[] = "values that differ from iteration to iteration of w may have any value";

// However many rows are written one by one, and in whatever order: each is what was read for it, and
// nothing of what they overwrite is read.
TEST_F(ControlTest, RowsThatAreWrittenOneByOneAreThoseThatAreRead) {
  for (const int64_t count : {1, 2, 16, 17, 257, 1'000'000}) {
    const std::string last = absl::StrCat("last = s32[] constant(", count - 1, ")\n");
    for (const auto& [start, body] : std::vector<std::pair<std::string, std::string>>{
             {"i", ""},
             {"k", "nothing = s32[] constant(0)\n k = s32[] add(i, nothing)\n"},
             {"k", last + "k = s32[] subtract(last, i)\n"},
             {"k", last + "nothing = s32[] constant(0)\n from_end = s32[] add(i, last)\n"
                          "is_negative = pred[] compare(i, nothing), direction=LT\n"
                          "k = s32[] select(is_negative, from_end, i)\n"}}) {
      const std::string text = Copies(count, start, body);
      const std::string domain = absl::StrCat(", domain: d0 in [0, ", count - 1, "]");
      // A row of an array of one is row 0.
      const std::string row = count == 1 ? "0" : "d0";
      EXPECT_THAT(
          OutputToInput(text),
          ElementsAre("0.0.0 () -> ()", "1.0.1 (d0) -> (d0)" + domain, "2.0.0 (d0) -> ()" + domain,
                      absl::StrCat("2.0.1 (d0) -> (", row, ")", domain)))
          << text;
    }
  }
}

TEST_F(LoopReasonsTest, NameValuesThatTheBodyComputes) {
  const std::string text = Copies(5, "k", "k = s32[] multiply(i, i)\n");
  EXPECT_EQ(Reason(text, 2, 1), absl::StrCat(kAny, ", and so may k, which is computed in it"));
}

TEST_F(LoopReasonsTest, NameLeavesOfTheStateThatAreNoCounter) {
  const std::string text = CountedLoop(
      "f32[9]", "s32[]",
      "k = s32[] multiply(y, y)\n z = f32[] constant(0)\n e = f32[1] dynamic-slice(x, y), "
      "dynamic_slice_sizes={1}\n n = f32[9] pad(e, z), padding=3_5",
      "n", "k", 5);
  EXPECT_EQ(Reason(text, 1, 1), absl::StrCat(kAny, ", and so may leaf 2 of its state"));
}

// An iteration has two maps, and from the second one on all of them alternate.
TEST_F(LoopReasonsTest, MapsThatComeAgainAreFollowedWithoutEnd) {
  for (const int64_t count : {10, 100, 1'000'000}) {
    const std::string text =
        CountedLoop("f32[4,4]", "f32[4]",
                    "r = f32[4,4] reverse(x), dimensions={0}\n a = f32[4,4] add(x, r)\n"
                    "v = f32[4,4] reverse(a), dimensions={1}",
                    "v", "y", count);
    EXPECT_EQ(Reason(text, 1, 1), "");
    EXPECT_THAT(OutputToInput(text),
                ElementsAre("0.0.0 () -> ()",  //
                            "1.0.0 (d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 3]",
                            "1.0.1 (d0, d1) -> (-d0 + 3, d1), domain: d0 in [0, 3], d1 in [0, 3]",
                            "1.0.1 (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 3]",
                            "2.0.2 (d0) -> (d0), domain: d0 in [0, 3]"));
  }
}

// Maps that have no closed form: an array is turned round as a whole, and in three parts of different
// sizes.
TEST_F(LoopReasonsTest, NameKnownNumbersThatAreTakenForAny) {
  const std::string text = CountedLoop(
      "f32[640]", "f32[4]",
      "a = f32[101] slice(x), slice={[0:101]}\n b = f32[239] slice(x), slice={[101:340]}\n"
      "c = f32[300] slice(x), slice={[340:640]}\n"
      "ra = f32[101] reverse(a), dimensions={0}\n rb = f32[239] reverse(b), dimensions={0}\n"
      "rc = f32[300] reverse(c), dimensions={0}\n"
      "e = f32[640] concatenate(ra, rb, rc), dimensions={0}\n"
      "d = f32[640] reverse(x), dimensions={0}\n v = f32[640] add(e, d)",
      "v", "y", 100);
  EXPECT_EQ(Reason(text, 1, 1), "whole leaf: the maps of w are too many");
}

// z is computed from x, whose maps are too many, and from y, of which nothing is known: it says the
// same whether y was asked about before or not.
TEST_F(LoopReasonsTest, DoNotDependOnWhatWasAskedBefore) {
  const std::string state = "(s32[], f32[64], f32[64], f32[64])";
  const HloInstruction& loop = Root(absl::StrCat("body {\n p = ", state, R"( parameter(0)
    i = s32[] get-tuple-element(p), index=0
    x = f32[64] get-tuple-element(p), index=1
    y = f32[64] get-tuple-element(p), index=2
    z = f32[64] get-tuple-element(p), index=3
    one = s32[] constant(1)
    j = s32[] add(i, one)
    a = f32[40] slice(x), slice={[0:40]}
    b = f32[24] slice(x), slice={[40:64]}
    ra = f32[40] reverse(a), dimensions={0}
    rb = f32[24] reverse(b), dimensions={0}
    c = f32[64] concatenate(ra, rb), dimensions={0}
    d = f32[64] reverse(x), dimensions={0}
    next_x = f32[64] add(c, d)
    e = f32[64] add(x, y)
    next_y = f32[64] custom-call(e), custom_call_target="unknown"
    f = f32[64] add(e, z)
    ROOT t = )",
                                                 state, R"( tuple(j, next_x, next_y, f)
  }
  condition {
    p = )",
                                                 state, R"( parameter(0)
    i = s32[] get-tuple-element(p), index=0
    n = s32[] constant(100)
    ROOT c = pred[] compare(i, n), direction=LT
  }
  ENTRY e {
    zero = s32[] constant(0)
    x = f32[64] parameter(0)
    y = f32[64] parameter(1)
    z = f32[64] parameter(2)
    s = )",
                                                 state, " tuple(zero, x, y, z)\n ROOT w = ", state,
                                                 " while(s), condition=condition, body=body\n}"));
  std::vector<std::vector<std::string>> reasons;
  for (const bool asks_before : {false, true}) {
    HloIndexer indexer(&context_);
    if (asks_before) {
      ASSERT_TRUE(indexer.Index(loop, Direction::kOutputToInput, OperandLeaf{0, 2}).ok());
    }
    const auto entries = indexer.Index(loop, Direction::kOutputToInput, OperandLeaf{0, 3});
    ASSERT_TRUE(entries.ok()) << entries.status();
    reasons.emplace_back();
    for (const IndexingEntry& entry : **entries) {
      reasons.back().push_back(
          absl::StrCat("leaf ", entry.operand_leaf, ": ", entry.indexing.label().reason));
    }
  }
  const std::string why = "whole operand: custom-call is not analysed: unknown";
  EXPECT_THAT(reasons[0], ElementsAre("leaf 0: ", absl::StrCat("leaf 1: ", why),
                                      absl::StrCat("leaf 2: ", why), "leaf 3: "));
  EXPECT_EQ(reasons[1], reasons[0]);
}

TEST_F(LoopReasonsTest, NameCountersThatBeginAnywhere) {
  std::string text = Copies(5, "i");
  text.replace(text.find("zero = s32[] constant(0)"), 24, "zero = s32[] parameter(2)");
  const std::string why =
      "the number of iterations of w is not known, nor what leaf 0 of its state is in each";
  EXPECT_EQ(Reason(text, 2, 1), why);
  EXPECT_EQ(Reason(text, 2, 2), why);
}

// XLA's CPU backend leaves small loops in computations of their own, where only the caller has the
// value that the counter begins with; it says that value in the backend_config.
TEST_F(ControlTest, ACounterBeginsWhereTheCompilerSaysIfOnlyTheCallerDoes) {
  const auto text = [](absl::string_view config) {
    std::string loop = Copies(5, "i");
    loop.replace(loop.find("zero = s32[] constant(0)"), 24, "zero = s32[] parameter(2)");
    return absl::StrCat(loop.substr(0, loop.rfind('}')), absl::StrReplaceAll(config, {{"'", "\""}}),
                        "\n}");
  };
  constexpr absl::string_view kStart = "'known_init_step':{'init':'0','step':'1'}";
  const auto row = [](const std::vector<std::string>& maps) {
    for (const std::string& map : maps) {
      if (absl::StartsWith(map, "2.0.1")) return map;
    }
    return std::string("none");
  };
  const std::string exact = "2.0.1 (d0) -> (d0), domain: d0 in [0, 4]";
  EXPECT_EQ(
      row(OutputToInput(text(absl::StrCat(", backend_config={", kStart,
                                          ",'known_induction_variable':{'tuple_index':'0'}}")))),
      exact);
  // The start of another element of the state, or of none, is not that of the counter.
  for (const absl::string_view index : {"1", "2", "3", "-1", "99999999999999999999", "x", ""}) {
    EXPECT_NE(row(OutputToInput(text(absl::StrCat(", backend_config={", kStart,
                                                  ",'known_induction_variable':{'tuple_index':'",
                                                  index, "'}}")))),
              exact)
        << index;
  }
}

TEST_F(ControlTest, CallsThatNestTooDeepAreTheReason) {
  std::string text = "c0 { p = f32[4] parameter(0) ROOT n = f32[4] negate(p) }\n";
  for (int i = 1; i <= 70; ++i) {
    absl::StrAppend(&text, "c", i, " { p = f32[4] parameter(0) ROOT n = f32[4] call(p), to_apply=c",
                    i - 1, " }\n");
  }
  absl::StrAppend(&text,
                  "ENTRY e { p = f32[4] parameter(0) ROOT n = f32[4] call(p), to_apply=c70 }");
  EXPECT_THAT(OutputToInput(text),
              ElementsAre(testing::HasSubstr("(over-approximate: whole operand: call is not "
                                             "analysed: calls nest more than 64 deep)")));
}

}  // namespace
}  // namespace xla_indexing

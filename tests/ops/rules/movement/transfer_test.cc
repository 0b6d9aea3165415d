// Operations that hand arrays on: copies, sends and receives, asynchronous operations, tokens; and
// map. Expected maps follow from the definitions.

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TransferTest : public IndexingTest {};

constexpr char kIdentity[] = "(d0) -> (d0), domain: d0 in [0, 3]";

TEST_F(TransferTest, CopyStartIsTheOperandTwiceAndAContext) {
  const HloInstruction* start = Entry(R"(
    a = f32[4] parameter(0)
    ROOT s = (f32[4], f32[4], u32[]) copy-start(a))");
  EXPECT_THAT(OutputToInput(start),
              ElementsAre(absl::StrCat("0.0.0 ", kIdentity), absl::StrCat("1.0.0 ", kIdentity)));
  EXPECT_EQ(InputToOutput(start), OutputToInput(start));
}

TEST_F(TransferTest, DoneIsAnElementOfTheState) {
  const HloInstruction* copy = Entry(R"(
    s = (f32[4], f32[4], u32[]) parameter(0)
    ROOT d = f32[4] copy-done(s))");
  EXPECT_THAT(OutputToInput(copy), ElementsAre(absl::StrCat("0.0.0 ", kIdentity)));
  const HloInstruction* async = Entry(R"(
    s = ((f32[7], f32[2]), (f32[4], s32[]), u32[]) parameter(0)
    ROOT d = (f32[4], s32[]) async-done(s))");
  EXPECT_THAT(OutputToInput(async),
              ElementsAre(absl::StrCat("0.0.2 ", kIdentity), "1.0.3 () -> ()"));
  EXPECT_EQ(InputToOutput(async), OutputToInput(async));
}

TEST_F(TransferTest, UpdateIsItsOperand) {
  const HloInstruction* update = Entry(R"(
    s = ((f32[4]), s32[], u32[]) parameter(0)
    ROOT u = ((f32[4]), s32[], u32[]) async-update(s))");
  EXPECT_THAT(OutputToInput(update),
              ElementsAre(absl::StrCat("0.0.0 ", kIdentity), "1.0.1 () -> ()", "2.0.2 () -> ()"));
}

TEST_F(TransferTest, AsyncStartPassesItsOperandsOn) {
  const HloInstruction* start = Root(R"(
    f { p = f32[4] parameter(0) q = s32[] parameter(1) ROOT r = f32[2] slice(p), slice={[0:2]} }
    ENTRY e {
      a = f32[4] parameter(0)
      b = s32[] parameter(1)
      ROOT s = ((f32[4], s32[]), f32[2], u32[]) async-start(a, b), calls=f
    })");
  // The maps of f are missing here; HloIndexer gives them.
  EXPECT_THAT(OutputToInput(start),
              ElementsAre(absl::StrCat("0.0.0 ", kIdentity), "1.1.0 () -> ()",
                          "2.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 3]"
                          "  (over-approximate: whole operand: async-start is not analysed)",
                          "2.1.0 (d0) -> (), domain: d0 in [0, 1]"
                          "  (over-approximate: whole operand: async-start is not analysed)"));
}

// The whole operand would leave out what other devices have of it.
TEST_F(TransferTest, CallsAcrossReplicasThatAreNotLookedIntoAreUnknown) {
  const HloInstruction* call = Root(R"(
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
    f { p = f32[4] parameter(0) ROOT r = f32[4] all-reduce(p), replica_groups={}, to_apply=add }
    g { p = f32[4] parameter(0) ROOT r = f32[4] call(p), to_apply=f }
    ENTRY e { p = f32[4] parameter(0) ROOT c = f32[4] call(p), to_apply=g })");
  const auto unknown = ElementsAre(
      "0.0.0 unknown: call is not looked into and has operations across replicas inside");
  EXPECT_THAT(OutputToInput(call), unknown);
  EXPECT_THAT(InputToOutput(call), unknown);
}

TEST_F(TransferTest, SendAndReceive) {
  const HloInstruction* send = Entry(R"(
    a = f32[4] parameter(0)
    t = token[] after-all()
    ROOT s = (f32[4], u32[], token[]) send(a, t), channel_id=1)");
  EXPECT_THAT(OutputToInput(send), ElementsAre(absl::StrCat("0.0.0 ", kIdentity)));
  EXPECT_THAT(InputToOutput(send), ElementsAre(absl::StrCat("0.0.0 ", kIdentity)));
  const HloInstruction* sent = Entry(R"(
    s = (f32[4], u32[], token[]) parameter(0)
    ROOT d = token[] send-done(s), channel_id=1)");
  EXPECT_THAT(OutputToInput(sent), IsEmpty());
  EXPECT_THAT(InputToOutput(sent), IsEmpty());
  const HloInstruction* recv = Entry(R"(
    t = token[] after-all()
    ROOT r = (f32[4], u32[], token[]) recv(t), channel_id=1)");
  EXPECT_THAT(OutputToInput(recv), IsEmpty());
  const HloInstruction* received = Entry(R"(
    r = (f32[4], u32[], token[]) parameter(0)
    ROOT d = (f32[4], token[]) recv-done(r), channel_id=1)");
  EXPECT_THAT(OutputToInput(received), ElementsAre(absl::StrCat("0.0.0 ", kIdentity)));
}

TEST_F(TransferTest, ReceivedOfOtherSizesIsReadWhole) {
  const HloInstruction* done = Entry(R"(
    r = (f32[4], u32[], token[]) parameter(0)
    ROOT d = (f32[2], token[]) recv-done(r), channel_id=1)");
  EXPECT_THAT(OutputToInput(done),
              ElementsAre("0.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 3]"
                          "  (over-approximate: whole operand: the sizes of d are not those of "
                          "its operand)"));
  EXPECT_THAT(InputToOutput(done),
              ElementsAre("0.0.0 (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 1]"
                          "  (over-approximate: whole operand: the sizes of d are not those of "
                          "its operand)"));
}

TEST_F(TransferTest, TokensHaveNoElements) {
  const HloInstruction* infeed = Entry(R"(
    t = token[] parameter(0)
    ROOT i = (f32[4], token[]) infeed(t))");
  EXPECT_THAT(OutputToInput(infeed), IsEmpty());
  const HloInstruction* outfeed = Entry(R"(
    a = f32[4] parameter(0)
    t = token[] parameter(1)
    ROOT o = token[] outfeed(a, t))");
  EXPECT_THAT(OutputToInput(outfeed), IsEmpty());
  EXPECT_THAT(InputToOutput(outfeed), IsEmpty());
  const HloInstruction* after = Entry(R"(
    t = token[] parameter(0)
    ROOT a = token[] after-all(t, t))");
  EXPECT_THAT(OutputToInput(after), IsEmpty());
}

TEST_F(TransferTest, MapReadsAllItsOperandsWhateverItsFunctionUses) {
  const HloInstruction* map = Root(R"(
    first { x = f32[] parameter(0) y = s32[] parameter(1) ROOT r = f32[] negate(x) }
    ENTRY e {
      a = f32[4] parameter(0)
      b = s32[4] parameter(1)
      ROOT m = f32[4] map(a, b), dimensions={0}, to_apply=first
    })");
  EXPECT_THAT(OutputToInput(map),
              ElementsAre(absl::StrCat("0.0.0 ", kIdentity), absl::StrCat("0.1.0 ", kIdentity)));
  EXPECT_EQ(InputToOutput(map), OutputToInput(map));
}

}  // namespace
}  // namespace xla_indexing

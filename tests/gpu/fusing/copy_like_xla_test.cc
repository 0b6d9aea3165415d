#include "xla_indexing/gpu/fusing/copy_like_xla.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What is copied and why, `operand: reason`.
std::vector<std::string> CopiesOf(absl::string_view text) {
  const auto module = ParseAndVerifyModule(std::string(text));
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto copied = CopyLikeXla(**module);
  EXPECT_TRUE(copied.ok()) << copied.status();
  if (!copied.ok()) return {};
  std::vector<std::string> copies;
  for (const AddedCopy& copy : copied->copies) {
    copies.push_back(absl::StrCat(copy.copy->operand(0)->name(), ": ", copy.reason));
  }
  const auto again = CopyLikeXla(*copied->module);
  EXPECT_TRUE(again.ok() && again->copies.empty()) << copied->module->ToString();
  return copies;
}

// One element of p becomes x.
constexpr absl::string_view kUpdateOfParameter = R"(
ENTRY e { p = f32[8] parameter(0)
          x = f32[1] parameter(1)
          i = s32[] parameter(2)
          u = f32[8] dynamic-update-slice(p, x, i)
          ROOT t = (f32[8]) tuple(u) })";

TEST(CopyLikeXlaTest, AParameterIsUpdatedInPlaceIfItIsDonated) {
  EXPECT_THAT(CopiesOf(absl::StrCat("HloModule m", kUpdateOfParameter)),
              ElementsAre("p: p is a parameter that is not donated"));
  EXPECT_THAT(CopiesOf(absl::StrCat("HloModule m, input_output_alias={ {0}: (0, {}) }",
                                    kUpdateOfParameter)),
              IsEmpty());
  EXPECT_THAT(CopiesOf(absl::StrCat("HloModule m, is_scheduled=true", kUpdateOfParameter)),
              IsEmpty());
}

TEST(CopyLikeXlaTest, WhoReadsTheOldValueLaterReadsACopy) {
  EXPECT_THAT(CopiesOf(R"(HloModule m
ENTRY e { p = f32[8] parameter(0)
          x = f32[1] parameter(1)
          i = s32[] parameter(2)
          n = f32[8] negate(p)
          u = f32[8] dynamic-update-slice(n, x, i)
          k = s32[] constant(3)
          one = f32[1] slice(u), slice={[0:1]}
          late = f32[8] dynamic-update-slice(p, one, k)
          sum = f32[8] add(n, late)
          ROOT t = (f32[8], f32[8]) tuple(u, sum) })"),
              ElementsAre("p: p is a parameter that is not donated",
                          "n: sum reads n after u has written it"));
}

// An update and a negation in place; an element that another one is read for; leaves that change places.
TEST(CopyLikeXlaTest, LoopsCarryEachLeafInOneBuffer) {
  const auto loop = [](absl::string_view step) {
    return absl::StrCat(R"(HloModule m
b { s = (s32[], f32[8], f32[8]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    a = f32[8] get-tuple-element(s), index=1
    c = f32[8] get-tuple-element(s), index=2
    one = s32[] constant(1)
    next = s32[] add(i, one)
    x = f32[1] constant({2})
)",
                        step, R"(}
c { s = (s32[], f32[8], f32[8]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    n = s32[] constant(8)
    ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { k = s32[] parameter(0)
          p = f32[8] parameter(1)
          q = f32[8] parameter(2)
          j = s32[] negate(k)
          v = f32[8] negate(p)
          w = f32[8] negate(q)
          t = (s32[], f32[8], f32[8]) tuple(j, v, w)
          ROOT l = (s32[], f32[8], f32[8]) while(t), condition=c, body=b })");
  };
  EXPECT_THAT(CopiesOf(loop("u = f32[8] dynamic-update-slice(a, x, i)\n"
                            "n = f32[8] negate(c)\n"
                            "ROOT t = (s32[], f32[8], f32[8]) tuple(next, u, n)")),
              IsEmpty());
  EXPECT_EQ(CopiesOf(loop("r = f32[8] reverse(a), dimensions={0}\n"
                          "ROOT t = (s32[], f32[8], f32[8]) tuple(next, r, c)"))
                .size(),
            1u);
  EXPECT_THAT(CopiesOf(loop("ROOT t = (s32[], f32[8], f32[8]) tuple(next, c, a)")),
              // There, and of one of them before.
              ElementsAre("c: s is output 1, which has another buffer",
                          "a: s is output 2, which has another buffer",
                          ::testing::StartsWith("t.copy: no order puts")));
}

TEST(CopyLikeXlaTest, OutputsHaveBuffersOfTheirOwn) {
  EXPECT_THAT(CopiesOf(R"(HloModule m
ENTRY e { p = f32[8] parameter(0)
          n = f32[8] negate(p)
          ROOT t = (f32[8], f32[8], f32[8]) tuple(p, n, n) })"),
              ElementsAre("p: p is output 0, which has another buffer", "n: n is output twice"));
}

}  // namespace
}  // namespace xla_indexing

#include "xla_indexing/fusion/walk/reachability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ReachabilityTest : public ::testing::Test {
 protected:
  // `number.leaf` of what leaf `leaf` of the entry's instruction of that name depends on.
  std::vector<std::string> Of(const std::string& text, const std::string& name, int64_t leaf,
                              Direction direction) {
    module_ = ParseModule(text).value();
    const HloComputation& entry = *module_->entry_computation();
    std::vector<std::string> names;
    for (const OperandLeaf& end :
         Reachability(entry, direction).Of(*entry.FindInstruction(name), leaf)) {
      names.push_back(absl::StrCat(end.operand, ".", end.operand_leaf));
    }
    return names;
  }

  std::unique_ptr<HloModule> module_;
};

constexpr char kTuples[] = R"(ENTRY e {
  p = (f32[4], f32[4]) parameter(0)
  q = f32[4] parameter(1)
  r = f32[4] parameter(2)
  a = f32[4] get-tuple-element(p), index=1
  b = f32[4] add(a, q)
  t = (f32[4], f32[4]) tuple(b, r)
  c = f32[4] get-tuple-element(t), index=0
  d = f32[4] get-tuple-element(t), index=1
  ROOT s = (f32[4], f32[4], f32[4]) tuple(c, d, c)
})";

TEST_F(ReachabilityTest, TuplesKeepLeavesApart) {
  EXPECT_THAT(Of(kTuples, "s", 0, Direction::kOutputToInput), ElementsAre("0.1", "1.0"));
  EXPECT_THAT(Of(kTuples, "s", 1, Direction::kOutputToInput), ElementsAre("2.0"));
  EXPECT_THAT(Of(kTuples, "p", 0, Direction::kInputToOutput), IsEmpty());
  EXPECT_THAT(Of(kTuples, "p", 1, Direction::kInputToOutput), ElementsAre("0.0", "0.2"));
  EXPECT_THAT(Of(kTuples, "r", 0, Direction::kInputToOutput), ElementsAre("0.1"));
}

constexpr char kLoop[] = R"(HloModule m
body { p = (s32[], f32[4], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1  y = f32[4] get-tuple-element(p), index=2
  z = f32[4] add(x, y)  ROOT t = (s32[], f32[4], f32[4]) tuple(i, x, z) }
cond { p = (s32[], f32[4], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0
  ROOT c = pred[] compare(i, i), direction=LT }
ENTRY e {
  q = (s32[], f32[4], f32[4]) parameter(0)
  ROOT w = (s32[], f32[4], f32[4]) while(q), condition=cond, body=body
})";

TEST_F(ReachabilityTest, LoopsPassLeavesThrough) {
  EXPECT_THAT(Of(kLoop, "w", 1, Direction::kOutputToInput), ElementsAre("0.1"));
  EXPECT_THAT(Of(kLoop, "w", 2, Direction::kOutputToInput), ElementsAre("0.0", "0.1", "0.2"));
  EXPECT_THAT(Of(kLoop, "q", 1, Direction::kInputToOutput), ElementsAre("0.1", "0.2"));
  EXPECT_THAT(Of(kLoop, "q", 2, Direction::kInputToOutput), ElementsAre("0.2"));
}

}  // namespace
}  // namespace xla_indexing::internal

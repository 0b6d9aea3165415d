#include "xla_indexing/ops/answers/binding_words.h"

#include <gtest/gtest.h>

#include <string>

#include "mlir/IR/AffineMap.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

class BindingWordsTest : public IndexingTest {
 protected:
  // The words for a map with one runtime variable, bound to an element of so many indices.
  std::string WordsOf(RuntimeVarIndexing binding, int indices) {
    mlir::AffineExpr d0 = mlir::getAffineDimExpr(0, &context_);
    mlir::AffineExpr s0 = mlir::getAffineSymbolExpr(0, &context_);
    const mlir::AffineExpr element[] = {s0, d0 + 1, d0};
    binding.element.assign(element, element + indices);
    auto map = IndexingMap::Create(
        mlir::AffineMap::get(1, 2, {mlir::getAffineSymbolExpr(1, &context_)}, &context_),
        {{Interval::OfSize(4), {}}}, {{Interval::OfSize(6), {}}}, {{Interval::OfSize(9), {}}});
    EXPECT_TRUE(map.ok()) << map.status();
    auto indexing = OperandIndexing::Create(*map, {binding}, ExactnessLabel::Exact());
    EXPECT_TRUE(indexing.ok()) << indexing.status();
    return BindingInWords(*indexing, 0);
  }
};

TEST_F(BindingWordsTest, SayWhatIsReadInWhichIterationOfWhichLoop) {
  auto module = ParseAndVerifyModule(R"(HloModule m
body {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  table = s32[5] iota(), iota_dimension=0
  ROOT n = (s32[], s32[]) tuple(i, i)
}
condition {
  s = (s32[], s32[]) parameter(0)
  ROOT c = pred[] constant(false)
}
outer_body {
  s = (s32[], s32[]) parameter(0)
  ROOT inner = (s32[], s32[]) while(s), condition=condition, body=body
}
ENTRY e {
  p = (s32[], s32[]) parameter(0)
  ROOT w = (s32[], s32[]) while(p), condition=condition, body=outer_body
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto find = [&](const char* computation, const char* name) {
    return (*module)->FindComputation(computation)->FindInstruction(name);
  };
  const HloInstruction* w = find("e", "w");
  const HloInstruction* inner = find("outer_body", "inner");
  const HloInstruction* i = find("body", "i");
  RuntimeVarIndexing binding;
  binding.instruction = w;
  binding.leaf = 1;
  EXPECT_EQ(WordsOf(binding, 0), "the value of w#1");
  binding.value = ValueFunction::Clamp(0, 7);
  EXPECT_EQ(WordsOf(binding, 0), "the value of w#1, clamped to [0, 7]");
  EXPECT_EQ(WordsOf(RuntimeVarIndexing::IterationsOf(*w), 0), "how often the loop w runs");

  RuntimeVarIndexing inside;
  inside.call_path = {w};
  inside.instruction = inner;
  inside.value = ValueFunction::InRangeElseLast(3);
  EXPECT_EQ(WordsOf(inside, 1),
            "the value of inner in iteration s0 of the loop w, or 2 where that is not in [0, 2]");
  RuntimeVarIndexing count = RuntimeVarIndexing::IterationsOf(*inner);
  count.call_path = {w};
  EXPECT_EQ(WordsOf(count, 1), "how often the loop inner runs in iteration s0 of the loop w");
  inside.call_path = {w, inner};
  inside.instruction = i;
  inside.value = ValueFunction::AsIs();
  EXPECT_EQ(WordsOf(inside, 2),
            "the value of i in iteration d0 + 1 of the loop inner in iteration s0 of the loop w");
  inside.instruction = find("body", "table");
  EXPECT_EQ(
      WordsOf(inside, 3),
      "element (d0) of table in iteration d0 + 1 of the loop inner in iteration s0 of the loop w");
}

}  // namespace
}  // namespace xla_indexing::internal

#include "xla_indexing/ops/decisions/argument_values.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const Literal> Integers(std::initializer_list<int64_t> values) {
  return std::make_shared<const Literal>(
      Literal::Integers(ElementType::kS32, {static_cast<int64_t>(values.size())}, values));
}

class ArgumentValuesTest : public testing::Test {
 protected:
  void Read(absl::string_view body, absl::string_view before = "") {
    auto module = ParseModule(absl::StrCat(before,
                                           "ENTRY e {\n  p = f32[9] parameter(0)\n"
                                           "  i = s32[3] parameter(1)\n",
                                           body, "}"));
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
  }

  // The array that an instruction is, where i is {4, 0, 7}; empty if it is not known.
  std::vector<int64_t> ArrayOf(absl::string_view name) {
    auto values =
        ArgumentValues::Create(*module_->entry_computation(), {nullptr, Integers({4, 0, 7})});
    EXPECT_TRUE(values.ok()) << values.status();
    RuntimeVarIndexing variable;
    variable.instruction = module_->entry_computation()->FindInstruction(name);
    const Literal* array = values->ArrayOf(variable, &context_);
    std::vector<int64_t> elements;
    for (int64_t k = 0; array != nullptr && k < array->ElementCount(); ++k) {
      elements.push_back(*array->IntegerAt(k));
    }
    return elements;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
};

TEST_F(ArgumentValuesTest, AreComputedAsTheProgramDoes) {
  Read(
      "  r = s32[3] reverse(i), dimensions={0}\n"
      "  k = s32[3] iota(), iota_dimension=0\n"
      "  ROOT s = s32[3] subtract(r, k)\n");
  EXPECT_THAT(ArrayOf("i"), ElementsAre(4, 0, 7));
  EXPECT_THAT(ArrayOf("s"), ElementsAre(7 - 0, 0 - 1, 4 - 2));
}

TEST_F(ArgumentValuesTest, OfDataAreNotKnown) {
  Read(
      "  c = s32[9] convert(p)\n"
      "  h = s32[3] slice(c), slice={[0:3]}\n"
      "  ROOT s = s32[3] add(h, i)\n");
  EXPECT_THAT(ArrayOf("s"), ElementsAre());
}

TEST_F(ArgumentValuesTest, GoThroughLoops) {
  // Two times i + 1.
  Read(
      "  zero = s32[] constant(0)\n"
      "  t = (s32[], s32[3]) tuple(zero, i)\n"
      "  w = (s32[], s32[3]) while(t), condition=c, body=b\n"
      "  ROOT s = s32[3] get-tuple-element(w), index=1\n",
      "c {\n  t = (s32[], s32[3]) parameter(0)\n  k = s32[] get-tuple-element(t), index=0\n"
      "  n = s32[] constant(2)\n  ROOT l = pred[] compare(k, n), direction=LT\n}\n"
      "b {\n  t = (s32[], s32[3]) parameter(0)\n  k = s32[] get-tuple-element(t), index=0\n"
      "  a = s32[3] get-tuple-element(t), index=1\n  one = s32[] constant(1)\n"
      "  ones = s32[3] broadcast(one), dimensions={}\n  next = s32[] add(k, one)\n"
      "  sum = s32[3] add(a, ones)\n  ROOT r = (s32[], s32[3]) tuple(next, sum)\n}\n");
  EXPECT_THAT(ArrayOf("s"), ElementsAre(6, 2, 9));
}

TEST_F(ArgumentValuesTest, HaveTheShapeOfTheirParameters) {
  Read("  ROOT n = f32[9] negate(p)\n");
  const auto values =
      ArgumentValues::Create(*module_->entry_computation(), {nullptr, Integers({1})});
  EXPECT_EQ(values.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(values.status().message(), HasSubstr("parameter i is s32[1]"));
}

}  // namespace
}  // namespace xla_indexing

#include "xla_indexing/hlo/build/builder.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"
#include "tests/testing/effort.h"
#include "tests/testing/random/random_hlo.h"
#include "tests/testing/rebuilder.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/shape_inference.h"

namespace xla_indexing::internal {
namespace {

using ::testing::HasSubstr;

Attribute Dimensions(const std::vector<int64_t>& dimensions) {
  return MakeAttribute(AttributeKey::kDimensions, absl::Span<const int64_t>(dimensions));
}

// A module of one computation with a builder, and with parameters of these shapes.
class Built {
 public:
  explicit Built(std::initializer_list<absl::string_view> parameters,
                 HloBuilderOptions options = {})
      : module_("m"), builder_(module_.AddComputation("main"), options) {
    for (const absl::string_view shape : parameters) {
      const auto number = static_cast<int64_t>(parameters_.size());
      parameters_.push_back(
          *builder_.AddParameter(number, ShapeOf(shape), absl::StrCat("p", number)));
    }
  }

  HloBuilder& operator*() { return builder_; }
  HloBuilder* operator->() { return &builder_; }
  HloModule& module() { return module_; }
  const HloComputation& main() { return *builder_.computation(); }
  const HloInstruction* p(int64_t i) { return parameters_[i]; }
  // All parameters, as operands.
  const std::vector<const HloInstruction*>& all() { return parameters_; }

  // The lines after the parameters, without the `%` of names; the error of the call otherwise.
  std::string Lines(const absl::StatusOr<const HloInstruction*>& last) {
    if (!last.ok()) return std::string(last.status().message());
    const absl::Status status = CheckBuiltModule(module_);
    EXPECT_TRUE(status.ok()) << status << module_.ToString();
    std::string text;
    for (size_t i = parameters_.size(); i < main().instructions().size(); ++i) {
      absl::StrAppend(&text, i > parameters_.size() ? "\n" : "",
                      main().instructions()[i]->ToString());
    }
    std::erase(text, '%');
    return text;
  }

 private:
  HloModule module_;
  HloBuilder builder_;
  std::vector<const HloInstruction*> parameters_;
};

// The value of an instruction without the names on the way: `add f32[2](parameter 0 f32[2](), ..)`.
std::string Expression(const HloInstruction& instruction) {
  std::string text =
      absl::StrCat(OpcodeName(instruction.opcode()), " ", instruction.shape().ToString());
  if (instruction.opcode() == HloOpcode::kParameter) {
    absl::StrAppend(&text, " ", instruction.parameter_number());
  }
  for (const int64_t d : instruction.dimensions()) absl::StrAppend(&text, " ", d);
  absl::StrAppend(&text, "(");
  for (const HloInstruction* operand : instruction.operands()) {
    absl::StrAppend(&text, Expression(*operand), ", ");
  }
  return absl::StrCat(text, ")");
}

// --- The document's cases: a * b as the one value of a tuple, b being parameter 0 ----------------

std::string Product(absl::string_view a, absl::string_view b, BroadcastRule rule,
                    BroadcastStyle style, absl::Span<const int64_t> broadcast_dimensions = {}) {
  Built built({b, a}, {.rule = rule, .style = style, .row_major_layouts = true});
  const auto product = built->Add(HloOpcode::kMultiply, {built.p(1), built.p(0)},
                                  {.broadcast_dimensions = broadcast_dimensions});
  if (!product.ok()) return std::string(product.status().message());
  const auto tuple = built->Add(HloOpcode::kTuple, {*product});
  EXPECT_TRUE(tuple.ok() && built->SetRoot(*tuple).ok()) << tuple.status();
  const absl::Status status = CheckBuiltModule(built.module());
  EXPECT_TRUE(status.ok()) << status;
  return Expression(*built.main().root_instruction());
}

std::string Document(absl::string_view text) {
  const auto module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? Expression(*(*module)->entry_computation()->root_instruction()) : "";
}

TEST(BuilderDocument, SameRankPromoted) {
  const std::string expected = Document(R"(
HloModule IrToHlo.11, entry_computation_layout={(f32[1,5]{1,0}, f32[10,1]{1,0})->(f32[10,5]{1,0})}

ENTRY %IrToHlo.11 (p0.1: f32[1,5], p1.2: f32[10,1]) -> (f32[10,5]) {
  %p1.2 = f32[10,1]{1,0} parameter(1)
  %broadcast.6 = f32[10,1]{1,0} broadcast(f32[10,1]{1,0} %p1.2), dimensions={0,1}
  %reshape.7 = f32[10]{0} reshape(f32[10,1]{1,0} %broadcast.6)
  %broadcast.8 = f32[10,5]{1,0} broadcast(f32[10]{0} %reshape.7), dimensions={0}
  %p0.1 = f32[1,5]{1,0} parameter(0)
  %broadcast.3 = f32[1,5]{1,0} broadcast(f32[1,5]{1,0} %p0.1), dimensions={0,1}
  %reshape.4 = f32[5]{0} reshape(f32[1,5]{1,0} %broadcast.3)
  %broadcast.5 = f32[10,5]{1,0} broadcast(f32[5]{0} %reshape.4), dimensions={1}
  %multiply.9 = f32[10,5]{1,0} multiply(f32[10,5]{1,0} %broadcast.8, f32[10,5]{1,0} %broadcast.5)
  ROOT %tuple.10 = (f32[10,5]{1,0}) tuple(f32[10,5]{1,0} %multiply.9)
})");
  EXPECT_EQ(Product("f32[10,1]", "f32[1,5]", BroadcastRule::kNumpy, BroadcastStyle::kPromoted),
            expected);
  EXPECT_EQ(Product("f32[10,1]", "f32[1,5]", BroadcastRule::kXla, BroadcastStyle::kPromoted),
            expected);
}

TEST(BuilderDocument, SameRankDirect) {
  const std::string expected = Document(R"(
HloModule IrToHlo.9, entry_computation_layout={(f32[1,5]{1,0}, f32[10,1]{1,0})->(f32[10,5]{1,0})}

ENTRY %IrToHlo.9 (p0.1: f32[1,5], p1.2: f32[10,1]) -> (f32[10,5]) {
  %p1.2 = f32[10,1]{1,0} parameter(1)
  %reshape.3 = f32[10]{0} reshape(f32[10,1]{1,0} %p1.2)
  %broadcast.4 = f32[10,5]{1,0} broadcast(f32[10]{0} %reshape.3), dimensions={0}
  %p0.1 = f32[1,5]{1,0} parameter(0)
  %reshape.5 = f32[5]{0} reshape(f32[1,5]{1,0} %p0.1)
  %broadcast.6 = f32[10,5]{1,0} broadcast(f32[5]{0} %reshape.5), dimensions={1}
  %multiply.7 = f32[10,5]{1,0} multiply(f32[10,5]{1,0} %broadcast.4, f32[10,5]{1,0} %broadcast.6)
  ROOT %tuple.8 = (f32[10,5]{1,0}) tuple(f32[10,5]{1,0} %multiply.7)
})");
  EXPECT_EQ(Product("f32[10,1]", "f32[1,5]", BroadcastRule::kXla, BroadcastStyle::kDirect),
            expected);
  EXPECT_EQ(Product("f32[10,1]", "f32[1,5]", BroadcastRule::kNumpy, BroadcastStyle::kDirect),
            expected);
}

TEST(BuilderDocument, ScalarInBothStyles) {
  const std::string expected = Document(R"(
HloModule IrToHlo.6, entry_computation_layout={(f32[1,5]{1,0}, f32[])->(f32[1,5]{1,0})}

ENTRY %IrToHlo.6 (p0.1: f32[1,5], p1.2: f32[]) -> (f32[1,5]) {
  %p1.2 = f32[] parameter(1)
  %broadcast.3 = f32[1,5]{1,0} broadcast(f32[] %p1.2), dimensions={}
  %p0.1 = f32[1,5]{1,0} parameter(0)
  %multiply.4 = f32[1,5]{1,0} multiply(f32[1,5]{1,0} %broadcast.3, f32[1,5]{1,0} %p0.1)
  ROOT %tuple.5 = (f32[1,5]{1,0}) tuple(f32[1,5]{1,0} %multiply.4)
})");
  for (const BroadcastRule rule : {BroadcastRule::kXla, BroadcastRule::kNumpy}) {
    EXPECT_EQ(Product("f32[]", "f32[1,5]", rule, BroadcastStyle::kDirect), expected);
    EXPECT_EQ(Product("f32[]", "f32[1,5]", rule, BroadcastStyle::kPromoted), expected);
  }
}

TEST(BuilderDocument, DifferentRanksPromoted) {
  const std::string expected = Document(R"(
HloModule IrToHlo.12, entry_computation_layout={(f32[6,8,1,5]{3,2,1,0}, f32[10,1]{1,0})->(f32[6,8,10,5]{3,2,1,0})}

ENTRY %IrToHlo.12 (p0.1: f32[6,8,1,5], p1.2: f32[10,1]) -> (f32[6,8,10,5]) {
  %p1.2 = f32[10,1]{1,0} parameter(1)
  %broadcast.6 = f32[10,1]{1,0} broadcast(f32[10,1]{1,0} %p1.2), dimensions={0,1}
  %reshape.7 = f32[10]{0} reshape(f32[10,1]{1,0} %broadcast.6)
  %broadcast.8 = f32[10,5]{1,0} broadcast(f32[10]{0} %reshape.7), dimensions={0}
  %broadcast.9 = f32[6,8,10,5]{3,2,1,0} broadcast(f32[10,5]{1,0} %broadcast.8), dimensions={2,3}
  %p0.1 = f32[6,8,1,5]{3,2,1,0} parameter(0)
  %broadcast.3 = f32[6,8,1,5]{3,2,1,0} broadcast(f32[6,8,1,5]{3,2,1,0} %p0.1), dimensions={0,1,2,3}
  %reshape.4 = f32[6,8,5]{2,1,0} reshape(f32[6,8,1,5]{3,2,1,0} %broadcast.3)
  %broadcast.5 = f32[6,8,10,5]{3,2,1,0} broadcast(f32[6,8,5]{2,1,0} %reshape.4), dimensions={0,1,3}
  %multiply.10 = f32[6,8,10,5]{3,2,1,0} multiply(f32[6,8,10,5]{3,2,1,0} %broadcast.9, f32[6,8,10,5]{3,2,1,0} %broadcast.5)
  ROOT %tuple.11 = (f32[6,8,10,5]{3,2,1,0}) tuple(f32[6,8,10,5]{3,2,1,0} %multiply.10)
})");
  EXPECT_EQ(Product("f32[10,1]", "f32[6,8,1,5]", BroadcastRule::kNumpy, BroadcastStyle::kPromoted),
            expected);
  EXPECT_EQ(
      Product("f32[10,1]", "f32[6,8,1,5]", BroadcastRule::kXla, BroadcastStyle::kPromoted, {2, 3}),
      expected);
}

// The document shows this one as StableHLO.
TEST(BuilderDocument, DifferentRanksDirect) {
  const std::string expected = Document(R"(
HloModule m
ENTRY e {
  arg0 = f32[6,8,1,5]{3,2,1,0} parameter(0)
  arg1 = f32[10,1]{1,0} parameter(1)
  v0 = f32[10]{0} reshape(arg1)
  v1 = f32[6,8,10,5]{3,2,1,0} broadcast(v0), dimensions={2}
  v2 = f32[6,8,5]{2,1,0} reshape(arg0)
  v3 = f32[6,8,10,5]{3,2,1,0} broadcast(v2), dimensions={0,1,3}
  v4 = f32[6,8,10,5]{3,2,1,0} multiply(v1, v3)
  ROOT t = (f32[6,8,10,5]{3,2,1,0}) tuple(v4)
})");
  EXPECT_EQ(Product("f32[10,1]", "f32[6,8,1,5]", BroadcastRule::kNumpy, BroadcastStyle::kDirect),
            expected);
  EXPECT_EQ(
      Product("f32[10,1]", "f32[6,8,1,5]", BroadcastRule::kXla, BroadcastStyle::kDirect, {2, 3}),
      expected);
}

TEST(BuilderDocument, XlaFailsWhereRanksDifferWithoutBroadcastDimensions) {
  EXPECT_EQ(Product("f32[10,1]", "f32[6,8,1,5]", BroadcastRule::kXla, BroadcastStyle::kDirect),
            "multiply: operand 0, f32[10,1], has rank 2 and operand 1, f32[6,8,1,5], has rank 4: "
            "operands of different ranks need broadcast_dimensions");
}

// --- Implicit broadcasting

TEST(BuilderBroadcast, LeavesAloneWhatIsAsItShouldBe) {
  Built built({"f32[2,3]", "f32[2,3]{0,1}"});
  EXPECT_EQ(built.Lines(built->Add(HloOpcode::kAdd, built.all())), "add = f32[2,3] add(p0, p1)");
}

TEST(BuilderBroadcast, OperandsOfOneShapeMayHaveAnyRank) {
  const Shape shape = Shape::Array(ElementType::kF32, std::vector<int64_t>(70, 1));
  Built built({shape.ToString(), shape.ToString(), "f32[]"});
  EXPECT_TRUE(built->Add(HloOpcode::kAdd, {built.p(0), built.p(1)}).ok());
  EXPECT_THAT(built->Add(HloOpcode::kAdd, {built.p(0), built.p(2)}).status().message(),
              HasSubstr("has rank 70"));
}

TEST(BuilderBroadcast, KeepsDimensionsOfSizeOneThatStay) {
  for (const BroadcastStyle style : {BroadcastStyle::kDirect, BroadcastStyle::kPromoted}) {
    Built built({"f32[1,5]", "f32[7,1,5]"}, {.rule = BroadcastRule::kNumpy, .style = style});
    EXPECT_EQ(built.Lines(built->Add(HloOpcode::kAdd, built.all())),
              "broadcast = f32[7,1,5] broadcast(p0), dimensions={1,2}\n"
              "add = f32[7,1,5] add(broadcast, p1)");
  }
}

TEST(BuilderBroadcast, ComparesWithAttributesAndElementTypesOfTheOperands) {
  Built built({"s32[]", "s32[4]"});
  EXPECT_EQ(
      built.Lines(built->Add(
          HloOpcode::kCompare, built.all(),
          {.name = "less",
           .attributes = {MakeAttribute(AttributeKey::kDirection, absl::string_view("LT"))}})),
      "broadcast = s32[4] broadcast(p0), dimensions={}\n"
      "less = pred[4] compare(broadcast, p1), direction=LT");
}

TEST(BuilderBroadcast, TakesTernaryOperations) {
  Built select({"pred[]", "f32[4,1]", "f32[1,3]"});
  EXPECT_EQ(select.Lines(select->Add(HloOpcode::kSelect, select.all())),
            "broadcast = pred[4,3] broadcast(p0), dimensions={}\n"
            "reshape = f32[4] reshape(p1)\n"
            "broadcast.1 = f32[4,3] broadcast(reshape), dimensions={0}\n"
            "reshape.1 = f32[3] reshape(p2)\n"
            "broadcast.2 = f32[4,3] broadcast(reshape.1), dimensions={1}\n"
            "select = f32[4,3] select(broadcast, broadcast.1, broadcast.2)");
  Built clamp({"f32[]", "f32[4]", "f32[1]"});
  EXPECT_EQ(clamp.Lines(clamp->Add(HloOpcode::kClamp, clamp.all())),
            "broadcast = f32[4] broadcast(p0), dimensions={}\n"
            "reshape = f32[] reshape(p2)\n"
            "broadcast.1 = f32[4] broadcast(reshape), dimensions={}\n"
            "clamp = f32[4] clamp(broadcast, p1, broadcast.1)");
}

TEST(BuilderBroadcast, TakesMap) {
  HloModule module("m");
  HloBuilder scalar(module.AddComputation("f"));
  const auto a = scalar.AddParameter(0, ShapeOf("f32[]"));
  const auto b = scalar.AddParameter(1, ShapeOf("s32[]"));
  ASSERT_TRUE(a.ok() && b.ok() && scalar.SetRoot(*a).ok());
  HloBuilder main(module.AddComputation("main"), {.rule = BroadcastRule::kNumpy});
  const auto p = main.AddParameter(0, ShapeOf("f32[3]"), "p");
  const auto q = main.AddParameter(1, ShapeOf("s32[2,1]"), "q");
  const HloComputation* f = module.FindComputation("f");
  const auto map =
      main.Add(HloOpcode::kMap, {*p, *q},
               {.attributes = {Dimensions({0, 1}), MakeAttribute(AttributeKey::kToApply, f)}});
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ((*map)->ToString(),
            "%map = f32[2,3] map(%broadcast, %broadcast.1), dimensions={0,1}, to_apply=%f");
  EXPECT_TRUE(CheckBuiltModule(module).ok()) << CheckBuiltModule(module);
}

TEST(BuilderBroadcast, TakesBoundsWhereNothingHasToBeCut) {
  Built same({"f32[<=5,1]", "f32[5,7]"});
  EXPECT_EQ(same.Lines(same->Add(HloOpcode::kAdd, same.all())),
            "reshape = f32[<=5] reshape(p0)\n"
            "broadcast = f32[5,7] broadcast(reshape), dimensions={0}\n"
            "add = f32[5,7] add(broadcast, p1)");
  Built one({"f32[<=1]", "f32[<=5]"});
  EXPECT_EQ(one.Lines(one->Add(HloOpcode::kAdd, one.all())),
            "reshape = f32[] reshape(p0)\n"
            "broadcast = f32[<=5] broadcast(reshape), dimensions={}\n"
            "add = f32[<=5] add(broadcast, p1)");
  Built cut({"f32[2,<=5]", "f32[2,3]"});
  EXPECT_EQ(cut.Lines(cut->Add(HloOpcode::kAdd, cut.all(), {.name = "sum"})),
            "sum: add: operand 0, f32[2,<=5], dimension 1: no reshape and broadcast makes size <=5 "
            "the size 3 of dimension 1 of the result");
}

TEST(BuilderBroadcast, TakesZeroAndOne) {
  Built built({"f32[1,0]", "f32[3,1]"});
  EXPECT_EQ(built.Lines(built->Add(HloOpcode::kAdd, built.all())),
            "reshape = f32[0] reshape(p0)\n"
            "broadcast = f32[3,0] broadcast(reshape), dimensions={1}\n"
            "reshape.1 = f32[3] reshape(p1)\n"
            "broadcast.1 = f32[3,0] broadcast(reshape.1), dimensions={0}\n"
            "add = f32[3,0] add(broadcast, broadcast.1)");
}

TEST(BuilderBroadcast, BringsOperandsOfAnyTypesToOneShape) {
  Built built({"pred[3,1]", "f32[2]", "s8[]"}, {.rule = BroadcastRule::kNumpy});
  const auto operands = built->Broadcast(built.all());
  ASSERT_TRUE(operands.ok()) << operands.status();
  ASSERT_EQ(operands->size(), 3u);
  EXPECT_EQ((*operands)[0]->shape(), ShapeOf("pred[3,2]"));
  EXPECT_EQ((*operands)[1]->shape(), ShapeOf("f32[3,2]"));
  EXPECT_EQ((*operands)[2]->shape(), ShapeOf("s8[3,2]"));
  EXPECT_THAT(built->Broadcast({}).status().message(), HasSubstr("at least one operand"));
}

TEST(BuilderBroadcast, IsNotDoneWhereTheRuleIsNone) {
  Built built({"pred[]", "f32[4]", "f32[4]", "f32[1]"}, {.rule = BroadcastRule::kNone});
  EXPECT_EQ(built.Lines(built->Add(HloOpcode::kSelect, {built.p(0), built.p(1), built.p(2)})),
            "select = f32[4] select(p0, p1, p2)");
  EXPECT_EQ(built->Add(HloOpcode::kAdd, {built.p(1), built.p(3)}).status().message(),
            "add: add of f32[4] and f32[1]: shapes differ");
}

TEST(BuilderBroadcast, ErrorsLeaveTheComputationAsItWas) {
  Built built({"f32[10,1]", "f32[2,5]", "s32[1,5]", "(f32[2])"});
  const auto error = [&](int64_t a, int64_t b, absl::Span<const int64_t> dimensions = {}) {
    const auto sum =
        built->Add(HloOpcode::kAdd, {built.p(a), built.p(b)}, {.broadcast_dimensions = dimensions});
    EXPECT_FALSE(sum.ok());
    EXPECT_EQ(built.main().instruction_count(), 4);
    return std::string(sum.status().message());
  };
  EXPECT_EQ(error(0, 1),
            "add: operand 1, f32[2,5], dimension 0: size 2 does not go with size 10 of operand 0, "
            "f32[10,1], dimension 0");
  EXPECT_EQ(error(0, 2), "add: add of f32[10,5] and s32[10,5]: element types differ");
  EXPECT_EQ(error(0, 3), "add: operand 1, (f32[2]), is not an array");
  EXPECT_THAT(error(0, 2, {1, 0}), HasSubstr("broadcast_dimensions={1,0}"));
  const std::vector<int64_t> both = {0, 1};
  const auto negated = built->Add(HloOpcode::kNegate, {built.p(0)}, {.broadcast_dimensions = both});
  EXPECT_THAT(negated.status().message(), HasSubstr("no operand is broadcast"));
  Built numpy({"f32[2,3]", "f32[3]"}, {.rule = BroadcastRule::kNumpy});
  const std::vector<int64_t> last = {1};
  EXPECT_THAT(numpy.Lines(numpy->Add(HloOpcode::kAdd, numpy.all(), {.broadcast_dimensions = last})),
              HasSubstr("broadcast_dimensions={1} are given"));
}

// --- Instructions

TEST(Builder, InfersShapesAndTakesThoseThatAgree) {
  Built built({"f32[2,3]"});
  const auto transpose =
      built->Add(HloOpcode::kTranspose, {built.p(0)}, {.attributes = {Dimensions({1, 0})}});
  ASSERT_TRUE(transpose.ok()) << transpose.status();
  EXPECT_EQ((*transpose)->shape(), ShapeOf("f32[3,2]"));
  EXPECT_TRUE(built
                  ->Add(HloOpcode::kTranspose, {built.p(0)},
                        {.shape = ShapeOf("f32[3,2]{0,1}"), .attributes = {Dimensions({1, 0})}})
                  .ok());
  EXPECT_EQ(
      built
          ->Add(HloOpcode::kTranspose, {built.p(0)},
                {.name = "t", .shape = ShapeOf("f32[2,3]"), .attributes = {Dimensions({1, 0})}})
          .status()
          .message(),
      "instruction 't' (transpose) has shape f32[2,3] but its operands and attributes give "
      "f32[3,2]");
  EXPECT_EQ(built->Add(HloOpcode::kReshape, {built.p(0)}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_THAT(built->Add(HloOpcode::kTranspose, {built.p(0)}).status().message(),
              HasSubstr("there is no dimensions"));
  EXPECT_EQ(built.main().instruction_count(), 3);
}

TEST(Builder, MakesNamesThatAreNew) {
  Built built({"f32[]"});
  ASSERT_TRUE(built->Add(HloOpcode::kNegate, {built.p(0)}, {.name = "negate.1"}).ok());
  EXPECT_EQ((*built->Add(HloOpcode::kNegate, {built.p(0)}))->name(), "negate");
  EXPECT_EQ((*built->Add(HloOpcode::kNegate, {built.p(0)}))->name(), "negate.2");
  EXPECT_EQ((*built->AddParameter(1, ShapeOf("f32[]")))->name(), "parameter");
  EXPECT_EQ((*built->AddConstant(Literal::IntegerScalar(ElementType::kS32, 7)))->name(),
            "constant");
  EXPECT_EQ(built->Add(HloOpcode::kNegate, {built.p(0)}, {.name = "p0"}).status().message(),
            "'p0' is there already");
  for (const absl::string_view name : {"1", "a b", "a,b", "%a", "a\n", "ä"}) {
    EXPECT_THAT(built->Add(HloOpcode::kNegate, {built.p(0)}, {.name = name}).status().message(),
                HasSubstr("is not a name"));
  }
}

TEST(Builder, ImplicitInstructionsDoNotTakeTheNameThatIsAskedFor) {
  Built built({"f32[]", "f32[2]"});
  EXPECT_THAT(built.Lines(built->Add(HloOpcode::kAdd, built.all(), {.name = "broadcast"})),
              HasSubstr("broadcast = f32[2] add(broadcast.1, p1)"));
}

TEST(Builder, ParametersHaveNumbersOfTheirOwn) {
  Built built({"f32[]"});
  EXPECT_EQ(built->AddParameter(0, ShapeOf("f32[]"), "q").status().message(),
            "q: parameter 0 is 'p0' already");
  for (const int64_t number : {int64_t{-1}, int64_t{1} << 20, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(built->AddParameter(number, ShapeOf("f32[]"), "q").status().message(),
              absl::StrCat("q: no parameter can have the number ", number));
  }
  EXPECT_THAT(built->AddParameter(1, Shape::Array(ElementType::kF32, {-1})).status().message(),
              HasSubstr("dimension 0 of f32[-1] is negative"));
  // Number 1 may still come.
  ASSERT_TRUE(built->AddParameter(2, ShapeOf("f32[]"), "r").ok());
  EXPECT_THAT(CheckBuiltModule(built.module()).message(), HasSubstr("has no parameter 1"));
}

TEST(Builder, ChecksOperands) {
  Built built({"f32[]"});
  HloBuilder other(built.module().AddComputation("other"));
  EXPECT_EQ(other.Add(HloOpcode::kNegate, {built.p(0)}, {.name = "n"}).status().message(),
            "n: negate: operand 0, 'p0', is in another computation");
  EXPECT_THAT(built->Add(HloOpcode::kNegate, {nullptr}).status().message(),
              HasSubstr("operand 0 is null"));
  EXPECT_THAT(built->Add(HloOpcode::kAdd, {built.p(0)}).status().message(),
              HasSubstr("takes 2 operands, not 1"));
  EXPECT_THAT(built->Add(HloOpcode::kParameter, built.all()).status().message(),
              HasSubstr("AddParameter"));
  EXPECT_FALSE(built->SetRoot(nullptr).ok());
  EXPECT_FALSE(other.SetRoot(built.p(0)).ok());
}

TEST(Builder, ChecksAttributes) {
  Built built({"f32[2]"});
  HloModule elsewhere("elsewhere");
  const HloComputation* foreign = elsewhere.AddComputation("f");
  const auto error = [&](const Attribute& attribute) {
    return std::string(built->Add(HloOpcode::kReverse, built.all(), {.attributes = {attribute}})
                           .status()
                           .message());
  };
  EXPECT_THAT(error(MakeAttribute(AttributeKey::kDimensions, int64_t{0})),
              HasSubstr("the value of dimensions is not of its kind"));
  EXPECT_THAT(error(MakeAttribute(AttributeKey::kWindow, static_cast<const Window*>(nullptr))),
              HasSubstr("window is not of its kind"));
  EXPECT_THAT(error({AttributeKey::kOther, "x", true}), HasSubstr("x is not of its kind"));
  EXPECT_THAT(error(MakeTextAttribute("", "x")), HasSubstr("has no name"));
  EXPECT_THAT(error(MakeAttribute(AttributeKey::kParameterNumber, int64_t{0})),
              HasSubstr("has no name"));
  EXPECT_THAT(error(MakeAttribute(AttributeKey::kToApply, foreign)), HasSubstr("to_apply names"));
  EXPECT_THAT(error(MakeAttribute(AttributeKey::kToApply, &built.main())),
              HasSubstr("to_apply names"));
  EXPECT_THAT(built
                  ->Add(HloOpcode::kReverse, built.all(),
                        {.attributes = {Dimensions({0}), Dimensions({0})}})
                  .status()
                  .message(),
              HasSubstr("dimensions is given twice"));
  EXPECT_EQ(built.main().instruction_count(), 1);
}

TEST(Builder, TextThatDoesNotReadBackIsFoundInTheEnd) {
  const auto check = [](absl::string_view name, absl::string_view text) {
    Built built({"f32[2]"});
    const auto negate = built->Add(HloOpcode::kNegate, built.all(),
                                   {.attributes = {MakeTextAttribute(name, text)}});
    EXPECT_TRUE(negate.ok()) << negate.status();
    return CheckBuiltModule(built.module());
  };
  EXPECT_TRUE(check("metadata", "{op_name=\"x\"}").ok());
  EXPECT_TRUE(check("backend_config", "\"{}\"").ok());
  EXPECT_TRUE(check("something_new", "word").ok());
  EXPECT_THAT(check("metadata", "{").message(), HasSubstr("does not read back"));
  EXPECT_THAT(check("something_new", "a, b=c").message(), HasSubstr("reads back as another"));
  EXPECT_THAT(check("two words", "a").message(), HasSubstr("does not read back"));
}

TEST(Builder, SetsRowMajorLayoutsWhereNoneAreGiven) {
  Built built({"f32[2,3]", "f32[3,2]{0,1}"}, {.row_major_layouts = true});
  const auto transpose =
      built->Add(HloOpcode::kTranspose, {built.p(1)}, {.attributes = {Dimensions({1, 0})}});
  ASSERT_TRUE(transpose.ok());
  EXPECT_EQ((*transpose)->shape(), ShapeOf("f32[2,3]{1,0}"));
  const auto tuple = built->Add(HloOpcode::kTuple, {built.p(0), built.p(1)});
  ASSERT_TRUE(tuple.ok()) << tuple.status();
  EXPECT_EQ((*tuple)->shape(), ShapeOf("(f32[2,3]{1,0}, f32[3,2]{0,1})"));
  EXPECT_TRUE(CheckBuiltModule(built.module()).ok());
}

// --- Every operation

TEST(BuilderRebuilds, RandomModulesOfEveryOpcode) {
  const int modules_of_each = Cases(48);
  // All but those that are not known.
  EXPECT_EQ(RandomOpcodes().size() + 1, static_cast<size_t>(kOpcodeCount));
  int64_t inferred = 0;
  for (const HloOpcode opcode : RandomOpcodes()) {
    for (int seed = 0; seed < modules_of_each; ++seed) {
      const std::string text = RandomOperationModule(opcode, seed);
      const auto module = ParseModule(text);
      ASSERT_TRUE(module.ok()) << module.status();
      Rebuilder rebuilder(**module, /*infers=*/seed % 2 == 0);
      const absl::Status status = rebuilder.Run();
      EXPECT_TRUE(status.ok()) << status << "\n" << text;
      inferred += rebuilder.inferred_count();
    }
  }
  EXPECT_GT(inferred, kOpcodeCount);
}

}  // namespace
}  // namespace xla_indexing::internal

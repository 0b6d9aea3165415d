// Arithmetic of single numbers: all pairs of 8 bits against arithmetic of wide integers, and floats at the
// points where a function is exact.

#include "xla_indexing/ops/values/cases/numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/substitute.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing::internal {
namespace {

std::unique_ptr<HloModule> OneOperation(const std::string& type, const std::string& result,
                                        const std::string& opcode, const std::string& attributes,
                                        int operands) {
  std::string text = "HloModule m\nENTRY e {\n";
  std::string names;
  for (int i = 0; i < operands; ++i) {
    text += absl::Substitute("  p$0 = $1[] parameter($0)\n", i, type);
    names += absl::Substitute("$0p$1", i > 0 ? ", " : "", i);
  }
  text += absl::Substitute("  ROOT r = $0[] $1($2)$3\n}\n", result, opcode, names, attributes);
  auto module = ParseAndVerifyModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

std::optional<int64_t> IntegerOf(const std::optional<Number>& number) {
  if (!number || !std::holds_alternative<int64_t>(*number)) return std::nullopt;
  return std::get<int64_t>(*number);
}

int64_t Wrapped(int64_t value, bool is_signed) {
  return is_signed ? int64_t{static_cast<int8_t>(value)} : int64_t{static_cast<uint8_t>(value)};
}

int64_t PowerOf(int64_t x, int64_t y) {
  int64_t power = 1;
  for (int64_t i = 0; i < y; ++i) power = (power * x) & 0xff;
  return power;
}

struct BinaryCase {
  std::string opcode;
  // Before wrapping; nothing where it is not known.
  std::function<std::optional<int64_t>(int64_t a, int64_t b, bool is_signed)> expected;
};

TEST(NumbersTest, OperationsOnAllPairsOfEightBits) {
  const auto bits = [](int64_t a) { return a & 0xff; };
  const std::vector<BinaryCase> cases = {
      {"add", [](auto a, auto b, bool) { return a + b; }},
      {"subtract", [](auto a, auto b, bool) { return a - b; }},
      {"multiply", [](auto a, auto b, bool) { return a * b; }},
      {"and", [](auto a, auto b, bool) { return a & b; }},
      {"or", [](auto a, auto b, bool) { return a | b; }},
      {"xor", [](auto a, auto b, bool) { return a ^ b; }},
      {"maximum", [](auto a, auto b, bool) { return std::max(a, b); }},
      {"minimum", [](auto a, auto b, bool) { return std::min(a, b); }},
      {"divide",
       [](auto a, auto b, bool) {
         return b == 0 || (a == -128 && b == -1) ? std::nullopt : std::optional(a / b);
       }},
      {"remainder",
       [](auto a, auto b, bool) {
         return b == 0 || (a == -128 && b == -1) ? std::nullopt : std::optional(a % b);
       }},
      {"shift-left", [](auto a, auto b, bool) { return b < 0 || b >= 8 ? 0 : a << b; }},
      {"shift-right-logical",
       [&](auto a, auto b, bool) { return b < 0 || b >= 8 ? 0 : bits(a) >> b; }},
      // The highest bit is repeated, also of unsigned types.
      {"shift-right-arithmetic",
       [](auto a, auto b, bool) {
         return int64_t{static_cast<int8_t>(a)} >> (b < 0 || b >= 8 ? 7 : b);
       }},
      {"power",
       [](auto a, auto b, bool) { return b < 0 ? std::nullopt : std::optional(PowerOf(a, b)); }},
  };
  for (const bool is_signed : {true, false}) {
    for (const BinaryCase& each : cases) {
      const std::string type = is_signed ? "s8" : "u8";
      const auto module = OneOperation(type, type, each.opcode, "", 2);
      ASSERT_NE(module, nullptr);
      const HloInstruction& root = *module->entry_computation()->root_instruction();
      for (int64_t a = is_signed ? -128 : 0; a < (is_signed ? 128 : 256); ++a) {
        for (int64_t b = is_signed ? -128 : 0; b < (is_signed ? 128 : 256); ++b) {
          std::optional<int64_t> expected = each.expected(a, b, is_signed);
          if (expected) expected = Wrapped(*expected, is_signed);
          ASSERT_EQ(IntegerOf(ApplyToNumbers(root, {a, b})), expected)
              << type << " " << each.opcode << " " << a << " " << b;
        }
      }
    }
  }
}

TEST(NumbersTest, ComparisonsAndFunctionsOfEightBits) {
  for (const bool is_signed : {true, false}) {
    const std::string type = is_signed ? "s8" : "u8";
    const auto less = OneOperation(type, "pred", "compare", ", direction=LT", 2);
    const auto negated = OneOperation(type, type, "negate", "", 1);
    const auto size = OneOperation(type, type, "abs", "", 1);
    const auto sign = OneOperation(type, type, "sign", "", 1);
    const auto not_a = OneOperation(type, type, "not", "", 1);
    const auto ones = OneOperation(type, type, "popcnt", "", 1);
    const auto zeros = OneOperation(type, type, "count-leading-zeros", "", 1);
    const auto wider = OneOperation(type, "s32", "convert", "", 1);
    const auto other = OneOperation(type, is_signed ? "u8" : "s8", "convert", "", 1);
    const auto of = [](const auto& module, std::vector<Number> numbers) {
      return IntegerOf(ApplyToNumbers(*module->entry_computation()->root_instruction(), numbers));
    };
    for (int64_t a = is_signed ? -128 : 0; a < (is_signed ? 128 : 256); ++a) {
      const auto byte = static_cast<uint8_t>(a);
      EXPECT_EQ(of(less, {a, int64_t{5}}), a < 5 ? 1 : 0);
      EXPECT_EQ(of(negated, {a}), Wrapped(-a, is_signed));
      EXPECT_EQ(of(size, {a}), Wrapped(std::abs(a), is_signed));
      EXPECT_EQ(of(sign, {a}), (a > 0) - (a < 0));
      EXPECT_EQ(of(not_a, {a}), Wrapped(~a, is_signed));
      EXPECT_EQ(of(ones, {a}), std::popcount(byte));
      EXPECT_EQ(of(zeros, {a}), std::countl_zero(byte));
      EXPECT_EQ(of(wider, {a}), a);
      EXPECT_EQ(of(other, {a}), Wrapped(a, !is_signed));
    }
  }
}

TEST(NumbersTest, FunctionsOfFloatsAreKnownWhereTheyAreExact) {
  const auto exponential = OneOperation("f32", "f32", "exponential", "", 1);
  const auto power = OneOperation("f32", "f32", "power", "", 2);
  const HloInstruction& exp = *exponential->entry_computation()->root_instruction();
  const HloInstruction& pow = *power->entry_computation()->root_instruction();
  const float infinity = std::numeric_limits<float>::infinity();
  const auto of = [](const HloInstruction& root,
                     std::vector<float> values) -> std::optional<float> {
    std::vector<Number> numbers;
    for (const float value : values) numbers.emplace_back(llvm::APFloat(value));
    const std::optional<Number> result = ApplyToNumbers(root, numbers);
    if (!result) return std::nullopt;
    return std::get<llvm::APFloat>(*result).convertToFloat();
  };
  EXPECT_EQ(of(exp, {0.0F}), 1.0F);
  EXPECT_EQ(of(exp, {-infinity}), 0.0F);
  EXPECT_EQ(of(exp, {infinity}), infinity);
  EXPECT_EQ(of(exp, {1.0F}), std::nullopt);
  for (const float x : {-2.5F, 0.0F, 3.0F, infinity}) {
    EXPECT_EQ(of(pow, {x, 0.0F}), 1.0F);
    EXPECT_EQ(of(pow, {x, 1.0F}), x);
    EXPECT_EQ(of(pow, {x, 2.0F}), std::nullopt);
  }
}

TEST(NumbersTest, PredicatesHaveNoArithmetic) {
  for (const char* opcode : {"and", "or", "xor", "maximum", "minimum"}) {
    const auto module = OneOperation("pred", "pred", opcode, "", 2);
    ASSERT_NE(module, nullptr);
    const HloInstruction& root = *module->entry_computation()->root_instruction();
    for (const int64_t a : {0, 1}) {
      for (const int64_t b : {0, 1}) {
        const std::string name = opcode;
        const bool expected = name == "xor"                        ? a != b
                              : name == "and" || name == "minimum" ? (a & b) != 0
                                                                   : (a | b) != 0;
        EXPECT_EQ(IntegerOf(ApplyToNumbers(root, {a, b})), expected ? 1 : 0) << name << a << b;
      }
    }
  }
  const auto add = OneOperation("pred", "pred", "add", "", 2);
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(ApplyToNumbers(*add->entry_computation()->root_instruction(), {int64_t{1}, int64_t{1}}),
            std::nullopt);
}

}  // namespace
}  // namespace xla_indexing::internal

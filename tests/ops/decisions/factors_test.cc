// Factors of which only whether they are 0 matters, against the functions of C++.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/ops/decisions/dependence_pairs.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing::internal {
namespace {

class FactorsTest : public DependenceTest {};

struct FloatFunction {
  std::string text;  // of $c, an f32[4,6]; what $f is called
  double (*value)(double);
};

std::vector<FloatFunction> FloatFunctions() {
  return {
      {"$f = f32[4,6] sine($c)", [](double c) { return std::sin(c); }},
      {"$f = f32[4,6] sinh($c)", [](double c) { return std::sinh(c); }},
      {"$f = f32[4,6] tan($c)", [](double c) { return std::tan(c); }},
      {"$f = f32[4,6] tanh($c)", [](double c) { return std::tanh(c); }},
      {"$f = f32[4,6] erf($c)", [](double c) { return std::erf(c); }},
      {"$f = f32[4,6] sqrt($c)", [](double c) { return std::sqrt(c); }},
      {"$f = f32[4,6] cbrt($c)", [](double c) { return std::cbrt(c); }},
      {"$f = f32[4,6] exponential-minus-one($c)", [](double c) { return std::expm1(c); }},
      {"$f = f32[4,6] log-plus-one($c)", [](double c) { return std::log1p(c); }},
      {"$f = f32[4,6] negate($c)", [](double c) { return -c; }},
      {"$f = f32[4,6] abs($c)", [](double c) { return std::abs(c); }},
      {"$f = f32[4,6] divide($c, two)", [](double c) { return c / 2; }},
      {"$f = f32[4,6] cosine($c)", [](double c) { return std::cos(c); }},
      {"$f = f32[4,6] cosh($c)", [](double c) { return std::cosh(c); }},
      {"$f_next = f32[4,6] add($c, two)\n  $f = f32[4,6] rsqrt($f_next)",
       [](double c) { return 1 / std::sqrt(c + 2); }},
      {"$f = f32[4,6] exponential($c)", [](double c) { return std::exp(c); }},
      {"$f = f32[4,6] power(two, $c)", [](double c) { return std::pow(2, c); }},
      {"$f_power = f32[4,6] power(two, $c)\n  $f = f32[4,6] divide(two, $f_power)",
       [](double c) { return 2 / std::pow(2, c); }},
  };
}

constexpr double kColumns[] = {0, 0.5, 3, 0, 1, 8.5};
constexpr char kConstants[] = R"(
  column = f32[6] constant({0, 0.5, 3, 0, 1, 8.5})
  columns = f32[4,6] broadcast(column), dimensions={1}
  row = f32[4] iota(), iota_dimension=0
  rows = f32[4,6] broadcast(row), dimensions={0}
  scalar = f32[] constant(2)
  two = f32[4,6] broadcast(scalar), dimensions={}
)";

// The factor in row i and column k is tanh(f(columns[k]) * g(i)), moved by a reverse along columns.
TEST_F(FactorsTest, OnlyZerosDecide) {
  for (const FloatFunction& f : FloatFunctions()) {
    for (const FloatFunction& g : FloatFunctions()) {
      const std::string text = Entry(absl::StrCat(
          kConstants, "  ", absl::StrReplaceAll(f.text, {{"$f", "f"}, {"$c", "columns"}}), "\n  ",
          absl::StrReplaceAll(g.text, {{"$f", "g"}, {"$c", "rows"}}), R"(
  product = f32[4,6] multiply(f, g)
  moved = f32[4,6] reverse(product), dimensions={1}
  tangent = f32[4,6] tanh(moved)
  ROOT r = f32[4,6] multiply(tangent, x))"));
      const auto is_factor = [&](int64_t i, int64_t k) {
        return f.value(kColumns[5 - k]) != 0 && g.value(static_cast<double>(i)) != 0;
      };
      EXPECT_EQ(DependsOn(text, Dependence::kFiniteValues), Where(4, 6, is_factor)) << text;
    }
  }
}

TEST_F(FactorsTest, WhatInfiniteConstantsAreMadeOfMayBeZero) {
  for (const char* factor :
       {"divide(rows, large)", "rsqrt(large)", "power(two, minus)", "exponential(minus)"}) {
    const std::string text = Entry(absl::StrCat(kConstants, R"(
  infinite = f32[] constant(inf)
  large = f32[4,6] broadcast(infinite), dimensions={}
  minus = f32[4,6] negate(large)
  factor = f32[4,6] )",
                                                factor, R"(
  ROOT r = f32[4,6] multiply(factor, x))"));
    const auto module = ParseAndVerifyModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    // It may be left open, and is not said to matter.
    for (const IndexingEntry& entry : EntriesOf(**module, Dependence::kFiniteValues)) {
      EXPECT_FALSE(entry.indexing.label().IsExact()) << text;
    }
  }
}

TEST_F(FactorsTest, SumsOfFunctionsAreNotSaidToBeData) {
  const std::string text = Entry(absl::StrCat(kConstants, R"(
  power = f32[4,6] exponential(rows)
  one = f32[] constant(1)
  ones = f32[4,6] broadcast(one), dimensions={}
  factor = f32[4,6] subtract(power, ones)
  ROOT r = f32[4,6] multiply(factor, x))"));
  EXPECT_EQ(ExactnessOf(text), Exactness::kOverApproximate);
}

TEST_F(FactorsTest, ProductsWithDataAreZeroWhereTheModuleSaysSo) {
  const std::string text = Entry(absl::StrCat(Triangle("f32"), R"(
  y = f32[4,6] parameter(1)
  part = f32[4,6] multiply(mask, y)
  angle = f32[4,6] sine(part)
  quotient = f32[4,6] divide(angle, y)
  ROOT r = f32[4,6] multiply(quotient, x))"));
  EXPECT_EQ(DependsOn(text, Dependence::kFiniteValues), Where(4, 6, IsInTriangle));
}

}  // namespace
}  // namespace xla_indexing::internal

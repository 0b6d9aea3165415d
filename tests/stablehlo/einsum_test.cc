// Equations of einsum, against their definition: element `o` of the result is the sum, over the values of the letters
// that it has not, of the product of the elements that the letters of the operands name.
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/dependence.h"
#include "tests/testing/seed.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/query/equivalence/equivalence.h"
#include "xla_indexing/stablehlo/stablehlo_reader.h"

namespace xla_indexing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::map<char, int64_t> kSizes = {{'a', 2}, {'b', 3}, {'c', 1}, {'d', 4}};

struct Equation {
  std::vector<std::string> operands;
  std::string result;
  std::set<char> letters;  // Of the operands.
};

std::string SizesText(const std::string& letters) {
  std::string text;
  for (const char letter : letters) absl::StrAppend(&text, kSizes.at(letter), "x");
  return text;
}

std::string LetteredType(const std::string& letters) {
  return absl::StrCat("tensor<", SizesText(letters), "f32>");
}

// `may_repeat`: an operand may have a letter twice.
Equation RandomEquation(std::mt19937_64* random, bool may_repeat) {
  const auto below = [&](uint64_t n) { return (*random)() % n; };
  Equation equation;
  equation.operands.resize(1 + below(2));
  for (std::string& operand : equation.operands) {
    const size_t rank = below(4);
    while (operand.size() < rank) {
      const char letter = "abcd"[below(4)];
      if (!may_repeat && operand.find(letter) != std::string::npos) continue;
      operand.push_back(letter);
      equation.letters.insert(letter);
    }
  }
  for (const char letter : equation.letters) {
    if (below(2) == 0) equation.result.insert(below(equation.result.size() + 1), 1, letter);
  }
  return equation;
}

std::string StableHloOf(const Equation& equation) {
  std::vector<std::string> arguments, values, types;
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    types.push_back(LetteredType(equation.operands[i]));
    values.push_back(absl::StrCat("%p", i));
    arguments.push_back(absl::StrCat(values[i], ": ", types[i]));
  }
  const std::string result = LetteredType(equation.result);
  return absl::StrCat("func.func @main(", absl::StrJoin(arguments, ", "), ") -> ", result,
                      " {\n  %r = \"stablehlo.", values.size() == 1 ? "unary_" : "", "einsum\"(",
                      absl::StrJoin(values, ", "), ") <{einsum_config = \"",
                      absl::StrJoin(equation.operands, ","), "->", equation.result, "\"}> : (",
                      absl::StrJoin(types, ", "), ") -> ", result, "\n  return %r : ", result,
                      "\n}\n");
}

// The position of the element that these letters name.
int64_t PositionOf(const std::string& letters, const std::map<char, int64_t>& values) {
  int64_t position = 0;
  for (const char letter : letters) {
    position = position * kSizes.at(letter) + values.at(letter);
  }
  return position;
}

// What the result reads of each operand, by going through all values of all letters.
std::vector<std::set<std::pair<int64_t, int64_t>>> ReadsOf(const Equation& equation) {
  std::vector<std::set<std::pair<int64_t, int64_t>>> reads(equation.operands.size());
  std::map<char, int64_t> values;
  for (const char letter : equation.letters) values[letter] = 0;
  while (true) {
    for (size_t i = 0; i < reads.size(); ++i) {
      reads[i].insert(
          {PositionOf(equation.result, values), PositionOf(equation.operands[i], values)});
    }
    auto next = values.begin();
    while (next != values.end() && ++next->second == kSizes.at(next->first)) {
      next->second = 0;
      ++next;
    }
    if (next == values.end()) return reads;
  }
}

TEST(StableHloEinsum, ReadsWhatItsEquationNames) {
  std::mt19937_64 random(Seeded(41));
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    const Equation equation = RandomEquation(&random, /*may_repeat=*/true);
    const std::string text = StableHloOf(equation);
    const auto module = ReadAndVerifyStableHlo(text);
    ASSERT_TRUE(module.ok()) << module.status() << text;
    const HloComputation& entry = *(*module)->entry_computation();
    const auto arguments = reference::RandomArguments(entry, 1);
    const auto dependence =
        reference::DependenceOfComputation(entry, reference::Pointers(arguments), 1);
    ASSERT_TRUE(dependence.ok()) << dependence.status() << text;
    const auto reads = ReadsOf(equation);
    for (size_t operand = 0; operand < reads.size(); ++operand) {
      const reference::Relation expected(reads[operand].begin(), reads[operand].end());
      EXPECT_EQ(dependence->at({0, static_cast<int64_t>(operand), 0}), expected) << text;
    }
  }
}

// The definition as HLO, where no operand has a letter twice: both in the dimensions of all letters, the product,
// the sum over those that the result has not, and these in its order.
std::string DefinitionOf(const Equation& equation) {
  std::string kept, summed;
  for (const char letter : equation.letters) {
    (equation.result.find(letter) == std::string::npos ? summed : kept).push_back(letter);
  }
  const std::string all = kept + summed;
  const auto shape = [](const std::string& letters) {
    std::string sizes = SizesText(letters);
    for (char& c : sizes) c = c == 'x' ? ',' : c;
    if (!sizes.empty()) sizes.pop_back();
    return absl::StrCat("f32[", sizes, "]");
  };
  const auto places = [](const std::string& letters, const std::string& in) {
    std::vector<size_t> dims;
    for (const char letter : letters) dims.push_back(in.find(letter));
    return absl::StrCat("dimensions={", absl::StrJoin(dims, ","), "}");
  };
  std::string text =
      "HloModule m\nadd {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
      "  ROOT s = f32[] add(x, y)\n}\nENTRY main {\n";
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    const std::string& own = equation.operands[i];
    absl::StrAppend(&text, "  p", i, " = ", shape(own), " parameter(", i, ")\n");
    absl::StrAppend(&text, "  b", i, " = ", shape(all), " broadcast(p", i, "), ", places(own, all),
                    "\n");
  }
  absl::StrAppend(&text, "  m = ", shape(all),
                  equation.operands.size() == 1 ? " copy(b0)" : " multiply(b0, b1)",
                  "\n  z = f32[] constant(0)\n  r = ", shape(kept), " reduce(m, z), ",
                  places(summed, all), ", to_apply=add\n  ROOT t = ", shape(equation.result),
                  " transpose(r), ", places(equation.result, kept), "\n}\n");
  return text;
}

TEST(StableHloEinsum, MultipliesWhatItsEquationNames) {
  std::mt19937_64 random(Seeded(14));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int decided = 0;
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    const Equation equation = RandomEquation(&random, /*may_repeat=*/false);
    const std::string text = StableHloOf(equation), definition = DefinitionOf(equation);
    const auto module = ReadAndVerifyStableHlo(text);
    ASSERT_TRUE(module.ok()) << module.status() << text;
    const auto expected = ParseAndVerifyModule(definition);
    ASSERT_TRUE(expected.ok()) << expected.status() << definition;
    const auto report =
        CompareReads(*(*module)->entry_computation(), *(*expected)->entry_computation(), &context);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->reads, Answer::kYes) << text << definition;
    EXPECT_NE(report->meets, Answer::kNo) << text << definition;
    decided += report->meets == Answer::kYes ? 1 : 0;
  }
  EXPECT_GT(decided, 180);
}

TEST(StableHloEinsum, TakesTwoOperands) {
  const Equation equation = {{"a", "a", "a"}, "a", {'a'}};
  const auto module = ReadAndVerifyStableHlo(StableHloOf(equation));
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(std::string(module.status().message()),
              HasSubstr("a part for each of 2 operands is expected"));
}

TEST(StableHloEinsum, EquationsThatAreNoneAreErrors) {
  const std::vector<std::pair<std::string, std::string>> equations = {
      {"", "an equation such as ab,bc->ac"},
      {"ab,bd", "an equation such as ab,bc->ac"},
      {"ab->a", "a part for each of 2 operands"},
      {"ab,bd,a->d", "a part for each of 2 operands"},
      {"ab,bd->a->d", "an equation such as ab,bc->ac"},
      {"ab,b->ad", "'b' is not a letter for each dimension of f32[3,4]"},
      {"ab,b1->ad", "'b1' is not a letter for each dimension of f32[3,4]"},
      {"...b,bd->ad", "'...b' is not a letter for each dimension of f32[2,3]"},
      {"ab,bd->a", "'a' is not a letter for each dimension of f32[2,4]"},
      {"ab,bd->ae", "no operand has 'e'"},
      {"ab,bd->aa", "the result has 'a' twice"},
      {"ab,da->bd", "'a' stands for 2 and 4"},
      {"aa,bd->ad", "'a' stands for 2 and 3"},
  };
  for (const auto& [equation, message] : equations) {
    const auto module = ReadAndVerifyStableHlo(
        absl::StrCat("func.func @main(%p: tensor<2x3xf32>, %q: tensor<3x4xf32>) {\n"
                     "  %r = \"stablehlo.einsum\"(%p, %q) <{einsum_config = \"",
                     equation,
                     "\"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>\n"
                     "  return\n}\n"),
        "m.mlir");
    ASSERT_FALSE(module.ok()) << equation;
    EXPECT_THAT(std::string(module.status().message()),
                AllOf(HasSubstr("m.mlir:2:8: error: 'stablehlo.einsum'"), HasSubstr(message)))
        << equation;
  }
}

}  // namespace
}  // namespace xla_indexing

// Chains of one algebra take over what others have found (affine/mixed_radix/known_steps.h): wherever
// what the sources of a number say is true, what is known of it has to be true.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "tests/testing/effort.h"
#include "tests/testing/number_value.h"
#include "tests/testing/random.h"
#include "xla_indexing/affine/mixed_radix/number_rules.h"
#include "xla_indexing/affine/mixed_radix/number_sources.h"
#include "xla_indexing/affine/mixed_radix/positional.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

using Values = std::vector<int64_t>;
using Numbers = llvm::SmallVector<Number, 4>;

// Whether what the sources of the numbers say of their values is true there.
bool HoldsAt(const PositionalAlgebra& algebra, llvm::ArrayRef<Number> numbers,
             const Values& variables) {
  return llvm::all_of(numbers, [&](const Number& number) {
    return llvm::all_of(number, [&](const Digit& digit) {
      if (digit.IsConstant()) return true;
      const PositionalAlgebra::Source& source = algebra.source(digit.source);
      if (!HoldsAt(algebra, source.number, variables)) return false;
      if (source.kind != PositionalAlgebra::Source::Kind::kLinear) return true;
      const int64_t value =
          source.factor * ValueOfNumber(algebra, source.number, variables) + source.offset;
      return value >= source.least && value <= source.greatest && value % source.modulus == 0;
    });
  });
}

// The row-major position of the indices.
int64_t PositionAt(const PositionalAlgebra& algebra, llvm::ArrayRef<Number> indices,
                   const Values& variables) {
  int64_t position = 0;
  for (const Number& index : indices) {
    position = position * SizeOf(index) + ValueOfNumber(algebra, index, variables);
  }
  return position;
}

// Variables of these sizes, and chains of them.
class NumberFacts {
 public:
  explicit NumberFacts(const Values& sizes) : sizes_(sizes) {
    for (const int64_t size : sizes) variables_.push_back(algebra_.AddVariable(size));
  }

  PositionalAlgebra& algebra() { return algebra_; }
  const Number& variable(int position) const { return variables_[position]; }

  // Expects the position of `made` to be `offset` behind that of these indices, wherever
  // what the sources of these say is true and there is such a place.
  void ExpectEverywhere(llvm::ArrayRef<Number> indices, int64_t offset, llvm::ArrayRef<Number> made,
                        const std::string& which) {
    int64_t places = 1;
    for (const Number& index : made) places *= SizeOf(index);
    Values values(sizes_.size(), 0);
    do {
      if (!HoldsAt(algebra_, indices, values)) continue;
      const int64_t place = PositionAt(algebra_, indices, values) + offset;
      if (place < 0 || place >= places) continue;
      ASSERT_EQ(PositionAt(algebra_, made, values), place) << which << At(values);
      ASSERT_TRUE(HoldsAt(algebra_, made, values)) << which << At(values);
    } while (Next(values));
  }

 private:
  static std::string At(const Values& values) {
    return absl::StrCat(" at ", absl::StrJoin(values, ", "));
  }
  bool Next(Values& values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (++values[i] < sizes_[i]) return true;
      values[i] = 0;
    }
    return false;
  }

  const Values sizes_;
  PositionalAlgebra algebra_;
  Numbers variables_;
};

struct Step {
  int64_t factor = 1;
  int64_t offset = 0;
  int64_t divisor = 1;
  int64_t size = 0;

  std::string ToString() const {
    return absl::StrCat(" (x * ", factor, " + ", offset, ") / ", divisor, " of ", size);
  }
};

std::vector<Step> SmallSteps() {
  std::vector<Step> steps;
  for (const int64_t size : {2, 3, 4, 6, 8}) {
    for (int64_t divisor = 1; divisor <= 3; ++divisor) {
      for (int64_t offset = -10; offset <= 10; ++offset) {
        for (const int64_t factor : {-3, -2, -1, 1, 2, 3}) {
          steps.push_back({factor, offset, divisor, size});
        }
      }
    }
  }
  return steps;
}

// What a step makes of a variable is reshaped to rows of `row`. Another chain comes to the rows.
void ExpectPositionsOfRows(int64_t size, const Step& step, int64_t row) {
  NumberFacts chains({size});
  PositionalAlgebra& algebra = chains.algebra();
  const auto moved =
      algebra.Affine(chains.variable(0), step.factor, step.offset, step.divisor, step.size);
  if (!moved) return;
  const auto rows = algebra.Reshape({*moved}, {step.size / row, row});
  ASSERT_TRUE(rows.has_value());
  const auto position = algebra.Reshape(*rows, {step.size});
  ASSERT_TRUE(position.has_value());
  chains.ExpectEverywhere(*rows, 0, *position,
                          absl::StrCat(size, step.ToString(), " in rows of ", row));
}

TEST(NumberFactsTest, PositionsAreThoseOfTheirRowsInAnyChain) {
  for (int64_t size = 1; size <= 9; ++size) {
    for (const Step& step : SmallSteps()) {
      for (int64_t row = 1; row <= step.size; ++row) {
        if (step.size % row == 0) ExpectPositionsOfRows(size, step, row);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

// What a step makes of a variable is moved further. Another chain comes to where it is then, and is
// moved back.
TEST(NumberFactsTest, NumbersAreMovedBackInAnyChain) {
  for (int64_t size = 1; size <= 9; ++size) {
    for (const Step& step : SmallSteps()) {
      for (int64_t offset = 0; offset <= 3; ++offset) {
        NumberFacts chains({size});
        PositionalAlgebra& algebra = chains.algebra();
        const auto moved =
            algebra.Affine(chains.variable(0), step.factor, step.offset, step.divisor, step.size);
        if (!moved) continue;
        const auto there = algebra.Affine(*moved, 1, offset, 1, step.size + 3);
        ASSERT_TRUE(there.has_value());
        const auto back = algebra.Affine(*there, 1, -offset, 1, step.size);
        ASSERT_TRUE(back.has_value());
        chains.ExpectEverywhere({*there}, -offset, {*back},
                                absl::StrCat(size, step.ToString(), " and ", offset));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Some rows of an array, whose least index may be turned, are flattened. Another chain comes to the
// position.
void ExpectRowsOfPosition(const Values& sizes, bool is_turned, int64_t row, int64_t first,
                          int64_t count) {
  NumberFacts chains(sizes);
  PositionalAlgebra& algebra = chains.algebra();
  Number least = chains.variable(1);
  if (is_turned) internal::Reverse(least);
  const int64_t num_rows = sizes[0] * sizes[1] / row;
  const auto rows = algebra.Reshape({chains.variable(0), least}, {num_rows, row});
  ASSERT_TRUE(rows.has_value());
  const auto slice = algebra.Affine((*rows)[0], 1, -first, 1, count);
  if (!slice) return;
  const auto position = algebra.Reshape({*slice, (*rows)[1]}, {count * row});
  ASSERT_TRUE(position.has_value());
  const auto back = algebra.Reshape(*position, {count, row});
  ASSERT_TRUE(back.has_value());
  chains.ExpectEverywhere(*position, 0, *back,
                          absl::StrCat(absl::StrJoin(sizes, ", "), is_turned ? " turned" : "",
                                       " in rows of ", row, " of which ", count, " from ", first));
}

TEST(NumberFactsTest, RowsAreThoseOfTheirPositionInAnyChain) {
  CasesInTurn cases;
  for (int64_t a = 1; a <= 4; ++a) {
    for (int64_t b = 1; b <= 12; ++b) {
      for (int64_t row = 1; row <= a * b; ++row) {
        if (a * b % row != 0) continue;
        for (int64_t first = 0; first < a * b / row; ++first) {
          for (int64_t count = 1; first + count <= a * b / row; ++count) {
            for (const bool is_turned : {false, true}) {
              if (!cases.IsNextTried()) continue;
              ExpectRowsOfPosition({a, b}, is_turned, row, first, count);
              if (HasFatalFailure()) return;
            }
          }
        }
      }
    }
  }
}

// A linear source of x / divisor, or of its reverse, where x is a variable, which is one more source.
struct FactsOf {
  uint32_t x = 0;
  int64_t divisor = 1;
  bool is_turned = false;
  NumberSource source;
};

// Of a variable with so many values.
FactsOf RandomFacts(int64_t size, llvm::ArrayRef<uint32_t> variables, Random& random) {
  FactsOf facts;
  facts.x = random.Pick(variables);
  facts.is_turned = random.OneIn(4);
  do {
    facts.divisor = random.Between(1, 4);
  } while (size % facts.divisor != 0);
  NumberSource& source = facts.source;
  source.kind = NumberSource::Kind::kLinear;
  source.number = {{facts.divisor, size / facts.divisor, facts.x, facts.is_turned}};
  do {
    source.factor = random.Between(1, 4);
    source.modulus = random.Between(1, 4);
  } while (Gcd(source.factor, source.modulus) != 1);
  source.offset = random.Between(-6, 6);
  source.least = random.Between(0, 6);
  source.greatest = source.least + random.Between(0, 30);
  return facts;
}

bool IsTrue(const FactsOf& facts, int64_t size, int64_t x) {
  const int64_t rounded = x / facts.divisor;
  const int64_t number = facts.is_turned ? size / facts.divisor - 1 - rounded : rounded;
  const int64_t value = facts.source.factor * number + facts.source.offset;
  return value >= facts.source.least && value <= facts.source.greatest &&
         value % facts.source.modulus == 0;
}

// What one linear source says follows from what another says, if it is said to.
TEST(NumberFactsTest, WhatIsSaidFollows) {
  int following = 0;
  for (int seed = 0; seed < Cases(40000); ++seed) {
    Random random(seed);
    PositionalState state;
    const int64_t size = random.Pick(Values{4, 6, 8, 12});
    std::vector<uint32_t> variables(2);
    for (uint32_t& id : variables) {
      NumberSource variable;
      variable.greatest = size - 1;
      id = state.sources.Add(variable);
    }
    FactsOf known = RandomFacts(size, variables, random);
    FactsOf asked = RandomFacts(size, variables, random);
    const auto number = [&](const FactsOf& facts) {
      const uint32_t id = state.sources.Intern(facts.source);
      return Number{{1, facts.source.greatest + 1, id, false}};
    };
    if (!SayAllOf(state, {number(known)}, {number(asked)})) continue;
    for (int64_t x = 0; x < size; ++x) {
      for (int64_t y = 0; y < size; ++y) {
        if (!IsTrue(known, size, x)) continue;
        ++following;
        ASSERT_TRUE(IsTrue(asked, size, asked.x == known.x ? x : y)) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(following, Cases(10000));
}

}  // namespace
}  // namespace xla_indexing::internal

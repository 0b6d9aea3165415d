// Indices that are computed with floats, against the same computation in the processor's own
// arithmetic: float for f32, double for f64, and for f16 and bf16 double rounded to their digits, which
// is the same as rounding once because double has more than twice as many and two more.
#include "xla_indexing/ops/values/cases/float_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/ops/indexing_test.h"
#include "tests/testing/random.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing::internal {
namespace {

// A float type, and the significant bits of its numbers.
struct FloatType {
  const char* name;
  int digits;
};
constexpr FloatType kTypes[] = {{"f16", 11}, {"bf16", 8}, {"f32", 24}, {"f64", 53}};

// The nearest number of these significant bits, ties to even; for numbers in the range of the type.
double RoundTo(int digits, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, digits)), exponent - digits);
}

class FloatValuesTest : public IndexingTest {
 protected:
  // The rows of p = f32[rows] that a gather at the indices s32[n,1] `start` takes, in the order of
  // its result, by its folded maps; none where a runtime variable stays.
  std::optional<std::vector<int64_t>> Gathered(int rows, int n, absl::string_view text) {
    const HloInstruction* root = Entry(absl::StrCat(
        "p = f32[", rows, "] parameter(0)\n", text, "\nROOT r = f32[", n,
        "] gather(p, start), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1}"));
    const absl::StatusOr<InstructionIndexing> entries =
        ComputeIndexing(*root, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 0});
    EXPECT_TRUE(entries.ok()) << entries.status();
    std::vector<int64_t> taken(n, -1);
    maps_ = 0;
    for (const IndexingEntry& entry : *entries) {
      if (entry.operand != 0) continue;
      for (const OperandIndexing& indexing : entry.indexing) {
        ++maps_;
        EXPECT_TRUE(indexing.IsExact());
        if (!indexing.bindings().empty()) return std::nullopt;
        for (int64_t d = 0; d < n; ++d) {
          const auto is_inside = indexing.map().Contains({d}, {});
          EXPECT_TRUE(is_inside.ok()) << is_inside.status();
          if (!*is_inside) continue;
          EXPECT_EQ(taken[d], -1) << "pieces overlap";
          taken[d] = (*indexing.map().Evaluate({d}, {}))[0];
        }
      }
    }
    return taken;
  }

  size_t maps_ = 0;
};

// floor((i + 0.5) * from / to) for i < to.
TEST_F(FloatValuesTest, NearestNeighboursOfEverySize) {
  for (const FloatType& type : kTypes) {
    for (int from = 1; from <= 12; ++from) {
      for (int to = 1; to <= 24; ++to) {
        const std::string shape = absl::StrCat(type.name, "[", to, ",1]");
        const auto filled = [&](absl::string_view name, absl::string_view value) {
          return absl::StrCat(name, "s = ", type.name, "[] constant(", value, ")\n", name, " = ",
                              shape, " broadcast(", name, "s), dimensions={}\n");
        };
        const auto taken = Gathered(
            from, to,
            absl::StrCat("i = ", shape, " iota(), iota_dimension=0\n", filled("half", "0.5"),
                         filled("from", absl::StrCat(from)), filled("to", absl::StrCat(to)),
                         "a = ", shape, " add(i, half)\nm = ", shape,
                         " multiply(a, from)\nq = ", shape, " divide(m, to)\nf = ", shape,
                         " floor(q)\nstart = s32[", to, ",1] convert(f)"));
        ASSERT_TRUE(taken.has_value()) << type.name << " " << from << " " << to;
        EXPECT_EQ(maps_, 1) << type.name << " " << from << " " << to;
        for (int i = 0; i < to; ++i) {
          const double product = RoundTo(type.digits, (i + 0.5) * from);
          const double expected = std::floor(RoundTo(type.digits, product / to));
          EXPECT_EQ((*taken)[i], static_cast<int64_t>(expected))
              << type.name << " " << from << " " << to;
        }
      }
    }
  }
}

// Operations of floats, as HLO and in double; the result is rounded by whoever calls.
struct Operation {
  const char* name;
  int operands;
  std::function<double(double, double)> apply;
};
const std::vector<Operation>& Operations() {
  static const auto* const kOperations = new std::vector<Operation>{
      {"abs", 1, [](double x, double) { return std::fabs(x); }},
      {"add", 2, [](double x, double y) { return x + y; }},
      {"ceil", 1, [](double x, double) { return std::ceil(x); }},
      {"divide", 2, [](double x, double y) { return x / y; }},
      {"floor", 1, [](double x, double) { return std::floor(x); }},
      {"maximum", 2, [](double x, double y) { return std::fmax(x, y); }},
      {"minimum", 2, [](double x, double y) { return std::fmin(x, y); }},
      {"multiply", 2, [](double x, double y) { return x * y; }},
      {"negate", 1, [](double x, double) { return -x; }},
      {"remainder", 2, [](double x, double y) { return std::fmod(x, y); }},
      {"round-nearest-afz", 1, [](double x, double) { return std::round(x); }},
      {"round-nearest-even", 1, [](double x, double) { return std::nearbyint(x); }},
      {"sign", 1, [](double x, double) { return x > 0   ? 1.0
                                                : x < 0 ? -1.0
                                                        : x; }},
      {"subtract", 2, [](double x, double y) { return x - y; }},
  };
  return *kOperations;
}

// Random computations of one float from the row's number and constants.
TEST_F(FloatValuesTest, RandomComputationsAreWhatTheProcessorComputes) {
  constexpr int kRows = 40;
  int folded = 0;
  int made = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const FloatType& type = random.Pick(kTypes);
    const std::string shape = absl::StrCat(type.name, "[", kRows, ",1]");
    std::string text = absl::StrCat("v0 = ", shape, " iota(), iota_dimension=0\n");
    std::vector<std::vector<double>> values(1);
    for (int i = 0; i < kRows; ++i) values[0].push_back(i);
    for (int k = 1; k <= 3; ++k) {
      // It has few digits, so that it is the same in every type.
      const double value = static_cast<double>(random.Between(-24, 24)) / 8;
      absl::StrAppend(&text, "s", k, " = ", type.name, "[] constant(", value, ")\nv", k, " = ",
                      shape, " broadcast(s", k, "), dimensions={}\n");
      values.emplace_back(kRows, value);
    }
    for (int step = 0; step < 7; ++step) {
      const Operation& operation = random.Pick(Operations());
      const size_t x = random.Between(0, static_cast<int64_t>(values.size()) - 1);
      const size_t y = random.Between(0, static_cast<int64_t>(values.size()) - 1);
      absl::StrAppend(&text, "v", values.size(), " = ", shape, " ", operation.name, "(v", x);
      if (operation.operands == 2) absl::StrAppend(&text, ", v", y);
      absl::StrAppend(&text, ")\n");
      std::vector<double> results;
      for (int i = 0; i < kRows; ++i) {
        const double exact = operation.apply(values[x][i], values[y][i]);
        // In double a product of two f64 is rounded already.
        results.push_back(type.digits == 53 ? exact : RoundTo(type.digits, exact));
      }
      values.push_back(results);
    }
    // What no conversion is defined for, and what leaves the range of f16, is not followed.
    bool is_defined = true;
    for (const std::vector<double>& results : values) {
      for (const double value : results) {
        is_defined = is_defined && std::isfinite(value) && std::fabs(value) < 60000 &&
                     (value == 0 || std::fabs(value) > 1e-4);
      }
    }
    if (!is_defined) continue;
    ++made;
    absl::StrAppend(&text, "start = s32[", kRows, ",1] convert(v", values.size() - 1, ")");
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", text));
    constexpr int kSize = 1000;
    const auto taken = Gathered(kSize, kRows, text);
    if (!taken) continue;
    ++folded;
    for (int i = 0; i < kRows; ++i) {
      const auto start = static_cast<int64_t>(std::trunc(values.back()[i]));
      EXPECT_EQ((*taken)[i], std::min<int64_t>(std::max<int64_t>(start, 0), kSize - 1)) << i;
    }
  }
  EXPECT_GE(made, 150);
  // A runtime variable stays where a table has too many different values.
  EXPECT_GE(folded * 100, made * 95) << folded << " of " << made;
}

// A comparison of floats chooses, and what is not a number is less than nothing.
TEST_F(FloatValuesTest, ComparisonsOfFloatsAreFollowed) {
  for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
    for (const char* bound : {"2.5", "3", "nan"}) {
      const double limit = std::string(bound) == "nan" ? NAN : std::stod(bound);
      const std::string text = absl::StrCat(
          "i = f32[7,1] iota(), iota_dimension=0\nb = f32[] constant(", bound,
          ")\nbs = f32[7,1] broadcast(b), dimensions={}\nc = pred[7,1] compare(i, bs), direction=",
          direction, "\nstart = s32[7,1] convert(c)");
      const auto taken = Gathered(2, 7, text);
      ASSERT_TRUE(taken.has_value()) << text;
      for (int i = 0; i < 7; ++i) {
        const std::string d = direction;
        const bool expected = d == "EQ"   ? i == limit
                              : d == "NE" ? i != limit
                              : d == "LT" ? i < limit
                              : d == "LE" ? i <= limit
                              : d == "GT" ? i > limit
                                          : i >= limit;
        EXPECT_EQ((*taken)[i], expected ? 1 : 0) << text;
      }
    }
  }
}

TEST_F(FloatValuesTest, FloatsOfSeveralIndicesAreFollowed) {
  // Row i + 3 * j of 12, with both as floats: i from one iota, j from another.
  const HloInstruction* root = Entry(R"(
    p = f32[12] parameter(0)
    i = f32[3,4] iota(), iota_dimension=0
    j = f32[3,4] iota(), iota_dimension=1
    three = f32[] constant(3)
    threes = f32[3,4] broadcast(three), dimensions={}
    m = f32[3,4] multiply(j, threes)
    a = f32[3,4] add(i, m)
    start = s32[3,4] convert(a)
    ROOT r = f32[3,4] gather(p, start), offset_dims={}, collapsed_slice_dims={0},
      start_index_map={0}, index_vector_dim=2, slice_sizes={1})");
  EXPECT_EQ(OutputToInput(root).at(0),
            "0.0.0 (d0, d1) -> (d0 + d1 * 3), domain: d0 in [0, 2], d1 in [0, 3]");
}

TEST_F(FloatValuesTest, LiteralsOfFloatsAreFollowed) {
  const auto taken = Gathered(9, 4, R"(
    c = f32[2,2] constant({{0.75, 1.5}, {7.25, 3}})
    s = f32[4,1] reshape(c)
    start = s32[4,1] convert(s))");
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(*taken, (std::vector<int64_t>{0, 1, 7, 3}));
}

TEST_F(FloatValuesTest, WhatDiffersFromMachineToMachineIsNotFollowed) {
  const std::string begin = "i = f32[4,1] iota(), iota_dimension=0\n";
  const std::string end = "\nstart = s32[4,1] convert(f)";
  for (const std::string& text : std::vector<std::string>{
           // Functions without a definition to the last digit.
           "f = f32[4,1] exponential(i)",
           // What does not fit the integer.
           "s = f32[] constant(1e20)\nb = f32[4,1] broadcast(s), dimensions={}\n"
           "f = f32[4,1] multiply(i, b)",
           "z = f32[4,1] subtract(i, i)\nf = f32[4,1] divide(z, z)",
           // A subnormal number, which may count as zero: 1e-40 * 1e30 * 1e10.
           "s = f32[] constant(1e-40)\nt = f32[] constant(1e30)\nu = f32[] constant(1e10)\n"
           "v = f32[] multiply(s, t)\nw = f32[] multiply(v, u)\n"
           "f = f32[4,1] broadcast(w), dimensions={}",
           // What the program is given.
           "q = f32[] parameter(1)\nb = f32[4,1] broadcast(q), dimensions={}\n"
           "f = f32[4,1] add(i, b)"}) {
    EXPECT_FALSE(Gathered(100, 4, absl::StrCat(begin, text, end)).has_value()) << text;
  }
}

}  // namespace
}  // namespace xla_indexing::internal

// Random chains of reshapes, transposes, bitcasts and reverses, as HLO text, followed by their
// inverse: the identity map, literally, in both directions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/computation_indexing.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/parser.h"

namespace xla_indexing {
namespace {

using Sizes = std::vector<int64_t>;

// An array's sizes and its layout, minor to major.
struct ArrayType {
  Sizes sizes;
  Sizes layout;

  std::string ToString() const {
    return absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]{", absl::StrJoin(layout, ","), "}");
  }
};

struct Step {
  std::string opcode;
  Sizes dimensions;
  ArrayType from;
  ArrayType to;

  Step Inverse() const {
    Step inverse{opcode, dimensions, to, from};
    if (opcode == "transpose") {
      for (size_t i = 0; i < dimensions.size(); ++i) inverse.dimensions[dimensions[i]] = i;
    }
    return inverse;
  }
};

class ChainGenerator {
 public:
  explicit ChainGenerator(uint64_t seed) : rng_(seed) {}

  int64_t Int(int64_t lower, int64_t upper) {
    return std::uniform_int_distribution<int64_t>(lower, upper)(rng_);
  }

  ArrayType RandomArray() {
    ArrayType type;
    type.sizes.assign(Int(1, 4), 1);
    for (int64_t factor : factors_) type.sizes[Int(0, type.sizes.size() - 1)] *= factor;
    type.layout = RandomOrder(type.sizes.size());
    return type;
  }

  std::vector<Step> Chain(const Sizes& factors, int64_t length) {
    factors_ = factors;
    std::shuffle(factors_.begin(), factors_.end(), rng_);
    factors_.resize(Int(1, std::min<int64_t>(factors_.size(), 7)));
    std::vector<Step> chain;
    ArrayType type = RandomArray();
    for (int64_t i = 0; i < length; ++i) {
      Step step{"", {}, type, type};
      switch (Int(0, 3)) {
        case 0:
          step.opcode = "reshape";
          step.to = RandomArray();
          break;
        case 1:
          step.opcode = "bitcast";
          step.to = RandomArray();
          break;
        case 2:
          step.opcode = "transpose";
          step.dimensions = RandomOrder(type.sizes.size());
          for (size_t j = 0; j < type.sizes.size(); ++j) {
            step.to.sizes[j] = type.sizes[step.dimensions[j]];
          }
          break;
        default:
          step.opcode = "reverse";
          for (size_t j = 0; j < type.sizes.size(); ++j) {
            if (Int(0, 1) == 1) step.dimensions.push_back(j);
          }
          break;
      }
      type = step.to;
      chain.push_back(std::move(step));
    }
    return chain;
  }

 private:
  Sizes RandomOrder(size_t rank) {
    Sizes order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng_);
    return order;
  }

  std::mt19937_64 rng_;
  Sizes factors_;
};

std::string ToHlo(const std::vector<Step>& chain) {
  std::string text = absl::StrCat("f {\n  x0 = ", chain[0].from.ToString(), " parameter(0)\n");
  for (size_t i = 0; i < chain.size(); ++i) {
    const Step& step = chain[i];
    absl::StrAppend(&text, "  ", i + 1 == chain.size() ? "ROOT " : "", "x", i + 1, " = ",
                    step.to.ToString(), " ", step.opcode, "(x", i, ")");
    if (step.opcode == "transpose" || step.opcode == "reverse") {
      absl::StrAppend(&text, ", dimensions={", absl::StrJoin(step.dimensions, ","), "}");
    }
    text += "\n";
  }
  return text + "}\n";
}

std::string Identity(const Sizes& sizes) {
  std::vector<std::string> names, domain;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // A variable of one value is replaced by it.
    names.push_back(absl::StrCat("d", i));
    domain.push_back(absl::StrCat("d", i, " in [0, ", sizes[i] - 1, "]"));
  }
  std::vector<std::string> results;
  for (size_t i = 0; i < sizes.size(); ++i) results.push_back(sizes[i] == 1 ? "0" : names[i]);
  return absl::StrCat("(", absl::StrJoin(names, ", "), ") -> (", absl::StrJoin(results, ", "),
                      "), domain: ", absl::StrJoin(domain, ", "));
}

void ExpectIdentity(const absl::StatusOr<InstructionIndexing>& entries, const Sizes& sizes,
                    const std::string& text) {
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 1u) << text;
  const OperandIndexingSet& set = entries->front().indexing;
  ASSERT_EQ(set.size(), 1u) << text;
  OperandIndexing map = set.maps().front();
  EXPECT_TRUE(map.IsExact());
  map.Simplify();
  ASSERT_EQ(map.ToString(), Identity(sizes)) << text;
}

void ExpectRoundTrips(const Sizes& factors, int64_t max_length, int cases, uint64_t seed) {
  ChainGenerator generator(seed);
  for (int i = 0; i < cases; ++i) {
    std::vector<Step> chain = generator.Chain(factors, generator.Int(1, max_length));
    const Sizes sizes = chain.front().from.sizes;
    for (size_t j = chain.size(); j-- > 0;) chain.push_back(chain[j].Inverse());
    const std::string text = ToHlo(chain);
    auto module = ParseModule(text, "chain.hlo");
    ASSERT_TRUE(module.ok()) << module.status();
    const HloComputation& computation = *(*module)->entry_computation();
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    ExpectIdentity(ComputeOutputToInputIndexing(computation, &context), sizes, text);
    if (::testing::Test::HasFatalFailure()) return;
    ExpectIdentity(ComputeInputToOutputIndexing(computation, &context), sizes, text);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(RoundTripTest, SmallChainsThenInverseAreTheIdentity) {
  ExpectRoundTrips({2, 2, 2, 3, 3, 5, 7, 4, 1}, 8, 5000, 11);
}

TEST(RoundTripTest, LargeChainsThenInverseAreTheIdentity) {
  ExpectRoundTrips({3, 5, 7, 96, 768, 50257, 1024, 2, 2}, 16, 3000, 12);
}

}  // namespace
}  // namespace xla_indexing

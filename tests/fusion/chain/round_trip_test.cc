// Random chains of operations that move elements, as HLO text: followed by their inverse they are
// the identity map, literally, and chains for one function have one map, in both directions. That
// holds for all but at most one in two hundred: a fused source that is cut where another is keeps the cut
// (affine/mixed_radix/positional.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/hlo_chain.h"
#include "tests/testing/random.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

enum class Way { kOutputToInput, kInputToOutput };

ChainSizes Small() { return {2, 2, 2, 3, 3, 5, 7, 4, 1}; }
// Up to 2^62 elements.
ChainSizes Large() { return {3, 5, 7, 96, 768, 50257, 1024, 2, 2}; }

// The maps between the chain's parameter and its result, sorted, a line each.
std::string Maps(const HloChain& chain, Way way) {
  const auto module = ParseModule(ToHlo(chain), "chain.hlo");
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << ToHlo(chain);
  if (!module.ok()) return {};
  const HloComputation& computation = *(*module)->entry_computation();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto entries = way == Way::kOutputToInput
                           ? Entries(computation, Direction::kOutputToInput, &context)
                           : Entries(computation, Direction::kInputToOutput, &context);
  EXPECT_TRUE(entries.ok()) << entries.status();
  if (!entries.ok()) return {};
  std::vector<std::string> lines;
  for (const IndexingEntry& entry : *entries) {
    for (const OperandIndexing& map : entry.indexing) lines.push_back(map.ToString());
  }
  std::sort(lines.begin(), lines.end());
  return absl::StrJoin(lines, "\n");
}

std::string Identity(const ChainSizes& sizes) {
  std::vector<std::string> names, results, domain;
  for (size_t i = 0; i < sizes.size(); ++i) {
    names.push_back(absl::StrCat("d", i));
    // A variable of one value is replaced by it.
    results.push_back(sizes[i] == 1 ? "0" : names[i]);
    domain.push_back(absl::StrCat("d", i, " in [0, ", sizes[i] - 1, "]"));
  }
  return absl::StrCat("(", absl::StrJoin(names, ", "), ") -> (", absl::StrJoin(results, ", "),
                      "), domain: ", absl::StrJoin(domain, ", "));
}

// How many maps of so many chains, two of each, may keep what could cancel.
int MostOf(int chains) { return 1 + chains / 100; }

void ExpectRoundTrips(const ChainSizes& factors, int64_t max_length, unsigned kinds, int cases) {
  int different = 0;
  for (int i = 0; i < Cases(cases); ++i) {
    Random random(i);
    HloChain chain = RandomHloChain(factors, random.Between(1, max_length), kinds, random);
    const HloChain inverse = InverseHloChain(chain);
    chain.insert(chain.end(), inverse.begin(), inverse.end());
    for (const Way way : {Way::kOutputToInput, Way::kInputToOutput}) {
      const std::string of_chain = Maps(chain, way);
      const std::string identity = Identity(chain.front().from.sizes);
      if (of_chain == identity || ++different <= MostOf(Cases(cases))) continue;
      ADD_FAILURE() << ToHlo(chain) << of_chain << "\n\n" << identity;
    }
  }
}

TEST(RoundTripTest, SmallChainsThenInverseAreTheIdentity) {
  ExpectRoundTrips(Small(), 16, kReindexings, 12000);
}

TEST(RoundTripTest, LargeChainsThenInverseAreTheIdentity) {
  ExpectRoundTrips(Large(), 16, kReindexings, 8000);
}

TEST(RoundTripTest, PadsAndConcatenationsThatSlicesUndoAreTheIdentity) {
  ExpectRoundTrips(Small(), 8, kReindexings | kPlacing, 6000);
}

// Chains whose steps change places, are split in two, or have pairs put in that cancel.
void ExpectEqualMaps(const ChainSizes& factors, int64_t max_length, unsigned kinds, int cases) {
  int different = 0;
  for (int i = 0; i < Cases(cases); ++i) {
    Random random(i);
    const HloChain chain = RandomHloChain(factors, random.Between(1, max_length), kinds, random);
    const HloChain same = RewrittenHloChain(chain, random.Between(1, 8), random);
    ASSERT_FALSE(same.empty()) << ToHlo(chain);
    for (const Way way : {Way::kOutputToInput, Way::kInputToOutput}) {
      const std::string of_chain = Maps(chain, way);
      const std::string of_same = Maps(same, way);
      if (of_chain == of_same || ++different <= MostOf(Cases(cases))) continue;
      ADD_FAILURE() << ToHlo(chain) << of_chain << "\n\n" << ToHlo(same) << of_same;
    }
  }
}

TEST(EqualChainsTest, SmallReindexingsHaveOneMap) {
  ExpectEqualMaps(Small(), 8, kReindexings, 8000);
}

TEST(EqualChainsTest, LargeReindexingsHaveOneMap) {
  ExpectEqualMaps(Large(), 8, kReindexings, 3000);
}

// A slice also leaves constraints that follow from the others in a few of the chains.
TEST(EqualChainsTest, ReindexingsAndSlicesHaveOneMap) {
  ExpectEqualMaps(Small(), 6, kReindexings | kCutting, 5000);
}

TEST(EqualChainsTest, ChainsWithPadsAndConcatenationsHaveOneMap) {
  ExpectEqualMaps(Small(), 6, kReindexings | kCutting | kPlacing, 10000);
}

TEST(EqualChainsTest, LargeChainsWithPadsAndConcatenationsHaveOneMap) {
  ExpectEqualMaps(Large(), 6, kReindexings | kCutting | kPlacing, 2000);
}

}  // namespace
}  // namespace xla_indexing

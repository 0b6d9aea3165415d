// The maps of random chains of operations that move elements, compared with the place that every
// element goes to, step by step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/hlo_chain.h"
#include "tests/testing/random.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing {
namespace {

using Index = std::vector<int64_t>;
// Elements of the parameter and of the result.
using Moves = std::set<std::pair<Index, Index>>;

int64_t ElementCountOf(const ChainArray& array) {
  return std::accumulate(array.sizes.begin(), array.sizes.end(), int64_t{1}, std::multiplies<>());
}

Index RowMajorLayout(const ChainArray& array) {
  Index layout(array.sizes.size());
  std::iota(layout.rbegin(), layout.rend(), 0);
  return layout;
}

int64_t PlaceInMemory(const Index& index, const ChainArray& array, const Index& layout) {
  int64_t place = 0, stride = 1;
  for (const int64_t dim : layout) {
    place += index[dim] * stride;
    stride *= array.sizes[dim];
  }
  return place;
}

Index ElementAtPlace(int64_t place, const ChainArray& array, const Index& layout) {
  Index index(array.sizes.size());
  for (const int64_t dim : layout) {
    index[dim] = place % array.sizes[dim];
    place /= array.sizes[dim];
  }
  return index;
}

// Where the step puts an element, if it keeps it.
std::optional<Index> Moved(const ChainStep& step, Index index) {
  switch (step.opcode) {
    case ChainOpcode::kReshape:
      return ElementAtPlace(PlaceInMemory(index, step.from, RowMajorLayout(step.from)), step.to,
                            RowMajorLayout(step.to));
    case ChainOpcode::kBitcast:
      return ElementAtPlace(PlaceInMemory(index, step.from, step.from.layout), step.to,
                            step.to.layout);
    case ChainOpcode::kTranspose: {
      Index result;
      for (const int64_t dim : step.dimensions) result.push_back(index[dim]);
      return result;
    }
    case ChainOpcode::kReverse:
      for (const int64_t dim : step.dimensions) index[dim] = step.from.sizes[dim] - 1 - index[dim];
      return index;
    case ChainOpcode::kSlice:
      for (size_t i = 0; i < index.size(); ++i) {
        const int64_t from_start = index[i] - step.start[i];
        if (from_start < 0 || from_start % step.stride[i] != 0) return std::nullopt;
        index[i] = from_start / step.stride[i];
        if (index[i] >= step.to.sizes[i]) return std::nullopt;
      }
      return index;
    case ChainOpcode::kPad:
      for (size_t i = 0; i < index.size(); ++i) {
        index[i] = step.start[i] + index[i] * (step.stride[i] + 1);
      }
      return index;
    case ChainOpcode::kConcatenate:
      index[step.dimensions[0]] += step.start[0];
      return index;
  }
  return std::nullopt;
}

Moves MovesOf(const HloChain& chain) {
  Moves moves;
  const ChainArray& first = chain.front().from;
  for (int64_t i = 0; i < ElementCountOf(first); ++i) {
    const Index start = ElementAtPlace(i, first, RowMajorLayout(first));
    std::optional<Index> index = start;
    for (const ChainStep& step : chain) {
      if (index) index = Moved(step, *index);
    }
    if (index) moves.insert({start, *index});
  }
  return moves;
}

Moves MovesOf(const InstructionIndexing& indexing, int64_t max_points, bool is_backward) {
  Moves moves;
  for (const IndexingEntry& entry : indexing) {
    for (const OperandIndexing& map : entry.indexing) {
      EXPECT_TRUE(map.IsExact());
      const absl::Status status =
          map.map().ForEachPoint(max_points, [&](auto dims, auto, auto results) {
            Index from(dims.begin(), dims.end()), to(results.begin(), results.end());
            if (is_backward) std::swap(from, to);
            moves.insert({std::move(from), std::move(to)});
          });
      EXPECT_TRUE(status.ok()) << status;
    }
  }
  return moves;
}

void ExpectMapsOfElements(int64_t max_length, unsigned kinds, int cases) {
  constexpr int64_t kMaxElements = 2000;
  for (int i = 0; i < Cases(cases); ++i) {
    Random random(i);
    HloChain chain =
        RandomHloChain({2, 2, 2, 3, 3, 5}, random.Between(1, max_length), kinds, random);
    if (random.OneIn(2)) chain = RewrittenHloChain(chain, random.Between(1, 4), random);
    if (ElementCountOf(chain.front().from) > kMaxElements ||
        ElementCountOf(chain.back().to) > kMaxElements) {
      continue;
    }
    const auto module = ParseModule(ToHlo(chain), "chain.hlo");
    ASSERT_TRUE(module.ok()) << module.status();
    const HloComputation& computation = *(*module)->entry_computation();
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const Moves moves = MovesOf(chain);
    const auto backward = Entries(computation, Direction::kOutputToInput, &context);
    const auto forward = Entries(computation, Direction::kInputToOutput, &context);
    ASSERT_TRUE(backward.ok() && forward.ok());
    ASSERT_EQ(MovesOf(*backward, kMaxElements, true), moves) << i << "\n" << ToHlo(chain);
    ASSERT_EQ(MovesOf(*forward, kMaxElements, false), moves) << i << "\n" << ToHlo(chain);
  }
}

TEST(ChainElementsTest, ChainsOfReindexings) { ExpectMapsOfElements(8, kReindexings, 2000); }

TEST(ChainElementsTest, ChainsWithSlices) {
  ExpectMapsOfElements(6, kReindexings | kCutting, 3000);
}

TEST(ChainElementsTest, ChainsWithSlicesPadsAndConcatenations) {
  ExpectMapsOfElements(5, kReindexings | kCutting | kPlacing, 8000);
}

// Transposes and reshapes, one after the other, of 2^n * 3 elements: the factor of 3 crosses the
// others again and again.
HloChain RandomTransposesAndReshapes(const Index& first, int64_t length, Random& random) {
  const auto array = [](Index sizes) {
    ChainArray result{std::move(sizes), {}};
    result.layout = RowMajorLayout(result);
    return result;
  };
  HloChain chain;
  ChainArray from = array(first);
  const int64_t elements = ElementCountOf(from);
  for (int64_t i = 0; i < length; ++i) {
    ChainStep step;
    step.from = from;
    Index sizes;
    if (i % 2 == 0) {
      step.opcode = ChainOpcode::kTranspose;
      step.dimensions.resize(from.sizes.size());
      std::iota(step.dimensions.begin(), step.dimensions.end(), 0);
      random.Shuffle(&step.dimensions);
      for (const int64_t dim : step.dimensions) sizes.push_back(from.sizes[dim]);
    } else {
      sizes.assign(random.Between(2, 5), 1);
      for (int64_t left = elements; left > 1;) {
        const int64_t factor = left % 2 == 0 ? 2 : 3;
        sizes[random.Between(0, static_cast<int64_t>(sizes.size()) - 1)] *= factor;
        left /= factor;
      }
    }
    step.to = from = array(std::move(sizes));
    chain.push_back(std::move(step));
  }
  return chain;
}

// The one map of a module, to its parameter.
OperandIndexing MapOfChain(const HloModule& module, mlir::MLIRContext* context) {
  const auto entries = Entries(*module.entry_computation(), Direction::kOutputToInput, context);
  EXPECT_TRUE(entries.ok() && entries->size() == 1);
  if (!entries.ok() || entries->size() != 1) return OperandIndexing::Unknown(context, "no entry");
  const OperandIndexingSet& maps = entries->front().indexing;
  EXPECT_EQ(maps.size(), 1);
  if (maps.size() != 1) return OperandIndexing::Unknown(context, "no map");
  OperandIndexing map = maps.maps().front();
  EXPECT_TRUE(map.map().Verify().ok()) << map.map().Verify();
  return map;
}

// Their indices have more digits with every step. What is exact is right, and what would be too long
// says so and is the whole array.
TEST(ChainElementsTest, LongChainsOfTransposesAndReshapes) {
  int exact = 0;
  int too_long = 0;
  for (int i = 0; i < Cases(40); ++i) {
    Random random(i);
    const int64_t length = i % 2 == 0 ? 8 : 64;
    const HloChain chain = RandomTransposesAndReshapes({8, 4, 12, 4}, length, random);
    const auto module = ParseModule(ToHlo(chain), "chain.hlo");
    ASSERT_TRUE(module.ok()) << module.status();
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const ChainArray& from = chain.front().from;
    const OperandIndexing map = MapOfChain(**module, &context);
    if (!map.IsExact()) {
      ++too_long;
      EXPECT_EQ(map.label().reason, "whole tensor: the index expressions of a chain are too large");
      EXPECT_EQ(map.map().num_ranges(), from.sizes.size());
      continue;
    }
    ++exact;
    for (int64_t place = 0; place < ElementCountOf(from); ++place) {
      const Index start = ElementAtPlace(place, from, RowMajorLayout(from));
      Index end = start;
      for (const ChainStep& step : chain) end = *Moved(step, end);
      const auto results = map.map().Evaluate(end, {});
      ASSERT_TRUE(results.ok()) << results.status();
      ASSERT_EQ(Index(results->begin(), results->end()), start) << i << "\n" << ToHlo(chain);
    }
  }
  EXPECT_GT(exact, 0);
  EXPECT_GT(too_long, 0);
}

// Only what is written may be too long: a long chain and its inverse are the identity.
TEST(ChainElementsTest, ALongChainCancelsAgainstItsInverse) {
  Random random(1);
  HloChain chain = RandomTransposesAndReshapes({8, 128, 12, 64}, 64, random);
  for (const ChainStep& back : InverseHloChain(chain)) chain.push_back(back);
  const auto module = ParseModule(ToHlo(chain), "chain.hlo");
  ASSERT_TRUE(module.ok()) << module.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const OperandIndexing map = MapOfChain(**module, &context);
  EXPECT_EQ(map.MapToString(),
            "(d0, d1, d2, d3) -> (d0, d1, d2, d3), domain: d0 in [0, 7], d1 in [0, 127], "
            "d2 in [0, 11], d3 in [0, 63]");
}

}  // namespace
}  // namespace xla_indexing

#include "xla_indexing/ops/answers/subsumes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/map_pairs.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {
namespace {

class SubsumesTest : public ::testing::Test {
 protected:
  OperandIndexing Parse(const std::string& text) {
    IndexingMap map = ParseIndexingMap(text, &context_).value();
    map.Simplify();
    return OperandIndexing(kPartsFit, std::move(map));
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  const Shape to_ = Shape::Array(ElementType::kF32, {4, 1, 6});
};

constexpr char kRow[] =
    "(d0, d1)[s0] -> (d0, 0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 5]";

TEST_F(SubsumesTest, WhoeverReadsARowReadsItsElements) {
  EXPECT_TRUE(Subsumes(Parse(kRow),
                       Parse("(d0, d1) -> (d0, 0, d1), domain: d0 in [0, 3], d1 in [0, 5]"), to_));
  EXPECT_FALSE(Subsumes(
      Parse(kRow), Parse("(d0, d1) -> (3 - d0, 0, d1), domain: d0 in [0, 3], d1 in [0, 5]"), to_));
}

// A map that restricts its range variables, or has one in two results, covers none, not even itself.
TEST_F(SubsumesTest, WhatTheRuleAsksOfOneMapIsAskedOfItAlone) {
  EXPECT_TRUE(MaySubsumeOthers(Parse(kRow), to_));
  for (const char* text :
       {"(d0, d1)[s0] -> (d0, 0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 5], "
        "d1 + s0 in [0, 5]",
        "(d0, d1)[s0] -> (d0, 0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 4]",
        "(d0, d1)[s0] -> (s0, 0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 5]"}) {
    EXPECT_FALSE(MaySubsumeOthers(Parse(text), to_)) << text;
    EXPECT_FALSE(Subsumes(Parse(text), Parse(text), to_)) << text;
  }
}

// No range of a known size is all of an axis that has none.
TEST_F(SubsumesTest, AxesOfUnboundedSizeAreReadWholeByUnboundedRangesOnly) {
  Shape to = Shape::Scalar(ElementType::kF32);
  to.AddDimension(Shape::kUnboundedSize, /*is_dynamic=*/true);
  const OperandIndexing element = Parse("(d0) -> (d0), domain: d0 in [0, 9]");
  EXPECT_FALSE(
      Subsumes(Parse("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3]"), element, to));
  EXPECT_TRUE(
      Subsumes(Parse("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, inf]"), element, to));
}

TEST_F(SubsumesTest, SetsKeepWhatIsNotCovered) {
  OperandIndexingSet set;
  set.Add(Parse("(d0, d1) -> (d0, 0, d1), domain: d0 in [0, 3], d1 in [0, 5]"));
  set.Add(Parse(kRow));
  set.Add(Parse("(d0, d1) -> (3 - d0, 0, d1), domain: d0 in [0, 3], d1 in [0, 5]"));
  set.DropSubsumed(to_);
  ASSERT_EQ(set.size(), 2);
  EXPECT_EQ(set.maps()[0], Parse(kRow));
  EXPECT_EQ(set.maps()[1],
            Parse("(d0, d1) -> (3 - d0, 0, d1), domain: d0 in [0, 3], d1 in [0, 5]"));
}

// All pairs of maps of a family that has ranges too short, shared, strided and constrained, and
// dimensions and constraints that restrict.
TEST_F(SubsumesTest, ASubsumingMapHasAllPairs) {
  std::vector<OperandIndexing> maps;
  for (const char* first : {"d0", "s0", "3 - d0", "s1 floordiv 2", "s1"}) {
    for (const char* last : {"d1", "s0", "s1", "s0 + s1 - s1", "5 - s1", "d1 floordiv 2"}) {
      for (const char* most : {"3", "5"}) {
        for (const char* constraint : {"", ", d0 + d1 in [2, 5]", ", d0 + d1 in [2, 4]",
                                       ", s0 + d0 in [0, 3]", ", d1 mod 2 in [0, 0]"}) {
          for (const char* dims : {"d0 in [0, 3]", "d0 in [1, 3]"}) {
            maps.push_back(Parse("(d0, d1)[s0, s1] -> (" + std::string(first) + ", 0, " + last +
                                 "), domain: " + dims + ", d1 in [0, 5], s0 in [0, 3], s1 in [0, " +
                                 most + "]" + constraint));
          }
        }
      }
    }
  }
  std::vector<MapPairs> pairs;
  for (const OperandIndexing& map : maps) pairs.push_back(MapPairsOf(map));
  int covered = 0;
  for (size_t a = 0; a < maps.size(); ++a) {
    for (size_t b = 0; b < maps.size(); ++b) {
      if (!Subsumes(maps[a], maps[b], to_)) continue;
      ++covered;
      for (const auto& pair : pairs[b]) {
        ASSERT_TRUE(pairs[a].contains(pair) || pair.second[0] > 3 || pair.second[2] > 5)
            << maps[a].ToString() << "\n"
            << maps[b].ToString();
      }
    }
  }
  EXPECT_GT(covered, 1000);
}

}  // namespace
}  // namespace xla_indexing::internal

// What is said of two maps as pieces of a union, against their pairs, for all contents of the arrays that
// runtime variables read.

#include "xla_indexing/ops/answers/coalesce.h"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/ops/loops/closure/valued_maps.h"
#include "tests/testing/effort.h"
#include "tests/testing/map_pairs.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {
namespace {

// Maps between arrays of two dimensions: elements that stay, are turned round, come from a row or from
// a part of it, where one condition or another holds; with ranges that are too short, that are tied to
// a dimension, or in no result.
std::vector<std::string> Texts() {
  std::vector<std::string> texts;
  for (const char* results :
       {"d0, d1", "s0, d1", "3 - d0, s0", "d0 + s0, s1", "s0, s0", "s1, d1"}) {
    for (const char* dims : {"d0 in [0, 3]", "d0 in [1, 3]", "d0 in [0, 1]"}) {
      for (const char* first : {"s0 in [0, 3]", "s0 in [1, 2]"}) {
        for (const char* condition :
             {"", ", d0 - s0 in [0, 3]", ", d0 - s0 in [1, 3]", ", d0 + d1 in [2, 4]",
              ", d1 - s1 in [0, 0]", ", (d0 + d1) mod 2 in [0, 0]"}) {
          texts.push_back(absl::StrCat("(d0, d1)[s0, s1] -> (", results, "), domain: ", dims,
                                       ", d1 in [0, 3], ", first, ", s1 in [0, 2]", condition));
        }
      }
    }
  }
  return texts;
}

class CoalesceMapsTest : public ::testing::Test {
 protected:
  static std::optional<OperandIndexing> Both(const OperandIndexing& a, const OperandIndexing& b) {
    UnionMember of_a(a);
    UnionMember of_b(b);
    return of_a.Coalesced(of_b, Witness::kAny);
  }

  ValuedMaps maps_;
};

TEST_F(CoalesceMapsTest, ACoveringMapHasAllPairs) {
  std::vector<OperandIndexing> maps;
  std::vector<MapPairs> pairs;
  for (const std::string& text : Texts()) {
    maps.push_back(maps_.Map(text));
    pairs.push_back(MapPairsOf(maps.back()));
  }
  int covered = 0;
  for (size_t a = 0; a < maps.size(); ++a) {
    for (size_t b = 0; b < maps.size(); ++b) {
      if (!Covers(maps[a], maps[b])) continue;
      covered += a != b ? 1 : 0;
      ASSERT_TRUE(Includes(pairs[a], pairs[b])) << maps[a].ToString() << "\n" << maps[b].ToString();
    }
  }
  std::cout << covered << " of " << maps.size() * maps.size() << " pairs covered\n";
  EXPECT_GT(covered, 1000);
}

// Maps that read a table of two elements, whatever it holds.
TEST_F(CoalesceMapsTest, ACoveringMapHasAllPairsWhateverValuesAre) {
  std::vector<OperandIndexing> maps;
  for (const char* results : {"d0", "s0", "rt0", "d0 + rt0"}) {
    for (const char* values : {"rt0 in [0, 2]", "rt0 in [0, 0]", "rt0 in [1, 2]"}) {
      for (const char* condition : {"", ", d0 - rt0 in [0, 0]", ", d0 - rt0 in [1, 2]"}) {
        for (const char* element : {"0", "1", "s0", "d0"}) {
          maps.push_back(
              maps_.Map(absl::StrCat("(d0)[s0]{rt0} -> (", results,
                                     "), domain: d0 in [0, 1], s0 in [0, 1], ", values, condition),
                        {{.array = 0, .element = element}}));
        }
        maps.push_back(
            maps_.Map(absl::StrCat("(d0)[s0]{rt0} -> (", results,
                                   "), domain: d0 in [0, 1], s0 in [0, 1], ", values, condition),
                      {{.array = 1, .element = "0"}}));
      }
    }
  }
  int covered = 0;
  CasesInTurn cases;
  for (const OperandIndexing& a : maps) {
    for (const OperandIndexing& b : maps) {
      if (!cases.IsNextTried() || !Covers(a, b)) continue;
      ++covered;
      maps_.ForAllContents([&] {
        EXPECT_TRUE(Includes(maps_.PairsOf(a), maps_.PairsOf(b))) << a.ToString() << "\n"
                                                                  << b.ToString();
      });
      ASSERT_FALSE(HasFailure());
    }
  }
  std::cout << covered << " of " << maps.size() * maps.size() << " pairs covered\n";
  EXPECT_GT(covered, Cases(300));
}

TEST_F(CoalesceMapsTest, CoalescedMapsHaveThePairsOfBoth) {
  std::vector<OperandIndexing> maps;
  std::vector<MapPairs> pairs;
  std::vector<std::string> texts = Texts();
  // A row that a remainder gives, and what is before and behind it.
  for (const char* values : {"[0, 0]", "[1, 3]", "[-3, -1]", "[-3, 0]", "[0, 2]"}) {
    for (const char* dims : {"d0 in [0, 6]", "d0 in [1, 6]"}) {
      for (const char* other : {"", ", d1 in [1, 3], d0 mod 4 in [0, 2]"}) {
        texts.push_back(absl::StrCat("(d0, d1) -> (d0, d1), domain: ", dims,
                                     *other == 0 ? ", d1 in [0, 3]" : "", other,
                                     ", d1 - d0 mod 4 in ", values));
      }
    }
  }
  for (const std::string& text : texts) {
    maps.push_back(maps_.Map(text));
    pairs.push_back(MapPairsOf(maps.back()));
  }
  int joined = 0;
  for (size_t a = 0; a < maps.size(); ++a) {
    for (size_t b = 0; b < maps.size(); ++b) {
      const std::optional<OperandIndexing> both = Both(maps[a], maps[b]);
      if (!both) continue;
      ++joined;
      MapPairs union_of_both = pairs[a];
      union_of_both.insert(pairs[b].begin(), pairs[b].end());
      ASSERT_EQ(MapPairsOf(*both), union_of_both) << maps[a].ToString() << "\n"
                                                  << maps[b].ToString() << "\n"
                                                  << both->ToString();
    }
  }
  std::cout << joined << " of " << maps.size() * maps.size() << " pairs joined\n";
  EXPECT_GT(joined, 100);
}

// Maps that read a table of two elements, whatever it holds: before a place, at it and behind it, for
// some of its values, in rows that are written as dimensions or as numbers.
TEST_F(CoalesceMapsTest, CoalescedMapsHaveThePairsOfBothWhateverValuesAre) {
  std::vector<OperandIndexing> maps;
  for (const char* results : {"d0", "rt0", "d0 + rt0", "rt0 + 1", "s0", "0"}) {
    for (const char* dims : {"[0, 0]", "[1, 1]", "[0, 1]", "[1, 2]"}) {
      for (const char* values : {"[0, 2]", "[0, 0]", "[1, 2]", "[2, 2]"}) {
        for (const char* condition :
             {"", ", d0 - rt0 in [0, 0]", ", d0 - rt0 in [1, 2]", ", d0 + rt0 in [2, 3]"}) {
          for (const char* element : {"0", "d0"}) {
            // Elements that are read are in the array.
            if (absl::string_view(element) == "d0" && absl::string_view(dims) == "[1, 2]") continue;
            maps.push_back(
                maps_.Map(absl::StrCat("(d0)[s0]{rt0} -> (", results, "), domain: d0 in ", dims,
                                       ", s0 in [0, 1], rt0 in ", values, condition),
                          {{.array = 0, .element = element}}));
          }
        }
      }
    }
  }
  int joined = 0;
  CasesInTurn cases;
  for (const OperandIndexing& a : maps) {
    for (const OperandIndexing& b : maps) {
      if (a.IsKnownEmpty() || b.IsKnownEmpty() || a.map().num_runtimes() == 0) continue;
      if (!cases.IsNextTried()) continue;
      const std::optional<OperandIndexing> both = Both(a, b);
      if (!both) continue;
      ++joined;
      maps_.ForAllContents([&] {
        MapPairs union_of_both = maps_.PairsOf(a);
        const MapPairs of_b = maps_.PairsOf(b);
        union_of_both.insert(of_b.begin(), of_b.end());
        EXPECT_EQ(maps_.PairsOf(*both), union_of_both) << a.ToString() << "\n"
                                                       << b.ToString() << "\n"
                                                       << both->ToString();
      });
      ASSERT_FALSE(HasFailure());
    }
  }
  std::cout << joined << " of " << maps.size() * maps.size() << " pairs joined\n";
  EXPECT_GT(joined, Cases(100));
}

class ShapeTest : public ::testing::Test {
 protected:
  OperandIndexing Parse(const std::string& text) {
    IndexingMap map = ParseIndexingMap(text, &context_).value();
    map.Simplify();
    return OperandIndexing(kPartsFit, std::move(map));
  }
  static bool Covers(const OperandIndexing& a, const OperandIndexing& b, const Shape& to) {
    UnionMember of_a(a, &to);
    UnionMember of_b(b, &to);
    return of_a.Covers(of_b);
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  const Shape to_ = Shape::Array(ElementType::kF32, {4, 1, 6});
};

constexpr char kRow[] =
    "(d0, d1)[s0] -> (d0, 0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 5]";

TEST_F(ShapeTest, WhoeverReadsARowReadsItsElements) {
  EXPECT_TRUE(Covers(Parse(kRow),
                     Parse("(d0, d1) -> (d0, 0, d1), domain: d0 in [0, 3], d1 in [0, 5]"), to_));
  EXPECT_FALSE(Covers(
      Parse(kRow), Parse("(d0, d1) -> (3 - d0, 0, d1), domain: d0 in [0, 3], d1 in [0, 5]"), to_));
}

TEST_F(ShapeTest, RangesThatAreTooShortOrTiedDoNotCover) {
  for (const char* text :
       {"(d0, d1)[s0] -> (d0, 0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 5], "
        "d1 + s0 in [0, 5]",
        "(d0, d1)[s0] -> (d0, 0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 4]",
        "(d0, d1)[s0] -> (s0, 0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 5]"}) {
    EXPECT_FALSE(Covers(Parse(text), Parse(kRow), to_)) << text;
    EXPECT_TRUE(Covers(Parse(text), Parse(text), to_)) << text;
  }
}

// No range of a known size is all of an axis that has none.
TEST_F(ShapeTest, AxesOfUnboundedSizeAreReadWholeByUnboundedRangesOnly) {
  Shape to = Shape::Scalar(ElementType::kF32);
  to.AddDimension(Shape::kUnboundedSize, /*is_dynamic=*/true);
  const OperandIndexing element = Parse("(d0) -> (d0), domain: d0 in [0, 9]");
  EXPECT_FALSE(Covers(Parse("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3]"), element, to));
  EXPECT_TRUE(Covers(Parse("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, inf]"), element, to));
}

TEST_F(ShapeTest, SetsKeepWhatIsNotCovered) {
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
TEST_F(ShapeTest, ASubsumingMapHasAllPairs) {
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
      if (!Covers(maps[a], maps[b], to_)) continue;
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

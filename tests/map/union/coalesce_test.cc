// Unions of two pieces, against isl: whether they are one, and that what is one is the union.

#include "xla_indexing/map/union/coalesce.h"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decide.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/map/union/facts.h"
#include "xla_indexing/map/union/piece.h"
#include "xla_indexing/map/union/unite_graphs.h"
#ifdef XLA_INDEXING_HAS_ISL
#include "tests/map/isl_judge.h"
#endif

namespace xla_indexing::internal {
namespace {

class CoalesceTest : public ::testing::Test {
 protected:
  IndexingMap Map(const std::string& text) {
    IndexingMap map = ParseIndexingMap(text, &context_).value();
    map.Simplify();
    return map;
  }
  std::optional<IndexingMap> Coalesced(const IndexingMap& a, const IndexingMap& b,
                                       Witness witness = Witness::kAny) {
    const Piece of_a(a);
    const Piece of_b(b);
    Facts facts(of_b);
    if (facts.IsEmpty()) return std::nullopt;
    const std::optional<Piece> both = Coalesce(of_a, of_b, witness, &facts);
    std::optional<IndexingMap> map = both ? both->ToMap(a) : std::nullopt;
    if (map) map->Simplify();
    return map;
  }
  // The union as text; empty if it is not found.
  std::string United(const std::string& a, const std::string& b, Witness witness = Witness::kAny) {
    const std::optional<IndexingMap> map = Coalesced(Map(a), Map(b), witness);
    return map ? map->ToString() : "";
  }
  bool Has(const std::string& a, const std::string& b) {
    const Piece of_b(Map(b));
    Facts facts(of_b);
    return Contains(Piece(Map(a)), of_b, &facts);
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(CoalesceTest, IntervalsThatTouchAreOne) {
  EXPECT_EQ(United("(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (d0), domain: d0 in [4, 9]",
                   Witness::kRanges),
            "(d0) -> (d0), domain: d0 in [0, 9]");
  EXPECT_EQ(United("(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (d0), domain: d0 in [5, 9]"), "");
  // Where it has one value, a dimension is written as that.
  EXPECT_EQ(United("(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (4), domain: d0 in [4, 4]",
                   Witness::kRanges),
            "(d0) -> (d0), domain: d0 in [0, 4]");
}

TEST_F(CoalesceTest, ResidueClassesOfAVariableAreOne) {
  const auto even = [](int residue, int modulus) {
    return absl::StrCat("(d0) -> (0), domain: d0 in [0, 11], (d0 - ", residue, ") mod ", modulus,
                        " in [0, 0]");
  };
  EXPECT_EQ(United(even(0, 2), even(1, 2)), "(d0) -> (0), domain: d0 in [0, 11]");
  EXPECT_EQ(United(even(1, 4), even(3, 4)), Map(even(1, 2)).ToString());
  EXPECT_EQ(United(even(0, 3), even(1, 3)), "");
}

TEST_F(CoalesceTest, ResidueClassesOfASumAreOne) {
  const std::string text = "(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 7], (d0 + d1 * 3";
  EXPECT_EQ(United(text + ") mod 2 in [0, 0]", text + " + 1) mod 2 in [0, 0]"),
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 7]");
}

TEST_F(CoalesceTest, WhatFollowsFromTheRestIsNoHindrance) {
  EXPECT_EQ(United("(d0)[s0] -> (s0), domain: d0 in [1, 4], s0 in [0, 3], d0 - s0 in [1, 4]",
                   "(d0) -> (d0), domain: d0 in [0, 4]"),
            "(d0)[s0] -> (s0), domain: d0 in [0, 4], s0 in [0, 4], d0 - s0 in [0, 4]");
}

TEST_F(CoalesceTest, ARowJoinsARange) {
  EXPECT_EQ(United("(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [1, 9]",
                   "(d0) -> (d0, 0), domain: d0 in [0, 9]"),
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 9]");
  // It is not a range, so that the two are two ways in which something is read.
  EXPECT_EQ(United("(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [1, 9]",
                   "(d0) -> (d0, 0), domain: d0 in [0, 9]", Witness::kRanges),
            "");
}

TEST_F(CoalesceTest, RowsNextToOneAnotherAreALine) {
  EXPECT_EQ(United("(d0) -> (5), domain: d0 in [1, 1]", "(d0) -> (8), domain: d0 in [2, 2]"),
            "(d0) -> (d0 * 3 + 2), domain: d0 in [1, 2]");
  EXPECT_EQ(United("(d0) -> (8), domain: d0 in [2, 2]", "(d0) -> (5), domain: d0 in [1, 1]"),
            "(d0) -> (d0 * 3 + 2), domain: d0 in [1, 2]");
}

TEST_F(CoalesceTest, RuntimeVariablesAreParameters) {
  const std::string text = "(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 9], d0 - rt0 in ";
  EXPECT_EQ(United(text + "[0, 9]", text + "[-9, -1]"),
            "(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 9]");
}

TEST_F(CoalesceTest, AWholeRowHasItsElements) {
  const std::string row = "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]";
  EXPECT_TRUE(Has(row, "(d0)[s0] -> (d0, s0 * 2), domain: d0 in [0, 3], s0 in [0, 3]"));
  EXPECT_TRUE(Has(row, "(d0) -> (d0, d0), domain: d0 in [0, 3]"));
  EXPECT_FALSE(Has(row, "(d0)[s0] -> (d0, s0 * 2), domain: d0 in [0, 3], s0 in [0, 4]"));
  EXPECT_FALSE(Has(row, "(d0) -> (d0 - 1, d0), domain: d0 in [0, 3]"));
  EXPECT_FALSE(Has("(d0)[s0] -> (d0, s0 * 2), domain: d0 in [0, 3], s0 in [0, 3]", row));
}

#ifdef XLA_INDEXING_HAS_ISL

// Pieces of points (d0, s0), s0 the result: boxes, what two bounds of the sum or the difference leave
// of them, and residue classes of d0, of s0 and of the sum.
std::vector<std::string> SmallPieces() {
  std::vector<std::string> texts;
  for (const char* d0 : {"[0, 4]", "[0, 2]", "[3, 4]"}) {
    for (const char* s0 : {"[0, 4]", "[1, 3]", "[0, 0]", "[4, 4]"}) {
      for (const char* atom :
           {"", ", d0 - s0 in [0, 4]", ", d0 - s0 in [-4, -1]", ", d0 - s0 in [0, 0]",
            ", d0 - s0 in [1, 1]", ", d0 - s0 in [-1, 1]", ", d0 + s0 in [0, 4]",
            ", d0 + s0 in [5, 8]", ", d0 * 2 - s0 in [0, 1]", ", d0 mod 2 in [0, 0]",
            ", (d0 + 1) mod 2 in [0, 0]", ", s0 mod 2 in [0, 0]", ", (s0 + 1) mod 2 in [0, 0]",
            ", (d0 + s0) mod 2 in [0, 0]", ", (d0 + s0 + 1) mod 2 in [0, 0]",
            ", d0 mod 4 in [0, 0]", ", (d0 + 2) mod 4 in [0, 0]", ", d0 mod 3 in [0, 0]",
            ", d0 mod 2 in [0, 0], d0 - s0 in [0, 4]"}) {
        texts.push_back(absl::StrCat("(d0)[s0] -> (s0), domain: d0 in ", d0, ", s0 in ", s0, atom));
      }
    }
  }
  return texts;
}

TEST_F(CoalesceTest, SmallPiecesAreOneWhereIslSaysSo) {
  // The most pairs of pieces of which isl makes one basic set and Coalesce(), of both orders, does not, and
  // UniteGraphs() does not, of those in 1000 that isl makes one. They may only become less.
  constexpr int64_t kMostMissedOfThousand = 180;
  constexpr int64_t kMostMissedByGraphsOfThousand = 135;
  std::vector<IndexingMap> maps;
  for (const std::string& text : SmallPieces()) {
    maps.push_back(Map(text));
    if (maps.back().IsKnownEmpty()) maps.pop_back();
  }
  IslJudge judge;
  CasesInTurn cases;
  int64_t one = 0;
  int64_t found = 0;
  int64_t found_by_graphs = 0;
  int64_t found_by_any = 0;
  int64_t more = 0;
  for (size_t i = 0; i < maps.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!cases.IsNextTried()) continue;
      std::optional<IndexingMap> both = Coalesced(maps[i], maps[j]);
      if (!both) both = Coalesced(maps[j], maps[i]);
      const IslSet all = judge.Relation(maps[i]).Union(judge.Relation(maps[j]));
      const std::string texts = absl::StrCat(maps[i].ToString(), "\n", maps[j].ToString());
      if (both) {
        ASSERT_EQ(judge.Relation(*both).Equals(all), true) << texts << "\n" << both->ToString();
      }
      const std::vector<IndexingMap> united = UniteGraphs({maps[i], maps[j]});
      if (united.size() == 1) {
        ASSERT_EQ(judge.Relation(united.front()).Equals(all), true) << texts << "\n"
                                                                    << united.front().ToString();
      }
      const bool is_one = all.IsOneBasicSet() == true;
      one += is_one ? 1 : 0;
      found_by_graphs += is_one && united.size() == 1 ? 1 : 0;
      found_by_any += is_one && (united.size() == 1 || both) ? 1 : 0;
      found += is_one && both ? 1 : 0;
      more += !is_one && both ? 1 : 0;
    }
  }
  std::cout << "isl makes one of " << one << " pairs, of which " << one - found
            << " are not found, " << one - found_by_graphs << " not by graphs, "
            << one - found_by_any << " by neither; of " << more << " pairs it does not\n";
  EXPECT_LE((one - found) * 1000, kMostMissedOfThousand * one);
  EXPECT_LE((one - found_by_graphs) * 1000, kMostMissedByGraphsOfThousand * one);
  EXPECT_GT(one, 100);
}

#endif

}  // namespace
}  // namespace xla_indexing::internal

// What map/ says of random maps, against isl (tests/map/isl_judge.h). An answer that is no
// "undecided" has to be isl's. Each test prints how often the two agreed, and how often one or the
// other left a question open. Without libisl at build time there is nothing to compare with, and
// the tests say that they are skipped.
#include <gtest/gtest.h>

#ifndef XLA_INDEXING_HAS_ISL

TEST(IslJudgeTest, IsSkippedBecauseLibislWasNotFound) {
  GTEST_SKIP()
      << "no libisl where this was configured (Debian's libisl-dev): map/ was NOT compared "
         "with isl";
}

#else

#include <cstdint>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/isl_judge.h"
#include "tests/map/random_map.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/map/count/image.h"
#include "xla_indexing/map/sets/decide.h"
#include "xla_indexing/map/sets/has_integer_point.h"
#include "xla_indexing/map/sets/inverse.h"
#include "xla_indexing/map/sets/project.h"

namespace xla_indexing {

namespace {

// Intervals up to this size have too many points for the library to try them all.
constexpr int64_t kLargeSize = 1'000'000;

// How often a question had which answer.
class Agreement {
 public:
  explicit Agreement(std::string question) : question_(std::move(question)) {}
  ~Agreement() {
    std::cout << question_ << ": yes " << yes_ << ", no " << no_ << "; undecided by the library "
              << library_undecided_ << ", by isl " << isl_undecided_ << '\n';
  }
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  // Counts one answer of each, and compares those that are decided.
  void Compare(Answer library, std::optional<bool> isl, const std::string& maps) {
    if (library == Answer::kUndecided) ++library_undecided_;
    if (!isl) ++isl_undecided_;
    if (library == Answer::kUndecided || !isl) return;
    ++(library == Answer::kYes ? yes_ : no_);
    EXPECT_EQ(library, AnswerOf(*isl)) << question_ << '\n' << maps;
  }
  void Compare(const absl::StatusOr<Decision>& library, std::optional<bool> isl,
               const std::string& maps) {
    ASSERT_TRUE(library.ok()) << library.status() << '\n' << maps;
    Compare(library->answer, isl, maps);
  }

  int num_yes() const { return yes_; }
  int num_no() const { return no_; }
  // Expects that most answers were compared: a judge that gives up all the time would find nothing.
  void ExpectMostlyDecided() const {
    EXPECT_GT(yes_ + no_, 4 * (library_undecided_ + isl_undecided_)) << question_;
  }

 private:
  const std::string question_;
  int yes_ = 0;
  int no_ = 0;
  int library_undecided_ = 0;
  int isl_undecided_ = 0;
};

class IslJudgeTest : public MapTextFixture {
 protected:
  // Calls visit with small maps, whose domains have few points, and with maps of any numbers, whose
  // intervals may be infinite or reach to the ends of int64.
  void ForRandomMaps(uint32_t seed, int count,
                     const std::function<void(const IndexingMap&)>& visit) {
    SmallMaps small(seed, &context_);
    RandomMaps any(seed, &context_);
    for (int i = 0; i < Cases(count); ++i) {
      visit(small.Map());
      visit(any.Map());
      if (HasFailure()) return;
    }
  }

  const IslJudge judge_;
};

TEST_F(IslJudgeTest, TheJudgeReadsExpressionsAsTheyAreMeant) {
  const IndexingMap map = Parse(
      "(d0)[s0]{rt0} -> (d0 floordiv 3 + s0 * 2, rt0 - d0 mod 4), domain: d0 in [-5, 6], "
      "s0 in [0, 1], rt0 in [7, 8], d0 + s0 in [-4, 5]");
  for (int64_t d0 = -6; d0 <= 7; ++d0) {
    const int64_t quotient = (d0 + 9) / 3 - 3;
    const int64_t remainder = (d0 + 8) % 4;
    for (const int64_t s0 : {0, 1}) {
      const bool in_domain = d0 >= -5 && d0 <= 6 && d0 + s0 >= -4 && d0 + s0 <= 5;
      const auto at = [&](int64_t r0, int64_t r1) {
        const IndexingMap point =
            Parse(absl::StrCat("(d0)[s0]{rt0} -> (", r0, ", ", r1, "), domain: d0 in [", d0, ", ",
                               d0, "], s0 in [", s0, ", ", s0, "], rt0 in [7, 7]"));
        return judge_.Graph(point).IsSubsetOf(judge_.Graph(map));
      };
      EXPECT_EQ(at(quotient + 2 * s0, 7 - remainder), in_domain) << d0;
      EXPECT_EQ(at(quotient + 2 * s0 + 1, 7 - remainder), false) << d0;
      EXPECT_EQ(at(quotient + 2 * s0, 6 - remainder), false) << d0;
    }
  }
  EXPECT_EQ(judge_.Domain(Parse("(d0) -> (), domain: d0 in [0, inf], d0 * 2 in [5, 5]")).IsEmpty(),
            true);
}

TEST_F(IslJudgeTest, EmptinessOfDomains) {
  Agreement decision("IsEmptyDomain");
  Agreement point("HasIntegerPoint");
  ForRandomMaps(1, 3000, [&](const IndexingMap& map) {
    const std::optional<bool> is_empty = judge_.Domain(map).IsEmpty();
    decision.Compare(IsEmptyDomain(map), is_empty, map.ToString());
    if (map.IsKnownEmpty()) return;
    const Answer has_point =
        internal::HasIntegerPoint(map.DimBounds(), map.SymbolBounds(), map.constraints());
    point.Compare(has_point, is_empty ? std::optional<bool>(!*is_empty) : std::nullopt,
                  map.ToString());
  });
  decision.ExpectMostlyDecided();
  point.ExpectMostlyDecided();
  EXPECT_GT(point.num_yes(), Cases(1000));
  EXPECT_GT(point.num_no(), Cases(100));
}

TEST_F(IslJudgeTest, EqualFunctionsRelationsAndSubrelations) {
  Agreement function("SameFunction");
  Agreement relation("SameRelation");
  Agreement subrelation("IsSubrelation");
  SmallMaps small(2, &context_);
  SmallMaps large(2, &context_, kLargeSize);
  for (int i = 0; i < Cases(2000) && !HasFailure(); ++i) {
    SmallMaps& random = i % 2 == 0 ? small : large;
    const NumVariables count{random.Int(0, 2), random.Int(0, 2), random.Chance(25) ? 1 : 0};
    const int64_t num_results = random.Int(0, 2);
    const IndexingMap a = random.Map(count, num_results);
    std::vector<IndexingMap> others = {random.Rewritten(a), random.Nudged(a),
                                       random.WithOtherRanges(a)};
    others.push_back(random.Nudged(others[2]));
    others.push_back(random.Map(count, num_results));
    for (const IndexingMap& b : others) {
      const std::string maps = absl::StrCat(a.ToString(), "\n", b.ToString());
      if (a.num_ranges() == b.num_ranges()) {
        function.Compare(SameFunction(a, b), judge_.Graph(a).Equals(judge_.Graph(b)), maps);
      }
      const IslSet of_a = judge_.Relation(a);
      const IslSet of_b = judge_.Relation(b);
      relation.Compare(SameRelation(a, b), of_a.Equals(of_b), maps);
      subrelation.Compare(IsSubrelation(a, b), of_a.IsSubsetOf(of_b), maps);
      subrelation.Compare(IsSubrelation(b, a), of_b.IsSubsetOf(of_a), maps);
    }
  }
  for (const Agreement* tally : {&function, &relation, &subrelation}) {
    tally->ExpectMostlyDecided();
    EXPECT_GT(tally->num_yes(), Cases(1000));
    EXPECT_GT(tally->num_no(), Cases(1000));
  }
}

TEST_F(IslJudgeTest, ImagesThatAreBoxes) {
  Agreement tally("ImageAsBox");
  SmallMaps small(3, &context_);
  SmallMaps large(3, &context_, kLargeSize);
  for (int i = 0; i < Cases(3000) && !HasFailure(); ++i) {
    SmallMaps& random = i % 2 == 0 ? small : large;
    const IndexingMap map = random.Map();
    const absl::StatusOr<ImageBox> image = ImageAsBox(map);
    ASSERT_TRUE(image.ok()) << image.status() << ' ' << map.ToString();
    const std::optional<IslSet::Box> box = judge_.Image(map).AsBox();
    tally.Compare(image->is_box, box ? std::optional<bool>(box->is_box) : std::nullopt,
                  map.ToString());
    if (image->is_box.IsYes() && box) {
      EXPECT_EQ(std::vector<StridedRange>(image->ranges.begin(), image->ranges.end()), box->ranges)
          << map.ToString();
    }
  }
  tally.ExpectMostlyDecided();
  EXPECT_GT(tally.num_yes(), Cases(500));
  EXPECT_GT(tally.num_no(), Cases(500));
}

// All (k, r) of the projection, and the values that its expressions give to unknown variables.
TEST_F(IslJudgeTest, Projections) {
  Agreement same_map("the projection's map is the map");
  Agreement same_set("the projection is the projection");
  Agreement values("its values are those of the variables");
  int num_explicit = 0;
  SmallMaps small(4, &context_);
  SmallMaps large(4, &context_, kLargeSize);
  for (int i = 0; i < Cases(1500) && !HasFailure(); ++i) {
    SmallMaps& random = i % 2 == 0 ? small : large;
    const IndexingMap map = random.Map();
    for (const auto& [dims, runtimes] : {std::pair(true, true), std::pair(false, true),
                                         std::pair(true, false), std::pair(false, false)}) {
      const auto projected = internal::ProjectOntoResults(map, {dims, runtimes});
      if (!projected) continue;
      // The places of known variables, the results, then everything unknown, as Projected's map has
      // them: dimensions, ranges, runtime variables.
      const int num_known = (dims ? map.num_dims() : 0) + (runtimes ? map.num_runtimes() : 0);
      const int num_seen = num_known + map.num_results();
      IslJudge::Places places;
      int known = 0;
      int unknown = num_seen;
      for (int i = 0; i < map.num_dims(); ++i) places.dims.push_back(dims ? known++ : unknown++);
      for (int i = 0; i < map.num_ranges(); ++i) places.ranges.push_back(unknown++);
      for (int i = 0; i < map.num_runtimes(); ++i) {
        places.runtimes.push_back(runtimes ? known++ : unknown++);
      }
      for (int i = 0; i < map.num_results(); ++i) places.results.push_back(num_known + i);
      places.num_dimensions = unknown;
      const IslSet graph = judge_.Graph(map, places);
      std::vector<int> seen(num_seen);
      std::iota(seen.begin(), seen.end(), 0);
      const IslSet expected = graph.ProjectOnto(seen);

      const std::string text = absl::StrCat(map.ToString(), "\nknown dims ", dims, " runtimes ",
                                            runtimes, "\n", projected->map.ToString());
      same_map.Compare(Answer::kYes, expected.Equals(judge_.Relation(projected->map)), text);
      if (!projected->projection) continue;
      const internal::Projection& projection = *projected->projection;
      if (projection.IsExplicit()) ++num_explicit;
      const std::string more = absl::StrCat(text, "\n", projection.set.ToString());
      same_set.Compare(Answer::kYes, expected.Equals(judge_.Relation(projection.set)), more);
      // In the map's graph over (k, u, r) a variable has the value that the results give it.
      IslJudge::Places in_graph;
      in_graph.dims = seen;
      in_graph.num_dimensions = places.num_dimensions;
      for (size_t i = 0; i < projection.values.size(); ++i) {
        if (!projection.values[i]) continue;
        in_graph.results = {num_seen + static_cast<int>(i)};
        const IndexingMap value(kPartsFit, mlir::AffineMap::get(num_seen, 0, projection.values[i]),
                                Variables(num_seen, Variable{Interval::All(), {}}), {}, {});
        values.Compare(Answer::kYes, graph.IsSubsetOf(judge_.Graph(value, in_graph)), more);
      }
    }
  }
  same_map.ExpectMostlyDecided();
  same_set.ExpectMostlyDecided();
  values.ExpectMostlyDecided();
  EXPECT_GT(num_explicit, Cases(2000));
}

// Composed by isl: some m is a result of the first map and a point of the second.
TEST_F(IslJudgeTest, Compositions) {
  Agreement composed_tally("the composition is the composition");
  Agreement simplified_tally("simplified it is, too");
  SmallMaps small(5, &context_);
  SmallMaps large(5, &context_, kLargeSize);
  for (int i = 0; i < Cases(3000) && !HasFailure(); ++i) {
    SmallMaps& random = i % 2 == 0 ? small : large;
    const NumVariables of_first{random.Int(0, 2), random.Int(0, 1), random.Chance(25) ? 1 : 0};
    const int64_t num_between = random.Int(0, 2);
    const NumVariables of_second{num_between, random.Int(0, 1), random.Chance(25) ? 1 : 0};
    const IndexingMap first = random.Map(of_first, num_between);
    const IndexingMap second = random.Map(of_second, random.Int(0, 2));
    const absl::StatusOr<IndexingMap> composed = ComposeIndexingMaps(first, second);
    ASSERT_TRUE(composed.ok()) << composed.status();

    // Dimensions, runtime variables of the second, of the first, results: the relation. Then what
    // is between, and range variables.
    IslJudge::Places at_first;
    IslJudge::Places at_second;
    int next = 0;
    const auto place = [&](std::vector<int>* places, int count) {
      for (int j = 0; j < count; ++j) places->push_back(next++);
    };
    place(&at_first.dims, first.num_dims());
    place(&at_second.runtimes, second.num_runtimes());
    place(&at_first.runtimes, first.num_runtimes());
    place(&at_second.results, second.num_results());
    std::vector<int> relation(next);
    std::iota(relation.begin(), relation.end(), 0);
    place(&at_first.results, first.num_results());
    at_second.dims = at_first.results;
    place(&at_second.ranges, second.num_ranges());
    place(&at_first.ranges, first.num_ranges());
    at_first.num_dimensions = at_second.num_dimensions = next;
    const IslSet expected = judge_.Graph(first, at_first)
                                .Intersect(judge_.Graph(second, at_second))
                                .ProjectOnto(relation);

    IndexingMap simplified = *composed;
    simplified.Simplify({.keep_variables = true});
    const std::string maps = absl::StrCat(first.ToString(), "\n", second.ToString(), "\n",
                                          composed->ToString(), "\n", simplified.ToString());
    composed_tally.Compare(Answer::kYes, expected.Equals(judge_.Relation(*composed)), maps);
    simplified_tally.Compare(Answer::kYes, expected.Equals(judge_.Relation(simplified)), maps);
  }
  composed_tally.ExpectMostlyDecided();
  simplified_tally.ExpectMostlyDecided();
}

TEST_F(IslJudgeTest, SimplifiedMapsAreTheSameFunctions) {
  Agreement simplified_tally("Simplify keeps the function");
  Agreement without_unused("and RemoveUnusedSymbols the relation");
  ForRandomMaps(6, 1500, [&](const IndexingMap& map) {
    IndexingMap simplified = map;
    simplified.Simplify({.keep_variables = true});
    const std::string maps = absl::StrCat(map.ToString(), "\n", simplified.ToString());
    simplified_tally.Compare(Answer::kYes, judge_.Graph(map).Equals(judge_.Graph(simplified)),
                             maps);
    if (map.num_runtimes() > 0) return;  // Removing them changes the relation's tuple.
    simplified.RemoveUnusedSymbols();
    without_unused.Compare(Answer::kYes, judge_.Relation(map).Equals(judge_.Relation(simplified)),
                           absl::StrCat(maps, "\n", simplified.ToString()));
  });
  simplified_tally.ExpectMostlyDecided();
  without_unused.ExpectMostlyDecided();
}

// The inverse says which d has which r for each rt: the map's relation, turned around.
TEST_F(IslJudgeTest, Inverses) {
  Agreement tally("the inverse is the converse relation");
  SmallMaps random(7, &context_);
  for (int i = 0; i < Cases(4000) && !HasFailure(); ++i) {
    std::vector<int64_t> sizes;
    const IndexingMap map = random.Chance(50) ? random.Map() : random.Chain(&sizes);
    const absl::StatusOr<IndexingMap> inverse = Inverse(map);
    if (!inverse.ok()) continue;
    // The places of the inverse among those of the map's relation (d, rt, r).
    IslJudge::Places places;
    int next = 0;
    for (int j = 0; j < map.num_dims(); ++j) places.results.push_back(next++);
    for (int j = 0; j < map.num_runtimes(); ++j) places.runtimes.push_back(next++);
    for (int j = 0; j < map.num_results(); ++j) places.dims.push_back(next++);
    places.num_dimensions = next;
    ASSERT_EQ(inverse->num_ranges(), 0) << inverse->ToString();
    tally.Compare(Answer::kYes, judge_.Relation(map).Equals(judge_.Graph(*inverse, places)),
                  absl::StrCat(map.ToString(), "\n", inverse->ToString()));
  }
  tally.ExpectMostlyDecided();
  EXPECT_GT(tally.num_yes(), Cases(1000));
}

}  // namespace
}  // namespace xla_indexing

#endif  // XLA_INDEXING_HAS_ISL

// Symbolic tiles against the points of tiles.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "tests/tiling/tile/condition_text.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_text.h"

namespace xla_indexing::internal {
namespace {

using Element = std::vector<int64_t>;

// What a tile reads, from the points of all variables' intervals.
struct Read {
  bool is_full = true;
  std::set<Element> elements;
};

bool Advance(const std::vector<Interval>& box, std::vector<int64_t>* point) {
  for (size_t i = box.size(); i-- > 0;) {
    if ((*point)[i] < box[i].upper()) {
      ++(*point)[i];
      return true;
    }
    (*point)[i] = box[i].lower();
  }
  return false;
}

template <typename Visit>
void ForEachIn(const std::vector<Interval>& box, Visit visit) {
  std::vector<int64_t> point;
  for (const Interval& side : box) {
    if (side.IsEmpty()) return;
    point.push_back(side.lower());
  }
  do {
    visit(point);
  } while (Advance(box, &point));
}

// By tile index and runtime values.
std::map<std::vector<int64_t>, Read> TilesOf(const IndexingMap& map,
                                             const std::vector<int64_t>& sizes,
                                             const std::vector<int64_t>& dim_sizes) {
  std::map<std::vector<int64_t>, Read> tiles;
  std::vector<Interval> box;
  for (const int64_t size : dim_sizes) box.push_back(Interval::OfSize(size));
  for (const Interval& symbol : map.SymbolBounds()) box.push_back(symbol);
  const size_t num_dims = dim_sizes.size();
  // A dimension whose residue is fixed ends at multiples; up to the next ones it is residues that
  // leave points out.
  std::vector<Interval> bounds;
  for (const Variable& dim : map.dims()) bounds.push_back(dim.bounds);
  for (const Constraint& constraint : map.constraints()) {
    if (constraint.expr.getKind() != mlir::AffineExprKind::Mod) continue;
    const auto mod = llvm::cast<mlir::AffineBinaryOpExpr>(constraint.expr);
    const int64_t m = llvm::cast<mlir::AffineConstantExpr>(mod.getRHS()).getValue();
    for (size_t i = 0; i < num_dims; ++i) {
      const auto d = mlir::getAffineDimExpr(i, map.context());
      const auto sum = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(mod.getLHS());
      if (mod.getLHS() != d &&
          (!sum || sum.getLHS() != d || !llvm::isa<mlir::AffineConstantExpr>(sum.getRHS()))) {
        continue;
      }
      bounds[i] = bounds[i].Add(Interval::Closed(1 - m, m - 1));
    }
  }
  ForEachIn(box, [&](const std::vector<int64_t>& point) {
    const std::vector<int64_t> dims(point.begin(), point.begin() + num_dims);
    const std::vector<int64_t> symbols(point.begin() + num_dims, point.end());
    std::vector<int64_t> index;
    bool is_whole = true;
    for (size_t i = 0; i < num_dims; ++i) {
      index.push_back(dims[i] / sizes[i]);
      is_whole = is_whole && (index[i] + 1) * sizes[i] <= dim_sizes[i];
    }
    index.insert(index.end(), symbols.begin() + map.num_ranges(), symbols.end());
    Read& tile = tiles[index];
    bool is_inside = true;
    bool has_residues = true;
    for (size_t i = 0; i < num_dims; ++i) is_inside &= bounds[i].Contains(dims[i]);
    for (const Constraint& constraint : map.constraints()) {
      IndexingMap value(
          kPartsFit, mlir::AffineMap::get(map.num_dims(), map.num_symbols(), constraint.expr),
          {map.dims().begin(), map.dims().end()}, {map.ranges().begin(), map.ranges().end()},
          {map.runtimes().begin(), map.runtimes().end()});
      const bool holds = constraint.interval.Contains((*value.Evaluate(dims, symbols))[0]);
      (constraint.expr.getKind() == mlir::AffineExprKind::Mod ? has_residues : is_inside) &= holds;
    }
    bool is_point = is_inside && has_residues;
    for (size_t i = 0; i < num_dims; ++i) is_point &= map.dims()[i].bounds.Contains(dims[i]);
    // Edges count where residues leave points, and everywhere outside of the intervals.
    bool is_near = true;
    for (size_t i = 0; i < num_dims; ++i) is_near &= bounds[i].Contains(dims[i]);
    if (!is_whole || !is_near || (has_residues && !is_inside)) tile.is_full = false;
    if (!is_point) return;
    const auto results = *map.Evaluate(dims, symbols);
    tile.elements.insert(Element(results.begin(), results.end()));
  });
  return tiles;
}

std::set<Element> ElementsOf(const ConcreteTile& tile) {
  if (tile.is_empty) return {};
  std::set<Element> elements;
  std::vector<Interval> box;
  for (const TileRange& range : tile.ranges) {
    if (range.size == 0) return {};
    box.push_back(Interval::OfSize(range.size));
  }
  ForEachIn(box, [&](const std::vector<int64_t>& point) {
    Element element;
    for (size_t i = 0; i < point.size(); ++i) {
      element.push_back(tile.ranges[i].offset.lower() + point[i] * tile.ranges[i].stride);
    }
    elements.insert(element);
  });
  return elements;
}

// The sizes and strides of the box that the elements are; none where they are no box.
std::optional<std::vector<std::pair<int64_t, int64_t>>> BoxOf(const std::set<Element>& elements,
                                                              size_t rank) {
  std::vector<std::pair<int64_t, int64_t>> box;
  int64_t volume = elements.empty() ? 0 : 1;
  for (size_t i = 0; i < rank; ++i) {
    std::set<int64_t> values;
    for (const Element& element : elements) values.insert(element[i]);
    int64_t stride = 1;
    if (values.size() > 1) {
      stride = *std::next(values.begin()) - *values.begin();
      int64_t next = *values.begin();
      for (const int64_t value : values) {
        if (value != next) return std::nullopt;
        next += stride;
      }
    }
    volume *= static_cast<int64_t>(values.size());
    box.emplace_back(values.size(), stride);
  }
  if (volume != static_cast<int64_t>(elements.size())) return std::nullopt;
  return box;
}

struct Tally {
  int64_t cases = 0;
  int64_t exact = 0;
  int64_t undecided = 0;
};

void Check(const IndexingMap& map, const std::vector<int64_t>& dim_sizes,
           const std::vector<int64_t>& sizes, Tally* tally) {
  const SymbolicTile symbolic = SymbolicTile::OfMap(map, dim_sizes).value();
  const auto exact = symbolic.IsExact(sizes);
  ASSERT_TRUE(exact.ok()) << exact.status();
  const auto claimed = symbolic.FullTile(sizes);
  ASSERT_TRUE(claimed.ok()) << claimed.status();
  EXPECT_EQ(claimed->is_exact, exact->IsYes());
  ++tally->cases;
  tally->exact += exact->IsYes() ? 1 : 0;
  tally->undecided += exact->IsUndecided() ? 1 : 0;
  bool are_alike = true;
  bool has_full = false;
  bool reads = false;
  std::optional<std::vector<std::pair<int64_t, int64_t>>> common;
  for (const auto& [index, read] : TilesOf(map, sizes, dim_sizes)) {
    const std::vector<int64_t> k(index.begin(), index.begin() + dim_sizes.size());
    const auto tile = symbolic.TileAt(sizes, k);
    ASSERT_TRUE(tile.ok()) << tile.status();
    if (map.num_runtimes() == 0) {
      const std::set<Element> said = ElementsOf(*tile);
      if (tile->is_exact) {
        EXPECT_EQ(said, read.elements) << "tile " << absl::StrJoin(k, ",");
      } else {
        EXPECT_TRUE(
            std::includes(said.begin(), said.end(), read.elements.begin(), read.elements.end()));
        if (tile->excess) {
          EXPECT_EQ(*tile->excess, static_cast<int64_t>(said.size() - read.elements.size()));
        }
      }
      // For a tile that residues leave nothing of, being clipped makes no difference; where they
      // leave out all that is beyond an interval, both are right.
      const bool has_residues = llvm::any_of(map.constraints(), [](const Constraint& constraint) {
        return constraint.expr.getKind() == mlir::AffineExprKind::Mod;
      });
      if (!read.elements.empty() && !(has_residues && tile->is_clipped && read.is_full)) {
        EXPECT_EQ(tile->is_clipped, !read.is_full) << "tile " << absl::StrJoin(k, ",");
      }
    }
    if (!read.is_full) continue;
    reads = reads || !read.elements.empty();
    const auto box = BoxOf(read.elements, map.num_results());
    if (!has_full) common = box;
    has_full = true;
    are_alike = are_alike && box.has_value() && box == common;
    for (int i = 0; i < map.num_results(); ++i) {
      std::set<int64_t> values;
      for (const Element& element : read.elements) values.insert(element[i]);
      if (values.empty()) continue;
      const TileRange& range = claimed->ranges[i];
      EXPECT_LE(*values.rbegin() - *values.begin(), (range.size - 1) * std::abs(range.stride));
    }
    if (exact->IsYes() && box) {
      for (int i = 0; i < map.num_results(); ++i) {
        EXPECT_EQ((*box)[i].first, claimed->ranges[i].size);
        if ((*box)[i].first > 1) {
          EXPECT_EQ((*box)[i].second, std::abs(claimed->ranges[i].stride));
        }
      }
    }
  }
  // Where no full tile reads anything there is nothing to say.
  if (reads && !exact->IsUndecided()) {
    EXPECT_EQ(are_alike, exact->IsYes());
  }
}

// Maps of the forms that indexing has: sums of variables and digits, with edges and residues, and
// where that is asked for with a constraint on a result.
std::string RandomMapText(Random& random, std::vector<int64_t>* dim_sizes,
                          bool has_bounded_result = false) {
  const int num_dims = static_cast<int>(random.Between(1, 3));
  const int num_ranges = static_cast<int>(random.Between(0, 2));
  std::vector<std::string> dims;
  std::vector<std::string> ranges;
  std::string domain;
  std::vector<std::string> variables;
  int64_t points = 1;
  for (int i = 0; i < num_dims; ++i) {
    const int64_t size = random.Between(1, std::min<int64_t>(16, 600 / points));
    points *= size;
    dim_sizes->push_back(size);
    dims.push_back(absl::StrCat("d", i));
    const int64_t lower = random.OneIn(6) ? random.Between(0, size - 1) : 0;
    absl::StrAppend(&domain, ", d", i, " in [", lower, ", ", size - 1, "]");
  }
  for (int i = 0; i < num_ranges; ++i) {
    const int64_t size = random.Between(2, 5);
    ranges.push_back(absl::StrCat("s", i));
    absl::StrAppend(&domain, ", s", i, " in [0, ", size - 1, "]");
  }
  variables = dims;
  variables.insert(variables.end(), ranges.begin(), ranges.end());
  const std::vector<int64_t> factors = {1, 2, 2, 3, 4, 4, 6, 8};
  const auto digit = [&](const std::string& v) {
    switch (random.Between(0, 4)) {
      case 0:
        return absl::StrCat("(", v, " floordiv ", random.Pick(factors), ")");
      case 1:
        return absl::StrCat("(", v, " mod ", random.Pick(factors), ")");
      case 2: {
        const int64_t low = random.Pick(factors);
        return absl::StrCat("((", v, " floordiv ", low, ") mod ", random.Pick(factors), ")");
      }
      case 3: {
        const int64_t shift = random.Between(0, 9);
        const int64_t by = random.Pick(factors);
        return absl::StrCat("((", v, " + ", shift, ") ", random.OneIn(2) ? "mod " : "floordiv ", by,
                            ")");
      }
      default:
        return v;
    }
  };
  std::vector<std::string> results;
  const bool plain = random.OneIn(3);
  const int num_results = static_cast<int>(random.Between(1, 3));
  for (int r = 0; r < num_results; ++r) {
    std::string sum = absl::StrCat(random.OneIn(3) ? random.Between(0, 7) : 0);
    const int64_t terms = random.Between(0, 3);
    for (int t = 0; t < terms; ++t) {
      const std::string v = random.Pick(variables);
      const int64_t factor = random.Pick(factors) * (random.OneIn(5) ? -1 : 1);
      std::string value = plain ? v : digit(v);
      if (!plain && random.OneIn(12)) {
        value = absl::StrCat("((", v, " * ", random.Pick(factors), " + ", random.Pick(variables),
                             ") floordiv ", random.Pick(factors), ")");
      }
      absl::StrAppend(&sum, " + ", value, " * ", factor);
    }
    results.push_back(sum);
  }
  if (random.OneIn(4)) {
    absl::StrAppend(&domain, ", ", random.Pick(variables), " * ", random.Pick(factors), " + ",
                    random.Pick(variables), " in [", random.Between(-1, 2), ", ",
                    random.Between(8, 30), "]");
  }
  if (random.OneIn(5)) {
    const int64_t m = random.Between(2, 4);
    absl::StrAppend(&domain, ", (", random.Pick(dims), " + ", random.Between(0, 3), ") mod ", m,
                    " in [0, 0]");
  }
  if (has_bounded_result) {
    absl::StrAppend(&domain, ", ", random.Pick(results), " in [", random.Between(-3, 6), ", ",
                    random.Between(4, 20), "]");
  }
  return absl::StrCat("(", absl::StrJoin(dims, ", "), ")[", absl::StrJoin(ranges, ", "), "] -> (",
                      absl::StrJoin(results, ", "), "), domain: ", domain.substr(2));
}

TEST(SymbolicTileProperty, RandomMapsReadWhatTheirTilesSay) {
  const int kMaps = Cases(20000);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Tally tally;
  for (int i = 0; i < kMaps; ++i) {
    Random random(i);
    std::vector<int64_t> dim_sizes;
    const std::string text = RandomMapText(random, &dim_sizes);
    auto map = ParseIndexingMap(text, &context);
    ASSERT_TRUE(map.ok()) << map.status() << text;
    map->Simplify();
    if (map->IsKnownEmpty()) continue;
    std::vector<int64_t> sizes;
    for (const int64_t size : dim_sizes) sizes.push_back(random.Between(1, size));
    SCOPED_TRACE(absl::StrCat(i, ": ", map->ToString(), " tiles ", absl::StrJoin(sizes, ",")));
    Check(*map, dim_sizes, sizes, &tally);
    if (HasFailure()) return;
  }
  EXPECT_EQ(tally.undecided, 0);
  // About as many are exact as not.
  EXPECT_GT(tally.exact, tally.cases / 3);
  EXPECT_LT(tally.exact, tally.cases * 2 / 3);
}

// The value of an affine expression at constants.
std::optional<int64_t> ValueAt(mlir::AffineExpr expr, const std::vector<int64_t>& dims,
                               const std::vector<int64_t>& symbols) {
  const auto constants = [&](const std::vector<int64_t>& values) {
    std::vector<mlir::AffineExpr> exprs;
    for (const int64_t value : values) {
      exprs.push_back(mlir::getAffineConstantExpr(value, expr.getContext()));
    }
    return exprs;
  };
  const auto value = llvm::dyn_cast<mlir::AffineConstantExpr>(
      expr.replaceDimsAndSymbols(constants(dims), constants(symbols)));
  return value ? std::optional<int64_t>(value.getValue()) : std::nullopt;
}

// What conditions say is what is found, for all sizes of a map.
TEST(SymbolicTileProperty, ConditionsHoldForJustTheExactSizes) {
  const int kMaps = Cases(2000);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int64_t cases = 0;
  int64_t wrong = 0;
  int64_t by_points = 0;
  for (int i = 0; i < kMaps; ++i) {
    Random random(i);
    std::vector<int64_t> dim_sizes;
    auto map = ParseIndexingMap(RandomMapText(random, &dim_sizes), &context);
    ASSERT_TRUE(map.ok()) << map.status();
    map->Simplify();
    if (map->IsKnownEmpty()) continue;
    const SymbolicTile tile = SymbolicTile::OfMap(*map, dim_sizes).value();
    const std::vector<std::string> conditions = TileConditions(tile);
    const std::vector<TileCondition> data = tile.Conditions();
    std::vector<Interval> box;
    for (const int64_t size : dim_sizes) box.push_back(Interval::Closed(1, size));
    if (llvm::any_of(data, [](const TileCondition& condition) { return condition.is_by_points; })) {
      ++by_points;
      ForEachIn(box, [&](const std::vector<int64_t>& sizes) {
        const Answer holds = AllHold(data, sizes);
        if (holds == Answer::kUndecided) return;
        EXPECT_EQ(holds, tile.IsExact(sizes)->answer);
      });
      continue;
    }
    ForEachIn(box, [&](const std::vector<int64_t>& sizes) {
      bool all_hold = true;
      for (const std::string& condition : conditions) {
        const auto holds = ConditionText(condition, sizes).Holds();
        ASSERT_TRUE(holds.has_value()) << condition;
        all_hold = all_hold && *holds;
      }
      ++cases;
      EXPECT_EQ(AllHold(data, sizes), all_hold ? Answer::kYes : Answer::kNo);
      const auto exact = tile.IsExact(sizes);
      if (all_hold != exact->IsYes()) {
        ++wrong;
        if (wrong < 5) {
          ADD_FAILURE() << i << ": " << map->ToString() << " tiles " << absl::StrJoin(sizes, ",")
                        << " exact " << exact->IsYes() << " conditions\n"
                        << absl::StrJoin(conditions, "\n");
        }
      }
    });
  }
  EXPECT_EQ(wrong, 0) << "of " << cases;
  // Too many points to look at all of them.
  EXPECT_LT(by_points, kMaps / 50);
}

// The sizes and strides that all full tiles have; nullopt if they are no boxes, or differ, or if
// there are none. Digits are ((x + shift) floordiv low) mod count, with no mod where the count is
// 0, of x in [first, last].
struct DigitOfOne {
  int64_t low;
  int64_t count;
};
std::optional<std::vector<std::pair<int64_t, int64_t>>> BoxOfTiles(
    const std::vector<DigitOfOne>& digits, int64_t shift, int64_t first, int64_t last,
    int64_t size) {
  std::optional<std::vector<std::pair<int64_t, int64_t>>> box;
  for (int64_t begin = (first + size - 1) / size * size; begin + size - 1 <= last; begin += size) {
    std::set<std::vector<int64_t>> elements;
    std::vector<std::set<int64_t>> values(digits.size());
    for (int64_t x = begin; x < begin + size; ++x) {
      std::vector<int64_t> element;
      for (const auto& [low, count] : digits) {
        const int64_t quotient = (x + shift) / low;
        element.push_back(count == 0 ? quotient : quotient % count);
        values[element.size() - 1].insert(element.back());
      }
      elements.insert(element);
    }
    std::vector<std::pair<int64_t, int64_t>> own;
    size_t product = 1;
    for (const std::set<int64_t>& of_digit : values) {
      const auto num = static_cast<int64_t>(of_digit.size());
      const int64_t span = *of_digit.rbegin() - *of_digit.begin();
      const int64_t stride = num == 1 ? 1 : *std::next(of_digit.begin()) - *of_digit.begin();
      if (span != (num - 1) * stride) return std::nullopt;
      for (const int64_t value : of_digit) {
        if ((value - *of_digit.begin()) % stride != 0) return std::nullopt;
      }
      own.emplace_back(num, stride);
      product *= of_digit.size();
    }
    if (product != elements.size() || (box && *box != own)) return std::nullopt;
    box = own;
  }
  return box;
}

// The law of Conditions(): where each digit of a variable is a result, its tiles are boxes just
// where they are aligned. For all numbers of up to three digits, shifts and intervals that are
// small.
TEST(SymbolicTileProperty, TilesOfDigitsAreBoxesJustWhereConditionsSaySo) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int64_t cases = 0;
  int64_t yes = 0;
  const auto check = [&](const std::vector<DigitOfOne>& digits, int64_t shift, int64_t first,
                         int64_t last) {
    std::vector<std::string> results;
    for (const auto& [low, count] : digits) {
      results.push_back(absl::StrCat("((d0 + ", shift, ") floordiv ", low, ")",
                                     count == 0 ? "" : absl::StrCat(" mod ", count)));
    }
    const std::string text = absl::StrCat("(d0) -> (", absl::StrJoin(results, ", "),
                                          "), domain: d0 in [", first, ", ", last, "]");
    auto map = ParseIndexingMap(text, &context);
    ASSERT_TRUE(map.ok()) << map.status();
    map->Simplify();
    const SymbolicTile tile = SymbolicTile::OfMap(*map, {last + 1}).value();
    const std::vector<TileCondition> conditions = tile.Conditions();
    for (int64_t size = 1; size <= last + 1; ++size) {
      const bool is_box = BoxOfTiles(digits, shift, first, last, size).has_value();
      const Answer holds = AllHold(conditions, {size});
      // Where there is no full tile, whatever is said holds for all of them.
      const bool has_tile = (first + size - 1) / size * size + size - 1 <= last;
      if (has_tile) {
        EXPECT_EQ(holds, is_box ? Answer::kYes : Answer::kNo) << text << " tiles of " << size;
      }
      ++cases;
      yes += is_box ? 1 : 0;
    }
  };
  const int64_t greatest = IsFullEffort() ? 40 : 24;
  for (int64_t last = 1; last < greatest; ++last) {
    for (const int64_t first : {int64_t{0}, int64_t{1}, int64_t{3}}) {
      if (first > last) continue;
      for (int64_t shift = 0; shift < 4; ++shift) {
        for (int64_t a = 1; a <= 4; ++a) {
          check({{a, 0}}, shift, first, last);
          for (int64_t b = 2; b <= 5; ++b) {
            check({{a, b}}, shift, first, last);
            check({{a * b, 0}, {a, b}}, shift, first, last);
            for (int64_t c = 2; c <= 3; ++c) {
              check({{a * b * c, 0}, {a * b, c}, {a, b}}, shift, first, last);
              check({{a * b, c}, {a, b}}, shift, first, last);
            }
          }
        }
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(yes, cases / 10);
}

// Conditions without the sizes that were added one by one.
std::vector<TileCondition> ClausesOf(const SymbolicTile& tile) {
  std::vector<TileCondition> conditions = tile.Conditions();
  for (TileCondition& condition : conditions) {
    condition.others = {};
    for (TileClause& clause : condition.clauses) clause.others = {};
  }
  return conditions;
}

TEST(SymbolicTileProperty, ExpressionsSayWhatFullTilesAre) {
  const int kMaps = Cases(5000);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int64_t cases = 0;
  for (int i = 0; i < kMaps; ++i) {
    Random random(i);
    std::vector<int64_t> dim_sizes;
    auto map = ParseIndexingMap(RandomMapText(random, &dim_sizes), &context);
    ASSERT_TRUE(map.ok()) << map.status();
    map->Simplify();
    if (map->IsKnownEmpty()) continue;
    const SymbolicTile tile = SymbolicTile::OfMap(*map, dim_sizes).value();
    const auto offsets = tile.Offsets();
    std::vector<int64_t> sizes;
    std::vector<int64_t> k;
    for (const int64_t size : dim_sizes) {
      sizes.push_back(random.Between(1, size));
      k.push_back(random.Between(0, (size - 1) / sizes.back()));
    }
    SCOPED_TRACE(absl::StrCat(i, ": ", map->ToString(), " tiles ", absl::StrJoin(sizes, ",")));
    const auto at = tile.TileAt(sizes, k);
    for (int r = 0; r < map->num_results(); ++r) {
      // With numbers for the sizes the offset is affine, and has the same values.
      const std::optional<int64_t> offset = offsets[r].Evaluate(sizes, k);
      ASSERT_TRUE(offset.has_value());
      const TileExpr fixed = offsets[r].WithSizes(sizes);
      EXPECT_EQ(fixed.Evaluate({}, k), offset) << fixed.ToString();
      const mlir::AffineExpr affine = fixed.ToAffine(&context, /*num_sizes=*/0);
      ASSERT_TRUE(affine) << fixed.ToString();
      EXPECT_EQ(ValueAt(affine, k, {}), offset) << fixed.ToString();
      if (const mlir::AffineExpr symbolic =
              offsets[r].ToAffine(&context, static_cast<int>(sizes.size()))) {
        EXPECT_EQ(ValueAt(symbolic, k, sizes), offset) << offsets[r].ToString();
      }
    }
    if (AllHold(ClausesOf(tile), sizes) != Answer::kYes) continue;
    ++cases;
    const auto full = tile.FullTile(sizes);
    for (int r = 0; r < map->num_results(); ++r) {
      if (!tile.Sizes()[r].IsKnown()) continue;
      EXPECT_EQ(tile.Sizes()[r].Evaluate(sizes), full->ranges[r].size);
      if (full->ranges[r].size > 1) {
        EXPECT_EQ(tile.Strides()[r].Evaluate(sizes), full->ranges[r].stride);
      }
      if (!at->is_clipped && !at->is_empty) {
        EXPECT_EQ(offsets[r].Evaluate(sizes, k), at->ranges[r].offset.lower());
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(cases, kMaps / 4);
}

struct MaskTally {
  int64_t cases = 0;
  int64_t exact = 0;
  int64_t covers = 0;
  int64_t missed = 0;     // exact, and not found to be
  int64_t uncovered = 0;  // the same of what covers
  int64_t unknown = 0;    // exact though no size is known as an expression
  int64_t larger = 0;     // exact for a size that is larger than its dimension
};

// The tiles that are said to read something.
std::set<std::vector<int64_t>> TilesThatRead(const SymbolicTile& tile,
                                             const std::vector<int64_t>& sizes) {
  std::set<std::vector<int64_t>> tiles;
  const absl::StatusOr<IndexingMap> domain = tile.TilesThatRead(sizes);
  EXPECT_TRUE(domain.ok()) << domain.status();
  const absl::Status status = domain->ForEachPoint(
      1 << 20, [&](llvm::ArrayRef<int64_t> k, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>) {
        tiles.insert({k.begin(), k.end()});
      });
  EXPECT_TRUE(status.ok()) << status;
  return tiles;
}

// The box of a tile as expressions say, within the bounds.
std::set<Element> MaskedBox(const SymbolicTile& tile, const std::vector<int64_t>& counted,
                            const std::vector<int64_t>& k) {
  std::vector<Interval> box;
  std::vector<TileRange> ranges;
  const auto offsets = tile.Offsets();
  const auto sizes = tile.Sizes();
  const auto strides = tile.Strides();
  for (int i = 0; i < tile.map().num_results(); ++i) {
    TileRange& range = ranges.emplace_back();
    range.offset = Interval::Point(*offsets[i].Evaluate(counted, k));
    // A result that is no sum of digits is known where it has a single value.
    range.size = sizes[i].Evaluate(counted).value_or(1);
    range.stride = strides[i].Evaluate(counted).value_or(1);
    box.push_back(Interval::OfSize(range.size));
  }
  std::set<Element> elements;
  const auto bounds = tile.Bounds();
  ForEachIn(box, [&](const std::vector<int64_t>& point) {
    Element element;
    bool is_within = true;
    for (size_t i = 0; i < point.size(); ++i) {
      element.push_back(ranges[i].offset.lower() + point[i] * ranges[i].stride);
      is_within = is_within && bounds[i].Contains(element.back());
    }
    if (is_within) elements.insert(element);
  });
  return elements;
}

void CheckMasks(const IndexingMap& map, const std::vector<int64_t>& dim_sizes,
                const std::vector<int64_t>& sizes, MaskTally* tally) {
  const SymbolicTile tile = SymbolicTile::OfMap(map, dim_sizes).value();
  const auto of_counted = tile.CountedSizes(sizes).value();
  const std::vector<int64_t> counted(of_counted.begin(), of_counted.end());
  const Decision exact = tile.IsExactWhenMasked(sizes).value();
  const Decision covers = tile.CoversWhenMasked(sizes).value();
  ++tally->cases;
  tally->exact += exact.IsYes() ? 1 : 0;
  tally->covers += covers.IsYes() ? 1 : 0;
  bool is_known = true;
  for (int i = 0; i < map.num_results(); ++i) {
    is_known = is_known && tile.Sizes()[i].IsKnown() && tile.Strides()[i].IsKnown();
  }
  if (!is_known) {
    tally->unknown += exact.IsYes() ? 1 : 0;
    if (!covers.IsYes()) return;
  }
  const auto sides = tile.MaskedBox(sizes);
  EXPECT_EQ(sides.ok(), covers.IsYes()) << sides.status();
  for (int i = 0; i < map.num_results() && sides.ok(); ++i) {
    EXPECT_EQ((*sides)[i].size, tile.Sizes()[i].Evaluate(counted).value_or(1));
    if ((*sides)[i].size > 1) {
      EXPECT_EQ((*sides)[i].stride, tile.Strides()[i].Evaluate(counted));
    }
  }
  bool are_read = true;
  bool are_covered = true;
  bool are_larger = false;
  for (size_t i = 0; i < sizes.size(); ++i) are_larger = are_larger || sizes[i] > dim_sizes[i];
  const std::set<std::vector<int64_t>> reading = TilesThatRead(tile, sizes);
  for (const auto& [index, read] : TilesOf(map, sizes, dim_sizes)) {
    EXPECT_EQ(reading.contains(index), !read.elements.empty())
        << "tile " << absl::StrJoin(index, ",");
    if (read.elements.empty()) continue;
    const std::set<Element> box = MaskedBox(tile, counted, index);
    are_read = are_read && box == read.elements;
    are_covered = are_covered &&
                  std::includes(box.begin(), box.end(), read.elements.begin(), read.elements.end());
    if (exact.IsYes()) {
      EXPECT_EQ(box, read.elements) << "tile " << absl::StrJoin(index, ",");
    }
    if (covers.IsYes()) {
      EXPECT_TRUE(are_covered) << "tile " << absl::StrJoin(index, ",");
    }
  }
  // No is a proof, but for constraints on other expressions than results.
  const bool has_edges = llvm::any_of(map.constraints(), [](const Constraint& constraint) {
    return constraint.expr.getKind() != mlir::AffineExprKind::Mod;
  });
  if (exact.IsNo() && !has_edges) {
    EXPECT_FALSE(are_read);
  }
  if (exact.IsYes()) {
    EXPECT_TRUE(covers.IsYes());
  }
  tally->missed += are_read && !exact.IsYes() ? 1 : 0;
  tally->uncovered += are_covered && !covers.IsYes() ? 1 : 0;
  tally->larger += exact.IsYes() && are_larger ? 1 : 0;
}

TEST(SymbolicTileProperty, MaskedTilesReadWhatTheirBoundsLeave) {
  const int kMaps = Cases(20000);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  MaskTally tally;
  for (int i = 0; i < kMaps; ++i) {
    Random random(i + 1000000);
    std::vector<int64_t> dim_sizes;
    const std::string text = RandomMapText(random, &dim_sizes, random.OneIn(3));
    auto map = ParseIndexingMap(text, &context);
    ASSERT_TRUE(map.ok()) << map.status() << text;
    map->Simplify();
    std::vector<int64_t> sizes;
    for (const int64_t size : dim_sizes) sizes.push_back(random.Between(1, size + 4));
    SCOPED_TRACE(absl::StrCat(i, ": ", map->ToString(), " tiles ", absl::StrJoin(sizes, ",")));
    CheckMasks(*map, dim_sizes, sizes, &tally);
    if (HasFailure()) return;
  }
  // Much is exact when masked, also where tiles are larger than their dimensions, and little of that
  // is not found.
  EXPECT_GT(tally.exact, tally.cases / 3);
  EXPECT_GT(tally.larger, tally.cases / 4);
  EXPECT_GE(tally.unknown, tally.cases / 2000);
  EXPECT_LT(tally.missed, tally.exact / 10);
  EXPECT_GT(tally.covers, tally.cases / 2);
  EXPECT_LT(tally.uncovered, tally.covers / 5);
}

// Whether each tile that reads something reads just the elements of its masked box, for sizes as they
// count.
bool AreMasked(const SymbolicTile& tile, const std::vector<int64_t>& dim_sizes,
               const std::vector<int64_t>& counted) {
  bool are_masked = true;
  for (const auto& [index, read] : TilesOf(tile.map(), counted, dim_sizes)) {
    are_masked =
        are_masked && (read.elements.empty() || MaskedBox(tile, counted, index) == read.elements);
  }
  return are_masked;
}

// Sizes count as no more than their dimensions, or as they are where that makes no difference.
TEST(SymbolicTileProperty, LargerSizesCountAsWhatIsMasked) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int64_t kept = 0;
  int64_t not_kept = 0;
  CasesInTurn cases;
  for (const int64_t n0 : {1, 2, 3}) {
    for (const int64_t n1 : {1, 2, 4}) {
      for (const int64_t n : {1, 2, 3}) {
        for (const int64_t c0 : {-2, 1, 2, 3}) {
          for (const int64_t c1 : {-1, 0, 1, 2, 4}) {
            for (const int64_t c : {0, 1, 2}) {
              if (!cases.IsNextTried()) continue;
              auto map = ParseIndexingMap(
                  absl::StrCat("(d0, d1)[s0] -> (d0 * ", c0, " + d1 * ", c1, " + s0 * ", c,
                               " + 1), domain: d0 in [0, ", n0 - 1, "], d1 in [0, ", n1 - 1,
                               "], s0 in [0, ", n - 1, "]"),
                  &context);
              ASSERT_TRUE(map.ok()) << map.status();
              map->Simplify();
              const std::vector<int64_t> dim_sizes = {n0, n1};
              const SymbolicTile tile = SymbolicTile::OfMap(*map, dim_sizes).value();
              for (int64_t t0 = 1; t0 <= n0 + 2; ++t0) {
                for (int64_t t1 = 1; t1 <= n1 + 2; ++t1) {
                  if (t0 <= n0 && t1 <= n1) continue;
                  const std::vector<int64_t> sizes = {t0, t1};
                  const std::vector<int64_t> clamped = {std::min(t0, n0), std::min(t1, n1)};
                  const auto counted = tile.CountedSizes(sizes).value();
                  SCOPED_TRACE(absl::StrCat(map->ToString(), " tiles ", t0, ",", t1));
                  (clamped == std::vector<int64_t>(counted.begin(), counted.end()) ? not_kept
                                                                                   : kept)++;
                  const bool are_masked =
                      AreMasked(tile, dim_sizes, {counted.begin(), counted.end()});
                  EXPECT_EQ(are_masked, AreMasked(tile, dim_sizes, clamped));
                  EXPECT_EQ(are_masked, tile.IsExactWhenMasked(sizes)->IsYes());
                  EXPECT_EQ(tile.IsExact(sizes)->IsYes(), tile.IsExact(clamped)->IsYes());
                  if (HasFailure()) return;
                }
              }
            }
          }
        }
      }
    }
  }
  const int least = std::min(Cases(1000), 1000);
  EXPECT_GT(kept, least);
  EXPECT_GT(not_kept, least);
}

}  // namespace
}  // namespace xla_indexing::internal

#include "xla_indexing/tiling/internal/tile_conditions.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/map/decision.h"
#include "xla_indexing/map/internal/components.h"
#include "xla_indexing/tiling/internal/tile_digits.h"
#include "xla_indexing/tiling/internal/tile_parts.h"
#include "xla_indexing/tiling/internal/tile_points.h"
#include "xla_indexing/tiling/internal/tile_text.h"

namespace xla_indexing::internal {
namespace {

// What is tried one by one: sizes of one dimension; combinations of sizes of several; points of all
// tiles of all sizes, more of them where no dimension is longer than kSmallDim.
constexpr int64_t kMaxSizesOfDim = 64;
constexpr int64_t kMaxCombinations = 4096;
constexpr int64_t kSmallDim = 16;
constexpr int64_t kMaxPoints = 1 << 16;
constexpr int64_t kMaxPointsOfSmall = 1 << 22;

// Literals that all have to hold.
class Alternative {
 public:
  bool IsFalse() const { return is_false_; }
  bool IsTrue() const { return !is_false_ && literals_.empty(); }
  void AddFalse() { is_false_ = true; }
  void Add(std::string literal) {
    if (!llvm::is_contained(literals_, literal)) literals_.push_back(std::move(literal));
  }
  // t_dim in an interval.
  void AddBound(int dim, const Interval& bound, std::string literal) {
    Add(std::move(literal));
    bound_ = {dim, bound};
  }
  std::string Write() const { return absl::StrJoin(literals_, " and "); }
  size_t size() const { return literals_.size(); }
  // Where that is all it says.
  std::optional<std::pair<int, Interval>> Bound() const {
    return literals_.size() == 1 ? bound_ : std::nullopt;
  }

 private:
  bool is_false_ = false;
  std::optional<std::pair<int, Interval>> bound_;
  std::vector<std::string> literals_;
};

// Alternatives of which one has to hold.
class Clause {
 public:
  void Add(const Alternative& alternative) {
    if (alternative.IsFalse()) return;
    is_true_ = is_true_ || alternative.IsTrue();
    if (const auto bound = alternative.Bound()) {
      // Two that have all sizes between them.
      for (const auto& [dim, interval] : bounds_) {
        const Interval& other = bound->second;
        is_true_ =
            is_true_ || (dim == bound->first && ((!interval.has_upper() && other.has_upper() &&
                                                  other.upper() >= interval.lower() - 1) ||
                                                 (interval.has_upper() && !other.has_upper() &&
                                                  interval.upper() >= other.lower() - 1)));
      }
      bounds_.push_back(*bound);
    }
    const std::string text =
        alternative.size() > 1 ? absl::StrCat("(", alternative.Write(), ")") : alternative.Write();
    if (!llvm::is_contained(alternatives_, text)) alternatives_.push_back(text);
  }
  void Add(std::string alternative) { alternatives_.push_back(std::move(alternative)); }
  bool IsTrue() const { return is_true_; }
  std::string Write() const {
    return alternatives_.empty() ? "false" : absl::StrJoin(alternatives_, " or ");
  }

 private:
  bool is_true_ = false;
  std::vector<std::string> alternatives_;
  std::vector<std::pair<int, Interval>> bounds_;
};

class Writer {
 public:
  Writer(const SymbolicTile& tile, int first_size)
      : tile_(tile),
        first_size_(first_size),
        digits_(tile.digits()),
        ranges_(digits_.RangeCounts()) {}

  std::vector<std::string> Write();

 private:
  std::string Name(int dim) const { return absl::StrCat("t", first_size_ + dim); }
  int64_t SizeOf(int dim) const { return tile_.dim_sizes()[dim]; }
  bool IsDim(int variable) const { return variable < digits_.num_dims(); }

  void AtMost(int dim, int64_t most, Alternative* all) const;
  void AtLeast(int dim, int64_t least, Alternative* all) const;
  void HasOneValue(const TileGroup& group, Alternative* all) const;
  void HasAtLeast(const TileGroup& group, int64_t count, Alternative* all) const;
  void UnitHasOneValue(int unit, Alternative* all) const;
  // The greatest size of aligned tiles for which the digit at that place has one value.
  int64_t MostForOneValue(int dim, int64_t low) const;
  bool AreUsual(int dim, int64_t size, const UnitCounts& counts) const;

  std::optional<std::string> Aligned(int dim) const;
  void AddProgression(const TileResult& result, std::vector<std::string>* clauses) const;
  Clause GoesOn(llvm::ArrayRef<TileGroup> lower, const TileGroup& group) const;
  void AddPinned(std::vector<std::string>* clauses) const;
  std::vector<std::string> OfPart(const TilePart& part) const;
  // Sizes of the part's dimensions that are exact though digits do not say so; none where there are
  // too many to try.
  std::optional<std::vector<std::string>> ByPoints(const TilePart& part) const;

  const SymbolicTile& tile_;
  const int first_size_;
  const TileDigits& digits_;
  const UnitCounts ranges_;
};

void Writer::AtMost(int dim, int64_t most, Alternative* all) const {
  if (most >= SizeOf(dim)) return;
  all->AddBound(
      dim, Interval::Closed(1, most),
      most == 1 ? absl::StrCat(Name(dim), " = 1") : absl::StrCat(Name(dim), " <= ", most));
}

void Writer::AtLeast(int dim, int64_t least, Alternative* all) const {
  if (least <= 1) return;
  if (least > SizeOf(dim)) return all->AddFalse();
  all->AddBound(dim, Interval::AtLeast(least),
                least == SizeOf(dim) ? absl::StrCat(Name(dim), " = ", least)
                                     : absl::StrCat(Name(dim), " >= ", least));
}

void Writer::HasOneValue(const TileGroup& group, Alternative* all) const {
  if (group.known_count) {
    if (*group.known_count != 1) all->AddFalse();
    return;
  }
  AtMost(group.variable, MostForOneValue(group.variable, group.low), all);
}

void Writer::HasAtLeast(const TileGroup& group, int64_t count, Alternative* all) const {
  if (group.known_count) {
    if (*group.known_count < count) all->AddFalse();
    return;
  }
  if (group.most && *group.most < count) return all->AddFalse();
  const int64_t modulus = digits_.variables()[group.variable].modulus;
  const Int128 least = modulus != 1 ? Int128{modulus} * count
                                    : Int128{group.low} * (count - 2) + 1 +
                                          MostForOneValue(group.variable, group.low);
  AtLeast(group.variable, NarrowToInt64(least).value_or(kInt64Max), all);
}

void Writer::UnitHasOneValue(int unit, Alternative* all) const {
  const int variable = digits_.units()[unit].variable;
  if (!IsDim(variable)) {
    if (ranges_.counts[unit] != 1) all->AddFalse();
    return;
  }
  AtMost(variable, MostForOneValue(variable, digits_.units()[unit].low), all);
}

int64_t Writer::MostForOneValue(int dim, int64_t low) const {
  const TileVariable& variable = digits_.variables()[dim];
  if (variable.modulus != 1) return 2 * variable.modulus - 1;
  return BeginsInside(variable, low) ? low - 1 : low;
}

// Whether the units take as many values as the texts of maps and conditions say.
bool Writer::AreUsual(int dim, int64_t size, const UnitCounts& counts) const {
  const TileVariable& variable = digits_.variables()[dim];
  for (int i = variable.first_unit; i < variable.first_unit + variable.num_units; ++i) {
    const TileUnit& unit = digits_.units()[i];
    int64_t usual = CeilDiv(size, unit.low);
    if (variable.modulus != 1) {
      usual = size / variable.modulus;
    } else if (unit.count != 0) {
      usual = std::min(usual, unit.count);
    } else if (BeginsInside(variable, unit.low)) {
      usual = size / unit.low + 1;
    }
    if (counts.counts[i] != usual) return false;
  }
  return true;
}

// `2, 4 to 7`.
std::string SetText(const std::vector<int64_t>& values) {
  std::vector<std::string> runs;
  for (size_t i = 0; i < values.size();) {
    size_t end = i + 1;
    while (end < values.size() && values[end] == values[end - 1] + 1) ++end;
    runs.push_back(end == i + 1 ? absl::StrCat(values[i])
                                : absl::StrCat(values[i], " to ", values[end - 1]));
    i = end;
  }
  return absl::StrJoin(runs, ", ");
}

// The rule of TileDigits::IsAlignedByRule, and the sizes that it leaves out.
std::optional<std::string> Writer::Aligned(int dim) const {
  const TileVariable& variable = digits_.variables()[dim];
  const llvm::ArrayRef<TileUnit> units = digits_.UnitsOf(variable);
  if (units.empty()) return std::nullopt;
  Clause clause;
  const std::string t = Name(dim);
  if (variable.modulus != 1) {
    Alternative multiple;
    if (units[0].result == TileUnit::kNone) {
      AtLeast(dim, variable.modulus, &multiple);
    } else {
      multiple.Add(absl::StrCat(t, " mod ", variable.modulus, " = 0"));
    }
    clause.Add(multiple);
    return clause.Write();
  }
  const int64_t low = units.front().low;
  const bool has_end = units.back().count != 0;
  if (low == 1 && units.size() == 1 && !has_end) return std::nullopt;
  const auto begins_there = [&](Alternative* all) {
    if (variable.shift != 0) all->Add(absl::StrCat(Magnitude(variable.shift), " mod ", t, " = 0"));
  };
  if (low > 1) {
    Alternative below;
    below.Add(absl::StrCat(low, " mod ", t, " = 0"));
    begins_there(&below);
    // The last alternative of a single unit has it too.
    if (units.size() > 1 || has_end) clause.Add(below);
  }
  for (const TileUnit& unit : units) {
    Alternative whole;
    if (unit.low > 1) whole.Add(absl::StrCat(t, " mod ", unit.low, " = 0"));
    if (unit.count != 0) {
      whole.Add(absl::StrCat(unit.low * unit.count, " mod ", t, " = 0"));
      begins_there(&whole);
    } else if (units.size() > 1 && FloorMod(variable.shift, unit.low) != 0) {
      whole.AddFalse();
    }
    clause.Add(whole);
  }
  if (has_end) {
    Alternative all;
    AtLeast(dim, units.back().low * units.back().count - low + 1, &all);
    clause.Add(all);
  } else if (units.size() == 1) {
    // Tiles that begin at every multiple of a divisor of the digit's place.
    const std::string rest = absl::StrCat("(", t, " mod ", low, ")");
    Alternative part;
    part.Add(absl::StrCat(low, " mod ", rest, " = 0"));
    if (variable.shift != 0)
      part.Add(absl::StrCat(Magnitude(variable.shift), " mod ", rest, " = 0"));
    clause.Add(part);
  }
  if (clause.IsTrue()) return std::nullopt;
  std::vector<int64_t> others;
  UnitCounts counts;
  counts.counts.assign(digits_.units().size(), 1);
  const bool are_all_tried = SizeOf(dim) <= kMaxSizesOfDim;
  bool are_all = are_all_tried;
  for (int64_t size = 1; are_all_tried && size <= SizeOf(dim); ++size) {
    const bool by_rule = digits_.IsAlignedByRule(dim, size, &counts);
    const bool is_aligned =
        by_rule || (digits_.IsAligned(dim, size, &counts) && AreUsual(dim, size, counts));
    are_all = are_all && is_aligned;
    if (is_aligned && !by_rule) others.push_back(size);
  }
  if (are_all) return std::nullopt;
  if (!others.empty()) clause.Add(absl::StrCat(t, " in {", SetText(others), "}"));
  return clause.Write();
}

// Whether the window of a group goes on where the smaller ones, which are a progression, end.
Clause Writer::GoesOn(llvm::ArrayRef<TileGroup> lower, const TileGroup& group) const {
  Clause clause;
  Alternative is_single;
  HasOneValue(group, &is_single);
  clause.Add(is_single);
  Alternative are_single;
  for (const TileGroup& other : lower) HasOneValue(other, &are_single);
  clause.Add(are_single);
  const int64_t own = Magnitude(group.coefficient);
  // Where no smaller window reaches beyond the next one's step, the last of them has to be whole.
  bool reach_no_further = true;
  for (size_t i = 0; i + 1 < lower.size(); ++i) {
    const Int128 reach =
        Int128{Magnitude(lower[i].coefficient)} * lower[i].most.value_or(kInt64Max);
    reach_no_further = reach_no_further && reach <= Magnitude(lower[i + 1].coefficient);
  }
  const int64_t last = Magnitude(lower.back().coefficient);
  if (reach_no_further && own % last == 0) {
    Alternative is_whole;
    HasAtLeast(lower.back(), own / last, &is_whole);
    if (own == last) HasAtLeast(lower.back(), 2, &is_whole);
    clause.Add(is_whole);
    if (own != last) return clause;
  }
  for (size_t first = 0; first < lower.size(); ++first) {
    const int64_t step = Magnitude(lower[first].coefficient);
    if (own % step != 0) continue;
    Alternative alternative;
    for (size_t i = 0; i < first; ++i) HasOneValue(lower[i], &alternative);
    HasAtLeast(lower[first], 2, &alternative);
    // The windows from `first` on, without the values at their begins.
    Int128 needed = Int128{own} - step;
    llvm::SmallVector<const TileGroup*, 4> open;
    for (const TileGroup& other : lower.drop_front(first)) {
      if (!other.known_count) {
        open.push_back(&other);
        continue;
      }
      needed -= Int128{*other.known_count - 1} * Magnitude(other.coefficient);
    }
    const std::optional<int64_t> least = NarrowToInt64(needed);
    if (needed > 0 && (open.empty() || !least)) {
      alternative.AddFalse();
    } else if (needed > 0 && open.size() == 1) {
      HasAtLeast(*open[0], CeilDiv(*least, Magnitude(open[0]->coefficient)) + 1, &alternative);
    } else if (needed > 0) {
      alternative.Add(absl::StrCat(
          absl::StrJoin(open, " + ",
                        [&](std::string* text, const TileGroup* other) {
                          absl::StrAppend(text, "(", CountText(tile_, *other, first_size_),
                                          " - 1) * ", Magnitude(other->coefficient));
                        }),
          " >= ", *least));
    }
    clause.Add(alternative);
  }
  return clause;
}

void Writer::AddProgression(const TileResult& result, std::vector<std::string>* clauses) const {
  const llvm::SmallVector<TileGroup, 4> groups = GroupsOf(tile_, result);
  for (size_t i = 1; i < groups.size(); ++i) {
    const Clause clause = GoesOn(llvm::ArrayRef(groups).take_front(i), groups[i]);
    if (!clause.IsTrue()) clauses->push_back(clause.Write());
  }
}

void Writer::AddPinned(std::vector<std::string>* clauses) const {
  const IndexingMap& map = tile_.map();
  for (const auto [i, result] : llvm::enumerate(digits_.results().drop_front(map.num_results()))) {
    Alternative all;
    if (result.is_opaque) {
      for (const int variable : VariablesOf(tile_.pinned()[i], map.num_dims())) {
        if (variable >= map.num_dims() + map.num_ranges()) continue;
        if (BoundsOf(map, variable).IsPoint()) continue;
        IsDim(variable) ? AtMost(variable, 1, &all) : all.AddFalse();
      }
    } else {
      for (const TileUnitTerm& term : digits_.UnitTermsOf(result)) {
        UnitHasOneValue(term.unit, &all);
      }
    }
    Clause clause;
    clause.Add(all);
    if (!clause.IsTrue()) clauses->push_back(clause.Write());
  }
}

std::optional<std::vector<std::string>> Writer::ByPoints(const TilePart& part) const {
  std::vector<std::string> found;
  bool is_small = true;
  Int128 sizes = 1;
  for (const int dim : part.dims) {
    sizes *= SizeOf(dim);
    if (sizes > kMaxCombinations) return std::nullopt;
    is_small = is_small && SizeOf(dim) <= kSmallDim;
  }
  StepBudget budget(is_small ? kMaxPointsOfSmall : kMaxPoints);
  const TilePoints points(part.map, part.num_runtimes);
  const llvm::SmallVector<Interval, 4> array = part.OfDims<Interval>(tile_.Array());
  llvm::SmallVector<int64_t, 4> all(tile_.num_sizes(), 1);
  std::vector<std::vector<int64_t>> exact;
  while (true) {
    UnitCounts counts;
    digits_.Count(all, &counts);
    const bool is_box = IsBoxByDigits(part, digits_, counts);
    const bool is_said =
        is_box && llvm::all_of(part.dims, [&](int dim) { return AreUsual(dim, all[dim], counts); });
    if (!is_said) {
      const llvm::SmallVector<int64_t, 4> own = part.OfDims<int64_t>(all);
      const std::optional<TilesOfPoints> tiles =
          points.AllTiles(array, own, /*stops=*/true, &budget);
      if (!tiles) return std::nullopt;
      if (is_box || (tiles->are_alike && tiles->num_full > 0))
        exact.emplace_back(own.begin(), own.end());
    }
    size_t i = part.dims.size();
    while (i > 0 && all[part.dims[i - 1]] == SizeOf(part.dims[i - 1])) all[part.dims[--i]] = 1;
    if (i == 0) break;
    ++all[part.dims[i - 1]];
  }
  if (part.dims.size() == 1) {
    std::vector<int64_t> values;
    for (const std::vector<int64_t>& size : exact) values.push_back(size[0]);
    if (!values.empty()) found.push_back(SetText(values));
    return found;
  }
  for (const std::vector<int64_t>& size : exact) {
    found.push_back(absl::StrCat("(", absl::StrJoin(size, ", "), ")"));
  }
  return found;
}

std::vector<std::string> Writer::OfPart(const TilePart& part) const {
  bool is_opaque = part.component.variables.empty() && !part.component.constraints.empty();
  std::vector<std::string> clauses;
  Alternative not_shared;
  for (const int variable : part.component.variables) {
    if (variable >= static_cast<int>(digits_.variables().size())) break;
    const TileVariable& of = digits_.variables()[variable];
    is_opaque = is_opaque || of.is_opaque || !ranges_.is_aligned[variable];
    for (int unit = of.first_unit; unit < of.first_unit + of.num_units; ++unit) {
      if (digits_.units()[unit].result == TileUnit::kSeveral) UnitHasOneValue(unit, &not_shared);
    }
  }
  for (const int result : part.component.results) {
    is_opaque = is_opaque || digits_.results()[result].is_opaque;
  }
  if (!is_opaque) {
    for (const int dim : part.dims) {
      if (std::optional<std::string> aligned = Aligned(dim)) clauses.push_back(*aligned);
    }
    Clause shared;
    shared.Add(not_shared);
    if (!shared.IsTrue()) clauses.push_back(shared.Write());
    for (const int result : part.component.results) {
      AddProgression(digits_.results()[result], &clauses);
    }
    if (digits_.IsPlain() || clauses.empty()) return clauses;
  }
  if (part.dims.empty()) {
    StepBudget budget(kMaxPoints);
    const std::optional<TilesOfPoints> tiles =
        TilePoints(part.map, part.num_runtimes).AllTiles({}, {}, /*stops=*/true, &budget);
    const bool is_box = tiles && tiles->are_alike && tiles->num_full > 0;
    return is_box ? std::vector<std::string>() : std::vector<std::string>{"false"};
  }
  const std::optional<std::vector<std::string>> others = ByPoints(part);
  std::string set;
  if (!others) {
    if (!is_opaque) return clauses;
    set = "decided point by point";
  } else if (!others->empty()) {
    std::vector<std::string> names;
    for (const int dim : part.dims) names.push_back(Name(dim));
    set = absl::StrCat(
        names.size() == 1 ? names[0] : absl::StrCat("(", absl::StrJoin(names, ", "), ")"), " in {",
        absl::StrJoin(*others, ", "), "}");
  }
  if (is_opaque) return {set.empty() ? "false" : set};
  if (set.empty()) return clauses;
  if (clauses.size() == 1) return {absl::StrCat(clauses[0], " or ", set)};
  for (std::string& clause : clauses) clause = absl::StrCat("(", clause, ")");
  return {absl::StrCat("(", absl::StrJoin(clauses, " and "), ") or ", set)};
}

std::vector<std::string> Writer::Write() {
  std::vector<std::string> clauses;
  if (!tile_.IsOfExactMap()) clauses.push_back("false");
  for (const TileBorder& border : tile_.borders()) {
    std::string clause = absl::StrCat(border.at, " mod ", Name(border.dim), " = 0");
    if (!llvm::is_contained(clauses, clause)) clauses.push_back(std::move(clause));
  }
  AddPinned(&clauses);
  for (const TilePart& part : TilePartsOf(tile_.map())) {
    for (std::string& clause : OfPart(part)) {
      if (!llvm::is_contained(clauses, clause)) clauses.push_back(std::move(clause));
    }
  }
  return clauses;
}

}  // namespace

std::vector<std::string> TileConditions(const SymbolicTile& tile, int first_size) {
  return Writer(tile, first_size).Write();
}

}  // namespace xla_indexing::internal

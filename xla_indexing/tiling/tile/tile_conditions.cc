#include "xla_indexing/tiling/tile/tile_conditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/components.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/tiling/tile/tile_condition.h"
#include "xla_indexing/tiling/tile/tile_digits.h"
#include "xla_indexing/tiling/tile/tile_expr.h"
#include "xla_indexing/tiling/tile/tile_forms.h"
#include "xla_indexing/tiling/tile/tile_parts.h"
#include "xla_indexing/tiling/tile/tile_points.h"

namespace xla_indexing::internal {
namespace {

// What is tried one by one: whether a clause holds for all sizes of a dimension; and where digits
// do not decide, combinations of sizes, and points of all tiles of all of them. Within a
// millisecond; where that is not enough, whoever has sizes asks for these (SymbolicTile::IsBox).
constexpr int64_t kMaxSizesOfDim = 64;
// So many sizes are still read.
constexpr size_t kMaxSizesListed = 64;
constexpr int64_t kMaxCombinations = 4096;
constexpr int64_t kMaxPoints = 12000;

// Literals that all have to hold, none of them twice.
class AlternativeBuilder {
 public:
  bool IsFalse() const { return is_false_; }
  bool IsTrue() const { return !is_false_ && literals_.empty(); }
  void AddFalse() { is_false_ = true; }
  void Add(const TileExpr& left, TileRelation relation, const TileExpr& right) {
    const TileLiteral literal = {left, relation, right};
    if (!llvm::is_contained(literals_, literal)) literals_.push_back(literal);
  }
  // t_dim in an interval, which the literal says.
  void AddBound(int dim, const Interval& bound, TileRelation relation, int64_t right) {
    Add(TileExpr::Size(dim), relation, right);
    bound_ = {dim, bound};
  }
  const TileAlternative& literals() const { return literals_; }
  // Where that is all it says.
  std::optional<std::pair<int, Interval>> Bound() const {
    return literals_.size() == 1 ? bound_ : std::nullopt;
  }

 private:
  bool is_false_ = false;
  std::optional<std::pair<int, Interval>> bound_;
  TileAlternative literals_;
};

// Alternatives of which one has to hold.
class ClauseBuilder {
 public:
  void Add(const AlternativeBuilder& alternative) {
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
    if (!llvm::is_contained(clause_.alternatives, alternative.literals())) {
      clause_.alternatives.push_back(alternative.literals());
    }
  }
  void SetOthers(TileSizeSet others) { clause_.others = std::move(others); }
  bool IsTrue() const { return is_true_; }
  const TileClause& clause() const { return clause_; }

 private:
  bool is_true_ = false;
  TileClause clause_;
  std::vector<std::pair<int, Interval>> bounds_;
};

using Clauses = std::vector<TileClause>;

void AddClause(const ClauseBuilder& clause, Clauses* clauses) {
  if (!clause.IsTrue()) clauses->push_back(clause.clause());
}

class Writer {
 public:
  explicit Writer(const SymbolicTile& tile)
      : tile_(tile), digits_(tile.digits()), ranges_(digits_.RangeCounts()) {}

  std::vector<TileCondition> Write() const;

 private:
  // Writes the rule of TileDigits::SayAligned.
  class AlignedClause;

  int64_t SizeOf(int dim) const { return tile_.dim_sizes()[dim]; }
  bool IsDim(int variable) const { return variable < digits_.num_dims(); }

  void AtMost(int dim, int64_t most, AlternativeBuilder* all) const;
  void AtLeast(int dim, int64_t least, AlternativeBuilder* all) const;
  void HasOneValue(const TileGroup& group, AlternativeBuilder* all) const;
  void HasAtLeast(const TileGroup& group, int64_t count, AlternativeBuilder* all) const;
  void UnitHasOneValue(int unit, AlternativeBuilder* all) const;

  // False where there may be sizes besides those of the clause. With `all` it has also those for
  // which expressions say other sizes of the tile than it has.
  bool AddAligned(int dim, bool all, Clauses* clauses) const;
  void AddProgression(const TileResult& result, Clauses* clauses) const;
  ClauseBuilder GoesOn(llvm::ArrayRef<TileGroup> lower, const TileGroup& group) const;
  void AddRuntimeElements(std::vector<TileCondition>* conditions) const;
  bool DigitsDecide(const TilePart& part) const;
  std::vector<TileCondition> OfPart(const TilePart& part) const;
  // Sizes of the part's dimensions that are exact though digits do not say so; nullopt if there are
  // too many to try.
  std::optional<TileSizeSet> ByPoints(const TilePart& part) const;

  const SymbolicTile& tile_;
  const TileDigits& digits_;
  const UnitCounts ranges_;
};

void Writer::AtMost(int dim, int64_t most, AlternativeBuilder* all) const {
  if (most >= SizeOf(dim)) return;
  all->AddBound(dim, Interval::Closed(1, most),
                most == 1 ? TileRelation::kEqual : TileRelation::kAtMost, most);
}

void Writer::AtLeast(int dim, int64_t least, AlternativeBuilder* all) const {
  if (least <= 1) return;
  if (least > SizeOf(dim)) return all->AddFalse();
  all->AddBound(dim, Interval::AtLeast(least),
                least == SizeOf(dim) ? TileRelation::kEqual : TileRelation::kAtLeast, least);
}

void Writer::HasOneValue(const TileGroup& group, AlternativeBuilder* all) const {
  if (group.known_count) {
    if (*group.known_count != 1) all->AddFalse();
    return;
  }
  AtMost(group.variable, MostForOneValue(digits_.variables()[group.variable], group.low), all);
}

void Writer::HasAtLeast(const TileGroup& group, int64_t count, AlternativeBuilder* all) const {
  if (group.known_count) {
    if (*group.known_count < count) all->AddFalse();
    return;
  }
  if (group.most && *group.most < count) return all->AddFalse();
  const int64_t modulus = digits_.variables()[group.variable].modulus;
  const Int128 least = modulus != 1
                           ? Int128{modulus} * count
                           : Int128{group.low} * (count - 2) + 1 +
                                 MostForOneValue(digits_.variables()[group.variable], group.low);
  AtLeast(group.variable, NarrowToInt64(least).value_or(kInt64Max), all);
}

void Writer::UnitHasOneValue(int unit, AlternativeBuilder* all) const {
  const int variable = digits_.units()[unit].variable;
  if (!IsDim(variable)) {
    if (ranges_.counts[unit] != 1) all->AddFalse();
    return;
  }
  AtMost(variable, MostForOneValue(digits_.variables()[variable], digits_.units()[unit].low), all);
}

class Writer::AlignedClause {
 public:
  AlignedClause(const Writer& writer, int dim)
      : writer_(writer), dim_(dim), size_(TileExpr::Size(dim)) {}

  void Begin() {
    End();
    alternative_.emplace();
  }
  void IsMultipleOf(int64_t n) { alternative_->Add(size_, TileRelation::kMultipleOf, n); }
  void Divides(int64_t n) { alternative_->Add(Positive(n), TileRelation::kMultipleOf, size_); }
  void RestDivides(int64_t n, int64_t low) {
    alternative_->Add(Positive(n), TileRelation::kMultipleOf, Mod(size_, low));
  }
  void IsAtLeast(int64_t n) { writer_.AtLeast(dim_, n, &*alternative_); }
  void IsFalse() { alternative_->AddFalse(); }
  ClauseBuilder Clause() {
    End();
    return clause_;
  }

 private:
  // A divisor of a number divides its negation too.
  static int64_t Positive(int64_t n) { return n == kInt64Min ? n : Magnitude(n); }
  void End() {
    if (alternative_) clause_.Add(*alternative_);
    alternative_.reset();
  }

  const Writer& writer_;
  const int dim_;
  const TileExpr size_;
  ClauseBuilder clause_;
  std::optional<AlternativeBuilder> alternative_;
};

// The rule, and the sizes that it leaves out.
bool Writer::AddAligned(int dim, bool all, Clauses* clauses) const {
  const TileVariable& variable = digits_.variables()[dim];
  AlignedClause rule(*this, dim);
  digits_.SayAligned(variable, &rule);
  ClauseBuilder clause = rule.Clause();
  if (clause.IsTrue()) return true;
  std::optional<std::vector<int64_t>> others = digits_.AlignedByLooking(dim, SizeOf(dim));
  const bool is_whole = others && others->size() <= kMaxSizesListed;
  if (is_whole && !others->empty()) {
    UnitCounts counts;
    counts.counts.assign(digits_.units().size(), 1);
    TileSizeSet set;
    set.dims = {dim};
    for (const int64_t size : *others) {
      if (all || (digits_.IsAligned(dim, size, &counts) && digits_.AreUsual(dim, size, counts))) {
        set.sizes.push_back({size});
      }
    }
    const auto is_said = [&](int64_t size) {
      return digits_.IsAlignedByRule(dim, size, &counts) ||
             llvm::is_contained(set.sizes, llvm::ArrayRef(size));
    };
    if (!all && SizeOf(dim) <= kMaxSizesOfDim &&
        llvm::all_of(llvm::seq<int64_t>(1, SizeOf(dim) + 1), is_said)) {
      return true;
    }
    if (!set.IsEmpty()) clause.SetOthers(std::move(set));
  }
  AddClause(clause, clauses);
  return is_whole;
}

// Whether the window of a group goes on where the smaller ones, which are a progression, end.
ClauseBuilder Writer::GoesOn(llvm::ArrayRef<TileGroup> lower, const TileGroup& group) const {
  ClauseBuilder clause;
  AlternativeBuilder is_single;
  HasOneValue(group, &is_single);
  clause.Add(is_single);
  AlternativeBuilder are_single;
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
    AlternativeBuilder is_whole;
    HasAtLeast(lower.back(), own / last, &is_whole);
    if (own == last) HasAtLeast(lower.back(), 2, &is_whole);
    clause.Add(is_whole);
    if (own != last) return clause;
  }
  for (size_t first = 0; first < lower.size(); ++first) {
    const int64_t step = Magnitude(lower[first].coefficient);
    if (own % step != 0) continue;
    AlternativeBuilder alternative;
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
      TileExpr reached;
      for (const TileGroup* other : open) {
        reached = reached + (CountOf(tile_, *other) - 1) * Magnitude(other->coefficient);
      }
      alternative.Add(reached, TileRelation::kAtLeast, *least);
    }
    clause.Add(alternative);
  }
  return clause;
}

void Writer::AddProgression(const TileResult& result, Clauses* clauses) const {
  const llvm::SmallVector<TileGroup, 4> groups = GroupsOf(tile_, result);
  for (size_t i = 1; i < groups.size(); ++i) {
    AddClause(GoesOn(llvm::ArrayRef(groups).take_front(i), groups[i]), clauses);
  }
}

// Each clause is a condition of its own.
void AddEach(const Clauses& clauses, std::vector<TileCondition>* conditions) {
  for (const TileClause& clause : clauses) {
    TileCondition condition;
    condition.clauses.push_back(clause);
    if (!llvm::is_contained(*conditions, condition)) conditions->push_back(std::move(condition));
  }
}

void Writer::AddRuntimeElements(std::vector<TileCondition>* conditions) const {
  Clauses clauses;
  const IndexingMap& map = tile_.map();
  for (const auto [i, result] : llvm::enumerate(digits_.results().drop_front(map.num_results()))) {
    AlternativeBuilder all;
    if (result.is_opaque) {
      for (const int variable : VariablesOf(tile_.runtime_elements()[i], map.num_dims())) {
        if (variable >= map.num_dims() + map.num_ranges()) continue;
        if (BoundsOf(map, variable).IsPoint()) continue;
        IsDim(variable) ? AtMost(variable, 1, &all) : all.AddFalse();
      }
    } else {
      for (const TileUnitTerm& term : digits_.UnitTermsOf(result)) {
        UnitHasOneValue(term.unit, &all);
      }
    }
    ClauseBuilder clause;
    clause.Add(all);
    AddClause(clause, &clauses);
  }
  AddEach(clauses, conditions);
}

std::optional<TileSizeSet> Writer::ByPoints(const TilePart& part) const {
  Int128 sizes = 1;
  for (const int dim : part.dims) {
    sizes *= SizeOf(dim);
    if (sizes > kMaxCombinations) return std::nullopt;
  }
  StepBudget budget(kMaxPoints);
  const TilePoints points(part.map, part.num_runtimes);
  const llvm::SmallVector<Interval, 4> array = part.OfDims<Interval>(tile_.Array());
  llvm::SmallVector<int64_t, 4> all(tile_.num_sizes(), 1);
  TileSizeSet exact;
  exact.dims.assign(part.dims.begin(), part.dims.end());
  while (true) {
    UnitCounts counts;
    digits_.Count(all, &counts);
    const bool is_box = IsBoxByDigits(part, digits_, counts);
    const bool is_said = is_box && llvm::all_of(part.dims, [&](int dim) {
                           return digits_.AreUsual(dim, all[dim], counts);
                         });
    if (!is_said) {
      const llvm::SmallVector<int64_t, 4> own = part.OfDims<int64_t>(all);
      const std::optional<TilesOfPoints> tiles =
          points.AllTiles(array, own, /*stops=*/true, &budget);
      if (!tiles) return std::nullopt;
      if (is_box || (tiles->are_alike && tiles->num_full > 0)) exact.sizes.push_back(own);
    }
    size_t i = part.dims.size();
    while (i > 0 && all[part.dims[i - 1]] == SizeOf(part.dims[i - 1])) all[part.dims[--i]] = 1;
    if (i == 0) break;
    ++all[part.dims[i - 1]];
  }
  return exact;
}

// Whether the tiles of a part are boxes just where those of each variable are aligned. It is so
// where each unit is in one result, which has no other, and nothing is left out: then the tile of a
// variable is the product of what its digits take, and
//
//   an interval of numbers whose digits take all combinations of some values is aligned:
//
// where it has digits h - 1 and h above some place, it has all numbers between, so that the digits
// below that place take all values; of the highest digit that changes it has neighbours. Where the
// highest digit has an end, tile 0 has neighbours of it, and so have all that are like tile 0.
bool Writer::DigitsDecide(const TilePart& part) const {
  if (!part.component.constraints.empty()) return false;
  const auto has_one_unit = [&](int i) {
    const TileResult& result = digits_.results()[i];
    return !result.is_opaque && result.num_unit_terms <= 1;
  };
  if (!llvm::all_of(part.component.results, has_one_unit)) return false;
  for (const int index : part.component.variables) {
    if (index >= static_cast<int>(digits_.variables().size())) break;
    const TileVariable& variable = digits_.variables()[index];
    const llvm::ArrayRef<TileUnit> units = digits_.UnitsOf(variable);
    if (variable.is_opaque || variable.modulus != 1) return false;
    if (llvm::any_of(units, [](const TileUnit& unit) { return unit.result < 0; })) return false;
    const bool has_end = !units.empty() && units.back().count != 0;
    const Interval& bounds = variable.bounds;
    const bool is_dim = IsDim(index);
    const bool begins_at_0 = variable.shift == 0 && bounds.has_lower() &&
                             (is_dim ? bounds.lower() <= 0 : bounds.lower() == 0);
    if (has_end && !begins_at_0) return false;
    // Numbers of which sums fit int64.
    const int64_t size = is_dim ? SizeOf(index) : bounds.Size().value_or(kInt64Max);
    if (size > kInt64Max / 4 || Magnitude(variable.shift) > kInt64Max / 4) return false;
  }
  return true;
}

std::vector<TileCondition> Writer::OfPart(const TilePart& part) const {
  std::vector<TileCondition> conditions;
  if (HasOnePoint(part)) return conditions;
  const bool is_decided = DigitsDecide(part);
  bool is_opaque = part.component.variables.empty() && !part.component.constraints.empty();
  AlternativeBuilder not_shared;
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
  Clauses clauses;
  if (is_opaque) {
    // No clause can say when an opaque part is a box.
    clauses.emplace_back();
  } else {
    for (const int dim : part.dims) {
      Clauses of_dim;
      const bool is_whole = AddAligned(dim, is_decided, &of_dim);
      if (!is_decided) {
        llvm::append_range(clauses, of_dim);
        continue;
      }
      AddEach(of_dim, &conditions);
      if (!is_whole) conditions.back().is_by_points = true;
    }
    ClauseBuilder shared;
    shared.Add(not_shared);
    AddClause(shared, &clauses);
    for (const int result : part.component.results) {
      AddProgression(digits_.results()[result], &clauses);
    }
  }
  if (is_decided || digits_.IsPlain() || clauses.empty()) {
    AddEach(clauses, &conditions);
    return conditions;
  }
  if (part.dims.empty()) {
    StepBudget budget(kMaxPoints);
    const std::optional<TilesOfPoints> tiles =
        TilePoints(part.map, part.num_runtimes).AllTiles({}, {}, /*stops=*/true, &budget);
    if (!tiles || !tiles->are_alike || tiles->num_full == 0) AddEach({TileClause()}, &conditions);
    return conditions;
  }
  std::optional<TileSizeSet> others = ByPoints(part);
  if (others && others->IsEmpty()) {
    AddEach(clauses, &conditions);
    return conditions;
  }
  TileCondition& condition = conditions.emplace_back();
  condition.clauses = std::move(clauses);
  condition.is_by_points = !others;
  if (others) condition.others = *std::move(others);
  return conditions;
}

std::vector<TileCondition> Writer::Write() const {
  std::vector<TileCondition> conditions;
  Clauses of_borders;
  for (const TileBorder& border : tile_.borders()) {
    of_borders.push_back(
        {{{{border.at, TileRelation::kMultipleOf, TileExpr::Size(border.dim)}}}, {}});
  }
  AddEach(of_borders, &conditions);
  AddRuntimeElements(&conditions);
  for (const TilePart& part : TilePartsOf(tile_.map())) {
    for (TileCondition& condition : OfPart(part)) {
      if (!llvm::is_contained(conditions, condition)) conditions.push_back(std::move(condition));
    }
  }
  return conditions;
}

}  // namespace

std::vector<TileCondition> ConditionsOf(const SymbolicTile& tile) { return Writer(tile).Write(); }

}  // namespace xla_indexing::internal

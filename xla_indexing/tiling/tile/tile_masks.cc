#include "xla_indexing/tiling/tile/tile_masks.h"

#include <algorithm>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/components.h"
#include "xla_indexing/tiling/tile/tile_digits.h"

namespace xla_indexing::internal {
namespace {

// Tiles of one dimension that are looked at one by one, and combinations of classes.
constexpr int64_t kMaxTilesOfDim = 64;
constexpr int64_t kMaxTilesOfResult = 4096;

// The values of a result for which a constraint holds; nullopt if that is no multiple or part of it
// but for constants, or where it is about runtime variables and the bounds are those of the rest.
std::optional<Interval> ValuesUnder(const SymbolicTile& tile, const Constraint& constraint,
                                    int index) {
  const IndexingMap& map = tile.map();
  const int first_runtime = map.num_dims() + map.num_ranges();
  if (!tile.digits().results()[index].is_opaque &&
      llvm::any_of(VariablesOf(constraint.expr, map.num_dims()),
                   [&](int variable) { return variable >= first_runtime; })) {
    return std::nullopt;
  }
  const mlir::AffineExpr result = map.results()[index];
  const LinearSum of_result = LinearSum::FromExpr(result);
  const LinearSum of_constraint = LinearSum::FromExpr(constraint.expr);
  if (!of_result.valid() || !of_constraint.valid() || of_result.terms().empty() ||
      of_result.terms().size() != of_constraint.terms().size()) {
    return std::nullopt;
  }
  const LinearSum::Term& first = of_result.terms().front();
  const int64_t other = of_constraint.CoefficientOf(first.atom);
  if (other == 0) return std::nullopt;
  for (const LinearSum::Term& term : of_result.terms()) {
    if (Int128{term.coefficient} * other !=
        Int128{of_constraint.CoefficientOf(term.atom)} * first.coefficient) {
      return std::nullopt;
    }
  }
  const Interval sum = constraint.interval.Sub(of_constraint.constant());
  if (const std::optional<int64_t> factor = ExactQuotient(first.coefficient, other)) {
    return sum.Mul(*factor).Add(of_result.constant());
  }
  const std::optional<int64_t> factor = ExactQuotient(other, first.coefficient);
  if (!factor) return std::nullopt;
  return sum.PreimageOfMul(*factor).Add(of_result.constant());
}

// Ascending values lower, lower + step, .., upper.
struct Values {
  Int128 lower = 0;
  Int128 upper = 0;
  Int128 step = 1;

  static Values Of(int64_t offset, const SizeAndStride& progression) {
    const Int128 end = Int128{offset} + (Int128{progression.size} - 1) * progression.stride;
    return {std::min<Int128>(offset, end), std::max<Int128>(offset, end),
            progression.size > 1 ? Magnitude(progression.stride) : 0};
  }
};

// How far the tiles of a class move a result.
struct Shifts {
  Int128 least = 0;
  Int128 most = 0;
};

// A tile of a result: its box, and what is read of it.
struct BoxWithMask {
  Values box;
  Values read;
  Shifts shifts;
};

// Ends of bounds, with infinite ones past all values, which have a size and a stride of int64, and
// shifts of them.
constexpr Int128 kFar = Int128{3} << 125;
Int128 LowerEnd(const Interval& bounds) {
  return bounds.IsEmpty() ? kFar : bounds.has_lower() ? Int128{bounds.lower()} : -kFar;
}
Int128 UpperEnd(const Interval& bounds) {
  return bounds.IsEmpty() ? -kFar : bounds.has_upper() ? Int128{bounds.upper()} : kFar;
}

// Whether values in [least, greatest] are out of bounds at all shifts.
bool AreOut(Int128 least, Int128 greatest, const Shifts& shifts, const Interval& bounds) {
  return least + shifts.least > UpperEnd(bounds) || greatest + shifts.most < LowerEnd(bounds);
}

bool AreExtrasOut(const BoxWithMask& tile, const Interval& bounds) {
  const Values& box = tile.box;
  const Values& read = tile.read;
  if (read.lower < box.lower || read.upper > box.upper) return false;
  if (box.step == 0) return true;
  if ((read.step != 0 && read.step != box.step) || (read.lower - box.lower) % box.step != 0) {
    return false;
  }
  return (read.lower == box.lower ||
          AreOut(box.lower, read.lower - box.step, tile.shifts, bounds)) &&
         (read.upper == box.upper || AreOut(read.upper + box.step, box.upper, tile.shifts, bounds));
}

// Whether the elements within the bounds are others than those read, at one of the ends of the
// shifts.
bool DifferAtAnEnd(const BoxWithMask& tile, const Interval& bounds) {
  const auto within = [&](const Values& values, Int128 shift) {
    Int128 lower = values.lower + shift;
    Int128 upper = values.upper + shift;
    const Int128 step = std::max<Int128>(values.step, 1);
    if (lower < LowerEnd(bounds)) lower += (LowerEnd(bounds) - lower + step - 1) / step * step;
    if (upper > UpperEnd(bounds)) upper -= (upper - UpperEnd(bounds) + step - 1) / step * step;
    return Values{lower, upper, lower < upper ? values.step : 0};
  };
  if (bounds.IsEmpty()) return false;
  for (const Int128 shift : {tile.shifts.least, tile.shifts.most}) {
    const Values box = within(tile.box, shift);
    const Values read = within(tile.read, shift);
    if (read.lower > read.upper) continue;
    if (box.lower != read.lower || box.upper != read.upper || box.step != read.step) {
      return true;
    }
  }
  return false;
}

// Tiles [first, last] of a dimension, which have some of its indices in the domain.
struct TileClass {
  int64_t first = 0;
  int64_t last = 0;
  bool is_full = false;
  // Whether they are not alike but for a shift.
  bool is_varied = false;
};

class Masks {
 public:
  Masks(const SymbolicTile& tile, llvm::ArrayRef<int64_t> sizes)
      : tile_(tile),
        digits_(tile.digits()),
        map_(tile.map()),
        sizes_(sizes),
        array_(tile.Array()),
        starts_(sizes.size(), 0) {}

  // Whether boxes are known wherever tiles begin.
  bool AreBoxes() {
    if (HasUnknownResidues() || !digits_.Count(sizes_, &counts_)) return false;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (!digits_.AreUsual(static_cast<int>(i), sizes_[i], counts_)) return false;
    }
    for (const auto [i, result] : llvm::enumerate(Results())) {
      const bool is_known = result.is_opaque ? IsSingle(map_.results()[i])
                                             : digits_.ProgressionOf(result, counts_).has_value();
      if (!is_known) return false;
    }
    return true;
  }

  Answer ReadJustThose();
  Answer ReadNoMore();

 private:
  llvm::ArrayRef<TileResult> Results() const {
    return digits_.results().take_front(map_.num_results());
  }
  const Interval& BoundsOfResult(int result) {
    if (bounds_.empty()) bounds_ = MaskOf(tile_);
    return bounds_[result];
  }
  int64_t NumTiles(int dim) const {
    return std::max<int64_t>(CeilDiv(tile_.dim_sizes()[dim], sizes_[dim]), 1);
  }
  // Whether residues are fixed of variables whose digits are not known.
  bool HasUnknownResidues() const;
  // Whether an expression has one value in a tile: its value at the first point.
  bool IsSingle(mlir::AffineExpr expr) const;
  llvm::SmallVector<int, 4> DimsOf(int result) const;
  // What one more tile adds to the only unit of a dimension; nullopt if tiles are not alike.
  std::optional<int64_t> StepOf(int dim) const;
  llvm::SmallVector<TileClass, 6> ClassesOf(int dim) const;
  Interval IndicesOf(int dim, int64_t k) const;
  bool IsEmptyTile(int dim, int64_t k) const;

  // The tile of a result for a class of each of its dimensions; nullopt if it is not known.
  std::optional<BoxWithMask> TileOf(const TileResult& result, llvm::ArrayRef<int> dims,
                                    llvm::ArrayRef<TileClass> classes);
  // Calls visit(tile) for all combinations of classes. Undecided where some tile is not known or there
  // are too many; no where visit is.
  template <typename Visit>
  Answer ForEachTile(int result, Visit visit);
  Answer AreExtrasOutOf(int result);

  const SymbolicTile& tile_;
  const TileDigits& digits_;
  const IndexingMap& map_;
  const llvm::ArrayRef<int64_t> sizes_;
  const llvm::SmallVector<Interval, 4> array_;
  // Found where tiles are not full.
  llvm::SmallVector<Interval, 4> bounds_;
  UnitCounts counts_;
  llvm::SmallVector<int64_t, 4> starts_;
  int64_t combinations_ = 0;
};

bool Masks::HasUnknownResidues() const {
  return llvm::any_of(map_.constraints(), [&](const Constraint& constraint) {
    return IsOfResidues(constraint) &&
           llvm::any_of(VariablesOf(constraint.expr, map_.num_dims()), [&](int variable) {
             return variable < static_cast<int>(digits_.variables().size()) &&
                    digits_.variables()[variable].is_opaque;
           });
  });
}

bool Masks::IsSingle(mlir::AffineExpr expr) const {
  return llvm::all_of(VariablesOf(expr, map_.num_dims()), [&](int variable) {
    if (variable < map_.num_dims()) return sizes_[variable] == 1;
    return variable >= map_.num_dims() + map_.num_ranges() || BoundsOf(map_, variable).IsPoint();
  });
}

llvm::SmallVector<int, 4> Masks::DimsOf(int index) const {
  const TileResult& result = Results()[index];
  llvm::SmallVector<int, 4> dims;
  const auto add = [&](int variable) {
    if (variable < map_.num_dims() && !llvm::is_contained(dims, variable)) dims.push_back(variable);
  };
  if (result.is_opaque) {
    for (const int variable : VariablesOf(map_.results()[index], map_.num_dims())) add(variable);
  } else {
    for (const TileUnitTerm& term : digits_.UnitTermsOf(result)) {
      add(digits_.units()[term.unit].variable);
    }
  }
  return dims;
}

std::optional<int64_t> Masks::StepOf(int dim) const {
  const TileVariable& variable = digits_.variables()[dim];
  const llvm::ArrayRef<TileUnit> units = digits_.UnitsOf(variable);
  if (units.empty()) return 0;
  const int64_t factor = variable.modulus != 1 ? variable.modulus : units[0].low;
  if (units.size() != 1 || units[0].count != 0 || sizes_[dim] % factor != 0) return std::nullopt;
  return sizes_[dim] / factor;
}

// The dimension's indices in the domain of a tile.
Interval Masks::IndicesOf(int dim, int64_t k) const {
  const Int128 start = Int128{k} * sizes_[dim];
  const Int128 end = std::min<Int128>(start + sizes_[dim] - 1, kInt64Max);
  return Interval::Closed(static_cast<int64_t>(start), static_cast<int64_t>(end))
      .Intersect(array_[dim]);
}

// Whether the domain surely has nothing in a tile, also because of residues.
bool Masks::IsEmptyTile(int dim, int64_t k) const {
  const Interval indices = IndicesOf(dim, k);
  const TileVariable& variable = digits_.variables()[dim];
  if (indices.IsEmpty() || variable.modulus == 1) return indices.IsEmpty();
  const std::optional<int64_t> first = CheckedAdd(indices.lower(), variable.shift);
  const std::optional<int64_t> last = CheckedAdd(indices.upper(), variable.shift);
  return first && last && FloorDiv(*last, variable.modulus) < CeilDiv(*first, variable.modulus);
}

llvm::SmallVector<TileClass, 6> Masks::ClassesOf(int dim) const {
  llvm::SmallVector<TileClass, 6> classes;
  const int64_t num_tiles = NumTiles(dim);
  const bool are_alike = StepOf(dim).has_value();
  const auto add = [&](int64_t first, int64_t last, bool is_full) {
    if (first > last) return;
    if (!are_alike && num_tiles <= kMaxTilesOfDim) {
      for (int64_t k = first; k <= last; ++k) classes.push_back({k, k, is_full, false});
    } else {
      classes.push_back({first, last, is_full, !are_alike && first != last});
    }
  };
  const Interval& indices = array_[dim];
  if (indices.IsEmpty()) return classes;
  const int64_t size = sizes_[dim];
  const int64_t first = indices.lower() / size;
  // A dimension without an end has no last tile.
  const bool has_end = tile_.dim_sizes()[dim] != kInt64Max || indices.upper() < kInt64Max - 1;
  const int64_t last = has_end ? indices.upper() / size : num_tiles - 1;
  const int64_t first_full = CeilDiv(indices.lower(), size);
  const int64_t last_full =
      has_end ? static_cast<int64_t>((Int128{indices.upper()} + 1) / size) - 1 : last;
  if (first < first_full && !IsEmptyTile(dim, first)) add(first, first, false);
  add(first_full, last_full, true);
  if (last > last_full && (last > first || first == first_full) && !IsEmptyTile(dim, last)) {
    add(last, last, false);
  }
  return classes;
}

std::optional<BoxWithMask> Masks::TileOf(const TileResult& result, llvm::ArrayRef<int> dims,
                                         llvm::ArrayRef<TileClass> classes) {
  if (result.is_opaque) return std::nullopt;
  BoxWithMask tile;
  for (const auto [dim, of_dim] : llvm::zip(dims, classes)) {
    if (of_dim.is_varied) return std::nullopt;
    const std::optional<int64_t> start = CheckedMul(of_dim.first, sizes_[dim]);
    if (!start) return std::nullopt;
    starts_[dim] = *start;
    if (of_dim.first == of_dim.last) continue;
    const int unit = digits_.variables()[dim].first_unit;
    for (const TileUnitTerm& term : digits_.UnitTermsOf(result)) {
      if (term.unit != unit) continue;
      const std::optional<int64_t> step = CheckedMul(term.coefficient, *StepOf(dim));
      const std::optional<int64_t> shift =
          step ? CheckedMul(*step, of_dim.last - of_dim.first) : std::nullopt;
      if (!shift) return std::nullopt;
      (*shift < 0 ? tile.shifts.least : tile.shifts.most) += *shift;
    }
  }
  const std::optional<int64_t> offset = digits_.OffsetOf(result, starts_, counts_);
  if (!offset) return std::nullopt;
  tile.box = Values::Of(*offset, *digits_.ProgressionOf(result, counts_));
  llvm::SmallVector<int64_t, 4> starts(sizes_.size(), 0);
  llvm::SmallVector<int64_t, 4> lengths(sizes_.begin(), sizes_.end());
  for (const auto [dim, of_dim] : llvm::zip(dims, classes)) {
    const Interval indices = IndicesOf(dim, of_dim.first);
    starts[dim] = indices.lower();
    lengths[dim] = *indices.Size();
  }
  UnitCounts counts;
  digits_.CountOne(starts, lengths, &counts);
  if (!llvm::all_of(dims, [&](int dim) { return counts.is_aligned[dim]; })) return std::nullopt;
  const std::optional<SizeAndStride> read = digits_.ProgressionOf(result, counts);
  const std::optional<int64_t> first = digits_.OffsetOf(result, starts, counts);
  if (!read || !first) return std::nullopt;
  tile.read = Values::Of(*first, *read);
  return tile;
}

template <typename Visit>
Answer Masks::ForEachTile(int index, Visit visit) {
  const TileResult& result = Results()[index];
  const llvm::SmallVector<int, 4> dims = DimsOf(index);
  llvm::SmallVector<llvm::SmallVector<TileClass, 6>, 4> all;
  for (const int dim : dims) {
    all.push_back(ClassesOf(dim));
    if (all.back().empty()) return Answer::kYes;
  }
  Answer answer = Answer::kYes;
  llvm::SmallVector<size_t, 4> at(dims.size(), 0);
  llvm::SmallVector<TileClass, 4> classes(dims.size());
  while (true) {
    for (size_t i = 0; i < dims.size(); ++i) classes[i] = all[i][at[i]];
    // Full tiles read their boxes.
    if (!llvm::all_of(classes, [](const TileClass& of_dim) { return of_dim.is_full; })) {
      if (++combinations_ > kMaxTilesOfResult) return Answer::kUndecided;
      const std::optional<BoxWithMask> tile = TileOf(result, dims, classes);
      answer = And(answer, tile ? visit(*tile) : Answer::kUndecided);
      if (answer == Answer::kNo) return answer;
    }
    size_t i = dims.size();
    while (i > 0 && at[i - 1] + 1 == all[i - 1].size()) at[--i] = 0;
    if (i == 0) return answer;
    ++at[i - 1];
  }
}

Answer Masks::AreExtrasOutOf(int index) {
  return ForEachTile(index, [&](const BoxWithMask& tile) {
    const Interval& bounds = BoundsOfResult(index);
    if (AreExtrasOut(tile, bounds)) return Answer::kYes;
    return DifferAtAnEnd(tile, bounds) ? Answer::kNo : Answer::kUndecided;
  });
}

Answer Masks::ReadJustThose() {
  if (!digits_.AreIndependent(counts_)) return Answer::kUndecided;
  if (map_.IsKnownEmpty()) return Answer::kYes;
  for (const Constraint& constraint : map_.constraints()) {
    // What is the same for all of a tile leaves out all of it or nothing.
    if (IsOfResidues(constraint) || IsSingle(constraint.expr)) continue;
    bool is_on_result = false;
    for (int i = 0; i < map_.num_results() && !is_on_result; ++i) {
      is_on_result = ValuesUnder(tile_, constraint, i).has_value();
    }
    if (!is_on_result) return Answer::kNo;
  }
  Answer answer = Answer::kYes;
  for (int i = 0; i < map_.num_results(); ++i) {
    answer = And(answer, AreExtrasOutOf(i));
    if (answer == Answer::kNo) return answer;
  }
  return answer;
}

Answer Masks::ReadNoMore() {
  UnitCounts counts;
  counts.counts.assign(digits_.units().size(), 1);
  for (int dim = 0; dim < digits_.num_dims(); ++dim) {
    // By the rule, tiles are aligned wherever they begin, even beyond the domain.
    if (digits_.IsAlignedByRule(dim, sizes_[dim], &counts)) continue;
    if (llvm::any_of(ClassesOf(dim), [](const TileClass& of_dim) { return !of_dim.is_full; })) {
      return ReadJustThose() == Answer::kYes ? Answer::kYes : Answer::kUndecided;
    }
  }
  return Answer::kYes;
}

}  // namespace

llvm::SmallVector<Interval, 4> MaskOf(const SymbolicTile& tile) {
  const IndexingMap& map = tile.map();
  llvm::SmallVector<Interval, 4> bounds;
  const llvm::SmallVector<Interval, 4> dims = map.DimBounds();
  const llvm::SmallVector<Interval, 4> symbols = map.SymbolBounds();
  llvm::SmallVector<Interval, 4> fixed = symbols;
  std::fill(fixed.begin() + map.num_ranges(), fixed.end(), Interval::Point(0));
  for (const auto [i, result] : llvm::enumerate(map.results())) {
    if (map.IsKnownEmpty()) {
      bounds.push_back(Interval::Empty());
      continue;
    }
    const bool is_opaque = tile.digits().results()[i].is_opaque;
    ExprSimplifier simplifier(map.context(), dims, is_opaque ? symbols : fixed);
    bounds.push_back(simplifier.Range(result));
    for (const Constraint& constraint : map.constraints()) {
      if (const std::optional<Interval> values =
              ValuesUnder(tile, constraint, static_cast<int>(i))) {
        bounds.back() = bounds.back().Intersect(*values);
      }
    }
  }
  return bounds;
}

Answer ReadJustWhatIsMasked(const SymbolicTile& tile, llvm::ArrayRef<int64_t> sizes) {
  Masks masks(tile, sizes);
  return masks.AreBoxes() ? masks.ReadJustThose() : Answer::kUndecided;
}

Answer ReadNoMoreThanMasked(const SymbolicTile& tile, llvm::ArrayRef<int64_t> sizes) {
  Masks masks(tile, sizes);
  return masks.AreBoxes() ? masks.ReadNoMore() : Answer::kUndecided;
}

}  // namespace xla_indexing::internal

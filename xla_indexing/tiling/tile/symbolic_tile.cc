#include "xla_indexing/tiling/tile/symbolic_tile.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/components.h"
#include "xla_indexing/tiling/tile/tile_digits.h"
#include "xla_indexing/tiling/tile/tile_parts.h"
#include "xla_indexing/tiling/tile/tile_points.h"

namespace xla_indexing {

using internal::BoundsOf;
using internal::CeilDiv;
using internal::DigitTerm;
using internal::ExprSimplifier;
using internal::HasOnePoint;
using internal::Int128;
using internal::IsBoxByDigits;
using internal::kInt64Max;
using internal::kInt64Min;
using internal::NarrowToInt64;
using internal::SizeAndStride;
using internal::TileOfPoints;
using internal::TilePart;
using internal::TilePartsOf;
using internal::TilePoints;
using internal::TileResult;
using internal::TilesOfPoints;
using internal::UnitCounts;
using internal::VariablesOf;
using ::mlir::AffineExpr;

namespace {

bool IsRuntime(const IndexingMap& map, int variable) {
  return variable >= map.num_dims() + map.num_ranges();
}

// How many elements a box has and how many of it are read, part by part of a map.
class ElementCount {
 public:
  explicit ElementCount(bool is_known) : is_known_(is_known) {}

  void Add(llvm::ArrayRef<TileRange> ranges, llvm::ArrayRef<int> results,
           std::optional<int64_t> read = std::nullopt) {
    Int128 in_box = 1;
    for (const int i : results) in_box = std::min<Int128>(in_box * ranges[i].size, kInt64Max);
    read_ = std::min<Int128>(read_ * read.value_or(static_cast<int64_t>(in_box)), kInt64Max);
    in_box_ = std::min<Int128>(in_box_ * in_box, kInt64Max);
  }
  void Forget() { is_known_ = false; }
  // Elements of the box that are not read, where both are known and fit int64.
  std::optional<int64_t> Excess() const {
    if (!is_known_ || in_box_ == kInt64Max) return std::nullopt;
    return static_cast<int64_t>(in_box_ - read_);
  }

 private:
  bool is_known_;
  Int128 in_box_ = 1;
  Int128 read_ = 1;
};

// The tile of a part that has one point at given values of the runtime variables, at all of these.
void SayOnePoint(const TilePart& part, ConcreteTile* tile) {
  ExprSimplifier simplifier(part.map.context(), {}, part.map.SymbolBounds());
  for (const auto [own, i] : llvm::enumerate(part.component.results)) {
    tile->ranges[i] = {simplifier.Range(part.map.results()[own]), 1, 1};
  }
}

// What constraints say of variables alone is not an edge of the domain but of the variables.
IndexingMap WithNarrowedIntervals(IndexingMap map) {
  if (!map.constraints().empty()) map.Simplify({.keep_variables = true});
  return map;
}

void MakeEmpty(ConcreteTile* tile) {
  std::fill(tile->ranges.begin(), tile->ranges.end(), TileRange{Interval::Point(0), 0, 1});
  tile->is_empty = true;
  tile->excess = 0;
}

absl::Status CheckDimSizes(const IndexingMap& map, llvm::ArrayRef<int64_t> dim_sizes) {
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  if (dim_sizes.empty()) return absl::OkStatus();
  if (static_cast<int>(dim_sizes.size()) != map.num_dims()) {
    return absl::InvalidArgumentError(
        absl::StrCat("sizes of ", dim_sizes.size(), " dimensions for a map of ", map.num_dims()));
  }
  for (const auto [i, size] : llvm::enumerate(dim_sizes)) {
    const Interval& bounds = map.dims()[i].bounds;
    // The size of what has no bound is the greatest int64.
    const Interval indices = size == kInt64Max ? Interval::AtLeast(0) : Interval::OfSize(size);
    if (size >= 0 && bounds.IsSubsetOf(indices)) continue;
    return absl::InvalidArgumentError(absl::StrCat("dimension ", i, " of ", map.ToString(),
                                                   " is in ", bounds.ToString(),
                                                   ", and the size of the array is ", size));
  }
  return absl::OkStatus();
}

// Whether residues depend on runtime variables, so that these decide whether a full tile reads
// anything.
bool HasRuntimeResidues(const IndexingMap& map) {
  return llvm::any_of(map.constraints(), [&](const Constraint& constraint) {
    return internal::IsOfResidues(constraint) &&
           llvm::any_of(VariablesOf(constraint.expr, map.num_dims()),
                        [&](int variable) { return IsRuntime(map, variable); });
  });
}

// Whether values of runtime variables leave points out of the domain.
bool RestrictsDomain(const IndexingMap& map, const OperandIndexing& indexing) {
  for (const auto [runtime, binding] : llvm::zip(map.runtimes(), indexing.bindings())) {
    if (!binding.ValueRange().IsSubsetOf(runtime.bounds)) return true;
  }
  return false;
}

// What the runtime variables of results and constraints are read by, and those that these use, and
// what says on which device.
llvm::SmallVector<AffineExpr, 0> ElementsRead(const OperandIndexing& indexing) {
  llvm::SmallVector<AffineExpr, 0> elements;
  const IndexingMap& map = indexing.map();
  // What dimensions have to do with which device is read.
  if (const ReplicaMap* replica_map = indexing.replica_map()) {
    const AffineExpr zero = mlir::getAffineConstantExpr(0, map.context());
    const llvm::SmallVector<AffineExpr, 4> no_ranges(map.num_ranges(), zero);
    const auto add = [&](AffineExpr expr) {
      expr = expr.replace(indexing.Reader(), zero).replaceSymbols(no_ranges);
      if (!VariablesOf(expr, map.num_dims()).empty()) elements.push_back(expr);
    };
    add(replica_map->device);
    for (const Constraint& constraint : replica_map->constraints) add(constraint.expr);
  }
  if (map.num_runtimes() == 0) return elements;
  llvm::SmallBitVector seen(map.num_runtimes());
  llvm::SmallVector<AffineExpr, 8> open(map.results());
  for (const Constraint& constraint : map.constraints()) open.push_back(constraint.expr);
  while (!open.empty()) {
    const AffineExpr expr = open.pop_back_val();
    for (const int variable : VariablesOf(expr, map.num_dims())) {
      if (!IsRuntime(map, variable)) continue;
      const int runtime = variable - map.num_dims() - map.num_ranges();
      if (seen[runtime]) continue;
      seen[runtime] = true;
      for (const AffineExpr element : indexing.bindings()[runtime].element) {
        elements.push_back(element);
        open.push_back(element);
      }
    }
  }
  return elements;
}

}  // namespace

void TilePieces::Add(const IndexingMap& map) {
  ends_.resize(map.num_dims());
  if (map.IsKnownEmpty()) return;
  for (const auto [ends, dim] : llvm::zip(ends_, map.dims())) {
    if (dim.bounds.has_upper()) {
      const int64_t last = dim.bounds.upper();
      ends.least_last = std::min(ends.least_last.value_or(last), last);
    }
    if (dim.bounds.has_lower()) {
      const int64_t first = dim.bounds.lower();
      ends.greatest_first = std::max(ends.greatest_first.value_or(first), first);
    }
  }
}

llvm::SmallVector<TileBorder, 2> TilePieces::BordersOf(const IndexingMap& map) const {
  llvm::SmallVector<TileBorder, 2> borders;
  if (map.IsKnownEmpty()) return borders;
  for (const auto [i, ends] : llvm::enumerate(ends_)) {
    const Interval& own = map.dims()[i].bounds;
    if (own.has_lower() && ends.least_last && *ends.least_last < own.lower()) {
      borders.push_back({static_cast<int>(i), own.lower()});
    }
    if (own.has_upper() && ends.greatest_first && *ends.greatest_first > own.upper()) {
      borders.push_back({static_cast<int>(i), own.upper() + 1});
    }
  }
  return borders;
}

SymbolicTile::SymbolicTile(IndexingMap map, llvm::ArrayRef<int64_t> dim_sizes,
                           llvm::ArrayRef<AffineExpr> runtime_elements, bool is_exact)
    : map_(std::move(map)),
      dim_sizes_(dim_sizes),
      runtime_elements_(runtime_elements),
      is_exact_(is_exact && !HasRuntimeResidues(map_)),
      digits_(std::make_shared<const internal::TileDigits>(map_, runtime_elements)) {
  if (!dim_sizes.empty()) return;
  for (const Variable& dim : map_.dims()) {
    const bool is_finite = !dim.bounds.IsEmpty() && dim.bounds.has_upper();
    const int64_t last = is_finite ? dim.bounds.upper() : kInt64Max;
    dim_sizes_.push_back(last < kInt64Max ? std::max<int64_t>(last, 0) + 1 : kInt64Max);
  }
}

absl::StatusOr<SymbolicTile> SymbolicTile::OfMap(IndexingMap map,
                                                 llvm::ArrayRef<int64_t> dim_sizes) {
  if (absl::Status status = CheckDimSizes(map, dim_sizes); !status.ok()) return status;
  return SymbolicTile(WithNarrowedIntervals(std::move(map)), dim_sizes, {}, /*is_exact=*/true);
}

absl::StatusOr<SymbolicTile> SymbolicTile::Of(const OperandIndexing& indexing,
                                              llvm::ArrayRef<int64_t> dim_sizes,
                                              const TilePieces& pieces) {
  const QuestionBudget question;
  if (indexing.IsUnknown()) {
    return absl::InvalidArgumentError(
        absl::StrCat("an unknown map has no tile: ", indexing.label().reason));
  }
  absl::Status status = CheckDimSizes(indexing.map(), dim_sizes);
  if (!status.ok()) return status;
  IndexingMap map = WithNarrowedIntervals(indexing.map());
  const bool is_exact = indexing.IsExact() && !RestrictsDomain(map, indexing);
  SymbolicTile tile(std::move(map), dim_sizes, ElementsRead(indexing), is_exact);
  tile.borders_ = pieces.BordersOf(indexing.map());
  for (const RuntimeVarIndexing& binding : indexing.bindings()) {
    tile.element_of_runtime_.emplace_back(binding.element.begin(), binding.element.end());
  }
  return tile;
}

absl::Status SymbolicTile::CheckSizes(llvm::ArrayRef<int64_t> sizes) const {
  if (static_cast<int>(sizes.size()) != num_sizes()) {
    return absl::InvalidArgumentError(
        absl::StrCat(sizes.size(), " tile sizes for an array of ", num_sizes(), " dimensions"));
  }
  for (const auto [i, size] : llvm::enumerate(sizes)) {
    if (size >= 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("tile size ", size, " of dimension ", i, " is below 1"));
  }
  return absl::OkStatus();
}

absl::Status SymbolicTile::CheckIndex(llvm::ArrayRef<int64_t> sizes,
                                      llvm::ArrayRef<int64_t> index) const {
  absl::Status status = CheckSizes(sizes);
  if (!status.ok()) return status;
  if (index.size() != sizes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tile index of ", index.size(), " numbers for ", sizes.size(), " sizes"));
  }
  for (const auto [i, k] : llvm::enumerate(index)) {
    const int64_t num_tiles = std::max<int64_t>(CeilDiv(dim_sizes_[i], sizes[i]), 1);
    if (k >= 0 && k < num_tiles) continue;
    return absl::InvalidArgumentError(absl::StrCat("tile ", k, " of dimension ", i, ", which has ",
                                                   num_tiles, " tiles of size ", sizes[i]));
  }
  return absl::OkStatus();
}

llvm::SmallVector<int64_t, 4> SymbolicTile::ClampedSizes(llvm::ArrayRef<int64_t> sizes) const {
  llvm::SmallVector<int64_t, 4> clamped;
  for (const auto [size, most] : llvm::zip(sizes, dim_sizes_)) {
    clamped.push_back(std::min(size, std::max<int64_t>(most, 1)));
  }
  return clamped;
}

bool SymbolicTile::CrossBorders(llvm::ArrayRef<int64_t> sizes) const {
  return llvm::any_of(borders_,
                      [&](const TileBorder& border) { return border.at % sizes[border.dim] != 0; });
}

bool SymbolicTile::RuntimesAreFixed(llvm::ArrayRef<int64_t> sizes, const UnitCounts& counts) const {
  const llvm::ArrayRef<TileResult> results = digits_->results().drop_front(map_.num_results());
  for (const auto [i, result] : llvm::enumerate(results)) {
    if (!result.is_opaque && digits_->HasOneValue(result, counts) &&
        llvm::all_of(digits_->TermsOf(result), [&](const DigitTerm& term) {
          return counts.is_aligned[term.digit.variable];
        })) {
      continue;
    }
    for (const int variable : VariablesOf(runtime_elements_[i], map_.num_dims())) {
      if (IsRuntime(map_, variable) || BoundsOf(map_, variable).IsPoint()) continue;
      if (variable >= map_.num_dims() || sizes[variable] != 1) return false;
    }
  }
  return true;
}

llvm::SmallBitVector SymbolicTile::FixedRuntimes(llvm::ArrayRef<int64_t> asked) const {
  const llvm::SmallVector<int64_t, 4> sizes = ClampedSizes(asked);
  UnitCounts counts;
  digits_->Count(CountedOf(asked), &counts);
  llvm::SmallBitVector is_fixed(map_.num_runtimes(), RuntimesAreFixed(sizes, counts));
  // Elements use runtime variables before them.
  for (const auto [i, element] : llvm::enumerate(element_of_runtime_)) {
    const auto is_single = [&](int variable) {
      if (variable < map_.num_dims()) return sizes[variable] == 1;
      if (IsRuntime(map_, variable)) {
        return is_fixed.test(variable - map_.num_dims() - map_.num_ranges());
      }
      return BoundsOf(map_, variable).IsPoint();
    };
    const bool is_used = llvm::all_of(
        element, [&](AffineExpr expr) { return llvm::is_contained(runtime_elements_, expr); });
    if (is_used && is_fixed.test(i)) continue;
    is_fixed[i] = llvm::all_of(element, [&](AffineExpr expr) {
      return llvm::all_of(VariablesOf(expr, map_.num_dims()), is_single);
    });
  }
  return is_fixed;
}

bool SymbolicTile::AreBox(const UnitCounts& counts) const {
  if (digits_->IsOpaque() || !digits_->AreIndependent(counts)) return false;
  return llvm::all_of(
      digits_->results().take_front(map_.num_results()),
      [&](const TileResult& result) { return digits_->ProgressionOf(result, counts).has_value(); });
}

llvm::SmallVector<Interval, 4> SymbolicTile::Array() const {
  llvm::SmallVector<Interval, 4> array;
  for (int i = 0; i < num_sizes(); ++i) {
    array.push_back(digits_->variables()[i].bounds.Intersect(Interval::OfSize(dim_sizes_[i])));
  }
  return array;
}

Interval SymbolicTile::RuntimePart(int result) const {
  llvm::SmallVector<Interval, 4> symbols(map_.num_ranges(), Interval::Point(0));
  for (const Variable& runtime : map_.runtimes()) symbols.push_back(runtime.bounds);
  // The terms with runtime variables, which stand by themselves.
  Interval sum = Interval::Point(0);
  AffineExpr expr = map_.results()[result];
  const auto add = [&](AffineExpr term) {
    Interval factor = Interval::Point(1);
    if (const auto product = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(term);
        product && product.getKind() == mlir::AffineExprKind::Mul) {
      const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(product.getRHS());
      if (!constant) return;
      factor = Interval::Point(constant.getValue());
      term = product.getLHS();
    }
    const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term);
    if (!symbol || static_cast<int>(symbol.getPosition()) < map_.num_ranges()) return;
    sum = sum.Add(symbols[symbol.getPosition()].Mul(factor));
  };
  while (expr.getKind() == mlir::AffineExprKind::Add) {
    const auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
    add(binary.getRHS());
    expr = binary.getLHS();
  }
  add(expr);
  return sum;
}

void SymbolicTile::SayByDigits(llvm::ArrayRef<int> results, llvm::ArrayRef<int64_t> starts,
                               const UnitCounts& counts, ConcreteTile* tile) const {
  for (const int i : results) {
    const TileResult& result = digits_->results()[i];
    const SizeAndStride values = *digits_->ProgressionOf(result, counts);
    const std::optional<int64_t> offset = digits_->OffsetOf(result, starts, counts);
    Interval from = offset ? Interval::Point(*offset) : Interval::All();
    if (result.has_runtime) from = from.Add(RuntimePart(i));
    tile->ranges[i] = {from, values.size, values.stride};
  }
}

void SymbolicTile::SayByRange(llvm::ArrayRef<int> results, llvm::ArrayRef<Interval> box,
                              ConcreteTile* tile) const {
  tile->is_exact = false;
  tile->excess = std::nullopt;
  for (const int i : results) {
    const TileResult& digits = digits_->results()[i];
    // Runtime variables that stand by themselves move the tile; others may make it any.
    llvm::SmallVector<Interval, 4> symbols = map_.SymbolBounds();
    Interval moved = Interval::Point(0);
    if (!digits.is_opaque && digits.has_runtime) {
      moved = RuntimePart(i);
      std::fill(symbols.begin() + map_.num_ranges(), symbols.end(), Interval::Point(0));
    }
    if (llvm::any_of(box, [](const Interval& side) { return side.IsEmpty(); }) ||
        llvm::any_of(symbols, [](const Interval& side) { return side.IsEmpty(); })) {
      tile->ranges[i] = {Interval::Point(0), 0, 1};
      continue;
    }
    ExprSimplifier simplifier(map_.context(), box, symbols);
    const Interval range = simplifier.Range(map_.results()[i]);
    const std::optional<int64_t> size = range.Size();
    tile->ranges[i] = {
        range.has_lower() ? Interval::Point(range.lower()).Add(moved) : Interval::All(),
        size.value_or(kInt64Max), 1};
  }
}

// Where runtime variables are not one value in a tile, the tile is at all of their values.
void SymbolicTile::SpreadOverRuntimes(ConcreteTile* tile) const {
  tile->is_exact = false;
  tile->excess = std::nullopt;
  for (const auto [i, range] : llvm::enumerate(tile->ranges)) {
    if (range.size == 0 || range.offset.IsPoint()) continue;
    const Int128 last = (Int128{range.size} - 1) * range.stride;
    const Interval all = range.offset.Union(
        range.offset.Add(NarrowToInt64(last).value_or(last < 0 ? kInt64Min : kInt64Max)));
    range = {all.has_lower() ? Interval::Point(all.lower()) : Interval::All(),
             all.Size().value_or(kInt64Max), 1};
  }
}

absl::StatusOr<Decision> SymbolicTile::IsExact(llvm::ArrayRef<int64_t> sizes,
                                               int64_t max_steps) const {
  if (is_exact_) return IsBox(sizes, max_steps);
  absl::Status status = CheckSizes(sizes);
  if (!status.ok()) return status;
  return Decision{Answer::kNo, 0};
}

absl::StatusOr<Decision> SymbolicTile::IsBox(llvm::ArrayRef<int64_t> asked,
                                             int64_t max_steps) const {
  const QuestionBudget question;
  absl::Status status = CheckSizes(asked);
  if (!status.ok()) return status;
  const llvm::SmallVector<int64_t, 4> sizes = ClampedSizes(asked);
  StepBudget budget(max_steps);
  if (CrossBorders(sizes)) return budget.Decide(false);
  UnitCounts counts;
  const bool are_aligned = digits_->Count(sizes, &counts);
  if (!RuntimesAreFixed(sizes, counts)) return budget.Decide(false);
  if (are_aligned && AreBox(counts)) return budget.Decide(true);
  // All full tiles of such maps look alike, so that what does not hold for digits does not hold.
  if (digits_->IsPlain()) return budget.Decide(false);
  for (const TilePart& part : TilePartsOf(map_)) {
    if (HasOnePoint(part) || IsBoxByDigits(part, *digits_, counts)) continue;
    const std::optional<TilesOfPoints> tiles =
        TilePoints(part.map, part.num_runtimes)
            .AllTiles(part.OfDims<Interval>(Array()), part.OfDims<int64_t>(sizes), /*stops=*/true,
                      &budget);
    if (!tiles) return budget.Decide(Answer::kUndecided);
    if (!tiles->are_alike || tiles->num_full == 0) return budget.Decide(false);
  }
  return budget.Decide(true);
}

absl::StatusOr<ConcreteTile> SymbolicTile::FullTile(llvm::ArrayRef<int64_t> asked,
                                                    int64_t max_steps) const {
  const QuestionBudget question;
  absl::Status status = CheckSizes(asked);
  if (!status.ok()) return status;
  // Points are those of the array.
  const llvm::SmallVector<int64_t, 4> sizes = ClampedSizes(asked);
  ConcreteTile tile;
  tile.ranges.resize(map_.num_results());
  UnitCounts counts;
  const bool are_aligned = digits_->Count(CountedOf(asked), &counts);
  const llvm::SmallVector<int64_t, 4> starts(num_sizes(), 0);
  llvm::SmallVector<int, 4> all_results(map_.num_results());
  std::iota(all_results.begin(), all_results.end(), 0);
  const bool runtimes_are_fixed = RuntimesAreFixed(sizes, counts);
  tile.is_exact = is_exact_ && runtimes_are_fixed && !CrossBorders(sizes);
  tile.excess = tile.is_exact ? std::optional<int64_t>(0) : std::nullopt;
  if (are_aligned && AreBox(counts)) {
    SayByDigits(all_results, starts, counts, &tile);
    if (!runtimes_are_fixed) SpreadOverRuntimes(&tile);
    return tile;
  }
  const llvm::SmallVector<Interval, 4> array = Array();
  llvm::SmallVector<Interval, 4> box;
  for (const int64_t size : sizes) box.push_back(Interval::OfSize(size));
  StepBudget budget(max_steps);
  ElementCount count(tile.is_exact);
  for (const TilePart& part : TilePartsOf(map_)) {
    const llvm::ArrayRef<int> results = part.component.results;
    if (HasOnePoint(part) && !map_.IsKnownEmpty()) {
      SayOnePoint(part, &tile);
      continue;
    }
    if (IsBoxByDigits(part, *digits_, counts)) {
      SayByDigits(results, starts, counts, &tile);
      count.Add(tile.ranges, results);
      continue;
    }
    const TilePoints points(part.map, part.num_runtimes);
    const std::optional<TilesOfPoints> tiles = points.AllTiles(
        part.OfDims<Interval>(array), part.OfDims<int64_t>(sizes), /*stops=*/false, &budget);
    const std::optional<TileOfPoints> first =
        tiles && tiles->num_full > 0 ? points.TileAt(part.OfDims<Interval>(box), &budget)
                                     : std::nullopt;
    // A box for every tile has to contain the largest one, at any runtime values. The box of the
    // values in the whole array does.
    if (!first || (part.num_runtimes > 0 && !tiles->are_alike)) {
      SayByRange(results, array, &tile);
      count.Forget();
      continue;
    }
    tile.is_exact = tile.is_exact && tiles->are_alike;
    for (const auto [own, i] : llvm::enumerate(results)) {
      const SizeAndStride& range = tiles->ranges[own];
      // The first tile at any values of runtime variables has room to move in that at all of them.
      const int64_t moves = (first->ranges[own].size - 1) * first->ranges[own].stride -
                            (range.size - 1) * range.stride;
      const int64_t offset = first->offsets[own];
      tile.ranges[i] = {Interval::Closed(offset, offset + std::max<int64_t>(moves, 0)), range.size,
                        range.stride};
    }
    if (tiles->are_alike) {
      count.Add(tile.ranges, results);
    } else {
      count.Add(tile.ranges, results, first->num_elements);
    }
  }
  tile.excess = count.Excess();
  if (!runtimes_are_fixed) SpreadOverRuntimes(&tile);
  return tile;
}

absl::StatusOr<ConcreteTile> SymbolicTile::TileAt(llvm::ArrayRef<int64_t> sizes,
                                                  llvm::ArrayRef<int64_t> index,
                                                  int64_t max_steps) const {
  const QuestionBudget question;
  absl::Status status = CheckIndex(sizes, index);
  if (!status.ok()) return status;
  ConcreteTile tile;
  tile.ranges.resize(map_.num_results());
  const llvm::SmallVector<Interval, 4> array = Array();
  llvm::SmallVector<Interval, 4> box;
  llvm::SmallVector<int64_t, 4> starts;
  llvm::SmallVector<int64_t, 4> lengths;
  bool is_empty = false;
  for (int i = 0; i < num_sizes(); ++i) {
    // The index is one of a tile of the array.
    const int64_t start = index[i] * sizes[i];
    const Interval whole =
        Interval::Closed(start, NarrowToInt64(Int128{start} + sizes[i] - 1).value_or(kInt64Max));
    box.push_back(whole.Intersect(array[i]));
    tile.is_clipped = tile.is_clipped || box.back() != whole;
    is_empty = is_empty || box.back().IsEmpty();
    starts.push_back(box.back().IsEmpty() ? start : box.back().lower());
    lengths.push_back(box.back().Size().value_or(0));
  }
  if (is_empty || map_.IsKnownEmpty()) {
    MakeEmpty(&tile);
    tile.is_clipped = true;
    tile.is_exact = true;
    return tile;
  }
  // Constraints that hold in the whole tile, but for those on residues, which digits know.
  const auto holds = [&](const Constraint& constraint) {
    if (internal::IsOfResidues(constraint)) return true;
    llvm::SmallVector<Interval, 4> dims;
    for (int i = 0; i < num_sizes(); ++i) dims.push_back(box[i].Intersect(map_.dims()[i].bounds));
    if (llvm::any_of(dims, [](const Interval& side) { return side.IsEmpty(); })) return false;
    ExprSimplifier simplifier(map_.context(), dims, map_.SymbolBounds());
    return simplifier.Range(constraint.expr).IsSubsetOf(constraint.interval);
  };
  llvm::SmallBitVector is_cut(map_.constraints().size());
  for (const auto [i, constraint] : llvm::enumerate(map_.constraints())) {
    is_cut[i] = !holds(constraint);
  }
  UnitCounts counts;
  counts.counts.assign(digits_->units().size(), 1);
  const bool are_aligned = digits_->CountOne(starts, lengths, &counts);
  const bool runtimes_are_fixed = RuntimesAreFixed(lengths, counts);
  tile.is_exact = is_exact_ && runtimes_are_fixed;
  tile.excess = tile.is_exact ? std::optional<int64_t>(0) : std::nullopt;
  if (are_aligned && is_cut.none() && AreBox(counts)) {
    llvm::SmallVector<int, 4> all_results(map_.num_results());
    std::iota(all_results.begin(), all_results.end(), 0);
    SayByDigits(all_results, starts, counts, &tile);
    if (!runtimes_are_fixed) SpreadOverRuntimes(&tile);
    return tile;
  }
  StepBudget budget(max_steps);
  ElementCount count(tile.is_exact);
  for (const TilePart& part : TilePartsOf(map_)) {
    const llvm::ArrayRef<int> results = part.component.results;
    if (HasOnePoint(part)) {
      SayOnePoint(part, &tile);
      continue;
    }
    const bool part_is_cut =
        llvm::any_of(part.component.constraints, [&](int i) { return is_cut[i]; });
    if (!part_is_cut && IsBoxByDigits(part, *digits_, counts)) {
      SayByDigits(results, starts, counts, &tile);
      count.Add(tile.ranges, results);
      continue;
    }
    const std::optional<TileOfPoints> points =
        part.num_runtimes > 0 ? std::nullopt
                              : TilePoints(part.map, 0).TileAt(part.OfDims<Interval>(box), &budget);
    tile.is_clipped = tile.is_clipped || (points ? !points->is_full : part_is_cut);
    if (!points) {
      SayByRange(results, box, &tile);
      count.Forget();
      continue;
    }
    // Where one part has no points the tile has none.
    if (points->num_elements == 0) {
      MakeEmpty(&tile);
      tile.is_exact = is_exact_;
      return tile;
    }
    tile.is_exact = tile.is_exact && points->IsBox();
    for (const auto [own, i] : llvm::enumerate(results)) {
      const SizeAndStride& range = points->ranges[own];
      tile.ranges[i] = {Interval::Point(points->offsets[own]), range.size, range.stride};
    }
    count.Add(tile.ranges, results, points->num_elements);
  }
  tile.excess = count.Excess();
  if (!runtimes_are_fixed) SpreadOverRuntimes(&tile);
  return tile;
}

}  // namespace xla_indexing

// What tile of an operand a tile of the output needs.
//
// Mathematics. The output, or whatever a map's dimensions index, is cut into tiles of sizes t: tile
// k has d_i in [k_i * t_i, k_i * t_i + t_i - 1]. What it reads through a map, for one value of the
// runtime variables, is
//
//   { f(d, s, rt) : d in tile k, s in the range intervals, (d, s, rt) in the domain },
//
// and a SymbolicTile says it as  offset(k, t, rt) + [0, size(t) - 1] * stride(t)  for each result:
//
//   *full* tile    all of its points are in the domain, but for constraints on residues
//   *box* sizes    every full tile reads just that: a box, with the same sizes and strides
//   conditions     those under which sizes are such: all have to hold
//   *exact* sizes  box sizes of a map that is exact; one that is over-approximate, such as that of a
//                  scalar or of a whole array that may not be read, has boxes and is not exact
//   clipped tile   one that is not full: at the edge of the output, in padding. It is found for
//                  itself, from its points.
//
// An array may be put together from pieces that are read through different maps, as what a
// concatenate makes. Then a tile that has elements of two pieces reads less through either map than
// the sizes say, so that a map's sizes are exact only where no tile goes across its borders with
// the others (TilePieces): each border is a multiple of the size.
//
// Sizes may be larger than the dimension: such a tile is tile 0 alone, and clipped. With t the size
// asked for and n that of the dimension, t > n counts as
//
//   t   where of the dimensions and ranges of the only result that the dimension is in, it has the
//       largest coefficient and all others are whole (or it is in no result): its digit is itself,
//       and what lies beyond n is beyond the greatest value of the result
//   n   elsewhere
//
// (CountedSizes); offset, size and stride are those of the sizes as they count.
//
// A tile reads something only where it has a point of the domain (TilesThatRead). That does not
// follow from its offset: of a row in front of an array, (d0, d1) -> (0, d1) with d0 in [0, 0], the
// offset is the same for all tiles, and tiles k0 = 0 alone read the row.
//
// Edges can be masked: the *bounds* of a result are an interval that holds all of its values. Sizes
// are *exact when masked* where every tile that reads something, full or not, reads just the
// elements of its offset + [0, size - 1] * stride that lie within the bounds, so that a kernel
// needs no more than two comparisons for each dimension of the operand at the edges of the output,
// for a tile padded to a power of two, in padding and for pieces of an array.
//
// Where sizes are not exact the tile is the least box that holds what each full tile reads
// (`excess`: how many of its elements are not read), or, past the budget, a box that is larger.
//
// Offsets are those of the first element of the tile's first point, f(0-th point), so that the
// stride of a result that falls in all of its variables is negative; where it falls in some and
// rises in others the offset is the least value.
//
// Runtime variables have one value for the whole tile; where some of their values leave points out
// of the domain, no sizes are exact. Where a binding reads its value at an element that depends on
// dimensions, conditions say that the tile must not span several such elements.
//
// Most maps are sums of digits of single variables, whose tiles are known in closed form. For other
// maps, and where that form says no, the points of the tiles are enumerated within a budget; sizes
// that exceed it are taken not to be exact.
//
// Example, a reshape of f32[32] to f32[4,8], from the result: (d0, d1) -> (d0 * 8 + d1):
//   offset      k0 * t0 * 8 + k1 * t1
//   size        (t0 - 1) * 8 + t1 for t1 > 1, t0 otherwise
//   stride      1 for t1 > 1, 8 otherwise
//   conditions  t0 = 1 or t1 = 1 or t1 = 8
// These are data (tiling/tile/tile_expr.h, tiling/tile/tile_condition.h): Offsets(), Sizes(), Strides() and
// Conditions().
//
// Errors. InvalidArgument for a map that is unknown; for sizes of the array that are not as many as
// dimensions, negative, or less than a dimension's interval; for tile sizes that are not as many as
// dimensions or below 1; for tile indices past the last tile. Messages name the position and the
// numbers.
//
// Source: symbolic tile analysis of XLA, of which the names are.
#ifndef XLA_INDEXING_TILING_TILE_SYMBOLIC_TILE_H_
#define XLA_INDEXING_TILING_TILE_SYMBOLIC_TILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/tiling/tile/tile_condition.h"
#include "xla_indexing/tiling/tile/tile_expr.h"

namespace xla_indexing {

namespace internal {
class TileDigits;
struct UnitCounts;
}  // namespace internal

// { offset + i * stride : 0 <= i < size }.
struct TileRange {
  // One value where it does not depend on runtime variables.
  Interval offset;
  int64_t size = 0;
  int64_t stride = 1;

  friend bool operator==(const TileRange& a, const TileRange& b) = default;
};

struct ConcreteTile {
  llvm::SmallVector<TileRange, 4> ranges;  // by result
  // Whether the box is exactly what is read.
  bool is_exact = false;
  bool is_clipped = false;  // the tile is not full
  bool is_empty = false;    // nothing is read
  // How many elements of the box are not read, where that was counted.
  std::optional<int64_t> excess;
};

// Tiles must not have elements on both sides: with d_dim < at and with d_dim >= at.
struct TileBorder {
  int dim = 0;
  int64_t at = 0;
};

// The maps through which one array is read, or from which it is made. In each dimension, a map
// whose interval ends before that of another begins has a border there.
//
// Example: the maps of concatenate(f32[6], f32[10]) have d0 in [0, 5] and [6, 15]; both have the
// border 6, and no sizes are exact but the divisors of 6. With one map alone there is no border.
class TilePieces {
 public:
  // All maps have equally many dimensions.
  void Add(const IndexingMap& map);
  // The borders of one of the maps.
  llvm::SmallVector<TileBorder, 2> BordersOf(const IndexingMap& map) const;

 private:
  // By dimension: the least of the last indices of the maps, and the greatest of the first ones.
  struct Ends {
    std::optional<int64_t> least_last;
    std::optional<int64_t> greatest_first;
  };
  llvm::SmallVector<Ends, 4> ends_;
};

class SymbolicTile {
 public:
  // The symbolic tile of a map whose runtime variables are constant in a tile, and of a map with
  // its bindings. `dim_sizes` are the sizes of the array that is cut into tiles; without them the
  // sizes are where the intervals of the dimensions end.
  static absl::StatusOr<SymbolicTile> OfMap(IndexingMap map,
                                            llvm::ArrayRef<int64_t> dim_sizes = {});
  static absl::StatusOr<SymbolicTile> Of(const OperandIndexing& indexing,
                                         llvm::ArrayRef<int64_t> dim_sizes = {},
                                         const TilePieces& pieces = {});

  const IndexingMap& map() const { return map_; }
  int num_sizes() const { return map_.num_dims(); }
  const internal::TileDigits& digits() const { return *digits_; }

  // Offset, size and stride of each result of the map, for sizes under which the clauses of
  // Conditions() hold (not for sizes that were added to them one by one: FullTile knows those).
  // Size and stride are `?` where a result is no sum of digits of single variables; its offset is
  // then that of its tile's first point.
  llvm::SmallVector<TileExpr, 4> Offsets() const;
  llvm::SmallVector<TileExpr, 4> Sizes() const;
  llvm::SmallVector<TileExpr, 4> Strides() const;
  // The part of each offset that runtime variables are; 0 where there is none, and where a result
  // is no sum of digits.
  llvm::SmallVector<TileExpr, 4> RuntimeOffsets() const;
  // The conditions under which tiles are boxes. All of them have to hold. They say nothing about
  // map() itself, which may be over-approximate.
  std::vector<TileCondition> Conditions() const;

  // The sizes as they count, where some are larger than their dimensions.
  absl::StatusOr<llvm::SmallVector<int64_t, 4>> CountedSizes(llvm::ArrayRef<int64_t> sizes) const;
  // An interval that holds the values of each result in the whole domain, without its
  // RuntimeOffsets(), and that constraints on this very result narrow.
  llvm::SmallVector<Interval, 4> Bounds() const;
  // The tiles that read something: (k0, ..){rt0, ..} -> () has those in its domain, which is
  //
  //   { (k, rt) : some r in [0, t - 1] and some s, (k * t + r, s, rt) in the domain of map() },
  //
  // r and s being its range variables, as far as they cannot be eliminated. A runtime variable that is
  // not known to have one value in a tile may have any, and its interval is infinite. OutOfRange where
  // a number does not fit int64.
  absl::StatusOr<IndexingMap> TilesThatRead(llvm::ArrayRef<int64_t> sizes) const;
  // Whether sizes are exact when masked by Bounds(). No where constraints on other expressions than
  // results leave out a part of a tile; undecided where the expressions above do not say what the box of a
  // tile is. They say so of a result that is no sum of digits where the tile has the size 1 in all
  // dimensions that it depends on: its size and stride are then 1.
  absl::StatusOr<Decision> IsExactWhenMasked(llvm::ArrayRef<int64_t> sizes) const;
  // The boxes that are masked, which have these sizes and strides at Offsets(). FailedPrecondition
  // where CoversWhenMasked() is not yes.
  struct BoxSide {
    int64_t size = 1;
    int64_t stride = 1;
  };
  absl::StatusOr<llvm::SmallVector<BoxSide, 4>> MaskedBox(llvm::ArrayRef<int64_t> sizes) const;
  // Whether what a tile reads is always in its masked box, which may have other elements too.
  absl::StatusOr<Decision> CoversWhenMasked(llvm::ArrayRef<int64_t> sizes) const;

  // Whether every full tile of these sizes reads a box, of the same sizes and strides, as the map
  // says: whether Conditions() hold. Undecided where there are more points than `max_steps`.
  absl::StatusOr<Decision> IsBox(llvm::ArrayRef<int64_t> sizes,
                                 int64_t max_steps = kDefaultSteps) const;
  // Whether sizes are exact: IsBox(), and IsOfExactMap().
  absl::StatusOr<Decision> IsExact(llvm::ArrayRef<int64_t> sizes,
                                   int64_t max_steps = kDefaultSteps) const;

  // The tile that all full tiles of these sizes are like, with the offsets of tile (0, 0, ..).
  // Looks at no more points by default than there is time for in a millisecond.
  static constexpr int64_t kFullTileSteps = 12000;
  absl::StatusOr<ConcreteTile> FullTile(llvm::ArrayRef<int64_t> sizes,
                                        int64_t max_steps = kFullTileSteps) const;

  // The actual tile `index`, clipped where it is not full.
  absl::StatusOr<ConcreteTile> TileAt(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> index,
                                      int64_t max_steps = kDefaultSteps) const;

  // The indices of the elements that the map's runtime variables are read at, as expressions over
  // the map's variables. Runtime variables are constant in a tile only where these are. In digits()
  // they follow the map's results.
  llvm::ArrayRef<mlir::AffineExpr> runtime_elements() const { return runtime_elements_; }
  // The sizes of the array that is cut into tiles.
  llvm::ArrayRef<int64_t> dim_sizes() const { return dim_sizes_; }
  // Whether the map reads just what it says, whatever the values of runtime variables.
  bool IsOfExactMap() const { return is_exact_; }
  // The borders with the other pieces of the array.
  llvm::ArrayRef<TileBorder> borders() const { return borders_; }
  // The part of the array in which full tiles lie: where only residues leave points out.
  llvm::SmallVector<Interval, 4> Array() const;

 private:
  SymbolicTile(IndexingMap map, llvm::ArrayRef<int64_t> dim_sizes,
               llvm::ArrayRef<mlir::AffineExpr> runtime_elements, bool is_exact);

  absl::Status CheckSizes(llvm::ArrayRef<int64_t> sizes) const;
  absl::Status CheckIndex(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> index) const;

  bool KeepsSize(int dim, llvm::ArrayRef<int64_t> sizes) const;
  // The sizes, none larger than its dimension, and as they count.
  llvm::SmallVector<int64_t, 4> ClampedSizes(llvm::ArrayRef<int64_t> sizes) const;
  llvm::SmallVector<int64_t, 4> CountedOf(llvm::ArrayRef<int64_t> sizes) const;
  // Answers for the sizes as they count; no where runtime variables are not one value in a tile.
  template <typename Question>
  absl::StatusOr<Decision> AskWhenMasked(llvm::ArrayRef<int64_t> sizes, Question question) const;

  // Whether tiles have elements on both sides of a border.
  bool CrossBorders(llvm::ArrayRef<int64_t> sizes) const;
  // Whether each runtime variable is read at a single element in each tile.
  bool RuntimesAreFixed(llvm::ArrayRef<int64_t> sizes, const internal::UnitCounts& counts) const;
  // The same for each runtime variable, also for those that only restrict the domain by their intervals.
  llvm::SmallBitVector FixedRuntimes(llvm::ArrayRef<int64_t> sizes) const;
  // Whether digits show that all results are progressions, independent of each other.
  bool AreBox(const internal::UnitCounts& counts) const;
  // Adds the ranges of results, found from digits, in the tile that begins there.
  void SayByDigits(llvm::ArrayRef<int> results, llvm::ArrayRef<int64_t> starts,
                   const internal::UnitCounts& counts, ConcreteTile* tile) const;
  // A box that holds the values of the results in a box of the dimensions.
  void SayByRange(llvm::ArrayRef<int> results, llvm::ArrayRef<Interval> box,
                  ConcreteTile* tile) const;
  Interval RuntimePart(int result) const;
  void SpreadOverRuntimes(ConcreteTile* tile) const;

  IndexingMap map_;
  llvm::SmallVector<int64_t, 4> dim_sizes_;
  llvm::SmallVector<mlir::AffineExpr, 0> runtime_elements_;
  // By runtime variable: the index of the element that it is read at.
  llvm::SmallVector<llvm::SmallVector<mlir::AffineExpr, 2>, 0> element_of_runtime_;
  llvm::SmallVector<TileBorder, 2> borders_;
  bool is_exact_ = true;  // the map
  std::shared_ptr<const internal::TileDigits> digits_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TILING_TILE_SYMBOLIC_TILE_H_

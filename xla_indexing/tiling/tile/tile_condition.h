// Conditions on tile sizes, as data.
//
// Mathematics. A condition is in conjunctive form, with literals that compare expressions of the
// sizes (tiling/tile/tile_expr.h), and sizes that were found to satisfy it one by one:
//
//   condition    (clause and clause ..) or a set of sizes
//   clause       alternative or alternative .. or a set of sizes; without any of them, false
//   alternative  literal and literal ..
//   literal      t0 = 1, t0 <= 4, t0 >= 8, (t0 - 1) * 2 + (t1 - 1) * 3 >= 5;
//                t0 mod 8 = 0 (t0 is a multiple of 8), 8 mod t0 = 0
//   set          (t0, t1) in {(6, 1), (7, 1)}
//
// Where points decide (`is_by_points`), other sizes may satisfy the condition too, and whether they
// do is undecided: SymbolicTile::IsBox answers for sizes given as numbers.
//
// Text. As above; `decided point by point` where that is all there is.
//
// JSON. {"clauses": [clause, ..], "or": set, "by_points": true}, the last two where there are such,
// a clause being {"alternatives": [[literal, ..], ..], "or": set}, a literal
// {"left": a, "relation": "<=", "right": b} and a set {"dims": [0, 1], "sizes": [[6, 1], [7, 1]]}.
//
// Example, (d0) -> (d0 floordiv 8, d0 mod 8) of 32 elements: `8 mod t0 = 0 or t0 mod 8 = 0` is one
// clause of two alternatives of one literal each.
#ifndef XLA_INDEXING_TILING_TILE_TILE_CONDITION_H_
#define XLA_INDEXING_TILING_TILE_TILE_CONDITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/tiling/tile/tile_expr.h"

namespace xla_indexing {

struct TileLiteral {
  TileExpr left;
  TileRelation relation = TileRelation::kEqual;
  TileExpr right;

  std::string ToString(const TileNames& names = {}) const {
    return RelationText(left, relation, right, names);
  }

  friend bool operator==(const TileLiteral& a, const TileLiteral& b) = default;
};

// Literals that all have to hold; none: true.
using TileAlternative = std::vector<TileLiteral>;

// The sizes of the dimensions `dims` are one of `sizes`.
struct TileSizeSet {
  llvm::SmallVector<int, 4> dims;
  std::vector<llvm::SmallVector<int64_t, 4>> sizes;

  bool IsEmpty() const { return sizes.empty(); }
  // Undecided where there is no size of one of the dimensions.
  Answer Contains(llvm::ArrayRef<int64_t> of_all) const;
  // `t0 in {2, 4 to 7}` for one dimension, `(t0, t1) in {(6, 1), (7, 1)}` for several.
  std::string ToString(const TileNames& names = {}) const;

  friend bool operator==(const TileSizeSet& a, const TileSizeSet& b) = default;
};

struct TileClause {
  std::vector<TileAlternative> alternatives;
  TileSizeSet others;

  std::string ToString(const TileNames& names = {}) const;

  friend bool operator==(const TileClause& a, const TileClause& b) = default;
};

struct TileCondition {
  std::vector<TileClause> clauses;
  TileSizeSet others;
  // Whether sizes for which it does not hold may be decided by points.
  bool is_by_points = false;

  // Undecided also where a number does not fit int64 or a size is missing.
  Answer Holds(llvm::ArrayRef<int64_t> sizes) const;

  // With expressions for the sizes, such as those of other dimensions. Where points decide or there
  // is a set, the expressions of its dimensions have to be sizes; nullopt if they are not.
  std::optional<TileCondition> Substitute(llvm::ArrayRef<TileExpr> sizes) const;

  std::string ToString(const TileNames& names = {}) const;
  std::string ToJson() const;

  friend bool operator==(const TileCondition& a, const TileCondition& b) = default;
};

// Whether all conditions hold.
Answer AllHold(llvm::ArrayRef<TileCondition> conditions, llvm::ArrayRef<int64_t> sizes);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TILING_TILE_TILE_CONDITION_H_

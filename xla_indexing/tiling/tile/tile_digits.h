// What a tile of the dimensions is in the digits of a map's variables.
//
// Mathematics. Results of indexing maps are, nearly always, sums of digits of single variables
// (map/expr/digit_view.h),
//
//   r = constant + sum_i c_i * digit_i,      digit = ((v + shift) floordiv low) mod count
//
// with no `mod` where the count is infinite. The digits of one variable, cut wherever one of them
// begins or ends, are its *units*: places P_0 | P_1 | .. with b_j = P_{j+1} / P_j values each, the
// last of them perhaps with infinitely many.
//
// Tile k of size t has v in [k*t, k*t + t - 1]; a range variable has one tile, its interval. The
// tiles of v are *aligned* where in each of them the units take every combination of u_j
// neighbouring values each, with the same u_j for all k. For many tiles this is so where
//
//   t = P_j * q, q | b_j      units below j take all values, unit j takes q, those above one
//   t | P_0                   every unit takes one value
//   t >= P_m                  all units take all values, where nothing above P_m is used
//   (t mod P_0) | P_0         the one unit there is takes ceil(t / P_0) values
//
// and for few tiles by looking at each. A result then takes the values of a sum of windows,
// sum_i c_i * [0, u_i - 1] from some offset on, which is an arithmetic progression just where, in
// the order of |c_i| of those with u_i > 1, the first being the step g,
//
//   g | c_i   and   |c_i| <= g + sum_{j < i} |c_j| * (u_j - 1):
//
// the smaller windows have no other values below |c_i|, so |c_i| - g would be missing. Where every
// result is one and no unit with several values is in two results, the tile's elements are the
// product: a box with strides.
//
// Example: (d0) -> (d0 floordiv 8, d0 mod 8): units 1 (8 values) and 8. t0 = 4: 1 x 4 elements;
// t0 = 16: 2 x 8; t0 = 12 is not aligned.
#ifndef XLA_INDEXING_TILING_TILE_TILE_DIGITS_H_
#define XLA_INDEXING_TILING_TILE_TILE_DIGITS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/digit_view.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

inline int64_t Min(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t Magnitude(int64_t value) { return value < 0 ? -value : value; }

// Whether a constraint is one on residues, which leaves points out within a tile.
inline bool IsOfResidues(const Constraint& constraint) {
  return constraint.expr.getKind() == mlir::AffineExprKind::Mod;
}

// A unit in a result, with the unit's coefficient there.
struct TileUnitTerm {
  int unit = 0;
  int64_t coefficient = 1;
};

struct TileUnit {
  int variable = 0;
  int64_t low = 1;
  int64_t count = 0;  // 0: no end
  // Results that use it: none, that one, or several.
  static constexpr int kNone = -1;
  static constexpr int kSeveral = -2;
  int result = kNone;
};

// A dimension, or, after those, a range variable.
struct TileVariable {
  // The variable's interval, narrowed by a constraint on its residues.
  Interval bounds;
  int64_t shift = 0;  // with which its digits are digits of one number
  int first_unit = 0;
  int num_units = 0;
  // Whether its digits have no units, or a constraint excludes residues in a way that is no
  // modulus.
  bool is_opaque = false;
  // v + shift = 0 (mod modulus) by a constraint; its one unit is (v + shift) / modulus. 1: none.
  int64_t modulus = 1;
};

// Whether tiles begin inside the digits with lower factor `low`, so that they reach one value more
// than tiles that begin with a digit.
bool BeginsInside(const TileVariable& variable, int64_t low);

// How many values a digit of a variable takes in tiles that are aligned by the rule, for a size that
// is a number or an expression (tiling/tile/tile_expr.h).
template <typename T>
T NumValues(const TileVariable& variable, int64_t low, int64_t count, const T& size) {
  if (variable.modulus != 1) return FloorDiv(size, variable.modulus);
  if (count == 0 && BeginsInside(variable, low)) return FloorDiv(size, low) + T{1};
  const T values = CeilDiv(size, low);
  return count == 0 ? values : Min(values, T{count});
}

// The greatest size of tiles that are aligned by the rule for which a digit takes one value.
inline int64_t MostForOneValue(const TileVariable& variable, int64_t low) {
  if (variable.modulus != 1) {
    return NarrowToInt64(Int128{2} * variable.modulus - 1).value_or(kInt64Max);
  }
  return BeginsInside(variable, low) ? low - 1 : low;
}

struct TileResult {
  // Whether the result is not a sum of digits of single variables.
  bool is_opaque = false;
  bool has_runtime = false;
  // Whether it is an index of the element that a runtime variable is read at, and not one of the
  // map's results. It then must have a single value in a tile.
  bool is_runtime_element = false;
  int64_t constant = 0;
  int first_term = 0;
  int num_terms = 0;
  int first_unit_term = 0;
  int num_unit_terms = 0;  // in the order of |coefficient|
};

// How many values each unit takes for one tile size, and whether the tiles of each variable are
// aligned. Where they are not, its counts have no meaning.
struct UnitCounts {
  llvm::SmallVector<int64_t, 8> counts;
  llvm::SmallVector<bool, 6> is_aligned;
};

// {offset + i * stride : i < size}
struct SizeAndStride {
  int64_t size = 1;
  int64_t stride = 1;

  friend bool operator==(const SizeAndStride& a, const SizeAndStride& b) = default;
};

class TileDigits {
 public:
  // `runtime_elements` are expressions over the map's variables that have to be constant in a tile.
  // Runtime variables may occur in results, but not in digits.
  TileDigits(const IndexingMap& map, llvm::ArrayRef<mlir::AffineExpr> runtime_elements);

  // Whether some result or runtime element, or some constraint on residues, is not a sum of digits.
  bool IsOpaque() const { return is_opaque_; }
  // Whether every unit is a whole variable, so that all full tiles look alike.
  bool IsPlain() const { return !is_opaque_ && is_plain_; }

  llvm::ArrayRef<TileVariable> variables() const { return variables_; }
  llvm::ArrayRef<TileUnit> units() const { return units_; }
  llvm::ArrayRef<TileResult> results() const { return results_; }  // then the runtime elements
  llvm::ArrayRef<DigitTerm> TermsOf(const TileResult& result) const {
    return llvm::ArrayRef(terms_).slice(result.first_term, result.num_terms);
  }
  llvm::ArrayRef<TileUnitTerm> UnitTermsOf(const TileResult& result) const {
    return llvm::ArrayRef(unit_terms_).slice(result.first_unit_term, result.num_unit_terms);
  }
  llvm::ArrayRef<TileUnit> UnitsOf(const TileVariable& variable) const {
    return llvm::ArrayRef(units_).slice(variable.first_unit, variable.num_units);
  }
  int num_dims() const { return num_dims_; }

  // Whether the tiles of a variable are aligned by the rule for many tiles: an alternative for each
  // way in which they are, said to `logic`, which answers for one size or writes the clause
  //   Begin()                an alternative, of what follows
  //   IsMultipleOf(n)        t mod n = 0
  //   Divides(n)             n mod t = 0
  //   RestDivides(n, low)    n mod (t mod low) = 0, false where t mod low is 0
  //   IsAtLeast(n)           t >= n
  //   IsFalse()
  template <typename Logic>
  void SayAligned(const TileVariable& variable, Logic* logic) const;

  // The number of full tiles of a dimension, and the first of them; nullopt if there are infinitely
  // many.
  std::optional<int64_t> NumTiles(int dim, int64_t size, int64_t* first) const;

  // Whether the tiles of a variable are aligned: by the rule for many tiles, or also by looking at
  // each where they are few. Sets the counts of the variable's units.
  bool IsAlignedByRule(int variable, int64_t size, UnitCounts* counts) const;
  bool IsAligned(int variable, int64_t size, UnitCounts* counts) const;

  // Sizes of a dimension, up to `most`, for which its tiles are aligned though the rule does not
  // say so, in ascending order; nullopt if there may be more than are looked at.
  std::optional<std::vector<int64_t>> AlignedByLooking(int dim, int64_t most) const;

  // Whether the units of a variable take as many values as NumValues says, which expressions and
  // conditions are written with.
  bool AreUsual(int variable, int64_t size, const UnitCounts& counts) const;

  // Counts the values of the units of all variables; false where a variable with units is not
  // aligned.
  bool Count(llvm::ArrayRef<int64_t> sizes, UnitCounts* counts) const;

  // The counts for the units of range variables, which have only one tile.
  UnitCounts RangeCounts() const;

  // Count() for the one tile with v_i in [starts[i], starts[i] + lengths[i] - 1]; false also where
  // residues leave nothing of it.
  bool CountOne(llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> lengths,
                UnitCounts* counts) const;

  // The values of a result where they are a progression.
  std::optional<SizeAndStride> ProgressionOf(const TileResult& result,
                                             const UnitCounts& counts) const;
  // Whether no unit with several values is in several results.
  bool AreIndependent(const UnitCounts& counts) const;
  // Whether a result has a single value in a tile.
  bool HasOneValue(const TileResult& result, const UnitCounts& counts) const;

  // The offset of a result, without its runtime part, in the tile that begins at these values of
  // the dimensions: its least value there, or where all coefficients are negative its greatest.
  // Nullopt if that does not fit int64.
  std::optional<int64_t> OffsetOf(const TileResult& result, llvm::ArrayRef<int64_t> starts,
                                  const UnitCounts& counts) const;
  // Whether all coefficients are negative: the result's stride is then negative too.
  bool Falls(const TileResult& result) const;

  // The first value of a unit in the tile of its variable that begins at `start`.
  std::optional<int64_t> FirstOf(int unit, int64_t start, const UnitCounts& counts) const;

 private:
  void AddResult(mlir::AffineExpr expr, bool is_runtime_element);
  void FixResidues(const IndexingMap& map);
  bool MakeUnits(int variable);
  bool MakeUnitTerms(int result);
  std::optional<int64_t> RestOf(const VariableDigit& digit) const;
  bool AddUnitsOf(const DigitTerm& term, const TileResult& result);
  std::optional<int64_t> ScaleIn(const VariableDigit& digit, int unit) const;
  llvm::MutableArrayRef<int64_t> CountsOf(const TileVariable& variable, UnitCounts* counts) const {
    return llvm::MutableArrayRef(counts->counts).slice(variable.first_unit, variable.num_units);
  }
  // Whether the tiles of a variable are aligned, as far as that shows in the first ones.
  std::optional<bool> LookAtTiles(int variable, int64_t size, UnitCounts* counts) const;
  bool CountRanges(UnitCounts* counts) const;
  bool IsAlignedWindow(const TileVariable& variable, int64_t start, int64_t size,
                       llvm::MutableArrayRef<int64_t> counts) const;

  int num_dims_;
  int num_ranges_;
  bool is_opaque_ = false;
  bool is_plain_ = true;
  llvm::SmallVector<TileVariable, 6> variables_;
  llvm::SmallVector<TileUnit, 8> units_;
  llvm::SmallVector<TileResult, 6> results_;
  llvm::SmallVector<DigitTerm, 8> terms_;
  llvm::SmallVector<TileUnitTerm, 8> unit_terms_;
};

template <typename Logic>
void TileDigits::SayAligned(const TileVariable& variable, Logic* logic) const {
  const llvm::ArrayRef<TileUnit> units = UnitsOf(variable);
  if (units.empty()) return logic->Begin();
  if (variable.modulus != 1) {
    logic->Begin();
    // Where nothing uses it one value is as good as several.
    const bool is_used = units[0].result != TileUnit::kNone;
    return is_used ? logic->IsMultipleOf(variable.modulus) : logic->IsAtLeast(variable.modulus);
  }
  const int64_t low = units.front().low;
  const bool is_one = units.size() == 1;
  const bool has_end = units.back().count != 0;
  const auto divides = [&](int64_t factor) {
    logic->Divides(factor);
    if (variable.shift != 0) logic->Divides(variable.shift);
  };
  // Every unit takes one value; the last alternative of a single unit has these sizes too.
  if (low > 1 && (!is_one || has_end)) {
    logic->Begin();
    divides(low);
  }
  // Units below take all values.
  for (const TileUnit& unit : units) {
    logic->Begin();
    if (unit.low > 1) logic->IsMultipleOf(unit.low);
    if (unit.count != 0) {
      divides(unit.low * unit.count);
    } else if (!is_one && FloorMod(variable.shift, unit.low) != 0) {
      logic->IsFalse();
    }
  }
  if (has_end) {
    logic->Begin();
    logic->IsAtLeast(units.back().low * units.back().count - low + 1);
  } else if (is_one && low > 1) {
    // Tiles that begin at every multiple of a divisor of the digit's lower factor.
    logic->Begin();
    logic->RestDivides(low, low);
    if (variable.shift != 0) logic->RestDivides(variable.shift, low);
  }
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_TILE_TILE_DIGITS_H_

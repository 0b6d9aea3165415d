#include "xla_indexing/tiling/tile/tile_forms.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/tiling/tile/tile_digits.h"

namespace xla_indexing::internal {
namespace {

// The first value of a group in tile k.
TileExpr FirstOf(const SymbolicTile& tile, const TileGroup& group) {
  const TileDigits& digits = tile.digits();
  const TileVariable& variable = digits.variables()[group.variable];
  const TileExpr size = TileExpr::Size(group.variable);
  const TileExpr begin = TileExpr::Index(group.variable) * size + variable.shift;
  if (variable.modulus != 1) return CeilDiv(begin, variable.modulus);
  TileExpr quotient = FloorDiv(begin, group.low);
  if (group.count == 0) return quotient;
  TileExpr first = Mod(quotient, group.count);
  const TileUnit& last = digits.UnitsOf(variable).back();
  if (last.count == 0) return first;
  // Where nothing above is used, tiles may begin anywhere once they have all values.
  const int64_t least_size = last.low * last.count - digits.UnitsOf(variable).front().low + 1;
  return TileExpr::Choice(size, TileRelation::kAtLeast, least_size, 0, first);
}

// `a` for the first group that takes several values, `b` for the next, ..: an expression for each
// group that may be that one.
template <typename ExprOf>
TileExpr ByFirstGroup(const SymbolicTile& tile, llvm::ArrayRef<TileGroup> groups, ExprOf expr_of) {
  size_t at = 0;
  while (at + 1 < groups.size() && !groups[at].known_count) ++at;
  TileExpr expr = expr_of(at);
  while (at-- > 0) {
    const TileVariable& variable = tile.digits().variables()[groups[at].variable];
    expr = TileExpr::Choice(TileExpr::Size(groups[at].variable), TileRelation::kMoreThan,
                            MostForOneValue(variable, groups[at].low), expr_of(at), expr);
  }
  return expr;
}

bool HasDigits(const SymbolicTile& tile, const TileResult& result) {
  return !result.is_opaque &&
         llvm::all_of(tile.digits().UnitTermsOf(result), [&](const TileUnitTerm& term) {
           const int variable = tile.digits().units()[term.unit].variable;
           // Tiles of range variables that are not aligned.
           return variable < tile.digits().num_dims() ||
                  tile.digits().RangeCounts().is_aligned[variable];
         });
}

// The summands of a sum, which is left-nested.
llvm::SmallVector<mlir::AffineExpr, 4> SummandsOf(mlir::AffineExpr expr) {
  llvm::SmallVector<mlir::AffineExpr, 4> summands;
  while (expr.getKind() == mlir::AffineExprKind::Add) {
    const auto sum = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
    summands.push_back(sum.getRHS());
    expr = sum.getLHS();
  }
  summands.push_back(expr);
  std::reverse(summands.begin(), summands.end());
  return summands;
}

bool HasRuntime(const IndexingMap& map, mlir::AffineExpr expr) {
  for (int i = 0; i < map.num_runtimes(); ++i) {
    if (HasSymbol(expr, map.num_ranges() + i)) return true;
  }
  return false;
}

// An expression over the variables of the map at the first point of tile k.
TileExpr AtFirstPoint(const IndexingMap& map, mlir::AffineExpr expr) {
  std::vector<TileExpr> dims;
  dims.reserve(map.num_dims());
  for (int i = 0; i < map.num_dims(); ++i) {
    dims.push_back(TileExpr::Index(i) * TileExpr::Size(i));
  }
  std::vector<TileExpr> symbols;
  for (const Variable& range : map.ranges()) {
    symbols.push_back(range.bounds.has_lower() ? TileExpr(range.bounds.lower())
                                               : TileExpr::Unknown());
  }
  for (int i = 0; i < map.num_runtimes(); ++i) symbols.push_back(TileExpr::Runtime(i));
  return TileExpr::Of(expr, dims, symbols);
}

}  // namespace

TileExpr CountOf(const SymbolicTile& tile, const TileGroup& group) {
  if (group.known_count) return *group.known_count;
  return NumValues(tile.digits().variables()[group.variable], group.low, group.count,
                   TileExpr::Size(group.variable));
}

llvm::SmallVector<TileGroup, 4> GroupsOf(const SymbolicTile& tile, const TileResult& result) {
  const TileDigits& digits = tile.digits();
  const UnitCounts ranges = digits.RangeCounts();
  llvm::SmallVector<TileGroup, 4> groups;
  for (const TileUnitTerm& term : digits.UnitTermsOf(result)) {
    const TileUnit& unit = digits.units()[term.unit];
    const bool is_range = unit.variable >= digits.num_dims();
    // The unit goes on with a group: what one more of it counts is what all of the group does.
    const auto group = llvm::find_if(groups, [&](const TileGroup& g) {
      return g.variable == unit.variable && g.count != 0 && g.low * g.count == unit.low &&
             CheckedMul(g.coefficient, g.count) == term.coefficient;
    });
    const int64_t known = is_range ? ranges.counts[term.unit] : 0;
    if (group != groups.end()) {
      if (is_range) group->known_count = *group->known_count + (known - 1) * group->count;
      group->count *= unit.count;
      continue;
    }
    TileGroup& added = groups.emplace_back();
    added.variable = unit.variable;
    added.low = unit.low;
    added.count = unit.count;
    added.coefficient = term.coefficient;
    if (is_range) added.known_count = known;
  }
  for (TileGroup& group : groups) {
    if (group.known_count) {
      group.most = group.known_count;
      continue;
    }
    const TileVariable& variable = digits.variables()[group.variable];
    const int64_t size = tile.dim_sizes()[group.variable];
    group.most = CeilDiv(size, group.low);
    if (BeginsInside(variable, group.low)) group.most = size / group.low + 1;
    if (group.count != 0) group.most = std::min(*group.most, group.count);
    if (group.most == 1 && variable.shift == 0 && variable.modulus == 1) group.known_count = 1;
  }
  llvm::erase_if(groups, [](const TileGroup& group) { return group.known_count == 1; });
  llvm::stable_sort(groups, [](const TileGroup& a, const TileGroup& b) {
    return Magnitude(a.coefficient) < Magnitude(b.coefficient);
  });
  return groups;
}

TileExpr SizeOf(const SymbolicTile& tile, int index) {
  const TileResult& result = tile.digits().results()[index];
  if (!HasDigits(tile, result)) return TileExpr::Unknown();
  const llvm::SmallVector<TileGroup, 4> groups = GroupsOf(tile, result);
  if (groups.empty()) return 1;
  return ByFirstGroup(tile, groups, [&](size_t first) {
    TileExpr size = CountOf(tile, groups[first]);
    for (const TileGroup& group : llvm::ArrayRef(groups).drop_front(first + 1)) {
      // It has to have one value where the others' steps do not lead to its own.
      if (group.coefficient % groups[first].coefficient != 0) continue;
      const int64_t factor = Magnitude(group.coefficient / groups[first].coefficient);
      size = size + (CountOf(tile, group) - 1) * factor;
    }
    return size;
  });
}

TileExpr StrideOf(const SymbolicTile& tile, int index) {
  const TileResult& result = tile.digits().results()[index];
  if (!HasDigits(tile, result)) return TileExpr::Unknown();
  const llvm::SmallVector<TileGroup, 4> groups = GroupsOf(tile, result);
  if (groups.empty()) return 1;
  const int64_t sign = tile.digits().Falls(result) ? -1 : 1;
  return ByFirstGroup(tile, groups, [&](size_t first) {
    return TileExpr(sign * Magnitude(groups[first].coefficient));
  });
}

TileExpr RuntimeOffsetOf(const SymbolicTile& tile, int index) {
  const TileResult& result = tile.digits().results()[index];
  const IndexingMap& map = tile.map();
  if (!result.has_runtime || result.is_opaque) return 0;
  std::vector<TileExpr> summands;
  for (const mlir::AffineExpr summand : SummandsOf(map.results()[index])) {
    if (HasRuntime(map, summand)) summands.push_back(AtFirstPoint(map, summand));
  }
  return TileExpr::Sum(summands);
}

TileExpr OffsetOf(const SymbolicTile& tile, int index) {
  const TileDigits& digits = tile.digits();
  const TileResult& result = digits.results()[index];
  if (!HasDigits(tile, result)) return AtFirstPoint(tile.map(), tile.map().results()[index]);
  std::vector<TileExpr> summands;
  const UnitCounts ranges = digits.RangeCounts();
  const bool falls = digits.Falls(result);
  for (const TileGroup& group : GroupsOf(tile, result)) {
    if (group.variable >= digits.num_dims()) continue;
    TileExpr value = FirstOf(tile, group);
    // A term that falls among others that rise has its last value first.
    const bool is_last = group.coefficient < 0 && !falls;
    summands.push_back(value * group.coefficient);
    if (is_last) summands.push_back((CountOf(tile, group) - 1) * group.coefficient);
  }
  summands.emplace_back(result.constant);
  for (const TileUnitTerm& term : digits.UnitTermsOf(result)) {
    const int variable = digits.units()[term.unit].variable;
    if (variable < digits.num_dims()) continue;
    const int64_t first =
        digits.FirstOf(term.unit, digits.variables()[variable].bounds.lower(), ranges).value_or(0);
    const bool is_last = term.coefficient < 0 && !falls;
    summands.push_back(TileExpr(first + (is_last ? ranges.counts[term.unit] - 1 : 0)) *
                       term.coefficient);
  }
  summands.push_back(RuntimeOffsetOf(tile, index));
  return TileExpr::Sum(summands);
}

}  // namespace xla_indexing::internal

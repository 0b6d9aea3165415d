#include "xla_indexing/map/expr/axis_info.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/replace_variables.h"

namespace xla_indexing {
namespace {

using internal::Congruence;
using mlir::AffineExpr;

constexpr int64_t kMostInBlock = int64_t{1} << 20;
constexpr int64_t kMostDivisible = int64_t{1} << 62;

// The position in the list of dimensions, or of symbols, of a variable of the map.
std::optional<unsigned> PositionOf(const IndexingMap& map, AffineExpr variable) {
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable)) {
    if (static_cast<int>(dim.getPosition()) < map.num_dims()) return dim.getPosition();
  } else if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(variable)) {
    if (static_cast<int>(symbol.getPosition()) < map.num_symbols()) return symbol.getPosition();
  }
  return std::nullopt;
}

class Axis {
 public:
  Axis(const IndexingMap& map, AffineExpr expr, AffineExpr variable, unsigned position)
      : map_(kPartsFit,
             mlir::AffineMap::get(map.num_dims(), map.num_symbols(), expr, map.context()),
             Variables(map.dims()), Variables(map.ranges()), Variables(map.runtimes()),
             Constraints(map.constraints())),
        variable_(variable),
        position_(position),
        bounds_(llvm::isa<mlir::AffineDimExpr>(variable) ? map.DimBounds()[position]
                                                         : map.SymbolBounds()[position]) {}

  // The greatest power of 2 in whose blocks the index grows by `step` with each value.
  int64_t GreatestBlock(int64_t step) const {
    int64_t size = kMostInBlock;
    if (const std::optional<int64_t> values = bounds_.Size(); values && *values < size) {
      size = static_cast<int64_t>(
          std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(*values, 1))));
    }
    while (size > 1 && !GrowsInBlocks(size, step)) size /= 2;
    return size;
  }

  // The greatest power of 2 that divides the index at the beginning of each block.
  int64_t DivisorAtBlocks(int64_t size) const {
    const std::optional<IndexingMap> blocks = InBlocks(size, /*at_begin=*/true);
    if (!blocks) return 1;
    internal::ExprSimplifier simplifier(blocks->context(), blocks->DimBounds(),
                                        blocks->SymbolBounds());
    const Congruence residues = simplifier.Residues(blocks->results()[0]);
    if (residues.IsEmpty()) return kMostDivisible;
    const int64_t common = std::gcd(residues.modulus(), residues.residue());
    if (common == 0) return kMostDivisible;
    return int64_t{1} << std::countr_zero(static_cast<uint64_t>(common));
  }

 private:
  // The index with the variable q * size + r: it stands for q, and r is a further dimension; where `at_begin`, r is 0,
  // and the domain is forgotten.
  std::optional<IndexingMap> InBlocks(int64_t size, bool at_begin) const {
    mlir::MLIRContext* context = map_.context();
    Variables dims(map_.dims());
    Variables ranges(map_.ranges());
    Variables runtimes(map_.runtimes());
    const bool is_dim = llvm::isa<mlir::AffineDimExpr>(variable_);
    const int symbol = static_cast<int>(position_);
    Variable& own = is_dim                       ? dims[position_]
                    : symbol < map_.num_ranges() ? ranges[position_]
                                                 : runtimes[symbol - map_.num_ranges()];
    own.bounds = bounds_.FloorDiv(size);
    const AffineExpr rest = mlir::getAffineDimExpr(dims.size(), context);
    dims.push_back({Interval::OfSize(at_begin ? 1 : size), {}});
    const AffineExpr begin = internal::Scale(variable_, size);
    const AffineExpr value = at_begin ? begin : internal::Add(begin, rest);
    if (!value) return std::nullopt;
    llvm::SmallVector<AffineExpr, 8> of_dims(map_.num_dims());
    llvm::SmallVector<AffineExpr, 8> of_symbols(map_.num_symbols());
    (is_dim ? of_dims : of_symbols)[position_] = value;
    const IndexingMap all(kPartsFit, map_.affine_map(), Variables(map_.dims()),
                          Variables(map_.ranges()), Variables(map_.runtimes()),
                          at_begin ? Constraints() : Constraints(map_.constraints()));
    std::optional<IndexingMap> blocks = internal::ReplaceVariables(
        all, std::move(dims), std::move(ranges), std::move(runtimes), of_dims, of_symbols);
    if (blocks && !at_begin) blocks->AddConstraint(kPartsFit, value, bounds_);
    return blocks;
  }

  bool GrowsInBlocks(int64_t size, int64_t step) const {
    const std::optional<IndexingMap> blocks = InBlocks(size, /*at_begin=*/false);
    const std::optional<IndexingMap> begins = InBlocks(size, /*at_begin=*/true);
    if (!blocks || !begins) return false;
    const AffineExpr rest = mlir::getAffineDimExpr(map_.num_dims(), map_.context());
    const AffineExpr growth = internal::Sub(
        internal::Sub(blocks->results()[0], begins->results()[0]), internal::Scale(rest, step));
    if (!growth) return false;
    IndexingMap difference(
        kPartsFit,
        mlir::AffineMap::get(blocks->num_dims(), blocks->num_symbols(), growth, map_.context()),
        Variables(blocks->dims()), Variables(blocks->ranges()), Variables(blocks->runtimes()),
        Constraints(blocks->constraints()));
    difference.Simplify({.keep_variables = true});
    if (difference.IsKnownEmpty()) return true;
    const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(difference.results()[0]);
    return constant && constant.getValue() == 0;
  }

  const IndexingMap map_;  // to the index
  const AffineExpr variable_;
  const unsigned position_;
  const Interval bounds_;
};

}  // namespace

absl::StatusOr<AxisInfo> AxisInfoOf(const IndexingMap& map, AffineExpr expr, AffineExpr variable) {
  const std::optional<unsigned> position = PositionOf(map, variable);
  if (!position)
    return absl::InvalidArgumentError("the index is asked along no variable of the map");
  const Axis axis(map, expr, variable, *position);
  AxisInfo info;
  info.contiguity = axis.GreatestBlock(1);
  info.constancy = axis.GreatestBlock(0);
  info.divisibility = axis.DivisorAtBlocks(info.contiguity);
  return info;
}

}  // namespace xla_indexing

// What a symbolic tile says of itself: its offsets, sizes, strides and conditions as data, what sizes
// count as, which tiles read something, and what is left of them when they are masked.
//
// The files that find these know of symbolic tiles, so that they are called from here.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_condition.h"
#include "xla_indexing/tiling/tile/tile_conditions.h"
#include "xla_indexing/tiling/tile/tile_digits.h"
#include "xla_indexing/tiling/tile/tile_expr.h"
#include "xla_indexing/tiling/tile/tile_forms.h"
#include "xla_indexing/tiling/tile/tile_masks.h"

namespace xla_indexing {

using internal::TileResult;
using internal::UnitCounts;
using ::mlir::AffineExpr;

namespace {

llvm::SmallVector<TileExpr, 4> OfResults(const SymbolicTile& tile,
                                         TileExpr (*form)(const SymbolicTile&, int)) {
  llvm::SmallVector<TileExpr, 4> forms;
  for (int i = 0; i < tile.map().num_results(); ++i) forms.push_back(form(tile, i));
  return forms;
}

}  // namespace

llvm::SmallVector<TileExpr, 4> SymbolicTile::Offsets() const {
  return OfResults(*this, internal::OffsetOf);
}

llvm::SmallVector<TileExpr, 4> SymbolicTile::Sizes() const {
  return OfResults(*this, internal::SizeOf);
}

llvm::SmallVector<TileExpr, 4> SymbolicTile::Strides() const {
  return OfResults(*this, internal::StrideOf);
}

llvm::SmallVector<TileExpr, 4> SymbolicTile::RuntimeOffsets() const {
  return OfResults(*this, internal::RuntimeOffsetOf);
}

std::vector<TileCondition> SymbolicTile::Conditions() const {
  return internal::ConditionsOf(*this);
}

bool SymbolicTile::KeepsSize(int dim, llvm::ArrayRef<int64_t> sizes) const {
  const internal::TileVariable& variable = digits_->variables()[dim];
  if (variable.is_opaque || variable.modulus != 1 || variable.num_units > 1) return false;
  const TileResult* user = nullptr;
  for (const auto [i, result] : llvm::enumerate(digits_->results())) {
    const bool is_of_map = static_cast<int>(i) < map_.num_results();
    const AffineExpr expr =
        is_of_map ? map_.results()[i] : runtime_elements_[i - map_.num_results()];
    if (!expr.isFunctionOfDim(dim)) continue;
    if (!is_of_map || result.is_opaque || user != nullptr) return false;
    user = &result;
  }
  if (user == nullptr || variable.num_units == 0) return true;
  const internal::TileUnit& own = digits_->units()[variable.first_unit];
  if (own.low != 1 || own.count != 0) return false;
  // Terms are in the order of their coefficients.
  const llvm::ArrayRef<internal::TileUnitTerm> terms = digits_->UnitTermsOf(*user);
  if (terms.back().unit != variable.first_unit) return false;
  return llvm::all_of(terms.drop_back(), [&](const internal::TileUnitTerm& term) {
    const int other = digits_->units()[term.unit].variable;
    return other >= num_sizes() || sizes[other] >= dim_sizes_[other];
  });
}

llvm::SmallVector<int64_t, 4> SymbolicTile::CountedOf(llvm::ArrayRef<int64_t> sizes) const {
  llvm::SmallVector<int64_t, 4> counted = ClampedSizes(sizes);
  for (int dim = 0; dim < num_sizes(); ++dim) {
    if (counted[dim] < sizes[dim] && KeepsSize(dim, sizes)) counted[dim] = sizes[dim];
  }
  return counted;
}

absl::StatusOr<llvm::SmallVector<int64_t, 4>> SymbolicTile::CountedSizes(
    llvm::ArrayRef<int64_t> sizes) const {
  absl::Status status = CheckSizes(sizes);
  if (!status.ok()) return status;
  return CountedOf(sizes);
}

llvm::SmallVector<Interval, 4> SymbolicTile::Bounds() const {
  const QuestionBudget question;
  return internal::MaskOf(*this);
}

absl::StatusOr<IndexingMap> SymbolicTile::TilesThatRead(llvm::ArrayRef<int64_t> sizes) const {
  const QuestionBudget budget;
  absl::Status status = CheckSizes(sizes);
  if (!status.ok()) return status;
  mlir::MLIRContext* context = map_.context();
  if (map_.IsKnownEmpty()) {
    return IndexingMap::MakeEmpty(context, num_sizes(), 0, map_.num_runtimes(), 0);
  }
  Variables indices;
  Variables ranges;
  Variables runtimes;
  llvm::SmallVector<AffineExpr, 6> dims;
  llvm::SmallVector<AffineExpr, 6> symbols;
  Constraints within;
  const auto add_range = [&](const Interval& bounds) {
    ranges.push_back({bounds, {}});
    return mlir::getAffineSymbolExpr(ranges.size() - 1, context);
  };
  // Dimension i is k_i * t_i + r_i where constraints ask for more than its interval.
  for (int i = 0; i < num_sizes(); ++i) {
    const Interval& bounds = map_.dims()[i].bounds;
    const int64_t dim_size = std::max<int64_t>(dim_sizes_[i], 1);
    const Interval tiles = Interval::OfSize(internal::CeilDiv(dim_size, sizes[i]));
    indices.push_back({tiles.Intersect(bounds.FloorDiv(sizes[i])), {}});
    dims.push_back(internal::Scale(mlir::getAffineDimExpr(i, context), sizes[i]));
    const bool is_constrained = llvm::any_of(map_.constraints(), [&](const Constraint& constraint) {
      return constraint.expr.isFunctionOfDim(i);
    });
    if (!is_constrained || sizes[i] == 1) continue;
    dims.back() =
        internal::Add(dims.back(), add_range(Interval::OfSize(std::min(sizes[i], dim_size))));
    within.push_back({dims.back(), bounds});
  }
  for (const Variable& range : map_.ranges()) symbols.push_back(add_range(range.bounds));
  // One that is not the same in all of a tile is a range variable.
  const llvm::SmallBitVector is_fixed = FixedRuntimes(sizes);
  for (int i = 0; i < map_.num_runtimes(); ++i) {
    const Interval& bounds = map_.runtimes()[i].bounds;
    symbols.push_back(is_fixed.test(i) ? AffineExpr() : add_range(bounds));
    runtimes.push_back({is_fixed.test(i) ? bounds : Interval::All(), {}});
  }
  for (int i = 0; i < map_.num_runtimes(); ++i) {
    if (!is_fixed.test(i)) continue;
    symbols[map_.num_ranges() + i] = mlir::getAffineSymbolExpr(ranges.size() + i, context);
  }
  for (const Constraint& constraint : map_.constraints()) {
    within.push_back({internal::Substitute(constraint.expr, dims, symbols), constraint.interval});
  }
  const auto affine_map =
      mlir::AffineMap::get(indices.size(), ranges.size() + runtimes.size(), context);
  IndexingMap tiles(kPartsFit, affine_map, std::move(indices), std::move(ranges),
                    std::move(runtimes));
  for (const Constraint& constraint : within) {
    if (!constraint.expr) {
      return absl::OutOfRangeError(absl::StrCat("the tiles that read something through ",
                                                map_.ToString(), " have indices past int64"));
    }
    tiles.AddConstraint(kPartsFit, constraint.expr, constraint.interval);
  }
  tiles.Simplify();
  return tiles;
}

template <typename Question>
absl::StatusOr<Decision> SymbolicTile::AskWhenMasked(llvm::ArrayRef<int64_t> sizes,
                                                     Question question) const {
  const QuestionBudget budget;
  absl::Status status = CheckSizes(sizes);
  if (!status.ok()) return status;
  const llvm::SmallVector<int64_t, 4> counted = CountedOf(sizes);
  UnitCounts counts;
  digits_->Count(counted, &counts);
  if (!RuntimesAreFixed(ClampedSizes(sizes), counts)) return Decision{Answer::kNo, 0};
  return Decision{question(*this, counted), 0};
}

absl::StatusOr<Decision> SymbolicTile::IsExactWhenMasked(llvm::ArrayRef<int64_t> sizes) const {
  absl::StatusOr<Decision> decision = AskWhenMasked(sizes, internal::ReadJustWhatIsMasked);
  if (decision.ok() && !is_exact_) decision->answer = Answer::kNo;
  return decision;
}

absl::StatusOr<Decision> SymbolicTile::CoversWhenMasked(llvm::ArrayRef<int64_t> sizes) const {
  return AskWhenMasked(sizes, internal::ReadNoMoreThanMasked);
}

absl::StatusOr<llvm::SmallVector<SymbolicTile::BoxSide, 4>> SymbolicTile::MaskedBox(
    llvm::ArrayRef<int64_t> sizes) const {
  const absl::StatusOr<Decision> covers = CoversWhenMasked(sizes);
  if (!covers.ok()) return covers.status();
  if (!covers->IsYes()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "what is read through ", map_.ToString(), " is not known to be in a box of these sizes"));
  }
  UnitCounts counts;
  digits_->Count(CountedOf(sizes), &counts);
  llvm::SmallVector<BoxSide, 4> sides;
  for (const TileResult& result : digits_->results().take_front(map_.num_results())) {
    // A result that is no sum of digits has one value.
    const internal::SizeAndStride values =
        result.is_opaque ? internal::SizeAndStride() : *digits_->ProgressionOf(result, counts);
    sides.push_back({values.size, values.stride});
  }
  return sides;
}

}  // namespace xla_indexing

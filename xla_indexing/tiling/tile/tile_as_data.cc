// What a symbolic tile says of itself: its offsets, sizes, strides and conditions as data, what sizes
// count as, and what is left of its tiles when they are masked.
//
// The files that find these know of symbolic tiles, so that they are called from here.

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
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

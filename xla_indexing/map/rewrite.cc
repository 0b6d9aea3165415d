#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using internal::Substitute;
using ::llvm::cast;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

struct UsedVariables {
  llvm::BitVector dims;
  llvm::BitVector symbols;
};

UsedVariables FindUsedVariables(const IndexingMap& map) {
  UsedVariables used = {llvm::BitVector(map.num_dims()), llvm::BitVector(map.num_symbols())};
  llvm::SmallVector<AffineExpr, 16> pending(map.results());
  for (const Constraint& constraint : map.constraints()) pending.push_back(constraint.expr);
  llvm::DenseSet<AffineExpr> seen;
  while (!pending.empty()) {
    AffineExpr expr = pending.pop_back_val();
    switch (expr.getKind()) {
      case AffineExprKind::Constant:
        break;
      case AffineExprKind::DimId:
        used.dims.set(cast<mlir::AffineDimExpr>(expr).getPosition());
        break;
      case AffineExprKind::SymbolId:
        used.symbols.set(cast<mlir::AffineSymbolExpr>(expr).getPosition());
        break;
      default: {
        if (!seen.insert(expr).second) break;
        auto binary = cast<mlir::AffineBinaryOpExpr>(expr);
        pending.push_back(binary.getLHS());
        pending.push_back(binary.getRHS());
      }
    }
  }
  return used;
}

// The map with variables replaced in results and constraints, over the given variables; none where
// an expression cannot be built.
std::optional<IndexingMap> Replace(const IndexingMap& map, Variables dims, Variables ranges,
                                   Variables runtimes, llvm::ArrayRef<AffineExpr> dim_replacements,
                                   llvm::ArrayRef<AffineExpr> symbol_replacements) {
  const auto replace = [&](AffineExpr expr) {
    return Substitute(expr, dim_replacements, symbol_replacements);
  };
  llvm::SmallVector<AffineExpr, 4> results;
  for (AffineExpr expr : map.results()) {
    results.push_back(replace(expr));
    if (!results.back()) return std::nullopt;
  }
  Constraints constraints;
  for (const Constraint& constraint : map.constraints()) {
    constraints.push_back({replace(constraint.expr), constraint.interval});
    if (!constraints.back().expr) return std::nullopt;
  }
  const auto num_dims = static_cast<unsigned>(dims.size());
  const auto num_symbols = static_cast<unsigned>(ranges.size() + runtimes.size());
  return IndexingMap(kPartsFit, mlir::AffineMap::get(num_dims, num_symbols, results, map.context()),
                     std::move(dims), std::move(ranges), std::move(runtimes),
                     std::move(constraints));
}

llvm::SmallVector<int, 4> AllRemoved(size_t count) {
  return llvm::SmallVector<int, 4>(count, VariableRemap::kRemoved);
}

llvm::SmallVector<int, 4> AllKept(size_t count) {
  llvm::SmallVector<int, 4> remap;
  for (size_t i = 0; i < count; ++i) remap.push_back(static_cast<int>(i));
  return remap;
}

// The canonical empty map of the same results, without symbols and, if so asked, without
// dimensions.
VariableRemap MakeCanonicalEmpty(bool remove_dims, IndexingMap* map) {
  VariableRemap remap;
  remap.dims = remove_dims ? AllRemoved(map->dims().size()) : AllKept(map->dims().size());
  remap.ranges = AllRemoved(map->ranges().size());
  remap.runtimes = AllRemoved(map->runtimes().size());
  IndexingMap empty = IndexingMap::MakeEmpty(map->context(), remove_dims ? 0 : map->num_dims(), 0,
                                             0, map->num_results());
  for (int i = 0; i < empty.num_dims(); ++i) empty.mutable_dim(i).name = map->dims()[i].name;
  remap.changed = map->num_symbols() > 0 || map->num_dims() > empty.num_dims();
  *map = std::move(empty);
  return remap;
}

// The variables whose bit (from `offset` on) is set, and where each of `variables` went.
struct Compressed {
  Variables kept;
  llvm::SmallVector<int, 4> remap;
};

Compressed Compress(llvm::ArrayRef<Variable> variables, const llvm::BitVector& keep,
                    unsigned offset) {
  Compressed result;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (keep.test(offset + static_cast<unsigned>(i))) {
      result.remap.push_back(static_cast<int>(result.kept.size()));
      result.kept.push_back(variables[i]);
    } else {
      result.remap.push_back(VariableRemap::kRemoved);
    }
  }
  return result;
}

VariableRemap RemoveUnused(bool remove_dims, IndexingMap* map) {
  // Removing an unused variable with an empty interval would make the domain non-empty; the
  // canonical empty map uses no variable.
  if (map->IsKnownEmpty()) return MakeCanonicalEmpty(remove_dims, map);

  UsedVariables used = FindUsedVariables(*map);
  if (!remove_dims) used.dims.set();
  VariableRemap remap = {AllKept(map->dims().size()), AllKept(map->ranges().size()),
                         AllKept(map->runtimes().size())};
  if (used.dims.all() && used.symbols.all()) return remap;

  Compressed dims = Compress(map->dims(), used.dims, 0);
  Compressed ranges = Compress(map->ranges(), used.symbols, 0);
  Compressed runtimes = Compress(map->runtimes(), used.symbols, map->num_ranges());
  llvm::SmallVector<AffineExpr, 4> dim_replacements;
  for (const int position : dims.remap) {
    const bool removed = position == VariableRemap::kRemoved;
    dim_replacements.push_back(removed ? AffineExpr()
                                       : mlir::getAffineDimExpr(position, map->context()));
  }
  llvm::SmallVector<AffineExpr, 4> symbol_replacements;
  const auto add_symbols = [&](const Compressed& symbols, size_t offset) {
    for (const int position : symbols.remap) {
      const bool removed = position == VariableRemap::kRemoved;
      symbol_replacements.push_back(
          removed ? AffineExpr() : mlir::getAffineSymbolExpr(offset + position, map->context()));
    }
  };
  add_symbols(ranges, 0);
  add_symbols(runtimes, ranges.kept.size());
  std::optional<IndexingMap> result =
      Replace(*map, std::move(dims.kept), std::move(ranges.kept), std::move(runtimes.kept),
              dim_replacements, symbol_replacements);
  // Renumbering changes no number of a valid map; any other is left alone.
  if (!result) return remap;
  *map = *std::move(result);
  return {std::move(dims.remap), std::move(ranges.remap), std::move(runtimes.remap), true};
}

}  // namespace

VariableRemap IndexingMap::RemoveUnusedSymbols() {
  return RemoveUnused(/*remove_dims=*/false, this);
}

VariableRemap IndexingMap::RemoveUnusedVariables() {
  return RemoveUnused(/*remove_dims=*/true, this);
}

absl::StatusOr<IndexingMap> IndexingMap::Substitute(
    llvm::ArrayRef<AffineExpr> dim_replacements,
    llvm::ArrayRef<AffineExpr> symbol_replacements) const {
  if (static_cast<int>(dim_replacements.size()) > num_dims() ||
      static_cast<int>(symbol_replacements.size()) > num_symbols()) {
    return absl::InvalidArgumentError(
        absl::StrCat(dim_replacements.size(), " dimensions and ", symbol_replacements.size(),
                     " symbols to be replaced in a map of ", num_dims(), " and ", num_symbols()));
  }
  std::optional<IndexingMap> result =
      Replace(*this, Variables(dims()), Variables(ranges()), Variables(runtimes()),
              dim_replacements, symbol_replacements);
  if (!result) {
    return absl::OutOfRangeError(absl::StrCat(
        "replacing variables passes a bound of int64 or of the size of expressions in ",
        ToString()));
  }
  if (absl::Status status = result->Verify(); !status.ok()) return status;
  return *std::move(result);
}

IndexingMap IndexingMap::ConvertRangeVariablesToDimensions() const {
  Variables all_dims(dims());
  all_dims.append(ranges().begin(), ranges().end());
  llvm::SmallVector<AffineExpr, 4> symbol_replacements;
  for (int i = 0; i < num_ranges(); ++i) {
    symbol_replacements.push_back(mlir::getAffineDimExpr(num_dims() + i, context()));
  }
  for (int i = 0; i < num_runtimes(); ++i) {
    symbol_replacements.push_back(mlir::getAffineSymbolExpr(i, context()));
  }
  std::optional<IndexingMap> result =
      Replace(*this, std::move(all_dims), {}, Variables(runtimes()), {}, symbol_replacements);
  // As above: renumbering a valid map cannot fail.
  return result ? *std::move(result) : *this;
}

}  // namespace xla_indexing

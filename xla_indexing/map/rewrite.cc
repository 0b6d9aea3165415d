#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/internal/expr_util.h"
#include "xla_indexing/map/internal/replace_variables.h"

namespace xla_indexing {
namespace {

using internal::ReplaceVariables;
using internal::VariablesOf;
using ::mlir::AffineExpr;

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

  // Bits of dimensions, then of symbols.
  llvm::BitVector used(map->num_dims() + map->num_symbols());
  const auto mark = [&](AffineExpr expr) {
    for (const int variable : VariablesOf(expr, map->num_dims())) used.set(variable);
  };
  llvm::for_each(map->results(), mark);
  for (const Constraint& constraint : map->constraints()) mark(constraint.expr);
  if (!remove_dims) used.set(0, map->num_dims());
  VariableRemap remap = {AllKept(map->dims().size()), AllKept(map->ranges().size()),
                         AllKept(map->runtimes().size())};
  if (used.all()) return remap;

  const auto first_symbol = static_cast<unsigned>(map->num_dims());
  Compressed dims = Compress(map->dims(), used, 0);
  Compressed ranges = Compress(map->ranges(), used, first_symbol);
  Compressed runtimes = Compress(map->runtimes(), used, first_symbol + map->num_ranges());
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
      ReplaceVariables(*map, std::move(dims.kept), std::move(ranges.kept), std::move(runtimes.kept),
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
      ReplaceVariables(*this, Variables(dims()), Variables(ranges()), Variables(runtimes()),
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
  std::optional<IndexingMap> result = ReplaceVariables(
      *this, std::move(all_dims), {}, Variables(runtimes()), {}, symbol_replacements);
  // As above: renumbering a valid map cannot fail.
  return result ? *std::move(result) : *this;
}

}  // namespace xla_indexing

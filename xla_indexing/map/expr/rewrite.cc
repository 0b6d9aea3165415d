#include <cstddef>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/expr/replace_variables.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using internal::ReplaceVariables;
using internal::VariablesOf;
using ::mlir::AffineExpr;

llvm::SmallVector<int, 4> AllKept(size_t count) {
  llvm::SmallVector<int, 4> remap;
  for (size_t i = 0; i < count; ++i) remap.push_back(static_cast<int>(i));
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

}  // namespace

VariableRemap IndexingMap::RemoveUnusedSymbols() {
  VariableRemap remap = {AllKept(ranges().size()), AllKept(runtimes().size()), false};
  // Removing an unused variable with an empty interval would make the domain non-empty; the
  // canonical empty map uses no variable.
  if (IsKnownEmpty()) {
    IndexingMap empty = MakeEmpty(context(), num_dims(), 0, 0, num_results());
    for (int i = 0; i < num_dims(); ++i) empty.mutable_dim(i).name = dims()[i].name;
    remap.changed = num_symbols() > 0;
    absl::c_fill(remap.ranges, VariableRemap::kRemoved);
    absl::c_fill(remap.runtimes, VariableRemap::kRemoved);
    *this = std::move(empty);
    return remap;
  }
  llvm::BitVector used(num_symbols());
  const auto mark = [&](AffineExpr expr) {
    for (const int variable : VariablesOf(expr, num_dims())) {
      if (variable >= num_dims()) used.set(variable - num_dims());
    }
  };
  llvm::for_each(results(), mark);
  for (const Constraint& constraint : constraints()) mark(constraint.expr);
  if (used.all()) return remap;

  Compressed kept_ranges = Compress(ranges(), used, 0);
  Compressed kept_runtimes = Compress(runtimes(), used, num_ranges());
  llvm::SmallVector<AffineExpr, 4> replacements;
  const auto add_symbols = [&](const Compressed& symbols, size_t offset) {
    for (const int position : symbols.remap) {
      const bool removed = position == VariableRemap::kRemoved;
      replacements.push_back(removed ? AffineExpr()
                                     : mlir::getAffineSymbolExpr(offset + position, context()));
    }
  };
  add_symbols(kept_ranges, 0);
  add_symbols(kept_runtimes, kept_ranges.kept.size());
  std::optional<IndexingMap> result =
      ReplaceVariables(*this, Variables(dims()), std::move(kept_ranges.kept),
                       std::move(kept_runtimes.kept), {}, replacements);
  // Renumbering changes no number of a valid map; any other is left alone.
  if (!result) return remap;
  *this = *std::move(result);
  return {std::move(kept_ranges.remap), std::move(kept_runtimes.remap), true};
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

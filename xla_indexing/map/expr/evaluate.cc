#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/expr/expr_program.h"
#include "xla_indexing/map/expr/map_program.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using internal::ExprProgram;

absl::Status CheckPoint(const IndexingMap& map, llvm::ArrayRef<int64_t> dims,
                        llvm::ArrayRef<int64_t> symbols) {
  if (static_cast<int>(dims.size()) == map.num_dims() &&
      static_cast<int>(symbols.size()) == map.num_symbols()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("a point of ", dims.size(), " dimensions and ",
                                                 symbols.size(), " symbols for a map of ",
                                                 map.num_dims(), " and ", map.num_symbols()));
}

}  // namespace

absl::StatusOr<bool> IndexingMap::Contains(llvm::ArrayRef<int64_t> dims,
                                           llvm::ArrayRef<int64_t> symbols) const {
  if (absl::Status status = CheckPoint(*this, dims, symbols); !status.ok()) return status;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!variables_[i].bounds.Contains(dims[i])) return false;
  }
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (!symbol(static_cast<int>(i)).bounds.Contains(symbols[i])) return false;
  }
  if (constraints_.empty()) return true;
  llvm::SmallVector<mlir::AffineExpr, 4> exprs;
  for (const Constraint& constraint : constraints_) exprs.push_back(constraint.expr);
  const ExprProgram program(exprs);
  ExprProgram::Workspace values;
  absl::Status status = program.Evaluate(dims, symbols, &values);
  if (!status.ok()) return status;
  for (int i = 0; i < program.num_results(); ++i) {
    if (!constraints_[i].interval.Contains(program.Result(values, i))) return false;
  }
  return true;
}

absl::StatusOr<llvm::SmallVector<int64_t, 4>> IndexingMap::Evaluate(
    llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols) const {
  if (absl::Status status = CheckPoint(*this, dims, symbols); !status.ok()) return status;
  const ExprProgram program(results());
  ExprProgram::Workspace values;
  absl::Status status = program.Evaluate(dims, symbols, &values);
  if (!status.ok()) return status;
  llvm::SmallVector<int64_t, 4> result;
  for (int i = 0; i < program.num_results(); ++i) result.push_back(program.Result(values, i));
  return result;
}

absl::Status IndexingMap::ForEachPoint(
    int64_t max_points,
    llvm::function_ref<void(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                            llvm::ArrayRef<int64_t> results)>
        visit) const {
  if (IsKnownEmpty()) return absl::OkStatus();
  const std::vector<MapProgram::Source> all(variables_.size());
  llvm::SmallVector<int64_t, 8> point(variables_.size());
  llvm::SmallVector<int64_t, 4> result(num_results());
  return MapProgram(*this).Run(1, all, max_points, [&](const MapProgram::Block& block) {
    for (size_t i = 0; i < block.count; ++i) {
      if (block.is_inside[i] == 0) continue;
      for (size_t v = 0; v < point.size(); ++v) point[v] = block.variables[v][i];
      for (size_t r = 0; r < result.size(); ++r) result[r] = block.results[r][i];
      const llvm::ArrayRef<int64_t> values = point;
      visit(values.take_front(num_dims_), values.drop_front(num_dims_), result);
    }
  });
}

}  // namespace xla_indexing

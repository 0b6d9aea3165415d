#include "xla_indexing/map/expr/expr_util.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/compare.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

// Calls `visit_dim(position)` and `visit_symbol(position)` for every occurrence of a variable. The
// bound on the nesting of an expression (affine/expr/build.h) bounds the recursion: sums are nested on
// the left.
template <typename VisitDim, typename VisitSymbol>
void ForEachVariable(mlir::AffineExpr expr, VisitDim visit_dim, VisitSymbol visit_symbol) {
  while (const auto operation = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr)) {
    ForEachVariable(operation.getRHS(), visit_dim, visit_symbol);
    expr = operation.getLHS();
  }
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) {
    visit_dim(dim.getPosition());
  } else if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    visit_symbol(symbol.getPosition());
  }
}

}  // namespace

llvm::SmallVector<int, 4> VariablesOf(mlir::AffineExpr expr, int num_dims) {
  llvm::SmallVector<int, 4> variables;
  ForEachVariable(
      expr, [&](unsigned dim) { variables.push_back(static_cast<int>(dim)); },
      [&](unsigned symbol) { variables.push_back(num_dims + static_cast<int>(symbol)); });
  llvm::sort(variables);
  variables.erase(llvm::unique(variables), variables.end());
  return variables;
}

// The bound on the terms of an expression (affine/expr/build.h) bounds the recursion.
bool HasSymbol(mlir::AffineExpr expr, int symbol) {
  if (const auto variable = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    return static_cast<int>(variable.getPosition()) == symbol;
  }
  const auto operation = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  return operation &&
         (HasSymbol(operation.getLHS(), symbol) || HasSymbol(operation.getRHS(), symbol));
}

std::optional<int64_t> ConstantIn(mlir::AffineExpr expr) {
  const auto constant = llvm::dyn_cast_or_null<mlir::AffineConstantExpr>(expr);
  return constant ? std::optional<int64_t>(constant.getValue()) : std::nullopt;
}

void MarkSymbols(mlir::AffineExpr expr, llvm::BitVector* used) {
  ForEachVariable(
      expr, [](unsigned) {},
      [used](unsigned symbol) {
        if (symbol < used->size()) used->set(symbol);
      });
}

int CompareExprs(mlir::AffineExpr a, mlir::AffineExpr b) {
  if (a == b) return 0;
  auto constant_a = llvm::dyn_cast<mlir::AffineConstantExpr>(a);
  auto constant_b = llvm::dyn_cast<mlir::AffineConstantExpr>(b);
  if (constant_a && constant_b) return constant_a.getValue() < constant_b.getValue() ? -1 : 1;
  if (SummandLess(a, b)) return -1;
  return SummandLess(b, a) ? 1 : 0;
}

int CompareIntervals(const Interval& a, const Interval& b) {
  if (a == b) return 0;
  if (a.IsEmpty() || b.IsEmpty()) return a.IsEmpty() ? -1 : 1;
  if (a.has_lower() != b.has_lower()) return a.has_lower() ? 1 : -1;
  if (a.has_lower() && a.lower() != b.lower()) return CompareValues(a.lower(), b.lower());
  if (a.has_upper() != b.has_upper()) return a.has_upper() ? -1 : 1;
  return CompareValues(a.upper(), b.upper());
}

}  // namespace xla_indexing::internal

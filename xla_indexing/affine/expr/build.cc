#include "xla_indexing/affine/expr/build.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/linear_sum.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineDimExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;
using ::mlir::AffineSymbolExpr;

AffineExpr Divide(AffineExprKind kind, AffineExpr e, int64_t divisor) {
  if (!e || divisor < 1 || !IsSmallDividend(e)) return {};
  return DivideSmall(kind, e, divisor);
}

// Whether each replacement is null or the variable in whose place it would stand.
bool AreKept(AffineExprKind kind, llvm::ArrayRef<AffineExpr> replacements,
             mlir::MLIRContext* context) {
  for (size_t i = 0; i < replacements.size(); ++i) {
    const AffineExpr expr = replacements[i];
    if (!expr) continue;
    if (expr.getKind() != kind || expr.getContext() != context) return false;
    const unsigned position = kind == AffineExprKind::DimId
                                  ? cast<AffineDimExpr>(expr).getPosition()
                                  : cast<AffineSymbolExpr>(expr).getPosition();
    if (position != i) return false;
  }
  return true;
}

// Rewrites e bottom-up with an explicit memo, so that shared subexpressions cost once.
class Rewriter {
 public:
  Rewriter(llvm::ArrayRef<AffineExpr> dims, llvm::ArrayRef<AffineExpr> symbols)
      : dims_(dims), symbols_(symbols) {}

  AffineExpr Rewrite(AffineExpr e) {
    switch (e.getKind()) {
      case AffineExprKind::Constant:
        return e;
      case AffineExprKind::DimId:
        return Replace(e, dims_, cast<AffineDimExpr>(e).getPosition());
      case AffineExprKind::SymbolId:
        return Replace(e, symbols_, cast<AffineSymbolExpr>(e).getPosition());
      default:
        break;
    }
    if (auto it = memo_.find(e); it != memo_.end()) return it->second;
    AffineExpr result = RewriteSum(e);
    memo_[e] = result;
    return result;
  }

 private:
  static AffineExpr Replace(AffineExpr e, llvm::ArrayRef<AffineExpr> list, unsigned position) {
    return position < list.size() && list[position] ? list[position] : e;
  }

  AffineExpr RewriteSum(AffineExpr e) {
    if (e.getKind() == AffineExprKind::FloorDiv || e.getKind() == AffineExprKind::Mod) {
      auto binary = cast<AffineBinaryOpExpr>(e);
      auto divisor = llvm::dyn_cast<AffineConstantExpr>(binary.getRHS());
      if (!divisor) return {};
      AffineExpr dividend = Rewrite(binary.getLHS());
      if (dividend == binary.getLHS()) return e;
      return Divide(e.getKind(), dividend, divisor.getValue());
    }
    LinearSum sum = LinearSum::FromExpr(e);
    LinearSum result(sum.constant());
    if (!sum.valid()) return {};
    for (const Term& term : sum.terms()) {
      AffineExpr atom = Rewrite(term.atom);
      if (!atom) return {};
      result.AddScaled(LinearSum::FromExpr(atom), term.coefficient);
    }
    return result.ToExpr(e.getContext());
  }

  llvm::ArrayRef<AffineExpr> dims_;
  llvm::ArrayRef<AffineExpr> symbols_;
  llvm::SmallDenseMap<AffineExpr, AffineExpr, 8> memo_;
};

}  // namespace

AffineExpr Constant(int64_t value, mlir::MLIRContext* context) {
  return mlir::getAffineConstantExpr(value, context);
}

AffineExpr LinearCombination(llvm::ArrayRef<Summand> summands, std::optional<int64_t> constant) {
  if (!constant) return {};
  LinearSum sum(*constant);
  for (const Summand& summand : summands) {
    if (!summand.expr) return {};
    if (IsVariable(summand.expr)) {
      sum.AddTerm(summand.expr, summand.factor);
    } else {
      sum.AddScaled(LinearSum::FromExpr(summand.expr), summand.factor);
    }
  }
  return sum.ToExpr(summands.front().expr.getContext());
}

AffineExpr Add(AffineExpr a, AffineExpr b) { return LinearCombination({{a}, {b}}); }

AffineExpr Sub(AffineExpr a, AffineExpr b) { return LinearCombination({{a}, {b, -1}}); }

AffineExpr Scale(AffineExpr e, int64_t factor) { return LinearCombination({{e, factor}}); }

AffineExpr FloorDiv(AffineExpr e, int64_t divisor) {
  return Divide(AffineExprKind::FloorDiv, e, divisor);
}

AffineExpr CeilDiv(AffineExpr e, int64_t divisor) {
  return Scale(FloorDiv(Scale(e, -1), divisor), -1);
}

AffineExpr Mod(AffineExpr e, int64_t divisor) { return Divide(AffineExprKind::Mod, e, divisor); }

AffineExpr Substitute(AffineExpr e, llvm::ArrayRef<AffineExpr> dims,
                      llvm::ArrayRef<AffineExpr> symbols) {
  if (!e) return e;
  mlir::MLIRContext* context = e.getContext();
  if (AreKept(AffineExprKind::DimId, dims, context) &&
      AreKept(AffineExprKind::SymbolId, symbols, context)) {
    return e;
  }
  return Rewriter(dims, symbols).Rewrite(e);
}

// MLIR distributes a division over summands that are multiples of the divisor; the sum that comes
// out is put into summand order.
AffineExpr DivideSmall(AffineExprKind kind, AffineExpr e, int64_t divisor) {
  mlir::MLIRContext* context = e.getContext();
  AffineExpr result =
      mlir::getAffineBinaryOpExpr(kind, e, mlir::getAffineConstantExpr(divisor, context));
  if (!result || result.getKind() != AffineExprKind::Add) return result;
  return LinearSum::FromExpr(result).ToExpr(context);
}

bool IsSmallDividend(AffineExpr e, int depth) {
  llvm::SmallVector<std::pair<AffineExpr, int>, 16> pending = {{e, depth}};
  int summands = 0;
  while (!pending.empty()) {
    auto [expr, nesting] = pending.pop_back_val();
    auto binary = llvm::dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary) {
      if (++summands > kMaxSummands) return false;
      continue;
    }
    if (expr.getKind() == AffineExprKind::Add) {
      pending.push_back({binary.getRHS(), nesting});
    } else if (expr.getKind() != AffineExprKind::Mul && ++nesting >= kMaxExprDepth) {
      return false;
    }
    pending.push_back({binary.getLHS(), nesting});
  }
  return true;
}

int DivisionDepth(AffineExpr e) {
  // Depth by levels: each round replaces the divisions seen by the divisions in their dividends.
  llvm::SmallVector<AffineExpr, 8> level = {e};
  int depth = 0;
  while (true) {
    llvm::SmallVector<AffineExpr, 8> next;
    for (AffineExpr expr : level) {
      LinearSum sum = LinearSum::FromExpr(expr);
      for (const Term& term : sum.terms()) {
        if (auto binary = llvm::dyn_cast<AffineBinaryOpExpr>(term.atom)) {
          if (!llvm::is_contained(next, binary.getLHS())) next.push_back(binary.getLHS());
        }
      }
    }
    if (next.empty()) return depth;
    if (++depth > kMaxExprDepth) return depth;
    level = std::move(next);
  }
}

}  // namespace xla_indexing::internal

#include "xla_indexing/map/expr/expr_program.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

const char* NameOf(AffineExprKind kind) {
  switch (kind) {
    case AffineExprKind::Add:
      return "+";
    case AffineExprKind::Mul:
      return "*";
    case AffineExprKind::FloorDiv:
      return "floordiv";
    case AffineExprKind::CeilDiv:
      return "ceildiv";
    default:
      return "mod";
  }
}

std::optional<int64_t> Apply(AffineExprKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case AffineExprKind::Add:
      return CheckedAdd(a, b);
    case AffineExprKind::Mul:
      return CheckedMul(a, b);
    default:
      break;
  }
  if (b < 1) return std::nullopt;
  switch (kind) {
    case AffineExprKind::FloorDiv:
      return FloorDiv(a, b);
    case AffineExprKind::CeilDiv:
      return CeilDiv(a, b);
    default:
      return FloorMod(a, b);
  }
}

absl::Status ApplyError(AffineExprKind kind, int64_t a, int64_t b) {
  const bool division = kind != AffineExprKind::Add && kind != AffineExprKind::Mul;
  if (division) {
    return absl::InvalidArgumentError(
        absl::StrCat("the divisor of ", a, " ", NameOf(kind), " ", b, " is below 1"));
  }
  return absl::OutOfRangeError(absl::StrCat(a, " ", NameOf(kind), " ", b, " does not fit int64"));
}

}  // namespace

ExprProgram::ExprProgram(llvm::ArrayRef<AffineExpr> exprs) {
  llvm::SmallDenseMap<AffineExpr, uint32_t, 32> slots;
  llvm::SmallVector<AffineExpr, 16> pending;
  const auto emit = [&](AffineExpr expr, Step step) {
    slots[expr] = static_cast<uint32_t>(steps_.size());
    steps_.push_back(step);
  };
  for (AffineExpr root : exprs) {
    // An expression leaves the stack when both its operands have their slots.
    pending.push_back(root);
    while (!pending.empty()) {
      AffineExpr expr = pending.back();
      if (slots.contains(expr)) {
        pending.pop_back();
        continue;
      }
      switch (expr.getKind()) {
        case AffineExprKind::Constant:
          emit(expr, {expr.getKind(), 0, 0, cast<mlir::AffineConstantExpr>(expr).getValue()});
          break;
        case AffineExprKind::DimId:
          emit(expr, {expr.getKind(), cast<mlir::AffineDimExpr>(expr).getPosition()});
          break;
        case AffineExprKind::SymbolId:
          emit(expr, {expr.getKind(), cast<mlir::AffineSymbolExpr>(expr).getPosition()});
          break;
        default: {
          auto binary = cast<AffineBinaryOpExpr>(expr);
          const auto lhs = slots.find(binary.getLHS());
          const auto rhs = slots.find(binary.getRHS());
          if (lhs != slots.end() && rhs != slots.end()) {
            emit(expr, {expr.getKind(), lhs->second, rhs->second});
            break;
          }
          if (lhs == slots.end()) pending.push_back(binary.getLHS());
          if (rhs == slots.end()) pending.push_back(binary.getRHS());
        }
      }
    }
    results_.push_back(slots[root]);
  }
}

absl::Status ExprProgram::Evaluate(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                                   Workspace* values) const {
  values->resize_for_overwrite(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    switch (step.kind) {
      case AffineExprKind::Constant:
        (*values)[i] = step.value;
        break;
      case AffineExprKind::DimId:
      case AffineExprKind::SymbolId: {
        const bool is_dim = step.kind == AffineExprKind::DimId;
        const llvm::ArrayRef<int64_t> point = is_dim ? dims : symbols;
        if (step.a >= point.size()) {
          return absl::InvalidArgumentError(absl::StrCat(is_dim ? "dimension " : "symbol ", step.a,
                                                         " of a point with ", point.size()));
        }
        (*values)[i] = point[step.a];
        break;
      }
      default: {
        const int64_t a = (*values)[step.a];
        const int64_t b = (*values)[step.b];
        const std::optional<int64_t> value = Apply(step.kind, a, b);
        if (!value) return ApplyError(step.kind, a, b);
        (*values)[i] = *value;
      }
    }
  }
  return absl::OkStatus();
}

std::optional<int64_t> ValueAt(AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                               llvm::ArrayRef<int64_t> symbols) {
  const auto at = [](llvm::ArrayRef<int64_t> point, size_t position) {
    return position < point.size() ? std::optional(point[position]) : std::nullopt;
  };
  switch (expr.getKind()) {
    case AffineExprKind::Constant:
      return cast<mlir::AffineConstantExpr>(expr).getValue();
    case AffineExprKind::DimId:
      return at(dims, cast<mlir::AffineDimExpr>(expr).getPosition());
    case AffineExprKind::SymbolId:
      return at(symbols, cast<mlir::AffineSymbolExpr>(expr).getPosition());
    default:
      break;
  }
  const auto binary = cast<AffineBinaryOpExpr>(expr);
  const std::optional<int64_t> a = ValueAt(binary.getLHS(), dims, symbols);
  if (!a) return std::nullopt;
  const std::optional<int64_t> b = ValueAt(binary.getRHS(), dims, symbols);
  return b ? Apply(expr.getKind(), *a, *b) : std::nullopt;
}

}  // namespace xla_indexing::internal

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/variable_names.h"

namespace xla_indexing {
namespace {

using internal::DefaultVariableName;
using internal::IsVariableName;
using internal::kMaxExprDepth;
using internal::kMaxSummands;
using internal::VariableKind;
using ::llvm::dyn_cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// Checks expressions over a fixed number of variables; what several share is looked at once.
class ExprVerifier {
 public:
  ExprVerifier(unsigned num_dims, unsigned num_symbols, mlir::MLIRContext* context)
      : num_dims_(num_dims), num_symbols_(num_symbols), context_(context) {}

  absl::Status Verify(AffineExpr root) {
    if (!root) return absl::InvalidArgumentError("an expression is null");
    llvm::SmallVector<AffineExpr, 16> pending = {root};
    while (!pending.empty()) {
      AffineExpr expr = pending.back();
      if (expr.getContext() != context_) {
        return absl::InvalidArgumentError("an expression is of another MLIRContext");
      }
      if (sizes_.contains(expr)) {
        pending.pop_back();
        continue;
      }
      auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
      if (!binary) {
        if (absl::Status status = VerifyLeaf(expr); !status.ok()) return status;
        sizes_[expr] = {1, 0};
        continue;
      }
      const auto lhs = sizes_.find(binary.getLHS());
      const auto rhs = sizes_.find(binary.getRHS());
      if (lhs == sizes_.end()) pending.push_back(binary.getLHS());
      if (rhs == sizes_.end()) pending.push_back(binary.getRHS());
      if (lhs == sizes_.end() || rhs == sizes_.end()) continue;
      if (absl::Status status = VerifyBinary(binary, lhs->second, rhs->second); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

 private:
  // Terms at all levels of nesting, and levels of nesting. Both stay within their bounds, or the
  // expression is refused, so neither overflows.
  struct Size {
    int terms;
    int depth;
  };

  absl::Status VerifyLeaf(AffineExpr expr) const {
    if (auto dim = dyn_cast<mlir::AffineDimExpr>(expr); dim && dim.getPosition() >= num_dims_) {
      return absl::InvalidArgumentError(
          absl::StrCat("an expression uses dimension ", dim.getPosition(), " of ", num_dims_));
    }
    if (auto symbol = dyn_cast<mlir::AffineSymbolExpr>(expr);
        symbol && symbol.getPosition() >= num_symbols_) {
      return absl::InvalidArgumentError(
          absl::StrCat("an expression uses symbol ", symbol.getPosition(), " of ", num_symbols_));
    }
    return absl::OkStatus();
  }

  absl::Status VerifyBinary(AffineBinaryOpExpr expr, Size lhs, Size rhs) {
    if (expr.getKind() == AffineExprKind::Add) {
      sizes_[expr] = {lhs.terms + rhs.terms, std::max(lhs.depth, rhs.depth)};
      return VerifySize(sizes_[expr]);
    }
    auto constant = dyn_cast<AffineConstantExpr>(expr.getRHS());
    if (expr.getKind() == AffineExprKind::Mul) {
      if (!constant) return absl::InvalidArgumentError("an expression multiplies two variables");
      sizes_[expr] = lhs;
      return absl::OkStatus();
    }
    if (expr.getKind() == AffineExprKind::CeilDiv) {
      return absl::InvalidArgumentError(
          "an expression has a ceildiv, which is written as -((-e) floordiv m)");
    }
    if (!constant) return absl::InvalidArgumentError("an expression divides by a variable");
    if (constant.getValue() < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("an expression divides by ", constant.getValue()));
    }
    sizes_[expr] = {lhs.terms, lhs.depth + 1};
    return VerifySize(sizes_[expr]);
  }

  static absl::Status VerifySize(Size size) {
    if (size.terms > kMaxSummands) {
      return absl::InvalidArgumentError(
          absl::StrCat("an expression has more than ", kMaxSummands, " terms"));
    }
    if (size.depth > kMaxExprDepth) {
      return absl::InvalidArgumentError(
          absl::StrCat("an expression has a nesting of more than ", kMaxExprDepth));
    }
    return absl::OkStatus();
  }

  unsigned num_dims_;
  unsigned num_symbols_;
  mlir::MLIRContext* context_;
  llvm::DenseMap<AffineExpr, Size> sizes_;
};

absl::Status VerifyNames(llvm::ArrayRef<Variable> variables, VariableKind kind) {
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!variables[i].name) continue;
    const llvm::StringRef name = variables[i].name.text();
    if (IsVariableName(absl::string_view(name.data(), name.size()))) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the name '", name.str(), "' of ", DefaultVariableName(kind, i), " is not an identifier"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status IndexingMap::VerifyExpr(AffineExpr expr, int num_dims, int num_symbols,
                                     mlir::MLIRContext* context) {
  return ExprVerifier(num_dims, num_symbols, context).Verify(expr);
}

absl::Status IndexingMap::Verify() const {
  ExprVerifier verifier(num_dims(), num_symbols(), context());
  for (AffineExpr expr : results()) {
    if (absl::Status status = verifier.Verify(expr); !status.ok()) return status;
  }
  for (const Constraint& constraint : constraints_) {
    if (absl::Status status = verifier.Verify(constraint.expr); !status.ok()) return status;
  }
  if (absl::Status status = VerifyNames(dims(), VariableKind::kDim); !status.ok()) return status;
  if (absl::Status status = VerifyNames(ranges(), VariableKind::kRange); !status.ok())
    return status;
  return VerifyNames(runtimes(), VariableKind::kRuntime);
}

}  // namespace xla_indexing

// Affine expressions compiled for evaluation at many points.
//
// A program computes several expressions at a point, each shared subexpression once, in int64
// arithmetic that is checked at every step. It holds no reference to MLIR's objects and may be used
// in another thread than the one that made it.
//
// Example:
//   ExprProgram program({d0 * 8 + s0, d0 floordiv 2});
//   ExprProgram::Workspace values;
//   absl::Status status = program.Evaluate({5}, {1}, &values);  // program.Result(values, 0) == 41

#ifndef XLA_INDEXING_MAP_EXPR_EXPR_PROGRAM_H_
#define XLA_INDEXING_MAP_EXPR_EXPR_PROGRAM_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"

namespace xla_indexing::internal {

class ExprProgram {
 public:
  // One value for each distinct subexpression.
  using Workspace = llvm::SmallVector<int64_t, 16>;

  explicit ExprProgram(llvm::ArrayRef<mlir::AffineExpr> exprs);

  // Computes all expressions at a point. OutOfRange where a value does not fit int64,
  // InvalidArgument for a variable past the end of its list or a divisor below 1.
  absl::Status Evaluate(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                        Workspace* values) const;

  int num_results() const { return static_cast<int>(results_.size()); }
  // The value of expression `i` at the point that `values` was last computed for.
  int64_t Result(const Workspace& values, int i) const { return values[results_[i]]; }

 private:
  // `a` and `b` are places of operands in the workspace; for a variable `a` is its position, for a
  // constant `value` is the constant.
  struct Step {
    mlir::AffineExprKind kind;
    uint32_t a = 0;
    uint32_t b = 0;
    int64_t value = 0;
  };

  llvm::SmallVector<Step, 16> steps_;  // operands before what uses them
  llvm::SmallVector<uint32_t, 4> results_;
};

// The value of one expression at one point, for which a program would not be worth its making. None
// where a program would have an error.
std::optional<int64_t> ValueAt(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                               llvm::ArrayRef<int64_t> symbols);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_EXPR_EXPR_PROGRAM_H_

// Affine expressions compiled for evaluation at many points.
//
// A program computes several expressions, each shared subexpression once, in int64 arithmetic that is
// checked at every step: at one point, or at many points at a time, where each subexpression is a
// column with a value for each point. It holds no reference to MLIR's objects and may be used in
// another thread than the one that made it.
//
// Example:
//   ExprProgram program({d0 * 8 + s0, d0 floordiv 2});
//   ExprProgram::Workspace values;
//   absl::Status status = program.Evaluate({5}, {1}, &values);  // program.Result(values, 0) == 41

#ifndef XLA_INDEXING_MAP_EXPR_EXPR_PROGRAM_H_
#define XLA_INDEXING_MAP_EXPR_EXPR_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
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

  // The values of all subexpressions at the points of a block.
  class Columns {
   private:
    friend class ExprProgram;
    size_t block_ = 0;
    std::unique_ptr<int64_t[]> storage_;  // block_ values for each step
    std::vector<const int64_t*> of_step_;
  };
  // Columns for blocks of up to `block` points. dims[i] and symbols[i] are the columns of the variables,
  // which outlive these; all variables of the expressions have to be there.
  Columns MakeColumns(size_t block, absl::Span<const int64_t* const> dims,
                      absl::Span<const int64_t* const> symbols) const;

  // Computes the expressions from `begin` to before `end` at the first `count` points of a block; those
  // before `begin` have been computed. Sets has_overflowed[p] if a value at point p does not fit int64, or
  // a divisor is below 1.
  void EvaluateColumns(int begin, int end, size_t count, Columns* columns,
                       uint8_t* has_overflowed) const;
  // The values of expression `i`.
  const int64_t* Result(const Columns& columns, int i) const {
    return columns.of_step_[results_[i]];
  }

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
  llvm::SmallVector<uint32_t, 4> ends_;  // where the steps of each expression end
};

// The value of one expression at one point, for which a program would not be worth its making. nullopt if
// a program would have an error.
std::optional<int64_t> ValueAt(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                               llvm::ArrayRef<int64_t> symbols);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_EXPR_EXPR_PROGRAM_H_

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
//
// The same steps compute what holds for many points at once, such as ranges (Interpret).

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
#include "llvm/ADT/STLFunctionalExtras.h"
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
    std::vector<uint8_t> is_uniform_;  // of each step; the first value alone need be there then
  };
  // Columns for blocks of up to `block` points. dims[i] and symbols[i] are the columns of the variables,
  // which outlive these; all variables of the expressions have to be there, null if SetUniform follows.
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

  // --- Steps: the distinct subexpressions, operands before what uses them

  int num_steps() const { return static_cast<int>(steps_.size()); }
  // The step that expression `i` is.
  int StepOf(int i) const { return static_cast<int>(results_[i]); }
  bool IsVariable(int step) const { return steps_[step].kind > mlir::AffineExprKind::Constant; }
  // Which steps these consist of. Operands of the steps that are known are not asked for.
  llvm::SmallVector<bool, 64> StepsOf(
      llvm::ArrayRef<int> steps,
      llvm::function_ref<bool(int)> is_known = [](int) { return false; }) const;

  // Gives a step this value at every point of a block.
  void SetUniform(int step, int64_t value, Columns* columns) const;
  // Computes a step at the first `count` points; its operands have been computed. A variable is there.
  void EvaluateStep(int step, size_t count, Columns* columns, uint8_t* has_overflowed) const;
  // The values of a step that has been computed.
  const int64_t* ValuesOf(int step, Columns* columns) const;

  // `dividend floordiv divisor`, or `dividend mod divisor`.
  struct Division {
    int step;
    int dividend;  // a step
    int64_t divisor;
    bool is_mod;
  };
  // Computes something else than numbers, such as intervals, of the steps that are wanted; `values` has
  // those of all steps. A domain has these functions, which are called step by step:
  //
  //   Value Constant(int64_t value)
  //   Value Variable(int position)                            a dimension or symbol
  //   Value Add(Value a, Value b)
  //   Value Multiply(Value a, int64_t factor)
  //   Value Divide(const Division& division, Value dividend)
  //
  // The expressions are in normal form: factors and divisors are constants, there is no ceildiv.
  template <typename Domain, typename Value, typename IsWanted>
  void Interpret(Domain&& domain, IsWanted is_wanted, llvm::SmallVectorImpl<Value>* values) const {
    using Kind = mlir::AffineExprKind;
    values->resize(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!is_wanted(static_cast<int>(i))) continue;
      const auto& [kind, a, b, value] = steps_[i];
      if (kind == Kind::Constant) {
        (*values)[i] = domain.Constant(value);
      } else if (kind == Kind::DimId || kind == Kind::SymbolId) {
        (*values)[i] = domain.Variable(static_cast<int>(a));
      } else if (kind == Kind::Add) {
        (*values)[i] = domain.Add((*values)[a], (*values)[b]);
      } else if (kind == Kind::Mul) {
        (*values)[i] = domain.Multiply((*values)[a], steps_[b].value);
      } else {
        const Division division{static_cast<int>(i), static_cast<int>(a), steps_[b].value,
                                kind == Kind::Mod};
        (*values)[i] = domain.Divide(division, (*values)[a]);
      }
    }
  }
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

// What the callers of a computation pass to it, as far as it follows from the module: the values that a
// scalar of integers among the leaves of its parameters can have, and which of these leaves differ by a
// constant.
//
//   body and condition of a loop   a leaf that counts (ops/values/loop_counter.h) is its start and a
//                                  multiple of the number of the iteration, and one that passes through
//                                  is what the loop begins with
//   calls and fusions              a leaf is that of the operand, which is followed
//                                  (ops/values/element_value.h) as far as what its own computation
//                                  is passed
//
// So every caller passes an expression over unknowns of its own computation and perhaps the number of
// the iteration. Mathematics. With several callers a leaf has any of their values, and
//
//   b = a + c      where each caller passes f(u) as a and f(u) + c as b, with one constant c
//
// As values are integers here and not residues, a caller's expression that may wrap is none.
//
// Nothing is known of what no instruction calls (the entry, and computations that only a user asks
// about), nor with callers of other kinds, nor from more than kMaxCallers levels below the top.
//
// Example: of `for i in 1..9: for j in 0..5: f(i, i + 1, j)`, with the inner loop in a computation of its
// own, that is passed i in [1, 9] and a second scalar that is the first one and 1.
#ifndef XLA_INDEXING_OPS_VALUES_PASSED_VALUES_H_
#define XLA_INDEXING_OPS_VALUES_PASSED_VALUES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/rules/frame/passed_scalar.h"
#include "xla_indexing/ops/values/loop_counter.h"

namespace xla_indexing::internal {

// Calls one in another that are followed.
inline constexpr int kMaxCallers = 16;

// Of one module, which has to outlive it.
class PassedValues {
 public:
  explicit PassedValues(mlir::MLIRContext* context) : context_(context) {}

  // A leaf of a parameter, as the first one from which it differs by a constant; as itself, which may
  // be any number, where nothing is known.
  PassedScalar Of(const HloInstruction& parameter, int64_t leaf);

  // What counts in a while of the module, found once.
  const CountedLoop& CountedOf(const HloInstruction& loop);

  // Forgets what was found, which is less than there is to find where a question was cut short.
  void Forget() {
    counted_.clear();
    known_.clear();
  }

 private:
  // Where a computation is called, and how many calls one in another lead to it at most.
  struct Callers {
    std::vector<const HloInstruction*> instructions;
    int levels = 0;
  };
  // What one caller passes: symbol 0 is the number of the iteration, symbol 1 + i unknown i of the
  // caller; null if it is no such expression.
  struct Value {
    mlir::AffineExpr expr;
    Interval values = Interval::All();
  };
  using Leaf = std::pair<const HloInstruction*, int64_t>;
  using Scalars = absl::flat_hash_map<Leaf, PassedScalar>;

  // All scalars of integers among the leaves of a computation's parameters.
  const Scalars& ScalarsOf(const HloComputation& computation);
  Value FromCaller(const HloInstruction& caller, const Leaf& passed, RuntimeVarIndexings* unknowns);
  Value FromLoop(const HloInstruction& loop, const Leaf& passed, RuntimeVarIndexings* unknowns);
  // A leaf of an instruction, a scalar.
  Value OfScalar(const HloInstruction& instruction, int64_t leaf, RuntimeVarIndexings* unknowns);
  const Callers& CallersOf(const HloComputation& computation);

  mlir::MLIRContext* context_;
  // None until it is asked for.
  std::optional<absl::node_hash_map<const HloComputation*, Callers>> callers_;
  absl::node_hash_map<const HloInstruction*, CountedLoop> counted_;
  absl::node_hash_map<const HloComputation*, Scalars> known_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_PASSED_VALUES_H_

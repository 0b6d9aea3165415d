// How often a loop in a loop runs, as a function of the iterations around it.
//
// Mathematics. In iteration k of a loop, a leaf of its state that begins with s, and to which every
// iteration adds c, is s + k*c (ops/values/loop_counter.h), as long as that does not leave its type. Where
// s is known as an expression over the variables of a map, such as the number of the iteration around the
// loop, and the condition of the loop does not hold where
//
//   e + c*k >= b,  c > 0,  without k in e,
//
// and holds elsewhere, the loop ends after the least such k >= 0, which is max(0, ceil((b - e) / c)).
// Where s, or what j is compared with, is one of several expressions, that holds in each case.
//
// Examples: for t in 0..7: for j in 0..t: the inner loop has t + 1 iterations. For j in max(t - 3, 0)..t it
// has 4 where t >= 3, and t + 1 elsewhere.
#ifndef XLA_INDEXING_OPS_LOOPS_BODY_ITERATION_COUNT_H_
#define XLA_INDEXING_OPS_LOOPS_BODY_ITERATION_COUNT_H_

#include <cstdint>
#include <optional>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/parts/domain.h"
#include "xla_indexing/ops/rules/frame/computation_indexer.h"
#include "xla_indexing/ops/rules/frame/passed_scalar.h"
#include "xla_indexing/ops/values/cases/value_cases.h"
#include "xla_indexing/ops/values/element_value.h"
#include "xla_indexing/ops/values/loop_counter.h"

namespace xla_indexing::internal {

// The number of iterations of a while, over the variables of `domain`, as those of ElementEvaluator;
// nullopt if that is not known. `around` is what is known of the loop around it.
std::optional<ValueCases> IterationsOf(const CalledLoop& loop, const CountedLoop& counted,
                                       const Domain& domain, const ValueEnvironment& around,
                                       mlir::MLIRContext* context);

// The value of a leaf of its state at the beginning of iteration k, over the same variables; nullopt if
// that is not known, or not how often the loop runs.
std::optional<ValueCases> ValueInIteration(const CalledLoop& loop, const CountedLoop& counted,
                                           const Domain& domain, const ValueEnvironment& around,
                                           int64_t leaf, mlir::AffineExpr k);

// What is known of loops, wherever they are called.
class KnownLoops : public ValueEnvironment {
 public:
  // Both outlive this object.
  KnownLoops(ComputationIndexer& computations, mlir::MLIRContext* context,
             TellsApart tells_apart = TellsApart::kNothing)
      : ValueEnvironment(tells_apart), computations_(computations), context_(context) {}

  std::optional<ValueCases> Iterations(const CalledLoop& loop,
                                       const Domain& domain) const override {
    return IterationsOf(loop, computations_.CountedOf(loop.loop), domain, *this, context_);
  }
  std::optional<ValueCases> InIteration(const CalledLoop& loop, const Domain& domain, int64_t leaf,
                                        mlir::AffineExpr k) const override {
    return ValueInIteration(loop, computations_.CountedOf(loop.loop), domain, *this, leaf, k);
  }

 protected:
  ComputationIndexer& computations() const { return computations_; }

 private:
  ComputationIndexer& computations_;
  mlir::MLIRContext* context_;
};

// Likewise, and of the scalars that callers pass.
class KnownScalars : public KnownLoops {
 public:
  using KnownLoops::KnownLoops;

  PassedScalar Passed(const HloInstruction& parameter, int64_t leaf) const override {
    return computations().ScalarPassed(parameter, leaf);
  }
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_BODY_ITERATION_COUNT_H_
